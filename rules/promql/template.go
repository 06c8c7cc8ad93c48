// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"text/template/parse"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A Template is the value of an annotation, or of a label of an alerting rule,
// that has template actions.
type Template struct {
	Text source.Text
	Err  *Error // why Prometheus refuses to load it
	// Simple says that each action prints a label or the value as it is, or made
	// readable by a humanize function: nothing that can fail.
	Simple bool

	tree   func() *parse.ListNode
	offset int // of Text.Value in what was parsed
}

// Tree returns the nodes of the template, those of the Preamble included, or
// nil if Err is set.
func (t *Template) Tree() *parse.ListNode { return t.tree() }

// Preamble is what Prometheus puts before each template of a rule, so that
// $labels, $externalLabels, $externalURL and $value exist.
//
// https://github.com/prometheus/prometheus/blob/main/rules/alerting.go
const Preamble = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"

// templateFuncs are the names of the functions that a template may call: those
// of text/template and those that Prometheus adds. The parser looks at names
// only; a test compares the second half with Prometheus' own table.
var templateFuncs = map[string]any{}

func init() {
	for _, name := range []string{
		"and", "call", "html", "index", "slice", "js", "len", "not", "or", "print", "printf", "println", "urlquery",
		"eq", "ge", "gt", "le", "lt", "ne",
	} {
		templateFuncs[name] = true
	}
	for _, name := range prometheusFuncs {
		templateFuncs[name] = true
	}
}

// https://prometheus.io/docs/prometheus/latest/configuration/template_reference/
var prometheusFuncs = []string{
	"args", "externalURL", "first", "graphLink", "humanize", "humanize1024", "humanizeDuration", "humanizePercentage",
	"humanizeTimestamp", "label", "match", "now", "parseDuration", "pathPrefix", "query", "reReplaceAll", "safeHtml",
	"sortByLabel", "stripDomain", "stripPort", "strvalue", "tableLink", "title", "toDuration", "toLower", "toTime",
	"toUpper", "urlQueryEscape", "value",
}

// TemplateFunctions returns the names of the functions that Prometheus adds to
// those of text/template.
func TemplateFunctions() []string { return prometheusFuncs }

// ParseTemplate parses a template. It returns nil for text without any action.
func ParseTemplate(t source.Text) *Template {
	if !strings.Contains(t.Value, "{{") {
		return nil
	}
	tmpl := &Template{Text: t, offset: len(Preamble), Simple: simple(t.Value)}
	if tmpl.Simple { // as most are: the tree is seldom asked for
		tmpl.tree = sync.OnceValue(func() *parse.ListNode {
			tree, err := parseTree(t.Value)
			if err != nil {
				return nil
			}
			return tree.Root
		})
		return tmpl
	}
	tree, err := parseTree(t.Value)
	if err != nil {
		e := tmpl.locate(err)
		tmpl.Err = &e
		tmpl.tree = func() *parse.ListNode { return nil }
		return tmpl
	}
	tmpl.tree = func() *parse.ListNode { return tree.Root }
	return tmpl
}

// simple reports whether each action of the text is one of those that
// [Template.Simple] names. It is a small part of the grammar of text/template,
// told without its parser.
func simple(s string) bool {
	if len(s) > maxTemplate {
		return false
	}
	for {
		_, rest, found := strings.Cut(s, "{{")
		if !found {
			return true
		}
		action, after, found := strings.Cut(rest, "}}")
		if !found {
			return false
		}
		s = after
		if inner, ok := strings.CutPrefix(action, "- "); ok {
			action = inner
		}
		if inner, ok := strings.CutSuffix(action, " -"); ok {
			action = inner
		}
		operand, call, piped := strings.Cut(action, "|")
		operand, call = strings.Trim(operand, " "), strings.Trim(call, " ")
		switch {
		case operand == "$value" || operand == ".Value":
			if piped && call != "humanize" && call != "humanize1024" && call != "humanizeDuration" && call != "humanizePercentage" && call != "humanizeTimestamp" {
				return false
			}
		case piped:
			return false
		default:
			name, ok := strings.CutPrefix(operand, "$labels.")
			if !ok {
				name, ok = strings.CutPrefix(operand, ".Labels.")
			}
			if !ok || !isWord(name) {
				return false
			}
		}
	}
}

