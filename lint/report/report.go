// SPDX-License-Identifier: Apache-2.0

// Package report writes the findings of a run for people and for machines.
//
// A report is a view: each format is one file with one function of a [Run] and
// the [Options], listed in [Formats], and none changes what was found. Columns
// count bytes from 1, as Go tools and editors count them; only SARIF counts
// code points, because the standard says so.
//
// Names in findings come from files that strangers write. What is shown to
// people (paths in text, messages everywhere) is made visible first: an escape
// spells out what could forge a line, drive a terminal or reorder text. Data
// for machines (paths and edits in JSON and SARIF) stays exact; there the JSON
// encoding spells the same characters as \u escapes.
//
// JSON and SARIF are written finding by finding, so that a report needs no
// memory of its own.
//
// The SARIF structs are our own, as there is no library that fits. The one that
// is in use, go-sarif v3, writes the default of every property it knows, among
// them a byteOffset of -1 in each region, which the viewer of VS Code takes for
// a place in a hex dump; it cannot write the empty list of suppressions that
// results which are not suppressed must have beside others that are (§3.27.23);
// it holds the whole log in memory; and it brings an abandoned JSON Schema
// validator into the binary.
package report

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A Format writes a report of the run.
type Format func(w io.Writer, run Run, opts Options) error

// Formats are the formats by name.
var Formats = map[string]Format{
	"text":  Text,
	"json":  JSON,
	"sarif": SARIF,
}

// Run is what there is to report.
type Run struct {
	Findings []lint.Finding // in the order of lint.Compare; those with a Hidden reason are suppressed
	Checks   []*lint.Check  // all that the run knew
	Summary  Summary
	Notices  []Notice
	Version  string // of the linter
	Failed   bool   // something that was asked for could not be read
}

// Options say how to report.
type Options struct {
	Show     lint.Severity // the lowest severity that is shown
	Color    bool          // text: use ANSI colours
	Snippets bool          // text: show source lines, related places and fixes below a finding

	// Dir is the folder that relative paths start from: absolute, with forward
	// slashes, or "" if unknown. SARIF needs it to relate absolute paths to the
	// source tree.
	Dir string
}

// Summary is the totals of a run. Its findings are those that are not
// suppressed, shown or not.
type Summary struct {
	lint.Counts
	Errors     int           `json:"errors"`
	Warnings   int           `json:"warnings"`
	Infos      int           `json:"infos"`
	Suppressed int           `json:"suppressed"`
	Duration   time.Duration `json:"-"`
}

// Summarize returns the totals of a run that found findings.
func Summarize(findings []lint.Finding, counts lint.Counts, took time.Duration) Summary {
	s := Summary{Counts: counts, Duration: took}
	for i := range findings {
		switch f := &findings[i]; {
		case f.Hidden != "":
			s.Suppressed++
		case f.Severity == lint.Error:
			s.Errors++
		case f.Severity == lint.Warning:
			s.Warnings++
		case f.Severity == lint.Info:
			s.Infos++
		}
	}
	return s
}

// MarshalJSON writes the duration in seconds.
func (s Summary) MarshalJSON() ([]byte, error) {
	type totals Summary
	return json.Marshal(struct {
		totals
		Seconds float64 `json:"seconds"`
	}{totals(s), float64(s.Duration.Round(time.Millisecond).Milliseconds()) / 1000})
}

// A Notice is worth knowing about the run itself: a file that was skipped, a
// link that was not followed.
type Notice struct {
	Path    string // or "" if it is about no file
	Message string
}

// shows reports whether f is severe enough to be shown.
func (o Options) shows(f *lint.Finding) bool { return f.Severity >= o.Show }

// repository is where the linter lives.
const repository = "https://github.com/monitoringlinter/monitoringlinter"

// HelpURL returns where the check called id is documented: below its heading in
// the generated reference of its area.
func HelpURL(id string) string {
	folder := "rules"
	switch area(id) {
	case "runbook":
		folder = "runbook"
	case "metric":
		folder = "analyzers"
	}
	// GitHub makes the anchor of a heading by dropping its punctuation.
	return repository + "/blob/main/" + folder + "/README.md#" + strings.ReplaceAll(id, "/", "")
}

// area returns the part of a check's ID that says what it is about.
func area(id string) string {
	a, _, _ := strings.Cut(id, "/")
	return a
}

// within returns the part of s that lies in its file, so that a span which a
// check got wrong costs a caret, not the report.
func within(s source.Span) source.Span {
	s.Start = min(max(s.Start, 0), len(s.File.Data))
	s.End = min(max(s.End, s.Start), len(s.File.Data))
	return s
}
