// SPDX-License-Identifier: Apache-2.0

package filter

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

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

// testChecks are the checks of the tests: a/x reports each X of a file, a/y each
// Y, and syntax/z each Z, which breaks the file.
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
		switch c {
		case 'Z':
			out = append(out, lint.Finding{Check: "syntax/z", Severity: lint.Error, Span: d.file.Span(i, i+1), Message: "Z"})
		case 'X', 'Y':
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
		{"over the start of a document", "a.yaml", "# monitoringlinter:ignore a/x -- why\n---\nouter:\n  X\n", []string{"4:3 X hidden: comment: why"}},
		{"only as far as the node", "a.yaml", "# monitoringlinter:ignore a/x -- why\nouter:\n  X\nX\n", []string{"3:3 X hidden: comment: why", "4:1 X"}},
		{"what is indented below", "a.yaml", "# monitoringlinter:ignore a/x -- why\nlabels: # no node\n  a: X\n\n# more\n  b: X\nX\n",
			[]string{"3:6 X hidden: comment: why", "6:6 X hidden: comment: why", "7:1 X"}},
		{"the item of a list, not the next", "a.yaml", "# monitoringlinter:ignore a/x -- why\n- a: X\n  b: X\n- a: X\n", []string{"2:6 X hidden: comment: why", "3:6 X", "4:6 X"}},
		{"above a block scalar", "a.yaml", "# monitoringlinter:ignore a/x -- why\n- expr: |\n    X\n    X\n  for: X\n",
			[]string{"3:5 X hidden: comment: why", "4:5 X hidden: comment: why", "5:8 X"}},
		{"behind the head of a block scalar", "a.yaml", "- expr: >-  # monitoringlinter:ignore a/x -- why\n    X\n\n    X\n  for: X\n",
			[]string{"2:5 X hidden: comment: why", "4:5 X hidden: comment: why", "5:8 X"}},
		{"in a block scalar", "a.yaml", "expr: |\n  X\n  # monitoringlinter:ignore a/x -- why\n  X +\n  X\n", []string{"2:3 X", "4:3 X hidden: comment: why", "5:3 X"}},
		{"behind the dash of an item", "a.yaml", "-  # monitoringlinter:ignore a/x -- why\n   outer:\n     X\n", []string{"3:6 X hidden: comment: why"}},
		{"the narrowest gives the reason", "a.yaml", "# monitoringlinter:ignore-file a/* -- file\n# monitoringlinter:ignore a/x -- node\nouter:\n  X # monitoringlinter:ignore a/x -- line\n  X\nXY\n",
			[]string{"4:3 X hidden: comment: line", "5:3 X hidden: comment: node", "6:1 X hidden: comment: file", "6:2 Y hidden: comment: file"}},
		{"behind another comment", "a.yaml", "X # more # monitoringlinter:ignore a/x -- why\n", []string{"1:1 X hidden: comment: why"}},
		{"all checks", "a.yaml", "XY ## monitoringlinter:ignore * -- why\n", []string{"1:1 X hidden: comment: why", "1:2 Y hidden: comment: why"}},
		{"separated by spaces", "a.yaml", "XY # monitoringlinter:ignore a/x  a/y  --  for  two   reasons\n", []string{"1:1 X hidden: comment: for two reasons", "1:2 Y hidden: comment: for two reasons"}},
		{"a reason that would forge output", "a.yaml", "X # monitoringlinter:ignore a/x -- why\x1b[31m\xff\n", []string{"1:1 X hidden: comment: why\ufffd[31m\ufffd"}},
		{"behind a byte order mark", "a.yaml", "\ufeff# monitoringlinter:ignore a/x -- why\nX\n", []string{"2:1 X hidden: comment: why"}},
		{"what is known counts though other names are not", "a.yaml", "X # monitoringlinter:ignore a/x, a/gone -- why\n",
			[]string{"1:1 X hidden: comment: why", `1:34 "a/gone": suppression names "a/gone", and there is no such check`}},
		{"the file", "a.yaml", "X\n# monitoringlinter:ignore-file a/x -- generated\nX\n", []string{"1:1 X hidden: comment: generated", "3:1 X hidden: comment: generated"}},
		{"text that looks like a comment", "a.yaml", "outer:\n  summary: X\n  description: |\n    X\n    # monitoringlinter:ignore-file a/x -- forged\n    # monitoringlinter:ignore a/x -- forged\n    X\nX\n",
			[]string{"2:12 X", "4:5 X", "7:5 X", "8:1 X"}},
		{"a comment in a nested file", "a.yaml", "data: |\n  # monitoringlinter:ignore a/x -- why\n  outer:\n    X\nX\n", []string{"4:5 X hidden: comment: why", "5:1 X"}},
		{"until a day to come", "a.yaml", "X # monitoringlinter:ignore a/x until=2027-01-15 -- why\n", []string{"1:1 X hidden: comment: why"}},
		{"until behind the reason", "a.yaml", "X # monitoringlinter:ignore a/x -- why until=2027-03-01\n", []string{"1:1 X hidden: comment: why"}},
		{"Go", "a.go", "X // monitoringlinter:ignore a/x -- why\n", []string{"1:1 X hidden: comment: why"}},
		{"Go has other comments", "a.go", "X # monitoringlinter:ignore a/x -- why\nX\n", []string{"1:1 X", "2:1 X"}},
		{"YAML has other comments", "a.yaml", "X // monitoringlinter:ignore a/x -- why\n<!-- monitoringlinter:ignore a/x -- why -->\nX\n", []string{"1:1 X", "3:1 X"}},
		{"a heading is no comment in Markdown", "a.md", "<!-- monitoringlinter:ignore a/x -- why -->\n\n# X\nX\n", []string{"3:3 X hidden: comment: why", "4:1 X"}},
		{"on a line of Markdown", "a.MD", "X <!-- monitoringlinter:ignore a/x -- why --> X\nX\n", []string{"1:1 X hidden: comment: why", "1:47 X hidden: comment: why", "2:1 X"}},
		{"a code span of Markdown", "a.md", "X `like <!-- monitoringlinter:ignore a/x -- why -->`\n", []string{"1:1 X"}},
		{"above code of Markdown", "a.md", "<!-- monitoringlinter:ignore a/x -- why -->\n```promql\nX\n\nX\n```\nX\n", []string{"3:1 X hidden: comment: why", "5:1 X hidden: comment: why", "7:1 X"}},
		{"fences within a longer fence", "a.md", "> - ````\n>   ```\n>   <!-- monitoringlinter:ignore a/x -- why -->\nX\n>   ````\n<!-- monitoringlinter:ignore a/x -- why -->\nX\n",
			[]string{"4:1 X", "7:1 X hidden: comment: why"}},
		{"Markdown", "a.md", "<!-- monitoringlinter:ignore a/x -- why -->\nX\n", []string{"2:1 X hidden: comment: why"}},
		{"code in Markdown", "a.md", "```yaml\nX # monitoringlinter:ignore a/x -- why\n<!-- monitoringlinter:ignore a/x -- why -->\n```\n", []string{"2:1 X"}},
		{"text that is no comment", "a.yaml", "X monitoringlinter:ignore a/x -- why\n", []string{"1:1 X"}},
		{"CRLF", "a.yaml", "X # monitoringlinter:ignore a/x -- why\r\nX\r\n", []string{"1:1 X hidden: comment: why", "2:1 X"}},

		{"expired", "a.yaml", "X # monitoringlinter:ignore a/x until=2027-01-14 -- why\n", []string{"1:1 X", `1:39 "2027-01-14": suppression expired on 2027-01-14, so it suppresses nothing: remove it, or give it a new date`}},
		{"no date", "a.yaml", "X # monitoringlinter:ignore a/x until=soon -- why\n", []string{"1:1 X", `1:39 "soon": suppression ends on "soon", which is no date: write until=YYYY-MM-DD`}},
		{"no reason", "a.yaml", "X # monitoringlinter:ignore a/x\n", []string{"1:1 X", `1:5 "monitoringlinter:ignore": suppression gives no reason, so it suppresses nothing: write why after --`}},
		{"an empty reason", "a.yaml", "X # monitoringlinter:ignore a/x --  \n", []string{"1:1 X", `1:5 "monitoringlinter:ignore": suppression gives no reason, so it suppresses nothing: write why after --`}},
		{"no check", "a.yaml", "X # monitoringlinter:ignore -- why\n", []string{"1:1 X", `1:5 "monitoringlinter:ignore": suppression names no check: write monitoringlinter:ignore CHECK -- REASON`}},
		{"a check nearly named, and no reason", "a.yaml", "X # monitoringlinter:ignore a/xx it is fine\n",
			[]string{"1:1 X", `1:5 "monitoringlinter:ignore": suppression gives no reason, so it suppresses nothing: write why after --`,
				`1:29 "a/xx": suppression names "a/xx", and there is no such check; did you mean "a/x"?`}},
		{"until and nothing", "a.yaml", "X # monitoringlinter:ignore a/x until= -- why\n", []string{"1:1 X", `1:33 "until=": suppression ends on "", which is no date: write until=YYYY-MM-DD`}},
		{"a date for a reason", "a.yaml", "X # monitoringlinter:ignore a/x -- until=2027-03-01\n", []string{"1:1 X", `1:5 "monitoringlinter:ignore": suppression gives no reason, so it suppresses nothing: write why after --`}},
		{"one of two dates is over", "a.yaml", "X # monitoringlinter:ignore a/x until=2027-03-01 -- why until=2027-01-14\n",
			[]string{"1:1 X", `1:63 "2027-01-14": suppression expired on 2027-01-14, so it suppresses nothing: remove it, or give it a new date`}},
		{"an unknown check", "a.yaml", "X # monitoringlinter:ignore a/xx -- why\n", []string{"1:1 X", `1:29 "a/xx": suppression names "a/xx", and there is no such check; did you mean "a/x"?`}},
		{"a glob that matches none", "a.yaml", "X # monitoringlinter:ignore z/* -- why\n", []string{"1:1 X", `1:29 "z/*": suppression names "z/*", and there is no such check`}},
		{"an unknown directive", "a.yaml", "X # monitoringlinter:ingore a/x -- why\n", []string{"1:1 X", `1:5 "monitoringlinter:ingore": unknown directive "ingore": write monitoringlinter:ignore CHECK -- REASON, or monitoringlinter:ignore-file`}},
		{"a space in the directive", "a.yaml", "X # monitoringlinter: ignore a/x -- why\n", []string{"1:1 X", `1:5 "monitoringlinter:": unknown directive "": write monitoringlinter:ignore CHECK -- REASON, or monitoringlinter:ignore-file`}},
		{"prose about the linter", "a.yaml", "X # monitoringlinter: it reports what follows\n", []string{"1:1 X"}},
		{"a name that would forge output", "a.yaml", "X # monitoringlinter:ignore a/\x1b[31m -- why\n", []string{"1:1 X", "1:29 \"a/\\x1b[31m\": suppression names \"a/\\x1b[31m\", and there is no such check"}},
		{"a name without end", "a.yaml", "X # monitoringlinter:ignore-" + strings.Repeat("e", 100) + "\n",
			[]string{"1:1 X", `1:5 "monitoringlinter:ignore-` + strings.Repeat("e", 100) + `": unknown directive "ignore-` + strings.Repeat("e", 53) + `"…: write monitoringlinter:ignore CHECK -- REASON, or monitoringlinter:ignore-file`}},
		{"one of two has nothing to suppress", "a.yaml", "X # monitoringlinter:ignore a/x, a/y -- why\n", []string{"1:1 X hidden: comment: why", `1:34 "a/y": suppression of "a/y" suppresses nothing: remove it`}},
		{"a broken file is not checked in full", "a.yaml", "Z # monitoringlinter:ignore a/x -- why\n", []string{"1:1 Z"}},
		{"a fault that another comment suppresses", "a.yaml", "# monitoringlinter:ignore syntax/suppression -- until the next release\nX # monitoringlinter:ignore a/new -- why\n",
			[]string{"2:1 X", `2:29 "a/new": suppression names "a/new", and there is no such check hidden: comment: until the next release`}},
		{"no comment suppresses what is wrong with itself", "a.yaml", "X # monitoringlinter:ignore syntax/suppression, a/new -- why\n",
			[]string{"1:1 X", `1:29 "syntax/suppression": suppression of "syntax/suppression" suppresses nothing: remove it`, `1:49 "a/new": suppression names "a/new", and there is no such check`}},
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
	found[1].Severity = lint.Info // the first Y
	given := slices.Clone(found)
	got := Apply(p, found, lint.Defaults(testChecks()), testChecks(), time.Now())
	if diff := cmp.Diff(findLetters(d), got, cmp.Comparer(func(a, b *source.File) bool { return a == b })); diff != "" {
		t.Errorf("of two findings that are reported twice are left (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(given, found, cmp.Comparer(func(a, b *source.File) bool { return a == b })); diff != "" {
		t.Errorf("the findings given were changed (-want +got):\n%s", diff)
	}
}

// An owned is a node that has an origin.
type owned struct {
	block
	origin *lint.Origin
}

func (o owned) Object() lint.Object  { return lint.Object{} }
func (o owned) Origin() *lint.Origin { return o.origin }

type ownedDocument struct {
	*document
	nodes []any
}

func (d ownedDocument) Nodes() iter.Seq[any] { return slices.Values(d.nodes) }

// settingsByGroup turn a/x off in the group that is not ours.
type settingsByGroup struct{ on, off *lint.Profile }

func (s settingsByGroup) Profile(_ string, origin *lint.Origin) *lint.Profile {
	if origin != nil && origin.Group == "theirs" {
		return s.off
	}
	return s.on
}

// TestUnusedWhereTheCheckIsOff has suppressions without effect on objects that
// the configuration tells apart: one that hides nothing because its check is
// off there is no mistake.
func TestUnusedWhereTheCheckIsOff(t *testing.T) {
	lines := parseLines("a.yaml", `
# monitoringlinter:ignore a/x -- why
ours:
  A # monitoringlinter:ignore a/x -- why
# monitoringlinter:ignore a/x -- why
theirs:
  A # monitoringlinter:ignore a/x -- why
# monitoringlinter:ignore a/x -- why
`)
	d := ownedDocument{document: lines}
	for _, b := range lines.blocks {
		name, _, _ := strings.Cut(b.span.Text(), ":")
		d.nodes = append(d.nodes, owned{b, &lint.Origin{Group: name}})
	}
	all := lint.Defaults(testChecks()).Profile("", nil)
	settings := settingsByGroup{on: all, off: &lint.Profile{Active: all.Active[1:]}} // all but a/x
	var got []int
	for _, f := range Apply(&lint.Project{Documents: []lint.Document{d}}, nil, settings, testChecks(), time.Now()) {
		got = append(got, f.Span.File.Position(f.Span.Start).Line)
	}
	if diff := cmp.Diff([]int{2, 4}, got); diff != "" {
		t.Errorf("lines of suppressions that are reported (-want +got):\n%s", diff)
	}
}

// TestSuppressionIsOff turns off the check of suppressions: they still work.
func TestSuppressionIsOff(t *testing.T) {
	d := parseLines("a.yaml", "X # monitoringlinter:ignore a/x, a/none -- why\nX # monitoringlinter:ignore\n")
	checks := slices.DeleteFunc(testChecks(), func(c *lint.Check) bool { return c.ID == checkID })
	got := Apply(&lint.Project{Documents: []lint.Document{d}}, findLetters(d), lint.Defaults(checks), testChecks(), time.Now())
	if len(got) != 2 || got[0].Hidden != "comment: why" || got[1].Hidden != "" {
		t.Errorf("findings %v, want the first hidden, the second not, and no more", got)
	}
}

// TestProblemsAreNoNodes has a problem that starts on the line below a comment
// and is as wide as the file.
func TestProblemsAreNoNodes(t *testing.T) {
	lines := parseLines("a.yaml", "# monitoringlinter:ignore a/x -- why\nX\nX\n")
	start := strings.Index(lines.file.Data, "X")
	d := ownedDocument{document: lines, nodes: []any{&lint.Problem{Finding: lint.Finding{Span: lines.file.Span(start, len(lines.file.Data))}}}}
	got := Apply(&lint.Project{Documents: []lint.Document{d}}, findLetters(lines), lint.Defaults(testChecks()), testChecks(), time.Now())
	if len(got) != 2 || got[0].Hidden == "" || got[1].Hidden != "" {
		t.Errorf("findings %v, want only the first hidden", got)
	}
}

// TestManySuppressions has as many comments as findings, all of which cover all:
// looking at each pair would not end. Beyond maxNames no comment counts.
func TestManySuppressions(t *testing.T) {
	const n = 10_000
	var b strings.Builder
	for range n {
		b.WriteString("# monitoringlinter:ignore * -- why\n")
	}
	b.WriteString("outer:\n")
	for range n {
		b.WriteString("  X\n")
	}
	d := parseLines("a.yaml", b.String())
	got := Apply(&lint.Project{Documents: []lint.Document{d}}, findLetters(d), lint.Defaults(testChecks()), testChecks(), time.Now())
	if len(got) != n || slices.ContainsFunc(got, func(f lint.Finding) bool { return f.Hidden == "" }) {
		t.Errorf("%d findings, want %d that are hidden", len(got), n)
	}

	d = parseLines("b.yaml", strings.Repeat("# monitoringlinter:ignore "+strings.Repeat("a/y ", 100)+"-- why\n", maxNames/100)+
		"X # monitoringlinter:ignore a/x -- one too many\nX # monitoringlinter:ignore a/x -- not looked at\n")
	var visible []string
	for _, f := range Apply(&lint.Project{Documents: []lint.Document{d}}, findLetters(d), lint.Defaults(testChecks()), testChecks(), time.Now()) {
		if f.Hidden == "" && !strings.Contains(f.Message, "suppresses nothing") {
			visible = append(visible, f.Message)
		}
	}
	want := []string{"X", "suppressions of this file name more than 50000 checks: this one and those below it do not count", "X"}
	if diff := cmp.Diff(want, visible); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func FuzzSuppressions(f *testing.F) {
	f.Add("X # monitoringlinter:ignore a/x until=2027-01-15 -- why\n")
	f.Add("# monitoringlinter:ignore-file a/* -- why until=\nouter:\n  X\n")
	f.Add("<!-- monitoringlinter:ignore a/x -- why -->\n```\nX\n")
	f.Add("- expr: | # monitoringlinter:ignore a/y syntax/suppression -- why\n    Y\n  # monitoringlinter:ignore * -- why\n---\nXY\n")
	f.Add("\ufeff<!-- monitoringlinter:ignore *\n> - ```\n// monitoringlinter: ignore-file a/z -- until=2000-01-01")
	f.Add("# monitoringlinter:\n# monitoringlinter:ignore ,, --\r\n\r\nX")
	f.Fuzz(func(t *testing.T, s string) {
		for _, path := range []string{"a.yaml", "a.md", "a.go"} {
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
				} else if strings.ContainsFunc(found.Message+found.Hidden, unicode.IsControl) {
					t.Fatalf("control character in %q", found.Message)
				}
			}
			if kept != len(letters) {
				t.Fatalf("%d of %d findings are left", kept, len(letters))
			}
		}
	})
}
