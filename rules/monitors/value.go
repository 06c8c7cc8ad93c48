// SPDX-License-Identifier: Apache-2.0

package monitors

import (
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// Type is the type of a value in JSON, which is what the API server reads.
type Type uint8

// The types. A number is an Integer if it is written without a fraction.
const (
	Null Type = iota
	Boolean
	Integer
	Fraction
	String
	List
	Map
)

// String returns the name of the type as messages have it.
func (t Type) String() string {
	return [...]string{"nothing", "a boolean", "an integer", "a fraction", "text", "a list", "a mapping"}[t]
}

// A Value is a part of a manifest, aliases and merge keys resolved.
type Value struct {
	Type   Type
	Text   source.Text // of a scalar
	Fields []Field     // of a Map, in the order they are written
	Items  []*Value    // of a List
	Place  source.Span // where to report what is wrong with the value: of a Map or a List its beginning
	Extent source.Span // all of it
}

// A Field is an entry of a Map.
type Field struct {
	Key   source.Text
	Value *Value
}

// Field returns the entry of that name, or nil. It may be asked of nil.
func (v *Value) Field(name string) *Field {
	if v == nil {
		return nil
	}
	for i := range v.Fields {
		if v.Fields[i].Key.Value == name {
			return &v.Fields[i]
		}
	}
	return nil
}

// Get returns the value at a path of names, or nil where there is none; null is
// none. It may be asked of nil.
func (v *Value) Get(path ...string) *Value {
	for _, name := range path {
		f := v.Field(name)
		if f == nil || f.Value.Type == Null {
			return nil
		}
		v = f.Value
	}
	return v
}

// Str returns the text of a scalar, "" for anything else. It may be asked of nil.
func (v *Value) Str() string {
	if v == nil {
		return ""
	}
	return v.Text.Value
}

// True reports whether v is the boolean true. It may be asked of nil.
func (v *Value) True() bool {
	return v != nil && v.Type == Boolean && strings.HasPrefix(strings.ToLower(v.Text.Value), "t")
}

// Unknown reports whether the value is filled in by another program, so that
// nothing can be said of it. It may be asked of nil.
func (v *Value) Unknown() bool { return v != nil && Placeholder(v.Text.Value) }

// Placeholder reports whether a text holds what a template, an OpenShift
// parameter, envsubst or a variable of kustomize stands for.
func Placeholder(s string) bool {
	return strings.Contains(s, "${") || strings.Contains(s, "{{") || strings.Contains(s, "$(") || strings.Contains(s, "<%")
}

// list returns the texts of a list. It may be asked of nil.
func (v *Value) list() []source.Text {
	if v == nil {
		return nil
	}
	var out []source.Text
	for _, item := range v.Items {
		if item.Type == String {
			out = append(out, item.Text)
		}
	}
	return out
}

// labels returns a map of texts, nil if there is none. It may be asked of nil.
func (v *Value) labels() map[string]string {
	if v == nil || len(v.Fields) == 0 {
		return nil
	}
	out := make(map[string]string, len(v.Fields))
	for _, f := range v.Fields {
		out[f.Key.Value] = f.Value.Str()
	}
	return out
}
