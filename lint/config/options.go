// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
)

// An option is a field of a struct of options.
type option struct {
	name, doc, shared string
	field             int
	typ               reflect.Type
}

// optionsOf returns the options that a struct type holds.
func optionsOf(t reflect.Type) []option {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	var out []option
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		out = append(out, option{name, f.Tag.Get("doc"), f.Tag.Get("shared"), i, f.Type})
	}
	return out
}

func findOption(options []option, name string) (option, bool) {
	i := slices.IndexFunc(options, func(o option) bool { return o.name == name })
	if i < 0 {
		return option{}, false
	}
	return options[i], true
}

func optionNames(options []option) []string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.name
	}
	return names
}

// decodesItself reports whether values of the type are read by a method of it.
func decodesItself(t reflect.Type) bool {
	type unmarshaler interface{ UnmarshalYAML(func(any) error) error }
	for _, i := range []reflect.Type{reflect.TypeFor[yaml.Unmarshaler](), reflect.TypeFor[unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()} {
		if t.Implements(i) || reflect.PointerTo(t).Implements(i) {
			return true
		}
	}
	return false
}

// conform reports where a value does not have the type, and whether it does.
// What stands for the value in messages.
func (d *document) conform(n *yaml.Node, t reflect.Type, what string) bool {
	n = resolve(n)
	if isNull(n) {
		d.errorf(n, "%s has no value", what)
		return false
	}
	if t.Kind() == reflect.Pointer {
		return d.conform(n, t.Elem(), what)
	}
	if decodesItself(t) {
		return d.decodes(n, t, what)
	}
	ok := true
	switch t.Kind() {
	case reflect.Struct:
		if n.Kind != yaml.MappingNode {
			d.errorf(n, "%s must be a mapping, not %s", what, describe(n))
			return false
		}
		options := optionsOf(t)
		for key, value := range d.pairs(n, &ok) {
			o, known := findOption(options, key.Value)
			if !known {
				d.errorf(key, "%s has no key %s%s", what, quote(key.Value), meant(key.Value, optionNames(options), "it has"))
				ok = false
				continue
			}
			ok = d.conform(value, o.typ, what+"."+o.name) && ok
		}
	case reflect.Map:
		if n.Kind != yaml.MappingNode {
			d.errorf(n, "%s must be a mapping, not %s", what, describe(n))
			return false
		}
		for key, value := range d.pairs(n, &ok) {
			ok = d.conform(value, t.Elem(), what+"."+visible(key.Value)) && ok
		}
	case reflect.Slice, reflect.Array:
		if n.Kind != yaml.SequenceNode {
			hint := ""
			if n.Kind == yaml.ScalarNode {
				hint = fmt.Sprintf("; write [%s]", visible(n.Value))
			}
			d.errorf(n, "%s must be a list, not %s%s", what, describe(n), hint)
			return false
		}
		for _, item := range n.Content {
			ok = d.conform(item, t.Elem(), "an item of "+what) && ok
		}
	default:
		if want, scalar := scalarTypes[t.Kind()]; scalar {
			// yaml would cut the fraction off a whole number, and take yes for true.
			tag := n.ShortTag()
			fits := n.Kind == yaml.ScalarNode && (want.tags == nil || slices.Contains(want.tags, tag))
			if !fits || n.Decode(reflect.New(t).Interface()) != nil {
				d.errorf(n, "%s must be %s, not %s", what, want.name, describe(n))
				return false
			}
			return true
		}
	}
	return ok && d.decodes(n, t, what)
}

// A scalarType is how a scalar is called, and the tags it may have; nil is any.
type scalarType struct {
	name string
	tags []string
}

var (
	whole       = scalarType{"a whole number", []string{"!!int"}}
	natural     = scalarType{"a whole number from 0", []string{"!!int"}}
	number      = scalarType{"a number", []string{"!!int", "!!float"}}
	scalarTypes = map[reflect.Kind]scalarType{
		reflect.String: {"text", nil},
		reflect.Bool:   {"true or false", []string{"!!bool"}},
		reflect.Int:    whole, reflect.Int8: whole, reflect.Int16: whole, reflect.Int32: whole, reflect.Int64: whole,
		reflect.Uint: natural, reflect.Uint8: natural, reflect.Uint16: natural, reflect.Uint32: natural, reflect.Uint64: natural,
		reflect.Float32: number, reflect.Float64: number,
	}
)

var (
	lineOfError = regexp.MustCompile(`(?s)^(?:yaml: )?line (\d+): (.*)$`)
	goTypeError = regexp.MustCompile("(?s)^cannot unmarshal (!!\\w+)(?: `(.*)`)? into .*$")
)

// decodes reports why a value can't be decoded into the type, and whether it can.
func (d *document) decodes(n *yaml.Node, t reflect.Type, what string) bool {
	err := n.Decode(reflect.New(t).Interface())
	if err == nil {
		return true
	}
	faults := []string{err.Error()}
	var typeError *yaml.TypeError
	if errors.As(err, &typeError) {
		faults = typeError.Errors
	}
	for _, fault := range faults {
		line := 0
		if m := lineOfError.FindStringSubmatch(fault); m != nil {
			line, _ = strconv.Atoi(m[1])
			fault = m[2]
		}
		at := faulty(n, line, fault)
		if m := goTypeError.FindStringSubmatch(fault); m != nil {
			d.errorf(at, "%s can't be %s", what, describe(at))
			continue
		}
		d.errorf(at, "%s: %s", what, fault)
	}
	return false
}

// faulty returns the node below n that a fault is about: the one whose value the
// fault quotes, or else the first on the line that it names.
func faulty(n *yaml.Node, line int, fault string) *yaml.Node {
	var quoted, onLine *yaml.Node
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		n = resolve(n)
		if onLine == nil && n.Line == line {
			onLine = n
		}
		if quoted == nil && n.Kind == yaml.ScalarNode && (strings.Contains(fault, strconv.Quote(n.Value)) || strings.Contains(fault, "`"+n.Value+"`")) {
			quoted = n
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(n)
	return cmp.Or(quoted, onLine, n)
}

// assign decodes a value over v, which holds the option so far. A struct keeps
// the fields that the value does not name; anything else is replaced.
func assign(v reflect.Value, n *yaml.Node) error {
	n = resolve(n)
	t := v.Type()
	if t.Kind() == reflect.Struct && !decodesItself(t) {
		options := optionsOf(t)
		for i := 0; i+1 < len(n.Content); i += 2 {
			if o, ok := findOption(options, resolve(n.Content[i]).Value); ok {
				if err := assign(v.Field(o.field), n.Content[i+1]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	fresh := reflect.New(t)
	if err := n.Decode(fresh.Interface()); err != nil {
		return err
	}
	v.Set(fresh.Elem())
	return nil
}

// meant says which name a misspelt one was meant to be, or else which there are.
func meant(name string, known []string, list string) string {
	if n, ok := near.Name(name, known); ok {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	if len(known) == 0 {
		return ""
	}
	return "; " + list + " " + strings.Join(known, ", ")
}

// optionsType returns the type of the options of a check, or nil.
func optionsType(c *lint.Check) reflect.Type {
	if c.Options() == nil {
		return nil
	}
	return reflect.TypeOf(c.Options())
}
