// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/vector-matching",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "operation whose two sides can never match, or match more than one to one",
		Why: `Without on or ignoring, two series match only if they agree in all their labels; a label that one side has and the other lacks is a difference. Where one side always has a label that the other can't have, the operation returns nothing: the alert never fires, and nothing says so. The usual cause is an aggregation on one side only.

A series that is scraped from a target is taken to carry the labels job and instance (option target-labels). That is not assumed of metrics that recording rules write, nor of ALERTS.

Several faults that show only with certain data are warnings: a part of an "or" that can't match, an "unless" that takes nothing away, sides that are grouped by more labels than the operation matches by (Prometheus refuses to evaluate it once there are two series of one group), group_left with a label that the other side never has (which deletes it), and an "or" fallback that keeps a label the aggregation drops. A label in on() that one side can't have is an information.`,
		Bad: `groups:
- name: ledger
  rules:
  - alert: LedgerBacklog
    expr: sum(ledger_pending_entries) > 500 and ledger_follower_mode == 0
    for: 10m
`,
		Good: `groups:
- name: ledger
  rules:
  - alert: LedgerBacklog
    expr: sum(ledger_pending_entries) > 500 and on () ledger_follower_mode == 0
    for: 10m
`,
		TurnOff: "The series come without the labels that targets have, as from a pushgateway or another monitoring system; better, set target-labels to those that they all have, or to an empty list.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/querying/operators/#vector-matching"},
	},
	Run: lint.With(promqlVectorMatching{TargetLabels: []string{"job", "instance"}}, checkPromqlVectorMatching),
})

type promqlVectorMatching struct {
	TargetLabels []string `yaml:"target-labels" shared:"target-labels" doc:"Labels that each series scraped from a target carries."`
}

func checkPromqlVectorMatching(p *lint.Pass, r *rules.Rule, o promqlVectorMatching) {
	if r.Expr == nil || r.Expr.Root == nil {
		return
	}
	m := promqlMatching{p: p, r: r, labels: o.TargetLabels}
	r.Expr.Inspect(func(n parser.Node, path []parser.Node) {
		if b, ok := n.(*parser.BinaryExpr); ok && b.VectorMatching != nil && b.LHS.Type() != parser.ValueTypeScalar && b.RHS.Type() != parser.ValueTypeScalar {
			m.operation(b, path)
		}
	})
}

// promqlMatching looks at the operations of one rule.
type promqlMatching struct {
	p      *lint.Pass
	r      *rules.Rule
	labels []string // those of targets
}

// certain returns what a part of the expression can return by what is certain.
func (m *promqlMatching) certain(n parser.Expr) *promql.Flow {
	return rules.Analyse(m.p.Project).Parts(m.r.Expr).Flow(n)
}

// assumed returns what a part of the expression can return if series have the
// labels of targets.
func (m *promqlMatching) assumed(n parser.Expr) *promql.Flow {
	return rules.Analyse(m.p.Project).Assuming(m.labels, m.r.Expr).Flow(n)
}

func (m *promqlMatching) operation(n *parser.BinaryExpr, path []parser.Node) {
	if v := n.VectorMatching; v.FillValues.LHS != nil || v.FillValues.RHS != nil {
		return
	}
	if n.Op == parser.LOR {
		m.fallback(n)
		return
	}
	if m.never(n, path) {
		return
	}
	if n.Op != parser.LAND && n.Op != parser.LUNLESS {
		m.many(n)
	}
	m.included(n)
	m.on(n)
}

// never reports an operation none of whose series ever match.
func (m *promqlMatching) never(n *parser.BinaryExpr, path []parser.Node) bool {
	tested := n
	if n.Op == parser.LUNLESS {
		// What "unless" takes away is what "and" would keep.
		and := *n
		and.Op = parser.LAND
		tested = &and
	}
	assuming, part := false, m.certain
	dead := promqlDeadJoin(part(tested), tested)
	if dead == nil && m.depends(n) {
		assuming, part = true, m.assumed
		dead = promqlDeadJoin(part(tested), tested)
	}
	if dead == nil {
		return false
	}
	left, right := part(n.LHS), part(n.RHS)
	e := m.r.Expr
	f := lint.Finding{Span: e.Operator(n), Severity: m.severity(n, path)}
	var why string
	switch dead.Cause {
	case promql.DisjointValues:
		why = fmt.Sprintf("%s is %s on the left and %s on the right", dead.Label, promqlValues(left.Label(dead.Label)), promqlValues(right.Label(dead.Label)))
	default:
		lacking, having := "right", "left"
		if dead.Left {
			lacking, having = having, lacking
		}
		has := "always has the label " + dead.Label
		if assuming && slices.Contains(m.labels, dead.Label) {
			has = fmt.Sprintf("has the label %s, as each scraped series does", dead.Label)
		}
		why = fmt.Sprintf("the %s side %s, and the %s side lacks it", having, has, lacking)
		if dead.Why != nil {
			at := e.At(dead.Why)
			why += fmt.Sprintf(" (%s drops it)", promqlAt(e, dead.Why))
			f.Related = []lint.Related{{Span: at, Message: fmt.Sprintf("%s is dropped here", dead.Label)}}
		}
	}
	f.Message = promqlSelectorMessage(m.p, "operator %s never finds a match: %s, so that %s; %s", n.Op, why, m.consequence(n), promqlMatchingRemedy(n, dead, left, right))
	m.p.Report(f)
	return true
}

