// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "alert/for",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "alert that fires on a single sample, or that waits too long",
		Why: `Without for an alert fires at the first evaluation that finds its condition true. Where the expression looks only at the present, one slow scrape or one restart pages somebody, and the next evaluation takes it back.

An expression that looks back by itself is left alone: a range of 5m or more, an offset, the age of a timestamp, ALERTS, a recording rule that has such a range. So are an alert with keep_firing_for, a group that is evaluated every 5m or less often, and an alert that says for: 0s, since that is an answer.

A for above the bound is the opposite fault: the incident is old when somebody hears of it. The bounds may differ by severity; by default nothing is too short for info and none, which wake nobody.

Two further things are information. Prometheus looks at for only when it evaluates the group, so that it is in effect rounded up to a multiple of the interval. And where increase(x[5m]) > 0 has to hold for longer than 5m, a single event never fires the alert: right if the fault has to persist, wrong if each event counts.`,
		Bad: `groups:
- name: node
  rules:
  - alert: NodeDown
    expr: up{job="node"} == 0
    labels:
      severity: critical
`,
		Good: `groups:
- name: node
  rules:
  - alert: NodeDown
    expr: up{job="node"} == 0
    for: 5m
    labels:
      severity: critical
`,
		TurnOff: "for is chosen by other means, such as a generator of rules. To state that one alert is to fire at once, write for: 0s instead.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/practices/alerting/",
			"https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/#defining-alerting-rules",
			"https://github.com/openshift/enhancements/blob/master/enhancements/monitoring/alerting-consistency.md",
		},
	},
	Run: lint.With(alertFor{
		Min: alertForBounds{"info": 0, "none": 0, alertForDefault: model.Duration(time.Minute)},
		Max: alertForBounds{"critical": model.Duration(time.Hour), alertForDefault: model.Duration(24 * time.Hour)},
	}, checkAlertFor),
})

type alertFor struct {
	Min alertForBounds `yaml:"min" doc:"Shortest for of an alert that looks only at the present: a duration, or a map of severities to durations with the key default. 0s is no bound."`
	Max alertForBounds `yaml:"max" doc:"Longest for of an alert: a duration, or a map of severities to durations with the key default. 0s is no bound."`
}

// Validate reports a lower bound above the upper one.
func (o alertFor) Validate() error { return alertForOrder(o.Min, o.Max) }

// alertForOrder compares the bounds of each severity that either names.
func alertForOrder(lower, upper alertForBounds) error {
	both := maps.Clone(lower)
	if both == nil {
		both = alertForBounds{}
	}
	maps.Copy(both, upper)
	for _, severity := range slices.Sorted(maps.Keys(both)) {
		if lo, hi := lower.of(severity), upper.of(severity); hi > 0 && lo > hi {
			return fmt.Errorf("min %s is above max %s for %s", lo, hi, severity)
		}
	}
	return nil
}

// alertForBounds are durations by the severity of the alert.
type alertForBounds map[string]model.Duration

const alertForDefault = "default" // the key for severities that are not named

// of returns the bound for a severity; 0 is none.
func (b alertForBounds) of(severity string) model.Duration {
	if d, ok := b[severity]; ok {
		return d
	}
	return b[alertForDefault]
}

// UnmarshalYAML reads one duration for all severities, or a map by severity.
func (b *alertForBounds) UnmarshalYAML(n *yaml.Node) error {
	written := map[string]string{}
	if n.Kind == yaml.ScalarNode {
		written[alertForDefault] = n.Value
	} else if err := n.Decode(&written); err != nil {
		return err
	}
	*b = alertForBounds{}
	for _, severity := range slices.Sorted(maps.Keys(written)) {
		d, err := model.ParseDuration(written[severity])
		if err != nil {
			return fmt.Errorf("line %d: %q is not a duration such as 5m or 1h30m", n.Line, written[severity])
		}
		(*b)[severity] = d
	}
	return nil
}

