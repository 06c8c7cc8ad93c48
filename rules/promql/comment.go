// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// Comments returns the comments of the expression, each from its # to the end
// of the line, up to the first token that is none. The expression need not parse.
func (e *Expr) Comments() []source.Text {
	if len(e.Text.Value) > maxLength {
		return nil
	}
	var out []source.Text
	lexer := parser.Lex(e.Text.Value)
	for {
		var item parser.Item
		lexer.NextItem(&item)
		switch item.Typ {
		case parser.EOF, parser.ERROR:
			return out
		case parser.COMMENT:
			out = append(out, e.Text.Slice(int(item.Pos), int(item.Pos)+len(item.Val)))
		}
	}
}
