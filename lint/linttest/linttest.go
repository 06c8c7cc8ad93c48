// SPDX-License-Identifier: Apache-2.0

// Package linttest runs checks over archives of files that say what they expect.
//
// The cases of the check area/name are the archives testdata/area/name/*.txtar.
// Only that check runs on them, so that a new check never changes an old case.
// In any file of an archive a comment says what is to be found on its line, or
// on the line so many further on:
//
//	want [+N|-N] {[@"source text"] "regexp of the message"}
//
// The file .monitoringlinter.yaml configures the run, the file findings holds
// the exact report, and fixed/PATH the file PATH after its fixes; -update writes
// the last two. A line "checks: id, id" in the archive's comment names checks
// that run as well.
//
// Without being asked the harness demands that each check has documentation, a
// case that hits and one that does not; that its bad example hits and its good
// one does not; that findings lie within their file, are not empty and name
// their object first; that they do not depend on the order of the files; that
// each fix parses and removes its finding; and that no cut of the input panics.
package linttest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/scanner"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/config"
	"github.com/monitoringlinter/monitoringlinter/lint/filter"
	"github.com/monitoringlinter/monitoringlinter/lint/fix"
	"github.com/monitoringlinter/monitoringlinter/lint/reference"
	"github.com/monitoringlinter/monitoringlinter/lint/report"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

var update = flag.Bool("update", false, "rewrite the findings and fixed files of test archives")

const configFile = ".monitoringlinter.yaml"

// Now is the day on which the cases run.
var Now = time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)

// A Suite is the checks of a package and the languages of their cases.
type Suite struct {
	Languages []lint.Language
	Checks    []*lint.Check
	byID      map[string]*lint.Check
}

// Run runs the cases of each check under testdata.
func (s *Suite) Run(t *testing.T) {
	s.byID = map[string]*lint.Check{}
	for _, c := range s.Checks {
		s.byID[c.ID] = c
	}
	s.noStrayFolders(t)
	for _, c := range s.Checks {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			archives, err := filepath.Glob(filepath.Join("testdata", filepath.FromSlash(c.ID), "*.txtar"))
			if err != nil || len(archives) == 0 {
				t.Fatalf("no cases in testdata/%s (%v)", c.ID, err)
			}
			hits, clean := 0, 0
			for _, name := range archives {
				t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
					if s.archive(t, name, c) > 0 {
						hits++
					} else {
						clean++
					}
				})
			}
			if hits == 0 || clean == 0 {
				t.Errorf("%d cases with findings and %d without; want both", hits, clean)
			}
			s.documentation(t, c)
		})
	}
}

