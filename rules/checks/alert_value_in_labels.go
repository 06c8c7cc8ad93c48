// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"strings"
	"text/template/parse"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "alert/value-in-labels",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "label of an alert that changes with the value of its query",
		Why: `The labels of an alert are its identity. If one of them prints the value, each evaluation that returns another value makes another alert: for starts over each time and may never complete, and what does fire is resolved and sent anew. The same holds for the value of a query in the template and for now.

A label that only branches on the value ({{ if gt $value 90.0 }}critical{{ else }}warning{{ end }}) changes the identity when the value crosses the bound: the alert resolves, and another one starts to wait. That is a warning; two alerts whose conditions exclude each other do not have the fault.

A value that cannot change, as that of x == 1, is left alone. Labels of a group are templates of its alerts as well.`,
		Bad: `groups:
- name: disk
  rules:
  - alert: DiskFull
    expr: disk_used_ratio > 0.9
    for: 10m
    labels:
      severity: warning
      used: "{{ $value | humanizePercentage }}"
`,
		Good: `groups:
- name: disk
  rules:
  - alert: DiskFull
    expr: disk_used_ratio > 0.9
    for: 10m
    labels:
      severity: warning
    annotations:
      summary: "{{ $value | humanizePercentage }} of the disk is used."
`,
		TurnOff: "never for the error. The warning, where a change of severity is meant to be a new alert.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/#templating",
			"https://github.com/prometheus/prometheus/issues/4169",
		},
	},
	Run: lint.On(checkAlertValueInLabels).And(lint.On(checkGroupValueInLabels)),
})

func checkAlertValueInLabels(p *lint.Pass, r *rules.Rule) {
	if !r.IsAlert() {
		return
	}
	for _, e := range r.Labels {
		if e.Template != nil {
			alertValueReport(p, e, e.Template, alertValueConstant(r.Expr), r.For.Value > 0)
		}
	}
}

// checkGroupValueInLabels looks at the labels of a group, which Prometheus
// expands for each of its alerts.
func checkGroupValueInLabels(p *lint.Pass, g *rules.Group) {
	for _, e := range g.Labels {
		if e.Template == nil {
			continue
		}
		for r := range g.Alerts(e.Key.Value) {
			if !alertValueConstant(r.Expr) {
				alertValueReport(p, e, e.Template, false, r.For.Value > 0)
				break
			}
		}
	}
}

// alertValueConstant reports whether the value of the query is the same
// whenever it returns something.
func alertValueConstant(e *promql.Expr) bool {
	if e == nil || e.Root == nil {
		return false
	}
	switch n := promql.Unwrap(e.Root).(type) {
	case *parser.BinaryExpr:
		if n.Op != parser.EQLC || n.ReturnBool {
			return false
		}
		_, left := promql.Unwrap(n.LHS).(*parser.NumberLiteral)
		_, right := promql.Unwrap(n.RHS).(*parser.NumberLiteral)
		return left || right
	case *parser.Call:
		return n.Func.Name == "absent" || n.Func.Name == "absent_over_time"
	}
	return false
}

func alertValueReport(p *lint.Pass, e rules.Entry, t *promql.Template, constant, waits bool) {
	found := alertValueOf(t, constant)
	if found.degree == alertValueNone {
		return
	}
	f := lint.Finding{Span: t.At(found.at)}
	object, label, what := p.Object(), e.Key.Value, alertValueName(found.at)
	switch {
	case found.degree == alertValueTested:
		f.Severity = lint.Warning
		effect := "resolves and another one fires"
		if waits {
			effect = "resolves and another one starts to wait"
		}
		f.Message = fmt.Sprintf("%s: label %q depends on %s: when it crosses the bound the alert %s; write one alert for each value of the label, with conditions that exclude each other", object, label, what, effect)
	case waits:
		f.Message = fmt.Sprintf("%s: label %q prints %s: each new value is another alert, so that for starts over and may never complete; put it in an annotation", object, label, what)
	default:
		f.Message = fmt.Sprintf("%s: label %q prints %s: each new value is another alert, and the one before it resolves; put it in an annotation", object, label, what)
	}
	p.Report(f)
}

