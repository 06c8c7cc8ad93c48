// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "alert/severity",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "alert without a severity label, or with one that nobody routes by",
		Why: `Alertmanager routes alerts by their labels, and nearly every routing tree looks at severity. An alert without the label falls through to the default receiver, where nobody is woken up.

A value outside the set is a warning: the set is a house rule. It is only an information where at least half of the alerts of the run lie outside of the set, since the rules then follow a scheme of their own. Two spellings of one severity ("warn" beside "warning") are a warning whatever the set, as one of them goes unrouted.`,
		Bad: `groups:
- name: vm
  rules:
  - alert: VMPending
    expr: kubevirt_vmi_phase_count{phase="pending"} > 0
    for: 15m
`,
		Good: `groups:
- name: vm
  rules:
  - alert: VMPending
    expr: kubevirt_vmi_phase_count{phase="pending"} > 0
    for: 15m
    labels:
      severity: warning
`,
		TurnOff: "Alertmanager routes by something else than severity. Where only the values differ, set allowed.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/alerting/latest/configuration/#route", "https://github.com/openshift/enhancements/blob/master/enhancements/monitoring/alerting-consistency.md"},
	},
	Run: lint.With(alertSeverity{
		Allowed:  []string{"critical", "warning", "info"},
		Constant: []string{"none"},
	}, checkAlertSeverity),
})

type alertSeverity struct {
	Allowed  []string `yaml:"allowed" doc:"Values that the label may have; an empty list allows all."`
	Constant []string `yaml:"constant" doc:"Further values for alerts that notify nobody: those whose expression is constant, such as a watchdog, or reads only ALERTS, such as an inhibitor."`
}

func checkAlertSeverity(p *lint.Pass, r *rules.Rule, o alertSeverity) {
	if !r.IsAlert() {
		return
	}
	label, ok := severityLabel(r)
	if !ok {
		if r.Expr != nil && (r.Expr.Root == nil || r.Expr.Mentions("severity")) {
			return // the query may carry the label itself
		}
		f := lint.Finding{Span: r.Place(), Message: fmt.Sprintf("%s missing required label 'severity'", r.Object())}
		if a, ok := r.Annotation("severity"); ok {
			f.Message += ": it stands among the annotations, which Alertmanager does not route by; move it to labels"
			f.Related = []lint.Related{{Span: a.Key.All(), Message: "severity is an annotation here"}}
		}
		p.Report(f)
		return
	}
	if strings.TrimSpace(label.Value.Value) == "" {
		p.Reportf(label.Place(), "%s missing required label 'severity': its value is empty", r.Object())
		return
	}
	values := []source.Text{label.Value}
	if label.Templated() {
		if values = alertSeverityBranches(label.Template); values == nil {
			return
		}
	}
	allowed := o.Allowed
	if r.Expr != nil && (r.Expr.Constant() || alertSeverityInhibits(r.Expr)) {
		allowed = slices.Concat(o.Allowed, o.Constant)
	}
	for _, value := range values {
		alertSeverityValue(p, r, o, allowed, value)
	}
}

// alertSeverityInhibits reports whether an expression reads nothing but alerts, as
// those do that are there to inhibit others.
func alertSeverityInhibits(e *promql.Expr) bool {
	reads, alerts := 0, 0
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		if v, ok := n.(*parser.VectorSelector); ok {
			reads++
			if m := promql.Metric(v); m == "ALERTS" || m == "ALERTS_FOR_STATE" {
				alerts++
			}
		}
	})
	return reads > 0 && reads == alerts
}

// severityLabel returns the severity label of a rule, its own or its group's.
func severityLabel(r *rules.Rule) (rules.Entry, bool) {
	if e, ok := r.Label("severity"); ok {
		return e, true
	}
	for _, e := range r.Group.Labels {
		if e.Key.Value == "severity" {
			return e, true
		}
	}
	return rules.Entry{}, false
}

