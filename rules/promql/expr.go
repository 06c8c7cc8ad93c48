// SPDX-License-Identifier: Apache-2.0

// Package promql holds PromQL expressions and alert templates wherever they
// were written: each is parsed once by Prometheus' own parser (text/template's
// for templates), and each of its parts knows its place in the file.
//
// It is the only package that parses PromQL.
package promql

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// What Prometheus accepts as it is started by default, and with every feature
// flag of the language on.
var (
	stable       = parser.NewParser(parser.Options{})
	experimental = parser.NewParser(parser.Options{EnableExperimentalFunctions: true, EnableBinopFillModifiers: true, EnableUnquotedUTF8Names: true})
)

// The parser and the walks over its trees recurse, and a stack has its limits.
// Real expressions stay far below: the longest of 16,000 public ones has 8 KiB.
const (
	maxLength  = 64 << 10
	maxNesting = 500
)

// An Expr is a PromQL expression written in a file.
type Expr struct {
	Text source.Text
	// Root is the syntax tree, or nil if the expression does not parse even with
	// every experimental feature, or is not rendered.
	Root parser.Expr
	// Errors say why Prometheus refuses the expression as it is started by
	// default. If Root is set all the same, each needs a feature flag.
	Errors []Error
	// Placeholder is where the expression still has a placeholder (${NAME}) that
	// another program is to fill in, so that nothing can be said of it.
	Placeholder source.Span
	// Filled says that some words stand for what a template prints there.
	Filled bool
}

// An Error is a reason why Prometheus refuses an expression.
type Error struct {
	Span    source.Span
	Message string
}

// Parse parses an expression.
func Parse(t source.Text) *Expr {
	e := &Expr{Text: t}
	if len(t.Value) > maxLength {
		e.Errors = []Error{{t.All(), fmt.Sprintf("expression of %d KiB: more than %d KiB are not analysed", len(t.Value)>>10, maxLength>>10)}}
		return e
	}
	if at := tooDeep(t.Value); at >= 0 {
		e.Errors = []Error{{t.Span(at, at+1), fmt.Sprintf("expression is nested more than %d deep", maxNesting)}}
		return e
	}
	root, err := stable.ParseExpr(t.Value)
	if err == nil {
		e.Root = root
		e.share()
		return e
	}
	if p := placeholder(t.Value); p != nil {
		e.Placeholder = t.Span(p[0], p[1])
		return e
	}
	e.Errors = e.parseErrors(err)
	if root, err := experimental.ParseExpr(t.Value); err == nil {
		e.Root = root
	}
	return e
}

// matchers holds the regular expression matchers that are in use, by name,
// operator and value: rules repeat a few of them over and over, and a compiled
// one takes kilobytes.
var matchers sync.Map // matcherKey → weak.Pointer[labels.Matcher]

type matcherKey struct {
	name, value string
	op          labels.MatchType
}

// share replaces regular expression matchers by equal ones of other expressions.
func (e *Expr) share() {
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		v, ok := n.(*parser.VectorSelector)
		if !ok {
			return
		}
		for i, m := range v.LabelMatchers {
			if m.Type != labels.MatchRegexp && m.Type != labels.MatchNotRegexp {
				continue
			}
			key := matcherKey{m.Name, m.Value, m.Type}
			known, ok := matchers.LoadOrStore(key, weak.Make(m))
			if !ok {
				continue
			}
			if shared := known.(weak.Pointer[labels.Matcher]).Value(); shared != nil {
				v.LabelMatchers[i] = shared
			} else {
				matchers.Store(key, weak.Make(m))
			}
		}
	})
}

// tooDeep returns the offset of the bracket or sign that is nested too deep, or -1.
func tooDeep(s string) int {
	depth, signs := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[', '{':
			depth++
			signs = 0
		case ')', ']', '}':
			depth--
			signs = 0
		case '-', '+':
			signs++
		case ' ', '\t', '\n', '\r':
		default:
			signs = 0
		}
		if max(depth, signs) > maxNesting {
			return i
		}
	}
	return -1
}

// placeholder returns the offsets of a placeholder as envsubst, OpenShift
// templates and generators write them, or nil: PromQL has no '$'.
func placeholder(s string) []int {
	for _, bracket := range [][2]string{{"${{", "}}"}, {"${", "}"}} {
		if i := strings.Index(s, bracket[0]); i >= 0 {
			if n := strings.Index(s[i:], bracket[1]); n > len(bracket[0]) {
				return []int{i, i + n + len(bracket[1])}
			}
		}
	}
	return nil
}

func (e *Expr) parseErrors(err error) []Error {
	list, ok := errors.AsType[parser.ParseErrors](err)
	if !ok {
		return []Error{{e.Text.All(), err.Error()}}
	}
	var out []Error
	if isSyntax(list[0].Err.Error()) {
		list = list[:1] // what follows is said of a tree that is not what was meant
	}
	for _, pe := range list {
		r := pe.PositionRange
		if int(r.End) <= int(r.Start) || strings.HasPrefix(pe.Err.Error(), "unexpected character") {
			r.End = r.Start + 1 // the lexer gives all that follows
		}
		if int(r.End) > len(e.Text.Value) { // at the end: point to what came last
			r.End = posrange.Pos(len(strings.TrimRight(e.Text.Value, " \t\r\n")))
			r.Start = max(min(r.Start, r.End-1), 0)
		}
		next := Error{e.Span(r), pe.Err.Error()}
		// The parser may say the same of an expression and of what encloses it.
		if len(out) == 0 || out[len(out)-1] != next {
			out = append(out, next)
		}
	}
	return out
}

