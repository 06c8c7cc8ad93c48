// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/redundant",
	Severity: lint.Info,
	Doc: lint.Doc{
		Title: "part of an expression that changes nothing",
		Why:   `What changes nothing still has to be read, and makes the next reader look for a reason. Reported is what can be left out with the same result whatever the data: a sum directly inside a sum, a minimum inside a minimum and a maximum inside a maximum, where the inner one keeps all labels that the outer one groups by; a label that is named twice in a clause; in an alert, bool in a comparison whose 1 is then asked for (x > bool 5 == 1 is true of what x > 5 is).`,
		Bad: `groups:
- name: web
  rules:
  - record: job:requests:rate5m
    expr: sum by (job) (sum by (job, instance) (rate(requests_total[5m])))
`,
		Good: `groups:
- name: web
  rules:
  - record: job:requests:rate5m
    expr: sum by (job) (rate(requests_total[5m]))
`,
		TurnOff: "the expressions are generated.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/querying/operators/"},
	},
	Run: lint.On(checkPromqlRedundant).And(lint.On(checkPromqlRedundantBool)).And(lint.On(checkPromqlRedundantOr)),
})

func checkPromqlRedundant(p *lint.Pass, e *promql.Expr) {
	repeats := false
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		switch n := n.(type) {
		case *parser.AggregateExpr:
			repeats = repeats || promqlRedundantRepeats(n.Grouping)
			promqlRedundantNested(p, e, n)
		case *parser.BinaryExpr:
			if m := n.VectorMatching; m != nil {
				repeats = repeats || promqlRedundantRepeats(m.MatchingLabels) || promqlRedundantRepeats(m.Include)
			}
		}
	})
	if repeats {
		promqlRedundantLabels(p, e)
	}
}

func promqlRedundantRepeats(labels []string) bool {
	for i := 1; i < len(labels); i++ {
		if slices.Contains(labels[:i], labels[i]) {
			return true
		}
	}
	return false
}

// promqlRedundantNested reports an aggregation directly inside of the same one.
func promqlRedundantNested(p *lint.Pass, e *promql.Expr, outer *parser.AggregateExpr) {
	switch outer.Op {
	case parser.SUM, parser.MIN, parser.MAX:
	default:
		return
	}
	inner, ok := promql.Unwrap(outer.Expr).(*parser.AggregateExpr)
	if !ok || inner.Op != outer.Op || outer.Without {
		return
	}
	for _, label := range outer.Grouping {
		// What the inner aggregation drops can't be grouped by any more.
		if slices.Contains(inner.Grouping, label) == inner.Without {
			return
		}
	}
	at, argument := e.At(inner), e.At(inner.Expr)
	start := inner.PosRange.Start
	f := lint.Finding{
		Span:    e.Span(posrange.PositionRange{Start: start, End: start + posrange.Pos(len(inner.Op.String()))}),
		Message: promqlSelectorMessage(p, "has %s directly inside of %s, where it changes nothing: aggregate once", promql.Outline(inner), promql.Outline(outer)),
	}
	if at.Contains(argument) {
		f.Fixes = []lint.Fix{lint.Replace(at, argument.Text(), "leave the inner aggregation out", true)}
	}
	p.Report(f)
}

// promqlRedundantLabels reports labels that a clause names twice.
func promqlRedundantLabels(p *lint.Pass, e *promql.Expr) {
	tokens := e.Tokens()
	clause := ""
	var seen []string
	for i, t := range tokens {
		switch t.Type {
		case parser.BY, parser.WITHOUT, parser.ON, parser.IGNORING, parser.GROUP_LEFT, parser.GROUP_RIGHT:
			if clause == "" && i+1 < len(tokens) && tokens[i+1].Type == parser.LEFT_PAREN {
				clause, seen = t.Value, nil
				continue
			}
		case parser.RIGHT_PAREN:
			clause = ""
		}
		if clause == "" || t.Type == parser.LEFT_PAREN || t.Type == parser.COMMA {
			continue
		}
		if !slices.Contains(seen, t.Value) {
			seen = append(seen, t.Value)
			continue
		}
		f := lint.Finding{Span: t.Span, Message: promqlSelectorMessage(p, "names the label %s twice in %s (…): leave one out", t.Value, clause)}
		if tokens[i-1].Type == parser.COMMA {
			f.Fixes = []lint.Fix{lint.Replace(tokens[i-1].Span.Union(t.Span), "", "leave "+t.Value+" out", true)}
		}
		p.Report(f)
	}
}

