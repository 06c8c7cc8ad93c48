// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"errors"
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

var _ = add(lint.Check{
	ID:       "group/size",
	Severity: lint.Info,
	OptIn:    true,
	Doc: lint.Doc{
		Title: "rule group with too many rules, without a limit, or with another query offset than agreed",
		Why: `The rules of a group are evaluated one after the other. If that takes longer than the interval, Prometheus skips evaluations of the group: recorded series get gaps, and alerts come late. A group that is split is evaluated in parallel.

The limit of a group bounds the series that a rule of it may return; a rule that returns more fails as a whole, so that a label with too many values does not take the server with it. It is asked for only with require-limit.

The query offset makes a group look at the past, so that samples which arrive late by remote write are there. It is looked at only with the bounds for it set; a group without one is then taken to have none, although the server may set a default.`,
		Bad: `groups:
- name: vm.rules
  rules:
  - record: namespace:vms:count
    expr: count by (namespace) (kubevirt_vm_info)
  - record: node:vmis:count
    expr: count by (node) (kubevirt_vmi_info)
`,
		Good: `groups:
- name: vm.rules
  rules:
  - record: namespace:vms:count
    expr: count by (namespace) (kubevirt_vm_info)
- name: vmi.rules
  rules:
  - record: node:vmis:count
    expr: count by (node) (kubevirt_vmi_info)
`,
		Config:  "max-rules: 1",
		TurnOff: "Nothing bounds the groups.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/configuration/recording_rules/#rule_group",
			"https://prometheus.io/docs/prometheus/latest/configuration/recording_rules/#limiting-alerts-and-series",
		},
	},
	Run: lint.With(groupSize{MaxRules: 20}, checkGroupSize),
})

type groupSize struct {
	MaxRules       int            `yaml:"max-rules" doc:"The most rules that a group may have; 0 sets no limit."`
	RequireLimit   bool           `yaml:"require-limit" doc:"Each group must set limit."`
	MinQueryOffset model.Duration `yaml:"min-query-offset" doc:"Shortest query_offset; 0s is no bound."`
	MaxQueryOffset model.Duration `yaml:"max-query-offset" doc:"Longest query_offset; 0s is no bound."`
}

// Validate reports options that make no sense.
func (o groupSize) Validate() error {
	if o.MaxRules < 0 {
		return errors.New("max-rules is negative")
	}
	if o.MaxQueryOffset > 0 && o.MinQueryOffset > o.MaxQueryOffset {
		return fmt.Errorf("min-query-offset %s is above max-query-offset %s", o.MinQueryOffset, o.MaxQueryOffset)
	}
	return nil
}

func checkGroupSize(p *lint.Pass, g *rules.Group, o groupSize) {
	if n := len(g.Rules); o.MaxRules > 0 && n > o.MaxRules {
		p.Reportf(g.Place(), "%s has %d rules, %d more than allowed: they are evaluated one after the other, and what does not end within the interval is skipped; split the group", g.Object(), n, n-o.MaxRules)
	}
	if limit := g.Limit.Value; o.RequireLimit && (limit == "" || limit == "0") {
		span := g.Place()
		if limit != "" {
			span = g.Limit.All()
		}
		p.Reportf(span, "%s sets no limit: a rule that returns far more series than meant is recorded all the same; set limit", g.Object())
	}
	offset := g.QueryOffset
	if offset.Text.Value != "" && !offset.Set {
		return
	}
	switch {
	case !offset.Set && o.MinQueryOffset > 0:
		p.Reportf(g.Place(), "%s sets no query_offset: samples that arrive late are missed; set it to at least %s", g.Object(), o.MinQueryOffset)
	case offset.Value < o.MinQueryOffset:
		p.Reportf(offset.Text.All(), "%s has query_offset: %s, below the minimum of %s: samples that arrive late are missed", g.Object(), offset.Text.Value, o.MinQueryOffset)
	case o.MaxQueryOffset > 0 && offset.Value > o.MaxQueryOffset:
		p.Reportf(offset.Text.All(), "%s has query_offset: %s, above the maximum of %s: alerts are late by it", g.Object(), offset.Text.Value, o.MaxQueryOffset)
	}
}
