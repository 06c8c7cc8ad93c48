// SPDX-License-Identifier: Apache-2.0

// Package config reads .monitoringlinter.yaml and says which checks are on
// where, how severe their findings are, and under which options they run.
//
// A configuration is a pile of layers: the presets it extends, what the file
// sets for all paths, the overrides that match a path or an object, and the
// command line. A later layer wins over an earlier one, option by option; within
// a layer the ID of a check wins over a glob, and a longer glob over a shorter
// one.
package config

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// Names are the names that a configuration file may have.
var Names = []string{".monitoringlinter.yaml", ".monitoringlinter.yml"}

// Find returns the configuration file of dir: the first one upwards from it, no
// further than the root of the repository.
func Find(dir string) (string, bool) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for up := dir; ; up, abs = filepath.Join(up, ".."), filepath.Dir(abs) {
		for _, name := range Names {
			if info, err := os.Stat(filepath.Join(up, name)); err == nil && info.Mode().IsRegular() {
				return filepath.Join(up, name), true
			}
		}
		if _, err := os.Stat(filepath.Join(up, ".git")); err == nil || filepath.Dir(abs) == abs {
			return "", false
		}
	}
}

// An Error is what is wrong at a place of a configuration file.
type Error struct {
	Span    source.Span
	Message string
}

// Error returns path:line:column: message.
func (e *Error) Error() string {
	if e.Span.IsZero() {
		return e.Message
	}
	return e.Span.String() + ": " + e.Message
}

// Errors are all that is wrong with a configuration.
type Errors []*Error

// Error returns the errors, a line each.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Input is all that decides the configuration of a run.
type Input struct {
	File   *source.File  // the configuration file, or nil
	Checks []*lint.Check // every check there is
	// Presets are those of the command line: they lie above the ones that the
	// file extends, and below what the file itself sets.
	Presets []string
	// Enable and Disable are IDs and globs from the command line. They win over
	// all else; an ID wins over a glob, and else Disable wins.
	Enable, Disable []string
	// Root is the folder of the file, relative to the one that paths are
	// relative to; the globs of the file are relative to it.
	Root string
}

// Config is a configuration. It implements [lint.Settings].
type Config struct {
	checks    []*lint.Check
	root      string
	exclude   []string
	base      []layer
	overrides []override
	top       []layer // of the command line
	profiles  profileCache
}

// A layer sets checks and shared options.
type layer struct {
	checks []setting // ordered so that a later one wins
	shared map[string]*yaml.Node
	src    *file // whose positions the nodes have; nil for the command line
}

// A setting is what one entry of a checks mapping says.
type setting struct {
	pattern  string // ID or glob
	severity lint.Severity
	on       bool // a bare "on", or options: no word on the severity
	options  []option
}

type option struct{ key, value *yaml.Node }

type override struct {
	paths   []string
	objects []object
	layer   layer
}

// An object pattern says which objects an override is for. Empty fields match all.
type object struct {
	kind, name, namespace, group string
	labels, annotations          map[string]string
}

const maxFile = 1 << 20

// Load reads a configuration. The error, if any, is of type [Errors].
func Load(in Input) (*Config, error) {
	l := &loader{Input: in, shared: sharedKeys(in.Checks)}
	c := &Config{checks: in.Checks, root: path.Clean(filepath.ToSlash(in.Root))}
	var own layer
	var extends []string
	if in.File != nil {
		own, extends = l.file(c)
	}
	for _, name := range slices.Concat(extends, in.Presets) {
		c.base = append(c.base, l.preset(name)...)
	}
	c.base = append(c.base, own)
	c.top = []layer{l.commandLine()}
	if len(l.errs) == 0 {
		l.tryAll(c)
	}
	if len(l.errs) > 0 {
		slices.SortStableFunc(l.errs, func(a, b *Error) int { return a.Span.Start - b.Span.Start })
		return nil, l.errs
	}
	return c, nil
}

type loader struct {
	Input
	shared map[string]sharedKey
	errs   Errors
}

// A file is a configuration file with the way to its positions.
type file struct {
	*source.File
	preset string // its name, if it is a preset
}

func (f *file) span(n *yaml.Node) source.Span {
	if n == nil || n.Line == 0 || n.Line > f.Lines() {
		return f.Span(0, min(1, len(f.Data)))
	}
	start := source.RuneOffset(f.Data, f.Line(n.Line).Start, n.Column)
	end := start + 1
	if n.Kind == yaml.ScalarNode && n.Style == 0 {
		end = start + len(n.Value)
	}
	return f.Span(start, min(max(end, start), len(f.Data)))
}

func (l *loader) errorf(f *file, n *yaml.Node, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if f == nil {
		l.errs = append(l.errs, &Error{Message: message})
		return
	}
	l.errs = append(l.errs, &Error{f.span(n), message})
}

