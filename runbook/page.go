// SPDX-License-Identifier: Apache-2.0

// Package runbook models runbooks: Markdown pages that say what to do about an
// alert.
//
// A page is read as GitHub renders it: GitHub Flavored Markdown, with the
// anchors that GitHub gives headings. Front matter (YAML or TOML between
// markers, as Hugo and Jekyll have it) is no part of the text. What an HTML
// comment or a code fence holds is neither a heading nor a link.
package runbook

import (
	"fmt"
	"iter"
	"path"
	"regexp"
	"sort"
	"strings"
	"sync"
	"unicode"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A Page is a Markdown file.
type Page struct {
	Named bool // the user asked for this very file

	file    *source.File
	content func() *content
}

// A content is what the text of a page parses to.
type content struct {
	fault    *Fault
	headings []Heading
	links    []Link
	fences   []Fence
	comments []source.Span
	blocks   []block // ordered by holder
	sections []Section
	anchors  map[string]bool
	alike    map[string]bool // the anchors as alike writes them
}

// A Fault is why a page is not read.
type Fault struct {
	Span    source.Span
	Message string
}

// A Heading is an ATX or setext heading.
type Heading struct {
	Level  int
	Text   string // without markup
	Anchor string // the fragment that leads to it, as GitHub makes it
	Nested bool   // within a list or a quotation
	Span   source.Span
}

// A Link is a link or an image.
type Link struct {
	Destination string
	Span        source.Span
}

// A Fence is a fenced block of code.
type Fence struct {
	Language string // the first word after the opening marker, in lower case
	Body     source.Text
	Closed   bool
	Open     source.Span // the opening marker and what follows it on the line
}

// Marker returns the marker that opens the fence, and that is to close it.
func (f Fence) Marker() string {
	open := f.Open.Text()
	return open[:len(open)-len(strings.TrimLeft(open, open[:1]))]
}

// A Section is a heading and what stands below it, up to the next heading of
// the same or of a higher level.
type Section struct {
	Heading
	blocks []block
}

// A block is a paragraph, a list, a fence or the like.
type block struct {
	kind   blockKind
	text   string
	code   bool // it has code, in a fence or in the text
	link   bool
	holder int // index of the heading it stands below, -1 before the first
}

type blockKind uint8

const (
	prose blockKind = iota
	fence
	table
	markup // HTML that is no comment
)

// What is beyond these is not read, since Markdown takes time that grows with the
// square of such things. The longest public runbooks have half of maxSize.
const (
	maxSize  = 256 << 10 // bytes
	maxQuote = 64        // quotations within each other
)

// Language reads Markdown files.
var Language = lint.Language{
	Name: "runbook",
	Parse: func(f *source.File, named bool) lint.Document {
		switch strings.ToLower(path.Ext(f.Path)) {
		case ".md", ".markdown":
			return Parse(f, named)
		}
		return nil
	},
}

// Parse reads a page. Named says that the user asked for this very file. Most
// Markdown files of a repository are no runbooks, so the text is parsed when
// something of it is first asked for.
func Parse(f *source.File, named bool) *Page {
	return &Page{file: f, Named: named, content: sync.OnceValue(func() *content {
		if fault := faultOf(f); fault != nil {
			return &content{fault: fault}
		}
		return parse(f)
	})}
}

// deepQuote matches the beginning of a line that opens more than maxQuote
// quotations, within lists or not.
var deepQuote = regexp.MustCompile(fmt.Sprintf(`(?m)^(?:[ \t*+\-0-9.)]*>){%d}`, maxQuote+1))

func faultOf(f *source.File) *Fault {
	if len(f.Data) > maxSize {
		return &Fault{f.Span(0, 1), fmt.Sprintf("page has %d KiB, and pages above %d KiB are not read: split it", len(f.Data)>>10, maxSize>>10)}
	}
	if at := source.InvalidUTF8(f.Data); at >= 0 {
		return &Fault{f.Span(at, at+1), fmt.Sprintf("byte 0x%02x is not valid UTF-8: save the page as UTF-8", f.Data[at])}
	}
	if m := deepQuote.FindStringIndex(f.Data); m != nil {
		return &Fault{f.Span(m[0], m[0]+1), fmt.Sprintf("quotations are nested more than %d deep, and such a page is not read: quote less deeply", maxQuote)}
	}
	return nil
}

// Source returns the file of the page.
func (p *Page) Source() *source.File { return p.file }

// Nodes yields the page.
func (p *Page) Nodes() iter.Seq[any] {
	return func(yield func(any) bool) { yield(p) }
}

// Fault returns why the page is not read, or nil.
func (p *Page) Fault() *Fault { return p.content().fault }

// Count counts the page if the user named it, and as a runbook if it is evidently
// one: by its folder, because it was named, or by two of the usual sections.
func (p *Page) Count(c *lint.Counts) {
	sections := 0
	for _, n := range FourSections {
		if strings.Contains(p.file.Data, "## "+n.Name) {
			sections++
		}
	}
	isRunbook := !p.IsIndex() && !p.IsHelper() && !p.inDeprecated() && (p.Named || p.InRunbooks() || sections >= 2)
	if isRunbook {
		c.Runbooks++
	}
	if isRunbook || p.Named {
		c.Files++
	}
}

// Span returns the title of the page, or its first line.
func (p *Page) Span() source.Span {
	if t, ok := p.Title(); ok {
		return t.Span
	}
	return p.Top()
}

// Top returns the first line of the page that is not empty.
func (p *Page) Top() source.Span {
	start := 0
	for start < len(p.file.Data) && strings.IndexByte(" \t\r\n", p.file.Data[start]) >= 0 {
		start++
	}
	if start == len(p.file.Data) {
		return p.file.Span(0, min(1, start))
	}
	return p.file.Span(start, start+len(firstLine(p.file.Data[start:])))
}

func firstLine(s string) string {
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		return s[:i]
	}
	return s
}

