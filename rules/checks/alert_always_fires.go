// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "alert/always-fires",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "alert that fires whatever the values are",
		Why: `Prometheus makes an alert of each series that the query returns, and does not look at its value: 0 fires just as 1 does. An expression that is a number instead of a test, such as sum(errors_total), fires as long as the metric is there. So does one whose outermost comparison says bool, since that returns 0 and 1 in place of leaving series out; one that is always true, such as rate(errors_total[5m]) >= 0; and one that falls back on a constant, such as foo > 0 or vector(0).

"or" binds less tightly than a comparison: a or vector(0) < 1 compares the constant only.

An expression that returns something only while there is something to alert about needs no comparison. These are left alone: set operators, absent(), ALERTS, metrics whose recording rule is not in the run, and a metric chosen by a label that tells of a fault, as kube_node_info{ready="false"} does. A constant other than 0, as in vector(1), is a watchdog. Any other metric that nothing is done with is a warning, since it may be there only while there is a fault; a counter is not, since it stays.`,
		Bad: `groups:
- name: relay
  rules:
  - alert: TooManyWatchErrors
    expr: sum(relay_watch_errors)
    for: 5m
    labels:
      severity: warning
`,
		Good: `groups:
- name: relay
  rules:
  - alert: TooManyWatchErrors
    expr: sum(relay_watch_errors) > 10
    for: 5m
    labels:
      severity: warning
`,
		TurnOff: "never; suppress it for an alert on a metric that is there only while there is a fault.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/",
			"https://prometheus.io/docs/prometheus/latest/querying/operators/#comparison-binary-operators",
		},
	},
	Run: lint.On(checkAlertAlwaysFires),
})

func checkAlertAlwaysFires(p *lint.Pass, r *rules.Rule) {
	if !r.IsAlert() || r.Expr == nil || r.Expr.Root == nil || r.Expr.Root.Type() != parser.ValueTypeVector {
		return
	}
	f := rules.Analyse(p.Project).Flow(r.Expr)
	fires := false
	for _, b := range f.Branches {
		fires = fires || !b.Conditional
	}
	if !fires || alertAlwaysSwallowed(r.Expr) {
		return
	}
	if r.Expr.Constant() {
		if zero := r.Expr.Root; len(f.Branches) == 1 && f.Always() {
			if v, ok := f.Branches[0].Value.Point(); ok && v == 0 {
				p.Reportf(r.Expr.At(zero), "%s always fires: a result of 0 fires like any other; for an alert that never fires write vector(0) > 0, or remove the rule", r.Object())
			}
		}
		return
	}
	w := alertAlwaysWalk{records: lint.Derive(p.Project, alertAlwaysIndex), parts: rules.Analyse(p.Project).Parts(r.Expr)}
	if a := w.walk(r.Expr.Root); a.kind > alertAlwaysState {
		alertAlwaysReport(p, r, a)
	}
}

// alertAlwaysSwallowed reports whether a comment may hold the comparison that is
// missing, as where the lines of a folded scalar became one.
func alertAlwaysSwallowed(e *promql.Expr) bool {
	return strings.Contains(e.Text.Value, "#") && slices.ContainsFunc(e.Comments(), func(c source.Text) bool {
		return strings.ContainsAny(c.Value, "<>=")
	})
}

// How an expression comes to have a result in any case.
type alertAlwaysKind uint8

const (
	alertAlwaysNever    alertAlwaysKind = iota // it does not
	alertAlwaysState                           // a metric as it is, chosen by a label that tells of a fault
	alertAlwaysPresent                         // a metric as it is, which may be there only in a fault
	alertAlwaysValue                           // a number that nothing is compared with
	alertAlwaysBool                            // a comparison that returns 0 or 1
	alertAlwaysTrue                            // a comparison that is always true
	alertAlwaysConstant                        // a constant
)

type alertAlways struct {
	kind alertAlwaysKind
	node parser.Expr
	// or is the operator of which the node is one side, where there is one, and
	// the other side tests something.
	or *parser.BinaryExpr
}

