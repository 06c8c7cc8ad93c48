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
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/rate",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "counter or gauge read with the wrong function, or over too short a range",
		Why: `rate, increase and irate see a counter's restart as a fall of its value, and make up for it. That works for a single series only: the sum of counters falls by the share of the one that restarts, and the whole rest is taken for new events. So a rate must be taken before the sum, not of the sum, be it in a subquery or in a recording rule. A rate of a rate, and of a metric that is a gauge by its name, count each fall as a restart as well.

The other way round, delta, deriv, idelta and predict_linear are for gauges and know of no restart; and a counter compared with a threshold fires for good once it has got there, until the process restarts.

irate looks at the last two samples of the range only. In an alert, one quiet scrape resolves the condition and "for" starts over.

A range must hold two samples, or there is no result: where the interval is known, from the ServiceMonitor or PodMonitor in the same folder or a neighbouring one that scrapes the job which the selector names, or else from scrape-interval, a range below twice the interval is an error, and one below four times (a missed scrape makes a gap) a warning. Otherwise a range below 1m, the interval that Prometheus has by default, is an information. A range of exactly one interval is reported by promql/deprecated.`,
		Bad: `groups:
- name: machines
  rules:
  - alert: MachinesMoveOften
    expr: increase(sum by (machine) (machine_moves_total)[1d:1m]) >= 12
`,
		Good: `groups:
- name: machines
  rules:
  - alert: MachinesMoveOften
    expr: sum by (machine) (increase(machine_moves_total[1d])) >= 12
`,
		TurnOff: "The metrics do not follow the naming conventions, so that gauges are called _total.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/querying/functions/#rate",
			"https://prometheus.io/docs/prometheus/latest/querying/functions/#irate",
			"https://prometheus.io/docs/practices/naming/",
		},
	},
	Run: lint.With(promqlRate{}, checkPromqlRate),
})

type promqlRate struct {
	ScrapeInterval string `yaml:"scrape-interval" shared:"scrape-interval" doc:"How often targets are scraped; empty if it is not known."`
}

// Validate reports an interval that is no duration.
func (o promqlRate) Validate() error {
	if o.ScrapeInterval != "" {
		if _, err := model.ParseDuration(o.ScrapeInterval); err != nil {
			return fmt.Errorf("scrape-interval: %w", err)
		}
	}
	return nil
}

func (o promqlRate) interval() time.Duration {
	d, err := model.ParseDuration(o.ScrapeInterval)
	if err != nil {
		return 0
	}
	return time.Duration(d)
}

func checkPromqlRate(p *lint.Pass, r *rules.Rule, o promqlRate) {
	if r.Expr == nil || r.Expr.Root == nil {
		return
	}
	e := r.Expr
	e.Inspect(func(n parser.Node, path []parser.Node) {
		switch n := n.(type) {
		case *parser.Call:
			promqlRateCall(p, r, n, o)
		case *parser.BinaryExpr:
			if r.IsAlert() && !promqlRateInAbsent(path) {
				promqlRateThreshold(p, e, n)
			}
		}
	})
}

// promqlCounterFunctions make up for restarts of counters, promqlGaugeFunctions
// take each fall for one.
var (
	promqlCounterFunctions = map[string]bool{"rate": true, "increase": true, "irate": true}
	promqlGaugeFunctions   = map[string]bool{"delta": true, "idelta": true, "deriv": true, "predict_linear": true}
)

