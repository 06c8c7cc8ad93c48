// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// settings are what a configuration file says.
type settings struct {
	extends   []*Preset
	exclude   globs
	layer     layer
	overrides []override
}

// An override is a layer that holds for some paths or some objects.
type override struct {
	paths   globs    // nil: all
	objects *objects // nil: all, and files as a whole
	layer   layer
}

// A reader reads settings of the checks that there are.
type reader struct {
	checks  []*lint.Check
	ids     []string
	options [][]option // by the index of the check
	shared  *sharedKey
	errs    Errors
}

func newReader(checks []*lint.Check) *reader {
	r := &reader{checks: checks, shared: sharedKeys(checks)}
	for _, c := range checks {
		r.ids = append(r.ids, c.ID)
		r.options = append(r.options, optionsOf(optionsType(c)))
	}
	return r
}

// A sharedKey is a key beside checks that sets an option of several checks, or
// a mapping of such keys.
type sharedKey struct {
	below map[string]*sharedKey
	uses  []sharedUse
}

// A sharedUse is an option that a key sets.
type sharedUse struct {
	check int // index
	option
}

// ownKeys are the keys of the configuration that are not shared options.
var ownKeys = []string{"checks", "exclude", "extends", "overrides", "paths", "objects"}

// sharedKeys gathers the keys that options of the checks are taken from. That
// two checks want different things of one key is a programmer's mistake.
func sharedKeys(checks []*lint.Check) *sharedKey {
	root := &sharedKey{}
	for i, c := range checks {
		for _, o := range optionsOf(optionsType(c)) {
			if o.shared == "" {
				continue
			}
			k := root
			for part := range strings.SplitSeq(o.shared, ".") {
				if k.below == nil {
					k.below = map[string]*sharedKey{}
				}
				if k.below[part] == nil {
					k.below[part] = &sharedKey{}
				}
				if k = k.below[part]; k.uses != nil {
					break
				}
			}
			if k.below != nil || slices.Contains(ownKeys, o.shared) || k.uses != nil && (k.uses[0].shared != o.shared || k.uses[0].typ != o.typ) {
				panic(fmt.Sprintf("%s: the key %q of option %s is taken", c.ID, o.shared, o.name))
			}
			k.uses = append(k.uses, sharedUse{i, o})
		}
	}
	return root
}

// names returns the names of the keys below k.
func (k *sharedKey) names() []string {
	names := make([]string, 0, len(k.below))
	for name := range k.below {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r *reader) newLayer() layer { return make(layer, len(r.checks)) }

// file reads a configuration file.
func (r *reader) file(f *source.File) settings {
	d := newDocument(f, &r.errs)
	s := settings{layer: r.newLayer()}
	root := d.root()
	if root == nil {
		return s
	}
	for key, value := range d.pairs(root, nil) {
		switch key.Value {
		case "extends":
			for item := range d.texts(value, "extends") {
				if p, err := findPreset(item.Value); err != nil {
					d.errorf(item, "%s", err)
				} else {
					s.extends = append(s.extends, p)
				}
			}
		case "exclude":
			s.exclude = d.readGlobs(value, "exclude")
		case "checks":
			r.readChecks(d, value, s.layer, false)
		case "overrides":
			s.overrides = r.readOverrides(d, value)
		default:
			r.readShared(d, key, value, s.layer, []string{"extends", "exclude", "checks", "overrides"})
		}
	}
	return s
}

func (r *reader) readOverrides(d *document, n *yaml.Node) (out []override) {
	if n.Kind != yaml.SequenceNode {
		d.errorf(n, "overrides must be a list, not %s", describe(n))
		return nil
	}
	if len(n.Content) > maxOverrides {
		d.errorf(n, "more than %d overrides", maxOverrides)
		return nil
	}
	for _, item := range n.Content {
		out = append(out, r.readOverride(d, resolve(item)))
	}
	return out
}

func (r *reader) readOverride(d *document, n *yaml.Node) override {
	o := override{layer: r.newLayer()}
	chosen, sets := false, false
	for key, value := range d.mapping(n, "an override") {
		switch key.Value {
		case "paths":
			chosen = true
			if o.paths = d.readGlobs(value, "paths"); value.Kind == yaml.SequenceNode && len(value.Content) == 0 {
				d.errorf(value, "paths is empty, so the override holds nowhere")
			}
		case "objects":
			chosen = true
			o.objects = d.readObjects(value)
		case "checks":
			sets = true
			r.readChecks(d, value, o.layer, false)
		default:
			sets = true
			r.readShared(d, key, value, o.layer, []string{"paths", "objects", "checks"})
		}
	}
	if n.Kind == yaml.MappingNode && !chosen {
		d.errorf(n, "an override needs paths or objects; what holds everywhere stands outside of overrides")
	}
	if n.Kind == yaml.MappingNode && !sets {
		d.errorf(n, "an override without checks or another setting changes nothing")
	}
	return o
}

func (d *document) readGlobs(n *yaml.Node, what string) globs {
	var out globs
	for item := range d.texts(n, what) {
		patterns, err := parseGlob(item.Value)
		if err != nil {
			d.errorf(item, "%s", err)
		}
		out = append(out, patterns...)
	}
	if d.globs += len(out); d.globs > maxGlobs {
		d.errorf(n, "file holds more than %d globs, with their alternatives", maxGlobs)
	}
	return out
}

func (d *document) readObjects(n *yaml.Node) *objects {
	o := &objects{}
	for key, value := range d.mapping(n, "objects") {
		of := objectFields[key.Value]
		switch {
		case of != nil:
			if d.conform(value, reflect.TypeFor[string](), "objects."+key.Value) {
				o.fields = append(o.fields, objectField{of, parseWildcard(value.Value)})
			}
		case key.Value == "labels":
			o.labels = d.readWildcards(value, "objects.labels")
		case key.Value == "annotations":
			o.annotations = d.readWildcards(value, "objects.annotations")
		default:
			d.errorf(key, "objects has no key %s%s", quote(key.Value), meant(key.Value, []string{"kind", "name", "namespace", "labels", "annotations", "group"}, "it has"))
		}
	}
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		d.errorf(n, "objects names nothing to choose by")
	}
	return o
}

