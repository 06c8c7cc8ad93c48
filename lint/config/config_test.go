// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A probe is a node that records the options of the check that looks at it.
type probe struct{ options any }

func declare[O any](id string, severity lint.Severity, optIn bool, defaults O) *lint.Check {
	return &lint.Check{
		ID: id, Severity: severity, OptIn: optIn, Doc: lint.Doc{Title: "title of " + id},
		Run: lint.With(defaults, func(_ *lint.Pass, p *probe, o O) { p.options = o }),
	}
}

type severityOptions struct {
	Allowed  []string `yaml:"allowed" doc:"Values that the label may have."`
	Constant []string `yaml:"constant" doc:"Values for constant alerts."`
}

type forOptions struct {
	Min bounds `yaml:"min" doc:"Shortest."`
	Max bounds `yaml:"max" doc:"Longest."`
}

func (o forOptions) Validate() error {
	if o.Max["default"] > 0 && o.Min["default"] > o.Max["default"] {
		return fmt.Errorf("min %s is above max %s", o.Min["default"], o.Max["default"])
	}
	return nil
}

// bounds are written as one duration or as a map of them.
type bounds map[string]time.Duration

func (b *bounds) UnmarshalYAML(n *yaml.Node) error {
	written := map[string]string{}
	if n.Kind == yaml.ScalarNode {
		written["default"] = n.Value
	} else if err := n.Decode(&written); err != nil {
		return err
	}
	*b = bounds{}
	for _, key := range slices.Sorted(maps.Keys(written)) {
		d, err := time.ParseDuration(written[key])
		if err != nil {
			return fmt.Errorf("line %d: %q is not a duration", n.Line, written[key])
		}
		(*b)[key] = d
	}
	return nil
}

type nameOptions struct {
	Pattern   string  `yaml:"pattern" doc:"What the name matches."`
	MaxLength int     `yaml:"max-length" doc:"Most characters."`
	Ratio     float64 `yaml:"ratio"`
	Fold      bool    `yaml:"fold"`
}

// A keyed error names the option that it is about.
type keyed struct{ key, text string }

func (k keyed) Error() string { return k.text }
func (k keyed) Key() string   { return k.key }

func (o *nameOptions) Validate() error {
	if o.MaxLength < 0 {
		return fmt.Errorf("validating: %w", keyed{"max-length", "a length can't be negative"})
	}
	if strings.HasPrefix(o.Pattern, "(") {
		return errors.New("no pattern can begin so")
	}
	return nil
}

type labelsOptions struct {
	Allowed map[string][]string `yaml:"allowed"`
	Pattern map[string]string   `yaml:"pattern"`
}

type limits struct {
	Low  int `yaml:"low" doc:"From."`
	High int `yaml:"high" doc:"To."`
}

type costOptions struct {
	Limits       limits            `yaml:"limits"`
	ByArea       map[string]limits `yaml:"by-area"`
	Experimental bool              `yaml:"experimental" shared:"promql.experimental" doc:"Flags are set."`
}

type schemaOptions struct {
	Dialect string `yaml:"dialect" shared:"dialect" doc:"What reads the rules."`
}

func (o schemaOptions) Validate() error {
	if !slices.Contains([]string{"prometheus", "thanos", "mimir"}, o.Dialect) {
		return fmt.Errorf("dialect %q is none of prometheus, thanos, mimir", o.Dialect)
	}
	return nil
}

type promqlOptions struct {
	Dialect      string `yaml:"dialect" shared:"dialect" doc:"What reads the rules."`
	Experimental bool   `yaml:"experimental" shared:"promql.experimental" doc:"Flags are set."`
}

func (o promqlOptions) Validate() error { return schemaOptions{o.Dialect}.Validate() }

var fakes = []*lint.Check{
	declare("syntax/schema", lint.Error, false, schemaOptions{"prometheus"}),
	declare("syntax/promql", lint.Error, false, promqlOptions{Dialect: "prometheus"}),
	declare("alert/severity", lint.Error, false, severityOptions{Allowed: []string{"critical", "warning"}}),
	declare("alert/for", lint.Warning, false, forOptions{Min: bounds{"default": time.Minute}, Max: bounds{"critical": time.Hour}}),
	declare("alert/name", lint.Warning, true, nameOptions{Pattern: "^[A-Z]"}),
	declare("alert/labels", lint.Error, true, labelsOptions{Allowed: map[string][]string{"team": {"a", "b"}}}),
	declare("promql/cost", lint.Info, true, costOptions{Limits: limits{1, 10}}),
	{ID: "promql/regexp", Severity: lint.Warning, Run: lint.On(func(*lint.Pass, *probe) {})},
}

// byID returns some of the fakes.
func byID(ids ...string) (out []*lint.Check) {
	for _, c := range fakes {
		if slices.Contains(ids, c.ID) {
			out = append(out, c)
		}
	}
	return out
}

const fileName = ".monitoringlinter.yaml"

func file(text string) *source.File { return source.NewFileString(fileName, text) }

