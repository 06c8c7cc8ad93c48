// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"
	"unicode/utf8"

	"github.com/prometheus/common/model"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

var _ = add(lint.Check{
	ID:       "alert/annotations",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "alert whose annotations do not tell what is wrong",
		Why: `Labels route an alert; its annotations are what a person reads. The summary is the one line in a list of alerts, a chat message or the subject of a mail, the description says what is wrong, where, and what follows from it. Without them whoever is woken up has a name and a set of labels.

An annotation named message is accepted in place of either, as older rules have one text for both. An annotation that is there but empty, is a placeholder or only repeats the name of the alert says no more than a missing one.`,
		Bad: `groups:
- name: vm
  rules:
  - alert: VMPending
    expr: kubevirt_vmi_phase_count{phase="pending"} > 0
    for: 15m
    annotations:
      summary: TODO
`,
		Good: `groups:
- name: vm
  rules:
  - alert: VMPending
    expr: kubevirt_vmi_phase_count{phase="pending"} > 0
    for: 15m
    annotations:
      summary: Virtual machines stay pending on {{ $labels.node }}.
      description: "{{ $value }} virtual machines have been waiting for 15 minutes to be scheduled."
`,
		TurnOff: "Notifications are written from labels alone. Where other annotations carry the text, set required.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/practices/alerting/",
			"https://github.com/openshift/enhancements/blob/master/enhancements/monitoring/alerting-consistency.md",
		},
	},
	Run: lint.With(alertAnnotations{Required: []string{"summary", "description"}}, checkAlertAnnotations),
})

type alertAnnotations struct {
	Required          []string          `yaml:"required" doc:"Annotations that every alert must have; message is accepted in place of summary and description."`
	Forbidden         []string          `yaml:"forbidden" doc:"Annotations that no alert may have."`
	Pattern           map[string]string `yaml:"pattern" doc:"Regular expressions by the name of the annotation whose text, as it is written with its templates, must match."`
	MaxLength         int               `yaml:"max-length" doc:"The most characters that a summary may have, not counting what templates print; 0 sets no limit."`
	PrometheusVersion string            `yaml:"prometheus-version" shared:"prometheus-version" doc:"Version that loads the rules: before 3 it refuses names with dots, dashes or slashes."`
}

// Validate reports options that make no sense.
func (o alertAnnotations) Validate() error {
	if o.MaxLength < 0 {
		return errors.New("max-length is negative")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Pattern)) {
		if err := alertPatternError("pattern of "+name, o.Pattern[name]); err != nil {
			return err
		}
	}
	return promVersionError(o.PrometheusVersion)
}

func checkAlertAnnotations(p *lint.Pass, r *rules.Rule, o alertAnnotations) {
	if !r.IsAlert() {
		return
	}
	o.missing(p, r)
	for _, e := range r.Annotations {
		name, text := e.Key.Value, strings.TrimSpace(e.Value.Value)
		switch {
		case slices.Contains(o.Forbidden, name):
			p.Reportf(e.Key.All(), "%s has the forbidden annotation '%s': remove it", r.Object(), name)
			continue
		case alertVersionRefuses(o.PrometheusVersion, name):
			p.Report(lint.Finding{Span: e.Key.All(), Severity: lint.Error,
				Message: fmt.Sprintf("%s annotation %q is no valid name for Prometheus %s, which refuses the whole file: use only letters, digits and underscores", r.Object(), name, o.PrometheusVersion)})
		}
		if slices.Contains(o.Required, name) || alertAnnotationsTexts[name] {
			if fault := alertAnnotationsFault(r, name, text); fault != "" {
				p.Reportf(e.Place(), "%s annotation '%s' %s", r.Object(), name, fault)
				continue
			}
		}
		if pattern, ok := o.Pattern[name]; ok && !alertUnrendered(text) && !alertPattern(p, pattern).MatchString(text) {
			p.Reportf(e.Place(), "%s annotation '%s' does not match the pattern %q", r.Object(), name, pattern)
		}
		if name == "summary" {
			o.summary(p, r, e)
		}
	}
}

// alertAnnotationsTexts are the annotations that receivers print as text.
var alertAnnotationsTexts = map[string]bool{"summary": true, "description": true, "message": true}

