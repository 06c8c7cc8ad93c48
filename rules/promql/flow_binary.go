// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
)

func (a *analysis) binary(f *Flow, n *parser.BinaryExpr) {
	left, right := a.node(n.LHS), a.node(n.RHS)
	f.Dead = slices.Concat(left.Dead, right.Dead)
	scalarLeft, scalarRight := n.LHS.Type() == parser.ValueTypeScalar, n.RHS.Type() == parser.ValueTypeScalar
	switch {
	case scalarLeft && scalarRight:
		l, r := valueOf(left), valueOf(right)
		f.Branches = append(f.room(), none(result(n, l, r), nil))
	case scalarRight:
		a.withScalar(f, n, left, valueOf(right), n.Op)
	case scalarLeft:
		a.withScalar(f, n, right, valueOf(left), mirrored(n.Op))
	case n.Op == parser.LOR:
		a.or(f, n, left, right)
	case n.Op == parser.LUNLESS:
		a.unless(f, n, left, right)
	default:
		a.join(f, n, left, right)
	}
}

// mirrored returns the comparison that says the same with its sides swapped.
func mirrored(op parser.ItemType) parser.ItemType {
	switch op {
	case parser.GTR:
		return parser.LSS
	case parser.GTE:
		return parser.LTE
	case parser.LSS:
		return parser.GTR
	case parser.LTE:
		return parser.GTE
	}
	return op
}

// result returns the values of an operation that filters nothing.
func result(n *parser.BinaryExpr, l, r Interval) Interval {
	if n.Op.IsComparisonOperator() {
		switch {
		case l.holds(n.Op, r):
			return point(1)
		case l.narrow(n.Op, r).empty():
			return point(0)
		}
		return between(0, 1)
	}
	return l.calculate(n.Op, r)
}

// withScalar follows an operation of a vector with a number; op is the
// operator as it reads with the vector on its left.
func (a *analysis) withScalar(f *Flow, n *parser.BinaryExpr, vector *Flow, number Interval, op parser.ItemType) {
	for _, b := range vector.Branches {
		b = b.clone()
		switch {
		case op.IsComparisonOperator() && !n.ReturnBool:
			before := b.Value
			b.Always = b.Always && before.holds(op, number)
			b.Value = before.narrow(op, number)
			if b.Value.empty() {
				f.Dead = append(f.Dead, Dead{Node: n, Cause: FalseComparison, Value: before, Kind: b.Kind, Bound: number})
				continue
			}
			b.Conditional = b.Conditional || !before.holds(op, number)
		case op.IsComparisonOperator():
			dropName(&b, n)
			l, r := b.Value, number
			if op != n.Op {
				l, r = number, b.Value
			}
			b.Value, b.Kind = result(n, l, r), Boolean
		default:
			dropName(&b, n)
			b.Kind = scaledKind(n, b.Kind, number)
			if n.LHS.Type() == parser.ValueTypeScalar {
				b.Value = number.calculate(n.Op, b.Value)
			} else {
				b.Value = b.Value.calculate(n.Op, number)
			}
		}
		f.Branches = append(f.Branches, b)
	}
}

func (a *analysis) or(f *Flow, n *parser.BinaryExpr, left, right *Flow) {
	f.Branches = slices.Clone(left.Branches)
	m := n.VectorMatching
	hides := false
	for _, r := range right.Branches {
		// A series of the right is left out if one of the left has the same
		// matching labels; that is sure where neither has any.
		hidden := slices.ContainsFunc(left.Branches, func(l Branch) bool {
			return l.Always && (m.On && len(m.MatchingLabels) == 0 || l.Unlabelled() && r.Unlabelled())
		})
		hides = hides || hidden
		if !hidden {
			f.Branches = append(f.Branches, r)
		}
	}
	if hides && len(f.Branches) == len(left.Branches) {
		f.Dead = append(f.Dead, Dead{Node: n.RHS, Cause: Hidden})
	}
}

