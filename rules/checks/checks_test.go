// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"testing"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/linttest"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/runbook"
)

func TestChecks(t *testing.T) {
	s := linttest.Suite{Languages: []lint.Language{rules.Language, runbook.Language}, Checks: All()}
	s.Run(t)
}
