// SPDX-License-Identifier: Apache-2.0

// Package near finds the known name that a misspelt one was meant to be.
package near

import "strings"

// Name returns the candidate that name is a misspelling of: at most one letter
// wrong, missing, too many or swapped with its neighbour in a short name, two
// in one of more than four letters, and never more than a third of it; or the
// last part of a candidate with a slash. Of several the nearest wins, then the
// first. A name that is a candidate itself is no misspelling.
func Name(name string, candidates []string) (string, bool) {
	best, least := "", 1<<10
	for _, c := range candidates {
		if c == name {
			return "", false
		}
		if name != "" && strings.HasSuffix(c, "/"+name) && least > 1 {
			best, least = c, 1
			continue
		}
		limit := 2
		if n := min(len(name), len(c)); n <= 4 {
			limit = 1
		} else if n < 6 {
			limit = n / 3
		}
		d := limit*2 + 1
		if strings.EqualFold(name, c) {
			d = 1
		} else if n := distance(strings.ToLower(name), strings.ToLower(c), limit); n <= limit {
			d = 2 * n
		}
		if d <= limit*2 && d < least {
			best, least = c, d
		}
	}
	return best, best != ""
}

// distance returns the number of letters to insert, remove, replace or swap
// with a neighbour to turn a into b, or more than limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
