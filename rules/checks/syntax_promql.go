// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "syntax/promql",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "expression that Prometheus does not parse",
		Why: `Prometheus refuses the whole file for one expression that does not parse, or that has the wrong type: a range where a single value is needed, a function of too few arguments.

Functions and syntax that need a feature flag are errors too, as Prometheus refuses them when it is started by default. Where the flag is set, say promql: {experimental: true} in the configuration.`,
		Bad: `groups:
- name: vm
  rules:
  - alert: VMErrors
    expr: |
      increase(vm_errors_total) > 0
`,
		Good: `groups:
- name: vm
  rules:
  - alert: VMErrors
    expr: |
      increase(vm_errors_total[10m]) > 0
`,
		TurnOff: "The expressions are of another language: set dialect to victoriametrics for MetricsQL, exclude the files of Loki's LogQL.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/querying/basics/", "https://prometheus.io/docs/prometheus/latest/feature_flags/"},
	},
	Run: lint.With(syntaxPromQL{Dialect: "prometheus"}, checkSyntaxPromQL),
})

type syntaxPromQL struct {
	Experimental bool   `yaml:"experimental" shared:"promql.experimental" doc:"Prometheus runs with the feature flags of experimental functions and syntax."`
	Dialect      string `yaml:"dialect" shared:"dialect" doc:"What reads the rules: prometheus, thanos, mimir or victoriametrics."`
}

func (o syntaxPromQL) Validate() error { return validDialect(o.Dialect) }

func checkSyntaxPromQL(p *lint.Pass, e *promql.Expr, o syntaxPromQL) {
	if o.Dialect == "victoriametrics" || o.Experimental && e.Experimental() {
		return
	}
	for _, err := range e.Errors {
		message := "expr does not parse: " + err.Message
		switch {
		case e.Experimental():
			message = fmt.Sprintf("expr uses %s, which is experimental: Prometheus refuses it unless it runs with the feature flag; if it does, set promql: {experimental: true}", syntaxPromQLFeature(err))
		case logQL.MatchString(e.Text.Value):
			message += "; this looks like LogQL, which is Loki's: exclude the file"
		default:
			message += syntaxPromQLHint(e, err)
		}
		if o := p.Object(); o.Kind != "" {
			message = o.String() + " " + message
		}
		p.Report(lint.Finding{Span: err.Span, Message: message})
	}
}

var (
	logQL       = regexp.MustCompile(`\}\s*(?:\|=|\|~|\|>|!>|\|\s*(?:json|logfmt|pattern|regexp|line_format|label_format|unwrap|unpack|decolorize)\b)`)
	notEnabled  = regexp.MustCompile(`^function "(.+)" is not enabled$`)
	needsEnable = regexp.MustCompile(`^(.+?)\(?\)? is experimental`)
)

func syntaxPromQLFeature(err promql.Error) string {
	for _, re := range []*regexp.Regexp{notEnabled, needsEnable} {
		if m := re.FindStringSubmatch(err.Message); m != nil {
			return m[1]
		}
	}
	return "syntax that is not enabled by default (" + err.Message + ")"
}

// syntaxPromQLHint says what to write instead for the faults made most.
func syntaxPromQLHint(e *promql.Expr, err promql.Error) string {
	near := err.Span.Text()
	switch {
	case strings.HasPrefix(err.Message, "unexpected \"=\"") && near == "=":
		return "; write == to compare"
	case strings.Contains(err.Message, "unexpected character: '&'"):
		return "; write and for &&"
	case strings.Contains(err.Message, "unexpected character: '|'"):
		return "; write or for ||"
	case strings.Contains(err.Message, "expected type range vector"):
		return "; give the selector a range, as in [5m]"
	case strings.Contains(err.Message, "must use BOOL modifier"):
		return "; a comparison of two numbers is always true or always false, so it can't be an alert"
	}
	return ""
}
