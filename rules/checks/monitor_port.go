// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var _ = add(lint.Check{
	ID:       "monitor/port",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "endpoint whose port is no port of what the monitor selects",
		Why: `The port of an endpoint is the name of a port: in a ServiceMonitor that of a port of the Service, in a PodMonitor that of a port of a container. The API server refuses a number. A name that nothing has is worse: Prometheus discovers the pods, drops each of them, and says nothing; the page of its targets shows 0 of n.

targetPort is a port of the container, as a name or a number, and the container has to declare it; a PodMonitor has portNumber for numbers. Where the Services and the workloads are in the run, in the same folder, above, below or beside it, the ports they have are compared. Beside port, targetPort has no effect. With neither of them every port of the Service is scraped, and most do not answer with metrics.`,
		Bad: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
  namespace: shop
spec:
  selector:
    matchLabels:
      app: shop
  endpoints:
    - port: 8080
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
`,
		TurnOff: "ports are declared by what is added to the pods later.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.Endpoint"},
	},
	Run: lint.On(checkMonitorPort),
})

func checkMonitorPort(p *lint.Pass, e *monitors.Endpoint) {
	kind := e.Monitor.Kind
	if kind != monitors.ServiceMonitor && kind != monitors.PodMonitor {
		return
	}
	monitorPortFields(p, e)
	index := monitors.Of(p.Project)
	targets := index.Targets(e.Monitor)
	switch {
	case e.Port != nil && e.Port.Type == monitors.Integer:
		monitorPortNumber(p, e, targets)
	case e.Port.Unknown() || e.TargetPort.Unknown():
	case e.Port.Str() != "" && monitorPortDigits(e.Port.Str()):
		monitorPortQuoted(p, e, targets)
	case targets == nil || targets.Empty() || e.Monitor.Selector.Empty(): // which takes in what the run does not hold
	case e.Port.Str() != "" && kind == monitors.ServiceMonitor:
		monitorPortOfService(p, e, targets)
	case e.Port.Str() != "":
		monitorPortOfPod(p, e, e.Port, "port", targets)
	case e.PortNumber != nil && kind == monitors.PodMonitor:
		monitorPortOfPod(p, e, e.PortNumber, "portNumber", targets)
	case e.TargetPort.Str() != "":
		monitorPortOfPod(p, e, e.TargetPort, "targetPort", targets)
	}
}

// monitorPortFields reports more than one way to name the port, and none.
func monitorPortFields(p *lint.Pass, e *monitors.Endpoint) {
	first, second := "port", e.TargetPort
	switch {
	case e.Port.Str() == "" && e.PortNumber != nil:
		first = "portNumber"
	case e.Port.Str() == "" && e.TargetPort.Str() == "":
		// What relabelings leave of the ports of the Service is not looked into.
		if len(e.Relabelings) == 0 && e.Port == nil && !monitorPortSingle(monitors.Of(p.Project).Targets(e.Monitor)) {
			what := "Service"
			if e.Monitor.Kind == monitors.PodMonitor {
				what = "containers"
			}
			p.Report(lint.Finding{Span: e.Value.Place, Severity: lint.Warning,
				Message: fmt.Sprintf("%s: endpoint has no port: every port of the %s is scraped, and those without metrics are down for ever; name the port", e.Object(), what)})
		}
		return
	case e.Port.Str() == "":
		return
	}
	name := "targetPort"
	if first == "port" && e.PortNumber != nil {
		second, name = e.PortNumber, "portNumber"
	}
	if second != nil && second.Str() != "" {
		p.Report(lint.Finding{Span: second.Place, Severity: lint.Warning,
			Message: fmt.Sprintf("%s: %s has no effect beside %s, which the operator takes: remove one of the two", e.Object(), name, first)})
	}
}

// monitorPortSingle reports whether what the monitor selects has one port each.
func monitorPortSingle(targets *monitors.Targets) bool {
	if targets == nil || targets.Empty() {
		return false
	}
	for _, s := range targets.Services {
		if len(s.Ports) != 1 {
			return false
		}
	}
	for _, w := range targets.Workloads {
		if len(w.Ports) != 1 && len(targets.Services) == 0 {
			return false
		}
	}
	return true
}

// monitorPortNumber reports a number where a name belongs, and says what to
// write: the name, if a Service of the run has it.
func monitorPortNumber(p *lint.Pass, e *monitors.Endpoint, targets *monitors.Targets) {
	number := e.Port.Str()
	f := lint.Finding{Span: e.Port.Place}
	const wrong = "%s: port takes the name of a port, and %s is a number: the API server refuses the object; "
	if e.Monitor.Kind == monitors.PodMonitor {
		f.Message = fmt.Sprintf(wrong+"write portNumber: %s, or the name that the container gives the port", e.Object(), number, number)
		f.Fixes = monitorPortRename(e, "portNumber")
		p.Report(f)
		return
	}
	if name, at := monitorPortNamed(targets, number); name != "" {
		f.Message = fmt.Sprintf(wrong+"write port: %s, the name of this port in the Service", e.Object(), number, name)
		f.Related = []lint.Related{{Span: at, Message: "the Service names it here"}}
		f.Fixes = []lint.Fix{lint.Replace(e.Port.Place, name, "write the name of the port", false)}
		p.Report(f)
		return
	}
	f.Message = fmt.Sprintf(wrong+"write the name that the Service gives the port, or targetPort: %s if that is the number in the container", e.Object(), number, number)
	f.Fixes = monitorPortRename(e, "targetPort")
	p.Report(f)
}

// monitorPortRename returns the fix that moves a number to the field for numbers.
func monitorPortRename(e *monitors.Endpoint, field string) []lint.Fix {
	key := e.Value.Field("port").Key
	if at, exact := key.Exact(0, len(key.Value)); exact && e.Value.Field(field) == nil {
		return []lint.Fix{lint.Replace(at, field, "write "+field+" for port", false)}
	}
	return nil
}

// monitorPortNamed returns the name that all Services give the port of a number.
func monitorPortNamed(targets *monitors.Targets, number string) (name string, at source.Span) {
	if targets == nil {
		return "", at
	}
	for _, s := range targets.Services {
		for _, port := range s.Ports {
			if port.Port.Str() != number && port.TargetPort.Str() != number || port.Name.Str() == "" {
				continue
			}
			if name != "" && name != port.Name.Str() {
				return "", at
			}
			name, at = port.Name.Str(), port.Name.Place
		}
	}
	return name, at
}

func monitorPortDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// monitorPortQuoted reports a number between quotes. The name of a container's
// port needs a letter; that of a Service's port does not, but nobody writes such.
func monitorPortQuoted(p *lint.Pass, e *monitors.Endpoint, targets *monitors.Targets) {
	number := e.Port.Str()
	f := lint.Finding{Span: e.Port.Place}
	if e.Monitor.Kind == monitors.PodMonitor {
		f.Message = fmt.Sprintf("%s: port takes the name of a port, and %q can't be one, which needs a letter: no pod is ever scraped; write portNumber: %s", e.Object(), number, number)
		p.Report(f)
		return
	}
	if targets != nil {
		for _, s := range targets.Services {
			for _, port := range s.Ports {
				if port.Name.Str() == number {
					return
				}
			}
		}
	}
	f.Severity = lint.Warning
	instead := fmt.Sprintf("the name that the Service gives the port, or targetPort: %s if that is the number in the container", number)
	if name, at := monitorPortNamed(targets, number); name != "" {
		instead = fmt.Sprintf("port: %s, the name of this port in the Service", name)
		f.Related = []lint.Related{{Span: at, Message: "the Service names it here"}}
	}
	f.Message = fmt.Sprintf("%s: port takes the name of a port, and %q is hardly one: nothing is scraped unless a port of the Service is called so; write %s", e.Object(), number, instead)
	p.Report(f)
}

// monitorPortOfService reports the name of a port that no selected Service has.
func monitorPortOfService(p *lint.Pass, e *monitors.Endpoint, targets *monitors.Targets) {
	services := monitorBeside(e.Monitor, targets.Services)
	var names []string
	for _, s := range services {
		if len(s.Ports) == 0 {
			return // its ports are those of another object
		}
		for _, port := range s.Ports {
			if port.Name.Unknown() || port.Name.Str() == e.Port.Str() {
				return
			}
			if name := port.Name.Str(); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(services) == 0 {
		return
	}
	if slices.ContainsFunc(targets.Services, func(s *monitors.Service) bool {
		return slices.ContainsFunc(s.Ports, func(port monitors.ServicePort) bool { return port.Name.Str() == e.Port.Str() })
	}) {
		return
	}
	its, has := "its", "it has "
	if len(services) > 1 {
		its, has = "their", "they have "
	}
	have := its + " ports have no names: give the port one"
	if len(names) > 0 {
		have = has + strings.Join(names, ", ")
		if name, ok := near.Name(e.Port.Str(), names); ok && len(names) > 1 {
			have += fmt.Sprintf("; did you mean %s?", name)
		}
	}
	f := lint.Finding{Span: e.Port.Place, Related: []lint.Related{{Span: services[0].Place(), Message: "the Service is here"}}}
	f.Message = fmt.Sprintf("%s: no port of %s is named %s, so nothing is scraped: %s", e.Object(), monitorServices(services), e.Port.Str(), have)
	if len(names) == 1 {
		f.Fixes = []lint.Fix{lint.Replace(e.Port.Place, names[0], "write the name of the port", false)}
	}
	p.Report(f)
}

// monitorBeside returns those of the objects that surely belong to the
// monitor's installation: the ones close by, else those in folders beside it.
// Further away others may have its labels by chance.
func monitorBeside[N interface {
	lint.Node
	Path() string
}](m *monitors.Monitor, objects []N) []N {
	var here, beside []N
	for _, o := range objects {
		switch {
		case monitors.Close(m, o):
			here = append(here, o)
		case monitors.Nearby(m, o.Path()):
			beside = append(beside, o)
		}
	}
	if len(here) > 0 {
		return here
	}
	return beside
}

func monitorServices(services []*monitors.Service) string {
	if len(services) == 1 {
		return "Service " + services[0].Name.Value
	}
	return fmt.Sprintf("the %d Services it selects", len(services))
}

// Ports that a service mesh adds to the pods when they are made.
var monitorPortInjected = []string{"http-envoy-prom", "15090", "15020", "http-monitoring", "15014", "linkerd-admin", "4191"}

// monitorPortOfPod reports a port that no container of what is selected declares.
func monitorPortOfPod(p *lint.Pass, e *monitors.Endpoint, port *monitors.Value, field string, targets *monitors.Targets) {
	want := port.Str()
	beside := monitorBeside(e.Monitor, targets.Workloads)
	if len(beside) == 0 || slices.Contains(monitorPortInjected, want) {
		return
	}
	var have []string
	for _, w := range targets.Workloads {
		if len(w.Ports) == 0 {
			return // those that declare none are often declared elsewhere, or use the node's
		}
		for _, c := range w.Ports {
			if c.Name.Unknown() || c.Number.Unknown() || c.Name.Str() == want || c.Number.Str() == want && field != "port" {
				return
			}
			name := c.Name.Str()
			if name == "" {
				name = c.Number.Str()
			}
			if slices.Contains(beside, w) && !slices.Contains(have, name) {
				have = append(have, name)
			}
		}
	}
	f := lint.Finding{Span: port.Place, Related: []lint.Related{{Span: beside[0].Place(), Message: "the pods are made here"}}}
	hint := "there are " + strings.Join(have, ", ")
	for _, s := range targets.Services {
		for _, sp := range s.Ports {
			if field == "targetPort" && sp.Name.Str() == want {
				hint = fmt.Sprintf("it is a port of Service %s: write port: %s", s.Name.Value, want)
			}
		}
	}
	f.Message = fmt.Sprintf("%s: %s takes a port that a container declares, and no container of %s declares %s, so nothing is scraped: %s",
		e.Object(), field, monitorWorkloads(beside), want, hint)
	p.Report(f)
}

func monitorWorkloads(workloads []*monitors.Workload) string {
	if len(workloads) == 1 {
		return workloads[0].Object().String()
	}
	return fmt.Sprintf("the %d workloads it selects", len(workloads))
}