// alertForRange is how far an expression must look back to even out a bad
// scrape or a restart.
const alertForRange = model.Duration(5 * time.Minute)

func checkAlertFor(p *lint.Pass, r *rules.Rule, o alertFor) {
	written := r.For.Text.Value != ""
	if !r.IsAlert() || r.Expr == nil || written && !r.For.Set {
		return
	}
	severity := alertForSeverity(r)
	shortest, longest := o.Min.of(severity), o.Max.of(severity)
	switch {
	case longest > 0 && r.For.Value > longest:
		p.Reportf(r.For.Text.All(), "%s fires only after for: %s, and the longest%s is %s: an incident is that old when somebody hears of it; shorten for%s",
			r.Object(), r.For.Text.Value, alertForClause(o.Max, severity), longest, alertForLower(severity))
	case written && r.For.Value == 0:
	case r.For.Value < shortest && r.KeepFiringFor.Value == 0:
		alertForTooShort(p, r, shortest)
	}
	if r.For.Value > 0 {
		alertForRounded(p, r)
		alertForSingleEvent(p, r)
	}
}

// alertForSeverity returns the severity of an alert as the options spell it.
func alertForSeverity(r *rules.Rule) string {
	label, ok := severityLabel(r)
	if !ok || label.Templated() {
		return alertForDefault
	}
	return alertSeverityCanonical(strings.TrimSpace(label.Value.Value))
}

func alertForClause(b alertForBounds, severity string) string {
	if _, ok := b[severity]; ok && severity != alertForDefault {
		return " for severity " + severity
	}
	return ""
}

func alertForLower(severity string) string {
	if severity == "critical" {
		return ", or give the alert a lower severity"
	}
	return ""
}

func alertForTooShort(p *lint.Pass, r *rules.Rule, shortest model.Duration) {
	// A group that is evaluated so seldom is about slow things, and the
	// shortest for would be a whole interval of it.
	if r.Group.Interval.Value >= alertForRange || r.Expr.Root == nil || !lint.Derive(p.Project, alertForRecords).present(r.Expr) {
		return
	}
	f := lint.Finding{Span: r.Place()}
	subject, bad := fmt.Sprintf("%s has no for", r.Object()), "one bad sample fires it"
	if r.For.Value > 0 {
		f.Span = r.For.Text.All()
		subject, bad = fmt.Sprintf("%s has for: %s, less than %s,", r.Object(), r.For.Text.Value, shortest), fmt.Sprintf("a disturbance of %s fires it", r.For.Text.Value)
	}
	advice := fmt.Sprintf("write for: %s or longer, or for: 0s", shortest)
	if m := alertForWidest(r.Expr); m != nil {
		// A longer for would have to fit into the range.
		f.Message = fmt.Sprintf("%s and looks back only %s: one short disturbance fires it", subject, model.Duration(m.Range))
		f.Related = []lint.Related{{Span: r.Expr.At(m), Message: "the range is here"}}
		advice = fmt.Sprintf("widen the range to %s or more, or write for: 0s", alertForRange)
	} else {
		f.Message = fmt.Sprintf("%s and looks only at the present: %s", subject, bad)
	}
	f.Message += fmt.Sprintf(", and as soon as all is well it resolves; %s if it is to fire at once", advice)
	p.Report(f)
}

// alertForWidest returns the widest range that the expression looks back over,
// or nil. Of irate and idelta only the last two samples count.
func alertForWidest(e *promql.Expr) *parser.MatrixSelector {
	var widest *parser.MatrixSelector
	e.Inspect(func(n parser.Node, path []parser.Node) {
		if len(path) > 0 {
			if call, ok := path[len(path)-1].(*parser.Call); ok && (call.Func.Name == "irate" || call.Func.Name == "idelta") {
				return
			}
		}
		if m, ok := n.(*parser.MatrixSelector); ok && (widest == nil || m.Range > widest.Range) {
			widest = m
		}
	})
	if widest != nil && model.Duration(widest.Range) >= alertForRange {
		return nil // of a function that uses only the last samples in it
	}
	return widest
}

