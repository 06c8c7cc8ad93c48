// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/yamltext"
)

// Language reads YAML and JSON files that hold rules or monitors. Other files are none of
// its business, unless the user names one that does not parse.
var Language = lint.Language{
	Name: "rules",
	Parse: func(f *source.File, named bool) lint.Document {
		if isMarkdownOrGo(f.Path) {
			return nil
		}
		if d := Parse(f, named); len(d.Files)+len(d.Objects)+len(d.Problems) > 0 {
			return d
		}
		return nil
	},
}

func isMarkdownOrGo(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".go":
		return true
	}
	return false
}

// Unreadable returns the document of a file that could not be read, or nil if
// by its name it is hardly one of rules.
func Unreadable(f *source.File, err error) lint.Document {
	switch strings.ToLower(path.Ext(f.Path)) {
	case ".json", ".md":
		return nil
	}
	d := &Document{src: f}
	d.report(lint.Finding{Check: "syntax/yaml", Severity: lint.Error, Span: f.Span(0, 0), Message: "cannot read the file: " + err.Error()})
	return d
}

func (d *Document) report(f lint.Finding) {
	if f.Span.End == f.Span.Start { // a place at the end of a line or file
		data := f.Span.File.Data
		if f.Span.End < len(data) {
			f.Span.End++
		}
	}
	d.Problems = append(d.Problems, &lint.Problem{Finding: f})
}

// Parse reads a file. Named says that the user asked for this very file, so
// that even what does not look like rules is reported if it does not parse.
func Parse(f *source.File, named bool) *Document {
	d := &Document{src: f}
	ours := named || hasRulesExtension(f.Path) && (looksLikeRules(f.Data) || groupsKey.MatchString(f.Data) || nameKey.MatchString(f.Data))
	text := f.Text()
	if strings.HasPrefix(text.Value, "\ufeff") {
		text = text.Slice(len("\ufeff"), len(text.Value))
	}
	if !mayHold(text.Value) && !ours && !isKustomization(f.Path) {
		return d
	}
	if strings.HasPrefix(text.Value, "\xff\xfe") || strings.HasPrefix(text.Value, "\xfe\xff") {
		if ours {
			d.report(lint.Finding{Check: "syntax/yaml", Severity: lint.Error, Span: f.Span(0, 2), Message: "file is UTF-16: save it as UTF-8"})
		}
		return d
	}
	if at := source.InvalidUTF8(text.Value); at >= 0 {
		if ours || looksLikeOurs(text.Value) {
			d.report(lint.Finding{Check: "syntax/yaml", Severity: lint.Error, Span: text.Span(at, at+1),
				Message: fmt.Sprintf("byte 0x%02x is not valid UTF-8: save the file as UTF-8", text.Value[at])})
		}
		return d
	}
	d.stream(text, ours, false)
	return d
}

func hasRulesExtension(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".rules", ".rule", ".alerts":
		return true
	}
	return false
}

// mayHold is a scan that spares most files of a repository the parser.
func mayHold(s string) bool { return mayHoldRules(s) || mayHoldObjects(s) }

func mayHoldRules(s string) bool {
	return strings.Contains(s, "groups")
}

var (
	groupsKey = regexp.MustCompile(`(?m)^[\t ]*(?:- )?["']?groups["']?[\t ]*:`)
	nameKey   = regexp.MustCompile(`(?m)^[\t ]*(?:- )?["']?(?:alert|record)["']?[\t ]*:`)
	ruleKey   = regexp.MustCompile(`(?m)["']?\b(?:alert|record|expr)["']?[\t ]*:`)
	ruleKind  = regexp.MustCompile(`(?m)^[\t ]*["']?kind["']?[\t ]*:[\t ]*["']?(?:PrometheusRule|AlertingRule|VMRule)\b`)
)

// looksLikeOurs tells of text that does not parse whether it was meant to be
// something that is linted.
func looksLikeOurs(s string) bool { return looksLikeRules(s) || looksLikeMonitors(s) }

func looksLikeRules(s string) bool {
	return ruleKind.MatchString(s) || groupsKey.MatchString(s) && ruleKey.MatchString(s)
}

