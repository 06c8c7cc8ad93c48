// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/monitoringlinter/monitoringlinter/lint"
)

// globs are patterns of paths without braces.
type globs []string

// match reports whether a path, or a folder that it is in, matches.
func (g globs) match(relative string) bool {
	for {
		for _, pattern := range g {
			if doublestar.MatchUnvalidated(pattern, relative) {
				return true
			}
		}
		above := path.Dir(relative)
		if above == relative || above == "." || above == "/" {
			return false
		}
		relative = above
	}
}

// parseGlob returns the patterns that a glob of paths stands for.
func parseGlob(glob string) (globs, error) {
	pattern := glob
	for strings.HasPrefix(pattern, "./") {
		pattern = pattern[len("./"):]
	}
	pattern = strings.TrimSuffix(pattern, "/")
	switch {
	case glob == "":
		return nil, errors.New("glob is empty")
	case strings.HasPrefix(pattern, "!"):
		return nil, fmt.Errorf("glob %s: a glob can't be negated", quote(glob))
	case pattern == "" || strings.HasPrefix(pattern, "/"):
		return nil, fmt.Errorf("glob %s: paths begin at the folder of the configuration file; remove the leading /", quote(glob))
	case pattern == ".":
		return globs{"**"}, nil
	case !doublestar.ValidatePattern(pattern):
		return nil, fmt.Errorf("bad glob %s: a bracket or brace lacks its counterpart, or a backslash stands last", quote(glob))
	}
	return expandBraces(pattern)
}

// maxAlternatives bounds the patterns that one glob stands for. Alternatives are
// spelled out since matching them takes time exponential in their number.
const maxAlternatives = 100

func expandBraces(pattern string) (globs, error) {
	var out globs
	for todo := []string{pattern}; len(todo) > 0; {
		if len(out)+len(todo) > maxAlternatives {
			return nil, fmt.Errorf("glob %s has more than %d alternatives", quote(pattern), maxAlternatives)
		}
		p := todo[0]
		todo = todo[1:]
		before, alternatives, after, ok := cutBraces(p)
		if !ok {
			out = append(out, p)
			continue
		}
		for _, a := range alternatives {
			todo = append(todo, before+a+after)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// cutBraces cuts a pattern at its first alternatives.
func cutBraces(p string) (before string, alternatives []string, after string, ok bool) {
	open, depth, start := -1, 0, 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(p, i)
		case '{':
			if depth++; depth == 1 {
				open, start = i, i+1
			}
		case ',':
			if depth == 1 {
				alternatives = append(alternatives, p[start:i])
				start = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				return p[:open], append(alternatives, p[start:i]), p[i+1:], true
			}
			depth = max(depth, 0)
		}
	}
	return "", nil, "", false
}

// classEnd returns the index of the bracket that closes a character class.
func classEnd(p string, i int) int {
	for i++; i < len(p) && p[i] != ']'; i++ {
		if p[i] == '\\' {
			i++
		}
	}
	return i
}

// A wildcard is a pattern in which * stands for any run of characters: the
// pieces between the stars.
type wildcard []string

func parseWildcard(s string) wildcard { return strings.Split(s, "*") }

func (w wildcard) match(s string) bool {
	first, last := w[0], w[len(w)-1]
	if len(w) == 1 {
		return s == first
	}
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, piece := range w[1 : len(w)-1] {
		i := strings.Index(s, piece)
		if i < 0 {
			return false
		}
		s = s[i+len(piece):]
	}
	return true
}

// An objects says which objects an override is for. What an object lacks does
// not match, not even *.
type objects struct {
	fields              []objectField
	labels, annotations map[string]wildcard
}

type objectField struct {
	of   func(*lint.Origin) string
	want wildcard
}

// objectFields are the keys of objects that hold one pattern.
var objectFields = map[string]func(*lint.Origin) string{
	"kind":      func(o *lint.Origin) string { return o.Kind },
	"name":      func(o *lint.Origin) string { return o.Name },
	"namespace": func(o *lint.Origin) string { return o.Namespace },
	"group":     func(o *lint.Origin) string { return o.Group },
}

func (o *objects) match(origin *lint.Origin) bool {
	for _, f := range o.fields {
		if s := f.of(origin); s == "" || !f.want.match(s) {
			return false
		}
	}
	return matchAll(o.labels, origin.Labels) && matchAll(o.annotations, origin.Annotations)
}

func matchAll(want map[string]wildcard, have map[string]string) bool {
	for key, w := range want {
		if s, ok := have[key]; !ok || !w.match(s) {
			return false
		}
	}
	return true
}
