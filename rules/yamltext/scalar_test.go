// SPDX-License-Identifier: Apache-2.0

package yamltext

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

func scalars(n *yaml.Node, f func(*yaml.Node)) {
	if n.Kind == yaml.ScalarNode {
		f(n)
	}
	for _, c := range n.Content {
		scalars(c, f)
	}
}

func TestScalar(t *testing.T) {
	for _, tt := range []struct {
		name, yaml string
		part       string // of the value of the last scalar
		want       string // where the part was written: line:column "bytes"
	}{
		{"plain", "a: up == 0\n", "==", `1:7 "=="`},
		{"plain after a wide key", "é: up == 0\n", "==", `1:8 "=="`},
		{"plain over lines", "a: up\n   == 0\n", "==", `2:4 "=="`},
		{"plain over lines, the fold", "a: up\n   == 0\n", "p ==", `1:5 "p\n   =="`},
		{"plain with tag and anchor", "a: !!str &x up == 0\n", "==", `1:16 "=="`},
		{"single quoted", "a: 'x{b=''c''}'\n", "'c'", `1:9 "''c''"`},
		{"double quoted", `a: "x{b=\"c\"} > 1"` + "\n", "> 1", `1:16 "> 1"`},
		{"double quoted, the escape", `a: "x{b=\"c\"} > 1"` + "\n", `"c"`, `1:9 "\\\"c\\\""`},
		{"double quoted, hexadecimal", `a: "\u00e9x"` + "\n", "x", `1:11 "x"`},
		{"double quoted, escaped break", "a: \"up\\\n   == 0\"\n", "==", `2:4 "=="`},
		{"double quoted, blank line", "a: \"up\n\n   == 0\"\n", "==", `3:4 "=="`},
		{"literal", "a: |\n  up\n    == 0\n", "==", `3:5 "=="`},
		{"literal, the line break", "a: |\n  up\n  == 0\n", "p\n==", `2:4 "p\n  =="`},
		{"literal, explicit indentation", "a: |2\n    up\n  == 0\n", "==", `3:3 "=="`},
		{"literal, CRLF", "a: |\r\n  up\r\n  == 0\r\n", "==", `3:3 "=="`},
		{"literal, keep", "a: |+\n  up\n\n", "up", `2:3 "up"`},
		{"literal, header comment", "a: | # why\n  up\n", "up", `2:3 "up"`},
		{"folded", "a: >-\n  up\n  == 0\n", "==", `3:3 "=="`},
		{"folded, more indented", "a: >\n  up\n    == 0\n\n  x\n", "x", `5:3 "x"`},
		{"folded, tabs", "a: >\n  up\n  \t== 0\n", "==", `3:4 "=="`},
		{"empty double quoted", `a: ""` + "\n", "", `1:4 "\"\""`},
		{"empty single quoted", "a: ''\n", "", `1:4 "''"`},
		{"null", "a:\n", "", `1:3 ""`},
		{"alias", "b: &x up == 0\na: *x\n", "==", `1:10 "=="`},
		{"NEL counts as a line break", "b: 'x\u0085 y'\na: up == 0\n", "==", `2:7 "=="`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := source.NewFileString("f.yaml", tt.yaml)
			var root yaml.Node
			if err := yaml.Unmarshal([]byte(tt.yaml), &root); err != nil {
				t.Fatal(err)
			}
			m := root.Content[0]
			text, exact := New(f.Text()).Scalar(m.Content[len(m.Content)-1])
			if !exact {
				t.Errorf("Scalar is not exact")
			}
			at := strings.Index(text.Value, tt.part)
			if at < 0 {
				t.Fatalf("value %q has no %q", text.Value, tt.part)
			}
			s := text.Span(at, at+len(tt.part))
			if tt.part == "" {
				s = text.All()
			}
			p := f.Position(s.Start)
			if got := strings.TrimPrefix(s.String(), "f.yaml:") + " " + quote(s.Text()); got != tt.want {
				t.Errorf("%q of %q is at %s, want %s (%v)", tt.part, text.Value, got, tt.want, p)
			}
		})
	}
}

func quote(s string) string {
	s = strings.NewReplacer("\\", "\\\\", "\n", "\\n", `"`, `\"`).Replace(s)
	return `"` + s + `"`
}

