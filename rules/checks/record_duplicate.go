// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "record/duplicate",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "two recording rules that write the same series",
		Why: `A series has one sample at a time. Where two rules of a group write different values to the same series, Prometheus drops one of them at each evaluation ("duplicate sample for timestamp"), and which one depends on the order of the rules. In two groups the samples of both are interleaved: the series jumps between two values, and count_over_time and sum_over_time double.

Several rules of one name are fine as long as their results differ in a label: one that the rules set, or one that the expressions keep. So two rules are reported only if their expressions are the same, or provably return the same labels: both no labels at all, or those of the same selectors. It is a warning where they have only some selectors or none in common, since the others may exclude each other.

What is repeated in another file is an information, and only within a folder: in practice these are variants of which one is deployed. The option across-files says that all files of the run go to one Prometheus.`,
		Bad: `groups:
- name: net
  rules:
  - record: instance:net_receive_bytes:rate5m
    expr: sum by (instance) (rate(node_network_receive_bytes_total[5m]))
  - record: instance:net_receive_bytes:rate5m
    expr: max by (instance) (rate(node_network_receive_bytes_total[5m]))
`,
		Good: `groups:
- name: net
  rules:
  - record: instance:net_receive_bytes:rate5m
    expr: sum by (instance) (rate(node_network_receive_bytes_total[5m]))
  - record: instance:net_receive_bytes:max_rate5m
    expr: max by (instance) (rate(node_network_receive_bytes_total[5m]))
`,
		TurnOff: "one file holds rules for several Prometheus servers.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://github.com/prometheus/prometheus/blob/main/rules/group.go",
			"https://github.com/prometheus/prometheus/issues/2314",
			"https://github.com/prometheus/prometheus/issues/912",
		},
	},
	Run: lint.With(recordDuplicate{}, checkRecordDuplicate),
})

type recordDuplicate struct {
	AcrossFiles bool `yaml:"across-files" doc:"All files of the run are loaded by one Prometheus, so that a repetition in another file counts like one in the same."`
}

func checkRecordDuplicate(p *lint.Pass, r *rules.Rule, o recordDuplicate) {
	if !r.IsRecord() {
		return
	}
	index := lint.Derive(p.Project, recordDuplicatesOf)
	f := lint.Finding{}
	first, together := index.find(r, o.AcrossFiles)
	if first == nil {
		first, f.Severity = index.overlap(r)
		if first == nil {
			return
		}
		doubt := ""
		if f.Severity == lint.Warning {
			doubt = ", if both return a result"
		}
		f.Message = fmt.Sprintf("%s is recorded a second time from another expression (the first is %s): both write the same series%s, %s; rename one of them, or give them labels that differ",
			r.Object(), duplicateWhere(first, r), doubt, recordDuplicateEffect(first, r))
	} else if together {
		f.Message = fmt.Sprintf("%s is recorded a second time with the same labels and expr (the first is %s): %s; remove one of them",
			r.Object(), duplicateWhere(first, r), recordDuplicateWaste(first, r))
	} else {
		f.Severity = lint.Info
		f.Message = fmt.Sprintf("%s is recorded with the same labels and expr %s: if one Prometheus loads both files, %s",
			r.Object(), duplicateWhere(first, r), recordDuplicateWaste(first, r))
	}
	f.Span = duplicatePlace(first, r)
	f.Related = []lint.Related{{Span: first.Place(), Message: "the first of the two is here"}}
	p.Report(f)
}

func recordDuplicateEffect(first, r *rules.Rule) string {
	if first.Group == r.Group {
		return "and of two samples at one time Prometheus drops one"
	}
	return "which then jumps between the two values"
}

func recordDuplicateWaste(first, r *rules.Rule) string {
	if first.Group == r.Group {
		return "the second evaluation is wasted"
	}
	return "the series gets the samples of both groups, so that count_over_time and sum_over_time of it double"
}

