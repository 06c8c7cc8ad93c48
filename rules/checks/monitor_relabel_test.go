// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

// TestMonitorRelabelAsPrometheus gives relabelings of all actions and fields to
// Prometheus too: a refusal here is one there.
func TestMonitorRelabelAsPrometheus(t *testing.T) {
	names := map[string]string{"sourceLabels": "source_labels", "targetLabel": "target_label"}
	values := map[string][]any{
		"action":       {nil, "replace", "keep", "drop", "hashmod", "labelmap", "labeldrop", "labelkeep", "lowercase", "uppercase", "keepequal", "dropequal", "Keep", "HashMod", "nonsense"},
		"sourceLabels": {nil, []string{"pod"}},
		"targetLabel":  {nil, "", "pod", "a b"},
		"regex":        {nil, "(.*)", "a(b", "x.*"},
		"replacement":  {nil, "$1", "x"},
		"separator":    {nil, ";", "/"},
		"modulus":      {nil, 0, 4},
	}
	combinations := []map[string]any{{}}
	for field, options := range values {
		var more []map[string]any
		for _, c := range combinations {
			for _, v := range options {
				next := map[string]any{}
				for k, o := range c {
					next[k] = o
				}
				if v != nil {
					next[field] = v
				}
				more = append(more, next)
			}
		}
		combinations = more
	}
	var file strings.Builder
	for _, c := range combinations {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&file, "        - %s\n", data)
	}
	text := "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nspec:\n  selector: {}\n  endpoints:\n    - relabelings:\n" + file.String()
	project := &lint.Project{Documents: []lint.Document{rules.Parse(source.NewFileString("a.yaml", text), false)}}
	i := 0
	for r := range lint.All[*monitors.Relabeling](project) {
		native := map[string]any{}
		for k, v := range combinations[i] {
			if other, ok := names[k]; ok {
				k = other
			}
			if k == "target_label" && v == "" {
				continue // the operator writes no empty field
			}
			if k == "action" {
				v = strings.ToLower(v.(string))
			}
			native[k] = v
		}
		data, err := yaml.Marshal(native)
		if err != nil {
			t.Fatal(err)
		}
		var c relabel.Config
		err = yaml.Unmarshal(data, &c)
		if err == nil {
			err = c.Validate(model.UTF8Validation)
		}
		if got := monitorRelabelFault(r).message; (got == "") != (err == nil) {
			t.Errorf("%v: got %q, Prometheus says %v", combinations[i], got, err)
		}
		i++
	}
	if i != len(combinations) {
		t.Errorf("%d relabelings were read of %d", i, len(combinations))
	}
}
