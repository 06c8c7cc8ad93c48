// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
)

// The facts of the table are those of an expression's branches together:
// labels that each series has (G), may have (P), can't have (I); "open" if any
// other label is possible and "closed" if none is; "name" if the metric name may
// be there, "noname" if it is not; "empty" if there is never a result and
// "always" if there always is one.
var flowTable = []struct{ expr, facts string }{
	// Selectors and their matchers.
	{`foo`, `open name`},
	{`foo{a="1"}`, `G a open name`},
	{`foo{a!=""}`, `G a open name`},
	{`foo{a=~".+"}`, `G a open name`},
	{`foo{a=~"x|y"}`, `G a open name`},
	{`foo{a=~".*"}`, `P a open name`},
	{`foo{a=~"x|"}`, `P a open name`},
	{`foo{a=~"(x|y)?"}`, `P a open name`},
	{`foo{a=""}`, `I a open name`},
	{`foo{a=~""}`, `I a open name`},
	{`foo{a!~".+"}`, `I a open name`},
	{`foo{a!~""}`, `G a open name`},
	{`foo{a!~"|x"}`, `G a open name`},
	{`foo{a!~"x"}`, `P a open name`},
	{`foo{a!="x"}`, `P a open name`},
	{`foo{a="1",a!="2"}`, `G a open name`},
	{`foo{a="1",a="2"}`, `empty`},
	{`foo{a="1",a!="1"}`, `empty`},
	{`foo{a=~"1|2",a!~"1|2|3"}`, `empty`},
	{`foo{a="1",a=~"2.*"}`, `empty`},
	{`foo{a="",a!=""}`, `empty`},
	{`foo{a!~".*"}`, `empty`},
	{`{__name__="foo",a="1"}`, `G a open name`},
	{`{__name__=~"foo|bar"}`, `open name`},
	{`(foo)`, `open name`},
	{`+foo`, `open name`},
	{`foo offset 5m`, `open name`},
	{`foo @ 600`, `open name`},
	{`-foo`, `open noname`},
	{`-(-foo{a="1"})`, `G a open noname`},

	// Functions.
	{`rate(foo{a="1"}[5m])`, `G a open noname`},
	{`increase(foo[5m])`, `open noname`},
	{`last_over_time(foo[5m])`, `open name`},
	{`first_over_time(foo[5m])`, `open name`},
	{`max_over_time(foo[5m])`, `open noname`},
	{`present_over_time(foo[5m])`, `open noname`},
	{`ts_of_last_over_time(foo[5m])`, `open noname`},
	{`last_over_time(rate(foo[5m])[10m:1m])`, `open noname`},
	{`max_over_time((sum by (a)(foo))[10m:1m])`, `P a closed noname`},
	{`timestamp(foo)`, `open noname`},
	{`abs(foo{a="1"})`, `G a open noname`},
	{`clamp(foo{a="1"},0,1)`, `G a open noname`},
	{`hour(foo)`, `open noname`},
	{`hour()`, `closed noname always`},
	{`sort(foo)`, `open name`},
	{`sort_by_label(foo,"a")`, `open name`},
	{`predict_linear(foo[10m],3600)`, `open noname`},
	{`vector(1)`, `closed noname always`},
	{`vector(time())`, `closed noname always`},
	{`vector(scalar(foo))`, `closed noname always`},
	{`scalar(foo) * bar`, `open noname`},
	{`time() - foo`, `open noname`},

	// Aggregations.
	{`sum(foo)`, `closed noname`},
	{`count(foo{a="1"})`, `closed noname`},
	{`quantile(0.5,foo)`, `closed noname`},
	{`sum by (a)(foo)`, `P a closed noname`},
	{`sum by (a)(foo{a="1"})`, `G a closed noname`},
	{`sum by (a)(foo{b="1"})`, `P a I b closed noname`},
	{`sum by ()(foo)`, `closed noname`},
	{`sum without (a)(foo{b="1"})`, `G b I a open noname`},
	{`sum without ()(foo)`, `open noname`},
	{`group without (a,b)(foo)`, `I a b open noname`},
	{`sum by (a,__name__)(foo)`, `P a closed name`},
	{`sum by (__name__)(rate(foo[5m]))`, `closed noname`},
	{`sum by (b)(sum by (a)(foo))`, `I a b closed noname`},
	{`topk(1,foo{a="1"})`, `G a open name`},
	{`bottomk without (a)(1,foo)`, `P a open name`},
	{`limitk(1,foo{a="1"})`, `G a open name`},
	{`limit_ratio(0.5,foo{a="1"})`, `G a open name`},
	{`topk(1,sum by (a)(foo))`, `P a closed noname`},
	{`count_values("v",foo)`, `G v closed noname`},
	{`count_values by (a)("v",foo)`, `G v P a closed noname`},
	{`count_values by (a)("a",foo)`, `G a closed noname`},
	{`count_values without (a)("v",foo)`, `G v I a open noname`},
	{`count_values without (a)("a",foo)`, `I a open noname`},
	{`count_values("__name__",foo)`, `closed name`},
	{`count(count by (a,job)(foo)) by (a)`, `P a I job closed noname`},

	// absent
	{`absent(nope{a="1",b=~"x.*",c!="q"})`, `G a I b c closed noname`},
	{`absent(nope{a="1",a="2"})`, `I a closed noname always`},
	{`absent(nope{a=""})`, `I a closed noname`},
	{`absent(nope{a=~"1"})`, `I a closed noname`},
	{`absent((nope{a="1"}))`, `G a closed noname`},
	{`absent(nope{a="1"} offset 5m)`, `G a closed noname`},
	{`absent(sum by (a)(nope{a="1"}))`, `I a closed noname`},
	{`absent(rate(nope{a="1"}[5m]))`, `I a closed noname`},
	{`absent(nope{a="1"} == 0)`, `I a closed noname`},
	{`absent({__name__="nope",a="1"})`, `G a closed noname`},
	{`absent_over_time(nope{a="1"}[5m])`, `G a closed noname`},
	{`absent_over_time(nope{a="1"}[10m:1m])`, `I a closed noname`},
	{`sum by (a)(absent(nope{a="1"}))`, `G a closed noname`},
	{`clamp_min(absent(nope{a="1"}),0)`, `G a closed noname`},
	{`absent(vector(1))`, `empty`},

	// label_replace and label_join
	{`label_replace(foo,"n","v","","")`, `G n open name`},
	{`label_replace(foo,"n","$1","a","(.*)")`, `P n open name`},
	{`label_replace(foo{a="1"},"n","$1","a","(.*)")`, `G a n open name`},
	{`label_replace(foo,"n","x-$1","b","(.*)")`, `G n open name`},
	{`label_replace(foo,"n","$1","a","(.+)")`, `P n open name`},
	{`label_replace(foo,"n","v","a","1")`, `P n open name`},
	{`label_replace(foo,"a","","","")`, `I a open name`},
	{`label_replace(foo,"a","","a",".*")`, `I a open name`},
	{`label_replace(foo,"n","$2","a","(.*)")`, `I n open name`},
	{`label_replace(foo,"n","$1x","a","(.*)")`, `I n open name`},
	{`label_replace(foo,"n","${1}x","a","(.*)")`, `G n open name`},
	{`label_replace(sum(foo),"n","$1","a","(.+)")`, `I n closed noname`},
	{`label_replace(foo,"b","$1","a","zzz")`, `P b open name`},
	{`label_replace(foo,("n"),"v","","")`, `G n open name`},
	{`label_replace(rate(foo[5m]),"n","$1","__name__","(.+)")`, `P n open noname`},
	{`label_replace(foo,"__name__","zz","","")`, `open name`},
	{`label_join(foo,"n","-","a","b")`, `G n open name`},
	{`label_join(foo,"n","","a","b")`, `P n open name`},
	{`label_join(foo{a="1"},"n","","a")`, `G a n open name`},
	{`label_join(foo,"a","")`, `I a open name`},

	// Operators: one to one.
	{`foo + bar`, `open noname`},
	{`foo{a="1"} + bar`, `G a open noname`},
	{`foo + ignoring(b,c) bar{a="1"}`, `G a I b c open noname`},
	{`foo + ignoring(b,c) bar`, `I b c open noname`},
	{`sum by (a)(foo) + one`, `P a closed noname`},
	{`one + sum by (a)(foo)`, `P a closed noname`},
	{`foo + on(a) bar`, `P a closed noname`},
	{`foo{a="1"} * on(a) one`, `G a closed noname`},
	{`foo * on(a) one{a="1"}`, `G a closed noname`},
	{`sum(foo) + on() sum(bar)`, `closed noname`},
	{`foo > 1`, `open name`},
	{`1 < foo`, `open name`},
	{`foo > scalar(bar)`, `open name`},
	{`foo > bool 1`, `open noname`},
	{`foo + 1`, `open noname`},
	{`1 - foo`, `open noname`},
	{`foo ^ 2`, `open noname`},
	{`bar > ignoring(b,c) foo`, `I b c open name`},
	{`bar > on(a) foo`, `P a closed noname`},
	{`bar >= bool on(a) foo`, `P a closed noname`},
	{`foo == foo`, `open name`},

	// Operators: many to one.
	{`bar > on(a) group_left foo`, `open name`},
	{`foo > bool on(a) group_left one`, `open noname`},
	{`foo * on(a) group_left(d) one`, `P a d open noname`},
	{`foo * on(a) group_left(d) one{d="v"}`, `G d P a open noname`},
	{`foo{b="x"} * on(a) group_left(b) one`, `P a b open noname`},
	{`foo{b="x"} * on(a) group_left(b) label_replace(one,"b","zz","","")`, `G b P a open noname`},
	{`foo * on(a) group_left(zz) sum by (a)(one)`, `I zz P a open noname`},
	{`foo * on(a) group_left one{a="1"}`, `G a open noname`},
	{`one * on(a) group_right(d) foo`, `P a d open noname`},
	{`sum by (a)(foo) * on(a) group_left(d) one`, `P a d closed noname`},
	{`sum without (a)(foo) * on(instance) group_left(c) bar`, `I a P instance c open noname`},
	{`sum by (a)(foo) * on(a) group_left(__name__) one`, `P a closed name`},
	{`vector(1) * on() group_right foo`, `open noname`},
	{`sum by (a,c)(rate(bar[5m])) / ignoring(c) group_left sum by (a)(rate(foo[5m]))`, `P a c closed noname`},
	{`max by (a)(foo) > on(a) group_left(d) one`, `P a d closed noname`},
	{`absent(nope{a="1"}) * on(a) group_left(b) foo`, `G a P b closed noname`},

	// Set operators.
	{`foo and bar`, `open name`},
	{`foo unless bar`, `open name`},
	{`foo and on(a) bar`, `P a open name`},
	{`foo and on() vector(1)`, `open name`},
	{`foo and on(a) one{a="1"}`, `G a open name`},
	{`one and sum by (a)(bar)`, `P a closed name`},
	{`sum by (a)(foo) and on(b) bar`, `P a I b closed noname`},
	{`foo or bar`, `open name`},
	{`foo{a="1"} or foo{a="2"}`, `G a open name`},
	{`foo{c=""} or bar{b=""}`, `P b c open name`},
	{`sum(foo) or vector(0)`, `closed noname always`},
	{`sum by (a)(foo) or vector(0)`, `P a closed noname always`},
	{`sum by (a)(sum by (a)(foo) or vector(0))`, `P a closed noname always`},
	{`vector(0) or foo`, `open name always`},
	{`foo or on() vector(0)`, `open name always`},
	{`vector(0) or vector(1)`, `closed noname always`},
	{`sum by (a)(foo) > 1 or sum by (c)(bar) > 1`, `P a c closed noname`},
	{`(foo or bar) * on(a) group_left(d) one`, `P a d open noname`},
	{`vector(1) unless vector(2)`, `empty`},
	{`foo unless on() vector(1)`, `empty`},

	// Joins that can't match.
	{`sum(foo) / bar{a="1"}`, `empty`},
	{`bar{a="1"} / sum(foo)`, `empty`},
	{`sum(foo) > 0 and bar{a="1"}`, `empty`},
	{`foo{a="1"} * on(a) bar{a="2"}`, `empty`},
	{`foo{a="1"} > 1 and on(a) bar{a="2"}`, `empty`},
	{`sum by (b)(foo) + on(b) sum(bar)`, `I b closed noname`},
	{`foo{b=~".*"} + ignoring(a,job,instance) sum(bar)`, `I a b job instance noname`},
	{`count by (a)(foo{a="1"}) / on (b) bar{b="1"}`, `empty`},

	// Values.
	{`count(foo) == 0`, `empty`},
	{`count(foo) < 1`, `empty`},
	{`absent(nope) == 0`, `empty`},
	{`absent(foo) > 5`, `empty`},
	{`sum(up) < 0`, `empty`},
	{`up > 1`, `empty`},
	{`foo > 1 < 0`, `empty`},
	{`foo > 5 and foo < 3`, `empty`},
	{`foo{a="1",b="2"} > 5 and foo{b="2",a="1"} < 3`, `empty`},
	{`vector(0) > 1`, `empty`},
	{`vector(2) > 1`, `closed noname always`},
	{`rate(x_total[5m]) < 0`, `empty`},
	{`{__name__=~"foo|bar"} == -1 and {__name__=~"foo|bar"} > 0`, `open name`},
	{`sum(rate(x_total{a="1"}[5m])) / sum(rate(x_total[5m])) > 5`, `empty`},
	{`sum by (a)(rate(x_total{a="1"}[5m])) / on (a) sum by (a)(rate(x_total[5m])) > 1.5`, `empty`},
	{`count(foo{a="1"}) / count(foo) > 1.5`, `empty`},
	{`sum(foo{a="1"}) / sum(foo) > 5`, `closed noname`},
	{`sum(rate(x_total{a="1"}[5m])) / sum(rate(x_total[10m])) > 5`, `closed noname`},
	{`sum(rate(x_total{a="1"}[5m])) / sum(rate(x_total{b="1"}[5m])) > 5`, `closed noname`},
	{`sum(rate(x_total{a="1"}[5m] offset 5m)) / sum(rate(x_total[5m])) > 5`, `closed noname`},
	{`sum by (a)(rate(x_total[5m])) / on () group_left () sum(rate(x_total[5m])) > 5`, `P a closed noname`},
	{`rate((clamp_min(foo,0))[5m:1m]) < 0`, `open noname`},
	{`rate((foo > bool 0)[5m:1m]) < 0`, `empty`},
	{`rate((limitk(2,{__name__=~"foo|bar"} > bool 0))[5m:1m]) < 0`, `open noname`},
	{`hour() > 23`, `empty`},
	{`hour() >= 0`, `closed noname always`},
	{`abs(foo) < 0`, `empty`},
	{`clamp_max(foo, 5) > 5`, `empty`},
	{`group(foo) == 2`, `empty`},
	{`foo > 5 and on() foo < 3`, `open name`},
	{`foo > 5 or foo < 3`, `open name`},
	{`foo > bool 1 == 2`, `empty`},
	{`count(foo) >= 1`, `closed noname`},

	// Histograms.
	{`histogram_quantile(0.9,h_bucket)`, `I le open noname`},
	{`histogram_fraction(0,1,h_bucket)`, `I le open noname`},
	{`histogram_quantile(0.9,sum by (le)(rate(h_bucket[5m])))`, `I le closed noname`},
	{`histogram_quantile(0.9,sum by (a)(rate(h_bucket[5m])))`, `empty`},
	{`histogram_quantile(0.9,sum(rate(h_bucket[5m])))`, `empty`},
	{`histogram_quantile(0.9,sum by (a)(rate(h[5m])))`, `P a I le closed noname`},
	{`histogram_quantiles(h_bucket,"q",0.5)`, `G q I le open noname`},
	{`info(foo)`, `open name`},
	{`info(foo,{ver=~".+"})`, `G ver open name`},
	{`info(foo,{ver=~".*"})`, `P ver open name`},
	{`info(sum by (job,instance)(foo))`, `P job instance open noname`},
}

