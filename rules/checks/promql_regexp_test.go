// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"regexp/syntax"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
)

// A shorter pattern that is offered must match just what the longer one does.
func TestPromqlRegexpKeepsMeaning(t *testing.T) {
	values := []string{"", "a", "b", "ab", "a|b", "abc", "^a", "a$", "5", "50", "500", "5xx", "kube-", "kube-x", "default", "x@b", "\n"}
	for _, pattern := range []string{
		`^a|b$`, `^a$|^b$`, `(^a|b$)`, `^(?:a|b)$`, `(?:^a)(b$|$)`, `^^a$$`, `(a|^)b`, `a(^|b)`, `(a$|a)b`, `^5..$`, `^5.*`, `.*0$`,
		`(^kube-.*|^default$)`, `[^a]`, `[$^]`, `\^a`, `a\$`, `(?i)^A$`, `(?m)^a$`, `^`, `$`, `^$`, `^.*$`, `|^a`, `a|$`, `a^b`, `(?:^)*a`, `.+@^b`,
	} {
		old := labels.MustNewMatcher(labels.MatchRegexp, "l", pattern)
		short := promqlRegexpUnanchored(pattern)
		next, err := labels.NewMatcher(labels.MatchRegexp, "l", short)
		if err != nil || promqlRegexpCanonical(short) != promqlRegexpCanonical(pattern) {
			continue // not offered
		}
		for _, v := range values {
			if old.Matches(v) != next.Matches(v) {
				t.Errorf("%q matches %q: %v; shortened to %q: %v", pattern, v, old.Matches(v), short, next.Matches(v))
			}
		}
	}
}

func TestPromqlRegexpLiteralAndAll(t *testing.T) {
	type verdict struct {
		literal string
		one     bool
		all     bool
	}
	for pattern, want := range map[string]verdict{
		``:            {"", true, false},
		`a`:           {"a", true, false},
		`^a\.b$`:      {"a.b", true, false},
		`(a)[.](?:b)`: {"a.b", true, false},
		`^$`:          {"", true, false},
		`(?i)a`:       {},
		`a.b`:         {},
		`a|b`:         {},
		`.*`:          {all: true},
		`^.*$`:        {all: true},
		`(.*)`:        {all: true},
		`.*?`:         {all: true},
		`.*.*`:        {all: true},
		`a|.*`:        {all: true},
		`|.+`:         {all: true},
		`(.+)?`:       {all: true},
		`.+`:          {},
		`[^\n]*`:      {},
		`(?-s:.*)`:    {},
	} {
		tree, err := syntax.Parse(pattern, promqlRegexpFlags)
		if err != nil {
			t.Fatal(err)
		}
		bare := promqlRegexpBare(tree, true, true)
		var got verdict
		if got.literal, got.one = promqlRegexpLiteral(bare); !got.one {
			got.literal = ""
		}
		got.all = promqlRegexpAll(bare)
		if got != want {
			t.Errorf("%q: %+v, want %+v", pattern, got, want)
		}
		m := labels.MustNewMatcher(labels.MatchRegexp, "l", pattern)
		if (got.one || got.all) && !promqlRegexpConcerns(m) {
			t.Errorf("%q is not looked at", pattern)
		}
		for _, v := range []string{"", "a", "b", "a.b", "axb", "\n", "c"} {
			if got.one && m.Matches(v) != (v == got.literal) {
				t.Errorf("%q is taken for %q but differs on %q", pattern, got.literal, v)
			}
			if got.all && !m.Matches(v) {
				t.Errorf("%q is taken for all but does not match %q", pattern, v)
			}
		}
	}
}
