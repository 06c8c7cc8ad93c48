// SPDX-License-Identifier: Apache-2.0

package filter

import (
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A block is a node: some lines of a file.
type block struct{ span source.Span }

func (b block) Span() source.Span { return b.span }

// A document of lines has a node for each run of lines that begins with one
// that ends in a colon and goes on while lines are indented deeper.
type document struct {
	file   *source.File
	blocks []block
}

func (d *document) Source() *source.File { return d.file }
func (d *document) Count(*lint.Counts)   {}
func (d *document) Nodes() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, b := range d.blocks {
			if !yield(b) {
				return
			}
		}
	}
}

func parseLines(path, text string) *document {
	d := &document{file: source.NewFileString(path, text)}
	indent := func(line int) int {
		s := d.file.Line(line).Text()
		return len(s) - len(strings.TrimLeft(s, " "))
	}
	for line := 1; line <= d.file.Lines(); line++ {
		if !strings.HasSuffix(strings.TrimSpace(d.file.Line(line).Text()), ":") {
			continue
		}
		last := line
		for last < d.file.Lines() && indent(last+1) > indent(line) {
			last++
		}
		start := d.file.Line(line)
		d.blocks = append(d.blocks, block{source.Span{File: d.file, Start: start.Start + indent(line), End: d.file.Line(last).End}})
	}
	return d
}

// checks are those of the tests: a/x reports each x of a file, a/y each y.
func testChecks() []*lint.Check {
	nothing := lint.On(func(*lint.Pass, *lint.Project) {})
	return []*lint.Check{
		{ID: "a/x", Severity: lint.Error, Run: nothing},
		{ID: "a/y", Severity: lint.Error, Run: nothing},
		{ID: "b/off", Severity: lint.Error, OptIn: true, Run: nothing},
		{ID: "syntax/suppression", Severity: lint.Warning, Run: nothing},
	}
}

func findLetters(d *document) []lint.Finding {
	var out []lint.Finding
	for i, c := range []byte(d.file.Data) {
		if c == 'X' || c == 'Y' {
			out = append(out, lint.Finding{Check: "a/" + strings.ToLower(string(c)), Severity: lint.Error, Span: d.file.Span(i, i+1), Message: string(c)})
		}
	}
	return out
}