// stream reads the documents of a YAML stream. Each is parsed on its own, so
// that a broken one does not take the others with it.
func (d *Document) stream(text source.Text, ours, nested bool) {
	documents := split(text)
	plain := 0
	for _, t := range documents {
		if !ours && !mayHold(t.Value) && !isKustomization(d.src.Path) {
			continue
		}
		if len(documents) == 1 && !nested {
			plain += d.document(t, ours, text)
			continue
		}
		// In a stream of many documents those that are not ours are passed over
		// even if the file was named.
		n := d.document(t, ours && !nested && (len(documents) == 1 || looksLikeOurs(t.Value)), text)
		if n > 0 && plain > 0 {
			f := d.Files[len(d.Files)-1]
			d.report(lint.Finding{Check: "syntax/schema", Severity: lint.Warning, Span: t.Span(0, firstLine(t.Value)), Object: f.Object(), Origin: f.origin,
				Message: "rule file has more than one YAML document: Prometheus reads only the first and ignores these rules; move them into the first or into a file of their own"})
		}
		plain += n
	}
}

func firstLine(s string) int {
	if i := strings.IndexAny(s, "\r\n"); i > 0 {
		return i
	}
	return min(len(s), 3)
}

// split cuts a YAML stream at its document markers. A line that begins with
// one ends the document whatever it stands in, so the cut is exact.
func split(text source.Text) []source.Text {
	s := text.Value
	if !strings.Contains(s, "---") {
		return []source.Text{text}
	}
	var out []source.Text
	start, content := 0, false // of the document at work, and whether it has any
	marked, directives := false, false
	for i := 0; i < len(s); {
		end := i + lineLength(s[i:])
		if marker := strings.HasPrefix(s[i:], "---") && (i+3 == len(s) || strings.IndexByte(" \t\r\n", s[i+3]) >= 0); marker && content {
			// Directives and comments in front of a marker belong to what follows it.
			out = append(out, text.Slice(start, i))
			start, content, marked, directives = i, false, true, false
		} else if marker {
			// Thousands of empty documents, as charts render to, would be slow to decode.
			if marked && !directives {
				start = i
			}
			marked = true
		}
		directives = directives || s[i] == '%'
		content = content || hasContent(s[i:end])
		i = end
	}
	if content || len(out) == 0 {
		out = append(out, text.Slice(start, len(s)))
	}
	return out
}

// lineLength returns the length of the first line of s with its line break.
func lineLength(s string) int {
	i := strings.IndexAny(s, "\r\n")
	if i < 0 {
		return len(s)
	}
	if strings.HasPrefix(s[i:], "\r\n") {
		return i + 2
	}
	return i + 1
}

// hasContent reports whether a line of a stream is more than a comment, a
// directive or a marker.
func hasContent(line string) bool {
	line = strings.TrimRight(line, "\r\n")
	if rest, ok := strings.CutPrefix(line, "---"); ok {
		line = rest
	}
	if strings.HasPrefix(line, "%") || line == "..." {
		return false
	}
	line = strings.TrimLeft(line, " \t")
	return line != "" && !strings.HasPrefix(line, "#")
}

// document reads one YAML document and returns how many plain rule files it was.
func (d *Document) document(t source.Text, ours bool, stream source.Text) int {
	decoder := yaml.NewDecoder(strings.NewReader(t.Value))
	plain := 0
	for {
		var root yaml.Node
		err := decoder.Decode(&root)
		if errors.Is(err, io.EOF) {
			return plain
		}
		if err != nil {
			if ours || looksLikeOurs(t.Value) {
				d.broken(t, err)
			}
			return plain
		}
		if len(root.Content) == 0 {
			continue
		}
		before := len(d.Files)
		dec := &objectDecoder{Document: d, doc: yamltext.New(t), ours: ours}
		dec.root(root.Content[0])
		for _, f := range d.Files[before:] {
			if f.Kind == "" && f.origin.Kind == "" {
				plain++
			}
		}
	}
}

// broken reports a document that does not parse, or says that it is a template.
func (d *Document) broken(t source.Text, err error) {
	at, message := locate(t.Value, err)
	if language, where := brokenBy(t.Value, at); language != "" {
		d.unrendered(t, language, where)
		return
	}
	end := at + 1
	if at < len(t.Value) && t.Value[at] != '\n' && t.Value[at] != '\r' {
		_, n := utf8.DecodeRuneInString(t.Value[at:])
		end = at + n
	}
	d.report(lint.Finding{Check: "syntax/yaml", Severity: lint.Error, Span: t.Span(at, end), Message: message})
}

