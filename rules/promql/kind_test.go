// SPDX-License-Identifier: Apache-2.0

package promql

import "testing"

func TestKind(t *testing.T) {
	for _, tt := range []struct {
		expr string
		want Kind
	}{
		{`foo`, Unspecified},
		{`x_total`, Counter},
		{`x_total offset 5m`, Counter},
		{`max_over_time(x_total[5m])`, Unspecified},
		{`last_over_time(x_total[5m])`, Counter},
		{`job:x:rate5m`, Unspecified},
		{`job:x_total`, Unspecified},
		{`up`, Boolean},
		{`up == 0`, Boolean},
		{`up == bool 0`, Boolean},
		{`foo > bool bar`, Boolean},
		{`foo > bar`, Unspecified},
		{`x_total > 5`, Counter},
		{`-x_total`, Unspecified},
		{`x_total / 1024`, Counter},
		{`1 / x_total`, Unspecified},
		{`x_total * -1`, Unspecified},
		{`sum(x_total)`, CounterSum},
		{`sum(sum by (a) (x_total))`, CounterSum},
		{`x_total + y_total`, CounterSum},
		{`max(x_total)`, Unspecified},
		{`max(sum by (a) (x_total))`, CounterSum},
		{`topk(3, x_total)`, Counter},
		{`x_total or y_total`, Counter},
		{`x_total or foo`, Unspecified},
		{`sum(x_total or foo)`, Unspecified},
		{`rate(x_total[5m])`, PerSecond},
		{`sum(rate(x_total[5m]))`, PerSecond},
		{`sum(rate(x_total[5m])) * 60`, PerSecond},
		{`rate(x_total[5m]) + rate(y_total[5m])`, PerSecond},
		{`avg_over_time(rate(x_total[5m])[1h:])`, PerSecond},
		{`increase(x_total[5m])`, Count},
		{`count(foo)`, Count},
		{`sum(up)`, Count},
		{`sum(foo > bool 5)`, Count},
		{`count(up == 0) / count(up)`, Unspecified},
		{`count(up{job="a"}) / count(up)`, Share},
		{`avg(up)`, Share},
		{`avg_over_time(up[1h])`, Share},
		{`sum(rate(x_total{code="5"}[5m])) / sum(rate(x_total[5m]))`, Share},
		{`(sum(rate(x_total{code="5"}[5m])) / sum(rate(x_total[5m]))) * 100`, Percent},
		{`100 * sum(rate(x_total{code="5"}[5m])) / sum(rate(x_total[5m]))`, Unspecified},
		{`1 - avg(up)`, Share},
		{`100 - avg(up) * 100`, Percent},
		{`100 - avg(up)`, Unspecified},
		{`avg(up) * 100 / 100`, Share},
		{`time()`, Timestamp},
		{`timestamp(up)`, Timestamp},
		{`vector(time())`, Timestamp},
		{`time() - process_start_time_seconds`, Unspecified},
		{`max(backup_last_success_timestamp_seconds)`, Timestamp},
		{`absent(foo)`, Boolean},
		{`group(foo)`, Boolean},
		{`histogram_quantile(0.9, rate(h_bucket[5m]))`, Unspecified},
		{`label_replace(x_total, "a", "b", "", "")`, Counter},
		{`scalar(x_total)`, Unspecified},
	} {
		f := parseAll(t, tt.expr).Flow(Env{})
		got := f.Branches[0].Kind
		for _, b := range f.Branches[1:] {
			if b.Kind != got {
				got = Unspecified
			}
		}
		if got != tt.want {
			t.Errorf("%s is %s, want %s", tt.expr, got, tt.want)
		}
	}
}
