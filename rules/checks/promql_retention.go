// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/retention",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "expression that reads further back than data is kept",
		Why: `What is older than the retention is gone. A selector with an offset beyond it returns nothing, so that a comparison with last month never fires; a range that is longer covers less than it says, and an average over 90 days is one over 15. Ranges, offsets and those of the subqueries around them add up.

It is looked at only with the option retention.`,
		Bad: `groups:
- name: traffic
  rules:
  - alert: TrafficDropped
    expr: sum(rate(requests_total[1h])) < 0.5 * sum(rate(requests_total[1h] offset 4w))
    for: 1h
`,
		Good: `groups:
- name: traffic
  rules:
  - alert: TrafficDropped
    expr: sum(rate(requests_total[1h])) < 0.5 * sum(rate(requests_total[1h] offset 1w))
    for: 1h
`,
		Config:  "retention: 15d",
		TurnOff: "the rules are evaluated against a long-term store.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/storage/#operational-aspects"},
	},
	Run: lint.With(promqlRetention{}, checkPromqlRetention),
})

type promqlRetention struct {
	Retention model.Duration `yaml:"retention" shared:"retention" doc:"How long the server that evaluates the rules keeps data; 0s if that is not known."`
}

func checkPromqlRetention(p *lint.Pass, e *promql.Expr, o promqlRetention) {
	if o.Retention == 0 || e.Root == nil {
		return
	}
	e.Inspect(func(n parser.Node, path []parser.Node) {
		v, ok := n.(*parser.VectorSelector)
		if !ok {
			return
		}
		reach, place, known := promqlReach(e, v, path)
		if !known || reach <= time.Duration(o.Retention) {
			return
		}
		p.Reportf(place, "%s", promqlSelectorMessage(p, "reads %s as far as %s back, and data is kept for %s: what is older is missing from the result; shorten the range or the offset", promql.Outline(v), model.Duration(reach), o.Retention))
	})
}

// promqlReach returns how far back a selector reads, and the part around it
// that contributes most to that. Times that are fixed or calculated are not known.
func promqlReach(e *promql.Expr, v *parser.VectorSelector, path []parser.Node) (reach time.Duration, place source.Span, known bool) {
	var most time.Duration
	known = true
	place = e.At(v)
	reads := func(d time.Duration, at func() source.Span) {
		// Durations add up to no more than can be held.
		const limit = time.Duration(1<<63 - 1)
		if d > 0 && reach > limit-d {
			reach = limit
		} else {
			reach += d
		}
		if d > most {
			most, place = d, at()
		}
	}
	fixed := func(at *int64, startOrEnd parser.ItemType, offset *parser.DurationExpr) bool {
		return at != nil || startOrEnd != 0 || offset != nil
	}
	known = !fixed(v.Timestamp, v.StartOrEnd, v.OriginalOffsetExpr)
	reads(v.OriginalOffset, func() source.Span { return e.At(v) })
	for i := len(path) - 1; i >= 0; i-- {
		switch n := path[i].(type) {
		case *parser.MatrixSelector:
			known = known && n.RangeExpr == nil
			reads(n.Range, func() source.Span { return e.Range(n) })
		case *parser.SubqueryExpr:
			known = known && n.RangeExpr == nil && !fixed(n.Timestamp, n.StartOrEnd, n.OriginalOffsetExpr)
			reads(n.Range, func() source.Span { return e.Range(n) })
			reads(n.OriginalOffset, func() source.Span { return e.At(n) })
		}
	}
	return reach, place, known
}
