// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := Schema(fakes)
	if err != nil {
		t.Fatal(err)
	}
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("config.json", content); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, in string) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(in), &v); err != nil {
		t.Fatal(err)
	}
	if v == nil {
		return nil // an editor does not look at a file without content
	}
	return s.Validate(v)
}

func TestSchemaTakesWhatLoadTakes(t *testing.T) {
	s := compiled(t)
	for _, tt := range settingsTests {
		if err := validate(t, s, tt.in); err != nil {
			t.Errorf("%s: %v\n%s", tt.name, err, tt.in)
		}
	}
	const overrides = `
overrides:
- paths: ["legacy/**"]
  checks: {"alert/*": info, promql/regexp: {severity: off}}
- objects: {kind: A, name: b, namespace: c, group: d, labels: {e: "f*"}, annotations: {g: 1}}
  dialect: thanos
  promql: {experimental: true}
exclude: [vendor]
`
	if err := validate(t, s, overrides); err != nil {
		t.Error(err)
	}
}

func TestSchemaRefusesWhatLoadRefuses(t *testing.T) {
	s := compiled(t)
	for _, in := range []string{
		"check: {}",
		"- checks",
		"scrape-interval: 30s",
		"extends: strict",
		"extends: [google]",
		"exclude: vendor",
		"checks: [alert/for]",
		"checks: {alert/fro: off}",
		"checks: {alert/for: eror}",
		"checks: {alert/for: }",
		"checks: {alert/for: [on]}",
		"checks: {alert/for: {severity: fatal}}",
		"checks: {alert/for: {severity: on}}",
		"checks: {alert/*: {min: 5m}}",
		"checks: {alert/name: {max-lenght: 3}}",
		"checks: {alert/name: {max-length: many}}",
		"checks: {alert/name: {max-length: 1.5}}",
		"checks: {alert/name: {ratio: half}}",
		"checks: {alert/name: {fold: yes}}",
		"checks: {alert/name: {pattern: [a]}}",
		"checks: {alert/severity: {allowed: critical}}",
		"checks: {alert/severity: {allowed: [~]}}",
		"checks: {alert/labels: {allowed: {team: a}}}",
		"checks: {promql/cost: {limits: {lo: 1}}}",
		"checks: {promql/cost: {by-area: {a: {hihg: 1}}}}",
		"dialect: [thanos]",
		"promql: {experimantal: true}",
		"promql: {experimental: 1}",
		"overrides: {paths: [a]}",
		"overrides: [{checks: {alert/for: off}}]",
		"overrides: [{paths: [a]}]",
		"overrides: [{paths: [a], objects: {kind: P}}]",
		"overrides: [{paths: [], checks: {}}]",
		"overrides: [{objects: {}, checks: {}}]",
		"overrides: [{objects: {labels: {}}, checks: {}}]",
		"overrides: [{objects: {label: {a: b}}, checks: {}}]",
		"overrides: [{paths: [a], checks: {}, extends: [strict]}]",
	} {
		if _, err := Load(Input{File: file(in), Checks: fakes}); err == nil {
			t.Errorf("Load takes %s", in)
		}
		if validate(t, s, in) == nil {
			t.Errorf("the schema takes %s", in)
		}
	}
}

func TestSchemaDescribes(t *testing.T) {
	data, err := Schema(fakes)
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	at := func(keys ...any) any {
		var v any = s
		for _, k := range keys {
			switch k := k.(type) {
			case string:
				v = v.(map[string]any)[k]
			case int:
				v = v.([]any)[k]
			}
		}
		return v
	}
	option := []any{"$defs", "checks", "properties", "alert/severity", "anyOf", 1, "properties", "allowed"}
	for _, tt := range []struct {
		path []any
		want any
	}{
		{[]any{"$schema"}, "https://json-schema.org/draft/2020-12/schema"},
		{[]any{"$defs", "checks", "properties", "alert/severity", "description"}, "title of alert/severity. Severity: error."},
		{[]any{"$defs", "checks", "properties", "alert/name", "description"}, "title of alert/name. Severity: warning, off until it is configured."},
		{append(option, "description"), "Values that the label may have."},
		{append(option, "default"), []any{"critical", "warning"}},
		{[]any{"properties", "dialect", "description"}, "What reads the rules. For syntax/promql, syntax/schema."},
		{[]any{"properties", "dialect", "default"}, "prometheus"},
		{[]any{"properties", "promql", "properties", "experimental", "default"}, false},
		{[]any{"$defs", "override", "properties", "promql", "properties", "experimental", "type"}, "boolean"},
	} {
		if diff := cmp.Diff(tt.want, at(tt.path...)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.path, diff)
		}
	}
	again, err := Schema(fakes)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("Schema differs from call to call (%v)", err)
	}
}
