// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "alert/template-labels",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "template that prints a label which the query can't return",
		Why: `$labels holds the labels of the series that the query returned, and nothing else. A label that an aggregation, a match or absent() took away is not there, and the template prints nothing in its place: "instance  of  is down" is what the person on call reads.

The labels that the rule or its group adds are not in $labels either, nor is alertname: they are added to the alert after the templates have been expanded.

A template that only asks whether the label is there ({{ if $labels.cluster }}, {{ with $labels.cluster }}, {{ or $labels.cluster "none" }}) was written with its absence in mind: that is a warning, and what such a condition guards is left alone.`,
		Bad: `groups:
- name: edge
  rules:
  - alert: EdgeBlocksRequests
    expr: sum by (proxy) (rate(edge_denied_total[2m])) > 10
    labels:
      severity: warning
    annotations:
      summary: "[{{ $labels.severity }}] {{ $labels.instance }} of {{ $labels.proxy }} blocks requests."
`,
		Good: `groups:
- name: edge
  rules:
  - alert: EdgeBlocksRequests
    expr: sum by (proxy, instance) (rate(edge_denied_total[2m])) > 10
    labels:
      severity: warning
    annotations:
      summary: "[warning] {{ $labels.instance }} of {{ $labels.proxy }} blocks requests."
`,
		TurnOff: "never; suppress it where one text is shared by alerts with different labels.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/#templating",
			"https://github.com/prometheus/prometheus/blob/main/rules/alerting.go",
			"https://github.com/prometheus/prometheus/issues/2992",
		},
	},
	Run: lint.With(alertTemplateLabels{}, checkAlertTemplateLabels).And(lint.With(alertTemplateLabels{}, checkAlertTemplateLabelsOfGroup)),
})

type alertTemplateLabels struct {
	Dialect string `yaml:"dialect" shared:"dialect" doc:"What reads the rules: vmalert gives its templates the labels of the rule, too."`
}

func (o alertTemplateLabels) of(p *lint.Pass, r *rules.Rule) alertTemplateCase {
	return alertTemplateCase{Pass: p, rule: r, merged: o.Dialect == "victoriametrics" || r.Group.File.Kind == rules.VMRule}
}

// checkAlertTemplateLabelsOfGroup looks at the labels of a group, which
// Prometheus expands for each of its alerts. One of these is enough to tell.
func checkAlertTemplateLabelsOfGroup(p *lint.Pass, g *rules.Group, o alertTemplateLabels) {
	for _, e := range g.Labels {
		if e.Template == nil {
			continue
		}
		for r := range g.Alerts(e.Key.Value) {
			if r.Expr == nil || r.Expr.Root == nil {
				continue
			}
			if c := o.of(p, r); c.entry("group label", e) {
				break
			}
		}
	}
}

func checkAlertTemplateLabels(p *lint.Pass, r *rules.Rule, o alertTemplateLabels) {
	if !r.IsAlert() || r.Expr == nil || r.Expr.Root == nil {
		return
	}
	c := o.of(p, r)
	for _, e := range r.Labels {
		c.entry("label", e)
	}
	for _, e := range r.Annotations {
		c.entry("annotation", e)
	}
}

type alertTemplateCase struct {
	*lint.Pass
	rule   *rules.Rule
	merged bool // $labels holds what the rule adds, too
	flow   *promql.Flow
}

// entry looks at a label or an annotation, and tells whether it was reported.
func (c *alertTemplateCase) entry(what string, e rules.Entry) (reported bool) {
	if e.Template == nil || !strings.Contains(e.Value.Value, "abels") && !strings.Contains(e.Value.Value, ".") {
		return false
	}
	if c.flow == nil {
		c.flow = rules.Analyse(c.Project).Flow(c.rule.Expr)
	}
	if len(c.flow.Branches) == 0 || e.Template.Simple && !c.simple(e.Value.Value) {
		return false
	}
	for _, use := range alertTemplateUses(e.Template, func(label string) bool { return c.flow.Label(label).Presence == promql.Impossible }) {
		reported = c.report(what, e, use) || reported
	}
	return reported
}

var alertTemplateWord = regexp.MustCompile(`abels\.(\w+)`)

// simple reports whether a simple template uses a label that is worth its tree.
func (c *alertTemplateCase) simple(text string) bool {
	for _, m := range alertTemplateWord.FindAllStringSubmatch(text, -1) {
		if c.flow.Label(m[1]).Presence == promql.Impossible {
			return true
		}
	}
	return false
}

// sets says who adds a label to the alert after its templates are expanded.
func (c *alertTemplateCase) sets(label string) string {
	if label == model.AlertNameLabel {
		return "Prometheus"
	}
	for i, e := range c.rule.AllLabels() {
		switch {
		case e.Key.Value != label:
		case strings.Contains(e.Value.Value, "abels."+label): // hands the label of the query on
			return ""
		case i < len(c.rule.Labels):
			return "the rule"
		default:
			return "the group"
		}
	}
	return ""
}

