// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"strings"
	"text/template/parse"
)

// Defined returns the templates that the text itself defines, by name.
func (t *Template) Defined() map[string]*parse.Tree {
	defined := map[string]*parse.Tree{}
	if t.Tree() == nil || !strings.Contains(t.Text.Value, "define") && !strings.Contains(t.Text.Value, "block") {
		return defined
	}
	tree := parse.New(templateName)
	if _, err := tree.Parse(Preamble+t.Text.Value, "", "", defined, templateFuncs); err != nil {
		return nil
	}
	delete(defined, templateName)
	return defined
}
