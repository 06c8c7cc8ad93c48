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
	ID:       "alert/duplicate",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "alert that another rule defines already",
		Why: `To Alertmanager an alert is its labels. Two rules of one name whose labels and expressions are the same send one alert twice: the shorter for decides when it fires, its texts are those of whichever was sent last, and an edit of only one of the two changes nothing. Expressions are compared by their meaning: brackets, layout and the order of matchers make no difference.

It is a warning where only the threshold differs. Whenever the stricter condition holds so does the other, and when the first of them ends Alertmanager is told that the alert is resolved while it still fires. Two tiers need a label that differs, such as severity.

Rules of one name with other labels, other metrics or conditions that exclude each other are normal and left alone. So is what is repeated in another file: in practice these are variants of which one is deployed. Within a folder that is an information; the option across-files says that all files of the run go to one Prometheus.`,
		Bad: `groups:
- name: host
  rules:
  - alert: HostMemoryLow
    expr: node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes < 0.10
    for: 2m
    labels:
      severity: warning
  - alert: HostMemoryLow
    expr: (node_memory_MemAvailable_bytes/node_memory_MemTotal_bytes) < .1
    for: 5m
    labels:
      severity: warning
`,
		Good: `groups:
- name: host
  rules:
  - alert: HostMemoryLow
    expr: node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes < 0.10
    for: 2m
    labels:
      severity: warning
  - alert: HostMemoryLow
    expr: node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes < 0.02
    for: 5m
    labels:
      severity: critical
`,
		TurnOff: "one file holds rules for several Prometheus servers.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/alerting/latest/alerts_api/",
			"https://github.com/prometheus/prometheus/issues/7301",
		},
	},
	Run: lint.With(alertDuplicate{}, checkAlertDuplicate),
})

type alertDuplicate struct {
	AcrossFiles bool `yaml:"across-files" doc:"All files of the run are loaded by one Prometheus, so that a repetition in another file counts like one in the same."`
}

func checkAlertDuplicate(p *lint.Pass, r *rules.Rule, o alertDuplicate) {
	if !r.IsAlert() {
		return
	}
	index := lint.Derive(p.Project, alertDuplicatesOf)
	if first, together := index.find(r, o.AcrossFiles); first != nil {
		f := lint.Finding{
			Span:    duplicatePlace(first, r),
			Related: []lint.Related{{Span: first.Place(), Message: "the first of the two is here"}},
			Message: fmt.Sprintf("%s is defined a second time with the same labels and expr (the first is %s): Alertmanager takes the two for one alert%s; remove one of them",
				r.Object(), duplicateWhere(first, r), alertDuplicateDifference(first, r)),
		}
		if !together {
			f.Severity = lint.Info
			f.Message = fmt.Sprintf("%s is defined with the same labels and expr %s: if one Prometheus loads both files, Alertmanager takes the two for one alert%s",
				r.Object(), duplicateWhere(first, r), alertDuplicateDifference(first, r))
		}
		p.Report(f)
		return
	}
	if first := index.threshold[r]; first != nil {
		p.Report(lint.Finding{
			Span:     duplicatePlace(first, r),
			Severity: lint.Warning,
			Related:  []lint.Related{{Span: first.Place(), Message: "the other of the two is here"}},
			Message: fmt.Sprintf("%s is defined a second time with the same labels and another threshold (the first is %s): where both hold Alertmanager takes them for one alert, and sees it resolved as soon as one of the two ends; give them a label that differs, or keep one",
				r.Object(), duplicateWhere(first, r)),
		})
	}
}

// alertDuplicateDifference says what follows from what differs.
func alertDuplicateDifference(a, b *rules.Rule) string {
	var effects []string
	if a.For.Value != b.For.Value {
		effects = append(effects, fmt.Sprintf("the shorter for (%s) decides when it fires", min(a.For.Value, b.For.Value)))
	}
	if a.KeepFiringFor.Value != b.KeepFiringFor.Value {
		effects = append(effects, fmt.Sprintf("the longer keep_firing_for (%s) decides when it ends", max(a.KeepFiringFor.Value, b.KeepFiringFor.Value)))
	}
	same := func(x, y rules.Entry) bool { return x.Key.Value == y.Key.Value && x.Value.Value == y.Value.Value }
	byKey := func(x, y rules.Entry) int { return strings.Compare(x.Key.Value, y.Key.Value) }
	if !slices.EqualFunc(slices.SortedFunc(slices.Values(a.Annotations), byKey), slices.SortedFunc(slices.Values(b.Annotations), byKey), same) {
		effects = append(effects, "the texts are those of whichever was sent last")
	}
	if len(effects) == 0 {
		return ""
	}
	return ", " + strings.Join(effects, ", ")
}

// alertDuplicates are the alerts that are like another one, and those that
// differ from another one in their threshold alone.
type alertDuplicates struct {
	duplicates
	threshold duplicateIndex
}

func alertDuplicatesOf(project *lint.Project) alertDuplicates {
	ordered := duplicateCandidates(project, func(r *rules.Rule) string {
		if r.IsAlert() {
			return r.Alert.Value
		}
		return ""
	})
	return alertDuplicates{
		duplicates: duplicatesAmong(project, ordered),
		threshold: duplicateFirst(ordered, func(r *rules.Rule) (duplicateKey, bool) {
			test, ok := alertDuplicateTest(r.Expr)
			if !ok || slices.ContainsFunc(r.AllLabels(), rules.Entry.Templated) {
				return duplicateKey{}, false
			}
			return duplicateKey{duplicateScopeOf(r), strings.Join([]string{r.Alert.Value, duplicateLabels(r), test}, "\x00")}, true
		}),
	}
}

// alertDuplicateTest returns what an expression compares with a number and in
// which direction. Of two such tests one implies the other.
func alertDuplicateTest(e *promql.Expr) (test string, ok bool) {
	if e.Root == nil {
		return "", false
	}
	n, ok := promql.Unwrap(e.Root).(*parser.BinaryExpr)
	if !ok || n.ReturnBool {
		return "", false
	}
	above := n.Op == parser.GTR || n.Op == parser.GTE
	if !above && n.Op != parser.LSS && n.Op != parser.LTE {
		return "", false
	}
	side := n.LHS
	if _, number := promql.Unwrap(n.LHS).(*parser.NumberLiteral); number {
		side, above = n.RHS, !above
	} else if _, number := promql.Unwrap(n.RHS).(*parser.NumberLiteral); !number {
		return "", false
	}
	return fmt.Sprintf("%t %s", above, (&promql.Expr{Root: side}).Normal()), true
}
