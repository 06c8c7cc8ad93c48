// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// invisible reports whether r has no form of its own but acts on what is around
// it: control characters (C0, DEL, C1), line and paragraph separators, and
// format characters, which are those that direct bidirectional text and those
// of zero width.
func invisible(r rune) bool {
	return r < ' ' || r >= 0x7f && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Visible returns s on one line, with each invisible character and each byte
// that is not UTF-8 spelled as an escape of Go: \n, \x1b, \u202e. Backslashes
// stay as they are: what is shown is for reading, not for parsing.
func Visible(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return string(appendVisible(make([]byte, 0, len(s)+16), s))
		}
	}
	return s
}

func appendVisible(b []byte, s string) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b = fmt.Appendf(b, `\x%02x`, s[0])
		case !invisible(r):
			b = append(b, s[:n]...)
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < utf8.RuneSelf:
			b = fmt.Appendf(b, `\x%02x`, r)
		case r <= 0xffff:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
		s = s[n:]
	}
	return b
}