// alertForRounded reports a for that takes effect only at a later evaluation.
func alertForRounded(p *lint.Pass, r *rules.Rule) {
	interval := r.Group.Interval.Value
	if interval <= 0 || r.For.Value%interval == 0 {
		return
	}
	effective := (r.For.Value/interval + 1) * interval
	f := lint.Finding{Span: r.For.Text.All(), Severity: lint.Info, Message: fmt.Sprintf(
		"%s is held for %s, not %s: its group is evaluated every %s, and for is in effect rounded up to that; write for: %s",
		r.Object(), effective, r.For.Text.Value, interval, effective)}
	if s, exact := r.For.Text.Exact(0, len(r.For.Text.Value)); exact {
		f.Fixes = []lint.Fix{lint.Replace(s, effective.String(), "write the effective duration", true)}
	}
	p.Report(f)
}

// alertForSingleEvent reports a test for events that must hold for longer than
// it can after one of them.
func alertForSingleEvent(p *lint.Pass, r *rules.Rule) {
	if r.Expr.Root == nil {
		return
	}
	test, ok := promql.Unwrap(r.Expr.Root).(*parser.BinaryExpr)
	if !ok || test.ReturnBool || test.Op != parser.GTR && test.Op != parser.NEQ {
		return
	}
	if zero, ok := promql.Unwrap(test.RHS).(*parser.NumberLiteral); !ok || zero.Val != 0 {
		return
	}
	call, m := alertForEvents(test.LHS)
	if call == nil || model.Duration(m.Range) >= r.For.Value {
		return
	}
	p.Report(lint.Finding{Span: r.For.Text.All(), Severity: lint.Info,
		Message: fmt.Sprintf("%s needs events again and again: after a single one %s over %s stays above 0 for at most %s, less than for: %s; if one event is to fire it, widen the range beyond %s or shorten for",
			r.Object(), call.Func.Name, model.Duration(m.Range), model.Duration(m.Range), r.For.Text.Value, r.For.Text.Value),
		Related: []lint.Related{{Span: r.Expr.At(m), Message: "the range is here"}}})
}

// alertForEvents returns the call that counts events and its range, through
// aggregations and factors that leave 0 at 0.
func alertForEvents(n parser.Expr) (*parser.Call, *parser.MatrixSelector) {
	for {
		switch e := promql.Unwrap(n).(type) {
		case *parser.AggregateExpr:
			if e.Op != parser.SUM && e.Op != parser.MAX && e.Op != parser.AVG {
				return nil, nil
			}
			n = e.Expr
		case *parser.BinaryExpr:
			if e.Op != parser.MUL && e.Op != parser.DIV || e.RHS.Type() != parser.ValueTypeScalar {
				return nil, nil
			}
			n = e.LHS
		case *parser.Call:
			switch e.Func.Name {
			case "increase", "changes", "resets", "count_over_time":
				m, _ := e.Args[0].(*parser.MatrixSelector)
				if m == nil || m.RangeExpr != nil {
					return nil, nil
				}
				return e, m
			}
			return nil, nil
		default:
			return nil, nil
		}
	}
}

// alertForRecorded are the metrics that rules of the run record: true for those
// that look back, by themselves or through what they are recorded from.
type alertForRecorded map[string]bool

