// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A Token is a word of an expression.
type Token struct {
	Type  parser.ItemType
	Value string
	Span  source.Span
}

// Tokens returns the tokens of the expression up to the first that is none.
// The expression need not parse.
func (e *Expr) Tokens() []Token {
	if len(e.Text.Value) > maxLength {
		return nil
	}
	var out []Token
	lexer := parser.Lex(e.Text.Value)
	for {
		var item parser.Item
		lexer.NextItem(&item)
		if item.Typ == parser.EOF || item.Typ == parser.ERROR {
			return out
		}
		if item.Typ != parser.COMMENT {
			out = append(out, Token{Type: item.Typ, Value: item.Val, Span: e.item(item)})
		}
	}
}

// Range returns the place of the brackets of a range selector or a subquery.
func (e *Expr) Range(n parser.Expr) source.Span {
	var brackets source.Span
	depth := 0
	for _, item := range e.tokens(n) {
		switch item.Typ {
		case parser.LEFT_PAREN:
			depth++
		case parser.RIGHT_PAREN:
			depth--
		case parser.LEFT_BRACKET, parser.RIGHT_BRACKET:
			if depth == 0 {
				brackets = brackets.Union(e.item(item))
			}
		}
	}
	if brackets.IsZero() {
		return e.At(n)
	}
	return brackets
}
