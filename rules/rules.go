// SPDX-License-Identifier: Apache-2.0

// Package rules models Prometheus rules in the files that teams write them in:
// plain rule files, PrometheusRule, AlertingRule and VMRule manifests, lists of
// these, and rule files inside a ConfigMap. The objects of the same files that
// package monitors knows are handed to it.
//
// [Language] finds out by content what a YAML or JSON file holds. Each part of
// the model knows where it was written. What Prometheus or the Kubernetes API
// would refuse becomes a [lint.Problem], and the rest of the file is read on.
package rules

import (
	"iter"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

// A Document is a file that holds rules. One file may hold many Files: YAML
// documents, items of a list, entries of a ConfigMap.
type Document struct {
	Files    []*File
	Objects  []lint.Node // of the operator, and those beside them that it refers to
	Problems []*lint.Problem
	src      *source.File
}

// Source returns the file on disk.
func (d *Document) Source() *source.File { return d.src }

// Nodes yields the problems, then each file, its groups, their rules and the
// expressions of these, those in their templates included, and then the objects
// of package monitors.
func (d *Document) Nodes() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, p := range d.Problems {
			if !yield(p) {
				return
			}
		}
		for _, f := range d.Files {
			if !yield(f) {
				return
			}
			for _, g := range f.Groups {
				if !yield(g) {
					return
				}
				for _, r := range g.Rules {
					if !yield(r) || r.Expr != nil && !yield(r.Expr) {
						return
					}
					for e := range r.queries() {
						if !yield(e) {
							return
						}
					}
				}
			}
		}
		monitors.Nodes(d.Objects)(yield)
	}
}

// Count adds the file, its rules and its monitors to the totals. A file that
// holds only what stands beside monitors does not count.
func (d *Document) Count(c *lint.Counts) {
	beside := len(d.Objects) > 0 && len(d.Files)+len(d.Problems) == 0
	for _, o := range d.Objects {
		if _, ok := o.(*monitors.Monitor); ok {
			c.Monitors++
		}
		beside = beside && monitors.IsBeside(o)
	}
	if !beside {
		c.Files++
	}
	for _, f := range d.Files {
		for _, g := range f.Groups {
			c.Rules += len(g.Rules)
		}
	}
}

// The kinds of objects that hold rules. A plain rule file has no kind.
const (
	PrometheusRule = "PrometheusRule" // monitoring.coreos.com
	AlertingRule   = "AlertingRule"   // monitoring.openshift.io
	VMRule         = "VMRule"         // operator.victoriametrics.com
)

// A File is a list of rule groups that one Prometheus loads together: a plain
// rule file, or the Kubernetes object that takes its place.
type File struct {
	Kind   string // "" for a plain rule file
	Group  string // of the API that has the kind
	Name   string // metadata.name
	Groups []*Group
	span   source.Span
	name   source.Span // of metadata.name
	origin *lint.Origin
}

// Place returns where to report what concerns the object as a whole: its name.
func (f *File) Place() source.Span {
	if f.name.End > f.name.Start {
		return f.name
	}
	return f.span
}

// Span returns the bytes of the file or object.
func (f *File) Span() source.Span { return f.span }

// Origin returns the Kubernetes object that the rules come from.
func (f *File) Origin() *lint.Origin { return f.origin }

// Object names the file in messages.
func (f *File) Object() lint.Object {
	if f.Kind == "" {
		return lint.Object{Kind: "rule file"}
	}
	return lint.Object{Kind: f.Kind, Name: f.Name, Namespace: f.origin.Namespace}
}

// A Group is a group of rules that are evaluated in order, together.
type Group struct {
	File        *File
	Name        source.Text
	Interval    Duration
	QueryOffset Duration
	Limit       source.Text
	Labels      []Entry // added to each rule that has no label of that name
	Rules       []*Rule
	span        source.Span
	origin      *lint.Origin
}

// Span returns the bytes of the group.
func (g *Group) Span() source.Span { return g.span }

// Origin returns where the group comes from.
func (g *Group) Origin() *lint.Origin { return g.origin }

// Object names the group in messages.
func (g *Group) Object() lint.Object {
	return lint.Object{Kind: "rule group", Name: g.Name.Value, Namespace: g.origin.Namespace}
}

