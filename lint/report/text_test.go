// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/monitoringlinter/monitoringlinter/lint"
)

func TestWriteSummary(t *testing.T) {
	read := lint.Counts{Files: 12, Rules: 340}
	const took = 31 * time.Millisecond
	tests := []struct {
		summary Summary
		opts    Options
		notices []Notice
		want    string
	}{
		{
			summary: Summary{Counts: read, Duration: took},
			want:    "ok: 12 files, 340 rules, no findings (31ms)\n",
		},
		{
			summary: Summary{Counts: read, Errors: 2, Warnings: 1, Duration: took},
			want:    "2 errors, 1 warning in 12 files, 340 rules (31ms)\n",
		},
		{
			summary: Summary{Counts: lint.Counts{Files: 1, Rules: 1, Runbooks: 1, Packages: 2}, Errors: 1, Infos: 1, Duration: 1234 * time.Millisecond},
			want:    "1 error, 1 info in 1 file, 1 rule, 1 runbook, 2 packages (1.23s)\n",
		},
		{
			summary: Summary{Counts: read, Warnings: 1, Infos: 3, Duration: took},
			opts:    Options{Show: lint.Warning},
			want:    "1 warning in 12 files, 340 rules, 3 infos not shown (--show info) (31ms)\n",
		},
		{
			summary: Summary{Counts: read, Infos: 3, Duration: took},
			opts:    Options{Show: lint.Warning},
			want:    "ok: 12 files, 340 rules, 3 infos not shown (--show info) (31ms)\n",
		},
		{
			summary: Summary{Counts: read, Errors: 1, Warnings: 2, Infos: 3, Duration: took},
			opts:    Options{Show: lint.Error},
			want:    "1 error in 12 files, 340 rules, 2 warnings and 3 infos not shown (--show info) (31ms)\n",
		},
		{
			summary: Summary{Counts: read, Warnings: 2, Duration: took},
			opts:    Options{Show: lint.Error},
			want:    "ok: 12 files, 340 rules, 2 warnings not shown (--show warning) (31ms)\n",
		},
		{
			summary: Summary{Counts: read, Suppressed: 4, Duration: took},
			want:    "ok: 12 files, 340 rules, no findings, 4 suppressed (31ms)\n",
		},
		{
			summary: Summary{Duration: 100 * time.Microsecond},
			want:    "nothing was linted: 0 files, 0 rules (0s)\n",
		},
		{
			summary: Summary{Errors: 1, Duration: took},
			want:    "1 error in 0 files, 0 rules (31ms)\n",
		},
		{
			summary: Summary{Counts: read, Duration: 90 * time.Second},
			notices: []Notice{{"a\nb.yaml", "skipped: \x1b"}, {"", "of no file"}},
			want:    "a\\nb.yaml: note: skipped: \\x1b\nnote: of no file\nok: 12 files, 340 rules, no findings (1m30s)\n",
		},
		{
			summary: Summary{Counts: read, Errors: 1, Warnings: 1, Infos: 1, Duration: took},
			opts:    Options{Color: true},
			want: "\x1b[31m1 error\x1b[0m, \x1b[33m1 warning\x1b[0m, \x1b[36m1 info\x1b[0m" +
				" in 12 files, 340 rules \x1b[2m(31ms)\x1b[0m\n",
		},
	}
	for _, test := range tests {
		run := Run{Summary: test.summary, Notices: test.notices}
		if diff := cmp.Diff(test.want, string(write(t, WriteSummary, run, test.opts))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.summary, diff)
		}
	}
}

// In these tests, « and » stand around the span, and are no part of the line.
func TestExcerpt(t *testing.T) {
	long := strings.Repeat("0123456789", 20)
	tests := []struct {
		reason     string
		line       string
		text, mark string
	}{
		{
			reason: "indentation is left out",
			line:   "      expr: «up == 0»",
			text:   "expr: up == 0",
			mark:   "      ^^^^^^^",
		},
		{
			reason: "unless it is what is wrong",
			line:   "  « »\tx: 1",
			text:   "    x: 1",
			mark:   "^",
		},
		{
			reason: "an empty span has a place all the same",
			line:   "a: «»b",
			text:   "a: b",
			mark:   "   ^",
		},
		{
			reason: "so has one at the end of the line",
			line:   "a:«»",
			text:   "a:",
			mark:   "  ^",
		},
		{
			reason: "characters count, not bytes",
			line:   "größe: «日本» ☂",
			text:   "größe: 日本 ☂",
			mark:   "       ^^",
		},
		{
			reason: "tabs go to the next stop",
			line:   "\t\ta\tb := «\"c\td\"»",
			text:   `a   b := "c d"`,
			mark:   `         ^^^^^`,
		},
		{
			reason: "an escape is as wide as it looks",
			line:   "a\x1b: «\u202e\xff»b",
			text:   `a\x1b: \u202e\xffb`,
			mark:   `       ^^^^^^^^^^`,
		},
		{
			reason: "a carriage return within the line, too",
			line:   "a\r«b»",
			text:   `a\rb`,
			mark:   `   ^`,
		},
		{
			reason: "the end of a long line",
			line:   long + "«abc»",
			text:   "…" + long[83:] + "abc",
			mark:   strings.Repeat(" ", 118) + "^^^",
		},
		{
			reason: "the begin of a long line",
			line:   "«abc»" + long,
			text:   "abc" + long[:117] + "…",
			mark:   "^^^",
		},
		{
			reason: "the middle of a long line",
			line:   long + "«größe»" + long,
			text:   "…" + long[160:] + "größe" + long[:75] + "…",
			mark:   strings.Repeat(" ", 41) + "^^^^^",
		},
		{
			reason: "a span longer than that",
			line:   long + "«" + long + "»" + long,
			text:   "…" + long[160:] + long[:80] + "…",
			mark:   strings.Repeat(" ", 41) + strings.Repeat("^", 80),
		},
	}
	for _, test := range tests {
		before, rest, _ := strings.Cut(test.line, "«")
		span, after, _ := strings.Cut(rest, "»")
		text, column, width := excerpt(before+span+after, len(before), len(before)+len(span))
		want := test.text + "\n" + test.mark
		got := fmt.Sprintf("%s\n%s%s", text, strings.Repeat(" ", column), strings.Repeat("^", width))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}