func isWord(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', i > 0 && '0' <= c && c <= '9':
		default:
			return false
		}
	}
	return s != ""
}

// maxTemplate is the length of the longest template that is parsed, in bytes.
const maxTemplate = 256 << 10

// templateName is what a template of a rule is parsed as. Prometheus' own name
// begins so, and no template that a text defines is called like it.
const templateName = "__alert_"

func parseTree(text string) (*parse.Tree, error) {
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("template of %d KiB: more than %d KiB are not analysed", len(text)>>10, maxTemplate>>10)
	}
	tree := parse.New(templateName)
	return tree.Parse(Preamble+text, "", "", map[string]*parse.Tree{}, templateFuncs)
}

var templateErrorPrefix = regexp.MustCompile(`^template: ` + templateName + `:\d+: `)

// locate finds the action that the parser stumbled over: the parser says a line
// only, so the text is parsed up to each action in turn.
func (t *Template) locate(err error) Error {
	message := templateErrorPrefix.ReplaceAllString(err.Error(), "")
	actions := ActionRanges(t.Text.Value)
	const most = 100 // of actions that are tried; the rest of the text is then marked as a whole
	for i, a := range actions[:min(len(actions), most)] {
		if _, err := parseTree(t.Text.Value[:a[1]]); err != nil {
			found := templateErrorPrefix.ReplaceAllString(err.Error(), "")
			if found == "unexpected EOF" && i+1 < len(actions) {
				continue // a block that a later action closes
			}
			if found == message {
				return Error{t.Text.Span(a[0], a[1]), message}
			}
		}
	}
	if i := strings.LastIndex(t.Text.Value, "{{"); i >= 0 && strings.Contains(message, "unclosed action") {
		return Error{t.Text.Span(i, len(t.Text.Value)), message}
	}
	return Error{t.Text.All(), message}
}

// ActionRanges returns the offsets of the template actions in s, each with its
// braces.
func ActionRanges(s string) [][2]int {
	var out [][2]int
	for i := 0; ; {
		n := strings.Index(s[i:], "{{")
		if n < 0 {
			return out
		}
		start := i + n
		end := actionEnd(s, start+2)
		out = append(out, [2]int{start, end})
		i = end
	}
}

// actionEnd returns the offset after the }} that closes the action whose inside
// begins at i, or the length of s.
func actionEnd(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case strings.HasPrefix(s[i:], "}}"):
			return i + 2
		case c == '"':
			for i++; i < len(s) && s[i] != '"' && s[i] != '\n'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case c == '`':
			for i++; i < len(s) && s[i] != '`'; i++ {
			}
		}
		i++
	}
	return len(s)
}

// Actions returns the texts of the actions of the template, with their braces.
func (t *Template) Actions() []source.Text {
	var out []source.Text
	for _, a := range ActionRanges(t.Text.Value) {
		out = append(out, t.Text.Slice(a[0], a[1]))
	}
	return out
}

// Inspect calls f with each node of the template that the rule itself wrote,
// outer ones first, and with each of the templates it defines.
func (t *Template) Inspect(f func(n parse.Node)) {
	inspect(t.Tree(), func(n parse.Node) {
		if int(n.Position()) >= t.offset {
			f(n)
		}
	})
}

func inspect(n parse.Node, f func(parse.Node)) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		f(n)
		for _, c := range n.Nodes {
			inspect(c, f)
		}
	case *parse.ActionNode:
		f(n)
		inspect(n.Pipe, f)
	case *parse.PipeNode:
		if n == nil {
			return
		}
		f(n)
		for _, v := range n.Decl {
			inspect(v, f)
		}
		for _, c := range n.Cmds {
			inspect(c, f)
		}
	case *parse.CommandNode:
		f(n)
		for _, a := range n.Args {
			inspect(a, f)
		}
	case *parse.ChainNode:
		f(n)
		inspect(n.Node, f)
	case *parse.IfNode:
		f(n)
		branch(&n.BranchNode, f)
	case *parse.RangeNode:
		f(n)
		branch(&n.BranchNode, f)
	case *parse.WithNode:
		f(n)
		branch(&n.BranchNode, f)
	case *parse.TemplateNode:
		f(n)
		inspect(n.Pipe, f)
	case nil:
	default:
		f(n)
	}
}

