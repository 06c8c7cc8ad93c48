// SPDX-License-Identifier: Apache-2.0

package monitors

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/prometheus/common/model"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A schema is what the custom resource definitions of the operator demand of a
// value. The table of all of them holds constants only, so that a run that
// meets no object of the operator does not pay for it.
type schema struct {
	kind                 schemaKind
	of                   uint16 // index of the schema of list items or map values
	fields               []schemaField
	enum                 []string
	pattern              string
	keys                 []string // fields by which no two items of a list may agree
	set                  bool     // no two items of a list may agree
	minLength, maxLength int      // 0: no bound
	minItems, maxItems   int      // 0: no bound
	least, most          int64
	hasLeast, hasMost    bool
	nullable             bool
}

type schemaField struct {
	name     string
	schema   uint16
	required bool
}

type schemaKind uint8

const (
	anything schemaKind = iota
	object
	mapOf
	listOf
	text
	integer
	number
	boolean
	intOrString
)

var schemaKinds = [...]string{"anything", "a mapping", "a mapping", "a list", "text", "an integer", "a number", "true or false", "an integer or text"}

// accepts reports whether a value of the type may stand where the kind is wanted.
func (k schemaKind) accepts(v *Value) bool {
	switch k {
	case object, mapOf:
		return v.Type == Map
	case listOf:
		return v.Type == List
	case text:
		return v.Type == String
	case integer:
		if v.Type == Fraction { // 1e3 is an integer to JSON
			f, err := strconv.ParseFloat(v.Text.Value, 64)
			return err == nil && f == float64(int64(f))
		}
		return v.Type == Integer
	case number:
		return v.Type == Integer || v.Type == Fraction
	case boolean:
		return v.Type == Boolean
	case intOrString:
		return v.Type == Integer || v.Type == String
	}
	return true
}

// A validator holds an object against its schema.
type validator struct {
	report func(source.Span, string, ...any) *lint.Problem
}

// validate reports what the schema refuses. Name is the field, or the item of
// which list, that the value is.
func (c validator) validate(v *Value, s *schema, name string) {
	if v.Type == Null {
		return // the API server drops it, or fills in the default
	}
	if !s.kind.accepts(v) {
		c.mistyped(v, s, name)
		return
	}
	switch s.kind {
	case object:
		c.object(v, s, name)
	case mapOf:
		for _, f := range v.Fields {
			c.validate(f.Value, &schemas[s.of], name+"."+f.Key.Value)
		}
	case listOf:
		c.list(v, s, name)
	case text, intOrString:
		if v.Type == String && !v.Unknown() {
			c.text(v, s, name)
		}
	case integer, number:
		c.number(v, s, name)
	}
}

func (c validator) mistyped(v *Value, s *schema, name string) {
	if v.Type == String && v.Unknown() {
		return
	}
	if s.kind == text && v.Type == Integer && isDuration(s.pattern) {
		c.report(v.Place, "%s: %s", name, patternHint(s.pattern, v.Text.Value))
		return
	}
	if s.kind == text && v.Type < String {
		p := c.report(v.Place, "%s is %s to YAML, and the API server takes only text: write %q", name, v.Type, v.Text.Value)
		p.Fixes = []lint.Fix{lint.Replace(v.Place, strconv.Quote(v.Text.Value), "quote the value", true)}
		return
	}
	p := c.report(v.Place, "%s must be %s, not %s", name, schemaKinds[s.kind], v.Type)
	if v.Type == String && (s.kind == integer || s.kind == number || s.kind == boolean) {
		unquoted := &Value{Text: v.Text, Type: Integer}
		switch _, err := strconv.ParseInt(v.Text.Value, 10, 64); {
		case s.kind == boolean && (v.Text.Value == "true" || v.Text.Value == "false"), s.kind.accepts(unquoted) && err == nil:
			p.Message += ": remove the quotes"
			p.Fixes = []lint.Fix{lint.Replace(v.Extent, v.Text.Value, "remove the quotes", true)}
		}
	}
}

