// SPDX-License-Identifier: Apache-2.0

package runbook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// outline writes what a page holds, one thing to a line, with its place.
func outline(p *Page) []string {
	var out []string
	for _, h := range p.Headings() {
		nested := ""
		if h.Nested {
			nested = " nested"
		}
		at := h.Span.File.Position(h.Span.Start)
		out = append(out, fmt.Sprintf("%d:%d h%d%s %q #%s", at.Line, at.Col, h.Level, nested, h.Span.Text(), h.Anchor))
	}
	for _, l := range p.Links() {
		at := l.Span.File.Position(l.Span.Start)
		out = append(out, fmt.Sprintf("%d:%d link %s %q", at.Line, at.Col, l.Destination, l.Span.Text()))
	}
	for _, f := range p.Fences() {
		at := f.Open.File.Position(f.Open.Start)
		out = append(out, fmt.Sprintf("%d:%d fence %q %q closed=%t", at.Line, at.Col, f.Open.Text(), f.Body.Value, f.Closed))
	}
	for _, s := range p.Sections() {
		if s.Empty() {
			out = append(out, "empty "+s.Heading.Text)
		}
	}
	return out
}

func TestPage(t *testing.T) {
	for _, c := range []struct {
		name, page string
		want       []string
	}{
		{"headings", "# `Up` *now*!\n\nMeaning\n-------\n\nText.\n\n## Meaning ##\n\n> ## Quoted\n", []string{
			"1:3 h1 \"`Up` *now*!\" #up-now", "3:1 h2 \"Meaning\" #meaning", "8:4 h2 \"Meaning\" #meaning-1", "10:6 h2 nested \"Quoted\" #quoted"}},
		{"front matter", "---\ntitle: A\n# no heading\n---\n# B\n\ntext\n", []string{`5:3 h1 "B" #b`}},
		{"TOML front matter", "+++\ntitle = 'A'\n+++\r\n# B\r\n\r\ntext\r\n", []string{`4:3 h1 "B" #b`}},
		{"front matter never closed", "---\n# B\n\ntext\n", []string{`2:3 h1 "B" #b`}},
		{"comments hide", "# A\n\n<!--DS: x.>\n\n## B\n\n<!--USstart-->\n\ntext\n", []string{`1:3 h1 "A" #a`}},
		{"only comments", "# A\n\ntext\n\n## B\n\n<!-- one --> <!-- two -->\n", []string{`1:3 h1 "A" #a`, `5:4 h2 "B" #b`, "empty B"}},
		{"fences", "# A\n\n1. One\n\n   ```bash\n   ## no\n   ls\n   ```\n\n```\n``\n", []string{
			`1:3 h1 "A" #a`, "5:4 fence \"```bash\" \"## no\\nls\\n\" closed=true", "10:1 fence \"```\" \"``\\n\" closed=false"}},
		{"empty fence", "```promql\n```\n\nText\n", []string{"1:1 fence \"```promql\" \"\" closed=true"}},
		{"links", "[a](b.md#c \"t\") ![i](<x y.png>) <https://a.example> https://b.example/x\n[r]\n\n[r]: ../r.md\n", []string{
			`1:5 link b.md#c "b.md#c"`, `1:23 link x y.png "x y.png"`, `1:34 link https://a.example "https://a.example"`,
			`1:53 link https://b.example/x "https://b.example/x"`, `2:1 link ../r.md "[r]"`}},
		{"code is no link", "`[a](b)`\n\n```\n[a](b)\n```\n", []string{"3:1 fence \"```\" \"[a](b)\\n\" closed=true"}},
		{"other alphabets", "# 含義 (x)\n\ntext\n", []string{`1:3 h1 "含義 (x)" #含義-x`}},
		{"nothing", "", nil},
		{"empty heading", "#\n\ntext\n", []string{"1:1 h1 \"#\" #"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := outline(Parse(source.NewFileString("runbooks/A.md", c.page), true))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	for _, c := range []struct {
		path, data, want string
	}{
		{"runbooks/A.md", "# A\n\xff\n", "runbooks/A.md:2:1: runbook A: byte 0xff is not valid UTF-8: save the page as UTF-8"},
		{"runbooks/A.md", strings.Repeat("x", 20<<20), "runbooks/A.md:1:1: runbook A: page has 20480 KiB, and pages above 256 KiB are not read: split it"},
		{"runbooks/A.md", "# A\n\n" + strings.Repeat("> ", 100), "runbooks/A.md:3:1: runbook A: quotations are nested more than 64 deep, and such a page is not read"},
		{"docs/A.md", "\xff", ""},
	} {
		p := Parse(source.NewFileString(c.path, c.data), false)
		got := ""
		for _, problem := range p.problems {
			got += fmt.Sprintf("%s: %s", problem.Span(), problem.Message)
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
		p.Sections()
	}
}

func FuzzPage(f *testing.F) {
	f.Add("# A\n\n```a\n> [x](y)\n<!-- ")
	f.Add(strings.Repeat("# a\n", 100))
	f.Add("+++\n+++\n- 1.\n  ```\n")
	f.Fuzz(func(t *testing.T, page string) {
		p := Parse(source.NewFileString("runbooks/A.md", page), true)
		for _, h := range p.Headings() {
			_ = h.Span.Text()
		}
		for _, l := range p.Links() {
			_ = l.Span.Text()
		}
		for _, f := range p.Fences() {
			_ = f.Open.Text()
		}
		p.Sections()
	})
}
