// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/label-replace",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "label_replace that sets nothing, deletes the label, or fails",
		Why: `A reference to a group that the regular expression does not have ($2 of one group) stands for nothing, and a label that is set to nothing is deleted. $1x is such a reference too: it reads the group called "1x", where ${1}x was meant. Nothing says so at run time; the label is just not there.

The regular expression must match the whole value of the source label. Where the matchers of the selector, or an aggregation, leave no value that it matches, the label is never set.

A regular expression that does not compile, and a name that no label can have, are found out only when the rule is evaluated, which then fails.`,
		Bad: `groups:
- name: nodes
  rules:
  - record: node:load:max
    expr: max by (node) (label_replace(node_load1, "node", "$1x", "instance", "(.+):.*"))
`,
		Good: `groups:
- name: nodes
  rules:
  - record: node:load:max
    expr: max by (node) (label_replace(node_load1, "node", "${1}x", "instance", "(.+):.*"))
`,
		TurnOff: "Never; suppress a single finding where a label is to be deleted.",
		Since:   "v0.1.0",
		Refs:    []string{"https://prometheus.io/docs/prometheus/latest/querying/functions/#label_replace", "https://pkg.go.dev/regexp#Regexp.Expand"},
	},
	Run: lint.On(checkPromqlLabelReplace),
})

func checkPromqlLabelReplace(p *lint.Pass, r *rules.Rule) {
	if r.Expr == nil {
		return
	}
	var parts *promql.Parts
	r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
		if call, ok := n.(*parser.Call); ok && call.Func.Name == "label_replace" {
			if parts == nil {
				parts = rules.Analyse(p.Project).Parts(r.Expr)
			}
			promqlLabelReplaceCall(p, r.Expr, parts, call)
		}
	})
}

func promqlLabelReplaceCall(p *lint.Pass, e *promql.Expr, parts *promql.Parts, call *parser.Call) {
	var args [5]string
	for i := 1; i < 5; i++ {
		s, ok := promql.Unwrap(call.Args[i]).(*parser.StringLiteral)
		if !ok || i != 2 && promqlUnrendered(s.Val) {
			return
		}
		args[i] = s.Val
	}
	dst, replacement, src, pattern := args[1], args[2], args[3], args[4]
	if dst == "" {
		p.Reportf(e.At(call.Args[1]), "%s", promqlSelectorMessage(p, "label_replace sets a label without a name: each evaluation fails; name the label"))
		return
	}
	re, err := regexp.Compile("^(?s:" + pattern + ")$")
	if err != nil {
		p.Reportf(e.At(call.Args[4]), "%s", promqlSelectorMessage(p, "regular expression %q of label_replace does not compile (%s): each evaluation fails", pattern, promqlLabelReplaceError(pattern)))
		return
	}
	missing := false
	for _, name := range promqlReferences(replacement) {
		if promqlHasGroup(re, name) {
			continue
		}
		promqlLabelReplaceGroup(p, e, call, re, dst, replacement, name)
		missing = true
		break
	}
	if !missing {
		promqlLabelReplaceNever(p, e, parts, call, re, dst, src, replacement)
	}
}

// promqlLabelReplaceError says why a pattern does not compile.
func promqlLabelReplaceError(pattern string) string {
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		if e, ok := errors.AsType[*syntax.Error](err); ok {
			return e.Code.String()
		}
	}
	return "its brackets do not pair"
}

// promqlReference matches what Prometheus puts in for a group; the longest name
// is taken, so $1x is the group 1x.
var promqlReference = regexp.MustCompile(`\$(?:\$|(\w+)|\{(\w+)\})`)

// promqlReferences returns the groups that a replacement refers to.
func promqlReferences(replacement string) []string {
	var names []string
	for _, m := range promqlReference.FindAllStringSubmatch(replacement, -1) {
		if name := m[1] + m[2]; name != "" {
			names = append(names, name)
		}
	}
	return names
}

