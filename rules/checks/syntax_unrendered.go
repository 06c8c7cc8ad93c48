// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "syntax/unrendered",
	Severity: lint.Info,
	Doc: lint.Doc{
		Title: "file that is a template of rules, not rules",
		Why: `The templates of a Helm chart, Jinja or ERB files and the like become rules only when they are rendered, so what they will say can't be checked. The file is passed over; lint what it renders to instead: helm template CHART | monitoringlinter -

An expression with a placeholder such as ${NAME} in a file that is otherwise YAML is passed over alone.`,
		Bad: `groups:
- name: {{ .Release.Name }}
  rules:
  {{- range .Values.alerts }}
  - alert: {{ .name }}
    expr: {{ .expr }}
  {{- end }}
`,
		Good: `groups:
- name: shop
  rules:
  - alert: ShopDown
    expr: up{job="shop"} == 0
`,
		TurnOff: "Never needed: it is an information, and hidden unless asked for.",
		Since:   "v0.1.0",
		Refs:    []string{"https://helm.sh/docs/helm/helm_template/"},
	},
	Run: lint.Problems().And(lint.On(func(p *lint.Pass, e *promql.Expr) {
		if !e.Placeholder.IsZero() {
			p.Report(lint.Finding{Span: e.Placeholder, Message: fmt.Sprintf("%s expr holds the placeholder %s: it was not checked; lint the file that it is rendered to", p.Object(), e.Placeholder.Text())})
		}
	})),
})
