// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// sourceComment begins the comment by which Helm names the template that a
// document was made of.
const sourceComment = "# Source: "

// Rendered yields what a chart was rendered to, taken apart by templates: the
// path of each, as Helm names it, and its documents in their order, so that
// lines count as in the output of helm template --show-only. The path is "" for
// documents that name none. It yields nothing if no document names a template.
func Rendered(data string) func(yield func(path, documents string) bool) {
	return func(yield func(path, documents string) bool) {
		if !strings.HasPrefix(data, sourceComment) && !strings.Contains(data, "\n"+sourceComment) {
			return
		}
		var order []string
		parts := map[string]*strings.Builder{}
		for _, document := range split(source.NewFileString("", data).Text()) {
			path := templateOf(document.Value)
			b := parts[path]
			if b == nil {
				b = &strings.Builder{}
				parts[path] = b
				order = append(order, path)
			}
			b.WriteString(document.Value)
		}
		for _, path := range order {
			if !yield(path, parts[path].String()) {
				return
			}
		}
	}
}

// templateOf returns the template that a document names in front of its content.
func templateOf(document string) string {
	for line := range strings.Lines(document) {
		line = strings.TrimRight(line, "\r\n")
		if path, ok := strings.CutPrefix(line, sourceComment); ok {
			return strings.TrimSpace(path)
		}
		if hasContent(line) {
			return ""
		}
	}
	return ""
}