// depends reports whether it may take a label of targets for the operation to
// match nothing: one that one side can't have and the other may have.
func (m *promqlMatching) depends(n *parser.BinaryExpr) bool {
	left, right := m.certain(n.LHS), m.certain(n.RHS)
	for _, label := range m.labels {
		if slices.Contains(n.VectorMatching.MatchingLabels, label) != n.VectorMatching.On {
			continue
		}
		if promqlLacks(left, label) && promqlMayHave(right, label) || promqlLacks(right, label) && promqlMayHave(left, label) {
			return true
		}
	}
	return false
}

// promqlLacks reports whether a label is missing from series of a result.
func promqlLacks(f *promql.Flow, label string) bool {
	return slices.ContainsFunc(f.Branches, func(b promql.Branch) bool { return b.Label(label).Presence == promql.Impossible })
}

func promqlMayHave(f *promql.Flow, label string) bool {
	return slices.ContainsFunc(f.Branches, func(b promql.Branch) bool { return b.Label(label).Presence != promql.Impossible })
}

// severity returns that of an operation that never matches.
func (m *promqlMatching) severity(n *parser.BinaryExpr, path []parser.Node) lint.Severity {
	if n.Op == parser.LUNLESS {
		return lint.Warning
	}
	for _, outer := range path {
		if b, ok := outer.(*parser.BinaryExpr); ok && (b.Op == parser.LOR || b.Op == parser.LUNLESS) {
			return lint.Warning
		}
	}
	return lint.Error
}

func (m *promqlMatching) consequence(n *parser.BinaryExpr) string {
	switch {
	case n.Op == parser.LUNLESS:
		return "it takes nothing away"
	case len(m.assumed(m.r.Expr.Root).Branches) > 0:
		return "this part gives nothing"
	case m.r.IsAlert():
		return "the alert never fires"
	default:
		return "nothing is recorded"
	}
}

// promqlDeadJoin returns why an operation returns nothing, if that is since its
// sides never match.
func promqlDeadJoin(f *promql.Flow, n *parser.BinaryExpr) *promql.Dead {
	if len(f.Branches) > 0 {
		return nil
	}
	for i := range f.Dead {
		if d := &f.Dead[i]; d.Node == n && (d.Cause == promql.MissingLabel || d.Cause == promql.DisjointValues) {
			return d
		}
	}
	return nil
}

// promqlAt names an operation and its place.
func promqlAt(e *promql.Expr, n parser.Node) string {
	at := e.At(n)
	if at.IsZero() {
		return promql.Outline(n)
	}
	pos := at.File.Position(at.Start)
	return fmt.Sprintf("%s at %d:%d", promql.Outline(n), pos.Line, pos.Col)
}

func promqlValues(f promql.Fact) string {
	var quoted []string
	for i, v := range f.Values {
		if i == 3 {
			quoted = append(quoted, "…")
			break
		}
		quoted = append(quoted, fmt.Sprintf("%q", v))
	}
	if len(quoted) == 0 {
		return "another"
	}
	return strings.Join(quoted, " or ")
}

