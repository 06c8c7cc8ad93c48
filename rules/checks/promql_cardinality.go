// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/cardinality",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "expression that reads or returns a number of series that nobody bounds",
		Why: `Each series that an expression returns becomes an alert of its own, or a recorded series of its own: memory of the server, a notification, a line in a query. Where their number grows with users, requests or containers, one bad day brings thousands.

What is reported:

- A selector without a metric name, which reads every series of a job or of the server. Counting series by count or group is meant so, and only an information; absent() is left alone.

- Grouping by a label that takes a value per user, request, address or the like, if it reaches the result and no matcher pins its value. A label that label_replace copies from such a label counts as one. Labels such as path, user and id count where they tell requests and other events apart, not where they name the objects that a gauge is about.

- A metric of each container or virtual machine that is neither aggregated, nor joined, nor narrowed by a matcher, such as container_memory_usage_bytes > 1e9. What is compared per pod on purpose (restarts, phases, volumes) is left alone.

- Buckets of a histogram that reach the result with every bound.

- count_values over a value that varies continuously, such as bytes, seconds or a rate: each value becomes a label.`,
		Bad: `groups:
- name: vm
  rules:
  - alert: VMHighMemoryUsage
    expr: kubevirt_vmi_memory_resident_bytes > 8e9
    for: 15m
`,
		Good: `groups:
- name: vm
  rules:
  - alert: VMHighMemoryUsage
    expr: sum by (namespace) (kubevirt_vmi_memory_resident_bytes) > 64e9
    for: 15m
`,
		TurnOff: "The server is sized for it. Where a label is bounded in your systems, name it in bounded-labels instead.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/practices/naming/#labels",
			"https://prometheus.io/docs/practices/instrumentation/#do-not-overuse-labels",
		},
	},
	Run: lint.With(promqlCardinality{}, checkPromqlCardinality),
})

type promqlCardinality struct {
	HighCardinalityLabels  []string `yaml:"high-cardinality-labels" doc:"Further labels that take a value per user, request, address or the like."`
	BoundedLabels          []string `yaml:"bounded-labels" doc:"Labels that take few values here, whatever their name says."`
	HighCardinalityMetrics []string `yaml:"high-cardinality-metrics" doc:"Beginnings of the names of further metrics that have a series per container, virtual machine or the like."`
}

// promqlUnboundedLabels take a value per user, request or address in any system
// that has them.
var promqlUnboundedLabels = []string{
	"user_id", "userid", "uid", "customer_id", "email", "user_agent", "useragent",
	"session_id", "sessionid", "request_id", "requestid", "correlation_id", "trace_id", "traceid", "span_id", "transaction_id", "order_id", "message_id",
	"container_id", "pod_uid", "client_ip", "remote_ip", "source_ip", "src_ip", "remote_addr", "remote_address",
	"request_path", "request_uri", "request_url", "full_path", "referer", "query_string", "sql", "stacktrace",
}

// promqlTrafficLabels do so where they tell apart what passes through: requests,
// bytes, errors. On a gauge they mostly name the objects of an inventory.
var promqlTrafficLabels = []string{
	"user", "username", "user_name", "session", "id", "uuid", "guid", "ip", "ip_address", "pod_ip", "path", "url", "uri", "query",
}

// unbounded reports whether a label of the series that n returns takes values
// without a bound.
func (o promqlCardinality) unbounded(n parser.Expr, label string) bool {
	switch {
	case slices.Contains(o.BoundedLabels, label):
		return false
	case slices.Contains(promqlUnboundedLabels, label), slices.Contains(o.HighCardinalityLabels, label):
		return true
	}
	return slices.Contains(promqlTrafficLabels, label) && promqlTraffic(n)
}

// promqlTraffic reports whether n reads a counter: by the function that takes
// it, or by its name.
func promqlTraffic(n parser.Expr) bool {
	traffic := false
	parser.Inspect(n, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.Call:
			switch n.Func.Name {
			case "rate", "irate", "increase":
				traffic = true
			}
		case *parser.VectorSelector:
			traffic = traffic || strings.HasSuffix(n.Name, "_total") || strings.HasSuffix(n.Name, "_bucket") || strings.Contains(n.Name, "request")
		}
		return nil
	})
	return traffic
}

