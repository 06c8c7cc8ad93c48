// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/runbook"
)

var _ = add(lint.Check{
	ID:       "syntax/markdown",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title:   "runbook that can't be read",
		Why:     `A page that is not UTF-8 shows wrong characters in place of commands, and one above 256 KiB, or with quotations more than 64 deep, takes too long to read. None is checked further.`,
		Bad:     "-- runbooks/QueueStuck.md --\n# QueueStuck\n\nLook at the z\xe4hler.\n",
		Good:    "-- runbooks/QueueStuck.md --\n# QueueStuck\n\nLook at the zähler.\n",
		TurnOff: "Pages in another encoding lie in the folder of the runbooks.",
		Since:   "v0.1.0",
		Refs:    []string{"https://spec.commonmark.org/0.31.2/#characters-and-lines"},
	},
	Run: lint.With(syntaxMarkdown{}, checkSyntaxMarkdown),
})

type syntaxMarkdown struct {
	Runbooks runbook.Runbooks `yaml:"runbooks" shared:"runbooks" doc:"Folders of runbooks and the URLs they are published under."`
}

func checkSyntaxMarkdown(p *lint.Pass, page *runbook.Page, o syntaxMarkdown) {
	if !page.Named && !o.Runbooks.Cover(page) {
		return
	}
	if fault := page.Fault(); fault != nil {
		p.Reportf(fault.Span, "%s: %s", page.Object(), fault.Message)
	}
}