func (c validator) object(v *Value, s *schema, name string) {
	for _, f := range v.Fields {
		i, ok := slices.BinarySearchFunc(s.fields, f.Key.Value, func(f schemaField, name string) int { return strings.Compare(f.name, name) })
		switch {
		case !ok:
			c.unknown(f.Key, s, name)
		case s.judgedByChecks(f):
		default:
			c.validate(f.Value, &schemas[s.fields[i].schema], f.Key.Value)
		}
	}
	for _, want := range s.fields {
		if want.required && v.Get(want.name) == nil && (v.Field(want.name) == nil || !schemas[want.schema].nullable) {
			at := v.Place
			if f := v.Field(want.name); f != nil {
				at = f.Key.All()
			}
			c.report(at, "%s has no %s, which is required", name, want.name).Partial = true
		}
	}
}

// judgedByChecks tells of the fields that a check of their own says more of
// than the schema: the port of an endpoint, the action of a relabeling.
func (s *schema) judgedByChecks(f Field) bool {
	other := ""
	switch f.Key.Value {
	case "port":
		other = "targetPort"
		if f.Value.Type != Integer {
			return false
		}
	case "action":
		other = "sourceLabels"
		if f.Value.Type != String {
			return false
		}
	default:
		return false
	}
	return slices.ContainsFunc(s.fields, func(f schemaField) bool { return f.name == other })
}

// unknown reports a field that the API does not have. What happens then depends
// on who sends the object.
func (c validator) unknown(key source.Text, s *schema, name string) {
	if Placeholder(key.Value) {
		return
	}
	const effect = "kubectl apply refuses it, and from other clients the API server drops it without a word"
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	if meant, ok := near.Name(key.Value, names); ok {
		p := c.report(key.All(), "unknown field %q in %s; did you mean %q? %s", key.Value, name, meant, effect)
		if at, exact := key.Exact(0, len(key.Value)); exact {
			p.Fixes = []lint.Fix{lint.Replace(at, meant, "rename the field to "+meant, false)}
		}
		return
	}
	if len(names) <= 12 {
		c.report(key.All(), "unknown field %q in %s, which has %s: %s", key.Value, name, strings.Join(names, ", "), effect)
		return
	}
	c.report(key.All(), "unknown field %q in %s: %s", key.Value, name, effect)
}

func (c validator) list(v *Value, s *schema, name string) {
	if len(v.Items) < s.minItems {
		c.report(v.Place, "%s is empty, and needs at least %d", name, s.minItems)
	}
	if s.maxItems > 0 && len(v.Items) > s.maxItems {
		c.report(v.Place, "%s has %d items, and may have %d", name, len(v.Items), s.maxItems)
	}
	seen := map[string]*Value{}
	for _, item := range v.Items {
		if item.Type == Null && !schemas[s.of].nullable {
			c.report(item.Place, "an item of %s is empty", name)
			continue
		}
		c.validate(item, &schemas[s.of], name)
		id, named := "", true
		switch {
		case s.set && item.Type != Map && item.Type != List:
			id = item.Text.Value
		case len(s.keys) > 0:
			for _, k := range s.keys {
				named = named && item.Get(k) != nil
				id += item.Get(k).Str() + "\x00"
			}
		default:
			continue
		}
		if !named {
			continue
		}
		if first := seen[id]; first != nil {
			place, what := item.Place, "item"
			if len(s.keys) > 0 {
				place, what = item.Get(s.keys[0]).Place, strings.Join(s.keys, ", ")
			}
			p := c.report(place, "%s has two items of the same %s %q: the API server refuses the object", name, what, strings.TrimRight(strings.ReplaceAll(id, "\x00", ", "), ", "))
			p.Related = []lint.Related{{Span: first.Place, Message: "the other one"}}
			continue
		}
		seen[id] = item
	}
}