func parseAll(t testing.TB, expr string) *Expr {
	t.Helper()
	e := Parse(text(expr))
	if e.Root == nil {
		t.Fatalf("%s: %v", expr, e.Errors)
	}
	return e
}

// lacks compares a flow with the facts of the table.
func lacks(f *Flow, facts string) []string {
	var out []string
	fail := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	want, always := Possible, false
	for word := range strings.FieldsSeq(facts) {
		switch word {
		case "empty":
			if len(f.Branches) > 0 {
				fail("is not empty")
			}
			if len(f.Dead) == 0 {
				fail("says not why it is empty")
			}
			return out
		case "G":
			want = Guaranteed
		case "P":
			want = Possible
		case "I":
			want = Impossible
		case "open", "closed":
			if got := f.Label("some_other_label").Presence == Impossible; got != (word == "closed") {
				fail("is not %s", word)
			}
		case "name", "noname":
			if got := f.Label(nameLabel).Presence != Impossible; got != (word == "name") {
				fail("is not %s", word)
			}
		case "always":
			always = true
		default:
			if got := f.Label(word).Presence; got != want {
				fail("label %s is %s, want %s", word, presenceNames[got], presenceNames[want])
			}
		}
	}
	if len(f.Branches) == 0 {
		fail("is empty: %+v", f.Dead)
	}
	if f.Always() != always {
		fail("Always() = %v", f.Always())
	}
	return out
}

