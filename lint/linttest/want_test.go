// SPDX-License-Identifier: Apache-2.0

package linttest

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseWant(t *testing.T) {
	for line, want := range map[string]string{
		`expr: up`:                            "0",
		`expr: up # want "a"`:                 `0 "a"`,
		`x // want +2 "a" "b"`:                `2 "a" "b"`,
		`<!-- want -1 @"text" "a" -->`:        `-1 @"text" "a"`,
		"x # want @`{{ \"{{\" }}` \"prints\"": `0 @"{{ \"{{\" }}" "prints"`,
		`x # want`:                            "error: \"# want\" wants nothing",
		`x # want a`:                          `error: unexpected a in "# want a"`,
		`x # want "("`:                        "error: error parsing regexp: missing closing ): `(`",
		`x # want @ "a`:                       "error",
		`the one we want "is" no comment`:     "0",
	} {
		delta, wants, err := parseWant(line)
		got := fmt.Sprint(delta)
		for _, w := range wants {
			if w.span != nil {
				got += fmt.Sprintf(" @%q", *w.span)
			}
			got += fmt.Sprintf(" %q", w.rx)
		}
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want && !(want == "error" && strings.HasPrefix(got, "error")) {
			t.Errorf("%s:\n got %s\nwant %s", line, got, want)
		}
	}
}

func FuzzWant(f *testing.F) {
	f.Add(`x # want +2 @"t" "a" "b"`)
	f.Add("// want `")
	f.Fuzz(func(t *testing.T, line string) {
		if _, wants, err := parseWant(line); err == nil {
			for _, w := range wants {
				if w.rx == nil {
					t.Fatalf("%q wants nothing", line)
				}
			}
		}
	})
}