// TestNestedScalar follows an expression through a literal scalar in a literal
// scalar, as rule files in a ConfigMap have them.
func TestNestedScalar(t *testing.T) {
	f := source.NewFileString("cm.yaml", "data:\n  a.yaml: |\n    expr: >\n      up\n      == 0\n")
	var outer, inner yaml.Node
	if err := yaml.Unmarshal([]byte(f.Data), &outer); err != nil {
		t.Fatal(err)
	}
	text, _ := New(f.Text()).Scalar(outer.Content[0].Content[1].Content[1])
	if err := yaml.Unmarshal([]byte(text.Value), &inner); err != nil {
		t.Fatal(err)
	}
	expr, exact := New(text).Scalar(inner.Content[0].Content[1])
	if !exact {
		t.Errorf("the nested scalar is not exact")
	}
	at := strings.Index(expr.Value, "== 0")
	if got, want := expr.Span(at, at+4).String(), "cm.yaml:5:7"; got != want {
		t.Errorf("== 0 is at %s, want %s", got, want)
	}
}

// corpus is where real rule files lie when they are there; they are no part of
// the project.
const corpus = "../../../shared/corpus"

func TestCorpus(t *testing.T) {
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("no corpus beside the project")
	}
	exact, approximate := 0, 0
	err := filepath.WalkDir(corpus, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !(strings.HasSuffix(p, ".yaml") || strings.HasSuffix(p, ".yml")) {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		decoder := yaml.NewDecoder(bytes.NewReader(data))
		doc := New(source.NewFile(p, data).Text())
		for {
			var n yaml.Node
			if err := decoder.Decode(&n); err != nil {
				if !errors.Is(err, io.EOF) {
					return nil // not YAML: no business of this test
				}
				return nil
			}
			scalars(&n, func(n *yaml.Node) {
				text, ok := doc.Scalar(n)
				if !ok {
					approximate++
					t.Logf("%s:%d:%d: style %d %.60q", p, n.Line, n.Column, n.Style, n.Value)
					return
				}
				exact++
				checkMap(t, text)
			})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d scalars exact, %d approximate", exact, approximate)
	if approximate > exact/10000 {
		t.Errorf("%d of %d scalars are not exact", approximate, exact)
	}
}

// checkMap checks that the map is monotone, and that bytes mapped one to one
// are equal to those of the file.
func checkMap(t *testing.T, text source.Text) {
	t.Helper()
	last := 0
	for i := range len(text.Value) {
		s := text.Span(i, i+1)
		if s.Start < last || s.End <= s.Start {
			t.Fatalf("%s: byte %d of %q maps to [%d,%d) after %d", s, i, text.Value, s.Start, s.End, last)
		}
		if s.End-s.Start == 1 && s.Text() != text.Value[i:i+1] && !strings.Contains("\n ", text.Value[i:i+1]) {
			t.Fatalf("%s: byte %d of %q maps to %q", s, i, text.Value, s.Text())
		}
		last = s.Start
	}
}

func FuzzScalar(f *testing.F) {
	for _, seed := range []string{
		"a: |\n  x\n   y\n\n  z\n",
		"a: >-\n  x\n  y\n\n  z\n   w\n",
		"a: \"x\\n y\\\n  z\\u00e9\"\n",
		"é: 'it''s\n  folded\n\n  x'\n",
		"a: plain\n  more\n\n  x # c\n",
		"a: |2\r\n   x\r\n\r\n",
		"? !!str &b \"\"\n: >+\n\n",
		"a: x\u2028y\u0085z\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		decoder := yaml.NewDecoder(strings.NewReader(s))
		doc := New(source.NewFileString("f.yaml", s).Text())
		var n yaml.Node
		if decoder.Decode(&n) != nil {
			return
		}
		scalars(&n, func(n *yaml.Node) {
			text, exact := doc.Scalar(n)
			if text.Value != n.Value {
				t.Fatalf("Scalar = %q, want %q", text.Value, n.Value)
			}
			if span := doc.Span(n); span.Start > span.End || span.End > len(s) {
				t.Fatalf("Span = [%d,%d) of %d bytes", span.Start, span.End, len(s))
			}
			if exact {
				checkMap(t, text)
			}
		})
	})
}
