// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var _ = add(lint.Check{
	ID:       "monitor/honor-labels",
	Severity: lint.Info,
	Doc: lint.Doc{
		Title: "honorLabels on a target that reports only about itself",
		Why: `With honorLabels the labels that the target writes win over those that Prometheus adds: job, instance, namespace, pod. That is what federation, a Pushgateway and exporters of others' metrics (kube-state-metrics, the kubelet) need. Any other target can pass itself off as another one, and an alert by namespace then looks in the wrong place.

A target counts as one that reports about others by its path (/federate, /probe, /metrics/cadvisor …) and by its name.`,
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
      honorLabels: true
`,
		Good: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: kube-state-metrics
spec:
  selector:
    matchLabels:
      app: kube-state-metrics
  endpoints:
    - port: metrics
      honorLabels: true
`,
		TurnOff: "the targets are trusted with their labels.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/configuration/configuration/#scrape_config"},
	},
	Run: lint.On(checkMonitorHonorLabels),
})

// monitorHonorLabelsOthers are parts of names and paths of what reports about
// others.
var monitorHonorLabelsOthers = []string{
	"federat", "probe", "cadvisor", "exporter", "kube-state", "state-metrics", "kubelet", "gateway", "push", "node", "telemeter", "thanos", "prometheus",
	"opentelemetry", "otel", "collector", "operator", "blackbox", "snmp", "resource", "cluster", "agent",
}

func checkMonitorHonorLabels(p *lint.Pass, e *monitors.Endpoint) {
	honor := e.Value.Get("honorLabels")
	if !honor.True() {
		return
	}
	about := []string{e.Monitor.Name.Value, e.Value.Get("path").Str(), e.Port.Str()}
	if e.Monitor.Selector != nil {
		about = append(about, e.Monitor.Selector.String())
	}
	text := strings.ToLower(strings.Join(about, " "))
	for _, other := range monitorHonorLabelsOthers {
		if strings.Contains(text, other) {
			return
		}
	}
	p.Reportf(honor.Place, "%s: honorLabels lets the target overwrite job, instance, namespace and pod: needed only for one that reports about others, as federation does; remove it otherwise", e.Object())
}
