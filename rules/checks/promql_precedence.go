// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/precedence",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "expression that is not evaluated as it reads",
		Why: `Operators of PromQL bind in an order of their own: ^ first, then the sign, * and /, + and -, comparisons, and, and last or. Comparisons in a row are evaluated from left to right, so that a < bool 6 * b >= bool 9 compares the 1 or 0 of a < bool (6 * b) with 9, which is always the same. And -2 ^ 2 is -4.

Of the same kind are comparisons of two scales: the share of some series of a metric in all of them is 1 at most, and never above 5; a share that was multiplied by 100 is hardly to be compared with 0.9. Only what is certain is reported: that the share is one of a sum or a count, by the matchers on both sides of the division.`,
		Bad: `groups:
- name: web
  rules:
  - alert: ManyErrors
    expr: sum(rate(requests_total{code=~"5.."}[5m])) / sum(rate(requests_total[5m])) > 5
    for: 5m
`,
		Good: `groups:
- name: web
  rules:
  - alert: ManyErrors
    expr: sum(rate(requests_total{code=~"5.."}[5m])) / sum(rate(requests_total[5m])) > 0.05
    for: 5m
`,
		TurnOff: "never; brackets say what is meant.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/querying/operators/#binary-operator-precedence",
			"https://github.com/prometheus/prometheus/issues/2122",
		},
	},
	Run: lint.On(checkPromqlPrecedence),
})

func checkPromqlPrecedence(p *lint.Pass, r *rules.Rule) {
	if r.Expr == nil || r.Expr.Root == nil {
		return
	}
	c := promqlPrecedence{p, r}
	r.Expr.Inspect(func(n parser.Node, path []parser.Node) {
		switch n := n.(type) {
		case *parser.UnaryExpr:
			c.sign(n)
		case *parser.BinaryExpr:
			if n.Op.IsComparisonOperator() {
				c.chain(n, path)
				c.scale(n)
			}
		}
	})
}

// A promqlPrecedence looks at the expression of one rule.
type promqlPrecedence struct {
	p *lint.Pass
	r *rules.Rule
}

// sign reports a minus in front of a power of a number.
func (c promqlPrecedence) sign(n *parser.UnaryExpr) {
	power, ok := n.Expr.(*parser.BinaryExpr)
	if !ok || n.Op != parser.SUB || power.Op != parser.POW {
		return
	}
	base, ok := power.LHS.(*parser.NumberLiteral)
	if !ok {
		return
	}
	number := promql.OutlineNumber(base.Val)
	c.p.Reportf(c.r.Expr.At(n), "%s reads -%s ^ … as -(%s ^ …), since ^ binds before the sign: put the number in brackets, or the power if that is meant", c.r.Object(), number, number)
}

// chain reports a comparison of the 1 or 0 that another comparison returns.
func (c promqlPrecedence) chain(n *parser.BinaryExpr, path []parser.Node) {
	inner, ok := promql.Unwrap(n.LHS).(*parser.BinaryExpr)
	if !ok || !inner.Op.IsComparisonOperator() || !inner.ReturnBool {
		return
	}
	_, brackets := n.LHS.(*parser.ParenExpr)
	if len(path) > 0 && !brackets {
		if outer, ok := path[len(path)-1].(*parser.BinaryExpr); ok && outer.Op.IsComparisonOperator() && outer.LHS == parser.Expr(n) && n.ReturnBool {
			return // reported as a whole
		}
	}
	what, always := "other values", ""
	if bound, ok := promql.Unwrap(n.RHS).(*parser.NumberLiteral); ok {
		zero, one := promqlCompares(n.Op, 0, bound.Val), promqlCompares(n.Op, 1, bound.Val)
		if zero != one {
			return
		}
		what, always = promql.OutlineNumber(bound.Val), fmt.Sprintf(" and is always %t", one)
	} else if brackets {
		return
	}
	if brackets && c.r.IsAlert() && !n.ReturnBool {
		return // a matter of alert/never-fires and alert/always-fires
	}
	advice := "mend the bound"
	if !brackets {
		advice = "comparisons in a row are evaluated from left to right, after arithmetic; put each in brackets"
	}
	c.p.Reportf(c.r.Expr.Operator(n), "%s compares the 1 or 0 of %s with %s%s: %s", c.r.Object(), promql.Outline(inner), what, always, advice)
}

