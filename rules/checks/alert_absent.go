// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "alert/absent",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "alert that takes missing series for zero, or counts on labels that absent() does not give",
		Why: `up is there for each target that Prometheus has discovered. When a deployment is scaled to zero, or its pods are evicted, there is no up any more: sum(up{job="api"}) returns nothing instead of 0, and sum(up{job="api"}) == 0 is silent when all are gone. It fires only while targets are known and down. Add or absent(up{job="api"}), or compare (sum(up{job="api"}) or vector(0)). Left alone where the file has another alert with absent(up…).

absent() makes labels of the = matchers of a plain selector, by which Alertmanager can route the alert. In absent(sum(x{namespace="shop"})) there are none, and the sum is of no use: the one is absent when the other is. Nor does absent() beside "or" give the labels of the other side, so that a text which prints them has gaps when it is the absence that fires.`,
		Bad: `groups:
- name: api
  rules:
  - alert: APIDown
    expr: sum(up{job="api"}) == 0
    for: 10m
  - alert: QueueMissing
    expr: absent(sum(queue_length{namespace="shop"}))
    for: 10m
`,
		Good: `groups:
- name: api
  rules:
  - alert: APIDown
    expr: sum(up{job="api"}) == 0 or absent(up{job="api"})
    for: 10m
  - alert: QueueMissing
    expr: absent(queue_length{namespace="shop"})
    for: 10m
`,
		TurnOff: "targets are listed by hand (static_configs), so that up never goes away.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/querying/functions/#absent",
			"https://github.com/kubevirt/kubevirt/issues/6588",
		},
	},
	Run: lint.On(checkAlertAbsent),
})

func checkAlertAbsent(p *lint.Pass, r *rules.Rule) {
	if !r.IsAlert() || r.Expr == nil || r.Expr.Root == nil {
		return
	}
	r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
		if c, ok := n.(*parser.Call); ok && c.Func.Name == "absent" {
			alertAbsentLabels(p, r, c)
		}
	})
	alertAbsentZero(p, r)
	alertAbsentText(p, r)
}

// alertAbsentText reports labels that the text of an alert prints, and that are
// not there when it fires by an absent() beside another condition.
func alertAbsentText(p *lint.Pass, r *rules.Rule) {
	or, ok := promql.Unwrap(r.Expr.Root).(*parser.BinaryExpr)
	if !ok || or.Op != parser.LOR {
		return
	}
	var absent *parser.Call
	for _, side := range []parser.Expr{or.LHS, or.RHS} {
		if c, ok := promql.Unwrap(side).(*parser.Call); ok && strings.HasPrefix(c.Func.Name, "absent") {
			absent = c
		}
	}
	if absent == nil {
		return
	}
	flow := rules.Analyse(p.Project).Flow(r.Expr)
	certain, possible := promql.AbsentLabels(absent)
	for _, e := range r.Annotations {
		if e.Template == nil {
			continue
		}
		for _, use := range alertTemplateUses(e.Template, func(string) bool { return false }) {
			_, one := certain[use.label]
			_, other := possible[use.label]
			if one || other || use.tested || flow.Label(use.label).Presence == promql.Impossible {
				continue
			}
			p.Report(lint.Finding{
				Span:    e.Template.At(use.node),
				Related: []lint.Related{{Span: r.Expr.At(absent), Message: fmt.Sprintf("gives no label %q", use.label)}},
				Message: fmt.Sprintf("%s annotation %q prints nothing for label %q when %s() is what fires: ask for the label with if, or give the absence an alert of its own",
					r.Object(), e.Key.Value, use.label, absent.Func.Name),
			})
			break // one for each text
		}
	}
}

// alertAbsentLabels reports absent() of an aggregation of a selector whose
// matchers would have made labels.
func alertAbsentLabels(p *lint.Pass, r *rules.Rule, c *parser.Call) {
	a, ok := promql.Unwrap(c.Args[0]).(*parser.AggregateExpr)
	if !ok || a.Param != nil {
		return
	}
	inner := promql.Unwrap(a.Expr)
	for {
		again, ok := inner.(*parser.AggregateExpr)
		if !ok || again.Param != nil {
			break
		}
		inner = promql.Unwrap(again.Expr)
	}
	v, ok := inner.(*parser.VectorSelector)
	if !ok {
		return
	}
	lost, _ := promql.AbsentLabels(&parser.Call{Func: c.Func, Args: parser.Expressions{v}})
	label := ""
	for _, m := range v.LabelMatchers {
		_, own := r.Label(m.Name)
		if _, ok := lost[m.Name]; ok && !own {
			label = m.Name
			break
		}
	}
	if label == "" || alertAbsentPrints(r, label) {
		return
	}
	start := int(a.PosRange.Start)
	f := lint.Finding{
		Span: r.Expr.Text.Span(start, start+len(a.Op.String())),
		Message: fmt.Sprintf("%s has no label %s from absent(), which makes labels of the = matchers of a plain selector only: take %s() out of it, which changes nothing else",
			r.Object(), label, a.Op),
	}
	// The parser may count what follows to an aggregation.
	span, selector := r.Expr.At(a), r.Expr.At(v).Text()
	if whole := span.Text(); !strings.ContainsAny(whole, "\n#") && strings.HasSuffix(whole, ")") && strings.Count(whole, "(") == strings.Count(whole, ")") {
		f.Fixes = []lint.Fix{lint.Replace(span, selector, fmt.Sprintf("take %s() out of absent()", a.Op), false)}
	}
	p.Report(f)
}

