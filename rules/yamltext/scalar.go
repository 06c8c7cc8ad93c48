// SPDX-License-Identifier: Apache-2.0

// Package yamltext decodes YAML scalars into texts that remember where each of
// their bytes was written.
//
// yaml.v3 gives the place where a node starts and the style it is written in.
// [Doc.Scalar] decodes the scalar once more from the source, following the
// scanner of libyaml for that style, and compares the result with the value
// that yaml.v3 found: when the two differ, the value maps as a whole to the
// line it starts on, and findings are less precise but never misleading.
package yamltext

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// A Doc is a text that holds YAML.
type Doc struct {
	source.Text
	lines []int // offsets of lines as YAML counts them
	ascii bool  // so that runes are bytes

	// In a long line that is not ASCII, where the last column asked for was:
	// nodes come in the order of the text.
	lastLine, lastCol, lastOffset int
}

// New returns t as a Doc.
func New(t source.Text) *Doc {
	d := &Doc{Text: t, lines: make([]int, 1, strings.Count(t.Value, "\n")+1), ascii: isASCII(t.Value)}
	breaks := "\n"
	for _, b := range []string{"\r", "\u0085", "\u2028", "\u2029"} {
		if strings.Contains(t.Value, b) {
			breaks += b
		}
	}
	for i := 0; i < len(t.Value); {
		n := index(t.Value[i:], breaks)
		if n < 0 {
			break
		}
		i += n
		i += lineBreak(t.Value[i:])
		d.lines = append(d.lines, i)
	}
	return d
}

// index returns the first place of a line break in s.
func index(s, breaks string) int {
	if len(breaks) == 1 {
		return strings.IndexByte(s, breaks[0])
	}
	return strings.IndexAny(s, breaks)
}

// lineBreak returns the length of the line break that s begins with, or 0.
// YAML 1.1 knows more of them than most programs do.
func lineBreak(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '\n':
		return 1
	case '\r':
		if len(s) > 1 && s[1] == '\n' {
			return 2
		}
		return 1
	case 0xc2:
		if strings.HasPrefix(s, "\u0085") {
			return 2
		}
	case 0xe2:
		if strings.HasPrefix(s, "\u2028") || strings.HasPrefix(s, "\u2029") {
			return 3
		}
	}
	return 0
}

// Scalar returns the text of the scalar n, which was parsed out of doc; that of
// an alias is the text of the scalar it stands for. The second result reports
// whether each byte is mapped on its own.
func (doc *Doc) Scalar(n *yaml.Node) (source.Text, bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	start := doc.Offset(n.Line, n.Column)
	if n.Style == 0 && n.Anchor == "" && strings.HasPrefix(doc.Value[start:], n.Value) && n.Value != "" {
		return doc.Slice(start, start+len(n.Value)), true
	}
	if t, ok := doc.quoted(n, start); ok {
		return t, true
	}
	d := decoder{Builder: source.NewBuilder(doc.Text), src: doc.Value, pos: start}
	d.properties()
	token := d.pos
	d.decode(n)
	if d.Len() == 0 && n.Value == "" {
		d.Mark(token, max(min(d.pos, len(doc.Value)), token))
		return d.Text(), true
	}
	if t := d.Text(); t.Value == n.Value {
		return t, true
	}
	end := start
	for end < len(doc.Value) && lineBreak(doc.Value[end:]) == 0 {
		end++
	}
	b := source.NewBuilder(doc.Text)
	b.Replace(start, end, n.Value)
	return b.Text(), false
}

// quoted returns the text of a scalar that stands between its quotes as it is.
func (doc *Doc) quoted(n *yaml.Node, start int) (source.Text, bool) {
	quote := byte('"')
	switch {
	case n.Style == yaml.SingleQuotedStyle:
		quote = '\''
	case n.Style != yaml.DoubleQuotedStyle:
		return source.Text{}, false
	}
	first, end := start+1, start+1+len(n.Value)
	if n.Anchor != "" || n.Value == "" || end >= len(doc.Value) || doc.Value[start] != quote || doc.Value[end] != quote ||
		doc.Value[first:end] != n.Value || strings.IndexByte(n.Value, quote) >= 0 || strings.IndexByte(n.Value, '\\') >= 0 {
		return source.Text{}, false
	}
	return doc.Slice(first, end), true
}

// Span returns the source of a node: a scalar without its quotes, a collection
// from its first byte to its last.
func (doc *Doc) Span(n *yaml.Node) source.Span {
	if n.Kind == yaml.ScalarNode {
		t, _ := doc.Scalar(n)
		return t.All()
	}
	start := doc.Offset(n.Line, n.Column)
	return doc.Text.Span(start, max(doc.end(n), min(start+1, len(doc.Value))))
}

