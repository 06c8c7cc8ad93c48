// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"maps"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// Presence says whether the series of a result carry a label.
type Presence uint8

// What is known of a label: it may be there, it is there with a value that is
// not empty, or it is not there.
const (
	Possible Presence = iota
	Guaranteed
	Impossible
)

// A Fact is what is known of a label in a result.
type Fact struct {
	Presence Presence
	Values   []string    // sorted; if not nil, the label has one of these where it is there
	Why      parser.Node // what made the label impossible, or nil
}

// A Branch is one of the ways in which an expression gives series: each series
// of a result agrees with all facts of at least one branch. Only "or" makes
// more branches than one.
type Branch struct {
	Value Interval
	// Always says that the branch has a result whatever data there is.
	Always bool
	// Conditional says that something on the way may leave series out: a
	// comparison, a set operator, absent.
	Conditional bool

	labels map[string]Fact
	rest   Fact // of every label that is not in labels
}

// Label returns what is known of a label; the metric name is __name__.
func (b *Branch) Label(name string) Fact {
	if f, ok := b.labels[name]; ok {
		return f
	}
	return b.rest
}

// Closed reports whether no labels but those that [Branch.Names] gives can be there.
func (b *Branch) Closed() bool { return b.rest.Presence == Impossible }

// Names returns the labels of which more is known than of all others, sorted.
func (b *Branch) Names() []string { return slices.Sorted(maps.Keys(b.labels)) }

// Unlabelled reports whether the branch has one series at most: one without labels.
func (b *Branch) Unlabelled() bool {
	if !b.Closed() {
		return false
	}
	for _, f := range b.labels {
		if f.Presence != Impossible {
			return false
		}
	}
	return true
}

func (b Branch) clone() Branch {
	b.labels = maps.Clone(b.labels)
	if b.labels == nil {
		b.labels = map[string]Fact{}
	}
	return b
}

func (b *Branch) set(name string, f Fact) {
	// What agrees with the rest needs no entry of its own, but a value or a
	// cause does.
	if f.Presence == b.rest.Presence && f.Values == nil && f.Why == b.rest.Why {
		delete(b.labels, name)
		return
	}
	b.labels[name] = f
}

// A Flow is what is known of the result of an expression.
type Flow struct {
	Branches []Branch // none: the result is always empty
	Dead     []Dead   // why a part of the expression gives nothing
}

// Always reports whether there is a result whatever data there is.
func (f *Flow) Always() bool {
	return slices.ContainsFunc(f.Branches, func(b Branch) bool { return b.Always })
}

// Label returns what is known of a label over all branches.
func (f *Flow) Label(name string) Fact {
	if len(f.Branches) == 0 {
		return Fact{Presence: Impossible}
	}
	out := f.Branches[0].Label(name)
	for _, b := range f.Branches[1:] {
		out = either(out, b.Label(name))
	}
	return out
}

// A Cause is the reason why a part of an expression gives nothing.
type Cause uint8

// The causes.
const (
	Contradiction   Cause = iota // the matchers of a selector exclude each other
	MissingLabel                 // one side of a join always has a label that the other can't have
	DisjointValues               // both sides of a join have a label, and never with the same value
	FalseComparison              // the values never compare so
	MissingBuckets               // a quantile of classic buckets without le
	NeverAbsent                  // absent of what is always there
	NothingLeft                  // "unless" takes away all
)

// Dead is a part of an expression that never gives anything.
type Dead struct {
	Node  parser.Node
	Cause Cause
	Label string // for Contradiction, MissingLabel and DisjointValues
	// Why is what took the label away, or nil; Left says that it is missing on
	// the left side.
	Why   parser.Node
	Left  bool
	Value Interval // for FalseComparison, the values compared
	Bound Interval
}

// Env is what is known of the data that expressions read.
type Env struct {
	// Recorded returns what is known of the series of a metric that recording
	// rules write, or nil if it is not known who writes it.
	Recorded func(metric string) []Branch
	// TargetLabels are labels that each series scraped from a target carries.
	// They are not assumed of recorded series, nor of those Prometheus makes up.
	TargetLabels []string
	// Made reports whether rules write a metric whose name does not tell so; it
	// may be nil.
	Made func(metric string) bool
}

// Flow returns what is known of the result of the expression.
func (e *Expr) Flow(env Env) *Flow {
	if e.Root == nil || len(e.Text.Value) > maxFlow {
		return &Flow{Branches: []Branch{unknown()}}
	}
	a := &analysis{env: env, nodes: map[parser.Node]*Flow{}}
	return a.node(e.Root)
}

// maxFlow bounds the expressions that are followed, in bytes: four times the
// longest of those that people write.
const maxFlow = 32 << 10

// Flows returns what is known of the result of each part of the expression.
func (e *Expr) Flows(env Env) map[parser.Node]*Flow {
	a := &analysis{env: env, nodes: map[parser.Node]*Flow{}}
	if e.Root != nil {
		a.node(e.Root)
	}
	return a.nodes
}

// Parts tells what is known of parts of expressions. Each is analysed once, when
// it or what holds it is first asked for; Parts are not for concurrent use.
type Parts struct{ a *analysis }

// NewParts returns Parts under an Env.
func NewParts(env Env) *Parts {
	return &Parts{&analysis{env: env, nodes: map[parser.Node]*Flow{}}}
}

// Flow returns what is known of the result of n.
func (p *Parts) Flow(n parser.Expr) *Flow { return p.a.node(n) }

type analysis struct {
	env   Env
	nodes map[parser.Node]*Flow
}

