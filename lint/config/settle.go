// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A layer is what one mapping says of checks, by their index.
type layer []setting

// A setting is what a layer says of one check.
type setting struct {
	turn        turn
	severity    lint.Severity // Unset: as before
	own, shared []assignment
	at          source.Span // the key of the check, if own holds anything
}

// turn is what happens to a check that was on or off before.
type turn uint8

const (
	keep turn = iota
	on
	off
)

// An assignment is a value for an option.
type assignment struct {
	option
	value *yaml.Node
	at    source.Span
}

// touches reports whether the setting says anything.
func (s *setting) touches() bool { return s.turn != keep || s.severity != lint.Unset || s.sets() }

// sets reports whether the setting has values for options.
func (s *setting) sets() bool { return len(s.own)+len(s.shared) > 0 }

// settle returns how layers leave the check at index i, which is on from the
// start unless it is only on when configured.
func settle(c *lint.Check, i int, layers []layer) setting {
	s := setting{turn: on}
	if c.OptIn {
		s.turn = off
	}
	for _, l := range layers {
		if l == nil {
			continue
		}
		next := l[i]
		if next.turn != keep {
			s.turn = next.turn
		}
		if next.severity != lint.Unset {
			s.severity = next.severity
		}
		s.own = append(s.own, next.own...)
		s.shared = append(s.shared, next.shared...)
		if !next.at.IsZero() {
			s.at = next.at
		}
	}
	return s
}

// bind returns the check under the setting.
func (s setting) bind(c *lint.Check) (active, *Error) {
	assignments := slices.Concat(s.shared, s.own) // so that the latter win
	f, err := c.Bind(func(options any) error {
		v := reflect.ValueOf(options).Elem()
		for _, a := range assignments {
			if err := assign(v.Field(a.field), a.value); err != nil {
				return &Error{a.at, a.name + ": " + err.Error()}
			}
		}
		if o, ok := options.(interface{ Validate() error }); ok {
			if err := o.Validate(); err != nil {
				return s.located(c, err)
			}
		}
		return nil
	})
	a := active{lint.Active{Check: c, Severity: s.severity, Func: f}, s.turn == on}
	if err == nil {
		return a, nil
	}
	located, ok := errors.AsType[*Error](err)
	if !ok {
		located = s.located(c, err)
	}
	return a, located
}

// located returns an error of Validate at the option that it is about. The error
// names the option by a method Key, or begins with its name; else it is about
// the options as a whole.
func (s setting) located(c *lint.Check, err error) *Error {
	about := func(a assignment) bool { return startsWithName(err.Error(), a.name) }
	if keyed, ok := errors.AsType[interface {
		error
		Key() string
	}](err); ok {
		about = func(a assignment) bool { return a.name == keyed.Key() }
	}
	message := c.ID + ": " + err.Error()
	for _, a := range slices.Backward(s.own) {
		if about(a) {
			return &Error{a.at, message}
		}
	}
	for _, a := range slices.Backward(s.shared) {
		if about(a) {
			return &Error{a.at, err.Error()} // of no check in particular
		}
	}
	if s.at.IsZero() && len(s.shared) > 0 {
		return &Error{s.shared[len(s.shared)-1].at, message}
	}
	return &Error{s.at, message}
}

// startsWithName reports whether the first word of s is name.
func startsWithName(s, name string) bool {
	rest, ok := strings.CutPrefix(s, name)
	return ok && (rest == "" || !strings.ContainsRune("-_", rune(rest[0])) && !isLetter(rest[0]))
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' }
