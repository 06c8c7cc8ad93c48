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
	ID:       "alert/never-fires",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "alert whose query can't return anything",
		Why: `An alert fires for what its query returns. Some queries return nothing whatever the data: count(x) == 0, since count of no series is not 0 but nothing; x > 5 < 3; the absence of what is always there; a comparison with a bound that the values never reach, also when it is a recording rule of the run that keeps them away from it. Nobody notices, since an alert that never fires looks like a system that is well.

The same goes for one side of "or" that never adds anything.

Matchers that exclude each other are reported by promql/selector, and sides of an operator that never match by promql/vector-matching.`,
		Bad: `groups:
- name: mounts
  rules:
  - alert: NoMount
    expr: count(node_filesystem_avail_bytes{mountpoint="/srv"}) == 0
    for: 5m
`,
		Good: `groups:
- name: mounts
  rules:
  - alert: NoMount
    expr: absent(node_filesystem_avail_bytes{mountpoint="/srv"})
    for: 5m
`,
		TurnOff: "never; an alert that is kept quiet on purpose compares a constant: vector(0) > 0.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/querying/operators/#aggregation-operators",
			"https://github.com/prometheus/prometheus/issues/4982",
		},
	},
	Run: lint.On(checkAlertNeverFires),
})

func checkAlertNeverFires(p *lint.Pass, r *rules.Rule) {
	if !r.IsAlert() || r.Expr == nil || r.Expr.Root == nil {
		return
	}
	flow := rules.Analyse(p.Project).Flow(r.Expr)
	if len(flow.Dead) == 0 || r.Expr.Constant() {
		return
	}
	if len(flow.Branches) == 0 {
		alertNeverReport(p, r, flow.Dead, false)
		return
	}
	or, ok := promql.Unwrap(r.Expr.Root).(*parser.BinaryExpr)
	if !ok || or.Op != parser.LOR {
		return
	}
	alertNeverSides(p, r, or, rules.Analyse(p.Project).Parts(r.Expr))
}

// alertNeverSides reports the sides of an "or" that never add anything.
func alertNeverSides(p *lint.Pass, r *rules.Rule, or *parser.BinaryExpr, parts *promql.Parts) {
	if alertAlwaysPrecedence(or) != nil {
		return // what is wrong there is not the bound
	}
	for _, side := range []parser.Expr{or.LHS, or.RHS} {
		flow := parts.Flow(side)
		if len(flow.Branches) == 0 {
			alertNeverReport(p, r, flow.Dead, true)
		} else if inner, ok := promql.Unwrap(side).(*parser.BinaryExpr); ok && inner.Op == parser.LOR {
			alertNeverSides(p, r, inner, parts)
		}
	}
}

// alertNeverReport reports why a query, or one side of "or" in it, is empty,
// each part once.
func alertNeverReport(p *lint.Pass, r *rules.Rule, dead []promql.Dead, side bool) {
	var seen []parser.Node
	for _, d := range dead {
		if slices.Contains(seen, d.Node) {
			continue
		}
		seen = append(seen, d.Node)
		because := deadCause(r.Expr, d)
		if because == "" {
			continue
		}
		effect := "never fires"
		if side {
			effect = "never fires by this side of \"or\""
		}
		p.Reportf(r.Expr.At(d.Node), "%s %s: %s", r.Object(), effect, because)
	}
}
