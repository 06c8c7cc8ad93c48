// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// at returns the span of the nth (from 0) occurrence of text in f.
func at(f *source.File, text string, nth int) source.Span {
	start := 0
	for ; ; nth-- {
		i := strings.Index(f.Data[start:], text)
		if i < 0 {
			panic(fmt.Sprintf("%s does not contain %q", f.Path, text))
		}
		start += i
		if nth == 0 {
			return f.Span(start, start+len(text))
		}
		start += len(text)
	}
}

// sample returns a run that has something of everything.
func sample() Run {
	rules := source.NewFileString("rules/a.yaml", `groups:
- name: "größe"
  rules:
  - alert: KubeVirtVMIPending
    expr: sum(rate(kubevirt_vmi_phase_count{phase="Pending"}[5m])) by (node) > 0
    for: 5 m
    annotations: {summary: 'Größe ☂ {{ $value }}'} # 日本
  - alert: Down
    expr: |
      up == 0
      or absent(up)
`)
	other := source.NewFileString("./rules/b c.yaml", "groups:\r\n- name: b\r\n  rules:\r\n  - alert: Down\r\n    expr: up == 0\r\n")
	page := source.NewFileString("/srv/runbooks/Down.md", "# Down\n\n## Meaning\n")
	findings := []lint.Finding{
		{
			Check: "runbook/sections", Severity: lint.Info, Span: at(page, "# Down", 0),
			Message: "runbook Down has no section 'Impact'",
			Object:  lint.Object{Kind: "runbook", Name: "Down"},
		},
		{
			Check: "alert/severity", Severity: lint.Error, Span: at(rules, "KubeVirtVMIPending", 0),
			Message: "alert KubeVirtVMIPending missing required label 'severity'",
			Object:  lint.Object{Kind: "alert", Name: "KubeVirtVMIPending", Namespace: "kubevirt"},
		},
		{
			Check: "promql/rate", Severity: lint.Warning, Span: at(rules, "[5m]", 0),
			Message: `alert KubeVirtVMIPending: rate(kubevirt_vmi_phase_count{phase="Pending"}[5m]) is rate() of a gauge`,
			Object:  lint.Object{Kind: "alert", Name: "KubeVirtVMIPending", Namespace: "kubevirt"},
			Hidden:  "comment: bursty by design",
		},
		{
			Check: "alert/for", Severity: lint.Warning, Span: at(rules, "5 m", 0),
			Message: `alert KubeVirtVMIPending has 'for' "5 m", which is not a duration`,
			Object:  lint.Object{Kind: "alert", Name: "KubeVirtVMIPending", Namespace: "kubevirt"},
			Fixes: []lint.Fix{
				lint.Replace(at(rules, "5 m", 0), "5m", "remove the space", true),
				lint.Replace(at(rules, "    for: 5 m\n", 0), "", "remove 'for'", false),
			},
		},
		{
			Check: "alert/annotations", Severity: lint.Error, Span: at(rules, "{{ $value }}", 0),
			Message: "alert KubeVirtVMIPending: annotation 'summary' formats {{ $value }} raw",
			Object:  lint.Object{Kind: "alert", Name: "KubeVirtVMIPending", Namespace: "kubevirt"},
		},
		{
			Check: "alert/duplicate", Severity: lint.Error, Span: at(rules, "alert: Down\n    expr: |\n", 0),
			Message: "alert Down is defined twice",
			Object:  lint.Object{Kind: "alert", Name: "Down"},
			Related: []lint.Related{
				{Span: at(other, "Down", 0), Message: "first defined here"},
				{Span: at(rules, "absent(up)", 0), Message: "absent(up[1]) is new"},
			},
		},
		{
			Check: "alert/absent", Severity: lint.Warning, Span: at(rules, "absent(up)", 0),
			Message: "alert Down is in the baseline",
			Object:  lint.Object{Kind: "alert", Name: "Down"},
			Hidden:  "baseline",
		},
		{
			Check: "alert/no-such-check", Severity: lint.Warning, Span: at(other, "\r\n", 4),
			Message: "alert Down: nothing of this kind is known",
		},
		{
			Check: "metric/unused", Severity: lint.Warning, Message: "metric up is unused",
			Object: lint.Object{Kind: "metric", Name: "up"},
		},
	}
	return Run{
		Findings: findings,
		Checks: []*lint.Check{
			{
				ID: "runbook/sections", Severity: lint.Info, OptIn: true,
				Doc: lint.Doc{Title: "runbook without a section", Why: "Who is woken looks\nfor it.\n\nTwice.", Bad: "# Down\n\n```promql\nup\n```\n", Good: "# Down\n\n## Impact\n"},
			},
			{
				ID: "alert/severity", Severity: lint.Error,
				Doc: lint.Doc{
					Title: "alert without a valid severity label", Why: "Alertmanager routes by it.",
					Bad: "groups: []\n", Good: "groups: [1]\n", Config: "allowed: [critical]\n",
					TurnOff: "Alerts are routed by other labels.", Refs: []string{"https://prometheus.io/docs/practices/alerting/"},
				},
			},
			{ID: "alert/for", Severity: lint.Warning, Doc: lint.Doc{Title: "alert without 'for'", Why: "It flaps.", Bad: "a: 1\n", Good: "a: 2\n"}},
			{ID: "alert/annotations", Severity: lint.Error, Doc: lint.Doc{Title: "annotations missing", Why: "Nobody can read it."}},
			{ID: "alert/duplicate", Severity: lint.Error, Doc: lint.Doc{Title: "alert defined twice", Why: "Both fire."}},
			{ID: "alert/absent", Severity: lint.Warning, Doc: lint.Doc{Title: "absent() without selector", Why: "It never fires."}},
			{ID: "promql/rate", Severity: lint.Warning, Doc: lint.Doc{Title: "rate() of a gauge", Why: "It has no meaning."}},
			{ID: "promql/regexp", Severity: lint.Warning, Doc: lint.Doc{Title: "not in this run", Why: "No finding."}},
			{ID: "metric/unused", Severity: lint.Warning, Doc: lint.Doc{Title: "metric that nothing uses", Why: "It costs.", Bad: "var x = 1\n", Good: "var x = 2\n"}},
		},
		Summary: Summarize(findings, lint.Counts{Files: 3, Rules: 3, Runbooks: 1}, 31*time.Millisecond),
		Notices: []Notice{
			{Path: "rules/link.yaml", Message: "symbolic link to a folder, not followed"},
			{Message: "no configuration found"},
		},
		Version: "v1.2.3",
	}
}