func load(t testing.TB, in Input) *Config {
	t.Helper()
	if in.Checks == nil {
		in.Checks = fakes
	}
	c, err := Load(in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// shown returns the checks that are on, a line each: ID, severity, options.
func shown(p *lint.Profile) string {
	var b strings.Builder
	for _, a := range p.Active {
		at := &probe{}
		a.Func(nil, at)
		b.WriteString(a.Check.ID)
		if a.Severity != lint.Unset {
			b.WriteString(" " + a.Severity.String())
		}
		if at.options != nil {
			fmt.Fprintf(&b, " %+v", at.options)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestErrors states for each input what is wrong with it and where.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string // without the path
	}{
		// What is at the top.
		{"a near key", "check: {}\n", []string{`1:1: unknown key "check"; did you mean "checks"?`}},
		{"an unlike key", "rules: 3\n", []string{`1:1: unknown key "rules"; known are extends, exclude, checks, overrides, dialect, promql`}},
		{"a misspelt shared key", "checks: {}\ndialct: thanos\n", []string{`2:1: unknown key "dialct"; did you mean "dialect"?`}},
		{"a key that no check takes", "scrape-interval: 30s\n", []string{`1:1: unknown key "scrape-interval"; known are extends, exclude, checks, overrides, dialect, promql`}},
		{"a key of overrides outside of them", "paths: [a]\n", []string{`1:1: unknown key "paths"; known are extends, exclude, checks, overrides, dialect, promql`}},
		{"a list", "- checks\n", []string{`1:1: the configuration must be a mapping, not a list`}},
		{"text", "checks\n", []string{`1:1: the configuration must be a mapping, not "checks"`}},
		{"two documents", "checks: {}\n---\nchecks: {}\n", []string{`2:1: file holds a second YAML document; the configuration is one`}},
		{"a key twice", "checks: {}\nexclude: []\nchecks: {}\n", []string{`3:1: key "checks" stands here twice; the first is on line 1`}},
		{"a key that is no text", "? [a]\n: 1\n", []string{`1:3: a key must be text, not a list`}},
		{"a merge", "checks:\n  alert/severity: &s {severity: info}\n  alert/for: {<<: *s}\n", []string{`3:15: merge keys (<<) can't be used here; use an alias for the whole value`}},

		// YAML itself.
		{"bad indentation", "checks:\n  alert/for: on\n alert/name: on\n", []string{`2:3: not valid YAML: did not find expected key`}},
		{"an unknown alias", "checks: *nothing\n", []string{`1:1: not valid YAML: unknown anchor 'nothing' referenced`}},
		{"lines that end in CR LF", "checks: {}\r\ncheck: 1\r\n", []string{`2:1: unknown key "check"; did you mean "checks"?`}},
		{"a line break of YAML that other programs do not know", "# \u2028x: 1\ncheck: 1\n", []string{
			`1:6: unknown key "x"; known are extends, exclude, checks, overrides, dialect, promql`,
			`2:1: unknown key "check"; did you mean "checks"?`,
		}},
		{"a tab", "checks:\n\talert/for: on\n", []string{`2:1: not valid YAML: found character that cannot start any token`}},
		{"bytes that are not UTF-8", "checks: {}\n# \xff\n", []string{`2:3: file is not UTF-8`}},
		{"UTF-16", "\xff\xfec\x00", []string{`1:1: file is not UTF-8`}},
		{"a value within itself", "overrides: &o [*o]\n", []string{`1:16: nested deeper than 50 levels`}},

		// Checks.
		{"a near check", "checks:\n  alert/severty: off\n", []string{`2:3: unknown check "alert/severty"; did you mean "alert/severity"?`}},
		{"letters swapped", "checks:\n  alert/nmae: off\n", []string{`2:3: unknown check "alert/nmae"; did you mean "alert/name"?`}},
		{"an unlike check", "checks:\n  alert/blink: off\n", []string{`2:3: unknown check "alert/blink"; monitoringlinter checks lists them`}},
		{"a glob for nothing", "checks:\n  alrt/*: off\n", []string{`2:3: no check matches "alrt/*"; did you mean "alert/*"?`}},
		{"a check twice", "checks:\n  alert/for: off\n  \"alert/for\": on\n", []string{`3:3: key "alert/for" stands here twice; the first is on line 2`}},
		{"a severity misspelt", "checks:\n  alert/for: eror\n", []string{`2:14: unknown severity "eror"; did you mean "error"?`}},
		{"a severity that is none", "checks:\n  alert/for: {severity: fatal}\n", []string{`2:25: unknown severity "fatal"; allowed are error, warning, info, off`}},
		{"on as a severity", "checks:\n  alert/for: {severity: on}\n", []string{`2:25: unknown severity "on"; allowed are error, warning, info, off`}},
		{"no value", "checks:\n  alert/for:\n", []string{`2:13: alert/for must be one of error, warning, info, on, off, not nothing`}},
		{"a list of options", "checks:\n  alert/for: [on]\n", []string{`2:14: alert/for must be on, off, info, warning, error or a mapping of options, not a list`}},
		{"checks as a list", "checks: [alert/for]\n", []string{`1:9: checks must be a mapping, not a list`}},
		{"options of a glob", "checks:\n  alert/*: {min: 5m}\n", []string{`2:13: "alert/*" is a glob, for which only severity can be set; write options under the ID of a check`}},
		{"all faults at once", "check: {}\nchecks:\n  alert/fo: off\n  alert/severity: {alowed: [x], constant: 3}\nextends: [strct]\n", []string{
			`1:1: unknown key "check"; did you mean "checks"?`,
			`3:3: unknown check "alert/fo"; did you mean "alert/for"?`,
			`4:20: alert/severity has no option "alowed"; did you mean "allowed"?`,
			`4:43: constant must be a list, not "3"; write [3]`,
			`5:11: unknown preset "strct"; did you mean "strict"?`,
		}},

		// Options.
		{"a near option", "checks:\n  alert/name: {max-lenght: 3}\n", []string{`2:16: alert/name has no option "max-lenght"; did you mean "max-length"?`}},
		{"an unlike option", "checks:\n  alert/name: {color: red}\n", []string{`2:16: alert/name has no option "color"; it has severity, pattern, max-length, ratio, fold`}},
		{"an option of a check without any", "checks:\n  promql/regexp: {strict: true}\n", []string{`2:19: promql/regexp has no option "strict"; it has severity`}},
		{"text for a number", "checks:\n  alert/name:\n    max-length: many\n", []string{`3:17: max-length must be a whole number, not "many"`}},
		{"a fraction for a whole number", "checks:\n  alert/name: {max-length: 1.5}\n", []string{`2:28: max-length must be a whole number, not "1.5"`}},
		{"text for a fraction", "checks:\n  alert/name: {ratio: half}\n", []string{`2:23: ratio must be a number, not "half"`}},
		{"text for a truth value", "checks:\n  alert/name: {fold: maybe}\n", []string{`2:22: fold must be true or false, not "maybe"`}},
		{"yes for a truth value", "checks:\n  alert/name: {fold: yes}\n", []string{`2:22: fold must be true or false, not "yes"`}},
		{"a number in quotes", "checks:\n  alert/name: {max-length: \"5\"}\n", []string{`2:28: max-length must be a whole number, not "5"`}},
		{"a number that is too large", "checks:\n  alert/name: {max-length: 9223372036854775808}\n", []string{`2:28: max-length must be a whole number, not "9223372036854775808"`}},
		{"a list for text", "checks:\n  alert/name: {pattern: [a]}\n", []string{`2:25: pattern must be text, not a list`}},
		{"text for a list", "checks:\n  alert/severity: {allowed: critical}\n", []string{`2:29: allowed must be a list, not "critical"; write [critical]`}},
		{"a mapping in a list", "checks:\n  alert/severity: {allowed: [a, {b: c}]}\n", []string{`2:33: an item of allowed must be text, not a mapping`}},
		{"nothing for a list", "checks:\n  alert/severity:\n    allowed:\n", []string{`3:13: allowed has no value`}},
		{"nothing in a list", "checks:\n  alert/severity: {allowed: [~]}\n", []string{`2:30: an item of allowed has no value`}},
		{"a list for a mapping", "checks:\n  alert/labels: {allowed: [a]}\n", []string{`2:27: allowed must be a mapping, not a list`}},
		{"text for a list in a mapping", "checks:\n  alert/labels: {allowed: {team: a}}\n", []string{`2:34: allowed.team must be a list, not "a"; write [a]`}},
		{"a key of a mapping twice", "checks:\n  alert/labels:\n    pattern:\n      team: a\n      team: b\n", []string{`5:7: key "team" stands here twice; the first is on line 4`}},
		{"a near key in a struct", "checks:\n  promql/cost: {limits: {lo: 1}}\n", []string{`2:26: limits has no key "lo"; did you mean "low"?`}},
		{"text for a struct", "checks:\n  promql/cost: {limits: 5}\n", []string{`2:25: limits must be a mapping, not "5"`}},
		{"a near key in a mapping of structs", "checks:\n  promql/cost:\n    by-area:\n      alert: {hihg: 1}\n", []string{`4:15: by-area.alert has no key "hihg"; did you mean "high"?`}},
		{"what a type refuses", "checks:\n  alert/for:\n    min: soon\n", []string{`3:10: min: "soon" is not a duration`}},
		{"what a type refuses further down", "checks:\n  alert/for:\n    max:\n      critical: 1h\n      default: late\n", []string{`5:16: max: "late" is not a duration`}},
		{"what a type refuses in flow style", "checks:\n  alert/for: {max: {critical: 1h, default: late}}\n", []string{`2:44: max: "late" is not a duration`}},
		{"a type that is given the wrong kind", "checks:\n  alert/for: {max: [1h]}\n", []string{`2:20: max can't be a list`}},
		{"wide characters before the place", "checks:\n  alert/severity: {allowed: [\"é€😀\", [x]]}\n", []string{`2:43: an item of allowed must be text, not a list`}},

		// What options say of themselves.
		{"an error that begins with an option", "checks:\n  alert/for:\n    max: 1m\n    min: 5m\n", []string{`4:10: alert/for: min 5m0s is above max 1m0s`}},
		{"an error about an option that is not set", "checks:\n  alert/for:\n    max: {default: 1s}\n", []string{`2:3: alert/for: min 1m0s is above max 1s`}},
		{"an error that knows its option", "checks:\n  alert/name:\n    pattern: x\n    max-length: -1\n", []string{`4:17: alert/name: validating: a length can't be negative`}},
		{"an error about the options as a whole", "checks:\n  alert/name: {pattern: (}\n", []string{`2:3: alert/name: no pattern can begin so`}},
		{"options of a check that is off", "checks:\n  alert/name: {severity: off, max-length: -1}\n", []string{`2:43: alert/name: validating: a length can't be negative`}},

		// Keys that several checks share.
		{"a bad value of a shared key", "dialect: influx\n", []string{`1:10: dialect "influx" is none of prometheus, thanos, mimir`}},
		{"the wrong type for a shared key", "dialect: [thanos]\n", []string{`1:10: dialect must be text, not a list`}},
		{"a dotted key as text", "promql: true\n", []string{`1:9: promql must be a mapping, not "true"`}},
		{"a near key below a dotted one", "promql: {experimantal: true}\n", []string{`1:10: promql has no key "experimantal"; did you mean "experimental"?`}},
		{"the wrong type below a dotted key", "promql: {experimental: 1}\n", []string{`1:24: promql.experimental must be true or false, not "1"`}},
		{"the dots written out", "promql.experimental: true\n", []string{`1:1: unknown key "promql.experimental"; known are extends, exclude, checks, overrides, dialect, promql`}},

		// Presets and globs.
		{"a preset without a list", "extends: strict\n", []string{`1:10: extends must be a list, not "strict"; write [strict]`}},
		{"an unlike preset", "extends: [google]\n", []string{`1:11: unknown preset "google"; there are default, strict, kubevirt, openshift`}},
		{"a class that is not closed", "exclude: [\"a[\"]\n", []string{`1:11: bad glob "a[": a bracket or brace lacks its counterpart, or a backslash stands last`}},
		{"a brace that is not closed", "exclude: [\"{a\"]\n", []string{`1:11: bad glob "{a": a bracket or brace lacks its counterpart, or a backslash stands last`}},
		{"a brace that is not opened", "exclude: [\"a}\"]\n", []string{`1:11: bad glob "a}": a bracket or brace lacks its counterpart, or a backslash stands last`}},
		{"an absolute path", "exclude: [/etc]\n", []string{`1:11: glob "/etc": paths begin at the folder of the configuration file; remove the leading /`}},
		{"a negated glob", "exclude: [\"!a\"]\n", []string{`1:11: glob "!a": a glob can't be negated`}},
		{"an empty glob", "exclude: [\"\"]\n", []string{`1:11: glob is empty`}},
		{"too many alternatives", "exclude: [\"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\"]\n", []string{`1:11: glob "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}" has more than 100 alternatives`}},

		// Overrides.
		{"overrides as a mapping", "overrides: {paths: [a]}\n", []string{`1:12: overrides must be a list, not a mapping`}},
		{"an override that is text", "overrides: [a]\n", []string{`1:13: an override must be a mapping, not "a"`}},
		{"an override for everything", "overrides:\n- checks: {alert/for: off}\n", []string{`2:3: an override needs paths or objects; what holds everywhere stands outside of overrides`}},
		{"an override of nothing", "overrides:\n- paths: [a]\n", []string{`2:3: an override without checks or another setting changes nothing`}},
		{"no paths", "overrides:\n- {paths: [], checks: {}}\n", []string{`2:11: paths is empty, so the override holds nowhere`}},
		{"no objects", "overrides:\n- {objects: {}, checks: {}}\n", []string{`2:13: objects names nothing to choose by`}},
		{"no labels", "overrides:\n- {objects: {labels: {}}, checks: {}}\n", []string{`2:22: objects.labels names nothing to choose by`}},
		{"a near key in an override", "overrides:\n- {path: [a], checks: {}}\n", []string{
			`2:3: an override needs paths or objects; what holds everywhere stands outside of overrides`,
			`2:4: unknown key "path"; did you mean "paths"?`,
		}},
		{"a near key of objects", "overrides:\n- {objects: {label: {a: b}}, checks: {}}\n", []string{`2:14: objects has no key "label"; did you mean "labels"?`}},
		{"a list of names", "overrides:\n- {objects: {name: [a]}, checks: {}}\n", []string{`2:20: objects.name must be text, not a list`}},
		{"presets in an override", "overrides:\n- {paths: [a], extends: [strict], checks: {}}\n", []string{`2:16: unknown key "extends"; known are paths, objects, checks, dialect, promql`}},
		{"faults within an override", "overrides:\n- paths: [a]\n  checks: {alert/fur: off}\n  dialect: thanso\n", []string{
			`3:12: unknown check "alert/fur"; did you mean "alert/for"?`,
		}},
		{"options that do not go with those outside", "checks:\n  alert/for: {max: 10m}\noverrides:\n- paths: [a]\n  checks:\n    alert/for: {min: 20m}\n", []string{`6:22: alert/for: min 20m0s is above max 10m0s`}},

		// Text of the input in messages.
		{"control characters", "\"\\e[31mchecks\": {}\n", []string{`1:1: unknown key "\x1b[31mchecks"; known are extends, exclude, checks, overrides, dialect, promql`}},
		{"a long name", strings.Repeat("x", 100) + ": 1\n", []string{`1:1: unknown key "` + strings.Repeat("x", 60) + `…"; known are extends, exclude, checks, overrides, dialect, promql`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(Input{File: file(tt.in), Checks: fakes})
			if diff := cmp.Diff(tt.want, messages(err)); diff != "" {
				t.Errorf("errors of\n%s(-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// messages returns the errors of Load, without the path.
func messages(err error) []string {
	var out []string
	if errs, ok := errors.AsType[Errors](err); ok {
		for _, e := range errs {
			out = append(out, strings.TrimPrefix(e.Error(), fileName+":"))
		}
	}
	return out
}

func TestErrorText(t *testing.T) {
	_, err := Load(Input{File: file("check: 1\ncheks: 1\n"), Checks: fakes, Presets: []string{"strikt"}})
	want := `--preset: unknown preset "strikt"; did you mean "strict"?
.monitoringlinter.yaml:1:1: unknown key "check"; did you mean "checks"?
.monitoringlinter.yaml:2:1: unknown key "cheks"; did you mean "checks"?`
	if err == nil || err.Error() != want {
		t.Errorf("Load = %v, want\n%s", err, want)
	}
	var first *Error
	if !errors.As(err, &first) || !first.Span.IsZero() {
		t.Errorf("first error = %v, want that of the command line", first)
	}
	_, err = Load(Input{File: source.NewFileString("a\n\x1b[2J.yaml", "x: 1"), Checks: byID("promql/regexp")})
	if want := `a\n\x1b[2J.yaml:1:1: unknown key "x"; known are extends, exclude, checks, overrides`; err == nil || err.Error() != want {
		t.Errorf("Load = %v, want %s", err, want)
	}
}

func TestCommandLineErrors(t *testing.T) {
	for _, tt := range []struct {
		in   Input
		want string
	}{
		{Input{Enable: []string{"alert/fro"}}, `--enable: unknown check "alert/fro"; did you mean "alert/for"?`},
		{Input{Disable: []string{"promq/*"}}, `--disable: no check matches "promq/*"; did you mean "promql/*"?`},
		{Input{Enable: []string{"alert/*"}, Disable: []string{"alert/*"}}, `--enable and --disable both name "alert/*"`},
		{Input{Presets: []string{"openshit"}}, `--preset: unknown preset "openshit"; did you mean "openshift"?`},
	} {
		tt.in.Checks = fakes
		if _, err := Load(tt.in); err == nil || err.Error() != tt.want {
			t.Errorf("Load(%+v) = %v, want %s", tt.in, err, tt.want)
		}
	}
}

// settingsTests state which checks are on, how severe, with which options.
var settingsTests = []struct {
	name   string
	checks []string // IDs
	in     string
	want   string
}{
	{
		"nothing is configured", []string{"alert/severity", "alert/name", "promql/regexp"}, "",
		"alert/severity {Allowed:[critical warning] Constant:[]}\npromql/regexp\n",
	},
	{"only comments", []string{"promql/regexp"}, "# nothing\n", "promql/regexp\n"},
	{"a document without content", []string{"promql/regexp"}, "---\n", "promql/regexp\n"},
	{"a byte order mark", []string{"promql/regexp"}, "\ufeffchecks: {promql/regexp: info}\n", "promql/regexp info\n"},
	{"off", []string{"promql/regexp"}, "checks: {promql/regexp: off}\n", ""},
	{"false is off", []string{"promql/regexp"}, "checks: {promql/regexp: false}\n", ""},
	{"severity off", []string{"promql/regexp"}, "checks: {promql/regexp: {severity: off}}\n", ""},
	{"true is on", []string{"alert/name"}, "checks: {alert/name: true}\n", "alert/name {Pattern:^[A-Z] MaxLength:0 Ratio:0 Fold:false}\n"},
	{"a severity turns on", []string{"alert/labels"}, "checks: {alert/labels: info}\n", "alert/labels info {Allowed:map[team:[a b]] Pattern:map[]}\n"},
	{"options turn on", []string{"alert/name"}, "checks: {alert/name: {fold: true, ratio: 1}}\n", "alert/name {Pattern:^[A-Z] MaxLength:0 Ratio:1 Fold:true}\n"},
	{"an empty mapping turns on", []string{"alert/name"}, "checks: {alert/name: {}}\n", "alert/name {Pattern:^[A-Z] MaxLength:0 Ratio:0 Fold:false}\n"},
	{"severity and options", []string{"alert/name"}, "checks: {alert/name: {severity: error, max-length: 50}}\n", "alert/name error {Pattern:^[A-Z] MaxLength:50 Ratio:0 Fold:false}\n"},

	// Values.
	{"a list replaces the default", []string{"alert/severity"}, "checks: {alert/severity: {allowed: [p1]}}\n", "alert/severity {Allowed:[p1] Constant:[]}\n"},
	{"an empty list as well", []string{"alert/severity"}, "checks: {alert/severity: {allowed: []}}\n", "alert/severity {Allowed:[] Constant:[]}\n"},
	{"a mapping replaces the default", []string{"alert/labels"}, "checks: {alert/labels: {allowed: {tier: [x]}}}\n", "alert/labels {Allowed:map[tier:[x]] Pattern:map[]}\n"},
	{"a type of its own too", []string{"alert/for"}, "checks: {alert/for: {max: {page: 5m}}}\n", "alert/for {Min:map[default:1m0s] Max:map[page:5m0s]}\n"},
	{"a struct keeps what is not named", []string{"promql/cost"}, "checks: {promql/cost: {limits: {low: 3}}}\n", "promql/cost {Limits:{Low:3 High:10} ByArea:map[] Experimental:false}\n"},
	{"structs in a mapping", []string{"promql/cost"}, "checks: {promql/cost: {by-area: {alert: {high: 2}}}}\n", "promql/cost {Limits:{Low:1 High:10} ByArea:map[alert:{Low:0 High:2}] Experimental:false}\n"},
	{"numbers and truth values as text", []string{"alert/severity"}, "checks: {alert/severity: {allowed: [1, 3.10, true]}}\n", "alert/severity {Allowed:[1 3.10 true] Constant:[]}\n"},
	{"an alias for a whole value", []string{"alert/severity"}, "checks: {alert/severity: {allowed: &a [x], constant: *a}}\n", "alert/severity {Allowed:[x] Constant:[x]}\n"},

	// Globs.
	{"a glob of a severity", []string{"alert/for", "promql/regexp"}, "checks: {\"promql/*\": error}\n", "alert/for {Min:map[default:1m0s] Max:map[critical:1h0m0s]}\npromql/regexp error\n"},
	{"true for a glob is on", []string{"promql/regexp"}, "checks: {\"*\": off, \"promql/*\": true}\n", "promql/regexp\n"},
	{"a glob turns on nothing that is off until configured", []string{"alert/name", "promql/regexp"}, "checks: {\"*\": on}\n", "promql/regexp\n"},
	{"nor does its severity", []string{"alert/name", "promql/regexp"}, "checks: {\"*\": info}\n", "promql/regexp info\n"},
	{"a glob as a mapping", []string{"promql/regexp"}, "checks: {\"*/regexp\": {severity: info}}\n", "promql/regexp info\n"},
	{"an ID over a glob", []string{"alert/name", "promql/regexp"}, "checks: {alert/name: on, \"*\": off}\n", "alert/name {Pattern:^[A-Z] MaxLength:0 Ratio:0 Fold:false}\n"},
	{"an ID with options takes the severity of a glob", []string{"alert/name"}, "checks: {alert/name: {max-length: 9}, \"alert/*\": info}\n", "alert/name info {Pattern:^[A-Z] MaxLength:9 Ratio:0 Fold:false}\n"},
	{"a longer glob over a shorter one", []string{"alert/severity", "promql/regexp"}, "checks: {\"promql/*\": warning, \"*\": off}\n", "promql/regexp warning\n"},

	// Shared keys.
	{
		"a shared key sets the option of each check", []string{"syntax/schema", "syntax/promql"}, "dialect: thanos\n",
		"syntax/promql {Dialect:thanos Experimental:false}\nsyntax/schema {Dialect:thanos}\n",
	},
	{
		"what is set for the check alone wins", []string{"syntax/schema", "syntax/promql"}, "checks: {syntax/promql: {dialect: mimir}}\ndialect: thanos\n",
		"syntax/promql {Dialect:mimir Experimental:false}\nsyntax/schema {Dialect:thanos}\n",
	},
	{"a dotted key", []string{"syntax/promql"}, "promql: {experimental: true}\n", "syntax/promql {Dialect:prometheus Experimental:true}\n"},
	{"a shared key turns nothing on", []string{"promql/cost"}, "promql: {experimental: true}\n", ""},

	// Presets.
	{"a preset", []string{"alert/severity", "alert/for"}, "extends: [strict]\n", "alert/for {Min:map[default:1m0s] Max:map[critical:1h0m0s]}\nalert/severity error {Allowed:[critical warning info] Constant:[]}\n"},
	{"the file over its presets, option by option", []string{"alert/severity"}, "checks: {alert/severity: {constant: [none]}}\nextends: [strict]\n", "alert/severity error {Allowed:[critical warning info] Constant:[none]}\n"},
	{"off over a preset", []string{"alert/severity"}, "extends: [strict]\nchecks: {alert/severity: off}\n", ""},
	{"a preset that turns on", []string{"alert/name"}, "extends: [openshift]\n", "alert/name error {Pattern:^[A-Z] MaxLength:0 Ratio:0 Fold:false}\n"},
	{"a later preset over an earlier one", []string{"alert/name"}, "extends: [openshift, kubevirt, openshift]\n", "alert/name error {Pattern:^[A-Z] MaxLength:50 Ratio:0 Fold:false}\n"},
}

func TestSettings(t *testing.T) {
	for _, tt := range settingsTests {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, Input{File: file(tt.in), Checks: byID(tt.checks...)})
			if diff := cmp.Diff(tt.want, shown(c.Profile("rules.yaml", nil))); diff != "" {
				t.Errorf("profile under\n%s(-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestCommandLine(t *testing.T) {
	const in = `
checks: {alert/for: off, promql/regexp: error, alert/name: {max-length: 7}}
overrides:
- paths: [legacy]
  checks: {alert/name: off, promql/regexp: off}
`
	checks := byID("alert/for", "promql/regexp", "alert/name")
	const alertFor = "alert/for {Min:map[default:1m0s] Max:map[critical:1h0m0s]}\n"
	const alertName = "alert/name {Pattern:^[A-Z] MaxLength:7 Ratio:0 Fold:false}\n"
	for _, tt := range []struct {
		name            string
		enable, disable []string
		path            string
		want            string
	}{
		{"nothing", nil, nil, "a.yaml", alertName + "promql/regexp error\n"},
		{"enable over the file", []string{"alert/for"}, nil, "a.yaml", alertFor + alertName + "promql/regexp error\n"},
		{"enable over overrides", []string{"alert/name"}, nil, "legacy/a.yaml", alertName},
		{"a glob turns on what is on by default", []string{"*"}, nil, "legacy/a.yaml", alertFor + "promql/regexp error\n"},
		{"disable over the file", nil, []string{"promql/*"}, "a.yaml", alertName},
		{"only one check", []string{"promql/regexp"}, []string{"*"}, "a.yaml", "promql/regexp error\n"},
		{"all but one check", []string{"alert/*"}, []string{"alert/name"}, "a.yaml", alertFor + "promql/regexp error\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, Input{File: file(in), Checks: checks, Enable: tt.enable, Disable: tt.disable})
			if diff := cmp.Diff(tt.want, shown(c.Profile(tt.path, nil))); diff != "" {
				t.Errorf("profile (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPresetOfCommandLine: it is a base like one that the file extends, which
// it wins over; the settings of the file hold on it.
func TestPresetOfCommandLine(t *testing.T) {
	c := load(t, Input{
		File:    file("extends: [kubevirt]\nchecks: {alert/severity: {allowed: [p1]}}\n"),
		Presets: []string{"openshift"}, Checks: byID("alert/severity", "alert/name"),
	})
	want := "alert/name error {Pattern:^[A-Z] MaxLength:50 Ratio:0 Fold:false}\nalert/severity error {Allowed:[p1] Constant:[]}\n"
	if diff := cmp.Diff(want, shown(c.Profile("a.yaml", nil))); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
}

func TestOverrides(t *testing.T) {
	const in = `
checks:
  alert/for: {min: 2m, max: 3m}
overrides:
- paths: ["legacy/**"]
  checks: {"alert/*": info}
- paths: ["legacy/**/hot.yaml"]
  checks: {alert/for: {min: 1s}}
- objects: {labels: {app.kubernetes.io/part-of: "kube-*", tier: "*"}}
  checks: {promql/regexp: off}
- objects: {kind: PrometheusRule, namespace: monitoring, name: "*-rules", group: node.*, annotations: {owner: other}}
  checks: {"*": off}
- paths: [thanos/]
  dialect: thanos
- paths: [thanos]
  objects: {group: mimir}
  checks: {syntax/schema: {dialect: mimir}}
`
	const (
		schema = "syntax/schema {Dialect:prometheus}\n"
		from   = "alert/for {Min:map[default:2m0s] Max:map[default:3m0s]}\n"
		regexp = "promql/regexp\n"
	)
	mixin := map[string]string{"app.kubernetes.io/part-of": "kube-prometheus", "tier": "1"}
	object := lint.Origin{Kind: "PrometheusRule", Namespace: "monitoring", Name: "node-rules", Group: "node.cpu", Annotations: map[string]string{"owner": "other"}}
	c := load(t, Input{File: file(in), Checks: byID("alert/for", "promql/regexp", "syntax/schema")})
	for _, tt := range []struct {
		name, path string
		origin     *lint.Origin
		want       string
	}{
		{"no override", "a.yaml", nil, from + regexp + schema},
		{"an object that none is for", "a.yaml", &lint.Origin{Kind: "PrometheusRule"}, from + regexp + schema},
		{"a path", "legacy/x/a.yaml", nil, "alert/for info {Min:map[default:2m0s] Max:map[default:3m0s]}\n" + regexp + schema},
		{"a path that is not clean", "./legacy/../legacy/a.yaml", nil, "alert/for info {Min:map[default:2m0s] Max:map[default:3m0s]}\n" + regexp + schema},
		{"a folder of a like name", "legacy-not/a.yaml", nil, from + regexp + schema},
		{"two paths, option by option", "legacy/hot.yaml", nil, "alert/for info {Min:map[default:1s] Max:map[default:3m0s]}\n" + regexp + schema},
		{"labels", "a.yaml", &lint.Origin{Labels: mixin}, from + schema},
		{"one label of two", "a.yaml", &lint.Origin{Labels: map[string]string{"app.kubernetes.io/part-of": "kube-prometheus"}}, from + regexp + schema},
		{"a path and labels", "legacy/a.yaml", &lint.Origin{Labels: mixin}, "alert/for info {Min:map[default:2m0s] Max:map[default:3m0s]}\n" + schema},
		{"all that objects names", "a.yaml", &object, ""},
		{"all but one", "a.yaml", &lint.Origin{Kind: "PrometheusRule", Namespace: "monitoring", Name: "node-rules", Group: "node.cpu"}, from + regexp + schema},
		{"a shared key below a folder", "thanos/x/a.yaml", nil, from + regexp + "syntax/schema {Dialect:thanos}\n"},
		{"an object below a folder", "thanos/a.yaml", &lint.Origin{Group: "mimir"}, from + regexp + "syntax/schema {Dialect:mimir}\n"},
		{"that object elsewhere", "a.yaml", &lint.Origin{Group: "mimir"}, from + regexp + schema},
		{"an object of no file", "", &lint.Origin{Labels: mixin}, from + schema},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shown(c.Profile(tt.path, tt.origin))); diff != "" {
				t.Errorf("profile (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOverrideTurnsChecksOnAndOff(t *testing.T) {
	const in = `
checks: {alert/for: off}
overrides:
- paths: [a]
  checks: {alert/name: {severity: info, max-length: 1}}
- paths: [a/b]
  checks: {alert/name: off}
- paths: [a/b/c]
  checks: {alert/name: on}
- paths: [d]
  checks: {"alert/*": error}
- paths: [e]
  checks: {"alert/*": on}
`
	const name = "alert/name info {Pattern:^[A-Z] MaxLength:1 Ratio:0 Fold:false}\n"
	c := load(t, Input{File: file(in), Checks: byID("alert/for", "alert/name")})
	for _, tt := range []struct{ path, want, reason string }{
		{"x.yaml", "", "one is off by default, the other by the file"},
		{"a/x.yaml", name, "the ID turns on"},
		{"a/b/x.yaml", "", "a later override turns off"},
		{"a/b/c/x.yaml", name, "on restores what was set before"},
		{"d/x.yaml", "", "the severity of a glob leaves off what is off"},
		{"e/x.yaml", "alert/for {Min:map[default:1m0s] Max:map[critical:1h0m0s]}\n", "a glob turns on only what is on by default"},
	} {
		if diff := cmp.Diff(tt.want, shown(c.Profile(tt.path, nil))); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.path, tt.reason, diff)
		}
	}
}

// TestOverridesThatDoNotGoTogether: each is valid alone, and the last one holds.
func TestOverridesThatDoNotGoTogether(t *testing.T) {
	const in = `
checks: {alert/for: {max: 1h}}
overrides:
- paths: [a]
  checks: {alert/for: {severity: info, min: 30m}}
- paths: [a/b]
  checks: {alert/for: {max: 10m}}
- paths: [a/b]
  checks: {alert/for: error}
`
	c := load(t, Input{File: file(in), Checks: byID("alert/for")})
	want := "alert/for error {Min:map[default:1m0s] Max:map[default:10m0s]}\n"
	if diff := cmp.Diff(want, shown(c.Profile("a/b/x.yaml", nil))); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
}

func TestProjectProfile(t *testing.T) {
	const in = `
checks: {promql/regexp: off, alert/for: info}
overrides:
- paths: [a]
  checks: {alert/name: {max-length: 1}, alert/for: off}
- objects: {group: g}
  checks: {alert/name: {severity: error, fold: true}}
- paths: [b]
  checks: {promql/*: error, alert/labels: {severity: off}}
`
	want := `alert/for info {Min:map[default:1m0s] Max:map[critical:1h0m0s]}
alert/name error {Pattern:^[A-Z] MaxLength:1 Ratio:0 Fold:true}
`
	checks := byID("alert/for", "alert/name", "promql/regexp", "alert/labels")
	c := load(t, Input{File: file(in), Checks: checks})
	if diff := cmp.Diff(want, shown(c.Profile("", nil))); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
	c = load(t, Input{File: file(in), Checks: checks, Disable: []string{"*"}})
	if got := shown(c.Profile("", nil)); got != "" {
		t.Errorf("with all checks disabled the project has\n%s", got)
	}
}

func TestProfilesAreShared(t *testing.T) {
	c := load(t, Input{File: file(`
overrides:
- {paths: [a], checks: {alert/for: off}}
- {objects: {group: "g*"}, checks: {promql/regexp: off}}
`)})
	profiles := map[*lint.Profile]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 100 {
				for _, origin := range []*lint.Origin{nil, {Group: fmt.Sprint("g", i)}, {Group: fmt.Sprint("h", i)}} {
					for _, dir := range []string{"a", "b"} {
						p := c.Profile(fmt.Sprintf("%s/%d.yaml", dir, i), origin)
						mu.Lock()
						profiles[p]++
						mu.Unlock()
					}
				}
			}
		})
	}
	wg.Wait()
	if len(profiles) != 4 {
		t.Errorf("%d profiles, want 4: with and without each override", len(profiles))
	}
}

func TestExcluded(t *testing.T) {
	c := load(t, Input{File: file(`exclude: [vendor, "**/testdata", "build-*", "*.tmp.yaml", ./docs/, "{x,y}/[ab].yaml", "gen/**"]`)})
	for path, want := range map[string]bool{
		"vendor":                true,
		"vendor/a/b.yaml":       true,
		"./vendor/a.yaml":       true,
		"a/vendor/b.yaml":       false,
		"vendored.yaml":         false,
		"a/b/testdata":          true,
		"a/b/testdata/c/d.yaml": true,
		"build-1/a.yaml":        true,
		"a.tmp.yaml":            true,
		"a/b.tmp.yaml":          false,
		"docs/a.yaml":           true,
		"x/a.yaml":              true,
		"y/b.yaml":              true,
		"y/c.yaml":              false,
		"gen/a/b.yaml":          true,
		"../vendor/a.yaml":      false,
		"<stdin>":               false,
		".":                     false,
		"":                      false,
	} {
		if got := c.Excluded(path); got != want {
			t.Errorf("Excluded(%q) = %v, want %v", path, got, want)
		}
	}
	if load(t, Input{}).Excluded("vendor") {
		t.Error("Excluded without a file = true")
	}
}

// TestRoot: paths come as from the current folder and are matched as from that
// of the configuration.
func TestRoot(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(top, "repo", "deploy")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(work)
	for _, tt := range []struct {
		root, exclude, path string
		want                bool
	}{
		{".", "a.yaml", "a.yaml", true},
		{"", "a.yaml", "a.yaml", true},
		{"..", "deploy/a.yaml", "a.yaml", true},
		{"..", "a.yaml", "a.yaml", false},
		{"..", "a.yaml", "../a.yaml", true},
		{"../..", "repo/deploy/**", "x/y.yaml", true},
		{"conf", "a.yaml", "conf/a.yaml", true},
		{"conf", "../a.yaml", "a.yaml", true},
		{".", "a.yaml", filepath.ToSlash(filepath.Join(work, "a.yaml")), true},
		{"..", "deploy", filepath.ToSlash(filepath.Join(work, "a.yaml")), true},
		{filepath.ToSlash(filepath.Join(top, "repo")), "deploy/a.yaml", "a.yaml", true},
		{filepath.ToSlash(filepath.Join(top, "repo")), "deploy/a.yaml", "b.yaml", false},
	} {
		c := load(t, Input{Root: tt.root, File: file("exclude: [" + tt.exclude + "]")})
		if got := c.Excluded(tt.path); got != tt.want {
			t.Errorf("root %q, exclude %q: Excluded(%q) = %v, want %v", tt.root, tt.exclude, tt.path, got, tt.want)
		}
	}
}

func TestFind(t *testing.T) {
	top := t.TempDir()
	for _, f := range []string{".monitoringlinter.yaml", "repo/.git/HEAD", "repo/a/b/x", "both/.monitoringlinter.yml", "both/.monitoringlinter.yaml", "yml/.monitoringlinter.yml", "yml/a/x", "dir/.monitoringlinter.yaml/x"} {
		path := filepath.Join(top, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ work, dir, want string }{
		{".", ".", ".monitoringlinter.yaml"},
		{"yml", ".", ".monitoringlinter.yml"},
		{"yml/a", ".", "../.monitoringlinter.yml"},
		{"dir", ".", "../.monitoringlinter.yaml"},
		{"both", ".", ".monitoringlinter.yaml"},
		{".", "yml/a", "yml/.monitoringlinter.yml"},
		{"repo", ".", ""},
		{"repo/a/b", ".", ""},
		{".", "nowhere", ""},
		{".", filepath.Join(top, "yml", "a"), filepath.Join(top, "yml", ".monitoringlinter.yml")},
	} {
		t.Chdir(filepath.Join(top, tt.work))
		path, ok := Find(tt.dir)
		if filepath.ToSlash(path) != filepath.ToSlash(tt.want) || ok != (tt.want != "") {
			t.Errorf("in %s: Find(%q) = %q, %v, want %q", tt.work, tt.dir, path, ok, tt.want)
		}
	}
}

func TestSharedKeysThatClash(t *testing.T) {
	type a struct {
		X string `yaml:"x" shared:"k"`
	}
	type b struct {
		X int `yaml:"x" shared:"k"`
	}
	type c struct {
		X string `yaml:"x" shared:"k.x"`
	}
	type d struct {
		X string `yaml:"x" shared:"overrides"`
	}
	one := declare("x/a", lint.Error, false, a{})
	for name, checks := range map[string][]*lint.Check{
		"two types":            {one, declare("x/b", lint.Error, false, b{})},
		"a key below a value":  {one, declare("x/c", lint.Error, false, c{})},
		"a value above a key":  {declare("x/c", lint.Error, false, c{}), one},
		"a key of the package": {declare("x/d", lint.Error, false, d{})},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: Load does not panic", name)
				}
			}()
			_, _ = Load(Input{Checks: checks})
		}()
	}
}

func TestDefaultsStay(t *testing.T) {
	c := declare("x/labels", lint.Error, false, labelsOptions{Allowed: map[string][]string{"team": {"a"}}})
	load(t, Input{File: file("checks: {x/labels: {allowed: {tier: [b]}}}"), Checks: []*lint.Check{c}})
	want := labelsOptions{Allowed: map[string][]string{"team": {"a"}}}
	if diff := cmp.Diff(want, c.Options()); diff != "" {
		t.Errorf("defaults after Load (-want +got):\n%s", diff)
	}
}

// TestHostile holds inputs that are small and stand for much.
func TestHostile(t *testing.T) {
	bomb := "overrides:\n- &a0 {objects: {labels: {a: b}}}\n"
	for i := range 30 {
		bomb += fmt.Sprintf("- &a%d [*a%d, *a%d]\n", i+1, i, i)
	}
	for name, tt := range map[string]struct{ in, want string }{
		"aliases that multiply": {bomb, `1:1: file holds more than 100000 values, with aliases written out`},
		"deep lists":            {"extends: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), `1:59: nested deeper than 50 levels`},
		"deep mappings":         {strings.Repeat("{a: ", 20_000), `1:1: not valid YAML: exceeded max depth of 10000`},
		"a large file":          {"# " + strings.Repeat("x", 1<<20), `1:1: file is larger than 1 MiB`},
		"many globs":            {"exclude: [" + strings.Repeat("'{a,b,c,d}{a,b,c,d}{a,b,c,d}', ", 40) + "]", `1:10: file holds more than 2000 globs, with their alternatives`},
		"many overrides":        {"overrides: [" + strings.Repeat("{paths: [a], checks: {}},", 257) + "]", `1:12: more than 256 overrides`},
	} {
		_, err := Load(Input{File: file(tt.in), Checks: fakes})
		if got := messages(err); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: Load = %.300v, want %s", name, err, tt.want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"",
		"extends: [strict]\nexclude: [\"vendor/**\", '{a,b}/[cd]']\ndialect: thanos\npromql: {experimental: true}\n",
		"checks:\n  alert/for: {min: 1m, max: {critical: 15m, default: 1h}}\n  promql/regexp: off\n  alert/severity: {severity: warning, allowed: [critical]}\n  \"alert/*\": info\n",
		"overrides:\n- paths: [\"legacy/**\"]\n  checks: {\"alert/*\": info}\n- objects: {kind: P, labels: {a: \"x*\"}}\n  checks: {promql/cost: {limits: {low: 1}, by-area: {a: {high: 2}}}}\n",
		"checks: &c\n  alert/name: {max-length: 3, ratio: .5, fold: yes, pattern: !!str 3}\noverrides:\n- {paths: [a], checks: *c}\n",
		"overrides: &o [*o]\n", "a: &a\n  <<: *a\n", "? {a: b}\n: c\n", "\xff\xfe", "\ufeff---\n...\n--- x", "checks: {alert/labels: {allowed: {~: [x], 1: [y]}}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		c, err := Load(Input{File: file(in), Checks: fakes})
		if err != nil {
			errs, ok := errors.AsType[Errors](err)
			if !ok || len(errs) == 0 || strings.ContainsFunc(errs.Error(), func(r rune) bool { return r != '\n' && r < ' ' }) {
				t.Fatalf("Load = %q", err)
			}
			for _, e := range errs {
				if s := e.Span; s.Start < 0 || !s.IsZero() && s.End > len(s.File.Data) || s.Start > s.End {
					t.Fatalf("span %+v of %q is outside the file", s, e.Message)
				}
			}
			return
		}
		for _, path := range []string{"", "legacy/a.yaml", "../b.yaml"} {
			for _, origin := range []*lint.Origin{nil, {Kind: "P", Labels: map[string]string{"a": "xy"}}} {
				if p := c.Profile(path, origin); p != c.Profile(path, origin) {
					t.Fatal("two profiles for one place")
				}
			}
			c.Excluded(path)
		}
	})
}

func BenchmarkProfile(b *testing.B) {
	c := load(b, Input{File: file(`
overrides:
- {paths: ["legacy/**"], checks: {"alert/*": info}}
- {objects: {labels: {app.kubernetes.io/part-of: kube-prometheus}}, checks: {promql/regexp: off}}
- {objects: {kind: PrometheusRule, group: "node*"}, checks: {alert/for: off}}
`)})
	origins := []*lint.Origin{
		nil,
		{Kind: "PrometheusRule", Name: "a", Group: "node.rules"},
		{Kind: "PrometheusRule", Name: "a", Labels: map[string]string{"app.kubernetes.io/part-of": "kube-prometheus"}},
	}
	paths := make([]string, 500)
	for i := range paths {
		paths[i] = fmt.Sprintf("rules/%d/r.yaml", i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if c.Profile(paths[i%len(paths)], origins[i%len(origins)]) == nil {
			b.Fatal("no profile")
		}
		i++
	}
}
