// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"math"
	"slices"
	"strings"

	"github.com/grafana/regexp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/schema"
)

func (a *analysis) call(f *Flow, n *parser.Call) {
	args := make([]*Flow, len(n.Args))
	for i, arg := range n.Args {
		args[i] = a.node(arg)
		f.Dead = append(f.Dead, args[i].Dead...)
	}
	switch n.Func.Name {
	case "absent", "absent_over_time":
		a.absent(f, n, args[0])
		return
	case "scalar":
		f.Branches = append(f.room(), none(anything(), n))
		return
	case "vector":
		b := none(valueOf(args[0]), n)
		if len(args[0].Branches) == 1 {
			b.Kind = args[0].Branches[0].Kind
		}
		f.Branches = append(f.room(), b)
		return
	case "time":
		b := none(atLeast(0), n)
		b.Kind = Timestamp
		f.Branches = append(f.room(), b)
		return
	case "pi":
		f.Branches = append(f.room(), none(point(math.Pi), n))
		return
	case "label_replace":
		f.each(args[0], func(b *Branch) { labelReplace(b, n) })
		return
	case "label_join":
		f.each(args[0], func(b *Branch) { labelJoin(b, n) })
		return
	case "info":
		f.each(args[0], func(b *Branch) { info(b, n) })
		return
	case "last_over_time", "first_over_time", "sort", "sort_desc", "sort_by_label", "sort_by_label_desc":
		f.each(args[0], func(*Branch) {})
		return
	case "histogram_quantile", "histogram_fraction":
		a.buckets(f, n, args[len(args)-1])
		return
	case "histogram_quantiles":
		f.each(args[0], func(b *Branch) {
			dropName(b, n)
			removed(b, labels.BucketLabel, n)
			if s, ok := literal(n.Args[1]); ok {
				b.set(s, Fact{Presence: Guaranteed})
			}
			b.Value, b.Kind, b.Always = anything(), Unspecified, false
		})
		return
	}
	vector := vectorArg(n)
	if vector < 0 {
		// A function of numbers, or of the time when it takes an optional vector.
		value := dateValues(n.Func.Name)
		f.Branches = append(f.room(), none(value, n))
		return
	}
	f.each(args[vector], func(b *Branch) {
		dropName(b, n)
		b.Value, b.Kind = called(n, args, b.Value), calledKind(n.Func.Name, b.Kind)
		// A range holds samples, and a function may still give nothing of them;
		// those of one value each always give one.
		if n.Args[vector].Type() == parser.ValueTypeMatrix || strings.HasPrefix(n.Func.Name, "histogram_") || n.Func.Name == "start_timestamp" {
			b.Always = false
		}
		if n.Func.Name == "clamp" && !clampOrdered(args) {
			b.Always = false
		}
	})
}

// each gives f the branches of another flow, changed.
func (f *Flow) each(of *Flow, change func(b *Branch)) {
	for _, b := range of.Branches {
		b = b.clone()
		change(&b)
		f.Branches = append(f.Branches, b)
	}
}

// vectorArg returns the index of the argument that gives the series, or -1.
func vectorArg(n *parser.Call) int {
	return slices.IndexFunc(n.Args, func(e parser.Expr) bool {
		return e.Type() == parser.ValueTypeVector || e.Type() == parser.ValueTypeMatrix
	})
}

func valueOf(f *Flow) Interval {
	if len(f.Branches) == 0 {
		return anything()
	}
	v := f.Branches[0].Value
	for _, b := range f.Branches[1:] {
		v = v.union(b.Value)
	}
	return v
}

func (a *analysis) absent(f *Flow, n *parser.Call, inner *Flow) {
	if inner.Always() && n.Func.Name == "absent" {
		f.Dead = append(f.Dead, Dead{Node: n, Cause: NeverAbsent})
		return
	}
	b := none(point(1), n)
	b.Always = len(inner.Branches) == 0
	b.Conditional, b.Kind = true, Boolean
	certain, possible := AbsentLabels(n)
	for name, value := range certain {
		b.set(name, Fact{Presence: Guaranteed, Values: []string{value}})
	}
	for name, value := range possible {
		b.set(name, Fact{Presence: Possible, Values: []string{value}})
	}
	f.Branches = append(f.room(), b)
	f.Dead = nil // that its argument gives nothing is what absent is for
}

