// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/histogram",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "quantile of a histogram that gives no result, or a meaningless one",
		Why: `histogram_quantile reads the buckets of a classic histogram by their label le. Where an aggregation in it drops le, there is no result at all, and the alert never fires. The buckets of a native histogram are inside the sample, so that nothing is said of metrics that are not called _bucket.

A quantile lies between 0 and 1: 99 instead of 0.99 gives infinity.

Two things are warnings. Buckets that are read without rate or increase count all there was since the process started, so that the quantile hardly moves any more. And the average or sum of quantiles is the quantile of nothing: aggregate the buckets by le first, then compute the quantile.`,
		Bad: `groups:
- name: web
  rules:
  - alert: WebSlow
    expr: histogram_quantile(0.99, sum by (host) (rate(http_request_duration_seconds_bucket[5m]))) > 3
    for: 10m
`,
		Good: `groups:
- name: web
  rules:
  - alert: WebSlow
    expr: histogram_quantile(0.99, sum by (le, host) (rate(http_request_duration_seconds_bucket[5m]))) > 3
    for: 10m
`,
		TurnOff: "Buckets are written by jobs that live for one run, so that their raw counts are what is asked for.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile",
			"https://prometheus.io/docs/practices/histograms/",
		},
	},
	Run: lint.On(checkPromqlHistogram),
})

func checkPromqlHistogram(p *lint.Pass, r *rules.Rule) {
	if r.Expr == nil {
		return
	}
	r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
		switch n := n.(type) {
		case *parser.Call:
			switch n.Func.Name {
			case "histogram_quantile":
				promqlHistogramRange(p, r.Expr, n.Func.Name, n.Args[0])
				if !promqlHistogramBuckets(p, r, n) {
					promqlHistogramRaw(p, r.Expr, n.Args[1])
				}
			case "histogram_fraction":
				promqlHistogramBuckets(p, r, n)
			case "quantile_over_time":
				promqlHistogramRange(p, r.Expr, n.Func.Name, n.Args[0])
			}
		case *parser.AggregateExpr:
			switch n.Op {
			case parser.QUANTILE:
				promqlHistogramRange(p, r.Expr, "quantile", n.Param)
			case parser.AVG, parser.SUM:
				promqlHistogramAverage(p, r.Expr, n)
			}
		}
	})
}

// promqlHistogramRange reports a quantile that is none.
func promqlHistogramRange(p *lint.Pass, e *promql.Expr, of string, n parser.Expr) {
	q, ok := promqlNumber(n)
	if !ok || q >= 0 && q <= 1 {
		return
	}
	bound, remedy := "infinity", "write a number between 0 and 1"
	if q < 0 {
		bound = "minus infinity"
	}
	f := lint.Finding{Span: e.At(n)}
	if q > 1 && q <= 100 {
		want := promql.OutlineNumber(math.Round(q*1e6) / 1e8)
		remedy = "write " + want
		f.Fixes = []lint.Fix{lint.Replace(f.Span, want, remedy, false)}
		if f.Span.Text() != promql.OutlineNumber(q) {
			f.Fixes = nil // written in a way that the place may not hold all of
		}
	}
	f.Message = promqlSelectorMessage(p, "asks %s for %s, which is not between 0 and 1, and so always gets %s; %s", of, promql.OutlineNumber(q), bound, remedy)
	p.Report(f)
}

// promqlNumber returns the value of a number as it is written.
func promqlNumber(n parser.Expr) (float64, bool) {
	switch n := promql.Unwrap(n).(type) {
	case *parser.NumberLiteral:
		return n.Val, true
	case *parser.UnaryExpr:
		v, ok := promqlNumber(n.Expr)
		if n.Op == parser.SUB {
			v = -v
		}
		return v, ok
	}
	return 0, false
}