// missing reports, in one finding, the annotations that are not there.
func (o alertAnnotations) missing(p *lint.Pass, r *rules.Rule) {
	var names []string
	f := lint.Finding{Span: r.Place()}
	for _, name := range o.Required {
		if _, ok := r.Annotation(name); ok {
			continue
		}
		if _, ok := r.Annotation("message"); ok && alertAnnotationsTexts[name] {
			continue
		}
		names = append(names, "'"+name+"'")
		if l, ok := r.Label(name); ok {
			f.Related = append(f.Related, lint.Related{Span: l.Key.All(), Message: name + " is a label here"})
		}
	}
	switch len(names) {
	case 0:
		return
	case 1:
		f.Message = fmt.Sprintf("%s missing required annotation %s", r.Object(), names[0])
	default:
		f.Message = fmt.Sprintf("%s missing required annotations %s", r.Object(), strings.Join(names, ", "))
	}
	switch {
	case len(f.Related) > 0:
		f.Message += ": found among the labels, which notifications do not print as text; move it to annotations"
	case len(r.Annotations) == 0:
		f.Message += ": it has none, so a notification shows no more than labels"
	}
	p.Report(f)
}

var alertAnnotationsPlaceholder = regexp.MustCompile(`^(?i:todo|tbd|tba|fixme|xxx+|changeme|change-me|n/?a|none|-+|\.\.+|…|\?+|<[^<>{}]*>|lorem(?: ipsum.*)?)[.!:]?$` +
	`|^(?:TODO|TBD|FIXME)(?:[:(]| (?:add|complete|define|describe|document|explain|fill|provide|update|write)\b)`)

// alertAnnotationsMayStandIn reports whether a text begins as those do that
// alertAnnotationsPlaceholder matches.
func alertAnnotationsMayStandIn(text string) bool {
	return text != "" && (len(text) < 12 || strings.IndexByte("TtFfLlXx<-.?", text[0]) >= 0)
}

// alertAnnotationsFault returns what is wrong with the text of an annotation
// that a person is to read, or "".
func alertAnnotationsFault(r *rules.Rule, name, text string) string {
	switch bare := strings.TrimRight(text, ".!"); {
	case text == "":
		return "is empty: say what is wrong"
	case alertAnnotationsMayStandIn(text) && alertAnnotationsPlaceholder.MatchString(text) || strings.EqualFold(bare, name):
		return "is a placeholder: say what is wrong"
	case strings.EqualFold(bare, r.Alert.Value):
		return "only repeats the name of the alert: say what is wrong, and where"
	}
	return ""
}

// summary reports a summary that does not fit where it is shown.
func (o alertAnnotations) summary(p *lint.Pass, r *rules.Rule, e rules.Entry) {
	if o.MaxLength == 0 && !strings.Contains(e.Value.Value, "\n") {
		return
	}
	text, ok := alertAnnotationsPrinted(e)
	if !ok {
		return
	}
	text = strings.TrimSpace(text)
	if n := strings.Count(text, "\n"); n > 0 {
		p.Reportf(e.Place(), "%s summary has %d lines where one is shown: keep the first, and move the rest to description", r.Object(), n+1)
	}
	if n := utf8.RuneCountInString(text); o.MaxLength > 0 && n > o.MaxLength {
		p.Reportf(e.Place(), "%s summary has %d characters, %d more than allowed: shorten it, or move the detail to description", r.Object(), n, n-o.MaxLength)
	}
}

// alertAnnotationsPrinted returns what is certainly printed of a value: all
// text that stands outside of template actions. The second result is false if
// that depends on conditions.
func alertAnnotationsPrinted(e rules.Entry) (string, bool) {
	if !e.Templated() {
		return e.Value.Value, true
	}
	if e.Template == nil || e.Template.Tree() == nil {
		return "", false
	}
	var b strings.Builder
	for _, n := range e.Template.Tree().Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			b.Write(n.Text)
		case *parse.ActionNode, *parse.CommentNode:
		default:
			return "", false
		}
	}
	return b.String(), true
}

// alertVersionRefuses reports whether a Prometheus of that version refuses a
// label or annotation of that name, and with it the file: before version 3
// names had only letters, digits and underscores.
func alertVersionRefuses(version, name string) bool {
	v := parsePromVersion(version)
	return v.known() && v.major < 3 && !model.LegacyValidation.IsValidLabelName(name)
}
