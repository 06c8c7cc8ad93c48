// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

var _ = add(lint.Check{
	ID:       "alert/typo",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "misspelt name of a label or annotation",
		Why: `Prometheus takes any name of a label or annotation. Routes, inhibitions, consoles and notification templates look for one spelling: an alert with the label serverity goes to the default receiver, and an annotation sumary is never printed.

A name is reported if it is a letter or two away from one that most teams use (summary, description, message, runbook_url, dashboard_url, severity, namespace, service, component …), or one letter away from a name that the run itself uses at least twenty times as often, and if the alert has no label or annotation of the right name.`,
		Bad: `groups:
- name: vm
  rules:
  - alert: VMPending
    expr: kubevirt_vmi_phase_count{phase="pending"} > 0
    for: 15m
    labels:
      serverity: warning
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
		TurnOff: "Names that are near to a well-known one are meant as they are.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/"},
	},
	Run: lint.On(checkAlertTypo).And(lint.On(checkAlertTypoOfGroup)),
})

// The names that many public repositories use. Short ones (team, owner, env)
// have too many words around them.
var (
	alertTypoLabels      = []string{"severity", "service", "namespace", "component", "cluster", "environment"}
	alertTypoAnnotations = []string{"summary", "description", "message", "runbook_url", "runbook", "dashboard_url", "dashboard"}
)

// alertTypoWords are near to a well-known name and names of their own.
var alertTypoWords = map[string]bool{"security": true, "massage": true}

func checkAlertTypo(p *lint.Pass, r *rules.Rule) {
	if r.IsAlert() {
		names := lint.Derive(p.Project, alertTypoIndex)
		names.labels.report(p, r.Object(), r.Labels, r.AllLabels())
		names.annotations.report(p, r.Object(), r.Annotations, r.Annotations)
	}
}

// checkAlertTypoOfGroup checks the labels that a group gives to its alerts.
func checkAlertTypoOfGroup(p *lint.Pass, g *rules.Group) {
	if len(g.Labels) > 0 && slices.ContainsFunc(g.Rules, (*rules.Rule).IsAlert) {
		lint.Derive(p.Project, alertTypoIndex).labels.report(p, g.Object(), g.Labels, g.Labels)
	}
}

func (n alertTypoNames) report(p *lint.Pass, object lint.Object, entries, all []rules.Entry) {
	for _, e := range entries {
		meant, ok := n.meant[e.Key.Value]
		if !ok || slices.ContainsFunc(all, func(other rules.Entry) bool { return other.Key.Value == meant.name }) {
			continue
		}
		f := lint.Finding{Span: e.Key.All(), Message: fmt.Sprintf("%s %s %q is probably meant to be %q, %s: rename it", object, n.what, e.Key.Value, meant.name, meant.why)}
		if s, exact := e.Key.Exact(0, len(e.Key.Value)); exact {
			f.Fixes = []lint.Fix{lint.Replace(s, meant.name, "rename it to "+meant.name, false)}
		}
		p.Report(f)
	}
}

// alertTypoOf reports whether name is a misspelling of known: each word of it
// is the same or misspelt. One that only separates or capitalises the same
// words otherwise is a convention, unless it is a single word.
func alertTypoOf(name, known string) bool {
	if d := len(name) - len(known); d < -4 || d > 4 {
		return false
	}
	separator := func(r rune) bool { return r == '_' || r == '-' }
	words, want := strings.FieldsFunc(strings.ToLower(name), separator), strings.FieldsFunc(known, separator)
	if len(words) != len(want) {
		return false
	}
	misspelt := len(want) == 1 && strings.EqualFold(name, known)
	for i, w := range words {
		switch {
		case w == want[i]:
		case alertTypoWord(w, want[i]):
			misspelt = true
		default:
			return false
		}
	}
	return misspelt
}

// alertTypoWord reports whether a word is a misspelling of another. A word that
// goes on where the other ends (services, serviceid) is a word of its own, as
// mostly is one that begins otherwise.
func alertTypoWord(word, known string) bool {
	n := len(known)
	switch {
	case word == "" || alertTypoWords[word]:
		return false
	case known == "url":
		return word == "ulr" || word == "rul" || word == "ur" || word == "ul"
	case n < 5:
		return false
	case strings.HasPrefix(word, known):
		return word[n:] == known[n-1:]
	case word+"s" == known:
		return false
	case word[0] != known[0]:
		return word[0] == known[1] && alertTypoOneLetter(word, known)
	case alertTypoOneLetter(word, known) || alertTypoSingle(word) == alertTypoSingle(known):
		return true
	case n < 8:
		return false
	}
	_, ok := near.Name(word, []string{known})
	return ok
}

// alertTypoSingle returns s with each doubled letter written once.
func alertTypoSingle(s string) string {
	return string(slices.Compact([]byte(s)))
}

// alertTypoOneLetter reports whether a and b differ by one letter that is
// wrong, missing, too many or swapped with its neighbour.
func alertTypoOneLetter(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch {
	case len(a)+len(b) == 1 || len(a) == 1 && len(b) == 1:
		return true
	default:
		return len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	}
}

// alertTypoNames says of the misspelt names of a run what they are meant to be.
type alertTypoNames struct {
	what  string // labels or annotations, in the singular
	meant map[string]alertTypoMeant
}

type alertTypoMeant struct{ name, why string }

type alertTypoRun struct{ labels, annotations alertTypoNames }

func alertTypoIndex(project *lint.Project) alertTypoRun {
	labels, annotations := map[string]int{}, map[string]int{}
	count := func(uses map[string]int, entries []rules.Entry) {
		for _, e := range entries {
			uses[e.Key.Value]++
		}
	}
	for g := range lint.All[*rules.Group](project) {
		count(labels, g.Labels)
		for _, r := range g.Rules {
			if r.IsAlert() {
				count(labels, r.Labels)
				count(annotations, r.Annotations)
			}
		}
	}
	return alertTypoRun{
		labels:      alertTypoNames{"label", alertTypoMeanings(labels, alertTypoLabels, "routes and silences")},
		annotations: alertTypoNames{"annotation", alertTypoMeanings(annotations, alertTypoAnnotations, "consoles and notifications")},
	}
}

// alertTypoMeanings finds the names that are near to a known one, or one letter
// away from one used far more often. Two such names are equal once a letter is
// left out of either or both, so that looking up what is left spares comparing
// all with all.
func alertTypoMeanings(uses map[string]int, known []string, readers string) map[string]alertTypoMeant {
	const often, shortest, longest = 20, 8, 64
	left := map[string][]string{}
	for name, n := range uses {
		if n >= often && shortest <= len(name) && len(name) <= longest {
			for s := range alertTypoLeft(name) {
				left[s] = append(left[s], name)
			}
		}
	}
	meant := map[string]alertTypoMeant{}
	for name, n := range uses {
		if len(name) > longest || slices.Contains(known, name) {
			continue
		}
		if i := slices.IndexFunc(known, func(k string) bool { return alertTypoOf(name, k) }); i >= 0 {
			meant[name] = alertTypoMeant{known[i], "the only spelling that " + readers + " look for"}
			continue
		}
		best := ""
		for s := range alertTypoLeft(name) {
			for _, other := range left[s] {
				more := uses[other] - uses[best]
				if n*often <= uses[other] && (more > 0 || more == 0 && other < best) && alertTypoOneLetter(name, other) && alertTypoOf(name, other) {
					best = other
				}
			}
		}
		if best != "" {
			meant[name] = alertTypoMeant{best, "as other alerts have it"}
		}
	}
	return meant
}

// alertTypoLeft yields name, and what is left of it without each of its letters.
func alertTypoLeft(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(name) {
			return
		}
		for i := range len(name) {
			if !yield(name[:i] + name[i+1:]) {
				return
			}
		}
	}
}
