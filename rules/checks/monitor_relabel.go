// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/relabel"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var _ = add(lint.Check{
	ID:       "monitor/relabel",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "relabeling that is refused, or does not do what it says",
		Why: `Prometheus refuses its whole configuration for one relabeling without a targetLabel, or whose regex does not compile; so the operator drops the monitor that has it.

Others load and do something else. A replacement that names a group which the regex lacks is empty, and an empty label is removed. Relabelings of targets run before the scrape, when there is no __name__ yet; metricRelabelings run after it, when the __meta_ labels are gone: what looks at them is without effect, and a keep drops everything. Dropping the label le makes one series of all buckets of a histogram.`,
		Bad: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
spec:
  selector:
    matchLabels:
      app: shop
  endpoints:
    - port: metrics
      relabelings:
        - sourceLabels: [__meta_kubernetes_pod_node_name]
          replacement: $1
`,
		Good: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
spec:
  selector:
    matchLabels:
      app: shop
  endpoints:
    - port: metrics
      relabelings:
        - sourceLabels: [__meta_kubernetes_pod_node_name]
          targetLabel: node
`,
		TurnOff: "another program completes the relabelings.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/configuration/configuration/#relabel_config"},
	},
	Run: lint.On(checkMonitorRelabel),
})

func checkMonitorRelabel(p *lint.Pass, r *monitors.Relabeling) {
	if slices.ContainsFunc(r.Value.Fields, func(f monitors.Field) bool { return strings.Contains(f.Value.Str(), "{{") }) {
		return
	}
	if fault := monitorRelabelFault(r); fault.message != "" {
		effect := "Prometheus refuses the configuration, so the operator drops the whole " + p.Object().Kind
		if monitorRelabelByServer[p.Object().Kind] {
			effect = "Prometheus refuses its configuration"
		}
		f := lint.Finding{Span: fault.span, Message: fmt.Sprintf("%s: %s: %s", p.Object(), fault.message, effect)}
		if fault.instead != "" {
			f.Fixes = []lint.Fix{lint.Replace(fault.span, fault.instead, "write "+fault.instead, false)}
		}
		p.Report(f)
		return
	}
	monitorRelabelGroups(p, r)
	monitorRelabelStage(p, r)
	monitorRelabelDrops(p, r)
}

// monitorRelabelByServer are the kinds whose own configuration a relabeling is.
var monitorRelabelByServer = map[string]bool{"Prometheus": true, "PrometheusAgent": true, "ThanosRuler": true}

// A monitorRelabelRefusal is why Prometheus refuses a relabeling.
type monitorRelabelRefusal struct {
	span    source.Span
	message string
	instead string // what to write at span, if that is all
}

// The spellings of actions that the operator takes.
var monitorRelabelActions = []string{
	"replace", "keep", "drop", "hashmod", "labelmap", "labeldrop", "labelkeep", "lowercase", "uppercase", "keepequal", "dropequal",
	"Replace", "Keep", "Drop", "HashMod", "LabelMap", "LabelDrop", "LabelKeep", "Lowercase", "Uppercase", "KeepEqual", "DropEqual",
}

