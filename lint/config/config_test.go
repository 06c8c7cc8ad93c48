// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// bounds decodes itself, from a number or a mapping.
type bounds struct{ Low, High int }

func (b *bounds) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&b.High)
	}
	return n.Decode((*struct{ Low, High int })(b))
}

type lengthOptions struct {
	Max     int               `yaml:"max" doc:"Longest length."`
	Words   []string          `yaml:"words" doc:"Words."`
	Names   map[string]string `yaml:"names" doc:"Names."`
	Bounds  bounds            `yaml:"bounds" doc:"Bounds."`
	Strict  bool              `yaml:"strict" doc:"Whether it is strict."`
	Dialect string            `yaml:"dialect" shared:"dialect" doc:"The dialect."`
	Extra   bool              `yaml:"extra" shared:"promql.extra" doc:"Whether there is more."`
}

func (o lengthOptions) Validate() error {
	if o.Max < 0 {
		return fmt.Errorf("max is %d, which is less than 0", o.Max)
	}
	if o.Dialect != "" && o.Dialect != "thanos" && o.Dialect != "mimir" {
		return fmt.Errorf("dialect %q is none of thanos, mimir", o.Dialect)
	}
	return nil
}

// seen is what a check reports of its options when it runs.
var seen map[string]lengthOptions

func testChecks() []*lint.Check {
	options := func(id string) lint.Handler {
		return lint.With(lengthOptions{Max: 10, Words: []string{"a", "b"}, Names: map[string]string{"k": "v"}}, func(_ *lint.Pass, _ int, o lengthOptions) { seen[id] = o })
	}
	plain := lint.On(func(*lint.Pass, int) {})
	return []*lint.Check{
		{ID: "alert/length", Severity: lint.Warning, Doc: lint.Doc{Title: "too long"}, Run: options("alert/length")},
		{ID: "alert/name", Severity: lint.Error, Run: plain},
		{ID: "group/length", Severity: lint.Warning, OptIn: true, Run: options("group/length")},
		{ID: "promql/rate", Severity: lint.Error, Run: plain},
	}
}

