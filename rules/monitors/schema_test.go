// SPDX-License-Identifier: Apache-2.0

package monitors

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "rewrite the table of schemas")

// operatorModule is the release of the operator whose custom resource
// definitions the table of schemas is made from.
const operatorModule = "github.com/prometheus-operator/prometheus-operator@v0.94.1"

// An openAPI is what the table takes over of the schema of a definition.
type openAPI struct {
	Type       string              `yaml:"type"`
	Format     string              `yaml:"format"`
	Properties map[string]*openAPI `yaml:"properties"`
	Additional *openAPI            `yaml:"additionalProperties"`
	Items      *openAPI            `yaml:"items"`
	Required   []string            `yaml:"required"`
	Enum       []string            `yaml:"enum"`
	Pattern    string              `yaml:"pattern"`
	Default    yaml.Node           `yaml:"default"`
	MinLength  int                 `yaml:"minLength"`
	MaxLength  int                 `yaml:"maxLength"`
	MinItems   int                 `yaml:"minItems"`
	MaxItems   int                 `yaml:"maxItems"`
	Minimum    *int64              `yaml:"minimum"`
	Maximum    *int64              `yaml:"maximum"`
	Nullable   bool                `yaml:"nullable"`
	IntOrStr   bool                `yaml:"x-kubernetes-int-or-string"`
	Preserve   bool                `yaml:"x-kubernetes-preserve-unknown-fields"`
	ListType   string              `yaml:"x-kubernetes-list-type"`
	ListKeys   []string            `yaml:"x-kubernetes-list-map-keys"`
}

// A tableWriter writes schemas, each that differs from all others once.
type tableWriter struct {
	rows  []string
	known map[string]int
}

func (w *tableWriter) add(s *openAPI) int {
	var b strings.Builder
	b.WriteString("{")
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+", ", args...) }
	switch {
	case s.IntOrStr:
		put("kind: intOrString")
	case s.Preserve:
		put("kind: anything")
	case s.Type == "object" && s.Additional != nil:
		put("kind: mapOf, of: %d", w.add(s.Additional))
	case s.Type == "object" && len(s.Properties) == 0:
		put("kind: anything")
	case s.Type == "object":
		put("kind: object")
	case s.Type == "array":
		put("kind: listOf, of: %d", w.add(s.Items))
	case s.Type == "number":
		put("kind: number")
	default:
		put("kind: %s", map[string]string{"string": "text", "integer": "integer", "boolean": "boolean"}[s.Type])
	}
	if len(s.Properties) > 0 {
		var fields strings.Builder
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			if slices.Contains(s.Required, name) && p.Default.IsZero() { // defaults are filled in before
				fmt.Fprintf(&fields, "{name: %q, schema: %d, required: true},\n", name, w.add(p))
			} else {
				fmt.Fprintf(&fields, "{name: %q, schema: %d},\n", name, w.add(p))
			}
		}
		put("fields: []schemaField{\n%s}", fields.String())
	}
	if len(s.Enum) > 0 {
		put("enum: []string{%s}", quoted(s.Enum))
	}
	if s.Pattern != "" {
		put("pattern: %s", "`"+s.Pattern+"`")
	}
	if len(s.ListKeys) > 0 {
		put("keys: []string{%s}", quoted(s.ListKeys))
	}
	if s.ListType == "set" {
		put("set: true")
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"minLength", s.MinLength}, {"maxLength", s.MaxLength}, {"minItems", s.MinItems}, {"maxItems", s.MaxItems}} {
		if n.value != 0 {
			put("%s: %d", n.name, n.value)
		}
	}
	if s.Minimum != nil {
		put("least: %d, hasLeast: true", *s.Minimum)
	}
	if s.Maximum != nil {
		put("most: %d, hasMost: true", *s.Maximum)
	}
	if s.Nullable {
		put("nullable: true")
	}
	row := strings.TrimSuffix(b.String(), ", ") + "}"
	if i, ok := w.known[row]; ok {
		return i
	}
	w.rows = append(w.rows, row)
	w.known[row] = len(w.rows) - 1
	return len(w.rows) - 1
}

func quoted(s []string) string {
	out := make([]string, len(s))
	for i := range s {
		out[i] = fmt.Sprintf("%q", s[i])
	}
	return strings.Join(out, ", ")
}

// TestSchemas fails when the table of schemas is not what the definitions of
// the operator say. Where their module is not there it is skipped, except in CI
// and to rewrite the table, for which it is downloaded: other tests run offline.
func TestSchemas(t *testing.T) {
	download := exec.Command("go", "mod", "download", "-json", operatorModule)
	if !*update && os.Getenv("CI") == "" {
		download.Env = append(os.Environ(), "GOPROXY=off")
	}
	out, err := download.Output()
	var module struct{ Dir string }
	if err != nil || json.Unmarshal(out, &module) != nil {
		t.Skipf("no module %s: %v", operatorModule, err)
	}
	paths, err := filepath.Glob(filepath.Join(module.Dir, "example/prometheus-operator-crd-full/*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no definitions in %s (%v)", operatorModule, err)
	}
	w := &tableWriter{known: map[string]int{}}
	var kinds strings.Builder
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var definition struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPI openAPI `yaml:"openAPIV3Schema"`
					}
				}
			}
		}
		if err := yaml.Unmarshal(data, &definition); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		spec := definition.Spec
		if spec.Names.Kind == "PrometheusRule" { // decoded by package rules
			continue
		}
		for _, v := range spec.Versions {
			for _, name := range []string{"apiVersion", "kind", "metadata", "status"} {
				v.Schema.OpenAPI.Properties[name] = &openAPI{Preserve: true}
			}
			fmt.Fprintf(&kinds, "case %q:\nreturn &schemas[%d]\n", spec.Names.Kind+" "+v.Name, w.add(&v.Schema.OpenAPI))
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `// Code generated by TestSchemas from the definitions of %s; DO NOT EDIT.

// SPDX-License-Identifier: Apache-2.0

package monitors

// schemaOf returns the schema of a kind in a version, or nil.
func schemaOf(kind, version string) *schema {
	switch kind + " " + version {
	%s}
	return nil
}

var schemas = [...]schema{
`, operatorModule, kinds.String())
	for i, row := range w.rows {
		fmt.Fprintf(&b, "%d: %s,\n", i, row)
	}
	b.WriteString("}\n")
	want, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	const path = "schema_table.go"
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the definitions say (%v): go test ./rules/monitors -run TestSchemas -update", path, err)
	}
}
