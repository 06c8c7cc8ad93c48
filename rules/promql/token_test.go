// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

func TestRange(t *testing.T) {
	for expr, want := range map[string][]string{
		`rate(x[5m])`:                                      {"[5m]"},
		`rate(x{a="[1m]"} [ 5m ] offset 1h)`:               {"[ 5m ]"},
		`max_over_time(rate(x[5m])[1h:1m] @ end())`:        {"[1h:1m]", "[5m]"},
		`max_over_time(x{a="b"}[1h:])`:                     {"[1h:]"},
		`max_over_time((x + sum_over_time(y[2m]))[1h:1m])`: {"[1h:1m]", "[2m]"},
	} {
		e := Parse(source.NewFileString("f", expr).Text())
		var got []string
		e.Inspect(func(n parser.Node, _ []parser.Node) {
			switch n := n.(type) {
			case *parser.MatrixSelector:
				got = append(got, e.Range(n).Text())
			case *parser.SubqueryExpr:
				got = append(got, e.Range(n).Text())
			}
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Range in %s (-want +got):\n%s", expr, diff)
		}
	}
}

func TestTokensOfWhatDoesNotParse(t *testing.T) {
	text := source.NewFileString("f", "  holt_winters(x[1d], # a comment\n 0.3) \x00 y").Text()
	var got []string
	for _, token := range Parse(text).Tokens() {
		if token.Span.Text() != token.Value {
			t.Errorf("token %q lies at %q", token.Value, token.Span.Text())
		}
		got = append(got, token.Value)
	}
	want := []string{"holt_winters", "(", "x", "[", "1d", "]", ",", "0.3", ")"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Tokens (-want +got):\n%s", diff)
	}
}
