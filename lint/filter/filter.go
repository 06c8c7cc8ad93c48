// SPDX-License-Identifier: Apache-2.0

// Package filter decides which of the findings of a run count.
package filter

import (
	"slices"
	"time"

	"github.com/monitoringlinter/monitoringlinter/lint"
)

// Apply runs the steps from raw findings to those that are reported. Findings
// that a comment suppresses are kept, with Hidden set. The checks are all that
// a suppression may name; now decides which suppressions have expired.
func Apply(p *lint.Project, found []lint.Finding, settings lint.Settings, checks []*lint.Check, now time.Time) []lint.Finding {
	found = slices.Clone(found)
	// Comments must see all findings, to know which of them hide nothing.
	found = suppress(p, found, settings, checks, now)
	// The order of reports, which also brings equal findings together.
	slices.SortStableFunc(found, lint.Compare)
	// An alias of YAML yields what it stands for once more, at the same place.
	return unique(found)
}

// unique drops all but the most severe of findings that say the same of the
// same place: what an alias stands for may belong to objects that are
// configured differently.
func unique(found []lint.Finding) []lint.Finding {
	kept := found[:0]
	for _, f := range found {
		last := len(kept) - 1
		if last < 0 || lint.Compare(kept[last], f) != 0 {
			kept = append(kept, f)
		} else if f.Severity > kept[last].Severity {
			kept[last] = f
		}
	}
	return kept
}
