// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var _ = add(lint.Check{
	ID:       "monitor/labels",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "jobLabel or targetLabels that name a label nothing selected has",
		Why: `jobLabel names the label of the Service (of a PodMonitor, the pod) whose value becomes the job of the series. Where the label is missing the job is the name of the Service, or namespace/name of the PodMonitor, and alerts by job="…" find nothing. targetLabels and podTargetLabels copy labels of the Service and of the pods to the series: those that are missing are left out.

Only labels that none of the Services or pods which the run holds and the monitor selects has are reported. A jobLabel that is not nearly one of theirs is an information, as the name of the Service does for most.`,
		Bad: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
spec:
  jobLabel: apps
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
spec:
  jobLabel: app
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
  labels:
    app: shop
spec:
  ports:
    - name: metrics
      port: 8080
`,
		TurnOff: "labels are added when the manifests are installed.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.ServiceMonitorSpec"},
	},
	Run: lint.On(checkMonitorLabels),
})

func checkMonitorLabels(p *lint.Pass, m *monitors.Monitor) {
	index := monitors.Of(p.Project)
	targets := index.Targets(m)
	if targets == nil || m.Selector.Empty() {
		return
	}
	services := monitorLabelsOf(index, m, targets.Services, func(s *monitors.Service) map[string]string { return s.Labels })
	pods := monitorLabelsOf(index, m, targets.Workloads, func(w *monitors.Workload) map[string]string { return w.PodLabels })
	sources, of, job := services, "Service", "the name of the Service"
	if m.Kind == monitors.PodMonitor {
		sources, of, job = pods, "pod", "namespace/name of the PodMonitor"
	}
	if !m.JobLabel.IsZero() {
		monitorLabelsMissing(p, m, m.JobLabel, sources, of, "jobLabel", "the job is "+job)
	}
	for _, l := range m.TargetLabels {
		monitorLabelsMissing(p, m, l, services, "Service", "targetLabels", "the series do not have it")
	}
	for _, l := range m.PodTargetLabels {
		monitorLabelsMissing(p, m, l, pods, "pod", "podTargetLabels", "the series do not have it")
	}
}

// monitorLabelsOf returns the names of the labels that the objects have, and
// nil if not all are known, or none of them is beside the monitor.
func monitorLabelsOf[N interface {
	lint.Node
	Path() string
}](index *monitors.Index, m *monitors.Monitor, objects []N, labels func(N) map[string]string) map[string]bool {
	if len(monitorBeside(m, objects)) == 0 {
		return nil
	}
	out := map[string]bool{}
	for _, o := range objects {
		if index.Changed(o).Labels || index.Changed(m).Labels {
			return nil
		}
		for k := range labels(o) {
			if monitors.Placeholder(k) {
				return nil
			}
			out[k] = true
		}
	}
	return out
}

func monitorLabelsMissing(p *lint.Pass, m *monitors.Monitor, label source.Text, have map[string]bool, of, field, effect string) {
	if have == nil || have[label.Value] || label.Value == "" || monitors.Placeholder(label.Value) {
		return
	}
	names := slices.Sorted(maps.Keys(have))
	f := lint.Finding{Span: label.All()}
	hint := "it has " + strings.Join(names, ", ")
	meant, misspelt := near.Name(label.Value, names)
	if misspelt {
		hint = fmt.Sprintf("did you mean %s?", meant)
	} else if len(names) == 0 {
		hint = "it has no labels"
	}
	if field == "jobLabel" && !misspelt {
		f.Severity = lint.Info // the name of the Service is what most want
	}
	f.Message = fmt.Sprintf("%s: %s names the label %s, which no %s that it selects has, so %s; %s", m.Object(), field, label.Value, of, effect, hint)
	p.Report(f)
}
