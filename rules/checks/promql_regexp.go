// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/strutil"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "promql/regexp",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "regular expression in a matcher that is none, is not needed, or does not say what was meant",
		Why: `Prometheus matches a regular expression against the whole value of a label, as if it stood between ^ and $. So status=~"5" selects the status 5 and none of 500 to 599, and namespace=~"kube-*" selects kube- and kube-- but not kube-system: the star of a shell is .* here. A matcher without any wildcard compares with one value, and = says so. The other way round = takes no regular expression: job="api|web" selects nothing.

A regular expression that matches every value is an information, since it does nothing: =~".*" selects series without the label too, =~".+" only those with it. !~".*" selects nothing at all, which is an error, unless the same alert has the opposite matcher as well: then both are halves of a choice that was made by a parameter.

Further information: anchors at the ends, which are there already; dots of a host name that match any character; an alternative that was left empty at the end of a list and selects series without the label; (?i) in front of fixed values, which makes Prometheus try each value of the label instead of looking these up.

Values with placeholders, such as the variables of a dashboard, are left alone.`,
		Bad: `groups:
- name: web
  rules:
  - alert: Errors
    expr: sum by (job) (rate(http_requests_total{code=~"5"}[5m])) > 1
    for: 5m
`,
		Good: `groups:
- name: web
  rules:
  - alert: Errors
    expr: sum by (job) (rate(http_requests_total{code=~"5.."}[5m])) > 1
    for: 5m
`,
		TurnOff: "The rules are generated from a mixin of others that puts fixed values into matchers for regular expressions.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/prometheus/latest/querying/basics/#time-series-selectors",
			"https://github.com/google/re2/wiki/Syntax",
		},
	},
	Run: lint.On(checkPromqlRegexp),
})

func checkPromqlRegexp(p *lint.Pass, e *promql.Expr) {
	e.Inspect(func(n parser.Node, _ []parser.Node) {
		v, ok := n.(*parser.VectorSelector)
		if !ok || len(v.LabelMatchers) > promqlMostMatchers || !slices.ContainsFunc(v.LabelMatchers, promqlRegexpConcerns) {
			return
		}
		written := e.Matchers(v)
		for i, m := range written {
			if !promqlRegexpConcerns(m.Matcher) {
				continue
			}
			c := promqlRegexp{p, m}
			if m.Type == labels.MatchEqual || m.Type == labels.MatchNotEqual {
				c.text()
			} else {
				c.pattern(written, i)
			}
		}
	})
}

// promqlMostMatchers bounds the selectors whose matchers are compared with each
// other; those that people write have ten at the most.
const promqlMostMatchers = 200

// promqlRegexpConcerns reports whether there may be something to say of m. Most
// matchers are done with here, without a look at how they are written.
func promqlRegexpConcerns(m *labels.Matcher) bool {
	switch m.Type {
	case labels.MatchRegexp, labels.MatchNotRegexp:
		return promqlRegexpMarks.MatchString(m.Value) && !promqlUnrendered(m.Value)
	default:
		return promqlRegexpText(m) && !promqlUnrendered(m.Value)
	}
}

// promqlRegexpMarks matches each regular expression that is reported, and few
// others: fixed values, wildcards alone, brackets, escapes and anchors, a star
// after a character, a dot between two, a bar at the end.
var promqlRegexpMarks = regexp.MustCompile(`^[^.+*?|]*$|(?:^|\|)\.[*+]|[(\[\\^$]|[\w:-]\*|[\w-]\.[\w-]|\|$`)

// promqlPlaceholder finds the variables of dashboards and of programs that
// render rules: $name, ${name}, [[name]], {{ name }}, %(name)s, @NAME@. As a
// regular expression a $ in front of more could match nothing.
var promqlPlaceholder = regexp.MustCompile(`\$[A-Za-z_{]|\[\[ ?[A-Za-z_.]+ ?\]\]|\{\{|<%|%\(\w+\)s|@[A-Z_]+@`)

func promqlUnrendered(value string) bool {
	return strings.ContainsAny(value, "$[{<%@") && promqlPlaceholder.MatchString(value)
}

// A promqlRegexp looks at one matcher.
type promqlRegexp struct {
	p *lint.Pass
	m promql.Matcher
}

func (c promqlRegexp) report(f lint.Finding, format string, args ...any) {
	f.Message = strings.TrimSpace(c.p.Object().String() + " matcher " + promqlShown(c.m.Matcher) + " " + fmt.Sprintf(format, args...))
	c.p.Report(f)
}