func promqlRateCall(p *lint.Pass, r *rules.Rule, call *parser.Call, o promqlRate) {
	counter := promqlCounterFunctions[call.Func.Name]
	if !counter && !promqlGaugeFunctions[call.Func.Name] {
		return
	}
	e := r.Expr
	switch arg := promql.Unwrap(call.Args[0]).(type) {
	case *parser.SubqueryExpr:
		if counter {
			promqlRateSubquery(p, e, call, arg)
		}
	case *parser.MatrixSelector:
		v, ok := promql.Unwrap(arg.VectorSelector).(*parser.VectorSelector)
		if !ok {
			return
		}
		metric := promql.Metric(v)
		switch {
		case counter && strings.Contains(metric, ":"):
			promqlRateRecorded(p, e, call, v, metric)
		case counter && promqlIsGauge(metric):
			p.Report(lint.Finding{
				Span:     e.Function(call),
				Severity: lint.Warning,
				Message:  promqlSelectorMessage(p, "calls %s, which is for counters, and %s is a gauge by its name: each fall of the value is taken for a restart and counted as growth; use delta or deriv", call.Func.Name, metric),
			})
		case !counter && promqlIsTotal(metric):
			use := "increase"
			if call.Func.Name == "deriv" {
				use = "rate"
			}
			p.Report(lint.Finding{
				Span:     e.Function(call),
				Severity: lint.Warning,
				Message:  promqlSelectorMessage(p, "calls %s, which is for gauges, and %s is a counter by its name: a restart of the process is taken for a fall of the value; use %s", call.Func.Name, metric, use),
			})
		}
		promqlRateRange(p, e, call, arg, metric, o)
	}
	if call.Func.Name == "irate" && r.IsAlert() {
		effect := "one quiet scrape resolves the alert"
		if r.For.Value > 0 {
			effect = "one quiet scrape ends the condition and for starts over"
		}
		f := lint.Finding{
			Span:     e.Function(call),
			Severity: lint.Warning,
			Message:  promqlSelectorMessage(p, "calls irate, which looks at the last two samples only, so that %s; use rate in alerts", effect),
		}
		if f.Span.Text() == "irate" {
			f.Fixes = []lint.Fix{lint.Replace(f.Span, "rate", "use rate", false)}
		}
		p.Report(f)
	}
}

// promqlRateRange reports a range that holds too few samples.
func promqlRateRange(p *lint.Pass, e *promql.Expr, call *parser.Call, m *parser.MatrixSelector, metric string, o promqlRate) {
	if m.RangeExpr != nil || m.Range <= 0 || strings.Contains(metric, ":") {
		return // recorded as often as its group is evaluated
	}
	name, interval := call.Func.Name, o.interval()
	width, whose := model.Duration(m.Range), ""
	f := lint.Finding{}
	if v, ok := promql.Unwrap(m.VectorSelector).(*parser.VectorSelector); ok {
		if scraped, by := promqlRateScraped(p.Project, e.Text.File.Path, v); by != nil {
			interval, whose = scraped, " of "+by.Object().String()
			at := by.Interval.Text.All()
			if by.Interval.Text.IsZero() {
				at = by.Monitor.Place()
			}
			f.Related = []lint.Related{{Span: at, Message: "it is scraped by this"}}
		}
	}
	switch {
	case interval == 0 && m.Range < time.Minute:
		f.Severity = lint.Info
		f.Message = promqlSelectorMessage(p, "range of %s is %s: it needs two samples, which it has only if targets are scraped every %s or faster (by default it is 1m); write a longer one, or set scrape-interval", name, width, model.Duration(m.Range/2))
	case interval == 0 || m.Range == interval:
		return
	case m.Range < 2*interval:
		f.Message = promqlSelectorMessage(p, "range of %s is %s, less than twice the scrape interval of %s%s: it often holds fewer than two samples, for which there is no result; write %s", name, width, model.Duration(interval), whose, model.Duration(4*interval))
	case m.Range < 4*interval && name != "irate" && name != "idelta":
		f.Severity = lint.Warning
		f.Message = promqlSelectorMessage(p, "range of %s is %s, less than four times the scrape interval of %s%s: a single missed scrape can leave it without a result; write %s", name, width, model.Duration(interval), whose, model.Duration(4*interval))
	default:
		return
	}
	f.Span = e.Range(m)
	p.Report(f)
}

// promqlRateScraped returns the least interval at which the series of a selector
// are scraped, and the endpoint that does so, if monitors of the run tell: the
// selector must name the job.
func promqlRateScraped(project *lint.Project, file string, v *parser.VectorSelector) (least time.Duration, by *monitors.Endpoint) {
	job := ""
	for _, m := range v.LabelMatchers {
		if m.Name == model.JobLabel && m.Type == labels.MatchEqual {
			job = m.Value
		}
	}
	if job == "" {
		return 0, nil
	}
	jobs := monitors.JobsOf(project)
next:
	for _, j := range jobs.Named(job, file) {
		for _, m := range v.LabelMatchers {
			if value, known := j.Labels[m.Name]; known && !m.Matches(value) {
				continue next
			}
		}
		interval, known := jobs.Interval(j.Endpoint)
		if !known {
			return 0, nil
		}
		if by == nil || interval < least {
			least, by = interval, j.Endpoint
		}
	}
	return least, by
}

