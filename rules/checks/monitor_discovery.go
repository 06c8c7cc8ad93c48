// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var _ = add(lint.Check{
	ID:       "monitor/discovery",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "monitor or PrometheusRule that no Prometheus selects",
		Why: `A Prometheus object says by labels which ServiceMonitors, PodMonitors, Probes, ScrapeConfigs and PrometheusRules it takes, and by labels of namespaces where it looks for them. An object without the label is ignored, without an error: charts like kube-prometheus-stack want release: NAME on each of them. Without a namespace selector a Prometheus looks into its own namespace only, and without a selector it takes nothing; an empty one, {}, takes everything.

Compared are the Prometheus, PrometheusAgent and ThanosRuler objects beside the object: in the same file or folder, or above or below it. A Prometheus that selects nothing of any kind, or looks into its own namespace only, may be meant for something else: an information. Where the run holds none the check is silent, unless required-labels says what labels such objects must have. AlertmanagerConfigs are held against Alertmanagers in the same way.`,
		Bad: `apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata:
  name: main
  namespace: monitoring
spec:
  serviceMonitorSelector:
    matchLabels:
      release: kube-prometheus-stack
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
  namespace: monitoring
spec:
  selector:
    matchLabels:
      app: shop
  endpoints:
    - port: metrics
`,
		Good: `apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata:
  name: main
  namespace: monitoring
spec:
  serviceMonitorSelector:
    matchLabels:
      release: kube-prometheus-stack
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
  namespace: monitoring
  labels:
    release: kube-prometheus-stack
spec:
  selector:
    matchLabels:
      app: shop
  endpoints:
    - port: metrics
`,
		TurnOff: "labels are added when the manifests are installed.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus-operator.dev/docs/platform/troubleshooting/"},
	},
	Run: lint.With(monitorDiscovery{}, func(p *lint.Pass, m *monitors.Monitor, o monitorDiscovery) {
		checkMonitorDiscovery(p, m, m.Group, m.Place(), o)
	}).And(lint.With(monitorDiscovery{}, func(p *lint.Pass, c *monitors.Other, o monitorDiscovery) {
		checkMonitorDiscovery(p, c, c.Group, c.Place(), o)
	})).And(lint.With(monitorDiscovery{}, func(p *lint.Pass, f *rules.File, o monitorDiscovery) {
		if f.Kind == rules.PrometheusRule {
			checkMonitorDiscovery(p, f, f.Group, f.Place(), o)
		}
	})),
})

type monitorDiscovery struct {
	RequiredLabels map[string]string `yaml:"required-labels" doc:"Labels without which the Prometheus of the cluster does not see an object, as release: kube-prometheus-stack; an empty value stands for any."`
}

