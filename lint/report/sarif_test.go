// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

func TestSARIFText(t *testing.T) {
	for s, want := range map[string]string{
		"plain":                        "plain",
		`rate(up{job="x"}[5m]) > 0`:    `rate(up{job="x"}[5m]) > 0`,
		"{{ $labels.instance }}":       "{{ $labels.instance }}",
		"{0} and {12}":                 "{{0}} and {{12}}",
		"{{0}}":                        "{{{{0}}}}",
		`job=~"[0-9]{3}"`:              `job=~"[0-9]{{3}}"`,
		"[x](1)":                       `[x]\(1)`,
		"[x](https://example.org)":     `[x]\(https://example.org)`,
		"![x](y) [[a]](b)":             `![x]\(y) [[a]]\(b)`,
		"line\nbreak \u202e":           `line\nbreak \u202e`,
		`back\slash`:                   `back\slash`,
		"by (a) (x[5m]) on (b) (y[1])": "by (a) (x[5m]) on (b) (y[1])",
	} {
		if got := sarifText(s); got != want {
			t.Errorf("sarifText(%q) = %s, want %s", s, got, want)
		}
	}
}

func TestSARIFLink(t *testing.T) {
	for message, want := range map[string]string{
		"":           "[here](1)",
		"first":      "[first](1)",
		`x[0]\y`:     `[x\[0\]\\y](1)`,
		"[a](2) {0}": `[\[a\]\\(2) {{0}}](1)`,
	} {
		if got := sarifLink(message, 1); got != want {
			t.Errorf("sarifLink(%q) = %s, want %s", message, got, want)
		}
	}
}

func TestSARIFArtifact(t *testing.T) {
	root := func(uri string) sarifArtifact { return sarifArtifact{URI: uri, Base: sarifRoot} }
	tests := []struct {
		dir, path string
		want      sarifArtifact
	}{
		{"", "rules/a.yaml", root("rules/a.yaml")},
		{"", "./rules//a.yaml", root("rules/a.yaml")},
		{"", "b c/größe 100%.yaml", root("b%20c/gr%C3%B6%C3%9Fe%20100%25.yaml")},
		{"", "a?b#c[d].yaml", root("a%3Fb%23c%5Bd%5D.yaml")},
		{"", "javascript:alert(1).yaml", root("javascript%3Aalert%281%29.yaml")},
		{"", "bad\xff\n.yaml", root("bad%FF%0A.yaml")},
		{"", "", root(".")},
		{"", "-", root("-")},
		{"", "../a.yaml", root("../a.yaml")},
		{"", "/srv/a.yaml", sarifArtifact{URI: "file:///srv/a.yaml"}},
		{"", "C:/srv/a.yaml", sarifArtifact{URI: "file:///C:/srv/a.yaml"}},
		{"/srv/repo", "a.yaml", root("a.yaml")},
		{"/srv/repo", "/srv/repo/rules/a.yaml", root("rules/a.yaml")},
		{"/srv/repo", "/srv/repository/a.yaml", sarifArtifact{URI: "file:///srv/repository/a.yaml"}},
		{"/srv/repo", "../other/a.yaml", sarifArtifact{URI: "file:///srv/other/a.yaml"}},
		{"/srv/repo", "../repo/a.yaml", root("a.yaml")},
		{"/", "/a.yaml", root("a.yaml")},
		{"C:/repo", "C:/repo/a.yaml", root("a.yaml")},
	}
	for _, test := range tests {
		l := sarifLog{opts: Options{Dir: test.dir}}
		if diff := cmp.Diff(test.want, l.artifact(test.path)); diff != "" {
			t.Errorf("%s in %q (-want +got):\n%s", test.path, test.dir, diff)
		}
	}
}

func TestSARIFSuppressions(t *testing.T) {
	tests := []struct {
		reason string
		want   []sarifSuppression
	}{
		{"", []sarifSuppression{}},
		{"comment: bursty: by design", []sarifSuppression{{"inSource", "bursty: by design"}}},
		{"comment", []sarifSuppression{{"inSource", ""}}},
		{"baseline", []sarifSuppression{{"external", "baseline"}}},
		{"commented elsewhere", []sarifSuppression{{"external", "commented elsewhere"}}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, sarifSuppressions(test.reason)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.reason, diff)
		}
	}
}

