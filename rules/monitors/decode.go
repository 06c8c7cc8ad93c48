// SPDX-License-Identifier: Apache-2.0

package monitors

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/prometheus/model/relabel"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// operatorGroup is the API group of the operator.
const operatorGroup = "monitoring.coreos.com"

// groups are the API groups of the operator and of its forks, which have the
// same kinds and, now and then, other fields.
var groups = []string{operatorGroup, "monitoring.rhobs", "azmonitoring.coreos.com"}

// versions are those in which the operator serves its kinds.
var versions = map[string][]string{
	ServiceMonitor:       {"v1"},
	PodMonitor:           {"v1"},
	Probe:                {"v1"},
	ScrapeConfig:         {"v1alpha1"},
	"Prometheus":         {"v1"},
	"PrometheusAgent":    {"v1alpha1"},
	"Alertmanager":       {"v1"},
	"AlertmanagerConfig": {"v1alpha1", "v1beta1"},
	"ThanosRuler":        {"v1"},
}

// podTemplates is where the kinds that make pods hold the template of them.
var podTemplates = map[string][]string{
	"Pod":                   {},
	"Deployment":            {"spec", "template"},
	"StatefulSet":           {"spec", "template"},
	"DaemonSet":             {"spec", "template"},
	"ReplicaSet":            {"spec", "template"},
	"ReplicationController": {"spec", "template"},
	"DeploymentConfig":      {"spec", "template"},
	"Rollout":               {"spec", "template"},
	"Job":                   {"spec", "template"},
	"CronJob":               {"spec", "jobTemplate", "spec", "template"},
}

// Kind says what an object is to the model.
type Kind uint8

// What an object may be: none of ours, one of the operator's, or one beside them.
const (
	None Kind = iota
	OfOperator
	Beside
)

// KindOf tells what an object is by its kind and apiVersion.
func KindOf(kind, apiVersion string) Kind {
	group, _, _ := strings.Cut(apiVersion, "/")
	switch {
	case versions[kind] != nil && slices.Contains(groups, group):
		return OfOperator
	case podTemplates[kind] != nil, kind == "Service" && apiVersion == "v1", kind == "Namespace" && apiVersion == "v1",
		kind == "Kustomization" && group == "kustomize.config.k8s.io", kind == "Component" && group == "kustomize.config.k8s.io":
		return Beside
	}
	return None
}

// IsBeside reports whether an object is none of the operator's own.
func IsBeside(o lint.Node) bool { return versions[o.Object().Kind] == nil }

// Decode makes an object of the model of a mapping for which [KindOf] tells
// that it is one, and returns what the API server would refuse.
func Decode(v *Value) (lint.Node, []*lint.Problem) {
	o := Meta{Kind: v.Get("kind").Str(), Value: v}
	o.Group, o.Version, _ = strings.Cut(v.Get("apiVersion").Str(), "/")
	if o.Version == "" {
		o.Group, o.Version = "", o.Group
	}
	metadata := v.Get("metadata")
	if name := metadata.Get("name"); name != nil {
		o.Name = name.Text
	}
	if namespace := metadata.Get("namespace"); namespace != nil && !namespace.Unknown() {
		o.Namespace = namespace.Text
	}
	o.Labels = metadata.Get("labels").labels()
	o.origin = &lint.Origin{
		Kind: o.Kind, Name: o.Name.Value, Namespace: o.Namespace.Value, Labels: o.Labels, Annotations: metadata.Get("annotations").labels(),
	}
	var problems []*lint.Problem
	report := func(span source.Span, format string, args ...any) *lint.Problem {
		p := &lint.Problem{Finding: lint.Finding{
			Check: "syntax/schema", Severity: lint.Error, Span: span, Object: o.Object(), Origin: o.origin,
			Message: o.Object().String() + ": " + fmt.Sprintf(format, args...),
		}}
		problems = append(problems, p)
		return p
	}
	if versions[o.Kind] != nil {
		o.check(report)
	}
	return o.decode(), problems
}

