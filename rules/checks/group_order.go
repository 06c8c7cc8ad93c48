// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "group/order",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "rule that reads what a later rule of its group records",
		Why: `The rules of a group are evaluated one after the other, from top to bottom. A rule that stands above the one whose result it reads gets the result of the evaluation before: it is one interval late, and two in a row are two intervals late. It mixes values of two moments where it reads other series as well, and finds nothing at all in the first evaluation.

Ranges and offsets are left alone, since a past value is what they ask for, and so are rules that record a constant, and alerts that read nothing else: they are one interval late and no more. group/cycle has those that read each other in a circle.`,
		Bad: `groups:
- name: requests
  rules:
  - record: job:errors:ratio5m
    expr: job:errors:rate5m / job:requests:rate5m
  - record: job:errors:rate5m
    expr: sum by (job) (rate(errors_total[5m]))
  - record: job:requests:rate5m
    expr: sum by (job) (rate(requests_total[5m]))
`,
		Good: `groups:
- name: requests
  rules:
  - record: job:errors:rate5m
    expr: sum by (job) (rate(errors_total[5m]))
  - record: job:requests:rate5m
    expr: sum by (job) (rate(requests_total[5m]))
  - record: job:errors:ratio5m
    expr: job:errors:rate5m / job:requests:rate5m
`,
		TurnOff: "a delay of one interval does not matter.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/configuration/recording_rules/",
			"https://github.com/prometheus/prometheus/blob/main/rules/group.go",
		},
	},
	Run: lint.On(checkGroupOrder),
})

func checkGroupOrder(p *lint.Pass, r *rules.Rule) {
	if r.Expr == nil || r.Expr.Root == nil || r.Index == len(r.Group.Rules)-1 {
		return
	}
	writers := lint.Derive(p.Project, groupWriters)
	reported := map[*rules.Rule]bool{}
	r.Expr.Inspect(func(n parser.Node, path []parser.Node) {
		v, ok := n.(*parser.VectorSelector)
		if !ok || groupReadsPast(v, path) {
			return
		}
		for _, w := range writers[promql.Metric(v)] {
			if w.Group != r.Group || w.Index <= r.Index || reported[w] || !groupWrites(w, v) || w.Expr == nil || w.Expr.Constant() {
				continue
			}
			if circles := lint.Derive(p.Project, groupCirclesOf); circles[r] > 0 && circles[r] == circles[w] {
				continue // moving the rule does not help: they are in a circle
			}
			if !strings.Contains(w.Record.Value, ":") && slices.Contains(groupMetrics(w), w.Record.Value) {
				continue // it adds series to a metric that is scraped
			}
			if r.IsAlert() && groupSelectors(r) == 1 {
				continue // one interval late, and nothing else that the value would have to fit
			}
			reported[w] = true
			p.Report(lint.Finding{
				Span:    r.Expr.Name(v),
				Message: fmt.Sprintf("%s reads %s, which a later rule of the group records, and so gets the value of the evaluation before: move the rule that records it above this one", r.Object(), promqlName(w.Record.Value)),
				Related: []lint.Related{{Span: w.Place(), Message: "it is recorded here"}},
			})
			return
		}
	})
}

func groupSelectors(r *rules.Rule) int {
	n := 0
	r.Expr.Inspect(func(node parser.Node, _ []parser.Node) {
		if _, ok := node.(*parser.VectorSelector); ok {
			n++
		}
	})
	return n
}

// groupReadsPast reports whether a selector asks for values of the past.
func groupReadsPast(v *parser.VectorSelector, path []parser.Node) bool {
	if promql.Elsewhen(v) {
		return true
	}
	for _, n := range path {
		switch n.(type) {
		case *parser.MatrixSelector, *parser.SubqueryExpr:
			return true
		}
	}
	return false
}

// groupMostWriters bounds the rules that write one metric, so that time and
// memory do not grow with the square of the input. What more of them write they
// tell apart by labels.
const groupMostWriters = 200

// groupWriterIndex holds the recording rules of a run by the metric that they
// write. A name without a colon may be that of a metric that a target exports.
type groupWriterIndex map[string][]*rules.Rule

func groupWriters(project *lint.Project) groupWriterIndex {
	index := groupWriterIndex{}
	for r := range lint.All[*rules.Rule](project) {
		if r.IsRecord() {
			index[r.Record.Value] = append(index[r.Record.Value], r)
		}
	}
	maps.DeleteFunc(index, func(_ string, writers []*rules.Rule) bool { return len(writers) > groupMostWriters })
	return index
}

// groupWrites reports whether a selector can ask for what w records, by the
// labels that w sets.
func groupWrites(w *rules.Rule, v *parser.VectorSelector) bool {
	for _, m := range v.LabelMatchers {
		if m.Name == model.MetricNameLabel {
			continue
		}
		for _, e := range w.AllLabels() {
			if e.Key.Value == m.Name && !m.Matches(e.Value.Value) {
				return false
			}
		}
	}
	return true
}

// groupMetrics returns the metrics that a rule reads.
func groupMetrics(r *rules.Rule) []string {
	var out []string
	r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
		if v, ok := n.(*parser.VectorSelector); ok {
			out = append(out, promql.Metric(v))
		}
	})
	return out
}

// groupCircles numbers the rules that read each other in a circle within their
// group: those of one circle have the same number.
type groupCircles map[*rules.Rule]int

func groupCirclesOf(project *lint.Project) groupCircles {
	writers := lint.Derive(project, groupWriters)
	search := newGroupCycleSearch(func(r *rules.Rule) []*rules.Rule {
		var out []*rules.Rule
		if r.Expr == nil {
			return nil
		}
		r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
			if v, ok := n.(*parser.VectorSelector); ok {
				for _, w := range writers[promql.Metric(v)] {
					if w.Group == r.Group && groupWrites(w, v) {
						out = append(out, w)
					}
				}
			}
		})
		return out
	})
	circles := groupCircles{}
	for i, circle := range search.all(project) {
		for _, r := range circle {
			circles[r] = i + 1
		}
	}
	return circles
}
