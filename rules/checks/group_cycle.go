// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "group/cycle",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "recording rules that read each other in a circle",
		Why: `Where each of several recording rules reads what another one of them records, no order of evaluation is right: each result depends on results of evaluations before, and an outlier or a gap never leaves the circle. Where each of them needs the other's series, none ever records a first sample.

A rule that reads its own result is a running total or a memory, such as x:total = increase(y[1m]) + x:total or increase(y[1m]), and left alone as long as it can start without it. Reading a past value by an offset is no circle. Only names with a colon are followed, since another may be that of a metric that targets export, and labels that exclude each other make no circle: a rule may well record the sum of series under their own name with another label.`,
		Bad: `groups:
- name: capacity
  rules:
  - record: cluster:capacity:sum
    expr: sum by (cluster) (cluster:demand:sum * 1.2)
  - record: cluster:demand:sum
    expr: sum by (cluster) (cluster:capacity:sum / 1.2)
`,
		Good: `groups:
- name: capacity
  rules:
  - record: cluster:demand:sum
    expr: sum by (cluster) (requested_cpus)
  - record: cluster:capacity:sum
    expr: cluster:demand:sum * 1.2
`,
		TurnOff: "series of these names come from another server as well, by federation or remote write.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/configuration/recording_rules/"},
	},
	Run: lint.On(checkGroupCycle),
})

func checkGroupCycle(p *lint.Pass, r *rules.Rule) {
	circle := lint.Derive(p.Project, groupCycles)[r]
	if len(circle) == 0 {
		return
	}
	span, writes := groupCycleRead(r, circle)
	f := lint.Finding{Span: span}
	if len(circle) == 1 {
		f.Message = fmt.Sprintf("%s needs its own result, which is not there before it was recorded once, so that it never records anything: compute it from other series", r.Object())
		p.Report(f)
		return
	}
	const most = 3 // names that are shown
	var others []string
	for _, other := range circle {
		if other == r || len(others) > most {
			continue
		}
		if name := promqlName(other.Record.Value); !slices.Contains(others, name) {
			others = append(others, name)
		}
		f.Related = append(f.Related, lint.Related{Span: other.Place(), Message: "it is in the circle as well"})
	}
	if len(others) > most {
		others = append(others[:most], "others")
	}
	f.Message = fmt.Sprintf("%s reads %s and is read in a circle with %s: each depends on a result of an evaluation before, and none is ever right; compute one of them from other series", r.Object(), promqlName(writes), strings.Join(others, ", "))
	p.Report(f)
}

// groupCycleRead returns where a rule reads what one of the circle records.
func groupCycleRead(r *rules.Rule, circle []*rules.Rule) (at source.Span, metric string) {
	r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
		v, ok := n.(*parser.VectorSelector)
		if !ok || !at.IsZero() {
			return
		}
		for _, w := range circle {
			if w.Record.Value == promql.Metric(v) && groupCycleEdge(v, w) {
				at, metric = r.Expr.Name(v), w.Record.Value
				return
			}
		}
	})
	return at, metric
}

// groupCycleEdge reports whether a selector reads the present values of what w
// records.
func groupCycleEdge(v *parser.VectorSelector, w *rules.Rule) bool {
	return !groupReadsPast(v, nil) && groupWrites(w, v)
}

// groupCycleIndex leads from the first rule of a circle to all of them.
type groupCycleIndex map[*rules.Rule][]*rules.Rule

func groupCycles(project *lint.Project) groupCycleIndex {
	writers := lint.Derive(project, groupWriters)
	reads := func(r *rules.Rule) []*rules.Rule {
		var out []*rules.Rule
		if r.Expr == nil {
			return nil
		}
		r.Expr.Inspect(func(n parser.Node, path []parser.Node) {
			v, ok := n.(*parser.VectorSelector)
			if !ok || groupCycleOffset(path) {
				return
			}
			all := writers[promql.Metric(v)]
			for _, w := range all {
				together := len(all) == 1 || duplicateScopeOf(w) == duplicateScopeOf(r)
				if strings.Contains(w.Record.Value, ":") && together && groupCycleEdge(v, w) {
					out = append(out, w)
				}
			}
		})
		return out
	}
	index := groupCycleIndex{}
	for _, circle := range newGroupCycleSearch(reads).all(project) {
		slices.SortFunc(circle, func(a, b *rules.Rule) int {
			return cmp.Or(strings.Compare(duplicatePath(a), duplicatePath(b)), cmp.Compare(a.Place().Start, b.Place().Start), cmp.Compare(a.Span().Start, b.Span().Start))
		})
		first := circle[0]
		if len(circle) == 1 && !groupCycleNeeds(first.Expr.Root, first) {
			continue
		}
		index[first] = circle
	}
	return index
}