// promqlPerObject are the beginnings of the names of metrics that tell how much
// each container or virtual machine uses of something.
var promqlPerObject = []struct{ prefix, object string }{
	{"container_cpu_", "container"},
	{"container_memory_", "container"},
	{"container_fs_", "container"},
	{"container_network_", "pod"},
	{"container_processes", "container"},
	{"container_threads", "container"},
	{"container_file_descriptors", "container"},
	{"container_sockets", "container"},
	{"kubevirt_vm_container_", "virtual machine"},
	{"kubevirt_vm_cpu_", "virtual machine"},
	{"kubevirt_vm_memory_", "virtual machine"},
	{"kubevirt_vmi_cpu_", "virtual machine"},
	{"kubevirt_vmi_vcpu_", "virtual CPU"},
	{"kubevirt_vmi_memory_", "virtual machine"},
	{"kubevirt_vmi_network_", "network interface of a virtual machine"},
	{"kubevirt_vmi_storage_", "disk of a virtual machine"},
}

// perObject returns what a metric has a series for each of, or "".
func (o promqlCardinality) perObject(metric string) string {
	for _, f := range promqlPerObject {
		if strings.HasPrefix(metric, f.prefix) {
			return f.object
		}
	}
	for _, prefix := range o.HighCardinalityMetrics {
		if prefix != "" && strings.HasPrefix(metric, prefix) {
			return "object"
		}
	}
	return ""
}

func checkPromqlCardinality(p *lint.Pass, r *rules.Rule, o promqlCardinality) {
	if r.Expr == nil || r.Expr.Root == nil {
		return
	}
	c := &promqlCost{p: p, r: r, o: o}
	r.Expr.Inspect(c.selector)
	c.result(r.Expr.Root, func(string) bool { return true })
	c.raw(r.Expr.Root)
}

// A promqlCost looks at the expression of one rule.
type promqlCost struct {
	p        *lint.Pass
	r        *rules.Rule
	o        promqlCardinality
	reported []string // labels whose grouping has been reported
}

func (c *promqlCost) report(span source.Span, severity lint.Severity, format string, args ...any) {
	c.p.Report(lint.Finding{Span: span, Severity: severity,
		Message: c.r.Object().String() + " expression may cause high cardinality: " + fmt.Sprintf(format, args...)})
}

// promqlLogFiles says of files whether their expressions are of LogQL.
type promqlLogFiles struct{ sync.Map }

// promqlOfLogs reports whether the rules of a file are for a server of logs: its
// language looks like PromQL where no pipe is used, but has no metrics to name,
// and reads ranges only.
func promqlOfLogs(p *lint.Pass, f *rules.File) bool {
	known := lint.Derive(p.Project, func(*lint.Project) *promqlLogFiles { return &promqlLogFiles{} })
	if logs, ok := known.Load(f); ok {
		return logs.(bool)
	}
	logs := true
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			if r.Expr == nil {
				continue
			}
			r.Expr.Inspect(func(n parser.Node, path []parser.Node) {
				if v, ok := n.(*parser.VectorSelector); ok {
					ranged := false
					if len(path) > 0 {
						_, ranged = path[len(path)-1].(*parser.MatrixSelector)
					}
					logs = logs && ranged && !slices.ContainsFunc(v.LabelMatchers, promqlNames)
				}
			})
		}
	}
	known.Store(f, logs)
	return logs
}

// selector reports a selector that does not say which metrics it is about.
func (c *promqlCost) selector(n parser.Node, path []parser.Node) {
	v, ok := n.(*parser.VectorSelector)
	if !ok || v.BypassEmptyMatcherCheck || slices.ContainsFunc(v.LabelMatchers, promqlNames) {
		return
	}
	var severity lint.Severity
	for _, outer := range slices.Backward(path) {
		switch outer := outer.(type) {
		case *parser.Call:
			if strings.HasPrefix(outer.Func.Name, "absent") {
				return
			}
		case *parser.AggregateExpr:
			if outer.Op == parser.COUNT || outer.Op == parser.GROUP {
				severity = lint.Info
			}
		}
	}
	if promqlOfLogs(c.p, c.r.Group.File) {
		return
	}
	what := "all series of the server"
	if slices.ContainsFunc(v.LabelMatchers, func(m *labels.Matcher) bool { return m.Name != model.MetricNameLabel && promqlNarrows(m) }) {
		what = "all series with these labels"
	}
	c.report(c.r.Expr.At(v), severity, "the selector names no metric and so reads %s at each evaluation; name the metric", what)
}