// alertValueName says in a message what a word of a template stands for.
func alertValueName(n parse.Node) string {
	switch n := n.(type) {
	case *parse.VariableNode:
		return strings.Join(n.Ident, ".")
	case *parse.FieldNode:
		return "." + strings.Join(n.Ident, ".")
	case *parse.IdentifierNode:
		if n.Ident == "now" {
			return "the time of the evaluation"
		}
		return "the value of a query"
	}
	return "the value"
}

// How a part of a template depends on what changes between evaluations.
type alertValueDegree uint8

const (
	alertValueNone   alertValueDegree = iota
	alertValueTested                  // only through a comparison
	alertValuePrinted
)

// What a part of a template is, as far as it matters which of its fields change.
type alertValueShape uint8

const (
	alertValuePlain   alertValueShape = iota
	alertValueData                    // what Prometheus gives the template: .Labels, .Value …
	alertValueSamples                 // the result of query
	alertValueSample
)

// An alertValue is what a part of a template evaluates to.
type alertValue struct {
	shape  alertValueShape
	degree alertValueDegree // of a plain one
	at     parse.Node       // the word in the template that it comes from
}

// printed returns v as it is when it is printed, or given to a function.
func (v alertValue) printed() alertValue {
	if v.shape != alertValuePlain {
		v.shape, v.degree = alertValuePlain, alertValuePrinted
	}
	return v
}

// join returns what depends on both.
func (v alertValue) join(o alertValue) alertValue {
	if v.shape == alertValuePlain && (o.shape != alertValuePlain || o.degree > v.degree) {
		return o
	}
	return v
}

// element returns what ranging over v, or indexing it, gives.
func (v alertValue) element() alertValue {
	if v.shape == alertValueSamples {
		v.shape = alertValueSample
	}
	return v
}

// tested returns the outcome of a comparison with v.
func (v alertValue) tested() alertValue {
	v = v.printed()
	v.degree = min(v.degree, alertValueTested)
	return v
}

// alertValueOf returns how the text that a label's template prints depends on
// the value.
func alertValueOf(t *promql.Template, constant bool) alertValue {
	w := alertValueWalk{constant: constant}
	w.templateWalk = newTemplateWalk(t, alertValue{shape: alertValueData})
	w.meaning = &w
	w.set("$value", w.value(nil), false)
	w.list(t.Tree())
	return w.found
}

// An alertValueWalk follows the value through one template.
type alertValueWalk struct {
	templateWalk[alertValue]
	constant bool       // the value of the alert is
	under    alertValue // the conditions that decide whether the node at work runs
	branches int        // around it
	found    alertValue
}

// value returns the value of the alert, as the word n names it.
func (w *alertValueWalk) value(n parse.Node) alertValue {
	if w.constant {
		return alertValue{}
	}
	return alertValue{degree: alertValuePrinted, at: n}
}

func (w *alertValueWalk) print(v alertValue) {
	if v = v.printed(); v.at != nil && v.degree > w.found.degree {
		w.found = v
	}
}

// branch follows an if, with or range and what it guards.
func (w *alertValueWalk) branch(n *parse.BranchNode) {
	v := w.pipe(n.Pipe)
	vars, dot, under := len(w.vars), w.dot, w.under
	if v.shape == alertValuePlain && v.degree > alertValueNone {
		if alertValueDiffers(n) {
			w.print(v.tested())
		}
		w.under = w.under.join(v.tested())
	}
	w.branches++
	inner := v
	if n.NodeType == parse.NodeRange {
		inner = v.element()
	}
	if n.NodeType != parse.NodeIf {
		w.dot = inner
	}
	for i, d := range n.Pipe.Decl {
		if i == len(n.Pipe.Decl)-1 {
			w.set(d.Ident[0], inner, false)
		} else {
			w.set(d.Ident[0], alertValue{}, false) // the index
		}
	}
	declared := len(w.vars)
	w.list(n.List)
	w.vars, w.dot = w.vars[:declared], dot
	w.list(n.ElseList)
	w.vars, w.under = w.vars[:vars], under
	w.branches--
}

