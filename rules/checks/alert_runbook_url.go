// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
	"unicode"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
)

var _ = add(lint.Check{
	ID:       "alert/runbook-url",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "alert without a usable link to its runbook",
		Why: `Whoever is woken up by the alert follows runbook_url. Consoles and notification templates print it as a link, and nobody finds out that it leads nowhere until the alert fires.

Reported as errors are a value that is not an absolute http or https URL, one that is evidently still to be filled in, characters that end the link where it is printed, and credentials, which every receiver of the notification gets to see. A link that is missing is only a warning unless the severity of the check is configured.

The value under another name of the annotation counts as the link, and is looked at if it is a URL; the other name is an information, since consoles look for runbook_url. Of a templated URL only the parts that are literal are judged. Placeholders of other programs ([[ ]], ${ }, %( ), { }) are not.`,
		Bad: `groups:
- name: vm
  rules:
  - alert: VMPending
    expr: kubevirt_vmi_phase_count{phase="pending"} > 0
    for: 15m
    annotations:
      runbook_url: wiki/VMPending
`,
		Good: `groups:
- name: vm
  rules:
  - alert: VMPending
    expr: kubevirt_vmi_phase_count{phase="pending"} > 0
    for: 15m
    annotations:
      runbook_url: https://kubevirt.io/monitoring/runbooks/VMPending
`,
		TurnOff: "Runbooks are found by something else than a link, such as the name of the alert. Where only some alerts need one, set required.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://github.com/openshift/enhancements/blob/master/enhancements/monitoring/alerting-consistency.md",
			"https://www.rfc-editor.org/rfc/rfc3986",
			"https://www.rfc-editor.org/rfc/rfc2606",
		},
	},
	Run: lint.With(alertRunbookURL{
		Annotation: "runbook_url",
		Aliases:    []string{"runbook", "runbookurl", "runbook-url", "runbook_uri"},
		Required:   []string{"*"},
		Exempt:     []string{"info", "none"},
	}, checkAlertRunbookURL),
})

type alertRunbookURL struct {
	Annotation string   `yaml:"annotation" doc:"Name of the annotation that holds the URL."`
	Aliases    []string `yaml:"aliases" doc:"Other names of the annotation, in upper or lower case, that count as well."`
	Required   []string `yaml:"required" doc:"Severities whose alerts must have a runbook; * stands for all that are not exempt."`
	Exempt     []string `yaml:"exempt" doc:"Severities whose alerts need no runbook unless required names them."`
	Pattern    string   `yaml:"pattern" doc:"Regular expression that the URL must match; empty matches all."`
}

// Validate reports options that make no sense.
func (o alertRunbookURL) Validate() error {
	if o.Annotation == "" {
		return errors.New("annotation is empty")
	}
	return alertPatternError("pattern", o.Pattern)
}

func checkAlertRunbookURL(p *lint.Pass, r *rules.Rule, o alertRunbookURL) {
	if !r.IsAlert() {
		return
	}
	e, written := r.Annotation(o.Annotation)
	if written && strings.TrimSpace(e.Value.Value) != "" {
		o.value(p, r, e)
		return
	}
	if alias, ok := o.alias(r); ok && !written {
		f := lint.Finding{Span: alias.Key.All(), Severity: lint.Info,
			Message: fmt.Sprintf("%s has its runbook under '%s': name the annotation '%s', where consoles and notifications look for the link", r.Object(), alias.Key.Value, o.Annotation)}
		isURL := strings.Contains(alias.Value.Value, "://")
		if s, exact := alias.Key.Exact(0, len(alias.Key.Value)); exact && isURL {
			f.Fixes = []lint.Fix{lint.Replace(s, o.Annotation, "rename it to "+o.Annotation, false)}
		}
		p.Report(f)
		if isURL {
			o.value(p, r, alias)
		}
		return
	}
	if !o.required(r) {
		return
	}
	f := lint.Finding{Span: r.Place(), Severity: lint.Warning,
		Message: fmt.Sprintf("%s missing required annotation '%s'", r.Object(), o.Annotation)}
	if written {
		f.Span = e.Place()
		f.Message += ": its value is empty"
	} else if l, ok := r.Label(o.Annotation); ok {
		f.Message += ": it stands among the labels, where it is part of the identity of the alert; move it to annotations"
		f.Related = []lint.Related{{Span: l.Key.All(), Message: o.Annotation + " is a label here"}}
	}
	p.Report(f)
}

