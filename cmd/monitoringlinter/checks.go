// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/reference"
)

func documentation() reference.Reference {
	return reference.Reference{Languages: allLanguages, Checks: allChecks}
}

func checksCommand(_ context.Context, std stdio, args []string) int {
	if len(args) > 0 {
		return std.fail("checks takes no arguments")
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	for _, c := range allChecks {
		severity := c.Severity.String()
		if c.OptIn {
			severity += " (off)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.ID, severity, c.Doc.Title)
	}
	if err := w.Flush(); err != nil {
		return std.fail("%v", err)
	}
	return exitClean
}

func explainCommand(_ context.Context, std stdio, args []string) int {
	if len(args) != 1 {
		return std.fail("explain takes the ID of one check; monitoringlinter checks lists them")
	}
	c := findCheck(args[0])
	if c == nil {
		ids := make([]string, len(allChecks))
		for i, c := range allChecks {
			ids[i] = c.ID
		}
		if id, ok := near.Name(args[0], ids); ok {
			return std.fail("there is no check %q; did you mean %q?", args[0], id)
		}
		return std.fail("there is no check %q; monitoringlinter checks lists them", args[0])
	}
	section, err := documentation().Section(c)
	if err != nil {
		return std.fail("%v", err)
	}
	fmt.Fprint(std.out, section)
	return exitClean
}

func findCheck(id string) *lint.Check {
	for _, c := range allChecks {
		if c.ID == id {
			return c
		}
	}
	return nil
}
