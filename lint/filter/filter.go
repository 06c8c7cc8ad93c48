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
	// Comments must see all findings, to know which of them hide nothing.
	found = suppress(p, found, settings, checks, now)
	// An alias of YAML yields what it stands for once more, at the same place.
	found = unique(found)
	slices.SortStableFunc(found, lint.Compare)
	return found
}

// unique drops findings that say the same of the same place.
func unique(found []lint.Finding) []lint.Finding {
	type key struct {
		check, path, message string
		start, end           int
	}
	seen := make(map[key]bool, len(found))
	return slices.DeleteFunc(found, func(f lint.Finding) bool {
		k := key{check: f.Check, message: f.Message, start: f.Span.Start, end: f.Span.End}
		if f.Span.File != nil {
			k.path = f.Span.File.Path
		}
		if seen[k] {
			return true
		}
		seen[k] = true
		return false
	})
}
