// SPDX-License-Identifier: Apache-2.0

package config

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

//go:embed presets/*.yaml
var presetFiles embed.FS

// A Preset is a configuration that others build on.
type Preset struct {
	Name        string
	Description string // the comment that its file begins with
	Text        string
}

// Presets returns the presets, ordered by name.
func Presets() []Preset {
	entries, err := presetFiles.ReadDir("presets")
	if err != nil {
		panic(err)
	}
	var out []Preset
	for _, e := range entries {
		data, err := presetFiles.ReadFile(path.Join("presets", e.Name()))
		if err != nil {
			panic(err)
		}
		p := Preset{Name: strings.TrimSuffix(e.Name(), ".yaml"), Text: string(data)}
		for line := range strings.Lines(p.Text) {
			comment, ok := strings.CutPrefix(line, "# ")
			if !ok {
				break
			}
			p.Description += strings.TrimSpace(comment) + " "
		}
		p.Description = strings.TrimSpace(p.Description)
		out = append(out, p)
	}
	return out
}

// PresetIDs returns the check IDs that presets set, each once.
func PresetIDs() []string {
	var out []string
	for _, p := range Presets() {
		var c struct {
			Checks map[string]yaml.Node `yaml:"checks"`
		}
		if err := yaml.Unmarshal([]byte(p.Text), &c); err != nil {
			panic(err)
		}
		for id := range c.Checks {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func presetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// presetNode reports whether the node names a preset.
func (l *loader) presetNode(f *file, n *yaml.Node) bool {
	names := presetNames()
	if slices.Contains(names, n.Value) {
		return true
	}
	if name, ok := near.Name(n.Value, names); ok {
		l.errorf(f, n, "unknown preset %q; did you mean %q?", n.Value, name)
	} else {
		l.errorf(f, n, "unknown preset %q; there are %s", n.Value, strings.Join(names, ", "))
	}
	return false
}

// preset returns the layers of a preset.
func (l *loader) preset(name string) []layer {
	for _, p := range Presets() {
		if p.Name != name {
			continue
		}
		f := &file{File: source.NewFileString("preset "+name, p.Text), preset: name}
		root := l.parse(f)
		if root == nil {
			return nil
		}
		out := layer{src: f}
		out.shared = l.keys(f, root, "the preset", map[string]func(*yaml.Node){
			"checks": func(n *yaml.Node) { out.checks = l.settings(f, n) },
		})
		return []layer{out}
	}
	l.errs = append(l.errs, &Error{Message: fmt.Sprintf("--preset: unknown preset %q; there are %s", name, strings.Join(presetNames(), ", "))})
	return nil
}