// alias returns the annotation that stands in for the one that should be there.
func (o alertRunbookURL) alias(r *rules.Rule) (rules.Entry, bool) {
	for _, name := range o.Aliases {
		for _, e := range r.Annotations {
			if strings.EqualFold(e.Key.Value, name) && strings.TrimSpace(e.Value.Value) != "" {
				return e, true
			}
		}
	}
	return rules.Entry{}, false
}

// required reports whether an alert of this severity must have a runbook.
func (o alertRunbookURL) required(r *rules.Rule) bool {
	label, ok := severityLabel(r)
	if !ok && r.Expr != nil && (r.Expr.Root == nil || r.Expr.Mentions("severity")) {
		return false // the query may carry it
	}
	if ok && label.Templated() {
		return false
	}
	is := func(s string) bool { return strings.EqualFold(s, strings.TrimSpace(label.Value.Value)) }
	return slices.ContainsFunc(o.Required, is) || slices.Contains(o.Required, "*") && !slices.ContainsFunc(o.Exempt, is)
}

// value reports what is wrong with the URL. It never repeats credentials.
func (o alertRunbookURL) value(p *lint.Pass, r *rules.Rule, e rules.Entry) {
	report := func(span source.Span, fault string, fixes ...lint.Fix) {
		p.Report(lint.Finding{Span: span, Message: fmt.Sprintf("%s %s %s", r.Object(), e.Key.Value, fault), Fixes: fixes})
	}
	if e.Templated() {
		for _, u := range alertRunbookURLTexts(e.Template) {
			if fault, _ := u.fault(); fault != "" {
				report(e.Place(), fault)
				return
			}
		}
		return
	}
	text := e.Value.Value
	u := alertRunbookURLText{text: strings.TrimSpace(text), literal: len(text), written: strings.TrimSpace(text)}
	skipped := strings.Index(text, u.text)
	switch fault, at := u.fault(); {
	case fault != "" && at[1] > at[0]:
		report(e.Value.Span(skipped+at[0], skipped+at[1]), fault)
	case fault != "":
		var fixes []lint.Fix
		if s, exact := e.Value.Exact(skipped, skipped+len(u.text)); exact && alertRunbookURLHost.MatchString(u.text) && !strings.Contains(u.text, "@") {
			fixes = []lint.Fix{lint.Replace(s, "https://"+u.text, "write https:// before it", false)}
		}
		report(e.Place(), fault, fixes...)
	case !u.unrendered() && !alertPattern(p, o.Pattern).MatchString(u.text):
		report(e.Place(), fmt.Sprintf("does not match the pattern %q", o.Pattern))
	}
}

// An alertRunbookURLText is a URL, or what is known of one.
type alertRunbookURLText struct {
	text    string // with alertRunbookURLHole in place of what is unknown
	literal int    // bytes before the first hole
	holes   bool
	written string // as messages show it
}

// alertRunbookURLHole stands where a template prints. A digit is legal in
// every part of a URL, the port included.
const alertRunbookURLHole = "1"

// alertRunbookURLTexts returns the URLs that a template can print, one for
// each list of nodes in it.
func alertRunbookURLTexts(t *promql.Template) []alertRunbookURLText {
	var out []alertRunbookURLText
	if t == nil || t.Tree() == nil {
		return nil
	}
	var walk func(list *parse.ListNode, nested bool)
	walk = func(list *parse.ListNode, nested bool) {
		if list == nil {
			return
		}
		var b strings.Builder
		u := alertRunbookURLText{written: strings.TrimSpace(t.Text.Value)}
		for _, n := range list.Nodes {
			var branch *parse.BranchNode
			switch n := n.(type) {
			case *parse.TextNode:
				b.Write(n.Text)
				continue
			case *parse.CommentNode:
				continue
			case *parse.ActionNode:
				if len(n.Pipe.Decl) > 0 {
					continue
				}
			case *parse.IfNode:
				branch = &n.BranchNode
			case *parse.WithNode:
				branch = &n.BranchNode
			case *parse.RangeNode:
				branch = &n.BranchNode
			}
			if !u.holes {
				u.holes, u.literal = true, len(strings.TrimLeft(b.String(), " \t\r\n"))
			}
			b.WriteString(alertRunbookURLHole)
			if branch != nil {
				walk(branch.List, true)
				walk(branch.ElseList, true)
			}
		}
		u.text = strings.TrimSpace(b.String())
		if !u.holes {
			u.literal = len(u.text)
		}
		if !nested || strings.Contains(u.text[:min(u.literal, len(u.text))], "://") {
			u.holes = true
			out = append(out, u)
		}
	}
	walk(t.Tree(), false)
	return out
}

