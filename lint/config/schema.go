// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
)

// Schema returns the JSON Schema of the configuration, for editors: it knows
// every check and its options.
func Schema(checks []*lint.Check) ([]byte, error) {
	level := map[string]any{"enum": []any{"off", "on", "info", "warning", "error", true, false}}
	properties := map[string]any{}
	for _, c := range checks {
		options := map[string]any{"severity": map[string]any{"$ref": "#/$defs/level", "description": "Severity of the findings."}}
		for _, f := range optionFields(c) {
			options[optionName(f)] = described(typeSchema(f.Type), f.Tag.Get("doc"))
		}
		properties[c.ID] = map[string]any{
			"description": c.Doc.Title,
			"anyOf": []any{
				map[string]any{"$ref": "#/$defs/level"},
				map[string]any{"type": "object", "properties": options, "additionalProperties": false},
			},
		}
	}
	text := map[string]any{"type": "string"}
	texts := map[string]any{"type": "object", "additionalProperties": text}
	list := map[string]any{"type": "array", "items": text}
	object := map[string]any{"type": "object", "minProperties": 1, "additionalProperties": false, "properties": map[string]any{
		"kind": text, "name": text, "namespace": text, "group": text, "labels": texts, "annotations": texts,
	}}
	root := map[string]any{
		"extends":   described(list, "Presets to start from: "+strings.Join(presetNames(), ", ")+"."),
		"exclude":   described(list, "Globs of paths that are not read."),
		"checks":    map[string]any{"$ref": "#/$defs/checks"},
		"overrides": map[string]any{"type": "array", "items": map[string]any{"$ref": "#/$defs/override"}},
	}
	override := map[string]any{
		"paths":   described(list, "Globs of paths that the override is for."),
		"objects": map[string]any{"description": "Objects that the override is for.", "anyOf": []any{object, map[string]any{"type": "array", "items": object}}},
		"checks":  map[string]any{"$ref": "#/$defs/checks"},
	}
	for key, shared := range sharedKeys(checks) {
		schema := described(typeSchema(shared.typ), shared.doc)
		addShared(root, key, schema)
		addShared(override, key, schema)
	}
	data, err := json.MarshalIndent(map[string]any{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "Configuration of monitoringlinter",
		"type":                 "object",
		"properties":           root,
		"additionalProperties": false,
		"$defs": map[string]any{
			"level": level,
			"checks": map[string]any{
				"type": "object", "properties": properties, "additionalProperties": false,
				"patternProperties": map[string]any{`[*?\[]`: map[string]any{"anyOf": []any{
					map[string]any{"$ref": "#/$defs/level"},
					map[string]any{"type": "object", "properties": map[string]any{"severity": map[string]any{"$ref": "#/$defs/level"}}, "additionalProperties": false},
				}}},
			},
			"override": map[string]any{
				"type": "object", "properties": override, "additionalProperties": false,
				"anyOf": []any{map[string]any{"required": []any{"paths"}}, map[string]any{"required": []any{"objects"}}},
			},
		},
	}, "", "  ")
	return append(data, '\n'), err
}

// addShared adds the schema of a dotted key.
func addShared(properties map[string]any, key string, schema map[string]any) {
	first, rest, nested := strings.Cut(key, ".")
	if !nested {
		properties[key] = schema
		return
	}
	parent, ok := properties[first].(map[string]any)
	if !ok {
		parent = map[string]any{"type": "object", "properties": map[string]any{}, "additionalProperties": false}
		properties[first] = parent
	}
	addShared(parent["properties"].(map[string]any), rest, schema)
}

func described(schema map[string]any, doc string) map[string]any {
	out := map[string]any{}
	for k, v := range schema {
		out[k] = v
	}
	if doc != "" {
		out["description"] = doc
	}
	return out
}

var unmarshaler = reflect.TypeFor[yaml.Unmarshaler]()

// typeSchema returns the schema of a Go type as yaml.v3 decodes it. A type that
// decodes itself may take anything.
func typeSchema(t reflect.Type) map[string]any {
	if t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler) {
		return map[string]any{}
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.String:
		return map[string]any{"type": []any{"string", "number", "boolean"}} // all of which YAML turns into text
	case reflect.Slice:
		return map[string]any{"type": "array", "items": typeSchema(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": typeSchema(t.Elem())}
	case reflect.Struct:
		properties := map[string]any{}
		for f := range t.Fields() {
			if name := optionName(f); name != "" {
				properties[name] = described(typeSchema(f.Type), f.Tag.Get("doc"))
			}
		}
		return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	}
	return map[string]any{}
}