// Object returns the runbook by the name of its file.
func (p *Page) Object() lint.Object { return lint.Object{Kind: "runbook", Name: p.Name()} }

// Origin returns nil: a page comes from no Kubernetes object.
func (p *Page) Origin() *lint.Origin { return nil }

// Name returns the name of the file without its ending.
func (p *Page) Name() string {
	base := path.Base(p.file.Path)
	return strings.TrimSuffix(base, path.Ext(base))
}

// IsIndex reports whether the page by its name is the index of its folder, or
// a template for runbooks, and so no runbook.
func (p *Page) IsIndex() bool {
	switch name := strings.ToLower(p.Name()); name {
	case "readme", "index", "_index", "contributing", "changelog", "owners", "toc", "summary", "glossary":
		return true
	default:
		return strings.Contains(name, "template") || strings.HasPrefix(name, "_")
	}
}

// IsHelper reports whether the page lies in a folder of steps that runbooks share.
func (p *Page) IsHelper() bool {
	for dir := range strings.SplitSeq(strings.ToLower(path.Dir(p.file.Path)), "/") {
		switch dir {
		case "helper", "helpers", "includes", "_includes", "partials", "snippets":
			return true
		}
	}
	return false
}

// InRunbooks reports whether the page lies in or below a folder called runbooks.
func (p *Page) InRunbooks() bool {
	for dir := range strings.SplitSeq(path.Dir(p.file.Path), "/") {
		if strings.EqualFold(dir, "runbooks") {
			return !p.inDeprecated()
		}
	}
	return false
}

// Deprecated reports whether the page is kept for old links only: its title says
// so, or its folder does.
func (p *Page) Deprecated() bool {
	if p.inDeprecated() {
		return true
	}
	t, _ := p.Title()
	return strings.Contains(strings.ToLower(t.Text), "deprecated")
}

// Refers reports whether the page only says where the runbook is now: a title,
// and a sentence with a link.
func (p *Page) Refers() bool {
	const longest = 400 // bytes
	c := p.content()
	return len(c.headings) <= 1 && len(c.links) > 0 && len(c.blocks) <= 2 && len(p.file.Data) <= longest
}

func (p *Page) inDeprecated() bool {
	return strings.Contains(strings.ToLower(path.Dir(p.file.Path)), "deprecated")
}

// Headings returns the headings of the page.
func (p *Page) Headings() []Heading { return p.content().headings }