// monitorRelabelFault returns what makes Prometheus or the operator refuse a
// relabeling.
func monitorRelabelFault(r *monitors.Relabeling) monitorRelabelRefusal {
	if action := r.Value.Get("action"); !slices.Contains(monitorRelabelActions, r.Action) {
		if action.Unknown() || action.Type != monitors.String {
			return monitorRelabelRefusal{}
		}
		if meant, ok := near.Name(r.Action, monitorRelabelActions); ok {
			return monitorRelabelRefusal{action.Place, fmt.Sprintf("%q is no action, write %s", r.Action, meant), meant}
		}
		return monitorRelabelRefusal{action.Place, fmt.Sprintf("%q is no action, there are %s", r.Action, strings.Join(monitorRelabelActions[:11], ", ")), ""}
	}
	if r.Value.Get("regex").Unknown() || r.TargetLabel.Value != "" && strings.Contains(r.TargetLabel.Value, "$(") {
		return monitorRelabelRefusal{}
	}
	re, err := r.Compiled()
	if err != nil {
		return monitorRelabelRefusal{r.Regex.All(), "the regex does not compile: " + monitorRelabelError(err), ""}
	}
	action := strings.ToLower(r.Action)
	config := monitorRelabelConfig(r, action)
	config.Regex = re
	if config.Validate(model.UTF8Validation) == nil && monitorRelabelExtra(r, action) == "" {
		return monitorRelabelRefusal{}
	}
	at := func(field string) source.Span {
		if f := r.Value.Field(field); f != nil {
			return f.Key.All()
		}
		return r.Place()
	}
	if extra := monitorRelabelExtra(r, action); extra != "" {
		takes := "only a regex"
		switch action {
		case "keepequal", "dropequal":
			takes = "only sourceLabels and targetLabel"
		case "lowercase", "uppercase":
			takes = "no replacement"
		}
		return monitorRelabelRefusal{at(extra), fmt.Sprintf("the action %s takes %s, remove %s", r.Action, takes, extra), ""}
	}
	switch {
	case action == "hashmod" && config.Modulus == 0:
		return monitorRelabelRefusal{at("action"), "the action hashmod needs a modulus", ""}
	case r.TargetLabel.Value == "" && action != "labelmap":
		place := at("action")
		if r.Value.Field("targetLabel") != nil {
			place = at("targetLabel")
		}
		return monitorRelabelRefusal{place, fmt.Sprintf("the action %s needs a targetLabel", r.Action), ""}
	}
	return monitorRelabelRefusal{r.Place(), config.Validate(model.UTF8Validation).Error(), ""}
}

// monitorRelabelError takes the regexp out of the message: it stands there.
func monitorRelabelError(err error) string {
	message := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	return strings.ReplaceAll(strings.ReplaceAll(message, "^(?s:", ""), ")$", "")
}

// monitorRelabelConfig returns the relabeling as Prometheus reads it.
func monitorRelabelConfig(r *monitors.Relabeling, action string) relabel.Config {
	c := relabel.DefaultRelabelConfig
	c.Action = relabel.Action(action)
	for _, l := range r.SourceLabels {
		c.SourceLabels = append(c.SourceLabels, model.LabelName(l.Value))
	}
	c.TargetLabel = r.TargetLabel.Value
	if v := r.Value.Get("replacement"); v != nil {
		c.Replacement = r.Replacement.Value
	}
	if v := r.Value.Get("separator"); v != nil {
		c.Separator = v.Str()
	}
	c.Modulus, _ = strconv.ParseUint(r.Value.Get("modulus").Str(), 10, 64)
	return c
}

// monitorRelabelExtra returns a field that the action does not take, if one is set.
func monitorRelabelExtra(r *monitors.Relabeling, action string) string {
	set := func(name, unset string) bool {
		v := r.Value.Get(name)
		return v != nil && (v.Str() != unset || len(v.Items) > 0) && v.Str() != ""
	}
	only := func(names ...string) string {
		for _, name := range names {
			if name == "sourceLabels" && len(r.SourceLabels) > 0 || name != "sourceLabels" && set(name, map[string]string{"separator": ";", "replacement": "$1", "regex": "(.*)", "modulus": "0"}[name]) {
				return name
			}
		}
		return ""
	}
	switch action {
	case "labeldrop", "labelkeep":
		return only("sourceLabels", "targetLabel", "modulus", "separator", "replacement")
	case "keepequal", "dropequal":
		return only("regex", "modulus", "separator", "replacement")
	case "lowercase", "uppercase":
		return only("replacement")
	}
	return ""
}

