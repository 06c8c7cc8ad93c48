// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "record/name",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "recording rule whose name says something else than its expression does",
		Why: `The name of a recording rule is its only documentation where it is used: level:metric:operations says which labels the series have, which metric they come from, and what was done to it, the latest operation first. Whoever reads instance:requests:rate5m in a dashboard takes it for a rate over five minutes and will not look up the rule.

A name is a warning where the expression contradicts it: a range that is none of those in the expression, rate where only increase is taken, another statistic than the outermost aggregation, a label in the level that the outermost by clause drops. So is a name that breaks the options pattern or prefix.

A name that is not of three parts is only an information. One without any colon looks like a metric that a target exports; the colon is reserved for recording rules. The level may be empty, which says that no label is left.`,
		Bad: `groups:
- name: requests
  rules:
  - record: job:http_requests:rate5m
    expr: sum by (job) (rate(http_requests_total[10m]))
`,
		Good: `groups:
- name: requests
  rules:
  - record: job:http_requests:rate10m
    expr: sum by (job) (rate(http_requests_total[10m]))
`,
		TurnOff: "The names can't be changed, as dashboards or rules of others read them.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/practices/rules/#naming",
			"https://prometheus.io/docs/concepts/data_model/#metric-names-and-labels",
		},
	},
	Run: lint.With(recordName{}, checkRecordName),
})

type recordName struct {
	Pattern string `yaml:"pattern" doc:"Regular expression that the name must match, in place of the three parts; empty asks for these."`
	Prefix  string `yaml:"prefix" doc:"What the metric part must begin with; of a name without a colon, the whole name."`
}

// Validate reports a pattern that does not compile.
func (o recordName) Validate() error { return alertPatternError("pattern", o.Pattern) }

func checkRecordName(p *lint.Pass, r *rules.Rule, o recordName) {
	name := r.Record.Value
	if !r.IsRecord() || alertUnrendered(name) || !model.LegacyValidation.IsValidMetricName(name) {
		return
	}
	parts := recordNameParts(r.Record)
	if o.Pattern == "" {
		recordNameShape(p, r, parts)
	} else if !alertPattern(p, o.Pattern).MatchString(name) {
		p.Reportf(r.Place(), "%s does not match the pattern %q: rename it", r.Object(), o.Pattern)
	}
	if at, ok := o.prefixed(parts); !ok {
		p.Reportf(at, "%s lacks the prefix %q in its metric part: rename it", r.Object(), o.Prefix)
	}
	if len(parts) < 2 || r.Expr == nil || r.Expr.Root == nil {
		return
	}
	operations := parts[len(parts)-1]
	recordNameRange(p, r, operations)
	recordNameFunction(p, r, operations)
	if a := recordNameAggregation(r.Expr.Root); a != nil {
		recordNameOperation(p, r, operations, a)
		if len(parts) > 2 {
			recordNameLevel(p, r, parts[0], a)
		}
	}
}

func recordNameParts(name source.Text) []source.Text {
	var parts []source.Text
	start := 0
	for {
		n := strings.IndexByte(name.Value[start:], ':')
		if n < 0 {
			return append(parts, name.Slice(start, len(name.Value)))
		}
		parts = append(parts, name.Slice(start, start+n))
		start += n + 1
	}
}

func recordNameShape(p *lint.Pass, r *rules.Rule, parts []source.Text) {
	f := lint.Finding{Span: r.Place(), Severity: lint.Info}
	switch {
	case len(parts) == 1:
		f.Message = fmt.Sprintf("%s has no colon in its name, so it looks like a metric that a target exports: name it level:metric:operations", r.Object())
	case len(parts) != 3:
		f.Message = fmt.Sprintf("%s has %d parts in its name where readers expect three: name it level:metric:operations", r.Object(), len(parts))
	case parts[1].Value == "" || parts[2].Value == "":
		f.Message = fmt.Sprintf("%s has an empty part in its name: name it level:metric:operations", r.Object())
	default:
		return
	}
	p.Report(f)
}

// prefixed reports whether the metric part has the prefix, or else where to
// say so. Unless there are three parts, it can't be told which one it is.
func (o recordName) prefixed(parts []source.Text) (source.Span, bool) {
	if len(parts) == 3 {
		return parts[1].All(), strings.HasPrefix(parts[1].Value, o.Prefix)
	}
	has := func(part source.Text) bool { return strings.HasPrefix(part.Value, o.Prefix) }
	last := parts[len(parts)-1]
	return parts[0].All().Union(last.All()), slices.ContainsFunc(parts, has)
}