func branch(n *parse.BranchNode, f func(parse.Node)) {
	inspect(n.Pipe, f)
	inspect(n.List, f)
	inspect(n.ElseList, f)
}

// At returns where the node n of the template was written: the word or literal
// itself for a leaf, the action it stands in for anything larger.
func (t *Template) At(n parse.Node) source.Span {
	at := int(n.Position()) - t.offset
	value := t.Text.Value
	switch n := n.(type) {
	case *parse.VariableNode:
		return t.word(at, strings.Join(n.Ident, "."))
	case *parse.FieldNode:
		return t.word(at, "."+strings.Join(n.Ident, "."))
	case *parse.IdentifierNode:
		return t.word(at, n.Ident)
	case *parse.StringNode:
		return t.word(at, n.Quoted)
	case *parse.NumberNode:
		return t.word(at, n.Text)
	}
	if at < 0 || at > len(value) {
		return t.Text.All()
	}
	if i := strings.LastIndex(value[:at], "{{"); i >= 0 {
		return t.Text.Span(i, actionEnd(value, i+2))
	}
	return t.Text.Span(at, len(value))
}

// Literal returns the text of a text node without the blank space around it.
// The second result is false if the place of it can't be told.
func (t *Template) Literal(n *parse.TextNode) (source.Text, bool) {
	text := strings.TrimSpace(string(n.Text))
	at := int(n.Position()) - t.offset
	if at < 0 || at > len(t.Text.Value) {
		return source.Text{}, false
	}
	i := strings.Index(t.Text.Value[at:], text)
	if i < 0 {
		return source.Text{}, false
	}
	return t.Text.Slice(at+i, at+i+len(text)), true
}

// word returns the span of s, which the parser placed at or shortly after at:
// for chained fields it reports the place of the last of them.
func (t *Template) word(at int, s string) source.Span {
	value := t.Text.Value
	at = min(max(at, 0), len(value))
	if strings.HasPrefix(value[at:], s) {
		return t.Text.Span(at, at+len(s))
	}
	if i := strings.LastIndex(value[:min(at+len(s), len(value))], s); i >= 0 {
		return t.Text.Span(i, i+len(s))
	}
	return t.Text.Span(at, min(at+len(s), len(value)))
}

// Action returns the span of the action that the node n stands in.
func (t *Template) Action(n parse.Node) source.Span {
	return t.action(int(n.Position()) - t.offset)
}

func (t *Template) action(at int) source.Span {
	for _, a := range ActionRanges(t.Text.Value) {
		if a[0] <= at && at <= a[1] {
			return t.Text.Span(a[0], a[1])
		}
	}
	return t.Text.All()
}

// Failure returns what an error of the template's execution says, without the
// place that text/template puts in front of it, and the action at that place.
func (t *Template) Failure(err error) (source.Span, string) {
	m := executionError.FindStringSubmatch(err.Error())
	if m == nil {
		return t.Text.All(), err.Error()
	}
	line, _ := strconv.Atoi(m[1])
	at, _ := strconv.Atoi(m[2]) // in bytes, from 0
	if line == 1 {
		at -= t.offset
	}
	start := 0
	for ; line > 1; line-- {
		n := strings.IndexByte(t.Text.Value[start:], '\n')
		if n < 0 {
			break
		}
		start += n + 1
	}
	return t.action(start + at), m[3]
}

var executionError = regexp.MustCompile(`(?s)template: [^:]*:(\d+):(\d+): (?:executing "[^"]*" at )?(.*)$`)
