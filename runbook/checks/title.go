// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"regexp"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/runbook"
)

var _ = add(lint.Check{
	ID:       "runbook/title",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "runbook whose title is not the name of its alert",
		Why: `A runbook is found by the name of its alert: in the URL, in a search, at the top of the page. The first heading of level 1 must be that name, which is also the name of the file. A file all in lower case, as site generators want it, may have a title in the case of the alert. What stands after the name in brackets does not matter; the title in the front matter may be anything.

Without the option runbooks, only pages are looked at whose file has the name of an alert of the run.`,
		Bad: `-- runbooks/QueueStuck.md --
# QueueStock

## Meaning

The queue does not move.
`,
		Good: `-- runbooks/QueueStuck.md --
# QueueStuck

## Meaning

The queue does not move.
`,
		Config:  "runbooks: [{dir: runbooks}]",
		TurnOff: "Titles are sentences for people.",
		Since:   "v0.1.0",
		Refs:    []string{"https://github.com/openshift/runbooks/blob/master/README.md"},
	},
	Run: lint.With(title{}, checkTitle),
})

type title struct {
	Runbooks runbook.Runbooks `yaml:"runbooks" shared:"runbooks" doc:"Folders of runbooks and the URLs they are published under."`
}

var afterTitle = regexp.MustCompile(`\s*[\[(].*[\])]$`)

func checkTitle(p *lint.Pass, page *runbook.Page, o title) {
	if !o.Runbooks.Hold(page) {
		return
	}
	name := page.Name()
	alert, known := alertsOf(p)[strings.ToLower(name)]
	if !known && (len(o.Runbooks) == 0 || !o.Runbooks.Cover(page)) {
		return
	}
	want := name
	if known && name == strings.ToLower(name) {
		want = alert
	}
	h, ok := page.Title()
	if !ok {
		p.Reportf(page.Top(), "%s has no title: begin the page with # %s", page.Object(), want)
		return
	}
	text := afterTitle.ReplaceAllString(h.Text, "")
	switch {
	case text == want, !known && name == strings.ToLower(name) && strings.EqualFold(text, name):
	case known && text == alert:
		p.Reportf(h.Span, "%s has the title '%s', which its file has not in the same case: rename the file to %s.md", page.Object(), h.Text, alert)
	default:
		p.Reportf(h.Span, "%s has the title '%s', not the name of its file: write # %s, or rename the file", page.Object(), h.Text, want)
	}
}
