// SPDX-License-Identifier: Apache-2.0

package monitors

import (
	"path"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
)

// An Index says what of a run belongs together: which Services and pods a
// monitor selects, and what is changed before it is installed. It answers only
// what the run proves.
type Index struct {
	Servers    []*Server
	Namespaces map[string]*Namespace // by name
	Monitors   []*Monitor

	targets map[*Monitor]*Targets
	pods    map[*Service][]*Workload
	changed map[string]change // path of a file or folder → what kustomize does to its objects
	patches map[string]bool   // paths of files
}

// Of returns the index of a run, which all checks share.
func Of(p *lint.Project) *Index { return lint.Derive(p, newIndex) }

// Targets is what a monitor selects in the run.
type Targets struct {
	Services  []*Service  // of a ServiceMonitor: their labels match, and their namespace may be reached
	Workloads []*Workload // the pods of these Services; of a PodMonitor what it selects
	Elsewhere []lint.Node // near by, their labels match, and their namespace is not reached
	Missed    []lint.Node // close by and in a namespace that is reached, and their labels do not match
}

// Empty reports whether the monitor selects nothing of the run.
func (t *Targets) Empty() bool { return len(t.Services)+len(t.Workloads) == 0 }

const (
	// A run of all combinations of monitors and what they may select takes no
	// longer than a second or so.
	maxComparisons = 4_000_000
	// What selects more than this many objects is not looked into.
	maxTargets = 200
)

// Targets returns what a monitor selects, or nil if that can't be told.
func (x *Index) Targets(m *Monitor) *Targets { return x.targets[m] }

// Pods returns the workloads that a Service leads to.
func (x *Index) Pods(s *Service) []*Workload { return x.pods[s] }

// Patch reports whether the file is a patch of kustomize: not the whole object.
func (x *Index) Patch(file string) bool { return x.patches[file] }

func newIndex(p *lint.Project) *Index {
	x := &Index{Namespaces: map[string]*Namespace{}, targets: map[*Monitor]*Targets{}, pods: map[*Service][]*Workload{}}
	var services []*Service
	var workloads []*Workload
	var kustomizations []*Kustomization
	for n := range lint.All[lint.Node](p) {
		switch n := n.(type) {
		case *Monitor:
			x.Monitors = append(x.Monitors, n)
		case *Server:
			x.Servers = append(x.Servers, n)
		case *Namespace:
			x.Namespaces[n.Name.Value] = n
		case *Service:
			services = append(services, n)
		case *Workload:
			workloads = append(workloads, n)
		case *Kustomization:
			kustomizations = append(kustomizations, n)
		}
	}
	x.kustomize(kustomizations)
	if len(services)*len(workloads) < maxComparisons {
		for _, s := range services {
			x.pods[s] = x.podsOf(s, workloads)
		}
	}
	for _, m := range x.Monitors {
		switch {
		case m.Selector == nil || m.Selector.Value == nil || m.Selector.Open || m.Namespaces.Open:
		case m.Kind == ServiceMonitor && len(x.Monitors)*len(services) < maxComparisons:
			t, ok := selected(x, m, services, func(s *Service) map[string]string { return s.Labels })
			if !ok {
				continue
			}
			targets := &Targets{Services: t.in, Elsewhere: t.elsewhere, Missed: t.missed}
			for _, s := range t.in {
				for _, w := range x.pods[s] {
					if len(targets.Workloads) < maxTargets && !slices.Contains(targets.Workloads, w) {
						targets.Workloads = append(targets.Workloads, w)
					}
				}
			}
			x.targets[m] = targets
		case m.Kind == PodMonitor && len(x.Monitors)*len(workloads) < maxComparisons:
			if t, ok := selected(x, m, workloads, func(w *Workload) map[string]string { return w.PodLabels }); ok {
				x.targets[m] = &Targets{Workloads: t.in, Elsewhere: t.elsewhere, Missed: t.missed}
			}
		}
	}
	return x
}

func (x *Index) podsOf(s *Service, workloads []*Workload) []*Workload {
	if len(s.PodLabels) == 0 || x.Changed(s).Labels {
		return nil
	}
	var out []*Workload
next:
	for _, w := range workloads {
		if len(out) == maxTargets {
			return nil
		}
		if x.sameNamespace(s, w) == no || x.Changed(w).Labels {
			continue
		}
		for k, v := range s.PodLabels {
			if Placeholder(v) || w.PodLabels[k] != v {
				continue next
			}
		}
		out = append(out, w)
	}
	return out
}

type selectedOf[N lint.Node] struct {
	in                []N
	elsewhere, missed []lint.Node
}

// selected returns which of the objects a monitor selects, and false if that
// can't be told.
func selected[N located](x *Index, m *Monitor, objects []N, labels func(N) map[string]string) (s selectedOf[N], known bool) {
	for _, o := range objects {
		reach, l := x.reaches(m, o), labels(o)
		switch {
		case m.Selector.Matches(l):
			if reach != no {
				s.in = append(s.in, o)
			} else if !x.Changed(o).Labels && nearby(m, o) {
				s.elsewhere = append(s.elsewhere, o)
			}
		case reach == no || len(s.missed) == maxTargets || !Close(m, o):
		case x.Changed(o).Labels || x.Changed(m).Labels || anyPlaceholder(l):
			return s, false
		case reach == yes:
			s.missed = append(s.missed, o)
		}
		if len(s.in) > maxTargets || len(s.elsewhere) > maxTargets {
			return s, false
		}
	}
	return s, true
}

