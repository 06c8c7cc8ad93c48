// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A page is a document of words; a word is a node with a name, and a letter
// one without.
type page struct{ file *source.File }

type word struct {
	span   source.Span
	origin *Origin
}

func (w word) Span() source.Span { return w.span }
func (w word) Object() Object    { return Object{Kind: "word", Name: w.span.Text()} }
func (w word) Origin() *Origin   { return w.origin }

type letter struct{ span source.Span }

func (p page) Source() *source.File { return p.file }
func (p page) Count(c *Counts)      { c.Files++ }
func (p page) Nodes() iter.Seq[any] {
	return func(yield func(any) bool) {
		at := 0
		for w := range strings.FieldsSeq(p.file.Data) {
			start := at + strings.Index(p.file.Data[at:], w)
			at = start + len(w)
			if !yield(word{p.file.Span(start, at), &Origin{Group: w}}) {
				return
			}
			for i := start; i < at; i++ {
				if !yield(letter{p.file.Span(i, i+1)}) {
					return
				}
			}
		}
	}
}

var pages = Language{Name: "pages", Parse: func(f *source.File, _ bool) Document {
	if f.Data == "" {
		return nil
	}
	return page{f}
}}

func inputs(files map[string]string) []Input {
	var in []Input
	for _, path := range []string{"a", "b", "c"} {
		if data, ok := files[path]; ok {
			in = append(in, Input{Path: path, Read: func() ([]byte, error) { return []byte(data), nil }})
		}
	}
	return in
}

func describe(found []Finding) []string {
	var out []string
	for _, f := range found {
		out = append(out, fmt.Sprintf("%s %s %s: %s [%s %s]", f.Span, f.Severity, f.Check, f.Message, f.Object, f.Origin.Group))
	}
	return out
}

func TestRun(t *testing.T) {
	checks := []*Check{
		{ID: "b/word", Severity: Warning, Run: On(func(p *Pass, w word) { p.Reportf(w.Span(), "%s", p.Object()) })},
		{ID: "a/letter", Severity: Error, Run: On(func(p *Pass, l letter) {
			if l.span.Text() == "x" {
				p.Report(Finding{Span: l.span, Message: "x", Severity: Info})
			}
		})},
		{ID: "c/project", Severity: Error, Run: On(func(p *Pass, project *Project) {
			for w := range All[word](project) {
				p.Report(Finding{Span: w.Span(), Message: "seen", Object: w.Object(), Origin: w.Origin()})
			}
		})},
		{ID: "d/off", OptIn: true, Run: On(func(p *Pass, w word) { p.Reportf(w.Span(), "off") })},
	}
	p, unknown := Parse(context.Background(), inputs(map[string]string{"b": "yx", "a": "x no", "c": ""}), []Language{pages}, 2)
	if len(unknown) != 1 || unknown[0].Path != "c" {
		t.Errorf("unknown inputs %v, want c", unknown)
	}
	want := []string{
		"a:1:1 info a/letter: x [word x x]",
		"a:1:1 warning b/word: word x [word x x]",
		"a:1:1 error c/project: seen [word x x]",
		"a:1:3 warning b/word: word no [word no no]",
		"a:1:3 error c/project: seen [word no no]",
		"b:1:1 warning b/word: word yx [word yx yx]",
		"b:1:1 error c/project: seen [word yx yx]",
		"b:1:2 info a/letter: x [word yx yx]",
	}
	for _, jobs := range []int{0, 1, 7} {
		if diff := cmp.Diff(want, describe(Run(context.Background(), p, Defaults(checks), jobs))); diff != "" {
			t.Errorf("%d jobs: findings (-want +got):\n%s", jobs, diff)
		}
	}
}

// byGroup turns checks off for words, and grades them.
type byGroup struct {
	all *Profile
	off string
}

func (s byGroup) Profile(_ string, origin *Origin) *Profile {
	if origin == nil || origin.Group != s.off {
		return s.all
	}
	p := &Profile{}
	for _, a := range s.all.Active {
		if a.Check.ID == "c/project" {
			a.Severity = Info
			p.Active = append(p.Active, a)
		}
	}
	return p
}