// noStrayFolders fails for a folder of cases that no check is named after.
func (s *Suite) noStrayFolders(t *testing.T) {
	areas, err := filepath.Glob(filepath.Join("testdata", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range areas {
		id := filepath.ToSlash(strings.TrimPrefix(dir, "testdata"+string(filepath.Separator)))
		if archives, _ := filepath.Glob(filepath.Join(dir, "*.txtar")); len(archives) > 0 && s.byID[id] == nil {
			t.Errorf("testdata/%s holds cases of no check", id)
		}
	}
}

func (s *Suite) documentation(t *testing.T, c *lint.Check) {
	for _, field := range []struct{ name, value string }{
		{"Title", c.Doc.Title}, {"Why", c.Doc.Why}, {"Bad", c.Doc.Bad}, {"Good", c.Doc.Good},
		{"TurnOff", c.Doc.TurnOff}, {"Since", c.Doc.Since},
	} {
		if strings.TrimSpace(field.value) == "" {
			t.Errorf("Doc.%s is empty", field.name)
		}
	}
	if strings.HasSuffix(c.Doc.Title, ".") {
		t.Errorf("Doc.Title %q ends in a period", c.Doc.Title)
	}
	for _, example := range []struct {
		name, text string
		hit        bool
	}{{"Bad", c.Doc.Bad, true}, {"Good", c.Doc.Good, false}} {
		found, err := reference.Reference{Languages: s.Languages, Checks: s.Checks}.Example(c, example.text)
		if err != nil {
			t.Fatal(err)
		}
		if found = shown(found); (len(found) > 0) != example.hit {
			t.Errorf("Doc.%s has %d findings\n%s\n%s", example.name, len(found), strings.Join(texts(found), "\n"), example.text)
		}
	}
}

// A run is one run of checks over files in memory.
type run struct {
	languages []lint.Language
	known     []*lint.Check // those that suppression comments may name
	checks    []*lint.Check
	config    *source.File
	files     []txtar.File
	reverse   bool
}

func (r *run) lint(t testing.TB) []lint.Finding {
	t.Helper()
	conf, err := config.Load(config.Input{File: r.config, Checks: r.checks, Root: "."})
	if err != nil {
		t.Fatal(err)
	}
	var inputs []lint.Input
	for _, f := range r.files {
		inputs = append(inputs, lint.Input{Path: f.Name, Named: true, Read: func() ([]byte, error) { return f.Data, nil }})
	}
	if r.reverse {
		slices.Reverse(inputs)
	}
	p, _ := lint.Parse(context.Background(), inputs, r.languages, 0)
	return filter.Apply(p, lint.Run(context.Background(), p, conf, 0), conf, r.known, Now)
}

func shown(found []lint.Finding) []lint.Finding {
	return slices.DeleteFunc(found, func(f lint.Finding) bool { return f.Hidden != "" })
}

var extraChecks = regexp.MustCompile(`(?m)^checks:(.*)$`)

// archive runs one archive and returns the number of findings.
func (s *Suite) archive(t *testing.T, name string, c *lint.Check) int {
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(ar.Comment)) == "" {
		t.Errorf("%s: no comment says what the case shows", name)
	}
	r := &run{languages: s.Languages, known: s.Checks, checks: []*lint.Check{c}}
	if m := extraChecks.FindSubmatch(ar.Comment); m != nil {
		for id := range strings.FieldsFuncSeq(string(m[1]), func(r rune) bool { return r == ',' || r == ' ' }) {
			extra := s.byID[id]
			if extra == nil {
				t.Fatalf("%s: no check %q", name, id)
			}
			r.checks = append(r.checks, extra)
		}
	}
	golden := -1
	fixed := map[string]int{}
	for i, f := range ar.Files {
		switch {
		case f.Name == configFile:
			r.config = source.NewFile(f.Name, f.Data)
		case f.Name == "findings":
			golden = i
		case strings.HasPrefix(f.Name, "fixed/"):
			fixed[strings.TrimPrefix(f.Name, "fixed/")] = i
		default:
			r.files = append(r.files, f)
		}
	}
	all := r.lint(t)
	found := shown(slices.Clone(all))
	s.wants(t, r, found)
	wellFormed(t, found)

	r.reverse = true
	if diff := cmp.Diff(texts(all), texts(r.lint(t))); diff != "" {
		t.Errorf("findings depend on the order of the files (-given +reversed):\n%s", diff)
	}
	r.reverse = false
	s.truncated(t, r)

	changed := false
	if golden >= 0 {
		var out bytes.Buffer
		if err := report.Formats["text"](&out, report.Run{Findings: all, Checks: s.Checks}, report.Options{Show: lint.Info}); err != nil {
			t.Fatal(err)
		}
		changed = record(t, &ar.Files[golden], out.String()) || changed
	}
	for path, data := range s.fix(t, r, found) {
		i, ok := fixed[path]
		if !ok {
			continue
		}
		delete(fixed, path)
		changed = record(t, &ar.Files[i], data) || changed
	}
	for path := range fixed {
		t.Errorf("fixed/%s: no finding in %s has a fix", path, path)
	}
	if changed {
		if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return len(found)
}

// record compares a file of the archive with what it records, or replaces it.
func record(t *testing.T, f *txtar.File, got string) (changed bool) {
	t.Helper()
	if string(f.Data) == got {
		return false
	}
	if *update {
		f.Data = []byte(got)
		return true
	}
	t.Errorf("%s differs; run go test -update (-want +got):\n%s", f.Name, cmp.Diff(string(f.Data), got))
	return false
}

func texts(found []lint.Finding) []string {
	var out []string
	for _, f := range found {
		out = append(out, fmt.Sprintf("%s: %s (%s) %s", f.Span, f.Message, f.Check, f.Hidden))
	}
	return out
}

func (s *Suite) wants(t *testing.T, r *run, found []lint.Finding) {
	wants := map[string][]want{}
	for _, f := range r.files {
		for i, line := range strings.Split(string(f.Data), "\n") {
			delta, ws, err := parseWant(strings.TrimSuffix(line, "\r"))
			if err != nil {
				t.Fatalf("%s:%d: %v", f.Name, i+1, err)
			}
			if ws != nil {
				key := fmt.Sprintf("%s:%d", f.Name, i+1+delta)
				wants[key] = append(wants[key], ws...)
			}
		}
	}
finding:
	for _, f := range found {
		key := fmt.Sprintf("%s:%d", f.Span.File.Path, f.Span.File.Position(f.Span.Start).Line)
		text := f.Check + ": " + f.Message
		for i, w := range wants[key] {
			if w.rx.MatchString(text) && (w.span == nil || *w.span == f.Span.Text()) {
				wants[key] = slices.Delete(wants[key], i, i+1)
				continue finding
			}
		}
		t.Errorf("unexpected finding at %q:\n\t%s: %s: %s (%s)", f.Span.Text(), f.Span, f.Severity, f.Message, f.Check)
	}
	for _, key := range slices.Sorted(maps.Keys(wants)) {
		for _, w := range wants[key] {
			at := ""
			if w.span != nil {
				at = fmt.Sprintf(" at %q", *w.span)
			}
			t.Errorf("%s: no finding matches %q%s", key, w.rx, at)
		}
	}
}

// wellFormed asserts what holds for every finding.
func wellFormed(t *testing.T, found []lint.Finding) {
	for _, f := range found {
		if f.Span.File == nil || f.Span.Start < 0 || f.Span.End > len(f.Span.File.Data) || f.Span.Start >= f.Span.End && f.Span.File.Data != "" {
			t.Errorf("%s: span [%d,%d) of %q is empty or outside the file", f.Check, f.Span.Start, f.Span.End, f.Message)
		}
		if f.Severity < lint.Info {
			t.Errorf("%s: finding without a severity: %s", f.Check, f.Message)
		}
		if name := f.Object.String(); f.Object.Name != "" && !strings.HasPrefix(f.Message, name) {
			t.Errorf("%s: message %q does not begin with %q", f.Check, f.Message, name)
		}
		for _, r := range f.Related {
			if r.Span.File == nil || r.Message == "" {
				t.Errorf("%s: related place without a span or a message: %s", f.Check, f.Message)
			}
		}
		for _, x := range f.Fixes {
			if x.Message == "" || len(x.Edits) == 0 {
				t.Errorf("%s: fix without a message or edits: %s", f.Check, f.Message)
			}
		}
	}
}

// truncated lints each file cut at several places: nothing may panic.
func (s *Suite) truncated(t *testing.T, r *run) {
	const cuts = 10
	for i, f := range r.files {
		for k := range cuts {
			files := slices.Clone(r.files)
			files[i].Data = f.Data[:len(f.Data)*k/cuts]
			short := *r
			short.files = files
			wellFormed(t, short.lint(t))
		}
	}
}

// fix applies the first fix of each finding, and returns the files that changed.
func (s *Suite) fix(t *testing.T, r *run, found []lint.Finding) map[string]string {
	fixes := map[string][]lint.Fix{}
	for _, f := range found {
		if len(f.Fixes) > 0 {
			p := f.Fixes[0].Edits[0].Span.File.Path
			fixes[p] = append(fixes[p], f.Fixes[0])
		}
	}
	changed := map[string]string{}
	for i, f := range r.files {
		if len(fixes[f.Name]) == 0 {
			continue
		}
		data, applied := fix.Apply(source.NewFile(f.Name, f.Data), fixes[f.Name])
		if applied == 0 {
			t.Errorf("%s: no fix could be applied", f.Name)
			continue
		}
		changed[f.Name] = data
		again := *r
		again.files = slices.Clone(r.files)
		again.files[i].Data = []byte(data)
		after := shown(again.lint(t))
		if was, is := s.refused(t, r), s.refused(t, &again); len(is) > len(was) {
			t.Errorf("%s: can't be loaded any more after %d fixes:\n%s\nthe file became\n%s", f.Name, applied, strings.Join(texts(is), "\n"), data)
		}
		if before := len(found); len(after) > before-applied {
			t.Errorf("%s: %d findings, %d fixes applied, %d findings left:\n%s\nthe file became\n%s", f.Name, before, applied, len(after), strings.Join(texts(after), "\n"), data)
		}
	}
	return changed
}

// refused returns what can't be loaded of the files of a run, as far as the
// suite has checks that tell.
func (s *Suite) refused(t *testing.T, r *run) []lint.Finding {
	syntax := run{languages: r.languages, known: r.known, files: r.files}
	for _, c := range s.Checks {
		if strings.HasPrefix(c.ID, "syntax/") && c.Severity == lint.Error {
			syntax.checks = append(syntax.checks, c)
		}
	}
	return slices.DeleteFunc(syntax.lint(t), func(f lint.Finding) bool { return f.Severity < lint.Error })
}

type want struct {
	span *string // the exact source text, if given
	rx   *regexp.Regexp
}

var wantComment = regexp.MustCompile(`(?:#|//|<!--) *want\b(.*?)(?:-->)?$`)

// parseWant parses the comment at the end of a line.
func parseWant(line string) (delta int, wants []want, err error) {
	m := wantComment.FindStringSubmatch(line)
	if m == nil {
		return 0, nil, nil
	}
	var sc scanner.Scanner
	sc.Init(strings.NewReader(m[1]))
	sc.Mode = scanner.ScanStrings | scanner.ScanRawStrings | scanner.ScanInts
	sc.Error = func(_ *scanner.Scanner, msg string) { err = fmt.Errorf("%s in %q", msg, m[0]) }
	var w want
	for tok := sc.Scan(); tok != scanner.EOF; tok = sc.Scan() {
		switch tok {
		case '+', '-':
			sign := sc.TokenText()
			sc.Scan()
			if delta, err = strconv.Atoi(sign + sc.TokenText()); err != nil {
				return 0, nil, fmt.Errorf("bad line offset in %q", m[0])
			}
		case '@':
			sc.Scan()
			s, err := strconv.Unquote(sc.TokenText())
			if err != nil {
				return 0, nil, fmt.Errorf("bad source text in %q: %w", m[0], err)
			}
			w.span = &s
		case scanner.String, scanner.RawString:
			s, err := strconv.Unquote(sc.TokenText())
			if err != nil {
				return 0, nil, fmt.Errorf("bad string in %q: %w", m[0], err)
			}
			if w.rx, err = regexp.Compile(s); err != nil {
				return 0, nil, err
			}
			wants = append(wants, w)
			w = want{}
		default:
			return 0, nil, fmt.Errorf("unexpected %s in %q", sc.TokenText(), m[0])
		}
	}
	if err == nil && len(wants) == 0 {
		err = fmt.Errorf("%q wants nothing", m[0])
	}
	return delta, wants, err
}

// Cases returns the files of the cases of every check below dir, for tests
// that need many small inputs.
func Cases(t testing.TB, dir string) []txtar.File {
	t.Helper()
	var files []txtar.File
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(p) != ".txtar" {
			return err
		}
		ar, err := txtar.ParseFile(p)
		if err != nil {
			return err
		}
		for _, f := range ar.Files {
			if f.Name != configFile && f.Name != "findings" {
				files = append(files, f)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
