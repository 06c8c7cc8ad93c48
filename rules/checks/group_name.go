// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"path"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

var _ = add(lint.Check{
	ID:       "group/name",
	Severity: lint.Info,
	Doc: lint.Doc{
		Title: "rule group that shares its name with a group in another file of the folder",
		Why: `Prometheus tells groups apart by file and name, so that two files may each have a group of one name. People see the name alone: in the list of rules, in the labels of dashboards, in the message of an alert that says which group failed to evaluate. Mostly the second one is a copy whose name was forgotten.

Only plain rule files in one folder are compared, as one Prometheus loads them together. Two Kubernetes objects may well use the same name, since the operator writes a file for each. Two groups of one name in a single file are refused, which syntax/schema reports.

Where the option pattern is set, a name that does not match it is a warning.`,
		Bad: `groups:
- name: vm
  rules:
  - record: namespace:vms:count
    expr: count by (namespace) (kubevirt_vm_info)
`,
		Good: `groups:
- name: vm.rules
  rules:
  - record: namespace:vms:count
    expr: count by (namespace) (kubevirt_vm_info)
`,
		Config:  `pattern: '\.(rules|alerts)$'`,
		TurnOff: "The folder holds rule files for several servers.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/configuration/recording_rules/#rule_group"},
	},
	Run: lint.With(groupName{}, checkGroupName),
})

type groupName struct {
	Pattern string `yaml:"pattern" doc:"Regular expression that the name must match; empty matches all."`
}

// Validate reports a pattern that does not compile.
func (o groupName) Validate() error { return alertPatternError("pattern", o.Pattern) }

func checkGroupName(p *lint.Pass, g *rules.Group, o groupName) {
	if g.Name.Value == "" || alertUnrendered(g.Name.Value) {
		return
	}
	if !alertPattern(p, o.Pattern).MatchString(g.Name.Value) {
		p.Report(lint.Finding{Span: g.Place(), Severity: lint.Warning,
			Message: fmt.Sprintf("%s does not match the pattern %q: rename it", g.Object(), o.Pattern)})
	}
	if g.File.Kind != "" {
		return
	}
	first := lint.Derive(p.Project, groupNames)[groupNameKey(g)]
	if first == nil || groupNameBefore(g, first) || g.Place().File == first.Place().File {
		return
	}
	p.Report(lint.Finding{
		Span:    g.Place(),
		Message: fmt.Sprintf("%s has the name of a group in %s: lists of rules and dashboards show only the name, so the two look like one; rename either", g.Object(), path.Base(first.Place().File.Path)),
		Related: []lint.Related{{Span: first.Place(), Message: "the other group is here"}},
	})
}

// groupNameIndex holds the first group of each name in a folder.
type groupNameIndex map[[2]string]*rules.Group

func groupNames(project *lint.Project) groupNameIndex {
	index := groupNameIndex{}
	for g := range lint.All[*rules.Group](project) {
		if g.File.Kind != "" {
			continue
		}
		key := groupNameKey(g)
		if first := index[key]; first == nil || groupNameBefore(g, first) {
			index[key] = g
		}
	}
	return index
}

func groupNameKey(g *rules.Group) [2]string {
	return [2]string{path.Dir(g.Place().File.Path), g.Name.Value}
}

// groupNameBefore reports whether a is written before b.
func groupNameBefore(a, b *rules.Group) bool {
	return lint.Compare(lint.Finding{Span: a.Place()}, lint.Finding{Span: b.Place()}) < 0
}
