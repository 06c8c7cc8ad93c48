// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
)

// A profileCache holds the profile of each set of overrides that was asked for.
// Files and objects that the same overrides match share one.
type profileCache struct {
	bySet  sync.Map // string of the set → func() *lint.Profile
	byPath sync.Map // path → []int, the overrides that match it
}

// Excluded reports whether the file or folder at a path is not to be read.
func (c *Config) Excluded(p string) bool {
	if len(c.exclude) == 0 {
		return false
	}
	rel, ok := c.relative(p)
	if !ok {
		return false
	}
	// A folder's own name excludes all that is below it.
	for prefix := rel; prefix != "." && prefix != "/"; prefix = path.Dir(prefix) {
		if slices.ContainsFunc(c.exclude, func(glob string) bool { return doublestar.MatchUnvalidated(glob, prefix) }) {
			return true
		}
	}
	return false
}

// relative returns a path, as findings show it, relative to the folder of the
// configuration. The second result is false for a path outside of it.
func (c *Config) relative(p string) (string, bool) {
	if c.root == "." && !path.IsAbs(p) && !strings.HasPrefix(p, "../") {
		return p, true
	}
	root, err := filepath.Abs(filepath.FromSlash(c.root))
	if err != nil {
		return "", false
	}
	abs, err := filepath.Abs(filepath.FromSlash(p))
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Profile returns the checks that are on for an object in a file. That of the
// project as a whole (an empty path) has every check that is on anywhere: each
// finding is then judged by the profile of the place it lies in.
func (c *Config) Profile(p string, origin *lint.Origin) *lint.Profile {
	if len(c.overrides) == 0 {
		return c.cached(nil, p == "")
	}
	if p == "" {
		return c.cached(nil, true)
	}
	var set []int
	for _, i := range c.matching(p) {
		if c.overrides[i].matches(origin) {
			set = append(set, i)
		}
	}
	return c.cached(set, false)
}

// matching returns the overrides whose paths match p.
func (c *Config) matching(p string) []int {
	if found, ok := c.profiles.byPath.Load(p); ok {
		return found.([]int)
	}
	rel, inside := c.relative(p)
	var out []int
	for i, o := range c.overrides {
		if o.paths == nil || inside && slices.ContainsFunc(o.paths, func(glob string) bool { return doublestar.MatchUnvalidated(glob, rel) }) {
			out = append(out, i)
		}
	}
	c.profiles.byPath.Store(p, out)
	return out
}

// matches reports whether the override is for an object; a nil origin is a file
// as a whole, which an override for objects is not for.
func (o *override) matches(origin *lint.Origin) bool {
	if o.objects == nil {
		return true
	}
	return origin != nil && slices.ContainsFunc(o.objects, func(p object) bool { return p.matches(origin) })
}

func (p object) matches(origin *lint.Origin) bool {
	glob := func(pattern, value string) bool {
		if pattern == "" {
			return true
		}
		ok, err := path.Match(pattern, value)
		return ok && err == nil
	}
	all := func(patterns, values map[string]string) bool {
		for k, pattern := range patterns {
			if v, ok := values[k]; !ok || !glob(pattern, v) {
				return false
			}
		}
		return true
	}
	return glob(p.kind, origin.Kind) && glob(p.name, origin.Name) && glob(p.namespace, origin.Namespace) && glob(p.group, origin.Group) &&
		all(p.labels, origin.Labels) && all(p.annotations, origin.Annotations)
}

func (c *Config) cached(set []int, project bool) *lint.Profile {
	key := ""
	if project {
		key = "project"
	}
	for _, i := range set {
		key += fmt.Sprintf(" %d", i)
	}
	once, ok := c.profiles.bySet.Load(key)
	if !ok {
		once, _ = c.profiles.bySet.LoadOrStore(key, sync.OnceValue(func() *lint.Profile {
			p, _ := c.build(set) // faults were found when the configuration was loaded
			if project {
				c.addOverridden(p)
			}
			return p
		}))
	}
	return once.(func() *lint.Profile)()
}

// addOverridden adds the checks that only an override turns on, under the
// options of the first that does.
func (c *Config) addOverridden(p *lint.Profile) {
	for i := range c.overrides {
		more, _ := c.build([]int{i})
		for _, a := range more.Active {
			if _, ok := p.Find(a.Check.ID); !ok {
				p.Active = append(p.Active, a)
				lint.SortActive(p.Active)
			}
		}
	}
}

// build returns the profile of a set of overrides.
func (c *Config) build(set []int) (*lint.Profile, []*Error) {
	layers := slices.Clone(c.base)
	for _, i := range set {
		layers = append(layers, c.overrides[i].layer)
	}
	layers = append(layers, c.top...)
	p := &lint.Profile{}
	var errs []*Error
	for _, check := range c.checks {
		state := resolve(check, layers)
		if check.Options() == nil && len(state.options) > 0 {
			errs = append(errs, state.errors(errors.Join(state.unknown(nil)...))...)
			continue
		}
		// Options of a check that is off are still to be right.
		f, err := check.Bind(state.decode)
		if err != nil {
			errs = append(errs, state.errors(err)...)
			continue
		}
		if state.on {
			p.Active = append(p.Active, lint.Active{Check: check, Severity: state.severity, Func: f})
		}
	}
	lint.SortActive(p.Active)
	return p, errs
}

// A state is what all layers together say of a check.
type state struct {
	check    *lint.Check
	on       bool
	severity lint.Severity
	options  map[string]placed // by name
	shared   map[string]placed // by dotted key
}

// placed is an option with the file it stands in.
type placed struct {
	option
	src *file
}

func resolve(check *lint.Check, layers []layer) *state {
	s := &state{check: check, on: !check.OptIn, options: map[string]placed{}, shared: map[string]placed{}}
	for _, l := range layers {
		for key, n := range l.shared {
			s.shared[key] = placed{option{n, n}, l.src}
		}
		for _, set := range l.checks {
			if !matches(set.pattern, check.ID) {
				continue
			}
			switch {
			case set.severity == lint.Off:
				s.on = false
			case set.severity != lint.Unset:
				s.severity = set.severity
				fallthrough
			case set.on:
				// A glob is not meant to turn on what asks to be configured.
				s.on = s.on || !check.OptIn || isID(set.pattern)
			}
			for _, o := range set.options {
				s.options[o.key.Value] = placed{o, l.src}
			}
		}
	}
	return s
}

// optionFields returns the fields of a check's options that configuration sets.
func optionFields(c *lint.Check) []reflect.StructField {
	if c.Options() == nil {
		return nil
	}
	var out []reflect.StructField
	for f := range reflect.TypeOf(c.Options()).Fields() {
		if name := optionName(f); name != "" {
			out = append(out, f)
		}
	}
	return out
}

func optionName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if name == "-" {
		return ""
	}
	return name
}

