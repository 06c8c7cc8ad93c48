// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/unknown-metric",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "selector of a recorded metric that no rule records",
		Why: `A metric whose name has a colon comes from a recording rule. When that rule is renamed or removed, what reads it returns nothing from then on: the alert never fires, the panel is empty, and nothing says so.

By default only a name is reported that is close to one that a rule of the same folder records: misspelt, or of the same level and metric with other operations. With the option complete, which says that the run holds every rule that the server evaluates, all names that no rule records are.`,
		Bad: `groups:
- name: node
  rules:
  - record: cluster:node_cpu:sum_rate5m
    expr: sum(rate(node_cpu_seconds_total{mode!="idle"}[5m]))
  - alert: ClusterBusy
    expr: cluster:node_cpu_seconds_total:rate5m > 100
    for: 15m
`,
		Good: `groups:
- name: node
  rules:
  - record: cluster:node_cpu:sum_rate5m
    expr: sum(rate(node_cpu_seconds_total{mode!="idle"}[5m]))
  - alert: ClusterBusy
    expr: cluster:node_cpu:sum_rate5m > 100
    for: 15m
`,
		TurnOff: "recording rules of these names come from elsewhere; better, name them with the option external.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/practices/rules/#naming"},
	},
	Run: lint.With(promqlUnknownMetric{}, checkPromqlUnknownMetric),
})

type promqlUnknownMetric struct {
	Complete bool     `yaml:"complete" doc:"Whether the run holds all recording rules of the server that evaluates these."`
	External []string `yaml:"external" doc:"Regular expressions of recorded metrics that come from elsewhere; each must match a whole name."`
}

func (o promqlUnknownMetric) Validate() error {
	for i, expr := range o.External {
		if err := alertPatternError(fmt.Sprintf("external[%d]", i), expr); err != nil {
			return err
		}
	}
	return nil
}

// external reports whether a metric is said to come from elsewhere.
func (o promqlUnknownMetric) external(p *lint.Pass, metric string) bool {
	return slices.ContainsFunc(o.External, func(expr string) bool { return promqlMatchesWhole(p, expr, metric) })
}

// promqlMatchesWhole reports whether a regular expression of an option matches the
// whole of a name.
func promqlMatchesWhole(p *lint.Pass, expr, name string) bool {
	return alertPattern(p, "^(?:"+expr+")$").MatchString(name)
}

func checkPromqlUnknownMetric(p *lint.Pass, r *rules.Rule, o promqlUnknownMetric) {
	if r.Expr == nil || r.Expr.Root == nil || !strings.Contains(r.Expr.Text.Value, ":") {
		return
	}
	records := lint.Derive(p.Project, promqlRateRecords)
	reported := map[string]bool{}
	r.Expr.Inspect(func(n parser.Node, path []parser.Node) {
		v, ok := n.(*parser.VectorSelector)
		if !ok {
			return
		}
		metric := promql.Metric(v)
		if !strings.Contains(metric, ":") || reported[metric] || promqlUnrendered(metric) {
			return
		}
		if len(records[metric]) > 0 || promqlFallsBack(path) || o.external(p, metric) {
			return
		}
		meant := lint.Derive(p.Project, promqlRenames)[promqlRead{duplicateFolder(r), metric}]
		if meant == nil && !o.Complete {
			return
		}
		reported[metric] = true
		f := lint.Finding{Span: r.Expr.Name(v), Severity: lint.Warning}
		effect := "nothing is recorded"
		if r.IsAlert() {
			effect = "the alert can't fire by it"
		}
		f.Message = promqlSelectorMessage(p, "reads %s, which no rule of the run records: it returns nothing, and %s", promqlName(metric), effect)
		if meant != nil {
			f.Message += "; did you mean " + promqlName(meant.Record.Value) + "?"
			f.Related = []lint.Related{{Span: meant.Place(), Message: promqlName(meant.Record.Value) + " is recorded here"}}
		} else {
			f.Message += "; record it, or name it in external if it comes from elsewhere"
		}
		p.Report(f)
	})
}

// promqlFallsBack reports whether an expression is one of several that stand in
// for each other: of the names of a metric in several versions only one is there.
func promqlFallsBack(path []parser.Node) bool {
	for _, n := range path {
		switch n := n.(type) {
		case *parser.BinaryExpr:
			if n.Op == parser.LOR {
				return true
			}
		case *parser.Call:
			if strings.HasPrefix(n.Func.Name, "absent") {
				return true
			}
		}
	}
	return false
}

type promqlRead struct {
	folder duplicateScope
	metric string
}

// A promqlRenameIndex leads from what is read in a folder, and no rule records,
// to the rule there that may be meant.
type promqlRenameIndex map[promqlRead]*rules.Rule

// promqlMostComparisons bounds the work for names that are not recorded.
const promqlMostComparisons = 1 << 20

func promqlRenames(project *lint.Project) promqlRenameIndex {
	index := promqlRenameIndex{}
	recorded := lint.Derive(project, promqlRateRecords)
	folders := map[duplicateScope][]*rules.Rule{} // the first rule of each name
	seen := map[promqlRead]bool{}
	for r := range lint.All[*rules.Rule](project) {
		if at := (promqlRead{duplicateFolder(r), r.Record.Value}); r.IsRecord() && strings.Contains(at.metric, ":") && !seen[at] {
			seen[at] = true
			folders[at.folder] = append(folders[at.folder], r)
		}
	}
	left := promqlMostComparisons
	for r := range lint.All[*rules.Rule](project) {
		if r.Expr == nil || !strings.Contains(r.Expr.Text.Value, ":") {
			continue
		}
		folder := duplicateFolder(r)
		records := folders[folder]
		r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
			v, ok := n.(*parser.VectorSelector)
			if !ok {
				return
			}
			read := promqlRead{folder, promql.Metric(v)}
			if !strings.Contains(read.metric, ":") || len(recorded[read.metric]) > 0 || seen[read] || left < len(records) {
				return
			}
			seen[read] = true
			left -= len(records)
			for _, known := range records {
				if promqlRenamed(read.metric, known.Record.Value) {
					index[read] = known
					return
				}
			}
		})
	}
	return index
}

// promqlRenamed reports whether one recorded metric may be another under a
// former or misspelt name.
func promqlRenamed(read, recorded string) bool {
	a, b := strings.Split(read, ":"), strings.Split(recorded, ":")
	if len(a) != len(b) || promqlDigits(read) != promqlDigits(recorded) {
		return false // of another window, quantile or version
	}
	if _, misspelt := near.Name(read, []string{recorded}); misspelt {
		return true
	}
	if len(a) != 3 || a[0] != b[0] {
		return false
	}
	// A unit or an aggregation that is left out or added, as in
	// node_cpu:sum_rate5m and node_cpu_seconds_total:rate5m.
	return promqlExtends(a[1], b[1], false) && promqlExtends(a[2], b[2], true)
}

// promqlExtends reports whether two names are equal or one is the other and more
// words behind it or, if allowed, in front of it.
func promqlExtends(a, b string, front bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || strings.HasPrefix(b, a+"_") || front && strings.HasSuffix(b, "_"+a)
}

// promqlDigits returns the digits of a name, and promqlLetters all but these: of
// names that differ in digits only each is one of several.
func promqlDigits(s string) string { return strings.Map(promqlKeep(true), s) }

func promqlLetters(s string) string { return strings.Map(promqlKeep(false), s) }

func promqlKeep(digits bool) func(rune) rune {
	return func(r rune) rune {
		if ('0' <= r && r <= '9') == digits {
			return r
		}
		return -1
	}
}
