// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

var _ = add(lint.Check{
	ID:       "alert/same-condition",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "two alerts of different names that fire for the same reason",
		Why: `Alerts whose expression, labels and for agree fire and end together: one incident notifies twice, under two names. Mostly one of them was copied and its expression never changed, so that what its name promises goes unwatched.

Expressions are compared by their meaning: brackets, layout and the order of matchers make no difference. Only alerts that one Prometheus certainly loads together are compared, those of one file or of one kind of object in a manifest. Alerts that read no series, such as a watchdog, are left alone.`,
		Bad: `groups:
- name: operator
  rules:
  - alert: OperatorNoneRunning
    expr: operator_up:sum == 0
    for: 10m
  - alert: OperatorNoneReady
    expr: operator_up:sum == 0
    for: 10m
`,
		Good: `groups:
- name: operator
  rules:
  - alert: OperatorNoneRunning
    expr: operator_up:sum == 0
    for: 10m
  - alert: OperatorNoneReady
    expr: operator_ready:sum == 0
    for: 10m
`,
		TurnOff: "an alert is being renamed and has both names for a while.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/practices/alerting/"},
	},
	Run: lint.On(checkAlertSameCondition),
})

func checkAlertSameCondition(p *lint.Pass, r *rules.Rule) {
	first := lint.Derive(p.Project, alertSameConditions)[r]
	if first == nil {
		return
	}
	p.Report(lint.Finding{
		Span: r.Expr.Text.All(),
		Message: fmt.Sprintf("%s has the same expr, labels and for as %s %s: both fire for one incident; change the expr if it was copied, or remove one of the two",
			r.Object(), first.Object(), duplicateWhere(first, r)),
		Related: []lint.Related{{Span: first.Place(), Message: "the first of the two is here"}},
	})
}

// alertSameConditionIndex leads from an alert to the first of another name that
// fires in the same cases.
type alertSameConditionIndex map[*rules.Rule]*rules.Rule

func alertSameConditions(project *lint.Project) alertSameConditionIndex {
	// Few alerts have a twin, so that most are told apart by their fingerprint.
	type outline struct {
		scope      duplicateScope
		expr       uint64
		wait, keep int64
	}
	type condition struct {
		outline
		expr, labels string
	}
	seen := map[outline]*rules.Rule{}
	alike := map[condition][]*rules.Rule{}
	add := func(o outline, r *rules.Rule) {
		c := condition{o, r.Expr.Normal(), duplicateLabels(r)}
		alike[c] = append(alike[c], r)
	}
	for r := range lint.All[*rules.Rule](project) {
		if !r.IsAlert() || r.Expr == nil || r.Expr.Root == nil || r.Expr.Constant() {
			continue
		}
		o := outline{duplicateScopeOf(r), r.Expr.Fingerprint(), int64(r.For.Value), int64(r.KeepFiringFor.Value)}
		first, met := seen[o]
		if !met {
			seen[o] = r
			continue
		}
		if first != nil {
			seen[o] = nil
			add(o, first)
		}
		add(o, r)
	}
	index := alertSameConditionIndex{}
	for _, same := range alike {
		slices.SortFunc(same, func(a, b *rules.Rule) int {
			return cmp.Or(strings.Compare(duplicatePath(a), duplicatePath(b)), cmp.Compare(a.Place().Start, b.Place().Start), cmp.Compare(a.Span().Start, b.Span().Start))
		})
		first := same[0]
		names := map[string]bool{first.Alert.Value: true}
		for _, r := range same[1:] {
			// What has a name that was seen already is alert/duplicate.
			if !names[r.Alert.Value] && !duplicateVersions(first, r) {
				names[r.Alert.Value] = true
				index[r] = first
			}
		}
	}
	return index
}
