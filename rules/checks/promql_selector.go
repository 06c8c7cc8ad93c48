// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/selector",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "selector whose matchers contradict each other, or say one thing twice",
		Why: `All matchers of a selector must hold. Two that no single value can satisfy, such as mode="idle" and mode=~"user|system", select nothing, whatever is scraped: the alert never fires, the recorded series never exists, and absent() always does. That is an error.

A matcher that is written twice is a warning: it is harmless in itself, but mostly the second one was to be another.

A metric name in a matcher ({__name__="up"}) is an information, as it hides the name from readers and from a search for it; a name that cannot stand in front of the braces is left alone.`,
		Bad: `groups:
- name: node
  rules:
  - alert: NodeBusy
    expr: sum by (instance) (rate(node_cpu_seconds_total{mode="idle",mode!="idle"}[5m])) > 3
    for: 15m
`,
		Good: `groups:
- name: node
  rules:
  - alert: NodeBusy
    expr: sum by (instance) (rate(node_cpu_seconds_total{mode!="idle"}[5m])) > 3
    for: 15m
`,
		TurnOff: "The rules are generated from templates that repeat matchers.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/querying/basics/#time-series-selectors"},
	},
	Run: lint.On(checkPromqlSelector),
})

func checkPromqlSelector(p *lint.Pass, e *promql.Expr) {
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		v, ok := n.(*parser.VectorSelector)
		if !ok || len(v.LabelMatchers) > promqlMostMatchers || !promqlSelectorConcerns(v) {
			return
		}
		written := e.Matchers(v)
		for i, m := range written {
			if promqlSelectorRepeated(p, written, i) {
				continue
			}
			promqlSelectorContradiction(p, written, i)
			if m.Matcher.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
				promqlSelectorName(p, e, v, written, i)
			}
		}
	})
}

// promqlSelectorConcerns reports whether a label is matched twice, or the name
// by a matcher in braces.
func promqlSelectorConcerns(v *parser.VectorSelector) bool {
	for i, m := range v.LabelMatchers {
		if m.Name == model.MetricNameLabel && v.Name == "" {
			return true
		}
		for _, other := range v.LabelMatchers[:i] {
			if other.Name == m.Name {
				return true
			}
		}
	}
	return false
}

// promqlSelectorRepeated reports the i-th matcher if an earlier one is the same.
func promqlSelectorRepeated(p *lint.Pass, written []promql.Matcher, i int) bool {
	for _, earlier := range written[:i] {
		if m := written[i]; earlier.Matcher.String() == m.Matcher.String() {
			p.Report(lint.Finding{
				Span:    m.Span,
				Message: promqlSelectorMessage(p, "matcher %s is written twice in one selector: drop one, or match the label that was meant", promqlShown(m.Matcher)),
				Related: []lint.Related{{Span: earlier.Span, Message: "it stands here already"}},
				Fixes:   []lint.Fix{promqlWithout(written, i)},
			})
			return true
		}
	}
	return false
}

// promqlSelectorContradiction reports the i-th matcher if it leaves none of the
// values that an earlier one allows, or the other way round.
func promqlSelectorContradiction(p *lint.Pass, written []promql.Matcher, i int) {
	m := written[i]
	if promqlUnrendered(m.Matcher.Value) {
		return
	}
	for _, earlier := range written[:i] {
		if earlier.Matcher.Name != m.Matcher.Name || promqlUnrendered(earlier.Matcher.Value) ||
			!promqlExcludes(m.Matcher, earlier.Matcher) && !promqlExcludes(earlier.Matcher, m.Matcher) && !promqlPrefixesDiffer(m.Matcher, earlier.Matcher) {
			continue
		}
		remedy := "drop one"
		if promqlSelects(m.Matcher) && promqlSelects(earlier.Matcher) {
			remedy = "drop one, or list the values in a single matcher with =~"
		}
		p.Report(lint.Finding{
			Span:     m.Span,
			Severity: lint.Error,
			Message:  promqlSelectorMessage(p, "matcher %s contradicts %s in the same selector, which so selects nothing: %s", promqlShown(m.Matcher), promqlShown(earlier.Matcher), remedy),
			Related:  []lint.Related{{Span: earlier.Span, Message: "the other matcher is here"}},
		})
		return
	}
}

// promqlSelects reports whether m says what values may be, not what they may not.
func promqlSelects(m *labels.Matcher) bool {
	return m.Type == labels.MatchEqual || m.Type == labels.MatchRegexp
}

// promqlExcludes reports whether a allows only certain values, and b none of them.
func promqlExcludes(a, b *labels.Matcher) bool {
	var values []string
	switch a.Type {
	case labels.MatchEqual:
		values = []string{a.Value}
	case labels.MatchRegexp:
		values = a.SetMatches()
	}
	for _, value := range values {
		if b.Matches(value) {
			return false
		}
	}
	return len(values) > 0
}

// promqlPrefixesDiffer reports whether a and b want values to begin differently.
func promqlPrefixesDiffer(a, b *labels.Matcher) bool {
	if a.Type != labels.MatchRegexp || b.Type != labels.MatchRegexp {
		return false
	}
	x, y := a.Prefix(), b.Prefix()
	return x != "" && y != "" && !strings.HasPrefix(x, y) && !strings.HasPrefix(y, x)
}

// promqlSelectorName reports the i-th matcher, which is for the metric name.
func promqlSelectorName(p *lint.Pass, e *promql.Expr, v *parser.VectorSelector, written []promql.Matcher, i int) {
	name := written[i].Matcher.Value
	if v.Name != "" || promqlUnrendered(name) || !promqlIsName(name) {
		return
	}
	for _, m := range written {
		if m.Matcher.Name == model.MetricNameLabel && m.Matcher != written[i].Matcher {
			return
		}
	}
	f := lint.Finding{
		Span:     written[i].Span,
		Severity: lint.Info,
		Message:  promqlSelectorMessage(p, "matcher %s hides the metric name from readers: write %s in front of the braces", promqlShown(written[i].Matcher), promqlShortened(name)),
	}
	if brace := e.Name(v); brace.Text() == "{" {
		fix := promqlWithout(written, i)
		fix.Message = "write the name in front of the braces"
		fix.Edits = append(fix.Edits, lint.Edit{Span: source.Span{File: brace.File, Start: brace.Start, End: brace.Start}, New: name})
		f.Fixes = []lint.Fix{fix}
	}
	p.Report(f)
}

// promqlIsName reports whether name can stand in front of braces.
func promqlIsName(name string) bool {
	if !model.LegacyValidation.IsValidMetricName(name) {
		return false
	}
	v, ok := promql.Parse(source.Text{Value: name + "{}"}).Root.(*parser.VectorSelector)
	return ok && v.Name == name
}

func promqlSelectorMessage(p *lint.Pass, format string, args ...any) string {
	return strings.TrimSpace(p.Object().String() + " " + fmt.Sprintf(format, args...))
}