func load(text string, in Input) (*Config, error) {
	if text != "" {
		in.File = source.NewFileString(".monitoringlinter.yaml", text)
	}
	in.Checks = testChecks()
	if in.Root == "" {
		in.Root = "."
	}
	return Load(in)
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"comments only", "# nothing\n", ""},
		{"not YAML", "checks: [\n", "1:1: did not find expected node content"},
		{"a list", "- a\n", "1:1: a configuration is a mapping of keys, not a list"},
		{"an alias", "a: &x 1\nb: *x\n", "2:4: aliases are not allowed in a configuration"},
		{"nesting", "checks: " + strings.Repeat("[", 60) + strings.Repeat("]", 60), "1:59: the configuration is nested more than 50 deep"},
		{"a key that is a list", "[a]: b\n", "1:1: a key must be text"},
		{"a key twice", "checks: {}\nchecks: {}\n", `2:1: key "checks" stands twice in one mapping`},
		{"unknown key", "check: {}\n", `1:1: unknown key "check" in the configuration; did you mean "checks"?`},
		{"unknown key near to none", "runbooks: []\n", `1:1: unknown key "runbooks" in the configuration; it has checks, dialect, exclude, extends, overrides, promql`},
		{"unknown nested key", "promql: {extras: true}\n", `1:10: unknown key "extras" in promql; did you mean "extra"?`},
		{"nested key that is text", "promql: yes\n", "1:9: promql must be a mapping of extra"},
		{"unknown preset", "extends: [strct]\n", `1:11: unknown preset "strct"; did you mean "strict"?`},
		{"exclude is a mapping", "exclude: {a: b}\n", "1:10: exclude must be a list, not a mapping"},
		{"a bad glob", "exclude: ['a[']\n", `1:11: exclude: "a[" is no valid glob`},
		{"unknown check", "checks:\n  alert/lenght: off\n", `2:3: unknown check "alert/lenght"; did you mean "alert/length"?`},
		{"unknown check near to none", "checks:\n  foo/bar: off\n", "2:3: unknown check \"foo/bar\"; `monitoringlinter checks` lists them"},
		{"a glob that matches no check", "checks:\n  foo/*: off\n", `2:3: no check matches "foo/*"`},
		{"unknown severity", "checks:\n  alert/name: warn\n", `2:15: "warn" is none of off, on, info, warning, error`},
		{"near severity", "checks:\n  alert/name: {severity: eror}\n", `2:26: "eror" is none of off, on, info, warning, error; did you mean "error"?`},
		{"a list for a check", "checks:\n  alert/name: [off]\n", "2:15: alert/name is set to off, on, a severity, or a mapping of options, not to a list"},
		{"options for a glob", "checks:\n  alert/*: {max: 1}\n", "2:13: a glob sets only a severity: options are those of one check"},
		{"unknown option", "checks:\n  alert/length: {mx: 1}\n", `2:18: alert/length has no option "mx"; did you mean "max"?`},
		{"an option of a check that has none", "checks:\n  alert/name: {max: 1}\n", `2:16: alert/name has no option "max"; it has none`},
		{"an option of the wrong type", "checks:\n  alert/length: {max: long}\n", "2:23: alert/length: option max: cannot turn the text `long` into a number"},
		{"two faults", "checks:\n  alert/length: {max: long, words: {a: b}}\n", "2:23: alert/length: option max: cannot turn the text `long` into a number\n2:36: alert/length: option words: cannot turn a mapping into a list of text"},
		{"an option that does not validate", "checks:\n  alert/length: {max: -1}\n", "2:23: alert/length: max is -1, which is less than 0"},
		{"a shared option that does not validate", "dialect: cortex\n", "1:10: alert/length: dialect \"cortex\" is none of thanos, mimir\n1:10: group/length: dialect \"cortex\" is none of thanos, mimir"},
		{"an option of a check that is off", "checks:\n  group/length: {severity: off, max: long}\n", "2:38: group/length: option max: cannot turn the text `long` into a number"},
		{"an override without a scope", "overrides:\n- checks: {alert/name: off}\n", "2:3: an override needs paths or objects: what holds everywhere stands under checks"},
		{"an unknown key of an override", "overrides:\n- path: [a]\n  paths: [b]\n", `2:3: unknown key "path" in the override; did you mean "paths"?`},
		{"an unknown key of objects", "overrides:\n- objects: {label: {a: b}}\n", `2:13: unknown key "label" in objects; did you mean "labels"?`},
		{"objects that is text", "overrides:\n- objects: a\n", "2:12: objects must be a mapping of kind, name, namespace, group, labels or annotations"},
		{"a bad option in an override", "overrides:\n- paths: [a]\n  checks: {alert/length: {max: long}}\n", "3:32: alert/length: option max: cannot turn the text `long` into a number"},
	} {
		_, err := load(tt.text, Input{})
		got := ""
		if err != nil {
			got = strings.ReplaceAll(err.Error(), ".monitoringlinter.yaml:", "")
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestCommandLineErrors(t *testing.T) {
	_, err := load("", Input{Presets: []string{"nope"}, Enable: []string{"alert/nam"}, Disable: []string{"x/*"}})
	want := "--preset: unknown preset \"nope\"; there are default, kubevirt, openshift, strict\n" +
		"--enable: unknown check \"alert/nam\"; did you mean \"alert/name\"?\n" +
		"--disable: unknown check \"x/*\"; `monitoringlinter checks` lists them"
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	var errs Errors
	if !errors.As(err, &errs) || len(errs) != 3 {
		t.Errorf("Load returns %T", err)
	}
}

// describe returns the checks of a profile with their severities.
func describe(p *lint.Profile) string {
	var out []string
	for _, a := range p.Active {
		s := a.Check.ID
		if a.Severity != lint.Unset {
			s += "=" + a.Severity.String()
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestLayers(t *testing.T) {
	const all = "alert/length alert/name promql/rate"
	for _, tt := range []struct {
		name, text string
		in         Input
		path       string
		origin     *lint.Origin
		want       string
	}{
		{"nothing", "", Input{}, "a.yaml", nil, all},
		{"off", "checks: {alert/name: off}", Input{}, "a.yaml", nil, "alert/length promql/rate"},
		{"off as YAML 1.1 has it", "checks: {alert/name: false}", Input{}, "a.yaml", nil, "alert/length promql/rate"},
		{"a severity", "checks: {alert/name: info}", Input{}, "a.yaml", nil, "alert/length alert/name=info promql/rate"},
		{"a severity among options", "checks: {alert/length: {severity: error, max: 1}}", Input{}, "a.yaml", nil, "alert/length=error alert/name promql/rate"},
		{"a glob", "checks: {'alert/*': off}", Input{}, "a.yaml", nil, "promql/rate"},
		{"an ID wins over a glob", "checks: {alert/name: error, 'alert/*': off, '*': info}", Input{}, "a.yaml", nil, "alert/name=error promql/rate=info"},
		{"an opt-in check turned on", "checks: {group/length: on}", Input{}, "a.yaml", nil, "alert/length alert/name group/length promql/rate"},
		{"an opt-in check configured", "checks: {group/length: {max: 1}}", Input{}, "a.yaml", nil, "alert/length alert/name group/length promql/rate"},
		{"a glob does not turn on an opt-in check", "checks: {'group/*': error}", Input{}, "a.yaml", nil, all},
		{"--disable", "checks: {alert/name: error}", Input{Disable: []string{"alert/*"}}, "a.yaml", nil, "promql/rate"},
		{"--enable wins over a glob of --disable", "checks: {alert/name: info}", Input{Enable: []string{"alert/name"}, Disable: []string{"*"}}, "a.yaml", nil, "alert/name=info"},
		{"--enable of an opt-in check", "", Input{Enable: []string{"group/length"}}, "a.yaml", nil, "alert/length alert/name group/length promql/rate"},
		{"a preset", "extends: [strict]", Input{}, "a.yaml", nil, all},
		{"an override for a path", "overrides: [{paths: ['legacy/**'], checks: {'alert/*': info}}]", Input{}, "legacy/a/b.yaml", nil, "alert/length=info alert/name=info promql/rate"},
		{"an override for another path", "overrides: [{paths: ['legacy/**'], checks: {'alert/*': info}}]", Input{}, "new/a.yaml", nil, all},
		{"a later override wins", "overrides: [{paths: ['**'], checks: {alert/name: info}}, {paths: ['a.*'], checks: {alert/name: off}}]", Input{}, "a.yaml", nil, "alert/length promql/rate"},
		{"an override for an object", "overrides: [{objects: {labels: {part-of: kube-*}}, checks: {promql/rate: off}}]", Input{}, "a.yaml",
			&lint.Origin{Labels: map[string]string{"part-of": "kube-prometheus"}}, "alert/length alert/name"},
		{"an override for another object", "overrides: [{objects: {labels: {part-of: kube-*}}, checks: {promql/rate: off}}]", Input{}, "a.yaml", &lint.Origin{Labels: map[string]string{"part-of": "etcd"}}, all},
		{"an override for a group", "overrides: [{objects: [{group: 'a*'}, {kind: VMRule, name: x, namespace: y, annotations: {k: v}}], checks: {promql/rate: off}}]", Input{}, "a.yaml",
			&lint.Origin{Group: "abc"}, "alert/length alert/name"},
		{"objects and a path", "overrides: [{paths: [b.yaml], objects: {group: abc}, checks: {promql/rate: off}}]", Input{}, "a.yaml", &lint.Origin{Group: "abc"}, all},
		{"the project has what any override turns on", "checks: {alert/name: off}\noverrides: [{paths: [b.yaml], checks: {alert/name: info}}]", Input{}, "", nil, "alert/length alert/name=info promql/rate"},
		{"paths are relative to the file", "overrides: [{paths: ['legacy/**'], checks: {'*': off}}]", Input{Root: ".."}, "a.yaml", nil, all},
		{"a path above the file", "overrides: [{paths: ['**'], checks: {'*': off}}]", Input{}, "../a.yaml", nil, all},
	} {
		c, err := load(tt.text, tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for range 2 { // the second time from the cache
			if got := describe(c.Profile(tt.path, tt.origin)); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
			}
		}
	}
}

func TestRootBelow(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "team", "rules")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(sub)
	c, err := load("exclude: [team/rules/old]\noverrides: [{paths: ['team/**'], checks: {'*': off}}]", Input{Root: "../.."})
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(c.Profile("a.yaml", nil)); got != "" {
		t.Errorf("a.yaml has %s, and the override for team/** should match it", got)
	}
	for path, want := range map[string]bool{"old": true, "old/a.yaml": true, "older": false, "../old": false} {
		if got := c.Excluded(path); got != want {
			t.Errorf("Excluded(%s) = %v", path, got)
		}
	}
}

func TestExcluded(t *testing.T) {
	c, err := load("exclude: ['vendor', './gen/**', '*.json', '**/testdata/']", Input{})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"vendor": true, "vendor/a/b.yaml": true, "a/vendor": false, "gen/a.yaml": true, "gen/a/b.yaml": true,
		"a.json": true, "a/b.json": false, "a/testdata/b.yaml": true, "testdata": true, "b.yaml": false,
	} {
		if got := c.Excluded(path); got != want {
			t.Errorf("Excluded(%s) = %v", path, got)
		}
	}
}

func TestOptions(t *testing.T) {
	defaults := lengthOptions{Max: 10, Words: []string{"a", "b"}, Names: map[string]string{"k": "v"}}
	with := func(change func(*lengthOptions)) lengthOptions { o := defaults; change(&o); return o }
	for _, tt := range []struct {
		name, text, path string
		want             lengthOptions
	}{
		{"defaults", "", "a.yaml", defaults},
		{"one option leaves the others", "checks: {alert/length: {max: 3}}", "a.yaml", with(func(o *lengthOptions) { o.Max = 3 })},
		{"a list replaces the default", "checks: {alert/length: {words: [c]}}", "a.yaml", with(func(o *lengthOptions) { o.Words = []string{"c"} })},
		{"a mapping replaces the default", "checks: {alert/length: {names: {x: y}}}", "a.yaml", with(func(o *lengthOptions) { o.Names = map[string]string{"x": "y"} })},
		{"an option that decodes itself", "checks: {alert/length: {bounds: 7}}", "a.yaml", with(func(o *lengthOptions) { o.Bounds.High = 7 })},
		{"layers add up", "checks: {alert/length: {max: 3, strict: true}}\noverrides: [{paths: [a.*], checks: {alert/length: {max: 4}}}]", "a.yaml",
			with(func(o *lengthOptions) { o.Max, o.Strict = 4, true })},
		{"a shared key", "dialect: thanos\npromql: {extra: true}", "a.yaml", with(func(o *lengthOptions) { o.Dialect, o.Extra = "thanos", true })},
		{"the check's own option wins over a shared key", "dialect: thanos\nchecks: {alert/length: {dialect: mimir}}", "a.yaml", with(func(o *lengthOptions) { o.Dialect = "mimir" })},
		{"a shared key in an override", "dialect: thanos\noverrides: [{paths: [a.*], dialect: mimir}]", "a.yaml", with(func(o *lengthOptions) { o.Dialect = "mimir" })},
	} {
		c, err := load(tt.text, Input{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		seen = map[string]lengthOptions{}
		for _, a := range c.Profile(tt.path, nil).Active {
			a.Func(nil, 1)
		}
		if diff := cmp.Diff(tt.want, seen["alert/length"]); diff != "" {
			t.Errorf("%s: options (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{"repo/.git/x", "repo/.monitoringlinter.yaml", "repo/a/b/x", "other/.git/x", "other/a/x", ".monitoringlinter.yml"} {
		p = filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{"repo/a/b": "repo/.monitoringlinter.yaml", "repo": "repo/.monitoringlinter.yaml", "other/a": "", ".": ".monitoringlinter.yml"} {
		got, ok := Find(filepath.Join(dir, from))
		if ok {
			got, _ = filepath.Rel(dir, got)
		}
		if filepath.ToSlash(got) != want {
			t.Errorf("Find(%s) = %s, want %s", from, got, want)
		}
	}
}

// TestPresets loads each preset. That its checks exist and take its options is
// a test of the command, which knows the checks.
func TestPresets(t *testing.T) {
	for _, p := range Presets() {
		if p.Description == "" {
			t.Errorf("preset %s does not say what it is for", p.Name)
		}
		if _, err := load("", Input{Presets: []string{p.Name}}); err != nil {
			t.Errorf("preset %s: %v", p.Name, err)
		}
	}
}

func TestSchema(t *testing.T) {
	data, err := Schema(testChecks())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		"extends: [strict]\nexclude: [a]\nchecks: {alert/name: off, 'alert/*': info}":  true,
		"checks: {alert/length: {severity: error, max: 1, words: [a], names: {a: b}}}": true,
		"overrides: [{paths: [a], objects: {labels: {a: b}}, checks: {}, dialect: x}]": true,
		"promql: {extra: true}":                    true,
		"promql: {extras: true}":                   false,
		"checks: {alert/nam: off}":                 false,
		"checks: {alert/name: warn}":               false,
		"checks: {alert/length: {max: long}}":      false,
		"checks: {alert/length: {mx: 1}}":          false,
		"overrides: [{checks: {alert/name: off}}]": false,
		"check: {}": false,
	} {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); (err == nil) != valid {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := load(text, Input{}); valid != (err == nil) && !strings.Contains(text, "dialect: x") {
			t.Errorf("%s: the schema and Load disagree: %v", text, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("extends: [strict]\nexclude: [a]\nchecks: {alert/name: off, 'alert/*': info}\n")
	f.Add("checks:\n  alert/length: {severity: error, max: 1, words: [a], names: {a: b}, bounds: {low: 1}}\n")
	f.Add("overrides:\n- paths: [a]\n  objects: [{labels: {a: b}}]\n  checks: {promql/rate: on}\n  dialect: x\n")
	f.Add("promql: {extra: yes}\n? [a]\n: b\n")
	f.Add("a: &a [*a]\n")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := load(s, Input{})
		if err != nil {
			var errs Errors
			if !errors.As(err, &errs) {
				t.Fatalf("Load returns %T", err)
			}
			for _, e := range errs {
				if sp := e.Span; sp.Start < 0 || sp.Start > sp.End || sp.End > len(s) {
					t.Fatalf("%s: span [%d,%d) of %d bytes", e.Message, sp.Start, sp.End, len(s))
				}
			}
			return
		}
		c.Excluded("a/b.yaml")
		c.Profile("a/b.yaml", &lint.Origin{Group: "g", Labels: map[string]string{"a": "b"}})
		c.Profile("", nil)
	})
}

func BenchmarkProfile(b *testing.B) {
	c, err := load("overrides:\n- {paths: ['legacy/**'], checks: {'alert/*': info}}\n- {objects: {labels: {a: b}}, checks: {promql/rate: off}}\n", Input{})
	if err != nil {
		b.Fatal(err)
	}
	origin := &lint.Origin{Labels: map[string]string{"a": "b"}}
	for b.Loop() {
		c.Profile("legacy/a.yaml", origin)
	}
}
