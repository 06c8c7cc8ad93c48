// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/deprecated",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "function or syntax that Prometheus 3 has removed, renamed or gives another meaning",
		Why: `An expression that uses what Prometheus has removed does not parse, and the whole file is refused, as syntax/promql says; this check adds what to write today.

Two changes of version 3 are silent. A range no longer includes the sample at its left end, so that a range of just one scrape interval holds one sample instead of two, and rate, increase and their kin return nothing. That is looked at only where scrape-interval is configured, or where a subquery has a range no longer than its step.

And whole numbers in the label le of a histogram and quantile of a summary are stored with a decimal, whatever the target writes: le="1" selects nothing where the series are scraped by version 3, which have le="1.0". As series that are sent by remote write keep what they have, this is an information, and a warning once prometheus-version says 3 or more.

Nothing is reported where prometheus-version is below 3.`,
		Bad: `groups:
- name: forecast
  rules:
  - record: instance:disk_free_bytes:smoothed1d
    expr: holt_winters(disk_free_bytes[1d], 0.3, 0.3)
`,
		Good: `groups:
- name: forecast
  rules:
  - record: instance:disk_free_bytes:avg1d
    expr: avg_over_time(disk_free_bytes[1d])
`,
		TurnOff: "The rules run on Prometheus 2 or on a server of another kind that keeps its meaning; better, set prometheus-version.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/migration/",
			"https://prometheus.io/docs/prometheus/latest/feature_flags/#experimental-promql-functions",
			"https://github.com/prometheus/prometheus/blob/main/CHANGELOG.md",
		},
	},
	Run: lint.With(promqlDeprecated{}, checkPromqlDeprecated),
})

type promqlDeprecated struct {
	ScrapeInterval    string `yaml:"scrape-interval" shared:"scrape-interval" doc:"How often targets are scraped; empty if it is not known."`
	PrometheusVersion string `yaml:"prometheus-version" shared:"prometheus-version" doc:"Version of Prometheus that loads the rules, such as v3.5; empty if it is not known."`
}

// Validate reports options that make no sense.
func (o promqlDeprecated) Validate() error {
	if o.ScrapeInterval != "" {
		if _, err := model.ParseDuration(o.ScrapeInterval); err != nil {
			return fmt.Errorf("scrape-interval: %w", err)
		}
	}
	return promVersionError(o.PrometheusVersion)
}

func (o promqlDeprecated) interval() time.Duration {
	d, err := model.ParseDuration(o.ScrapeInterval)
	if err != nil {
		return 0
	}
	return time.Duration(d)
}

func checkPromqlDeprecated(p *lint.Pass, e *promql.Expr, o promqlDeprecated) {
	if v := parsePromVersion(o.PrometheusVersion); v.known() && v.major < 3 {
		return
	}
	if e.Root == nil {
		if len(e.Errors) > 0 {
			promqlDeprecatedWords(p, e)
		}
		return
	}
	e.Inspect(func(n parser.Node, path []parser.Node) {
		switch n := n.(type) {
		case *parser.MatrixSelector:
			if n.RangeExpr == nil && n.Range > 0 && n.Range == o.interval() {
				promqlDeprecatedRange(p, e, n, path, "scrape interval")
			}
		case *parser.SubqueryExpr:
			if n.RangeExpr == nil && n.StepExpr == nil && n.Range > 0 && n.Range <= n.Step {
				promqlDeprecatedRange(p, e, n, path, "step of its subquery")
			}
		case *parser.VectorSelector:
			promqlDeprecatedBounds(p, e, n, o)
		}
	})
}

// promqlRemoved are the functions that Prometheus had once.
var promqlRemoved = map[string]struct{ since, use string }{
	"holt_winters":       {"3.0", "it is called double_exponential_smoothing now, and needs the feature flag promql-experimental-functions"},
	"count_scalar":       {"2.0", "write scalar(count(…) or vector(0))"},
	"drop_common_labels": {"2.0", "name the labels to keep or to drop in an aggregation"},
}

