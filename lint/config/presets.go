// SPDX-License-Identifier: Apache-2.0

package config

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// A Preset is a set of conventions that a configuration can start from.
type Preset struct {
	Name        string
	Description string // one sentence
	Source      string // YAML, with the sources of the conventions as comments
}

//go:embed presets/*.yaml
var presetFiles embed.FS

// The names of the presets, which are files of the folder presets.
var presetNames = []string{"default", "strict", "kubevirt", "openshift"}

var presets = sync.OnceValue(func() []Preset {
	var out []Preset
	for _, name := range presetNames {
		data, err := presetFiles.ReadFile("presets/" + name + ".yaml")
		if err != nil {
			panic(err)
		}
		out = append(out, Preset{name, description(string(data)), string(data)})
	}
	return out
})

// description returns the first paragraph of the comment that a preset begins with.
func description(source string) string {
	var lines []string
	for line := range strings.Lines(source) {
		text := strings.TrimSpace(strings.TrimPrefix(line, "#"))
		if !strings.HasPrefix(line, "#") || text == "" {
			break
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, " ")
}

// Presets returns the presets there are, default first.
func Presets() []Preset { return slices.Clone(presets()) }

// PresetIDs returns the IDs of the checks that presets set, ordered. A preset
// may name a check that a program does without, so Load does not mind; that each
// exists is for the program that has all checks to test.
func PresetIDs() []string {
	ids := map[string]bool{}
	for _, p := range presets() {
		var content struct {
			Checks map[string]yaml.Node `yaml:"checks"`
		}
		if err := yaml.Unmarshal([]byte(p.Source), &content); err != nil {
			panic(fmt.Sprintf("preset %s: %v", p.Name, err))
		}
		for id := range content.Checks {
			ids[id] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

func findPreset(name string) (*Preset, error) {
	for i, p := range presets() {
		if p.Name == name {
			return &presets()[i], nil
		}
	}
	return nil, fmt.Errorf("unknown preset %s%s", quote(name), meant(name, presetNames, "there are"))
}
