// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// verdicts are expressions of alerts on which linters of rules are known to
// disagree, with what is to be said of each: the IDs of the checks that report
// a warning or an error. The alert has for: 5m unless the expression is followed
// by another; a part after | is an annotation.
var verdicts = []struct {
	alert string
	want  string
}{
	{`abs(sum(foo)) > 1`, ``},
	{`hour(sum(foo)) > 1`, ``},
	{`histogram_quantile(0.9, sum by (le) (rate(h_bucket[5m]))) > 1`, ``},
	{`sum by (n)(label_replace(sum by (a)(foo),"n","$1","a","(.+)")) > 1 | {{ $labels.n }}`, ``},
	{`sum(foo) by (a) * on(a) group_left(b) bar > 1 | {{ $labels.b }}`, ``},
	{`foo / on(a) bar > 1 | {{ $labels.instance }}`, `alert/template-labels`},
	{`sum(foo) without(instance) * on(app_name) group_left() bar > 0`, ``},
	{`absent(up{job="x",a=~"b.*"}) | {{ $labels.job }}`, ``},
	{`absent(up{job="x",a=~"b.*"}) | {{ $labels.a }}`, `alert/template-labels`},
	{`absent(sum(up{job="x"})) | {{ $labels.job }}`, `alert/template-labels`},
	{`absent(up{job="x"}) and on() foo > 0 | {{ $labels.job }}`, ``},
	{`absent({job="x"})`, ``},
	{`absent_over_time(up{job="x"}[5m])`, ``},
	{`foo unless bar`, ``},
	{`foo unless bar > 5`, ``},
	{`foo > 0 or vector(1)`, `alert/always-fires`},
	{`sum(my_metric or vector(0)) > 1`, ``},
	{`(foo > 1) > bool 1`, ``},
	{`foo > bool 1`, `alert/always-fires`},
	{`up == bool 0`, `alert/always-fires`},
	{`foo{a=~"(?i)bar"} > 1`, ``},
	{`foo{a=~"()bar"} > 1`, ``},
	{`foo{code=~"5.*"} > 1`, ``},
	{`foo{job=~"svc_.+_prod"} > 1`, ``},
	{`foo{job=~"^bar.*$"} > 1`, ``},
	{`foo{job=~"bar"} > 1`, `promql/regexp`},
	{`foo{job=~".+"} > 1`, ``},
	{`sum(foo) by (a) * on(a) group_left(b) group(bar) by (a,b) > 1`, ``}, // fails if bar has two b of one a: that is for its owner to know
	{`sum(foo or bar) > 1`, ``},
	{`kube_resourcequota{type="used"} / on(namespace) group_left topk by (namespace) (1, max without (instance) (kube_resourcequota{type="hard"})) > 0.9`, ``},
	{`round(rate(foo_total[5m])) > 1 | {{ $value }}`, ``},
	{`{"status.üp"} > 1`, ``},
	{`sum(rate(a_total[5m]) / rate(b_total[5m])) > 1`, `promql/nan`},
	{`sum(rate(a_total[5m]) / (rate(b_total[5m]) > 0)) > 1`, ``},
	{`sum(foo / 100) > 1`, ``},
	{`min(foo / bar) > 1`, ``},
	{`sum(a) / sum(b) > 1`, ``},
	{`foo > 1 < 0`, `alert/never-fires`},
	{`foo > 5 and foo < 3`, `alert/never-fires`},
	{`histogram_quantile(0.9, sum by (job) (rate(h_bucket[5m]))) > 1`, `promql/histogram`},
	{`foo{a="1",a="2"} > 1`, `promql/selector`},
	{`foo{a="1"} > 1 and on(a) bar{a="2"}`, `promql/vector-matching`},
	{`(vector(0) or foo) > 1`, ``},
	{`foo{b="x"} * on(a) group_left(b) bar > 1`, ``},
	{`sum by (cluster) (x or vector(0)) > 1`, ``},
	{`sum by (b)(foo) + on(b) sum(bar) > 1`, ``},
	{`label_replace(foo,("n"),"v","","") > 0`, ``},
	{`sum by (a) (foo) > 1 | {{ if eq $labels.zzz "a" }}b{{ end }}`, `alert/template-labels`},
	{`sum by (a) (foo) > 1 | {{ with $labels.zzz }}b{{ end }}`, `alert/template-labels`},
	{`sum by (a) (foo) > 1 | {{ index $labels "zzz" }}`, `alert/template-labels`},
	{`sum(foo) > 1 | {{ $labels.team }}`, `alert/template-labels`},
	{`{__name__=~"foo|bar"} > 0`, `alert/label-override`},
	{`rate(native_histogram[5m]) > 1`, ``},
	{`rate(summary_sum[5m]) > 1`, ``},
	{`foo_total > 100`, `promql/rate`},
	{`label_replace(foo,"n","$1x","a","(.*)") > 1`, `promql/label-replace`},
	{`sum(foo) > 0 and bar{a="1"}`, `promql/vector-matching`},
	{`bar{a="1"} / sum(foo) > 1`, `promql/vector-matching`},
	{`foo > 1 and sum(bar) > 1`, `promql/vector-matching`},
	{`rate(foo_total[5m]) / sum(rate(bar_total[5m])) > 1`, `promql/vector-matching`},
	{`count(foo) == 0`, `alert/never-fires`},
	{`absent(foo) == 0`, `alert/never-fires`},
	{`sum(up) < 0`, `alert/never-fires`},
	{`vector(1)`, ``},
	{`up == 0`, ``},
	{`rate(x_total[5m])`, `alert/always-fires`},
	{`count(foo) >= 0`, `alert/always-fires`},
	{`up == 0 or absent(up)`, ``},
	{`irate(x_total[5m]) > 1`, `promql/rate`},
	{`increase(sum(x_total)[1h:1m]) > 1`, `promql/rate`},
}

// judged are the checks that know what an expression does.
var judged = regexp.MustCompile(`^(promql/.*|alert/(template-labels|always-fires|never-fires|absent|label-override|value-in-labels|same-condition))$`)

func TestVerdicts(t *testing.T) {
	for _, tt := range verdicts {
		expr, annotation, _ := strings.Cut(tt.alert, " | ")
		quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
		text := "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: " + quote(expr) + "\n    for: 5m\n    annotations: {summary: " + quote(annotation) + "}\n"
		var out, errs bytes.Buffer
		command(context.Background(), stdio{in: strings.NewReader(text), out: &out, err: &errs}, []string{"--format", "json", "-"})
		var report struct {
			Findings []struct{ Check, Message string }
		}
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			t.Fatalf("%s: %v\n%s", tt.alert, err, errs.String())
		}
		got := []string{}
		for _, f := range report.Findings {
			if judged.MatchString(f.Check) && !slices.Contains(got, f.Check) {
				got = append(got, f.Check)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" && strings.Join(got, " ") != tt.want {
			t.Errorf("%s (-want +got):\n%s%s", tt.alert, diff, fmt.Sprint(report.Findings))
		}
	}
}
