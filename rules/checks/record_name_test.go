// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecordNameSplit(t *testing.T) {
	labels := []string{"a", "a_b", "b", "b_c", "pod"}
	for level, want := range map[string][]string{
		"a":                             {"a"},
		"a_b":                           {"a", "b"},
		"a_b_c":                         {"a", "b_c"},
		"pod_a_b":                       {"pod", "a", "b"},
		"c":                             nil,
		"a_c":                           nil,
		"podx":                          nil,
		"":                              nil,
		"a_":                            nil,
		strings.Repeat("a_", 500) + "c": nil,
	} {
		if diff := cmp.Diff(want, recordNameSplit(level, labels)); diff != "" {
			t.Errorf("recordNameSplit(%.20q) (-want +got):\n%s", level, diff)
		}
	}
}