// groupCycleOffset reports whether a subquery reads the past.
func groupCycleOffset(path []parser.Node) bool {
	for _, n := range path {
		if s, ok := n.(*parser.SubqueryExpr); ok && (s.OriginalOffset != 0 || s.OriginalOffsetExpr != nil || s.Timestamp != nil || s.StartOrEnd != 0) {
			return true
		}
	}
	return false
}

// groupCycleNeeds reports whether an expression has no result where the series
// that r records are missing.
func groupCycleNeeds(n parser.Expr, r *rules.Rule) bool {
	switch n := promql.Unwrap(n).(type) {
	case *parser.VectorSelector:
		// A matcher on a label that the rule does not set itself may well choose
		// the series of another server, as one on an external label does.
		return promql.Metric(n) == r.Record.Value && groupCycleEdge(n, r) && !slices.ContainsFunc(n.LabelMatchers, func(m *labels.Matcher) bool {
			return m.Name != model.MetricNameLabel && !slices.ContainsFunc(r.AllLabels(), func(e rules.Entry) bool { return e.Key.Value == m.Name })
		})
	case *parser.MatrixSelector:
		return groupCycleNeeds(n.VectorSelector, r)
	case *parser.SubqueryExpr:
		return !groupCycleOffset([]parser.Node{n}) && groupCycleNeeds(n.Expr, r)
	case *parser.AggregateExpr:
		return groupCycleNeeds(n.Expr, r)
	case *parser.UnaryExpr:
		return groupCycleNeeds(n.Expr, r)
	case *parser.Call:
		switch n.Func.Name {
		case "absent", "absent_over_time", "scalar", "info":
			return false
		}
		return slices.ContainsFunc(n.Args, func(a parser.Expr) bool { return groupCycleNeeds(a, r) })
	case *parser.BinaryExpr:
		if m := n.VectorMatching; m != nil && (m.FillValues.LHS != nil || m.FillValues.RHS != nil) {
			return false
		}
		left, right := groupCycleNeeds(n.LHS, r), groupCycleNeeds(n.RHS, r)
		switch n.Op {
		case parser.LOR:
			return left && right
		case parser.LUNLESS:
			return left
		}
		return left || right
	}
	return false
}

// A groupCycleSearch finds the circles of rules (the strongly connected
// components, by Tarjan's algorithm). It keeps its own stack, since chains may
// be long.
type groupCycleSearch struct {
	reads       func(*rules.Rule) []*rules.Rule
	number, low map[*rules.Rule]int // number: in order of discovery, from 1; -1 once done
	path        []*rules.Rule
	circles     [][]*rules.Rule
	found       int
}

type groupCycleFrame struct {
	rule  *rules.Rule
	reads []*rules.Rule
	self  bool
}

func newGroupCycleSearch(reads func(*rules.Rule) []*rules.Rule) *groupCycleSearch {
	return &groupCycleSearch{reads: reads, number: map[*rules.Rule]int{}, low: map[*rules.Rule]int{}}
}

// all returns the circles among the recording rules of a project.
func (s *groupCycleSearch) all(project *lint.Project) [][]*rules.Rule {
	for r := range lint.All[*rules.Rule](project) {
		if r.IsRecord() && s.number[r] == 0 {
			s.from(r)
		}
	}
	return s.circles
}

func (s *groupCycleSearch) from(r *rules.Rule) {
	stack := []*groupCycleFrame{s.enter(r)}
	for len(stack) > 0 {
		f := stack[len(stack)-1]
		if len(f.reads) > 0 {
			w := f.reads[0]
			f.reads = f.reads[1:]
			switch number := s.number[w]; {
			case w == f.rule:
				f.self = true
			case number == 0:
				stack = append(stack, s.enter(w))
			case number > 0:
				s.low[f.rule] = min(s.low[f.rule], number)
			}
			continue
		}
		stack = stack[:len(stack)-1]
		if len(stack) > 0 {
			reader := stack[len(stack)-1].rule
			s.low[reader] = min(s.low[reader], s.low[f.rule])
		}
		if s.low[f.rule] < s.number[f.rule] {
			continue
		}
		at := len(s.path) - 1
		for s.path[at] != f.rule {
			at--
		}
		circle := slices.Clone(s.path[at:])
		s.path = s.path[:at]
		for _, member := range circle {
			s.number[member] = -1
		}
		if len(circle) > 1 || f.self {
			s.circles = append(s.circles, circle)
		}
	}
}

func (s *groupCycleSearch) enter(r *rules.Rule) *groupCycleFrame {
	s.found++
	s.number[r], s.low[r] = s.found, s.found
	s.path = append(s.path, r)
	return &groupCycleFrame{rule: r, reads: s.reads(r)}
}
