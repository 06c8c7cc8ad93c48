// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/features",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "function, syntax or field that the version of Prometheus does not have",
		Why: `A server that does not know a function or a field refuses the whole rule file, and goes on with the rules it has or does not start at all. The operator leaves out fields that the version does not know, so that the alert behaves otherwise than it is written.

It is looked at only with the option prometheus-version. What a version has behind a feature flag alone is reported unless features names the flag, or promql.experimental says that all are set.`,
		Bad: `groups:
- name: queue
  rules:
  - alert: QueueStuck
    expr: queue_depth > 0 and present_over_time(queue_stuck[10m])
    for: 10m
    keep_firing_for: 5m
`,
		Good: `groups:
- name: queue
  rules:
  - alert: QueueStuck
    expr: queue_depth > 0 and count_over_time(queue_stuck[10m]) > 0
    for: 15m
`,
		Config:  "prometheus-version: v2.28",
		TurnOff: "never while the version is set; set the one that loads the rules.",
		Since:   "v0.1.0",
		Refs:    []string{"https://github.com/prometheus/prometheus/blob/main/CHANGELOG.md", "https://prometheus.io/docs/prometheus/latest/feature_flags/"},
	},
	Run: lint.With(promqlFeatures{}, checkPromqlFeatures).And(lint.With(promqlFeatures{}, checkPromqlFeaturesOfRule)).And(lint.With(promqlFeatures{}, checkPromqlFeaturesOfGroup)),
})

type promqlFeatures struct {
	PrometheusVersion string   `yaml:"prometheus-version" shared:"prometheus-version" doc:"Version of Prometheus that loads the rules, such as v2.53; empty if it is not known."`
	Features          []string `yaml:"features" doc:"Feature flags that the server is started with, such as promql-experimental-functions."`
	Experimental      bool     `yaml:"experimental" shared:"promql.experimental" doc:"Prometheus runs with the feature flags of experimental functions and syntax."`
}

func (o promqlFeatures) Validate() error { return promVersionError(o.PrometheusVersion) }

// A promqlFeature is what came with a version: with a flag until that is no
// longer needed, if it has come to that.
type promqlFeature struct {
	since  promVersion
	flag   string
	stable promVersion
}

// The flags of https://prometheus.io/docs/prometheus/latest/feature_flags/
const (
	promqlExperimental   = "promql-experimental-functions"
	promqlExtendedRanges = "promql-extended-range-selectors"
)

var (
	promqlFunctionsSince = map[string]promqlFeature{
		"absent_over_time":             {since: promVersion{2, 16}},
		"clamp":                        {since: promVersion{2, 26}},
		"sgn":                          {since: promVersion{2, 26}},
		"last_over_time":               {since: promVersion{2, 26}},
		"present_over_time":            {since: promVersion{2, 29}},
		"histogram_count":              {since: promVersion{2, 40}},
		"histogram_sum":                {since: promVersion{2, 40}},
		"histogram_fraction":           {since: promVersion{2, 40}},
		"histogram_stddev":             {since: promVersion{2, 47}},
		"histogram_stdvar":             {since: promVersion{2, 47}},
		"histogram_avg":                {since: promVersion{2, 51}},
		"mad_over_time":                {since: promVersion{2, 49}, flag: promqlExperimental},
		"sort_by_label":                {since: promVersion{2, 49}, flag: promqlExperimental},
		"sort_by_label_desc":           {since: promVersion{2, 49}, flag: promqlExperimental},
		"info":                         {since: promVersion{2, 55}, flag: promqlExperimental},
		"double_exponential_smoothing": {since: promVersion{3, 0}, flag: promqlExperimental},
		"ts_of_min_over_time":          {since: promVersion{3, 5}, flag: promqlExperimental},
		"ts_of_max_over_time":          {since: promVersion{3, 5}, flag: promqlExperimental},
		"ts_of_last_over_time":         {since: promVersion{3, 5}, flag: promqlExperimental},
		"ts_of_first_over_time":        {since: promVersion{3, 7}, flag: promqlExperimental},
		"first_over_time":              {since: promVersion{3, 7}, flag: promqlExperimental, stable: promVersion{3, 14}},
		"histogram_quantiles":          {since: promVersion{3, 11}, flag: promqlExperimental},
		"start":                        {since: promVersion{3, 12}, flag: promqlExperimental},
		"end":                          {since: promVersion{3, 12}, flag: promqlExperimental},
		"range":                        {since: promVersion{3, 12}, flag: promqlExperimental},
		"step":                         {since: promVersion{3, 12}, flag: promqlExperimental},
		"min_of":                       {since: promVersion{3, 13}, flag: promqlExperimental},
		"max_of":                       {since: promVersion{3, 13}, flag: promqlExperimental},
		"start_timestamp":              {since: promVersion{3, 14}, flag: "use-start-timestamps"},
	}
	promqlAggregatorsSince = map[parser.ItemType]promqlFeature{
		parser.GROUP:       {since: promVersion{2, 20}},
		parser.LIMITK:      {since: promVersion{2, 54}, flag: promqlExperimental},
		parser.LIMIT_RATIO: {since: promVersion{2, 54}, flag: promqlExperimental},
	}
	promqlOperatorsSince = map[parser.ItemType]promqlFeature{
		parser.ATAN2:      {since: promVersion{2, 31}},
		parser.TRIM_LOWER: {since: promVersion{3, 11}},
		parser.TRIM_UPPER: {since: promVersion{3, 11}},
	}

	promqlTrigonometric = promqlFeature{since: promVersion{2, 31}}
	promqlSubquery      = promqlFeature{since: promVersion{2, 7}}
	promqlModifierAt    = promqlFeature{since: promVersion{2, 25}, flag: "promql-at-modifier", stable: promVersion{2, 33}}
	promqlNegative      = promqlFeature{since: promVersion{2, 26}, flag: "promql-negative-offset", stable: promVersion{2, 33}}
	promqlCalculated    = promqlFeature{since: promVersion{3, 4}, flag: "promql-duration-expr", stable: promVersion{3, 14}}
	promqlExtended      = promqlFeature{since: promVersion{3, 7}, flag: promqlExtendedRanges}
	promqlFill          = promqlFeature{since: promVersion{3, 10}, flag: "promql-binop-fill-modifiers"}
	promqlUnderscores   = promqlFeature{since: promVersion{2, 54}}
)