func (a *analysis) unless(f *Flow, n *parser.BinaryExpr, left, right *Flow) {
	m := n.VectorMatching
	for _, l := range left.Branches {
		sure := slices.ContainsFunc(right.Branches, func(r Branch) bool {
			return r.Always && (m.On && len(m.MatchingLabels) == 0 || l.Unlabelled() && r.Unlabelled())
		})
		if sure {
			f.Dead = append(f.Dead, Dead{Node: n, Cause: NothingLeft})
			continue
		}
		l = l.clone()
		if len(right.Branches) > 0 {
			l.Always = false
			l.Conditional = true
		}
		f.Branches = append(f.Branches, l)
	}
}

// join follows "and", arithmetic and comparisons of two vectors.
func (a *analysis) join(f *Flow, n *parser.BinaryExpr, left, right *Flow) {
	m := n.VectorMatching
	filled := m.FillValues.LHS != nil || m.FillValues.RHS != nil
	var dead []Dead
	for _, l := range left.Branches {
		for _, r := range right.Branches {
			if filled {
				f.Branches = append(f.Branches, unknown())
				continue
			}
			b, d := joined(n, l, r)
			if d != nil {
				dead = append(dead, *d)
				continue
			}
			before := l.Value
			switch {
			case n.Op == parser.LAND:
				b.Value = a.andValue(n, l)
				if b.Value.empty() {
					dead = append(dead, Dead{Node: n, Cause: FalseComparison, Value: before, Kind: l.Kind, Bound: r.Value})
					continue
				}
				b.Conditional = true
			case n.Op.IsComparisonOperator() && !n.ReturnBool:
				b.Value, b.Kind = before.narrow(n.Op, r.Value), l.Kind
				if b.Value.empty() {
					dead = append(dead, Dead{Node: n, Cause: FalseComparison, Value: before, Kind: l.Kind, Bound: r.Value})
					continue
				}
				b.Conditional = true
				b.Always = b.Always && before.holds(n.Op, r.Value)
			default:
				dropName(&b, n)
				if included(n, nameLabel) {
					b.set(nameLabel, one(n, &l, &r).Label(nameLabel))
				}
				b.Value, b.Kind = result(n, l.Value, r.Value), Unspecified
				switch {
				case n.Op.IsComparisonOperator():
					b.Kind = Boolean
				case isShare(n):
					b.Kind = Share
					// Rates of what is no counter may be negative.
					if l.Value.Low >= 0 && r.Value.Low >= 0 {
						b.Value = Interval{Low: 0, High: whole, NaN: true}
					}
				case n.Op == parser.ADD && l.Kind == r.Kind && (l.Kind == PerSecond || l.Kind == Count):
					b.Kind = l.Kind
				case n.Op == parser.ADD && (l.Kind == Counter || l.Kind == CounterSum) && (r.Kind == Counter || r.Kind == CounterSum):
					b.Kind = CounterSum
				}
			}
			f.Branches = append(f.Branches, b)
		}
	}
	f.Dead = append(f.Dead, dead...)
}

// andValue narrows the values of the left side of "and" by a comparison of the
// same series on the right, as in x > 5 and x < 3.
func (a *analysis) andValue(n *parser.BinaryExpr, l Branch) Interval {
	m := n.VectorMatching
	if m.On || len(m.MatchingLabels) > 0 {
		return l.Value // other series may match
	}
	left, _, ok := compared(n.LHS)
	if !ok {
		return l.Value
	}
	right, bounds, ok := compared(n.RHS)
	if !ok || normal(left) != normal(right) || unnamed(left) {
		return l.Value // the series of two metrics may match
	}
	for _, c := range bounds {
		l.Value = l.Value.narrow(c.op, c.bound)
	}
	return l.Value
}

type comparison struct {
	op    parser.ItemType
	bound Interval
}

