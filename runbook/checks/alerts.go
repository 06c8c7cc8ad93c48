// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/runbook"
)

// alertNames holds the names of the alerts of the run by their lower case.
type alertNames map[string]string

func alertsOf(p *lint.Pass) alertNames {
	return lint.Derive(p.Project, func(project *lint.Project) alertNames {
		names := alertNames{}
		for r := range lint.All[*rules.Rule](project) {
			if r.IsAlert() {
				names[strings.ToLower(r.Alert.Value)] = r.Alert.Value
			}
		}
		return names
	})
}

// isAlert reports whether the run has an alert of that name, in any case.
func isAlert(p *lint.Pass, name string) bool {
	_, ok := alertsOf(p)[strings.ToLower(name)]
	return ok
}

// belongs returns what a section is to say, to follow a verb.
func belongs(name runbook.SectionName) string {
	switch name.Name {
	case "Meaning":
		return "what is wrong when the alert fires"
	case "Impact":
		return "who or what suffers from it, and how soon"
	case "Diagnosis":
		return "by which commands or queries the cause is found"
	case "Mitigation":
		return "which steps end the trouble"
	}
	return "what belongs there"
}
