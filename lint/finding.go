// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// Severity says how bad a finding is.
type Severity uint8

// The severities. A check that is Off does not run; Unset stands for the
// severity that would hold anyway.
const (
	Unset Severity = iota
	Off
	Info
	Warning
	Error
)

var severities = [...]string{Unset: "", Off: "off", Info: "info", Warning: "warning", Error: "error"}

// String returns the name of the severity as configuration spells it.
func (s Severity) String() string { return severities[s] }

// ParseSeverity returns the severity called name: "info", "warning" or "error".
func ParseSeverity(name string) (Severity, error) {
	if i := slices.Index(severities[Info:], name); i >= 0 {
		return Info + Severity(i), nil
	}
	return Unset, fmt.Errorf("severity %q is none of error, warning, info", name)
}

// A Finding is a problem at a place.
type Finding struct {
	Check    string
	Severity Severity // Unset when reported: that of the check
	Span     source.Span
	Message  string // names the object first, then says what is wrong and what to do
	Object   Object
	Origin   *Origin
	Related  []Related
	Fixes    []Fix  // alternatives, the preferred one first
	Hidden   string // why the finding is not shown ("comment: bursty by design"), or ""
}

// Object is what a finding is about, and what its message names first.
type Object struct {
	Kind      string // "alert", "recording rule", "rule group", "ServiceMonitor" …
	Name      string
	Namespace string // of the Kubernetes object that holds it, or ""
}

// String returns the object as messages name it.
func (o Object) String() string { return strings.TrimSpace(o.Kind + " " + o.Name) }

// Origin is where an object comes from: configuration chooses by it.
type Origin struct {
	Kind        string // of the Kubernetes object, "" for a plain rule file
	Name        string
	Namespace   string
	Labels      map[string]string // of the Kubernetes object
	Annotations map[string]string // of the Kubernetes object
	Group       string            // name of the rule group, or ""
}

// Related is a second place that explains a finding.
type Related struct {
	Span    source.Span
	Message string
}

// A Fix is a set of edits that together remove a finding.
type Fix struct {
	Message string // a verb phrase: "quote the value"
	Safe    bool   // keeps the meaning, so fit to apply without asking
	Edits   []Edit
}

// An Edit replaces the text of a span.
type Edit struct {
	Span source.Span
	New  string
}

// Replace returns the fix that writes value in place of span.
func Replace(span source.Span, value, message string, safe bool) Fix {
	return Fix{Message: message, Safe: safe, Edits: []Edit{{Span: span, New: value}}}
}

// Compare orders findings by path, place, check and message.
func Compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(path(a.Span), path(b.Span)),
		cmp.Compare(a.Span.Start, b.Span.Start),
		cmp.Compare(a.Check, b.Check),
		cmp.Compare(a.Span.End, b.Span.End),
		cmp.Compare(a.Message, b.Message),
	)
}

func path(s source.Span) string {
	if s.File == nil {
		return ""
	}
	return s.File.Path
}
