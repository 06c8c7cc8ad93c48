// SPDX-License-Identifier: Apache-2.0

// Package near finds the known name that a misspelt one was meant to be.
package near

import "strings"

// Name returns the candidate that name is a misspelling of: at most two letters
// wrong, missing, too many or swapped with their neighbour, and at most a third
// of the longer name; in another case; or the last part of a candidate with a
// slash. Of several the nearest wins, then the first. A name that is a candidate
// itself is no misspelling.
func Name(name string, candidates []string) (string, bool) {
	const none = 1 << 10
	best, least := "", none // least is twice the distance, so that case can count half
	lower := ""
	for _, c := range candidates {
		d := none
		switch limit := min(maxDistance, max(len(name), len(c))/3); {
		case c == name:
			return "", false
		case name == "":
		case strings.EqualFold(name, c), strings.HasSuffix(c, "/"+name):
			d = 1
		case abs(len(name)-len(c)) > limit:
			// Not worth a look, however long either is.
		default:
			if lower == "" {
				lower = strings.ToLower(name)
			}
			if n := distance(lower, strings.ToLower(c), limit); n <= limit {
				d = 2 * n
			}
		}
		if d < least {
			best, least = c, d
		}
	}
	return best, least < none
}

// maxDistance is the most letters that a misspelling differs in.
const maxDistance = 2

func abs(n int) int { return max(n, -n) }

// distance returns the number of letters to insert, remove, replace or swap
// with a neighbour to turn a into b, or more than limit. Only a band around the
// diagonal can stay within the limit, so the time is that of reading a.
func distance(a, b string, limit int) int {
	if abs(len(a)-len(b)) > limit {
		return limit + 1
	}
	// Cell k of the band of row i stands for the first i letters of a and the
	// first i+k-limit-1 of b; the cells at its rims are beyond the limit.
	width := 2*limit + 3
	var room [3 * (2*maxDistance + 3)]int
	cells := room[:]
	if 3*width > len(cells) {
		cells = make([]int, 3*width)
	}
	before, last, row := cells[:width], cells[width:2*width], cells[2*width:3*width]
	for k := range last {
		before[k] = limit + 1
		if last[k] = k - limit - 1; last[k] < 0 {
			last[k] = limit + 1
		}
	}
	for i := 1; i <= len(a); i++ {
		row[0], row[width-1] = limit+1, limit+1
		least := limit + 1
		for k := 1; k < width-1; k++ {
			j := i + k - limit - 1
			switch {
			case j < 0 || j > len(b):
				row[k] = limit + 1
			case j == 0:
				row[k] = i
			default:
				cost := 1
				if a[i-1] == b[j-1] {
					cost = 0
				}
				row[k] = min(last[k]+cost, last[k+1]+1, row[k-1]+1)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					row[k] = min(row[k], before[k]+1)
				}
			}
			least = min(least, row[k])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)-len(a)+limit+1]
}
