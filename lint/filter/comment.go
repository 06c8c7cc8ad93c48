// SPDX-License-Identifier: Apache-2.0

package filter

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// marker begins every directive. A file without it is not looked at further.
const marker = "monitoringlinter:"

// maxNames bounds how many checks the suppressions of one file may name. It is
// more than anybody writes, and keeps what they cost within bounds.
const maxNames = 50_000

// A suppression is one comment.
type suppression struct {
	directive source.Span // "monitoringlinter:ignore"
	names     []*name
	hidden    string      // what the findings it hides say, or "" if it does not count
	covers    source.Span // may include a line break that ends the file
}

// A name is a check, or a glob of checks, in a suppression.
type name struct {
	span source.Span
	ids  []string // the checks it stands for, sorted
	used bool
}

func (n *name) standsFor(id string) bool {
	_, ok := slices.BinarySearch(n.ids, id)
	return ok
}

// A fault is a finding about a suppression.
type fault struct {
	lint.Finding
	of *suppression
}

// A dialect is how comments are written in files of one kind. Those of PromQL
// are like those of YAML, so in block scalars of YAML both are found alike.
type dialect struct {
	directive *regexp.Regexp // its group begins with the sign and ends with the marker
	skip      *regexp.Regexp // a line that nothing starts on
	end       string         // what ends a comment before the line does
}

func newDialect(sign, end, also string) *dialect {
	return &dialect{
		directive: regexp.MustCompile(`(?:^\x{feff}?|[ \t])(` + sign + `[ \t]*` + marker + `)`),
		skip:      regexp.MustCompile(`^\x{feff}?[ \t]*(?:` + sign + `.*` + also + `)?$`),
		end:       end,
	}
}

var (
	yaml     = newDialect(`#+`, "", `|---[ \t]*(?:#.*)?`)
	golang   = newDialect(`//+`, "", "")
	markdown = newDialect(`<!--`, "-->", "")
)

func dialectOf(file string) *dialect {
	switch strings.ToLower(path.Ext(file)) {
	case ".go":
		return golang
	case ".md", ".markdown":
		return markdown
	}
	return yaml
}

// find cuts the line of a comment with a directive: what is before the comment,
// what it says from the marker on, and what is after it.
func (d *dialect) find(line string) (before, directive, after string, ok bool) {
	if !strings.Contains(line, marker) {
		return "", "", "", false
	}
	m := d.directive.FindStringSubmatchIndex(line)
	if m == nil || d == markdown && strings.Count(line[:m[2]], "`")%2 == 1 { // in a code span
		return "", "", "", false
	}
	before, directive = line[:m[2]], line[m[3]-len(marker):]
	if d.end != "" {
		directive, after, _ = strings.Cut(directive, d.end)
	}
	return before, directive, after, true
}

// alone reports whether a comment is all there is on its line, but for what
// begins an item of a list or a quotation.
func alone(before, after string) bool {
	return strings.Trim(before, "\ufeff \t>-") == "" && strings.TrimSpace(after) == ""
}

// scalarHeader matches a line of YAML, less its comment, that a block scalar follows.
var scalarHeader = regexp.MustCompile(`[:-][ \t]+(?:[!&]\S+[ \t]+)*[|>][-+0-9]{0,2}[ \t]*$`)

// indent returns how deep what is on the line is indented in YAML, where the
// dash of an item counts as white space.
func indent(line string) int {
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '-' && n+1 < len(line) && line[n+1] == ' ') {
		n++
	}
	return n
}

// A fence is what opened the fenced code of Markdown that a line is in, or "".
type fence string

var fenceLine = regexp.MustCompile("^[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$")

// next takes the next line and reports whether it is code, or the end of it.
func (f *fence) next(line string) bool {
	m := fenceLine.FindStringSubmatch(line)
	if *f == "" {
		if m != nil && (m[1][0] == '~' || !strings.Contains(m[2], "`")) {
			*f = fence(m[1])
		}
		return false
	}
	if m != nil && strings.HasPrefix(m[1], string(*f)) && strings.TrimSpace(m[2]) == "" {
		*f = ""
	}
	return true
}

// A reader reads the suppressions of one file.
type reader struct {
	file   *source.File
	nodes  []node
	known  *catalogue
	now    time.Time
	named  int // names so far
	out    []*suppression
	faults []fault
}

// An indented is lines that suppressions cover as long as they are indented deeper.
type indented struct {
	depth int
	of    []*suppression
}

