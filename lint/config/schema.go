// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
)

// object is an object of JSON; its keys are written in order.
type object = map[string]any

// Schema returns the JSON Schema of the configuration, for editors.
func Schema(checks []*lint.Check) ([]byte, error) {
	shared, err := sharedSchemas(checks, sharedKeys(checks))
	if err != nil {
		return nil, err
	}
	top, override := maps.Clone(shared), maps.Clone(shared)
	maps.Copy(top, object{
		"extends":   describedAs(list(object{"enum": presetNames}), "Presets to start from; a later one wins."),
		"exclude":   describedAs(list(ref("text")), "Globs of files and folders that are not read, from the folder of this file."),
		"checks":    describedAs(ref("checks"), "Settings of checks, by their ID or by a glob such as promql/*."),
		"overrides": describedAs(list(ref("override")), "Settings for some paths or objects; a later one wins."),
	})
	maps.Copy(override, object{
		"paths":   describedAs(nonEmptyList(ref("text")), "Globs of files and folders, from the folder of this file."),
		"objects": ref("objects"),
		"checks":  ref("checks"),
	})
	patterns := func(what string) object {
		return describedAs(object{"type": "object", "minProperties": 1, "additionalProperties": ref("text")}, what)
	}
	settings, err := checksSchema(checks)
	if err != nil {
		return nil, err
	}
	root := closed(top)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Configuration of monitoringlinter"
	root["$defs"] = object{
		"text":     object{"type": []string{"string", "number", "boolean"}},
		"severity": object{"enum": []any{"error", "warning", "info", "off", false}},
		"setting":  object{"enum": []any{"error", "warning", "info", "on", "off", true, false}},
		"checks":   settings,
		"override": func() object {
			o := closed(override)
			o["allOf"] = []object{anyOf([]string{"paths", "objects"}), anyOf(append([]string{"checks"}, sharedKeys(checks).names()...))}
			return o
		}(),
		"objects": func() object {
			o := closed(object{
				"kind":        describedAs(ref("text"), "Kind of the Kubernetes object."),
				"name":        describedAs(ref("text"), "Name of the Kubernetes object."),
				"namespace":   describedAs(ref("text"), "Namespace of the Kubernetes object."),
				"group":       describedAs(ref("text"), "Name of the rule group."),
				"labels":      patterns("Labels of the Kubernetes object, all of which must match."),
				"annotations": patterns("Annotations of the Kubernetes object, all of which must match."),
			})
			o["minProperties"] = 1
			o["description"] = "What the objects are like; in each value * stands for any run of characters."
			return o
		}(),
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(root)
	return b.Bytes(), err
}

// checksSchema returns the schema of the key checks.
func checksSchema(checks []*lint.Check) (object, error) {
	properties := object{}
	for _, c := range checks {
		options := object{"severity": ref("severity")}
		t := optionsType(c)
		for _, o := range optionsOf(t) {
			s, err := optionSchema(c, o)
			if err != nil {
				return nil, err
			}
			options[o.name] = s
		}
		properties[c.ID] = describedAs(object{"anyOf": []object{ref("setting"), closed(options)}}, checkTitle(c))
	}
	globs := object{"anyOf": []object{ref("setting"), closed(object{"severity": ref("severity")})}}
	s := closed(properties)
	s["patternProperties"] = object{`\*`: globs}
	return s, nil
}

func checkTitle(c *lint.Check) string {
	title := strings.TrimSuffix(c.Doc.Title, ".") + ". Severity: " + c.Severity.String()
	if c.OptIn {
		title += ", off until it is configured"
	}
	return title + "."
}

// optionSchema returns the schema of an option with its default.
func optionSchema(c *lint.Check, o option) (object, error) {
	s := describedAs(typeSchema(o.typ), o.doc)
	value, err := plain(reflect.ValueOf(c.Options()).Field(o.field).Interface())
	if err != nil {
		return nil, fmt.Errorf("default of option %s of %s: %w", o.name, c.ID, err)
	}
	s["default"] = value
	return s, nil
}

// plain returns a value as configuration would write it.
func plain(v any) (out any, err error) {
	data, err := yaml.Marshal(v)
	if err != nil {
		return nil, err
	}
	err = yaml.Unmarshal(data, &out)
	return out, err
}

// sharedSchemas returns the schemas of the keys below k, which are described
// and have their defaults like the first option that they set.
func sharedSchemas(checks []*lint.Check, k *sharedKey) (object, error) {
	properties := object{}
	for name, next := range k.below {
		if next.below != nil {
			below, err := sharedSchemas(checks, next)
			if err != nil {
				return nil, err
			}
			properties[name] = closed(below)
			continue
		}
		u := next.uses[0]
		s, err := optionSchema(checks[u.check], u.option)
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, u := range next.uses {
			ids = append(ids, checks[u.check].ID)
		}
		slices.Sort(ids)
		properties[name] = describedAs(s, fmt.Sprintf("%s For %s.", u.doc, strings.Join(slices.Compact(ids), ", ")))
	}
	return properties, nil
}

// typeSchema returns the schema of the values that decode into a type. What a
// type that decodes itself takes is not known.
func typeSchema(t reflect.Type) object {
	if t.Kind() == reflect.Pointer {
		return typeSchema(t.Elem())
	}
	if decodesItself(t) {
		return object{}
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return ref("text")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		return list(typeSchema(t.Elem()))
	case reflect.Map:
		return object{"type": "object", "additionalProperties": typeSchema(t.Elem())}
	case reflect.Struct:
		fields := object{}
		for _, o := range optionsOf(t) {
			fields[o.name] = describedAs(typeSchema(o.typ), o.doc)
		}
		return closed(fields)
	}
	return object{}
}

// anyOf returns the schema of objects that have at least one of the keys.
func anyOf(keys []string) object {
	var out []object
	for _, key := range keys {
		out = append(out, object{"required": []string{key}})
	}
	return object{"anyOf": out}
}

func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

func list(items object) object { return object{"type": "array", "items": items} }

func nonEmptyList(items object) object {
	return object{"type": "array", "items": items, "minItems": 1}
}

func closed(properties object) object {
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}

func describedAs(s object, text string) object {
	if text != "" {
		s["description"] = text
	}
	return s
}