// AbsentLabels returns the labels that a call of absent or absent_over_time
// gives its result: those that a selector, and nothing but a selector, asks for
// by an equality matcher. Of a label with other matchers beside it depends on
// their order, which the storage may change, whether it is there.
func AbsentLabels(n *parser.Call) (certain, possible map[string]string) {
	arg := Unwrap(n.Args[0])
	if s, ok := arg.(*parser.StepInvariantExpr); ok {
		arg = Unwrap(s.Expr)
	}
	if m, ok := arg.(*parser.MatrixSelector); ok {
		arg = m.VectorSelector
	}
	v, ok := arg.(*parser.VectorSelector)
	if !ok {
		return nil, nil
	}
	matchers, equal := map[string]int{}, map[string]int{}
	for _, m := range v.LabelMatchers {
		matchers[m.Name]++
		if m.Type == labels.MatchEqual {
			equal[m.Name]++
		}
	}
	certain, possible = map[string]string{}, map[string]string{}
	for _, m := range v.LabelMatchers {
		switch {
		case m.Type != labels.MatchEqual || m.Value == "" || equal[m.Name] > 1 || schema.IsMetadataLabel(m.Name):
		case matchers[m.Name] == 1:
			certain[m.Name] = m.Value
		default:
			possible[m.Name] = m.Value
		}
	}
	return certain, possible
}

// buckets follows a function of classic or native histograms: le is used up.
func (a *analysis) buckets(f *Flow, n *parser.Call, inner *Flow) {
	// Native histograms have no le, so it can only be missed where classic
	// buckets are asked for by name.
	classic := true
	found := false
	visit(n.Args[len(n.Args)-1], func(e parser.Node) {
		if v, ok := e.(*parser.VectorSelector); ok {
			found = true
			classic = classic && strings.HasSuffix(metricName(v), "_bucket")
		}
	})
	for _, b := range inner.Branches {
		if le := b.Label(labels.BucketLabel); classic && found && le.Presence == Impossible {
			f.Dead = append(f.Dead, Dead{Node: n, Cause: MissingBuckets, Label: labels.BucketLabel, Why: le.Why})
			continue
		}
		b = b.clone()
		dropName(&b, n)
		removed(&b, labels.BucketLabel, n)
		b.Always = false
		b.Value, b.Kind = anything(), Unspecified
		f.Branches = append(f.Branches, b)
	}
}

func visit(n parser.Node, f func(parser.Node)) {
	inspectNode(n, nil, func(n parser.Node, _ []parser.Node) { f(n) })
}

func literal(e parser.Expr) (string, bool) {
	s, ok := Unwrap(e).(*parser.StringLiteral)
	if !ok {
		return "", false
	}
	return s.Val, true
}

// labelReplace follows label_replace(v, dst, replacement, src, regex): where the
// regular expression matches the whole of src, dst becomes the replacement, and
// goes away if that is empty; elsewhere dst stays.
func labelReplace(b *Branch, n *parser.Call) {
	dst, ok1 := literal(n.Args[1])
	replacement, ok2 := literal(n.Args[2])
	src, ok3 := literal(n.Args[3])
	pattern, ok4 := literal(n.Args[4])
	re, err := regexp.Compile("^(?s:" + pattern + ")$")
	if !ok1 || !ok2 || !ok3 || !ok4 || err != nil {
		if ok1 {
			b.set(dst, Fact{})
		}
		return
	}
	old, from := b.Label(dst), b.Label(src)
	if src == "" { // no series has that label
		from = Fact{Presence: Impossible}
	}
	result, some := Fact{}, false
	add := func(f Fact) {
		if some {
			f = either(result, f)
		}
		result, some = f, true
	}
	if values, finite := possibleValues(from); finite {
		for _, v := range values {
			match := re.FindStringSubmatchIndex(v)
			if match == nil {
				add(old)
				continue
			}
			add(written(string(re.ExpandString(nil, replacement, v, match)), n))
		}
		b.set(dst, result)
		return
	}
	if !matchesAll(pattern, from) {
		add(old)
	}
	add(expanded(replacement, pattern, re, from, n))
	b.set(dst, result)
}