// checkPromqlRedundantBool reports an alert that asks for the 1 of a comparison.
func checkPromqlRedundantBool(p *lint.Pass, r *rules.Rule) {
	if !r.IsAlert() || r.Expr == nil || r.Expr.Root == nil {
		return
	}
	outer, ok := promql.Unwrap(r.Expr.Root).(*parser.BinaryExpr)
	if !ok || outer.ReturnBool || !outer.Op.IsComparisonOperator() {
		return
	}
	inner, ok := promql.Unwrap(outer.LHS).(*parser.BinaryExpr)
	bound, number := promql.Unwrap(outer.RHS).(*parser.NumberLiteral)
	if !ok || !number || !inner.ReturnBool || inner.Type() == parser.ValueTypeScalar {
		return
	}
	if !promqlCompares(outer.Op, 1, bound.Val) || promqlCompares(outer.Op, 0, bound.Val) {
		return
	}
	p.Reportf(r.Expr.Operator(inner), "%s asks for the 1 of %s by %s %s: without both the comparison is true of the same series, and $value is the value compared", r.Object(), promql.Outline(inner), outer.Op, promql.OutlineNumber(bound.Val))
}

// checkPromqlRedundantOr reports sides of "or" that never add anything. Those of
// the condition of an alert are the matter of alert/never-fires.
func checkPromqlRedundantOr(p *lint.Pass, r *rules.Rule) {
	if r.Expr == nil || r.Expr.Root == nil {
		return
	}
	r.Expr.Inspect(func(n parser.Node, path []parser.Node) {
		or, ok := n.(*parser.BinaryExpr)
		if !ok || or.Op != parser.LOR {
			return
		}
		parts := rules.Analyse(p.Project).Parts(r.Expr)
		whole := parts.Flow(or)
		if len(whole.Branches) == 0 {
			return
		}
		if promqlRedundantFallback(p, r, parts, or, path) {
			return
		}
		condition := r.IsAlert() && !slices.ContainsFunc(path, promqlRedundantInside)
		for i, side := range []parser.Expr{or.LHS, or.RHS} {
			name := []string{"left", "right"}[i]
			if dead := whole.Dead; i == 1 && slices.ContainsFunc(dead, func(d promql.Dead) bool { return d.Node == or.RHS && d.Cause == promql.Hidden }) {
				p.Reportf(r.Expr.At(side), "%s has a right side of \"or\" that never adds anything, since the left side is always there with the same labels: leave it out", r.Object())
				return
			}
			flow := parts.Flow(side)
			if len(flow.Branches) > 0 || condition {
				continue
			}
			for _, d := range flow.Dead {
				if because := deadCause(r.Expr, d); because != "" {
					p.Reportf(r.Expr.At(d.Node), "%s has a %s side of \"or\" that never adds anything: %s", r.Object(), name, because)
					return
				}
			}
		}
	})
}

// promqlRedundantFallback reports a number that stands in for missing series and
// that the comparison around it leaves out again, as in (x or vector(0)) > 0.
func promqlRedundantFallback(p *lint.Pass, r *rules.Rule, parts *promql.Parts, or *parser.BinaryExpr, path []parser.Node) bool {
	fallback := parts.Flow(or.RHS)
	if len(fallback.Branches) != 1 || !fallback.Always() {
		return false
	}
	value, ok := fallback.Branches[0].Value.Point()
	if !ok {
		return false
	}
	var outer *parser.BinaryExpr
	for _, n := range slices.Backward(path) {
		if _, brackets := n.(*parser.ParenExpr); brackets {
			continue
		}
		outer, _ = n.(*parser.BinaryExpr)
		break
	}
	if outer == nil || outer.ReturnBool || !outer.Op.IsComparisonOperator() || promql.Unwrap(outer.LHS) != parser.Expr(or) {
		return false
	}
	bound, ok := promql.Unwrap(outer.RHS).(*parser.NumberLiteral)
	if !ok || promqlCompares(outer.Op, value, bound.Val) {
		return false
	}
	p.Reportf(r.Expr.At(or.RHS), "%s falls back to %s, which %s %s leaves out again: leave the fallback out", r.Object(), promql.OutlineNumber(value), outer.Op, promql.OutlineNumber(bound.Val))
	return true
}

// promqlRedundantInside reports whether what is inside of n is no side of an
// "or" of the whole.
func promqlRedundantInside(n parser.Node) bool {
	switch n := n.(type) {
	case *parser.ParenExpr:
		return false
	case *parser.BinaryExpr:
		return n.Op != parser.LOR
	}
	return true
}

// promqlCompares reports whether a comparison of two numbers is true.
func promqlCompares(op parser.ItemType, a, b float64) bool {
	switch op {
	case parser.EQLC:
		return a == b
	case parser.NEQ:
		return a != b
	case parser.GTR:
		return a > b
	case parser.GTE:
		return a >= b
	case parser.LSS:
		return a < b
	case parser.LTE:
		return a <= b
	}
	return false
}