var (
	alertRunbookURLScheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)
	alertRunbookURLHost   = regexp.MustCompile(`(?i)^(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?/`)
	alertRunbookURLAngles = regexp.MustCompile(`<[^<>:@]*>`)
	alertRunbookURLTodo   = regexp.MustCompile(`(?i)^(todo|tbd|fixme|placeholder|change[-_]?me|replace[-_]?me|your[-_][\w-]*)(?:$|[^\w-])`)
)

// unrendered reports whether another program is still to fill in the URL.
func (u alertRunbookURLText) unrendered() bool {
	return alertUnrendered(u.text) || strings.ContainsAny(u.text, "{}")
}

// fault returns what is wrong with a URL, to follow the name of the
// annotation, and the part of it that is at fault if that is not the whole.
func (u alertRunbookURLText) fault() (fault string, at [2]int) {
	s := u.text
	if u.unrendered() {
		return "", at
	}
	if m := alertRunbookURLTodo.FindStringSubmatch(s); m != nil && len(m[0]) <= u.literal {
		return alertRunbookURLPlaceholder(fmt.Sprintf("%q is still to be replaced", m[1])), at
	}
	if m := alertRunbookURLAngles.FindStringIndex(s); m != nil {
		return alertRunbookURLPlaceholder(fmt.Sprintf("%q is still to be replaced", s[m[0]:m[1]])), [2]int(m)
	}
	known := s[:min(u.literal, len(s))]
	if u.holes && u.literal < len(s) && !strings.Contains(known, "://") && !strings.ContainsAny(known, "/?# ") {
		return "", at // what is unknown may be the scheme
	}
	if reason := u.notAbsolute(); reason != "" {
		return alertRunbookURLInvalid(reason), at
	}
	for i, r := range s {
		if r > ' ' && r < 0x7f && r != '"' && r != '<' && r != '>' && r != '\\' && r != '`' {
			continue
		}
		place := [2]int{i, i + len(string(r))}
		switch {
		case r == '\n':
			return alertRunbookURLInvalid("it goes over several lines; write it in one"), at
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return alertRunbookURLInvalid(fmt.Sprintf("it contains %q, which is invisible; remove it", r)), place
		case unicode.IsSpace(r) || strings.ContainsRune("\"<>\\`", r):
			return alertRunbookURLInvalid(fmt.Sprintf("it contains %q, where a link ends; write %s", r, url.PathEscape(string(r)))), place
		}
	}
	parsed, err := url.Parse(s)
	switch {
	case err != nil && u.holes:
		return "", at
	case err != nil && strings.Contains(s, "@"):
		return alertRunbookURLInvalid("what stands before the @ is no part of an address"), at // and may be a password
	case err != nil:
		if e := new(url.Error); errors.As(err, &e) {
			err = e.Err
		}
		if errors.As(err, new(url.EscapeError)) {
			err = fmt.Errorf("%w; write a %% that stands for itself as %%25", err)
		}
		return alertRunbookURLInvalid(err.Error()), at
	case parsed.User != nil:
		return alertRunbookURLInvalid("it carries credentials, which everyone reads who is notified; remove them here, and revoke them"), at
	}
	host := strings.TrimSuffix(strings.ToLower(parsed.Hostname()), ".")
	port, _ := strconv.Atoi(parsed.Port())
	switch {
	case host == "":
		return alertRunbookURLInvalid("it has no host"), at
	case host == "http" || host == "https":
		return alertRunbookURLInvalid("it has the scheme twice"), at
	case port > 65535:
		return alertRunbookURLInvalid("port " + parsed.Port() + " does not exist"), at
	}
	if what := alertRunbookURLStandsFor(host, parsed); what != "" {
		return alertRunbookURLPlaceholder(what), at
	}
	return "", at
}

