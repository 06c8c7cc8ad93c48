// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

func (a *analysis) selector(f *Flow, n *parser.VectorSelector) {
	asked, contradiction := matched(n)
	if contradiction != "" {
		f.Dead = []Dead{{Node: n, Cause: Contradiction, Label: contradiction}}
		return
	}
	metric := metricName(n)
	for _, b := range a.stored(metric) {
		dead := ""
		for _, asked := range asked {
			name, fact := asked.name, asked.Fact
			known := b.Label(name)
			// A series that Prometheus stores has a name and no empty labels, and
			// the matchers choose among those there are.
			met, _, ok := both(known, fact)
			if !ok || fact.Presence == Guaranteed && known.Presence == Impossible {
				dead = name
				break
			}
			if met.Presence == Impossible && met.Why == nil {
				met.Why = n
			}
			b.set(name, met)
		}
		if dead != "" {
			f.Dead = append(f.Dead, Dead{Node: n, Cause: MissingLabel, Label: dead, Why: b.Label(dead).Why})
			continue
		}
		f.Branches = append(f.Branches, b)
	}
}

// metricName returns the metric that a selector asks for by equality, or "".
func metricName(n *parser.VectorSelector) string {
	for _, m := range n.LabelMatchers {
		if m.Name == nameLabel && m.Type == labels.MatchEqual {
			return m.Value
		}
	}
	return ""
}

// Metric returns the metric that a selector asks for by equality, or "".
func Metric(n *parser.VectorSelector) string { return metricName(n) }

// matched returns what the matchers of a selector say of each label they name,
// and the label whose matchers exclude each other, if there is one.
func matched(n *parser.VectorSelector) (asked facts, contradiction string) {
	b := Branch{labels: make(facts, 0, len(n.LabelMatchers)), owned: true}
	for _, m := range n.LabelMatchers {
		if _, done := b.labels.search(m.Name); done {
			continue
		}
		fact, ok := matchLabel(n.LabelMatchers, m.Name)
		if !ok {
			return nil, m.Name
		}
		b.put(m.Name, fact)
	}
	return b.labels, ""
}

// matchLabel returns what all matchers of one label together say of it; ok is
// false if no value satisfies them.
func matchLabel(matchers []*labels.Matcher, name string) (f Fact, ok bool) {
	absent := true // the absent label, which is empty, satisfies all
	var values []string
	finite := false
	for _, m := range matchers {
		if m.Name != name {
			continue
		}
		absent = absent && m.Matches("")
		var set []string
		switch {
		case m.Type == labels.MatchEqual:
			set = []string{m.Value}
		case m.Type == labels.MatchRegexp && m.Value == "":
			set = []string{""}
		case m.Type == labels.MatchRegexp:
			set = m.SetMatches()
		case m.Type == labels.MatchNotRegexp && m.Value == ".+":
			set = []string{""}
		}
		if set != nil && !finite {
			values, finite = slices.Clone(set), true
		}
	}
	if !finite {
		if absent {
			return Fact{}, true
		}
		for _, m := range matchers {
			if m.Name == name && m.Type == labels.MatchNotRegexp && m.Value == ".*" {
				return Fact{}, false
			}
		}
		return Fact{Presence: Guaranteed}, true
	}
	values = slices.DeleteFunc(values, func(v string) bool {
		return v == "" || slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return m.Name == name && !m.Matches(v) })
	})
	slices.Sort(values)
	values = slices.Compact(values)
	switch {
	case len(values) == 0 && absent:
		return Fact{Presence: Impossible}, true
	case len(values) == 0:
		return Fact{}, false
	case absent:
		return Fact{Values: values}, true
	}
	return Fact{Presence: Guaranteed, Values: values}, true
}

// stored returns what is known of the series of a metric.
func (a *analysis) stored(metric string) []Branch {
	raw := Branch{Value: metricValues(metric), Kind: metricKind(metric), labels: make(facts, 0, 4+len(a.env.TargetLabels)), owned: true}
	if metric == "" {
		raw.put(nameLabel, Fact{Presence: Guaranteed})
		return []Branch{raw}
	}
	raw.put(nameLabel, Fact{Presence: Guaranteed, Values: []string{metric}})
	switch {
	case metric == "ALERTS" || metric == "ALERTS_FOR_STATE":
		raw.put("alertname", Fact{Presence: Guaranteed})
		if metric == "ALERTS" {
			raw.put("alertstate", Fact{Presence: Guaranteed, Values: []string{"firing", "pending"}})
		}
	case strings.Contains(metric, ":"):
		if recorded := a.recorded(metric); recorded != nil {
			return recorded
		}
	case a.env.Made != nil && a.env.Made(metric):
	default:
		for _, l := range a.env.TargetLabels {
			raw.put(l, Fact{Presence: Guaranteed})
		}
	}
	return []Branch{raw}
}

// recorded returns what is known of the series that recording rules write, or
// nil if they are not all known.
func (a *analysis) recorded(metric string) []Branch {
	if a.env.Recorded == nil {
		return nil
	}
	var out []Branch
	for _, b := range a.env.Recorded(metric) {
		out = append(out, b.clone())
	}
	return out
}

// Recorded returns what is known of the series that a recording rule writes, or
// nil if that is nothing: the labels of its expression, the static labels of the
// rule in their place, and those whose value is not static.
func Recorded(metric string, e *Expr, static map[string]string, open []string, env Env) []Branch {
	if e == nil || e.Root == nil {
		return nil
	}
	var out []Branch
	for _, b := range e.Flow(env).Branches {
		b = b.clone()
		b.Always, b.Conditional = false, false
		b.set(nameLabel, Fact{Presence: Guaranteed, Values: []string{metric}})
		for name, value := range static {
			if value == "" {
				b.set(name, Fact{Presence: Impossible})
			} else {
				b.set(name, Fact{Presence: Guaranteed, Values: []string{value}})
			}
		}
		for _, name := range open {
			b.set(name, Fact{})
		}
		b.forget()
		out = append(out, b)
	}
	return out
}

// forget takes the causes away: they are nodes of another expression.
func (b *Branch) forget() {
	b.rest.Why = nil
	for _, f := range slices.Clone(b.labels) {
		f.Why = nil
		b.set(f.name, f.Fact)
	}
}

// metricValues returns the values that samples of a metric can have, by what
// its name promises: https://prometheus.io/docs/practices/naming/
func metricValues(metric string) Interval {
	switch {
	case metric == "up":
		return between(0, 1)
	case metric == "ALERTS":
		return point(1)
	case IsCounter(metric):
		return atLeast(0)
	}
	return anything()
}

// IsCounter reports whether a metric is a counter by its name.
func IsCounter(metric string) bool {
	for _, suffix := range []string{"_total", "_count", "_bucket"} {
		if strings.HasSuffix(metric, suffix) && !strings.Contains(metric, ":") {
			return true
		}
	}
	return false
}
