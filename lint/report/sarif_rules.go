// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
)

// sarifRules returns the metadata of the checks that have a finding to show, in
// the order of their IDs.
func sarifRules(run Run, opts Options) []sarifRule {
	used := map[string]bool{}
	for i := range run.Findings {
		if f := &run.Findings[i]; opts.shows(f) {
			used[f.Check] = true
		}
	}
	checks := map[string]*lint.Check{}
	for _, c := range run.Checks {
		checks[c.ID] = c
	}
	rules := make([]sarifRule, 0, len(used))
	for _, id := range slices.Sorted(maps.Keys(used)) {
		rules = append(rules, newSARIFRule(cmp.Or(checks[id], &lint.Check{ID: id, Severity: lint.Warning})))
	}
	return rules
}

func newSARIFRule(c *lint.Check) sarifRule {
	title := cmp.Or(c.Doc.Title, c.ID)
	why, _, _ := strings.Cut(strings.TrimSpace(c.Doc.Why), "\n\n")
	severity := sarifLevel(c.Severity)
	if severity == "note" {
		severity = "recommendation" // as GitHub calls it in this place
	}
	return sarifRule{
		ID:               c.ID,
		Name:             sarifName(c.ID),
		ShortDescription: sarifMessage{title},
		FullDescription:  sarifMessage{cmp.Or(shorten(unwrap(why)), title)},
		Help:             sarifHelp{Text: help(c, false), Markdown: help(c, true)},
		HelpURI:          HelpURL(c.ID),
		Default:          sarifConfiguration{Enabled: !c.OptIn, Level: sarifLevel(c.Severity)},
		Properties: sarifRuleProperties{
			Tags:      []string{"prometheus", cmp.Or(tags[area(c.ID)], area(c.ID))},
			Precision: "high",
			Severity:  severity,
		},
	}
}

// tags are those of areas whose name alone tells an outsider little.
var tags = map[string]string{
	"alert":   "alerting",
	"group":   "alerting",
	"record":  "recording-rules",
	"monitor": "service-discovery",
	"metric":  "instrumentation",
}

// sarifName returns alert/for as AlertFor. Viewers leave a gap without a name.
func sarifName(id string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(id, func(r rune) bool { return r == '/' || r == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// shorten cuts a description to the size that GitHub takes.
func shorten(s string) string {
	const limit = 1024
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// unwrap joins the lines of each paragraph: GitHub renders the help of a rule
// like a comment, where every line break shows.
func unwrap(s string) string {
	paragraphs := strings.Split(strings.TrimSpace(s), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(p), " ")
	}
	return strings.Join(paragraphs, "\n\n")
}

// help returns the documentation of a check, in Markdown or as plain text.
func help(c *lint.Check, markdown bool) string {
	var b strings.Builder
	section := func(title, text string) {
		switch {
		case text == "":
			return
		case b.Len() > 0:
			b.WriteString("\n\n")
		}
		if title != "" && markdown {
			fmt.Fprintf(&b, "## %s\n\n", title)
		} else if title != "" {
			fmt.Fprintf(&b, "%s:\n\n", title)
		}
		b.WriteString(text)
	}
	code := func(language, s string) string {
		s = strings.TrimRight(s, "\n")
		switch {
		case s == "":
			return ""
		case markdown:
			fence := "```"
			for strings.Contains(s, fence) {
				fence += "`"
			}
			return fence + language + "\n" + s + "\n" + fence
		}
		return "    " + strings.ReplaceAll(s, "\n", "\n    ")
	}
	language := "yaml"
	switch area(c.ID) {
	case "runbook":
		language = "markdown"
	case "metric":
		language = "go"
	}
	refs := strings.Join(c.Doc.Refs, "\n")
	if markdown && refs != "" {
		refs = "- <" + strings.Join(c.Doc.Refs, ">\n- <") + ">"
	}

	section("", unwrap(c.Doc.Why))
	section("Bad", code(language, c.Doc.Bad))
	section("Good", code(language, c.Doc.Good))
	section("Configuration of the examples", code("yaml", c.Doc.Config))
	section("When to turn it off", unwrap(c.Doc.TurnOff))
	section("See also", refs)
	section("", HelpURL(c.ID))
	return b.String()
}