// promqlNames reports whether m says which metrics are meant.
func promqlNames(m *labels.Matcher) bool {
	if m.Name != model.MetricNameLabel || !promqlNarrows(m) {
		return false
	}
	if m.Type == labels.MatchEqual || len(m.SetMatches()) > 0 {
		return true
	}
	tree, err := syntax.Parse(m.Value, promqlRegexpFlags)
	const fewest = 3 // characters of a name that say something
	return err != nil || promqlLiteralRunes(tree) >= fewest
}

// promqlLiteralRunes counts the characters that a pattern fixes.
func promqlLiteralRunes(re *syntax.Regexp) int {
	n := len(re.Rune)
	if re.Op != syntax.OpLiteral {
		n = 0
	}
	for _, sub := range re.Sub {
		n += promqlLiteralRunes(sub)
	}
	return n
}

// promqlNarrows reports whether m selects a part of the values of its label by
// saying which, not which not.
func promqlNarrows(m *labels.Matcher) bool {
	switch m.Type {
	case labels.MatchEqual:
		return m.Value != ""
	case labels.MatchRegexp:
		tree, err := syntax.Parse(m.Value, promqlRegexpFlags)
		if err != nil {
			return true
		}
		bare := promqlRegexpBare(tree, true, true)
		return !promqlRegexpAll(bare) && !promqlRegexpSome(bare)
	}
	return false
}

// result follows the labels that reach the result of the rule; keep says which
// of them pass what encloses n.
func (c *promqlCost) result(n parser.Expr, keep func(label string) bool) {
	switch n := n.(type) {
	case *parser.ParenExpr:
		c.result(n.Expr, keep)
	case *parser.UnaryExpr:
		c.result(n.Expr, keep)
	case *parser.StepInvariantExpr:
		c.result(n.Expr, keep)
	case *parser.SubqueryExpr:
		c.result(n.Expr, keep)
	case *parser.AggregateExpr:
		c.aggregation(n, keep)
	case *parser.BinaryExpr:
		c.binary(n, keep)
	case *parser.Call:
		if strings.HasPrefix(n.Func.Name, "absent") || n.Func.ReturnType == parser.ValueTypeScalar {
			return
		}
		for _, arg := range n.Args {
			if t := arg.Type(); t == parser.ValueTypeVector || t == parser.ValueTypeMatrix {
				c.result(arg, keep)
				return
			}
		}
	}
}

func (c *promqlCost) aggregation(n *parser.AggregateExpr, keep func(label string) bool) {
	switch n.Op {
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK:
		return // bound the number of series themselves
	case parser.COUNT_VALUES:
		c.values(n, keep)
	}
	if n.Without {
		c.result(n.Expr, func(label string) bool { return keep(label) && !slices.Contains(n.Grouping, label) })
		return
	}
	made := c.made(n.Expr)
	for _, label := range n.Grouping {
		origin, ok := made[label]
		if !ok {
			origin = label
		}
		// Looked at once, whether it is reported or not.
		made[label] = ""
		if !keep(label) || slices.Contains(c.o.BoundedLabels, label) || slices.Contains(c.reported, label) || !c.o.unbounded(n.Expr, origin) || promqlPinned(n.Expr, origin) {
			continue
		}
		c.reported = append(c.reported, label)
		copied := ""
		if origin != label {
			copied = ", which holds the values of " + origin
		}
		c.report(c.r.Expr.Grouping(n, label), lint.Unset, "it groups by %s%s, so that its result grows with the values of the label; drop the label, or pin it by a matcher", promqlName(label), copied)
	}
}

// made returns the labels that label_replace and label_join set below n, each
// with the label it is a copy of; "" if it is made up of parts.
func (c *promqlCost) made(n parser.Expr) map[string]string {
	made := map[string]string{}
	parser.Inspect(n, func(n parser.Node, _ []parser.Node) error {
		call, ok := n.(*parser.Call)
		if !ok || len(call.Args) < 4 {
			return nil
		}
		label, origin := promqlString(call.Args[1]), ""
		if _, ok := made[label]; ok {
			return nil // set again further out
		}
		switch call.Func.Name {
		case "label_replace":
			switch promqlString(call.Args[4]) {
			case "(.*)", "(.+)", "^(.*)$", "^(.+)$":
				if strings.Contains(promqlString(call.Args[2]), "$1") {
					origin = promqlString(call.Args[3])
				}
			}
		case "label_join":
			for _, arg := range call.Args[3:] {
				if src := promqlString(arg); c.o.unbounded(call.Args[0], src) {
					origin = src
				}
			}
		default:
			return nil
		}
		made[label] = origin
		return nil
	})
	return made
}

