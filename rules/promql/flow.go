// SPDX-License-Identifier: Apache-2.0

package promql

import (
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
	Kind  Kind
	// Always says that the branch has a result whatever data there is.
	Always bool
	// Conditional says that something on the way may leave series out: a
	// comparison, a set operator, absent.
	Conditional bool

	labels facts
	owned  bool // the facts are shared with no other branch
	rest   Fact // of every label that is not in labels
}

// Label returns what is known of a label; the metric name is __name__.
func (b *Branch) Label(name string) Fact {
	if i, ok := b.labels.search(name); ok {
		return b.labels[i].Fact
	}
	return b.rest
}

// Closed reports whether no labels but those that [Branch.Names] gives can be there.
func (b *Branch) Closed() bool { return b.rest.Presence == Impossible }

// Names returns the labels of which more is known than of all others, sorted.
func (b *Branch) Names() []string { return names(b, &Branch{}, nil) }

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
	b.owned = false
	return b
}

// A Flow is what is known of the result of an expression.
type Flow struct {
	Branches []Branch // none: the result is always empty
	Dead     []Dead   // why a part of the expression gives nothing

	only [1]Branch // room for the branch that most have
}

// room returns an empty list of branches of which the first takes no memory.
func (f *Flow) room() []Branch { return f.only[:0] }

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
	Hidden                       // the left side of "or" is there in any case
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
	Kind  Kind     // and what they stand for
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
func (e *Expr) Flow(env Env) *Flow { return e.Parts(env).Flow(e.Root) }

// Parts are what is known of each part of an expression. They do not change.
type Parts struct {
	env   Env
	flows []partFlow
	index map[parser.Node]*Flow // of many parts; nil of few
	all   *Flow                 // said of every part, if they are too many to look at
}

type partFlow struct {
	part parser.Node
	flow *Flow
}

// maxFlow bounds the expressions that are followed, in bytes: four times the
// longest of those that people write.
const maxFlow = 32 << 10

// Parts returns what is known of the result of each part of the expression.
func (e *Expr) Parts(env Env) *Parts {
	p := &Parts{env: env}
	if e.Root == nil || len(e.Text.Value) > maxFlow {
		p.all = &Flow{Branches: []Branch{unknown()}}
		return p
	}
	p.flows = make([]partFlow, 0, 16)
	a := &analysis{env: env, parts: p}
	a.node(e.Root)
	return p
}

// Flow returns what is known of the result of n: a part of the expression, or
// an operation on parts of it that a check has made up.
func (p *Parts) Flow(n parser.Expr) *Flow {
	if f := p.find(n); f != nil {
		return f
	}
	a := &analysis{env: p.env, known: p, parts: &Parts{}}
	return a.node(n)
}

func (p *Parts) find(n parser.Node) *Flow {
	switch {
	case p.all != nil:
		return p.all
	case p.index != nil:
		return p.index[n]
	}
	for i := len(p.flows) - 1; i >= 0; i-- {
		if p.flows[i].part == n {
			return p.flows[i].flow
		}
	}
	return nil
}

func (p *Parts) add(n parser.Node, f *Flow) {
	const few = 24 // what is searched as fast without an index
	p.flows = append(p.flows, partFlow{n, f})
	if p.index == nil && len(p.flows) > few {
		p.index = make(map[parser.Node]*Flow, 2*few)
		for _, known := range p.flows {
			p.index[known.part] = known.flow
		}
	} else if p.index != nil {
		p.index[n] = f
	}
}

// analysis fills parts, by what is known already.
type analysis struct {
	env          Env
	known, parts *Parts
	free         []Flow
}

// flow returns a flow to fill. They are allocated several at a time.
func (a *analysis) flow() *Flow {
	if len(a.free) == 0 {
		a.free = make([]Flow, 8)
	}
	f := &a.free[0]
	a.free = a.free[1:]
	f.Branches = f.room()
	return f
}

func unknown() Branch { return Branch{Value: anything()} }

// none returns a branch of a single result without labels.
func none(value Interval, why parser.Node) Branch {
	return Branch{rest: Fact{Presence: Impossible, Why: why}, Value: value, Always: true}
}

func (a *analysis) node(n parser.Expr) *Flow {
	if a.known != nil {
		if f := a.known.find(n); f != nil {
			return f
		}
	}
	if inner := inside(n); inner != nil {
		f := a.node(inner)
		a.parts.add(n, f)
		return f
	}
	f := a.flow()
	switch n := n.(type) {
	case *parser.NumberLiteral:
		f.Branches = append(f.room(), none(point(n.Val), nil))
	case *parser.StringLiteral:
		f.Branches = append(f.room(), none(anything(), nil))
	case *parser.VectorSelector:
		a.selector(f, n)
	case *parser.UnaryExpr:
		inner := a.node(n.Expr)
		f.Dead = inner.Dead
		for _, b := range inner.Branches {
			b = b.clone()
			if n.Op == parser.SUB {
				dropName(&b, n)
				b.Value, b.Kind = b.Value.negate(), Unspecified
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
		f.Branches = append(f.room(), unknown())
	}
	f.Branches = simplify(f.Branches)
	if n := len(f.Dead) - maxDead; n > 0 {
		f.Dead = slices.Clone(f.Dead[n:])
	}
	a.parts.add(n, f)
	return f
}

// inside returns the expression whose series n has, or nil.
func inside(n parser.Expr) parser.Expr {
	switch n := n.(type) {
	case *parser.ParenExpr:
		return n.Expr
	case *parser.StepInvariantExpr:
		return n.Expr
	case *parser.MatrixSelector:
		return n.VectorSelector
	case *parser.SubqueryExpr:
		return n.Expr
	}
	return nil
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
			if out[i].rest.Presence == b.rest.Presence && slices.EqualFunc(out[i].labels, b.labels, sameFact) {
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

func sameFact(a, b labelFact) bool {
	return a.name == b.name && a.Presence == b.Presence && (a.Values == nil) == (b.Values == nil) && slices.Equal(a.Values, b.Values)
}

// merge returns the branch that a series of either agrees with.
func merge(a, b Branch) Branch {
	out := Branch{
		rest:        either(a.rest, b.rest),
		Value:       a.Value.union(b.Value),
		Always:      a.Always || b.Always,
		Conditional: a.Conditional && b.Conditional,
	}
	if a.Kind == b.Kind {
		out.Kind = a.Kind
	}
	for _, name := range names(&a, &b, nil) {
		out.set(name, either(a.Label(name), b.Label(name)))
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