func (c *alertTemplateCase) report(what string, e rules.Entry, use alertTemplateUse) bool {
	fact := c.flow.Label(use.label)
	setter := c.sets(use.label)
	if fact.Presence != promql.Impossible || c.merged && (setter != "" || use.label == "alertgroup") {
		return false
	}
	f := lint.Finding{Span: e.Template.At(use.node), Object: c.rule.Object()}
	subject := fmt.Sprintf("%s %s %q", c.rule.Object(), what, e.Key.Value)
	effect := fmt.Sprintf("prints nothing for label %q", use.label)
	if use.tested {
		effect = fmt.Sprintf("tests label %q, which is never there", use.label)
		f.Severity = lint.Warning
	}
	why, place := c.why(fact.Why, use.label)
	f.Related = []lint.Related{{Span: place, Message: fmt.Sprintf("label %q is lost here", use.label)}}
	if setter != "" {
		why = alertTemplateSetter(setter, use.label) + ", and $labels has only what the query returns"
	}
	f.Message = fmt.Sprintf("%s %s: %s", subject, effect, why)
	if value, ok := c.literal(use.label, setter); ok {
		f.Message += "; write " + value
		if action := e.Template.Action(use.node); alertTemplateAlone(action.Text(), use.label) && alertTemplatePlain.MatchString(value) {
			f.Fixes = []lint.Fix{lint.Replace(action, value, "write "+value, false)}
		}
	} else if setter == "" && !use.tested {
		f.Message += alertTemplateAdvice(fact.Why, use.label)
	}
	c.Report(f)
	return true
}

func alertTemplateSetter(setter, label string) string {
	if setter == "Prometheus" {
		return "Prometheus adds it later"
	}
	return fmt.Sprintf("%s sets %s", setter, label)
}

// literal returns what a label that the rule or its group sets always is.
func (c *alertTemplateCase) literal(label, setter string) (string, bool) {
	if setter == "Prometheus" {
		return c.rule.Alert.Value, alertTemplatePlain.MatchString(c.rule.Alert.Value)
	}
	if setter == "" {
		return "", false
	}
	for _, e := range c.rule.AllLabels() {
		if e.Key.Value == label && !e.Templated() && alertTemplatePlain.MatchString(e.Value.Value) {
			return e.Value.Value, true
		}
	}
	return "", false
}

// alertTemplatePlain matches what can be written into any YAML scalar as it is.
var alertTemplatePlain = regexp.MustCompile(`^[A-Za-z][\w./-]*$`)

// alertTemplateAlone reports whether an action does nothing but print the label.
func alertTemplateAlone(action, label string) bool {
	inner, ok := strings.CutPrefix(action, "{{")
	if !ok {
		return false
	}
	inner, ok = strings.CutSuffix(inner, "}}")
	inner = strings.TrimSpace(inner)
	return ok && (inner == "$labels."+label || inner == ".Labels."+label)
}

