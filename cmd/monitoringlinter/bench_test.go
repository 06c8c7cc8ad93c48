// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// ruleSet writes n rules, in files of 40 as repositories have them, and returns
// the folder: a third are recording rules, and each alert has labels, three
// annotations and an expression of three lines.
func ruleSet(b *testing.B, n int) string {
	b.Helper()
	const groups, rules = 4, 10
	dir := b.TempDir()
	for k, file := 0, 0; k < n; file++ {
		var w strings.Builder
		w.WriteString("groups:\n")
		for g := range groups {
			fmt.Fprintf(&w, "  - name: svc%d-g%d.rules\n    rules:\n", file, g)
			for r := range rules {
				k++
				if r%3 == 0 {
					fmt.Fprintf(&w, `      - record: namespace_pod:http_requests_%[2]d:rate5m
        expr: sum by (namespace, pod) (rate(http_requests_%[2]d_total{job="svc%[1]d", code=~"5.."}[5m]))
`, file, k)
					continue
				}
				fmt.Fprintf(&w, `      - alert: Svc%[1]dHighErrorRate%[2]d
        expr: |
          sum by (namespace, pod) (rate(http_requests_%[2]d_total{job="svc%[1]d", code=~"5.."}[5m]))
            /
          sum by (namespace, pod) (rate(http_requests_%[2]d_total{job="svc%[1]d"}[5m])) > 0.05
        for: 10m
        labels:
          severity: warning
        annotations:
          summary: High error rate on {{ $labels.pod }}
          description: "Pod {{ $labels.namespace }}/{{ $labels.pod }} fails {{ $value | humanizePercentage }} of requests."
          runbook_url: https://runbooks.internal/Svc%[1]dHighErrorRate%[2]d
`, file, k)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("r%04d.yml", file)), []byte(w.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// BenchmarkFloor is the least that any linter of rules must do: read the files,
// parse the YAML into nodes and the expressions into trees, on all processors.
func BenchmarkFloor(b *testing.B) {
	dir := ruleSet(b, 20_000)
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var wg sync.WaitGroup
		next := make(chan string)
		for range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				p := parser.NewParser(parser.Options{})
				for path := range next {
					data, err := os.ReadFile(path)
					if err != nil {
						b.Error(err)
						continue
					}
					var root yaml.Node
					if err := yaml.Unmarshal(data, &root); err != nil {
						b.Error(err)
					}
					parseExpressions(b, p, &root)
				}
			})
		}
		for _, path := range paths {
			next <- path
		}
		close(next)
		wg.Wait()
	}
}

func parseExpressions(b *testing.B, p parser.Parser, n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == "expr" {
				if _, err := p.ParseExpr(n.Content[i+1].Value); err != nil {
					b.Error(err)
				}
			}
		}
	}
	for _, c := range n.Content {
		parseExpressions(b, p, c)
	}
}

// BenchmarkLint is the whole command with all default checks.
func BenchmarkLint(b *testing.B) {
	dir := ruleSet(b, 20_000)
	for _, format := range formatNames() {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				std := stdio{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
				if status := command(context.Background(), std, []string{"--format", format, dir}); status == exitFailure {
					b.Fatalf("exit status %d", status)
				}
			}
		})
	}
}

// BenchmarkStart is the whole command on one small file.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		std := stdio{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
		if status := command(context.Background(), std, []string{"../../testdata/story"}); status == exitFailure {
			b.Fatalf("exit status %d", status)
		}
	}
}
