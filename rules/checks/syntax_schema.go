// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"slices"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var _ = add(lint.Check{
	ID:       "syntax/schema",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "field that Prometheus or the Kubernetes API refuses",
		Why: `One unknown field, a duration without a unit or a rule without a name, and Prometheus refuses the whole file. For a rule file the verdict is that of "promtool check rules"; for a PrometheusRule it is that of the API server and of the operator's admission webhook, which take an integer for expr but no number or boolean in labels and annotations. ServiceMonitors, PodMonitors, Probes, ScrapeConfigs and the other kinds of the operator are held against its custom resource definitions: fields, types, values, patterns. kubectl apply refuses a field that they do not have; other clients have the API server drop it without a word.

In a plain rule file an unquoted number as a label is an information: Prometheus takes it, but the same rule in a Kubernetes object is refused. Fields that only Thanos, Mimir or VictoriaMetrics know are errors until the dialect is configured.`,
		Bad: `groups:
- name: vm
  rules:
  - alert: VMDown
    expr: up{job="vm"} == 0
    for: 5 minutes
    annotation:
      summary: A VM is down.
`,
		Good: `groups:
- name: vm
  rules:
  - alert: VMDown
    expr: up{job="vm"} == 0
    for: 5m
    annotations:
      summary: A VM is down.
`,
		TurnOff: "Another program than Prometheus or its operator reads the rules and knows more fields: set dialect first.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/configuration/recording_rules/", "https://prometheus-operator.dev/docs/api-reference/api/"},
	},
	Run: lint.With(syntaxSchema{Dialect: "prometheus"}, func(p *lint.Pass, problem *lint.Problem, o syntaxSchema) {
		if problem.Check != "syntax/schema" || slices.Contains(problem.Dialects, o.Dialect) {
			return
		}
		if problem.Partial && monitors.Of(p.Project).Patch(problem.Finding.Span.File.Path) {
			return
		}
		p.Report(problem.Finding)
	}),
})

type syntaxSchema struct {
	Dialect string `yaml:"dialect" shared:"dialect" doc:"What reads the rules: prometheus, thanos, mimir or victoriametrics."`
}

func (o syntaxSchema) Validate() error { return validDialect(o.Dialect) }

// validDialect reports whether there is a dialect of that name.
func validDialect(name string) error {
	dialects := []string{"prometheus", "thanos", "mimir", "victoriametrics"}
	if !slices.Contains(dialects, name) {
		return fmt.Errorf("dialect %q is none of prometheus, thanos, mimir, victoriametrics", name)
	}
	return nil
}
