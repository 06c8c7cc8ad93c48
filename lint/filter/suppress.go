// SPDX-License-Identifier: Apache-2.0

package filter

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// checkID is the check under which faulty suppressions are reported.
const checkID = "syntax/suppression"

// suppress hides the findings that comments cover, and reports the comments
// that are faulty or hide nothing.
func suppress(p *lint.Project, found []lint.Finding, settings lint.Settings, checks []*lint.Check, now time.Time) []lint.Finding {
	byFile := map[*source.File][]*lint.Finding{}
	for _, d := range p.Documents {
		if strings.Contains(d.Source().Data, marker) {
			byFile[d.Source()] = nil
		}
	}
	if len(byFile) == 0 {
		return found
	}
	for i := range found {
		file := found[i].Span.File
		if own, ok := byFile[file]; ok {
			byFile[file] = append(own, &found[i])
		}
	}
	known := newCatalogue(checks)
	var faults []lint.Finding
	for _, d := range p.Documents {
		if own, ok := byFile[d.Source()]; ok {
			faults = append(faults, suppressIn(d, own, settings, known, now)...)
		}
	}
	return append(found, faults...)
}

// suppressIn does so in one file, and returns what is wrong with its comments.
func suppressIn(d lint.Document, found []*lint.Finding, settings lint.Settings, known *catalogue, now time.Time) []lint.Finding {
	r := &reader{file: d.Source(), nodes: nodesOf(d), known: known, now: now}
	r.read()
	hide(found, r.out)

	profile := settings.Profile(r.file.Path, nil)
	check, on := profile.Find(checkID)
	if !on {
		return nil
	}
	// In a file that is broken not every check could do its work.
	whole := !slices.ContainsFunc(found, func(f *lint.Finding) bool {
		return f.Severity == lint.Error && strings.HasPrefix(f.Check, "syntax/")
	})
	if whole {
		r.faultUnused(settings, false)
	}
	// A comment may suppress what is wrong with another one. What is wrong with
	// one that suppresses this very check is always shown.
	var others []*lint.Finding
	for i := range r.faults {
		f := &r.faults[i]
		f.Check = checkID
		if !slices.ContainsFunc(f.of.names, (*name).ofSuppressions) {
			others = append(others, &f.Finding)
		}
	}
	hide(others, r.out)
	if whole {
		r.faultUnused(settings, true)
	}
	out := make([]lint.Finding, len(r.faults))
	for i, f := range r.faults {
		out[i] = f.Finding
		out[i].Check, out[i].Severity = checkID, cmp.Or(check.Severity, check.Check.Severity)
	}
	return out
}

// ofSuppressions reports whether n stands for the check of suppressions themselves.
func (n *name) ofSuppressions() bool { return n.standsFor(checkID) }

// hide hides the findings of a file that the suppressions cover, each for the
// reason of the narrowest that does, and marks the names that are of use.
func hide(found []*lint.Finding, suppressions []*suppression) {
	slices.SortStableFunc(found, func(a, b *lint.Finding) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	byCheck := map[string][]*lint.Finding{}
	for _, f := range found {
		byCheck[f.Check] = append(byCheck[f.Check], f)
	}
	narrowest := slices.Clone(suppressions)
	slices.SortStableFunc(narrowest, func(a, b *suppression) int {
		return cmp.Compare(a.covers.End-a.covers.Start, b.covers.End-b.covers.Start)
	})
	for check, found := range byCheck {
		// next leads from a finding to the first from there on that is not hidden
		// yet, so that each is hidden once, however many suppressions cover it.
		next := make([]int, len(found)+1)
		for i := range next {
			next[i] = i
		}
		visible := func(i int) int {
			for next[i] != i {
				next[i] = next[next[i]]
				i = next[i]
			}
			return i
		}
		for _, s := range narrowest {
			if s.hidden == "" {
				continue
			}
			first := sort.Search(len(found), func(i int) bool { return found[i].Span.Start >= s.covers.Start })
			end := sort.Search(len(found), func(i int) bool { return found[i].Span.Start >= s.covers.End })
			if first >= end {
				continue
			}
			for _, n := range s.names {
				if !n.standsFor(check) {
					continue
				}
				n.used = true
				for i := visible(first); i < end; i = visible(i) {
					found[i].Hidden = cmp.Or(found[i].Hidden, s.hidden)
					next[i] = i + 1
				}
			}
		}
	}
}

// A node is a part of the document that is written somewhere.
type node struct {
	span   source.Span
	origin *lint.Origin
}

// nodesOf returns the nodes of a document in the order in which they begin,
// those that begin at one place outer ones first.
func nodesOf(d lint.Document) []node {
	var out []node
	var origin *lint.Origin
	for n := range d.Nodes() {
		if n, ok := n.(lint.Node); ok {
			origin = n.Origin()
		}
		// A problem is not a part of the document, and may be as wide as anything.
		_, problem := n.(*lint.Problem)
		if n, ok := n.(interface{ Span() source.Span }); ok && !problem && n.Span().File == d.Source() {
			out = append(out, node{n.Span(), origin})
		}
	}
	slices.SortStableFunc(out, func(a, b node) int { return cmp.Compare(a.span.Start, b.span.Start) })
	return out
}

// faultUnused reports the names that hid nothing, though a check that they
// stand for was on: either those of the check of suppressions or all others.
func (r *reader) faultUnused(settings lint.Settings, ofSuppressions bool) {
	profiles := map[source.Span][]*lint.Profile{}
	for _, s := range r.out {
		if s.hidden == "" {
			continue
		}
		for _, n := range s.names {
			if n.used || n.ofSuppressions() != ofSuppressions {
				continue
			}
			at, ok := profiles[s.covers]
			if !ok {
				at = r.profiles(settings, s.covers)
				profiles[s.covers] = at
			}
			if isOn(at, n.ids) {
				r.fault(s, n.span, "suppression of %s suppresses nothing: remove it", quote(n.span.Text()))
			}
		}
	}
}

func isOn(profiles []*lint.Profile, ids []string) bool {
	for _, p := range profiles {
		for _, id := range ids {
			if _, on := p.Find(id); on {
				return true
			}
		}
	}
	return false
}

// profiles returns the profiles of what begins in the span, or else of what
// begins last before it, if not those of the file.
func (r *reader) profiles(settings lint.Settings, span source.Span) []*lint.Profile {
	begin := func(offset int) int {
		return sort.Search(len(r.nodes), func(i int) bool { return r.nodes[i].span.Start >= offset })
	}
	nodes := r.nodes[begin(span.Start):begin(span.End)]
	if len(nodes) == 0 {
		if i := begin(span.Start); i > 0 {
			nodes = r.nodes[i-1 : i]
		} else {
			nodes = []node{{}}
		}
	}
	var out []*lint.Profile
	seen := map[any]bool{}
	first := func(p any) bool {
		old := seen[p]
		seen[p] = true
		return !old
	}
	for _, n := range nodes {
		if !first(n.origin) {
			continue
		}
		if p := settings.Profile(r.file.Path, n.origin); first(p) {
			out = append(out, p)
		}
	}
	return out
}