// Place returns where to report what concerns the group as a whole: its name.
func (g *Group) Place() source.Span {
	if s := g.Name.All(); s.End > s.Start {
		return s
	}
	return g.span
}

// A Rule is an alerting or a recording rule.
type Rule struct {
	Group         *Group
	Index         int // in the group, from 0
	Alert, Record source.Text
	Expr          *promql.Expr // nil if there is none
	For           Duration
	KeepFiringFor Duration
	Labels        []Entry
	Annotations   []Entry
	span          source.Span
	place         source.Span
}

// Span returns the bytes of the rule.
func (r *Rule) Span() source.Span { return r.span }

// Origin returns where the rule comes from.
func (r *Rule) Origin() *lint.Origin { return r.Group.origin }

// Object names the rule in messages.
func (r *Rule) Object() lint.Object {
	o := lint.Object{Kind: "rule", Namespace: r.Group.origin.Namespace}
	switch {
	case r.Alert.Value != "":
		o.Kind, o.Name = "alert", r.Alert.Value
	case r.Record.Value != "":
		o.Kind, o.Name = "recording rule", r.Record.Value
	}
	return o
}

// Place returns where to report what the rule lacks: its name.
func (r *Rule) Place() source.Span { return r.place }

// IsAlert reports whether the rule is an alerting rule with a name.
func (r *Rule) IsAlert() bool { return r.Alert.Value != "" && r.Record.Value == "" }

// IsRecord reports whether the rule is a recording rule with a name.
func (r *Rule) IsRecord() bool { return r.Record.Value != "" && r.Alert.Value == "" }

// Label returns the label of that name that the rule itself sets.
func (r *Rule) Label(name string) (Entry, bool) { return find(r.Labels, name) }

// Annotation returns the annotation of that name.
func (r *Rule) Annotation(name string) (Entry, bool) { return find(r.Annotations, name) }

// queries returns the expressions that the templates of an alert ask for and
// that are written out in full.
func (r *Rule) queries() iter.Seq[*promql.Expr] {
	return func(yield func(*promql.Expr) bool) {
		for _, entries := range [...][]Entry{r.Labels, r.Annotations} {
			for _, e := range entries {
				if e.Template == nil || e.Template.Simple {
					continue
				}
				for _, q := range e.Template.Queries() {
					if q.Root != nil && len(q.Errors) == 0 && !q.Filled && !yield(q) {
						return
					}
				}
			}
		}
	}
}

// AllLabels returns the labels that Prometheus adds to what the rule returns:
// those of the rule, and those of its group that the rule does not set.
func (r *Rule) AllLabels() []Entry {
	if len(r.Group.Labels) == 0 {
		return r.Labels
	}
	all := r.Labels[:len(r.Labels):len(r.Labels)]
	for _, e := range r.Group.Labels {
		if _, ok := find(r.Labels, e.Key.Value); !ok {
			all = append(all, e)
		}
	}
	return all
}

// Alerts returns the alerts of the group that get its label of that name: those
// that have none of their own.
func (g *Group) Alerts(label string) iter.Seq[*Rule] {
	return func(yield func(*Rule) bool) {
		for _, r := range g.Rules {
			if _, own := r.Label(label); r.IsAlert() && !own && !yield(r) {
				return
			}
		}
	}
}

func find(entries []Entry, key string) (Entry, bool) {
	for _, e := range entries {
		if e.Key.Value == key {
			return e, true
		}
	}
	return Entry{}, false
}

// An Entry is a label or an annotation.
type Entry struct {
	Key, Value source.Text
	// Template is nil if the value has no template action, or is never expanded:
	// as those of a recording rule are not, while the labels of a group are
	// expanded for its alerts.
	Template *promql.Template
}

// Place returns where to report what is wrong with the value: the value, or
// the key where nothing is written for a value.
func (e Entry) Place() source.Span {
	if s := e.Value.All(); s.End > s.Start {
		return s
	}
	return e.Key.All()
}

// Templated reports whether the value is not the text it is written as.
func (e Entry) Templated() bool { return strings.Contains(e.Value.Value, "{{") }

// A Duration is a duration as Prometheus writes them.
type Duration struct {
	Text  source.Text
	Value model.Duration
	Set   bool // written, and valid
}
