// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "record/condition",
	Severity: lint.Info,
	Doc: lint.Doc{
		Title: "recording rule that records nothing while a comparison is false",
		Why: `A comparison without bool is a filter: while it is false the series is dropped, and what is recorded has a gap. Averages and rates over it leave out the very times when all was well, and who reads it can't tell "false" from "not recorded". With bool the result is 1 or 0.

A condition that no value ever satisfies, so that nothing is recorded at all, is an error.

Only a comparison that decides what is recorded is looked at, the outermost operation. Those inside an aggregation select what is counted, and a comparison with 0 keeps a quotient from dividing by it.`,
		Bad: `groups:
- name: queue
  rules:
  - record: queue:depth:high
    expr: queue_depth > 100
`,
		Good: `groups:
- name: queue
  rules:
  - record: queue:depth:high
    expr: queue_depth > bool 100
`,
		TurnOff: "gaps are what the readers of the series expect.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/querying/operators/#comparison-binary-operators"},
	},
	Run: lint.On(checkRecordCondition),
})

func checkRecordCondition(p *lint.Pass, r *rules.Rule) {
	if !r.IsRecord() || r.Expr == nil || r.Expr.Root == nil {
		return
	}
	if recordConditionMay(r.Expr.Text.Value) {
		if flow := rules.Analyse(p.Project).Flow(r.Expr); len(flow.Branches) == 0 {
			if !r.Expr.Constant() { // where it is meant so
				recordConditionNever(p, r, flow.Dead)
			}
			return
		}
	}
	n, ok := promql.Unwrap(r.Expr.Root).(*parser.BinaryExpr)
	if !ok || !n.Op.IsComparisonOperator() || n.ReturnBool || recordConditionZero(n) {
		return
	}
	f := lint.Finding{
		Span:    r.Expr.Operator(n),
		Message: fmt.Sprintf("%s is not recorded while the comparison %s is false, so that the series has gaps: write %s bool to record 1 or 0", r.Object(), n.Op, n.Op),
	}
	for _, t := range r.Expr.Tokens() {
		if f.Span.Contains(t.Span) && t.Type == n.Op && t.Span.Text() == t.Value {
			f.Fixes = []lint.Fix{lint.Replace(t.Span, t.Value+" bool", "record 1 or 0", false)}
		}
	}
	p.Report(f)
}

// recordConditionMay reports whether an expression may hold a condition. Most
// recording rules hold none, and need no analysis.
func recordConditionMay(expr string) bool {
	return strings.ContainsAny(expr, "<>") || strings.Contains(expr, "==") || strings.Contains(expr, "!=") ||
		strings.Contains(expr, "absent") || strings.Contains(strings.ToLower(expr), "unless")
}

// recordConditionNever reports the condition by which nothing is ever recorded.
func recordConditionNever(p *lint.Pass, r *rules.Rule, dead []promql.Dead) {
	for _, d := range dead {
		if because := deadCause(r.Expr, d); because != "" {
			p.Report(lint.Finding{Span: r.Expr.At(d.Node), Severity: lint.Error, Message: fmt.Sprintf("%s never records anything: %s", r.Object(), because)})
			return
		}
	}
}

// recordConditionZero reports whether n leaves out zeros, as what divides by
// the series needs.
func recordConditionZero(n *parser.BinaryExpr) bool {
	number, ok := promql.Unwrap(n.RHS).(*parser.NumberLiteral)
	return ok && number.Val == 0 && (n.Op == parser.GTR || n.Op == parser.NEQ)
}
