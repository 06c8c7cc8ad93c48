// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var _ = add(lint.Check{
	ID:       "monitor/tls",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "endpoint whose TLS does not work, or proves nothing",
		Why: `Prometheus connects to the address of a pod. Without a tlsConfig it trusts the public authorities only and expects a certificate for that address: in a cluster the scrape fails. A tlsConfig beside plain http has no effect. The operator drops a monitor that names the authority, the certificate or the key twice, or a certificate without its key: an error.

insecureSkipVerify accepts any certificate, so that whoever answers in place of the pod can report what they like. Guides for certificates signed by the service itself need it; it is an information, and a warning where verify is set, as in the preset strict.`,
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
      scheme: https
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
      scheme: https
      tlsConfig:
        serverName: shop.shop.svc
        ca:
          configMap:
            name: service-ca
            key: ca.crt
`,
		TurnOff: "the network between Prometheus and the pods is trusted.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.TLSConfig"},
	},
	Run: lint.With(monitorTLS{}, checkMonitorTLS),
})

type monitorTLS struct {
	Verify bool `yaml:"verify" doc:"Certificates must be verified: insecureSkipVerify is a warning, not an information."`
}

func checkMonitorTLS(p *lint.Pass, e *monitors.Endpoint, o monitorTLS) {
	scheme, tls := e.Value.Get("scheme"), e.Value.Field("tlsConfig")
	config := e.Value.Get("tlsConfig")
	monitorTLSTwice(p, e, config)
	discovers := e.Monitor.Kind == monitors.ServiceMonitor || e.Monitor.Kind == monitors.PodMonitor
	switch written := strings.ToLower(scheme.Str()); {
	case !discovers || e.Monitor.Spec("scrapeClass") != nil || monitorTLSByClass(p, e):
	case written == "https" && config == nil:
		p.Reportf(scheme.Place, "%s: scheme is https without a tlsConfig: the certificate of a pod is signed by none of the public authorities, so the scrape fails; say by which ca it is signed, and for which serverName", e.Object())
	case written == "http" && config != nil && len(config.Fields) > 0 && !monitorTLSSets(e, "__scheme__"):
		p.Reportf(tls.Key.All(), "%s: tlsConfig has no effect, as the scheme is http: write scheme: https, or remove it", e.Object())
	case scheme == nil && config != nil && len(config.Fields) > 0 && !monitorTLSSets(e, "__scheme__"):
		p.Reportf(tls.Key.All(), "%s: tlsConfig has no effect, as the scheme is http unless it is set: write scheme: https, or remove it", e.Object())
	}
	if skip := config.Get("insecureSkipVerify"); skip.True() {
		severity := lint.Info
		if o.Verify {
			severity = lint.Warning
		}
		p.Report(lint.Finding{Span: skip.Place, Severity: severity,
			Message: fmt.Sprintf("%s: insecureSkipVerify accepts any certificate: whoever answers in place of the target reports what they like; name the ca instead", e.Object())})
	}
}

// monitorTLSByClass reports whether a Prometheus of the run gives monitors that
// name no scrape class the TLS configuration of one.
func monitorTLSByClass(p *lint.Pass, e *monitors.Endpoint) bool {
	servers, _ := monitors.Of(p.Project).ServersOf(e.Monitor)
	for _, s := range servers {
		for _, class := range s.Spec("scrapeClasses").Elements() {
			if class.Get("default").True() {
				return true
			}
		}
	}
	return false
}

// monitorTLSSets reports whether a relabeling sets the label.
func monitorTLSSets(e *monitors.Endpoint, label string) bool {
	for _, r := range e.Relabelings {
		if r.TargetLabel.Value == label || strings.EqualFold(r.Action, "labelmap") || strings.Contains(r.TargetLabel.Value, "$") {
			return true
		}
	}
	return false
}

// monitorTLSTwice reports what the operator refuses in a tlsConfig.
func monitorTLSTwice(p *lint.Pass, e *monitors.Endpoint, config *monitors.Value) {
	if config == nil {
		return
	}
	refuse := func(at *monitors.Value, format string, args ...any) {
		p.Report(lint.Finding{Span: at.Place, Severity: lint.Error,
			Message: fmt.Sprintf("%s: %s: the operator drops the whole %s", e.Object(), fmt.Sprintf(format, args...), e.Monitor.Kind)})
	}
	present := func(name string) *monitors.Value {
		if v := config.Get(name); v != nil && (v.Str() != "" || len(v.Fields) > 0) {
			return v
		}
		return nil
	}
	for _, pair := range [][2]string{{"ca", "caFile"}, {"cert", "certFile"}, {"keySecret", "keyFile"}} {
		if object, file := present(pair[0]), present(pair[1]); object != nil && file != nil {
			refuse(file, "tlsConfig has both %s and %s, remove one of them", pair[0], pair[1])
		}
	}
	for _, name := range []string{"ca", "cert"} {
		if v := config.Get(name); v.Get("secret") != nil && v.Get("configMap") != nil {
			refuse(v.Get("configMap"), "%s has both secret and configMap, remove one of them", name)
		}
	}
	cert, key := present("cert"), present("keySecret")
	if cert == nil {
		cert = present("certFile")
	}
	if key == nil {
		key = present("keyFile")
	}
	switch {
	case cert != nil && key == nil:
		refuse(cert, "tlsConfig has a client certificate and no key, add keySecret")
	case cert == nil && key != nil:
		refuse(key, "tlsConfig has the key of a client and no certificate, add cert")
	}
}