var presenceNames = map[Presence]string{Possible: "possible", Guaranteed: "guaranteed", Impossible: "impossible"}

func TestFlow(t *testing.T) {
	for _, tt := range flowTable {
		if out := lacks(parseAll(t, tt.expr).Flow(Env{}), tt.facts); out != nil {
			t.Errorf("%s (%s): %s", tt.expr, tt.facts, strings.Join(out, "; "))
		}
	}
	t.Logf("%d expressions", len(flowTable))
}

// contradiction says what in a result contradicts a flow, or "".
func contradiction(f *Flow, v promql.Vector) string {
	if len(v) == 0 && f.Always() {
		return "the result is empty"
	}
	for _, s := range v {
		var why []string
		ok := slices.ContainsFunc(f.Branches, func(b Branch) bool {
			reason := disagrees(&b, s)
			why = append(why, reason)
			return reason == ""
		})
		if !ok {
			return fmt.Sprintf("%s %v: %s", s.Metric, s.F, strings.Join(why, " | "))
		}
	}
	return ""
}

func disagrees(b *Branch, s promql.Sample) string {
	for _, name := range b.Names() {
		if fact := b.Label(name); fact.Presence == Guaranteed && s.Metric.Get(name) == "" {
			return name + " is guaranteed"
		}
	}
	reason := ""
	s.Metric.Range(func(l labels.Label) {
		fact := b.Label(l.Name)
		switch {
		case fact.Presence == Impossible:
			reason = l.Name + " is impossible"
		case fact.Values != nil && !slices.Contains(fact.Values, l.Value):
			reason = fmt.Sprintf("%s is one of %q", l.Name, fact.Values)
		}
	})
	if reason == "" && s.H == nil && b.Kind == Boolean && s.F != 0 && s.F != 1 {
		reason = "the value is 0 or 1"
	}
	if reason == "" && s.H == nil && !b.Value.Contains(s.F) {
		reason = fmt.Sprintf("the value is %s (%+v)", b.Value, b.Value)
	}
	return reason
}

