// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPromqlRestrictedValidate(t *testing.T) {
	const badPattern = "error parsing regexp: missing closing ): `(`"
	for _, tt := range []struct {
		options promqlRestricted
		want    string
	}{
		{promqlRestricted{}, ""},
		{promqlRestricted{ForbiddenFunctions: []string{"topk", "rate", "holt_winters"}}, ""},
		{promqlRestricted{ForbiddenFunctions: []string{"rate", "tpok"}}, `forbidden-functions[1]: PromQL has no function "tpok"; did you mean "topk"?`},
		{promqlRestricted{ForbiddenMetrics: []string{"up", "("}}, "forbidden-metrics[1]: " + badPattern},
		{promqlRestricted{RequiredMatchers: map[string][]string{"(": {"cluster"}}}, `required-matchers["("]: ` + badPattern},
	} {
		got := ""
		if err := tt.options.Validate(); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%+v: Validate (-want +got):\n%s", tt.options, diff)
		}
	}
}
