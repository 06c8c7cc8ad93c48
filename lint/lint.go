// SPDX-License-Identifier: Apache-2.0

// Package lint is the vocabulary of the linter and its driver.
//
// A [Language] parses files into a [Document], whose nodes (a rule, a group, a
// PromQL expression, a page) are plain Go values. A [Check] is a function of
// one type of node: the type of its parameter is its scope. [Run] offers every
// node to every check that takes it and returns a [Finding] for each problem.
//
// The package knows nothing of YAML documents, PromQL, Markdown or Go.
package lint

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A Check finds one kind of problem.
type Check struct {
	ID       string // area/name
	Severity Severity
	OptIn    bool // runs only when configured
	Doc      Doc
	Run      Handler
}

// Doc documents a check. Tests run its examples; explain, the reference pages
// and the rule metadata of SARIF are made from it.
type Doc struct {
	Title   string   // what is reported, in a phrase without a period
	Why     string   // what follows from it at run time; plain sentences, a blank line between paragraphs
	Bad     string   // a file that the check reports
	Good    string   // the same file, mended
	Config  string   // options under which the examples hold, as YAML, or ""
	TurnOff string   // when to turn the check off
	Since   string   // first version that has it
	Refs    []string // links to where the rule comes from
}

// A Handler is a function of one type of node, with that type erased.
type Handler struct {
	defaults any // options, or nil
	takes    func(node reflect.Type) bool
	bind     func(decode func(options any) error) (Func, error)
}

// takes returns whether a function of an N is one of nodes of that type.
func takes[N any](node reflect.Type) bool {
	n := reflect.TypeFor[N]()
	return node == n || n.Kind() == reflect.Interface && node.Implements(n)
}

// A Func is a check bound to its options.
type Func func(p *Pass, node any)

// On returns a Handler that calls f with each node of type N.
func On[N any](f func(*Pass, N)) Handler {
	call := func(p *Pass, node any) {
		if n, ok := node.(N); ok {
			f(p, n)
		}
	}
	return Handler{takes: takes[N], bind: func(func(any) error) (Func, error) { return call, nil }}
}

// With is like [On] for a check that has options: a struct whose fields carry
// the tags yaml (the name) and doc (one sentence). A field may also carry the
// tag shared, the path of the top-level configuration key it is taken from
// unless set for the check alone. The defaults hold where nothing is configured.
func With[N, O any](defaults O, f func(*Pass, N, O)) Handler {
	return Handler{defaults: defaults, takes: takes[N], bind: func(decode func(any) error) (Func, error) {
		o := clone(defaults)
		if err := decode(&o); err != nil {
			return nil, err
		}
		return func(p *Pass, node any) {
			if n, ok := node.(N); ok {
				f(p, n, o)
			}
		}, nil
	}}
}

// clone copies the maps and slices of an options struct, so that decoding over
// the defaults leaves the defaults alone.
func clone[O any](o O) O {
	v := reflect.ValueOf(&o).Elem()
	if v.Kind() != reflect.Struct {
		return o
	}
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case !f.CanSet():
		case f.Kind() == reflect.Map && !f.IsNil():
			m := reflect.MakeMapWithSize(f.Type(), f.Len())
			for it := f.MapRange(); it.Next(); {
				m.SetMapIndex(it.Key(), it.Value())
			}
			f.Set(m)
		case f.Kind() == reflect.Slice && !f.IsNil():
			f.Set(reflect.AppendSlice(reflect.MakeSlice(f.Type(), 0, f.Len()), f))
		}
	}
	return o
}

// And returns a Handler that calls h and then other, for a check that looks at
// nodes of two types. Both take the same options.
func (h Handler) And(other Handler) Handler {
	both := func(node reflect.Type) bool { return h.takes(node) || other.takes(node) }
	return Handler{defaults: h.defaults, takes: both, bind: func(decode func(any) error) (Func, error) {
		first, err := h.bind(decode)
		if err != nil {
			return nil, err
		}
		second, err := other.bind(decode)
		if err != nil {
			return nil, err
		}
		return func(p *Pass, node any) {
			first(p, node)
			second(p, node)
		}, nil
	}}
}

// Problems returns the Handler of a check that reports what parsing found: the
// [Problem] nodes that bear its ID.
func Problems() Handler {
	return On(func(p *Pass, problem *Problem) {
		if problem.Check == p.check.ID {
			p.Report(problem.Finding)
		}
	})
}

// Options returns the default options of the check, a struct, or nil if it has none.
func (c *Check) Options() any { return c.Run.defaults }

// Bind returns the check as a function under the options that decode writes
// over a pointer to the defaults. A nil decode leaves the defaults.
func (c *Check) Bind(decode func(options any) error) (Func, error) {
	if decode == nil {
		decode = func(any) error { return nil }
	}
	return c.Run.bind(decode)
}

// A Problem is a fault that parsing found, a node of its document.
type Problem struct {
	Finding
	Dialects []string // those under which it is none
	Partial  bool     // none if the file is a patch of an object that stands elsewhere
}

// Span returns where the problem is.
func (p *Problem) Span() source.Span { return p.Finding.Span }

// A Node is a part of a document that has a name and an origin. Nodes that
// follow it and are no Node themselves (an expression after its rule) share both.
type Node interface {
	Span() source.Span
	Object() Object
	Origin() *Origin
}

