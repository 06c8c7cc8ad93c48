// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/scrape-labels",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "matcher on a label that the monitors of the run do not make",
		Why: `The job of what a ServiceMonitor scrapes is the name of the Service, not that of the ServiceMonitor, and with jobLabel it is the value of that label. A matcher on another job selects nothing: the alert never fires, and absent() always does.

A job is reported if no monitor of the run makes it and one was evidently meant: it is the name of a monitor or Service in the same folder, or a neighbouring one, whose job is another one, or nearly the job of one. Jobs of what the run does not hold are left alone, as are all that a monitor with an unknown job may make.

Where the selector names the job, or the run has a single monitor beside the rules, metrics and labels are reported too that the monitor drops by its metricRelabelings.`,
		Bad: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: checkout
  namespace: shop
spec:
  selector:
    matchLabels:
      app: checkout
  endpoints:
    - port: metrics
---
apiVersion: v1
kind: Service
metadata:
  name: shop-checkout
  namespace: shop
  labels:
    app: checkout
spec:
  ports:
    - name: metrics
      port: 8080
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: checkout
  namespace: shop
spec:
  groups:
    - name: checkout
      rules:
        - alert: CheckoutDown
          expr: up{job="checkout"} == 0
`,
		Good: `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: checkout
  namespace: shop
spec:
  selector:
    matchLabels:
      app: checkout
  endpoints:
    - port: metrics
---
apiVersion: v1
kind: Service
metadata:
  name: shop-checkout
  namespace: shop
  labels:
    app: checkout
spec:
  ports:
    - name: metrics
      port: 8080
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: checkout
  namespace: shop
spec:
  groups:
    - name: checkout
      rules:
        - alert: CheckoutDown
          expr: up{job="shop-checkout"} == 0
