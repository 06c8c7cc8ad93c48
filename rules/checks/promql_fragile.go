// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/fragile",
	Severity: lint.Info,
	Doc: lint.Doc{
		Title: "alert whose series change from one evaluation to the next, or that fires on a hiccup",
		Why: `An alert is known by its labels. topk, bottomk, limitk and limit_ratio choose other series each time, so that alerts come and go, and "for" starts over for each that is new.

Two aggregations that are computed with each other see different moments when targets appear, disappear or are scraped late. Without "for", one evaluation in such a moment notifies.`,
		Bad: `groups:
- name: queues
  rules:
  - alert: LongQueues
    expr: topk(3, queue_length > 100)
    for: 10m
`,
		Good: `groups:
- name: queues
  rules:
  - alert: LongQueues
    expr: queue_length > 100
    for: 10m
`,
		TurnOff: "A few notifications more do not matter.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/", "https://prometheus.io/docs/prometheus/latest/querying/operators/#aggregation-operators"},
	},
	Run: lint.On(checkPromqlFragile),
})

func checkPromqlFragile(p *lint.Pass, r *rules.Rule) {
	if !r.IsAlert() || r.Expr == nil || r.Expr.Root == nil {
		return
	}
	promqlFragileSeries(p, r.Expr, r.Expr.Root)
	if r.For.Text.Value == "" || r.For.Set && r.For.Value == 0 {
		promqlFragileQuotient(p, r)
	}
}

// promqlFragileSeries reports aggregations that choose the series of n.
func promqlFragileSeries(p *lint.Pass, e *promql.Expr, n parser.Expr) {
	switch n := promql.Unwrap(n).(type) {
	case *parser.AggregateExpr:
		switch n.Op {
		case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
			if k, ok := promqlNumber(n.Param); ok && k == 1 && len(n.Grouping) > 0 {
				return // one of each group: the way to drop duplicates
			}
			f := lint.Finding{Span: e.At(n)}
			if start := f.Span.Start; len(n.Op.String()) <= f.Span.End-start {
				f.Span.End = start + len(n.Op.String())
			}
			f.Message = promqlSelectorMessage(p, "fires for the series that %s chooses, which are others from one evaluation to the next, so that \"for\" starts over and alerts come and go; alert on all of them, and choose in a dashboard", n.Op)
			p.Report(f)
		}
	case *parser.Call:
		if n.Func.Name == "label_replace" || n.Func.Name == "label_join" {
			promqlFragileSeries(p, e, n.Args[0])
		}
	case *parser.BinaryExpr:
		v := n.VectorMatching
		switch {
		case n.LHS.Type() == parser.ValueTypeScalar:
			promqlFragileSeries(p, e, n.RHS)
		case n.RHS.Type() == parser.ValueTypeScalar:
			promqlFragileSeries(p, e, n.LHS)
		case n.Op == parser.LOR:
			promqlFragileSeries(p, e, n.LHS)
			promqlFragileSeries(p, e, n.RHS)
		case v != nil && v.Card == parser.CardOneToMany:
			promqlFragileSeries(p, e, n.RHS)
		default:
			promqlFragileSeries(p, e, n.LHS)
		}
	}
}

// promqlFragileQuotient reports two aggregations of different metrics that are
// computed with each other and compared with a number.
func promqlFragileQuotient(p *lint.Pass, r *rules.Rule) {
	n, ok := promql.Unwrap(r.Expr.Root).(*parser.BinaryExpr)
	if !ok || !n.Op.IsComparisonOperator() {
		return
	}
	compared := n.LHS
	if n.LHS.Type() == parser.ValueTypeScalar {
		compared = n.RHS
	} else if n.RHS.Type() != parser.ValueTypeScalar {
		return
	}
	for {
		b, ok := promql.Unwrap(compared).(*parser.BinaryExpr)
		if !ok || b.Op.IsComparisonOperator() || b.Op.IsSetOperator() {
			return
		}
		switch {
		case b.LHS.Type() == parser.ValueTypeScalar:
			compared = b.RHS
			continue
		case b.RHS.Type() == parser.ValueTypeScalar:
			compared = b.LHS
			continue
		}
		if b.Op == parser.MUL && b.VectorMatching.Card != parser.CardOneToOne {
			return // only adds labels
		}
		if promqlFragileSide(b.LHS) && promqlFragileSide(b.RHS) && (!slices.Equal(promqlMetrics(b.LHS), promqlMetrics(b.RHS)) || promqlFragilePast(b.LHS) != promqlFragilePast(b.RHS)) {
			p.Reportf(r.Expr.Operator(b), "%s", promqlSelectorMessage(p, "computes %s of two aggregations and has no \"for\": when a target appears or is scraped late, one side has it and the other has not yet, and a single evaluation notifies; set for to a few evaluations", b.Op))
		}
		return
	}
}

// promqlFragileSide reports whether n is an aggregation, perhaps scaled.
func promqlFragileSide(n parser.Expr) bool {
	switch n := promql.Unwrap(n).(type) {
	case *parser.AggregateExpr:
		return true
	case *parser.BinaryExpr:
		return n.RHS.Type() == parser.ValueTypeScalar && promqlFragileSide(n.LHS)
	}
	return false
}

// promqlFragilePast reports whether n reads another time than that of the evaluation.
func promqlFragilePast(n parser.Expr) bool {
	past := false
	part := promql.Expr{Root: n}
	part.Inspect(func(n parser.Node, path []parser.Node) {
		if v, ok := n.(*parser.VectorSelector); ok {
			past = past || promql.Elsewhen(v)
		}
	})
	return past
}

// promqlMetrics returns the metrics that n reads, sorted.
func promqlMetrics(n parser.Expr) []string {
	var names []string
	part := promql.Expr{Root: n}
	part.Inspect(func(n parser.Node, _ []parser.Node) {
		if v, ok := n.(*parser.VectorSelector); ok {
			names = append(names, promql.Metric(v))
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}