// promqlRateSubquery reports a rate of what is no counter any more.
func promqlRateSubquery(p *lint.Pass, e *promql.Expr, call *parser.Call, s *parser.SubqueryExpr) {
	kind, at := promqlMade(s.Expr)
	if kind == promqlUnknown {
		return
	}
	name := call.Func.Name
	f := lint.Finding{Span: e.Function(call), Related: []lint.Related{{Span: e.At(at), Message: kind.String() + " is computed here"}}}
	switch kind {
	case promqlSum:
		f.Severity = promqlRateOfSum(at)
		f.Message = promqlSelectorMessage(p, "takes the %s of a sum (%s): when one of the counters restarts, the sum falls, and all that is left of it is counted as new; take the %s of each series and sum these, as in sum (%s(…))", name, promqlAt(e, at), name, name)
	case promqlPerSecond:
		f.Message = promqlSelectorMessage(p, "takes the %s of a rate (%s), which is no counter: each fall of it is taken for a restart and counted as growth; use avg_over_time, max_over_time or deriv", name, promqlAt(e, at))
	}
	p.Report(f)
}

// promqlRateOfSum returns the severity of a rate of the sum at n: what is no
// counter by its name may yet be one.
func promqlRateOfSum(n parser.Node) lint.Severity {
	if sum, ok := n.(*parser.AggregateExpr); ok {
		if v, ok := promql.Unwrap(sum.Expr).(*parser.VectorSelector); ok && promql.IsCounter(promql.Metric(v)) {
			return lint.Error
		}
	}
	return lint.Warning
}

// promqlRateRecorded reports a rate of a metric that a recording rule makes of
// counters, and that is none itself.
func promqlRateRecorded(p *lint.Pass, e *promql.Expr, call *parser.Call, v *parser.VectorSelector, metric string) {
	name := call.Func.Name
	records := lint.Derive(p.Project, promqlRateRecords)[metric]
	f := lint.Finding{Span: e.Name(v)}
	if len(records) == 0 {
		// The name says what it was made by: https://prometheus.io/docs/practices/rules/
		if promqlRateName.MatchString(metric) {
			f.Severity = lint.Warning
			f.Message = promqlSelectorMessage(p, "takes the %s of %s, which is a rate by its name and no counter: each fall of it is taken for a restart and counted as growth; use it as it is, or avg_over_time", name, metric)
			p.Report(f)
		}
		return
	}
	kind := promqlUnknown
	for i, r := range records {
		if r.Expr == nil || r.Expr.Root == nil {
			return
		}
		k, at := promqlMade(r.Expr.Root)
		if k == promqlUnknown || i > 0 && k != kind {
			return
		}
		kind = k
		if k == promqlSum {
			f.Severity = max(f.Severity, promqlRateOfSum(at))
		}
		if i == 0 {
			f.Related = []lint.Related{{Span: r.Expr.At(at), Message: fmt.Sprintf("%s is recorded as %s", metric, kind)}}
		}
	}
	switch kind {
	case promqlSum:
		f.Message = promqlSelectorMessage(p, "takes the %s of %s, which is recorded as a sum: when one of the counters restarts, the sum falls, and all that is left of it is counted as new; record the sum of rates instead", name, metric)
	case promqlPerSecond:
		f.Message = promqlSelectorMessage(p, "takes the %s of %s, which is recorded as a rate: each fall of it is taken for a restart and counted as growth; use it as it is, or avg_over_time", name, metric)
	}
	p.Report(f)
}

var promqlRateName = regexp.MustCompile(`:(?:[a-z0-9_]*_)?i?rate[0-9]+[smhdw]$`)

// promqlRateIndex holds the recording rules by the metric they write.
type promqlRateIndex map[string][]*rules.Rule

func promqlRateRecords(project *lint.Project) promqlRateIndex {
	index := promqlRateIndex{}
	for r := range lint.All[*rules.Rule](project) {
		if r.IsRecord() {
			index[r.Record.Value] = append(index[r.Record.Value], r)
		}
	}
	return index
}

// promqlKind is what an expression makes of counters.
type promqlKind uint8

const (
	promqlUnknown promqlKind = iota
	promqlSum
	promqlPerSecond
)

func (k promqlKind) String() string {
	if k == promqlSum {
		return "a sum"
	}
	return "a rate"
}

