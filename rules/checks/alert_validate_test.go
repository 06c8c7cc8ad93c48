// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAlertOptionsValidate(t *testing.T) {
	const badPattern = "error parsing regexp: missing closing ): `(`"
	for _, tt := range []struct {
		options interface{ Validate() error }
		want    string
	}{
		{alertName{Pattern: alertNamePascalCase, Prefix: "KubeVirt", MaxLength: 50}, ""},
		{alertName{Pattern: "("}, "pattern: " + badPattern},
		{alertName{MaxLength: -1}, "max-length is negative"},
		{alertAnnotations{Pattern: map[string]string{"summary": `\.$`}, PrometheusVersion: "v3.5"}, ""},
		{alertAnnotations{Pattern: map[string]string{"summary": "("}}, "pattern of summary: " + badPattern},
		{alertAnnotations{MaxLength: -1}, "max-length is negative"},
		{alertAnnotations{PrometheusVersion: "newest"}, `prometheus-version: "newest" is no version such as v3.5`},
		{alertLabels{Allowed: map[string][]string{"tier": {"1"}}, PrometheusVersion: "3"}, ""},
		{alertLabels{Pattern: map[string]string{"team": "("}}, "pattern of team: " + badPattern},
		{alertLabels{Allowed: map[string][]string{"tier": nil}}, "allowed of tier: no values"},
		{alertLabels{PrometheusVersion: "2,53"}, `prometheus-version: "2,53" is no version such as v3.5`},
		{alertRunbookURL{Annotation: "runbook_url"}, ""},
		{alertRunbookURL{}, "annotation is empty"},
		{alertRunbookURL{Annotation: "runbook_url", Pattern: "("}, "pattern: " + badPattern},
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

func TestPromVersion(t *testing.T) {
	for version, want := range map[string]int{"v3.5": 3, "3": 3, "v2.53": 2, "2.53.1": 2, "v3.0.0-rc.1": 3, "": 0, "three": 0, "3.": 0, "99999": 0, "0.5": 0} {
		if got := parsePromVersion(version).major; got != want {
			t.Errorf("parsePromVersion(%q) is of %d, want %d", version, got, want)
		}
	}
}
