// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
)

func TestAlertForBounds(t *testing.T) {
	const minute, hour = model.Duration(time.Minute), model.Duration(time.Hour)
	for _, test := range []struct {
		text string
		want alertForBounds
		err  string
	}{
		{text: "5m", want: alertForBounds{"default": 5 * minute}},
		{text: `"1h30m"`, want: alertForBounds{"default": 90 * minute}},
		{text: "0", want: alertForBounds{"default": 0}},
		{text: "{critical: 15m, default: 1h}", want: alertForBounds{"critical": 15 * minute, "default": hour}},
		{text: "{critical: 15m}", want: alertForBounds{"critical": 15 * minute}},
		{text: "{}", want: alertForBounds{}},
		{text: "5 minutes", err: `line 1: "5 minutes" is not a duration such as 5m or 1h30m`},
		{text: "5", err: `line 1: "5" is not a duration such as 5m or 1h30m`},
		{text: "-5m", err: `line 1: "-5m" is not a duration such as 5m or 1h30m`},
		{text: "{critical: 15m, default: soon}", err: `line 1: "soon" is not a duration such as 5m or 1h30m`},
		{text: "[5m]", err: "yaml: unmarshal errors:\n  line 1: cannot unmarshal !!seq into map[string]string"},
	} {
		var got alertForBounds
		message := ""
		if err := yaml.Unmarshal([]byte(test.text), &got); err != nil {
			message = err.Error()
		}
		if message != test.err {
			t.Errorf("%s: error %q, want %q", test.text, message, test.err)
			continue
		}
		if test.err == "" {
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.text, diff)
			}
		}
	}
}

func TestAlertForValidate(t *testing.T) {
	const minute = model.Duration(time.Minute)
	for _, test := range []struct {
		lower, upper alertForBounds
		want         string
	}{
		{nil, nil, ""},
		{alertForBounds{"default": 5 * minute}, alertForBounds{"default": 5 * minute}, ""},
		{alertForBounds{"default": 5 * minute}, alertForBounds{"default": 0}, ""},
		{alertForBounds{"default": 5 * minute}, alertForBounds{"default": minute}, "min 5m is above max 1m for default"},
		{alertForBounds{"default": 5 * minute}, alertForBounds{"critical": minute, "default": 9 * minute}, "min 5m is above max 1m for critical"},
		{alertForBounds{"critical": minute, "default": 5 * minute}, alertForBounds{"critical": minute, "default": 9 * minute}, ""},
	} {
		got := ""
		if err := (alertFor{Min: test.lower, Max: test.upper}).Validate(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("min %v, max %v: %q, want %q", test.lower, test.upper, got, test.want)
		}
	}
}
