// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "alert/keep-firing-for",
	Severity: lint.Info,
	Doc: lint.Doc{
		Title: "keep_firing_for that is out of bounds or holds what holds already",
		Why: `keep_firing_for keeps an alert that has fired firing for a while after its condition ended, so that one that flaps does not page again. Too long, it says for hours that something is broken which is not.

Some conditions do the same by themselves: max_over_time(x[10m]) > 5 stays true for 10m after the last bad sample, and a branch on ALERTS keeps a lower threshold while the alert fires. With keep_firing_for on top both add up, and the alert resolves later than either says.`,
		Bad: `groups:
- name: queue
  rules:
  - alert: QueueLong
    expr: max_over_time(queue_length[10m]) > 100
    for: 5m
    keep_firing_for: 10m
`,
		Good: `groups:
- name: queue
  rules:
  - alert: QueueLong
    expr: queue_length > 100
    for: 5m
    keep_firing_for: 10m
`,
		TurnOff: "the two are meant to add up.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/#defining-alerting-rules"},
	},
	Run: lint.With(alertKeepFiringFor{
		Max: alertForBounds{alertForDefault: model.Duration(24 * time.Hour)},
	}, checkAlertKeepFiringFor),
})

type alertKeepFiringFor struct {
	Min alertForBounds `yaml:"min" doc:"Shortest keep_firing_for of an alert that has one: a duration, or a map of severities to durations with the key default. 0s is no bound."`
	Max alertForBounds `yaml:"max" doc:"Longest keep_firing_for of an alert: a duration, or a map of severities to durations with the key default. 0s is no bound."`
}

// Validate reports a lower bound above the upper one.
func (o alertKeepFiringFor) Validate() error { return alertForOrder(o.Min, o.Max) }

func checkAlertKeepFiringFor(p *lint.Pass, r *rules.Rule, o alertKeepFiringFor) {
	keep := r.KeepFiringFor
	if !r.IsAlert() || keep.Value == 0 {
		return
	}
	severity := alertForSeverity(r)
	shortest, longest := o.Min.of(severity), o.Max.of(severity)
	switch {
	case longest > 0 && keep.Value > longest:
		p.Reportf(keep.Text.All(), "%s keeps firing for %s after its condition ended, and the longest%s is %s: it says that long that something is broken which is not; shorten keep_firing_for",
			r.Object(), keep.Text.Value, alertForClause(o.Max, severity), longest)
	case keep.Value < shortest:
		p.Reportf(keep.Text.All(), "%s keeps firing for only %s after its condition ended, and the shortest%s is %s: one that flaps pages again; lengthen keep_firing_for",
			r.Object(), keep.Text.Value, alertForClause(o.Min, severity), shortest)
	}
	if held, how := alertKeepHeld(r); held != nil {
		p.Report(lint.Finding{
			Span:    keep.Text.All(),
			Related: []lint.Related{{Span: r.Expr.At(held), Message: "the condition holds on here"}},
			Message: fmt.Sprintf("%s: keep_firing_for: %s comes on top of a condition that %s: the alert resolves later than either says; keep one of the two", r.Object(), keep.Text.Value, how),
		})
	}
}

// alertKeepHeld returns the part of the expression by which its condition
// outlasts the fault, and how it does so.
func alertKeepHeld(r *rules.Rule) (parser.Node, string) {
	if r.Expr == nil || r.Expr.Root == nil {
		return nil, ""
	}
	if n, ok := promql.Unwrap(r.Expr.Root).(*parser.BinaryExpr); ok {
		if call, m := alertKeepExtreme(n); call != nil {
			return m, fmt.Sprintf("%s over %s already holds for as long", call.Func.Name, model.Duration(m.Range))
		}
	}
	var own parser.Node
	r.Expr.Inspect(func(n parser.Node, path []parser.Node) {
		v, ok := n.(*parser.VectorSelector)
		if !ok || v.Name != "ALERTS" || !alertKeepGuards(path) {
			return
		}
		for _, m := range v.LabelMatchers {
			if m.Name == labels.AlertName && m.Type == labels.MatchEqual && m.Value == r.Alert.Value {
				own = n
			}
		}
	})
	if own != nil {
		return own, "holds on by itself while the alert fires (ALERTS)"
	}
	return nil, ""
}

// alertKeepGuards reports whether what path leads to is what a branch of an or
// needs: (x > 90) or (x > 80 and ALERTS{…}).
func alertKeepGuards(path []parser.Node) bool {
	and, or := false, false
	for _, n := range path {
		if b, ok := n.(*parser.BinaryExpr); ok {
			or = or || b.Op == parser.LOR
			and = and || or && b.Op == parser.LAND
		}
	}
	return and
}

// alertKeepExtreme returns the call in a comparison that a single sample
// decides for the whole of its range: max_over_time above, min_over_time below.
func alertKeepExtreme(n *parser.BinaryExpr) (*parser.Call, *parser.MatrixSelector) {
	if _, number := promql.Unwrap(n.RHS).(*parser.NumberLiteral); !number || n.ReturnBool {
		return nil, nil
	}
	call, ok := promql.Unwrap(n.LHS).(*parser.Call)
	if !ok {
		return nil, nil
	}
	above := n.Op == parser.GTR || n.Op == parser.GTE
	below := n.Op == parser.LSS || n.Op == parser.LTE
	if call.Func.Name == "max_over_time" && above || call.Func.Name == "min_over_time" && below {
		if m, ok := call.Args[0].(*parser.MatrixSelector); ok && m.RangeExpr == nil {
			return call, m
		}
	}
	return nil, nil
}
