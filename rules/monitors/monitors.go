// SPDX-License-Identifier: Apache-2.0

// Package monitors models the objects by which the Prometheus operator finds
// what to scrape (ServiceMonitor, PodMonitor, Probe, ScrapeConfig), those that
// select them (Prometheus, PrometheusAgent), those that alerts go through
// (Alertmanager, AlertmanagerConfig, ThanosRuler), and the objects beside them
// that they refer to: Services, workloads, Pods, Namespaces.
//
// [Decode] makes an object of a [Value]: a part of a manifest that knows where
// it was written. The model has what checks read; the schema of the operator's
// custom resource definitions is held against the value as a whole. An [Index]
// says what of a run belongs together.
package monitors

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/relabel"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// The kinds of monitors.
const (
	ServiceMonitor = "ServiceMonitor"
	PodMonitor     = "PodMonitor"
	Probe          = "Probe"
	ScrapeConfig   = "ScrapeConfig"
)

// A Meta is what all Kubernetes objects have.
type Meta struct {
	Kind, Group, Version string
	Name                 source.Text
	Namespace            source.Text // empty if it is set when the object is installed
	Labels               map[string]string
	Value                *Value

	origin *lint.Origin
}

// Span returns the bytes of the object.
func (o *Meta) Span() source.Span { return o.Value.Extent }

// Origin returns what configuration chooses by.
func (o *Meta) Origin() *lint.Origin { return o.origin }

// Object names the object in messages.
func (o *Meta) Object() lint.Object {
	return lint.Object{Kind: o.Kind, Name: o.Name.Value, Namespace: o.Namespace.Value}
}

// Place returns where to report what the object lacks: its name.
func (o *Meta) Place() source.Span {
	if s := o.Name.All(); s.End > s.Start {
		return s
	}
	return o.Value.Place
}

// Path returns the path of the file that holds the object.
func (o *Meta) Path() string { return o.Value.Place.File.Path }

// Spec returns the value at a path below spec, or nil.
func (o *Meta) Spec(path ...string) *Value { return o.Value.Get("spec").Get(path...) }

// A Monitor is a ServiceMonitor, PodMonitor, Probe or ScrapeConfig.
type Monitor struct {
	Meta
	Selector        *Selector   // of Services or pods; nil for a Probe and a ScrapeConfig
	Namespaces      *Namespaces // nil for a ScrapeConfig
	Endpoints       []*Endpoint
	JobLabel        source.Text
	TargetLabels    []source.Text
	PodTargetLabels []source.Text
}

// An Endpoint is one way in which a monitor scrapes what it selects: an
// endpoint of a ServiceMonitor or PodMonitor, and a Probe or ScrapeConfig as a
// whole.
type Endpoint struct {
	Monitor           *Monitor
	Value             *Value
	Port              *Value // nil if there is none, as all of these
	TargetPort        *Value
	PortNumber        *Value
	Interval          Duration
	ScrapeTimeout     Duration
	Relabelings       []*Relabeling
	MetricRelabelings []*Relabeling
}

// Span returns the bytes of the endpoint.
func (e *Endpoint) Span() source.Span { return e.Value.Extent }

// Origin returns that of the monitor.
func (e *Endpoint) Origin() *lint.Origin { return e.Monitor.origin }

// Object names the monitor in messages.
func (e *Endpoint) Object() lint.Object { return e.Monitor.Object() }

// A Duration is a duration as the operator takes it.
type Duration struct {
	Text  source.Text
	Value time.Duration
	Set   bool // written, and valid
}

// A Stage is where a relabeling is applied.
type Stage uint8

// The stages: labels of targets before the scrape, those of samples after it,
// and those of what is sent on.
const (
	OfTargets Stage = iota
	OfSamples
	OfSent
)

// A Relabeling is a step of relabeling.
type Relabeling struct {
	Value        *Value
	Stage        Stage
	SourceLabels []source.Text
	TargetLabel  source.Text
	Regex        source.Text
	Replacement  source.Text
	Action       string // as written, "replace" where nothing is

	compiled func() (relabel.Regexp, error)
}