// recordDuplicates are the recording rules that are like another one, and those
// that write the same series from another expression.
type recordDuplicates struct {
	duplicates
	certain, possible duplicateIndex
}

// overlap returns the first rule that writes series that r writes from another
// expression, and how bad that is.
func (d recordDuplicates) overlap(r *rules.Rule) (*rules.Rule, lint.Severity) {
	if first := d.certain[r]; first != nil {
		return first, lint.Error
	}
	return d.possible[r], lint.Warning
}

func recordDuplicatesOf(project *lint.Project) recordDuplicates {
	ordered := duplicateCandidates(project, func(r *rules.Rule) string {
		if r.IsRecord() {
			return r.Record.Value
		}
		return ""
	})
	series := make(map[*rules.Rule]recordSeries, len(ordered))
	for _, r := range ordered {
		if r.Expr.Root != nil {
			if s, known := recordSeriesOf(r.Expr.Root); known {
				series[r] = s
			}
		}
	}
	by := func(r *rules.Rule, what ...string) duplicateKey {
		return duplicateKey{duplicateScopeOf(r), strings.Join(append([]string{r.Record.Value, duplicateLabels(r)}, what...), "\x00")}
	}
	d := recordDuplicates{duplicates: duplicatesAmong(project, ordered), possible: duplicateIndex{}}
	d.certain = duplicateFirst(ordered, func(r *rules.Rule) (duplicateKey, bool) {
		s, known := series[r]
		return by(r, s.shape(), strings.Join(s.sources(), "\x00")), known
	})
	// Those that share a source are found by each of their sources. What the
	// other sources return is not known if they are recorded: each may be
	// filtered so that only one of them is there.
	recorded := map[string]bool{}
	for r := range lint.All[*rules.Rule](project) {
		if r.IsRecord() {
			recorded[r.Record.Value] = true
		}
	}
	first := map[duplicateKey]*rules.Rule{}
	for _, r := range ordered {
		s, known := series[r]
		if !known || slices.ContainsFunc(s.selectors, func(v *parser.VectorSelector) bool { return recorded[v.Name] || v.Name == "" }) {
			continue
		}
		sources := s.sources()
		if s.alone() {
			sources = []string{""}
		}
		for _, source := range sources {
			key := by(r, s.shape(), source)
			if f, seen := first[key]; !seen {
				first[key] = r
			} else if d.possible[r] == nil && f != r && !duplicateVersions(f, r) {
				d.possible[r] = f
			}
		}
	}
	return d
}

// A recordSeries is what is known of the labels that an expression returns.
type recordSeries struct {
	closed    bool
	labels    []string // closed: those that the result may have; else: those it lacks
	selectors []*parser.VectorSelector
}

// alone reports whether the result is one series without labels.
func (s recordSeries) alone() bool { return s.closed && len(s.labels) == 0 }

// keeps reports whether the result may have the label.
func (s recordSeries) keeps(label string) bool {
	return label != model.MetricNameLabel && slices.Contains(s.labels, label) == s.closed
}

// shape is the same for results whose labels have the same names and are
// narrowed in the same way.
func (s recordSeries) shape() string {
	var narrowed []string
	for _, v := range s.selectors {
		for _, m := range v.LabelMatchers {
			if s.keeps(m.Name) {
				narrowed = append(narrowed, m.String())
			}
		}
	}
	return fmt.Sprintf("%t %q %q", s.closed, recordSorted(s.labels), recordSorted(narrowed))
}

// sources returns the selectors of the expression, for a result without labels
// only their metrics.
func (s recordSeries) sources() []string {
	var sources []string
	for _, v := range s.selectors {
		if s.alone() {
			sources = append(sources, v.Name)
			continue
		}
		var matchers []string
		for _, m := range v.LabelMatchers {
			matchers = append(matchers, m.String())
		}
		sources = append(sources, strings.Join(recordSorted(matchers), ","))
	}
	return recordSorted(sources)
}

func recordSorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return slices.Compact(s)
}

// recordSeriesOf returns what is known of the result of n. Nothing is known of
// what a filter lets through, since two filters may exclude each other.
func recordSeriesOf(n parser.Expr) (s recordSeries, known bool) {
	switch n := promql.Unwrap(n).(type) {
	case *parser.VectorSelector:
		return recordSeries{selectors: []*parser.VectorSelector{n}}, true
	case *parser.MatrixSelector:
		return recordSeriesOf(n.VectorSelector)
	case *parser.SubqueryExpr:
		return recordSeriesOf(n.Expr)
	case *parser.UnaryExpr:
		return recordSeriesOf(n.Expr)
	case *parser.Call:
		return recordCall(n)
	case *parser.AggregateExpr:
		switch n.Op {
		case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO, parser.COUNT_VALUES:
			return s, false
		}
		s, known = recordSeriesOf(n.Expr)
		if n.Without {
			return s.without(n.Grouping...), known
		}
		return s.only(n.Grouping), known
	case *parser.BinaryExpr:
		return recordBinary(n)
	}
	return s, false
}

func recordCall(n *parser.Call) (s recordSeries, known bool) {
	switch n.Func.Name {
	case "absent", "absent_over_time", "label_replace", "label_join", "info", "histogram_quantiles":
		return s, false
	case "vector":
		return recordSeries{closed: true}, true
	}
	for _, a := range n.Args {
		if t := a.Type(); t == parser.ValueTypeVector || t == parser.ValueTypeMatrix {
			s, known = recordSeriesOf(a)
			if strings.HasPrefix(n.Func.Name, "histogram_") {
				s = s.without("le")
			}
			return s, known
		}
	}
	return s, false
}

func recordBinary(n *parser.BinaryExpr) (s recordSeries, known bool) {
	if n.Op.IsComparisonOperator() && !n.ReturnBool {
		return s, false
	}
	m := n.VectorMatching
	if m == nil {
		if n.LHS.Type() == parser.ValueTypeVector {
			return recordSeriesOf(n.LHS)
		}
		return recordSeriesOf(n.RHS)
	}
	left, leftKnown := recordSeriesOf(n.LHS)
	right, rightKnown := recordSeriesOf(n.RHS)
	if !leftKnown || !rightKnown || m.FillValues != (parser.VectorMatchFillValues{}) {
		return s, false
	}
	switch {
	case n.Op == parser.LOR:
		left.selectors = slices.Concat(left.selectors, right.selectors)
		return left, left.alone() && right.alone()
	case n.Op.IsSetOperator(), len(m.Include) > 0:
		return s, false
	case m.Card == parser.CardManyToOne:
		return left, true
	case m.Card == parser.CardOneToMany:
		return right, true
	}
	switch {
	case right.closed:
		s = left.only(right.labels)
	case left.closed:
		s = left
	default:
		s = left.without(right.labels...)
	}
	s.selectors = slices.Concat(left.selectors, right.selectors)
	if m.On {
		return s.only(m.MatchingLabels), true
	}
	return s.without(m.MatchingLabels...), true
}

// only returns s reduced to the labels.
func (s recordSeries) only(names []string) recordSeries {
	kept := slices.DeleteFunc(slices.Clone(names), func(l string) bool { return !s.keeps(l) })
	return recordSeries{closed: true, labels: kept, selectors: s.selectors}
}

// without returns s less the labels.
func (s recordSeries) without(names ...string) recordSeries {
	if s.closed {
		s.labels = slices.DeleteFunc(slices.Clone(s.labels), func(l string) bool { return slices.Contains(names, l) })
	} else {
		all := map[string]bool{}
		for _, l := range slices.Concat(s.labels, names) {
			all[l] = true
		}
		s.labels = slices.Sorted(maps.Keys(all))
	}
	return s
}
