// SPDX-License-Identifier: Apache-2.0

package runbook

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()

func parse(f *source.File) *content {
	p := &parser{file: f, data: []byte(withoutFrontMatter(f.Data)), content: &content{}, anchors: map[string]int{}}
	root := markdown.Parse(text.NewReader(p.data))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		p.top(n)
	}
	p.makeSections()
	p.makeAnchors(f.Data)
	return p.content
}

// withoutFrontMatter blanks the front matter, so that the rest keeps its place.
func withoutFrontMatter(s string) string {
	body := strings.TrimPrefix(s, "\ufeff")
	first := firstLine(body)
	marker := strings.TrimRight(first, " \t")
	if marker != "---" && marker != "+++" {
		return s
	}
	at := len(s) - len(body)
	for i := at; i < len(s); {
		line := firstLine(s[i:])
		end := i + len(line)
		if i > at && strings.TrimRight(line, " \t") == marker {
			head := []byte(s[:end])
			for j, c := range head {
				if c != '\n' && c != '\r' {
					head[j] = ' '
				}
			}
			return string(head) + s[end:]
		}
		for end < len(s) && (s[end] == '\r' || s[end] == '\n') {
			end++
			if s[end-1] == '\n' {
				break
			}
		}
		i = end
	}
	return s // never closed: renderers show it
}

type parser struct {
	*content
	file    *source.File
	data    []byte
	anchors map[string]int
}

// top reads a block of the page that stands in no other.
func (p *parser) top(n ast.Node) {
	b := block{holder: len(p.headings) - 1}
	switch n := n.(type) {
	case *ast.Heading:
		p.walk(n, &b, false)
		return
	case *ast.HTMLBlock:
		if !p.html(n) {
			b.kind = markup
			p.blocks = append(p.blocks, b)
		}
		return
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		b.kind = fence
	case *east.Table:
		b.kind = table
	case *ast.ThematicBreak, *ast.LinkReferenceDefinition:
		return
	}
	p.walk(n, &b, true)
	if b.kind == prose && strings.TrimSpace(b.text) == "" && !b.link && !b.code {
		return
	}
	p.blocks = append(p.blocks, b)
}

// html reports whether a block of HTML is no more than comments, which it notes.
func (p *parser) html(n *ast.HTMLBlock) bool {
	start, end := -1, 0
	for i := range n.Lines().Len() {
		l := n.Lines().At(i)
		if start < 0 {
			start = l.Start
		}
		end = l.Stop
	}
	if n.HasClosure() {
		if start < 0 {
			start = n.ClosureLine.Start
		}
		end = max(end, n.ClosureLine.Stop)
	}
	if start < 0 {
		return true
	}
	rest := strings.TrimSpace(string(p.data[start:end]))
	if strings.HasPrefix(rest, "<!--") {
		p.comments = append(p.comments, p.file.Span(start, end))
	}
	for strings.HasPrefix(rest, "<!--") {
		i := strings.Index(rest, "-->")
		if i < 0 {
			return true
		}
		rest = strings.TrimSpace(rest[i+len("-->"):])
	}
	return rest == ""
}

// walk reads what a block holds.
func (p *parser) walk(n ast.Node, b *block, nested bool) {
	var words strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				words.WriteByte('\n')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.heading(n, nested)
		case *ast.FencedCodeBlock:
			p.fence(n)
			b.code = true
		case *ast.CodeBlock, *ast.CodeSpan:
			b.code = true
		case *ast.HTMLBlock:
			if !p.html(n) {
				b.code = true
			}
		case *ast.RawHTML:
			if n.Segments.Len() > 0 && !strings.HasPrefix(string(n.Segments.Value(p.data)), "<!--") {
				b.code = true
			}
		case *ast.Text:
			words.Write(n.Segment.Value(p.data))
			if n.SoftLineBreak() || n.HardLineBreak() {
				words.WriteByte(' ')
			}
		case *ast.Link:
			b.link = true
			p.link(n, string(n.Destination))
		case *ast.Image:
			b.link = true
			p.link(n, string(n.Destination))
		case *ast.AutoLink:
			b.link = true
			p.link(n, string(n.URL(p.data)))
		}
		return ast.WalkContinue, nil
	})
	b.text = words.String()
}