// TestRunObeysThePlaceOfAFinding turns a check off for one word, and grades
// what a check of the whole project says of it.
func TestRunObeysThePlaceOfAFinding(t *testing.T) {
	checks := []*Check{
		{ID: "b/word", Severity: Warning, Run: On(func(p *Pass, w word) { p.Reportf(w.Span(), "word") })},
		{ID: "c/project", Severity: Error, Run: On(func(p *Pass, project *Project) {
			for w := range All[word](project) {
				p.Report(Finding{Span: w.Span(), Message: "seen", Origin: w.Origin()})
			}
		})},
	}
	p, _ := Parse(context.Background(), inputs(map[string]string{"a": "x no"}), []Language{pages}, 1)
	settings := byGroup{Defaults(checks).Profile("", nil), "no"}
	want := []string{
		"a:1:1 warning b/word: word [word x x]",
		"a:1:1 error c/project: seen [ x]",
		"a:1:3 info c/project: seen [ no]",
	}
	if diff := cmp.Diff(want, describe(Run(context.Background(), p, settings, 1))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

type options struct {
	List []string       `yaml:"list"`
	Map  map[string]int `yaml:"map"`
}

// TestOptions checks that options decoded for one use do not reach another.
func TestOptions(t *testing.T) {
	var got []options
	note := func(_ *Pass, _ letter, o options) { got = append(got, o) }
	defaults := options{List: []string{"a"}, Map: map[string]int{"a": 1}}
	c := &Check{Run: With(defaults, note).And(With(defaults, note))}
	change := func(o any) error {
		o.(*options).List[0] = "b"
		o.(*options).Map["a"] = 2
		return nil
	}
	for _, decode := range []func(any) error{change, nil} {
		f, err := c.Bind(decode)
		if err != nil {
			t.Fatal(err)
		}
		f(&Pass{}, letter{})
		f(&Pass{}, word{}) // of another type: not for this check
	}
	changed, plain := options{[]string{"b"}, map[string]int{"a": 2}}, defaults
	if diff := cmp.Diff([]options{changed, changed, plain, plain}, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(any(defaults), c.Options()); diff != "" {
		t.Errorf("the defaults have changed (-want +got):\n%s", diff)
	}
	refuse := errors.New("no")
	if _, err := c.Bind(func(any) error { return refuse }); !errors.Is(err, refuse) {
		t.Errorf("Bind returns %v, want the error of decode", err)
	}
}

func TestDerive(t *testing.T) {
	p, _ := Parse(context.Background(), inputs(map[string]string{"a": "x y", "b": "z"}), []Language{pages}, 2)
	var built atomic.Int32
	type words map[string]bool
	build := func(p *Project) words {
		built.Add(1)
		w := words{}
		for n := range All[word](p) {
			w[n.Span().Text()] = true
		}
		return w
	}
	c := &Check{ID: "a/a", Severity: Info, Run: On(func(p *Pass, _ letter) {
		if got := Derive(p.Project, build); !maps.Equal(got, words{"x": true, "y": true, "z": true}) {
			t.Errorf("Derive = %v", got)
		}
	})}
	Run(context.Background(), p, Defaults([]*Check{c}), 2)
	if built.Load() != 1 {
		t.Errorf("the index was built %d times", built.Load())
	}
}

func TestParseOfUnreadable(t *testing.T) {
	failed := errors.New("no disk")
	p, _ := Parse(context.Background(), []Input{{
		Path: "a",
		Read: func() ([]byte, error) { return nil, failed },
		Fail: func(f *source.File, err error) Document {
			if !errors.Is(err, failed) {
				t.Errorf("Fail is given %v", err)
			}
			return page{f}
		},
	}}, []Language{pages}, 1)
	if len(p.Documents) != 1 || p.Documents[0].Source().Path != "a" || p.Count().Files != 1 {
		t.Errorf("an input that can't be read has no document")
	}
}

func TestParseSeverity(t *testing.T) {
	for name, want := range map[string]Severity{"info": Info, "warning": Warning, "error": Error, "off": Unset, "": Unset, "fatal": Unset} {
		got, err := ParseSeverity(name)
		if got != want || (err == nil) != (want != Unset) {
			t.Errorf("ParseSeverity(%q) = %v, %v", name, got, err)
		}
	}
}
