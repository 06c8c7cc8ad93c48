// SPDX-License-Identifier: Apache-2.0

// Package source relates text to the place in a file where it was written.
//
// A [File] is the bytes of one file. A [Text] is a string that some parser
// decoded out of a file (a YAML scalar, a Go string literal, a fenced code
// block) and that still knows, for each of its bytes, which bytes of the file
// it came from. Decoding composes: a Text may be decoded from another Text, so
// a PromQL expression in a rule file in a ConfigMap keeps its exact columns.
package source

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// A File is the content of one file.
type File struct {
	Path  string // as the user would write it, with forward slashes
	Data  string
	lines []int // offset of the first byte of each line
}

// NewFile returns a File holding data.
func NewFile(path string, data []byte) *File {
	return NewFileString(path, string(data))
}

// NewFileString returns a File holding data.
func NewFileString(path, data string) *File {
	return &File{Path: path, Data: data, lines: lineStarts(data)}
}

func lineStarts(s string) []int {
	lines := make([]int, 1, strings.Count(s, "\n")+1)
	for i := 0; ; {
		n := strings.IndexByte(s[i:], '\n')
		if n < 0 {
			return lines
		}
		i += n + 1
		lines = append(lines, i)
	}
}

// Text returns the whole file as a Text.
func (f *File) Text() Text { return Text{Value: f.Data, File: f} }

// Lines returns the number of lines; a line break at the end starts no new one.
func (f *File) Lines() int {
	n := len(f.lines)
	if n > 1 && f.lines[n-1] == len(f.Data) {
		n--
	}
	return n
}

// A Position is a place in a file. Line and Col count from 1; Col counts bytes.
type Position struct{ Line, Col int }

// Position returns the position of the byte at offset.
func (f *File) Position(offset int) Position {
	offset = min(max(offset, 0), len(f.Data))
	i := sort.SearchInts(f.lines, offset+1) - 1
	return Position{i + 1, offset - f.lines[i] + 1}
}

// Line returns the span of a line without its line break; lines count from 1.
func (f *File) Line(line int) Span {
	if line < 1 || line > len(f.lines) {
		return Span{f, len(f.Data), len(f.Data)}
	}
	end := len(f.Data)
	if line < len(f.lines) {
		end = f.lines[line] - 1
	}
	start := f.lines[line-1]
	if end > start && f.Data[end-1] == '\r' {
		end--
	}
	return Span{f, start, end}
}

// Span returns the span of the bytes [start, end).
func (f *File) Span(start, end int) Span { return Span{f, start, end} }

// A Span is the half-open range of bytes [Start, End) of a file.
type Span struct {
	File       *File
	Start, End int
}

// Text returns the bytes of the span.
func (s Span) Text() string {
	if s.File == nil {
		return ""
	}
	return s.File.Data[s.Start:s.End]
}

// IsZero reports whether the span is of no file.
func (s Span) IsZero() bool { return s.File == nil }

// Contains reports whether o lies within s.
func (s Span) Contains(o Span) bool {
	return s.File == o.File && s.Start <= o.Start && o.End <= s.End
}

// Union returns the span from the first byte of either to the last.
func (s Span) Union(o Span) Span {
	if s.File == nil {
		return o
	}
	if o.File != s.File {
		return s
	}
	return Span{s.File, min(s.Start, o.Start), max(s.End, o.End)}
}

// String returns path:line:column.
func (s Span) String() string {
	if s.File == nil {
		return "-"
	}
	p := s.File.Position(s.Start)
	return fmt.Sprintf("%s:%d:%d", s.File.Path, p.Line, p.Col)
}

// A seg says that the n bytes of a Text from at on were decoded from the m
// bytes of the file from off on. If n == m the bytes correspond one to one;
// otherwise (an escape, a folded line break) only as a whole.
type seg struct{ at, n, off, m int }

// A Text is a decoded string with a map from its bytes to those of a file.
type Text struct {
	Value string
	File  *File
	start int   // where Value[0] was written, if segs is nil
	segs  []seg // nil: the bytes of Value are those of the file from start on
}

// IsZero reports whether the text is of no file, as that of an absent field is.
func (t Text) IsZero() bool { return t.File == nil }

// Span returns the bytes of the file that Value[start:end] came from.
func (t Text) Span(start, end int) Span {
	start = min(max(start, 0), len(t.Value))
	end = min(max(end, start), len(t.Value))
	if t.segs == nil {
		return Span{t.File, t.start + start, t.start + end}
	}
	s := Span{File: t.File, Start: t.offset(start, false)}
	if s.End = s.Start; end > start {
		s.End = max(t.offset(end-1, true), s.Start)
	}
	return s
}

