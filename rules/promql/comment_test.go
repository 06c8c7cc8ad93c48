// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestComments(t *testing.T) {
	for expr, want := range map[string][]string{
		"up":                            nil,
		"up # a\n== 0 # b":              {`3 "# a"`, `12 "# b"`},
		`up{a="# no"} == 0`:             nil,
		"sum( # a\n up":                 {`5 "# a"`},
		"# a":                           {`0 "# a"`},
		"up{ # a\n a=\"b\" } ! # after": {`4 "# a"`},
	} {
		var got []string
		for _, c := range Parse(text(expr)).Comments() {
			got = append(got, place(c.All()))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: comments (-want +got):\n%s", expr, diff)
		}
	}
}
