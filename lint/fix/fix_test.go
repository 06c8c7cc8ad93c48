// SPDX-License-Identifier: Apache-2.0

package fix

import (
	"testing"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

func TestApply(t *testing.T) {
	f := source.NewFileString("f", "0123456789")
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
		{"given in any order", []lint.Fix{one(edit(8, 9, "b")), one(edit(1, 2, "a"))}, "0a234567b9", 2},
		{"adjacent", []lint.Fix{one(edit(1, 3, "a")), one(edit(3, 5, "b"))}, "0ab56789", 2},
		{"the second overlaps and waits", []lint.Fix{one(edit(1, 4, "a")), one(edit(3, 5, "b"))}, "0a456789", 1},
		{"whole or not at all", []lint.Fix{one(edit(1, 4, "a")), one(edit(3, 5, "b"), edit(8, 9, "c"))}, "0a456789", 1},
		{"two inserts at one place", []lint.Fix{one(edit(1, 1, "a")), one(edit(1, 1, "b"))}, "0a123456789", 1},
		{"overlaps itself", []lint.Fix{one(edit(1, 4, "a"), edit(2, 3, "b"))}, "0123456789", 0},
		{"outside of the file", []lint.Fix{one(edit(5, 11, "a"))}, "0123456789", 0},
		{"another file", []lint.Fix{one(lint.Edit{Span: other.Span(0, 1), New: "a"})}, "0123456789", 0},
		{"without edits", []lint.Fix{one()}, "0123456789", 0},
	} {
		got, applied := Apply(f, tt.fixes)
		if got != tt.want || applied != tt.applied {
			t.Errorf("%s: Apply = %q, %d, want %q, %d", tt.name, got, applied, tt.want, tt.applied)
		}
	}
}