// alertForRecords spreads looking back from each recorded metric to those
// recorded from it.
func alertForRecords(project *lint.Project) alertForRecorded {
	recorded := alertForRecorded{}
	readers := map[string][]string{}
	for r := range lint.All[*rules.Rule](project) {
		if !r.IsRecord() || r.Expr == nil {
			continue
		}
		name := r.Record.Value
		recorded[name] = recorded[name] || r.Expr.Root == nil || alertForLooksBack(r.Expr)
		for _, read := range alertForReads(r.Expr) {
			readers[read] = append(readers[read], name)
		}
	}
	var queue []string
	for name, back := range recorded {
		if back {
			queue = append(queue, name)
		}
	}
	for read := range readers {
		if _, known := recorded[read]; !known && alertForUnknown(read) {
			queue = append(queue, read)
		}
	}
	for len(queue) > 0 {
		name := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, reader := range readers[name] {
			if !recorded[reader] {
				recorded[reader] = true
				queue = append(queue, reader)
			}
		}
	}
	return recorded
}

// present reports whether the expression looks only at the present.
func (a alertForRecorded) present(e *promql.Expr) bool {
	return !alertForLooksBack(e) && !slices.ContainsFunc(alertForReads(e), func(name string) bool {
		back, known := a[name]
		return back || !known && alertForUnknown(name)
	})
}

// alertForUnknown tells of a metric that no rule of the run records whether it
// is recorded elsewhere, or not named at all.
func alertForUnknown(name string) bool { return name == "" || strings.Contains(name, ":") }

func alertForReads(e *promql.Expr) []string {
	var names []string
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		if v, ok := n.(*parser.VectorSelector); ok {
			names = append(names, v.Name)
		}
	})
	return names
}

// Values that move with the clock cross a bound once, whatever a scrape brings.
var alertForClock = regexp.MustCompile(`(?i)timestamp|expir|uptime|freshness|(?:^|[_:])(?:age|ttl|since|days)(?:[_:]|$)`)

// alertForNameRange finds the range in the name of a recording rule: rate5m.
var alertForNameRange = regexp.MustCompile(`[0-9]+(?:ms|[smhdw])(?:$|[^a-zA-Z0-9])`)

// alertForLooksBack reports whether anything in the expression depends on more
// than the latest samples, or on nothing that is scraped.
func alertForLooksBack(e *promql.Expr) bool {
	back, reads := false, false
	long := func(d time.Duration, computed bool, path []parser.Node) {
		if !alertForLastSamples(path) && (computed || model.Duration(d) >= alertForRange) {
			back = true
		}
	}
	e.Inspect(func(n parser.Node, path []parser.Node) {
		switch n := n.(type) {
		case *parser.VectorSelector:
			reads = true
			back = back || n.OriginalOffset != 0 || n.OriginalOffsetExpr != nil || n.Timestamp != nil || n.StartOrEnd != 0 ||
				n.Name == "ALERTS" || n.Name == "ALERTS_FOR_STATE" || alertForClock.MatchString(n.Name) || alertForNamed(n.Name)
		case *parser.MatrixSelector:
			long(n.Range, n.RangeExpr != nil, path)
		case *parser.SubqueryExpr:
			long(n.Range, n.RangeExpr != nil, path)
			back = back || n.OriginalOffset != 0 || n.OriginalOffsetExpr != nil || n.Timestamp != nil || n.StartOrEnd != 0
		case *parser.Call:
			back = back || n.Func.Name == "time" || n.Func.Name == "timestamp"
		}
	})
	return back || !reads
}

// alertForLastSamples reports whether the range at the end of path is the
// argument of a function that uses only the last one or two samples in it.
func alertForLastSamples(path []parser.Node) bool {
	for _, n := range slices.Backward(path) {
		if c, ok := n.(*parser.Call); ok {
			return c.Func.Name == "irate" || c.Func.Name == "idelta" || c.Func.Name == "last_over_time"
		}
	}
	return false
}

// alertForNamed reports whether the name of a metric says that it is taken over
// a long range.
func alertForNamed(name string) bool {
	for _, m := range alertForNameRange.FindAllString(name, -1) {
		d, err := model.ParseDuration(strings.TrimRight(m, "_:."))
		if err == nil && d >= alertForRange {
			return true
		}
	}
	return false
}
