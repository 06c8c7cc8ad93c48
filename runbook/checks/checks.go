// SPDX-License-Identifier: Apache-2.0

// Package checks holds the checks of runbooks: one file each, with its
// documentation and its options, and its cases under testdata. Adding a check
// touches nothing else.
package checks

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/monitoringlinter/monitoringlinter/lint"
)

var all []*lint.Check

// add declares a check. It returns a value only so that it can be called where
// variables are initialised.
func add(c lint.Check) *lint.Check {
	for _, other := range all {
		if other.ID == c.ID {
			panic(fmt.Sprintf("check %s is declared twice", c.ID))
		}
	}
	all = append(all, &c)
	return &c
}

// All returns the checks, ordered by ID.
func All() []*lint.Check {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b *lint.Check) int { return cmp.Compare(a.ID, b.ID) })
	return sorted
}