func TestGolden(t *testing.T) {
	tests := []struct {
		golden string
		format Format
		opts   Options
	}{
		{"text", Text, Options{}},
		{"text_warning", Text, Options{Show: lint.Warning}},
		{"text_snippets", Text, Options{Snippets: true}},
		{"text_color", Text, Options{Snippets: true, Color: true}},
		{"json", JSON, Options{}},
		{"json_error", JSON, Options{Show: lint.Error}},
		{"sarif", SARIF, Options{Dir: "/srv"}},
		{"sarif_error", SARIF, Options{Show: lint.Error}},
	}
	for _, test := range tests {
		t.Run(test.golden, func(t *testing.T) {
			got := write(t, test.format, sample(), test.opts)
			golden := filepath.Join("testdata", test.golden+".golden")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func write(t *testing.T, format Format, run Run, opts Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := format(&b, run, opts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// runs are what every format has to cope with.
func runs() map[string]Run {
	return map[string]Run{
		"sample":  sample(),
		"empty":   {},
		"hostile": hostile(),
		"wrong":   wrong(),
	}
}

func TestValidJSON(t *testing.T) {
	schema := compile(t, "report.schema.json", strict(t, JSONSchema))
	for name, run := range runs() {
		t.Run(name, func(t *testing.T) { validate(t, schema, write(t, JSON, run, Options{})) })
	}
}

func TestValidSARIF(t *testing.T) {
	official, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(official))
	if err != nil {
		t.Fatal(err)
	}
	schema := compile(t, "sarif.json", doc)
	for name, run := range runs() {
		t.Run(name, func(t *testing.T) { validate(t, schema, write(t, SARIF, run, Options{})) })
	}
}

func compile(t *testing.T, name string, doc any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, report []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report))
	if err != nil {
		t.Fatalf("%v\n%s", err, report)
	}
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
}

// strict returns a schema that allows no member it does not describe, so that
// the published one describes all that is written.
func strict(t *testing.T, schema string) any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["properties"] != nil {
				v["additionalProperties"] = false
			}
			for _, member := range v {
				visit(member)
			}
		case []any:
			for _, element := range v {
				visit(element)
			}
		}
	}
	visit(doc)
	return doc
}

func TestFormatsAreNamed(t *testing.T) {
	want := []string{"json", "sarif", "text"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(Formats))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// acting are characters that must not reach an output: they forge lines, drive
// terminals, reorder or hide text.
var acting = func() []rune {
	out := []rune{0x7f, 0x2028, 0x2029, 0x061c, 0x00ad, 0x2060, 0xfeff, 0xe0001, 0xe0041}
	for _, r := range [][2]rune{{0, 0x1f}, {0x80, 0x9f}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}} {
		for c := r[0]; c <= r[1]; c++ {
			out = append(out, c)
		}
	}
	return out
}()

const forged = "x.yaml:1:1: FAIL: forged"

