// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"text/template/parse"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	prompkg "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "syntax/template",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "template that Prometheus refuses, or that fails when the alert fires",
		Why: `Prometheus parses the templates of labels and annotations when it loads a file, and refuses the file if one does not parse. It expands them only when an alert fires: a field that does not exist, or a function given the wrong type, then puts "<error expanding template: …>" in place of the text, at the worst moment.

Templates are run with Prometheus' own functions, and what they hand to query must be PromQL. Faults that depend on the data of the moment are not reported.

Braces that another renderer was to remove (Helm's {{ "{{" }}) print as braces in a file that Prometheus reads itself, and $labels outside of braces prints as it stands: both are warnings.`,
		Bad: `groups:
- name: queue
  rules:
  - alert: QueueLong
    expr: queue_depth > 100
    annotations:
      summary: Queue {{ .queue }} has {{ $value | humanise }} entries.
`,
		Good: `groups:
- name: queue
  rules:
  - alert: QueueLong
    expr: queue_depth > 100
    annotations:
      summary: Queue {{ $labels.queue }} has {{ $value | humanize }} entries.
`,
		TurnOff: "Another program than Prometheus expands the templates, with functions of its own.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/configuration/template_reference/"},
	},
	Run: lint.With(syntaxTemplate{Dialect: "prometheus"}, checkSyntaxTemplate).And(lint.With(syntaxTemplate{Dialect: "prometheus"}, checkSyntaxTemplateOfGroup)),
})

type syntaxTemplate struct {
	Dialect string `yaml:"dialect" shared:"dialect" doc:"What reads the rules: queries in templates are checked unless it is victoriametrics."`
}

func (o syntaxTemplate) Validate() error { return validDialect(o.Dialect) }

func checkSyntaxTemplate(p *lint.Pass, r *rules.Rule, o syntaxTemplate) {
	if !r.IsAlert() {
		return
	}
	for _, e := range r.Labels {
		syntaxTemplateEntry(p, "label", e)
		o.queries(p, r.Group, "label", e)
	}
	for _, e := range r.Annotations {
		syntaxTemplateEntry(p, "annotation", e)
		o.queries(p, r.Group, "annotation", e)
	}
}

// checkSyntaxTemplateOfGroup looks at the labels of a group, which Prometheus
// expands for each of its alerts. It does not look at them when it loads the
// file, so that what does not parse fails later.
func checkSyntaxTemplateOfGroup(p *lint.Pass, g *rules.Group, o syntaxTemplate) {
	for _, e := range g.Labels {
		for range g.Alerts(e.Key.Value) {
			if e.Template != nil && e.Template.Err != nil {
				p.Reportf(e.Template.Err.Span, "%s label %q fails when an alert of the group fires, and becomes the error: %s%s", p.Object(), e.Key.Value, e.Template.Err.Message, syntaxTemplateHint(e.Template.Err.Message))
			} else {
				syntaxTemplateEntry(p, "label", e)
				o.queries(p, g, "label", e)
			}
			break
		}
	}
}

// queries reports the queries of a template that do not parse: the
// alert then carries the error in place of the text.
func (o syntaxTemplate) queries(p *lint.Pass, g *rules.Group, what string, e rules.Entry) {
	if e.Template == nil || o.Dialect == "victoriametrics" || g.File.Kind == rules.VMRule {
		return
	}
	for _, q := range e.Template.Queries() {
		if q.Root != nil { // if not, there is no server that takes it
			continue
		}
		for _, err := range q.Errors {
			p.Reportf(err.Span, "%s %s %q fails when the alert fires: its query does not parse: %s", p.Object(), what, e.Key.Value, err.Message)
		}
	}
}

func syntaxTemplateEntry(p *lint.Pass, what string, e rules.Entry) {
	subject := func() string { return fmt.Sprintf("%s %s %q", p.Object(), what, e.Key.Value) }
	t := e.Template
	switch {
	case t == nil || t.Simple:
	case t.Err != nil:
		p.Reportf(t.Err.Span, "%s is no valid template: %s%s", subject(), t.Err.Message, syntaxTemplateHint(t.Err.Message))
		return
	default:
		if at, message := syntaxTemplateFailure(t); message != "" {
			p.Reportf(at, "%s fails when the alert fires: %s", subject(), message)
		}
		if f, ok := syntaxTemplateLiteral(t); ok {
			f.Message = subject() + " " + f.Message
			f.Severity = lint.Warning
			p.Report(f)
			return
		}
	}
	if at, ok := syntaxTemplateBare(e); ok {
		p.Report(lint.Finding{Severity: lint.Warning, Span: at,
			Message: fmt.Sprintf("%s prints %s as it stands: write it between {{ and }}", subject(), at.Text())})
	}
}