// recordNameRange reports a duration in the operations that no range of the
// expression has.
func recordNameRange(p *lint.Pass, r *rules.Rule, operations source.Text) {
	at, said := recordNameDuration(operations)
	if said == 0 {
		return
	}
	var first parser.Expr
	agrees := false
	r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
		var written time.Duration
		var computed bool
		switch n := n.(type) {
		case *parser.VectorSelector:
			// The duration may be that of the series which is read, or the
			// distance of two values.
			agrees = agrees || n.OriginalOffset == said || n.OriginalOffsetExpr != nil || strings.Contains(n.Name, model.Duration(said).String())
			return
		case *parser.MatrixSelector:
			written, computed = n.Range, n.RangeExpr != nil
		case *parser.SubqueryExpr:
			written, computed = n.Range, n.RangeExpr != nil
		default:
			return
		}
		agrees = agrees || computed || written == said
		if first == nil {
			first = n.(parser.Expr)
		}
	})
	if agrees || first == nil {
		return
	}
	place := r.Expr.Range(first)
	p.Report(lint.Finding{
		Span:    at.All(),
		Message: fmt.Sprintf("%s says %s in its name, but no range of the expression is %s: whoever reads the name takes the series for another; rename it, or correct the range", r.Object(), at.Value, model.Duration(said)),
		Related: []lint.Related{{Span: place, Message: "the range is here"}},
	})
}

// recordNameRanged are the words that a duration in a name belongs to. Others
// may stand for a forecast, a budget, a threshold.
var recordNameRanged = []string{
	"rate", "irate", "increase", "delta", "idelta", "deriv", "burnrate",
	"avg", "min", "max", "sum", "count", "stddev", "quantile", "last",
}

// recordNameDuration returns the word of the operations that has a duration,
// if just one has, and the duration.
func recordNameDuration(operations source.Text) (word source.Text, d time.Duration) {
	start, before := 0, ""
	for part := range strings.SplitSeq(operations.Value, "_") {
		end := start + len(part)
		if digit := strings.IndexAny(part, "0123456789"); digit >= 0 {
			if digit > 0 {
				before = part[:digit]
			}
			parsed, err := model.ParseDuration(part[digit:])
			if err == nil && parsed > 0 && (slices.Contains(recordNameRanged, before) || before == "") {
				if d != 0 {
					return source.Text{}, 0
				}
				word, d = operations.Slice(start, end), time.Duration(parsed)
			}
		}
		start, before = end+1, part
	}
	return word, d
}

// recordNameFunction reports operations that say rate where the expression has
// increase alone, or the other way round: values per second and values per
// range differ by the length of the range.
func recordNameFunction(p *lint.Pass, r *rules.Rule, operations source.Text) {
	said, at := "", 0
	for word := range strings.SplitSeq(operations.Value, "_") {
		if said = strings.TrimRight(word, "0123456789smhdwy"); said == "rate" || said == "increase" {
			break
		}
		at += len(word) + 1
	}
	var other *parser.Call
	agrees := said != "rate" && said != "increase"
	r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
		switch n := n.(type) {
		case *parser.Call:
			switch n.Func.Name {
			case "rate", "irate":
				agrees = agrees || said == "rate"
				other = cmp.Or(other, n)
			case "increase":
				agrees = agrees || said == "increase"
				other = cmp.Or(other, n)
			case "delta", "idelta", "deriv":
				agrees = true
			}
		case *parser.BinaryExpr:
			agrees = agrees || n.Op == parser.DIV || n.Op == parser.MUL // may turn one into the other
		case *parser.VectorSelector:
			agrees = agrees || strings.Contains(n.Name, said)
		}
	})
	if agrees || other == nil {
		return
	}
	does, per, taken := "increase", "per range", "per second"
	if said == "increase" {
		does, per, taken = "rate", taken, per
	}
	p.Report(lint.Finding{
		Span:    operations.Span(at, at+len(said)),
		Message: fmt.Sprintf("%s says %s in its name, but its expression takes the %s: whoever reads the name takes values %s for values %s; rename it, or correct the function", r.Object(), said, does, per, taken),
		Related: []lint.Related{{Span: r.Expr.Function(other), Message: "the function is here"}},
	})
}

// recordNameAggregation returns the aggregation that makes the result, seen
// through arithmetic with numbers; nil if it is none.
func recordNameAggregation(n parser.Expr) *parser.AggregateExpr {
	switch n := promql.Unwrap(n).(type) {
	case *parser.AggregateExpr:
		return n
	case *parser.UnaryExpr:
		return recordNameAggregation(n.Expr)
	case *parser.BinaryExpr:
		if n.LHS.Type() == parser.ValueTypeScalar {
			return recordNameAggregation(n.RHS)
		}
		if n.RHS.Type() == parser.ValueTypeScalar {
			return recordNameAggregation(n.LHS)
		}
	}
	return nil
}