// hostile returns a run with one finding for each acting character, in all that
// input can name.
func hostile() Run {
	run := sample()
	run.Findings = nil
	run.Notices = nil
	for _, r := range acting {
		evil := "a" + string(r) + forged + "\xff\x1b[2J\r\n::error::{0} [x](1) " + string(r)
		f := source.NewFileString("dir/"+evil, "key: "+evil+"\nnext\t"+evil+"\n")
		span := at(f, evil, 0)
		run.Findings = append(run.Findings, lint.Finding{
			Check: "alert/name", Severity: lint.Error, Span: span, Message: "alert " + evil,
			Object:  lint.Object{Kind: "alert", Name: evil, Namespace: evil},
			Related: []lint.Related{{Span: at(f, evil, 1), Message: evil}},
			Fixes:   []lint.Fix{lint.Replace(span, evil, "rename to "+evil, false)},
		})
		hidden := run.Findings[len(run.Findings)-1]
		hidden.Hidden = "comment: " + evil
		run.Findings = append(run.Findings, hidden)
		run.Notices = append(run.Notices, Notice{Path: evil, Message: evil})
	}
	return run
}

func TestHostileNames(t *testing.T) {
	formats := maps.Clone(Formats)
	formats["summary"] = WriteSummary
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			got := write(t, format, hostile(), Options{Snippets: true})
			if !utf8.Valid(got) {
				t.Error("output is not UTF-8")
			}
			for _, r := range acting {
				if i := bytes.IndexRune(got, r); r != '\n' && i >= 0 {
					t.Errorf("output has a raw %U: %q", r, got[i:min(i+40, len(got))])
				}
			}
			for line := range bytes.Lines(got) {
				if bytes.HasPrefix(bytes.TrimSpace(line), []byte(forged)) {
					t.Errorf("forged line: %s", line)
				}
				if bytes.HasPrefix(bytes.TrimSpace(line), []byte("::error::")) {
					t.Errorf("forged workflow command: %s", line)
				}
			}
		})
	}
}

func TestHostileNamesTakeOneLine(t *testing.T) {
	run := hostile()
	got := write(t, Text, run, Options{})
	if lines, want := bytes.Count(got, []byte("\n")), len(acting); lines != want {
		t.Errorf("%d findings take %d lines", want, lines)
	}
}

// wrong returns a run whose findings break the contract of spans.
func wrong() Run {
	f := source.NewFileString("a.yaml", "a: é\n\xff\xfe\n")
	empty := source.NewFileString("", "")
	var run Run
	for _, file := range []*source.File{f, empty, nil} {
		for _, s := range [][2]int{{-1, -1}, {-5, 2}, {0, 0}, {2, 1}, {4, 5}, {5, 6}, {0, 99}, {99, 100}, {len(f.Data), len(f.Data)}} {
			span := source.Span{File: file, Start: s[0], End: s[1]}
			run.Findings = append(run.Findings, lint.Finding{
				Check: "x", Severity: lint.Error, Span: span,
				Related: []lint.Related{{Span: span}},
				Fixes:   []lint.Fix{lint.Replace(span, "", "", true)},
			})
		}
	}
	return run
}

func TestWrongSpans(t *testing.T) {
	for name, format := range Formats {
		t.Run(name, func(t *testing.T) {
			if got := write(t, format, wrong(), Options{Snippets: true}); len(got) == 0 {
				t.Error("no output")
			}
		})
	}
}