// parse returns the root mapping of a file, or nil if there is none.
func (l *loader) parse(f *file) *yaml.Node {
	if len(f.Data) > maxFile {
		l.errorf(f, nil, "the file is larger than 1 MiB")
		return nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(f.Data), &root); err != nil {
		line, message := yamlError(err)
		l.errorf(f, &yaml.Node{Line: line, Column: 1}, "%s", message)
		return nil
	}
	if len(root.Content) == 0 {
		return nil
	}
	if !l.sound(f, root.Content[0], 0) {
		return nil
	}
	if n := root.Content[0]; n.Kind == yaml.MappingNode {
		return n
	} else if !isNull(n) {
		l.errorf(f, n, "a configuration is a mapping of keys, not %s", kindOf(n))
	}
	return nil
}

// sound reports aliases, deep nesting and duplicate keys, which nobody needs in
// a configuration and everything below would have to beware of.
func (l *loader) sound(f *file, n *yaml.Node, depth int) bool {
	const maxNesting = 50
	switch {
	case n.Kind == yaml.AliasNode:
		l.errorf(f, n, "aliases are not allowed in a configuration")
		return false
	case depth > maxNesting:
		l.errorf(f, n, "the configuration is nested more than %d deep", maxNesting)
		return false
	case n.Kind == yaml.MappingNode:
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode {
				l.errorf(f, k, "a key must be text")
				return false
			}
			if seen[k.Value] {
				l.errorf(f, k, "key %q stands twice in one mapping", k.Value)
			}
			seen[k.Value] = true
		}
	}
	ok := true
	for _, c := range n.Content {
		ok = l.sound(f, c, depth+1) && ok
	}
	return ok
}

// file reads the configuration file: its own layer, and the presets it extends.
func (l *loader) file(c *Config) (own layer, extends []string) {
	f := &file{File: l.File}
	root := l.parse(f)
	own.src = f
	if root == nil {
		return own, nil
	}
	rest := l.keys(f, root, "the configuration", map[string]func(*yaml.Node){
		"extends": func(n *yaml.Node) {
			for _, item := range l.list(f, n, "extends") {
				if l.presetNode(f, item) {
					extends = append(extends, item.Value)
				}
			}
		},
		"exclude":   func(n *yaml.Node) { c.exclude = l.globs(f, n, "exclude") },
		"checks":    func(n *yaml.Node) { own.checks = l.settings(f, n) },
		"overrides": func(n *yaml.Node) { c.overrides = l.overrides(f, n) },
	})
	own.shared = rest
	return own, extends
}

// keys calls the function of each key of a mapping. The shared keys among them
// are returned, by their dotted path; any other key is an error.
func (l *loader) keys(f *file, n *yaml.Node, where string, known map[string]func(*yaml.Node)) map[string]*yaml.Node {
	shared := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if read := known[k.Value]; read != nil {
			read(v)
			continue
		}
		if _, ok := l.shared[k.Value]; ok {
			shared[k.Value] = v
			continue
		}
		if names := l.sharedBelow(k.Value); names != nil && v.Kind == yaml.MappingNode {
			for j := 0; j+1 < len(v.Content); j += 2 {
				full := k.Value + "." + v.Content[j].Value
				if _, ok := l.shared[full]; ok {
					shared[full] = v.Content[j+1]
				} else {
					l.unknown(f, v.Content[j], k.Value, names)
				}
			}
			continue
		} else if names != nil {
			l.errorf(f, v, "%s must be a mapping of %s", k.Value, strings.Join(names, ", "))
			continue
		}
		var names []string
		for name := range known {
			names = append(names, name)
		}
		for name := range l.shared {
			name, _, _ = strings.Cut(name, ".")
			names = append(names, name)
		}
		slices.Sort(names)
		l.unknown(f, k, where, slices.Compact(names))
	}
	return shared
}

// sharedBelow returns the last parts of the shared keys whose first part is name.
func (l *loader) sharedBelow(name string) []string {
	var out []string
	for key := range l.shared {
		if first, rest, ok := strings.Cut(key, "."); ok && first == name {
			out = append(out, rest)
		}
	}
	slices.Sort(out)
	return out
}

func (l *loader) unknown(f *file, k *yaml.Node, where string, names []string) {
	if name, ok := near.Name(k.Value, names); ok {
		l.errorf(f, k, "unknown key %q in %s; did you mean %q?", k.Value, where, name)
		return
	}
	l.errorf(f, k, "unknown key %q in %s; it has %s", k.Value, where, strings.Join(names, ", "))
}

func (l *loader) list(f *file, n *yaml.Node, key string) []*yaml.Node {
	switch {
	case isNull(n):
		return nil
	case n.Kind == yaml.ScalarNode:
		return []*yaml.Node{n}
	case n.Kind != yaml.SequenceNode:
		l.errorf(f, n, "%s must be a list, not %s", key, kindOf(n))
		return nil
	}
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || isNull(item) {
			l.errorf(f, item, "%s must be a list of text", key)
			return nil
		}
	}
	return n.Content
}