func init() {
	for _, name := range []string{"acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "deg", "pi", "rad", "sin", "sinh", "tan", "tanh"} {
		promqlFunctionsSince[name] = promqlTrigonometric
	}
}

// lacks says why the version does not have a feature, or "".
func (o promqlFeatures) lacks(f promqlFeature) string {
	version := parsePromVersion(o.PrometheusVersion)
	switch {
	case !version.known() || f.since == promVersion{}:
		return ""
	case version.before(f.since):
		return fmt.Sprintf("which came with version %s", f.since)
	case f.flag == "" || o.Experimental || slices.Contains(o.Features, f.flag), f.stable.known() && !version.before(f.stable):
		return ""
	}
	return fmt.Sprintf("which needs the feature flag %s", f.flag)
}

func checkPromqlFeatures(p *lint.Pass, e *promql.Expr, o promqlFeatures) {
	if e.Root == nil || o.PrometheusVersion == "" {
		return
	}
	report := func(f promqlFeature, at func() source.Span, what string) {
		reason := o.lacks(f)
		if reason == "" || strings.Contains(reason, "flag") && e.Experimental() {
			return // that a flag is wanted is what syntax/promql says
		}
		remedy := "write it without, or update the server"
		if strings.Contains(reason, "flag") {
			remedy = "set it and name it in features, or write it without"
		}
		p.Reportf(at(), "%s", promqlSelectorMessage(p, "uses %s, %s: Prometheus %s refuses the whole file; %s", what, reason, o.PrometheusVersion, remedy))
	}
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		place := func() source.Span { return e.At(n) }
		switch n := n.(type) {
		case *parser.Call:
			report(promqlFunctionsSince[n.Func.Name], func() source.Span { return e.Function(n) }, n.Func.Name)
		case *parser.AggregateExpr:
			report(promqlAggregatorsSince[n.Op], func() source.Span {
				s := e.At(n)
				s.End = min(s.End, s.Start+len(n.Op.String()))
				return s
			}, n.Op.String())
		case *parser.BinaryExpr:
			report(promqlOperatorsSince[n.Op], func() source.Span { return e.Operator(n) }, n.Op.String())
			if m := n.VectorMatching; m != nil && (m.FillValues.LHS != nil || m.FillValues.RHS != nil) {
				report(promqlFill, func() source.Span { return e.Operator(n) }, "fill")
			}
		case *parser.SubqueryExpr:
			report(promqlSubquery, place, "a subquery")
			if n.RangeExpr != nil || n.StepExpr != nil || n.OriginalOffsetExpr != nil {
				report(promqlCalculated, place, "a calculated duration")
			}
			if n.Timestamp != nil || n.StartOrEnd != 0 {
				report(promqlModifierAt, place, "the modifier @")
			}
			if n.OriginalOffset < 0 {
				report(promqlNegative, place, "a negative offset")
			}
		case *parser.MatrixSelector:
			if n.RangeExpr != nil {
				report(promqlCalculated, func() source.Span { return e.Range(n) }, "a calculated duration")
			}
		case *parser.VectorSelector:
			switch {
			case n.Anchored:
				report(promqlExtended, place, "anchored")
			case n.Smoothed:
				report(promqlExtended, place, "smoothed")
			}
			if n.OriginalOffsetExpr != nil {
				report(promqlCalculated, place, "a calculated duration")
			}
			if n.Timestamp != nil || n.StartOrEnd != 0 {
				report(promqlModifierAt, place, "the modifier @")
			}
			if n.OriginalOffset < 0 {
				report(promqlNegative, place, "a negative offset")
			}
		case *parser.NumberLiteral:
			if strings.Contains(e.At(n).Text(), "_") {
				report(promqlUnderscores, place, "a number with underscores")
			}
		}
	})
}

func checkPromqlFeaturesOfRule(p *lint.Pass, r *rules.Rule, o promqlFeatures) {
	o.field(p, r.KeepFiringFor.Text, r.Object(), "keep_firing_for", promVersion{2, 42})
}

func checkPromqlFeaturesOfGroup(p *lint.Pass, g *rules.Group, o promqlFeatures) {
	o.field(p, g.QueryOffset.Text, g.Object(), "query_offset", promVersion{2, 53})
	o.field(p, g.Limit, g.Object(), "limit", promVersion{2, 31})
	if len(g.Labels) > 0 {
		o.field(p, g.Labels[0].Key, g.Object(), "labels of a group", promVersion{3, 0})
	}
}

// field reports a field of a rule or a group that the version does not know.
func (o promqlFeatures) field(p *lint.Pass, at source.Text, object lint.Object, name string, since promVersion) {
	if at.Value == "" || o.lacks(promqlFeature{since: since}) == "" {
		return
	}
	p.Reportf(at.All(), "%s has %s, which came with version %s: Prometheus %s refuses the whole file, and the operator leaves it out; remove it, or update the server", object, name, since, o.PrometheusVersion)
}
