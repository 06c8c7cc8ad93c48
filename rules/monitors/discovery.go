// SPDX-License-Identifier: Apache-2.0

package monitors

import (
	"slices"

	"github.com/monitoringlinter/monitoringlinter/lint"
)

// selects is the kinds of objects that servers select, and the fields of these
// that say which.
var selects = map[string]struct {
	field   string // that ends in Selector; of namespaces it is …NamespaceSelector
	servers []string
}{
	ServiceMonitor:       {"serviceMonitor", []string{"Prometheus", "PrometheusAgent"}},
	PodMonitor:           {"podMonitor", []string{"Prometheus", "PrometheusAgent"}},
	Probe:                {"probe", []string{"Prometheus", "PrometheusAgent"}},
	ScrapeConfig:         {"scrapeConfig", []string{"Prometheus", "PrometheusAgent"}},
	"PrometheusRule":     {"rule", []string{"Prometheus", "ThanosRuler"}},
	"AlertmanagerConfig": {"alertmanagerConfig", []string{"Alertmanager"}},
}

// maxServers bounds the time of a run in which everything may select everything;
// a repository has a handful.
const maxServers = 300

// selectorsOf reads the selectors of a server by the names of their fields.
func selectorsOf(spec *Value) map[string]*Selector {
	out := make(map[string]*Selector, 2*len(selects))
	for _, kind := range selects {
		for _, field := range []string{kind.field + "Selector", kind.field + "NamespaceSelector"} {
			out[field] = selector(spec.Get(field))
		}
	}
	return out
}

// A Selection is how a server looks for an object.
type Selection struct {
	Server    *Server
	Field     string // the field that holds the selector
	Selector  *Selector
	Labels    bool // the labels of the object match
	Namespace bool // so does its namespace, or it may
	Certain   bool // so does its namespace
	Known     bool // it is known of the labels whether they match
}

// Selections returns how each server of the run looks for an object of the
// operator's API group.
func (x *Index) Selections(o located, group string, labels map[string]string) []Selection {
	kind := selects[o.Object().Kind]
	if len(x.Servers) > maxServers {
		return nil
	}
	var out []Selection
	for _, server := range x.Servers {
		if server.Group != group || !slices.Contains(kind.servers, server.Kind) {
			continue
		}
		s := Selection{Server: server, Field: kind.field + "Selector"}
		s.Selector = server.selectors[s.Field]
		s.Labels = s.Selector.Matches(labels)
		namespace := x.selectsNamespace(server, server.selectors[kind.field+"NamespaceSelector"], o)
		s.Namespace, s.Certain = namespace != no, namespace == yes
		s.Known = !s.Selector.Open && !x.Changed(server).Labels && !x.Changed(o).Labels && !anyPlaceholder(labels)
		out = append(out, s)
	}
	return out
}

// selectsNamespace tells whether the namespace of an object is among those that
// a server looks into: without a selector that is its own.
func (x *Index) selectsNamespace(server *Server, s *Selector, o located) certainty {
	switch {
	case s.Value == nil:
		return x.sameNamespace(server, o)
	case s.Open, o.Object().Namespace == "" && len(s.Terms) > 0, x.Changed(o).Namespace && len(s.Terms) > 0:
		return maybe
	}
	name := o.Object().Namespace
	labels := map[string]string{"kubernetes.io/metadata.name": name} // the API server sets it
	namespace := x.Namespaces[name]
	if namespace != nil {
		for k, v := range namespace.Labels {
			labels[k] = v
		}
	}
	for _, t := range s.Terms {
		switch {
		case t.Matches(labels):
		case namespace == nil && t.Key != "kubernetes.io/metadata.name", namespace != nil && x.Changed(namespace).Labels, anyPlaceholder(labels):
			return maybe
		default:
			return no
		}
	}
	return yes
}

// ServersOf returns the servers close by that certainly select a monitor, and
// false if others may.
func (x *Index) ServersOf(m *Monitor) (servers []*Server, known bool) {
	known = true
	for _, s := range x.Selections(m, m.Group, m.Labels) {
		switch {
		case s.Known && (!s.Labels || !s.Namespace):
		case !s.Known, !s.Certain, !Close(s.Server, m):
			known = false
		default:
			servers = append(servers, s.Server)
		}
	}
	return servers, known
}

// Located gives an object that is not of this package, a PrometheusRule, its
// place in the run.
func Located(n lint.Node) located { return elsewhere{n} }

type elsewhere struct{ lint.Node }

func (e elsewhere) Path() string { return e.Span().File.Path }