func (l *loader) globs(f *file, n *yaml.Node, key string) []string {
	var out []string
	for _, item := range l.list(f, n, key) {
		glob := strings.TrimSuffix(strings.TrimPrefix(item.Value, "./"), "/")
		if glob == "" || !doublestar.ValidatePattern(glob) {
			l.errorf(f, item, "%s: %q is no valid glob", key, item.Value)
			continue
		}
		out = append(out, glob)
	}
	return out
}

func (l *loader) overrides(f *file, n *yaml.Node) []override {
	if n.Kind != yaml.SequenceNode {
		if !isNull(n) {
			l.errorf(f, n, "overrides must be a list, not %s", kindOf(n))
		}
		return nil
	}
	var out []override
	for _, item := range n.Content {
		if item.Kind != yaml.MappingNode {
			l.errorf(f, item, "an override is a mapping of paths or objects, and checks, not %s", kindOf(item))
			continue
		}
		o := override{layer: layer{src: f}}
		scoped := false
		o.layer.shared = l.keys(f, item, "the override", map[string]func(*yaml.Node){
			"paths":   func(n *yaml.Node) { scoped = true; o.paths = l.globs(f, n, "paths") },
			"objects": func(n *yaml.Node) { scoped = true; o.objects = l.objects(f, n) },
			"checks":  func(n *yaml.Node) { o.layer.checks = l.settings(f, n) },
		})
		if !scoped {
			l.errorf(f, item, "an override needs paths or objects: what holds everywhere stands under checks")
		}
		out = append(out, o)
	}
	return out
}

func (l *loader) objects(f *file, n *yaml.Node) []object {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var out []object
	for _, item := range items {
		if item.Kind != yaml.MappingNode || len(item.Content) == 0 {
			l.errorf(f, item, "objects must be a mapping of kind, name, namespace, group, labels or annotations")
			continue
		}
		var o object
		text := func(to *string) func(*yaml.Node) {
			return func(n *yaml.Node) {
				if n.Kind != yaml.ScalarNode || isNull(n) {
					l.errorf(f, n, "must be text, not %s", kindOf(n))
					return
				}
				*to = l.pattern(f, n)
			}
		}
		texts := func(to *map[string]string) func(*yaml.Node) {
			return func(n *yaml.Node) {
				if n.Kind != yaml.MappingNode {
					l.errorf(f, n, "must be a mapping of names to text, not %s", kindOf(n))
					return
				}
				*to = map[string]string{}
				for i := 0; i+1 < len(n.Content); i += 2 {
					text(new(string))(n.Content[i+1])
					(*to)[n.Content[i].Value] = n.Content[i+1].Value
				}
			}
		}
		known := map[string]func(*yaml.Node){
			"kind": text(&o.kind), "name": text(&o.name), "namespace": text(&o.namespace), "group": text(&o.group),
			"labels": texts(&o.labels), "annotations": texts(&o.annotations),
		}
		for i := 0; i+1 < len(item.Content); i += 2 {
			if read := known[item.Content[i].Value]; read != nil {
				read(item.Content[i+1])
			} else {
				l.unknown(f, item.Content[i], "objects", []string{"annotations", "group", "kind", "labels", "name", "namespace"})
			}
		}
		out = append(out, o)
	}
	return out
}

func (l *loader) pattern(f *file, n *yaml.Node) string {
	if _, err := path.Match(n.Value, ""); err != nil {
		l.errorf(f, n, "%q is no valid glob", n.Value)
	}
	return n.Value
}

// settings reads a checks mapping.
func (l *loader) settings(f *file, n *yaml.Node) []setting {
	if n.Kind != yaml.MappingNode {
		if !isNull(n) {
			l.errorf(f, n, "checks must be a mapping of check IDs, not %s", kindOf(n))
		}
		return nil
	}
	var out []setting
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if !l.knownCheck(k.Value) {
			if f.preset != "" {
				continue // of a check that this run does not have
			}
			if id, ok := near.Name(k.Value, l.ids()); ok {
				l.errorf(f, k, "unknown check %q; did you mean %q?", k.Value, id)
			} else if strings.ContainsAny(k.Value, "*?[") {
				l.errorf(f, k, "no check matches %q", k.Value)
			} else {
				l.errorf(f, k, "unknown check %q; `monitoringlinter checks` lists them", k.Value)
			}
			continue
		}
		if s, ok := l.setting(f, k, v); ok {
			out = append(out, s)
		}
	}
	sortSettings(out)
	return out
}

