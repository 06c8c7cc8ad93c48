// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

// TestAnalysis follows recording rules from one file into another.
func TestAnalysis(t *testing.T) {
	a := Analyse(&lint.Project{Documents: []lint.Document{
		Parse(source.NewFileString("records.yaml", `groups:
- name: g
  labels: {team: a}
  rules:
  - record: ns:foo:sum
    expr: sum by (namespace) (foo)
  - record: ns:foo:max
    expr: max(ns:foo:sum)
    labels: {kind: max}
  - record: either:foo:sum
    expr: sum by (x) (foo)
  - record: either:foo:sum
    expr: sum by (y) (foo)
  - record: circle:a:b
    expr: circle:b:a + 1
  - record: circle:b:a
    expr: circle:a:b - 1
  - record: reads:circle:x
    expr: sum by (z) (circle:a:b)
  - record: plain
    expr: sum(foo)
`), true),
	}})
	flow := func(expr string) *promql.Flow {
		return a.Flow(promql.Parse(source.NewFileString("e", expr).Text()))
	}
	for _, tt := range []struct {
		expr, label string
		want        promql.Presence
	}{
		{"ns:foo:sum", "namespace", promql.Possible},
		{"ns:foo:sum", "pod", promql.Impossible},
		{"ns:foo:sum", "team", promql.Guaranteed},
		{`ns:foo:sum{namespace="x"} > 1`, "namespace", promql.Guaranteed},
		{"ns:foo:max", "namespace", promql.Impossible},
		{"ns:foo:max", "kind", promql.Guaranteed},
		{"either:foo:sum", "x", promql.Possible},
		{"either:foo:sum", "z", promql.Impossible},
		{"circle:a:b", "any", promql.Possible},
		{"reads:circle:x", "z", promql.Possible},
		{"unknown:metric:sum", "pod", promql.Possible},
		{"plain", "pod", promql.Possible}, // may be exported as well
		{"foo", "job", promql.Possible},
	} {
		if got := flow(tt.expr).Label(tt.label).Presence; got != tt.want {
			t.Errorf("%s: label %s is %d, want %d", tt.expr, tt.label, got, tt.want)
		}
	}
	for expr, empty := range map[string]bool{
		`ns:foo:sum{pod="x"}`:       true,
		`ns:foo:sum{team="b"}`:      true,
		`ns:foo:sum{team="a"}`:      false,
		`ns:foo:sum{team=""}`:       true,
		`ns:foo:sum / foo{pod="x"}`: true,
	} {
		if got := len(flow(expr).Branches) == 0; got != empty {
			t.Errorf("%s: always empty: %v, want %v", expr, got, empty)
		}
	}
	e := promql.Parse(source.NewFileString("e", "foo and sum(bar)").Text())
	if got := a.Assuming([]string{"job", "instance"}, e).Flow(e.Root); len(got.Branches) != 0 {
		t.Errorf("foo and sum(bar) can match, though series of targets have a job")
	}
	if got := a.Flow(e); len(got.Branches) == 0 {
		t.Errorf("foo and sum(bar) can't match, though nothing is known of foo")
	}
}
