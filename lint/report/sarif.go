// SPDX-License-Identifier: Apache-2.0

package report

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// SARIF writes the run as a log of the Static Analysis Results Interchange
// Format, version 2.1.0, as GitHub code scanning takes it. Section numbers here
// are those of the [standard].
//
// Left out on purpose: automationDetails, since GitHub takes its id for the
// category of the upload, and one that is fixed would make two jobs of a
// workflow overwrite each other's alerts; and the fingerprint
// primaryLocationLineHash, which the upload action of GitHub computes itself.
//
// [standard]: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
func SARIF(w io.Writer, run Run, opts Options) error {
	l := sarifLog{
		opts:        opts,
		rules:       sarifRules(run, opts),
		index:       map[string]int{},
		occurrences: map[string]int{},
		columns:     columns{},
	}
	for i, r := range l.rules {
		l.index[r.ID] = i
	}

	s := newStream(w)
	s.open("", "{")
	s.put("$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json")
	s.put("version", "2.1.0")
	s.open("runs", "[")
	s.open("", "{")
	s.put("tool", sarifTool{sarifDriver{
		Name:           "monitoringlinter",
		Version:        run.Version,
		InformationURI: repository,
		Rules:          l.rules,
	}})
	s.put("invocations", []sarifInvocation{l.invocation(run)})
	s.put("columnKind", "unicodeCodePoints")
	// Where the root is on this machine is nobody's business (§3.14.14, note 1).
	s.put("originalUriBaseIds", map[string]sarifBase{
		sarifRoot: {sarifMessage{"The root of the source tree."}},
	})
	s.open("results", "[")
	for i := range run.Findings {
		if f := &run.Findings[i]; opts.shows(f) {
			s.put("", l.result(f))
		}
	}
	s.close("]")
	s.close("}")
	s.close("]")
	s.close("}")
	return s.finish()
}

// sarifRoot is what GitHub calls the root of the repository.
const sarifRoot = "%SRCROOT%"

type (
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string              `json:"id"`
		Name             string              `json:"name,omitempty"`
		ShortDescription sarifMessage        `json:"shortDescription"`
		FullDescription  sarifMessage        `json:"fullDescription"`
		Help             sarifHelp           `json:"help"`
		HelpURI          string              `json:"helpUri"`
		Default          sarifConfiguration  `json:"defaultConfiguration"`
		Properties       sarifRuleProperties `json:"properties"`
	}
	sarifHelp struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown"`
	}
	sarifConfiguration struct {
		Enabled bool   `json:"enabled"`
		Level   string `json:"level"`
	}
	sarifRuleProperties struct {
		Tags      []string `json:"tags"`
		Precision string   `json:"precision"`
		Severity  string   `json:"problem.severity"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifBase struct {
		Description sarifMessage `json:"description"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifMessage       `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Related      []sarifLocation    `json:"relatedLocations,omitempty"`
		Fixes        []sarifFix         `json:"fixes,omitempty"`
		Suppressions []sarifSuppression `json:"suppressions"` // empty, not absent: known not to be suppressed (§3.27.23)
		Fingerprints map[string]string  `json:"partialFingerprints"`
	}
	// sarifMessage is whatever has a text: messages, descriptions, content.
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPlace    `json:"physicalLocation"`
		Message  *sarifMessage `json:"message,omitempty"`
	}
	sarifPlace struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int           `json:"startLine"`
		StartColumn int           `json:"startColumn"`
		EndLine     int           `json:"endLine"`
		EndColumn   int           `json:"endColumn"`
		Snippet     *sarifMessage `json:"snippet,omitempty"`
	}
	sarifFix struct {
		Description sarifMessage       `json:"description"`
		Changes     []sarifChange      `json:"artifactChanges"`
		Properties  sarifFixProperties `json:"properties"`
	}
	sarifFixProperties struct {
		Safe bool `json:"safe"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion  `json:"deletedRegion"`
		Inserted sarifMessage `json:"insertedContent"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification,omitempty"`
	}
)

// A sarifLog makes the parts of a log.
type sarifLog struct {
	opts        Options
	rules       []sarifRule
	index       map[string]int // of a rule by its id
	occurrences map[string]int // of a fingerprint so far
	columns     columns
}