// testData returns series in the language of promqltest, drawn at random.
func testData(r *rand.Rand) string {
	var w strings.Builder
	w.WriteString("load 1m\n")
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	seen := map[string]bool{}
	for _, metric := range []string{"foo", "bar", "one", "x_total", "up", "h_bucket", "y_count", "some_info"} {
		for range 2 + r.IntN(6) {
			var ls []string
			for _, l := range []string{"a", "b", "c", "d", "job", "instance"} {
				if v := pick("", "1", "2", "x"); v != "" && r.IntN(3) > 0 {
					ls = append(ls, fmt.Sprintf("%s=%q", l, v))
				}
			}
			if metric == "h_bucket" {
				ls = append(ls, fmt.Sprintf("le=%q", pick("1", "5", "+Inf")))
			}
			series := metric + "{" + strings.Join(ls, ",") + "}"
			if seen[series] {
				continue
			}
			seen[series] = true
			w.WriteString("  " + series)
			total := 0.0
			for range 45 {
				switch {
				case r.IntN(10) == 0:
					w.WriteString(" _")
				case metric == "up":
					fmt.Fprintf(&w, " %d", r.IntN(2))
				case metric == "x_total" || metric == "h_bucket" || metric == "y_count":
					if r.IntN(8) == 0 {
						total = 0
					}
					total += float64(r.IntN(5))
					fmt.Fprintf(&w, " %v", total)
				default:
					switch r.IntN(20) {
					case 0:
						w.WriteString(" NaN")
					case 1:
						w.WriteString(" Inf")
					case 2:
						w.WriteString(" -Inf")
					default:
						fmt.Fprintf(&w, " %d", r.IntN(12)-4)
					}
				}
			}
			w.WriteString("\n")
		}
	}
	return w.String()
}

