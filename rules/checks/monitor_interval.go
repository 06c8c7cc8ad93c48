// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
)

var _ = add(lint.Check{
	ID:       "monitor/interval",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "scrape interval or timeout that is refused, or leaves gaps",
		Why: `A scrape may not take longer than the interval between two: the operator drops a monitor whose scrapeTimeout is greater than its interval, all its endpoints, and only its log tells. Without an interval the scrapeInterval of the Prometheus holds, 30s unless it is set; where no Prometheus of the run is known to select the monitor, such a timeout is a warning.

A query looks back five minutes for the last sample. With an interval of five minutes and more, series come and go between two scrapes: a warning. Above half of that one scrape that fails makes a gap: an information. Below five seconds the load is rarely worth it.`,
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
      interval: 30s
      scrapeTimeout: 1m
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
      interval: 1m
      scrapeTimeout: 30s
`,
		TurnOff: "Prometheus runs with another --query.lookback-delta: set max instead.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.Endpoint",
			"https://prometheus.io/docs/prometheus/latest/querying/basics/#staleness",
		},
	},
	Run: lint.With(monitorInterval{
		Min: model.Duration(5 * time.Second),
		Max: model.Duration(5 * time.Minute),
	}, checkMonitorInterval).And(lint.With(monitorInterval{}, checkMonitorIntervalServer)),
})

type monitorInterval struct {
	Min model.Duration `yaml:"min" doc:"Shortest interval of an endpoint. 0s is no bound."`
	Max model.Duration `yaml:"max" doc:"The interval from which on samples are further apart than a query looks back. 0s is no bound."`
}

// Validate reports a lower bound above the upper one.
func (o monitorInterval) Validate() error {
	if o.Max > 0 && o.Min > o.Max {
		return fmt.Errorf("min %s is above max %s", o.Min, o.Max)
	}
	return nil
}

// often returns an interval at which one scrape may fail without a gap, in whole
// seconds: 2m where a query looks back 5m.
func (o monitorInterval) often() model.Duration {
	return model.Duration((time.Duration(o.Max) * 2 / 5).Truncate(time.Second))
}

func checkMonitorInterval(p *lint.Pass, e *monitors.Endpoint, o monitorInterval) {
	monitorIntervalTimeout(p, e)
	interval := e.Interval
	if !interval.Set || interval.Value == 0 {
		return
	}
	report := func(severity lint.Severity, format string, args ...any) {
		p.Report(lint.Finding{Span: interval.Text.All(), Severity: severity, Message: e.Object().String() + ": " + fmt.Sprintf(format, args...)})
	}
	switch {
	case o.Max > 0 && interval.Value >= time.Duration(o.Max):
		compared := "as long as"
		if interval.Value > time.Duration(o.Max) {
			compared = "longer than"
		}
		report(lint.Warning, "an interval of %s is %s a query looks back (%s): the series have gaps between two scrapes; scrape at least every %s", interval.Text.Value, compared, o.Max, o.often())
	case interval.Value < time.Duration(o.Min):
		report(lint.Warning, "an interval of %s is shorter than %s: so many samples cost more than they tell", interval.Text.Value, o.Min)
	case o.Max > 0 && 2*interval.Value > time.Duration(o.Max):
		report(lint.Info, "with an interval of %s one scrape that fails makes a gap, as a query looks back %s: scrape at least every %s", interval.Text.Value, o.Max, o.often())
	}
}

// monitorIntervalTimeout reports a timeout that is longer than the interval.
func monitorIntervalTimeout(p *lint.Pass, e *monitors.Endpoint) {
	timeout := e.ScrapeTimeout
	if !timeout.Set {
		return
	}
	const refused = "%s: scrapeTimeout %s is greater than %s: %s; "
	f := lint.Finding{Span: timeout.Text.All()}
	if !e.Interval.Text.IsZero() && e.Interval.Text.Value != "" {
		if !e.Interval.Set || timeout.Value <= e.Interval.Value {
			return
		}
		f.Message = fmt.Sprintf(refused+"shorten the timeout, or scrape less often", e.Object(), timeout.Text.Value, "the interval "+e.Interval.Text.Value, "the operator drops the whole "+e.Monitor.Kind)
		f.Related = []lint.Related{{Span: e.Interval.Text.All(), Message: "the interval is set here"}}
		p.Report(f)
		return
	}
	servers, known := monitors.Of(p.Project).ServersOf(e.Monitor)
	shortest := monitors.DefaultScrapeInterval
	whose := "the interval of 30s that the operator sets by default"
	f.Severity = lint.Warning
	for i, s := range servers {
		text, interval, ok := s.ScrapeInterval()
		if !ok {
			return
		}
		if i == 0 || interval < shortest {
			shortest = interval
			whose = fmt.Sprintf("the interval of %s that %s sets", text, s.Object())
			if known {
				f.Severity = lint.Error
			}
			f.Related = []lint.Related{{Span: s.Place(), Message: "the Prometheus is here"}}
		}
	}
	if timeout.Value > shortest {
		f.Message = fmt.Sprintf(refused+"set an interval of at least %s, or shorten the timeout", e.Object(), timeout.Text.Value, whose, "the operator then drops the whole "+e.Monitor.Kind, timeout.Text.Value)
		p.Report(f)
	}
}

// checkMonitorIntervalServer holds the timeout of a Prometheus against its interval.
func checkMonitorIntervalServer(p *lint.Pass, s *monitors.Server, _ monitorInterval) {
	v := s.Spec("scrapeTimeout")
	timeout, err := model.ParseDuration(v.Str())
	text, interval, known := s.ScrapeInterval()
	if v == nil || err != nil || !known || time.Duration(timeout) <= interval {
		return
	}
	p.Reportf(v.Place, "%s: scrapeTimeout %s is greater than the scrapeInterval %s: the operator writes no configuration; shorten the timeout, or scrape less often", s.Object(), v.Str(), text)
}
