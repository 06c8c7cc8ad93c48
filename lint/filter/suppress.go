// SPDX-License-Identifier: Apache-2.0

package filter

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// checkID is the check under which faulty suppressions are reported.
const checkID = "syntax/suppression"

const marker = "monitoringlinter:"

// A comment may stand alone on its line or behind what it is about. The
// comment signs are those of YAML and PromQL, of Go, and of Markdown.
var comment = regexp.MustCompile(`(?:^|[ \t])(?:#+|//|<!--)[ \t]*(` + marker + `([A-Za-z-]*))([^\r\n]*)`)

// A suppression is one comment.
type suppression struct {
	directive source.Span // "monitoringlinter:ignore"
	checks    []source.Span
	until     source.Span
	reason    string
	file      bool // covers the whole file
	covers    source.Span
	fault     lint.Finding // why it does not count, if its Message is set
	used      bool
}

func (s *suppression) names(id string) bool {
	for _, c := range s.checks {
		if ok, err := path.Match(c.Text(), id); ok && err == nil {
			return true
		}
	}
	return false
}

// suppress hides the findings that comments cover, and reports the comments
// that are faulty or hide nothing.
func suppress(p *lint.Project, found []lint.Finding, settings lint.Settings, checks []*lint.Check, now time.Time) []lint.Finding {
	ids := make([]string, len(checks))
	for i, c := range checks {
		ids[i] = c.ID
	}
	byFile := map[*source.File][]*suppression{}
	for _, d := range p.Documents {
		if strings.Contains(d.Source().Data, marker) {
			byFile[d.Source()] = suppressions(d, ids, now)
		}
	}
	if len(byFile) == 0 {
		return found
	}
	for i := range found {
		f := &found[i]
		for _, s := range byFile[f.Span.File] {
			if s.fault.Message != "" || f.Span.Start < s.covers.Start || f.Span.Start >= s.covers.End || !s.names(f.Check) {
				continue
			}
			s.used = true
			f.Hidden = "comment: " + s.reason
		}
	}
	for _, d := range p.Documents {
		own, on := settings.Profile(d.Source().Path, nil).Find(checkID)
		if !on {
			continue
		}
		for _, s := range byFile[d.Source()] {
			f := s.fault
			if f.Message == "" {
				if s.used || !ran(s, settings, d.Source().Path) {
					continue
				}
				f = lint.Finding{Span: s.checks[0], Message: fmt.Sprintf("suppression of %s suppresses nothing: remove it", s.list())}
			}
			f.Check, f.Severity = checkID, own.Check.Severity
			if own.Severity != lint.Unset {
				f.Severity = own.Severity
			}
			found = append(found, f)
		}
	}
	return found
}

func (s *suppression) list() string {
	names := make([]string, len(s.checks))
	for i, c := range s.checks {
		names[i] = fmt.Sprintf("%q", c.Text())
	}
	return strings.Join(names, ", ")
}

// ran reports whether a check that the suppression names was on for the file.
func ran(s *suppression, settings lint.Settings, path string) bool {
	for _, a := range settings.Profile(path, nil).Active {
		if s.names(a.Check.ID) {
			return true
		}
	}
	return false
}