func (d *Document) unrendered(t source.Text, language string, at [2]int) {
	how := "render it first and lint the result"
	if language == "Helm" {
		how = "lint what it renders to: helm template CHART | monitoringlinter -"
	}
	d.report(lint.Finding{Check: "syntax/unrendered", Severity: lint.Info, Span: t.Span(at[0], at[1]),
		Message: fmt.Sprintf("file is an unrendered %s template and was skipped: %s", language, how)})
}

// lineOf finds the line that an error of yaml.v3 names; it gives no column.
var lineOf = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?:unmarshal errors:\s*)?((?s:.*))$`)

// locate returns the offset at which the YAML parser gave up, and why. The
// parser names only a line, often that of the enclosing block; but it works
// through the text from the front, so the shortest beginning of the text that
// fails in the same way ends at the fault.
func locate(s string, err error) (offset int, message string) {
	line, reason := lineAndReason(err)
	offset = lineOffset(s, line)
	const most = 128 << 10 // bytes; each step parses half of them on average
	if len(s) <= most && !strings.Contains(reason, "unexpected end of stream") {
		same := func(n int) bool {
			_, prefix := lineAndReason(parseYAML(s[:n]))
			return prefix == reason
		}
		lo, hi := 0, len(s) // same(hi) holds
		for lo < hi {
			mid := int(uint(lo+hi) >> 1)
			if same(mid) {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		offset = max(hi-1, 0)
		for offset < len(s) && !utf8.RuneStart(s[offset]) {
			offset--
		}
		if i := strings.LastIndexByte(s[:offset], '*'); i >= 0 && strings.HasPrefix(reason, "unknown anchor") {
			offset = i
		}
		// The scanner looks one token ahead over the end of a line.
		if offset < len(s) && (s[offset] == '\n' || s[offset] == '\r') && offset > 0 && s[offset-1] != '\n' {
			offset--
		}
	} else if q := strings.IndexAny(s[offset:], `"'[{`); q >= 0 {
		if eol := strings.IndexByte(s[offset:], '\n'); eol < 0 || q < eol {
			offset += q
		}
	}
	return offset, reason + hint(s, offset, reason)
}

func lineAndReason(err error) (line int, reason string) {
	if err == nil {
		return 0, ""
	}
	m := lineOf.FindStringSubmatch(err.Error())
	if m == nil {
		return 0, err.Error()
	}
	_, _ = fmt.Sscan(m[1], &line)
	return line, m[2]
}

func parseYAML(s string) error {
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(s)))
	for {
		var n yaml.Node
		if err := decoder.Decode(&n); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func lineOffset(s string, line int) int {
	at := 0
	for ; line > 1; line-- {
		n := strings.IndexByte(s[at:], '\n')
		if n < 0 {
			return len(s)
		}
		at += n + 1
	}
	return at
}

var (
	templateValue = regexp.MustCompile(`^[\t ]*(?:- )?[\w"']+:[\t ]+\{\{`)
	braceValue    = regexp.MustCompile(`^[\t ]*(?:- )?[\w"']+:[\t ]+\{`)
	quotedValue   = regexp.MustCompile(`^[\t ]*(?:- )?[\w"']+:[\t ]+"[^"]*"[^\s#,}\]]`)
	colonValue    = regexp.MustCompile(`^[\t ]*(?:- )?[\w"']+:[\t ]+[^"'|>\s].*:(?:\s|$)`)
)

// hint says what to do about the faults that people make most when they write rules.
func hint(s string, offset int, reason string) string {
	start := strings.LastIndexByte(s[:offset], '\n') + 1
	line := s[start:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	switch {
	case strings.Contains(indent, "\t"):
		return ": the line is indented with a tab; YAML takes only spaces"
	case braceValue.MatchString(line) && !templateValue.MatchString(line):
		return ": a value that starts with { is taken for a YAML mapping; put the expression between quotes, or in a block after |"
	case templateValue.MatchString(line):
		return ": a value that starts with {{ needs quotes"
	case quotedValue.MatchString(line):
		return `: the text between double quotes ends at the second quote; write \" inside it, or put the whole between single quotes`
	case colonValue.MatchString(line) && strings.Contains(reason, "mapping values"):
		return ": a value with a colon followed by a space needs quotes"
	}
	return ""
}