// pattern looks at the i-th of the written matchers, a regular expression.
func (c promqlRegexp) pattern(written []promql.Matcher, i int) {
	tree, err := syntax.Parse(c.m.Matcher.Value, promqlRegexpFlags)
	if err != nil || strings.Contains(c.m.Matcher.Value, "()") {
		return // the empty group is how generators keep a matcher a regular expression
	}
	bare := promqlRegexpBare(tree, true, true)
	if literal, ok := promqlRegexpLiteral(bare); ok {
		c.unneeded(literal)
		return
	}
	if promqlRegexpAll(bare) {
		c.all(written, i)
		return
	}
	c.glob(bare)
	c.anchors()
	c.host()
	c.folded(bare)
	c.open()
}

// promqlRegexpFlags are those that Prometheus parses with.
const promqlRegexpFlags = syntax.Perl | syntax.DotNL

// unneeded reports a regular expression that matches one value.
func (c promqlRegexp) unneeded(literal string) {
	plain := &labels.Matcher{Type: labels.MatchEqual, Name: c.m.Matcher.Name, Value: literal}
	if c.m.Type == labels.MatchNotRegexp {
		plain.Type = labels.MatchNotEqual
	}
	shown := promqlShown(plain)
	f := lint.Finding{Span: c.m.Op}
	write := lint.Replace(c.m.Op, plain.Type.String(), "write "+shown, true)
	fixable := c.m.Op.Text() == c.m.Type.String()
	if literal != c.m.Matcher.Value {
		f.Span = c.m.Op.Union(c.m.Value)
		value, ok := promqlQuoted(c.m, literal)
		write.Edits = append(write.Edits, lint.Edit{Span: c.m.Value, New: value})
		fixable = fixable && ok
	}
	if fixable {
		f.Fixes = []lint.Fix{write}
	}
	switch class := promqlRegexpClass(c.m.Matcher.Name, literal); {
	case literal == "":
		c.report(f, "is a regular expression for the empty value: write %s", shown)
	case class != "":
		if value, ok := promqlQuoted(c.m, class); ok {
			f.Fixes = append([]lint.Fix{lint.Replace(c.m.Value, value, "match the whole class with "+class, false)}, f.Fixes...)
		}
		c.report(f, "matches only the value %q, since Prometheus anchors regular expressions: write %q for the whole class, or %s", literal, class, shown)
	default:
		c.report(f, "has no wildcard and is matched against the whole value, so it means %s: write that, or add the wildcard", shown)
	}
}

// promqlRegexpClass returns the pattern for a class of HTTP status codes that
// was written as a single digit, or "".
func promqlRegexpClass(label, literal string) string {
	if len(literal) == 1 && literal[0] >= '1' && literal[0] <= '5' && (strings.Contains(label, "status") || strings.Contains(label, "code")) {
		return literal + ".."
	}
	return ""
}

// all reports the i-th of the written matchers, which matches every value.
func (c promqlRegexp) all(written []promql.Matcher, i int) {
	f := lint.Finding{Span: c.m.Value, Severity: lint.Info}
	name := c.m.Matcher.Name
	if c.m.Type == labels.MatchRegexp {
		f.Fixes = []lint.Fix{promqlWithout(written, i)}
		present := &labels.Matcher{Type: labels.MatchNotEqual, Name: name}
		c.report(f, "matches every series, those without the label too: leave it out, or write %s if the label must be there", present)
		return
	}
	if !lint.Derive(c.p.Project, promqlRegexpChoices)[promqlRegexpChoice{f.Span.File.Path, c.p.Object(), name, c.m.Matcher.Value}] {
		f.Severity = lint.Error
	}
	absent := &labels.Matcher{Type: labels.MatchEqual, Name: name}
	c.report(f, "matches no series at all, not even those without the label: write %s for these, or another pattern", absent)
}

// promqlRegexpChoice says that an alert has a matcher which matches all.
type promqlRegexpChoice struct {
	path         string
	object       lint.Object
	label, value string
}

func promqlRegexpChoices(project *lint.Project) map[promqlRegexpChoice]bool {
	choices := map[promqlRegexpChoice]bool{}
	for r := range lint.All[*rules.Rule](project) {
		if r.Expr == nil {
			continue
		}
		r.Expr.Inspect(func(n parser.Node, _ []parser.Node) {
			if v, ok := n.(*parser.VectorSelector); ok {
				for _, m := range v.LabelMatchers {
					if m.Type == labels.MatchRegexp && promqlMatchesAll(m) {
						choices[promqlRegexpChoice{r.Place().File.Path, r.Object(), m.Name, m.Value}] = true
					}
				}
			}
		})
	}
	return choices
}

