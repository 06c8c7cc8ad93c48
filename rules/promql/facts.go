// SPDX-License-Identifier: Apache-2.0

package promql

import "slices"

// facts are what is known of labels, sorted by name. Expressions name a handful
// of labels, of which a slice is cheaper to copy and to search than a map.
type facts []labelFact

type labelFact struct {
	name string
	Fact
}

// search returns the index of a label, or where it belongs.
func (s facts) search(name string) (int, bool) {
	if len(s) > 16 {
		return slices.BinarySearchFunc(s, name, func(f labelFact, name string) int {
			switch {
			case f.name < name:
				return -1
			case f.name > name:
				return 1
			}
			return 0
		})
	}
	for i := range s {
		if s[i].name >= name {
			return i, s[i].name == name
		}
	}
	return len(s), false
}

// own gives the branch facts of its own to change, with room for one more: those
// of a clone are still those of the branch it was made from.
func (b *Branch) own() {
	if b.owned {
		return
	}
	labels := make(facts, len(b.labels), len(b.labels)+1)
	copy(labels, b.labels)
	b.labels, b.owned = labels, true
}

// put notes a fact, even if it says no more than the rest.
func (b *Branch) put(name string, f Fact) {
	i, found := b.labels.search(name)
	b.own()
	if found {
		b.labels[i].Fact = f
		return
	}
	b.labels = slices.Insert(b.labels, i, labelFact{name, f})
}

// set notes a fact. What agrees with the rest needs no entry of its own, but a
// value or a cause does.
func (b *Branch) set(name string, f Fact) {
	if f.Presence != b.rest.Presence || f.Values != nil || f.Why != b.rest.Why {
		b.put(name, f)
		return
	}
	if i, found := b.labels.search(name); found {
		b.own()
		b.labels = slices.Delete(b.labels, i, i+1)
	}
}

// names returns the labels of which either branch knows something, and those
// given, sorted.
func names(l, r *Branch, more []string) []string {
	out := make([]string, 0, len(l.labels)+len(r.labels)+len(more))
	for _, f := range l.labels {
		out = append(out, f.name)
	}
	for _, f := range r.labels {
		out = append(out, f.name)
	}
	out = append(out, more...)
	slices.Sort(out)
	return slices.Compact(out)
}
