// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "alert/label-override",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "label of an alert that replaces what tells its series apart",
		Why: `A label that the rule sets replaces the label of that name in the result of the query. If the query groups by it, series that differed in it alone become one alert, and Prometheus then gives up the whole evaluation: "vector contains metrics with the same labelset after applying alert labels". Nobody is alerted, for as long as both are there. It is an error where the query groups by nothing else, since two series are then enough.

Alerts carry no metric name either, so a selector of several metrics fails in the same way as soon as two of them have the same labels otherwise.

A label that the query pins to one value (job="node") may be replaced, and one whose value is a template keeps what the template prints.`,
		Bad: `groups:
- name: quota
  rules:
  - alert: QuotaExceeded
    expr: sum by (team) (quota_used_bytes) > 1e12
    for: 5m
    labels:
      severity: warning
      team: platform
`,
		Good: `groups:
- name: quota
  rules:
  - alert: QuotaExceeded
    expr: sum by (team) (quota_used_bytes) > 1e12
    for: 5m
    labels:
      severity: warning
      owner: platform
`,
		TurnOff: "a rule label is meant to hide the label it replaces, and the other labels are known to be unique.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://github.com/prometheus/prometheus/blob/main/rules/alerting.go",
			"https://github.com/prometheus/prometheus/issues/13406",
			"https://github.com/VictoriaMetrics/VictoriaMetrics/issues/2513",
		},
	},
	Run: lint.On(checkAlertLabelOverride),
})

func checkAlertLabelOverride(p *lint.Pass, r *rules.Rule) {
	if !r.IsAlert() || r.Expr == nil || r.Expr.Root == nil {
		return
	}
	alertOverrideNames(p, r, r.Expr.Root)
	all := r.AllLabels()
	if !slices.ContainsFunc(all, func(e rules.Entry) bool { return strings.Contains(r.Expr.Text.Value, e.Key.Value) }) {
		return // the query can't group by them
	}
	grouped, known := alertOverrideGrouped(r.Expr.Root)
	if !known {
		return
	}
	replaced := func(label string) bool {
		return slices.ContainsFunc(all, func(e rules.Entry) bool { return e.Key.Value == label && !e.Templated() })
	}
	only := true
	for label := range grouped {
		only = only && (label == model.MetricNameLabel || replaced(label))
	}
	for i, e := range all {
		if by := grouped[e.Key.Value]; by != nil && !e.Templated() && !alertOverridePinned(r.Expr, e.Key.Value) {
			alertOverrideReport(p, r, e, i < len(r.Labels), by, only)
		}
	}
}

// alertOverrideReport reports a label that replaces one of those in the by
// clause of an aggregation; only says that nothing else tells series apart.
func alertOverrideReport(p *lint.Pass, r *rules.Rule, e rules.Entry, own bool, by *parser.AggregateExpr, only bool) {
	label := e.Key.Value
	grouping := r.Expr.Grouping(by, label)
	f := lint.Finding{Span: e.Key.All(), Related: []lint.Related{{Span: grouping, Message: "the query groups by it here"}}}
	whose := ""
	if !own {
		f.Span, f.Related = grouping, []lint.Related{{Span: e.Key.All(), Message: "the group sets it here"}}
		whose = " of its group"
	}
	if only {
		f.Severity = lint.Error
		f.Message = fmt.Sprintf("%s: label %q%s replaces the label by which the query tells its series apart: with two of them the evaluation of the rule fails and nobody is alerted; rename the label, or do not group by it",
			r.Object(), label, whose)
	} else {
		f.Message = fmt.Sprintf("%s: label %q%s replaces a label by which the query groups: the alert no longer says which %s it is about, and two series that differ in it alone make the evaluation of the rule fail; rename the label, or do not group by it",
			r.Object(), label, whose, label)
	}
	p.Report(f)
}

// alertOverridePinned reports whether a matcher of the expression leaves the
// label only one value.
func alertOverridePinned(e *promql.Expr, label string) bool {
	pinned := false
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		if v, ok := n.(*parser.VectorSelector); ok {
			pinned = pinned || slices.ContainsFunc(v.LabelMatchers, func(m *labels.Matcher) bool {
				return m.Name == label && alertOverrideOne(m)
			})
		}
	})
	return pinned
}

// alertOverrideOne reports whether a matcher leaves one value.
func alertOverrideOne(m *labels.Matcher) bool {
	return m.Type == labels.MatchEqual || m.Type == labels.MatchRegexp && len(m.SetMatches()) == 1
}