// monitorRelabelGroups reports a replacement of a group that the regex lacks.
func monitorRelabelGroups(p *lint.Pass, r *monitors.Relabeling) {
	action := strings.ToLower(r.Action)
	if action != "replace" && action != "labelmap" {
		return
	}
	re, err := r.Compiled()
	if err != nil {
		return
	}
	groups, names := re.NumSubexp(), re.SubexpNames()
	for _, t := range []source.Text{r.Replacement, r.TargetLabel} {
		for _, m := range promqlReference.FindAllStringSubmatchIndex(t.Value, -1) {
			name := ""
			for _, k := range []int{2, 4} {
				if m[k] >= 0 {
					name = t.Value[m[k]:m[k+1]]
				}
			}
			if name == "" || name[0] < '0' || name[0] > '9' || slices.Contains(names, name) {
				continue // a name may be what another program fills in
			}
			span, severity := t.Span(m[0], m[1]), lint.Warning
			effect := "it is left out"
			if m[0] == 0 && m[1] == len(t.Value) {
				severity, effect = lint.Error, "the label is empty, and an empty label is removed"
			}
			report := func(format string, args ...any) {
				p.Report(lint.Finding{Span: span, Severity: severity, Message: p.Object().String() + ": " + fmt.Sprintf(format, args...)})
			}
			n, err := strconv.Atoi(name)
			switch {
			case err != nil:
				digits := strings.TrimRight(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
				report("%s is the group %q, which the regex lacks, so %s: write ${%s}%s", t.Value[m[0]:m[1]], name, effect, digits, name[len(digits):])
			case n > groups:
				report("%s is nothing, as the regex has %s, so %s", t.Value[m[0]:m[1]], monitorRelabelCount(groups), effect)
			}
		}
	}
}

func monitorRelabelCount(groups int) string {
	switch groups {
	case 0:
		return "no group in parentheses"
	case 1:
		return "only one group"
	}
	return fmt.Sprintf("only %d groups", groups)
}

// Labels of targets that are removed once these are relabeled.
func monitorRelabelGone(label string) bool {
	return strings.HasPrefix(label, "__meta_") || strings.HasPrefix(label, "__param_") || label == "__address__" || label == "__scheme__" || label == "__metrics_path__"
}

// monitorRelabelStage reports labels that are not there yet, or no longer.
func monitorRelabelStage(p *lint.Pass, r *monitors.Relabeling) {
	for _, l := range r.SourceLabels {
		early := r.Stage == monitors.OfTargets && l.Value == model.MetricNameLabel
		late := r.Stage == monitors.OfSamples && monitorRelabelGone(l.Value)
		if !early && !late {
			continue
		}
		f := lint.Finding{Span: l.All(), Severity: lint.Warning}
		what := "there is no __name__ before the scrape, when targets are relabeled"
		instead := "move it to metricRelabelings"
		if late {
			what = l.Value + " is gone after the scrape, when samples are relabeled"
			instead = "copy it to a label of the target in relabelings first"
		}
		effect := "it is always empty"
		if strings.EqualFold(r.Action, "keep") && len(r.SourceLabels) == 1 && !r.Matches("") {
			f.Severity = lint.Error
			if effect = "every target is dropped"; late {
				effect = "every sample is dropped"
			}
		}
		f.Message = fmt.Sprintf("%s: %s, so %s: %s", p.Object(), what, effect, instead)
		p.Report(f)
	}
}

// monitorRelabelDrops reports what drops everything, or a label that series
// can't do without.
func monitorRelabelDrops(p *lint.Pass, r *monitors.Relabeling) {
	at := r.Place()
	if r.Regex.Value != "" {
		at = r.Regex.All()
	}
	warn := func(format string, args ...any) {
		p.Report(lint.Finding{Span: at, Severity: lint.Warning, Message: p.Object().String() + ": " + fmt.Sprintf(format, args...)})
	}
	switch strings.ToLower(r.Action) {
	case "drop":
		everything := slices.Contains([]string{"", ".*", "(.*)"}, r.Regex.Value) ||
			slices.Contains([]string{".+", "(.+)"}, r.Regex.Value) && len(r.SourceLabels) == 1 && (r.Stage == monitors.OfSamples && r.SourceLabels[0].Value == model.MetricNameLabel)
		if !everything {
			return
		}
		what := map[monitors.Stage]string{monitors.OfTargets: "target", monitors.OfSamples: "sample", monitors.OfSent: "sample"}[r.Stage]
		warn("the regex matches any value, also that of a label which is not there: every %s is dropped; write .+ to drop those that have the label", what)
	case "labeldrop", "labelkeep":
		if r.Stage == monitors.OfTargets {
			if strings.EqualFold(r.Action, "labelkeep") && !r.Matches(model.AddressLabel) {
				warn("the action labelkeep drops __address__ too, so that no target is left: let the regex match it")
			}
			return
		}
		dropped := func(label string) bool {
			return r.Matches(label) == strings.EqualFold(r.Action, "labeldrop")
		}
		switch {
		case dropped(model.MetricNameLabel):
			warn("this drops the label __name__, without which a sample has no metric: let the regex leave it")
		case strings.EqualFold(r.Action, "labeldrop") && dropped(model.BucketLabel):
			warn("this drops the label le: all buckets of a histogram become one series, and Prometheus keeps one of their samples; let the regex leave it")
		}
	}
}
