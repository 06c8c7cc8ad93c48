// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"slices"

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
    expr: sum(rate(http_responses{code=~"5.."}[5m])) / sum(rate(http_responses[5m])) > 5
    for: 5m
`,
		Good: `groups:
- name: web
  rules:
  - alert: ManyErrors
    expr: sum(rate(http_responses{code=~"5.."}[5m])) / sum(rate(http_responses[5m])) > 0.05
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
			if n.Op == parser.LOR {
				c.mix(n)
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

// mix reports "or" beside an "and" or "unless" on its right that no bracket and
// no line shows to belong together: and and unless bind before or.
func (c promqlPrecedence) mix(n *parser.BinaryExpr) {
	inner, ok := n.RHS.(*parser.BinaryExpr)
	if !ok || inner.Op != parser.LAND && inner.Op != parser.LUNLESS {
		return
	}
	e := c.r.Expr
	or, and := e.Operator(n), e.Operator(inner)
	if or.IsZero() || and.IsZero() || e.Text.File == nil {
		return
	}
	orLine, andLine := or.File.Position(or.Start).Line, and.File.Position(and.Start).Line
	if left, ok := n.LHS.(*parser.BinaryExpr); orLine != andLine || ok && left.Op == inner.Op {
		return // the layout tells, or the same is said on both sides
	}
	c.p.Reportf(or, "%s mixes or with %s: %s binds first, so that the left side of or does not have to satisfy it; put brackets around what belongs together", c.r.Object(), inner.Op, inner.Op)
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
	parts := rules.Analyse(c.p.Project).Parts(c.r.Expr)
	limit := parts.Flow(n.RHS)
	if n.RHS.Type() != parser.ValueTypeScalar || len(limit.Branches) != 1 {
		return
	}
	bound, ok := limit.Branches[0].Value.Point()
	values := parts.Flow(n.LHS).Branches
	if !ok || len(values) == 0 || slices.ContainsFunc(values, func(b promql.Branch) bool { return b.Kind != values[0].Kind }) {
		return
	}
	at := c.r.Expr.At(n.RHS)
	switch values[0].Kind {
	case promql.Share:
		// Of the values that a share can have, those at the ends tell.
		low, high := promqlCompares(n.Op, 0, bound), promqlCompares(n.Op, 1, bound)
		if bound <= 1 || low != high {
			return
		}
		if len(parts.Flow(n).Branches) == 0 {
			return // that nothing comes of it is told elsewhere
		}
		advice := "mend the bound"
		if _, ok := promql.Unwrap(n.RHS).(*parser.NumberLiteral); ok {
			advice = "write " + promql.OutlineNumber(bound/100)
		}
		c.p.Reportf(at, "%s compares a share, which is 1 at most, with %s, which is always %t: multiply the share by 100, or %s", c.r.Object(), promql.OutlineNumber(bound), low, advice)
	case promql.Percent:
		// Less than that may well be a percentage.
		const fewest = 0.8
		if bound >= fewest && bound < 1 {
			c.p.Reportf(at, "%s compares a percentage, a share multiplied by 100, with %s, which is less than one percent: write %s, or leave the factor out", c.r.Object(), promql.OutlineNumber(bound), promql.OutlineNumber(bound*100))
		}
	}
}
