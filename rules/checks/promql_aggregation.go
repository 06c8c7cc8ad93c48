// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/aggregation",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "aggregation by a label that cannot be there, or one that keeps or drops a label against the rules of the house",
		Why: `An aggregation by a label that no series has any more gives one result without that label: sum by (pod) around sum by (namespace) adds up everything, whatever the by clause says. Mostly the label is misspelt, or the inner aggregation has dropped it. It is reported only where the label can be there in no way; a fallback such as "or vector(0)" does no harm, and series that another rule records may have further labels.

With keep and strip a team says which labels the rules of a given name must keep or must not keep, for instance that job always survives. A label that may or may not be there is left alone.`,
		Bad: `groups:
- name: pods
  rules:
  - alert: ManyRestarts
    expr: sum by (pod) (sum by (namespace) (restarts)) > 5
    for: 5m
`,
		Good: `groups:
- name: pods
  rules:
  - alert: ManyRestarts
    expr: sum by (pod) (sum by (namespace, pod) (restarts)) > 5
    for: 5m
`,
		TurnOff: "never; set other names under keep and strip.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/querying/operators/#aggregation-operators"},
	},
	Run: lint.With(promqlAggregation{}, checkPromqlAggregation),
})

type promqlAggregation struct {
	Keep  map[string][]string `yaml:"keep" doc:"Labels that the result of a rule must keep, by a regular expression for the whole name of the rule."`
	Strip map[string][]string `yaml:"strip" doc:"Labels that the result of a rule must not have, by a regular expression for the whole name of the rule."`
}

// Validate reports a pattern that does not compile.
func (o promqlAggregation) Validate() error {
	for option, patterns := range map[string]map[string][]string{"keep": o.Keep, "strip": o.Strip} {
		for pattern := range patterns {
			if _, err := regexp.Compile(pattern); err != nil {
				return fmt.Errorf("%s: pattern %q: %w", option, pattern, err)
			}
		}
	}
	return nil
}

func checkPromqlAggregation(p *lint.Pass, r *rules.Rule, o promqlAggregation) {
	if r.Expr == nil || r.Expr.Root == nil {
		return
	}
	if len(o.Keep)+len(o.Strip) > 0 {
		promqlAggregationHouse(p, r, o)
	}
	promqlAggregationImpossible(p, r)
}

// promqlAggregationHouse reports labels that are kept or dropped against what
// the options ask for.
func promqlAggregationHouse(p *lint.Pass, r *rules.Rule, o promqlAggregation) {
	name := r.Object().Name
	asked := func(patterns map[string][]string) []string {
		var labels []string
		for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
			if re, err := regexp.Compile("^(?:" + pattern + ")$"); err == nil && re.MatchString(name) {
				labels = append(labels, patterns[pattern]...)
			}
		}
		slices.Sort(labels)
		return slices.Compact(labels)
	}
	keep, strip := asked(o.Keep), asked(o.Strip)
	if len(keep)+len(strip) == 0 {
		return
	}
	flow := rules.Analyse(p.Project).Flow(r.Expr)
	if len(flow.Branches) == 0 {
		return
	}
	static := map[string]bool{}
	for _, e := range r.AllLabels() {
		static[e.Key.Value] = e.Value.Value != ""
	}
	for _, label := range keep {
		fact := flow.Label(label)
		if set, ok := static[label]; set || fact.Presence != promql.Impossible && !ok {
			continue
		}
		f := lint.Finding{Span: r.Expr.Text.All(), Message: fmt.Sprintf("%s drops the label %s, which the configuration asks to keep: keep it in each aggregation", r.Object(), promqlName(label))}
		if fact.Why != nil {
			f.Span = r.Expr.At(fact.Why)
			f.Message = fmt.Sprintf("%s drops the label %s by %s, which the configuration asks to keep: keep it there", r.Object(), promqlName(label), promql.Outline(fact.Why))
		}
		p.Report(f)
	}
	for _, label := range strip {
		if _, ok := static[label]; ok || flow.Label(label).Presence != promql.Guaranteed {
			continue
		}
		f := lint.Finding{Span: r.Expr.Text.All(), Message: fmt.Sprintf("%s keeps the label %s, which the configuration asks to drop: aggregate it away", r.Object(), promqlName(label))}
		if n, ok := promql.Unwrap(r.Expr.Root).(*parser.AggregateExpr); ok && !n.Without && slices.Contains(n.Grouping, label) {
			f.Span = r.Expr.Grouping(n, label)
		}
		p.Report(f)
	}
}

// promqlAggregationImpossible reports labels in by clauses that no series that
// is aggregated can have.
func promqlAggregationImpossible(p *lint.Pass, r *rules.Rule) {
	var parts *promql.Parts
	r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
		a, ok := n.(*parser.AggregateExpr)
		if !ok || a.Without || len(a.Grouping) == 0 || promqlAggregationOpen(a.Expr) {
			return
		}
		if parts == nil {
			parts = rules.Analyse(p.Project).Parts(r.Expr)
		}
		flow := parts.Flow(a.Expr)
		if len(flow.Branches) == 0 || flow.Always() {
			return
		}
		for i, label := range a.Grouping {
			fact := flow.Label(label)
			if fact.Presence != promql.Impossible || slices.Contains(a.Grouping[:i], label) {
				continue
			}
			if _, selector := fact.Why.(*parser.VectorSelector); selector || fact.Why == nil {
				// A matcher that asks for series without the label says so on
				// purpose, and a series that another rule records may have got the
				// label on the way here, as an external label.
				continue
			}
			name := promqlName(label)
			p.Report(lint.Finding{
				Span:    r.Expr.Grouping(a, label),
				Message: fmt.Sprintf("%s aggregates by %s, which no series has there, since %s drops it: the result is not split by it; keep the label there, or leave it out here", r.Object(), name, promql.Outline(fact.Why)),
				Related: []lint.Related{{Span: r.Expr.At(fact.Why), Message: name + " is dropped here"}},
			})
		}
	})
}

// promqlAggregationOpen reports whether what is aggregated is read as it is, so
// that no part of the expression has dropped a label.
func promqlAggregationOpen(n parser.Expr) bool {
	switch n := promql.Unwrap(n).(type) {
	case *parser.VectorSelector:
		return true
	case *parser.MatrixSelector:
		return true
	case *parser.Call:
		return len(n.Args) == 1 && promqlAggregationOpen(n.Args[0])
	}
	return false
}