func anyPlaceholder(labels map[string]string) bool {
	for k, v := range labels {
		if Placeholder(k) || Placeholder(v) {
			return true
		}
	}
	return false
}

// located is an object of Kubernetes with its place in the run.
type located interface {
	lint.Node
	Path() string
}

// Close reports whether two objects belong to one installation as far as their
// files tell: these are one, lie in one folder, or one lies below the other's.
func Close(a, b located) bool { return closePaths(a.Path(), b.Path()) }

func closePaths(a, b string) bool {
	if a == b {
		return true
	}
	da, db := path.Dir(a), path.Dir(b)
	return da == db || da != "." && strings.HasPrefix(db, da+"/") || db != "." && strings.HasPrefix(da, db+"/")
}

// SameFolder reports whether two objects lie in one file or folder.
func SameFolder(a, b located) bool { return path.Dir(a.Path()) == path.Dir(b.Path()) }

func nearby(a, b located) bool { return Nearby(a, b.Path()) }

// Nearby reports whether an object and a file belong together: it is like
// [Close], and takes folders beside each other for close too.
func Nearby(o located, file string) bool {
	return closePaths(o.Path(), file) || path.Dir(path.Dir(o.Path())) == path.Dir(path.Dir(file))
}

// certainty is what is known of a question.
type certainty uint8

const (
	maybe certainty = iota
	yes
	no
)

// sameNamespace tells whether two objects are installed in one namespace. Two
// that name none are installed together.
func (x *Index) sameNamespace(a, b located) certainty {
	na, nb := a.Object().Namespace, b.Object().Namespace
	switch ca, cb := x.Changed(a).Namespace, x.Changed(b).Namespace; {
	case ca || cb:
		return maybe
	case na == nb && (na != "" || Close(a, b)):
		return yes
	case na == "" || nb == "":
		return maybe
	}
	return no
}

// reaches tells whether a monitor searches the namespace of an object.
func (x *Index) reaches(m *Monitor, o located) certainty {
	n := m.Namespaces
	switch {
	case n.Any:
		return yes
	case len(n.Names) == 0:
		return x.sameNamespace(m, o)
	case o.Object().Namespace == "" || x.Changed(o).Namespace:
		return maybe
	}
	for _, name := range n.Names {
		if name.Value == o.Object().Namespace {
			return yes
		}
	}
	return no
}

// A change is what kustomize makes other of objects than is written.
type change struct{ Labels, Namespace bool }

// Changed returns what the kustomizations of the run do to an object.
func (x *Index) Changed(o located) change {
	if len(x.changed) == 0 {
		return change{}
	}
	c := x.changed[o.Path()]
	for dir := path.Dir(o.Path()); ; dir = path.Dir(dir) {
		d := x.changed[dir]
		c.Labels, c.Namespace = c.Labels || d.Labels, c.Namespace || d.Namespace
		if dir == "." || dir == "/" {
			return c
		}
	}
}

// kustomize follows the kustomizations of the run to what they change.
func (x *Index) kustomize(all []*Kustomization) {
	if len(all) == 0 {
		return
	}
	x.changed, x.patches = map[string]change{}, map[string]bool{}
	resources := map[string][]string{} // folder of a kustomization → what it takes in
	var work []string
	mark := func(p string, c change) {
		old := x.changed[p]
		if now := (change{old.Labels || c.Labels, old.Namespace || c.Namespace}); now != old {
			x.changed[p] = now
			work = append(work, p)
		}
	}
	for _, k := range all {
		dir := path.Dir(k.Path())
		for _, name := range []string{"resources", "bases", "components"} {
			for _, r := range k.Value.Get(name).list() {
				if !strings.Contains(r.Value, "://") && !strings.Contains(r.Value, "?ref=") {
					resources[dir] = append(resources[dir], path.Join(dir, r.Value))
				}
			}
		}
		for _, p := range k.Value.Get("patchesStrategicMerge").list() {
			x.patches[path.Join(dir, p.Value)] = true
		}
		for _, p := range k.Value.Get("patches").Elements() {
			if file := p.Get("path").Str(); file != "" {
				x.patches[path.Join(dir, file)] = true
			}
		}
	}
	for _, k := range all {
		c := change{Namespace: k.Value.Get("namespace") != nil}
		for _, name := range []string{"labels", "commonLabels", "components", "patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "transformers"} {
			c.Labels = c.Labels || k.Value.Get(name) != nil
		}
		dir := path.Dir(k.Path())
		for _, r := range resources[dir] {
			mark(r, c)
		}
	}
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		for _, r := range resources[p] {
			mark(r, x.changed[p])
		}
	}
}