// promqlMatchingRemedy says what to write instead.
func promqlMatchingRemedy(n *parser.BinaryExpr, dead *promql.Dead, left, right *promql.Flow) string {
	v := n.VectorMatching
	listed := slices.Contains(v.MatchingLabels, dead.Label)
	switch {
	case dead.Label == model.MetricNameLabel:
		return "take __name__ out of on (…)"
	case dead.Cause == promql.DisjointValues && v.On && listed:
		return fmt.Sprintf("take %s out of on (…)", dead.Label)
	case dead.Cause == promql.DisjointValues:
		return fmt.Sprintf("leave it out of the match with %s ignoring (%s)", n.Op, strings.Join(append(slices.Clone(v.MatchingLabels), dead.Label), ", "))
	case v.On:
		return fmt.Sprintf("take %s out of on (…), or keep it on both sides", dead.Label)
	}
	lacking := right
	if dead.Left {
		lacking = left
	}
	group := ""
	if !n.Op.IsSetOperator() && v.Card == parser.CardOneToOne {
		group = " group_left ()"
		if dead.Left {
			group = " group_right ()"
		}
	}
	common, closed := promqlCarried(lacking)
	switch {
	case !closed:
		return fmt.Sprintf("write %s on (…)%s with the labels that both sides share, or aggregate both sides alike", n.Op, group)
	case len(common) == 0:
		return fmt.Sprintf("write %s on ()%s, or aggregate both sides alike", n.Op, group)
	}
	return fmt.Sprintf("write %s on %s%s, or aggregate both sides alike", n.Op, promql.LabelList(common), group)
}

// promqlCarried returns the labels that a result may have; closed is false if
// they are not all known.
func promqlCarried(f *promql.Flow) (labels []string, closed bool) {
	for i := range f.Branches {
		b := &f.Branches[i]
		if !b.Closed() {
			return nil, false
		}
		for _, name := range b.Names() {
			if name != model.MetricNameLabel && b.Label(name).Presence != promql.Impossible {
				labels = append(labels, name)
			}
		}
	}
	slices.Sort(labels)
	return slices.Compact(labels), true
}

// many reports a side that must have one series for each match and is grouped
// by more labels than the match compares.
func (m *promqlMatching) many(n *parser.BinaryExpr) {
	v := n.VectorMatching
	if !v.On && len(v.MatchingLabels) == 0 {
		return
	}
	e := m.r.Expr
	report := func(side parser.Expr, name, group string) bool {
		agg, ok := promqlGrouped(side)
		if !ok {
			return false
		}
		flow := m.certain(side)
		var extra []string
		for _, label := range agg.Grouping {
			f := flow.Label(label)
			if slices.Contains(v.MatchingLabels, label) == v.On || slices.Contains(v.Include, label) || f.Presence == promql.Impossible || len(f.Values) == 1 {
				continue
			}
			extra = append(extra, label)
		}
		if len(extra) == 0 {
			return false
		}
		matched := "by " + promql.LabelList(v.MatchingLabels)
		if !v.On {
			matched = "without " + promql.LabelList(v.MatchingLabels)
		}
		remedy := fmt.Sprintf("group by what is matched, or match by %s too", strings.Join(extra, ", "))
		if group != "" {
			remedy = fmt.Sprintf("add %s (), or group by what is matched", group)
		}
		m.p.Report(lint.Finding{
			Span:     e.Operator(n),
			Severity: lint.Warning,
			Message: promqlSelectorMessage(m.p, "operator %s matches %s, but its %s side is grouped by %s as well: as soon as one group has two series there, the evaluation fails and the rule gives nothing; %s",
				n.Op, matched, name, strings.Join(extra, ", "), remedy),
			Related: []lint.Related{{Span: e.Grouping(agg, extra[0]), Message: fmt.Sprintf("%s tells apart series that match alike", extra[0])}},
		})
		return true
	}
	switch v.Card {
	case parser.CardOneToOne:
		if !report(n.LHS, "left", "group_left") {
			report(n.RHS, "right", "group_right")
		}
	case parser.CardManyToOne:
		report(n.RHS, "right", "")
	case parser.CardOneToMany:
		report(n.LHS, "left", "")
	}
}

// promqlGrouped returns the aggregation that makes the labels of an operand, if
// nothing changes them afterwards.
func promqlGrouped(n parser.Expr) (*parser.AggregateExpr, bool) {
	switch n := promql.Unwrap(n).(type) {
	case *parser.AggregateExpr:
		switch n.Op {
		case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
			return nil, false
		}
		return n, !n.Without && len(n.Grouping) > 0
	case *parser.BinaryExpr:
		if n.RHS.Type() == parser.ValueTypeScalar {
			return promqlGrouped(n.LHS)
		}
		if n.LHS.Type() == parser.ValueTypeScalar {
			return promqlGrouped(n.RHS)
		}
	}
	return nil, false
}