// end returns the offset of the end of a node.
func (doc *Doc) end(n *yaml.Node) int {
	at := doc.Offset(n.Line, n.Column)
	switch {
	case n.Kind == yaml.ScalarNode:
		return doc.scalarEnd(n, at)
	case n.Kind == yaml.AliasNode:
		return min(at+1+len(n.Value), len(doc.Value))
	case len(n.Content) > 0:
		at = doc.end(n.Content[len(n.Content)-1])
	case n.Style&yaml.FlowStyle != 0:
		at++
	}
	if n.Style&yaml.FlowStyle == 0 {
		return at
	}
	closing := byte(']')
	if n.Kind == yaml.MappingNode {
		closing = '}'
	}
	for i := at; i < len(doc.Value); i++ {
		switch doc.Value[i] {
		case closing:
			return i + 1
		case ' ', '\t', '\r', '\n', ',', ':':
		case '#':
			for i+1 < len(doc.Value) && doc.Value[i+1] != '\n' {
				i++
			}
		default:
			return at
		}
	}
	return at
}

// scalarEnd returns the offset after a scalar and its closing quote.
func (doc *Doc) scalarEnd(n *yaml.Node, start int) int {
	d := decoder{Builder: source.NewBuilder(doc.Text), src: doc.Value, pos: start}
	d.properties()
	d.decode(n)
	return min(d.pos, len(doc.Value))
}

// Offset returns the offset in the text of a position as yaml.v3 reports it:
// line and column from 1, the column in runes.
func (doc *Doc) Offset(line, col int) int {
	if line < 1 {
		return 0
	}
	if line > len(doc.lines) {
		return len(doc.Value)
	}
	start := doc.lines[line-1]
	if doc.ascii {
		return min(start+max(col, 1)-1, len(doc.Value))
	}
	from, skip := start, 1
	if line == doc.lastLine && col >= doc.lastCol {
		from, skip = doc.lastOffset, doc.lastCol
	}
	offset := source.RuneOffset(doc.Value, from, col-skip+1)
	doc.lastLine, doc.lastCol, doc.lastOffset = line, max(col, 1), offset
	return offset
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// A decoder follows the scanner of libyaml over one scalar.
type decoder struct {
	*source.Builder
	src string
	pos int
}

// decode reads the scalar n, at whose first byte after its properties the cursor is.
func (d *decoder) decode(n *yaml.Node) {
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && n.Value == "":
		d.toLineEnd() // what follows may be indented, and is none of it
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		d.Grow(len(n.Value))
		d.block(n.Style&yaml.LiteralStyle != 0, n.Value)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		d.pos++
		d.flow('"', len(n.Value))
	case n.Style&yaml.SingleQuotedStyle != 0:
		d.pos++
		d.flow('\'', len(n.Value))
	case n.Value != "":
		d.flow(0, len(n.Value))
	}
}

func (d *decoder) peek(i int) byte {
	if d.pos+i < len(d.src) {
		return d.src[d.pos+i]
	}
	return 0
}

func (d *decoder) blank() bool { return d.peek(0) == ' ' || d.peek(0) == '\t' }

// newline returns the length of the line break at the cursor, or 0.
func (d *decoder) newline() int {
	if d.pos >= len(d.src) {
		return 0
	}
	return lineBreak(d.src[d.pos:])
}

// toLineEnd moves the cursor to the line break or the end of the text.
func (d *decoder) toLineEnd() {
	for d.pos < len(d.src) {
		c := d.src[d.pos]
		if c == '\n' || (c == '\r' || c == 0xc2 || c == 0xe2) && d.newline() > 0 {
			return
		}
		d.pos++
	}
}

// properties skips the tag and the anchor in front of the scalar.
func (d *decoder) properties() {
	for d.peek(0) == '!' || d.peek(0) == '&' {
		for d.pos < len(d.src) && !d.blank() && d.newline() == 0 {
			d.pos++
		}
		for d.blank() || d.newline() > 0 {
			d.pos += max(d.newline(), 1)
		}
	}
}

// breaks is a run of line breaks, each with the bytes it was written as.
type breaks [][2]int

func (d *decoder) put(b breaks) {
	for _, r := range b {
		d.Replace(r[0], r[1], breakValue(d.src[r[0]:r[1]]))
	}
}

// breakValue returns what a line break reads as: the two that Unicode added stay.
func breakValue(s string) string {
	if len(s) == 3 {
		return s
	}
	return "\n"
}

