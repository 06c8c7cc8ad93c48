// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var _ = add(lint.Check{
	ID:       "monitor/duplicate",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "target that is scraped twice",
		Why: `What is scraped twice counts twice: sums are doubled, and each alert comes in two. It happens when two endpoints name one port and path, when two monitors select the same, and when the labels of a monitor match a Service and its headless twin, which lead to the same pods.

Endpoints that differ in their params or relabelings are taken to be meant, as are monitors in different folders. Two objects of one kind and name in a file are one object: the second replaces the first.`,
		Bad: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
spec:
  selector:
    matchLabels:
      app: shop
  endpoints:
    - port: metrics
    - port: metrics
      path: /metrics
`,
		Good: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
spec:
  selector:
    matchLabels:
      app: shop
  endpoints:
    - port: metrics
    - port: metrics
      path: /metrics/detailed
`,
		TurnOff: "the targets are told apart by relabeling of the Prometheus.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus-operator.dev/docs/developer/getting-started/"},
	},
	Run: lint.On(checkMonitorDuplicateEndpoint).And(lint.On(checkMonitorDuplicate)),
})

// monitorDuplicates are the endpoints and monitors that repeat an earlier one.
type monitorDuplicates struct {
	endpoints map[*monitors.Endpoint]*monitors.Endpoint
	monitors  map[*monitors.Monitor]*monitors.Monitor // of the same name in the same file
}

func monitorDuplicatesOf(p *lint.Project) monitorDuplicates {
	d := monitorDuplicates{map[*monitors.Endpoint]*monitors.Endpoint{}, map[*monitors.Monitor]*monitors.Monitor{}}
	type name struct{ path, kind, namespace, name string }
	names, first := map[name]*monitors.Monitor{}, map[string][]*monitors.Endpoint{}
	ordered := slices.Clone(monitors.Of(p).Monitors)
	slices.SortStableFunc(ordered, func(a, b *monitors.Monitor) int {
		return cmp.Or(cmp.Compare(a.Path(), b.Path()), cmp.Compare(a.Span().Start, b.Span().Start))
	})
	const most = 20 // of endpoints that are alike in different folders
	for _, m := range ordered {
		id := name{m.Path(), m.Group + m.Kind, m.Namespace.Value, m.Name.Value}
		if id.name != "" && names[id] != nil {
			d.monitors[m] = names[id]
			continue
		}
		names[id] = m
		if m.Selector == nil || m.Selector.Open || m.Namespaces.Open {
			continue
		}
		for _, e := range m.Endpoints {
			key := monitorDuplicateKey(e)
			for _, other := range first[key] {
				// In another file only what is installed in the same folder counts.
				// Of one name they are variants: one replaces the other.
				if other.Monitor == m || monitors.SameFolder(other.Monitor, m) && other.Monitor.Name.Value != m.Name.Value {
					d.endpoints[e] = other
					break
				}
			}
			if d.endpoints[e] == nil && len(first[key]) < most {
				first[key] = append(first[key], e)
			}
		}
	}
	return d
}

// monitorDuplicateKey is the same for endpoints that scrape the same.
func monitorDuplicateKey(e *monitors.Endpoint) string {
	m := e.Monitor
	text := func(v *monitors.Value) string {
		if v == nil {
			return ""
		}
		return strings.Join(strings.Fields(v.Extent.Text()), " ")
	}
	path := e.Value.Get("path").Str()
	if path == "" {
		path = "/metrics"
	}
	port := e.Port.Str()
	if port == "" {
		port = e.PortNumber.Str() + "/" + e.TargetPort.Str()
	}
	terms := make([]string, len(m.Selector.Terms))
	for i, t := range m.Selector.Terms {
		terms[i] = t.String()
	}
	slices.Sort(terms)
	var namespaces []string
	for _, n := range m.Namespaces.Names {
		namespaces = append(namespaces, n.Value)
	}
	slices.Sort(namespaces)
	return strings.Join([]string{
		m.Group, m.Kind, m.Namespace.Value, strings.Join(terms, ","), fmt.Sprint(m.Namespaces.Any, namespaces), port, path,
		text(e.Value.Get("params")), text(e.Value.Get("relabelings")), text(e.Value.Get("metricRelabelings")),
	}, "\x00")
}

func checkMonitorDuplicateEndpoint(p *lint.Pass, e *monitors.Endpoint) {
	first := lint.Derive(p.Project, monitorDuplicatesOf).endpoints[e]
	if first == nil {
		return
	}
	at := e.Value.Place
	for _, v := range []*monitors.Value{e.TargetPort, e.PortNumber, e.Port} {
		if v.Str() != "" {
			at = v.Place
		}
	}
	whose := "an endpoint above"
	if first.Monitor != e.Monitor {
		whose = first.Object().String()
	}
	p.Report(lint.Finding{
		Span:    at,
		Message: fmt.Sprintf("%s: endpoint has the same port and path as %s: each target is scraped twice, which doubles sums and alerts; remove one of them", e.Object(), whose),
		Related: []lint.Related{{Span: first.Value.Place, Message: "the first of the two is here"}},
	})
}

func checkMonitorDuplicate(p *lint.Pass, m *monitors.Monitor) {
	if first := lint.Derive(p.Project, monitorDuplicatesOf).monitors[m]; first != nil {
		p.Report(lint.Finding{
			Span:    m.Place(),
			Message: fmt.Sprintf("%s stands twice in the file: when they are installed the second replaces the first; rename one of them", m.Object()),
			Related: []lint.Related{{Span: first.Place(), Message: "the first of the two is here"}},
		})
		return
	}
	targets := monitors.Of(p.Project).Targets(m)
	if m.Kind != monitors.ServiceMonitor || targets == nil || m.Selector.Empty() {
		return
	}
	twins := map[string]*monitors.Service{}
	for _, s := range targets.Services {
		if len(s.PodLabels) == 0 || !monitors.SameFolder(m, s) {
			continue
		}
		for _, port := range s.Ports {
			if !monitorDuplicateScraped(m, port) {
				continue
			}
			key := s.Namespace.Value + "\x00" + port.Name.Str()
			for _, k := range slices.Sorted(maps.Keys(s.PodLabels)) {
				key += "\x00" + k + "=" + s.PodLabels[k]
			}
			first := twins[key]
			if first == nil {
				twins[key] = s
				continue
			}
			if first.Name.Value == s.Name.Value {
				continue // two variants of one Service
			}
			p.Report(lint.Finding{
				Span: m.Spec().Field("selector").Key.All(),
				Message: fmt.Sprintf("%s selects both Service %s and Service %s, which lead to the same pods and both have the port %s: each pod is scraped twice, which doubles sums and alerts; select by a label that only one of them has",
					m.Object(), first.Name.Value, s.Name.Value, port.Name.Str()),
				Related: []lint.Related{{Span: first.Place(), Message: "one of them"}, {Span: s.Place(), Message: "the other one"}},
			})
			return
		}
	}
}

// monitorDuplicateScraped reports whether an endpoint scrapes the port, and no
// relabeling decides which of the targets stay.
func monitorDuplicateScraped(m *monitors.Monitor, port monitors.ServicePort) bool {
	for _, e := range m.Endpoints {
		if name := port.Name.Str(); name != "" && name == e.Port.Str() && len(e.Relabelings) == 0 {
			return true
		}
	}
	return false
}
