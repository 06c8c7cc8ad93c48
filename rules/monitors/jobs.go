// SPDX-License-Identifier: Apache-2.0

package monitors

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/monitoringlinter/monitoringlinter/lint"
)

// A Job is what an endpoint scrapes under one value of the label job.
type Job struct {
	Endpoint *Endpoint
	Labels   map[string]string // those of its targets that are known, job among them
	From     lint.Node         // the Service or workload that gives it its name, or the monitor
}

// A Jobs is the jobs of a run.
type Jobs struct {
	index   *Index
	byName  map[string][]*Job
	of      map[*Monitor][]*Job // nil for a monitor whose jobs can't be told
	unknown []*Monitor
}

// JobsOf returns the jobs of a run, which all checks share.
func JobsOf(p *lint.Project) *Jobs { return lint.Derive(p, newJobs) }

func newJobs(p *lint.Project) *Jobs {
	j := &Jobs{index: Of(p), byName: map[string][]*Job{}, of: map[*Monitor][]*Job{}}
	for _, m := range j.index.Monitors {
		jobs := j.jobsOf(m)
		if jobs == nil {
			j.unknown = append(j.unknown, m)
			continue
		}
		j.of[m] = jobs
		for _, job := range jobs {
			name := job.Labels[model.JobLabel]
			j.byName[name] = append(j.byName[name], job)
		}
	}
	return j
}

// Named returns the jobs of that name that are scraped for what lies in a file
// of that path, none if there are too many to look into.
func (j *Jobs) Named(name, file string) []*Job {
	all := j.byName[name]
	if len(all) > maxTargets {
		return nil
	}
	var near []*Job
	for _, job := range all {
		if Nearby(job.Endpoint.Monitor, file) {
			near = append(near, job)
		}
	}
	return near
}

// Made reports whether a monitor makes the job of that name.
func (j *Jobs) Made(name string) bool { return len(j.byName[name]) > 0 }

// Names returns the names of all jobs that are known, in order.
func (j *Jobs) Names() []string { return slices.Sorted(maps.Keys(j.byName)) }

// Of returns the jobs of a monitor, nil if they can't be told.
func (j *Jobs) Of(m *Monitor) []*Job { return j.of[m] }

// Unknown returns the monitors whose jobs can't be told.
func (j *Jobs) Unknown() []*Monitor { return j.unknown }

// jobsOf returns the jobs of a monitor, nil if not all are known.
func (j *Jobs) jobsOf(m *Monitor) []*Job {
	var jobs []*Job
	for _, e := range m.Endpoints {
		if !keepsJob(e) {
			return nil
		}
		add := func(from lint.Node, labels map[string]string) bool {
			for name, value := range labels {
				if Placeholder(value) || setsLabel(e, name) {
					if name == model.JobLabel {
						return false
					}
					delete(labels, name)
				}
			}
			jobs = append(jobs, &Job{e, labels, from})
			return true
		}
		known := false
		switch m.Kind {
		case ServiceMonitor, PodMonitor:
			known = j.discovered(m, e, add)
		case ScrapeConfig, Probe:
			if name := m.Spec("jobName").Str(); name != "" {
				known = add(m, map[string]string{model.JobLabel: name})
			}
		}
		if !known {
			return nil
		}
	}
	return jobs
}

// discovered adds the jobs of an endpoint that finds its targets by labels, and
// reports whether these are all.
func (j *Jobs) discovered(m *Monitor, e *Endpoint, add func(lint.Node, map[string]string) bool) bool {
	targets := j.index.Targets(m)
	if targets == nil || targets.Empty() || j.index.Changed(m).Labels {
		// A label that is selected by one value has it in all that is selected.
		for _, t := range m.selected() {
			if t.Key == m.JobLabel.Value && (t.Operator == selection.Equals || t.Operator == selection.In) && len(t.Values) == 1 {
				labels := map[string]string{model.JobLabel: t.Values[0]}
				return add(m, labels)
			}
		}
		return false
	}
	named := func(o located, name string, labels map[string]string) map[string]string {
		job := name
		if v := labels[m.JobLabel.Value]; m.JobLabel.Value != "" && v != "" {
			job = v
		}
		out := map[string]string{model.JobLabel: job}
		if ns := o.Object().Namespace; ns != "" && !j.index.Changed(o).Namespace {
			out["namespace"] = ns
		}
		if port := e.Port.Str(); port != "" {
			out["endpoint"] = port
		}
		return out
	}
	if m.Kind == ServiceMonitor {
		for _, s := range targets.Services {
			if j.index.Changed(s).Labels {
				return false
			}
			labels := named(s, s.Name.Value, s.Labels)
			labels["service"] = s.Name.Value
			if !add(s, labels) {
				return false
			}
		}
		return true
	}
	for _, w := range targets.Workloads {
		if j.index.Changed(w).Labels || m.Namespace.Value == "" && m.JobLabel.Value == "" {
			return false
		}
		if !add(w, named(w, m.Namespace.Value+"/"+m.Name.Value, w.PodLabels)) {
			return false
		}
	}
	return true
}

func (m *Monitor) selected() []Term {
	if m.Selector == nil || m.Selector.Open || m.JobLabel.Value == "" {
		return nil
	}
	return m.Selector.Terms
}

// keepsJob reports whether the relabelings leave the label job as the operator
// sets it.
func keepsJob(e *Endpoint) bool {
	for _, list := range [][]*Relabeling{e.Relabelings, e.MetricRelabelings} {
		for _, r := range list {
			switch strings.ToLower(r.Action) {
			case "labelmap", "labelkeep":
				return false
			case "labeldrop":
				if r.Matches(model.JobLabel) {
					return false
				}
			}
			if r.TargetLabel.Value == model.JobLabel || strings.Contains(r.TargetLabel.Value, "$") {
				return false
			}
		}
	}
	return true
}

func setsLabel(e *Endpoint, name string) bool {
	for _, list := range [][]*Relabeling{e.Relabelings, e.MetricRelabelings} {
		for _, r := range list {
			if r.TargetLabel.Value == name {
				return true
			}
		}
	}
	return false
}

// Interval returns how often the endpoint is scraped, and false if that can't
// be told: without an interval of its own the Prometheus that selects it says.
func (j *Jobs) Interval(e *Endpoint) (time.Duration, bool) {
	if e.Interval.Set && e.Interval.Value > 0 {
		return e.Interval.Value, true
	}
	if !e.Interval.Text.IsZero() && e.Interval.Text.Value != "" {
		return 0, false
	}
	servers, known := j.index.ServersOf(e.Monitor)
	if !known || len(servers) == 0 {
		return 0, false
	}
	least := time.Duration(0)
	for _, s := range servers {
		_, d, known := s.ScrapeInterval()
		if !known {
			return 0, false
		}
		if least == 0 || d < least {
			least = d
		}
	}
	return least, least > 0
}