func (d *decoder) block(literal bool, value string) {
	d.pos++ // '|' or '>'
	chomp, explicit := byte(0), false
	for c := d.peek(0); c == '+' || c == '-' || '1' <= c && c <= '9'; c = d.peek(0) {
		if c == '+' || c == '-' {
			chomp = c
		} else {
			explicit = true
		}
		d.pos++
	}
	d.toLineEnd() // spaces and a comment
	d.pos += d.newline()

	indent := 0
	if explicit { // counts from the parent's indentation, which only the value tells
		indent = leadingSpaces(d.src[d.pos:]) - leadingSpaces(value)
	}
	// eat skips indentation and blank lines, and returns the breaks of the latter.
	eat := func(b breaks) breaks {
		for {
			start := d.pos
			for d.peek(0) == ' ' && (indent == 0 || d.pos-start < indent) {
				d.pos++
			}
			n := d.newline()
			if n == 0 {
				if indent == 0 {
					indent = d.pos - start
				}
				if d.pos-start < indent {
					d.pos = start // belongs to what follows the scalar
					indent = -1
				}
				return b
			}
			b = append(b, [2]int{d.pos, d.pos + n})
			d.pos += n
		}
	}
	trailing := eat(nil)
	var leading breaks
	leadingBlank := false
	for indent > 0 && d.pos < len(d.src) {
		if !literal && leading != nil && !leadingBlank && !d.blank() {
			if len(trailing) == 0 {
				d.Replace(leading[0][0], d.pos, " ")
			}
		} else {
			d.put(leading)
		}
		d.put(trailing)
		leading, trailing = nil, nil
		leadingBlank = d.blank()
		start := d.pos
		d.toLineEnd()
		d.Copy(start, d.pos)
		if n := d.newline(); n > 0 {
			leading = breaks{{d.pos, d.pos + n}}
			d.pos += n
			trailing = eat(nil)
		}
	}
	if chomp != '-' {
		d.put(leading)
	}
	if chomp == '+' {
		d.put(trailing)
	}
}

// leadingSpaces returns the indentation of the first line of s that is not blank.
func leadingSpaces(s string) int {
	s = strings.TrimLeft(s, "\r\n")
	for line := range strings.SplitSeq(s, "\n") {
		if trimmed := strings.TrimLeft(line, " "); strings.TrimRight(trimmed, "\r") != "" {
			return len(line) - len(trimmed)
		}
	}
	return 0
}

// flow decodes a plain scalar (quote is 0) or a quoted one of size bytes.
func (d *decoder) flow(quote byte, size int) {
	for d.pos < len(d.src) {
		escapedBreak := false
		start := d.pos
		copyRun := func() { d.Copy(start, d.pos) }
	chars:
		for d.pos < len(d.src) && !d.blank() && d.newline() == 0 {
			switch c := d.peek(0); {
			case quote == 0 && d.Len()+d.pos-start >= size:
				copyRun()
				return
			case quote == '\'' && c == '\'' && d.peek(1) == '\'':
				copyRun()
				d.Replace(d.pos, d.pos+2, "'")
				d.pos += 2
				start = d.pos
			case quote != 0 && c == quote:
				copyRun()
				d.pos++
				return
			case quote == '"' && c == '\\':
				copyRun()
				at := d.pos
				d.pos++
				if n := d.newline(); n > 0 {
					d.pos += n
					escapedBreak = true
					start = d.pos
					break chars
				}
				value, n := unescape(d.src[d.pos:])
				d.pos += n
				d.Replace(at, d.pos, value)
				start = d.pos
			default:
				d.pos++
			}
		}
		copyRun()
		if quote == 0 && d.Len() >= size {
			return
		}
		blanks := d.pos
		var leading, trailing breaks
		for d.blank() || d.newline() > 0 {
			n := d.newline()
			switch {
			case n == 0:
				d.pos++
				continue
			case leading == nil && !escapedBreak:
				leading = breaks{{d.pos, d.pos + n}}
			default:
				trailing = append(trailing, [2]int{d.pos, d.pos + n})
			}
			d.pos += n
		}
		switch {
		case leading == nil && !escapedBreak:
			d.Copy(blanks, d.pos)
		case leading != nil && breakValue(d.src[leading[0][0]:leading[0][1]]) != "\n":
			d.put(leading)
			d.put(trailing)
		case len(trailing) > 0:
			d.put(trailing)
		case !escapedBreak:
			d.Replace(blanks, d.pos, " ")
		}
	}
}

// unescape decodes the escape whose text after the backslash begins s.
func unescape(s string) (value string, n int) {
	if s == "" {
		return "", 0
	}
	size := 0
	switch s[0] {
	case '0':
		value = "\x00"
	case 'a':
		value = "\a"
	case 'b':
		value = "\b"
	case 't', '\t':
		value = "\t"
	case 'n':
		value = "\n"
	case 'v':
		value = "\v"
	case 'f':
		value = "\f"
	case 'r':
		value = "\r"
	case 'e':
		value = "\x1b"
	case 'N':
		value = "\u0085"
	case '_':
		value = "\u00a0"
	case 'L':
		value = "\u2028"
	case 'P':
		value = "\u2029"
	case 'x':
		size = 2
	case 'u':
		size = 4
	case 'U':
		size = 8
	default:
		value = s[:1] // space, quote, backslash, slash
	}
	if size > 0 && len(s) > size {
		if r, err := strconv.ParseUint(s[1:1+size], 16, 32); err == nil {
			return string(rune(r)), 1 + size
		}
	}
	return value, 1
}