type alertAlwaysWalk struct {
	records map[string]bool // recorded metrics that are there in any case
	parts   *promql.Parts   // nil where none are known
}

// walk says whether an expression has a result as long as there is data, and
// what makes it so. Where it is not known there is none.
func (w *alertAlwaysWalk) walk(n parser.Expr) alertAlways {
	n = promql.Unwrap(n)
	switch n := n.(type) {
	case *parser.VectorSelector:
		metric := promql.Metric(n)
		switch {
		case metric == "" || strings.HasPrefix(metric, "ALERTS"):
		case strings.Contains(metric, ":"):
			if w.records[metric] {
				return alertAlways{kind: alertAlwaysValue, node: n}
			}
		case strings.HasSuffix(metric, "_total"): // stays, once there was a first event
			return alertAlways{kind: alertAlwaysValue, node: n}
		case alertAlwaysNarrowed(n):
			return alertAlways{kind: alertAlwaysState, node: n}
		default:
			return alertAlways{kind: alertAlwaysPresent, node: n}
		}
	case *parser.MatrixSelector:
		return w.walk(n.VectorSelector)
	case *parser.SubqueryExpr:
		return w.walk(n.Expr)
	case *parser.StepInvariantExpr:
		return w.walk(n.Expr)
	case *parser.UnaryExpr:
		return w.within(n, n.Expr, alertAlwaysValue)
	case *parser.AggregateExpr:
		switch n.Op {
		case parser.COUNT, parser.GROUP, parser.MAX, parser.MIN, parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO, parser.COUNT_VALUES:
			return w.within(n, n.Expr, alertAlwaysPresent) // asks which series there are
		}
		return w.within(n, n.Expr, alertAlwaysValue)
	case *parser.Call:
		return w.call(n)
	case *parser.BinaryExpr:
		return w.binary(n)
	}
	return alertAlways{}
}

// within returns the verdict on n, all of whose results come from inner.
func (w *alertAlwaysWalk) within(n, inner parser.Expr, kind alertAlwaysKind) alertAlways {
	return alertAlwaysWithin(w.walk(inner), n, kind)
}

// either returns the verdict on the side of n that is not a number.
func (w *alertAlwaysWalk) either(n *parser.BinaryExpr) alertAlways {
	if a := w.walk(n.LHS); a.kind != alertAlwaysNever {
		return a
	}
	return w.walk(n.RHS)
}

func alertAlwaysWithin(a alertAlways, n parser.Expr, kind alertAlwaysKind) alertAlways {
	switch a.kind {
	case alertAlwaysState, alertAlwaysPresent, alertAlwaysValue:
		a.node = n
		if kind > alertAlwaysPresent {
			a.kind = max(a.kind, kind)
		}
	case alertAlwaysConstant:
		if kind > alertAlwaysPresent { // computed with, as what it stands in for
			a.kind, a.node = kind, n
		}
	}
	return a
}

// alertAlwaysTargets are the labels that say where a series comes from, and not
// what it says.
var alertAlwaysTargets = []string{
	"cluster", "container", "endpoint", "env", "environment", "instance", "job", "namespace", "node", "pod", "region", "service",
}

// alertAlwaysNarrowed reports whether a selector asks for more than a metric of
// some targets.
func alertAlwaysNarrowed(n *parser.VectorSelector) bool {
	return slices.ContainsFunc(n.LabelMatchers, func(m *labels.Matcher) bool {
		return m.Name != model.MetricNameLabel && !slices.Contains(alertAlwaysTargets, m.Name)
	})
}

func (w *alertAlwaysWalk) call(n *parser.Call) alertAlways {
	switch n.Func.Name {
	case "absent", "absent_over_time", "info", "scalar":
		return alertAlways{}
	case "vector":
		return alertAlways{kind: alertAlwaysConstant, node: n}
	case "label_replace", "label_join", "last_over_time", "first_over_time", "max_over_time", "min_over_time", "present_over_time", "count_over_time",
		"sort", "sort_desc", "sort_by_label", "sort_by_label_desc":
		return w.within(n, n.Args[0], alertAlwaysPresent)
	}
	for _, a := range n.Args {
		if t := a.Type(); t == parser.ValueTypeVector || t == parser.ValueTypeMatrix {
			return w.within(n, a, alertAlwaysValue)
		}
	}
	return alertAlways{}
}

