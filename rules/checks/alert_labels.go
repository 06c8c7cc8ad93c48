// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

var _ = add(lint.Check{
	ID:       "alert/labels",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "alert with a label that has no effect, or without one that the team agreed on",
		Why: `Labels are the identity of an alert: Alertmanager routes, groups, inhibits and silences by them.

A label with an empty value does not exist: Prometheus removes it, together with the value that the query has for it. (Silent where that is evidently meant: for labels of the target such as pod and instance, those that the expression names, and those that undo a label of the group.) A label alertname is overwritten with the name of the alert, alertstate with its state, and names that begin with two underscores are Prometheus' own.

A name with dots, dashes or slashes is legal since Prometheus 3. Prometheus 2 refuses the whole file, and templates and older routes can't name such a label. That is a warning until prometheus-version says which it is.

Which labels an alert must or must not have, and their values, is a house rule: these options are empty by default.`,
		Bad: `groups:
- name: vm
  rules:
  - alert: VMPending
    expr: kubevirt_vmi_phase_count{phase="pending"} > 0
    for: 15m
    labels:
      team: ""
      alertname: VMPendingTooLong
`,
		Good: `groups:
- name: vm
  rules:
  - alert: VMPendingTooLong
    expr: kubevirt_vmi_phase_count{phase="pending"} > 0
    for: 15m
    labels:
      team: compute
`,
		TurnOff: "Labels are added or rewritten after the rules are loaded, for instance by alert_relabel_configs.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/",
			"https://prometheus.io/docs/concepts/data_model/#metric-names-and-labels",
			"https://prometheus.io/docs/guides/utf8/",
		},
	},
	Run: lint.With(alertLabels{}, checkAlertLabels).And(lint.With(alertLabels{}, checkAlertLabelsOfGroup)),
})

type alertLabels struct {
	Required          []string            `yaml:"required" doc:"Labels that every alert must have, by itself or by its group."`
	Forbidden         []string            `yaml:"forbidden" doc:"Labels that no alert may set."`
	Allowed           map[string][]string `yaml:"allowed" doc:"Values that a label may have, by its name."`
	Pattern           map[string]string   `yaml:"pattern" doc:"Regular expressions by the name of the label whose value must match."`
	PrometheusVersion string              `yaml:"prometheus-version" shared:"prometheus-version" doc:"Version that loads the rules: before 3 it refuses names with dots, dashes or slashes."`
}