// compared returns the expression inside comparisons with constants, and these.
func compared(e parser.Expr) (inner parser.Expr, bounds []comparison, ok bool) {
	for {
		b, isBinary := Unwrap(e).(*parser.BinaryExpr)
		if !isBinary || !b.Op.IsComparisonOperator() || b.ReturnBool {
			return Unwrap(e), bounds, len(bounds) > 0
		}
		if v, ok := constant(b.RHS); ok {
			bounds = append(bounds, comparison{b.Op, point(v)})
			e = b.LHS
		} else if v, ok := constant(b.LHS); ok {
			bounds = append(bounds, comparison{mirrored(b.Op), point(v)})
			e = b.RHS
		} else {
			return Unwrap(e), bounds, len(bounds) > 0
		}
	}
}

func constant(e parser.Expr) (float64, bool) {
	switch e := Unwrap(e).(type) {
	case *parser.NumberLiteral:
		return e.Val, true
	case *parser.UnaryExpr:
		v, ok := constant(e.Expr)
		if e.Op == parser.SUB {
			v = -v
		}
		return v, ok
	}
	return 0, false
}

func included(n *parser.BinaryExpr, label string) bool {
	return slices.Contains(n.VectorMatching.Include, label)
}

// one returns the side of which each series may match many of the other.
func one(n *parser.BinaryExpr, l, r *Branch) *Branch {
	if n.VectorMatching.Card == parser.CardOneToMany {
		return l
	}
	return r
}

// joined returns the labels of the result of a join of two branches, or why no
// series of the one matches one of the other.
func joined(n *parser.BinaryExpr, l, r Branch) (Branch, *Dead) {
	m := n.VectorMatching
	matching := func(name string) bool { return slices.Contains(m.MatchingLabels, name) == m.On }
	kept := l
	if m.Card == parser.CardOneToMany {
		kept = r
	}
	out := kept.clone()
	out.Always = l.Always && r.Always && (m.On && len(m.MatchingLabels) == 0 || l.Unlabelled() && r.Unlabelled())
	out.Conditional = l.Conditional || r.Conditional

	meet := func(name string) *Dead {
		a, b := l.Label(name), r.Label(name)
		met, cause, ok := both(a, b)
		if !ok {
			d := &Dead{Node: n, Cause: cause, Label: name}
			if cause == MissingLabel {
				d.Left = a.Presence == Impossible
				d.Why = b.Why
				if d.Left {
					d.Why = a.Why
				}
			}
			return d
		}
		if met.Presence == Impossible && met.Why == nil {
			met.Why = n
		}
		out.set(name, met)
		return nil
	}
	known := names(&l, &r, m.MatchingLabels)
	for _, name := range known {
		if !matching(name) || name == nameLabel && !m.On {
			continue
		}
		if d := meet(name); d != nil {
			return Branch{}, d
		}
	}
	if !m.On {
		if met, _, ok := both(l.rest, r.rest); ok {
			before := make(facts, 0, len(known)+1)
			for _, name := range append(known, nameLabel) {
				before = append(before, labelFact{name, out.Label(name)})
			}
			out.rest = met
			for _, f := range before {
				out.set(f.name, f.Fact)
			}
		}
	}
	if n.Op == parser.LAND {
		return out, nil
	}
	if m.Card == parser.CardOneToOne {
		if m.On {
			keep(&out, m.MatchingLabels, n)
		} else {
			for _, name := range m.MatchingLabels {
				removed(&out, name, n)
			}
		}
		return out, nil
	}
	other := one(n, &l, &r)
	for _, name := range m.Include {
		f := other.Label(name)
		if f.Presence == Impossible && f.Why == nil {
			f.Why = n
		}
		out.set(name, f)
	}
	return out, nil
}

// keep removes all labels but those named.
func keep(b *Branch, names []string, why parser.Node) {
	before := *b
	if b.rest.Presence != Impossible || b.rest.Why == nil {
		b.rest = Fact{Presence: Impossible, Why: why}
	}
	b.labels, b.owned = nil, false
	for _, f := range before.labels {
		if f.Presence != Impossible || f.Why == nil {
			f.Fact = Fact{Presence: Impossible, Why: why}
		}
		b.set(f.name, f.Fact)
	}
	for _, name := range names {
		b.set(name, before.Label(name))
	}
}