func (l *sarifLog) invocation(run Run) sarifInvocation {
	out := sarifInvocation{Successful: !run.Failed, Notifications: []sarifNotification{}}
	for _, n := range run.Notices {
		note := sarifNotification{Level: "note", Message: sarifMessage{sarifText(n.Message)}}
		if n.Path != "" {
			note.Locations = []sarifLocation{{Physical: sarifPlace{Artifact: l.artifact(n.Path)}}}
		}
		out.Notifications = append(out.Notifications, note)
	}
	return out
}

func (l *sarifLog) result(f *lint.Finding) sarifResult {
	out := sarifResult{
		RuleID:       f.Check,
		RuleIndex:    l.index[f.Check],
		Level:        sarifLevel(f.Severity),
		Message:      sarifMessage{sarifText(f.Message)},
		Locations:    []sarifLocation{{Physical: l.place(f.Span)}},
		Suppressions: sarifSuppressions(f.Hidden),
		Fingerprints: map[string]string{"monitoringlinter/v1": l.fingerprint(f)},
	}
	if r := out.Locations[0].Physical.Region; r != nil {
		r.Snippet = snippet(f.Span)
	}
	var links []string
	for i, r := range f.Related {
		id := i + 1
		out.Related = append(out.Related, sarifLocation{ID: id, Physical: l.place(r.Span), Message: &sarifMessage{sarifText(r.Message)}})
		links = append(links, sarifLink(r.Message, id))
	}
	if len(links) > 0 {
		// GitHub shows only those related locations that the message links to.
		// They make a sentence of their own, so that the first stays the summary.
		out.Message.Text = strings.TrimSuffix(out.Message.Text, ".") + ". See " + strings.Join(links, ", ") + "."
	}
	for _, fix := range f.Fixes {
		if changes := l.changes(fix.Edits); len(changes) > 0 {
			out.Fixes = append(out.Fixes, sarifFix{
				Description: sarifMessage{sarifText(fix.Message)},
				Changes:     changes,
				Properties:  sarifFixProperties{fix.Safe},
			})
		}
	}
	return out
}

func sarifLevel(s lint.Severity) string {
	switch s {
	case lint.Error:
		return "error"
	case lint.Warning:
		return "warning"
	}
	return "note"
}

// sarifSuppressions returns the suppression for the reason that hides a finding,
// which begins with what hides it.
func sarifSuppressions(reason string) []sarifSuppression {
	if reason == "" {
		return []sarifSuppression{}
	}
	if by, why, _ := strings.Cut(reason, ": "); by == "comment" {
		return []sarifSuppression{{"inSource", Visible(why)}}
	}
	return []sarifSuppression{{"external", Visible(reason)}}
}

// changes returns the edits by file, in the order of the edits.
func (l *sarifLog) changes(edits []lint.Edit) []sarifChange {
	var out []sarifChange
	var files []*source.File
	for _, e := range edits {
		if e.Span.File == nil {
			continue
		}
		i := slices.Index(files, e.Span.File)
		if i < 0 {
			i = len(files)
			files = append(files, e.Span.File)
			out = append(out, sarifChange{Artifact: l.artifact(e.Span.File.Path)})
		}
		out[i].Replacements = append(out[i].Replacements, sarifReplacement{l.region(e.Span), sarifMessage{e.New}})
	}
	return out
}

// place returns where a span is. What is in no file is at the root: GitHub takes
// no result without a place.
func (l *sarifLog) place(s source.Span) sarifPlace {
	if s.File == nil {
		return sarifPlace{Artifact: l.artifact("")}
	}
	r := l.region(s)
	return sarifPlace{Artifact: l.artifact(s.File.Path), Region: &r}
}

func (l *sarifLog) region(s source.Span) sarifRegion {
	s = within(s)
	startLine, startColumn := l.columns.position(s.File, s.Start)
	endLine, endColumn := l.columns.position(s.File, s.End)
	return sarifRegion{StartLine: startLine, StartColumn: startColumn, EndLine: endLine, EndColumn: endColumn}
}

// snippet returns the text of a span, if it is short enough to be of use.
func snippet(s source.Span) *sarifMessage {
	const limit = 1000
	text := within(s).Text()
	if text == "" || len(text) > limit {
		return nil
	}
	return &sarifMessage{text}
}

