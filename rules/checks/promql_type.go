// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

var _ = add(lint.Check{
	ID:       "promql/type",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "expression that returns a range or text",
		Why:   `A rule needs one value for each series. Prometheus loads a rule whose expression returns a range of values, or text, and then fails each evaluation of it with "rule result is not a vector or scalar": an alert never fires, a recording rule never records anything. promtool check rules takes it as well.`,
		Bad: `groups:
- name: vm
  rules:
  - alert: VMErrors
    expr: vm_errors_total[10m]
`,
		Good: `groups:
- name: vm
  rules:
  - alert: VMErrors
    expr: increase(vm_errors_total[10m]) > 0
`,
		TurnOff: "VictoriaMetrics reads the rules, which gives a bare range a function: set dialect to victoriametrics.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/querying/basics/#expression-language-data-types",
			"https://github.com/prometheus/prometheus/blob/main/rules/manager.go",
		},
	},
	Run: lint.With(promqlType{Dialect: "prometheus"}, checkPromqlType),
})

type promqlType struct {
	Dialect string `yaml:"dialect" shared:"dialect" doc:"What reads the rules: prometheus, thanos, mimir or victoriametrics."`
}

func (o promqlType) Validate() error { return validDialect(o.Dialect) }

func checkPromqlType(p *lint.Pass, r *rules.Rule, o promqlType) {
	if r.Expr == nil || r.Expr.Root == nil || o.Dialect == "victoriametrics" || r.Group.File.Kind == rules.VMRule {
		return
	}
	var what, remedy string
	switch r.Expr.Root.Type() {
	case parser.ValueTypeMatrix:
		what, remedy = "a range of values", "give the range to a function such as rate() or max_over_time(), or remove it"
	case parser.ValueTypeString:
		what, remedy = "text", "write a query"
	default:
		return
	}
	consequence := "never fires"
	if r.IsRecord() {
		consequence = "never records anything"
	}
	p.Report(lint.Finding{
		Span:    r.Expr.At(r.Expr.Root),
		Message: fmt.Sprintf("%s returns %s, so each evaluation fails and it %s: %s", r.Object(), what, consequence, remedy),
	})
}
