// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var _ = add(lint.Check{
	ID:       "monitor/auth",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "credentials that are refused, or given in a way that is going away",
		Why: `An endpoint authenticates in one way: the operator drops a monitor that sets two of basicAuth, authorization, oauth2 and bearerTokenSecret (an error), as it does one that reads files of the Prometheus pod where the Prometheus object denies that by arbitraryFSAccessThroughSMs.

bearerTokenFile and bearerTokenSecret are deprecated, which is an information: authorization takes their place. With bearerTokenFile whoever may write ServiceMonitors has Prometheus send its own token to a server of theirs.`,
		Bad: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
spec:
  selector:
    matchLabels:
      app: shop
  endpoints:
    - port: metrics
      bearerTokenSecret:
        name: shop
        key: token
      basicAuth:
        username:
          name: shop
          key: user
        password:
          name: shop
          key: password
`,
		Good: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: shop
spec:
  selector:
    matchLabels:
      app: shop
  endpoints:
    - port: metrics
      authorization:
        credentials:
          name: shop
          key: token
`,
		TurnOff: "the credentials are checked where they are written.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.Endpoint"},
	},
	Run: lint.On(checkMonitorAuth),
})

func checkMonitorAuth(p *lint.Pass, e *monitors.Endpoint) {
	var first *monitors.Field
	for _, name := range []string{"authorization", "basicAuth", "bearerTokenSecret", "oauth2"} {
		f := e.Value.Field(name)
		switch {
		case f == nil || e.Value.Get(name) == nil || name == "bearerTokenSecret" && monitorAuthToken(f.Value) == "":
		case first == nil:
			first = f
		default:
			p.Report(lint.Finding{Span: f.Key.All(), Severity: lint.Error,
				Message: fmt.Sprintf("%s: endpoint has both %s and %s: the operator drops the whole %s; keep one of them", e.Object(), first.Key.Value, name, e.Monitor.Kind),
				Related: []lint.Related{{Span: first.Key.All(), Message: "the other one"}}})
		}
	}
	if kind := e.Value.Get("authorization", "type"); strings.EqualFold(strings.TrimSpace(kind.Str()), "basic") {
		p.Report(lint.Finding{Span: kind.Place, Severity: lint.Error,
			Message: fmt.Sprintf("%s: authorization can't be of the type %s: the operator drops the whole %s; write basicAuth", e.Object(), kind.Str(), e.Monitor.Kind)})
	}
	for _, name := range []string{"bearerTokenFile", "bearerTokenSecret"} {
		f := e.Value.Field(name)
		if f == nil || monitorAuthToken(f.Value) == "" {
			continue
		}
		p.Report(lint.Finding{Span: f.Key.All(), Severity: lint.Info,
			Message: fmt.Sprintf("%s: %s is deprecated: write authorization with credentials from a Secret", e.Object(), name)})
	}
	monitorAuthFiles(p, e)
}

// monitorAuthToken returns the name of the Secret or the file of a token;
// older operators wrote one that is empty.
func monitorAuthToken(v *monitors.Value) string {
	if v.Type == monitors.Map {
		return v.Get("name").Str()
	}
	return v.Str()
}

// monitorAuthFiles reports files of the Prometheus pod that the Prometheus of
// the run denies.
func monitorAuthFiles(p *lint.Pass, e *monitors.Endpoint) {
	if e.Monitor.Kind != monitors.ServiceMonitor {
		return
	}
	var file *monitors.Value
	for _, path := range [][]string{{"bearerTokenFile"}, {"tlsConfig", "caFile"}, {"tlsConfig", "certFile"}, {"tlsConfig", "keyFile"}} {
		if v := e.Value.Get(path...); v.Str() != "" && file == nil {
			file = v
		}
	}
	if file == nil {
		return
	}
	servers, known := monitors.Of(p.Project).ServersOf(e.Monitor)
	if !known || len(servers) == 0 {
		return
	}
	for _, s := range servers { // one that allows it may be the one that is meant
		if !s.Spec("arbitraryFSAccessThroughSMs", "deny").True() {
			return
		}
	}
	deny := servers[0].Spec("arbitraryFSAccessThroughSMs", "deny")
	p.Report(lint.Finding{Span: file.Place, Severity: lint.Error,
		Message: fmt.Sprintf("%s: %s is a file in the Prometheus pod, which %s denies by arbitraryFSAccessThroughSMs: the operator drops the whole ServiceMonitor; take it from a Secret or ConfigMap", e.Object(), file.Str(), servers[0].Object()),
		Related: []lint.Related{{Span: deny.Place, Message: "denied here"}}})
}
