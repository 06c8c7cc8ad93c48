// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"fmt"
	"slices"
)

// A Registry gathers the checks of a package as its variables are initialised.
// The zero Registry is ready for use.
type Registry struct{ checks []*Check }

// Add declares a check. It returns a value only so that it can be called where
// variables are initialised. It panics if there is a check of that ID.
func (r *Registry) Add(c Check) *Check {
	for _, other := range r.checks {
		if other.ID == c.ID {
			panic(fmt.Sprintf("check %s is declared twice", c.ID))
		}
	}
	r.checks = append(r.checks, &c)
	return &c
}

// All returns the checks, ordered by ID.
func (r *Registry) All() []*Check {
	sorted := slices.Clone(r.checks)
	slices.SortFunc(sorted, func(a, b *Check) int { return cmp.Compare(a.ID, b.ID) })
	return sorted
}