// read reads the comments of the file.
func (r *reader) read() {
	d := dialectOf(r.file.Path)
	var (
		waiting []*suppression // alone on their lines, for what comes next
		from    int            // where the run of lines began that they are in
		blocks  []indented     // none shallower than the one before
		last    int            // the end of the last line that may belong to a block
		code    fence
	)
	leave := func(depth int) {
		for len(blocks) > 0 && blocks[len(blocks)-1].depth >= depth {
			for _, s := range blocks[len(blocks)-1].of {
				s.covers.End = max(s.covers.End, last)
			}
			blocks = blocks[:len(blocks)-1]
		}
	}
	for n := 1; n <= r.file.Lines(); n++ {
		line := r.file.Line(n)
		text := line.Text()
		if d == markdown && code.next(text) {
			last = line.End + 1
			continue
		}
		var own *suppression
		before, directive, after, ok := d.find(text)
		if ok {
			own = r.parse(directive, len(before)+strings.Index(text[len(before):], marker)+line.Start)
		}
		if ok && alone(before, after) {
			if own != nil {
				waiting = append(waiting, own)
			}
			continue
		}
		if d.skip.MatchString(text) {
			continue
		}
		depth := 0
		if d == yaml {
			depth = indent(text)
		}
		leave(depth)
		last = line.End + 1
		if len(waiting) > 0 {
			covers := r.below(from, line)
			for _, s := range waiting {
				s.cover(covers)
			}
			blocks = append(blocks, indented{depth, waiting})
			waiting = nil
		}
		if own != nil {
			own.cover(r.file.Span(line.Start, line.End+1))
			if d == yaml && scalarHeader.MatchString(before) {
				blocks = append(blocks, indented{depth, []*suppression{own}})
			}
		}
		from = line.End
		if d == yaml {
			if end := r.prose(n, depth); end > n {
				n = end
				from, last = r.file.Line(n).End, r.file.Line(n).End+1
			}
		}
	}
	leave(0)
	for _, s := range waiting { // nothing comes next
		s.cover(r.file.Span(len(r.file.Data), len(r.file.Data)))
	}
}

// prose returns the last line of the block scalar that line n begins if it is
// text that nothing reads as a rule or an expression, such as a description:
// what looks like a comment there is part of it. Otherwise it returns n.
func (r *reader) prose(n, depth int) int {
	header := r.file.Line(n)
	text := header.Text()
	if i := strings.Index(text, " #"); i >= 0 {
		text = text[:i]
	}
	if !scalarHeader.MatchString(text) {
		return n
	}
	end := n
	for end < r.file.Lines() {
		line := r.file.Line(end + 1).Text()
		if strings.TrimSpace(line) != "" && len(line)-len(strings.TrimLeft(line, " ")) <= depth {
			break
		}
		end++
	}
	first := sort.Search(len(r.nodes), func(i int) bool { return r.nodes[i].span.Start >= header.End })
	if len(r.nodes) == 0 || first < len(r.nodes) && r.nodes[first].span.Start < r.file.Line(end).End {
		return n
	}
	return end
}

// cover says what a suppression covers, if it is not the whole file.
func (s *suppression) cover(span source.Span) {
	if s.covers.IsZero() {
		s.covers = span
	}
}

// below returns what comments alone on their lines are about: the line that
// comes next, and the widest node that starts there or, as an expression in a
// block scalar may, with the comments.
func (r *reader) below(from int, line source.Span) source.Span {
	covers := r.file.Span(line.Start, line.End+1)
	widest := source.Span{}
	first := sort.Search(len(r.nodes), func(i int) bool { return r.nodes[i].span.Start >= from })
	for _, n := range r.nodes[first:] {
		if n.span.Start > line.End {
			break
		}
		if n.span.End-n.span.Start > widest.End-widest.Start {
			widest = n.span
		}
	}
	return covers.Union(widest)
}

var (
	listWord   = regexp.MustCompile(`[^\s,]+`)
	reasonWord = regexp.MustCompile(`\S+`)
)

// directives are the words that may follow the marker.
var directives = []string{"ignore", "ignore-file"}