// possibleValues returns all values of a label, the empty one for its absence.
func possibleValues(f Fact) (values []string, finite bool) {
	switch {
	case f.Presence == Impossible:
		return []string{""}, true
	case f.Values == nil:
		return nil, false
	case f.Presence == Possible:
		return append([]string{""}, f.Values...), true
	}
	return f.Values, true
}

func written(value string, why parser.Node) Fact {
	if value == "" {
		return Fact{Presence: Impossible, Why: why}
	}
	return Fact{Presence: Guaranteed, Values: []string{value}}
}

func matchesAll(pattern string, from Fact) bool {
	switch pattern {
	case ".*", "(.*)", "(?s:.*)", "(?s).*", "^.*$":
		return true
	case ".+", "(.+)":
		return from.Presence == Guaranteed
	}
	return false
}

var reference = regexp.MustCompile(`\$(?:\$|(\w+)|\{(\w*)\})`)

// expanded returns what is known of a label that is set to a replacement with
// references to the groups of a pattern that matches.
func expanded(replacement, pattern string, re *regexp.Regexp, from Fact, why parser.Node) Fact {
	text := false     // some literal text is printed
	groups := []int{} // those that exist and are printed
	at := 0
	for _, m := range reference.FindAllStringSubmatchIndex(replacement, -1) {
		text = text || m[0] > at
		at = m[1]
		name := ""
		switch {
		case m[2] >= 0:
			name = replacement[m[2]:m[3]]
		case m[4] >= 0:
			name = replacement[m[4]:m[5]]
		default:
			text = true // $$
			continue
		}
		if i := groupIndex(re, name); i >= 0 {
			groups = append(groups, i)
		}
	}
	text = text || at < len(replacement)
	switch {
	case text && len(groups) == 0 && at == 0:
		return written(replacement, why)
	case text:
		return Fact{Presence: Guaranteed}
	case len(groups) == 0:
		return Fact{Presence: Impossible, Why: why}
	}
	for _, g := range groups {
		whole := g == 0 || g == 1 && strings.HasPrefix(pattern, "(") && strings.HasSuffix(pattern, ")") && re.NumSubexp() == 1 && !strings.HasPrefix(pattern, "(?")
		if whole && (from.Presence == Guaranteed || pattern == "(.+)" || pattern == ".+") {
			return Fact{Presence: Guaranteed}
		}
	}
	return Fact{}
}

// groupIndex returns the number of a group by its number or name, or -1.
func groupIndex(re *regexp.Regexp, name string) int {
	n := 0
	for _, c := range name {
		if c < '0' || c > '9' || n > 1000 {
			n = -1
			break
		}
		n = n*10 + int(c-'0')
	}
	if name != "" && n >= 0 {
		if n <= re.NumSubexp() {
			return n
		}
		return -1
	}
	return re.SubexpIndex(name)
}

// labelJoin follows label_join(v, dst, separator, src...).
func labelJoin(b *Branch, n *parser.Call) {
	dst, ok1 := literal(n.Args[1])
	separator, ok2 := literal(n.Args[2])
	if !ok1 || !ok2 {
		if ok1 {
			b.set(dst, Fact{})
		}
		return
	}
	sources := n.Args[3:]
	guaranteed, possible := len(sources) > 1 && separator != "", false
	for _, s := range sources {
		name, ok := literal(s)
		if !ok {
			possible = true
			continue
		}
		f := b.Label(name)
		guaranteed = guaranteed || f.Presence == Guaranteed
		possible = possible || f.Presence != Impossible
	}
	switch {
	case guaranteed:
		b.set(dst, Fact{Presence: Guaranteed})
	case possible:
		b.set(dst, Fact{})
	default:
		b.set(dst, Fact{Presence: Impossible, Why: n})
	}
}

// info follows info(v, selector): labels of info metrics are added, whichever
// there are.
func info(b *Branch, n *parser.Call) {
	name := b.Label(nameLabel)
	b.rest = Fact{}
	for _, f := range slices.Clone(b.labels) {
		if f.Presence == Impossible {
			b.set(f.name, Fact{})
		}
	}
	b.set(nameLabel, name)
	if len(n.Args) < 2 {
		return
	}
	b.Always = false
	b.Conditional = true
	v, ok := Unwrap(n.Args[1]).(*parser.VectorSelector)
	if !ok {
		return
	}
	for _, m := range v.LabelMatchers {
		if m.Name != nameLabel && !m.Matches("") {
			b.set(m.Name, Fact{Presence: Guaranteed})
		}
	}
}

