// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestPresets(t *testing.T) {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
		if !strings.HasSuffix(p.Description, ".") || len(p.Description) > 160 {
			t.Errorf("%s: description %q is no sentence", p.Name, p.Description)
		}
	}
	if diff := cmp.Diff([]string{"default", "strict", "kubevirt", "openshift"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	folder, err := presetFiles.ReadDir("presets")
	if err != nil || len(folder) != len(names) {
		t.Errorf("%d files of presets for %d names (%v)", len(folder), len(names), err)
	}
}

// TestPresetSources: each entry says where it comes from.
func TestPresetSources(t *testing.T) {
	for _, p := range Presets() {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(p.Source), &root); err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		top := root.Content[0]
		if len(top.Content) != 2 || top.Content[0].Value != "checks" {
			t.Errorf("%s holds more than checks", p.Name)
		}
		checks := top.Content[1]
		for i := 0; i < len(checks.Content); i += 2 {
			key, sources := checks.Content[i], 0
			for line := range strings.Lines(key.HeadComment) {
				source, ok := strings.CutPrefix(strings.TrimSpace(line), "# source: ")
				if !ok {
					continue
				}
				if u, err := url.Parse(source); err != nil || u.Scheme != "https" || u.Host == "" || u.Path == "" {
					t.Errorf("%s: %s: source %q is no URL", p.Name, key.Value, source)
				}
				sources++
			}
			if sources == 0 {
				t.Errorf("%s: %s names no source", p.Name, key.Value)
			}
		}
	}
}

func TestPresetIDs(t *testing.T) {
	want := []string{"alert/annotations", "alert/labels", "alert/name", "alert/runbook-url", "alert/severity", "monitor/tls", "record/name"}
	if diff := cmp.Diff(want, PresetIDs()); diff != "" {
		t.Errorf("PresetIDs (-want +got):\n%s", diff)
	}
}

// TestPresetsOfOtherChecks: a program may have fewer checks than presets name.
func TestPresetsOfOtherChecks(t *testing.T) {
	for _, p := range Presets() {
		c := load(t, Input{Presets: []string{p.Name}, Checks: byID("promql/regexp")})
		if got := shown(c.Profile("a.yaml", nil)); got != "promql/regexp\n" {
			t.Errorf("%s: profile\n%s", p.Name, got)
		}
	}
}

func TestPresetsAreCopied(t *testing.T) {
	clear(Presets())
	if slices.Contains(Presets(), Preset{}) {
		t.Error("a caller changed the presets")
	}
}
