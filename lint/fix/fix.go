// SPDX-License-Identifier: Apache-2.0

// Package fix applies fixes to the text of a file.
package fix

import (
	"cmp"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// Apply returns the text of f after the fixes, and how many were applied. A fix
// is applied whole or not at all: one that touches what an earlier one changes
// waits for the next round, and one that reaches outside of f is refused.
func Apply(f *source.File, fixes []lint.Fix) (data string, applied int) {
	var accepted []lint.Edit
	for _, fix := range fixes {
		if !within(f, fix.Edits) || overlap(slices.Concat(accepted, fix.Edits)) {
			continue
		}
		accepted = append(accepted, fix.Edits...)
		applied++
	}
	slices.SortFunc(accepted, compare)
	var b strings.Builder
	at := 0
	for _, e := range accepted {
		b.WriteString(f.Data[at:e.Span.Start])
		b.WriteString(e.New)
		at = e.Span.End
	}
	b.WriteString(f.Data[at:])
	return b.String(), applied
}

func compare(a, b lint.Edit) int {
	return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End))
}

func within(f *source.File, edits []lint.Edit) bool {
	for _, e := range edits {
		s := e.Span
		if s.File == nil || s.File.Path != f.Path || s.Start < 0 || s.Start > s.End || s.End > len(f.Data) {
			return false
		}
	}
	return len(edits) > 0
}

func overlap(edits []lint.Edit) bool {
	slices.SortFunc(edits, compare)
	for i := 1; i < len(edits); i++ {
		a, b := edits[i-1].Span, edits[i].Span
		if b.Start < a.End || a.Start == b.Start {
			return true
		}
	}
	return false
}
