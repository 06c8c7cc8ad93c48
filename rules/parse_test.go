// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// findingsOf returns what is wrong with a document as far as parsing tells: its
// problems, and the expressions and templates that do not parse.
func findingsOf(d *Document) []string {
	var out []string
	add := func(severity lint.Severity, check string, s source.Span, message string) {
		p := s.File.Position(s.Start)
		out = append(out, fmt.Sprintf("%d:%d %q %s %s: %s", p.Line, p.Col, s.Text(), severity, check, message))
	}
	for _, p := range d.Problems {
		add(p.Severity, p.Check, p.Finding.Span, p.Message)
	}
	for r := range lint.All[*Rule](&lint.Project{Documents: []lint.Document{d}}) {
		if r.Expr != nil {
			for _, e := range r.Expr.Errors {
				add(lint.Error, "syntax/promql", e.Span, e.Message)
			}
		}
		for _, entries := range [][]Entry{r.Labels, r.Annotations} {
			for _, e := range entries {
				if e.Template != nil && e.Template.Err != nil {
					add(lint.Error, "syntax/template", e.Template.Err.Span, e.Template.Err.Message)
				}
			}
		}
	}
	return out
}

// rule returns a rule file of one group with one alert that has the lines given.
func rule(lines ...string) string {
	return "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: up == 0\n    " + strings.Join(lines, "\n    ") + "\n"
}