func TestSARIFName(t *testing.T) {
	for id, want := range map[string]string{
		"alert/for":            "AlertFor",
		"promql/label-replace": "PromqlLabelReplace",
		"":                     "",
	} {
		if got := sarifName(id); got != want {
			t.Errorf("sarifName(%q) = %q, want %q", id, got, want)
		}
	}
}

// Columns are counted anew for each place in a short line and from a table in a
// long one. Both must agree with decoding the text.
func TestColumns(t *testing.T) {
	word := "aß日😀"
	for name, data := range map[string]string{
		"empty":           "",
		"short lines":     strings.Repeat(word+"\n", 2000),
		"carriage return": word + "\r\n" + word + "\r\n",
		"byte order mark": "\ufeff" + word + "\n" + word,
		"long line":       strings.Repeat(word, 3000),
		"long lines":      strings.Repeat(strings.Repeat(word, 1000)+"\n", 4) + word,
		"block":           strings.Repeat("a", columnBlock),
		"two blocks":      strings.Repeat("a", 2*columnBlock),
	} {
		t.Run(name, func(t *testing.T) {
			f := source.NewFileString("a.yaml", data)
			c := columns{}
			line, column := 1, 1
			for i, r := range data + "\x00" {
				if r == '\ufeff' {
					continue
				}
				if gotLine, gotColumn := c.position(f, i); gotLine != line || gotColumn != column {
					t.Fatalf("offset %d is %d:%d, want %d:%d", i, gotLine, gotColumn, line, column)
				}
				if column++; r == '\n' {
					line, column = line+1, 1
				}
			}
		})
	}
}

func TestCodePointsAdd(t *testing.T) {
	const s = "aß日😀b"
	for i := range len(s) + 1 {
		if got, want := codePoints(s[:i])+codePoints(s[i:]), utf8.RuneCountInString(s); got != want {
			t.Errorf("cut at %d: %d code points, want %d", i, got, want)
		}
	}
}

func TestFingerprints(t *testing.T) {
	const line = "  - alert: Down\n"
	finding := func(data string, nth int) lint.Finding {
		f := source.NewFileString("a.yaml", data)
		return lint.Finding{Check: "alert/for", Severity: lint.Warning, Span: at(f, "Down", nth), Message: "alert Down has no 'for'"}
	}
	first := fingerprints(t, finding(line, 0))[0]

	same := map[string]lint.Finding{
		"moved":    finding("# comment\n\n"+line, 0),
		"indented": finding("    "+line, 0),
		"severity": func() lint.Finding { f := finding(line, 0); f.Severity = lint.Error; return f }(),
		"hidden":   func() lint.Finding { f := finding(line, 0); f.Hidden = "baseline"; return f }(),
	}
	for name, f := range same {
		if got := fingerprints(t, f)[0]; got != first {
			t.Errorf("%s: fingerprint changed from %s to %s", name, first, got)
		}
	}
	other := map[string]lint.Finding{
		"line":    finding("  - alert: Down # now\n", 0),
		"check":   func() lint.Finding { f := finding(line, 0); f.Check = "alert/name"; return f }(),
		"message": func() lint.Finding { f := finding(line, 0); f.Message += "."; return f }(),
		"path":    func() lint.Finding { f := finding(line, 0); f.Span.File.Path = "b.yaml"; return f }(),
	}
	for name, f := range other {
		if got := fingerprints(t, f)[0]; got == first {
			t.Errorf("%s: fingerprint is still %s", name, got)
		}
	}

	twice := fingerprints(t, finding(line+line, 0), finding(line+line, 1))
	want := []string{first, strings.TrimSuffix(first, ":1") + ":2"}
	if diff := cmp.Diff(want, twice); diff != "" {
		t.Errorf("equal findings (-want +got):\n%s", diff)
	}

	// In a document without line breaks, the span alone has to do.
	document := strings.Repeat(`{"alert": "Up"}, `, 100)
	long := fingerprints(t, finding(document+"Down"+document, 0))
	if diff := cmp.Diff(long, fingerprints(t, finding("{}, "+document+"Down"+document, 0))); diff != "" {
		t.Errorf("long line (-want +got):\n%s", diff)
	}
}