// why says what took a label away, and where.
func (c *alertTemplateCase) why(why parser.Node, label string) (string, source.Span) {
	e := c.rule.Expr
	if why == nil {
		return alertTemplateRecorded(e)
	}
	place := e.At(why)
	at := place.File.Position(place.Start)
	where := fmt.Sprintf("at %d:%d", at.Line, at.Col)
	name := label
	if label == model.MetricNameLabel {
		name = "the metric name"
	}
	switch n := why.(type) {
	case *parser.AggregateExpr:
		if n.Without && slices.Contains(n.Grouping, label) {
			return fmt.Sprintf("%q %s drops it", promql.Outline(n), where), e.Grouping(n, label)
		}
		return fmt.Sprintf("%q %s drops %s", promql.Outline(n), where, name), e.Text.Span(int(n.PosRange.Start), int(n.PosRange.Start)+len(n.Op.String()))
	case *parser.Call:
		place = e.Function(n)
		switch n.Func.Name {
		case "absent", "absent_over_time":
			for _, v := range alertTemplateMatchers(e, n) {
				if v.Matcher.Name == label {
					return fmt.Sprintf("%s() %s has a label only for each matcher with =, and %s has another one", n.Func.Name, where, label), v.Span
				}
			}
			if alertTemplateMatchers(e, n) == nil {
				return fmt.Sprintf("%s() %s takes labels only from a plain selector, of its matchers with =", n.Func.Name, where), place
			}
			return fmt.Sprintf("%s() %s has a label only for each matcher with =", n.Func.Name, where), place
		case "histogram_quantile", "histogram_fraction", "histogram_quantiles":
			if label == "le" {
				return fmt.Sprintf("%s() %s uses it up", n.Func.Name, where), place
			}
		case "label_replace", "label_join":
			return fmt.Sprintf("%s() %s leaves it empty", n.Func.Name, where), place
		case "vector", "scalar", "time", "pi":
			return fmt.Sprintf("%s() %s has no labels", n.Func.Name, where), place
		}
		return fmt.Sprintf("%s() %s drops %s", n.Func.Name, where, name), place
	case *parser.BinaryExpr:
		place = e.Operator(n)
		at = place.File.Position(place.Start)
		operator := fmt.Sprintf("%q at %d:%d", promql.Outline(n), at.Line, at.Col)
		m := n.VectorMatching
		switch {
		case label == model.MetricNameLabel || m == nil:
			return fmt.Sprintf("%s drops %s", operator, name), place
		case slices.Contains(m.Include, label):
			return fmt.Sprintf("%s takes it from a side that does not have it", operator), e.MatchingLabel(n, label)
		case m.On && m.Card == parser.CardOneToOne && n.Op != parser.LAND:
			return fmt.Sprintf("%s keeps no other label", operator), place
		case !m.On && slices.Contains(m.MatchingLabels, label):
			return fmt.Sprintf("%s drops it", operator), e.MatchingLabel(n, label)
		}
		return fmt.Sprintf("only series without it match across %s", operator), place
	case *parser.VectorSelector:
		for _, m := range e.Matchers(n) {
			if m.Matcher.Name == label {
				return fmt.Sprintf("the matcher %s %s selects series without it", m.Matcher, where), m.Span
			}
		}
		return fmt.Sprintf("the selector %s selects series without it", where), place
	}
	return fmt.Sprintf("the operation %s drops %s", where, name), place
}

// alertTemplateRecorded says of a label that the expression itself does not take
// away that the recording rules which it reads do.
func alertTemplateRecorded(e *promql.Expr) (string, source.Span) {
	reason, place := "no series of the query has it", e.Text.All()
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		if v, ok := n.(*parser.VectorSelector); ok && strings.Contains(promql.Metric(v), ":") && place == e.Text.All() {
			reason, place = fmt.Sprintf("the recording rule of %s, which the query reads, drops it", promql.Metric(v)), e.Name(v)
		}
	})
	return reason, place
}

// alertTemplateMatchers returns the matchers of the selector that a call of
// absent is given, or nil if it is given anything else.
func alertTemplateMatchers(e *promql.Expr, n *parser.Call) []promql.Matcher {
	arg := promql.Unwrap(n.Args[0])
	if m, ok := arg.(*parser.MatrixSelector); ok {
		arg = m.VectorSelector
	}
	if v, ok := arg.(*parser.VectorSelector); ok {
		return append(make([]promql.Matcher, 0, 1), e.Matchers(v)...)
	}
	return nil
}

// alertTemplateAdvice says what to do about a label that is lost.
func alertTemplateAdvice(why parser.Node, label string) string {
	switch n := why.(type) {
	case *parser.AggregateExpr:
		switch {
		case label == model.MetricNameLabel:
		case n.Without:
			return "; keep it, or take it out of the text"
		case len(n.Grouping) > 0:
			return fmt.Sprintf("; add %s to the by clause, or take it out of the text", label)
		default:
			return fmt.Sprintf("; aggregate by (%s), or take it out of the text", label)
		}
	case *parser.Call:
		if n.Func.Name == "absent" || n.Func.Name == "absent_over_time" {
			return "; write the value into the text"
		}
	}
	return "; take it out of the text"
}

// An alertTemplateUse is a place where a template uses a label of the query.
type alertTemplateUse struct {
	label  string
	node   parse.Node
	tested bool // only whether it is there is asked
}

// What a part of a template is, as far as it matters where labels come from.
type alertTemplateShape uint8

const (
	alertTemplateOther alertTemplateShape = iota
	alertTemplateData                     // what Prometheus gives the template: .Labels, .Value …
	alertTemplateMap                      // $labels
	alertTemplateLabel                    // a label that is never there
)

// An alertTemplateValue is what a part of a template evaluates to.
type alertTemplateValue struct {
	shape alertTemplateShape
	lost  alertTemplateUse // of a label that is never there
}

// An alertTemplateWalk collects the labels that a template uses, the first
// place of each.
type alertTemplateWalk struct {
	templateWalk[alertTemplateValue]
	missing func(label string) bool
	tested  bool
	uses    []alertTemplateUse
}

// alertTemplateUses returns the labels that a template uses; missing says which
// of them can't be there, so that what depends on one is passed over.
func alertTemplateUses(t *promql.Template, missing func(label string) bool) []alertTemplateUse {
	w := alertTemplateWalk{missing: missing}
	w.templateWalk = newTemplateWalk(t, alertTemplateValue{shape: alertTemplateData})
	w.meaning = &w
	w.set("$labels", alertTemplateValue{shape: alertTemplateMap}, false)
	w.list(t.Tree())
	return w.uses
}