// artifact returns the URI of a path: relative to the root of the source tree
// or, for what is outside of it, absolute.
func (l *sarifLog) artifact(p string) sarifArtifact {
	p = path.Clean(p)
	if dir := l.opts.Dir; dir != "" {
		if strings.HasPrefix(p, "../") {
			p = path.Join(dir, p)
		}
		if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/"); ok {
			p = rest
		}
	}
	escaped := (&url.URL{Path: p}).EscapedPath()
	switch {
	case strings.HasPrefix(p, "/"):
		return sarifArtifact{URI: "file://" + escaped}
	case len(p) > 2 && p[1] == ':' && p[2] == '/': // of Windows
		return sarifArtifact{URI: "file:///" + escaped}
	}
	// A colon would make what is before it a scheme.
	return sarifArtifact{URI: strings.ReplaceAll(escaped, ":", "%3A"), Base: sarifRoot}
}

// fingerprint identifies a finding from one run to the next. It holds no line
// number, so that a finding survives edits above it; findings that are otherwise
// equal are numbered in their order.
func (l *sarifLog) fingerprint(f *lint.Finding) string {
	var uri, text string
	if s := f.Span; s.File != nil {
		s = within(s)
		uri = l.artifact(s.File.Path).URI
		line := s.File.Line(s.File.Position(s.Start).Line)
		// A line this long is a whole document without line breaks. It changes
		// with every edit, and hashing it for each finding takes too long.
		const limit = 1000
		if line.End-line.Start > limit {
			line = s
			line.End = min(line.End, line.Start+limit)
		}
		text = strings.TrimSpace(line.Text())
	}
	h := sha256.New()
	for _, s := range []string{f.Check, uri, f.Message, text} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	sum := fmt.Sprintf("%x", h.Sum(nil)[:16])
	l.occurrences[sum]++
	return fmt.Sprintf("%s:%d", sum, l.occurrences[sum])
}

var (
	placeholder = regexp.MustCompile(`\{+[0-9]+\}+`)
	doubled     = strings.NewReplacer("{", "{{", "}", "}}")
	linkText    = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`)
)

// sarifText returns a message as the text property takes it. Two things in it
// could be taken for more than text.
//
// Placeholders. By §3.11.5, {0} stands for an argument, and literal braces are
// doubled. Messages quote selectors and templates, and no viewer known to us
// undoes the doubling where a message has no arguments (GitHub and VS Code show
// the text as it is): up{{job="x"}} would be wrong for every reader. So the
// braces are doubled only where they would be taken for a placeholder, around a
// number.
//
// Embedded links. By §3.11.6, [text](destination) is a link, and brackets that
// make none need no escape. A backslash between ] and ( keeps a name from
// making one, for the standard as for viewers that look for links with a
// regular expression; Markdown does not show it.
func sarifText(s string) string {
	s = placeholder.ReplaceAllStringFunc(Visible(s), doubled.Replace)
	return strings.ReplaceAll(s, "](", `]\(`)
}

// sarifLink returns a link to the related location of that id (§3.11.6).
func sarifLink(message string, id int) string {
	if message == "" {
		message = "here"
	}
	return fmt.Sprintf("[%s](%d)", linkText.Replace(sarifText(message)), id)
}

// columns counts code points. For files that have lines too long to count anew
// for each finding, it holds the code points before each block.
type columns map[*source.File][]int

const columnBlock = 4096

// position returns line and column, both from 1, of the byte at offset.
func (c columns) position(f *source.File, offset int) (line, column int) {
	p := f.Position(offset)
	start := offset - (p.Col - 1)
	if start == 0 && strings.HasPrefix(f.Data, "\ufeff") {
		start = min(len("\ufeff"), offset) // a byte order mark is not part of the text
	}
	if offset-start <= columnBlock {
		return p.Line, 1 + codePoints(f.Data[start:offset])
	}
	return p.Line, 1 + c.before(f, offset) - c.before(f, start)
}

// before returns the number of code points that begin before offset.
func (c columns) before(f *source.File, offset int) int {
	sums, ok := c[f]
	if !ok {
		sums = []int{0}
		for i := columnBlock; i <= len(f.Data); i += columnBlock {
			sums = append(sums, sums[len(sums)-1]+codePoints(f.Data[i-columnBlock:i]))
		}
		c[f] = sums
	}
	block := offset / columnBlock
	return sums[block] + codePoints(f.Data[block*columnBlock:offset])
}

// codePoints returns the number of code points that begin in s. That of a
// string is the sum of those of its parts, wherever it is cut.
func codePoints(s string) int {
	n := 0
	for i := range len(s) {
		if s[i]&0xc0 != 0x80 {
			n++
		}
	}
	return n
}
