// SPDX-License-Identifier: Apache-2.0

package fix

import (
	"slices"
	"strings"
	"testing"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

func TestApply(t *testing.T) {
	f := source.NewFileString("f", "0123456789")
	again, earlier := source.NewFileString("f", "0123456789"), source.NewFileString("f", "before")
	other := source.NewFileString("g", "0123456789")
	edit := func(start, end int, text string) lint.Edit { return lint.Edit{Span: f.Span(start, end), New: text} }
	one := func(edits ...lint.Edit) lint.Fix { return lint.Fix{Message: "mend", Edits: edits} }
	for _, tt := range []struct {
		name    string
		fixes   []lint.Fix
		want    string
		applied int
	}{
		{"nothing", nil, "0123456789", 0},
		{"replace", []lint.Fix{one(edit(2, 4, "ab"))}, "01ab456789", 1},
		{"insert and remove", []lint.Fix{one(edit(0, 0, "<"), edit(9, 10, ""))}, "<012345678", 1},
		{"an insert before and after a change", []lint.Fix{one(edit(2, 4, "ab")), one(edit(4, 4, ">")), one(edit(2, 2, "<"))}, "01<ab>456789", 3},
		{"an insert into a change waits", []lint.Fix{one(edit(2, 4, "ab")), one(edit(3, 3, "-"))}, "01ab456789", 1},
		{"given in any order", []lint.Fix{one(edit(8, 9, "b")), one(edit(1, 2, "a"))}, "0a234567b9", 2},
		{"adjacent", []lint.Fix{one(edit(1, 3, "a")), one(edit(3, 5, "b"))}, "0ab56789", 2},
		{"the second overlaps and waits", []lint.Fix{one(edit(1, 4, "a")), one(edit(3, 5, "b"))}, "0a456789", 1},
		{"the one that begins first is made, whatever the order", []lint.Fix{one(edit(3, 5, "b")), one(edit(1, 4, "a"))}, "0a456789", 1},
		{"what lies within a wider change waits", []lint.Fix{one(edit(1, 8, "a")), one(edit(2, 3, "b")), one(edit(5, 6, "c"))}, "0a89", 1},
		{"before the far edit of an earlier fix", []lint.Fix{one(edit(0, 1, "a"), edit(8, 9, "b")), one(edit(4, 5, "c")), one(edit(7, 10, "d"))}, "a123c567b9", 2},
		{"whole or not at all", []lint.Fix{one(edit(1, 4, "a")), one(edit(3, 5, "b"), edit(8, 9, "c"))}, "0a456789", 1},
		{"two inserts at one place", []lint.Fix{one(edit(1, 1, "a")), one(edit(1, 1, "b"))}, "0a123456789", 1},
		{"overlaps itself", []lint.Fix{one(edit(1, 4, "a"), edit(2, 3, "b"))}, "0123456789", 0},
		{"outside of the file", []lint.Fix{one(edit(5, 11, "a"))}, "0123456789", 0},
		{"another file", []lint.Fix{one(lint.Edit{Span: other.Span(0, 1), New: "a"})}, "0123456789", 0},
		{"other text under the same path", []lint.Fix{one(lint.Edit{Span: earlier.Span(0, 1), New: "a"})}, "0123456789", 0},
		{"the same text read again", []lint.Fix{one(lint.Edit{Span: again.Span(0, 1), New: "a"})}, "a123456789", 1},
		{"no file", []lint.Fix{one(lint.Edit{New: "a"})}, "0123456789", 0},
		{"before the file", []lint.Fix{one(edit(-1, 1, "a"))}, "0123456789", 0},
		{"ends before it starts", []lint.Fix{one(edit(3, 1, "a"))}, "0123456789", 0},
		{"changes nothing", []lint.Fix{one(edit(1, 3, "12"))}, "0123456789", 0},
		{"the same twice", []lint.Fix{one(edit(1, 3, "a")), one(edit(1, 3, "a"))}, "0a3456789", 1},
		{"without edits", []lint.Fix{one()}, "0123456789", 0},
	} {
		got, applied := Apply(f, tt.fixes)
		if got != tt.want || applied != tt.applied {
			t.Errorf("%s: Apply = %q, %d, want %q, %d", tt.name, got, applied, tt.want, tt.applied)
		}
	}
}

// TestApplyMany makes as many fixes as a large file has findings, in one round.
func TestApplyMany(t *testing.T) {
	const n = 50_000
	f := source.NewFileString("f", strings.Repeat("x ", n))
	var fixes []lint.Fix
	for i := range n {
		fixes = append(fixes, lint.Replace(f.Span(2*i, 2*i+1), "yy", "mend", true))
	}
	slices.Reverse(fixes)
	got, applied := Apply(f, fixes)
	if applied != n || got != strings.Repeat("yy ", n) {
		t.Errorf("%d of %d fixes applied", applied, n)
	}
}