// promqlMatchesAll reports whether the regular expression of a matcher matches
// every value.
func promqlMatchesAll(m *labels.Matcher) bool {
	if !strings.Contains(m.Value, "*") && !strings.Contains(m.Value, "+") {
		return false
	}
	tree, err := syntax.Parse(m.Value, promqlRegexpFlags)
	return err == nil && promqlRegexpAll(promqlRegexpBare(tree, true, true))
}

// glob reports the star of a shell pattern: one that repeats a mark between
// words, or the last character of a word.
func (c promqlRegexp) glob(bare *syntax.Regexp) {
	mark := promqlRegexpGlob(bare)
	if bare.Op == syntax.OpStar && bare.Sub[0].Op == syntax.OpLiteral {
		if digit := string(bare.Sub[0].Rune); promqlRegexpClass(c.m.Matcher.Name, digit) != "" {
			mark = digit
		}
	}
	if mark == "" {
		return
	}
	f := lint.Finding{Span: c.m.Value}
	if text := c.m.Value.Text(); strings.Count(text, mark+"*") == 1 {
		f.Fixes = []lint.Fix{lint.Replace(c.m.Value, strings.Replace(text, mark+"*", mark+".*", 1), "write "+mark+".*", false)}
	}
	c.report(f, "has the star of a shell pattern: here %s* matches any number of %q and nothing else; write %s.*", mark, mark, mark)
}

// promqlRegexpGlob returns the character that a star repeats after other text,
// unless a wildcard follows, which makes up for it. A star after an s may be
// meant: https*.
func promqlRegexpGlob(re *syntax.Regexp) string {
	for i, sub := range re.Sub {
		if re.Op == syntax.OpConcat && i > 0 && sub.Op == syntax.OpStar && sub.Sub[0].Op == syntax.OpLiteral {
			mark := string(sub.Sub[0].Rune)
			last := i+1 == len(re.Sub)
			between := (last || re.Sub[i+1].Op == syntax.OpLiteral) && (mark == "-" || mark == "_" || mark == ":")
			word := last && re.Sub[i-1].Op == syntax.OpLiteral && promqlRegexpLetter.MatchString(mark)
			if between || word {
				return mark
			}
		}
		if mark := promqlRegexpGlob(sub); mark != "" {
			return mark
		}
	}
	return ""
}

var promqlRegexpLetter = regexp.MustCompile(`^[A-Za-rt-z0-9]$`)

// anchors reports ^ and $ where the value begins and ends anyway.
func (c promqlRegexp) anchors() {
	value := c.m.Matcher.Value
	short := promqlRegexpUnanchored(value)
	if short == value || promqlRegexpCanonical(short) != promqlRegexpCanonical(value) {
		return
	}
	f := lint.Finding{Span: c.m.Value, Severity: lint.Info}
	if text, ok := promqlQuoted(c.m, short); ok {
		f.Fixes = []lint.Fix{lint.Replace(c.m.Value, text, "drop the anchors", true)}
	}
	c.report(f, "has anchors that Prometheus adds anyway: write %q", promqlShortened(short))
}

// promqlRegexpUnanchored drops the anchors at the ends of alternatives.
func promqlRegexpUnanchored(value string) string {
	var b strings.Builder
	class, first := false, true // first: at the beginning of an alternative
	for i := 0; i < len(value); i++ {
		ch := value[i]
		last := i+1 == len(value) || value[i+1] == '|' || value[i+1] == ')'
		switch {
		case ch == '\\' && i+1 < len(value):
			b.WriteByte(ch)
			i++
			ch = value[i]
		case class:
			class = ch != ']'
		case ch == '[':
			class = true
		case ch == '^' && first, ch == '$' && last:
			continue
		}
		b.WriteByte(ch)
		first = !class && (ch == '|' || ch == '(') && (i == 0 || value[i-1] != '\\')
	}
	return b.String()
}

// host reports a host name or an address whose dots match any character.
func (c promqlRegexp) host() {
	for alternative := range strings.SplitSeq(strings.Trim(c.m.Matcher.Value, "^$()"), "|") {
		m := promqlRegexpHost.FindStringSubmatch(alternative)
		if m == nil || strings.Count(m[1], ".") == strings.Count(m[1], `\.`) {
			continue
		}
		dots := strings.ReplaceAll(strings.ReplaceAll(m[1], `\.`, "."), ".", `\.`)
		f := lint.Finding{Span: c.m.Value, Severity: lint.Info}
		c.report(f, "has dots in %s that match any character: escape them as in %q", promqlShortened(m[1]), promqlShortened(dots))
		return
	}
}