// suppressions reads the comments of a document.
func suppressions(d lint.Document, ids []string, now time.Time) []*suppression {
	f := d.Source()
	markdown := strings.EqualFold(path.Ext(f.Path), ".md")
	fence := ""
	var out []*suppression
	for line := 1; line <= f.Lines(); line++ {
		span := f.Line(line)
		text := span.Text()
		if markdown {
			trimmed := strings.TrimLeft(text, " \t>")
			switch {
			case fence == "" && (strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")):
				fence = trimmed[:3]
			case fence != "" && strings.HasPrefix(trimmed, fence):
				fence = ""
			}
		}
		m := comment.FindStringSubmatchIndex(text)
		if m == nil || markdown && (fence != "" || !strings.Contains(text[m[0]:m[2]], "<!--")) {
			continue
		}
		s := parse(f, span, text, m, ids, now)
		if !s.file {
			s.covers = f.Line(line)
			if strings.TrimSpace(text[:m[0]]) == "" {
				s.covers = covered(d, line)
			}
			// The end of the line belongs to it, so that a finding there is covered.
			s.covers.End++
		}
		out = append(out, s)
	}
	return out
}

var commentLine = regexp.MustCompile(`^[ \t]*(?:(?:#|//|<!--).*)?$`)

// covered returns what a comment alone on its line is about: the widest node
// that starts on the next line that is no comment, or else that line.
func covered(d lint.Document, line int) source.Span {
	f := d.Source()
	for line++; line <= f.Lines(); line++ {
		if !commentLine.MatchString(f.Line(line).Text()) {
			break
		}
	}
	covers := f.Line(line)
	if line > f.Lines() {
		return covers
	}
	for n := range d.Nodes() {
		n, ok := n.(interface{ Span() source.Span })
		if !ok {
			continue
		}
		s := n.Span()
		if s.File == f && f.Position(s.Start).Line == line && s.End > covers.End {
			covers = source.Span{File: f, Start: covers.Start, End: s.End}
		}
	}
	return covers
}

var (
	word      = regexp.MustCompile(`[^\s,]+`)
	untilDate = regexp.MustCompile(`(?:^|\s)until=(\S*)`)
)

// parse reads one comment, of which m are the offsets of the parts in text.
func parse(f *source.File, line source.Span, text string, m []int, ids []string, now time.Time) *suppression {
	at := func(start, end int) source.Span { return f.Span(line.Start+start, line.Start+end) }
	s := &suppression{directive: at(m[2], m[3])}
	fault := func(span source.Span, format string, args ...any) {
		if s.fault.Message == "" {
			s.fault = lint.Finding{Span: span, Message: fmt.Sprintf(format, args...)}
		}
	}
	switch name := text[m[4]:m[5]]; name {
	case "ignore":
	case "ignore-file":
		s.file = true
		s.covers = f.Span(0, len(f.Data)+1)
	default:
		fault(s.directive, "unknown directive %q: write monitoringlinter:ignore CHECK -- REASON, or monitoringlinter:ignore-file", name)
		return s
	}
	rest := text[m[6]:m[7]]
	if i := strings.Index(rest, "-->"); i >= 0 && strings.Contains(text[m[0]:m[2]], "<!--") {
		rest = rest[:i]
	}
	list, reason, hasReason := strings.Cut(rest, "--")
	if loc := untilDate.FindStringSubmatchIndex(rest); loc != nil {
		s.until = at(m[6]+loc[2], m[6]+loc[3])
		list = untilDate.ReplaceAllStringFunc(list, func(s string) string { return strings.Repeat(" ", len(s)) })
		reason = untilDate.ReplaceAllString(reason, "")
	}
	s.reason = strings.TrimSpace(reason)
	for _, loc := range word.FindAllStringIndex(list, -1) {
		s.checks = append(s.checks, at(m[6]+loc[0], m[6]+loc[1]))
	}
	if len(s.checks) == 0 {
		fault(s.directive, "suppression names no check: write monitoringlinter:ignore CHECK -- REASON")
	}
	for _, c := range s.checks {
		if !known(c.Text(), ids) {
			hint := ""
			if id, ok := near.Name(c.Text(), ids); ok {
				hint = fmt.Sprintf("; did you mean %q?", id)
			}
			fault(c, "suppression names %q, and there is no such check%s", c.Text(), hint)
		}
	}
	if !hasReason || s.reason == "" {
		fault(s.directive, "suppression gives no reason, so it suppresses nothing: write why after --")
	}
	if !s.until.IsZero() {
		day, err := time.Parse(time.DateOnly, s.until.Text())
		switch {
		case err != nil:
			fault(s.until, "suppression ends on %q, which is no date: write until=YYYY-MM-DD", s.until.Text())
		case !now.Before(day.AddDate(0, 0, 1)):
			fault(s.until, "suppression expired on %s, so it suppresses nothing: remove it, or give it a new date", s.until.Text())
		}
	}
	return s
}

// known reports whether a name is that of a check, or a glob that matches one.
func known(name string, ids []string) bool {
	for _, id := range ids {
		if ok, err := path.Match(name, id); ok && err == nil {
			return true
		}
	}
	return false
}