// recordNameStatistics are the aggregations whose names mean nothing else: a
// count may be a noun, and people call it a sum.
var recordNameStatistics = []string{"sum", "avg", "min", "max", "stddev", "stdvar"}

// recordNameOperation reports operations that are the name of an aggregation
// which is nowhere in the expression.
func recordNameOperation(p *lint.Pass, r *rules.Rule, operations source.Text, a *parser.AggregateExpr) {
	said, does := operations.Value, a.Op.String()
	if !slices.Contains(recordNameStatistics, said) || !slices.Contains(recordNameStatistics, does) {
		return
	}
	agrees := false
	r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
		switch n := n.(type) {
		case *parser.AggregateExpr:
			agrees = agrees || strings.HasPrefix(n.Op.String(), said)
		case *parser.Call:
			agrees = agrees || strings.HasPrefix(n.Func.Name, said)
		case *parser.VectorSelector:
			agrees = agrees || strings.Contains(n.Name, said)
		}
	})
	if agrees {
		return
	}
	p.Report(lint.Finding{
		Span:    operations.All(),
		Message: fmt.Sprintf("%s says %s in its name, but its expression takes the %s: whoever reads the name takes the values for another statistic; rename it, or correct the expression", r.Object(), said, does),
		Related: []lint.Related{{Span: r.Expr.At(a), Message: "the outermost aggregation is here"}},
	})
}

// recordNameLabels are labels so common that a level which names one means it.
var recordNameLabels = []string{
	"namespace", "pod", "container", "service", "deployment", "statefulset", "daemonset", "persistentvolumeclaim",
	"device", "interface", "mountpoint", "handler", "method", "code", "status", "verb", "route", "le", "resource",
	"controller", "host", "region", "zone", "environment", "env", "tenant", "queue", "topic",
}

// recordNameLevels are words that people use for a level in general, or for
// labels that the scrape or the server adds.
var recordNameLevels = []string{"cluster", "node", "instance", "job", "global"}

// recordNameLevel reports a label in the level that the outermost aggregation
// does not keep.
func recordNameLevel(p *lint.Pass, r *rules.Rule, level source.Text, a *parser.AggregateExpr) {
	switch a.Op {
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		return // keep all labels
	}
	if a.Without || len(a.Grouping) == 0 || level.Value == "" {
		return
	}
	kept := slices.Concat(a.Grouping, recordNameLevels)
	for _, e := range r.AllLabels() {
		kept = append(kept, e.Key.Value)
	}
	if recordNameSplit(level.Value, kept) != nil {
		return
	}
	labels := recordNameSplit(level.Value, slices.Concat(kept, recordNameLabels))
	i := slices.IndexFunc(labels, func(l string) bool {
		// The pod of a level may well be the label pod_name or exported_pod.
		return !slices.ContainsFunc(kept, func(k string) bool { return strings.Contains(k, l) })
	})
	if i < 0 {
		return
	}
	lost := labels[i]
	at := 0
	for _, l := range labels[:i] {
		at += len(l) + 1
	}
	p.Report(lint.Finding{
		Span:    level.Span(at, at+len(lost)),
		Message: fmt.Sprintf("%s has %s in its level, but its expression keeps only %s: whoever matches or groups by %s gets nothing; rename it, or add the label to the by clause", r.Object(), lost, strings.Join(a.Grouping, ", "), lost),
		Related: []lint.Related{{Span: r.Expr.At(a), Message: "the outermost aggregation is here"}},
	})
}

// recordNameSplit returns the labels whose names, joined by underscores, are
// the level; nil if it is not made of them.
func recordNameSplit(level string, labels []string) []string {
	const longest = 256 // far above any level that is meant to be read
	if len(level) > longest {
		return nil
	}
	// first[i] is a label that level[i:] begins with, if the rest is labels too.
	first := make([]string, len(level)+2)
	for i := len(level) - 1; i >= 0; i-- {
		if i > 0 && level[i-1] != '_' {
			continue
		}
		for _, l := range labels {
			rest, ok := strings.CutPrefix(level[i:], l)
			if ok && l != "" && (rest == "" || rest[0] == '_' && first[i+len(l)+1] != "") {
				first[i] = l
				break
			}
		}
	}
	var out []string
	for i := 0; i < len(level) && first[i] != ""; i += len(first[i]) + 1 {
		out = append(out, first[i])
	}
	return out
}