// check holds an object of the operator against its schema.
func (o *Meta) check(report func(source.Span, string, ...any) *lint.Problem) {
	if o.Group != operatorGroup {
		return
	}
	s := schemaOf(o.Kind, o.Version)
	if s == nil {
		version := o.Value.Get("apiVersion")
		served := strings.Join(versions[o.Kind], " or ")
		if version.Unknown() {
			return
		}
		p := report(version.Place, "there is no version %s of it: the API server refuses it; write apiVersion: %s/%s", o.Version, operatorGroup, served)
		if len(versions[o.Kind]) == 1 && version.Place.Text() == version.Str() {
			p.Fixes = []lint.Fix{lint.Replace(version.Place, operatorGroup+"/"+served, "write the version that is served", false)}
		}
		s = schemaOf(o.Kind, versions[o.Kind][0])
	}
	c := validator{report}
	for _, name := range []string{"labels", "annotations"} {
		for _, f := range o.Value.Get("metadata", name).fields() {
			switch f.Value.Type {
			case String, Null:
			case Boolean, Integer, Fraction:
				c.mistyped(f.Value, &schema{kind: text}, fmt.Sprintf("metadata.%s %q", name, f.Key.Value))
			default:
				report(f.Value.Place, "metadata.%s %q must be text, not %s", name, f.Key.Value, f.Value.Type)
			}
		}
	}
	top := *o.Value
	top.Fields = slices.DeleteFunc(slices.Clone(top.Fields), func(f Field) bool { return f.Key.Value == "$schema" }) // a note to editors
	if o.Value.Field("spec") == nil {
		return // a reference to what is deleted, or expected to be there
	}
	c.validate(&top, s, o.Kind)
	if o.Kind == Probe {
		o.checkProbe(report)
	}
}

// checkProbe reports what the schema lets pass and the operator drops.
func (o *Meta) checkProbe(report func(source.Span, string, ...any) *lint.Problem) {
	targets := o.Spec("targets")
	if targets != nil && targets.Type == Map && targets.Get("staticConfig") == nil && targets.Get("ingress") == nil {
		report(targets.Place, "targets has neither staticConfig nor ingress: the operator drops the Probe")
	}
	if url := o.Spec("prober", "url"); url != nil && url.Type == String && !url.Unknown() {
		if scheme, rest, ok := strings.Cut(url.Str(), "://"); ok {
			host, _, _ := strings.Cut(rest, "/")
			report(url.Place, "the url of the prober is %s, and the operator takes only a host, or host:port: it drops the Probe; write url: %s and scheme: %s", url.Str(), host, scheme)
		} else if host, path, ok := strings.Cut(url.Str(), "/"); ok {
			report(url.Place, "the url of the prober is %s, and the operator takes only a host, or host:port: it drops the Probe; write url: %s and path: /%s", url.Str(), host, path)
		}
	}
}

// decode makes the typed object.
func (o *Meta) decode() lint.Node {
	spec := o.Value.Get("spec")
	switch o.Kind {
	case ServiceMonitor, PodMonitor, Probe, ScrapeConfig:
		return monitor(*o, spec)
	case "Prometheus", "PrometheusAgent", "ThanosRuler", "Alertmanager":
		return &Server{Meta: *o, Relabelings: serverRelabelings(spec), selectors: selectorsOf(spec)}
	case "Service":
		s := &Service{Meta: *o, PodLabels: spec.Get("selector").labels()}
		for _, p := range spec.Get("ports").Elements() {
			s.Ports = append(s.Ports, ServicePort{Name: p.Get("name"), Port: p.Get("port"), TargetPort: p.Get("targetPort")})
		}
		return s
	case "Namespace":
		return &Namespace{*o}
	case "Kustomization", "Component", "": // a file of that name may leave out its kind
		return &Kustomization{*o}
	}
	if path, ok := podTemplates[o.Kind]; ok {
		return workload(*o, o.Value.Get(path...))
	}
	return &Other{Meta: *o}
}

