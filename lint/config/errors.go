// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// An Error is a fault in the configuration.
type Error struct {
	Span    source.Span // zero for what stands on the command line
	Message string
}

// Error returns path:line:column: message.
func (e *Error) Error() string {
	if e.Span.IsZero() {
		return visible(e.Message)
	}
	return visible(e.Span.String() + ": " + e.Message)
}

// Errors are all faults of a configuration, in the order of their places.
type Errors []*Error

// Error returns the errors, one a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors one by one.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, err := range e {
		out[i] = err
	}
	return out
}

// sorted returns the errors in order. Those that several checks have in common,
// which take the same key, appear once.
func (e Errors) sorted() Errors {
	path := func(e *Error) string {
		if e.Span.IsZero() {
			return ""
		}
		return e.Span.File.Path
	}
	compare := func(a, b *Error) int {
		return cmp.Or(cmp.Compare(path(a), path(b)), cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Message, b.Message))
	}
	slices.SortStableFunc(e, compare)
	return slices.CompactFunc(e, func(a, b *Error) bool { return compare(a, b) == 0 })
}

// visible spells characters that a terminal acts on as escapes.
func visible(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// quote quotes a name from the input for a message.
func quote(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return strconv.Quote(s)
}