// promqlDeprecatedWords reports what was removed from the language in an
// expression that does not parse.
func promqlDeprecatedWords(p *lint.Pass, e *promql.Expr) {
	tokens := e.Tokens()
	for i, t := range tokens {
		if t.Type != parser.IDENTIFIER {
			continue
		}
		called := i+1 < len(tokens) && tokens[i+1].Type == parser.LEFT_PAREN
		afterList := i > 0 && tokens[i-1].Type == parser.RIGHT_PAREN
		f := lint.Finding{Span: t.Span}
		switch removed, ok := promqlRemoved[t.Value]; {
		case ok && called:
			f.Message = promqlSelectorMessage(p, "calls %s, which Prometheus %s has removed: %s", t.Value, removed.since, removed.use)
			if t.Value == "holt_winters" && t.Span.Text() == t.Value {
				// The name is another, but the new one may be refused as well.
				f.Fixes = []lint.Fix{lint.Replace(t.Span, "double_exponential_smoothing", "use the new name", false)}
			}
		case (t.Value == "keep_common" || t.Value == "keeping_extra") && afterList:
			f.Message = promqlSelectorMessage(p, "says %s, which Prometheus 2.0 has removed: name the labels to keep in the by clause", t.Value)
		default:
			continue
		}
		p.Report(f)
	}
}

// promqlDeprecatedRange reports a range that holds a single sample.
func promqlDeprecatedRange(p *lint.Pass, e *promql.Expr, n parser.Expr, path []parser.Node, of string) {
	f := groupIntervalFunction(path)
	if f == "" {
		return
	}
	p.Reportf(e.Range(n), "%s", promqlSelectorMessage(p, "range of %s is no longer than the %s: since Prometheus 3.0 it leaves out the sample at its left end and so holds one, while %s needs two and returns nothing; write four times as much", f, of, f))
}

// promqlDeprecatedBounds reports bounds of buckets and quantiles as Prometheus
// 2 stored them.
func promqlDeprecatedBounds(p *lint.Pass, e *promql.Expr, v *parser.VectorSelector, o promqlDeprecated) {
	if strings.Contains(v.Name, ":") || len(v.LabelMatchers) > promqlMostMatchers {
		return // may have been recorded before; or nobody has written it
	}
	var concerned bool
	for _, m := range v.LabelMatchers {
		concerned = concerned || promqlOldBound(v, m)
	}
	if !concerned {
		return
	}
	for _, m := range e.Matchers(v) {
		if !promqlOldBound(v, m.Matcher) {
			continue
		}
		now := &labels.Matcher{Type: m.Type, Name: m.Matcher.Name, Value: m.Matcher.Value + ".0"}
		f := lint.Finding{
			Span:     m.Value,
			Severity: lint.Info,
			Message:  promqlSelectorMessage(p, "matcher %s finds none of the series that Prometheus 3 scrapes, which stores the bound with a decimal: write %s", promqlShown(m.Matcher), promqlShown(now)),
		}
		if parsePromVersion(o.PrometheusVersion).major >= 3 {
			f.Severity = lint.Warning
		}
		if value, ok := promqlQuoted(m, now.Value); ok {
			f.Fixes = []lint.Fix{lint.Replace(m.Value, value, "write "+promqlShown(now), false)}
		}
		p.Report(f)
	}
}

// promqlOldBound reports whether m matches a bucket or a quantile by a whole
// number without a decimal.
func promqlOldBound(v *parser.VectorSelector, m *labels.Matcher) bool {
	if m.Type != labels.MatchEqual {
		return false
	}
	bucket := m.Name == labels.BucketLabel && strings.HasSuffix(v.Name, "_bucket")
	if !bucket && m.Name != "quantile" {
		return false
	}
	return promqlWhole.MatchString(m.Value)
}

var promqlWhole = regexp.MustCompile(`^[0-9]+$`)