// promqlRegexpHost matches what evidently is a host name or an IPv4 address,
// with or without a wildcard in front and a port behind.
var promqlRegexpHost = regexp.MustCompile(`^(?:\.[*+](?:\\\.)?)?((?:[A-Za-z0-9-]+\\?\.)+(?:com|org|net|io|dev|cloud|gov|edu|uk|de|eu|local|internal|svc|lan|corp)|\d{1,3}\\?\.\d{1,3}\\?\.\d{1,3}\\?\.\d{1,3})(?::[0-9]+|:\.[*+])?$`)

// folded reports a flag that keeps Prometheus from looking fixed values up.
func (c promqlRegexp) folded(bare *syntax.Regexp) {
	fixed := bare.Op == syntax.OpLiteral
	if bare.Op == syntax.OpAlternate {
		fixed = !slices.ContainsFunc(bare.Sub, func(sub *syntax.Regexp) bool { return sub.Op != syntax.OpLiteral })
	}
	if fixed && strings.Contains(c.m.Matcher.Value, "(?i") {
		c.report(lint.Finding{Span: c.m.Value, Severity: lint.Info}, "ignores case, so that each value of the label is tried, where fixed values are looked up: write the values as they are spelled")
	}
}

// open reports a list of alternatives that ends in a bar.
func (c promqlRegexp) open() {
	list, ok := strings.CutSuffix(c.m.Matcher.Value, "|")
	if !ok || !promqlRegexpWords.MatchString(list) {
		return
	}
	what := "selects series without the label too"
	if c.m.Type == labels.MatchNotRegexp {
		what = "leaves out series without the label too"
	}
	c.report(lint.Finding{Span: c.m.Value, Severity: lint.Info}, "ends in an empty alternative and so %s: drop the last bar, or write (|%s) if that is meant", what, promqlShortened(list))
}

// promqlRegexpWords matches two or more fixed values.
var promqlRegexpWords = regexp.MustCompile(`^[\w./:-]+(?:\|[\w./:-]+)+$`)

// text reports an equality matcher whose value is written as a pattern.
func (c promqlRegexp) text() {
	pattern := &labels.Matcher{Type: labels.MatchRegexp, Name: c.m.Matcher.Name, Value: c.m.Matcher.Value}
	selects := "nothing but series whose label has just this text"
	if c.m.Type == labels.MatchNotEqual {
		pattern.Type = labels.MatchNotRegexp
		selects = "all but series whose label has just this text"
	}
	f := lint.Finding{Span: c.m.Op}
	if c.m.Op.Text() == c.m.Type.String() {
		f.Fixes = []lint.Fix{lint.Replace(c.m.Op, pattern.Type.String(), "write "+promqlShown(pattern), false)}
	}
	c.report(f, "takes no regular expression, and selects %s: write %s", selects, promqlShown(pattern))
}

// promqlRegexpText reports whether the value of an equality matcher is evidently
// meant as a regular expression. Values of labels that hold paths and patterns
// may look like one.
func promqlRegexpText(m *labels.Matcher) bool {
	if !strings.ContainsAny(m.Value, "*+|[\\.") || strings.ContainsAny(m.Value, "/ ^{") && !promqlRegexpWords.MatchString(m.Value) {
		return false
	}
	for _, word := range []string{"path", "route", "uri", "url", "handler", "pattern", "regex", "query", "expr", "glob", "mask"} {
		if strings.Contains(strings.ToLower(m.Name), word) {
			return false
		}
	}
	if !promqlRegexpWritten.MatchString(m.Value) && !promqlRegexpWords.MatchString(m.Value) {
		return false
	}
	_, err := syntax.Parse(m.Value, promqlRegexpFlags)
	return err == nil
}

// promqlRegexpWritten matches text that has .* or .+ next to a word, a class of
// digits or letters, or the wildcard for HTTP status codes.
var promqlRegexpWritten = regexp.MustCompile(`^[\w:.()|-]*[\w:)-]\.[*+]|^\.[*+][\w:(-]|^\.[*+]$|\[[0-9a-zA-Z]-[0-9a-zA-Z]\]|\\d|^[1-5]\.\.$`)

