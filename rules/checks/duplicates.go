// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

// What alert/duplicate and record/duplicate have in common: which rules are
// alike, and which of those one Prometheus certainly loads together.
//
// Rules of one file are. Rules of different files often are not: in public
// repositories nearly all that is repeated across files are variants of which
// one is deployed, such as production beside stage, or cluster beside single.

// A duplicateScope stands for what is loaded together: a rule file, the
// objects of one kind and namespace in a manifest, the entries of a ConfigMap.
type duplicateScope struct {
	file                    *rules.File
	path, object, namespace string
}

func duplicateScopeOf(r *rules.Rule) duplicateScope {
	f := r.Group.File
	origin := f.Origin()
	switch {
	case f.Kind != "":
		return duplicateScope{path: duplicatePath(r), object: f.Kind, namespace: origin.Namespace}
	case origin.Kind != "":
		return duplicateScope{path: duplicatePath(r), object: origin.Kind + " " + origin.Name, namespace: origin.Namespace}
	}
	return duplicateScope{file: f}
}

// duplicateFolder returns the scope of what is loaded together if the files of
// a folder are.
func duplicateFolder(r *rules.Rule) duplicateScope {
	return duplicateScope{path: path.Dir(duplicatePath(r)), object: r.Group.File.Kind, namespace: r.Origin().Namespace}
}

func duplicatePath(r *rules.Rule) string { return r.Span().File.Path }

// duplicateVersions reports whether two rules are of two versions of one
// Kubernetes object, of which only the last that is applied counts.
func duplicateVersions(a, b *rules.Rule) bool {
	f, g := a.Group.File, b.Group.File
	return f != g && f.Kind != "" && f.Kind == g.Kind && f.Name == g.Name && f.Origin().Namespace == g.Origin().Namespace
}

// duplicateCandidates returns the rules whose name (what nameOf returns, if
// not "") another rule has too, in the order of their places.
func duplicateCandidates(project *lint.Project, nameOf func(*rules.Rule) string) []*rules.Rule {
	byName := map[string][]*rules.Rule{}
	for r := range lint.All[*rules.Rule](project) {
		if name := nameOf(r); name != "" && r.Expr != nil {
			byName[name] = append(byName[name], r)
		}
	}
	var found []*rules.Rule
	for _, same := range byName {
		if len(same) > 1 {
			found = append(found, same...)
		}
	}
	slices.SortStableFunc(found, func(a, b *rules.Rule) int {
		return cmp.Or(cmp.Compare(duplicatePath(a), duplicatePath(b)), cmp.Compare(a.Span().Start, b.Span().Start))
	})
	return found
}

// duplicateCopies returns the files whose content an earlier one has too: links
// to it, or copies in another place.
func duplicateCopies(project *lint.Project) map[*source.File]bool {
	files := make([]*source.File, 0, len(project.Documents))
	for _, d := range project.Documents {
		files = append(files, d.Source())
	}
	slices.SortFunc(files, func(a, b *source.File) int { return cmp.Compare(a.Path, b.Path) })
	copies, seen := map[*source.File]bool{}, map[string]bool{}
	for _, f := range files {
		copies[f] = seen[f.Data]
		seen[f.Data] = true
	}
	return copies
}

// duplicateLabels returns the labels of a rule in a spelling of their own.
func duplicateLabels(r *rules.Rule) string {
	all := map[string]string{}
	for _, e := range r.AllLabels() {
		all[e.Key.Value] = e.Value.Value
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		b.WriteString(key + "\x00" + all[key] + "\x00")
	}
	return b.String()
}

// A duplicateKey is the same for rules that are alike and loaded together.
type duplicateKey struct {
	scope duplicateScope
	what  string
}

// A duplicateIndex leads from a rule to the first one that is like it.
type duplicateIndex map[*rules.Rule]*rules.Rule

// duplicateFirst returns the index of rules for which key returns the same.
func duplicateFirst(ordered []*rules.Rule, key func(*rules.Rule) (duplicateKey, bool)) duplicateIndex {
	index := duplicateIndex{}
	first := map[duplicateKey]*rules.Rule{}
	for _, r := range ordered {
		k, ok := key(r)
		if !ok {
			continue
		}
		if f, seen := first[k]; !seen {
			first[k] = r
		} else if !duplicateVersions(f, r) {
			index[r] = f
		}
	}
	return index
}

// duplicates lead from a rule to the first that has the same name, labels and
// expression, by how far the first may be away.
type duplicates struct {
	scope  duplicateIndex // loaded together for certain
	folder duplicateIndex // in another file of the same folder
	run    duplicateIndex // anywhere
}

func duplicatesAmong(project *lint.Project, ordered []*rules.Rule) duplicates {
	alike := make(map[*rules.Rule]string, len(ordered))
	for _, r := range ordered {
		alike[r] = strings.Join([]string{r.Object().Kind, r.Object().Name, duplicateLabels(r), r.Expr.Normal()}, "\x00")
	}
	copies := duplicateCopies(project)
	in := func(scope func(*rules.Rule) duplicateScope, copied bool) duplicateIndex {
		return duplicateFirst(ordered, func(r *rules.Rule) (duplicateKey, bool) {
			return duplicateKey{scope(r), alike[r]}, copied || !copies[r.Span().File]
		})
	}
	return duplicates{
		scope:  in(duplicateScopeOf, true),
		folder: in(duplicateFolder, false),
		run:    in(func(*rules.Rule) duplicateScope { return duplicateScope{} }, false),
	}
}

// find returns the first rule that is like r, and whether one Prometheus loads
// both; everywhere says that all files of the run are loaded together.
func (d duplicates) find(r *rules.Rule, everywhere bool) (first *rules.Rule, together bool) {
	if first := d.scope[r]; first != nil {
		return first, true
	}
	if first := d.run[r]; first != nil && everywhere {
		return first, true
	}
	if first := d.folder[r]; first != nil && first.Span().File != r.Span().File {
		return first, false
	}
	return nil, false
}

// duplicateWhere says where the first of two rules that are alike stands.
func duplicateWhere(first, r *rules.Rule) string {
	switch {
	case first.Group == r.Group:
		return "in this group"
	case first.Span().File == r.Span().File:
		return "in group " + strconv.Quote(first.Group.Name.Value)
	}
	return "in " + duplicatePath(first)
}

// duplicatePlace returns where to report r, the later of two rules. A rule that
// takes its name from the other one by a YAML merge has its own expression.
func duplicatePlace(first, r *rules.Rule) source.Span {
	if place := r.Place(); place != first.Place() {
		return place
	}
	return r.Expr.Text.All()
}
