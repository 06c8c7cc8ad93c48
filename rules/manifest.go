// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var (
	monitorKind = regexp.MustCompile(`(?m)^[\t ]*(?:- )?["']?kind["']?[\t ]*:[\t ]*["']?(?:ServiceMonitor|PodMonitor|Probe|ScrapeConfig|Prometheus|PrometheusAgent|Alertmanager|AlertmanagerConfig|ThanosRuler)\b`)
	monitorAPI  = regexp.MustCompile(`(?m)^[\t ]*(?:- )?["']?apiVersion["']?[\t ]*:[\t ]*["']?(?:az)?monitoring\.`)
	topKind     = regexp.MustCompile(`(?m)^kind:[\t ]*["']?(\w+)`)
)

// assertion matches the files of end-to-end tests that hold the parts of objects
// that must be there, as kuttl and chainsaw name them.
var assertion = regexp.MustCompile(`(?:^\d+-(?:[\w-]+-)?errors?|(?:^|-)assert(?:-[\w-]+)?)\.ya?ml$`)

// looksLikeMonitors tells of text that does not parse whether it was meant to
// be an object of the operator.
func looksLikeMonitors(s string) bool {
	return strings.Contains(s, "monitoring.") && monitorKind.MatchString(s) && monitorAPI.MatchString(s)
}

// objectKinds are the kinds that package monitors knows, and those that may
// hold objects of these.
var objectKinds = map[string]bool{
	"ServiceMonitor": true, "PodMonitor": true, "Probe": true, "ScrapeConfig": true, "Prometheus": true, "PrometheusAgent": true,
	"Alertmanager": true, "AlertmanagerConfig": true, "ThanosRuler": true,
	"Service": true, "Namespace": true, "Kustomization": true, "Component": true, "Pod": true, "Deployment": true, "StatefulSet": true,
	"DaemonSet": true, "ReplicaSet": true, "ReplicationController": true, "DeploymentConfig": true, "Rollout": true, "Job": true, "CronJob": true,
}

// mayHoldObjects is a scan that spares the parser the manifests of other kinds:
// definitions of custom resources name the kinds too, and are large.
func mayHoldObjects(s string) bool {
	if !strings.Contains(s, "apiVersion") {
		return false
	}
	if m := topKind.FindStringSubmatch(s); m != nil && m[1] == "CustomResourceDefinition" && strings.Count(s, "\nkind:") < 2 {
		return false
	}
	for {
		i := strings.Index(s, "kind")
		if i < 0 {
			return false
		}
		s = s[i+len("kind"):]
		rest := strings.TrimLeft(s, `"' `)
		if rest, ok := strings.CutPrefix(rest, ":"); ok {
			rest = strings.TrimLeft(rest, `"' `+"\t")
			end := 0
			for end < len(rest) && (rest[end]|0x20 >= 'a' && rest[end]|0x20 <= 'z') {
				end++
			}
			if objectKinds[strings.TrimSuffix(rest[:end], "List")] {
				return true
			}
		}
	}
}

// isKustomization tells by its name a file whose kind may be left out.
func isKustomization(name string) bool {
	switch path.Base(name) {
	case "kustomization.yaml", "kustomization.yml", "Kustomization":
		return true
	}
	return false
}

// kubernetes reads an object that package monitors knows.
func (d *objectDecoder) kubernetes(n *yaml.Node, kind string, of monitors.Kind) {
	if d.template || field(n, "$patch") != nil || assertion.MatchString(path.Base(d.src.Path)) {
		return // a patch of kustomize, or what a test expects an object to have
	}
	d.kube = true
	quiet, object, origin := d.quiet, d.object, d.origin
	defer func() { d.quiet, d.object, d.origin = quiet, object, origin }()
	d.quiet = of == monitors.Beside // what is wrong with it is not ours to say
	metadata := follow(field(n, "metadata"))
	d.object = lint.Object{Kind: kind, Name: scalarField(metadata, "name"), Namespace: scalarField(metadata, "namespace")}
	d.origin = &lint.Origin{
		Kind: kind, Name: d.object.Name, Namespace: d.object.Namespace,
		Labels: stringMap(field(metadata, "labels")), Annotations: stringMap(field(metadata, "annotations")),
	}
	value := d.manifestValue(n, 0)
	if d.visits < 0 {
		return
	}
	o, problems := monitors.Decode(value)
	d.Objects = append(d.Objects, o)
	if !d.quiet {
		for _, p := range problems {
			d.report(p.Finding)
			d.Problems[len(d.Problems)-1].Partial = p.Partial
		}
	}
}

// manifestValue turns a node into a value, aliases and merge keys resolved.
func (d *objectDecoder) manifestValue(n *yaml.Node, depth int) *monitors.Value {
	v := &monitors.Value{Extent: d.doc.Span(n)}
	switch n.Kind {
	case yaml.MappingNode:
		v.Type = monitors.Map
		v.Place = d.start(n)
		entries := d.entries(n)
		v.Fields = make([]monitors.Field, 0, len(entries))
		for _, e := range entries {
			if e.key.Kind != yaml.ScalarNode {
				d.schema(d.doc.Span(e.key), "the name of a field must be text, not %s", kindOf(e.key))
				continue
			}
			key := d.text(e.key)
			if depth == 0 && key.Value == "status" || depth == 1 && key.Value == "managedFields" {
				continue // written by the server
			}
			item := d.manifestValue(e.value, depth+1)
			if item.Type == monitors.Null || item.Place.Start == item.Place.End {
				item.Place = key.All() // where nothing is written
			}
			v.Fields = append(v.Fields, monitors.Field{Key: key, Value: item})
		}
	case yaml.SequenceNode:
		v.Type = monitors.List
		v.Place = d.start(n)
		v.Items = make([]*monitors.Value, 0, len(n.Content))
		for _, c := range n.Content {
			c, ok := d.visit(c)
			if !ok {
				return v
			}
			item := d.manifestValue(c, depth+1)
			if item.Place.Start == item.Place.End {
				item.Place = d.itemSpan(c)
			}
			v.Items = append(v.Items, item)
		}
	default:
		v.Text = d.text(n)
		v.Place = v.Text.All()
		switch kind := d.kubeType(n); {
		case isNull(n) || kind == "null":
			v.Type, v.Text = monitors.Null, emptyAt(v.Text)
		case kind == "a boolean":
			v.Type = monitors.Boolean
		case kind == "an integer":
			v.Type = monitors.Integer
		case kind == "a fraction":
			v.Type = monitors.Fraction
		default:
			v.Type = monitors.String
		}
	}
	return v
}
