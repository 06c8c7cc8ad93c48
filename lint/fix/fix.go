// SPDX-License-Identifier: Apache-2.0

// Package fix applies fixes to the text of a file.
//
// Fixes are not merged: of those that touch each other the first is applied,
// and the others wait until the result has been linted again.
package fix

import (
	"cmp"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// Apply returns the text of f after the fixes, and how many were applied: in
// the order of their first edits, each whole or not at all. A fix that touches
// what an earlier one changes waits for the next round; one that reaches outside
// of f, is for other text than that of f, overlaps itself or changes nothing is
// refused.
func Apply(f *source.File, fixes []lint.Fix) (data string, applied int) {
	own := map[*source.File]bool{f: true, nil: false}
	var sorted [][]lint.Edit
	for _, fix := range fixes {
		edits := slices.SortedStableFunc(slices.Values(fix.Edits), compare)
		if valid(f, edits, own) {
			sorted = append(sorted, edits)
		}
	}
	slices.SortStableFunc(sorted, func(a, b []lint.Edit) int { return compare(a[0], b[0]) })

	var accepted []lint.Edit // in order, none overlaps another
	for _, edits := range sorted {
		if slices.ContainsFunc(edits, func(e lint.Edit) bool { return conflicts(accepted, e) }) {
			continue
		}
		applied++
		for _, e := range edits {
			i, _ := slices.BinarySearchFunc(accepted, e, compare)
			accepted = slices.Insert(accepted, i, e)
		}
	}
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

// overlap reports whether of two edits, a before b in order, the result depends
// on which is made first.
func overlap(a, b lint.Edit) bool {
	return b.Span.Start < a.Span.End || b.Span == a.Span
}

// conflicts reports whether e overlaps one of the edits, which are in order.
func conflicts(edits []lint.Edit, e lint.Edit) bool {
	i, found := slices.BinarySearchFunc(edits, e, compare)
	return found || i > 0 && overlap(edits[i-1], e) || i < len(edits) && overlap(e, edits[i])
}

// valid reports whether the edits, which are in order, can be made together and
// change something. The same text may have been read into several Files; own
// remembers which of them hold that of f.
func valid(f *source.File, edits []lint.Edit, own map[*source.File]bool) bool {
	changes := false
	for i, e := range edits {
		s := e.Span
		same, seen := own[s.File]
		if !seen {
			same = s.File.Path == f.Path && s.File.Data == f.Data
			own[s.File] = same
		}
		if !same || s.Start < 0 || s.Start > s.End || s.End > len(f.Data) || i > 0 && overlap(edits[i-1], e) {
			return false
		}
		changes = changes || s.Text() != e.New
	}
	return changes
}
