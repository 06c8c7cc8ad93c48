// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

// An Analysis knows what the expressions of a run can return: it follows the
// recording rules that they read.
type Analysis struct {
	strict   *follower
	assuming sync.Map // target labels → *follower
	records  map[string][]*Rule
	made     map[string]bool // recorded under a name without a colon
}

// Analyse returns the analysis of a run, which all checks share.
func Analyse(p *lint.Project) *Analysis { return lint.Derive(p, newAnalysis) }

func newAnalysis(p *lint.Project) *Analysis {
	a := &Analysis{records: map[string][]*Rule{}, made: map[string]bool{}}
	for r := range lint.All[*Rule](p) {
		// A name without a colon may be that of a metric that a target exports.
		switch {
		case !r.IsRecord():
		case strings.Contains(r.Record.Value, ":"):
			a.records[r.Record.Value] = append(a.records[r.Record.Value], r)
		default:
			a.made[r.Record.Value] = true
		}
	}
	for name := range cyclic(a.records) {
		delete(a.records, name)
	}
	a.strict = a.follower(nil)
	return a
}

// Flow returns what an expression can return, by what is certain.
func (a *Analysis) Flow(e *promql.Expr) *promql.Flow { return a.Parts(e).Flow(e.Root) }

// Parts returns what each part of an expression can return, by what is certain.
func (a *Analysis) Parts(e *promql.Expr) *promql.Parts { return a.strict.parts(e) }

// Assuming is like [Analysis.Parts], and takes it that each series scraped from
// a target carries the labels given.
func (a *Analysis) Assuming(targetLabels []string, e *promql.Expr) *promql.Parts {
	return a.assumes(targetLabels).parts(e)
}

func (a *Analysis) assumes(targetLabels []string) *follower {
	if len(targetLabels) == 0 {
		return a.strict
	}
	key := strings.Join(targetLabels, "\xff")
	f, ok := a.assuming.Load(key)
	if !ok {
		f, _ = a.assuming.LoadOrStore(key, a.follower(slices.Clone(targetLabels)))
	}
	return f.(*follower)
}

// A follower analyses expressions under one set of assumptions.
type follower struct {
	env      promql.Env
	recorded map[string]func() []promql.Branch
	// What was analysed last: the checks ask for the same expression one after
	// another, and to keep all would take more memory than the rules.
	recent [256]atomic.Pointer[analysed]
}

type analysed struct {
	expr  *promql.Expr
	parts *promql.Parts
}

func (a *Analysis) follower(targetLabels []string) *follower {
	f := &follower{recorded: make(map[string]func() []promql.Branch, len(a.records))}
	f.env = promql.Env{TargetLabels: targetLabels, Made: func(metric string) bool { return a.made[metric] }, Recorded: func(metric string) []promql.Branch {
		if known := f.recorded[metric]; known != nil {
			return known()
		}
		return nil
	}}
	for name, rules := range a.records {
		f.recorded[name] = sync.OnceValue(func() []promql.Branch {
			var out []promql.Branch
			for _, r := range rules {
				branches := promql.Recorded(name, r.Expr, staticLabels(r), nil, f.env)
				if branches == nil {
					return nil // one writer of whom nothing is known
				}
				out = append(out, branches...)
			}
			return out
		})
	}
	return f
}

var seed = maphash.MakeSeed()

// parts analyses an expression once for all checks.
func (f *follower) parts(e *promql.Expr) *promql.Parts {
	slot := &f.recent[maphash.Comparable(seed, e)%uint64(len(f.recent))]
	if known := slot.Load(); known != nil && known.expr == e {
		return known.parts
	}
	p := e.Parts(f.env)
	slot.Store(&analysed{e, p})
	return p
}

// staticLabels returns the labels that a recording rule sets: its own and its
// group's, none of which Prometheus expands.
func staticLabels(r *Rule) map[string]string {
	all := r.AllLabels()
	if len(all) == 0 {
		return nil
	}
	out := make(map[string]string, len(all))
	for _, e := range all {
		out[e.Key.Value] = e.Value.Value
	}
	return out
}

// maxDepth bounds the recording rules that are followed one into another; people
// chain a handful.
const maxDepth = 200

// cyclic returns the recorded metrics that are computed from themselves, over
// others or not, or over too many others: nothing can be said of them.
func cyclic(records map[string][]*Rule) map[string]bool {
	reads := make(map[string][]string, len(records))
	for name, rules := range records {
		for _, r := range rules {
			if r.Expr == nil {
				continue
			}
			r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
				if v, ok := n.(*parser.VectorSelector); ok {
					if metric := promql.Metric(v); records[metric] != nil {
						reads[name] = append(reads[name], metric)
					}
				}
			})
		}
	}
	// What is left when all metrics are taken away that read only such as are
	// taken away already is in a circle, or reads one.
	waiting, readers, depth := map[string]int{}, map[string][]string{}, map[string]int{}
	var ready []string
	for name := range records {
		waiting[name] = len(reads[name])
		for _, metric := range reads[name] {
			readers[metric] = append(readers[metric], name)
		}
		if waiting[name] == 0 {
			ready = append(ready, name)
		}
	}
	for len(ready) > 0 {
		name := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if depth[name] > maxDepth {
			continue
		}
		delete(waiting, name)
		for _, reader := range readers[name] {
			depth[reader] = max(depth[reader], depth[name]+1)
			if waiting[reader]--; waiting[reader] == 0 {
				ready = append(ready, reader)
			}
		}
	}
	out := map[string]bool{}
	for name := range waiting {
		out[name] = true
	}
	return out
}