type oracle struct {
	engine *promql.Engine
	data   []storage.Storage
}

func newOracle(t testing.TB, r *rand.Rand, sets int) *oracle {
	o := &oracle{engine: promqltest.NewTestEngineWithOpts(t, promql.EngineOpts{
		MaxSamples: 1_000_000, Timeout: 10 * time.Second, EnableAtModifier: true, EnableNegativeOffset: true, Parser: experimental,
	})}
	for range sets {
		o.data = append(o.data, promqltest.LoadedStorage(t, testData(r)))
	}
	return o
}

// check evaluates the expression on each data set, and returns how many results
// it compared and what contradicts the flow.
func (o *oracle) check(t testing.TB, e *Expr, f *Flow) (compared, nonEmpty int, contradicts string) {
	t.Helper()
	for _, data := range o.data {
		for _, minute := range []int{35, 40, 44} {
			q, err := o.engine.NewInstantQuery(context.Background(), data, nil, e.Text.Value, time.Unix(0, 0).Add(time.Duration(minute)*time.Minute))
			if err != nil {
				t.Fatalf("%s: %v", e.Text.Value, err)
			}
			result := q.Exec(context.Background())
			if result.Err != nil {
				q.Close()
				continue // many-to-many matching, duplicate labels: no result to contradict
			}
			var v promql.Vector
			switch value := result.Value.(type) {
			case promql.Vector:
				v = value
			case promql.Scalar:
				v = promql.Vector{{F: value.V}}
			default:
				q.Close()
				continue
			}
			compared++
			if len(v) > 0 {
				nonEmpty++
			}
			if c := contradiction(f, v); c != "" {
				q.Close()
				return compared, nonEmpty, c
			}
			q.Close()
		}
	}
	return compared, nonEmpty, ""
}

