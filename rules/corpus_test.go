// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// corpus is where real rule files lie when they are there; they are no part of
// the project.
const corpus = "../../shared/corpus"

func readCorpus(t *testing.T, dir string, f func(path string, data []byte)) {
	t.Helper()
	root := filepath.Join(corpus, dir)
	if _, err := os.Stat(root); err != nil {
		t.Skip("no corpus beside the project")
	}
	err := filepath.WalkDir(root, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(corpus, p)
		f(filepath.ToSlash(rel), data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCorpusCounts compares what is read of each public file with an
// independent count of its plain rule files and PrometheusRules. The count knows
// no other kind: of a file that has one, only that its rules are read is tested.
func TestCorpusCounts(t *testing.T) {
	sources, err := os.ReadFile(filepath.Join(corpus, "SOURCES.tsv"))
	if err != nil {
		t.Skip("no corpus beside the project")
	}
	type counts struct{ alerts, records, groups int }
	want := map[string]counts{}
	for line := range strings.Lines(string(sources)) {
		c := strings.Split(line, "\t")
		if len(c) < 9 || !strings.HasPrefix(c[0], "rules/") {
			continue
		}
		n := func(i int) int { v, _ := strconv.Atoi(c[i]); return v }
		want[c[0]] = counts{n(6), n(7), n(8)}
	}
	files, total := 0, counts{}
	readCorpus(t, "rules", func(path string, data []byte) {
		d := Parse(source.NewFile(path, data), false)
		var got counts
		other := strings.HasPrefix(path, "rules/other/unparsable/")
		for _, f := range d.Files {
			other = other || f.Kind == AlertingRule || f.Kind == VMRule || f.origin.Kind == "ConfigMap"
			got.groups += len(f.Groups)
			for _, g := range f.Groups {
				for _, r := range g.Rules {
					switch {
					case !r.Alert.IsZero():
						got.alerts++
					case !r.Record.IsZero():
						got.records++
					}
				}
			}
		}
		files++
		total.alerts += got.alerts
		total.records += got.records
		total.groups += got.groups
		if other && want[path] == (counts{}) {
			if got.alerts+got.records == 0 && !strings.HasPrefix(path, "rules/other/unparsable/") {
				t.Errorf("%s: no rule is read", path)
			}
			return
		}
		if got != want[path] {
			t.Errorf("%s: %+v, want %+v", path, got, want[path])
		}
	})
	t.Logf("%d files: %+v", files, total)
}

// refusals returns why Prometheus would not load a rule file, as promtool check
// rules says it.
func refusals(data []byte) []error {
	_, errs := rulefmt.Parse(data, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.NewTextHandler(io.Discard, nil)))
	return errs
}

// errorsOf returns the findings of the syntax checks that are errors, and
// whether a part of the file is not rendered.
func errorsOf(d *Document) (found []string, unrendered bool) {
	for _, p := range d.Problems {
		if p.Severity == lint.Error {
			found = append(found, p.Span().String()+": "+p.Message)
		}
		unrendered = unrendered || p.Check == "syntax/unrendered"
	}
	for r := range lint.All[*Rule](&lint.Project{Documents: []lint.Document{d}}) {
		if r.Expr != nil {
			for _, e := range r.Expr.Errors {
				found = append(found, e.Span.String()+": "+e.Message)
			}
			unrendered = unrendered || !r.Expr.Placeholder.IsZero()
		}
		for _, entries := range [][]Entry{r.Labels, r.Annotations} {
			for _, e := range entries {
				if e.Template != nil && e.Template.Err != nil {
					found = append(found, e.Template.Err.Span.String()+": "+e.Template.Err.Message)
				}
			}
		}
	}
	return found, unrendered
}

// TestCorpusAgreesWithPrometheus proves on public rule files that there is an
// error exactly where Prometheus refuses the file.
func TestCorpusAgreesWithPrometheus(t *testing.T) {
	files, refused := 0, 0
	compare := func(path string, data []byte) {
		d := Parse(source.NewFile(path, data), false)
		if len(d.Files) == 0 || d.Files[0].Kind != "" || d.Files[0].origin.Kind != "" {
			return
		}
		files++
		got, unrendered := errorsOf(d)
		want := refusals(data)
		if len(want) > 0 {
			refused++
		}
		if (len(got) > 0) != (len(want) > 0) && !unrendered {
			t.Errorf("%s:\nfindings %q\nPrometheus %v", path, got, want)
		}
	}
	readCorpus(t, "rules/native", compare)
	readCorpus(t, "rules/other", compare)
	t.Logf("%d rule files, %d refused by Prometheus", files, refused)
}