func monitor(o Meta, spec *Value) *Monitor {
	m := &Monitor{Meta: o}
	if v := spec.Get("jobLabel"); v != nil {
		m.JobLabel = v.Text
	}
	m.TargetLabels, m.PodTargetLabels = spec.Get("targetLabels").list(), spec.Get("podTargetLabels").list()
	single := func(interval string) *Endpoint {
		e := &Endpoint{Monitor: m, Value: spec}
		e.Interval, e.ScrapeTimeout = duration(spec.Get(interval)), duration(spec.Get("scrapeTimeout"))
		e.MetricRelabelings = relabelings(spec.Get("metricRelabelings"), OfSamples)
		return e
	}
	list := ""
	switch {
	case spec == nil || spec.Type != Map:
		return m
	case o.Kind == Probe:
		e := single("interval")
		targets := spec.Get("targets")
		for _, kind := range []string{"staticConfig", "ingress"} {
			e.Relabelings = append(e.Relabelings, relabelings(targets.Get(kind, "relabelingConfigs"), OfTargets)...)
		}
		m.Namespaces = namespaces(targets.Get("ingress", "namespaceSelector"))
		m.Endpoints = []*Endpoint{e}
		return m
	case o.Kind == ScrapeConfig:
		e := single("scrapeInterval")
		e.Relabelings = relabelings(spec.Get("relabelings"), OfTargets)
		m.Endpoints = []*Endpoint{e}
		return m
	case o.Kind == ServiceMonitor:
		list = "endpoints"
	case o.Kind == PodMonitor:
		list = "podMetricsEndpoints"
	}
	m.Selector, m.Namespaces = selector(spec.Get("selector")), namespaces(spec.Get("namespaceSelector"))
	for _, v := range spec.Get(list).Elements() {
		if v.Type != Map {
			continue
		}
		m.Endpoints = append(m.Endpoints, &Endpoint{
			Monitor: m, Value: v,
			Port: v.Get("port"), TargetPort: v.Get("targetPort"), PortNumber: v.Get("portNumber"),
			Interval: duration(v.Get("interval")), ScrapeTimeout: duration(v.Get("scrapeTimeout")),
			Relabelings:       relabelings(v.Get("relabelings"), OfTargets),
			MetricRelabelings: relabelings(v.Get("metricRelabelings"), OfSamples),
		})
	}
	return m
}

func relabelings(v *Value, stage Stage) []*Relabeling {
	var out []*Relabeling
	for _, item := range v.Elements() {
		if item.Type != Map {
			continue
		}
		r := &Relabeling{Value: item, Stage: stage, SourceLabels: item.Get("sourceLabels").list(), Action: "replace"}
		if action := item.Get("action").Str(); action != "" {
			r.Action = action
		}
		for name, text := range map[string]*source.Text{"targetLabel": &r.TargetLabel, "regex": &r.Regex, "replacement": &r.Replacement} {
			if v := item.Get(name); v != nil {
				*text = v.Text
			}
		}
		r.compiled = sync.OnceValues(func() (relabel.Regexp, error) {
			if r.Regex.Value == "" {
				return relabel.DefaultRelabelConfig.Regex, nil
			}
			return relabel.NewRegexp(r.Regex.Value)
		})
		out = append(out, r)
	}
	return out
}

// serverRelabelings returns the relabelings of a Prometheus itself.
func serverRelabelings(spec *Value) []*Relabeling {
	var out []*Relabeling
	for _, class := range spec.Get("scrapeClasses").Elements() {
		out = append(out, relabelings(class.Get("relabelings"), OfTargets)...)
		out = append(out, relabelings(class.Get("metricRelabelings"), OfSamples)...)
	}
	for _, write := range spec.Get("remoteWrite").Elements() {
		out = append(out, relabelings(write.Get("writeRelabelConfigs"), OfSent)...)
	}
	for _, am := range spec.Get("alerting", "alertmanagers").Elements() {
		out = append(out, relabelings(am.Get("relabelings"), OfTargets)...)
		out = append(out, relabelings(am.Get("alertRelabelings"), OfSent)...)
	}
	return out
}

func workload(o Meta, template *Value) *Workload {
	w := &Workload{Meta: o, PodLabels: template.Get("metadata", "labels").labels()}
	for _, list := range []string{"containers", "initContainers"} { // of which some run on as sidecars
		for _, c := range template.Get("spec", list).Elements() {
			for _, p := range c.Get("ports").Elements() {
				w.Ports = append(w.Ports, ContainerPort{Name: p.Get("name"), Number: p.Get("containerPort")})
			}
		}
	}
	return w
}
