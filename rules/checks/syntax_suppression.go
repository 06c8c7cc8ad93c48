// SPDX-License-Identifier: Apache-2.0

package checks

import "github.com/monitoringlinter/monitoringlinter/lint"

var _ = add(lint.Check{
	ID:       "syntax/suppression",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "suppression comment without a reason, out of date, or without an effect",
		Why: `A comment "monitoringlinter:ignore CHECK -- REASON" takes a finding out of the report of its line, or of the rule or group below it; "ignore-file" does so for a file, and until=YYYY-MM-DD ends it. The reason is not optional: in a year it is all that tells whether the exception still holds.

A comment that names no known check, has expired, gives no reason or hits nothing is reported, so that suppressions do not outlive what they were written for.`,
		Bad: `groups:
- name: vm
  rules:
  # monitoringlinter:ignore alert/for
  - alert: VMDown
    expr: up{job="vm"} == 0
`,
		Good: `groups:
- name: vm
  rules:
  - alert: VMDown
    expr: up{job="vm"} == 0
`,
		TurnOff: "Suppressions are kept by a program that does not give reasons.",
		Since:   "v0.1.0",
	},
	// The comments are found and matched after all checks have run, in any
	// language: package filter does that and reports under this ID.
	Run: lint.Problems(),
})
