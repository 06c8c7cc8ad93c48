// SPDX-License-Identifier: Apache-2.0

package promql

import "github.com/prometheus/prometheus/promql/parser"

// HoldsOfZero reports whether a comparison with a constant is true of a vector's
// value of 0.
func HoldsOfZero(n *parser.BinaryExpr) bool {
	op := n.Op
	bound, ok := constant(n.RHS)
	if !ok {
		op = mirrored(op)
		if bound, ok = constant(n.LHS); !ok {
			return false
		}
	}
	return point(0).holds(op, point(bound))
}