func sortSettings(settings []setting) {
	slices.SortStableFunc(settings, func(a, b setting) int {
		switch exactA, exactB := isID(a.pattern), isID(b.pattern); {
		case exactA != exactB && exactB:
			return -1
		case exactA != exactB:
			return 1
		}
		return len(a.pattern) - len(b.pattern)
	})
}

func isID(pattern string) bool { return !strings.ContainsAny(pattern, "*?[") }

func (l *loader) ids() []string {
	out := make([]string, len(l.Checks))
	for i, c := range l.Checks {
		out[i] = c.ID
	}
	return out
}

func (l *loader) knownCheck(pattern string) bool {
	return slices.ContainsFunc(l.Checks, func(c *lint.Check) bool { return matches(pattern, c.ID) })
}

func matches(pattern, id string) bool {
	if pattern == id || pattern == "*" {
		return true
	}
	ok, err := path.Match(pattern, id)
	return ok && err == nil
}

func (l *loader) setting(f *file, k, v *yaml.Node) (setting, bool) {
	s := setting{pattern: k.Value}
	switch v.Kind {
	case yaml.ScalarNode:
		return s, l.level(f, v, &s)
	case yaml.MappingNode:
	default:
		l.errorf(f, v, "%s is set to off, on, a severity, or a mapping of options, not to %s", k.Value, kindOf(v))
		return s, false
	}
	s.on = true
	for i := 0; i+1 < len(v.Content); i += 2 {
		key, value := v.Content[i], v.Content[i+1]
		if key.Value == "severity" {
			if value.Kind != yaml.ScalarNode {
				l.errorf(f, value, "severity is one of off, info, warning, error")
				continue
			}
			l.level(f, value, &s)
			continue
		}
		if !isID(k.Value) {
			l.errorf(f, key, "a glob sets only a severity: options are those of one check")
			continue
		}
		s.options = append(s.options, option{key, value})
	}
	return s, true
}

// level reads off, on or a severity.
func (l *loader) level(f *file, n *yaml.Node, s *setting) bool {
	switch n.Value {
	case "off", "false":
		s.severity, s.on = lint.Off, false
	case "on", "true":
		s.on = true
	default:
		severity, err := lint.ParseSeverity(n.Value)
		if err != nil {
			hint := ""
			if name, ok := near.Name(n.Value, []string{"off", "on", "info", "warning", "error"}); ok {
				hint = fmt.Sprintf("; did you mean %q?", name)
			}
			l.errorf(f, n, "%q is none of off, on, info, warning, error%s", n.Value, hint)
			return false
		}
		s.severity, s.on = severity, true
	}
	return true
}

// commandLine returns the layer of --enable and --disable.
func (l *loader) commandLine() layer {
	var out layer
	add := func(flag string, patterns []string, s setting) {
		for _, p := range patterns {
			if !l.knownCheck(p) {
				hint := "`monitoringlinter checks` lists them"
				if id, ok := near.Name(p, l.ids()); ok {
					hint = fmt.Sprintf("did you mean %q?", id)
				}
				l.errorf(nil, nil, "%s: unknown check %q; %s", flag, p, hint)
				continue
			}
			s.pattern = p
			out.checks = append(out.checks, s)
		}
	}
	add("--enable", l.Enable, setting{on: true})
	add("--disable", l.Disable, setting{severity: lint.Off})
	sortSettings(out.checks)
	return out
}

// tryAll binds every check under every set of overrides that can tell them
// apart by itself, so that bad options are found now and not while linting.
func (l *loader) tryAll(c *Config) {
	seen := map[string]bool{}
	try := func(set []int) {
		_, errs := c.build(set)
		for _, err := range errs {
			if key := err.Error(); !seen[key] {
				seen[key] = true
				l.errs = append(l.errs, err)
			}
		}
	}
	try(nil)
	all := make([]int, len(c.overrides))
	for i := range c.overrides {
		try([]int{i})
		all[i] = i
	}
	try(all)
}

// A sharedKey is a top-level key that options of checks are taken from.
type sharedKey struct {
	doc string
	typ reflect.Type
}

// sharedKeys returns the shared keys that the options of the checks name.
func sharedKeys(checks []*lint.Check) map[string]sharedKey {
	out := map[string]sharedKey{}
	for _, c := range checks {
		for _, f := range optionFields(c) {
			if key := f.Tag.Get("shared"); key != "" {
				out[key] = sharedKey{f.Tag.Get("doc"), f.Type}
			}
		}
	}
	return out
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "nothing"
	}
	return fmt.Sprintf("%q", n.Value)
}

// yamlError takes an error of yaml.v3 apart.
func yamlError(err error) (line int, message string) {
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	message = strings.TrimSpace(strings.TrimPrefix(message, "unmarshal errors:"))
	if _, scanErr := fmt.Sscanf(message, "line %d:", &line); scanErr == nil {
		_, message, _ = strings.Cut(message, ": ")
	}
	return line, message
}
