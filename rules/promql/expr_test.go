// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/template"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

func text(s string) source.Text { return source.NewFileString("f", s).Text() }

func place(s source.Span) string {
	return fmt.Sprintf("%d %q", s.Start, s.Text())
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		expr         string
		want         []string
		experimental bool
	}{
		{"up == 0", nil, false},
		{"up = 0", []string{`3 "=": unexpected "="`}, false},
		{"up ==  ", []string{`4 "=": unexpected end of input`}, false},
		{"sum(up", []string{`5 "p": unclosed left parenthesis`}, false},
		{`up{a="b" > 0`, []string{`9 ">": unexpected character inside braces: '>'`}, false},
		{"rate(up) / rate(down)", []string{
			`5 "up": expected type range vector in call to function "rate", got instant vector`,
			`16 "down": expected type range vector in call to function "rate", got instant vector`,
		}, false},
		{"nope(up)", []string{`0 "nope": unknown function with name "nope"`}, false},
		{"info(up)", []string{`0 "info": function "info" is not enabled`}, true},
		{"limitk(3, up)", []string{`0 "limitk(3, up)": limitk() is experimental and must be enabled with --enable-feature=promql-experimental-functions`}, true},
		{"a + fill(0) b", []string{`0 "a + fill(0) b": binop fill modifiers are experimental and not enabled`}, true},
		{"", []string{`0 "": no expression found in input`}, false},
	} {
		e := Parse(text(tt.expr))
		var got []string
		for _, err := range e.Errors {
			got = append(got, place(err.Span)+": "+err.Message)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: errors (-want +got):\n%s", tt.expr, diff)
		}
		if e.Experimental() != tt.experimental {
			t.Errorf("%s: Experimental() = %v", tt.expr, e.Experimental())
		}
	}
}

func TestPlaceholder(t *testing.T) {
	for expr, want := range map[string]string{
		"up > ${LIMIT}":            `5 "${LIMIT}"`,
		"up > ${{LIMIT}}":          `5 "${{LIMIT}}"`,
		`up{job="${JOB}"} > 0`:     `0 ""`, // parses: whatever is filled in is a value
		"up > $LIMIT and ${} == 1": `0 ""`,
	} {
		if got := place(Parse(text(expr)).Placeholder); got != want {
			t.Errorf("%s: placeholder %s, want %s", expr, got, want)
		}
	}
}