// scale reports a comparison of a share with a percentage, or the other way round.
func (c promqlPrecedence) scale(n *parser.BinaryExpr) {
	bound, ok := promql.Unwrap(n.RHS).(*parser.NumberLiteral)
	if !ok {
		return
	}
	value := promql.Unwrap(n.LHS)
	if promqlShare(value) {
		// Of the values that a share can have, those at the ends tell.
		low, high := promqlCompares(n.Op, 0, bound.Val), promqlCompares(n.Op, 1, bound.Val)
		if bound.Val > 1 && low == high {
			c.p.Reportf(c.r.Expr.At(n.RHS), "%s compares a share, which is 1 at most, with %s, which is always %t: multiply the share by 100, or write %s", c.r.Object(), promql.OutlineNumber(bound.Val), low, promql.OutlineNumber(bound.Val/100))
		}
		return
	}
	product, ok := value.(*parser.BinaryExpr)
	if !ok || product.Op != parser.MUL {
		return
	}
	share, factor := product.LHS, product.RHS
	if _, ok := promql.Unwrap(share).(*parser.NumberLiteral); ok {
		share, factor = factor, share
	}
	hundred, ok := promql.Unwrap(factor).(*parser.NumberLiteral)
	// Less than that may well be a percentage.
	const fewest = 0.8
	if ok && hundred.Val == 100 && promqlShare(promql.Unwrap(share)) && bound.Val >= fewest && bound.Val < 1 {
		c.p.Reportf(c.r.Expr.At(n.RHS), "%s compares a share that is multiplied by 100 with %s, which is less than one percent: write %s, or leave the factor out", c.r.Object(), promql.OutlineNumber(bound.Val), promql.OutlineNumber(bound.Val*100))
	}
}

// promqlShare reports whether an expression divides a sum of rates, or a count,
// by that of the same series and others.
func promqlShare(n parser.Expr) bool {
	division, ok := n.(*parser.BinaryExpr)
	if !ok || division.Op != parser.DIV || division.VectorMatching == nil || division.VectorMatching.Card != parser.CardOneToOne {
		return false
	}
	part, ok := promql.Unwrap(division.LHS).(*parser.AggregateExpr)
	if !ok {
		return false
	}
	all, ok := promql.Unwrap(division.RHS).(*parser.AggregateExpr)
	if !ok || part.Op != all.Op || part.Without != all.Without || !promqlSameLabels(part.Grouping, all.Grouping) {
		return false
	}
	if m := division.VectorMatching; (m.On || len(m.MatchingLabels) > 0) && (!m.On || part.Without || !promqlSameLabels(m.MatchingLabels, part.Grouping)) {
		return false
	}
	a, b := promql.Unwrap(part.Expr), promql.Unwrap(all.Expr)
	switch part.Op {
	case parser.COUNT:
	case parser.SUM:
		// Of counters, none of which can fall: a sum of gauges may be anything.
		rate, ok := a.(*parser.Call)
		if !ok || rate.Func.Name != "rate" && rate.Func.Name != "increase" {
			return false
		}
		other, ok := b.(*parser.Call)
		if !ok || other.Func != rate.Func && other.Func.Name != rate.Func.Name {
			return false
		}
		some, ok := rate.Args[0].(*parser.MatrixSelector)
		if !ok {
			return false
		}
		every, ok := other.Args[0].(*parser.MatrixSelector)
		if !ok || some.Range != every.Range || some.RangeExpr != nil || every.RangeExpr != nil {
			return false
		}
		a, b = some.VectorSelector, every.VectorSelector
	default:
		return false
	}
	some, ok := a.(*parser.VectorSelector)
	if !ok {
		return false
	}
	every, ok := b.(*parser.VectorSelector)
	if !ok || groupReadsPast(some, nil) || groupReadsPast(every, nil) {
		return false
	}
	for _, m := range every.LabelMatchers {
		if !slices.ContainsFunc(some.LabelMatchers, func(o *labels.Matcher) bool { return o.Name == m.Name && o.Type == m.Type && o.Value == m.Value }) {
			return false
		}
	}
	return promql.Metric(some) != "" && promql.Metric(some) == promql.Metric(every)
}

func promqlSameLabels(a, b []string) bool {
	contains := func(x, y []string) bool {
		return !slices.ContainsFunc(x, func(l string) bool { return !slices.Contains(y, l) })
	}
	return contains(a, b) && contains(b, a)
}
