// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

var _ = add(lint.Check{
	ID:       "alert/name",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "alert whose name is not in PascalCase, too long, or without the prefix of the team",
		Why: `The name of an alert stands in the subject of notifications, in routes, silences and inhibitions, and in the URL of its runbook. There it is typed by hand, mostly in a hurry. Nearly nine of ten public alerts are named in PascalCase (letters and digits, each word with a capital); a name in another form is mistyped, and one with blanks or punctuation has to be quoted or escaped wherever it is used.

Prometheus does not expand templates in the name: braces stay in it as they are written.

The default pattern is a convention, so where most of ten or more alerts in a folder are named otherwise, what breaks it is only an information. A pattern of your own always warns.`,
		Bad: `groups:
- name: vm
  rules:
  - alert: vm-pending
    expr: kubevirt_vmi_phase_count{phase="pending"} > 0
    for: 15m
`,
		Good: `groups:
- name: vm
  rules:
  - alert: VmPending
    expr: kubevirt_vmi_phase_count{phase="pending"} > 0
    for: 15m
`,
		TurnOff: "The names can't be changed, as silences, routes or runbooks of others depend on them. Where they follow another convention, set pattern.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://prometheus.io/docs/practices/alerting/#naming",
			"https://github.com/openshift/enhancements/blob/master/enhancements/monitoring/alerting-consistency.md",
		},
	},
	Run: lint.With(alertName{Pattern: alertNamePascalCase}, checkAlertName),
})

const alertNamePascalCase = `^[A-Z][A-Za-z0-9]*$`

type alertName struct {
	Pattern   string `yaml:"pattern" doc:"Regular expression that the name must match; empty matches all."`
	Prefix    string `yaml:"prefix" doc:"What the name must begin with."`
	MaxLength int    `yaml:"max-length" doc:"The most characters that the name may have; 0 sets no limit."`
}

// Validate reports options that make no sense.
func (o alertName) Validate() error {
	if o.MaxLength < 0 {
		return errors.New("max-length is negative")
	}
	return alertPatternError("pattern", o.Pattern)
}

func checkAlertName(p *lint.Pass, r *rules.Rule, o alertName) {
	name := r.Alert.Value
	if !r.IsAlert() || alertUnrendered(name) {
		return
	}
	if i := strings.Index(name, "{{"); i >= 0 {
		end := len(name)
		if n := strings.LastIndex(name, "}}"); n > i {
			end = n + len("}}")
		}
		p.Reportf(r.Alert.Span(i, end), "%s has a template in its name, where Prometheus expands none, so the braces are part of the name: write a fixed name, and put the template into a label or an annotation", r.Object())
		return
	}
	switch {
	case !alertPattern(p, o.Pattern).MatchString(name):
		f := lint.Finding{Span: r.Place()}
		what, hint := fmt.Sprintf("does not match the pattern %q", o.Pattern), "rename it"
		if o.Pattern == alertNamePascalCase {
			what, hint = "is not in PascalCase, the convention for alert names", "use only letters and digits of ASCII, and begin with a capital"
			if lint.Derive(p.Project, alertNameSchemes).others(r) {
				f.Severity = lint.Info
			}
		}
		f.Message = fmt.Sprintf("%s %s: %s", r.Object(), what, o.hint(p, name, hint))
		p.Report(f)
	case !strings.HasPrefix(name, o.Prefix):
		p.Reportf(r.Place(), "%s lacks the prefix %q: %s", r.Object(), o.Prefix, o.hint(p, name, "rename it"))
	}
	if n := utf8.RuneCountInString(name); o.MaxLength > 0 && n > o.MaxLength {
		p.Reportf(r.Place(), "%s has a name of %d characters, %d more than allowed: shorten it", r.Object(), n, n-o.MaxLength)
	}
}