func fingerprints(t *testing.T, findings ...lint.Finding) []string {
	t.Helper()
	var out []string
	for _, r := range results(t, Run{Findings: findings}) {
		out = append(out, r.Fingerprints["monitoringlinter/v1"])
	}
	return out
}

// results returns the results of the SARIF report of a run.
func results(t *testing.T, run Run) []sarifResult {
	t.Helper()
	var log struct {
		Runs []struct{ Results []sarifResult }
	}
	if err := json.Unmarshal(write(t, SARIF, run, Options{}), &log); err != nil {
		t.Fatal(err)
	}
	return log.Runs[0].Results
}

func TestSARIFRuleIndex(t *testing.T) {
	run := sample()
	slices.Reverse(run.Checks)
	var log struct {
		Runs []struct {
			Tool    sarifTool
			Results []sarifResult
		}
	}
	if err := json.Unmarshal(write(t, SARIF, run, Options{}), &log); err != nil {
		t.Fatal(err)
	}
	rules := log.Runs[0].Tool.Driver.Rules
	if !slices.IsSortedFunc(rules, func(a, b sarifRule) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("rules are not in the order of their IDs")
	}
	used := map[string]bool{}
	for _, r := range log.Runs[0].Results {
		used[r.RuleID] = true
		if got := rules[r.RuleIndex].ID; got != r.RuleID {
			t.Errorf("rule %d of result %s is %s", r.RuleIndex, r.RuleID, got)
		}
	}
	if len(used) != len(rules) {
		t.Errorf("%d rules for results of %d", len(rules), len(used))
	}
}

// A fix that another program applies must give the text that the edit gives.
func TestSARIFFixApplies(t *testing.T) {
	f := source.NewFileString("a.yaml", "größe: 日本\nb: 1\nc: ü\n")
	tests := []struct {
		reason, text, new, want string
	}{
		{"within a line", "日本", "x", "größe: x\nb: 1\nc: ü\n"},
		{"a whole line", "b: 1\n", "", "größe: 日本\nc: ü\n"},
		{"over lines", "本\nb: 1\nc: ", "\n", "größe: 日\nü\n"},
		{"the last line break", "\nc: ü\n", "", "größe: 日本\nb: 1"},
	}
	for _, test := range tests {
		run := Run{Findings: []lint.Finding{{
			Check: "a/b", Severity: lint.Error, Span: at(f, test.text, 0),
			Fixes: []lint.Fix{lint.Replace(at(f, test.text, 0), test.new, test.reason, true)},
		}}}
		r := results(t, run)[0].Fixes[0].Changes[0].Replacements[0]
		text := []rune(f.Data)
		offset := func(line, column int) int {
			i := 0
			for ; line > 1; line-- {
				i += slices.Index(text[i:], '\n') + 1
			}
			return i + column - 1
		}
		from, to := offset(r.Deleted.StartLine, r.Deleted.StartColumn), offset(r.Deleted.EndLine, r.Deleted.EndColumn)
		got := string(text[:from]) + r.Inserted.Text + string(text[to:])
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

func TestHelpIsShortAndFenced(t *testing.T) {
	rule := newSARIFRule(&lint.Check{ID: "runbook/code", Doc: lint.Doc{
		Title: "code that does not parse",
		Why:   strings.Repeat("ü ", 2000),
		Bad:   "````\n```\n````\n",
	}})
	if n := utf8.RuneCountInString(rule.FullDescription.Text); n != 1024 {
		t.Errorf("description has %d characters, want 1024", n)
	}
	if want := "`````markdown\n````\n```\n````\n`````"; !strings.Contains(rule.Help.Markdown, want) {
		t.Errorf("help has no fence around the example:\n%s", rule.Help.Markdown)
	}
}