// promqlMade returns what an expression makes of the series it reads, and the
// operation that does so.
func promqlMade(n parser.Expr) (promqlKind, parser.Node) {
	switch n := promql.Unwrap(n).(type) {
	case *parser.AggregateExpr:
		switch n.Op {
		case parser.SUM, parser.AVG:
			if v, ok := promql.Unwrap(n.Expr).(*parser.VectorSelector); ok && !strings.Contains(promql.Metric(v), ":") {
				return promqlSum, n
			}
			return promqlMade(n.Expr)
		case parser.MIN, parser.MAX, parser.TOPK, parser.BOTTOMK:
			return promqlMade(n.Expr)
		}
	case *parser.Call:
		if promqlCounterFunctions[n.Func.Name] {
			return promqlPerSecond, n
		}
	case *parser.BinaryExpr:
		if n.Op != parser.MUL && n.Op != parser.DIV {
			break
		}
		if n.RHS.Type() == parser.ValueTypeScalar {
			return promqlMade(n.LHS)
		}
		if n.LHS.Type() == parser.ValueTypeScalar && n.Op == parser.MUL {
			return promqlMade(n.RHS)
		}
	}
	return promqlUnknown, nil
}

// promqlIsTotal reports whether a metric is a counter by its name: the other
// suffixes of counters are in use for gauges too.
func promqlIsTotal(metric string) bool {
	return strings.HasSuffix(metric, "_total") && !strings.Contains(metric, ":")
}

// promqlIsGauge reports whether a metric can't be a counter by its name.
func promqlIsGauge(metric string) bool {
	if strings.Contains(metric, ":") {
		return false
	}
	for _, suffix := range []string{"_info", "_ratio", "_celsius", "_percent", "_percentage"} {
		if strings.HasSuffix(metric, suffix) {
			return true
		}
	}
	return metric == "up"
}

// promqlRateThreshold reports a counter that is compared with a threshold.
func promqlRateThreshold(p *lint.Pass, e *promql.Expr, n *parser.BinaryExpr) {
	counted, bound := n.LHS, n.RHS
	switch n.Op {
	case parser.GTR, parser.GTE:
	case parser.LSS, parser.LTE:
		counted, bound = bound, counted
	default:
		return
	}
	// Above nothing, the first event is asked for, and that there was one.
	limit, ok := promql.Unwrap(bound).(*parser.NumberLiteral)
	if !ok || limit.Val < 1 || limit.Val == 1 && (n.Op == parser.GTE || n.Op == parser.LTE) {
		return
	}
	v := promqlRateBare(counted)
	if v == nil || !promqlIsTotal(promql.Metric(v)) || promqlRateState.MatchString(promql.Metric(v)) {
		return
	}
	p.Report(lint.Finding{
		Span:     e.Name(v),
		Severity: lint.Warning,
		Message: promqlSelectorMessage(p, "compares the counter %s itself with %s: it only ever grows, so the alert fires for good once it has got there; compare its growth, as in increase(%s[1h])",
			promql.Metric(v), promql.OutlineNumber(limit.Val), promql.Metric(v)),
	})
}

// promqlRateState matches names that end in _total as that of a counter does,
// and count what there is at the moment.
var promqlRateState = regexp.MustCompile(`(?:^|_)(?:active|available|backlog|bytes|capacity|connections|cores|count|cpus|current|disk|files|free|instances|jobs|limit|memory|nodes|objects|open|pending|pods|queue|queued|running|scheduled|seats|series|sessions|size|space|used|users|waiting)_`)

// promqlRateBare returns the selector whose value an operand has, summed up or
// scaled at most.
func promqlRateBare(n parser.Expr) *parser.VectorSelector {
	switch n := promql.Unwrap(n).(type) {
	case *parser.VectorSelector:
		return n
	case *parser.AggregateExpr:
		switch n.Op {
		case parser.SUM, parser.AVG, parser.MIN, parser.MAX, parser.TOPK, parser.BOTTOMK:
			return promqlRateBare(n.Expr)
		}
	}
	return nil
}

// promqlRateInAbsent reports whether only the presence of the result counts.
func promqlRateInAbsent(path []parser.Node) bool {
	for _, n := range path {
		if c, ok := n.(*parser.Call); ok && strings.HasPrefix(c.Func.Name, "absent") {
			return true
		}
	}
	return false
}
