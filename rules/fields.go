// SPDX-License-Identifier: Apache-2.0

package rules

// A fieldSet is the fields that a format has, in the order of its documentation.
type fieldSet struct{ file, spec, group, rule []string }

// https://prometheus.io/docs/prometheus/latest/configuration/recording_rules/
var plainFields = fieldSet{
	file:  []string{"groups"},
	group: []string{"name", "interval", "query_offset", "limit", "labels", "rules"},
	rule:  []string{"alert", "record", "expr", "for", "keep_firing_for", "labels", "annotations"},
}

var crdFields = map[string]fieldSet{
	// https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.PrometheusRule
	PrometheusRule: {
		file:  []string{"apiVersion", "kind", "metadata", "spec", "status"},
		spec:  []string{"groups"},
		group: []string{"name", "labels", "interval", "query_offset", "rules", "partial_response_strategy", "limit"},
		rule:  []string{"record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations"},
	},
	// https://docs.redhat.com/en/documentation/openshift_container_platform/4.20/html/monitoring_apis/alertingrule-monitoring-openshift-io-v1
	AlertingRule: {
		file:  []string{"apiVersion", "kind", "metadata", "spec", "status"},
		spec:  []string{"groups"},
		group: []string{"name", "interval", "rules"},
		rule:  []string{"alert", "expr", "for", "labels", "annotations"},
	},
	// https://docs.victoriametrics.com/operator/api/#vmrule
	VMRule: {
		file: []string{"apiVersion", "kind", "metadata", "spec", "status"},
		spec: []string{"groups", "paused"},
		group: []string{
			"name", "interval", "rules", "limit", "labels", "partial_response_strategy", "concurrency", "tenant", "params", "type",
			"headers", "notifier_headers", "extra_filter_labels", "eval_offset", "eval_delay", "eval_alignment", "query_offset",
		},
		rule: []string{"record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations", "debug", "update_entries_limit"},
	},
}

// dialectFields are fields that Prometheus refuses and that another reader of
// rule files knows.
var dialectFields = map[string]struct{ name, option string }{
	"partial_response_strategy":         {"Thanos", "thanos"},
	"source_tenants":                    {"Mimir", "mimir"},
	"align_evaluation_time_on_interval": {"Mimir", "mimir"},
	"evaluation_delay":                  {"Mimir", "mimir"},
	"namespace":                         {"Mimir's mimirtool", "mimir"},
	"remote_write":                      {"Mimir's predecessor GEM", "mimir"},
	"concurrency":                       {"VictoriaMetrics", "victoriametrics"},
	"tenant":                            {"VictoriaMetrics", "victoriametrics"},
	"params":                            {"VictoriaMetrics", "victoriametrics"},
	"headers":                           {"VictoriaMetrics", "victoriametrics"},
	"notifier_headers":                  {"VictoriaMetrics", "victoriametrics"},
	"extra_filter_labels":               {"VictoriaMetrics", "victoriametrics"},
	"eval_offset":                       {"VictoriaMetrics", "victoriametrics"},
	"eval_delay":                        {"VictoriaMetrics", "victoriametrics"},
	"eval_alignment":                    {"VictoriaMetrics", "victoriametrics"},
	"debug":                             {"VictoriaMetrics", "victoriametrics"},
	"update_entries_limit":              {"VictoriaMetrics", "victoriametrics"},
}
