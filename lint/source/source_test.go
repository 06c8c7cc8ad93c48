// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"
)

func TestPosition(t *testing.T) {
	f := NewFileString("f", "ab\n\né\r\nc")
	for offset, want := range map[int]Position{0: {1, 1}, 2: {1, 3}, 3: {2, 1}, 4: {3, 1}, 6: {3, 3}, 8: {4, 1}, 9: {4, 2}, 99: {4, 2}, -1: {1, 1}} {
		if got := f.Position(offset); got != want {
			t.Errorf("Position(%d) = %v, want %v", offset, got, want)
		}
	}
	for line, want := range map[int]string{1: "ab", 2: "", 3: "é", 4: "c", 5: "", 0: ""} {
		if got := f.Line(line).Text(); got != want {
			t.Errorf("Line(%d) = %q, want %q", line, got, want)
		}
	}
	if got := f.Lines(); got != 4 {
		t.Errorf("Lines() = %d, want 4", got)
	}
	if got := NewFileString("f", "a\nb\n").Lines(); got != 2 {
		t.Errorf("Lines() = %d, want 2: a line break at the end starts no line", got)
	}
}

// TestBuilder decodes a text twice: escapes first, then every second line.
func TestBuilder(t *testing.T) {
	f := NewFileString("f", `one\ntwo\nthree`)
	outer := NewBuilder(f.Text())
	for i, part := range strings.Split(f.Data, `\n`) {
		at := strings.Index(f.Data, part)
		if i > 0 {
			outer.Replace(at-2, at, "\n")
		}
		outer.Copy(at, at+len(part))
	}
	text := outer.Text()
	if text.Value != "one\ntwo\nthree" {
		t.Fatalf("Value = %q", text.Value)
	}
	inner := NewBuilder(text)
	inner.Copy(4, 7)
	inner.Replace(7, 8, " ")
	inner.Copy(8, 13)
	nested := inner.Text()

	for _, tt := range []struct {
		name       string
		text       Text
		start, end int
		want       string // what was written there
		exact      bool
	}{
		{"a word", text, 4, 7, "two", true},
		{"over an escape", text, 2, 5, `e\nt`, false},
		{"the escape", text, 3, 4, `\n`, false},
		{"all", text, 0, 13, f.Data, false},
		{"nothing", text, 4, 4, "", true},
		{"nested word", nested, 4, 9, "three", true},
		{"nested over the break", nested, 2, 5, `o\nt`, false},
		{"slice", nested.Slice(4, 9), 1, 3, "hr", true},
		{"beyond the end", text, 8, 99, "three", true},
	} {
		if got := tt.text.Span(tt.start, tt.end).Text(); got != tt.want {
			t.Errorf("%s: Span(%d, %d) = %q, want %q", tt.name, tt.start, tt.end, got, tt.want)
		}
		if tt.end > len(tt.text.Value) {
			continue
		}
		if _, exact := tt.text.Exact(tt.start, tt.end); exact != tt.exact {
			t.Errorf("%s: Exact = %v, want %v", tt.name, exact, tt.exact)
		}
	}
}

func TestReplaceOfEqualLength(t *testing.T) {
	f := NewFileString("f", "abcd")
	b := NewBuilder(f.Text())
	b.Replace(0, 4, "wxyz")
	if got := b.Text().Span(1, 2).Text(); got != "abcd" {
		t.Errorf("a part of a replacement is at %q, want the whole of it", got)
	}
}

func TestEmptyText(t *testing.T) {
	f := NewFileString("f", `a: ""`)
	b := NewBuilder(f.Text())
	b.Mark(3, 5)
	if got := b.Text().All().Text(); got != `""` {
		t.Errorf("All() of an empty scalar = %q, want its quotes", got)
	}
	if got := f.Text().Slice(3, 3).All(); got.Start != 3 || got.End != 3 {
		t.Errorf("All() of an empty slice = [%d,%d), want [3,3)", got.Start, got.End)
	}
	if !(Text{}).IsZero() || !(Span{}).IsZero() || (Span{}).Text() != "" || (Span{}).String() != "-" {
		t.Errorf("the zero Text and Span are not empty")
	}
}

func TestSpans(t *testing.T) {
	f, g := NewFileString("f", "abcdef"), NewFileString("g", "x")
	if got := f.Span(1, 2).Union(f.Span(4, 5)).Text(); got != "bcde" {
		t.Errorf("Union = %q, want bcde", got)
	}
	if got := f.Span(1, 2).Union(g.Span(0, 1)).Text(); got != "b" {
		t.Errorf("Union over files = %q, want b", got)
	}
	if got := (Span{}).Union(f.Span(1, 2)).Text(); got != "b" {
		t.Errorf("Union with the zero span = %q, want b", got)
	}
	if !f.Span(1, 4).Contains(f.Span(2, 4)) || f.Span(1, 4).Contains(f.Span(2, 5)) || f.Span(0, 1).Contains(g.Span(0, 1)) {
		t.Errorf("Contains is wrong")
	}
	if got, want := f.Span(2, 3).String(), "f:1:3"; got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
}
