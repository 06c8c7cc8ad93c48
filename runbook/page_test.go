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
		{"escapes in links", "[a](a\\_b.md) [c](c&amp;d.md)\n", []string{`1:5 link a_b.md "a\\_b.md"`, `1:18 link c&d.md "c&amp;d.md"`}},
		{"images in HTML are content", "## A\n\n<img src=x><img src=y>\n\n## B\n\n<!-- c -->\n", []string{`1:4 h2 "A" #a`, `5:4 h2 "B" #b`, "empty B"}},
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

func TestFault(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"# A\n\xff\n", "runbooks/A.md:2:1: byte 0xff is not valid UTF-8: save the page as UTF-8"},
		{strings.Repeat("x", 20<<20), "runbooks/A.md:1:1: page has 20480 KiB, and pages above 256 KiB are not read: split it"},
		{"# A\n\n" + strings.Repeat("> ", 100), "runbooks/A.md:3:1: quotations are nested more than 64 deep, and such a page is not read: quote less deeply"},
		{"- 1. " + strings.Repeat(">", 100), "runbooks/A.md:1:1: quotations are nested more than 64 deep, and such a page is not read: quote less deeply"},
		{"# A\n\nDone [" + strings.Repeat(">", 100) + "]\n", ""},
		{"# A\n\ufffd\n", ""},
	} {
		p := Parse(source.NewFileString("runbooks/A.md", c.data), false)
		got := ""
		if f := p.Fault(); f != nil {
			got = fmt.Sprintf("%s: %s", f.Span, f.Message)
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
		p.Sections()
	}
}

func TestHasAnchor(t *testing.T) {
	p := Parse(source.NewFileString("A.md", "# A b\n\n<a name='own'></a>\n\n## C {#set}\n"), false)
	for fragment, want := range map[string]bool{
		"a-b": true, "user-content-a-b": true, "own": true, "set": true, "L10": true, "L10C2-L20": true,
		"A-b": false, "ow": false, "L": false, "Lx": false, "": false,
	} {
		if got := p.HasAnchor(fragment); got != want {
			t.Errorf("#%s: %t, want %t", fragment, got, want)
		}
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