`,
		TurnOff: "labels of targets are rewritten by the Prometheus itself, or before rules read the series.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.ServiceMonitorSpec"},
	},
	Run: lint.On(checkPromqlScrapeLabels),
})

func checkPromqlScrapeLabels(p *lint.Pass, e *promql.Expr) {
	if e.Root == nil || e.Text.File == nil {
		return
	}
	jobs := lint.Derive(p.Project, promqlScrapeJobsOf)
	if n := len(jobs.index.Monitors); n == 0 || n > promqlScrapeMost {
		return
	}
	file := e.Text.File.Path
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		v, ok := n.(*parser.VectorSelector)
		if !ok {
			return
		}
		metric := promql.Metric(v)
		if strings.Contains(metric, ":") || strings.HasPrefix(metric, "ALERTS") || len(jobs.records[metric]) > 0 {
			return
		}
		written := e.Matchers(v)
		var scraped []*monitors.Job
		named := false
		for _, m := range written {
			if m.Matcher.Name != model.JobLabel {
				continue
			}
			named = true
			if m.Matcher.Type != labels.MatchEqual || m.Matcher.Value == "" || promqlUnrendered(m.Matcher.Value) {
				return
			}
			if !jobs.Made(m.Matcher.Value) {
				promqlScrapeJob(p, jobs, m, file)
				return
			}
			scraped = jobs.Named(m.Matcher.Value, file)
		}
		if !named && metric != "" {
			scraped = jobs.only(e, metric)
		}
		promqlScrapeDropped(p, e, v, written, metric, scraped)
	})
}

// promqlScrapeMost bounds the monitors that each job is compared with.
const promqlScrapeMost = 2000

// promqlScrapeJobs are the jobs of a run and what its rules record.
type promqlScrapeJobs struct {
	*monitors.Jobs
	index   *monitors.Index
	names   []string                       // of the jobs, in order
	called  map[string][]*monitors.Monitor // by what a job of theirs may be mistaken for
	records promqlRateIndex
}

func promqlScrapeJobsOf(project *lint.Project) promqlScrapeJobs {
	made := monitors.JobsOf(project)
	jobs := promqlScrapeJobs{made, monitors.Of(project), made.Names(), map[string][]*monitors.Monitor{}, lint.Derive(project, promqlRateRecords)}
	for _, m := range jobs.index.Monitors {
		all := made.Of(m)
		// One that makes several jobs has no other name for each.
		if len(all) == 0 || slices.ContainsFunc(all[1:], func(j *monitors.Job) bool { return j.Labels[model.JobLabel] != all[0].Labels[model.JobLabel] }) {
			continue
		}
		names := []string{m.Name.Value, m.Namespace.Value + "/" + m.Name.Value, all[0].From.Object().Name}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			jobs.called[name] = append(jobs.called[name], m)
		}
	}
	return jobs
}

// promqlScrapeJob reports a job that no monitor makes, if one was meant.
func promqlScrapeJob(p *lint.Pass, jobs promqlScrapeJobs, m promql.Matcher, file string) {
	name := m.Matcher.Value
	for _, other := range jobs.Unknown() {
		if promqlScrapeMayMake(other, name) {
			return
		}
	}
	meant, how := promqlScrapeMeant(jobs, name, file)
	if meant == nil {
		return
	}
	job := meant.Labels[model.JobLabel]
	monitor := meant.Endpoint.Monitor
	f := lint.Finding{
		Span:    m.Span,
		Related: []lint.Related{{Span: monitor.Place(), Message: "it is scraped by this"}},
		Message: promqlSelectorMessage(p, "matcher %s selects nothing: no monitor of the run makes this job; %s, %s; write job=%q", promqlShown(m.Matcher), how, promqlScrapeWhy(meant), job),
	}
	if from := monitorPlace(meant.From); from != monitor.Place() {
		f.Related = append(f.Related, lint.Related{Span: from, Message: "the job is named after this"})
	}
	f.Fixes = []lint.Fix{lint.Replace(m.Span, fmt.Sprintf("job=%q", job), "match the job that is made", false)}
	p.Report(f)
}

// promqlScrapeMayMake reports whether a monitor whose jobs can't be told may
// make the one of that name.
func promqlScrapeMayMake(m *monitors.Monitor, name string) bool {
	if strings.Contains(m.Name.Value, name) || strings.Contains(name, m.Name.Value) || m.Selector == nil {
		return true
	}
	for _, t := range m.Selector.Terms {
		for _, v := range t.Values {
			if strings.Contains(v, name) || strings.Contains(name, v) {
				return true
			}
		}
	}
	return len(m.Selector.Terms) == 0
}

// promqlScrapeMeant returns the job that a name was probably meant for.
func promqlScrapeMeant(jobs promqlScrapeJobs, name, file string) (meant *monitors.Job, how string) {
	for _, m := range jobs.called[name] {
		if !monitors.Nearby(m, file) {
			continue
		}
		job := jobs.Of(m)[0]
		if from := job.From.Object(); from.Name == name && from != m.Object() {
			return job, fmt.Sprintf("%s is called so, and %s makes the job %s of it", from, m.Object(), job.Labels[model.JobLabel])
		}
		return job, fmt.Sprintf("%s is called so, and makes the job %s", m.Object(), job.Labels[model.JobLabel])
	}
	if len(jobs.Unknown()) > 0 {
		return nil, ""
	}
	if job, ok := near.Name(name, jobs.names); ok && promqlLetters(job) != promqlLetters(name) {
		if all := jobs.Named(job, file); len(all) > 0 {
			return all[0], fmt.Sprintf("%s makes the job %s", all[0].Endpoint.Monitor.Object(), job)
		}
	}
	return nil, ""
}

// promqlScrapeWhy says where the name of a job comes from.
func promqlScrapeWhy(j *monitors.Job) string {
	m := j.Endpoint.Monitor
	switch {
	case m.Kind == monitors.Probe || m.Kind == monitors.ScrapeConfig:
		return "its jobName"
	case m.JobLabel.Value != "" && j.Labels[model.JobLabel] != j.From.Object().Name:
		return "the value of the label " + m.JobLabel.Value
	case m.Kind == monitors.PodMonitor:
		return "namespace and name of the PodMonitor"
	}
	return "the name of the Service"
}

// promqlScrapeForeign begins the names of metrics that others than the
// application itself export.
var promqlScrapeForeign = []string{"up", "scrape_", "kube_", "node_", "container_", "kubelet_", "apiserver_", "prometheus_", "probe_"}

// only returns the jobs of the single monitor of the run, if it lies beside the
// rule and may well export the metric.
func (j promqlScrapeJobs) only(e *promql.Expr, metric string) []*monitors.Job {
	if len(j.index.Monitors) != 1 || slices.ContainsFunc(promqlScrapeForeign, func(prefix string) bool { return strings.HasPrefix(metric, prefix) }) {
		return nil
	}
	m := j.index.Monitors[0]
	if path.Dir(e.Text.File.Path) != path.Dir(m.Path()) {
		return nil
	}
	var jobs []*monitors.Job
	for _, endpoint := range m.Endpoints {
		jobs = append(jobs, &monitors.Job{Endpoint: endpoint, From: m})
	}
	return jobs
}

// promqlScrapeDropped reports what every endpoint that scrapes the job drops.
func promqlScrapeDropped(p *lint.Pass, e *promql.Expr, v *parser.VectorSelector, written []promql.Matcher, metric string, scraped []*monitors.Job) {
	all := func(drops func(r *monitors.Relabeling) bool) *monitors.Relabeling {
		var by *monitors.Relabeling
		for _, j := range scraped {
			i := slices.IndexFunc(j.Endpoint.MetricRelabelings, drops)
			if i < 0 {
				return nil
			}
			by = j.Endpoint.MetricRelabelings[i]
		}
		return by
	}
	monitor := func() lint.Object { return scraped[0].Endpoint.Monitor.Object() }
	if metric != "" {
		by := all(func(r *monitors.Relabeling) bool {
			return strings.EqualFold(r.Action, "drop") && len(r.SourceLabels) == 1 && r.SourceLabels[0].Value == model.MetricNameLabel && r.Matches(metric)
		})
		if by != nil {
			p.Report(lint.Finding{
				Span:    e.Name(v),
				Related: []lint.Related{{Span: by.Place(), Message: "it is dropped here"}},
				Message: promqlSelectorMessage(p, "reads %s, which the metricRelabelings of %s drop: there is no such series; keep it there", metric, monitor()),
			})
			return
		}
	}
	for _, m := range written {
		if m.Matcher.Name == model.MetricNameLabel || m.Matcher.Matches("") {
			continue
		}
		by := all(func(r *monitors.Relabeling) bool {
			return strings.EqualFold(r.Action, "labeldrop") && r.Matches(m.Matcher.Name)
		})
		if by != nil {
			p.Report(lint.Finding{
				Span:    m.Span,
				Related: []lint.Related{{Span: by.Place(), Message: "it is dropped here"}},
				Message: promqlSelectorMessage(p, "matcher %s selects nothing: the metricRelabelings of %s drop the label %s; keep it there, or match another label", promqlShown(m.Matcher), monitor(), m.Matcher.Name),
			})
		}
	}
}