func unknown() Branch { return Branch{labels: map[string]Fact{}, Value: anything()} }

// none returns a branch of a single result without labels.
func none(value Interval, why parser.Node) Branch {
	return Branch{labels: map[string]Fact{}, rest: Fact{Presence: Impossible, Why: why}, Value: value, Always: true}
}

func (a *analysis) node(n parser.Expr) *Flow {
	if f, ok := a.nodes[n]; ok {
		return f
	}
	f := &Flow{}
	switch n := n.(type) {
	case *parser.ParenExpr:
		*f = *a.node(n.Expr)
	case *parser.StepInvariantExpr:
		*f = *a.node(n.Expr)
	case *parser.NumberLiteral:
		f.Branches = []Branch{none(point(n.Val), nil)}
	case *parser.StringLiteral:
		f.Branches = []Branch{none(anything(), nil)}
	case *parser.VectorSelector:
		a.selector(f, n)
	case *parser.MatrixSelector:
		*f = *a.node(n.VectorSelector)
	case *parser.SubqueryExpr:
		*f = *a.node(n.Expr)
	case *parser.UnaryExpr:
		inner := a.node(n.Expr)
		f.Dead = inner.Dead
		for _, b := range inner.Branches {
			b = b.clone()
			if n.Op == parser.SUB {
				dropName(&b, n)
				b.Value = b.Value.negate()
			}
			f.Branches = append(f.Branches, b)
		}
	case *parser.AggregateExpr:
		a.aggregate(f, n)
	case *parser.Call:
		a.call(f, n)
	case *parser.BinaryExpr:
		a.binary(f, n)
	default:
		f.Branches = []Branch{unknown()}
	}
	f.Branches = simplify(f.Branches)
	if n := len(f.Dead) - maxDead; n > 0 {
		f.Dead = slices.Clone(f.Dead[n:])
	}
	a.nodes[n] = f
	return f
}

// maxDead bounds the dead parts that are told of: each part of an expression
// holds those of its own parts.
const maxDead = 64

// maxBranches bounds the branches that joins of alternatives multiply.
const maxBranches = 16

// simplify merges branches that say the same of labels, and all of them if
// there are too many.
func simplify(branches []Branch) []Branch {
	if len(branches) < 2 {
		return branches
	}
	out := branches[:0:0]
next:
	for _, b := range branches {
		for i := range out {
			if out[i].rest.Presence == b.rest.Presence && maps.EqualFunc(out[i].labels, b.labels, sameFact) {
				out[i] = merge(out[i], b)
				continue next
			}
		}
		out = append(out, b)
	}
	if len(out) > maxBranches {
		all := out[0]
		for _, b := range out[1:] {
			all = merge(all, b)
		}
		out = []Branch{all}
	}
	return out
}

func sameFact(a, b Fact) bool {
	return a.Presence == b.Presence && (a.Values == nil) == (b.Values == nil) && slices.Equal(a.Values, b.Values)
}

// merge returns the branch that a series of either agrees with.
func merge(a, b Branch) Branch {
	out := Branch{
		labels:      map[string]Fact{},
		rest:        either(a.rest, b.rest),
		Value:       a.Value.union(b.Value),
		Always:      a.Always || b.Always,
		Conditional: a.Conditional && b.Conditional,
	}
	for _, names := range []map[string]Fact{a.labels, b.labels} {
		for name := range names {
			out.set(name, either(a.Label(name), b.Label(name)))
		}
	}
	return out
}

// either returns what is known of a label if one of two facts holds.
func either(a, b Fact) Fact {
	switch {
	case a.Presence == Impossible && b.Presence == Impossible:
		if a.Why == nil {
			return b
		}
		return a
	case a.Presence == Impossible:
		return Fact{Presence: Possible, Values: b.Values}
	case b.Presence == Impossible:
		return Fact{Presence: Possible, Values: a.Values}
	}
	out := Fact{Presence: Possible}
	if a.Presence == Guaranteed && b.Presence == Guaranteed {
		out.Presence = Guaranteed
	}
	if a.Values != nil && b.Values != nil {
		out.Values = union(a.Values, b.Values)
	}
	return out
}

func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

func intersect(a, b []string) []string {
	out := []string{}
	for _, v := range a {
		if _, ok := slices.BinarySearch(b, v); ok {
			out = append(out, v)
		}
	}
	return out
}

// both returns what is known of a label that has the same value, or is absent,
// in two results; ok is false if that can't be.
func both(a, b Fact) (f Fact, cause Cause, ok bool) {
	switch {
	case a.Presence == Impossible && b.Presence == Impossible:
		if a.Why == nil {
			return b, 0, true
		}
		return a, 0, true
	case a.Presence == Impossible:
		return a, MissingLabel, b.Presence != Guaranteed
	case b.Presence == Impossible:
		return b, MissingLabel, a.Presence != Guaranteed
	}
	f = Fact{Presence: max(a.Presence, b.Presence)} // Guaranteed if either is
	switch {
	case a.Values != nil && b.Values != nil:
		f.Values = intersect(a.Values, b.Values)
	case a.Values != nil:
		f.Values = a.Values
	default:
		f.Values = b.Values
	}
	if f.Values != nil && len(f.Values) == 0 {
		if f.Presence == Guaranteed {
			return f, DisjointValues, false
		}
		f = Fact{Presence: Impossible}
	}
	return f, 0, true
}

const nameLabel = model.MetricNameLabel

// dropName takes the metric name away.
func dropName(b *Branch, why parser.Node) {
	b.set(nameLabel, Fact{Presence: Impossible, Why: why})
}