// alertAbsentPrints reports whether a template of the alert names the label, so
// that alert/template-labels says that it is missing.
func alertAbsentPrints(r *rules.Rule, label string) bool {
	names := func(e rules.Entry) bool { return e.Template != nil && strings.Contains(e.Value.Value, label) }
	return slices.ContainsFunc(r.Annotations, names) || slices.ContainsFunc(r.Labels, names)
}

// alertAbsentZero reports sum(up) == 0 as the whole of an alert, or of a
// recorded sum.
func alertAbsentZero(p *lint.Pass, r *rules.Rule) {
	c, ok := promql.Unwrap(r.Expr.Root).(*parser.BinaryExpr)
	if !ok || c.ReturnBool || c.VectorMatching != nil || !alertAbsentIsNone(c) {
		return
	}
	sum, record := promql.Unwrap(c.LHS), (*rules.Rule)(nil)
	index := lint.Derive(p.Project, alertAbsentIndex)
	if v, ok := sum.(*parser.VectorSelector); ok {
		if record = index.records[promql.Metric(v)]; record == nil || record.Expr == nil || record.Expr.Root == nil {
			return
		}
		sum = promql.Unwrap(record.Expr.Root)
	}
	a, ok := sum.(*parser.AggregateExpr)
	if !ok || a.Op != parser.SUM && a.Op != parser.MAX || len(a.Grouping) > 0 || a.Without {
		return
	}
	v, ok := promql.Unwrap(a.Expr).(*parser.VectorSelector)
	if !ok || promql.Metric(v) != "up" || index.covered[r.Group.File] {
		return
	}
	f := lint.Finding{Span: r.Expr.At(c)}
	in := r.Expr
	if record != nil {
		in = record.Expr
		f.Related = []lint.Related{{Span: in.At(a), Message: "the series is recorded here"}}
		if record.Group.File == r.Group.File { // where it is mended for all that read it
			f.Span, f.Related = in.At(a), []lint.Related{{Span: f.Span, Message: "it is compared here"}}
		}
	}
	selector := strings.Join(strings.Fields(in.At(v).Text()), " ")
	f.Message = fmt.Sprintf("%s stays silent when no target is left: %s(up) is then not 0 but nothing; add or absent(%s)", r.Object(), a.Op, alertAbsentShort(selector))
	p.Report(f)
}

// alertAbsentShort returns a selector as a message can show it.
func alertAbsentShort(selector string) string {
	const most = 60
	if len(selector) > most {
		return "up{…}"
	}
	return selector
}

// alertAbsentIsNone reports whether a comparison asks for 0: == 0, < 1 or <= 0.
func alertAbsentIsNone(c *parser.BinaryExpr) bool {
	n, ok := promql.Unwrap(c.RHS).(*parser.NumberLiteral)
	if !ok {
		return false
	}
	switch c.Op {
	case parser.EQLC, parser.LTE:
		return n.Val == 0
	case parser.LSS:
		return n.Val == 1
	}
	return false
}

type alertAbsentFacts struct {
	records map[string]*rules.Rule // recorded once
	covered map[*rules.File]bool   // has an alert for the absence of up
}

func alertAbsentIndex(project *lint.Project) alertAbsentFacts {
	facts := alertAbsentFacts{records: map[string]*rules.Rule{}, covered: map[*rules.File]bool{}}
	for r := range lint.All[*rules.Rule](project) {
		if r.IsRecord() {
			if _, again := facts.records[r.Record.Value]; again {
				facts.records[r.Record.Value] = nil
			} else {
				facts.records[r.Record.Value] = r
			}
			continue
		}
		if r.Expr == nil || facts.covered[r.Group.File] {
			continue
		}
		r.Expr.Inspect(func(n parser.Node, path []parser.Node) {
			if v, ok := n.(*parser.VectorSelector); ok && promql.Metric(v) == "up" {
				for _, outer := range path {
					if c, ok := outer.(*parser.Call); ok && strings.HasPrefix(c.Func.Name, "absent") {
						facts.covered[r.Group.File] = true
					}
				}
			}
		})
	}
	return facts
}