// decode writes the options over a pointer to the defaults.
func (s *state) decode(options any) error {
	v := reflect.ValueOf(options).Elem()
	var errs []error
	known := map[string]bool{}
	for i := range v.NumField() {
		name := optionName(v.Type().Field(i))
		if name == "" {
			continue
		}
		known[name] = true
		o, ok := s.options[name]
		if !ok {
			if o, ok = s.shared[v.Type().Field(i).Tag.Get("shared")]; !ok {
				continue
			}
		}
		target := v.Field(i)
		// What is configured replaces the default of a list or map.
		if k := target.Kind(); k == reflect.Map || k == reflect.Slice {
			target.SetZero()
		}
		if err := o.value.Decode(target.Addr().Interface()); err != nil {
			_, message := yamlError(err)
			errs = append(errs, &optionError{o.value, o.src, fmt.Sprintf("%s: option %s: %s", s.check.ID, name, plain(message))})
		}
	}
	errs = append(errs, s.unknown(known)...)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if validator, ok := options.(interface{ Validate() error }); ok {
		return validator.Validate()
	}
	return nil
}

func (s *state) unknown(known map[string]bool) []error {
	var errs []error
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	for name, o := range s.options {
		if known[name] {
			continue
		}
		message := fmt.Sprintf("%s has no option %q", s.check.ID, name)
		if meant, ok := near.Name(name, append(names, "severity")); ok {
			message += fmt.Sprintf("; did you mean %q?", meant)
		} else if len(names) > 0 {
			message += "; it has " + strings.Join(names, ", ")
		} else {
			message += "; it has none"
		}
		errs = append(errs, &optionError{o.key, o.src, message})
	}
	return errs
}

// plain says in the words of a configuration what yaml.v3 says in those of Go.
func plain(message string) string {
	for from, to := range map[string]string{
		"into int": "into a number", "into float64": "into a number", "into bool": "into true or false", "into string": "into text",
		"into []string": "into a list of text", "into map[string]string": "into a mapping of text",
		"!!seq": "a list", "!!map": "a mapping", "!!str": "the text", "!!int": "the number", "!!bool": "the boolean",
	} {
		message = strings.ReplaceAll(message, from, to)
	}
	return strings.ReplaceAll(message, "cannot unmarshal", "cannot turn")
}

// An optionError is an error at an option.
type optionError struct {
	node    *yaml.Node
	src     *file
	message string
}

func (e *optionError) Error() string { return e.message }

// errors gives each part of an error of decode its place in the file.
func (s *state) errors(err error) []*Error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*Error
		for _, e := range joined.Unwrap() {
			out = append(out, s.errors(e)...)
		}
		return out
	}
	if e, ok := errors.AsType[*optionError](err); ok {
		return []*Error{{e.src.span(e.node), e.message}}
	}
	// What Validate says is of the options together: it is shown at the first of
	// those that are set, or at the one that the error names.
	message := fmt.Sprintf("%s: %v", s.check.ID, err)
	var first *placed
	at := func(o placed) {
		if o.src == nil || o.key == nil {
			return
		}
		if first == nil || o.value.Line < first.value.Line || o.value.Line == first.value.Line && o.value.Column < first.value.Column {
			first = &o
		}
	}
	for name, o := range s.options {
		if keyed, ok := err.(interface{ Key() string }); !ok || keyed.Key() == name {
			at(o)
		}
	}
	if first == nil {
		for _, f := range optionFields(s.check) {
			if o, ok := s.shared[f.Tag.Get("shared")]; ok {
				at(o)
			}
		}
	}
	if first == nil {
		return []*Error{{Message: message}}
	}
	return []*Error{{first.src.span(first.value), message}}
}