func (w *alertAlwaysWalk) binary(n *parser.BinaryExpr) alertAlways {
	// The type of a side is not asked for: it takes a walk of its own.
	scalar := n.VectorMatching == nil
	switch {
	case n.Op == parser.LOR:
		left, right := w.walk(n.LHS), w.walk(n.RHS)
		switch {
		case left.kind >= alertAlwaysPresent && right.kind == alertAlwaysConstant:
			return alertAlways{kind: left.kind, node: n}
		case left.kind >= right.kind && left.kind != alertAlwaysNever:
			left.or = n
			return left
		case right.kind != alertAlwaysNever:
			right.or = n
			return right
		}
	case n.Op.IsSetOperator():
	case n.Op.IsComparisonOperator() && !n.ReturnBool:
		if !scalar {
			break
		}
		if a := w.either(n); a.kind != alertAlwaysNever && w.true(n) {
			return alertAlways{kind: alertAlwaysTrue, node: n, or: a.or}
		}
	case scalar:
		kind := alertAlwaysValue
		if n.Op.IsComparisonOperator() {
			kind = alertAlwaysBool
		}
		return alertAlwaysWithin(w.either(n), n, kind)
	default: // two vectors, which need not match
		left, right := w.walk(n.LHS), w.walk(n.RHS)
		if left.kind == alertAlwaysNever || right.kind == alertAlwaysNever {
			return alertAlways{}
		}
		if n.ReturnBool {
			return alertAlways{kind: alertAlwaysBool, node: n}
		}
		return alertAlways{kind: alertAlwaysValue, node: n}
	}
	return alertAlways{}
}

// true reports whether a comparison with a number is true of 0 and of all that
// the vector can be. One that is true of all but 0, such as count(x) > 0, asks
// whether there is anything.
func (w *alertAlwaysWalk) true(n *parser.BinaryExpr) bool {
	if w.parts == nil {
		return false
	}
	flow := w.parts.Flow(n)
	if len(flow.Branches) == 0 {
		return false
	}
	for _, b := range flow.Branches {
		if b.Conditional {
			return false
		}
	}
	return promql.HoldsOfZero(n)
}

// alertAlwaysIndex returns the recorded metrics that are there as long as there
// is data: neither they nor what they read leave anything out.
func alertAlwaysIndex(project *lint.Project) map[string]bool {
	by := map[string][]*rules.Rule{}
	for r := range lint.All[*rules.Rule](project) {
		if r.IsRecord() && strings.Contains(r.Record.Value, ":") {
			by[r.Record.Value] = append(by[r.Record.Value], r)
		}
	}
	readers := map[string][]string{}
	queue := make([]string, 0, len(by))
	for metric, recorded := range by {
		queue = append(queue, metric)
		for _, r := range recorded {
			if r.Expr == nil {
				continue
			}
			r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
				if v, ok := n.(*parser.VectorSelector); ok && by[promql.Metric(v)] != nil {
					readers[promql.Metric(v)] = append(readers[promql.Metric(v)], metric)
				}
			})
		}
	}
	// None is, until what it reads is.
	always := map[string]bool{}
	w := alertAlwaysWalk{records: always}
	for len(queue) > 0 {
		metric := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if always[metric] {
			continue
		}
		// A metric that is only copied may be there only in a fault.
		always[metric] = !slices.ContainsFunc(by[metric], func(r *rules.Rule) bool {
			return r.Expr == nil || r.Expr.Root == nil || r.Expr.Root.Type() != parser.ValueTypeVector || w.walk(r.Expr.Root).kind <= alertAlwaysPresent
		})
		if always[metric] {
			queue = append(queue, readers[metric]...)
		}
	}
	return always
}

