// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
)

func (a *analysis) aggregate(f *Flow, n *parser.AggregateExpr) {
	inner := a.node(n.Expr)
	f.Dead = inner.Dead
	var param *Flow
	if n.Param != nil {
		param = a.node(n.Param)
	}
	switch n.Op {
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		some := false // at least one series of each group is sure to stay
		if param != nil && len(param.Branches) == 1 && n.Op != parser.LIMIT_RATIO {
			k, ok := param.Branches[0].Value.Point()
			some = ok && k >= 1
		}
		for _, b := range inner.Branches {
			b = b.clone()
			b.Always = b.Always && some
			f.Branches = append(f.Branches, b)
		}
		return
	}
	if len(inner.Branches) == 0 {
		return
	}
	// A group may hold series of several branches.
	values := inner.Branches[0].Value
	for _, b := range inner.Branches[1:] {
		values = values.union(b.Value)
	}
	for _, b := range inner.Branches {
		out := group(b, n)
		out.Value = aggregated(n, param, values)
		if out.Kind = aggregatedKind(n, b.Kind); len(inner.Branches) > 1 && n.Op != parser.COUNT && n.Op != parser.GROUP && !sameKind(inner.Branches) {
			out.Kind = Unspecified
		}
		if n.Op == parser.COUNT_VALUES {
			countValues(&out, n)
		}
		f.Branches = append(f.Branches, out)
	}
}

func sameKind(branches []Branch) bool {
	return !slices.ContainsFunc(branches, func(b Branch) bool { return b.Kind != branches[0].Kind })
}

// group returns the labels that an aggregation leaves.
func group(b Branch, n *parser.AggregateExpr) Branch {
	if n.Without {
		out := b.clone()
		for _, name := range n.Grouping {
			removed(&out, name, n)
		}
		removed(&out, nameLabel, n)
		return out
	}
	out := Branch{
		rest: Fact{Presence: Impossible, Why: n}, Always: b.Always, Conditional: b.Conditional,
		labels: make(facts, 0, len(n.Grouping)+1), owned: true,
	}
	for _, f := range b.labels {
		// What was not there before was not taken away here.
		if f.Presence == Impossible && f.Why != nil {
			out.put(f.name, f.Fact)
		}
	}
	if b.rest.Presence == Impossible && b.rest.Why != nil {
		out.rest = b.rest
		for _, f := range b.labels {
			if f.Presence != Impossible {
				out.put(f.name, Fact{Presence: Impossible, Why: n})
			}
		}
	}
	for _, name := range n.Grouping {
		out.set(name, b.Label(name))
	}
	return out
}

// removed takes a label away; one that was not there keeps its cause.
func removed(b *Branch, name string, why parser.Node) {
	if f := b.Label(name); f.Presence == Impossible && f.Why != nil {
		return
	}
	b.set(name, Fact{Presence: Impossible, Why: why})
}

func countValues(b *Branch, n *parser.AggregateExpr) {
	s, ok := Unwrap(n.Param).(*parser.StringLiteral)
	if !ok {
		return
	}
	for _, name := range n.Grouping {
		if n.Without && name == s.Val {
			return // the label is added, then left out of the result
		}
	}
	b.set(s.Val, Fact{Presence: Guaranteed})
}

// aggregated returns the values that an aggregation of values can have.
func aggregated(n *parser.AggregateExpr, param *Flow, values Interval) Interval {
	switch n.Op {
	case parser.COUNT, parser.COUNT_VALUES:
		return atLeast(1)
	case parser.GROUP:
		return point(1)
	case parser.MIN, parser.MAX:
		return values
	case parser.AVG:
		values.LowOpen, values.HighOpen = false, false // rounding
		if !values.NaN && (math.IsInf(values.Low, 0) || math.IsInf(values.High, 0)) {
			values.NaN = math.IsInf(values.Low, -1) && math.IsInf(values.High, 1)
		}
		return values
	case parser.QUANTILE:
		if param != nil && len(param.Branches) == 1 {
			if q, ok := param.Branches[0].Value.Point(); ok && q >= 0 && q <= 1 {
				// Between an infinite value and another one lies no number.
				values.NaN = values.NaN || math.IsInf(values.Low, 0) || math.IsInf(values.High, 0)
				values.LowOpen, values.HighOpen = false, false
				return values
			}
		}
	case parser.STDDEV, parser.STDVAR:
		out := atLeast(0)
		out.NaN = true
		return out
	case parser.SUM:
		out := anything()
		if values.Low >= 0 {
			out = Interval{Low: values.Low, High: math.Inf(1), NaN: values.NaN}
		} else if values.High <= 0 {
			out = Interval{Low: math.Inf(-1), High: values.High, NaN: values.NaN}
		}
		return out
	}
	return anything()
}
