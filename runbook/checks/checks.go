// SPDX-License-Identifier: Apache-2.0

// Package checks holds the checks of runbooks: one file each, with its
// documentation and its options, and its cases under testdata. Adding a check
// touches nothing else.
package checks

import "github.com/monitoringlinter/monitoringlinter/lint"

var registry lint.Registry

func add(c lint.Check) *lint.Check { return registry.Add(c) }

// All returns the checks, ordered by ID.
func All() []*lint.Check { return registry.All() }
