// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"fmt"
	"math"
	"strconv"

	"github.com/prometheus/prometheus/promql/parser"
)

// An Interval is the values that a result can have. A bound that is open is not
// among them.
type Interval struct {
	Low, High         float64
	LowOpen, HighOpen bool
	NaN               bool // not a number is possible as well
}

func anything() Interval { return Interval{Low: math.Inf(-1), High: math.Inf(1), NaN: true} }

func point(v float64) Interval {
	if math.IsNaN(v) {
		return anything()
	}
	return Interval{Low: v, High: v}
}

func between(low, high float64) Interval { return Interval{Low: low, High: high} }

// whole is the most that a part of a whole can be, given that two sums of the
// same numbers may differ in their last digits.
const whole = 1 + 1e-9

// atLeast returns the numbers from low on.
func atLeast(low float64) Interval { return Interval{Low: low, High: math.Inf(1)} }

// Point returns the only value, if there is just one.
func (i Interval) Point() (float64, bool) { return i.Low, i.Low == i.High && !i.NaN }

// Known reports whether any value is excluded.
func (i Interval) Known() bool {
	return !i.NaN || !math.IsInf(i.Low, -1) || !math.IsInf(i.High, 1) || i.LowOpen || i.HighOpen
}

// Contains reports whether v is among the values.
func (i Interval) Contains(v float64) bool {
	if math.IsNaN(v) {
		return i.NaN
	}
	return (v > i.Low || v == i.Low && !i.LowOpen) && (v < i.High || v == i.High && !i.HighOpen)
}

func (i Interval) empty() bool {
	return !i.NaN && (i.Low > i.High || i.Low == i.High && (i.LowOpen || i.HighOpen))
}