func syntaxTemplateHint(message string) string {
	switch {
	case strings.Contains(message, `undefined variable "$label"`):
		return "; the variable is $labels"
	case strings.HasPrefix(message, "function "):
		return "; Prometheus has " + strings.Join(promql.TemplateFunctions(), ", ") + ", and those of Go's text/template"
	}
	return ""
}

// syntaxTemplateLiteral reports an action that prints nothing but template
// braces: an escape for a renderer that is not there.
func syntaxTemplateLiteral(t *promql.Template) (lint.Finding, bool) {
	var found *parse.StringNode
	t.Inspect(func(n parse.Node) {
		a, ok := n.(*parse.ActionNode)
		if !ok || found != nil || len(a.Pipe.Decl) > 0 || len(a.Pipe.Cmds) != 1 || len(a.Pipe.Cmds[0].Args) != 1 {
			return
		}
		if s, ok := a.Pipe.Cmds[0].Args[0].(*parse.StringNode); ok && (strings.Contains(s.Text, "{{") || strings.Contains(s.Text, "}}")) {
			found = s
		}
	})
	if found == nil {
		return lint.Finding{}, false
	}
	f := lint.Finding{Span: t.Action(found), Message: "prints template braces, since nothing renders this file before Prometheus reads it: remove the escape"}
	if text := found.Text; strings.HasPrefix(text, "{{") && strings.HasSuffix(text, "}}") {
		f.Message += ", write " + text
		if !strings.ContainsAny(text, "\"'\\") {
			f.Fixes = []lint.Fix{lint.Replace(f.Span, text, "remove the escape", false)}
		}
	}
	return f, true
}

var syntaxTemplateVariable = regexp.MustCompile(`\{?\s*\$(?:labels\.\w+|value\b)\s*\}*`)

// syntaxTemplateBare finds $labels outside of any action. A lone $value may be
// money, so it takes a brace to tell that it was meant.
func syntaxTemplateBare(e rules.Entry) (source.Span, bool) {
	s := e.Value.Value
	if !strings.Contains(s, "$labels.") && !strings.Contains(s, "$value") {
		return source.Span{}, false
	}
	at := 0
	for _, action := range append(promql.ActionRanges(s), [2]int{len(s), len(s)}) {
		text := s[at:action[0]]
		start := at
		at = action[1]
		if !strings.Contains(text, "$labels.") && !strings.Contains(text, "$value") {
			continue
		}
		for _, loc := range syntaxTemplateVariable.FindAllStringIndex(text, -1) {
			match := text[loc[0]:loc[1]]
			if !strings.Contains(match, "$labels.") && match[0] != '{' {
				continue
			}
			first := start + loc[0] + len(match) - len(strings.TrimLeft(match, " \t\n"))
			return e.Value.Span(first, start+loc[0]+len(strings.TrimRight(match, " \t\n"))), true
		}
	}
	return source.Span{}, false
}

// syntaxTemplateFailure says why a template that parses fails whatever the data.
func syntaxTemplateFailure(t *promql.Template) (source.Span, string) {
	if !syntaxTemplateRunnable(t) {
		return source.Span{}, ""
	}
	set := map[string]string{}
	t.Inspect(func(n parse.Node) {
		switch n := n.(type) {
		case *parse.VariableNode:
			if len(n.Ident) == 2 && n.Ident[0] == "$labels" {
				set[n.Ident[1]] = "x"
			}
		case *parse.FieldNode:
			if len(n.Ident) == 2 && n.Ident[0] == "Labels" {
				set[n.Ident[1]] = "x"
			}
		}
	})
	data := template.AlertTemplateData(set, map[string]string{}, "http://prometheus.example", prompkg.Sample{F: 1})
	query := func(context.Context, string, time.Time) (prompkg.Vector, error) {
		return prompkg.Vector{{Metric: labels.FromStrings("instance", "x"), F: 1}}, nil
	}
	_, err := template.NewTemplateExpander(context.Background(), promql.Preamble+t.Text.Value, "t", data, model.Time(0), query,
		&url.URL{Scheme: "http", Host: "prometheus.example"}, nil).Expand()
	if err == nil {
		return source.Span{}, ""
	}
	at, reason := t.Failure(err)
	for _, fault := range syntaxTemplateFaults {
		if m := fault.pattern.FindStringSubmatch(reason); m != nil {
			return at, fault.message(m)
		}
	}
	return source.Span{}, ""
}

