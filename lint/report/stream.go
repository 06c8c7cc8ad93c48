// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A stream writes an indented JSON document piece by piece. Characters that are
// invisible come out as escapes: a document printed to a terminal, or read in a
// review, looks like what it is.
type stream struct {
	w     *bufio.Writer
	enc   *json.Encoder // of one value, into buf
	buf   bytes.Buffer
	depth int
	more  bool // the innermost open value has members
	err   error
}

func newStream(w io.Writer) *stream {
	s := &stream{w: bufio.NewWriterSize(w, 1<<16)}
	s.enc = json.NewEncoder(&s.buf)
	s.enc.SetEscapeHTML(false) // PromQL is full of < and >
	return s
}

// open begins an object or an array ("{" or "["), as the member called name; an
// element of an array has no name.
func (s *stream) open(name, bracket string) {
	s.next(name)
	s.w.WriteString(bracket)
	s.depth++
	s.more = false
}

// close ends what open began.
func (s *stream) close(bracket string) {
	s.depth--
	if s.more {
		s.line()
	}
	s.w.WriteString(bracket)
	s.more = true
}

// put writes a whole value.
func (s *stream) put(name string, value any) {
	s.next(name)
	s.buf.Reset()
	s.enc.SetIndent(indent(s.depth), "  ")
	if err := s.enc.Encode(value); err != nil && s.err == nil {
		s.err = err
	}
	s.escape(bytes.TrimSuffix(s.buf.Bytes(), []byte("\n")))
}

// finish ends the document.
func (s *stream) finish() error {
	s.w.WriteByte('\n')
	if err := s.w.Flush(); err != nil {
		return err
	}
	return s.err
}

// next goes to where the next member begins.
func (s *stream) next(name string) {
	if s.more {
		s.w.WriteByte(',')
	}
	if s.depth > 0 {
		s.line()
	}
	if name != "" {
		fmt.Fprintf(s.w, "%q: ", name)
	}
	s.more = true
}

func (s *stream) line() {
	s.w.WriteByte('\n')
	s.w.WriteString(indent(s.depth))
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// escape writes JSON with escapes for the invisible characters that
// encoding/json leaves alone. Beyond ASCII, JSON has characters only in strings.
func (s *stream) escape(b []byte) {
	for i := 0; i < len(b); {
		if b[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if !invisible(r) {
			i += n
			continue
		}
		s.w.Write(b[:i])
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(s.w, `\u%04x\u%04x`, high, low)
		} else {
			fmt.Fprintf(s.w, `\u%04x`, r)
		}
		b, i = b[i+n:], 0
	}
	s.w.Write(b)
}
