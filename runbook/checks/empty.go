// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/runbook"
)

var _ = add(lint.Check{
	ID:       "runbook/empty",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "runbook with a section that says nothing",
		Why: `A heading without anything below it, or with TODO alone, looks complete in every list of runbooks and fails whoever needs it. A section that consists of headings and HTML comments only is empty too.

Only the sections of the option sections are looked at, on the pages that runbook/sections looks at.`,
		Bad: `-- runbooks/QueueStuck.md --
# QueueStuck

## Meaning

The queue does not move.

## Mitigation

TODO
`,
		Good: `-- runbooks/QueueStuck.md --
# QueueStuck

## Meaning

The queue does not move.

## Mitigation

Restart the workers.
`,
		TurnOff: "Runbooks are drafted in the repository and filled in elsewhere.",
		Since:   "v0.1.0",
		Refs:    []string{"https://github.com/openshift/runbooks/blob/master/README.md"},
	},
	Run: lint.With(empty{Sections: runbook.FourSections}, checkEmpty),
})

type empty struct {
	Runbooks runbook.Runbooks      `yaml:"runbooks" shared:"runbooks" doc:"Folders of runbooks and the URLs they are published under."`
	Sections []runbook.SectionName `yaml:"sections" shared:"runbook-sections" doc:"Sections of a runbook, in their order."`
}

// emptyPlaceholder matches a whole section that only stands in for one.
var emptyPlaceholder = regexp.MustCompile(`(?i)^[\s\W_]*(?:todo|tbd|tba|fixme|n/?a|wip|xxx|coming soon|to be (?:done|defined|added|written|determined|filled in)|lorem ipsum.*|(?:please )?contact the team|請聯繫|请联系|待補|待补|未定)[\s\W_]*$`)

func checkEmpty(p *lint.Pass, page *runbook.Page, o empty) {
	if !expected(p, page, o.Runbooks, o.Sections) {
		return
	}
	for _, name := range o.Sections {
		s, ok := page.FindSection(name)
		if !ok {
			continue
		}
		switch text := s.Text(); {
		case s.Empty():
			p.Reportf(s.Span, "%s has nothing in the section '%s': say %s", page.Object(), s.Heading.Text, belongs(name))
		case !s.HasCode() && !s.HasLink() && emptyPlaceholder.MatchString(text):
			p.Reportf(s.Span, "%s has only %s in the section '%s': say %s", page.Object(), fmt.Sprintf("%q", strings.Join(strings.Fields(text), " ")), s.Heading.Text, belongs(name))
		}
	}
}
