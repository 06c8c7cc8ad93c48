// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

// deadCause says why a part of an expression gives nothing, or "" where
// that is the matter of another check.
func deadCause(e *promql.Expr, d promql.Dead) string {
	switch d.Cause {
	case promql.NeverAbsent:
		return "what absent() is given is always there"
	case promql.NothingLeft:
		return "\"unless\" takes everything away, since its right side is always there"
	case promql.FalseComparison:
		n, ok := d.Node.(*parser.BinaryExpr)
		if !ok {
			return ""
		}
		if n.Op == parser.LAND {
			return "no value satisfies the comparisons on both sides of \"and\""
		}
		return deadComparison(e, n, d)
	}
	return ""
}

func deadComparison(e *promql.Expr, n *parser.BinaryExpr, d promql.Dead) string {
	vector, number, left := n.LHS, n.RHS, true
	if n.LHS.Type() == parser.ValueTypeScalar {
		vector, number, left = n.RHS, n.LHS, false
	}
	comparison := fmt.Sprintf("the comparison %s %s", n.Op, deadShort(e, number))
	if n.VectorMatching != nil {
		comparison = fmt.Sprintf("the comparison %s with what is %s", n.Op, d.Bound)
	}
	if !left {
		comparison = fmt.Sprintf("the comparison %s %s", deadShort(e, number), n.Op)
	}
	what := "the value"
	advice := "; mend the bound, or remove the rule"
	switch v := promql.Unwrap(vector).(type) {
	case *parser.AggregateExpr:
		what = fmt.Sprintf("%s()", v.Op)
		if v.Op == parser.COUNT || v.Op == parser.GROUP {
			advice = ", and of no series there is no result; for that write absent(…)"
			if !v.Without && len(v.Grouping) == 0 {
				advice += fmt.Sprintf(", or compare (%s(…) or vector(0))", v.Op)
			}
		}
	case *parser.Call:
		what = v.Func.Name + "()"
		if v.Func.Name == "count_over_time" || v.Func.Name == "present_over_time" {
			advice = ", and of no samples there is no result; for that write absent_over_time(…)"
		}
	case *parser.VectorSelector:
		what = promql.Metric(v)
		if strings.Contains(what, ":") {
			advice = "; mend the bound, or what its recording rule leaves out"
		}
	}
	if bound, ok := d.Bound.Point(); ok && d.Kind == promql.Share && bound > 1 {
		advice = "; mend the bound"
		if v, ok := promql.Unwrap(number).(*parser.NumberLiteral); ok {
			advice = fmt.Sprintf("; write %s, or multiply the share by 100", promql.OutlineNumber(v.Val/100))
		}
		return fmt.Sprintf("the value is a share, which is 1 at most, so that %s is never true%s", comparison, advice)
	}
	if !d.Value.Known() {
		return fmt.Sprintf("%s is never true", comparison)
	}
	return fmt.Sprintf("%s is %s, so that %s is never true%s", what, d.Value, comparison, advice)
}

// deadShort returns the source of a bound, if it is short.
func deadShort(e *promql.Expr, n parser.Expr) string {
	text := strings.Join(strings.Fields(e.At(n).Text()), " ")
	const most = 30
	if len(text) > most || text == "" {
		return "…"
	}
	return text
}