// TestFlowAgainstEngine proves the table: no result that Prometheus' engine
// gives on generated series contradicts a fact.
func TestFlowAgainstEngine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	o := newOracle(t, r, 6)
	compared, nonEmpty := 0, 0
	for _, tt := range flowTable {
		e := parseAll(t, tt.expr)
		n, some, c := o.check(t, e, e.Flow(Env{}))
		compared += n
		nonEmpty += some
		if c != "" {
			t.Errorf("%s: %s", tt.expr, c)
		}
	}
	t.Logf("%d results of %d expressions, %d not empty", compared, len(flowTable), nonEmpty)
	if nonEmpty < compared/4 {
		t.Errorf("only %d of %d results are not empty: the data shows too little", nonEmpty, compared)
	}
}

// A generator writes random expressions that parse.
type generator struct{ *rand.Rand }

func (g generator) pick(values ...string) string { return values[g.IntN(len(values))] }

func (g generator) labels() string {
	var out []string
	for _, l := range []string{"a", "b", "c", "job"} {
		if g.IntN(3) == 0 {
			out = append(out, l)
		}
	}
	return strings.Join(out, ",")
}

func (g generator) selector() string {
	name := g.pick("foo", "bar", "one", "x_total", "up", "h_bucket", "y_count", "some_info")
	var ms []string
	for range g.IntN(3) {
		ms = append(ms, g.pick("a", "b", "c", "job", "d")+g.pick(`="1"`, `="2"`, `=""`, `!=""`, `=~"1|2"`, `=~"1|"`, `!~"1|x"`, `=~".*"`, `=~".+"`, `!="1"`, `!~".+"`))
	}
	if g.IntN(12) == 0 {
		return fmt.Sprintf(`{__name__=~"foo|bar"%s}`, strings.Join(append([]string{""}, ms...), ","))
	}
	return name + "{" + strings.Join(ms, ",") + "}"
}

