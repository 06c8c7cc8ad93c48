// SPDX-License-Identifier: Apache-2.0

package near

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	known := []string{"alert", "annotations", "expr", "for", "keep_firing_for", "labels", "record", "alert/for", "alert/severity", "le"}
	for name, want := range map[string]string{
		"annotation":                   "annotations",
		"anotations":                   "annotations",
		"annotatoins":                  "annotations", // two letters swapped
		"Labels":                       "labels",
		"LE":                           "le", // case counts less than a letter
		"lf":                           "",   // half of a name is more than a third
		"fr":                           "for",
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
	if got, ok := Name("x", nil); ok {
		t.Errorf("Name without candidates = %q", got)
	}
}

// TestNameOfLongNames has two names of a megabyte that differ at the end: a
// whole table of their letters would take hours.
func TestNameOfLongNames(t *testing.T) {
	long := strings.Repeat("x", 1_000_000)
	if got, _ := Name(long+"ab", []string{long + "ba"}); got != long+"ba" {
		t.Error("swapped letters at the end of a long name are not found")
	}
	if _, ok := Name(long+"abc", []string{long + "def"}); ok {
		t.Error("three letters wrong are near")
	}
}

// TestDistance compares the band with the whole table.
func TestDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, r.IntN(8))
		for i := range b {
			b[i] = 'a' + byte(r.IntN(3))
		}
		return string(b)
	}
	for range 20_000 {
		a, b := word(), word()
		want := wholeTable(a, b)
		for limit := range 4 {
			if got := distance(a, b, limit); min(got, limit+1) != min(want, limit+1) {
				t.Fatalf("distance(%q, %q, %d) = %d, want %d", a, b, limit, got, want)
			}
		}
	}
}

func wholeTable(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0:
				d[i][j] = j
			case j == 0:
				d[i][j] = i
			default:
				cost := 1
				if a[i-1] == b[j-1] {
					cost = 0
				}
				d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d[i][j] = min(d[i][j], d[i-2][j-2]+1)
				}
			}
		}
	}
	return d[len(a)][len(b)]
}
