// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWildcard(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true},
		{"", "a", false},
		{"a.c", "a.c", true},
		{"a.c", "abc", false},
		{"*", "", true},
		{"*", "a/b\nc", true},
		{"a*", "a", true},
		{"a*", "ba", false},
		{"*a", "ba", true},
		{"*a", "ab", false},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "acb", false},
		{"a**c", "abc", true},
		{"*ab*ab*", "xabyab", true},
		{"*ab*ab*", "xabb", false},
	} {
		if got := parseWildcard(tt.pattern).match(tt.s); got != tt.want {
			t.Errorf("%q matches %q: %v, want %v", tt.pattern, tt.s, got, tt.want)
		}
	}
}

func TestGlobAlternatives(t *testing.T) {
	for _, tt := range []struct {
		glob string
		want globs
	}{
		{"a/*.yaml", globs{"a/*.yaml"}},
		{"./a/", globs{"a"}},
		{".", globs{"**"}},
		{"{a,b}/{c,d}", globs{"a/c", "a/d", "b/c", "b/d"}},
		{"x{a,{b,c}d}y", globs{"xay", "xbdy", "xcdy"}},
		{"{,a}b", globs{"ab", "b"}},
		{"{a,a}", globs{"a"}},
		{`\{a,b\}`, globs{`\{a,b\}`}},
		{"[{,}]a", globs{"[{,}]a"}},
		{`[\]{]{a,b}`, globs{`[\]{]a`, `[\]{]b`}},
		{"a,b", globs{"a,b"}},
	} {
		got, err := parseGlob(tt.glob)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.glob, err, diff)
		}
	}
}

// TestGlobTime: what would take time exponential in the length of the pattern.
func TestGlobTime(t *testing.T) {
	name := strings.Repeat("a/", 1000) + "b"
	for _, glob := range []string{
		strings.Repeat("**/", 500) + "c",
		strings.Repeat("a*", 500) + "c",
		strings.Repeat("*", 1000) + "c",
		"{*a,*a}{*a,*a}{*a,*a}{*a,*a}{*a,*a}c",
	} {
		g, err := parseGlob(glob)
		if err != nil {
			t.Fatal(err)
		}
		if g.match(name) {
			t.Errorf("%.20s… matches", glob)
		}
	}
	if parseWildcard(strings.Repeat("a*", 1000)).match(strings.Repeat("a", 999)) {
		t.Error("a wildcard with more letters than the name matches")
	}
}
