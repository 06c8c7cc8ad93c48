// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

// object returns an object of the operator with the lines of its spec.
func object(kind, version string, spec ...string) string {
	return "apiVersion: monitoring.coreos.com/" + version + "\nkind: " + kind + "\nmetadata:\n  name: x\nspec:\n  " + strings.Join(spec, "\n  ") + "\n"
}

func serviceMonitor(endpoint ...string) string {
	return object("ServiceMonitor", "v1", "selector: {}", "endpoints:", "- port: web\n    "+strings.Join(endpoint, "\n    "))
}

const dropped = "kubectl apply refuses it, and from other clients the API server drops it without a word"

// TestMonitorSchemas gives objects that the definitions of the operator refuse,
// and some that they take although they look wrong.
func TestMonitorSchemas(t *testing.T) {
	tests := []struct {
		name, yaml string
		want       []string
	}{
		{"sound", serviceMonitor("interval: 30s"), nil},
		{"null", serviceMonitor("interval:", "tlsConfig: null"), nil},
		{"unknown field", serviceMonitor("intervall: 30s"), []string{
			`9:5 "intervall" error syntax/schema: ServiceMonitor x: unknown field "intervall" in endpoints; did you mean "interval"? ` + dropped}},
		{"unknown field of the spec", object("ServiceMonitor", "v1", "selector: {}", "endpoints: []", "namespaceSelectors: {}"), []string{
			`8:3 "namespaceSelectors" error syntax/schema: ServiceMonitor x: unknown field "namespaceSelectors" in spec; did you mean "namespaceSelector"? ` + dropped}},
		{"no near name", object("ServiceMonitor", "v1", "selector: {}", "endpoints: []", "namespaceSelector: {names: [a]}"), []string{
			`8:23 "names" error syntax/schema: ServiceMonitor x: unknown field "names" in namespaceSelector, which has any, matchNames: ` + dropped}},
		{"not a mapping", "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: x}\nspec: text\n", []string{
			`4:7 "text" error syntax/schema: ServiceMonitor x: spec must be a mapping, not text`}},
		{"required", object("ServiceMonitor", "v1", "jobLabel: a"), []string{
			`6:3 "jobLabel" error syntax/schema: ServiceMonitor x: spec has no endpoints, which is required`,
			`6:3 "jobLabel" error syntax/schema: ServiceMonitor x: spec has no selector, which is required`}},
		{"duration without unit", serviceMonitor("interval: 30"), []string{
			`9:15 "30" error syntax/schema: ServiceMonitor x: interval: "30" is not a duration: it has no unit; write 30s, 30m or 30h`}},
		{"duration with a word", serviceMonitor("interval: 30 seconds"), []string{
			`9:15 "30 seconds" error syntax/schema: ServiceMonitor x: interval: "30 seconds" is not a duration: write 30s`}},
		{"duration with a capital", serviceMonitor("interval: 5M"), []string{
			`9:15 "5M" error syntax/schema: ServiceMonitor x: interval: "5M" is not a duration: write 5m`}},
		{"duration with a fraction", serviceMonitor("interval: 1.5m"), []string{
			`9:15 "1.5m" error syntax/schema: ServiceMonitor x: interval: "1.5m" is not a duration: write whole numbers with units from ms, s, m, h, d, w, y, as in 30s or 1m30s`}},
		{"placeholder", serviceMonitor("interval: ${INTERVAL}", "honorLabels: ${HONOR}"), nil},
		{"enum", serviceMonitor("scheme: htps"), []string{
			`9:13 "htps" error syntax/schema: ServiceMonitor x: scheme: "htps" is none of http, https, HTTP, HTTPS; did you mean "https"?`}},
		{"boolean as text", serviceMonitor(`honorLabels: "true"`), []string{
			`9:19 "true" error syntax/schema: ServiceMonitor x: honorLabels must be true or false, not text: remove the quotes`}},
		{"boolean of YAML 1.1", serviceMonitor("honorLabels: yes", "params: {on: [off]}"), []string{
			`10:19 "off" error syntax/schema: ServiceMonitor x: params.on is a boolean to YAML, and the API server takes only text: write "off"`}},
		{"label", "apiVersion: monitoring.coreos.com/v1\nkind: Probe\nmetadata: {name: x, labels: {version: 1.20}}\nspec: {}\n", []string{
			`3:39 "1.20" error syntax/schema: Probe x: metadata.labels "version" is a fraction to YAML, and the API server takes only text: write "1.20"`}},
		{"integer", object("PodMonitor", "v1", "selector: {}", "sampleLimit: many"), []string{
			`7:16 "many" error syntax/schema: PodMonitor x: sampleLimit must be an integer, not text`}},
		{"range", object("PodMonitor", "v1", "selector: {}", "podMetricsEndpoints: [{portNumber: 70000}]"), []string{
			`7:38 "70000" error syntax/schema: PodMonitor x: portNumber is 70000, and may not be more than 65535`}},
		{"quantity", object("Prometheus", "v1", "resources: {requests: {memory: 2 GB}}", "retentionSize: 10 Gigs"), []string{
			`6:34 "2 GB" error syntax/schema: Prometheus x: requests.memory: "2 GB" is not a quantity: write a number and a unit, as in 500m, 2Gi or 10`,
			`7:18 "10 Gigs" error syntax/schema: Prometheus x: retentionSize: "10 Gigs" is not a size: write a number and a unit of bytes, as in 512MB or 10GiB`}},
		{"an item twice", object("Prometheus", "v1", "externalLabels: {}", "scrapeClasses:", "- name: a", "- name: a"), []string{
			`9:11 "a" error syntax/schema: Prometheus x: scrapeClasses has two items of the same name "a": the API server refuses the object`}},
		{"version that is gone", object("ServiceMonitor", "v1alpha1", "selector: {}", "endpoints: [{port: web}]"), []string{
			`1:13 "monitoring.coreos.com/v1alpha1" error syntax/schema: ServiceMonitor x: there is no version v1alpha1 of it: the API server refuses it; write apiVersion: monitoring.coreos.com/v1`}},
		{"PrometheusRule of a version that is gone", "apiVersion: monitoring.coreos.com/v1alpha1\nkind: PrometheusRule\nmetadata: {name: x}\nspec: {groups: []}\n", []string{
			`1:13 "monitoring.coreos.com/v1alpha1" error syntax/schema: PrometheusRule x: there is no version v1alpha1 of it: the API server refuses it; write apiVersion: monitoring.coreos.com/v1`}},
		{"a label that is called status", object("ServiceMonitor", "v1", "selector: {matchLabels: {status: 1}}", "endpoints: []"), []string{
			`6:36 "1" error syntax/schema: ServiceMonitor x: matchLabels.status is an integer to YAML, and the API server takes only text: write "1"`}},
		{"fork", strings.Replace(serviceMonitor("something: new"), "monitoring.coreos.com", "monitoring.rhobs", 1), nil},
		{"another API", "apiVersion: example.com/v1\nkind: ServiceMonitor\nspec: {groups: 1}\n", nil},
		{"port and action are left to their checks", serviceMonitor("relabelings: [{action: DROP}]", "port: 8080"), []string{
			`10:5 "port" error syntax/yaml: ServiceMonitor x: key "port" stands twice in one mapping: remove one of them`}},
		{"duplicate key of a Service", "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec:\n  ports: []\n  ports: []\n", nil},
		{"prober with a scheme", object("Probe", "v1", "prober: {url: 'http://prober:9115/probe'}", "targets: {}"), []string{
			`7:12 "{" error syntax/schema: Probe x: targets has neither staticConfig nor ingress: the operator drops the Probe`,
			`6:18 "http://prober:9115/probe" error syntax/schema: Probe x: the url of the prober is http://prober:9115/probe, and the operator takes only a host, or host:port: it drops the Probe; write url: prober:9115 and scheme: http`}},
		{"patch of kustomize", "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: x}\n$patch: delete\n", nil},
		{"reference", "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: x, annotations: {release.openshift.io/delete: 'true'}}\n", nil},
		{"list of mixed kinds", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: monitoring.coreos.com/v1\n  kind: ServiceMonitor\n  metadata: {name: x}\n  spec: {selector: {}, endpoints: [], a: b}\n- apiVersion: v1\n  kind: Secret\n- apiVersion: monitoring.coreos.com/v1\n  kind: PrometheusRule\n  metadata: {name: y}\n  spec: {group: []}\n", []string{
			`7:39 "a" error syntax/schema: ServiceMonitor x: unknown field "a" in spec: ` + dropped,
			`13:10 "group" error syntax/schema: PrometheusRule y: unknown field "group" in the spec; did you mean "groups"?`}},
		{"template of Helm", "{{- if .Values.monitor }}\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata:\n  name: {{ include \"x\" . }}\n{{- end }}\n", []string{
			`1:1 "{{- if .Values" info syntax/unrendered: file is an unrendered Helm template and was skipped: lint what it renders to: helm template CHART | monitoringlinter -`}},
		{"broken", "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata:\n  name: x\n   namespace: y\n", []string{
			`5:13 ":" error syntax/yaml: mapping values are not allowed in this context`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := findingsOf(Parse(source.NewFileString("a.yaml", tt.yaml), false))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestHostileMonitors reads what nobody writes, in a time that nobody notices.
func TestHostileMonitors(t *testing.T) {
	var endpoints, stream, keys strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&endpoints, "\n    - port: p%d\n      interval: 30s", i)
		fmt.Fprintf(&keys, "\n    k%d: v", i)
	}
	for i := range 2000 {
		fmt.Fprintf(&stream, "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: m%d}\nspec: {selector: {matchLabels: {a: b}}, endpoints: [{port: web}]}\n", i)
		fmt.Fprintf(&stream, "---\napiVersion: v1\nkind: Service\nmetadata: {name: s%d, labels: {a: b}}\nspec: {selector: {a: b}, ports: [{name: web}]}\n", i)
		fmt.Fprintf(&stream, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d%d}\nspec: {template: {metadata: {labels: {a: b}}}}\n", i)
		fmt.Fprintf(&stream, "---\napiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p%d}\nspec: {serviceMonitorSelector: {}}\n", i)
	}
	for name, text := range map[string]string{
		"endpoints": object("ServiceMonitor", "v1", "selector: {}", "endpoints:"+endpoints.String()),
		"labels":    object("ServiceMonitor", "v1", "endpoints: []", "selector:", "  matchLabels:"+strings.ReplaceAll(keys.String(), "\n    ", "\n      ")),
		"stream":    stream.String(),
		"aliases":   object("ServiceMonitor", "v1", "a: &a [x,x,x,x,x,x,x,x,x]", "b: &b [*a,*a,*a,*a,*a,*a,*a,*a]", "c: &c [*b,*b,*b,*b,*b,*b,*b]", "d: &d [*c,*c,*c,*c,*c,*c,*c]", "e: &e [*d,*d,*d,*d,*d,*d]", "f: [*e,*e,*e,*e,*e,*e,*e]"),
		"deep":      object("ServiceMonitor", "v1", "a: "+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			d := Parse(source.NewFileString("a.yaml", text), true)
			project := &lint.Project{Documents: []lint.Document{d}}
			index := monitors.Of(project)
			for m := range lint.All[*monitors.Monitor](project) {
				index.Targets(m)
				index.ServersOf(m)
			}
			t.Logf("%s: %d problems", time.Since(start), len(d.Problems))
			if name == "aliases" && len(d.Problems) == 0 {
				t.Error("no problem")
			}
		})
	}
}

// TestCorpusMonitors reads the public monitors: each object is one of the model.
func TestCorpusMonitors(t *testing.T) {
	want, got := 0, 0
	readCorpus(t, "monitors", func(path string, data []byte) {
		d := Parse(source.NewFile(path, data), false)
		if len(d.Problems) > 0 && d.Problems[0].Check == "syntax/unrendered" {
			return
		}
		for line := range strings.Lines(string(data)) {
			switch strings.Trim(strings.TrimLeft(strings.TrimSpace(line), "- "), `,"`) {
			case "kind: ServiceMonitor", "kind: PodMonitor", "kind: Probe", "kind: ScrapeConfig":
				want++
			}
		}
		for _, o := range d.Objects {
			if _, ok := o.(*monitors.Monitor); ok {
				got++
			}
		}
	})
	t.Logf("%d monitors, %d lines that name one", got, want)
	if got < want*9/10 {
		t.Errorf("%d monitors were read, and %d lines name one", got, want)
	}
}
