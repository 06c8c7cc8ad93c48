// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// casesDir is where cases from public bug reports lie when they are there; they
// are no part of the project.
const casesDir = "../../../shared/cases"

// coveredKinds are the kinds of findings that the checks there are decide.
var coveredKinds = map[string]string{
	"absent-series":           "alert/absent",
	"alert-name-collision":    "alert/label-override",
	"always-fires":            "alert/always-fires",
	"duplicate-alert":         "alert/duplicate",
	"duplicate-record":        "record/duplicate",
	"duration-invalid":        "syntax/schema",
	"label-collision":         "alert/label-override",
	"label-name-invalid":      "alert/labels",
	"never-fires":             "alert/never-fires",
	"promql-syntax":           "syntax/promql",
	"regex-anchors":           "promql/regexp",
	"regex-matches-all":       "promql/regexp",
	"regex-unneeded":          "promql/regexp",
	"severity-unknown":        "alert/severity",
	"template-label-missing":  "alert/template-labels",
	"template-invalid":        "syntax/template",
	"template-literal-braces": "syntax/template",
	"yaml-syntax":             "syntax/yaml",
	"job-unknown":             "promql/scrape-labels",
	"monitor-double-scrape":   "monitor/duplicate",
	"monitor-ignored-field":   "monitor/port|monitor/namespace",
	"monitor-port-type":       "monitor/port",
	"monitor-port-unknown":    "monitor/port",
	"monitor-selects-nothing": "monitor/selector|monitor/namespace",
	"monitor-timeout":         "monitor/interval",
	"record-undefined":        "promql/unknown-metric",
	"relabel-invalid":         "monitor/relabel",
	"relabel-wrong-stage":     "monitor/relabel",

	"runbook-anchor":           "alert/runbook-missing",
	"runbook-comment-unclosed": "runbook/sections",
	"runbook-link-broken":      "runbook/links",
	"runbook-section-empty":    "runbook/empty",
	"runbook-section-missing":  "runbook/sections",
}

// houseRules are checks whose findings the cases do not judge: a case is about
// one fault and leaves out runbooks, descriptions and the like.
var houseRules = regexp.MustCompile(`^(alert/(runbook-url|annotations|for|severity|name)|record/name|promql/cardinality)$`)

// TestCases runs the command over each case: the faults of the kinds that are
// covered are found on their very lines, and nothing else is.
func TestCases(t *testing.T) {
	root, err := filepath.Abs(casesDir)
	if err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(root, "INDEX.tsv"))
	if err != nil {
		t.Skip("no cases beside the project")
	}
	data, err := os.ReadFile(filepath.Join(root, "EXPECT.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	type expectation struct {
		file, kind string
		line       int
		severity   string
	}
	expected := map[string][]expectation{}
	for line := range strings.Lines(string(data)) {
		c := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if n, err := strconv.Atoi(c[2]); err == nil {
			expected[c[0]] = append(expected[c[0]], expectation{c[1], c[3], n, c[4]})
		}
	}
	folders, err := filepath.Glob(filepath.Join(root, "[0-9]*"))
	if err != nil {
		t.Fatal(err)
	}
	hits := 0
	for _, folder := range folders {
		id := filepath.Base(folder)[:3]
		if !strings.Contains(string(index), "\n"+id+"\t") {
			continue
		}
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Chdir(folder)
			var out, errs bytes.Buffer
			if status := command(context.Background(), stdio{out: &out, err: &errs}, []string{"--format", "json", "--show", "info", "."}); status == exitFailure {
				t.Fatal(errs.String())
			}
			var report struct {
				Findings []struct {
					Check, Severity, Message, Path string
					Start                          struct{ Line int }
				}
			}
			if err := json.Unmarshal(out.Bytes(), &report); err != nil {
				t.Fatal(err)
			}
			wanted := map[int]bool{} // findings that some expectation explains
			for _, e := range expected[id] {
				found := false
				for i, f := range report.Findings {
					// Of an expression that does not parse, any line of it will do, and
					// of a selector or a relabeling the line of the key that is wrong.
					below := f.Start.Line - e.line
					near := e.kind == "promql-syntax" && 0 < below && below < 3 || strings.HasPrefix(f.Check, "monitor/") && -3 < below && below < 3
					if f.Path == e.file && (below == 0 || near) {
						found = found || slices.Contains(strings.Split(coveredKinds[e.kind], "|"), f.Check)
						wanted[i] = true
					}
				}
				switch {
				case coveredKinds[e.kind] == "":
				case found:
					hits++
				case e.severity == "info":
					// Not shown unless it is asked for, or only with options.
				default:
					t.Errorf("%s:%d: no finding of %s for %s", e.file, e.line, coveredKinds[e.kind], e.kind)
				}
			}
			for i, f := range report.Findings {
				if !wanted[i] && f.Severity != "info" && !houseRules.MatchString(f.Check) {
					t.Errorf("%s:%d: unexpected %s: %s (%s)", f.Path, f.Start.Line, f.Severity, f.Message, f.Check)
				}
			}
		})
	}
	if hits == 0 {
		t.Error("no expectation of the cases was met: they are not read as they are written")
	}
}