func checkMonitorDiscovery(p *lint.Pass, n lint.Node, group string, at source.Span, o monitorDiscovery) {
	labels := n.Origin().Labels
	for _, name := range slices.Sorted(maps.Keys(o.RequiredLabels)) {
		switch have, ok := labels[name]; {
		case !ok:
			p.Reportf(at, "%s has no label %s, without which no Prometheus sees it: add it to metadata.labels", n.Object(), monitorDiscoveryPair(name, o.RequiredLabels[name]))
		case o.RequiredLabels[name] != "" && have != o.RequiredLabels[name] && !monitors.Placeholder(have):
			p.Reportf(at, "%s has the label %s=%s, and a Prometheus sees it only with %s", n.Object(), name, have, o.RequiredLabels[name])
		}
	}
	if len(o.RequiredLabels) > 0 {
		return
	}
	index := monitors.Of(p.Project)
	located := monitors.Located(n)
	if index.Changed(located).Labels || index.Changed(located).Namespace {
		return
	}
	var beside []monitors.Selection
	for _, s := range index.Selections(located, group, labels) {
		switch {
		case !s.Known || s.Labels && s.Namespace:
			return
		case monitors.Close(s.Server, located) && s.Server.Name.Value != "":
			beside = append(beside, s)
		}
	}
	if len(beside) == 0 {
		return
	}
	s := monitorDiscoveryNearest(beside)
	server := s.Server.Object().String()
	f := lint.Finding{Span: at, Related: []lint.Related{{Span: s.Server.Place(), Message: "the " + s.Server.Kind + " is here"}}}
	rest := ""
	if len(beside) == 2 {
		rest = ", nor does the other one beside it"
	} else if len(beside) > 2 {
		rest = fmt.Sprintf(", nor do the %d others beside it", len(beside)-1)
	}
	switch {
	case s.Selector.Value == nil:
		if !monitorDiscoverySelects(s.Server) {
			f.Severity = lint.Info
		}
		f.Message = fmt.Sprintf("%s is ignored: %s has no %s and so takes none%s; set it, {} takes all", n.Object(), server, s.Field, rest)
	case !s.Labels:
		f.Message = fmt.Sprintf("%s is ignored: %s does not take it%s, as its %s wants %s; %s", n.Object(), server, rest, s.Field, s.Selector, monitorDiscoveryHint(s, labels))
		f.Related = []lint.Related{{Span: s.Selector.Value.Place, Message: "it selects by this"}}
	default:
		hint, own := monitorDiscoveryNamespace(s)
		if own {
			f.Severity = lint.Info
		}
		f.Message = fmt.Sprintf("%s is ignored: %s, whose labels fit, does not look into the namespace %s%s; %s", n.Object(), server, n.Object().Namespace, rest, hint)
	}
	p.Report(f)
}

// monitorDiscoverySelects reports whether a server takes anything at all.
func monitorDiscoverySelects(s *monitors.Server) bool {
	for _, selector := range s.Selectors() {
		if selector.Value != nil {
			return true
		}
	}
	return false
}

func monitorDiscoveryPair(name, value string) string {
	if value == "" {
		return name
	}
	return name + "=" + value
}

// monitorDiscoveryNearest returns the server that is closest to taking an object.
func monitorDiscoveryNearest(all []monitors.Selection) monitors.Selection {
	rank := func(s monitors.Selection) int {
		switch {
		case s.Namespace && s.Selector.Value != nil:
			return 0
		case s.Labels:
			return 1
		case s.Selector.Value != nil:
			return 2
		}
		return 3
	}
	return slices.MinFunc(all, func(a, b monitors.Selection) int { return rank(a) - rank(b) })
}

// monitorDiscoveryHint says which label to add or change.
func monitorDiscoveryHint(s monitors.Selection, labels map[string]string) string {
	for _, t := range s.Selector.Terms {
		if t.Matches(labels) {
			continue
		}
		have, ok := labels[t.Key]
		switch {
		case ok && len(t.Values) == 1 && t.Matches(map[string]string{t.Key: t.Values[0]}):
			return fmt.Sprintf("write %s: %s in metadata.labels, it is %s there", t.Key, t.Values[0], have)
		case ok:
			return fmt.Sprintf("its label %s=%s does not fit", t.Key, have)
		case len(t.Values) > 0 && t.Matches(map[string]string{t.Key: t.Values[0]}):
			return fmt.Sprintf("add %s: %s to metadata.labels", t.Key, t.Values[0])
		}
		return fmt.Sprintf("add the label %s to metadata.labels", t.Key)
	}
	return "look at its labels"
}

// monitorDiscoveryNamespace says where a server looks, and whether that is its
// own namespace only.
func monitorDiscoveryNamespace(s monitors.Selection) (hint string, own bool) {
	field := strings.TrimSuffix(s.Field, "Selector") + "NamespaceSelector"
	for name, selector := range s.Server.Selectors() {
		if name == field && selector.Value != nil {
			return fmt.Sprintf("its %s wants %s", field, selector), false
		}
	}
	return fmt.Sprintf("without a %s that is %s only; set it, {} takes all", field, s.Server.Namespace.Value), true
}
