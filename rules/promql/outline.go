// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// maxListed bounds the labels that an outline lists.
const maxListed = 6

// Outline returns an operation in short, for messages: the operator and its
// clause, the function, the metric; not what it is applied to.
func Outline(n parser.Node) string {
	switch n := n.(type) {
	case *parser.ParenExpr:
		return Outline(n.Expr)
	case *parser.StepInvariantExpr:
		return Outline(n.Expr)
	case *parser.UnaryExpr:
		return n.Op.String()
	case *parser.AggregateExpr:
		switch {
		case n.Without:
			return n.Op.String() + " without " + LabelList(n.Grouping)
		case len(n.Grouping) > 0:
			return n.Op.String() + " by " + LabelList(n.Grouping)
		}
		return n.Op.String()
	case *parser.Call:
		return n.Func.Name
	case *parser.BinaryExpr:
		out := n.Op.String()
		if n.ReturnBool {
			out += " bool"
		}
		m := n.VectorMatching
		switch {
		case m == nil:
			return out
		case m.On:
			out += " on " + LabelList(m.MatchingLabels)
		case len(m.MatchingLabels) > 0:
			out += " ignoring " + LabelList(m.MatchingLabels)
		}
		switch m.Card {
		case parser.CardManyToOne:
			out += " group_left " + LabelList(m.Include)
		case parser.CardOneToMany:
			out += " group_right " + LabelList(m.Include)
		}
		return out
	case *parser.MatrixSelector:
		return Outline(n.VectorSelector)
	case *parser.SubqueryExpr:
		return "subquery"
	case *parser.VectorSelector:
		if name := Metric(n); name != "" {
			return name
		}
		return "selector"
	}
	return "expression"
}

// LabelList returns labels between parentheses, the first few of them if they
// are many.
func LabelList(labels []string) string {
	if len(labels) > maxListed {
		return "(" + strings.Join(labels[:maxListed], ", ") + ", …)"
	}
	return "(" + strings.Join(labels, ", ") + ")"
}

// clause returns the tokens of the operator of n and of its clauses.
func (e *Expr) clause(n *parser.BinaryExpr) []parser.Item {
	start, end := e.clip(posrange.PositionRange{Start: n.LHS.PositionRange().End, End: n.RHS.PositionRange().Start})
	lexer := parser.Lex(e.Text.Value[start:end])
	var out []parser.Item
	for {
		var item parser.Item
		lexer.NextItem(&item)
		if item.Typ == parser.EOF || item.Typ == parser.ERROR {
			return out
		}
		if item.Typ != parser.COMMENT {
			item.Pos += posrange.Pos(start)
			out = append(out, item)
		}
	}
}

// Operator returns the place of the operator of n and of its clauses.
func (e *Expr) Operator(n *parser.BinaryExpr) source.Span {
	var out source.Span
	for _, item := range e.clause(n) {
		out = out.Union(e.item(item))
	}
	if out.IsZero() {
		return e.At(n)
	}
	return out
}

// MatchingLabel returns the place of a label in the clauses of n, or that of
// its operator.
func (e *Expr) MatchingLabel(n *parser.BinaryExpr, label string) source.Span {
	for _, item := range e.clause(n) {
		if quoted(label, item.Val) {
			return e.item(item)
		}
	}
	return e.Operator(n)
}

// OutlineNumber returns a number as PromQL writes it.
func OutlineNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
