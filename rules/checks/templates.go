// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"text/template/parse"

	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

// A templateMeaning says what the parts of a template mean to a check, where a V
// is what one evaluates to.
type templateMeaning[V any] interface {
	pipe(p *parse.PipeNode) V
	print(v V)
	branch(n *parse.BranchNode)
	// assign takes note that a variable that holds *held is assigned v.
	assign(held *V, v V)
}

// A templateWalk goes through a template in the order in which it runs, with
// both sides of each branch.
type templateWalk[V any] struct {
	meaning templateMeaning[V]
	defined map[string]*parse.Tree
	vars    []templateVar[V] // the innermost last
	dot     V
	calls   int // of templates around the node at work
	steps   int
}

type templateVar[V any] struct {
	name  string
	value V
}

// Limits for templates that call each other without end. No real annotation has
// more than a few dozen nodes.
const (
	templateMostCalls = 10
	templateMostSteps = 10000
)

// newTemplateWalk returns a walk at the start of a template, where the dot and $
// are what Prometheus gives it.
func newTemplateWalk[V any](t *promql.Template, data V) templateWalk[V] {
	return templateWalk[V]{defined: t.Defined(), dot: data, vars: []templateVar[V]{{"$", data}}}
}

func (w *templateWalk[V]) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		if w.steps++; w.steps > templateMostSteps {
			return
		}
		switch n := n.(type) {
		case *parse.ActionNode:
			if w.calls == 0 && int(n.Pos) < len(promql.Preamble) {
				continue
			}
			v := w.meaning.pipe(n.Pipe)
			if len(n.Pipe.Decl) == 0 {
				w.meaning.print(v)
			}
			for _, d := range n.Pipe.Decl {
				w.set(d.Ident[0], v, n.Pipe.IsAssign)
			}
		case *parse.IfNode:
			w.meaning.branch(&n.BranchNode)
		case *parse.WithNode:
			w.meaning.branch(&n.BranchNode)
		case *parse.RangeNode:
			w.meaning.branch(&n.BranchNode)
		case *parse.TemplateNode:
			w.call(n)
		}
	}
}

// call follows a template that the text itself defines.
func (w *templateWalk[V]) call(n *parse.TemplateNode) {
	var arg V
	if n.Pipe != nil {
		arg = w.meaning.pipe(n.Pipe)
	}
	tree := w.defined[n.Name]
	if tree == nil || w.calls >= templateMostCalls {
		return
	}
	vars, dot := w.vars, w.dot
	w.vars, w.dot = []templateVar[V]{{"$", arg}}, arg
	w.calls++
	w.list(tree.Root)
	w.calls--
	w.vars, w.dot = vars, dot
}

// set declares a variable or assigns to it.
func (w *templateWalk[V]) set(name string, v V, assign bool) {
	if !assign {
		w.vars = append(w.vars, templateVar[V]{name, v})
	} else if held := w.variable(name); held != nil {
		w.meaning.assign(held, v)
	}
}

// variable returns where the value of a variable is held, or nil if there is none.
func (w *templateWalk[V]) variable(name string) *V {
	for i := len(w.vars) - 1; i >= 0; i-- {
		if w.vars[i].name == name {
			return &w.vars[i].value
		}
	}
	return nil
}
