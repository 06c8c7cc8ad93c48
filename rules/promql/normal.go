// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Normal is [Expr.Normal] of a part of an expression.
func Normal(n parser.Expr) string { return normal(n) }

// normal prints an expression with its matchers and grouping labels sorted and
// with brackets only around operands, where they decide the order.
func normal(root parser.Expr) string {
	var b strings.Builder
	var write func(n parser.Expr)
	list := func(sep string, items []string) {
		b.WriteString(strings.Join(items, sep))
	}
	sorted := func(items []string) []string {
		items = slices.Clone(items)
		slices.Sort(items)
		return slices.Compact(items)
	}
	write = func(n parser.Expr) {
		switch n := Unwrap(n).(type) {
		case *parser.AggregateExpr:
			b.WriteString(n.Op.String())
			if n.Without {
				b.WriteString(" without")
			}
			b.WriteByte('(')
			list(",", sorted(n.Grouping))
			b.WriteString(")(")
			if n.Param != nil {
				write(n.Param)
				b.WriteByte(',')
			}
			write(n.Expr)
			b.WriteByte(')')
		case *parser.BinaryExpr:
			b.WriteByte('(')
			write(n.LHS)
			b.WriteByte(' ')
			b.WriteString(n.Op.String())
			if n.ReturnBool {
				b.WriteString(" bool")
			}
			if m := n.VectorMatching; m != nil {
				if m.On {
					b.WriteString(" on")
				}
				b.WriteByte('(')
				list(",", sorted(m.MatchingLabels))
				b.WriteByte(')')
				b.WriteString(m.Card.String())
				b.WriteByte('(')
				list(",", sorted(m.Include))
				b.WriteByte(')')
				if m.FillValues.LHS != nil || m.FillValues.RHS != nil {
					b.WriteString(n.String()) // rare: no two spellings are told to be one
				}
			}
			b.WriteByte(' ')
			write(n.RHS)
			b.WriteByte(')')
		case *parser.Call:
			b.WriteString(n.Func.Name)
			b.WriteByte('(')
			for i, a := range n.Args {
				if i > 0 {
					b.WriteByte(',')
				}
				write(a)
			}
			b.WriteByte(')')
		case *parser.UnaryExpr:
			b.WriteString(n.Op.String())
			write(n.Expr)
		case *parser.VectorSelector:
			b.WriteString(selector(n))
		case *parser.MatrixSelector, *parser.SubqueryExpr, *parser.StepInvariantExpr:
			// Ranges, offsets and @ have many parts; only the selector inside can
			// be spelled in several ways.
			b.WriteString(rangeNormal(n))
		default:
			b.WriteString(n.String())
		}
	}
	write(root)
	return b.String()
}

func rangeNormal(n parser.Expr) string {
	switch n := n.(type) {
	case *parser.MatrixSelector:
		if v, ok := n.VectorSelector.(*parser.VectorSelector); ok {
			printed, bare := n.String(), v.String()
			if strings.HasPrefix(printed, v.Name) && !strings.Contains(bare, "[") {
				return selector(v) + suffix(printed)
			}
		}
	case *parser.SubqueryExpr:
		return "(" + normal(n.Expr) + ")" + suffix(n.String())
	}
	return n.String()
}

// suffix returns the part of a printed range selector from its last bracket on.
func suffix(printed string) string {
	return printed[max(strings.LastIndexByte(printed, '['), 0):]
}

func selector(n *parser.VectorSelector) string {
	matchers := slices.Clone(n.LabelMatchers)
	slices.SortFunc(matchers, func(a, b *labels.Matcher) int { return strings.Compare(a.String(), b.String()) })
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range matchers {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(m.String())
	}
	b.WriteByte('}')
	// What follows the braces (offset, @, anchored) is printed after them.
	plain := parser.VectorSelector{Name: n.Name, LabelMatchers: n.LabelMatchers}
	b.WriteString(strings.TrimPrefix(n.String(), plain.String()))
	return b.String()
}
