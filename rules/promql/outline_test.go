// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

func TestOutline(t *testing.T) {
	for expr, want := range map[string]string{
		`sum(x)`:                              "sum",
		`(sum by (a, b) (x))`:                 "sum by (a, b)",
		`count(x) without (a)`:                "count without (a)",
		`sum by (a, b, c, d, e, f, g, h) (x)`: "sum by (a, b, c, d, e, f, …)",
		`rate(x[5m])`:                         "rate",
		`x{a="1"}`:                            "x",
		`{__name__=~"x|y"}`:                   "selector",
		`-x`:                                  "-",
		`x > 1`:                               ">",
		`x >= bool y`:                         ">= bool",
		`x and y`:                             "and",
		`x / ignoring (a) y`:                  "/ ignoring (a)",
		`x * on (a, b) group_left (c) y`:      "* on (a, b) group_left (c)",
		`x * ignoring (a) group_right y`:      "* ignoring (a) group_right ()",
	} {
		if got := Outline(parseAll(t, expr).Root); got != want {
			t.Errorf("Outline(%s) = %q, want %q", expr, got, want)
		}
	}
}

func TestOperator(t *testing.T) {
	for _, tt := range []struct{ expr, label, operator, place string }{
		{`sum(x) / sum(y)`, "a", "/", "/"},
		{`(x) * on (a,b) group_left (c) y`, "c", "* on (a,b) group_left (c)", "c"},
		{"x\n  and # both\n  ignoring(a)\n(y)", "a", "and # both\n  ignoring(a)", "a"},
		{`x{on="a"} + on ("a") y`, "a", `+ on ("a")`, `"a"`},
		{`sum(x) by (a) > on (a) sum(y) by (a)`, "a", "> on (a)", "a"},
	} {
		e := parseAll(t, tt.expr)
		n := e.Root.(*parser.BinaryExpr)
		if got := e.Operator(n).Text(); got != tt.operator {
			t.Errorf("Operator(%s) is %q, want %q", tt.expr, got, tt.operator)
		}
		if got := e.MatchingLabel(n, tt.label).Text(); got != tt.place {
			t.Errorf("MatchingLabel(%s, %s) is %q, want %q", tt.expr, tt.label, got, tt.place)
		}
	}
}