func TestMatchers(t *testing.T) {
	for expr, want := range map[string][]string{
		`up`:                            nil,
		`up{}`:                          nil,
		`up{a="b"}`:                     {`a="b"`},
		`up{a = "b", c=~'d.*',}`:        {`a = "b"`, `c=~'d.*'`},
		"{__name__=~`x|y`,a!=\"\"}":     {"__name__=~`x|y`", `a!=""`},
		`{"up","a.b"="c"}`:              {`"a.b"="c"`},
		`up{a="}",b!~"{"}`:              {`a="}"`, `b!~"{"`},
		`up{on="x", by="y"}`:            {`on="x"`, `by="y"`},
		"up{ # a comment\n a=\"b\" }":   {`a="b"`},
		`up{a="\"x\""}`:                 {`a="\"x\""`},
		`rate(up{a="b"}[5m] offset 1h)`: {`a="b"`},
	} {
		e := Parse(text(expr))
		if e.Root == nil {
			t.Errorf("%s: %v", expr, e.Errors)
			continue
		}
		e.Inspect(func(n parser.Node, _ []parser.Node) {
			v, ok := n.(*parser.VectorSelector)
			if !ok {
				return
			}
			var got []string
			for _, m := range e.Matchers(v) {
				got = append(got, m.Span.Text())
				if parts := m.Name.Text() + m.Op.Text() + m.Value.Text(); parts != strings.ReplaceAll(m.Span.Text(), " ", "") {
					t.Errorf("%s: name, operator and value of %s are %s", expr, m.Span.Text(), parts)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: matchers (-want +got):\n%s", expr, diff)
			}
		})
	}
}

func TestGrouping(t *testing.T) {
	for _, tt := range []struct{ expr, label, want string }{
		{"sum by (a, b) (up)", "b", `11 "b"`},
		{"sum(up) by (a)", "a", `12 "a"`},
		{"sum by (a) (sum by (a, b) (up))", "a", `8 "a"`},
		{"sum(max by (b) (up{b=\"x\"})) by (b)", "b", `32 "b"`},
		{`sum by ("a.b") (up)`, "a.b", `8 "\"a.b\""`},
	} {
		e := Parse(text(tt.expr))
		a := e.Root.(*parser.AggregateExpr)
		if got := place(e.Grouping(a, tt.label)); got != tt.want {
			t.Errorf("Grouping(%s, %s) = %s, want %s", tt.expr, tt.label, got, tt.want)
		}
	}
}

func TestNormal(t *testing.T) {
	same := [][]string{
		{"up == 0", "up==0", "(up) == (0)", "up # why\n== 0"},
		{`up{a="b",c="d"}`, `up{c="d", a="b"}`, `{__name__="up",a="b",c="d"}`},
		{`sum by (a,b) (up)`, `sum(up) by (b, a)`, `sum by (a, b, a) ((up))`},
		{`rate(up{a="b",c="d"}[5m])`, `rate(up{c="d",a="b"}[5m])`, `rate(up{c="d",a="b"}[300s])`},
		{`a / on (x, y) group_left (z) b`, `a / on (y,x) group_left(z) b`},
		{`max_over_time((up > 0)[1h:5m])`, `max_over_time((up>0)[60m:5m])`},
	}
	seen := map[string]string{}
	for _, group := range same {
		want := Parse(text(group[0])).Normal()
		if other, ok := seen[want]; ok {
			t.Errorf("%s and %s have the normal form %s", other, group[0], want)
		}
		seen[want] = group[0]
		for _, expr := range group {
			if got := Parse(text(expr)).Normal(); got != want {
				t.Errorf("Normal(%s) = %s, that of %s is %s", expr, got, group[0], want)
			}
			if Parse(text(expr)).Fingerprint() != Parse(text(group[0])).Fingerprint() {
				t.Errorf("%s and %s differ in their fingerprints", expr, group[0])
			}
		}
	}
	prints := map[uint64]string{}
	different := []string{
		"a", "-a", "a + b", "b + a", "(a + b) * c", "a + b * c", "a > bool b", "a > b", "a offset 5m", "a @ 0", "a[5m:1m]", "rate(a[5m])", "rate(a[5m] offset 1m)",
		"rate(a[6m])", "sum(a)", "sum by (x) (a)", "sum without (x) (a)", "topk(1, a)", "topk(2, a)", "a and b", "a and on () b", "a and on (x) b", "a and ignoring (x) b",
		"a * on (x) group_left b", "a * on (x) group_right b", "a * on (x) group_left (y) b", `a{x="1"}`, `a{x="2"}`, `a{x!="1"}`, `label_replace(a, "b", "c", "d", "e")`,
		"max_over_time(a[1h:1m])", "max_over_time(a[1h:2m])", "max_over_time(rate(a[5m])[1h:2m])", "a[5m:1m] offset 3m",
	}
	for _, expr := range different {
		n := Parse(text(expr)).Normal()
		if other, ok := seen[n]; ok {
			t.Errorf("%s and %s have the normal form %s", other, expr, n)
		}
		seen[n] = expr
		if strings.Contains(expr, "@") {
			continue // left out of the fingerprint
		}
		print := Parse(text(expr)).Fingerprint()
		if other, ok := prints[print]; ok {
			t.Errorf("%s and %s have the same fingerprint", other, expr)
		}
		prints[print] = expr
	}
}

func TestMentionsAndConstant(t *testing.T) {
	for expr, mentions := range map[string]bool{
		`up`: false, `up{severity="x"}`: true, `sum by (severity) (up)`: true, `sum without (severity) (up)`: false,
		`a * on (x) group_left (severity) b`: true, `label_replace(up, "severity", "x", "", "")`: true, `a * on (severity) b`: true,
	} {
		if got := Parse(text(expr)).Mentions("severity"); got != mentions {
			t.Errorf("%s: Mentions(severity) = %v", expr, got)
		}
	}
	for expr, constant := range map[string]bool{"vector(1)": true, "1": true, "up": false, "vector(1) or up": false, "vector(time()) > 0": true, "nope(": false} {
		if got := Parse(text(expr)).Constant(); got != constant {
			t.Errorf("%s: Constant() = %v", expr, got)
		}
	}
}

func TestTemplateErrors(t *testing.T) {
	for tmpl, want := range map[string]string{
		"no action": "",
		"{{ $labels.a }} is {{ $value | humanize }}":       "",
		"a {{ $value | nosuch }} b {{ $labels.x }}":        `2 "{{ $value | nosuch }}": function "nosuch" not defined`,
		"{{ $labels.a }} {{ $label.b }}":                   `16 "{{ $label.b }}": undefined variable "$label"`,
		"a\nb {{ if $value }}\nc":                          `4 "{{ if $value }}": unexpected EOF`,
		"a {{ end }}":                                      `2 "{{ end }}": unexpected {{end}}`,
		"a {{ $value":                                      `2 "{{ $value": unclosed action`,
		"{{ range query `up` }}{{ .x y }}{{ end }}":        `22 "{{ .x y }}": function "y" not defined`,
		`{{ if eq $labels.a "}}" }}x{{ end }}`:             "",
		"{{/* a comment */}}{{- $value -}}":                "",
		"{{ define \"x\" }}y{{ end }}{{ template \"x\" }}": "",
	} {
		got := ""
		if parsed := ParseTemplate(text(tmpl)); parsed != nil && parsed.Err != nil {
			got = place(parsed.Err.Span) + ": " + parsed.Err.Message
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", tmpl, got, want)
		}
	}
}

func TestSimpleTemplates(t *testing.T) {
	for tmpl, want := range map[string]bool{
		"{{ $labels.a_b1 }} {{$value}} {{ .Labels.a }} {{- .Value | humanize -}}": true,
		"{{ $value | humanizePercentage }}":                                       true,
		"{{ $value|humanize1024 }}":                                               true,
		"{{ $labels.a | humanize }}":                                              false, // may be no number
		"{{ $labels.a.b }}":                                                       false,
		"{{ $labels.1a }}":                                                        false,
		"{{ $labels. a }}":                                                        false,
		"{{ $labels.a-b }}":                                                       false,
		"{{ $value | humanize | title }}":                                         false,
		"{{ $value | nosuch }}":                                                   false,
		"{{ if $value }}{{ end }}":                                                false,
		"{{ $value":                                                               false,
		"{{-$value }}":                                                            false,
		"{{}}":                                                                    false,
	} {
		parsed := ParseTemplate(text(tmpl))
		if parsed.Simple != want {
			t.Errorf("%s: Simple = %v", tmpl, parsed.Simple)
		}
		if _, err := parseTree(tmpl); parsed.Simple && err != nil {
			t.Errorf("%s is simple, and does not parse: %v", tmpl, err)
		}
		if (parsed.Tree() == nil) != (parsed.Err != nil) {
			t.Errorf("%s: Tree() is %v, Err %v", tmpl, parsed.Tree(), parsed.Err)
		}
	}
}

// TestTemplateFunctions compares the names that templates may call with those
// of the table in Prometheus, which it does not export.
func TestTemplateFunctions(t *testing.T) {
	e := template.NewTemplateExpander(t.Context(), "", "", template.AlertTemplateData(nil, nil, "", promql.Sample{}), model.Time(0), nil, nil, nil)
	table := reflect.ValueOf(e).Elem().FieldByName("funcMap")
	if !table.IsValid() {
		t.Fatal("Prometheus' Expander has no field funcMap any more")
	}
	want := map[string]bool{}
	for _, key := range table.MapKeys() {
		want[key.String()] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), TemplateFunctions()); diff != "" {
		t.Errorf("template functions (-Prometheus +here):\n%s", diff)
	}
}