func alertRunbookURLInvalid(reason string) string { return "is not a valid URL: " + reason }

func alertRunbookURLPlaceholder(what string) string {
	return "is a placeholder: " + what + "; write the URL of the page that says what to do"
}

// notAbsolute returns why it is no absolute http(s) URL, or "".
func (u alertRunbookURLText) notAbsolute() string {
	s, shown := u.text, strconv.Quote(alertRunbookURLShown(u.written))
	m := alertRunbookURLScheme.FindStringSubmatch(s)
	switch {
	case m != nil && (strings.EqualFold(m[1], "http") || strings.EqualFold(m[1], "https")):
		if !strings.HasPrefix(s[len(m[0]):], "//") {
			return shown + " lacks the two slashes after " + m[0]
		}
		return ""
	case m != nil && strings.HasPrefix(s[len(m[0]):], "//"):
		return fmt.Sprintf("its scheme is %s; write an absolute https:// URL", m[1])
	case alertRunbookURLHost.MatchString(s):
		return shown + " has no scheme; write https:// before it"
	default:
		return shown + " has no scheme and host; write an absolute https:// URL"
	}
}

// alertRunbookURLShown returns s as messages may show it: short, and without
// what may be credentials.
func alertRunbookURLShown(s string) string {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		start := 0
		if n := strings.Index(s[:i], "//"); n >= 0 {
			start = n + len("//")
		}
		s = s[:start] + "…" + s[i:]
	}
	const most = 80
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return s
}

// alertRunbookURLStandsFor returns what in a URL is evidently still to be
// replaced, or "".
func alertRunbookURLStandsFor(host string, u *url.URL) string {
	for _, reserved := range []string{"example.com", "example.org", "example.net", "example", "invalid"} {
		if host == reserved || strings.HasSuffix(host, "."+reserved) {
			return fmt.Sprintf("host %s is reserved for examples", reserved)
		}
	}
	ip, err := netip.ParseAddr(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified()) {
		return fmt.Sprintf("host %s is the computer of whoever follows the link", host)
	}
	for label := range strings.SplitSeq(host, ".") {
		if strings.HasPrefix(label, "your-") || strings.HasPrefix(label, "your_") || alertRunbookURLWord(label) {
			return fmt.Sprintf("%q is still to be replaced", label)
		}
	}
	for segment := range strings.SplitSeq(u.Path+"/"+u.Fragment, "/") {
		if alertRunbookURLWord(segment) {
			return fmt.Sprintf("%q is still to be replaced", segment)
		}
	}
	return ""
}

// alertRunbookURLYours are what people write after "your" in an address that
// is to be replaced.
var alertRunbookURLYours = map[string]bool{
	"account": true, "company": true, "corp": true, "domain": true, "host": true, "hostname": true, "link": true, "name": true,
	"org": true, "organisation": true, "organization": true, "page": true, "project": true, "repo": true, "repository": true,
	"runbook": true, "runbookurl": true, "server": true, "site": true, "team": true, "url": true, "user": true, "username": true,
	"wiki": true,
}

var alertRunbookURLJoin = strings.NewReplacer("-", "", "_", "")

// alertRunbookURLWord reports whether part of a URL, as a whole, is a word that
// stands for something else. In lower case todo may be the name of a page.
func alertRunbookURLWord(s string) bool {
	switch s {
	case "TODO", "TBD", "FIXME":
		return true
	}
	s = alertRunbookURLJoin.Replace(strings.ToLower(s))
	yours, ok := strings.CutPrefix(s, "your")
	return s == "changeme" || s == "replaceme" || ok && (alertRunbookURLYours[yours] || alertRunbookURLYours[strings.TrimSuffix(yours, "here")])
}