// Validate reports options that make no sense.
func (o alertLabels) Validate() error {
	for _, name := range slices.Sorted(maps.Keys(o.Pattern)) {
		if err := alertPatternError("pattern of "+name, o.Pattern[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Allowed)) {
		if len(o.Allowed[name]) == 0 {
			return fmt.Errorf("allowed of %s: no values", name)
		}
	}
	return promVersionError(o.PrometheusVersion)
}

func checkAlertLabels(p *lint.Pass, r *rules.Rule, o alertLabels) {
	if !r.IsAlert() {
		return
	}
	for _, e := range r.Labels {
		if !o.name(p, r.Object(), e) {
			continue
		}
		if e.Value.Value == "" {
			if slices.Contains(o.Required, e.Key.Value) || !alertLabelsDropped(r, e) {
				o.empty(p, r.Object(), e)
			}
			continue
		}
		o.value(p, r.Object(), e)
	}
	all := r.AllLabels()
	for _, name := range o.Required {
		if slices.ContainsFunc(all, func(e rules.Entry) bool { return e.Key.Value == name }) {
			continue // if empty, it is reported as that
		}
		if r.Expr != nil && (r.Expr.Root == nil || r.Expr.Mentions(name)) {
			continue // the query may carry the label itself
		}
		f := lint.Finding{Span: r.Place(), Message: fmt.Sprintf("%s missing required label '%s'", r.Object(), name)}
		if a, ok := r.Annotation(name); ok {
			f.Message += ": it stands among the annotations, which Alertmanager does not route by; move it to labels"
			f.Related = []lint.Related{{Span: a.Key.All(), Message: name + " is an annotation here"}}
		}
		p.Report(f)
	}
}

// checkAlertLabelsOfGroup checks the labels that a group gives to its alerts.
func checkAlertLabelsOfGroup(p *lint.Pass, g *rules.Group, o alertLabels) {
	if !slices.ContainsFunc(g.Rules, (*rules.Rule).IsAlert) {
		return
	}
	for _, e := range g.Labels {
		switch {
		case !o.name(p, g.Object(), e):
		case e.Value.Value != "":
			o.value(p, g.Object(), e)
		case !alertLabelsOfTarget[e.Key.Value]:
			o.empty(p, g.Object(), e)
		}
	}
}

// name checks the name of a label, and reports whether its value matters.
func (o alertLabels) name(p *lint.Pass, object lint.Object, e rules.Entry) bool {
	name, at := e.Key.Value, e.Key.All()
	switch {
	case name == model.AlertNameLabel:
		p.Reportf(at, "%s label 'alertname' has no effect: Prometheus overwrites it with the name of the alert; remove it", object)
		return false
	case name == "alertstate":
		p.Reportf(at, "%s label 'alertstate' is reserved: Prometheus overwrites it with pending or firing in the ALERTS series; choose another name", object)
		return false
	case name == model.MetricNameLabel || name == "":
		return false // refused when the file is loaded
	case strings.HasPrefix(name, model.ReservedLabelPrefix):
		p.Reportf(at, "%s label %q is reserved: names that begin with __ are for Prometheus' own use; choose another name", object, name)
		return false
	case slices.Contains(o.Forbidden, name):
		p.Reportf(at, "%s has the forbidden label '%s': remove it", object, name)
		return false
	case !model.LegacyValidation.IsValidLabelName(name):
		o.unicode(p, object, e)
	}
	return true
}

// unicode reports a name that only Prometheus 3 accepts.
func (o alertLabels) unicode(p *lint.Pass, object lint.Object, e rules.Entry) {
	name := e.Key.Value
	version := parsePromVersion(o.PrometheusVersion)
	if version.major >= 3 {
		return
	}
	hint, meant := "use only letters, digits and underscores", alertLabelsLegacy(name)
	f := lint.Finding{Span: e.Key.All(), Severity: lint.Warning}
	if meant != "" {
		hint = "write " + meant
		if s, exact := e.Key.Exact(0, len(name)); exact {
			f.Fixes = []lint.Fix{lint.Replace(s, meant, "rename it to "+meant, false)}
		}
	}
	if version.known() {
		f.Severity = lint.Error
		f.Message = fmt.Sprintf("%s label %q is no valid name for Prometheus %s, which refuses the whole file: %s", object, name, o.PrometheusVersion, hint)
	} else {
		f.Message = fmt.Sprintf("%s label %q is a valid name only since Prometheus 3: version 2 refuses the whole file, and templates can't name it as .Labels.NAME; %s", object, name, hint)
	}
	p.Report(f)
}

var alertLabelsIllegal = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// alertLabelsLegacy returns the name as every version of Prometheus takes it,
// or "" if too little would be left of it.
func alertLabelsLegacy(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) {
		return ""
	}
	name = alertLabelsIllegal.ReplaceAllString(name, "_")
	if strings.Trim(name, "_0123456789") == "" {
		return ""
	}
	if '0' <= name[0] && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// alertLabelsOfTarget are labels that series get when they are scraped. A rule
// empties them on purpose, so that the alert does not change with the target.
var alertLabelsOfTarget = map[string]bool{
	"container": true, "endpoint": true, "instance": true, "job": true, "namespace": true, "node": true, "pod": true,
	"prometheus": true, "prometheus_replica": true, "replica": true, "service": true,
}

// alertLabelsDropped reports whether the rule evidently empties a label to take
// it off the alert.
func alertLabelsDropped(r *rules.Rule, e rules.Entry) bool {
	name := e.Key.Value
	if alertLabelsOfTarget[name] || slices.ContainsFunc(r.Group.Labels, func(g rules.Entry) bool { return g.Key.Value == name }) {
		return true
	}
	return r.Expr != nil && (r.Expr.Root == nil || r.Expr.Mentions(name))
}

func (o alertLabels) empty(p *lint.Pass, object lint.Object, e rules.Entry) {
	switch name := e.Key.Value; {
	case slices.Contains(o.Required, name):
		p.Reportf(e.Place(), "%s missing required label '%s': its value is empty", object, name)
	case name != "severity": // which alert/severity reports
		p.Reportf(e.Place(), "%s label %q is empty, so Prometheus leaves it out: give it a value, or remove it", object, name)
	}
}

// value checks the value of a label against the options.
func (o alertLabels) value(p *lint.Pass, object lint.Object, e rules.Entry) {
	name, value := e.Key.Value, e.Value.Value
	if e.Templated() || alertUnrendered(value) {
		return
	}
	if allowed, ok := o.Allowed[name]; ok && !slices.Contains(allowed, value) {
		f := lint.Finding{Span: e.Place(), Message: fmt.Sprintf("%s label '%s' is %q: use one of %s", object, name, value, strings.Join(allowed, ", "))}
		if meant, ok := near.Name(value, allowed); ok {
			f.Message = fmt.Sprintf("%s label '%s' is %q: write %s", object, name, value, meant)
			if s, exact := e.Value.Exact(0, len(value)); exact {
				f.Fixes = []lint.Fix{lint.Replace(s, meant, "write "+meant, false)}
			}
		}
		p.Report(f)
	}
	if pattern, ok := o.Pattern[name]; ok && !alertPattern(p, pattern).MatchString(value) {
		p.Reportf(e.Place(), "%s label '%s' is %q, which does not match the pattern %q", object, name, value, pattern)
	}
}