func (d *document) readWildcards(n *yaml.Node, what string) map[string]wildcard {
	if !d.conform(n, reflect.TypeFor[map[string]string](), what) {
		return nil
	}
	if len(n.Content) == 0 {
		d.errorf(n, "%s names nothing to choose by", what)
	}
	out := map[string]wildcard{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		out[resolve(n.Content[i]).Value] = parseWildcard(resolve(n.Content[i+1]).Value)
	}
	return out
}

// readShared reads the value of a key beside checks into the options of all
// checks that take it.
func (r *reader) readShared(d *document, key, value *yaml.Node, l layer, others []string) {
	k := r.shared.below[key.Value]
	if k == nil {
		known := slices.Concat(others, r.shared.names())
		d.errorf(key, "unknown key %s%s", quote(key.Value), meant(key.Value, known, "known are"))
		return
	}
	r.readSharedKey(d, k, value, l, key.Value)
}

func (r *reader) readSharedKey(d *document, k *sharedKey, value *yaml.Node, l layer, path string) {
	if k.below != nil {
		for key, value := range d.mapping(value, path) {
			next := k.below[key.Value]
			if next == nil {
				d.errorf(key, "%s has no key %s%s", path, quote(key.Value), meant(key.Value, k.names(), "it has"))
				continue
			}
			r.readSharedKey(d, next, value, l, path+"."+key.Value)
		}
		return
	}
	if !d.conform(value, k.uses[0].typ, path) {
		return
	}
	for _, u := range k.uses {
		l[u.check].shared = append(l[u.check].shared, assignment{u.option, value, d.span(value)})
	}
}

// An entry is what a layer says under one key of checks.
type entry struct {
	key     string
	glob    bool
	matches []int // indices of checks
	setting
}

// readChecks reads the key checks into a layer. Lenient is for presets, which
// may name checks that are not there.
func (r *reader) readChecks(d *document, n *yaml.Node, l layer, lenient bool) {
	var entries []entry
	for key, value := range d.mapping(n, "checks") {
		e, err := r.entry(key.Value)
		if err != nil {
			if !lenient {
				d.errorf(key, "%s", err)
			}
			continue
		}
		if r.readSetting(d, key, value, &e) {
			entries = append(entries, e)
		}
	}
	r.apply(entries, l)
}

// entry finds the checks that a key is about.
func (r *reader) entry(key string) (entry, error) {
	e := entry{key: key, glob: strings.Contains(key, "*")}
	pattern := parseWildcard(key)
	for i, id := range r.ids {
		if pattern.match(id) {
			e.matches = append(e.matches, i)
		}
	}
	if len(e.matches) > 0 {
		return e, nil
	}
	if e.glob {
		return e, fmt.Errorf("no check matches %s%s", quote(key), r.meantCheck(key))
	}
	return e, fmt.Errorf("unknown check %s%s", quote(key), r.meantCheck(key))
}

func (r *reader) meantCheck(key string) string {
	candidates := slices.Clone(r.ids)
	for _, id := range r.ids {
		if area, _, ok := strings.Cut(id, "/"); ok {
			candidates = append(candidates, area+"/*")
		}
	}
	if name, ok := near.Name(key, candidates); ok {
		return fmt.Sprintf("; did you mean %q?", name)
	}
	return "; monitoringlinter checks lists them"
}

