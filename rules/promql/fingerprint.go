// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"hash/maphash"
	"math"

	"github.com/prometheus/prometheus/promql/parser"
)

var seed = maphash.MakeSeed()

// Fingerprint returns a number that is the same for expressions whose
// [Expr.Normal] is the same, within one run, and costs far less than that.
// Expressions that differ may share it.
func (e *Expr) Fingerprint() uint64 {
	if e.Root == nil {
		return 0
	}
	return fingerprint(e.Root)
}

// Fingerprint is [Expr.Fingerprint] of a part of an expression.
func Fingerprint(n parser.Expr) uint64 { return fingerprint(n) }

func fingerprint(n parser.Expr) uint64 {
	switch n := Unwrap(n).(type) {
	case *parser.AggregateExpr:
		h := mix(1, uint64(n.Op), fingerprint(n.Expr))
		if n.Param != nil {
			h = mix(h, fingerprint(n.Param))
		}
		return mix(h, flag(n.Without), labelSet(n.Grouping))
	case *parser.BinaryExpr:
		h := mix(2, fingerprint(n.LHS), uint64(n.Op), fingerprint(n.RHS))
		if m := n.VectorMatching; m != nil {
			h = mix(h, uint64(m.Card), flag(m.On), labelSet(m.MatchingLabels), labelSet(m.Include))
		}
		h = mix(h, flag(n.ReturnBool))
		return h
	case *parser.Call:
		h := maphash.String(seed, n.Func.Name)
		for _, a := range n.Args {
			h = mix(h, fingerprint(a))
		}
		return h
	case *parser.UnaryExpr:
		return mix(3, uint64(n.Op), fingerprint(n.Expr))
	case *parser.VectorSelector:
		h := mix(4, uint64(n.OriginalOffset))
		for _, m := range n.LabelMatchers { // in any order
			h += mix(uint64(m.Type), maphash.String(seed, m.Name), maphash.String(seed, m.Value))
		}
		return h
	case *parser.MatrixSelector:
		return mix(5, fingerprint(n.VectorSelector), uint64(n.Range))
	case *parser.SubqueryExpr:
		return mix(6, fingerprint(n.Expr), uint64(n.Range), uint64(n.Step), uint64(n.OriginalOffset))
	case *parser.NumberLiteral:
		return mix(7, math.Float64bits(n.Val))
	case *parser.StringLiteral:
		return maphash.String(seed, n.Val)
	}
	return 0
}

// labelSet returns a number for a list of labels in which neither the order nor
// repetitions count.
func labelSet(labels []string) uint64 {
	var h uint64
	for _, l := range labels {
		h |= 1 << (maphash.String(seed, l) % 64)
	}
	return h
}

func flag(set bool) uint64 {
	if set {
		return 1
	}
	return 2
}

func mix(h uint64, values ...uint64) uint64 {
	for _, v := range values {
		h = (h ^ v) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}
