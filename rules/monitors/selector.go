// SPDX-License-Identifier: Apache-2.0

package monitors

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A Selector selects objects by their labels.
type Selector struct {
	Value    *Value // nil if there is none
	Terms    []Term
	Problems []SelectorProblem
	Open     bool // some of it is filled in elsewhere, or is not valid
}

// A Term is what a selector demands of one label.
type Term struct {
	Key         string
	Operator    selection.Operator
	Values      []string
	Place       source.Span // the value of a pair, or the key of an expression
	requirement *labels.Requirement
}

// String returns the term as kubectl has it.
func (t Term) String() string { return t.requirement.String() }

// Matches reports whether labels satisfy the term.
func (t Term) Matches(l map[string]string) bool { return t.requirement.Matches(labels.Set(l)) }

// A SelectorProblem is what makes the operator refuse a selector.
type SelectorProblem struct {
	Span    source.Span
	Message string
}

// Matches reports whether an object of these labels is selected. What is not
// valid selects nothing, as does no selector at all.
func (s *Selector) Matches(l map[string]string) bool {
	if s == nil || s.Value == nil || len(s.Problems) > 0 {
		return false
	}
	for _, t := range s.Terms {
		if !t.Matches(l) {
			return false
		}
	}
	return true
}

// Empty reports whether the selector is there and demands nothing.
func (s *Selector) Empty() bool {
	return s != nil && s.Value != nil && len(s.Terms) == 0 && len(s.Problems) == 0 && !s.Open
}

// String returns the selector as kubectl has it.
func (s *Selector) String() string {
	terms := make([]string, len(s.Terms))
	for i, t := range s.Terms {
		terms[i] = t.String()
	}
	return strings.Join(terms, ",")
}

var operators = map[string]selection.Operator{
	"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist,
}

// selector reads a label selector; v is nil if there is none.
func selector(v *Value) *Selector {
	s := &Selector{Value: v}
	if v == nil || v.Type != Map {
		s.Open = v != nil
		return s
	}
	add := func(key source.Text, op selection.Operator, values []source.Text, place source.Span) {
		texts := make([]string, len(values))
		for i, t := range values {
			texts[i] = t.Value
			if Placeholder(t.Value) {
				s.Open = true
				return
			}
		}
		if Placeholder(key.Value) {
			s.Open = true
			return
		}
		r, err := labels.NewRequirement(key.Value, op, texts)
		if err != nil {
			s.Open = true
			s.Problems = append(s.Problems, SelectorProblem{place, selectorFault(key.Value, op, texts)})
			return
		}
		s.Terms = append(s.Terms, Term{Key: key.Value, Operator: op, Values: texts, Place: place, requirement: r})
	}
	for _, f := range v.Get("matchLabels").fields() {
		switch f.Value.Type {
		case String:
			add(f.Key, selection.Equals, []source.Text{f.Value.Text}, scalarPlace(f))
		case Null:
			add(f.Key, selection.Equals, []source.Text{{}}, f.Key.All())
		default: // the schema says it
			s.Open = true
		}
	}
	for _, item := range v.Get("matchExpressions").Elements() {
		key, operator, values := item.Get("key"), item.Get("operator"), item.Get("values")
		if key == nil || operator == nil {
			s.Open = true // the schema says it
			continue
		}
		op, ok := operators[operator.Str()]
		if !ok {
			if s.Open = true; !operator.Unknown() {
				s.Problems = append(s.Problems, SelectorProblem{operator.Place, operatorFault(operator.Str())})
			}
			continue
		}
		place := key.Place
		if values != nil {
			place = values.Place
		}
		add(key.Text, op, values.list(), place)
	}
	return s
}

func scalarPlace(f Field) source.Span {
	if s := f.Value.Text.All(); s.End > s.Start {
		return s
	}
	return f.Key.All()
}

func operatorFault(op string) string {
	for name := range operators {
		if strings.EqualFold(name, op) {
			return fmt.Sprintf("%q is no operator of a label selector; write %s", op, name)
		}
	}
	switch op {
	case "=", "==", "Equals", "Equal":
		return fmt.Sprintf("%q is no operator of a label selector; write In with one value, or use matchLabels", op)
	case "!=", "NotEquals":
		return fmt.Sprintf("%q is no operator of a label selector; write NotIn with one value", op)
	}
	return fmt.Sprintf("%q is no operator of a label selector; there are In, NotIn, Exists and DoesNotExist", op)
}

func selectorFault(key string, op selection.Operator, values []string) string {
	switch {
	case (op == selection.In || op == selection.NotIn) && len(values) == 0:
		return fmt.Sprintf("%q is compared with no values: In and NotIn need at least one", key)
	case (op == selection.Exists || op == selection.DoesNotExist) && len(values) > 0:
		return fmt.Sprintf("%q has values, and Exists and DoesNotExist take none: remove them, or write In", key)
	}
	for _, v := range values {
		if _, err := labels.NewRequirement("k", selection.Equals, []string{v}); err != nil {
			return fmt.Sprintf("%q can't be the value of a label: at most 63 letters, digits, -, _ and ., that begin and end with a letter or digit", v)
		}
	}
	return fmt.Sprintf("%q can't be the name of a label", key)
}

// Namespaces is the namespaces in which a monitor searches.
type Namespaces struct {
	Value *Value // of namespaceSelector, nil if there is none
	Any   bool
	Names []source.Text
	Open  bool // some of it is filled in elsewhere
}

func namespaces(v *Value) *Namespaces {
	n := &Namespaces{Value: v, Any: v.Get("any").True(), Names: v.Get("matchNames").list()}
	if names := v.Get("matchNames"); names != nil && names.Type != List {
		n.Open = true
	}
	n.Open = n.Open || v.Get("any").Unknown()
	for _, name := range n.Names {
		n.Open = n.Open || Placeholder(name.Value)
	}
	return n
}

func (v *Value) fields() []Field {
	if v == nil {
		return nil
	}
	return v.Fields
}

// Elements returns the items of a list, none of anything else. It may be asked of nil.
func (v *Value) Elements() []*Value {
	if v == nil {
		return nil
	}
	return v.Items
}
