// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var _ = add(lint.Check{
	ID:       "monitor/namespace",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "monitor that does not search the namespace of what it is for",
		Why: `Without a namespaceSelector a monitor searches its own namespace only. A ServiceMonitor in the namespace monitoring for a Service in another one finds nothing, and nothing tells.

What matches the labels of the monitor is compared where both say their namespace: manifests that get theirs on installation are left alone. any: true wins over matchNames, so a list beside it restricts nothing.`,
		Bad: `apiVersion: monitoring.coreos.com/v1
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
---
apiVersion: v1
kind: Service
metadata:
  name: shop
  namespace: shop
  labels:
    app: shop
spec:
  ports:
    - name: metrics
      port: 8080
`,
		Good: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
  namespace: monitoring
spec:
  namespaceSelector:
    matchNames: [shop]
  selector:
    matchLabels:
      app: shop
  endpoints:
    - port: metrics
---
apiVersion: v1
kind: Service
metadata:
  name: shop
  namespace: shop
  labels:
    app: shop
spec:
  ports:
    - name: metrics
      port: 8080
`,
		TurnOff: "namespaces are replaced when the manifests are installed.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.NamespaceSelector"},
	},
	Run: lint.On(checkMonitorNamespace),
})

func checkMonitorNamespace(p *lint.Pass, m *monitors.Monitor) {
	if m.Namespaces == nil {
		return
	}
	if m.Namespaces.Any && len(m.Namespaces.Names) > 0 {
		names := m.Namespaces.Value.Field("matchNames").Key
		p.Reportf(names.All(), "%s: any: true searches all namespaces, so matchNames restricts nothing: remove one of the two", m.Object())
	}
	targets := monitors.Of(p.Project).Targets(m)
	if targets == nil || !targets.Empty() || len(targets.Elsewhere) == 0 {
		return
	}
	other := targets.Elsewhere[0]
	namespace := other.Object().Namespace
	f := lint.Finding{Span: m.Spec().Field("selector").Key.All(), Related: []lint.Related{{Span: monitorPlace(other), Message: "the " + other.Object().Kind + " is here"}}}
	if names := m.Namespaces.Names; len(names) > 0 {
		f.Span = m.Namespaces.Value.Field("matchNames").Key.All()
		f.Message = fmt.Sprintf("%s selects nothing: %s, which has the labels, is in the namespace %s, and matchNames does not list it; add %s",
			m.Object(), other.Object(), namespace, namespace)
	} else {
		f.Message = fmt.Sprintf("%s selects nothing: %s, which has the labels, is in the namespace %s, and without a namespaceSelector only %s is searched; write namespaceSelector: {matchNames: [%s]}",
			m.Object(), other.Object(), namespace, m.Namespace.Value, namespace)
	}
	p.Report(f)
}
