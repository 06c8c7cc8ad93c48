// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"regexp"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/comment",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "comment that swallows the lines below it, since YAML joins them",
		Why: `A comment in PromQL runs to the end of the line. In a folded scalar (expr: >), and in a quoted one of several lines, YAML joins the lines before Prometheus sees them, so that a comment runs to the end of the expression. What is left often parses, and means something else: the lines below the comment are not evaluated.

It is an error where a comparison is lost, so that an alert fires always, and where what is left does not parse. Comments with nothing but further comments below them do no harm and are left alone.`,
		Bad: `groups:
- name: ratio
  rules:
  - alert: ManyErrors
    expr: >
      sum(rate(app_errors_total[5m]))
      # only paying customers count
      / sum(rate(app_requests_total{plan="paid"}[5m])) > 0.1
    for: 5m
`,
		Good: `groups:
- name: ratio
  rules:
  - alert: ManyErrors
    expr: |
      sum(rate(app_errors_total[5m]))
      # only paying customers count
      / sum(rate(app_requests_total{plan="paid"}[5m])) > 0.1
    for: 5m
`,
		TurnOff: "never; a part of an expression that is not wanted is better removed.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/querying/basics/#comments",
			"https://yaml.org/spec/1.2.2/#813-folded-style",
		},
	},
	Run: lint.On(checkPromqlComment),
})

func checkPromqlComment(p *lint.Pass, e *promql.Expr) {
	if !strings.Contains(e.Text.Value, "#") || !e.Placeholder.IsZero() {
		return
	}
	for _, comment := range e.Comments() {
		lost := promqlCommentLost(comment)
		if lost.Value == "" {
			continue
		}
		f := lint.Finding{Span: comment.Span(0, 1).Union(lost.All())}
		meant := promql.Parse(promqlCommentUnfolded(e.Text))
		switch {
		case meant.Root == nil:
			return // prose, in all likelihood, or wrong by itself
		case e.Root == nil:
			f.Severity = lint.Error
			f.Message = promqlSelectorMessage(p, "comment runs over the lines below it, which YAML joins to one, and without %q the expression does not parse: %s", promqlCommentShort(lost.Value), promqlCommentAdvice)
		case meant.Normal() == e.Normal():
			return
		default:
			if promqlCommentTests(meant) > promqlCommentTests(e) {
				f.Severity = lint.Error
			}
			f.Message = promqlSelectorMessage(p, "comment runs over the lines below it, which YAML joins to one, so that %q is not evaluated: %s", promqlCommentShort(lost.Value), promqlCommentAdvice)
		}
		if fold := promqlCommentFold(e.Text); !fold.IsZero() {
			f.Fixes = []lint.Fix{lint.Replace(fold, "|", "keep the line breaks with |", false)}
		}
		p.Report(f)
		return // a further comment is swallowed by this one, or is mended with it
	}
}

const promqlCommentAdvice = "keep the line breaks with |, or remove the comment"

// promqlCommentLost returns what of a comment was written on lines below its
// first one and is no comment itself.
func promqlCommentLost(comment source.Text) source.Text {
	start, end := -1, 0
	for _, line := range promqlCommentLines(comment)[1:] {
		if strings.HasPrefix(line.text, "#") || line.text == "" {
			continue
		}
		if start < 0 {
			start = line.at
		}
		end = line.at + len(line.text)
	}
	if start < 0 {
		return source.Text{}
	}
	return comment.Slice(start, end)
}

// A promqlCommentLine is a part of a text that was written on a line of its own.
type promqlCommentLine struct {
	at   int
	text string // without the white space around it
}

func promqlCommentLines(t source.Text) []promqlCommentLine {
	var lines []promqlCommentLine
	start, last := 0, 0
	cut := func(end int) {
		text := strings.TrimLeft(t.Value[start:end], " \t\r\n")
		lines = append(lines, promqlCommentLine{end - len(text), strings.TrimRight(text, " \t\r\n")})
		start = end
	}
	for i := range len(t.Value) {
		// A line break in the file becomes a space, which a word follows.
		if i > 0 && !promqlCommentSpace(t.Value[i-1]) {
			continue
		}
		line := t.File.Position(t.Span(i, i+1).Start).Line
		if last > 0 && line > last {
			cut(i)
		}
		last = line
	}
	cut(len(t.Value))
	return lines
}

func promqlCommentSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// promqlCommentUnfolded returns the expression with the line breaks of the file.
func promqlCommentUnfolded(t source.Text) source.Text {
	var b strings.Builder
	for _, line := range promqlCommentLines(t) {
		b.WriteString(line.text)
		b.WriteByte('\n')
	}
	return source.NewFileString("", b.String()).Text()
}

// promqlCommentTests returns the number of comparisons and set operators.
func promqlCommentTests(e *promql.Expr) int {
	n := 0
	e.Inspect(func(node parser.Node, _ []parser.Node) {
		if b, ok := node.(*parser.BinaryExpr); ok && (b.Op.IsComparisonOperator() || b.Op == parser.LAND || b.Op == parser.LUNLESS) {
			n++
		}
	})
	return n
}

var promqlCommentFolded = regexp.MustCompile(`: +(>)[-+0-9]*(?:[ \t]+#[^\n]*)?\r?\n\s*$`)

// promqlCommentFold returns the place of the > that folds the scalar.
func promqlCommentFold(t source.Text) source.Span {
	start := t.All().Start
	from := max(start-500, 0)
	m := promqlCommentFolded.FindStringSubmatchIndex(t.File.Data[from:start])
	if m == nil {
		return source.Span{}
	}
	return t.File.Span(from+m[2], from+m[3])
}

// promqlCommentShort returns the beginning of a text, up to a space.
func promqlCommentShort(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	if i := strings.LastIndexByte(s[:most], ' '); i > 0 {
		return s[:i] + " …"
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