// promqlRegexpBare returns the tree without groups, and without anchors where
// the value begins (first) and ends (last) anyway.
func promqlRegexpBare(re *syntax.Regexp, first, last bool) *syntax.Regexp {
	empty := &syntax.Regexp{Op: syntax.OpEmptyMatch}
	switch re.Op {
	case syntax.OpBeginText:
		if first {
			return empty
		}
	case syntax.OpEndText:
		if last {
			return empty
		}
	case syntax.OpCapture:
		return promqlRegexpBare(re.Sub[0], first, last)
	case syntax.OpAlternate:
		out := &syntax.Regexp{Op: syntax.OpAlternate, Flags: re.Flags}
		for _, sub := range re.Sub {
			out.Sub = append(out.Sub, promqlRegexpBare(sub, first, last))
		}
		return out
	case syntax.OpConcat:
		subs := slices.Clone(re.Sub)
		for first && len(subs) > 0 && subs[0].Op == syntax.OpBeginText {
			subs = subs[1:]
		}
		for last && len(subs) > 0 && subs[len(subs)-1].Op == syntax.OpEndText {
			subs = subs[:len(subs)-1]
		}
		if len(subs) == 0 {
			return empty
		}
		for i, sub := range subs {
			subs[i] = promqlRegexpBare(sub, first && i == 0, last && i == len(subs)-1)
		}
		if len(subs) == 1 {
			return subs[0]
		}
		return &syntax.Regexp{Op: syntax.OpConcat, Flags: re.Flags, Sub: subs}
	}
	return re
}

// promqlRegexpCanonical returns a spelling that is the same for expressions
// that differ in groups and in anchors at the ends only.
func promqlRegexpCanonical(value string) string {
	for range 2 { // the second time sees what the parser makes of the bare one
		tree, err := syntax.Parse(value, promqlRegexpFlags)
		if err != nil {
			return ""
		}
		value = promqlRegexpBare(tree, true, true).String()
	}
	return value
}

// promqlRegexpLiteral returns the one value that a bare tree matches, if so.
func promqlRegexpLiteral(re *syntax.Regexp) (string, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return "", true
	case syntax.OpLiteral:
		return string(re.Rune), re.Flags&syntax.FoldCase == 0
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			literal, ok := promqlRegexpLiteral(sub)
			if !ok {
				return "", false
			}
			b.WriteString(literal)
		}
		return b.String(), true
	}
	return "", false
}

// promqlRegexpAll reports whether a bare tree matches every value.
func promqlRegexpAll(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar:
		return re.Sub[0].Op == syntax.OpAnyChar
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !promqlRegexpAll(sub) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, promqlRegexpAll) ||
			slices.ContainsFunc(re.Sub, promqlRegexpSome) && slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return sub.Op == syntax.OpEmptyMatch })
	case syntax.OpQuest:
		return promqlRegexpAll(re.Sub[0]) || promqlRegexpSome(re.Sub[0])
	}
	return false
}

// promqlRegexpSome reports whether a bare tree matches every value but the empty one.
func promqlRegexpSome(re *syntax.Regexp) bool {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	return re.Op == syntax.OpPlus && re.Sub[0].Op == syntax.OpAnyChar
}

// promqlShown returns a matcher as messages show it: a value may be as long as
// its author likes.
func promqlShown(m *labels.Matcher) string {
	return (&labels.Matcher{Type: m.Type, Name: m.Name, Value: promqlShortened(m.Value)}).String()
}

// promqlName returns the name of a metric or label as messages show it.
func promqlName(name string) string {
	if model.LegacyValidation.IsValidMetricName(name) {
		return promqlShortened(name)
	}
	return strconv.Quote(promqlShortened(name))
}

func promqlShortened(text string) string {
	const most = 100 // characters
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}

// promqlQuoted returns value between the quotes that the value of m has in the
// file, and whether it can be written there: whether what stands there is what
// the expression has, with no quoting around it.
func promqlQuoted(m promql.Matcher, value string) (string, bool) {
	written := m.Value.Text()
	if unquoted, err := strutil.Unquote(written); err != nil || unquoted != m.Matcher.Value || !utf8.ValidString(value) {
		return "", false
	}
	if strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", false
	}
	quote := written[:1]
	switch {
	case quote == "`":
		return quote + value + quote, !strings.Contains(value, quote)
	case strings.Contains(value, `\`) && !strings.Contains(written, `\`):
		return "", false
	}
	return quote + strings.NewReplacer(`\`, `\\`, quote, `\`+quote).Replace(value) + quote, true
}

// promqlWithout returns the fix that drops the i-th of the written matchers
// with its comma.
func promqlWithout(written []promql.Matcher, i int) lint.Fix {
	drop := written[i].Span
	switch {
	case i+1 < len(written):
		drop.End = written[i+1].Span.Start
	case i > 0:
		drop.Start = written[i-1].Span.End
	}
	return lint.Replace(drop, "", "drop the matcher", true)
}