func promqlString(n parser.Expr) string {
	if s, ok := promql.Unwrap(n).(*parser.StringLiteral); ok {
		return s.Val
	}
	return ""
}

// promqlPinned reports whether a selector below n allows only certain values of
// the label.
func promqlPinned(n parser.Expr, label string) bool {
	pinned := false
	parser.Inspect(n, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			for _, m := range v.LabelMatchers {
				pinned = pinned || m.Name == label && (m.Type == labels.MatchEqual || len(m.SetMatches()) > 0)
			}
		}
		return nil
	})
	return pinned
}

func (c *promqlCost) binary(n *parser.BinaryExpr, keep func(label string) bool) {
	m := n.VectorMatching
	switch {
	case m == nil: // a number on one side
		if n.LHS.Type() == parser.ValueTypeScalar {
			c.result(n.RHS, keep)
		} else {
			c.result(n.LHS, keep)
		}
	case n.Op == parser.LOR:
		c.result(n.LHS, keep)
		c.result(n.RHS, keep)
	case n.Op.IsSetOperator(), m.Card == parser.CardManyToOne:
		c.result(n.LHS, keep)
	case m.Card == parser.CardOneToMany:
		c.result(n.RHS, keep)
	default:
		// One to one: the labels are those of both sides, or those of on.
		c.result(n.LHS, func(label string) bool {
			return keep(label) && m.On == slices.Contains(m.MatchingLabels, label)
		})
	}
}

// values reports count_values over values that hardly occur twice.
func (c *promqlCost) values(n *parser.AggregateExpr, keep func(label string) bool) {
	label := promqlString(n.Param)
	what := promqlContinuous(n.Expr)
	if label == "" || what == "" || !keep(label) {
		return
	}
	c.report(c.r.Expr.At(n.Param), lint.Unset, "count_values makes a series for each value, and %s hardly has the same value twice; round it, or use a histogram", what)
}

// promqlContinuous names what makes the values of n vary continuously, or "".
func promqlContinuous(n parser.Expr) string {
	switch n := promql.Unwrap(n).(type) {
	case *parser.VectorSelector:
		for _, suffix := range []string{"_bytes", "_seconds", "_ratio", "_celsius", "_total", "_count", "_sum", "_percent"} {
			if strings.HasSuffix(n.Name, suffix) {
				return promqlName(n.Name)
			}
		}
	case *parser.Call:
		switch n.Func.Name {
		case "rate", "irate", "increase", "delta", "deriv", "predict_linear", "avg_over_time", "histogram_quantile", "quantile_over_time", "stddev_over_time":
			return n.Func.Name
		case "abs", "sort", "sort_desc", "max_over_time", "min_over_time", "last_over_time", "label_replace", "label_join":
			return promqlContinuous(n.Args[0])
		}
	case *parser.MatrixSelector:
		return promqlContinuous(n.VectorSelector)
	case *parser.AggregateExpr:
		switch n.Op {
		case parser.AVG, parser.STDDEV, parser.STDVAR, parser.QUANTILE:
			return n.Op.String()
		case parser.SUM, parser.MIN, parser.MAX:
			return promqlContinuous(n.Expr)
		}
	case *parser.BinaryExpr:
		if n.Op == parser.DIV {
			return "a quotient"
		}
	}
	return ""
}

// raw reports metrics that reach the result with a series for each container
// or the like, and buckets that reach it with every bound.
func (c *promqlCost) raw(root parser.Expr) {
	for _, v := range c.exposed(root, false) {
		object := c.o.perObject(v.Name)
		if object == "" {
			continue
		}
		becomes := "the rule records a series for each"
		if c.r.IsAlert() {
			becomes = "one cause may fire an alert for each"
		}
		c.report(c.r.Expr.Name(v), lint.Unset, "%s has a series for each %s, and nothing aggregates or narrows them, so that %s; aggregate them, as in sum by (namespace), or select by a matcher", promqlName(v.Name), object, becomes)
		break // the others are operands of the same comparison
	}
	for _, v := range promqlBuckets(root) {
		c.report(c.r.Expr.Name(v), lint.Unset, "the buckets of %s reach the result, a series for each bound; take histogram_quantile, aggregate them, or select one by le", promqlName(v.Name))
	}
}

