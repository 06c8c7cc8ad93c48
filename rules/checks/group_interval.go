// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

var _ = add(lint.Check{
	ID:       "group/interval",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "evaluation interval so long that results go stale, or so short that it is a burden",
		Why: `Prometheus looks back five minutes for the last sample of a series. What a group records less often than that is missing from queries between two evaluations: dashboards show gaps, and rules that read it return nothing. The same goes for ALERTS. What an alert is about begins up to an interval before anybody hears of it, and for is rounded up to the next evaluation. A group whose alerts all have keep_firing_for of at least the interval is left alone, since it was made for rare evaluation. An interval of just five minutes leaves a gap while the group evaluates, which is an information.

For the same reason a range must be longer than the interval at which the series in it is recorded: [2m] over a series recorded each 3m holds a sample at some evaluations and none at others, and rate never finds the two samples it needs. This is told only of groups that set their interval.

An interval below the minimum costs more than it can tell, as targets are hardly scraped that often.`,
		Bad: `groups:
- name: daily
  interval: 1h
  rules:
  - record: namespace:requests:increase1d
    expr: sum by (namespace) (increase(requests_total[1d]))
`,
		Good: `groups:
- name: daily
  interval: 4m
  rules:
  - record: namespace:requests:increase1d
    expr: sum by (namespace) (increase(requests_total[1d]))
`,
		TurnOff: "What the rules record is read only through a range, as in last_over_time(x[2h]). Where Prometheus runs with another --query.lookback-delta, set max.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/querying/basics/#staleness",
			"https://prometheus.io/docs/prometheus/latest/configuration/recording_rules/#rule_group",
		},
	},
	Run: lint.With(groupIntervalDefaults, checkGroupInterval).And(lint.With(groupIntervalDefaults, checkGroupIntervalRanges)),
})

var groupIntervalDefaults = groupInterval{
	Min: model.Duration(5 * time.Second),
	Max: model.Duration(groupIntervalLookback),
}

// groupIntervalLookback is how far Prometheus looks back for the last sample,
// unless --query.lookback-delta says otherwise.
const groupIntervalLookback = 5 * time.Minute

type groupInterval struct {
	Min model.Duration `yaml:"min" doc:"Shortest interval of a group; 0s is no bound."`
	Max model.Duration `yaml:"max" doc:"Longest interval of a group; 0s is no bound."`
}

// Validate reports a lower bound above the upper one.
func (o groupInterval) Validate() error {
	if o.Max > 0 && o.Min > o.Max {
		return fmt.Errorf("min %s is above max %s", o.Min, o.Max)
	}
	return nil
}

func checkGroupInterval(p *lint.Pass, g *rules.Group, o groupInterval) {
	interval := g.Interval.Value
	if !g.Interval.Set || interval == 0 || len(g.Rules) == 0 {
		return
	}
	span, written := g.Interval.Text.All(), g.Interval.Text.Value
	switch lookback := model.Duration(groupIntervalLookback); {
	case interval < o.Min:
		p.Reportf(span, "%s has interval: %s, below the minimum of %s: unless targets are scraped that often, an evaluation finds what the one before has found; lengthen it", g.Object(), written, o.Min)
	case o.Max > 0 && interval > o.Max:
		if !groupIntervalKeepsFiring(g) {
			p.Reportf(span, "%s has interval: %s, above the maximum of %s: %s", g.Object(), written, o.Max, groupIntervalStale(g, o.Max == lookback))
		}
	case interval == o.Max && interval == lookback && !groupIntervalKeepsFiring(g):
		p.Report(lint.Finding{Span: span, Severity: lint.Info,
			Message: fmt.Sprintf("%s has interval: %s, just how far Prometheus looks back: while the group evaluates, its results are missing from queries; shorten it a little", g.Object(), written)})
	}
}

// groupIntervalKeepsFiring reports whether the group has only alerts that
// bridge the time between two evaluations themselves.
func groupIntervalKeepsFiring(g *rules.Group) bool {
	for _, r := range g.Rules {
		if !r.IsAlert() || r.KeepFiringFor.Value < g.Interval.Value {
			return false
		}
	}
	return true
}

