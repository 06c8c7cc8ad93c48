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
	ID:       "promql/format",
	Severity: lint.Info,
	OptIn:    true,
	Doc: lint.Doc{
		Title: "expression that is not laid out as promtool does it",
		Why: `One layout for all expressions makes a change show as what it is, and a long expression easier to read. It is that of promtool promql format: spaces around operators, clauses in front of what is aggregated, and a line for each part of an expression that is too long for one.

Expressions with comments are left alone, since the formatter drops them, and so are those that need a feature flag, are nested very deep or have times below a millisecond.`,
		Bad: `groups:
- name: errors
  rules:
  - alert: Errors
    expr: sum(rate(errors_total{job='db'}[5m]))by(job)>1
`,
		Good: `groups:
- name: errors
  rules:
  - alert: Errors
    expr: sum by (job) (rate(errors_total{job="db"}[5m])) > 1
`,
		TurnOff: "the team has a layout of its own.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/command-line/promtool/"},
	},
	Run: lint.On(checkPromqlFormat),
})

// promqlFormatDepth bounds the nesting of what is laid out: the formatter prints
// each part anew for each that it stands in, so that a long chain of operators
// would keep it busy for minutes.
const promqlFormatDepth = 64

func checkPromqlFormat(p *lint.Pass, e *promql.Expr) {
	// What needs a feature flag promtool refuses, and its comments may not be known.
	if e.Root == nil || !e.Placeholder.IsZero() || e.Filled || e.Experimental() {
		return
	}
	if strings.Contains(e.Text.Value, "#") && len(e.Comments()) > 0 || promqlFormatTooDeep(e) {
		return
	}
	lead := len(e.Text.Value) - len(strings.TrimLeft(e.Text.Value, " \t\r\n"))
	written := strings.TrimSpace(e.Text.Value)
	// The first line of a block can't be indented more than the others.
	formatted := strings.TrimSpace(e.Root.Pretty(0))
	if written == formatted {
		return
	}
	text := e.Text
	text.Value = formatted
	// The formatter rounds times to milliseconds, and may not agree with itself.
	again := promql.Parse(text)
	if again.Root == nil || again.Fingerprint() != e.Fingerprint() || strings.TrimSpace(again.Root.Pretty(0)) != formatted {
		return
	}
	f := lint.Finding{
		Span:    e.Text.Span(lead, lead+len(written)),
		Message: promqlSelectorMessage(p, "expression is not laid out as promtool promql format does it"),
	}
	if !strings.Contains(formatted, "\n") {
		f.Message += ": write " + formatted
	}
	if text, ok := promqlFormatText(f.Span, e.Text.All().Start, written, formatted); ok {
		f.Fixes = []lint.Fix{lint.Replace(f.Span, text, "lay the expression out", true)}
	}
	p.Report(f)
}

func promqlFormatTooDeep(e *promql.Expr) bool {
	deep := false
	e.Inspect(func(_ parser.Node, path []parser.Node) { deep = deep || len(path) > promqlFormatDepth })
	return deep
}

// promqlFormatLiteral matches what stands before the first line of a literal
// block scalar.
var promqlFormatLiteral = regexp.MustCompile(`[:\-]\s+\|[-+0-9]*[ \t]*(?:#[^\n]*)?\n[ \t]*$`)

// promqlFormatText returns what to write at s for an expression whose layout is
// that of the file: on one line, or in a literal block. Its scalar begins at start.
func promqlFormatText(s source.Span, start int, written, formatted string) (string, bool) {
	if s.File == nil {
		return "", false
	}
	const most = 200 // bytes around that tell the style
	data, raw := s.File.Data, s.Text()
	before := data[max(s.Start-most, 0):s.Start]
	if promqlFormatLiteral.MatchString(before) {
		indent := before[strings.LastIndexByte(before, '\n')+1:]
		return strings.ReplaceAll(formatted, "\n", "\n"+indent), strings.ReplaceAll(raw, "\n"+indent, "\n") == written
	}
	if raw != written || strings.Contains(raw, "\n") || strings.Contains(formatted, "\n") {
		return "", false
	}
	before = data[max(start-most, 0):start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after, _, _ := strings.Cut(data[s.End:min(s.End+most, len(data))], "\n")
	plain := !strings.HasSuffix(before, `"`) && !strings.HasSuffix(before, "'")
	if plain && (strings.Contains(formatted, ": ") || strings.Contains(formatted, " #") || strings.IndexByte("{[&*!|>'\"%@`-?", formatted[0]) >= 0) {
		return "", false
	}
	quotes := ""
	for _, quote := range []string{`"`, "'", "`", `\`} {
		if strings.Contains(formatted, quote) && !strings.Contains(raw, quote) {
			quotes += quote
		}
	}
	if quotes == "" {
		return formatted, true
	}
	// The scalar may be within another, or within a query of a template, whose
	// quotes new ones would close.
	if single, ok := strings.CutSuffix(before, "'"); ok && !strings.Contains(quotes, "'") {
		before, after = single, strings.TrimPrefix(strings.TrimLeft(after, " \t"), "'")
	}
	return formatted, !strings.ContainsAny(before+after, "\"'`\\{")
}
