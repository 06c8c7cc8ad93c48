// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"regexp"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/format",
	Severity: lint.Info,
	OptIn:    true,
	Doc: lint.Doc{
		Title: "expression that is not laid out as promtool does it",
		Why: `One layout for all expressions makes a change show as what it is, and a long expression easier to read. It is that of promtool promql format: spaces around operators, clauses in front of what is aggregated, and a line for each part of an expression that is too long for one.

Expressions with comments are left alone, since the formatter drops them.`,
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

func checkPromqlFormat(p *lint.Pass, e *promql.Expr) {
	if e.Root == nil || !e.Placeholder.IsZero() {
		return
	}
	lead := len(e.Text.Value) - len(strings.TrimLeft(e.Text.Value, " \t\r\n"))
	written := strings.TrimSpace(e.Text.Value)
	// The first line of a block can't be indented more than the others.
	formatted := strings.TrimSpace(e.Root.Pretty(0))
	if written == formatted || len(e.Comments()) > 0 {
		return
	}
	text := e.Text
	text.Value = formatted
	if again := promql.Parse(text); again.Root == nil || strings.TrimSpace(again.Root.Pretty(0)) != formatted {
		return // the formatter does not agree with itself
	}
	f := lint.Finding{
		Span:    e.Text.Span(lead, lead+len(written)),
		Message: promqlSelectorMessage(p, "expression is not laid out as promtool promql format does it"),
	}
	if formatted != "" && !strings.Contains(formatted, "\n") {
		f.Message += ": write " + formatted
	}
	if fix, ok := promqlFormatFix(f, written, formatted); ok {
		f.Fixes = []lint.Fix{fix}
	}
	p.Report(f)
}

// promqlFormatLiteral matches what stands before the first line of a literal
// block scalar.
var promqlFormatLiteral = regexp.MustCompile(`[:\-]\s+\|[-+0-9]*[ \t]*(?:#[^\n]*)?\n[ \t]*$`)

// promqlFormatFix replaces an expression where its layout is that of the file:
// on one line, or in a literal block.
func promqlFormatFix(f lint.Finding, written, formatted string) (lint.Fix, bool) {
	s := f.Span
	if s.File == nil || s.Start == 0 {
		return lint.Fix{}, false
	}
	const most = 200 // bytes in front that tell the style
	data, raw := s.File.Data, s.Text()
	before := data[max(s.Start-most, 0):s.Start]
	replace := func(text string) (lint.Fix, bool) {
		return lint.Replace(s, text, "lay the expression out", true), true
	}
	if promqlFormatLiteral.MatchString(before) {
		indent := before[strings.LastIndexByte(before, '\n')+1:]
		if strings.ReplaceAll(raw, "\n"+indent, "\n") != written {
			return lint.Fix{}, false
		}
		return replace(strings.ReplaceAll(formatted, "\n", "\n"+indent))
	}
	if raw != written || strings.Contains(raw, "\n") || strings.Contains(formatted, "\n") {
		return lint.Fix{}, false
	}
	switch before[len(before)-1] {
	case '"':
		if strings.ContainsAny(formatted, "\"\\") {
			return lint.Fix{}, false
		}
	case '\'':
		if strings.Contains(formatted, "'") {
			return lint.Fix{}, false
		}
	default:
		if strings.Contains(formatted, ": ") || strings.Contains(formatted, " #") || strings.IndexByte("{[&*!|>'\"%@`-?", formatted[0]) >= 0 {
			return lint.Fix{}, false
		}
	}
	return replace(formatted)
}