// syntaxTemplateFaults are the failures of text/template that no data mends.
var syntaxTemplateFaults = []struct {
	pattern *regexp.Regexp
	message func(m []string) string
}{
	{regexp.MustCompile(`can't evaluate field (labels|value|externalLabels|externalURL) in type struct`), func(m []string) string {
		return fmt.Sprintf("there is no .%s; write $%s", m[1], m[1])
	}},
	{regexp.MustCompile(`can't evaluate field (\S+) in type struct`), func(m []string) string {
		return fmt.Sprintf("there is no .%s; a label is $labels.%s, and the other fields are .Labels, .Value, .ExternalLabels and .ExternalURL", m[1], m[1])
	}},
	{regexp.MustCompile(`can't evaluate field (\S+) in type (\S+)`), func(m []string) string {
		return fmt.Sprintf("a value of type %s has no field %s", m[2], m[1])
	}},
	{regexp.MustCompile(`wrong type for value; expected (\S+); got (\S+)`), func(m []string) string {
		return fmt.Sprintf("the function wants a %s and gets a %s", m[1], m[2])
	}},
	{regexp.MustCompile(`(wrong number of args for \w+: want .*)`), func(m []string) string { return m[1] }},
	{regexp.MustCompile(`error calling (eq|ne|lt|le|gt|ge): incompatible types for comparison`), func(m []string) string {
		return m[1] + " compares values of different types; $value is a fraction, so compare it with one (90.0, not 90), and a label with text (\"90\")"
	}},
	{regexp.MustCompile(`(can't give argument to non-function \S+)`), func(m []string) string { return m[1] }},
	{regexp.MustCompile(`(can't call method/function "?\S+"? with \d+ results)`), func(m []string) string { return m[1] }},
}

// syntaxTemplateRunnable reports whether running the template can't take long:
// it comes from a stranger, and text/template can loop, recurse and double its
// output.
func syntaxTemplateRunnable(t *promql.Template) bool {
	const (
		maxLength = 4 << 10
		maxReuse  = 3 // variables and withs: what can print a result more than once
		maxArgs   = 6
		maxGrowth = 64
	)
	if len(t.Text.Value) > maxLength {
		return false
	}
	bounded, reuse := true, 0
	growth, kept := 1, 1 // of the action that grows most, and of what is kept for others
	t.Inspect(func(n parse.Node) {
		switch n := n.(type) {
		case *parse.ActionNode:
			growth = max(growth, syntaxTemplateGrowth(n.Pipe))
			if len(n.Pipe.Decl) > 0 {
				kept = min(kept*syntaxTemplateGrowth(n.Pipe), 2*maxGrowth)
			}
		case *parse.IfNode:
			kept = min(kept*syntaxTemplateGrowth(n.Pipe), 2*maxGrowth)
		case *parse.RangeNode, *parse.TemplateNode:
			bounded = false
		case *parse.WithNode:
			reuse++
			kept = min(kept*syntaxTemplateGrowth(n.Pipe), 2*maxGrowth)
		case *parse.PipeNode:
			reuse += len(n.Decl)
		case *parse.CommandNode:
			bounded = bounded && len(n.Args) <= maxArgs
		case *parse.StringNode:
			bounded = bounded && !wideVerb.MatchString(n.Text)
		}
	})
	return bounded && reuse <= maxReuse && growth*kept <= maxGrowth && !strings.Contains(t.Text.Value, "define") && !strings.Contains(t.Text.Value, "block")
}

// syntaxTemplateGrowth returns a bound for how many times longer than what goes
// into a pipeline its result can be, as far as text/template and Prometheus' own
// functions multiply it: by a constant for each character, or by writing it more
// than once.
func syntaxTemplateGrowth(n parse.Node) int {
	const unbounded = 1 << 10
	growth := 1
	times := func(n int) { growth = min(growth*max(n, 1), unbounded) }
	switch n := n.(type) {
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			times(syntaxTemplateGrowth(c))
		}
	case *parse.ChainNode:
		return syntaxTemplateGrowth(n.Node)
	case *parse.CommandNode:
		for _, a := range n.Args {
			times(syntaxTemplateGrowth(a))
		}
		f, ok := n.Args[0].(*parse.IdentifierNode)
		if !ok {
			break
		}
		literal := func(i int) (string, bool) {
			if i < len(n.Args) {
				if s, ok := n.Args[i].(*parse.StringNode); ok {
					return s.Text, true
				}
			}
			return "", false
		}
		switch f.Ident {
		case "js", "html", "urlquery", "urlQueryEscape", "graphLink", "tableLink":
			times(6)
		case "print", "println":
			times(len(n.Args)) // one more may come through the pipe
		case "printf":
			format, ok := literal(1)
			if !ok {
				times(unbounded)
			}
			times(strings.Count(format, "%") + 10*len(escapingVerb.FindAllString(format, -1)))
		case "reReplaceAll":
			replacement, ok := literal(2)
			if !ok {
				times(unbounded)
			}
			times(len(replacement) + 1)
		}
	}
	return growth
}

// escapingVerb matches a verb that may write many characters for one.
var escapingVerb = regexp.MustCompile(`%[^a-zA-Z%]*[qxXUb]`)

var wideVerb = regexp.MustCompile(`%[^a-zA-Z%]*(?:\d{4}|\*)`)
