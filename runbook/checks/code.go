// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"regexp"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
	"github.com/monitoringlinter/monitoringlinter/runbook"
)

var _ = add(lint.Check{
	ID:       "runbook/code",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "runbook with code that can't be used",
		Why: `Code in a runbook is copied in a hurry. A fence that is never closed turns the rest of the page into code, headings included. A query that does not parse is an error in the console at the worst time.

A block with the language promql is parsed as one expression, or as one expression for each paragraph or line. A block with the marks of a shell prompt or of what is still to be filled in (<…>, ${ }, {{ }}, …) is not.`,
		Bad:     "-- runbooks/QueueStuck.md --\n# QueueStuck\n\n## Diagnosis\n\n```promql\nsum(rate(queue_items_total[5m])\n```\n",
		Good:    "-- runbooks/QueueStuck.md --\n# QueueStuck\n\n## Diagnosis\n\n```promql\nsum(rate(queue_items_total[5m]))\n```\n",
		TurnOff: "Blocks are marked promql that hold something else.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://github.github.com/gfm/#fenced-code-blocks",
			"https://prometheus.io/docs/prometheus/latest/querying/basics/",
		},
	},
	Run: lint.With(code{}, checkCode),
})

type code struct {
	Runbooks runbook.Runbooks `yaml:"runbooks" shared:"runbooks" doc:"Folders of runbooks and the URLs they are published under."`
}

func checkCode(p *lint.Pass, page *runbook.Page, o code) {
	if !o.Runbooks.Hold(page) {
		return
	}
	for _, f := range page.Fences() {
		if !f.Closed {
			p.Reportf(f.Open, "%s has a code fence that is never closed, so that the rest of the page is code: close it with %s", page.Object(), f.Marker())
			continue
		}
		if f.Language != "promql" || !hasQuery(f.Body.Value) || toFillIn.MatchString(f.Body.Value) {
			continue
		}
		whole := promql.Parse(f.Body)
		if whole.Root != nil || each(f.Body, paragraphs) || each(f.Body, lines) {
			continue
		}
		for _, e := range whole.Errors[:min(1, len(whole.Errors))] {
			p.Reportf(e.Span, "%s has a query that does not parse: %s", page.Object(), e.Message)
		}
	}
}

var (
	// toFillIn matches what shows that a block is not to be taken as it stands.
	toFillIn   = regexp.MustCompile(`\$|…|\.\.\.|\{\{|<[\pL_][^<>=\n]*>`)
	paragraphs = regexp.MustCompile(`\r?\n[ \t]*\r?\n`)
	lines      = regexp.MustCompile(`\r?\n`)
)

// hasQuery reports whether a text is more than blanks and comments.
func hasQuery(s string) bool {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return true
		}
	}
	return false
}

// each reports whether the parts of a block are expressions on their own.
func each(body source.Text, separator *regexp.Regexp) bool {
	start := 0
	for _, m := range append(separator.FindAllStringIndex(body.Value, -1), []int{len(body.Value), len(body.Value)}) {
		if part := body.Slice(start, m[0]); hasQuery(part.Value) && promql.Parse(part).Root == nil {
			return false
		}
		start = m[1]
	}
	return true
}
