// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"regexp"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// Queries returns the expressions that the template asks Prometheus for, as far
// as they are written out: the argument of query, and the format of a printf
// that makes it, with something in the place of each verb.
func (t *Template) Queries() []*Expr {
	if t.Simple || t.Tree() == nil || !strings.Contains(t.Text.Value, "query") {
		return nil
	}
	var out []*Expr
	t.Inspect(func(n parse.Node) {
		p, ok := n.(*parse.PipeNode)
		if !ok {
			return
		}
		for i, c := range p.Cmds {
			name, ok := c.Args[0].(*parse.IdentifierNode)
			if !ok || name.Ident != "query" {
				continue
			}
			var e *Expr
			switch {
			case len(c.Args) == 2:
				e = t.query(c.Args[1])
			case len(c.Args) == 1 && i > 0:
				e = t.queryOf(p.Cmds[i-1])
			}
			if e != nil {
				out = append(out, e)
			}
		}
	})
	return out
}

// query returns the expression that an argument of query is, or nil.
func (t *Template) query(arg parse.Node) *Expr {
	switch arg := arg.(type) {
	case *parse.StringNode:
		if text, ok := t.unquoted(arg); ok {
			return Parse(text)
		}
	case *parse.PipeNode:
		if len(arg.Cmds) == 1 {
			return t.queryOf(arg.Cmds[0])
		}
	}
	return nil
}

// queryOf returns the expression that a command makes, or nil.
func (t *Template) queryOf(c *parse.CommandNode) *Expr {
	if s, ok := c.Args[0].(*parse.StringNode); ok && len(c.Args) == 1 {
		return t.query(s)
	}
	name, ok := c.Args[0].(*parse.IdentifierNode)
	if !ok || name.Ident != "printf" || len(c.Args) < 2 {
		return nil
	}
	format, ok := c.Args[1].(*parse.StringNode)
	if !ok {
		return nil
	}
	text, ok := t.unquoted(format)
	if !ok {
		return nil
	}
	// What a verb prints may be a value, a name, a number or a duration.
	var e *Expr
	for _, word := range []string{"x", "1", "5m"} {
		printed, ok := expandVerbs(text, word)
		if !ok {
			return nil
		}
		if e = Parse(printed); e.Root != nil {
			break
		}
	}
	if e.Root == nil && verb.MatchString(text.Value) {
		return nil // the verb may print more than one word
	}
	e.Filled = verb.MatchString(text.Value)
	return e
}

var verb = regexp.MustCompile(`%(?:%|[-+ 0-9.]*[a-zA-Z])`)

// expandVerbs returns a format with word in the place of each verb.
func expandVerbs(format source.Text, word string) (source.Text, bool) {
	b := source.NewBuilder(format)
	at := 0
	for _, m := range verb.FindAllStringIndex(format.Value, -1) {
		b.Copy(at, m[0])
		at = m[1]
		switch format.Value[at-1] {
		case '%':
			b.Replace(m[0], m[1], "%")
		case 'q':
			b.Replace(m[0], m[1], strconv.Quote(word))
		case 's', 'v', 'd', 'f', 'g', 'e':
			b.Replace(m[0], m[1], word)
		default:
			return source.Text{}, false
		}
	}
	b.Copy(at, len(format.Value))
	return b.Text(), true
}

// unquoted returns what a string of the template stands for, with its place.
func (t *Template) unquoted(n *parse.StringNode) (source.Text, bool) {
	start := int(n.Position()) - t.offset
	if start < 0 || start > len(t.Text.Value) || !strings.HasPrefix(t.Text.Value[start:], n.Quoted) {
		return source.Text{}, false
	}
	end := start + len(n.Quoted) - 1
	start++
	if n.Quoted[0] == '`' || !strings.Contains(n.Quoted, `\`) {
		return t.Text.Slice(start, end), true
	}
	b := source.NewBuilder(t.Text)
	for start < end {
		if t.Text.Value[start] != '\\' {
			b.Copy(start, start+1)
			start++
			continue
		}
		r, multibyte, rest, err := strconv.UnquoteChar(t.Text.Value[start:end], '"')
		if err != nil {
			return source.Text{}, false
		}
		next := end - len(rest)
		if multibyte {
			b.Replace(start, next, string(r))
		} else {
			b.Replace(start, next, string([]byte{byte(r)}))
		}
		start = next
	}
	return b.Text(), true
}
