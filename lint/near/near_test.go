// SPDX-License-Identifier: Apache-2.0

package near

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	known := []string{"alert", "annotations", "expr", "for", "keep_firing_for", "labels", "record", "alert/for", "alert/severity"}
	for name, want := range map[string]string{
		"annotation":                   "annotations",
		"anotations":                   "annotations",
		"annotatoins":                  "annotations", // two letters swapped
		"Labels":                       "labels",
		"label":                        "labels",
		"fro":                          "for",
		"exp":                          "expr",
		"alert/severty":                "alert/severity",
		"severity":                     "alert/severity", // the area left out
		"keep_firing_fo":               "keep_firing_for",
		"labels":                       "", // known: not a misspelling
		"runbook":                      "",
		"a":                            "",
		"":                             "",
		"forever":                      "",
		strings.Repeat("x", 1_000_000): "",
	} {
		got, ok := Name(name, known)
		if got != want || ok != (want != "") {
			t.Errorf("Name(%.20q) = %q, %v, want %q", name, got, ok, want)
		}
	}
	if got, _ := Name("cat", []string{"bat", "car"}); got != "bat" {
		t.Errorf("of equally near names Name returns %q, want the first", got)
	}
}