// A Document is what one file holds.
type Document interface {
	Source() *source.File
	// Nodes yields the parts of the document, outer ones before inner ones.
	Nodes() iter.Seq[any]
	// Count adds what the document holds to the totals of the run.
	Count(*Counts)
}

// Counts are totals of a run.
type Counts struct {
	Files    int `json:"files"`
	Rules    int `json:"rules"`
	Monitors int `json:"monitors"`
	Runbooks int `json:"runbooks"`
	Packages int `json:"packages"`
}

// A Language parses the files that are written in it.
type Language struct {
	Name string
	// Parse returns the document that the file holds, or nil if the file is not
	// of this language. Named says that the user asked for this very file.
	// Malformed input gives Problem nodes.
	Parse func(f *source.File, named bool) Document
}

// A Project is all the documents of a run; it is itself the node of checks that
// look across files. It does not change while checks run.
type Project struct {
	Documents []Document
	derived   sync.Map // reflect.Type → func() any
}

// Derive returns what build makes of the project: an index, say, that many
// nodes are looked up in. It is built once for each type T and shared.
func Derive[T any](p *Project, build func(*Project) T) T {
	key := reflect.TypeFor[T]()
	once, ok := p.derived.Load(key)
	if !ok {
		once, _ = p.derived.LoadOrStore(key, sync.OnceValue(func() any { return build(p) }))
	}
	return once.(func() any)().(T)
}

// All returns every node of type N in the project.
func All[N any](p *Project) iter.Seq[N] {
	return func(yield func(N) bool) {
		for _, d := range p.Documents {
			for n := range d.Nodes() {
				if n, ok := n.(N); ok && !yield(n) {
					return
				}
			}
		}
	}
}

// Count returns the totals of the project.
func (p *Project) Count() Counts {
	var c Counts
	for _, d := range p.Documents {
		d.Count(&c)
	}
	return c
}

// A Profile is the checks that are on for a file, or for an object in it.
type Profile struct {
	Active []Active // ordered by the ID of the check

	byType sync.Map // type of node → []Active
}

// For returns the checks that take nodes of the type of n.
func (p *Profile) For(n any) []Active {
	t := reflect.TypeOf(n)
	known, ok := p.byType.Load(t)
	if !ok {
		var active []Active
		for _, a := range p.Active {
			if a.Check.Run.takes(t) {
				active = append(active, a)
			}
		}
		known, _ = p.byType.LoadOrStore(t, active)
	}
	return known.([]Active)
}

// Active is a check that is on.
type Active struct {
	Check    *Check
	Severity Severity // Unset: what the check itself says of each finding
	Func     Func
}

// Find returns how the check of that ID is set, and whether it is on.
func (p *Profile) Find(id string) (Active, bool) {
	i, ok := slices.BinarySearchFunc(p.Active, id, func(a Active, id string) int {
		switch {
		case a.Check.ID < id:
			return -1
		case a.Check.ID > id:
			return 1
		}
		return 0
	})
	if !ok {
		return Active{}, false
	}
	return p.Active[i], true
}

// Settings say which checks are on where. They are used concurrently.
type Settings interface {
	// Profile returns the profile of an object in the file at path; a nil
	// origin stands for the file as a whole, an empty path for the project.
	Profile(path string, origin *Origin) *Profile
}

// Defaults returns Settings under which each check runs as it was declared, and
// those run only when configured do not.
func Defaults(checks []*Check) Settings {
	p := &Profile{}
	for _, c := range checks {
		if !c.OptIn {
			f, err := c.Bind(nil)
			if err != nil {
				panic(fmt.Sprintf("%s: %v", c.ID, err))
			}
			p.Active = append(p.Active, Active{Check: c, Func: f})
		}
	}
	SortActive(p.Active)
	return fixed{p}
}

// SortActive puts checks into the order that a Profile holds them in.
func SortActive(active []Active) {
	slices.SortFunc(active, func(a, b Active) int {
		switch {
		case a.Check.ID < b.Check.ID:
			return -1
		case a.Check.ID > b.Check.ID:
			return 1
		}
		return 0
	})
}

type fixed struct{ profile *Profile }

func (f fixed) Profile(string, *Origin) *Profile { return f.profile }

// A Pass is one check at work on one node.
type Pass struct {
	context.Context
	Project *Project

	check    *Check
	severity Severity
	object   Object
	origin   *Origin
	out      *[]Finding
}

// Object returns what the node is, or is a part of: what messages name first.
func (p *Pass) Object() Object { return p.object }

// Reportf reports a problem at span.
func (p *Pass) Reportf(span source.Span, format string, args ...any) {
	p.Report(Finding{Span: span, Message: fmt.Sprintf(format, args...)})
}

// Report reports f as a finding of the check at work. The object, the origin
// and the severity may be left out: they are those of the node and of the check.
func (p *Pass) Report(f Finding) {
	f.Check = p.check.ID
	if f.Severity == Unset {
		f.Severity = p.check.Severity
	}
	if p.severity != Unset {
		f.Severity = p.severity
	}
	if f.Object == (Object{}) {
		f.Object = p.object
	}
	if f.Origin == nil {
		f.Origin = p.origin
	}
	*p.out = append(*p.out, f)
}