// Links returns the links and images of the page.
func (p *Page) Links() []Link { return p.content().links }

// Fences returns the fenced blocks of code of the page.
func (p *Page) Fences() []Fence { return p.content().fences }

// Comments returns the HTML comments of the page that are blocks of their own.
func (p *Page) Comments() []source.Span { return p.content().comments }

// Title returns the first heading of level 1, and whether there is one.
func (p *Page) Title() (Heading, bool) {
	for _, h := range p.Headings() {
		if h.Level == 1 && !h.Nested {
			return h, true
		}
	}
	return Heading{}, false
}

// Sections returns the sections that have a heading of their own outside lists
// and quotations, the title of the page included.
func (p *Page) Sections() []Section { return p.content().sections }

func (c *content) makeSections() {
	first := func(holder int) int {
		return sort.Search(len(c.blocks), func(i int) bool { return c.blocks[i].holder >= holder })
	}
	for i, h := range c.headings {
		if h.Nested {
			continue
		}
		end := i + 1
		for end < len(c.headings) && (c.headings[end].Nested || c.headings[end].Level > h.Level) {
			end++
		}
		c.sections = append(c.sections, Section{Heading: h, blocks: c.blocks[first(i):first(end)]})
	}
}

// Anchors returns the anchors of the headings.
func (p *Page) Anchors() []string {
	var anchors []string
	for _, h := range p.Headings() {
		anchors = append(anchors, h.Anchor)
	}
	return anchors
}

// githubLines matches the fragments by which GitHub leads to lines of the source.
var githubLines = regexp.MustCompile(`^L\d+(?:C\d+)?(?:-L\d+(?:C\d+)?)?$`)

// HasAnchor reports whether a fragment leads to a place of the page: a heading,
// an element of HTML that has it as its id or name, or a line of the source.
func (p *Page) HasAnchor(fragment string) bool {
	return p.content().anchors[strings.TrimPrefix(fragment, "user-content-")] || githubLines.MatchString(fragment)
}

// HasAnchorLike is HasAnchor but for case and punctuation, in which the anchors
// of site generators differ from those of GitHub.
func (p *Page) HasAnchorLike(fragment string) bool {
	return p.HasAnchor(fragment) || p.content().alike[alike(fragment)]
}

func alike(anchor string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_.:()", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, anchor)
}

// ownAnchor matches the anchors that authors set themselves, {#id} included.
var ownAnchor = regexp.MustCompile(`(?:\b(?:id|name)\s*=\s*["']?|\{#)([^\s"'>}]+)`)

func (c *content) makeAnchors(data string) {
	c.anchors, c.alike = map[string]bool{}, map[string]bool{}
	for _, h := range c.headings {
		c.anchors[h.Anchor] = true
		c.alike[alike(h.Anchor)] = true
	}
	for _, m := range ownAnchor.FindAllStringSubmatch(data, -1) {
		c.anchors[m[1]] = true
	}
}

// Pages are the Markdown files of a run by their path.
type Pages map[string]*Page

// PagesOf returns the Markdown files of the project.
func PagesOf(project *lint.Project) Pages {
	return lint.Derive(project, func(project *lint.Project) Pages {
		m := Pages{}
		for page := range lint.All[*Page](project) {
			m[path.Clean(page.file.Path)] = page
		}
		return m
	})
}

// Text returns the words of the section, without its heading and its code fences.
func (s Section) Text() string {
	var b strings.Builder
	for _, k := range s.blocks {
		if k.kind != fence {
			b.WriteString(k.text)
			b.WriteByte('\n')
		}
	}
	return strings.TrimSpace(b.String())
}

// Empty reports whether nothing stands below the heading but other headings
// and comments.
func (s Section) Empty() bool { return len(s.blocks) == 0 }

// HasCode reports whether the section has a fence, a table or code in its text.
func (s Section) HasCode() bool {
	for _, b := range s.blocks {
		if b.code || b.kind == fence || b.kind == table || b.kind == markup {
			return true
		}
	}
	return false
}

// HasLink reports whether the section has a link.
func (s Section) HasLink() bool {
	for _, b := range s.blocks {
		if b.link {
			return true
		}
	}
	return false
}