func TestApply(t *testing.T) {
	for _, tt := range []struct {
		name, path, text string
		want             []string
	}{
		{"none", "a.yaml", "X\nY\n", []string{"1:1 X", "2:1 Y"}},
		{"on the line", "a.yaml", "X # monitoringlinter:ignore a/x -- why\nX\n", []string{"1:1 X hidden: comment: why", "2:1 X"}},
		{"only the check it names", "a.yaml", "XY # monitoringlinter:ignore a/x -- why\n", []string{"1:1 X hidden: comment: why", "1:2 Y"}},
		{"several checks", "a.yaml", "XY # monitoringlinter:ignore a/x, a/y -- why\n", []string{"1:1 X hidden: comment: why", "1:2 Y hidden: comment: why"}},
		{"a glob", "a.yaml", "XY # monitoringlinter:ignore a/* -- why\n", []string{"1:1 X hidden: comment: why", "1:2 Y hidden: comment: why"}},
		{"the line below", "a.yaml", "# monitoringlinter:ignore a/x -- why\nX\nX\n", []string{"2:1 X hidden: comment: why", "3:1 X"}},
		{"the widest node below", "a.yaml", "# monitoringlinter:ignore a/x -- why\nouter:\n  inner:\n    X\n  X\nX\n",
			[]string{"4:5 X hidden: comment: why", "5:3 X hidden: comment: why", "6:1 X"}},
		{"over comments and blank lines", "a.yaml", "# monitoringlinter:ignore a/x -- why\n# more\n\nouter:\n  X\n", []string{"5:3 X hidden: comment: why"}},
		{"two comments above one node", "a.yaml", "# monitoringlinter:ignore a/x -- one\n# monitoringlinter:ignore a/y -- two\nouter:\n  XY\n",
			[]string{"4:3 X hidden: comment: one", "4:4 Y hidden: comment: two"}},
		{"the file", "a.yaml", "X\n# monitoringlinter:ignore-file a/x -- generated\nX\n", []string{"1:1 X hidden: comment: generated", "3:1 X hidden: comment: generated"}},
		{"until a day to come", "a.yaml", "X # monitoringlinter:ignore a/x until=2027-01-15 -- why\n", []string{"1:1 X hidden: comment: why"}},
		{"until behind the reason", "a.yaml", "X # monitoringlinter:ignore a/x -- why until=2027-03-01\n", []string{"1:1 X hidden: comment: why"}},
		{"Go", "a.go", "X // monitoringlinter:ignore a/x -- why\n", []string{"1:1 X hidden: comment: why"}},
		{"Markdown", "a.md", "<!-- monitoringlinter:ignore a/x -- why -->\nX\n", []string{"2:1 X hidden: comment: why"}},
		{"code in Markdown", "a.md", "```yaml\nX # monitoringlinter:ignore a/x -- why\n<!-- monitoringlinter:ignore a/x -- why -->\n```\n", []string{"2:1 X"}},
		{"text that is no comment", "a.yaml", "X monitoringlinter:ignore a/x -- why\n", []string{"1:1 X"}},
		{"CRLF", "a.yaml", "X # monitoringlinter:ignore a/x -- why\r\nX\r\n", []string{"1:1 X hidden: comment: why", "2:1 X"}},

		{"expired", "a.yaml", "X # monitoringlinter:ignore a/x until=2027-01-14 -- why\n", []string{"1:1 X", `1:39 "2027-01-14": suppression expired on 2027-01-14, so it suppresses nothing: remove it, or give it a new date`}},
		{"no date", "a.yaml", "X # monitoringlinter:ignore a/x until=soon -- why\n", []string{"1:1 X", `1:39 "soon": suppression ends on "soon", which is no date: write until=YYYY-MM-DD`}},
		{"no reason", "a.yaml", "X # monitoringlinter:ignore a/x\n", []string{"1:1 X", `1:5 "monitoringlinter:ignore": suppression gives no reason, so it suppresses nothing: write why after --`}},
		{"an empty reason", "a.yaml", "X # monitoringlinter:ignore a/x --  \n", []string{"1:1 X", `1:5 "monitoringlinter:ignore": suppression gives no reason, so it suppresses nothing: write why after --`}},
		{"no check", "a.yaml", "X # monitoringlinter:ignore -- why\n", []string{"1:1 X", `1:5 "monitoringlinter:ignore": suppression names no check: write monitoringlinter:ignore CHECK -- REASON`}},
		{"an unknown check", "a.yaml", "X # monitoringlinter:ignore a/xx -- why\n", []string{"1:1 X", `1:29 "a/xx": suppression names "a/xx", and there is no such check; did you mean "a/x"?`}},
		{"a glob that matches none", "a.yaml", "X # monitoringlinter:ignore z/* -- why\n", []string{"1:1 X", `1:29 "z/*": suppression names "z/*", and there is no such check`}},
		{"an unknown directive", "a.yaml", "X # monitoringlinter:ingore a/x -- why\n", []string{"1:1 X", `1:5 "monitoringlinter:ingore": unknown directive "ingore": write monitoringlinter:ignore CHECK -- REASON, or monitoringlinter:ignore-file`}},
		{"nothing to suppress", "a.yaml", "Y # monitoringlinter:ignore a/x -- why\n", []string{"1:1 Y", `1:29 "a/x": suppression of "a/x" suppresses nothing: remove it`}},
		{"a check that is off", "a.yaml", "Y # monitoringlinter:ignore b/off -- why\n", []string{"1:1 Y"}},
		{"at the end of the file", "a.yaml", "X\n# monitoringlinter:ignore a/x -- why", []string{"1:1 X", `2:27 "a/x": suppression of "a/x" suppresses nothing: remove it`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := parseLines(tt.path, tt.text)
			p := &lint.Project{Documents: []lint.Document{d}}
			now := time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)
			var got []string
			for _, f := range Apply(p, findLetters(d), lint.Defaults(testChecks()), testChecks(), now) {
				at := f.Span.File.Position(f.Span.Start)
				s := fmt.Sprintf("%d:%d ", at.Line, at.Col)
				if f.Check == "syntax/suppression" {
					s += fmt.Sprintf("%q: ", f.Span.Text())
				}
				s += f.Message
				if f.Hidden != "" {
					s += " hidden: " + f.Hidden
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestApplyDropsRepeatedFindings(t *testing.T) {
	d := parseLines("a.yaml", "XY")
	p := &lint.Project{Documents: []lint.Document{d}}
	found := append(findLetters(d), findLetters(d)...)
	if got := Apply(p, found, lint.Defaults(testChecks()), testChecks(), time.Now()); len(got) != 2 {
		t.Errorf("%d findings left of two that are reported twice", len(got))
	}
}

func FuzzSuppressions(f *testing.F) {
	f.Add("X # monitoringlinter:ignore a/x until=2027-01-15 -- why\n")
	f.Add("# monitoringlinter:ignore-file a/* -- why until=\nouter:\n  X\n")
	f.Add("<!-- monitoringlinter:ignore a/x -- why -->\n```\nX\n")
	f.Add("# monitoringlinter:\n# monitoringlinter:ignore ,, --\r\n\r\nX")
	f.Fuzz(func(t *testing.T, s string) {
		for _, path := range []string{"a.yaml", "a.md"} {
			d := parseLines(path, s)
			letters := findLetters(d)
			p := &lint.Project{Documents: []lint.Document{d}}
			kept := 0
			for _, found := range Apply(p, letters, lint.Defaults(testChecks()), testChecks(), time.Time{}) {
				if sp := found.Span; sp.Start < 0 || sp.Start > sp.End || sp.End > len(s) {
					t.Fatalf("%s: span [%d,%d) of %d bytes", found.Message, sp.Start, sp.End, len(s))
				}
				if found.Check != checkID {
					kept++
				}
			}
			if kept != len(letters) {
				t.Fatalf("%d of %d findings are left", kept, len(letters))
			}
		}
	})
}