// called returns the values that a function gives of a series with the values
// of v.
func called(n *parser.Call, args []*Flow, v Interval) Interval {
	number := func(i int) (float64, bool) {
		if i >= len(args) {
			return 0, false
		}
		return valueOf(args[i]).Point()
	}
	positive := func(nan bool) Interval { out := atLeast(0); out.NaN = nan; return out }
	switch name := n.Func.Name; name {
	case "abs":
		return positive(v.NaN)
	case "sqrt":
		if v.Low >= 0 {
			return positive(v.NaN)
		}
		return positive(true)
	case "exp":
		return positive(v.NaN)
	case "sgn":
		return Interval{Low: -1, High: 1, NaN: v.NaN}
	case "ceil", "floor":
		if v.Low >= 0 {
			return positive(v.NaN)
		}
	case "round":
		if v.Low >= 0 {
			return positive(v.NaN)
		}
	case "clamp_min":
		if c, ok := number(1); ok {
			v.Low, v.LowOpen, v.High, v.HighOpen = max(v.Low, c), v.LowOpen && v.Low > c, max(v.High, c), v.HighOpen && v.High > c
			return v
		}
	case "clamp_max":
		if c, ok := number(1); ok {
			v.High, v.HighOpen, v.Low, v.LowOpen = min(v.High, c), v.HighOpen && v.High < c, min(v.Low, c), v.LowOpen && v.Low < c
			return v
		}
	case "clamp":
		low, ok1 := number(1)
		high, ok2 := number(2)
		if ok1 && ok2 && low <= high {
			return Interval{Low: low, High: high, NaN: v.NaN}
		}
	case "timestamp":
		return positive(false)
	case "count_over_time":
		return atLeast(1)
	case "present_over_time":
		return point(1)
	case "changes", "resets":
		return positive(false)
	case "rate", "increase", "irate":
		if v.Low >= 0 {
			m, ok := n.Args[0].(*parser.MatrixSelector)
			if ok {
				v, isSelector := m.VectorSelector.(*parser.VectorSelector)
				ok = isSelector && IsCounter(metricName(v))
			} else if unnamed(n.Args[0]) {
				break
			}
			// Where values may be infinite, so may a fall be; counters are not.
			if ok || !math.IsInf(v.High, 1) {
				return positive(!ok)
			}
		}
	case "min_over_time", "max_over_time":
		return v
	case "avg_over_time":
		if v.Low >= 0 {
			return positive(v.NaN)
		}
	case "sum_over_time":
		if v.Low >= 0 {
			return positive(v.NaN)
		}
	case "stddev_over_time", "stdvar_over_time":
		return positive(true)
	case "histogram_count":
		return positive(true)
	}
	return dateValues(n.Func.Name)
}

// unnamed reports whether n reads a selector that does not name its metric. Of
// such, the steps of a subquery may give series that agree once their names are
// dropped, and the engine joins them into one whose samples are out of order.
func unnamed(n parser.Expr) bool {
	found := false
	visit(n, func(n parser.Node) {
		if v, ok := n.(*parser.VectorSelector); ok {
			found = found || metricName(v) == ""
		}
	})
	return found
}

// dateValues returns the values of the functions of the date.
func dateValues(name string) Interval {
	out := anything()
	switch name {
	case "minute":
		out = between(0, 59)
	case "hour":
		out = between(0, 23)
	case "day_of_week":
		out = between(0, 6)
	case "day_of_month":
		out = between(1, 31)
	case "day_of_year":
		out = between(1, 366)
	case "days_in_month":
		out = between(28, 31)
	case "month":
		out = between(1, 12)
	}
	return out
}

// clampOrdered reports whether clamp is sure to have a result: it has none if
// its lower bound is above the upper one.
func clampOrdered(args []*Flow) bool {
	low, ok1 := valueOf(args[1]).Point()
	high, ok2 := valueOf(args[2]).Point()
	return ok1 && ok2 && low <= high
}
