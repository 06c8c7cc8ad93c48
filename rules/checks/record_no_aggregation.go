// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "record/no-aggregation",
	Severity: lint.Info,
	Doc: lint.Doc{
		Title: "recording rule that copies a metric under a new name",
		Why: `A rule whose expression is nothing but a selector stores each of its series a second time, with all their labels, and one evaluation late. Nothing is computed ahead, and what reads the copy could read the metric itself.

Where a metric is to be renamed, metric_relabel_configs do it once, when it is scraped. A rule that adds labels of its own is left alone, and so is one that records under a name without a colon: it keeps the old name of a metric for those who read it.`,
		Bad: `groups:
- name: queue
  rules:
  - record: queue:depth
    expr: queue_depth
`,
		Good: `groups:
- name: queue
  rules:
  - record: queue:depth:sum
    expr: sum by (queue) (queue_depth)
`,
		TurnOff: "the copies are on purpose, to be kept longer or to be federated, say.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/practices/rules/#aggregation"},
	},
	Run: lint.On(checkRecordNoAggregation),
})

func checkRecordNoAggregation(p *lint.Pass, r *rules.Rule) {
	if !r.IsRecord() || r.Expr == nil || r.Expr.Root == nil || len(r.AllLabels()) > 0 || !strings.Contains(r.Record.Value, ":") {
		return
	}
	v, ok := promql.Unwrap(r.Expr.Root).(*parser.VectorSelector)
	if !ok || groupReadsPast(v, nil) {
		return
	}
	what := promql.Metric(v)
	if what == "" || what == r.Record.Value {
		return // several metrics under one name, or no new name
	}
	p.Reportf(r.Expr.At(v), "%s copies each series of %s with all its labels: read the metric itself, or aggregate what is not needed away", r.Object(), promqlName(what))
}
