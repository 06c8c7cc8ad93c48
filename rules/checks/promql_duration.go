// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"regexp"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/duration",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "range, step or offset without a unit",
		Why: `Prometheus 3 reads a bare number as seconds: [5] is five seconds, which mostly holds no sample or one, so that rate and its kin return nothing. Prometheus 2 refuses the whole file. With a unit the expression says what it means and loads everywhere.

A unit that does not exist, such as the M of [5M], is a matter of syntax/promql.`,
		Bad: `groups:
- name: web
  rules:
  - record: job:requests:rate5m
    expr: sum by (job) (rate(requests_total[300]))
`,
		Good: `groups:
- name: web
  rules:
  - record: job:requests:rate5m
    expr: sum by (job) (rate(requests_total[300s]))
`,
		TurnOff: "all servers that load the rules are of version 3 or later, and numbers are the style of the house.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/querying/basics/#float-literals-and-time-durations",
			"https://github.com/prometheus/prometheus/blob/main/CHANGELOG.md",
		},
	},
	Run: lint.On(checkPromqlDuration),
})

var promqlDurationOffset = regexp.MustCompile(`(?i)offset\s*[-+]?\s*[0-9.]+(?:[^0-9.a-z]|$)`)

// promqlDurationMarks reports whether there may be a bare number in the place of
// a duration.
func promqlDurationMarks(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '[' && s[i] != ':' {
			continue
		}
		rest := strings.TrimLeft(s[i+1:], " \t\r\n")
		digits := strings.TrimLeft(strings.TrimLeft(rest, "-+"), "0123456789.")
		if len(digits) == len(rest) {
			continue
		}
		if after := strings.TrimLeft(digits, " \t\r\n"); after != "" && (after[0] == ']' || after[0] == ':') {
			return true
		}
	}
	return (strings.Contains(s, "ffset") || strings.Contains(s, "FFSET")) && promqlDurationOffset.MatchString(s)
}

func checkPromqlDuration(p *lint.Pass, e *promql.Expr) {
	if e.Root == nil || !promqlDurationMarks(e.Text.Value) {
		return
	}
	tokens := e.Tokens()
	for i, t := range tokens {
		if t.Type != parser.NUMBER || i == 0 || strings.Trim(t.Value, "0123456789.") != "" {
			continue
		}
		before := i - 1
		if (tokens[before].Type == parser.SUB || tokens[before].Type == parser.ADD) && before > 0 {
			before--
		}
		var what string
		switch tokens[before].Type {
		case parser.LEFT_BRACKET:
			what = "range"
		case parser.COLON:
			what = "step"
		case parser.OFFSET:
			what = "offset"
		default:
			continue
		}
		if what != "offset" && i+1 < len(tokens) && tokens[i+1].Type != parser.RIGHT_BRACKET && tokens[i+1].Type != parser.COLON {
			continue // a calculation, whose numbers are no durations
		}
		if strings.Trim(t.Value, "0.") == "" {
			continue // offset 0 is no offset in any unit
		}
		f := lint.Finding{Span: t.Span}
		if strings.Contains(t.Value, ".") {
			f.Message = promqlSelectorMessage(p, "%s %s has no unit: Prometheus 3 reads seconds, and older versions refuse the file; write a duration, such as 500ms or 5m", what, t.Value)
		} else {
			f.Message = promqlSelectorMessage(p, "%s %s has no unit: Prometheus 3 reads seconds, and older versions refuse the file; write %ss, or the unit that is meant", what, t.Value, t.Value)
			if t.Span.Text() == t.Value {
				f.Fixes = []lint.Fix{lint.Replace(t.Span, t.Value+"s", "write "+t.Value+"s", true)}
			}
		}
		p.Report(f)
	}
}