func promqlHasGroup(re *regexp.Regexp, name string) bool {
	if n, err := strconv.Atoi(name); err == nil {
		return n <= re.NumSubexp()
	}
	return slices.Contains(re.SubexpNames(), name)
}

// promqlLabelReplaceGroup reports a reference to a group that there is not.
func promqlLabelReplaceGroup(p *lint.Pass, e *promql.Expr, call *parser.Call, re *regexp.Regexp, dst, replacement, name string) {
	f := lint.Finding{Span: e.At(call.Args[2])}
	effect := fmt.Sprintf("so that nothing stands in its place in the label %s", dst)
	if rest := promqlReference.ReplaceAllString(replacement, ""); rest == "" && len(promqlReferences(replacement)) == 1 {
		effect = fmt.Sprintf("so that the label %s is deleted", dst)
	}
	has := "has no group"
	switch n := re.NumSubexp(); {
	case strings.Trim(name, "0123456789") != "":
		has = fmt.Sprintf("has no group called %q", name)
	case n == 1:
		has = "has one group"
	case n > 1:
		has = fmt.Sprintf("has %d groups", n)
	}
	written := "$" + name
	if !strings.Contains(replacement, written) {
		written = "${" + name + "}"
	}
	digits := name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
	remedy := "put what is meant between parentheses in the regular expression"
	if len(digits) > 0 && len(digits) < len(name) && written[1] != '{' {
		meant := "${" + digits + "}" + name[len(digits):]
		remedy = "write " + meant
		if text := f.Span.Text(); strings.Count(text, written) == 1 {
			f.Fixes = []lint.Fix{lint.Replace(f.Span, strings.Replace(text, written, meant, 1), remedy, false)}
		}
	}
	f.Message = promqlSelectorMessage(p, "label_replace reads %s, and its regular expression %s, %s; %s", written, has, effect, remedy)
	f.Related = []lint.Related{{Span: e.At(call.Args[4]), Message: "the regular expression is here"}}
	p.Report(f)
}

// promqlLabelReplaceNever reports a regular expression that matches none of the
// values that the source label can have, or whose match gives nothing.
func promqlLabelReplaceNever(p *lint.Pass, e *promql.Expr, parts *promql.Parts, call *parser.Call, re *regexp.Regexp, dst, src, replacement string) {
	values, why, absent := []string{""}, parser.Node(nil), true
	if src != "" {
		flow := parts.Flow(call.Args[0])
		if len(flow.Branches) == 0 {
			return
		}
		fact := flow.Label(src)
		switch {
		case fact.Presence == promql.Impossible:
			why = fact.Why
		case fact.Presence == promql.Guaranteed && fact.Values != nil:
			values, absent = fact.Values, false
		default:
			return
		}
	}
	for _, value := range values {
		m := re.FindStringSubmatchIndex(value)
		if m != nil && (replacement == "" || len(re.ExpandString(nil, replacement, value, m)) > 0) {
			return
		}
	}
	f := lint.Finding{Span: e.At(call.Args[4])}
	switch {
	case !absent:
		f.Message = promqlSelectorMessage(p, "label_replace never sets the label %s: its regular expression matches no value that the matchers leave for %s (%s)", dst, src, promqlValues(promql.Fact{Values: values}))
	case src == "":
		f.Message = promqlSelectorMessage(p, "label_replace never sets the label %s: it has no source label, and its regular expression does not match the empty value; name the source label", dst)
	default:
		f.Span = e.At(call.Args[3])
		dropped := ""
		if why != nil {
			dropped = fmt.Sprintf(" (%s drops it)", promqlAt(e, why))
			f.Related = []lint.Related{{Span: e.At(why), Message: fmt.Sprintf("%s is dropped here", src)}}
		}
		f.Message = promqlSelectorMessage(p, "label_replace never sets the label %s: its source label %s is not there%s; keep %s, or replace before it is dropped", dst, src, dropped, src)
	}
	p.Report(f)
}
