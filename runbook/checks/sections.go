// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/runbook"
)

var _ = add(lint.Check{
	ID:       "runbook/sections",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "runbook without the sections that an engineer on call looks for",
		Why: `Whoever opens a runbook at night must find at once what the alert means, what it affects, how to find the cause and how to mend it. A page on which one of these is missing stops before it helps.

The sections are headings of level 2, each once and in the order of the option sections. A number before the name, a colon after it and words that follow it do not matter; neither does upper or lower case. What stands in a code fence or in an HTML comment is no heading: a comment ends at --> only, and one that is closed with > hides what follows.

Without the option runbooks, the pages in folders called runbooks are looked at that have one of the sections, or the name of an alert of the run; and of other pages that are named on the command line, those that have two of the sections or that name.`,
		Bad: `-- runbooks/QueueStuck.md --
# QueueStuck

## Meaning

The queue does not move.

## Impact

Orders are late.

## Mitigation

Restart the workers.
`,
		Good: `-- runbooks/QueueStuck.md --
# QueueStuck

## Meaning

The queue does not move.

## Impact

Orders are late.

## Diagnosis

Look at the log of the workers.

## Mitigation

Restart the workers.
`,
		TurnOff: "Runbooks have another form, and sections can't describe it.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://github.com/openshift/runbooks/blob/master/README.md",
			"https://github.com/kubevirt/monitoring/blob/main/docs/runbooks",
			"https://github.github.com/gfm/#html-blocks",
		},
	},
	Run: lint.With(sections{Sections: runbook.FourSections}, checkSections),
})

type sections struct {
	Runbooks runbook.Runbooks      `yaml:"runbooks" shared:"runbooks" doc:"Folders of runbooks and the URLs they are published under."`
	Sections []runbook.SectionName `yaml:"sections" shared:"runbook-sections" doc:"Sections of a runbook, in their order."`
}

func checkSections(p *lint.Pass, page *runbook.Page, o sections) {
	if !expected(p, page, o.Runbooks, o.Sections) {
		return
	}
	report := func(f lint.Finding) {
		f.Message = page.Object().String() + " " + f.Message
		p.Report(f)
	}
	var missing []runbook.SectionName
	var before *runbook.Section // the last section that is in its place
	for _, name := range o.Sections {
		var found []runbook.Section
		for _, s := range page.Sections() {
			if s.Level == 2 && name.Is(s.Heading.Text) {
				found = append(found, s)
			}
		}
		if len(found) == 0 {
			if !explained(page, name, o.Sections, report) {
				missing = append(missing, name)
			}
			continue
		}
		for _, s := range found[1:] {
			if strings.EqualFold(s.Heading.Text, found[0].Heading.Text) {
				report(lint.Finding{Span: s.Span, Message: fmt.Sprintf("has the section '%s' twice: put what it says into one", name.Name),
					Related: []lint.Related{{Span: found[0].Span, Message: "the first is here"}}})
			}
		}
		s := found[0]
		if before != nil && s.Span.Start < before.Span.Start {
			report(lint.Finding{Span: s.Span, Message: fmt.Sprintf("has the section '%s' before '%s': the order is %s", s.Heading.Text, before.Heading.Text, names(o.Sections)),
				Related: []lint.Related{{Span: before.Span, Message: fmt.Sprintf("'%s' is here", before.Heading.Text)}}})
			continue
		}
		before = &found[0]
	}
	switch len(missing) {
	case 0:
	case 1:
		name := missing[0]
		report(lint.Finding{Span: page.Span(), Message: fmt.Sprintf("has no section '%s': add the heading ## %s and say %s", name.Name, name.Name, belongs(name))})
	default:
		report(lint.Finding{Span: page.Span(), Message: fmt.Sprintf("lacks the sections %s: add each as a heading of level 2", names(missing))})
	}
}

// expected reports whether a page has to have the sections. A page of a folder
// that nobody configured may have a form of its own.
func expected(p *lint.Pass, page *runbook.Page, locations runbook.Runbooks, sections []runbook.SectionName) bool {
	if !locations.Hold(page) {
		return false
	}
	if len(locations) > 0 && locations.Cover(page) || isAlert(p, page.Name()) {
		return true
	}
	found := 0
	for _, name := range sections {
		if _, ok := page.FindSection(name); ok || len(elsewhere(page, name)) == 1 {
			found++
		}
	}
	if !locations.Cover(page) {
		// Of the pages that are merely named, many have a heading such as Impact.
		return found >= min(2, len(sections))
	}
	return found > 0
}

// elsewhere returns the headings of a section that have not level 2. More than
// one are those of a page about several alerts.
func elsewhere(page *runbook.Page, name runbook.SectionName) []runbook.Section {
	var out []runbook.Section
	for _, s := range page.Sections() {
		if s.Level != 2 && s.Level <= 3 && name.Is(s.Heading.Text) && len(s.Heading.Text) <= len(name.Name)+2 {
			out = append(out, s)
		}
	}
	return out
}

// explained reports that a page lacks a section at the place that shows why, and
// whether there is one.
func explained(page *runbook.Page, name runbook.SectionName, all []runbook.SectionName, report func(lint.Finding)) bool {
	if found := elsewhere(page, name); len(found) == 1 {
		s := found[0]
		report(lint.Finding{Span: s.Span, Message: fmt.Sprintf("has the section '%s' at level %d: write it with ##", s.Heading.Text, s.Level)})
		return true
	}
	for _, c := range page.Comments() {
		for line := range strings.Lines(c.Text()) {
			if heading, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok && name.Is(heading) {
				message := fmt.Sprintf("has the section '%s' within an HTML comment, so that it is not on the page", name.Name)
				first, _, _ := strings.Cut(c.Text(), "\n")
				if !strings.Contains(first, "-->") && strings.HasSuffix(strings.TrimSpace(first), ">") {
					message += ": the comment begins here and ends only at -->; close it on this line"
				}
				c.End = c.Start + len(strings.TrimRight(first, "\r"))
				report(lint.Finding{Span: c, Message: message})
				return true
			}
		}
	}
	for _, s := range page.Sections() {
		if s.Level != 2 || anyIs(all, s.Heading.Text) {
			continue
		}
		if _, ok := near.Name(s.Heading.Text, name.All()); ok {
			report(lint.Finding{Span: s.Span, Message: fmt.Sprintf("has no section '%s': '%s' seems to be meant", name.Name, s.Heading.Text)})
			return true
		}
	}
	return false
}

func anyIs(all []runbook.SectionName, heading string) bool {
	for _, name := range all {
		if name.Is(heading) {
			return true
		}
	}
	return false
}

func names(sections []runbook.SectionName) string {
	var out []string
	for _, s := range sections {
		out = append(out, s.Name)
	}
	return strings.Join(out, ", ")
}
