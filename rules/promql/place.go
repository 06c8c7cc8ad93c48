// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
	"github.com/prometheus/prometheus/util/strutil"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A Matcher is a label matcher of a selector with its places.
type Matcher struct {
	*labels.Matcher
	Span  source.Span // name, operator and value
	Name  source.Span
	Op    source.Span
	Value source.Span // with its quotes
}

// tokens returns the tokens of the expression in the range of n.
func (e *Expr) tokens(n parser.Node) []parser.Item {
	start, end := e.clip(n.PositionRange())
	lexer := parser.Lex(e.Text.Value[start:end])
	var out []parser.Item
	for {
		var item parser.Item
		lexer.NextItem(&item)
		if item.Typ == parser.EOF || item.Typ == parser.ERROR {
			return out
		}
		item.Pos += posrange.Pos(start)
		if item.Typ != parser.COMMENT {
			out = append(out, item)
		}
	}
}

func (e *Expr) item(i parser.Item) source.Span {
	return e.Text.Span(int(i.Pos), int(i.Pos)+len(i.Val))
}

// Matchers returns the matchers of a selector as they were written, in order.
// A metric name in front of the braces, or alone between quotes in them, is no
// matcher of this list.
func (e *Expr) Matchers(n *parser.VectorSelector) []Matcher {
	items := e.tokens(n)
	var out []Matcher
	for i := 0; i+2 < len(items); i++ {
		switch items[i+1].Typ {
		case parser.EQL, parser.NEQ, parser.EQL_REGEX, parser.NEQ_REGEX:
		default:
			continue
		}
		value := items[i+2]
		if value.Typ != parser.STRING {
			continue
		}
		name, op := items[i], items[i+1]
		// The parser keeps the order, so the next one is where the last was found.
		for k := range n.LabelMatchers {
			m := n.LabelMatchers[(len(out)+k)%len(n.LabelMatchers)]
			if quoted(m.Name, name.Val) && m.Type.String() == op.Val && quoted(m.Value, value.Val) {
				out = append(out, Matcher{
					Matcher: m,
					Span:    e.Text.Span(int(name.Pos), int(value.Pos)+len(value.Val)),
					Name:    e.item(name),
					Op:      e.item(op),
					Value:   e.item(value),
				})
				break
			}
		}
		i += 2
	}
	return out
}

// quoted reports whether the token written is value, or value between quotes.
func quoted(value, written string) bool {
	if written == value {
		return true
	}
	if len(written) < 2 {
		return false
	}
	unquoted, err := strutil.Unquote(written)
	return err == nil && unquoted == value
}

// Name returns the place of the metric name of a selector, or of the opening
// brace where there is none.
func (e *Expr) Name(n *parser.VectorSelector) source.Span {
	items := e.tokens(n)
	if len(items) == 0 {
		return e.At(n)
	}
	return e.item(items[0])
}

// Function returns the place of the name of the called function.
func (e *Expr) Function(n *parser.Call) source.Span {
	start := int(n.PosRange.Start)
	return e.Text.Span(start, start+len(n.Func.Name))
}

// Grouping returns the place of a label in the by or without clause of n.
func (e *Expr) Grouping(n *parser.AggregateExpr, label string) source.Span {
	return e.labelAfter(n, label, parser.BY, parser.WITHOUT)
}

// labelAfter returns the place of a label in the list that follows one of the
// keywords, or that of n where the list is not found.
func (e *Expr) labelAfter(n parser.Node, label string, keywords ...parser.ItemType) source.Span {
	depth, in := 0, false // in: between a keyword of n itself and the end of its list
	for _, item := range e.tokens(n) {
		switch {
		case item.Typ == parser.LEFT_PAREN:
			depth++
		case item.Typ == parser.RIGHT_PAREN:
			depth--
			in = false
		case in && depth == 1 && quoted(label, item.Val):
			return e.item(item)
		case depth == 0 && slices.Contains(keywords, item.Typ):
			in = true
		}
	}
	return e.At(n)
}