func TestWriteErrorIsReturned(t *testing.T) {
	broken := errors.New("broken pipe")
	formats := maps.Clone(Formats)
	formats["summary"] = WriteSummary
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			if err := format(failing{broken}, sample(), Options{}); !errors.Is(err, broken) {
				t.Errorf("error = %v, want %v", err, broken)
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestSummarize(t *testing.T) {
	findings := []lint.Finding{
		{Severity: lint.Error},
		{Severity: lint.Warning}, {Severity: lint.Warning},
		{Severity: lint.Info}, {Severity: lint.Info}, {Severity: lint.Info},
		{Severity: lint.Error, Hidden: "baseline"},
	}
	counts := lint.Counts{Files: 12, Rules: 340}
	want := Summary{Counts: counts, Errors: 1, Warnings: 2, Infos: 3, Suppressed: 1, Duration: time.Second}
	if diff := cmp.Diff(want, Summarize(findings, counts, time.Second)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSummaryJSON(t *testing.T) {
	s := Summary{Counts: lint.Counts{Files: 1, Rules: 2}, Errors: 3, Duration: 1234567 * time.Microsecond}
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"files":1,"rules":2,"monitors":0,"runbooks":0,"packages":0,"errors":3,"warnings":0,"infos":0,"suppressed":0,"seconds":1.235}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHelpURL(t *testing.T) {
	const blob = "https://github.com/monitoringlinter/monitoringlinter/blob/main/"
	for id, want := range map[string]string{
		"alert/severity":       blob + "rules/README.md#alertseverity",
		"promql/label-replace": blob + "rules/README.md#promqllabel-replace",
		"monitor/port":         blob + "rules/README.md#monitorport",
		"runbook/sections":     blob + "runbook/README.md#runbooksections",
		"metric/label-count":   blob + "analyzers/README.md#metriclabel-count",
	} {
		if got := HelpURL(id); got != want {
			t.Errorf("HelpURL(%q) = %s, want %s", id, got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for s, want := range map[string]string{
		"":                      "",
		"plain ~ text":          "plain ~ text",
		"größe 日本 ☂ \u00a0":     "größe 日本 ☂ \u00a0",
		"a\nb\r\tc":             `a\nb\r\tc`,
		"\x00\x1b[31m\x7f":      `\x00\x1b[31m\x7f`,
		"\u0085\u009b":          `\u0085\u009b`,
		"\u2028\u2029":          `\u2028\u2029`,
		"abc\u202etxt\u2066":    `abc\u202etxt\u2066`,
		"z\u200bw\u200d\ufeff":  `z\u200bw\u200d\ufeff`,
		"tag \U000e0041":        `tag \U000e0041`,
		"bad \xff\xc3 \xed\xa0": `bad \xff\xc3 \xed\xa0`,
		"\ufffd is a letter":    "\ufffd is a letter",
		`a\nb`:                  `a\nb`,
	} {
		if got := Visible(s); got != want {
			t.Errorf("Visible(%q) = %s, want %s", s, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\u202e\x1b\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Visible(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, invisible) {
			t.Errorf("Visible(%q) = %q", s, got)
		}
		if again := Visible(got); again != got {
			t.Errorf("Visible(%q) = %q, want no change", got, again)
		}
	})
}

// FuzzFormats reports arbitrary spans of arbitrary files.
func FuzzFormats(f *testing.F) {
	f.Add("rules/a.yaml", "a: é\r\nb\t: x\n", "message {0} [x](1)", 3, 9)
	f.Fuzz(func(t *testing.T, path, data, message string, start, end int) {
		file := source.NewFileString(path, data)
		span := source.Span{File: file, Start: start, End: end}
		run := Run{Findings: []lint.Finding{{
			Check: "a/b", Severity: lint.Warning, Span: span, Message: message,
			Object:  lint.Object{Name: message},
			Related: []lint.Related{{Span: span, Message: message}},
			Fixes:   []lint.Fix{lint.Replace(span, data, message, true)},
		}}}
		for name, format := range Formats {
			got := write(t, format, run, Options{Snippets: true})
			for line := range bytes.Lines(got) {
				if line = bytes.TrimSuffix(line, []byte("\n")); !utf8.Valid(line) || bytes.ContainsFunc(line, invisible) {
					t.Errorf("%s: %q", name, line)
				}
			}
			if name != "text" && !json.Valid(got) {
				t.Errorf("%s: not JSON: %s", name, got)
			}
		}
	})
}

// many returns a run of n findings, in files of a hundred lines or, as a document
// without line breaks would be, in one line.
func many(n int, oneLine bool) Run {
	const rule = `  - {alert: "Größe", expr: "rate(kubevirt_vmi_phase_count[5m]) > 0", for: 5m, labels: {severity: none}}`
	run := Run{Checks: sample().Checks}
	separator, perFile := "\n", 100
	if oneLine {
		separator, perFile = " ", n
	}
	data := strings.Repeat(rule+separator, perFile)
	var file *source.File
	for i := range n {
		if i%perFile == 0 {
			file = source.NewFileString(fmt.Sprintf("rules/%04d.yaml", i/perFile), data)
		}
		start := i % perFile * (len(rule) + 1)
		run.Findings = append(run.Findings, lint.Finding{
			Check: "alert/severity", Severity: lint.Warning,
			Span:    file.Span(start+12, start+21),
			Message: "alert Größe has label 'severity' \"none\", which is none of critical, warning, info",
			Object:  lint.Object{Kind: "alert", Name: "Größe"},
			Fixes:   []lint.Fix{lint.Replace(file.Span(start+93, start+97), "info", "replace by info", false)},
		})
	}
	run.Summary = Summarize(run.Findings, lint.Counts{Files: 100, Rules: n}, time.Second)
	return run
}

func benchmark(b *testing.B, format Format) {
	for _, oneLine := range []bool{false, true} {
		b.Run(fmt.Sprintf("one_line=%t", oneLine), func(b *testing.B) {
			run := many(10_000, oneLine)
			b.ReportAllocs()
			for b.Loop() {
				if err := format(io.Discard, run, Options{Snippets: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkText(b *testing.B)  { benchmark(b, Text) }
func BenchmarkJSON(b *testing.B)  { benchmark(b, JSON) }
func BenchmarkSARIF(b *testing.B) { benchmark(b, SARIF) }
