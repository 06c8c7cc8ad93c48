// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
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
			p.Reportf(f.Open, "%s has a code fence that is never closed, so that the rest of the page is code: close it with %s", page.Object(), f.Open.Text()[:3])
			continue
		}
		body := f.Body.Value
		if f.Language != "promql" || strings.TrimSpace(body) == "" || strings.ContainsAny(body, "$…") ||
			strings.Contains(body, "{{") || strings.Contains(body, "...") || strings.Contains(body, "<") && strings.Contains(body, ">") && !strings.ContainsAny(body, "()[]") {
			continue
		}
		whole := promql.Parse(f.Body)
		if whole.Root != nil || each(f, "\n\n") || each(f, "\n") {
			continue
		}
		for _, e := range whole.Errors[:min(1, len(whole.Errors))] {
			p.Reportf(e.Span, "%s has a query that does not parse: %s", page.Object(), e.Message)
		}
	}
}

// each reports whether the parts of a block are expressions on their own.
func each(f runbook.Fence, separator string) bool {
	start := 0
	for part := range strings.SplitSeq(f.Body.Value, separator) {
		if strings.TrimSpace(part) != "" && promql.Parse(f.Body.Slice(start, start+len(part))).Root == nil {
			return false
		}
		start += len(part) + len(separator)
	}
	return true
}