func (p *parser) heading(n *ast.Heading, nested bool) {
	h := Heading{Level: n.Level, Nested: nested, Text: strings.TrimSpace(p.plain(n))}
	lines := n.Lines()
	start, end := n.Pos(), n.Pos()
	if lines.Len() > 0 {
		start, end = lines.At(0).Start, lines.At(lines.Len()-1).Stop
	}
	start = max(start, 0)
	end = max(start+len(strings.TrimRight(string(p.data[start:max(end, start)]), " \t\r\n")), start)
	if end == start && end < len(p.data) {
		end++
	}
	h.Span = p.file.Span(start, end)
	h.Anchor = p.anchor(h.Text)
	p.headings = append(p.headings, h)
}

// plain returns the text of a node without its markup.
func (p *parser) plain(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(p.data))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// anchor returns the id that GitHub gives a heading: the text in lower case,
// without punctuation, with a hyphen for each blank, and a number if it is
// taken.
func (p *parser) anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			b.WriteRune(r)
		}
	}
	id := b.String()
	n := p.anchors[id]
	p.anchors[id]++
	if n == 0 {
		return id
	}
	numbered := id + "-" + strconv.Itoa(n)
	p.anchors[numbered]++
	return numbered
}

func (p *parser) link(n ast.Node, destination string) {
	start := n.Pos()
	if start < 0 || start >= len(p.data) {
		for m := n.Parent(); m != nil && (start < 0 || start >= len(p.data)); m = m.Parent() {
			start = m.Pos()
		}
		start = min(max(start, 0), len(p.data))
	}
	// The destination is what is at fault; where it can't be found it is defined
	// elsewhere or written with escapes, and the link stands for it.
	var end int
	window := string(p.data[start:min(len(p.data), start+4096)])
	if i := strings.Index(window, "\n\n"); i >= 0 {
		window = window[:i]
	}
	if i := strings.Index(window, "("+destination); i >= 0 && destination != "" {
		start += i + 1
		end = start + len(destination)
	} else if i := strings.Index(window, destination); i >= 0 && destination != "" {
		start += i
		end = start + len(destination)
	} else {
		end = start + max(1, len(firstLine(window)))
	}
	written := util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations([]byte(destination))))
	p.links = append(p.links, Link{string(written), p.file.Span(start, min(end, len(p.data)))})
}

func (p *parser) fence(n *ast.FencedCodeBlock) {
	f := Fence{Language: strings.ToLower(string(n.Language(p.data)))}
	// Highlighters take options after the language: ```yaml{1,3}, ```{.yaml}.
	f.Language = strings.Trim(f.Language, "{}.")
	f.Language, _, _ = strings.Cut(f.Language, "{")
	f.Language, _, _ = strings.Cut(f.Language, ",")
	lines := n.Lines()
	open := n.Pos()
	if n.Info != nil {
		open = n.Info.Segment.Start
	} else if lines.Len() > 0 && open < 0 {
		open = max(lines.At(0).Start-1, 0)
	}
	open = min(max(open, 0), max(len(p.data)-1, 0))
	lineStart := strings.LastIndexByte(p.file.Data[:open], '\n') + 1
	line := firstLine(p.file.Data[lineStart:])
	marker := strings.IndexAny(line, "`~")
	if marker < 0 {
		marker = 0
	}
	f.Open = p.file.Span(lineStart+marker, lineStart+max(len(strings.TrimRight(line, " \t")), marker+1))
	end := lineStart + len(line)
	if lines.Len() > 0 {
		end = lines.At(lines.Len() - 1).Stop
	}
	t := p.file.Text()
	b := source.NewBuilder(t)
	for i := range lines.Len() {
		l := lines.At(i)
		b.Copy(l.Start, l.Stop)
	}
	f.Body = b.Text()
	f.Closed = !strings.HasPrefix(line[marker:], "```") && !strings.HasPrefix(line[marker:], "~~~") ||
		strings.TrimSpace(p.file.Data[end:]) != ""
	p.fences = append(p.fences, f)
}