func FuzzExpr(f *testing.F) {
	for _, seed := range []string{
		`sum by (a) (rate(x{b=~"c|d"}[5m] offset 1h)) / on (a) group_left (e) y > bool 0.5`,
		`{"a.b", c!=""} @ start()`, "(((", `up{a="`, "1 ^ -2", "x[1h:5m]", "${A}", "a # b\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := Parse(text(s))
		for _, err := range e.Errors {
			if err.Span.Start > err.Span.End || err.Span.End > len(s) {
				t.Fatalf("error span [%d,%d) of %d bytes", err.Span.Start, err.Span.End, len(s))
			}
		}
		e.Normal()
		e.Inspect(func(n parser.Node, _ []parser.Node) {
			e.At(n)
			switch n := n.(type) {
			case *parser.VectorSelector:
				e.Name(n)
				for _, m := range e.Matchers(n) {
					if m.Value.Text() == "" {
						t.Fatalf("matcher %s has no place", m)
					}
				}
			case *parser.AggregateExpr:
				for _, l := range n.Grouping {
					e.Grouping(n, l)
				}
			}
		})
		if tmpl := ParseTemplate(text(s)); tmpl != nil {
			tmpl.Actions()
			if _, err := parseTree(s); tmpl.Simple && err != nil {
				t.Fatalf("simple, and does not parse: %v", err)
			}
		}
	})
}