// share returns a quotient of what some series and what all of them count.
func (g generator) share() string {
	all := g.selector()
	some := strings.Replace(all, "{", "{"+g.pick(`a="1",`, `b!="",`, `job=~"1|2",`), 1)
	if g.IntN(3) == 0 {
		some, all = "count"+" ("+some+")", "count"+" ("+all+")"
	} else {
		call := g.pick("rate", "increase")
		window := g.pick("[5m]", "[2m]", "[10m]")
		some, all = "sum ("+call+"("+some+window+"))", "sum ("+call+"("+all+window+"))"
	}
	by := g.pick("", "by ("+g.labels()+")", "without ("+g.labels()+")")
	with := func(s string) string { return strings.Replace(s, " (", " "+by+" (", 1) }
	return "(" + with(some) + " / " + with(all) + ")"
}

func (g generator) number() string { return g.pick("0", "1", "2", "-1", "0.5", "5", "100") }

func (g generator) rangeOf(depth int) string {
	if g.IntN(4) == 0 {
		return "(" + g.vector(depth-1) + ")[5m:1m]"
	}
	return g.selector() + g.pick("[5m]", "[2m]", "[10m]")
}

func (g generator) vector(depth int) string {
	if depth <= 0 {
		return g.selector()
	}
	next := func() string { return g.vector(depth - 1) }
	switch g.IntN(20) {
	case 0, 1:
		return g.selector() + g.pick("", " offset 1m", " @ 300")
	case 2, 3, 4:
		op := g.pick("sum", "min", "max", "avg", "count", "group", "stddev")
		return op + g.pick("", " by ("+g.labels()+")", " without ("+g.labels()+")") + "(" + next() + ")"
	case 5:
		return g.pick("topk", "bottomk", "limitk", "quantile") + g.pick("", " by ("+g.labels()+")") + "(" + g.pick("1", "2", "0.5") + "," + next() + ")"
	case 6:
		return "count_values" + g.pick("", " by ("+g.labels()+")", " without ("+g.labels()+")") + "(" + g.pick(`"v"`, `"a"`) + "," + next() + ")"
	case 7:
		return g.pick("rate", "increase", "irate", "delta", "changes", "resets", "max_over_time", "min_over_time", "avg_over_time", "sum_over_time", "count_over_time", "last_over_time", "present_over_time", "stddev_over_time", "deriv") + "(" + g.rangeOf(depth) + ")"
	case 8:
		return g.pick("abs", "ceil", "floor", "round", "sgn", "sqrt", "exp", "ln", "timestamp", "hour", "minute", "day_of_week", "sort", "month") + "(" + next() + ")"
	case 9:
		return g.pick("clamp_min", "clamp_max") + "(" + next() + "," + g.number() + ")"
	case 10:
		return fmt.Sprintf("label_replace(%s,%q,%q,%q,%q)", next(), g.pick("a", "n", "b"), g.pick("$1", "", "v", "x-$1", "$2", "${1}y", "$1x"), g.pick("a", "b", "", "job"), g.pick("(.*)", "(.+)", "", "1", "(1|2)", "(.)(.*)", ".*"))
	case 11:
		return fmt.Sprintf("label_join(%s,%q,%q%s)", next(), g.pick("a", "n"), g.pick("", "-"), g.pick("", `,"a"`, `,"a","b"`, `,"zz"`))
	case 12:
		return g.pick("absent("+next()+")", "absent_over_time("+g.rangeOf(depth)+")")
	case 13:
		if g.IntN(2) == 0 {
			return g.share()
		}
		return g.pick("vector("+g.number()+")", "vector(scalar("+next()+"))", "-("+next()+")", "hour()")
	case 14, 15:
		cmp := g.pick(">", "<", ">=", "<=", "==", "!=")
		arith := g.pick("+", "-", "*", "/", "%", "^")
		return g.pick(
			"("+next()+" "+cmp+" "+g.number()+")", "("+g.number()+" "+cmp+" "+next()+")", "("+next()+" "+cmp+" bool "+g.number()+")",
			"("+next()+" "+arith+" "+g.number()+")", "("+g.number()+" "+arith+" "+next()+")",
		)
	case 16:
		x := next()
		return "(" + x + " " + g.pick(">", "<", "==") + " " + g.number() + " and " + x + " " + g.pick(">", "<", "!=") + " " + g.number() + ")"
	default:
		matching := g.pick("", "", " on ("+g.labels()+")", " ignoring ("+g.labels()+")")
		if g.IntN(3) == 0 {
			return "(" + next() + " " + g.pick("and", "or", "unless") + matching + " " + next() + ")"
		}
		group := ""
		if matching != "" && g.IntN(2) == 0 {
			group = g.pick(" group_left", " group_right") + g.pick("()", "(d)", "(d,zz)")
		}
		return "(" + next() + " " + g.pick("+", "-", "*", "/", ">", "<=", "== bool", "!=", "<") + matching + group + " " + next() + ")"
	}
}

