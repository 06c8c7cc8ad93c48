// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/performance",
	Severity: lint.Info,
	Doc: lint.Doc{
		Title: "expression that costs much more than it needs to",
		Why: `A rule is evaluated every minute or so, day and night. Three things make that dear for no gain:

- An alert over a range of more than a day (option max-range) reads all of its samples each time. A recording rule that keeps the short-term value, with avg_over_time or sum_over_time over its few series, costs a fraction.

- A subquery evaluates what is inside once for each step of its range. More than a few thousand steps (option max-steps) are seldom worth it: make the step longer, or record what is inside.

- A rule that computes what a recording rule of the same folder computes already. Reading the record is cheaper, and both agree.`,
		Bad: `groups:
- name: requests
  rules:
  - record: job:requests:rate5m
    expr: sum by (job) (rate(requests_total[5m]))
  - alert: NoRequests
    expr: sum by (job) (rate(requests_total[5m])) == 0
    for: 10m
`,
		Good: `groups:
- name: requests
  rules:
  - record: job:requests:rate5m
    expr: sum by (job) (rate(requests_total[5m]))
  - alert: NoRequests
    expr: job:requests:rate5m == 0
    for: 10m
`,
		TurnOff: "the server has resources to spare.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/practices/rules/", "https://prometheus.io/blog/2019/01/28/subquery-support/"},
	},
	Run: lint.With(promqlPerformance{MaxRange: model.Duration(24 * time.Hour), MaxSteps: 3000}, checkPromqlPerformance),
})

type promqlPerformance struct {
	MaxRange model.Duration `yaml:"max-range" doc:"Longest range that an alert may read of each series; 0s if any."`
	MaxSteps int            `yaml:"max-steps" doc:"Most steps that a subquery may have; 0 if any."`
}

func checkPromqlPerformance(p *lint.Pass, r *rules.Rule, o promqlPerformance) {
	if r.Expr == nil || r.Expr.Root == nil {
		return
	}
	e := r.Expr
	var index promqlComputedIndex
	reported := false // what is inside of a reported part is not reported again
	e.Inspect(func(n parser.Node, path []parser.Node) {
		switch n := n.(type) {
		case *parser.MatrixSelector:
			if d := n.Range; r.IsAlert() && n.RangeExpr == nil && o.MaxRange > 0 && d > time.Duration(o.MaxRange) {
				p.Reportf(e.Range(n), "%s reads every sample of %s at each evaluation: record the value over a short range, and take avg_over_time or sum_over_time of that", r.Object(), model.Duration(d))
			}
		case *parser.SubqueryExpr:
			step := n.Step
			if step == 0 {
				step = time.Minute // what the server is set to; by default that
			}
			if n.RangeExpr == nil && n.StepExpr == nil && o.MaxSteps > 0 && n.Range/step > time.Duration(o.MaxSteps) {
				p.Reportf(e.Range(n), "%s evaluates the subquery %d times at each evaluation, once for each %s of %s: make the step longer, or record what is inside", r.Object(), n.Range/step, model.Duration(step), model.Duration(n.Range))
			}
		case *parser.AggregateExpr:
			if reported {
				return
			}
			if index == nil {
				index = lint.Derive(p.Project, promqlComputed)
			}
			if known := index.find(r, n, path); known != nil {
				reported = true
				p.Report(lint.Finding{
					Span:    e.At(n),
					Message: fmt.Sprintf("%s computes %s anew, which is recorded as %s: read that", r.Object(), promql.Outline(n), promqlName(known.Record.Value)),
					Related: []lint.Related{{Span: known.Place(), Message: "it is recorded here"}},
				})
			}
		}
	})
}

type promqlComputation struct {
	folder duplicateScope
	expr   uint64
}

// A promqlComputedIndex leads from an aggregation to the first rule of a folder
// that records just that, under a name of its own and without further labels.
type promqlComputedIndex map[promqlComputation]*rules.Rule

func promqlComputed(project *lint.Project) promqlComputedIndex {
	index := promqlComputedIndex{}
	for r := range lint.All[*rules.Rule](project) {
		if !r.IsRecord() || r.Expr == nil || r.Expr.Root == nil || len(r.AllLabels()) > 0 || !strings.Contains(r.Record.Value, ":") {
			continue
		}
		if _, ok := promql.Unwrap(r.Expr.Root).(*parser.AggregateExpr); !ok {
			continue
		}
		key := promqlComputation{duplicateFolder(r), r.Expr.Fingerprint()}
		if index[key] == nil {
			index[key] = r
		}
	}
	return index
}

// find returns the rule that records n, a part of r, if it may be read instead.
func (index promqlComputedIndex) find(r *rules.Rule, n *parser.AggregateExpr, path []parser.Node) *rules.Rule {
	if len(index) == 0 {
		return nil
	}
	known := index[promqlComputation{duplicateFolder(r), promql.Fingerprint(n)}]
	switch {
	case known == nil, known == r, r.IsRecord() && len(path) == 0: // record/duplicate has what is recorded twice
		return nil
	case promqlInSubquery(path): // the record has no past at first
		return nil
	case r.Group == known.Group && r.Index < known.Index, promqlSlower(known, r), promql.Normal(n) != known.Expr.Normal():
		return nil
	}
	return known
}

// promqlInSubquery reports whether a part of an expression is evaluated for
// other times than that of the rule.
func promqlInSubquery(path []parser.Node) bool {
	for _, n := range path {
		if _, ok := n.(*parser.SubqueryExpr); ok {
			return true
		}
	}
	return false
}

// promqlSlower reports whether what a rule records is older than another rule
// would have it.
func promqlSlower(known, r *rules.Rule) bool {
	return known.Group != r.Group && known.Group.Interval.Value > r.Group.Interval.Value
}