// All returns the bytes of the file that the whole text came from. The empty
// text of a quoted scalar has the span of its quotes.
func (t Text) All() Span {
	if t.Value == "" && len(t.segs) == 1 {
		return Span{t.File, t.segs[0].off, t.segs[0].off + t.segs[0].m}
	}
	return t.Span(0, len(t.Value))
}

// offset returns the file offset where byte i of the text begins, or ends if after is set.
func (t Text) offset(i int, after bool) int {
	k := max(sort.Search(len(t.segs), func(k int) bool { return t.segs[k].at > i })-1, 0)
	s := t.segs[k]
	d := i - s.at
	switch {
	case d >= s.n: // the end of the text
		return s.off + s.m
	case s.n == s.m && after:
		return s.off + d + 1
	case s.n == s.m:
		return s.off + d
	case after:
		return s.off + s.m
	default:
		return s.off
	}
}

// Slice returns the text of Value[start:end].
func (t Text) Slice(start, end int) Text {
	if t.segs == nil {
		return Text{Value: t.Value[start:end], File: t.File, start: t.start + start}
	}
	b := NewBuilder(t)
	b.Copy(start, end)
	return b.Text()
}

// Exact returns the span of Value[start:end], and whether the bytes there read
// the same, so that an edit of the value is an edit of those bytes.
func (t Text) Exact(start, end int) (Span, bool) {
	s := t.Span(start, end)
	return s, s.File != nil && s.Text() == t.Value[start:end]
}

// A Builder decodes one Text into another.
type Builder struct {
	from  Text
	value strings.Builder
	segs  []seg
}

// NewBuilder returns a Builder that decodes from.
func NewBuilder(from Text) *Builder { return &Builder{from: from} }

// Len returns the number of bytes decoded so far.
func (b *Builder) Len() int { return b.value.Len() }

// Grow makes room for n more bytes.
func (b *Builder) Grow(n int) { b.value.Grow(n) }

// Copy appends Value[start:end] of the source as it stands.
func (b *Builder) Copy(start, end int) {
	if start >= end {
		return
	}
	if b.from.segs == nil {
		b.add(end-start, b.from.start+start, end-start)
		b.value.WriteString(b.from.Value[start:end])
		return
	}
	// Split the range at the segments of the source, so that maps compose.
	segs := b.from.segs
	first := max(sort.Search(len(segs), func(k int) bool { return segs[k].at > start })-1, 0)
	for k := first; k < len(segs); k++ {
		s := segs[k]
		if s.at >= end {
			break
		}
		lo, hi := max(start, s.at), min(end, s.at+s.n)
		if lo >= hi {
			continue
		}
		if s.n == s.m {
			b.add(hi-lo, s.off+lo-s.at, hi-lo)
		} else {
			b.add(hi-lo, s.off, s.m)
		}
		b.value.WriteString(b.from.Value[lo:hi])
	}
}

// Replace appends value, which Value[start:end] of the source stands for.
func (b *Builder) Replace(start, end int, value string) {
	s := b.from.Span(start, end)
	if value == "" {
		return
	}
	if len(value) > 1 && len(value) == s.End-s.Start {
		// A replacement of equal length corresponds only as a whole all the
		// same: keep it from looking like a copy.
		b.add(1, s.Start, s.End-s.Start)
		b.value.WriteByte(value[0])
		value = value[1:]
		b.segs = append(b.segs, seg{b.value.Len(), len(value), s.Start, s.End - s.Start})
		b.value.WriteString(value)
		return
	}
	b.add(len(value), s.Start, s.End-s.Start)
	b.value.WriteString(value)
}

// Mark gives a text that stays empty the place where it was written.
func (b *Builder) Mark(start, end int) {
	if b.value.Len() == 0 && len(b.segs) == 0 {
		s := b.from.Span(start, end)
		b.segs = append(b.segs, seg{0, 0, s.Start, s.End - s.Start})
	}
}

func (b *Builder) add(n, off, m int) {
	if k := len(b.segs) - 1; k >= 0 && n == m {
		if p := &b.segs[k]; p.n == p.m && p.off+p.m == off {
			p.n += n
			p.m += m
			return
		}
	}
	b.segs = append(b.segs, seg{b.value.Len(), n, off, m})
}

// Text returns the decoded text.
func (b *Builder) Text() Text {
	t := Text{Value: b.value.String(), File: b.from.File}
	switch {
	case len(b.segs) == 1 && b.segs[0].n == b.segs[0].m:
		t.start = b.segs[0].off
	case len(b.segs) > 0:
		t.segs = b.segs
	default:
		t.start = b.from.start
	}
	return t
}

// RuneOffset returns the offset in s of the rune-counted column col, from 1, of the line that begins at start.
func RuneOffset(s string, start, col int) int {
	for ; col > 1 && start < len(s); col-- {
		if s[start] < utf8.RuneSelf {
			start++
			continue
		}
		_, n := utf8.DecodeRuneInString(s[start:])
		start += n
	}
	return start
}