// promqlHistogramBuckets reports a call that gets no buckets.
func promqlHistogramBuckets(p *lint.Pass, r *rules.Rule, call *parser.Call) bool {
	flow := rules.Analyse(p.Project).Flow(r.Expr)
	i := slices.IndexFunc(flow.Dead, func(d promql.Dead) bool { return d.Node == call && d.Cause == promql.MissingBuckets })
	if i < 0 || len(rules.Analyse(p.Project).Parts(r.Expr).Flow(call).Branches) > 0 {
		return false
	}
	e, why := r.Expr, flow.Dead[i].Why
	if agg, ok := why.(*parser.AggregateExpr); ok && !agg.Without && slices.Contains(agg.Grouping, "vmrange") {
		return false // the buckets of VictoriaMetrics
	}
	f := lint.Finding{Span: e.Function(call)}
	remedy := "keep le"
	dropped := ""
	if why != nil {
		dropped = fmt.Sprintf(" (%s drops it)", promqlAt(e, why))
		f.Related = []lint.Related{{Span: e.At(why), Message: "le is dropped here"}}
	}
	if agg, ok := why.(*parser.AggregateExpr); ok {
		switch {
		case agg.Without:
			remedy = "take le out of without (…)"
			f.Span = e.Grouping(agg, labels.BucketLabel)
		case len(agg.Grouping) > 0:
			remedy = "add le to by (…)"
			if first := e.Grouping(agg, agg.Grouping[0]); first.Text() == agg.Grouping[0] {
				f.Span = first
				at := source.Span{File: first.File, Start: first.Start, End: first.Start}
				f.Fixes = []lint.Fix{lint.Replace(at, "le, ", remedy, false)}
			}
		default:
			remedy = fmt.Sprintf("write %s by (le) (…)", agg.Op)
		}
	}
	effect := "nothing is recorded"
	switch {
	case len(flow.Branches) > 0:
		effect = "this part gives nothing"
	case r.IsAlert():
		effect = "the alert never fires"
	}
	f.Message = promqlSelectorMessage(p, "gives %s buckets without the label le%s, by which it knows them, so that there is no result and %s; %s", call.Func.Name, dropped, effect, remedy)
	p.Report(f)
	return true
}

// promqlHistogramRaw reports buckets that are read as they are.
func promqlHistogramRaw(p *lint.Pass, e *promql.Expr, n parser.Expr) {
	for {
		agg, ok := promql.Unwrap(n).(*parser.AggregateExpr)
		if !ok || agg.Op != parser.SUM && agg.Op != parser.AVG && agg.Op != parser.MAX && agg.Op != parser.MIN {
			break
		}
		n = agg.Expr
	}
	v, ok := promql.Unwrap(n).(*parser.VectorSelector)
	if !ok {
		return
	}
	metric := promql.Metric(v)
	if !strings.HasSuffix(metric, "_bucket") || strings.Contains(metric, ":") {
		return
	}
	p.Report(lint.Finding{
		Span:     e.Name(v),
		Severity: lint.Warning,
		Message:  promqlSelectorMessage(p, "takes a quantile of %s since the start of each process, which hardly moves any more after a while; write rate(%s[5m])", metric, metric),
	})
}

// promqlHistogramAverage reports an average or a sum of quantiles.
func promqlHistogramAverage(p *lint.Pass, e *promql.Expr, agg *parser.AggregateExpr) {
	call, ok := promql.Unwrap(agg.Expr).(*parser.Call)
	if !ok || call.Func.Name != "histogram_quantile" {
		return
	}
	by := []string{labels.BucketLabel}
	if !agg.Without {
		by = append(by, slices.DeleteFunc(slices.Clone(agg.Grouping), func(s string) bool { return s == labels.BucketLabel })...)
	}
	p.Report(lint.Finding{
		Span:     e.Function(call),
		Severity: lint.Warning,
		Message:  promqlSelectorMessage(p, "takes the %s of quantiles (%s), which is the quantile of nothing; sum the buckets first: histogram_quantile(…, sum by %s (…))", agg.Op, promqlAt(e, agg), promql.LabelList(by)),
	})
}