// broken are plain rule files that are wrong, or look so. Each is also given to
// Prometheus: there is an error here exactly where it refuses the file.
var broken = []struct {
	name, yaml string
	want       []string
}{
	{"sound", rule("for: 5m"), nil},
	{"empty", "", nil},
	{"comments only", "# rules will follow\n", nil},
	{"no groups", "groups: []\n", nil},
	{"groups is null", "groups: null\n", []string{`1:1 "groups" warning syntax/schema: groups is empty: nothing is loaded from here`}},
	{"groups is nothing", "groups:\n", []string{`1:1 "groups" warning syntax/schema: groups is empty: nothing is loaded from here`}},
	{"groups is a mapping", "groups: {name: g}\n", []string{`1:9 "{name: g}" error syntax/schema: groups must be a list, not a mapping`}},
	{"a group that is text", "groups:\n- name: g\n  rules: []\n- g\n", []string{`4:3 "g" error syntax/schema: a group must be a mapping with name and rules, not a text`}},
	{"an empty group", "groups:\n- name: g\n  rules: []\n-\n", []string{`4:1 "-" warning syntax/schema: empty list item: there is no group here`}},
	{"a group without a name", "groups:\n- rules:\n  - alert: A\n    expr: up\n", []string{`2:3 "rules" error syntax/schema: rule group: a group must have a name`}},
	{"a group with an empty name", "groups:\n- name: \"\"\n  rules:\n  - alert: A\n    expr: up\n", []string{`2:9 "\"\"" error syntax/schema: rule group: a group must have a name`}},
	{"a group name that is a number", "groups:\n- name: 1\n  rules:\n  - alert: A\n    expr: up\n", nil},
	{"two groups of one name", "groups:\n- name: g\n  rules: []\n- name: g\n  rules:\n  - alert: A\n    expr: up\n",
		[]string{`4:9 "g" error syntax/schema: rule group g: group name "g" is used twice: Prometheus refuses the file; rename one of them`}},
	{"rules is text", "groups:\n- name: g\n  rules: up\n", []string{`3:10 "up" error syntax/schema: rule group g: rules must be a list, not a text`}},
	{"a rule that is text", "groups:\n- name: g\n  rules:\n  - up == 0\n  - alert: A\n    expr: up\n",
		[]string{`4:5 "up == 0" error syntax/schema: rule group g: a rule must be a mapping with alert or record, not a text`}},
	{"an empty rule", "groups:\n- name: g\n  rules:\n  -\n  - alert: A\n    expr: up\n", []string{`4:3 "-" warning syntax/schema: rule group g: empty list item: there is no rule here`}},
	{"no expr", "groups:\n- name: g\n  rules:\n  - alert: A\n    for: 5m\n", []string{`4:12 "A" error syntax/schema: alert A: has no expr: there is nothing to evaluate`}},
	{"an empty expr", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: ''\n", []string{`5:11 "''" error syntax/schema: alert A: expr is empty: there is nothing to evaluate`}},
	{"expr is null", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr:\n", []string{`5:5 "expr" error syntax/schema: alert A: expr is empty: there is nothing to evaluate`}},
	{"expr is a number", "groups:\n- name: g\n  rules:\n  - record: a:b:c\n    expr: 1\n", nil},
	{"expr is a list", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: [up]\n", []string{`5:11 "[up]" error syntax/schema: alert A: expr must be text, not a list`}},
	{"expr is a flow mapping", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: {job}\n",
		[]string{`5:11 "{job}" error syntax/schema: alert A: expr starts with { and is taken for a mapping: put it between quotes, or in a block after |`}},
	{"neither alert nor record", "groups:\n- name: g\n  rules:\n  - expr: up\n", []string{`4:5 "expr" error syntax/schema: rule: has neither alert nor record: give it the name of the alert, or of the series to record`}},
	{"both alert and record", "groups:\n- name: g\n  rules:\n  - alert: A\n    record: b\n    expr: up\n",
		[]string{`5:13 "b" error syntax/schema: alert A: has both alert and record: a rule is one or the other; split it in two`}},
	{"for without a unit", rule("for: 300"), []string{`6:10 "300" error syntax/schema: alert A: for: "300" is not a Prometheus duration: it has no unit; write 300s, 300m or 300h`}},
	{"for in words", rule("for: 5 minutes"), []string{`6:10 "5 minutes" error syntax/schema: alert A: for: "5 minutes" is not a Prometheus duration: write 5m`}},
	{"for in capitals", rule("for: 5M"), []string{`6:10 "5M" error syntax/schema: alert A: for: "5M" is not a Prometheus duration: write 5m`}},
	{"for with a fraction", rule("for: 1.5h"), []string{`6:10 "1.5h" error syntax/schema: alert A: for: "1.5h" is not a Prometheus duration: it has a fraction; write whole numbers of smaller units, as in 1h30m`}},
	{"for of zero", rule("for: 0"), nil},
	{"for of several units", rule("for: 1h30m", "keep_firing_for: 1d"), nil},
	{"for is empty", rule("for: ''"), []string{`6:10 "''" error syntax/schema: alert A: for is empty: write a duration such as 5m, or remove it`}},
	{"for is null", rule("for:"), nil},
	{"for is a list", rule("for: [5m]"), []string{`6:10 "[5m]" error syntax/schema: alert A: for must be a duration such as 5m, not a list`}},
	{"interval in seconds spelt out", "groups:\n- name: g\n  interval: 30sec\n  rules:\n  - alert: A\n    expr: up\n",
		[]string{`3:13 "30sec" error syntax/schema: rule group g: interval: "30sec" is not a Prometheus duration: write 30s`}},
	{"limit is text", "groups:\n- name: g\n  limit: many\n  rules:\n  - alert: A\n    expr: up\n", []string{`3:10 "many" error syntax/schema: rule group g: limit must be a number`}},
	{"limit is quoted", "groups:\n- name: g\n  limit: \"5\"\n  rules:\n  - alert: A\n    expr: up\n", []string{`3:11 "5" error syntax/schema: rule group g: limit must be a number`}},
	{"limit", "groups:\n- name: g\n  limit: 5\n  query_offset: 1m\n  labels: {team: a}\n  rules:\n  - alert: A\n    expr: up\n", nil},
	{"unknown field of a rule", rule("annotation:", "  summary: x"), []string{`6:5 "annotation" error syntax/schema: alert A: unknown field "annotation" in the rule; did you mean "annotations"?`}},
	{"unknown field of a group", "groups:\n- name: g\n  intervall: 1m\n  rules:\n  - alert: A\n    expr: up\n",
		[]string{`3:3 "intervall" error syntax/schema: rule group g: unknown field "intervall" in the rule group; did you mean "interval"?`}},
	{"unknown field of the file", "group: []\ngroups:\n- name: g\n  rules:\n  - alert: A\n    expr: up\n",
		[]string{`1:1 "group" error syntax/schema: unknown field "group" in the rule file; did you mean "groups"?`}},
	{"unknown field near to nothing", rule("whatever: 1"),
		[]string{`6:5 "whatever" error syntax/schema: alert A: unknown field "whatever" in the rule; it has alert, record, expr, for, keep_firing_for, labels, annotations`}},
	{"field of Thanos", "groups:\n- name: g\n  partial_response_strategy: warn\n  rules:\n  - alert: A\n    expr: up\n",
		[]string{"3:3 \"partial_response_strategy\" error syntax/schema: rule group g: unknown field \"partial_response_strategy\": only Thanos knows it; set `dialect: thanos` if these rules are for it"}},
	{"a key twice", rule("for: 5m", "for: 6m"), []string{`7:5 "for" error syntax/yaml: alert A: key "for" stands twice in one mapping: remove one of them`}},
	{"a label twice", rule("labels:", "  a: x", "  a: y"), []string{`8:7 "a" error syntax/yaml: alert A: key "a" stands twice in one mapping: remove one of them`}},
	{"groups twice", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: up\ngroups: []\n", []string{`6:1 "groups" error syntax/yaml: key "groups" stands twice in one mapping: remove one of them`}},
	{"labels is a list", rule("labels: [a]"), []string{`6:13 "[a]" error syntax/schema: alert A: labels must be a mapping of names to text, not a list`}},
	{"a label that is a list", rule("labels: {a: [b]}"), []string{`6:17 "[b]" error syntax/schema: alert A: label "a" must be text, not a list`}},
	{"a label that is a number", rule("labels: {a: 1}"),
		[]string{`6:17 "1" info syntax/schema: alert A: label "a" is a number without quotes: Prometheus takes it, a Kubernetes object would be refused; write "1"`}},
	{"a label that is null", rule("labels: {a: }"), nil},
	{"a label named __name__", rule("labels: {__name__: x}"), []string{`6:14 "__name__" error syntax/schema: alert A: "__name__" is not a valid label name`}},
	{"an annotation named __name__", rule("annotations: {__name__: x}"), nil},
	{"a label with an empty name", rule("labels: {'': x}"), []string{`6:14 "''" error syntax/schema: alert A: "" is not a valid label name`}},
	{"a label with a dot", rule("labels: {a.b/c: x}"), nil},
	{"a recording rule with annotations", "groups:\n- name: g\n  rules:\n  - record: a:b\n    expr: up\n    annotations: {summary: x}\n",
		[]string{`6:5 "annotations" error syntax/schema: recording rule a:b: a recording rule has no annotations: nobody ever reads them; remove them`}},
	{"a recording rule with for", "groups:\n- name: g\n  rules:\n  - record: a:b\n    expr: up\n    for: 5m\n    keep_firing_for: 5m\n",
		[]string{
			`6:5 "for" error syntax/schema: recording rule a:b: a recording rule has no for: remove it`,
			`7:5 "keep_firing_for" error syntax/schema: recording rule a:b: a recording rule has no keep_firing_for: remove it`,
		}},
	{"a recording rule with for of zero", "groups:\n- name: g\n  rules:\n  - record: a:b\n    expr: up\n    for: 0s\n", nil},
	{"a record with braces", "groups:\n- name: g\n  rules:\n  - record: a{b=\"c\"}\n    expr: up\n",
		[]string{`4:14 "{b=\"c\"}" error syntax/schema: recording rule a{b="c"}: the record name has braces: the name is only the metric; labels go under labels, the query into expr`}},
	{"a record with a dash", "groups:\n- name: g\n  rules:\n  - record: a-b\n    expr: up\n", nil},
	{"expr that does not parse", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: |\n      up{job=\"x\"}\n        = 0\n", []string{`7:9 "=" error syntax/promql: unexpected "="`}},
	{"expr that does not type-check", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: >-\n      rate(up)\n      > 0\n",
		[]string{`6:12 "up" error syntax/promql: expected type range vector in call to function "rate", got instant vector`}},
	{"expr with an unclosed bracket", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: |\n      sum(up\n      > 0\n", []string{`7:9 "0" error syntax/promql: unclosed left parenthesis`}},
	{"expr of two faults", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: rate(up) + delta(up)\n",
		[]string{
			`5:16 "up" error syntax/promql: expected type range vector in call to function "rate", got instant vector`,
			`5:28 "up" error syntax/promql: expected type range vector in call to function "delta", got instant vector`,
		}},
	{"an experimental function", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: mad_over_time(up[5m]) > 0\n", []string{`5:11 "mad_over_time" error syntax/promql: function "mad_over_time" is not enabled`}},
	{"a template that does not parse", rule("annotations:", "  summary: it's {{ $value | nosuch }} now"), []string{`7:21 "{{ $value | nosuch }}" error syntax/template: function "nosuch" not defined`}},
	{"an unclosed template action", rule("annotations:", "  summary: it's {{ $value"), []string{`7:21 "{{ $value" error syntax/template: unclosed action`}},
	{"an unclosed template block", rule("annotations:", "  summary: '{{ if $value }}x'"), []string{`7:17 "{{ if $value }}" error syntax/template: unexpected EOF`}},
	{"a template in a label", rule("labels:", "  a: '{{ $label.x }}'"), []string{`7:11 "{{ $label.x }}" error syntax/template: undefined variable "$label"`}},
	{"a template in a label of a recording rule", "groups:\n- name: g\n  rules:\n  - record: a:b\n    expr: up\n    labels: {a: '{{ $label.x }}'}\n", nil},
	{"anchors, aliases and merge keys", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: &e up\n    labels: &l {a: x}\n  - alert: B\n    expr: *e\n    labels: {<<: *l, b: y}\n", nil},
	{"a merge key of text", rule("labels: {<<: x}"), []string{`6:18 "x" error syntax/yaml: alert A: a merge key (<<) takes a mapping or a list of mappings, not a text`}},
	{"a tag that does not fit", rule("labels: {a: !!int x}"), []string{"6:23 \"x\" error syntax/schema: alert A: cannot decode !!str `x` as a !!int"}},
	{"a tag that does not fit an expr", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: !!int up\n", []string{"5:17 \"up\" error syntax/schema: alert A: cannot decode !!str `up` as a !!int"}},
	{"a tag of null on text", rule("for: !!null x"), []string{"6:17 \"x\" error syntax/schema: alert A: cannot decode !!str `x` as a !!null"}},
	{"a tag of another kind", rule("labels: {a: !custom x, b: !!str 1}"), nil},
	{"base64", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: !!binary dXA=\n    for: !!binary NW0=\n", nil},
	{"base64 that is none", rule("labels: {a: !!binary '*'}"), []string{`6:27 "*" error syntax/schema: alert A: !!binary value contains invalid base64 data`}},
	{"a merge key that adds a record to an alert", "groups:\n- name: g\n  rules:\n  - &a {record: m, expr: up}\n  - <<: *a\n    alert: x\n",
		[]string{`4:17 "m" error syntax/schema: alert x: has both alert and record: a rule is one or the other; split it in two`}},
	{"a merge key of a list in a list", rule("labels: {<<: [[]]}"), []string{`6:19 "[" error syntax/yaml: alert A: a merge key (<<) takes a mapping or a list of mappings, not a list`}},
	{"a merge key of an alias of a list", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: up\n    labels: &l\n      <<: *l\n", []string{`7:11 "*" error syntax/yaml: alert A: the alias *l stands within what it repeats: remove it`}},
	{"an empty block scalar", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: |\n    for: 5x\n",
		[]string{`6:10 "5x" error syntax/schema: alert A: for: "5x" is not a Prometheus duration: "x" is no unit of time; the units are ms, s, m, h, d, w, y`, `5:11 "|" error syntax/schema: alert A: expr is empty: there is nothing to evaluate`}},
	{"groups misspelt", "group:\n- name: g\n  rules:\n  - alert: A\n    expr: up\n", []string{`1:1 "group" error syntax/schema: unknown field "group" in the rule file; did you mean "groups"?`}},
	{"rules misspelt", "groups:\n- name: g\n  rule:\n  - alert: A\n    expr: up\n", []string{`3:3 "rule" error syntax/schema: rule group g: unknown field "rule" in the rule group; did you mean "rules"?`}},
	{"CRLF", "groups:\r\n- name: g\r\n  rules:\r\n  - alert: A\r\n    expr: |\r\n      up ==\r\n    for: 5x\r\n",
		[]string{`7:10 "5x" error syntax/schema: alert A: for: "5x" is not a Prometheus duration: "x" is no unit of time; the units are ms, s, m, h, d, w, y`, `6:11 "=" error syntax/promql: unexpected end of input`}},
	{"a byte order mark", "\ufeffgroups:\n- name: g\n  rules:\n  - alert: A\n    expr: up =\n", []string{`5:14 "=" error syntax/promql: unexpected "="`}},

	{"a tab", "groups:\n- name: g\n  rules:\n\t- alert: A\n\t  expr: up\n", []string{`4:1 "\t" error syntax/yaml: found character that cannot start any token: the line is indented with a tab; YAML takes only spaces`}},
	{"an unquoted selector", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: {job=\"x\"} == 0\n",
		[]string{`5:21 "=" error syntax/yaml: did not find expected key: a value that starts with { is taken for a YAML mapping; put the expression between quotes, or in a block after |`}},
	{"quotes within quotes", rule(`annotations:`, `  summary: "at {{ printf "%.0f" $value }}"`),
		[]string{`7:31 "%" error syntax/yaml: found character that cannot start any token: the text between double quotes ends at the second quote; write \" inside it, or put the whole between single quotes`}},
	{"an unquoted colon", rule("annotations:", "  summary: note: it is down"),
		[]string{`7:20 ":" error syntax/yaml: mapping values are not allowed in this context: a value with a colon followed by a space needs quotes`}},
	{"an unquoted template", rule("annotations:", "  summary: {{ $value }} left"), []string{`7:29 "l" error syntax/yaml: did not find expected key: a value that starts with {{ needs quotes`}},
	{"an undefined alias", rule("labels: *nope"), []string{`6:13 "*" error syntax/yaml: unknown anchor 'nope' referenced`}},
	{"an unclosed quote", rule("annotations:", "  summary: 'it is down"), []string{`7:16 "'" error syntax/yaml: found unexpected end of stream`}},
	{"a rule indented too little", "groups:\n- name: g\n  rules:\n  - alert: A\n   expr: up\n", []string{`5:4 "e" error syntax/yaml: did not find expected key`}},
}

func TestBrokenRuleFiles(t *testing.T) {
	for _, tt := range broken {
		t.Run(tt.name, func(t *testing.T) {
			d := Parse(source.NewFileString("a.rules", tt.yaml), true)
			got := findingsOf(d)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, tt.yaml)
			}
			errors, _ := errorsOf(d)
			if refused := refusals([]byte(tt.yaml)); (len(errors) > 0) != (len(refused) > 0) {
				t.Errorf("errors %q, but Prometheus says %v", errors, refused)
			}
		})
	}
}

// manifest returns a PrometheusRule with one group of the rules given.
func manifest(lines ...string) string {
	return "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: m\n  namespace: n\nspec:\n  groups:\n  - name: g\n    rules:\n    " +
		strings.Join(lines, "\n    ") + "\n"
}

func TestObjects(t *testing.T) {
	nested := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  namespace: n\ndata:\n"
	for _, tt := range []struct {
		name, yaml string
		rules      int
		want       []string
	}{
		{"expr is an integer", manifest("- record: a:b:c", "  expr: 1"), 1, nil},
		{"expr is a fraction", manifest("- record: a:b:c", "  expr: 1.5"), 1,
			[]string{`11:13 "1.5" error syntax/schema: recording rule a:b:c: expr is a fraction to YAML, and the API server takes only text or an integer: quote it`}},
		{"a label that is a number", manifest("- alert: A", "  expr: up", "  labels: {severity: 1}"), 1,
			[]string{`12:26 "1" error syntax/schema: alert A: label "severity" is a number to YAML, and the API server takes only text: write "1"`}},
		{"a label that is a boolean of YAML 1.1", manifest("- alert: A", "  expr: up", "  labels:", "    page: yes", "    b: on", "    c: nope", "    d: '1'", "    e: 1e3"), 1, []string{
			`13:15 "yes" error syntax/schema: alert A: label "page" is a boolean to YAML, and the API server takes only text: write "yes"`,
			`14:12 "on" error syntax/schema: alert A: label "b" is a boolean to YAML, and the API server takes only text: write "on"`,
			`17:12 "1e3" error syntax/schema: alert A: label "e" is a number to YAML, and the API server takes only text: write "1e3"`,
		}},
		{"an annotation that is a date", manifest("- alert: A", "  expr: up", "  annotations: {since: 2026-01-02}"), 1, nil},
		{"an alert name that is a number", manifest("- alert: 5", "  expr: up"), 1,
			[]string{`10:14 "5" error syntax/schema: alert 5: alert is a number to YAML, and the API server takes only text: write "5"`}},
		{"names that are booleans of YAML 1.1", manifest("- alert: yes", "  expr: on"), 1, []string{
			`10:14 "yes" error syntax/schema: alert yes: alert is a boolean to YAML, and the API server takes only text: write "yes"`,
			`11:13 "on" error syntax/schema: alert yes: expr is a boolean to YAML, and the API server takes only text or an integer: quote it`,
		}},
		{"a name that is a date", manifest("- alert: 2026-01-02", "  expr: up"), 1, nil},
		{"for that is a number", manifest("- alert: A", "  expr: up", "  for: 5"), 1, []string{`12:12 "5" error syntax/schema: alert A: for: "5" has no unit: write 5s, 5m or 5h`}},
		{"for that is empty", manifest("- alert: A", "  expr: up", "  for: ''"), 1, nil},
		{"keep_firing_for that is empty", manifest("- alert: A", "  expr: up", "  keep_firing_for: ''"), 1,
			[]string{`12:24 "''" error syntax/schema: alert A: keep_firing_for is empty: write a duration such as 5m, or remove it`}},
		{"partial_response_strategy", strings.Replace(manifest("- alert: A", "  expr: up"), "    rules:", "    partial_response_strategy: warn\n    rules:", 1), 1, nil},
		{"an unknown field of spec", strings.Replace(manifest("- alert: A", "  expr: up"), "spec:\n", "spec:\n  group: []\n", 1), 1,
			[]string{`7:3 "group" error syntax/schema: PrometheusRule m: unknown field "group" in the spec; did you mean "groups"?`}},
		{"a label of the object that is a boolean", strings.Replace(manifest("- alert: A", "  expr: up"), "  name: m", "  name: m\n  labels: {prometheus: on}", 1), 1,
			[]string{`5:24 "on" error syntax/schema: PrometheusRule m: metadata.labels "prometheus" is a boolean to YAML, and the API server takes only text: write "on"`}},
		{"spec is text", "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: m}\nspec: groups\n", 0,
			[]string{`4:7 "groups" error syntax/schema: PrometheusRule m: spec must be a mapping, not a text`}},
		{"AlertingRule", strings.NewReplacer("coreos.com", "openshift.io", "PrometheusRule", "AlertingRule").Replace(manifest("- alert: A", "  expr: up", "- record: a:b", "  expr: up")), 2,
			[]string{`12:7 "record" error syntax/schema: recording rule a:b: unknown field "record" in the rule; it has alert, expr, for, labels, annotations`}},
		{"VMRule", strings.Replace(strings.Replace(manifest("- alert: A", "  expr: up[5m] keep_metric_names", "  debug: true"), "PrometheusRule", "VMRule", 1), "    rules:", "    concurrency: 2\n    rules:", 1), 1, nil},
		{"List", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n- " + strings.ReplaceAll(strings.TrimSpace(manifest("- alert: A", "  expr: up =")), "\n", "\n  ") + "\n", 1,
			[]string{`16:18 "=" error syntax/promql: unexpected "="`}},
		{"PrometheusRuleList", "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRuleList\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(manifest("- alert: A", "  expr: up")), "\n", "\n  ") + "\n", 1, nil},
		{"JSON", `{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusRule","metadata":{"name":"m"},"spec":{"groups":[{"name":"g","rules":[{"alert":"A","expr":"up{a=\"b\"} = 0"}]}]}}`, 1,
			[]string{`1:162 "=" error syntax/promql: unexpected "="`}},
		{"OpenShift Template", "apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n- " + strings.ReplaceAll(strings.TrimSpace(manifest("- alert: A", "  expr: up > ${LIMIT}", "  for: ${FOR}")), "\n", "\n  ") + "\n", 1, nil},
		{"ConfigMap", nested + "  a.rules: |\n    groups:\n    - name: g\n      rules:\n      - alert: A\n        expr: >-\n          up\n          = 0\n  b.json: '{\"groups\": 1}'\n", 1,
			[]string{`14:11 "=" error syntax/promql: unexpected "="`}},
		{"ConfigMap with a broken rule file", nested + "  a.rules: |\n    groups:\n    - name: g\n      rules:\n      - alert: A\n        expr: {job=\"x\"} == 0\n", 0,
			[]string{`12:25 "=" error syntax/yaml: did not find expected key: a value that starts with { is taken for a YAML mapping; put the expression between quotes, or in a block after |`}},
		{"a broken document between two", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: up\n---\ngroups:\n- name: h\n  rules:\n  - alert: B\n   expr: up\n---\n" + manifest("- alert: A", "  expr: up"), 2,
			[]string{`11:4 "e" error syntax/yaml: did not find expected key`}},
		{"two rule files in one", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: up\n---\ngroups:\n- name: h\n  rules:\n  - alert: B\n    expr: up\n", 2,
			[]string{`6:1 "---" warning syntax/schema: rule file has more than one YAML document: Prometheus reads only the first and ignores these rules; move them into the first or into a file of their own`}},
		{"Helm", "{{- if .Values.on }}\n" + manifest("- alert: {{ .Values.name }}", "  expr: up") + "{{- end }}\n", 0,
			[]string{`1:1 "{{- if .Values" info syntax/unrendered: file is an unrendered Helm template and was skipped: lint what it renders to: helm template CHART | monitoringlinter -`}},
		{"Helm that is YAML all the same", manifest("- alert: A", "  expr: up", "  labels: {severity: '{{ .Values.severity }}'}"), 0,
			[]string{`12:27 "{{ .Values" info syntax/unrendered: file is an unrendered Helm template and was skipped: lint what it renders to: helm template CHART | monitoringlinter -`}},
		{"Go template that is YAML all the same", strings.Replace(manifest("- alert: A", "  expr: up"), "namespace: n", "namespace: {{.Namespace}}", 1), 0,
			[]string{`5:14 "{{.Namespace}}" info syntax/unrendered: file is an unrendered Go template and was skipped: render it first and lint the result`}},
		{"Jinja", "groups:\n- name: g\n  rules:\n{% for a in alerts %}\n  - alert: A\n    expr: up\n{% endfor %}\n", 0,
			[]string{`4:1 "{% for a in alerts %}" info syntax/unrendered: file is an unrendered Jinja template and was skipped: render it first and lint the result`}},
		{"an unrendered expression", manifest("- alert: A", "  expr: up > ${LIMIT}", "- alert: B", "  expr: up ="), 2, []string{`13:16 "=" error syntax/promql: unexpected "="`}},
		{"a rule repeated by an alias", "groups:\n- name: g\n  rules:\n  - &r\n    alert: A\n    expr: up\n  - *r\n", 2, nil},
		{"many empty documents in front", strings.Repeat("---\n# Source: x\n---\n...\n", 20_000) + "---\n" + manifest("- alert: A", "  expr: up ="), 1,
			[]string{`80012:16 "=" error syntax/promql: unexpected "="`}},
		{"directives in front", "%YAML 1.1\n---\n" + manifest("- alert: A", "  expr: up"), 1, nil},
		{"directives after an empty document", "---\n...\n%YAML 1.1\n---\n" + manifest("- alert: A", "  expr: up"), 1, nil},
		{"an alias bomb", "a: &a [x,x,x,x,x,x,x,x,x]\n" + bomb() + "groups:\n- name: g\n  rules: *f\n", 0, nil},
		{"an alias that contains itself", "groups: &g\n- name: g\n  rules: *g\n", 1, []string{
			`2:3 "name" error syntax/schema: rule: unknown field "name" in the rule; it has alert, record, expr, for, keep_firing_for, labels, annotations`,
			`3:3 "rules" error syntax/schema: rule: unknown field "rules" in the rule; it has alert, record, expr, for, keep_firing_for, labels, annotations`,
			`2:3 "name" error syntax/schema: rule: has neither alert nor record: give it the name of the alert, or of the series to record`,
			`2:3 "name" error syntax/schema: rule: has no expr: there is nothing to evaluate`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Parse(source.NewFileString("a.yaml", tt.yaml), false)
			var c lint.Counts
			d.Count(&c)
			if c.Rules != tt.rules {
				t.Errorf("%d rules, want %d", c.Rules, tt.rules)
			}
			if diff := cmp.Diff(tt.want, findingsOf(d)); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, tt.yaml)
			}
		})
	}
}

// bomb returns mappings of aliases, each of nine of the one before.
func bomb() string {
	var b strings.Builder
	for c := 'b'; c <= 'f'; c++ {
		p := string(c - 1)
		fmt.Fprintf(&b, "%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+p+",", 9), ","))
	}
	return b.String()
}

// TestNotOurs holds files that have much in common with rule files.
func TestNotOurs(t *testing.T) {
	for name, text := range map[string]string{
		"Grafana provisioning":   "apiVersion: 1\ngroups:\n- orgId: 1\n  name: g\n  folder: f\n  rules:\n  - uid: x\n    title: t\n    condition: A\n    data: []\n",
		"users and groups":       "groups:\n- name: admins\n  members: [a]\n",
		"RBAC":                   "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nrules:\n- apiGroups: [x]\n  resources: [groups]\n",
		"promtool test":          "rule_files: [a.yml]\ntests:\n- interval: 1m\n  input_series: []\n  alert_rule_test: []\n# groups\n",
		"broken YAML of another": "groups: [a\nfoo: {\n",
		"Google's Rules":         "apiVersion: monitoring.googleapis.com/v1\nkind: Rules\nspec:\n  groups:\n  - name: g\n    rules:\n    - alert: A\n      expr: up\n",
		"a mapping of groups":    "groups:\n  a: {rules: []}\n",
		"binary":                 "groups\x00\xff\xfe",
		"a broken dashboard":     "{\"panels\": [{\"groups\": 1,}",
	} {
		if d := Parse(source.NewFileString("a.yaml", text), false); len(d.Files) > 0 || len(d.Problems) > 0 {
			t.Errorf("%s is taken for rules: %d files, %q", name, len(d.Files), findingsOf(d))
		}
	}
}

// TestHostile holds input that is meant to break the reader.
func TestHostile(t *testing.T) {
	for _, tt := range []struct {
		name, yaml string
		want       string // part of the one finding
	}{
		{"invalid UTF-8", "groups:\n- name: g\n  rules:\n  - alert: A\xff\n    expr: up\n", `4:13 "\xff" error syntax/yaml: byte 0xff is not valid UTF-8`},
		{"UTF-16", "\xff\xfeg\x00r\x00", "1:1 \"\\xff\\xfe\" error syntax/yaml: file is UTF-16"},
		{"nesting", "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: up\n    labels: " + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "\n", "YAML is nested more than 200 deep"},
		{"brackets", rule("labels: {a: b}", "annotations: {x: y}") + "  - alert: B\n    expr: " + strings.Repeat("(", 5000) + "up" + strings.Repeat(")", 5000) + "\n", "nested more than 500 deep"},
		{"signs", "groups:\n- name: g\n  rules:\n  - alert: B\n    expr: up > " + strings.Repeat("-", 5000) + "1\n", "nested more than 500 deep"},
		{"length", "groups:\n- name: g\n  rules:\n  - alert: B\n    expr: up" + strings.Repeat(" + up", 60_000) + "\n", "more than 64 KiB are not analysed"},
		{"aliases", "groups:\n" + aliasedGroups(), "aliases expand the document to far more than is written"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := findingsOf(Parse(source.NewFileString("a.rules", tt.yaml), true))
			if len(got) != 1 || !strings.Contains(got[0], tt.want) {
				t.Errorf("findings %.300q, want one with %q", got, tt.want)
			}
		})
	}
}

// aliasedGroups returns groups whose rules are aliases of lists of aliases.
func aliasedGroups() string {
	var b strings.Builder
	b.WriteString("- name: g\n  rules: &r\n  - &a {alert: A, expr: up}\n")
	for range 300 {
		b.WriteString("  - *a\n")
	}
	for i := range 300 {
		fmt.Fprintf(&b, "- {name: g%d, rules: *r}\n", i)
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	for _, tt := range broken {
		f.Add(tt.yaml)
	}
	f.Add(manifest("- alert: A", "  expr: up", "  labels: {severity: yes}"))
	f.Add(serviceMonitor("interval: 30s", "relabelings: [{action: drop, sourceLabels: [a]}]", "tlsConfig: &a {ca: {}}", "params: {a: [on]}"))
	f.Add(object("Prometheus", "v1", "serviceMonitorSelector: {matchExpressions: [{key: a, operator: In, values: [b]}]}"))
	f.Add("apiVersion: v1\nkind: ConfigMap\ndata:\n  a.rules: |\n    groups:\n    - name: g\n      rules:\n      - alert: A\n        expr: >-\n          up\n          = 0\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, named := range []bool{false, true} {
			d := Parse(source.NewFileString("a.yaml", s), named)
			for _, p := range d.Problems {
				if sp := p.Finding.Span; sp.Start < 0 || sp.Start > sp.End || sp.End > len(s) {
					t.Fatalf("%s: span [%d,%d) of %d bytes", p.Message, sp.Start, sp.End, len(s))
				}
			}
			for n := range d.Nodes() {
				if n, ok := n.(lint.Node); ok {
					if sp := n.Span(); sp.Start > sp.End || sp.End > len(s) {
						t.Fatalf("%s: span [%d,%d) of %d bytes", n.Object(), sp.Start, sp.End, len(s))
					}
				}
			}
		}
	})
}