// Place returns where to report what the relabeling lacks.
func (r *Relabeling) Place() source.Span { return r.Value.Place }

// Compiled returns the regex as Prometheus compiles it: where none is written,
// one that matches everything. It is compiled once.
func (r *Relabeling) Compiled() (relabel.Regexp, error) { return r.compiled() }

// Matches reports whether the regex of the relabeling matches a value; one that
// does not compile matches nothing.
func (r *Relabeling) Matches(value string) bool {
	re, err := r.compiled()
	return err == nil && re.MatchString(value)
}

// A Server is what selects monitors, rules or configurations: a Prometheus,
// PrometheusAgent, ThanosRuler or Alertmanager.
type Server struct {
	Meta
	Relabelings []*Relabeling

	selectors map[string]*Selector // by field
}

// DefaultScrapeInterval is that of a Prometheus object that sets none.
const DefaultScrapeInterval = 30 * time.Second

// ScrapeInterval returns how often the server scrapes what has no interval of
// its own, as it is written and what that is, and false if it can't be told.
func (s *Server) ScrapeInterval() (text string, interval time.Duration, known bool) {
	text = model.Duration(DefaultScrapeInterval).String()
	if v := s.Spec("scrapeInterval"); v != nil {
		text = v.Str()
	}
	d, err := model.ParseDuration(text)
	return text, time.Duration(d), err == nil
}

// Selectors yields the fields that select objects or namespaces, and what they
// hold, in the order of their names.
func (s *Server) Selectors() iter.Seq2[string, *Selector] {
	return func(yield func(string, *Selector) bool) {
		for _, field := range slices.Sorted(maps.Keys(s.selectors)) {
			if !yield(field, s.selectors[field]) {
				return
			}
		}
	}
}

// An Other is an object of the operator of which no more is read than its
// schema demands: an AlertmanagerConfig.
type Other struct{ Meta }

// A Service is a Service of Kubernetes.
type Service struct {
	Meta
	Ports     []ServicePort
	PodLabels map[string]string // its selector, nil if it has none
}

// A ServicePort is a port of a Service.
type ServicePort struct {
	Name, Port, TargetPort *Value
}

// A Workload is what makes pods of a template, or a pod itself.
type Workload struct {
	Meta
	PodLabels map[string]string
	Ports     []ContainerPort
}

// A ContainerPort is a port that a container declares.
type ContainerPort struct{ Name, Number *Value }

// A Namespace is a Namespace.
type Namespace struct{ Meta }

// A Kustomization changes the objects of other files before they are installed.
type Kustomization struct{ Meta }

// nodesOf yields an object and its parts, outer ones before inner ones.
func nodesOf(o lint.Node) iter.Seq[any] {
	return func(yield func(any) bool) {
		if !yield(o) {
			return
		}
		var relabelings []*Relabeling
		switch o := o.(type) {
		case *Monitor:
			for _, e := range o.Endpoints {
				if !yield(e) {
					return
				}
				for _, list := range [][]*Relabeling{e.Relabelings, e.MetricRelabelings} {
					for _, r := range list {
						if !yield(r) {
							return
						}
					}
				}
			}
		case *Server:
			relabelings = o.Relabelings
		}
		for _, r := range relabelings {
			if !yield(r) {
				return
			}
		}
	}
}

// Nodes yields each object and its parts.
func Nodes(objects []lint.Node) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, o := range objects {
			for n := range nodesOf(o) {
				if !yield(n) {
					return
				}
			}
		}
	}
}

func duration(v *Value) Duration {
	if v == nil {
		return Duration{}
	}
	d := Duration{Text: v.Text}
	if parsed, err := model.ParseDuration(v.Text.Value); err == nil && v.Type == String {
		d.Value, d.Set = time.Duration(parsed), true
	}
	return d
}