func (w *alertTemplateWalk) use(label string, n parse.Node) alertTemplateValue {
	i := slices.IndexFunc(w.uses, func(u alertTemplateUse) bool { return u.label == label })
	switch {
	case i < 0:
		w.uses = append(w.uses, alertTemplateUse{label, n, w.tested})
	case w.uses[i].tested && !w.tested:
		w.uses[i] = alertTemplateUse{label, n, false}
	}
	if w.missing(label) {
		return alertTemplateValue{alertTemplateLabel, alertTemplateUse{label: label, node: n}}
	}
	return alertTemplateValue{}
}

func (w *alertTemplateWalk) print(alertTemplateValue) {}

// assign forgets what a variable holds, since any branch may assign to it.
func (w *alertTemplateWalk) assign(held *alertTemplateValue, _ alertTemplateValue) {
	held.shape = alertTemplateOther
}

// branch follows an if, with or range and what it guards, which is never
// reached where the condition is a label that is never there.
func (w *alertTemplateWalk) branch(n *parse.BranchNode) {
	w.tested = true
	v := w.pipe(n.Pipe)
	w.tested = false
	vars, dot := len(w.vars), w.dot
	inner := v
	if n.NodeType == parse.NodeRange {
		inner = alertTemplateValue{}
	}
	for _, d := range n.Pipe.Decl {
		w.set(d.Ident[0], inner, n.Pipe.IsAssign)
	}
	if n.NodeType != parse.NodeIf {
		w.dot = inner
	}
	declared := len(w.vars)
	if v.shape != alertTemplateLabel {
		w.list(n.List)
	}
	w.vars, w.dot = w.vars[:declared], dot
	w.list(n.ElseList)
	w.vars = w.vars[:vars]
}

func (w *alertTemplateWalk) pipe(p *parse.PipeNode) alertTemplateValue {
	tested := w.tested
	switch {
	case len(p.Cmds) > 1:
		w.tested = false // what a function is given is used
	case len(p.Decl) > 0:
		w.tested = true // that depends on what becomes of the variable
	}
	var v alertTemplateValue
	for i, c := range p.Cmds {
		v = w.command(c, i > 0)
	}
	w.tested = tested
	return v
}

func (w *alertTemplateWalk) command(c *parse.CommandNode, piped bool) alertTemplateValue {
	f, ok := c.Args[0].(*parse.IdentifierNode)
	if !ok {
		return w.operand(c.Args[0])
	}
	if f.Ident == "index" && len(c.Args) == 3 && !piped {
		key, ok := c.Args[2].(*parse.StringNode)
		if ok && w.operand(c.Args[1]).shape == alertTemplateMap {
			return w.use(key.Text, key)
		}
		return alertTemplateValue{}
	}
	tested := w.tested
	switch f.Ident {
	case "or":
		// A value to fall back on, also where it is printed.
		w.tested = true
	case "and", "not":
	case "eq", "ne":
		w.tested = w.tested && slices.ContainsFunc(c.Args[1:], func(n parse.Node) bool {
			s, ok := n.(*parse.StringNode)
			return ok && s.Text == ""
		})
	default:
		w.tested = false
	}
	var out alertTemplateValue
	for _, a := range c.Args[1:] {
		if v := w.operand(a); v.shape == alertTemplateLabel && (f.Ident == "and" || f.Ident == "ne" && w.tested) {
			out = v
		}
	}
	w.tested = tested
	return out
}

func (w *alertTemplateWalk) operand(n parse.Node) alertTemplateValue {
	switch n := n.(type) {
	case *parse.DotNode:
		return w.dot
	case *parse.FieldNode:
		return w.field(w.dot, n.Ident, n)
	case *parse.VariableNode:
		switch v := w.variable(n.Ident[0]); {
		case v == nil:
		case v.shape == alertTemplateLabel:
			return w.use(v.lost.label, v.lost.node)
		default:
			return w.field(*v, n.Ident[1:], n)
		}
	case *parse.ChainNode:
		return w.field(w.operand(n.Node), n.Field, n)
	case *parse.PipeNode:
		return w.pipe(n)
	}
	return alertTemplateValue{}
}

func (w *alertTemplateWalk) field(of alertTemplateValue, path []string, n parse.Node) alertTemplateValue {
	for _, name := range path {
		switch {
		case of.shape == alertTemplateMap:
			return w.use(name, n)
		case of.shape == alertTemplateData && name == "Labels":
			of = alertTemplateValue{shape: alertTemplateMap}
		default:
			return alertTemplateValue{}
		}
	}
	return of
}
