// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/restricted",
	Severity: lint.Error,
	OptIn:    true,
	Doc: lint.Doc{
		Title: "metric, label or function that the team does not allow, or a selector without a matcher that it demands",
		Why: `Some rules only a team can know: a metric that is about to go away, a label that must never be matched by, a function that is too dear for this server, a metric of many clusters that must always be narrowed to one. Each list is empty until it is configured, and message says in the team's own words what to do instead.

Regular expressions must match a whole name. A selector that does not name its metric by equality is not looked at for what depends on the metric.`,
		Bad: `groups:
- name: pods
  rules:
  - alert: PodNotReady
    expr: sum by (namespace, pod) (kube_pod_status_ready{condition="false"}) > 0
    for: 15m
`,
		Good: `groups:
- name: pods
  rules:
  - alert: PodNotReady
    expr: sum by (namespace, pod) (kube_pod_status_ready{cluster="eu-1",condition="false"}) > 0
    for: 15m
`,
		Config:  "required-matchers: {\"kube_.*\": [cluster]}\nmessage: see the guide for fleets",
		TurnOff: "nothing is restricted; it is off until it is configured.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/querying/basics/#instant-vector-selectors"},
	},
	Run: lint.With(promqlRestricted{}, checkPromqlRestricted),
})

type promqlRestricted struct {
	ForbiddenMetrics   []string            `yaml:"forbidden-metrics" doc:"Regular expressions of metrics that no expression may read."`
	ForbiddenLabels    []string            `yaml:"forbidden-labels" doc:"Labels that no matcher, grouping or join may name."`
	ForbiddenFunctions []string            `yaml:"forbidden-functions" doc:"Functions and aggregations that no expression may use."`
	RequiredMatchers   map[string][]string `yaml:"required-matchers" doc:"For metrics that a regular expression matches, the labels that each selector of them must match by."`
	Message            string              `yaml:"message" doc:"What the team has to say about it, at the end of each message."`
}

// Validate reports options that make no sense.
func (o promqlRestricted) Validate() error {
	for i, expr := range o.ForbiddenMetrics {
		if err := alertPatternError(fmt.Sprintf("forbidden-metrics[%d]", i), expr); err != nil {
			return err
		}
	}
	for i, name := range o.ForbiddenFunctions {
		known := promqlRestrictedFunctions()
		// A name that is like none may be of another version of Prometheus.
		if meant, misspelt := near.Name(name, known); misspelt && !slices.Contains(known, name) {
			return fmt.Errorf("forbidden-functions[%d]: PromQL has no function %q; did you mean %q?", i, name, meant)
		}
	}
	for _, expr := range slices.Sorted(maps.Keys(o.RequiredMatchers)) {
		if err := alertPatternError(fmt.Sprintf("required-matchers[%q]", expr), expr); err != nil {
			return err
		}
	}
	return nil
}

// promqlRestrictedFunctions returns the names of all functions and aggregations.
func promqlRestrictedFunctions() []string {
	names := slices.Sorted(maps.Keys(parser.Functions))
	for item, name := range parser.ItemTypeStr {
		if item.IsAggregator() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func checkPromqlRestricted(p *lint.Pass, e *promql.Expr, o promqlRestricted) {
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		switch n := n.(type) {
		case *parser.VectorSelector:
			o.selector(p, e, n)
		case *parser.Call:
			o.function(p, e.Function(n), n.Func.Name)
		case *parser.AggregateExpr:
			at := e.At(n)
			at.End = min(at.End, at.Start+len(n.Op.String()))
			o.function(p, at, n.Op.String())
			how := "groups by"
			if n.Without {
				how = "groups without"
			}
			for _, label := range n.Grouping {
				o.label(p, label, how, func() source.Span { return e.Grouping(n, label) })
			}
		case *parser.BinaryExpr:
			m := n.VectorMatching
			if m == nil {
				return
			}
			how := "joins ignoring"
			if m.On {
				how = "joins by"
			}
			for _, label := range m.MatchingLabels {
				o.label(p, label, how, func() source.Span { return e.MatchingLabel(n, label) })
			}
			for _, label := range m.Include {
				o.label(p, label, "copies", func() source.Span { return promqlRestrictedInclude(e, n, label) })
			}
		}
	})
}

// promqlRestrictedInclude returns the place of a label in a group_left or
// group_right, which may copy what ignoring names as well.
func promqlRestrictedInclude(e *promql.Expr, n *parser.BinaryExpr, label string) source.Span {
	place := e.MatchingLabel(n, label)
	if slices.Contains(n.VectorMatching.MatchingLabels, label) {
		clauses := e.Operator(n)
		for _, t := range e.Tokens() {
			if t.Value == label && clauses.Contains(t.Span) {
				place = t.Span
			}
		}
	}
	return place
}

func (o promqlRestricted) report(p *lint.Pass, at source.Span, format string, args ...any) {
	message := promqlSelectorMessage(p, format, args...)
	if o.Message != "" {
		message += ": " + o.Message
	}
	p.Report(lint.Finding{Span: at, Message: message})
}

func (o promqlRestricted) selector(p *lint.Pass, e *promql.Expr, v *parser.VectorSelector) {
	if len(o.ForbiddenLabels) > 0 {
		for _, m := range e.Matchers(v) {
			o.label(p, m.Matcher.Name, "matches by", func() source.Span { return m.Span })
		}
	}
	metric := promql.Metric(v)
	if metric == "" || promqlUnrendered(metric) {
		return
	}
	if slices.ContainsFunc(o.ForbiddenMetrics, func(expr string) bool { return promqlMatchesWhole(p, expr, metric) }) {
		o.report(p, e.Name(v), "reads %s, which is not allowed here", metric)
	}
	var missing []string
	for _, expr := range slices.Sorted(maps.Keys(o.RequiredMatchers)) {
		if !promqlMatchesWhole(p, expr, metric) {
			continue
		}
		for _, label := range o.RequiredMatchers[expr] {
			has := slices.Contains(missing, label)
			for _, m := range v.LabelMatchers {
				has = has || m.Name == label
			}
			if !has {
				missing = append(missing, label)
			}
		}
	}
	if len(missing) > 0 {
		noun := "a matcher"
		if len(missing) > 1 {
			noun = "matchers"
		}
		o.report(p, e.Name(v), "reads %s without %s for %s, which is required here", metric, noun, strings.Join(missing, ", "))
	}
}

func (o promqlRestricted) function(p *lint.Pass, at source.Span, name string) {
	if slices.Contains(o.ForbiddenFunctions, name) {
		o.report(p, at, "uses %s, which is not allowed here", name)
	}
}

func (o promqlRestricted) label(p *lint.Pass, label, how string, at func() source.Span) {
	if slices.Contains(o.ForbiddenLabels, label) {
		o.report(p, at(), "%s the label %s, which is not allowed here", how, label)
	}
}