func (c validator) text(v *Value, s *schema, name string) {
	t := v.Text.Value
	switch {
	case len(s.enum) > 0 && !slices.Contains(s.enum, t):
		if meant, ok := near.Name(t, s.enum); ok {
			p := c.report(v.Place, "%s: %q is none of %s; did you mean %q?", name, t, options(s.enum), meant)
			if at, exact := v.Text.Exact(0, len(t)); exact && t != "" {
				p.Fixes = []lint.Fix{lint.Replace(at, meant, "write "+meant, false)}
			}
			return
		}
		c.report(v.Place, "%s: %q is none of %s", name, t, options(s.enum))
	case s.pattern != "" && !matchesPattern(s.pattern, t):
		c.report(v.Place, "%s: %s", name, patternHint(s.pattern, t))
	case s.minLength > 0 && utf8.RuneCountInString(t) < s.minLength:
		if t == "" {
			c.report(v.Place, "%s is empty: the API server refuses it", name)
			return
		}
		c.report(v.Place, "%s is shorter than %d characters", name, s.minLength)
	case s.maxLength > 0 && utf8.RuneCountInString(t) > s.maxLength:
		c.report(v.Place, "%s is longer than %d characters", name, s.maxLength)
	}
}

// options lists the values that a field may have, the empty one as a person would write it.
func options(enum []string) string {
	out := make([]string, len(enum))
	for i, e := range enum {
		if out[i] = e; e == "" {
			out[i] = `""`
		}
	}
	return strings.Join(out, ", ")
}

func (c validator) number(v *Value, s *schema, name string) {
	f, err := strconv.ParseFloat(v.Text.Value, 64)
	switch {
	case err != nil: // hexadecimal, octal
	case s.hasLeast && f < float64(s.least):
		c.report(v.Place, "%s is %s, and may not be less than %d", name, v.Text.Value, s.least)
	case s.hasMost && f > float64(s.most):
		c.report(v.Place, "%s is %s, and may not be more than %d", name, v.Text.Value, s.most)
	}
}

var patterns sync.Map // pattern → *regexp.Regexp

func matchesPattern(pattern, s string) bool {
	re, ok := patterns.Load(pattern)
	if !ok {
		re, _ = patterns.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return re.(*regexp.Regexp).MatchString(s)
}

// isDuration tells the patterns of durations.
func isDuration(pattern string) bool { return strings.Contains(pattern, "([0-9]+)h)?(([0-9]+)m") }

// patternHint says in words what the value of a pattern looks like.
func patternHint(pattern, s string) string {
	switch {
	case isDuration(pattern):
		if s == "" {
			return "the empty text is no duration: write one such as 30s, or remove the field"
		}
		return fmt.Sprintf("%q is not a duration: %s", s, durationHint(s))
	case strings.Contains(pattern, "[KMGTPE]i"):
		return fmt.Sprintf("%q is not a quantity: write a number and a unit, as in 500m, 2Gi or 10", s)
	case strings.Contains(pattern, "(K|M|G|T|E|P)i?"):
		return fmt.Sprintf("%q is not a size: write a number and a unit of bytes, as in 512MB or 10GiB", s)
	case strings.Contains(pattern, "://"):
		return fmt.Sprintf("%q is not a URL of the kind %s", s, strings.Trim(pattern, "^$"))
	}
	return fmt.Sprintf("%q does not match %s", s, pattern)
}

// durationHint says how a value that is no duration was probably meant.
func durationHint(s string) string {
	units := map[string]string{
		"sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
		"hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w",
	}
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit := strings.ToLower(strings.TrimSpace(s[len(digits):]))
	switch {
	case digits == "" || strings.Trim(digits, "0123456789") != "" || len(s) > 30:
		return "write whole numbers with units from ms, s, m, h, d, w, y, as in 30s or 1m30s"
	case unit == "":
		return fmt.Sprintf("it has no unit; write %ss, %sm or %sh", digits, digits, digits)
	case units[unit] != "":
		return "write " + digits + units[unit]
	}
	if _, err := model.ParseDuration(digits + unit); err == nil {
		return "write " + digits + unit
	}
	return "the units are ms, s, m, h, d, w, y"
}
