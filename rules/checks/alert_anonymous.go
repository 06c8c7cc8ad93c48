// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "alert/anonymous",
	Severity: lint.Info,
	Doc: lint.Doc{
		Title: "alert whose text does not say what it is about",
		Why: `A query that groups by a label returns one series, and so one alert, for each value of it. If no annotation prints any of these labels, the notifications of all of them read the same, and whoever is paged has to look up which one it was. Labels such as cluster and region alone do not count.

A text with gaps ("VM  in namespace  is down", 'Pod "" is down') once had templates in it: another program that renders with braces, such as Helm, has taken $labels for a variable of its own and printed nothing. That is a warning.`,
		Bad: `groups:
- name: quota
  rules:
  - alert: QuotaExceeded
    expr: sum by (team) (quota_used_bytes) > 1e12
    annotations:
      summary: A team uses too much.
  - alert: VMDown
    expr: vm_up == 0
    annotations:
      summary: VM  in namespace  is down.
`,
		Good: `groups:
- name: quota
  rules:
  - alert: QuotaExceeded
    expr: sum by (team) (quota_used_bytes) > 1e12
    annotations:
      summary: Team {{ $labels.team }} uses too much.
  - alert: VMDown
    expr: vm_up == 0
    annotations:
      summary: VM {{ $labels.name }} in namespace {{ $labels.namespace }} is down.
`,
		TurnOff: "the notification templates of Alertmanager print the labels of each alert.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/#templating"},
	},
	Run: lint.On(checkAlertAnonymous),
})

func checkAlertAnonymous(p *lint.Pass, r *rules.Rule) {
	if !r.IsAlert() || len(r.Annotations) == 0 {
		return
	}
	stripped := false
	for _, e := range r.Annotations {
		stripped = alertAnonymousGap(p, r, e) || stripped
	}
	if severity, _ := severityLabel(r); stripped || r.Expr == nil || r.Expr.Root == nil || severity.Value.Value == "none" {
		return
	}
	if slices.ContainsFunc(r.Annotations, func(e rules.Entry) bool { return e.Templated() && alertAnonymousShows(e.Value.Value) }) {
		return
	}
	if labels := alertAnonymousLabels(rules.Analyse(p.Project).Flow(r.Expr)); len(labels) > 0 {
		p.Reportf(r.Place(), "%s fires once for each %s, and no annotation says for which: print {{ $labels.%s }}",
			r.Object(), alertAnonymousList(labels), labels[0])
	}
}

// alertAnonymousShows reports whether a template may print labels, its own or
// those of a query.
func alertAnonymousShows(text string) bool {
	return strings.Contains(text, "abels") || strings.Contains(text, "query") || strings.Contains(text, "template")
}

// alertAnonymousOrigins are labels that say where Prometheus stands rather than
// what an alert is about; people who have one Prometheus for each never see two.
var alertAnonymousOrigins = []string{"cluster", "env", "environment", "region", "prometheus", "replica"}

// alertAnonymousLabels returns the labels that tell the series of a result
// apart, or nil if these are not all known.
func alertAnonymousLabels(f *promql.Flow) []string {
	var out []string
	for _, b := range f.Branches {
		if !b.Closed() {
			return nil
		}
		for _, name := range b.Names() {
			fact := b.Label(name)
			if fact.Presence != promql.Impossible && len(fact.Values) != 1 && name != model.MetricNameLabel && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	if !slices.ContainsFunc(out, func(name string) bool { return !slices.Contains(alertAnonymousOrigins, name) }) {
		return nil
	}
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Compare(slices.Index(alertAnonymousOrigins, a), slices.Index(alertAnonymousOrigins, b))
	})
	return out
}

// alertAnonymousList lists the first few of the labels.
func alertAnonymousList(names []string) string {
	const most = 4
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// alertAnonymousStripped matches a gap between a word that wants a name after
// it and one that goes on, and quotes with nothing in them.
var alertAnonymousStripped = regexp.MustCompile(`(?i)\b(?:namespace|pod|node|instance|job|container|cluster|host|device|service|deployment|daemonset|statefulset|volume|pvc|vm|vmi|queue|topic|database|disk|in|of|on|for|from|with)(  )(?:in|on|of|at|for|from|with|is|are|has|have|was|and|to|failed|exceeds|namespace|pod|node|instance|container)\b|\w (""|''|` + "``" + `) (?:in|on|of|at|for|from|with|is|are|has|have|was|and|to|failed|exceeds)\b`)

// alertAnonymousGap reports text out of which another program took templates.
func alertAnonymousGap(p *lint.Pass, r *rules.Rule, e rules.Entry) bool {
	text := e.Value.Value
	if e.Templated() || !strings.Contains(text, "  ") && !strings.Contains(text, `"" `) && !strings.Contains(text, "'' ") && !strings.Contains(text, "`` ") {
		return false
	}
	m := alertAnonymousStripped.FindStringSubmatchIndex(text)
	if m == nil {
		return false
	}
	i := 2
	if m[i] < 0 {
		i = 4
	}
	if _, exact := e.Value.Exact(m[i], m[i+1]); !exact && i == 2 {
		return false // the lines of a folded scalar, joined
	}
	p.Report(lint.Finding{
		Span:     e.Value.Span(m[0], m[1]),
		Severity: lint.Warning,
		Message: fmt.Sprintf("%s annotation %q has a gap where a template stood: whatever rendered this file printed nothing for it; escape the braces there, so that Prometheus gets {{ $labels.… }}",
			r.Object(), e.Key.Value),
	})
	return true
}