// included reports a label that group_left or group_right copies and the other
// side never has.
func (m *promqlMatching) included(n *parser.BinaryExpr) {
	v := n.VectorMatching
	if len(v.Include) == 0 {
		return
	}
	one, name, clause := n.RHS, "right", "group_left"
	if v.Card == parser.CardOneToMany {
		one, name, clause = n.LHS, "left", "group_right"
	}
	flow := m.certain(one)
	if len(flow.Branches) == 0 {
		return
	}
	e := m.r.Expr
	for _, label := range v.Include {
		f := flow.Label(label)
		if f.Presence != promql.Impossible {
			continue
		}
		out := lint.Finding{Span: e.MatchingLabel(n, label), Severity: lint.Warning}
		dropped := ""
		if f.Why != nil {
			dropped = fmt.Sprintf(" (%s drops it)", promqlAt(e, f.Why))
			out.Related = []lint.Related{{Span: e.At(f.Why), Message: fmt.Sprintf("%s is dropped here", label)}}
		}
		out.Message = promqlSelectorMessage(m.p, "%s copies the label %s from the %s side, which never has it%s, and so removes it from the result; keep it on the %s side, or take it out of %s", clause, label, name, dropped, name, clause)
		m.p.Report(out)
	}
}

// on reports labels of an on clause that a side can't have.
func (m *promqlMatching) on(n *parser.BinaryExpr) {
	v := n.VectorMatching
	if !v.On || len(v.MatchingLabels) == 0 {
		return
	}
	left, right := m.certain(n.LHS), m.certain(n.RHS)
	if len(left.Branches) == 0 || len(right.Branches) == 0 {
		return
	}
	e := m.r.Expr
	for _, label := range v.MatchingLabels {
		l, r := left.Label(label), right.Label(label)
		side, why := "", l.Why
		switch {
		case l.Presence == promql.Impossible && r.Presence == promql.Impossible:
			side = "neither side"
		case l.Presence == promql.Impossible:
			side = "the left side never"
		case r.Presence == promql.Impossible:
			side, why = "the right side never", r.Why
		default:
			continue
		}
		out := lint.Finding{Span: e.MatchingLabel(n, label), Severity: lint.Info}
		dropped := ""
		if why != nil {
			dropped = fmt.Sprintf(" (%s drops it)", promqlAt(e, why))
			out.Related = []lint.Related{{Span: e.At(why), Message: fmt.Sprintf("%s is dropped here", label)}}
		}
		effect := "only series without it match"
		if side == "neither side" {
			effect = "it has no effect"
		}
		out.Message = promqlSelectorMessage(m.p, "on (…) names the label %s, which %s has%s: %s; take it out, or keep it on both sides", label, side, dropped, effect)
		m.p.Report(out)
	}
}

// fallback reports "or" whose right side is to stand in, as a zero, for series
// of the left side that are missing, and keeps a label that these don't have.
func (m *promqlMatching) fallback(n *parser.BinaryExpr) {
	v := n.VectorMatching
	zero, ok := promql.Unwrap(n.RHS).(*parser.BinaryExpr)
	if !ok || v.On || zero.Op != parser.MUL {
		return
	}
	if v, ok := promql.Unwrap(zero.RHS).(*parser.NumberLiteral); !ok || v.Val != 0 {
		return
	}
	agg, ok := promql.Unwrap(n.LHS).(*parser.AggregateExpr)
	if !ok || !agg.Without {
		return
	}
	e := m.r.Expr
	for _, label := range agg.Grouping {
		if slices.Contains(v.MatchingLabels, label) || !promqlSelectsBy(zero.LHS, label) {
			continue
		}
		if f := m.certain(zero.LHS).Label(label); f.Presence == promql.Impossible {
			continue
		}
		m.p.Report(lint.Finding{
			Span:     e.Operator(n),
			Severity: lint.Warning,
			Message: promqlSelectorMessage(m.p, "operator or never takes its right side as a stand-in for the left: the right side keeps the label %s, which %s drops, so that its series are there beside those of the left; aggregate both sides, as in sum without (%s) (… or …)",
				label, promqlAt(e, agg), label),
			Related: []lint.Related{{Span: e.Grouping(agg, label), Message: fmt.Sprintf("%s is dropped here", label)}},
		})
		return
	}
}

// promqlSelectsBy reports whether n reads a selector that matches the label,
// and aggregates nothing.
func promqlSelectsBy(n parser.Expr, label string) bool {
	found := false
	parser.Inspect(n, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			for _, m := range v.LabelMatchers {
				found = found || m.Name == label
			}
		}
		return nil
	})
	return found
}
