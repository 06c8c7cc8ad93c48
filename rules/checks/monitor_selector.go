// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/selection"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var _ = add(lint.Check{
	ID:       "monitor/selector",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "selector that selects nothing, or everything",
		Why: `A ServiceMonitor selects Services by the labels in their metadata: not by their names, and not by the labels of the pods that they lead to. A PodMonitor selects by the labels of the pod template. If nothing matches there are no targets and no error.

The selector is compared with the Services (for a PodMonitor, the workloads) that the run holds beside it: in the same file or folder, or above or below it, in the namespaces that the monitor searches. Since what is meant may be made by an operator, one of them must look like it: by a label that is misspelt, by its name, by the labels of its pods. Labels that a kustomization of the run adds are unknown, and nothing is reported of objects that get some.

An empty selector selects everything in these namespaces. An operator that does not exist is an error: the operator drops the object.`,
		Bad: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
  namespace: shop
spec:
  selector:
    matchLabels:
      app: shop-service
  endpoints:
    - port: metrics
---
apiVersion: v1
kind: Service
metadata:
  name: shop-service
  namespace: shop
  labels:
    app: shop
spec:
  selector:
    app: shop
  ports:
    - name: metrics
      port: 8080
`,
		Good: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
  namespace: shop
spec:
  selector:
    matchLabels:
      app: shop
  endpoints:
    - port: metrics
---
apiVersion: v1
kind: Service
metadata:
  name: shop-service
  namespace: shop
  labels:
    app: shop
spec:
  selector:
    app: shop
  ports:
    - name: metrics
      port: 8080
`,
		TurnOff: "labels are added when the manifests are installed.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
			"https://prometheus-operator.dev/docs/developer/getting-started/",
		},
	},
	Run: lint.On(checkMonitorSelector).And(lint.On(checkMonitorSelectorServer)),
})

func checkMonitorSelector(p *lint.Pass, m *monitors.Monitor) {
	s := m.Selector
	if s == nil || s.Value == nil {
		return
	}
	for _, problem := range s.Problems {
		p.Report(lint.Finding{Span: problem.Span, Severity: lint.Error,
			Message: fmt.Sprintf("%s: %s: the operator drops the whole %s", m.Object(), problem.Message, m.Kind)})
	}
	if s.Empty() {
		monitorSelectorEmpty(p, m)
		return
	}
	index := monitors.Of(p.Project)
	targets := index.Targets(m)
	if targets == nil || !targets.Empty() || len(targets.Elsewhere) > 0 || len(targets.Missed) == 0 {
		return
	}
	missed := monitorSelectorMeant(m, targets.Missed)
	if len(missed) == 0 {
		return
	}
	nearest, missing := monitorSelectorNearest(s, missed)
	what, where := "no Service", "the Services"
	if m.Kind == monitors.PodMonitor {
		what, where = "no pod template", "the workloads"
	}
	f := lint.Finding{Span: missing.Place, Related: []lint.Related{{Span: monitorPlace(nearest), Message: "the nearest is here"}}}
	among := ""
	if len(missed) > 1 {
		among = fmt.Sprintf(" (%s)", monitorSelectorNames(where, missed))
	}
	f.Message = fmt.Sprintf("%s selects nothing: %s beside it has %s%s; %s", m.Object(), what, missing, among, monitorSelectorHint(missing, nearest))
	p.Report(f)
}

func monitorSelectorEmpty(p *lint.Pass, m *monitors.Monitor) {
	key := m.Spec().Field("selector").Key
	what, where := "every Service", "in its namespace"
	if m.Kind == monitors.PodMonitor {
		what = "every pod"
	}
	switch {
	case m.Namespaces.Any:
		where = "of the cluster"
	case len(m.Namespaces.Names) > 0:
		where = "in the namespaces of its namespaceSelector"
	}
	p.Reportf(key.All(), "%s: an empty selector selects %s %s, also those that will be added: name the labels of what is meant", m.Object(), what, where)
}

// checkMonitorSelectorServer reports selectors that stop a Prometheus from
// looking for anything.
func checkMonitorSelectorServer(p *lint.Pass, s *monitors.Server) {
	for field, selector := range s.Selectors() {
		for _, problem := range selector.Problems {
			p.Report(lint.Finding{Span: problem.Span, Severity: lint.Error,
				Message: fmt.Sprintf("%s: %s: %s selects nothing, and the operator writes no configuration", s.Object(), problem.Message, field)})
		}
	}
}

