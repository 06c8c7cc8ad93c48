// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// A Kind is what the values of a result stand for, as far as the names of the
// metrics and what is done with them tell.
type Kind uint8

// The kinds.
const (
	Unspecified Kind = iota
	Counter          // grows, and falls only when what counts starts over
	CounterSum       // of several counters: falls when one of them starts over
	PerSecond        // growth per second
	Boolean          // 0 or 1
	Share            // a part of a whole, which is 1
	Percent          // a part of a whole, which is 100
	Timestamp        // seconds since 1970
	Count            // a number of things
)

func (k Kind) String() string {
	return [...]string{"a value", "a counter", "a sum of counters", "a rate", "0 or 1", "a share", "a percentage", "a point in time", "a number of things"}[k]
}

// metricKind returns the kind that the name of a metric promises:
// https://prometheus.io/docs/practices/naming/
func metricKind(metric string) Kind {
	if strings.Contains(metric, ":") {
		return Unspecified
	}
	switch {
	case metric == "up" || metric == "ALERTS":
		return Boolean
	case metric == "ALERTS_FOR_STATE", strings.HasSuffix(metric, "_timestamp_seconds"), strings.HasSuffix(metric, "_start_time_seconds"):
		return Timestamp
	case IsCounter(metric):
		return Counter
	}
	return Unspecified
}

// aggregatedKind returns what an aggregation makes of values of a kind.
func aggregatedKind(n *parser.AggregateExpr, k Kind) Kind {
	switch n.Op {
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		return k
	case parser.COUNT:
		return Count
	case parser.GROUP:
		return Boolean
	case parser.MIN, parser.MAX:
		if k == Counter {
			return Unspecified // of another counter each time
		}
		return k
	case parser.AVG, parser.QUANTILE:
		switch k {
		case Boolean, Share:
			return Share
		case Percent, Timestamp, PerSecond:
			return k
		}
	case parser.SUM:
		switch k {
		case Counter, CounterSum:
			return CounterSum
		case PerSecond, Count:
			return k
		case Boolean:
			return Count
		}
	}
	return Unspecified
}

// calledKind returns what a function makes of values of a kind.
func calledKind(name string, k Kind) Kind {
	switch name {
	case "rate", "irate", "deriv":
		return PerSecond
	case "increase", "changes", "resets", "count_over_time":
		return Count
	case "present_over_time":
		return Boolean
	case "timestamp", "ts_of_max_over_time", "ts_of_min_over_time", "ts_of_last_over_time", "ts_of_first_over_time", "start_timestamp":
		return Timestamp
	case "last_over_time", "first_over_time", "sort", "sort_desc", "sort_by_label", "sort_by_label_desc", "label_replace", "label_join", "info":
		return k
	case "min_over_time", "max_over_time":
		if k != Counter && k != CounterSum {
			return k
		}
	case "avg_over_time", "quantile_over_time":
		switch k {
		case Boolean, Share:
			return Share
		case Percent, Timestamp, PerSecond:
			return k
		}
	case "sum_over_time":
		if k == Boolean || k == Count {
			return Count
		}
	case "abs", "ceil", "floor", "round", "clamp_min", "clamp_max", "clamp":
		if k == PerSecond || k == Share || k == Percent || k == Timestamp || k == Count {
			return k
		}
	}
	return Unspecified
}

// scaledKind returns what an operation with a number makes of values of a kind.
func scaledKind(n *parser.BinaryExpr, k Kind, number Interval) Kind {
	v, known := number.Point()
	left := n.LHS.Type() == parser.ValueTypeScalar // the number
	switch {
	case n.Op.IsComparisonOperator():
		if n.ReturnBool {
			return Boolean
		}
		return k
	case !known:
		return Unspecified
	case n.Op == parser.MUL && v == 100 && k == Share:
		return Percent
	case n.Op == parser.DIV && !left && v == 100 && k == Percent:
		return Share
	case n.Op == parser.SUB && left && (v == 1 && k == Share || v == 100 && k == Percent):
		return k
	case (n.Op == parser.MUL || n.Op == parser.DIV && !left) && v > 0 && (k == PerSecond || k == CounterSum || k == Counter):
		return k
	}
	return Unspecified
}

// isShare reports whether a division is that of a sum of rates, or a count, by
// that of the same series and others.
func isShare(n *parser.BinaryExpr) bool {
	m := n.VectorMatching
	if n.Op != parser.DIV || m == nil || m.Card != parser.CardOneToOne || m.FillValues.LHS != nil || m.FillValues.RHS != nil {
		return false
	}
	part, ok := Unwrap(n.LHS).(*parser.AggregateExpr)
	if !ok {
		return false
	}
	all, ok := Unwrap(n.RHS).(*parser.AggregateExpr)
	if !ok || part.Op != all.Op || part.Without != all.Without || !sameSet(part.Grouping, all.Grouping) {
		return false
	}
	if (m.On || len(m.MatchingLabels) > 0) && (!m.On || part.Without || !sameSet(m.MatchingLabels, part.Grouping)) {
		return false
	}
	a, b := Unwrap(part.Expr), Unwrap(all.Expr)
	switch part.Op {
	case parser.COUNT:
	case parser.SUM:
		// Of counters, none of which can fall: a sum of gauges may be anything.
		rate, ok := a.(*parser.Call)
		if !ok || rate.Func.Name != "rate" && rate.Func.Name != "increase" {
			return false
		}
		other, ok := b.(*parser.Call)
		if !ok || other.Func.Name != rate.Func.Name {
			return false
		}
		some, ok := rate.Args[0].(*parser.MatrixSelector)
		if !ok {
			return false
		}
		every, ok := other.Args[0].(*parser.MatrixSelector)
		if !ok || some.Range != every.Range || some.RangeExpr != nil || every.RangeExpr != nil {
			return false
		}
		a, b = some.VectorSelector, every.VectorSelector
	default:
		return false
	}
	some, ok := a.(*parser.VectorSelector)
	if !ok {
		return false
	}
	every, ok := b.(*parser.VectorSelector)
	if !ok || Elsewhen(some) || Elsewhen(every) || some.Anchored != every.Anchored || some.Smoothed != every.Smoothed {
		return false
	}
	for _, m := range every.LabelMatchers {
		if !slices.ContainsFunc(some.LabelMatchers, func(o *labels.Matcher) bool { return o.Name == m.Name && o.Type == m.Type && o.Value == m.Value }) {
			return false
		}
	}
	return metricName(some) != "" && metricName(some) == metricName(every)
}

// Elsewhen reports whether a selector reads another time than that of the
// evaluation, by an offset or @.
func Elsewhen(v *parser.VectorSelector) bool {
	return v.OriginalOffset != 0 || v.OriginalOffsetExpr != nil || v.Timestamp != nil || v.StartOrEnd != 0
}

func sameSet(a, b []string) bool {
	within := func(x, y []string) bool {
		return !slices.ContainsFunc(x, func(s string) bool { return !slices.Contains(y, s) })
	}
	return within(a, b) && within(b, a)
}
