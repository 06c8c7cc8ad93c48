// SPDX-License-Identifier: Apache-2.0

package checks

import "github.com/monitoringlinter/monitoringlinter/lint"

var _ = add(lint.Check{
	ID:       "syntax/yaml",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "file that is not valid YAML",
		Why: `Prometheus loads none of the rules of a file that does not parse, and on a reload it keeps the old ones: the alerts that everyone believes to be there are not. A key that stands twice is refused as well.

The other documents of a stream, and all other files, are checked all the same. So are files of up to 16 MiB; larger ones, and documents that are nested more than 200 deep, or whose aliases expand to more than a hundred times their size or by more than 200,000 nodes, are reported here.`,
		Bad: `groups:
- name: vm
  rules:
  - alert: VMDown
    expr: {job="vm"} == 0
`,
		Good: `groups:
- name: vm
  rules:
  - alert: VMDown
    expr: '{job="vm"} == 0'
`,
		TurnOff: "Never: exclude the file instead.",
		Since:   "v0.1.0",
		Refs:    []string{"https://yaml.org/spec/1.2.2/", "https://pkg.go.dev/go.yaml.in/yaml/v3"},
	},
	Run: lint.Problems(),
})