// alertValueDiffers reports whether the two sides of a branch print different
// texts.
func alertValueDiffers(n *parse.BranchNode) bool {
	if !alertValuePrints(n.List) && !alertValuePrints(n.ElseList) {
		return false
	}
	return n.NodeType == parse.NodeRange || n.ElseList == nil || n.List.String() != n.ElseList.String()
}

func alertValuePrints(l *parse.ListNode) bool {
	if l == nil {
		return false
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			return true
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				return true
			}
		case *parse.TemplateNode:
			return true
		case *parse.IfNode:
			if alertValuePrints(n.List) || alertValuePrints(n.ElseList) {
				return true
			}
		case *parse.WithNode:
			if alertValuePrints(n.List) || alertValuePrints(n.ElseList) {
				return true
			}
		case *parse.RangeNode:
			if alertValuePrints(n.List) || alertValuePrints(n.ElseList) {
				return true
			}
		}
	}
	return false
}

// assign adds what is assigned in a branch to what the variable may hold. It
// depends on the condition.
func (w *alertValueWalk) assign(held *alertValue, v alertValue) {
	if w.branches > 0 {
		v = v.join(w.under).join(*held)
	}
	*held = v
}

func (w *alertValueWalk) pipe(p *parse.PipeNode) alertValue {
	var v alertValue
	for i, c := range p.Cmds {
		v = w.command(c, v, i > 0)
	}
	return v
}

func (w *alertValueWalk) command(c *parse.CommandNode, last alertValue, piped bool) alertValue {
	f, ok := c.Args[0].(*parse.IdentifierNode)
	if !ok {
		return w.operand(c.Args[0])
	}
	var args []alertValue
	for _, a := range c.Args[1:] {
		args = append(args, w.operand(a))
	}
	if piped {
		args = append(args, last)
	}
	return w.function(f, args)
}

func (w *alertValueWalk) operand(n parse.Node) alertValue {
	switch n := n.(type) {
	case *parse.DotNode:
		return w.dot.named(n)
	case *parse.FieldNode:
		return w.field(w.dot, n.Ident, n)
	case *parse.VariableNode:
		if v := w.variable(n.Ident[0]); v != nil {
			return w.field(*v, n.Ident[1:], n)
		}
	case *parse.ChainNode:
		return w.field(w.operand(n.Node), n.Field, n)
	case *parse.PipeNode:
		return w.pipe(n)
	case *parse.IdentifierNode:
		return w.function(n, nil)
	}
	return alertValue{}
}

// named returns v as the word n names it, if nothing in the template has yet.
func (v alertValue) named(n parse.Node) alertValue {
	if v.at == nil && (v.degree > alertValueNone || v.shape != alertValuePlain) {
		v.at = n
	}
	return v
}

func (w *alertValueWalk) field(v alertValue, path []string, n parse.Node) alertValue {
	switch {
	case len(path) == 0 || v.shape == alertValuePlain || v.shape == alertValueSamples:
		return v.named(n)
	case path[0] != "Value":
		return alertValue{}
	case v.shape == alertValueData:
		return w.value(n)
	}
	return alertValue{degree: alertValuePrinted, at: n}
}

func (w *alertValueWalk) function(f *parse.IdentifierNode, args []alertValue) alertValue {
	switch f.Ident {
	case "query":
		return alertValue{shape: alertValueSamples, at: f}
	case "now", "value":
		return alertValue{degree: alertValuePrinted, at: f}
	case "label", "strvalue":
		return alertValue{}
	case "first", "index", "sortByLabel", "slice":
		for _, a := range args {
			if a.shape == alertValueSamples && (f.Ident == "first" || f.Ident == "index") {
				return a.element()
			}
			if a.shape == alertValueSamples {
				return a
			}
		}
	case "len":
		if len(args) == 1 && args[0].shape != alertValuePlain {
			return alertValue{}
		}
	}
	var v alertValue
	for _, a := range args {
		v = v.join(a.printed())
	}
	switch f.Ident {
	case "eq", "ne", "lt", "le", "gt", "ge", "not", "match", "len":
		return v.tested()
	}
	return v
}
