// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/nan",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "average or sum over quotients whose divisor is 0 in quiet times",
		Why: `0 / 0 is not a number (NaN), and a sum or an average with one NaN among its values is NaN. No comparison with NaN is true but !=. So a single series without traffic makes the aggregate of all disappear behind NaN, and the alert stays silent just when others fail. It is the same with the averages and sums over time.

A divisor that is a rate or an increase is 0 whenever nothing happens; recording rules of the run are followed. Divisors that are filtered (> 0), raised by clamp_min or constant are fine, and so is the quotient of two sums.`,
		Bad: `groups:
- name: api
  rules:
  - alert: ApiErrors
    expr: avg by (job) (rate(api_errors_total[5m]) / rate(api_requests_total[5m])) > 0.05
    for: 10m
`,
		Good: `groups:
- name: api
  rules:
  - alert: ApiErrors
    expr: sum by (job) (rate(api_errors_total[5m])) / sum by (job) (rate(api_requests_total[5m])) > 0.05
    for: 10m
`,
		TurnOff: "Every series always has traffic.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/querying/operators/#arithmetic-binary-operators"},
	},
	Run: lint.On(checkPromqlNan),
})

func checkPromqlNan(p *lint.Pass, r *rules.Rule) {
	if r.Expr == nil {
		return
	}
	q := promqlNanFinder{p: p, left: promqlNanSteps}
	r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
		switch n := n.(type) {
		case *parser.AggregateExpr:
			switch n.Op {
			case parser.SUM, parser.AVG, parser.STDDEV, parser.STDVAR:
				q.in(r, n, n.Expr)
			}
		case *parser.Call:
			switch n.Func.Name {
			case "sum_over_time", "avg_over_time", "stddev_over_time", "stdvar_over_time":
				q.in(r, n, n.Args[0])
			}
		}
	})
}

// in reports a quotient among the values that n adds up.
func (q *promqlNanFinder) in(r *rules.Rule, n, values parser.Expr) {
	p := q.p
	found := q.quotient(r, values, 0)
	if found == nil {
		return
	}
	e := r.Expr
	f := lint.Finding{
		Message: promqlSelectorMessage(p, "takes the %s over quotients whose divisor (%s) is 0 when nothing happens: one 0/0 makes the whole result NaN, with which no comparison is true; divide by (… > 0), or divide the sums",
			promql.Outline(n), promqlAt(found.rule.Expr, found.divisor)),
	}
	at := found.rule.Expr.Operator(found.operation)
	if found.rule == r {
		f.Span = at
	} else {
		f.Span = e.Name(found.read)
		f.Message = promqlSelectorMessage(p, "takes the %s of %s, which is recorded as a quotient whose divisor (%s) is 0 when nothing happens: one 0/0 makes the whole result NaN, with which no comparison is true; record it divided by (… > 0)",
			promql.Outline(n), promql.Metric(found.read), promql.Outline(found.divisor))
		f.Related = []lint.Related{{Span: at, Message: fmt.Sprintf("%s is recorded here", promql.Metric(found.read))}}
	}
	p.Report(f)
}

// A promqlQuotient is a quotient whose divisor may be 0.
type promqlQuotient struct {
	rule      *rules.Rule // that computes it
	operation *parser.BinaryExpr
	divisor   parser.Node            // the rate or increase in it
	read      *parser.VectorSelector // of the recording rule by which it is read, or nil
}

// promqlNanFinder looks for quotients, through recording rules.
type promqlNanFinder struct {
	p    *lint.Pass
	left int // steps it may still take
}

// promqlNanSteps bounds the search: recording rules may read each other many times.
const promqlNanSteps = 10_000

// promqlNanDepth bounds the recording rules that are followed one into another.
const promqlNanDepth = 4

// quotient returns the quotient that the values of n are, or nil.
func (q *promqlNanFinder) quotient(r *rules.Rule, n parser.Expr, depth int) *promqlQuotient {
	if q.left--; q.left < 0 {
		return nil
	}
	switch n := promql.Unwrap(n).(type) {
	case *parser.SubqueryExpr:
		return q.quotient(r, n.Expr, depth)
	case *parser.MatrixSelector:
		return q.quotient(r, n.VectorSelector, depth)
	case *parser.VectorSelector:
		for _, record := range q.records(n, depth) {
			if found := q.quotient(record, record.Expr.Root, depth+1); found != nil {
				found.read = n
				return found
			}
		}
	case *parser.Call:
		switch n.Func.Name {
		case "label_replace", "label_join", "abs", "round", "ceil", "floor":
			return q.quotient(r, n.Args[0], depth)
		}
	case *parser.BinaryExpr:
		switch {
		case n.Op == parser.DIV || n.Op == parser.MOD:
			if n.RHS.Type() == parser.ValueTypeScalar {
				return q.quotient(r, n.LHS, depth)
			}
			if divisor := q.quiet(n.RHS, depth); divisor != nil && q.zero(r, n.RHS) && (n.LHS.Type() == parser.ValueTypeScalar || q.zero(r, n.LHS)) {
				return &promqlQuotient{rule: r, operation: n, divisor: divisor}
			}
		case n.Op == parser.LOR, n.Op == parser.ADD, n.Op == parser.SUB, n.Op == parser.MUL:
			if found := q.quotient(r, n.LHS, depth); found != nil {
				return found
			}
			return q.quotient(r, n.RHS, depth)
		}
	}
	return nil
}

// zero reports whether the values of a part of a rule may be 0.
func (q *promqlNanFinder) zero(r *rules.Rule, n parser.Expr) bool {
	flow := rules.Analyse(q.p.Project).Parts(r.Expr).Flow(n)
	for i := range flow.Branches {
		if flow.Branches[i].Value.Contains(0) {
			return true
		}
	}
	return false
}

// quiet returns the rate or increase that makes the values of n 0 when nothing
// happens, or nil.
func (q *promqlNanFinder) quiet(n parser.Expr, depth int) parser.Node {
	if q.left--; q.left < 0 {
		return nil
	}
	switch n := promql.Unwrap(n).(type) {
	case *parser.Call:
		if promqlCounterFunctions[n.Func.Name] {
			return n
		}
		if n.Func.Name == "label_replace" {
			return q.quiet(n.Args[0], depth)
		}
	case *parser.AggregateExpr:
		if n.Op == parser.SUM || n.Op == parser.AVG || n.Op == parser.MAX || n.Op == parser.MIN {
			return q.quiet(n.Expr, depth)
		}
	case *parser.BinaryExpr:
		switch {
		case n.RHS.Type() == parser.ValueTypeScalar && (n.Op == parser.MUL || n.Op == parser.DIV):
			return q.quiet(n.LHS, depth)
		case n.Op == parser.ADD && n.LHS.Type() == parser.ValueTypeVector && n.RHS.Type() == parser.ValueTypeVector:
			if q.quiet(n.RHS, depth) != nil {
				return q.quiet(n.LHS, depth)
			}
		}
	case *parser.VectorSelector:
		for _, record := range q.records(n, depth) {
			if q.quiet(record.Expr.Root, depth+1) != nil {
				return n
			}
		}
	}
	return nil
}

// records returns the recording rules that write the series a selector reads,
// if there are few.
func (q *promqlNanFinder) records(n *parser.VectorSelector, depth int) []*rules.Rule {
	if depth >= promqlNanDepth {
		return nil
	}
	records := lint.Derive(q.p.Project, promqlRateRecords)[promql.Metric(n)]
	if len(records) != 1 || records[0].Expr == nil || records[0].Expr.Root == nil {
		return nil // which of several it is may depend on labels
	}
	return records
}