// TestFlowOfRandomExpressions looks for contradictions between the facts of
// random expressions and what the engine returns on random series.
func TestFlowOfRandomExpressions(t *testing.T) {
	expressions, seed := 3000, uint64(4)
	if s := os.Getenv("FLOW_EXPRESSIONS"); s != "" { // a longer search, with a seed of its own
		expressions, _ = strconv.Atoi(s)
		seed = uint64(time.Now().UnixNano())
	}
	r := rand.New(rand.NewPCG(3, seed))
	g := generator{r}
	o := newOracle(t, r, 3)
	compared, nonEmpty, empty, faults := 0, 0, 0, 0
	for range expressions {
		expr := g.vector(1 + r.IntN(4))
		e := Parse(text(expr))
		if e.Root == nil {
			continue // such as a label both in on and group_left
		}
		f := e.Flow(Env{})
		if len(f.Branches) == 0 {
			empty++
		}
		n, some, c := o.check(t, e, f)
		compared += n
		nonEmpty += some
		if c != "" {
			t.Errorf("%s: %s", expr, c)
			if faults++; faults > 20 {
				break
			}
		}
	}
	t.Logf("%d expressions, %d results, %d not empty; %d expressions are always empty", expressions, compared, nonEmpty, empty)
	if nonEmpty < compared/10 {
		t.Errorf("only %d of %d results are not empty: the data shows too little", nonEmpty, compared)
	}
}