// hint returns the advice to give the alert the name that the options want, or
// other if that can't be told.
func (o alertName) hint(p *lint.Pass, name, other string) string {
	meant := alertNamePascal(name)
	if n := len(o.Prefix); len(meant) >= n && strings.EqualFold(meant[:n], o.Prefix) {
		meant = o.Prefix + meant[n:]
	} else if meant != "" {
		meant = o.Prefix + meant
	}
	if meant == "" || !alertPattern(p, o.Pattern).MatchString(meant) {
		return other
	}
	return "rename it to " + meant
}

// alertNamePascal returns the name in PascalCase, or "" if letters would be
// lost or numbers would run into each other.
func alertNamePascal(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsMark(r)) }) {
		return ""
	}
	name = strings.ReplaceAll(name, "(s)", "s")
	shouted := strings.ToUpper(name) == name // so capitals are no sign of an acronym
	var b strings.Builder
	digit := false
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !alertNameChar(r) }) {
		if digit && unicode.IsDigit(rune(word[0])) {
			return ""
		}
		digit = unicode.IsDigit(rune(word[len(word)-1]))
		rest := word[1:]
		if strings.ToUpper(word) == word && !alertNameAcronyms[word] && (shouted || len(word) > 4) {
			rest = strings.ToLower(rest)
		}
		b.WriteString(strings.ToUpper(word[:1]) + rest)
	}
	if s := b.String(); s != "" && !unicode.IsDigit(rune(s[0])) {
		return s
	}
	return ""
}

func alertNameChar(r rune) bool {
	return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}

var alertNameAcronyms = map[string]bool{
	"API": true, "CPU": true, "DB": true, "DNS": true, "GC": true, "GPU": true, "GRPC": true, "HA": true, "HTTP": true, "HTTPS": true,
	"ID": true, "IO": true, "IP": true, "JVM": true, "NTP": true, "OOM": true, "OS": true, "PV": true, "PVC": true, "RAID": true,
	"RAM": true, "SLA": true, "SLI": true, "SLO": true, "SQL": true, "SSD": true, "SSL": true, "TCP": true, "TLS": true, "UDP": true,
	"URL": true, "VM": true, "VMI": true,
}

// alertNameScheme counts the alerts of a folder, and those of them that are
// not named in PascalCase.
type alertNameScheme struct{ all, others int }

type alertNameFolders map[string]alertNameScheme

// others reports whether the alerts beside r follow a convention of their own.
func (f alertNameFolders) others(r *rules.Rule) bool {
	const few = 10
	s := f[alertNameFolder(r)]
	return s.others >= few && 2*s.others > s.all
}

func alertNameFolder(r *rules.Rule) string { return path.Dir(r.Span().File.Path) }

func alertNameSchemes(project *lint.Project) alertNameFolders {
	folders := alertNameFolders{}
	for r := range lint.All[*rules.Rule](project) {
		if !r.IsAlert() {
			continue
		}
		s := folders[alertNameFolder(r)]
		s.all++
		name := r.Alert.Value
		if strings.ContainsFunc(name, func(r rune) bool { return !alertNameChar(r) }) || name[0] < 'A' || name[0] > 'Z' {
			s.others++
		}
		folders[alertNameFolder(r)] = s
	}
	return folders
}

// alertUnrendered reports whether text has placeholders that another program
// is still to fill in, so that nothing can be said of it.
func alertUnrendered(text string) bool {
	for _, mark := range []string{"[[", "${", "$(", "%(", "<%", "{%"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// alertPatterns are the regular expressions that options ask for, compiled.
type alertPatterns struct{ sync.Map }

// alertPattern returns the compiled form of an option that has been validated.
func alertPattern(p *lint.Pass, pattern string) *regexp.Regexp {
	known := lint.Derive(p.Project, func(*lint.Project) *alertPatterns { return &alertPatterns{} })
	if re, ok := known.Load(pattern); ok {
		return re.(*regexp.Regexp)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		re = regexp.MustCompile("") // Validate has refused it
	}
	known.Store(pattern, re)
	return re
}

func alertPatternError(option, pattern string) error {
	if _, err := regexp.Compile(pattern); err != nil {
		return fmt.Errorf("%s: %w", option, err)
	}
	return nil
}