// monitorPlace returns the name of an object.
func monitorPlace(n lint.Node) source.Span {
	if n, ok := n.(interface{ Place() source.Span }); ok {
		return n.Place()
	}
	return n.Span()
}

// monitorSelectorMeant returns those of the objects that the selector was
// probably written for. Others may be beside it by chance, as the one that is
// meant is often made by an operator.
func monitorSelectorMeant(m *monitors.Monitor, missed []lint.Node) []lint.Node {
	var meant []lint.Node
	alone := 0
	for _, o := range missed {
		if o.Span().File == m.Span().File {
			alone++
		}
	}
	for _, o := range missed {
		l := monitorSelectorLabels(o)
		service, _ := o.(*monitors.Service)
		nearly := false
		for _, t := range m.Selector.Terms {
			if t.Matches(l) {
				continue
			}
			_, misspelt := near.Name(l[t.Key], t.Values)
			named := slices.Contains(t.Values, o.Object().Name)
			ofPods := service != nil && t.Operator != selection.DoesNotExist && t.Operator != selection.NotIn && t.Matches(service.PodLabels)
			if nearly = misspelt || named || ofPods; !nearly {
				break
			}
		}
		// A file with one of each is about these two.
		if nearly || alone == 1 && o.Span().File == m.Span().File && monitorSelectorPair(m, o) {
			meant = append(meant, o)
		}
	}
	return meant
}

// monitorSelectorPair reports whether an object and a monitor are called the
// same but for what they are.
func monitorSelectorPair(m *monitors.Monitor, o lint.Node) bool {
	a, b := m.Name.Value, o.Object().Name
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// monitorSelectorNearest returns the object that satisfies most of the terms,
// and the first term that it does not satisfy.
func monitorSelectorNearest(s *monitors.Selector, missed []lint.Node) (nearest lint.Node, missing monitors.Term) {
	best := -1
	for _, o := range missed {
		score := 0
		var first *monitors.Term
		for i, t := range s.Terms {
			l := monitorSelectorLabels(o)
			switch {
			case t.Matches(l):
				score += 4
			case first == nil:
				first = &s.Terms[i]
				fallthrough
			default:
				if _, has := l[t.Key]; has {
					score++
				}
				if slices.Contains(t.Values, o.Object().Name) {
					score += 2
				}
			}
		}
		if first != nil && score > best {
			best, nearest, missing = score, o, *first
		}
	}
	return nearest, missing
}

// monitorSelectorLabels returns the labels by which an object is selected.
func monitorSelectorLabels(n lint.Node) map[string]string {
	switch n := n.(type) {
	case *monitors.Service:
		return n.Labels
	case *monitors.Workload:
		return n.PodLabels
	}
	return nil
}

func monitorSelectorNames(where string, missed []lint.Node) string {
	const most = 4
	var names []string
	for _, o := range missed {
		if name := o.Object().Name; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > most {
		return fmt.Sprintf("%s %s and %d more", where, strings.Join(names[:most], ", "), len(names)-most)
	}
	return where + " " + strings.Join(names, ", ")
}

// monitorSelectorHint says what to write, by the nearest object.
func monitorSelectorHint(missing monitors.Term, nearest lint.Node) string {
	l := monitorSelectorLabels(nearest)
	name := nearest.Object().String()
	service, _ := nearest.(*monitors.Service)
	switch {
	case len(l) == 0 && service != nil && missing.Matches(service.PodLabels):
		return fmt.Sprintf("%s has it in its spec.selector only, which is about pods: add it to metadata.labels of the Service", name)
	case len(l) == 0:
		return fmt.Sprintf("%s has no labels: add it there", name)
	case l[missing.Key] != "":
		return fmt.Sprintf("%s has %s=%s", name, missing.Key, l[missing.Key])
	case service != nil && missing.Matches(service.PodLabels):
		return fmt.Sprintf("%s has it in its spec.selector only, which is about pods: add it to metadata.labels of the Service", name)
	}
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(l)) {
		pairs = append(pairs, k+"="+l[k])
	}
	if len(pairs) > 3 {
		pairs = append(pairs[:3], "…")
	}
	return fmt.Sprintf("%s has %s", name, strings.Join(pairs, ", "))
}
