// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCorpus compares the report on the realistic rules under testdata/corpus
// with the recorded one, so that a change of behaviour is seen as a diff of
// findings.
func TestCorpus(t *testing.T) {
	const golden = "report.txt"
	t.Chdir("../../testdata/corpus")
	var out, errs bytes.Buffer
	if status := command(context.Background(), stdio{out: &out, err: &errs}, []string{"--show", "info", "."}); status != exitFindings {
		t.Fatalf("exit status %d: %s", status, errs.String())
	}
	want, err := os.ReadFile(golden)
	if err == nil && bytes.Equal(want, out.Bytes()) {
		return
	}
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the report has changed; run make update (-recorded +now):\n%s", cmp.Diff(string(want), out.String()))
}
