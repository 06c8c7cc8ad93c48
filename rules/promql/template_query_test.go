// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"
)

func TestTemplateQueries(t *testing.T) {
	for _, tt := range []struct {
		template string
		want     []string
	}{
		{`{{ query "up" }}`, []string{"up"}},
		{"{{ range query `up{job=\"a\"}` }}{{ end }}", []string{`up{job="a"}`}},
		{`{{ query "up{job=\"a\\\\b\", env=\"\u00e9\"}" }}`, []string{`up{job="a\\b", env="é"}`}},
		{`{{ "up" | query | first }}`, []string{"up"}},
		{`{{ with printf "up{job=%q}" .Labels.job | query }}{{ end }}`, []string{`up{job="x"}`}},
		{`{{ query (printf "up > %d %% 5" 4) }}`, []string{`up > x % 5`}},
		{`{{ query (printf "rate(up[%s])" $labels.range) }}`, []string{`rate(up[1])`}},
		{`{{ query (printf "%s" $labels.query) }}{{ query "a" }}`, []string{"x", "a"}},
		{`{{ query (printf "%s up" $labels.prefix) }}`, nil},
		{`{{ query (printf "%T" .) }}`, nil},
		{`{{ query $labels.query }}`, nil},
		{`{{ if true }}{{ query "sum(" }}{{ end }}`, []string{"sum("}},
		{`query "up"`, nil},
		{`{{ $labels.query }}`, nil},
		{`{{ query "up }}`, nil},
	} {
		var got []string
		if parsed := ParseTemplate(text(tt.template)); parsed != nil {
			for _, q := range parsed.Queries() {
				got = append(got, q.Text.Value)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.template, diff)
		}
	}
}

func TestHoldsOfZero(t *testing.T) {
	for expr, want := range map[string]bool{
		`x >= 0`:      true,
		`x > 0`:       false,
		`0 <= x`:      true,
		`0 < x`:       false,
		`x > -1`:      true,
		`x == 0`:      true,
		`x != 1`:      true,
		`x < 1`:       true,
		`x >= (0)`:    true,
		`x >= y`:      false,
		`x > time()`:  false,
		`x != bool 0`: false,
	} {
		if got := HoldsOfZero(parseAll(t, expr).Root.(*parser.BinaryExpr)); got != want {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
	}
}