// exposed returns the selectors whose series all reach the result, each as one:
// without a matcher that selects some, an aggregation or a join. The operands
// of arithmetic narrow each other. In a quotient a matcher of any kind shows
// that the series were chosen: a share of its own limit means the same for each.
func (c *promqlCost) exposed(n parser.Expr, quotient bool) []*parser.VectorSelector {
	switch n := promql.Unwrap(n).(type) {
	case *parser.VectorSelector:
		for _, m := range n.LabelMatchers {
			if m.Name != model.MetricNameLabel && (quotient || promqlNarrows(m)) {
				return nil
			}
		}
		if n.Name != "" && n.Timestamp == nil && n.StartOrEnd == 0 {
			return []*parser.VectorSelector{n}
		}
	case *parser.MatrixSelector:
		return c.exposed(n.VectorSelector, quotient)
	case *parser.SubqueryExpr:
		return c.exposed(n.Expr, quotient)
	case *parser.UnaryExpr:
		return c.exposed(n.Expr, quotient)
	case *parser.Call:
		if strings.HasPrefix(n.Func.Name, "absent") || n.Func.ReturnType == parser.ValueTypeScalar {
			return nil
		}
		for _, arg := range n.Args {
			if t := arg.Type(); t == parser.ValueTypeVector || t == parser.ValueTypeMatrix {
				return c.exposed(arg, quotient)
			}
		}
	case *parser.BinaryExpr:
		return c.exposedOperands(n, quotient || n.Op == parser.DIV)
	}
	return nil
}

func (c *promqlCost) exposedOperands(n *parser.BinaryExpr, quotient bool) []*parser.VectorSelector {
	m := n.VectorMatching
	if m == nil {
		if n.LHS.Type() == parser.ValueTypeScalar {
			return c.exposed(n.RHS, quotient)
		}
		return c.exposed(n.LHS, quotient)
	}
	lhs, rhs := c.exposed(n.LHS, quotient), c.exposed(n.RHS, quotient)
	switch {
	case n.Op == parser.LOR:
		return slices.Concat(lhs, rhs)
	case n.Op == parser.LUNLESS, m.On, len(m.MatchingLabels) > 0, len(lhs) == 0, len(rhs) == 0:
		return nil
	}
	return slices.Concat(lhs, rhs)
}

// promqlBuckets returns the selectors of histogram buckets that reach the
// result with all their bounds.
func promqlBuckets(n parser.Expr) []*parser.VectorSelector {
	switch n := promql.Unwrap(n).(type) {
	case *parser.VectorSelector:
		le := func(m *labels.Matcher) bool { return m.Name == labels.BucketLabel }
		if strings.HasSuffix(n.Name, "_bucket") && !slices.ContainsFunc(n.LabelMatchers, le) {
			return []*parser.VectorSelector{n}
		}
	case *parser.MatrixSelector:
		return promqlBuckets(n.VectorSelector)
	case *parser.SubqueryExpr:
		return promqlBuckets(n.Expr)
	case *parser.UnaryExpr:
		return promqlBuckets(n.Expr)
	case *parser.Call:
		if strings.HasPrefix(n.Func.Name, "absent") || strings.HasPrefix(n.Func.Name, "histogram_") || n.Func.ReturnType == parser.ValueTypeScalar {
			return nil
		}
		for _, arg := range n.Args {
			if t := arg.Type(); t == parser.ValueTypeVector || t == parser.ValueTypeMatrix {
				return promqlBuckets(arg)
			}
		}
	case *parser.BinaryExpr:
		m := n.VectorMatching
		switch {
		case m == nil && n.LHS.Type() == parser.ValueTypeScalar:
			return promqlBuckets(n.RHS)
		case m == nil:
			return promqlBuckets(n.LHS)
		case n.Op == parser.LOR:
			return slices.Concat(promqlBuckets(n.LHS), promqlBuckets(n.RHS))
		case m.Card == parser.CardOneToMany:
			return promqlBuckets(n.RHS)
		case m.Card == parser.CardOneToOne && m.On && !slices.Contains(m.MatchingLabels, labels.BucketLabel):
			return nil
		}
		return promqlBuckets(n.LHS)
	}
	return nil
}