// isSyntax reports whether an error is one of the grammar, not of types.
func isSyntax(message string) bool {
	for _, prefix := range []string{"unexpected ", "unclosed ", "unterminated ", "bad ", "missing ", "no arguments "} {
		if strings.HasPrefix(message, prefix) {
			return true
		}
	}
	return false
}

// Experimental reports whether the expression is refused only for want of a
// feature flag.
func (e *Expr) Experimental() bool { return e.Root != nil && len(e.Errors) > 0 }

// Span returns where the range r of the expression was written. Blank space
// that the parser counts at its ends is left out.
func (e *Expr) Span(r posrange.PositionRange) source.Span {
	start, end := e.clip(r)
	return e.Text.Span(start, end)
}

func (e *Expr) clip(r posrange.PositionRange) (start, end int) {
	n := len(e.Text.Value)
	start = min(max(int(r.Start), 0), n)
	end = min(max(int(r.End), start), n)
	for end > start && strings.IndexByte(" \t\r\n", e.Text.Value[end-1]) >= 0 {
		end--
	}
	for start < end && strings.IndexByte(" \t\r\n", e.Text.Value[start]) >= 0 {
		start++
	}
	return start, end
}

// At returns where the node n of the expression was written.
func (e *Expr) At(n parser.Node) source.Span { return e.Span(n.PositionRange()) }

// Inspect calls f with each node of the expression, outer ones first, and its
// ancestors, the outermost first. f must not keep path.
func (e *Expr) Inspect(f func(n parser.Node, path []parser.Node)) {
	if e.Root == nil {
		return
	}
	path := paths.Get().(*[]parser.Node)
	inspectNode(e.Root, (*path)[:0], f)
	paths.Put(path)
}

// paths holds room for the ancestors of a node; checks walk each expression
// many times over.
var paths = sync.Pool{New: func() any { p := make([]parser.Node, 0, 32); return &p }}

func inspectNode(n parser.Node, path []parser.Node, f func(parser.Node, []parser.Node)) {
	f(n, path)
	inside := append(path, n)
	switch n := n.(type) {
	case *parser.BinaryExpr:
		inspectNode(n.LHS, inside, f)
		inspectNode(n.RHS, inside, f)
	case *parser.AggregateExpr:
		if n.Expr != nil {
			inspectNode(n.Expr, inside, f)
		}
		if n.Param != nil {
			inspectNode(n.Param, inside, f)
		}
	case *parser.Call:
		for _, a := range n.Args {
			inspectNode(a, inside, f)
		}
	case *parser.ParenExpr:
		inspectNode(n.Expr, inside, f)
	case *parser.UnaryExpr:
		inspectNode(n.Expr, inside, f)
	case *parser.MatrixSelector:
		inspectNode(n.VectorSelector, inside, f)
	case *parser.SubqueryExpr:
		inspectNode(n.Expr, inside, f)
	case *parser.StepInvariantExpr:
		inspectNode(n.Expr, inside, f)
	case *parser.VectorSelector, *parser.NumberLiteral, *parser.StringLiteral:
	default:
		for c := range parser.ChildrenIter(n) {
			inspectNode(c, inside, f)
		}
	}
}

// Normal returns the expression in a spelling that is the same for expressions
// that differ in layout, brackets, comments or the order of matchers only.
func (e *Expr) Normal() string {
	if e.Root == nil {
		return strings.Join(strings.Fields(e.Text.Value), " ")
	}
	return normal(e.Root)
}

// Mentions reports whether the expression names a label anywhere: in a matcher,
// a grouping, a matching clause, or as a string that a function may take for one.
func (e *Expr) Mentions(label string) bool {
	found := false
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		switch n := n.(type) {
		case *parser.VectorSelector:
			for _, m := range n.LabelMatchers {
				found = found || m.Name == label
			}
		case *parser.AggregateExpr:
			found = found || !n.Without && slices.Contains(n.Grouping, label)
		case *parser.BinaryExpr:
			if m := n.VectorMatching; m != nil {
				found = found || slices.Contains(m.Include, label) || m.On && slices.Contains(m.MatchingLabels, label)
			}
		case *parser.StringLiteral:
			found = found || n.Val == label
		}
	})
	return found
}

// Constant reports whether the expression reads no series at all, as that of a
// watchdog: vector(1).
func (e *Expr) Constant() bool {
	if e.Root == nil {
		return false
	}
	constant := true
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		if _, ok := n.(*parser.VectorSelector); ok {
			constant = false
		}
	})
	return constant
}

// Unwrap returns the expression inside any number of parentheses.
func Unwrap(n parser.Expr) parser.Expr {
	for {
		p, ok := n.(*parser.ParenExpr)
		if !ok {
			return n
		}
		n = p.Expr
	}
}

// Unrendered returns an expression of which nothing can be said, since
// placeholders in it are still to be filled in.
func Unrendered(t source.Text) *Expr {
	e := &Expr{Text: t}
	if p := placeholder(t.Value); p != nil {
		e.Placeholder = t.Span(p[0], p[1])
	}
	return e
}