// String says in words which values there are.
func (i Interval) String() string {
	number := func(v float64) string {
		if v == whole {
			v = 1
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	low, high := !math.IsInf(i.Low, -1), !math.IsInf(i.High, 1)
	switch {
	case low && high && i.Low == i.High:
		return number(i.Low)
	case low && high && !i.LowOpen && !i.HighOpen:
		return fmt.Sprintf("between %s and %s", number(i.Low), number(i.High))
	case low && high:
		from, to := "at least ", "at most "
		if i.LowOpen {
			from = "more than "
		}
		if i.HighOpen {
			to = "less than "
		}
		return from + number(i.Low) + " and " + to + number(i.High)
	case low && i.LowOpen:
		return "more than " + number(i.Low)
	case low:
		return number(i.Low) + " or more"
	case high && i.HighOpen:
		return "less than " + number(i.High)
	case high:
		return number(i.High) + " or less"
	}
	return "any number"
}

func (i Interval) union(o Interval) Interval {
	if o.Low < i.Low {
		i.Low, i.LowOpen = o.Low, o.LowOpen
	} else if o.Low == i.Low {
		i.LowOpen = i.LowOpen && o.LowOpen
	}
	if o.High > i.High {
		i.High, i.HighOpen = o.High, o.HighOpen
	} else if o.High == i.High {
		i.HighOpen = i.HighOpen && o.HighOpen
	}
	i.NaN = i.NaN || o.NaN
	return i
}

func (i Interval) negate() Interval {
	return Interval{Low: -i.High, High: -i.Low, LowOpen: i.HighOpen, HighOpen: i.LowOpen, NaN: i.NaN}
}

// narrow returns the values of i for which the comparison with some value of o
// holds.
func (i Interval) narrow(op parser.ItemType, o Interval) Interval {
	below := func(high float64, open bool) {
		if high < i.High || high == i.High && open {
			i.High, i.HighOpen = high, open
		}
	}
	above := func(low float64, open bool) {
		if low > i.Low || low == i.Low && open {
			i.Low, i.LowOpen = low, open
		}
	}
	if op == parser.NEQ { // holds of what is not a number, too
		if v, ok := o.Point(); ok && i.Low == v && i.High == v && !i.NaN {
			i.LowOpen = true
		}
		return i
	}
	i.NaN = false
	if o.empty() {
		i.LowOpen, i.Low, i.High = true, 0, 0
		return i
	}
	switch op {
	case parser.GTR:
		above(o.Low, true)
	case parser.GTE:
		above(o.Low, o.LowOpen)
	case parser.LSS:
		below(o.High, true)
	case parser.LTE:
		below(o.High, o.HighOpen)
	case parser.EQLC:
		above(o.Low, o.LowOpen)
		below(o.High, o.HighOpen)
	}
	return i
}

// holds reports whether the comparison is true of every pair of values.
func (i Interval) holds(op parser.ItemType, o Interval) bool {
	if i.NaN || o.NaN {
		return false
	}
	switch op {
	case parser.GTR:
		return i.Low > o.High || i.Low == o.High && (i.LowOpen || o.HighOpen)
	case parser.GTE:
		return i.Low >= o.High
	case parser.LSS:
		return i.High < o.Low || i.High == o.Low && (i.HighOpen || o.LowOpen)
	case parser.LTE:
		return i.High <= o.Low
	case parser.EQLC:
		a, one := i.Point()
		b, other := o.Point()
		return one && other && a == b
	case parser.NEQ:
		return i.High < o.Low || i.Low > o.High || (i.High == o.Low && (i.HighOpen || o.LowOpen)) || (i.Low == o.High && (i.LowOpen || o.HighOpen))
	}
	return false
}

// calculate returns the values that an arithmetic operator can give.
func (i Interval) calculate(op parser.ItemType, o Interval) Interval {
	if a, ok := i.Point(); ok {
		if b, ok := o.Point(); ok {
			return point(arithmetic(op, a, b))
		}
	}
	nan := i.NaN || o.NaN
	finite := func(i Interval) bool { return !math.IsInf(i.Low, 0) && !math.IsInf(i.High, 0) }
	switch op {
	case parser.ADD, parser.SUB:
		if op == parser.SUB {
			o = o.negate()
		}
		out := Interval{Low: i.Low + o.Low, High: i.High + o.High, LowOpen: i.LowOpen || o.LowOpen, HighOpen: i.HighOpen || o.HighOpen, NaN: nan || !finite(i) && !finite(o)}
		// Inf values may be among the data, and Inf - Inf is not a number.
		if math.IsNaN(out.Low) || math.IsNaN(out.High) {
			return anything()
		}
		// A sum of floating point numbers may round onto the bound.
		out.LowOpen, out.HighOpen = false, false
		return out
	case parser.MUL, parser.DIV:
		v, c, ok := i, 0.0, false
		if c, ok = o.Point(); !ok && op == parser.MUL {
			v = o
			c, ok = i.Point()
		}
		if ok && c != 0 && !math.IsInf(c, 0) {
			if c < 0 {
				v, c = v.negate(), -c
			}
			if op == parser.DIV {
				return Interval{Low: v.Low / c, High: v.High / c, NaN: nan}
			}
			return Interval{Low: v.Low * c, High: v.High * c, NaN: nan}
		}
		if i.Low >= 0 && o.Low >= 0 {
			out := atLeast(0) // 0 * Inf and 0 / 0 are not numbers
			out.NaN = true
			return out
		}
	case parser.MOD, parser.POW, parser.ATAN2:
	}
	return anything()
}

func arithmetic(op parser.ItemType, a, b float64) float64 {
	switch op {
	case parser.ADD:
		return a + b
	case parser.SUB:
		return a - b
	case parser.MUL:
		return a * b
	case parser.DIV:
		return a / b
	case parser.POW:
		return math.Pow(a, b)
	case parser.MOD:
		return math.Mod(a, b)
	case parser.ATAN2:
		return math.Atan2(a, b)
	}
	return math.NaN()
}