func alertAlwaysReport(p *lint.Pass, r *rules.Rule, a alertAlways) {
	f := lint.Finding{Span: r.Expr.At(a.node)}
	object := r.Object()
	switch a.kind {
	case alertAlwaysPresent:
		f.Severity = lint.Warning
		f.Message = fmt.Sprintf("%s fires as long as there is such a series, whatever its value: nothing is compared; write a comparison, such as > 0", object)
	case alertAlwaysValue:
		f.Message = fmt.Sprintf("%s fires whatever the value, 0 included: nothing is compared; write a comparison, such as > 0", object)
	case alertAlwaysBool:
		f.Message = fmt.Sprintf("%s always fires: with bool the comparison returns 0 where it is false, and 0 fires like any other value; remove bool", object)
	case alertAlwaysTrue:
		f.Message = fmt.Sprintf("%s fires whatever the value: the comparison is always true; write the bound that is meant", object)
	case alertAlwaysConstant:
		f.Message = fmt.Sprintf("%s always fires: where nothing else is returned the constant is, and fires; compare the whole with a bound", object)
	}
	if c := alertAlwaysPrecedence(a.or); c != nil {
		f.Message = fmt.Sprintf("%s fires whatever the value: the comparison binds more tightly than \"or\", so that only the constant is compared; put brackets around the two sides of \"or\"", object)
		f.Span = r.Expr.At(a.or)
		f.Severity = lint.Error
		f.Fixes = alertAlwaysBrackets(r.Expr, a.or, c)
	} else if a.kind == alertAlwaysBool {
		f.Fixes = alertAlwaysFilter(r.Expr, a.node)
	}
	p.Report(f)
}

// alertAlwaysFilter returns the fix that removes bool from a comparison.
func alertAlwaysFilter(e *promql.Expr, n parser.Expr) []lint.Fix {
	c, ok := n.(*parser.BinaryExpr)
	if !ok || !c.ReturnBool {
		return nil
	}
	start, end := int(c.LHS.PositionRange().End), int(c.RHS.PositionRange().Start)
	if start < 0 || end > len(e.Text.Value) || start > end {
		return nil
	}
	i := strings.Index(e.Text.Value[start:end], " bool")
	if i < 0 {
		return nil
	}
	span, exact := e.Text.Exact(start+i, start+i+len(" bool"))
	if !exact {
		return nil
	}
	return []lint.Fix{lint.Replace(span, "", "remove bool", false)}
}

// alertAlwaysBrackets returns the fix that compares both sides of an "or".
func alertAlwaysBrackets(e *promql.Expr, or, c *parser.BinaryExpr) []lint.Fix {
	if _, constant := promql.Unwrap(c.RHS).(*parser.NumberLiteral); !constant {
		return nil
	}
	first, last := int(or.LHS.PositionRange().Start), int(c.LHS.PositionRange().End)
	open, ok1 := e.Text.Exact(first, first)
	end, ok2 := e.Text.Exact(last, last)
	if !ok1 || !ok2 {
		return nil
	}
	return []lint.Fix{{Message: "put brackets around the two sides of or", Edits: []lint.Edit{{Span: open, New: "("}, {Span: end, New: ")"}}}}
}

// alertAlwaysPrecedence returns the comparison on the right side of an "or" that
// looks as if it was meant for both sides: the left one is not compared, and the
// right one compares a constant. Else it returns nil.
func alertAlwaysPrecedence(or *parser.BinaryExpr) *parser.BinaryExpr {
	if or == nil {
		return nil
	}
	c, ok := or.RHS.(*parser.BinaryExpr)
	if !ok || !c.Op.IsComparisonOperator() || c.VectorMatching != nil {
		return nil
	}
	for _, side := range []parser.Expr{c.LHS, c.RHS} {
		if call, ok := promql.Unwrap(side).(*parser.Call); ok && call.Func.Name == "vector" {
			return c
		}
	}
	return nil
}