// parse reads a directive, the text of the file from at on. It returns nil if
// that is none, only prose that begins with the name of the linter.
func (r *reader) parse(text string, at int) *suppression {
	if r.named > maxNames {
		return nil
	}
	word, rest := text[len(marker):], ""
	if i := strings.IndexAny(word, " \t"); i >= 0 {
		word, rest = word[:i], word[i:]
	}
	s := &suppression{directive: r.file.Span(at, at+len(marker)+len(word))}
	if word == "" {
		next := listWord.FindString(rest)
		if _, ok := near.Name(next, directives); !ok && !slices.Contains(directives, next) {
			return nil
		}
	}
	r.out = append(r.out, s)
	switch word {
	case "ignore":
	case "ignore-file":
		s.covers = r.file.Span(0, len(r.file.Data)+1)
	default:
		r.fault(s, s.directive, "unknown directive %s: write monitoringlinter:ignore CHECK -- REASON, or monitoringlinter:ignore-file", quote(word))
		return s
	}

	at += len(text) - len(rest)
	list, reason, _ := strings.Cut(rest, "--")
	var dates []source.Span
	for _, loc := range listWord.FindAllStringIndex(list, -1) {
		span := r.file.Span(at+loc[0], at+loc[1])
		if strings.HasPrefix(span.Text(), until) {
			dates = append(dates, r.file.Span(span.Start+len(until), span.End))
		} else {
			s.names = append(s.names, &name{span: span})
		}
	}
	at += len(rest) - len(reason)
	var why []string
	for _, loc := range reasonWord.FindAllStringIndex(reason, -1) {
		span := r.file.Span(at+loc[0], at+loc[1])
		if strings.HasPrefix(span.Text(), until) {
			dates = append(dates, r.file.Span(span.Start+len(until), span.End))
		} else {
			why = append(why, span.Text())
		}
	}
	counts := r.checkNames(s, len(why) > 0)
	if r.checkDates(s, dates) && counts {
		s.hidden = "comment: " + printable(strings.Join(why, " "))
	}
	return s
}

const until = "until="

// checkNames looks up the checks that a suppression names and reports whether
// it names some and says why.
func (r *reader) checkNames(s *suppression, why bool) bool {
	if r.named += len(s.names); r.named > maxNames {
		r.fault(s, s.directive, "suppressions of this file name more than %d checks: this one and those below it do not count", maxNames)
		s.names = nil
		return false
	}
	if len(s.names) == 0 {
		r.fault(s, s.directive, "suppression names no check: write monitoringlinter:ignore CHECK -- REASON")
		return false
	}
	for _, n := range s.names {
		word := n.span.Text()
		n.ids = r.known.find(word)
		if len(n.ids) > 0 || !why && !strings.Contains(word, "/") { // a reason without its dashes, most likely
			continue
		}
		hint := ""
		if id, ok := near.Name(word, r.known.ids); ok {
			hint = fmt.Sprintf("; did you mean %q?", id)
		}
		r.fault(s, n.span, "suppression names %s, and there is no such check%s", quote(word), hint)
	}
	if !why {
		r.fault(s, s.directive, "suppression gives no reason, so it suppresses nothing: write why after --")
	}
	return why
}

// checkDates reports whether all the dates are still to come.
func (r *reader) checkDates(s *suppression, dates []source.Span) bool {
	valid := true
	for _, span := range dates {
		day, err := time.Parse(time.DateOnly, span.Text())
		switch {
		case err != nil:
			if span.Start == span.End { // until= and nothing: mark that
				span.Start -= len(until)
			}
			r.fault(s, span, "suppression ends on %s, which is no date: write until=YYYY-MM-DD", quote(strings.TrimPrefix(span.Text(), until)))
		case !r.now.Before(day.AddDate(0, 0, 1)): // it holds for all of that day, in UTC
			r.fault(s, span, "suppression expired on %s, so it suppresses nothing: remove it, or give it a new date", span.Text())
		default:
			continue
		}
		valid = false
	}
	return valid
}

func (r *reader) fault(s *suppression, span source.Span, format string, args ...any) {
	r.faults = append(r.faults, fault{lint.Finding{Span: span, Message: fmt.Sprintf(format, args...)}, s})
}

// quote quotes a word of the input, and no more of it than tells which it is.
func quote(word string) string {
	const most = 60
	if len(word) <= most {
		return fmt.Sprintf("%q", word)
	}
	cut := most
	for !utf8.RuneStart(word[cut]) && cut > most-utf8.UTFMax {
		cut--
	}
	return fmt.Sprintf("%q…", word[:cut])
}

// printable returns s without what would act on a terminal or forge a line.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// A catalogue is the checks there are.
type catalogue struct {
	ids   []string
	found map[string][]string
}

func newCatalogue(checks []*lint.Check) *catalogue {
	c := &catalogue{found: map[string][]string{}}
	for _, check := range checks {
		c.ids = append(c.ids, check.ID)
		c.found[check.ID] = []string{check.ID}
	}
	slices.Sort(c.ids)
	return c
}

// find returns the checks that a name or a glob stands for, sorted. As in the
// configuration, a star stands for any characters, the slash included.
func (c *catalogue) find(word string) []string {
	const longest = 100 // far longer than an ID
	ids, ok := c.found[word]
	if ok || !strings.Contains(word, "*") || len(word) > longest {
		return ids
	}
	flat := strings.NewReplacer("/", ":")
	pattern := flat.Replace(word)
	for _, id := range c.ids {
		if ok, err := path.Match(pattern, flat.Replace(id)); ok && err == nil {
			ids = append(ids, id)
		}
	}
	c.found[word] = ids
	return ids
}
