// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// Text writes a line for each finding that is shown:
//
//	path:line:column: FAIL: message (check)
//
// With snippets, indented lines below it show the source, the places that are
// related and how to fix it.
func Text(w io.Writer, run Run, opts Options) error {
	b := bufio.NewWriterSize(w, 1<<16)
	p := printer{b, opts}
	for i := range run.Findings {
		if f := &run.Findings[i]; f.Hidden == "" && opts.shows(f) {
			p.finding(f)
		}
	}
	return b.Flush()
}

const (
	reset  = "\x1b[0m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
)

// A printer writes text. The errors of its buffer surface when it is flushed.
type printer struct {
	*bufio.Writer
	opts Options
}

// paint returns s in a colour, if colours are on.
func (p printer) paint(color, s string) string {
	if !p.opts.Color {
		return s
	}
	return color + s + reset
}

var verdicts = [...]struct{ word, color string }{
	lint.Unset:   {"INFO", cyan},
	lint.Off:     {"INFO", cyan},
	lint.Info:    {"INFO", cyan},
	lint.Warning: {"WARN", yellow},
	lint.Error:   {"FAIL", red},
}

func (p printer) finding(f *lint.Finding) {
	verdict := verdicts[f.Severity]
	if f.Span.File != nil {
		fmt.Fprintf(p, "%s: ", p.paint(bold, Visible(f.Span.String())))
	}
	fmt.Fprintf(p, "%s: %s %s\n", p.paint(verdict.color, verdict.word), Visible(f.Message), p.paint(dim, "("+Visible(f.Check)+")"))
	if !p.opts.Snippets {
		return
	}
	if f.Span.File != nil {
		p.snippet(within(f.Span), verdict.color)
	}
	for _, r := range f.Related {
		p.WriteString("    ")
		if r.Span.File != nil {
			fmt.Fprintf(p, "%s: ", Visible(r.Span.String()))
		}
		fmt.Fprintf(p, "%s\n", Visible(r.Message))
	}
	for _, fix := range f.Fixes {
		how := ""
		if !fix.Safe {
			how = " " + p.paint(dim, "(changes the meaning)")
		}
		fmt.Fprintf(p, "    %s: %s%s\n", p.paint(green, "fix"), Visible(fix.Message), how)
	}
}

// snippet shows the line where the span begins, with carets below the part of
// the span that lies on it.
func (p printer) snippet(s source.Span, color string) {
	line := s.File.Line(s.File.Position(s.Start).Line)
	start := min(s.Start, line.End) - line.Start
	end := min(s.End, line.End) - line.Start
	text, column, width := excerpt(line.Text(), start, max(start, end))
	if text == "" {
		return
	}
	fmt.Fprintf(p, "    %s\n    %s%s\n", text, strings.Repeat(" ", column), p.paint(color, strings.Repeat("^", width)))
}

// The size of an excerpt, in characters: of a longer line, it shows the span
// and a little of what is before it. Lines can be as long as files (JSON has no
// need for line breaks), so nothing here looks at a whole line.
const (
	excerptWidth  = 120
	excerptBefore = 40
	indentLimit   = 256
	tabWidth      = 4
)

// excerpt returns what to show of a line, and which columns of that stand for
// line[start:end], at least one.
func excerpt(line string, start, end int) (text string, column, width int) {
	indent := 0
	for indent < min(start, indentLimit) && (line[indent] == ' ' || line[indent] == '\t') {
		indent++
	}
	from, to := window(line, indent, start)

	var b []byte
	columns, first, last := 0, -1, -1
	if from > indent {
		b, columns = append(b, "…"...), 1
	}
	for i := from; i < to; {
		if first < 0 && i >= start {
			first = columns
		}
		if last < 0 && i >= end {
			last = columns
		}
		_, n := utf8.DecodeRuneInString(line[i:])
		before := len(b)
		if line[i] == '\t' {
			b = append(b, "    "[columns%tabWidth:]...)
		} else {
			b = appendVisible(b, line[i:i+n])
		}
		columns += utf8.RuneCount(b[before:])
		i += n
	}
	if first < 0 {
		first = columns
	}
	if last < 0 {
		last = columns
	}
	if to < len(line) {
		b = append(b, "…"...)
	}
	return string(b), first, max(last-first, 1)
}

// window returns the part of line[lo:] to show so that start is in it.
func window(line string, lo, start int) (from, to int) {
	from = back(line, lo, start, excerptBefore)
	to = from
	for n := 0; n < excerptWidth && to < len(line); n++ {
		_, size := utf8.DecodeRuneInString(line[to:])
		to += size
	}
	if to == len(line) {
		from = back(line, lo, to, excerptWidth)
	}
	return from, to
}

// back returns the offset of the character n before i, but not below lo.
func back(line string, lo, i, n int) int {
	for ; n > 0 && i > lo; n-- {
		_, size := utf8.DecodeLastRuneInString(line[lo:i])
		i -= size
	}
	return i
}

// WriteSummary writes what is worth knowing about the run, and last, in a line,
// what it read and found. A run that read nothing does not look like a clean one.
func WriteSummary(w io.Writer, run Run, opts Options) error {
	b := bufio.NewWriter(w)
	p := printer{b, opts}
	for _, n := range run.Notices {
		if n.Path != "" {
			fmt.Fprintf(p, "%s: ", p.paint(bold, Visible(n.Path)))
		}
		fmt.Fprintf(p, "%s: %s\n", p.paint(cyan, "note"), Visible(n.Message))
	}
	fmt.Fprintln(p, p.summary(run.Summary))
	return b.Flush()
}

func (p printer) summary(s Summary) string {
	severities := []struct {
		severity lint.Severity
		count    int
		noun     string
	}{
		{lint.Error, s.Errors, "error"},
		{lint.Warning, s.Warnings, "warning"},
		{lint.Info, s.Infos, "info"},
	}
	var found, hidden []string
	lowest := lint.Unset
	for _, c := range severities {
		switch n := counted(c.count, c.noun); {
		case c.count == 0:
		case c.severity >= p.opts.Show:
			found = append(found, p.paint(verdicts[c.severity].color, n))
		default:
			hidden = append(hidden, n)
			lowest = c.severity
		}
	}

	read := []string{counted(s.Files, "file"), counted(s.Rules, "rule")}
	if s.Monitors != 0 {
		read = append(read, counted(s.Monitors, "monitor"))
	}
	if s.Runbooks != 0 {
		read = append(read, counted(s.Runbooks, "runbook"))
	}
	if s.Packages != 0 {
		read = append(read, counted(s.Packages, "package"))
	}

	var out string
	switch {
	case len(found) > 0:
		out = strings.Join(found, ", ") + " in " + strings.Join(read, ", ")
	case s.Counts == lint.Counts{}:
		out = p.paint(yellow, "nothing was linted") + ": " + strings.Join(read, ", ")
	default:
		out = p.paint(green, "ok") + ": " + strings.Join(read, ", ")
		if len(hidden) == 0 {
			out += ", no findings"
		}
	}
	if len(hidden) > 0 {
		out += fmt.Sprintf(", %s not shown (--show %s)", strings.Join(hidden, " and "), lowest)
	}
	if s.Suppressed > 0 {
		out += fmt.Sprintf(", %d suppressed", s.Suppressed)
	}
	return out + " " + p.paint(dim, "("+elapsed(s.Duration)+")")
}

// counted returns n things in English.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// elapsed returns d as precisely as matters to someone who waited for it.
func elapsed(d time.Duration) string {
	precision := time.Millisecond
	if d >= time.Second {
		precision = 10 * time.Millisecond
	}
	return d.Round(precision).String()
}
