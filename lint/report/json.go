// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed" // for the schema
	"io"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// JSONSchema is the JSON Schema of what [JSON] writes. It documents the format.
//
//go:embed schema/report.schema.json
var JSONSchema string

// jsonVersion changes when a program that reads reports could break: when a
// field goes or changes its meaning, not when one is added.
const jsonVersion = 1

// JSON writes the run as one JSON document, described by [JSONSchema]. It is the
// same on every run but for the duration.
func JSON(w io.Writer, run Run, opts Options) error {
	s := newStream(w)
	s.open("", "{")
	s.put("version", jsonVersion)
	s.put("summary", run.Summary)
	s.open("findings", "[")
	for i := range run.Findings {
		if f := &run.Findings[i]; f.Hidden == "" && opts.shows(f) {
			s.put("", newJSONFinding(f))
		}
	}
	s.close("]")
	s.open("suppressed", "[")
	for i := range run.Findings {
		if f := &run.Findings[i]; f.Hidden != "" && opts.shows(f) {
			s.put("", newJSONFinding(f))
		}
	}
	s.close("]")
	s.open("notices", "[")
	for _, n := range run.Notices {
		s.put("", jsonNotice{Path: n.Path, Message: Visible(n.Message)})
	}
	s.close("]")
	s.close("}")
	return s.finish()
}

type jsonFinding struct {
	Check    string     `json:"check"`
	Severity string     `json:"severity"`
	Message  string     `json:"message"`
	Object   jsonObject `json:"object"`
	*jsonSpan
	Related []jsonRelated `json:"related"`
	Fixes   []jsonFix     `json:"fixes"`
	Help    string        `json:"help"`
	Reason  string        `json:"reason,omitempty"`
}

type jsonObject struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// jsonSpan is nil, and its members absent, for what lies in no file.
type jsonSpan struct {
	Path  string       `json:"path"`
	Start jsonPosition `json:"start"`
	End   jsonPosition `json:"end"`
}

type jsonPosition struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Offset int `json:"offset"`
}

type jsonRelated struct {
	Message string `json:"message"`
	*jsonSpan
}

type jsonFix struct {
	Message string     `json:"message"`
	Safe    bool       `json:"safe"`
	Edits   []jsonEdit `json:"edits"`
}

type jsonEdit struct {
	*jsonSpan
	New string `json:"new"`
}

type jsonNotice struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

func newJSONFinding(f *lint.Finding) jsonFinding {
	out := jsonFinding{
		Check:    f.Check,
		Severity: f.Severity.String(),
		Message:  Visible(f.Message),
		Object:   jsonObject(f.Object),
		jsonSpan: newJSONSpan(f.Span),
		Related:  make([]jsonRelated, len(f.Related)),
		Fixes:    make([]jsonFix, len(f.Fixes)),
		Help:     HelpURL(f.Check),
		Reason:   Visible(f.Hidden),
	}
	for i, r := range f.Related {
		out.Related[i] = jsonRelated{Visible(r.Message), newJSONSpan(r.Span)}
	}
	for i, fix := range f.Fixes {
		edits := []jsonEdit{}
		for _, e := range fix.Edits {
			if span := newJSONSpan(e.Span); span != nil {
				edits = append(edits, jsonEdit{span, e.New})
			}
		}
		out.Fixes[i] = jsonFix{Visible(fix.Message), fix.Safe, edits}
	}
	return out
}

func newJSONSpan(s source.Span) *jsonSpan {
	if s.File == nil {
		return nil
	}
	s = within(s)
	return &jsonSpan{s.File.Path, newJSONPosition(s.File, s.Start), newJSONPosition(s.File, s.End)}
}

func newJSONPosition(f *source.File, offset int) jsonPosition {
	p := f.Position(offset)
	return jsonPosition{p.Line, p.Col, offset}
}