// apply writes entries into a layer, the less specific ones first.
func (r *reader) apply(entries []entry, l layer) {
	slices.SortStableFunc(entries, func(a, b entry) int {
		switch {
		case a.glob != b.glob && a.glob:
			return -1
		case a.glob != b.glob:
			return 1
		}
		return cmp.Compare(len(a.key), len(b.key))
	})
	for _, e := range entries {
		for _, i := range e.matches {
			s := &l[i]
			if s.turn = e.turn; e.glob && e.turn == on && r.checks[i].OptIn {
				s.turn = keep
			}
			if e.severity != lint.Unset {
				s.severity = e.severity
			}
			if !e.glob {
				s.own, s.at = e.own, e.at
			}
		}
	}
}

// readSetting reads what stands under the key of a check or a glob.
func (r *reader) readSetting(d *document, key, value *yaml.Node, e *entry) bool {
	switch value.Kind {
	case yaml.ScalarNode:
		return d.readTurn(value, key.Value, e, true)
	case yaml.MappingNode:
	default:
		d.errorf(value, "%s must be %s or a mapping of options, not %s", key.Value, turnNames, describe(value))
		return false
	}
	e.turn = on
	ok := true
	var options []option
	if !e.glob {
		options = r.options[e.matches[0]]
	}
	for key, value := range d.pairs(value, &ok) {
		if key.Value == "severity" {
			ok = d.readTurn(value, "severity", e, false) && ok
			continue
		}
		o, known := findOption(options, key.Value)
		switch {
		case e.glob:
			d.errorf(key, "%s is a glob, for which only severity can be set; write options under the ID of a check", quote(e.key))
		case !known:
			names := append([]string{"severity"}, optionNames(options)...)
			d.errorf(key, "%s has no option %s%s", e.key, quote(key.Value), meant(key.Value, names, "it has"))
		default:
			if d.conform(value, o.typ, o.name) {
				e.own = append(e.own, assignment{o, value, d.span(value)})
				continue
			}
		}
		ok = false
	}
	if len(e.own) > 0 {
		e.at = d.span(key)
	}
	return ok
}

const turnNames = "on, off, info, warning, error"

// readTurn reads on, off or a severity.
func (d *document) readTurn(n *yaml.Node, what string, e *entry, onAllowed bool) bool {
	known := []string{"error", "warning", "info", "on", "off"}
	if !onAllowed {
		known = []string{"error", "warning", "info", "off"}
	}
	if n.Kind != yaml.ScalarNode || isNull(n) {
		d.errorf(n, "%s must be one of %s, not %s", what, strings.Join(known, ", "), describe(n))
		return false
	}
	name := n.Value
	if n.Tag == "!!bool" {
		name = map[string]string{"true": "on", "false": "off"}[strings.ToLower(name)]
	}
	switch {
	case name == "off":
		e.turn = off
	case name == "on" && onAllowed:
		e.turn = on
	default:
		severity, err := lint.ParseSeverity(name)
		if err != nil {
			d.errorf(n, "unknown severity %s%s", quote(n.Value), meant(n.Value, known, "allowed are"))
			return false
		}
		e.severity, e.turn = severity, on
		if e.glob {
			e.turn = keep
		}
	}
	return true
}

// commandLine returns the layer of checks that the command line turns on and off.
func (r *reader) commandLine(enable, disable []string) layer {
	l := r.newLayer()
	var entries []entry
	read := func(flag string, keys []string, t turn) {
		for _, key := range keys {
			e, err := r.entry(key)
			if err != nil {
				r.errs = append(r.errs, &Error{Message: fmt.Sprintf("%s: %v", flag, err)})
				continue
			}
			e.turn = t
			entries = append(entries, e)
		}
	}
	for _, key := range enable {
		if slices.Contains(disable, key) {
			r.errs = append(r.errs, &Error{Message: fmt.Sprintf("--enable and --disable both name %s", quote(key))})
		}
	}
	read("--enable", enable, on)
	read("--disable", disable, off)
	r.apply(entries, l)
	return l
}

func (r *reader) commandLinePresets(names []string) (out []*Preset) {
	for _, name := range names {
		p, err := findPreset(name)
		if err != nil {
			r.errs = append(r.errs, &Error{Message: fmt.Sprintf("--preset: %v", err)})
			continue
		}
		out = append(out, p)
	}
	return out
}

// preset reads a preset.
func (r *reader) preset(p *Preset) layer {
	d := newDocument(source.NewFileString("preset "+p.Name, p.Source), &r.errs)
	l := r.newLayer()
	if root := d.root(); root != nil {
		for key, value := range d.pairs(root, nil) {
			switch {
			case key.Value == "checks":
				r.readChecks(d, value, l, true)
			case r.shared.below[key.Value] != nil:
				r.readShared(d, key, value, l, nil)
			}
		}
	}
	return l
}