func alertSeverityValue(p *lint.Pass, r *rules.Rule, o alertSeverity, allowed []string, value source.Text) {
	written := strings.TrimSpace(value.Value)
	if slices.Contains(allowed, written) || alertUnrendered(written) {
		return
	}
	used := lint.Derive(p.Project, alertSeverities)
	meant, near := alertSeverityNear(written, allowed)
	if !near {
		// Where the set is open, the other spelling must be in use.
		if c := alertSeverityCanonical(written); c != written && used[c] > 0 {
			meant, near = c, true
		}
	}
	f := lint.Finding{Span: value.All(), Severity: lint.Warning}
	switch {
	case near:
		f.Message = fmt.Sprintf("%s severity %q is another spelling of %q: write %s, or alerts with it go unrouted", r.Object(), written, meant, meant)
		if s, exact := value.Exact(0, len(value.Value)); exact {
			f.Fixes = []lint.Fix{lint.Replace(s, strings.Replace(value.Value, written, meant, 1), "write "+meant, false)}
		}
	case len(o.Allowed) == 0:
		return
	default:
		f.Message = fmt.Sprintf("%s severity %q is none of %s: use one of them, or add it to the option allowed", r.Object(), written, strings.Join(o.Allowed, ", "))
		if used.outside(o.Allowed, o.Constant) {
			f.Severity = lint.Info
		}
	}
	p.Report(f)
}

// severityUse counts the alerts of a run by the value of their severity label.
type severityUse map[string]int

// outside reports whether at least half of the alerts have a value that is not
// allowed: the rules then follow a scheme of their own.
func (u severityUse) outside(allowed, constant []string) bool {
	all, within := 0, 0
	for value, n := range u {
		all += n
		if slices.Contains(allowed, value) || slices.Contains(constant, value) {
			within += n
		}
	}
	return within <= all-within
}

func alertSeverities(project *lint.Project) severityUse {
	used := severityUse{}
	for r := range lint.All[*rules.Rule](project) {
		if e, ok := severityLabel(r); ok && r.IsAlert() {
			used[strings.TrimSpace(e.Value.Value)]++
		}
	}
	return used
}

// alertSeverityNear returns the allowed value that written is another spelling of.
func alertSeverityNear(written string, allowed []string) (string, bool) {
	if c := alertSeverityCanonical(written); c != written && slices.Contains(allowed, c) {
		return c, true
	}
	for _, a := range allowed {
		if strings.EqualFold(a, written) {
			return a, true
		}
	}
	if len(written) < 5 {
		return "", false // "high" is near to nothing, and "none" is not "one"
	}
	return near.Name(written, allowed)
}

// alertSeverityCanonical returns the common spelling of a severity.
func alertSeverityCanonical(s string) string {
	switch s := strings.ToLower(s); s {
	case "warn", "warnings":
		return "warning"
	case "crit", "criticial":
		return "critical"
	case "information", "informational":
		return "info"
	default:
		return s
	}
}

// alertSeverityBranches returns the texts that a template can print, if it is
// one condition, or several in one another, between texts; nil if they can't be
// told.
func alertSeverityBranches(t *promql.Template) []source.Text {
	if t == nil || t.Tree() == nil {
		return nil
	}
	var out []source.Text
	known := true
	var branch func(nodes []parse.Node)
	branch = func(nodes []parse.Node) {
		nodes = slices.DeleteFunc(slices.Clone(nodes), func(n parse.Node) bool {
			text, ok := n.(*parse.TextNode)
			return int(n.Position()) < len(promql.Preamble) || ok && strings.TrimSpace(string(text.Text)) == ""
		})
		if len(nodes) != 1 {
			known = false
			return
		}
		switch n := nodes[0].(type) {
		case *parse.TextNode:
			s, ok := t.Literal(n)
			known = known && ok
			out = append(out, s)
		case *parse.IfNode:
			branch(n.List.Nodes)
			if n.ElseList == nil {
				known = false
				return
			}
			branch(n.ElseList.Nodes)
		default:
			known = false
		}
	}
	branch(t.Tree().Nodes)
	if !known {
		return nil
	}
	return out
}
