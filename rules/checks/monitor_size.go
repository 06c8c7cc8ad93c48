// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"

	kyaml "sigs.k8s.io/yaml"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

var _ = add(lint.Check{
	ID:       "monitor/size",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "PrometheusRule too large for the operator",
		Why: `The operator writes the rules of an object into a ConfigMap and takes none whose rules, as YAML, are larger than 512 KiB: it drops the object, and all its alerts are gone. From 80 % of that on it is a warning.

The option max is for other readers, or to keep more distance.`,
		Bad: `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: shop
spec:
  groups:
    - name: shop
      rules:
        - alert: ShopDown
          expr: up{job="shop"} == 0
`,
		Good: `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: shop
spec:
  groups:
    - name: shop
      rules:
        - alert: Down
          expr: up == 0
`,
		Config:  "max: 90",
		TurnOff: "something else than the operator reads the object.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus-operator.dev/docs/platform/troubleshooting/"},
	},
	Run: lint.With(monitorSize{Max: 512 << 10}, checkMonitorSize),
})

type monitorSize struct {
	Max int `yaml:"max" doc:"The most bytes that the rules of an object may take."`
}

// Validate reports a size that nothing has.
func (o monitorSize) Validate() error {
	if o.Max <= 0 {
		return fmt.Errorf("max %d is no size", o.Max)
	}
	return nil
}

func checkMonitorSize(p *lint.Pass, f *rules.File, o monitorSize) {
	span := f.Span()
	// Written as YAML, JSON grows by less than half; nothing else grows.
	if f.Kind != rules.PrometheusRule || 3*(span.End-span.Start) < o.Max {
		return
	}
	data, err := kyaml.Marshal(monitorSizeSpec(f))
	if err != nil || len(data) < o.Max/10*8 {
		return
	}
	at := f.Place()
	if len(data) > o.Max {
		p.Reportf(at, "%s: its rules take %s, and the operator takes %s at most: it drops the object with all its alerts; split it", f.Object(), monitorSizeOf(len(data)), monitorSizeOf(o.Max))
		return
	}
	p.Report(lint.Finding{Span: at, Severity: lint.Warning,
		Message: fmt.Sprintf("%s: its rules take %s of the %s that the operator takes: above that it drops the object with all its alerts; split it in time", f.Object(), monitorSizeOf(len(data)), monitorSizeOf(o.Max))})
}

func monitorSizeOf(n int) string {
	if n < 10<<10 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// monitorSizeSpec returns the rules as the operator writes them.
func monitorSizeSpec(f *rules.File) any {
	groups := make([]any, 0, len(f.Groups))
	for _, g := range f.Groups {
		list := make([]any, 0, len(g.Rules))
		for _, r := range g.Rules {
			rule := map[string]any{}
			put := func(name, value string) {
				if value != "" {
					rule[name] = value
				}
			}
			put("alert", r.Alert.Value)
			put("record", r.Record.Value)
			put("for", r.For.Text.Value)
			put("keep_firing_for", r.KeepFiringFor.Text.Value)
			if r.Expr != nil {
				put("expr", r.Expr.Text.Value)
			}
			for name, entries := range map[string][]rules.Entry{"labels": r.Labels, "annotations": r.Annotations} {
				pairs := map[string]string{}
				for _, e := range entries {
					pairs[e.Key.Value] = e.Value.Value
				}
				if len(pairs) > 0 {
					rule[name] = pairs
				}
			}
			list = append(list, rule)
		}
		group := map[string]any{"name": g.Name.Value, "rules": list}
		if g.Interval.Text.Value != "" {
			group["interval"] = g.Interval.Text.Value
		}
		groups = append(groups, group)
	}
	return map[string]any{"groups": groups}
}