// alertOverrideGrouped returns the labels that the result of n carries, each
// with the aggregation that groups by it (nil: it comes by another way), and
// whether that is all it can carry.
func alertOverrideGrouped(n parser.Expr) (grouped map[string]*parser.AggregateExpr, known bool) {
	switch n := promql.Unwrap(n).(type) {
	case *parser.AggregateExpr:
		switch n.Op {
		case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO, parser.COUNT_VALUES:
			return nil, false // may well return one series, or labels of its own
		}
		inner, known := alertOverrideGrouped(n.Expr)
		if n.Without {
			if known {
				inner = alertOverrideKeep(inner, n.Grouping, false)
			}
			return inner, known
		}
		if known {
			return alertOverrideKeep(inner, n.Grouping, true), true
		}
		grouped = map[string]*parser.AggregateExpr{}
		for _, label := range n.Grouping {
			grouped[label] = n
		}
		return grouped, true
	case *parser.UnaryExpr:
		return alertOverrideGrouped(n.Expr)
	case *parser.Call:
		switch n.Func.Name {
		case "label_replace", "label_join", "absent", "absent_over_time", "info":
			return nil, false
		}
		for _, a := range n.Args {
			if t := a.Type(); t == parser.ValueTypeVector || t == parser.ValueTypeMatrix {
				inner, known := alertOverrideGrouped(a)
				if strings.HasPrefix(n.Func.Name, "histogram_") {
					delete(inner, "le")
				}
				return inner, known
			}
		}
	case *parser.SubqueryExpr:
		return alertOverrideGrouped(n.Expr)
	case *parser.BinaryExpr:
		return alertOverrideBinary(n)
	}
	return nil, false
}

func alertOverrideBinary(n *parser.BinaryExpr) (map[string]*parser.AggregateExpr, bool) {
	m := n.VectorMatching
	if m == nil { // one side is a scalar
		if n.LHS.Type() == parser.ValueTypeVector {
			return alertOverrideGrouped(n.LHS)
		}
		return alertOverrideGrouped(n.RHS)
	}
	left, leftKnown := alertOverrideGrouped(n.LHS)
	switch n.Op {
	case parser.LAND, parser.LUNLESS:
		return left, leftKnown
	}
	right, rightKnown := alertOverrideGrouped(n.RHS)
	if n.Op == parser.LOR {
		if !leftKnown || !rightKnown {
			return nil, false
		}
		both := maps.Clone(left)
		for label, by := range right {
			if both[label] == nil {
				both[label] = by
			}
		}
		return both, true
	}
	switch m.Card {
	case parser.CardManyToOne:
	case parser.CardOneToMany:
		left, leftKnown = right, rightKnown
	default:
		// Both sides have the labels that are matched on.
		if !leftKnown {
			left, leftKnown = right, rightKnown
		} else if rightKnown && !m.On {
			left = alertOverrideKeep(left, slices.Collect(maps.Keys(right)), true)
		}
		return alertOverrideKeep(left, m.MatchingLabels, m.On), leftKnown
	}
	if !leftKnown {
		return nil, false
	}
	many := maps.Clone(left)
	for _, label := range m.Include {
		many[label] = nil
	}
	return many, true
}

// alertOverrideKeep returns those that are in names, or those that are not.
func alertOverrideKeep(grouped map[string]*parser.AggregateExpr, names []string, in bool) map[string]*parser.AggregateExpr {
	kept := map[string]*parser.AggregateExpr{}
	for label, by := range grouped {
		if slices.Contains(names, label) == in {
			kept[label] = by
		}
	}
	return kept
}

// alertOverrideNames reports selectors of several metrics whose names are all
// that tells the alerts apart.
func alertOverrideNames(p *lint.Pass, r *rules.Rule, n parser.Expr) {
	switch n := promql.Unwrap(n).(type) {
	case *parser.VectorSelector:
		alertOverrideSelector(p, r, n)
	case *parser.MatrixSelector:
		alertOverrideNames(p, r, n.VectorSelector)
	case *parser.UnaryExpr:
		alertOverrideNames(p, r, n.Expr)
	case *parser.SubqueryExpr:
		alertOverrideNames(p, r, n.Expr)
	case *parser.AggregateExpr:
		switch n.Op {
		case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
			alertOverrideNames(p, r, n.Expr)
		}
	case *parser.Call:
		switch n.Func.Name {
		case "label_replace", "label_join", "absent", "absent_over_time":
			return
		}
		for _, a := range n.Args {
			if t := a.Type(); t == parser.ValueTypeVector || t == parser.ValueTypeMatrix {
				alertOverrideNames(p, r, a)
				return
			}
		}
	case *parser.BinaryExpr:
		switch {
		case n.VectorMatching == nil && n.LHS.Type() == parser.ValueTypeVector, n.Op == parser.LAND, n.Op == parser.LUNLESS:
			alertOverrideNames(p, r, n.LHS)
		case n.VectorMatching == nil:
			alertOverrideNames(p, r, n.RHS)
		case n.Op == parser.LOR:
			alertOverrideNames(p, r, n.LHS)
			alertOverrideNames(p, r, n.RHS)
		}
	}
}

func alertOverrideSelector(p *lint.Pass, r *rules.Rule, v *parser.VectorSelector) {
	var name *promql.Matcher
	for _, m := range r.Expr.Matchers(v) {
		if m.Matcher.Name == model.MetricNameLabel {
			if alertOverrideOne(m.Matcher) {
				return
			}
			name = &m
		}
	}
	// Where no name is asked for at all, the language may well be another one,
	// such as LogQL.
	if name == nil {
		return
	}
	if slices.ContainsFunc(r.AllLabels(), func(e rules.Entry) bool {
		return e.Templated() && strings.Contains(e.Value.Value, model.MetricNameLabel)
	}) {
		return
	}
	p.Reportf(name.Span, "%s selects several metrics, and alerts carry no metric name: with two of them for one target the evaluation of the rule fails and nobody is alerted; aggregate them, write one alert for each, or keep the name in a label with label_replace", r.Object())
}