func groupIntervalStale(g *rules.Group, lookback bool) string {
	if !lookback {
		return "shorten it"
	}
	for _, r := range g.Rules {
		if r.IsRecord() {
			return "Prometheus looks back no further for the last sample, so what it records is missing from queries between two evaluations; shorten it"
		}
	}
	return "an incident is noticed that late, and ALERTS is missing from queries between two evaluations; shorten it"
}

func checkGroupIntervalRanges(p *lint.Pass, r *rules.Rule, _ groupInterval) {
	series := lint.Derive(p.Project, groupIntervals)
	if r.Expr == nil || len(series) == 0 {
		return
	}
	r.Expr.Inspect(func(n parser.Node, path []parser.Node) {
		m, ok := n.(*parser.MatrixSelector)
		if !ok || m.RangeExpr != nil || m.Range <= 0 {
			return
		}
		name := groupIntervalSeries(m)
		recorded, ok := series[name]
		if name == "" || !ok || recorded.interval == 0 {
			return
		}
		needed, lack := recorded.interval, "at times it holds no sample"
		if f := groupIntervalFunction(path); f != "" {
			needed, lack = 2*needed, "it does not always hold the two samples that "+f+" needs"
		}
		if m.Range >= needed {
			return
		}
		p.Report(lint.Finding{
			Span: r.Expr.Range(m),
			Message: fmt.Sprintf("%s reads %s over %s, but the series is recorded each %s: %s; widen the range to %s or more",
				r.Object(), promqlName(name), model.Duration(m.Range), model.Duration(recorded.interval), lack, model.Duration(needed)),
			Related: []lint.Related{{Span: recorded.span, Message: "the interval is set here"}},
		})
	})
}

// groupIntervalSeries returns the metric name that a range selector asks for.
func groupIntervalSeries(m *parser.MatrixSelector) string {
	v, ok := m.VectorSelector.(*parser.VectorSelector)
	if !ok {
		return ""
	}
	for _, matcher := range v.LabelMatchers {
		if matcher.Name == model.MetricNameLabel && matcher.Type == labels.MatchEqual {
			return matcher.Value
		}
	}
	return ""
}

// groupIntervalFunction returns the function that takes the range, if it needs
// two samples of it.
func groupIntervalFunction(path []parser.Node) string {
	if len(path) == 0 {
		return ""
	}
	if call, ok := path[len(path)-1].(*parser.Call); ok && promqlTwoSamples[call.Func.Name] {
		return call.Func.Name
	}
	return ""
}

// promqlTwoSamples are the functions that return nothing for fewer than two
// samples.
var promqlTwoSamples = map[string]bool{
	"rate": true, "irate": true, "increase": true, "delta": true, "idelta": true, "deriv": true, "predict_linear": true,
}

// groupIntervalIndex holds how often each series is recorded; 0 where a group
// leaves it to the server.
type groupIntervalIndex map[string]groupIntervalRecord

type groupIntervalRecord struct {
	interval time.Duration
	span     source.Span // where the interval is set
}

func groupIntervals(project *lint.Project) groupIntervalIndex {
	index := groupIntervalIndex{}
	for r := range lint.All[*rules.Rule](project) {
		if !r.IsRecord() {
			continue
		}
		next := groupIntervalRecord{span: r.Group.Interval.Text.All()}
		if r.Group.Interval.Set {
			next.interval = time.Duration(r.Group.Interval.Value)
		}
		old, ok := index[r.Record.Value]
		if !ok || cmp.Or(cmp.Compare(next.interval, old.interval), lint.Compare(lint.Finding{Span: next.span}, lint.Finding{Span: old.span})) < 0 {
			index[r.Record.Value] = next
		}
	}
	maps.DeleteFunc(index, func(_ string, r groupIntervalRecord) bool { return r.interval == 0 })
	return index
}
