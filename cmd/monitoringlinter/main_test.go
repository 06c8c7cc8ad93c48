// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/monitoringlinter/monitoringlinter/lint/config"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

var update = flag.Bool("update", false, "rewrite generated files and the recorded output of scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"monitoringlinter": main})
}

// TestScripts runs the command as a user does.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			// No configuration above the folder of the test is to be found.
			return os.Mkdir(filepath.Join(e.WorkDir, ".git"), 0o755)
		},
	})
}

// TestGenerated fails when a file that is made from the checks is out of date.
func TestGenerated(t *testing.T) {
	page, err := documentation().Page("Checks of rules, monitors and runbooks", referenceIntro)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := config.Schema(allChecks)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"../../rules/README.md":                          page,
		"../../lint/config/monitoringlinter.schema.json": string(schema),
	} {
		got, err := os.ReadFile(path)
		if err == nil && string(got) == want {
			continue
		}
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Error(err)
			}
			continue
		}
		t.Errorf("%s is out of date (%v); run make generate", filepath.Base(path), err)
	}
}

const referenceIntro = `What monitoringlinter checks in Prometheus rules, in the monitors of the Prometheus operator and in runbooks, and why. Every example below is run by the tests, and what is printed under it is the real output.

The severity is the one that holds without a configuration; some checks report lesser faults below it, as they say. ` + "`monitoringlinter explain ID`" + ` prints the section of a check. How checks are turned off, graded and configured is in the [README](../README.md#configuration).`

// TestPresets checks that what the presets set exists.
func TestPresets(t *testing.T) {
	for _, id := range config.PresetIDs() {
		if findCheck(id) == nil {
			t.Errorf("a preset sets %s, and there is no such check", id)
		}
	}
	for _, p := range config.Presets() {
		file := source.NewFileString(".monitoringlinter.yaml", "extends: ["+p.Name+"]\n")
		if _, err := config.Load(config.Input{File: file, Checks: allChecks, Root: "."}); err != nil {
			t.Errorf("preset %s: %v", p.Name, err)
		}
	}
}

// imports are the packages of the module that each package may import. What a
// package of checks may not know is what would make one check depend on another.
var imports = map[string][]string{
	"lint/source":          nil,
	"lint/near":            nil,
	"lint":                 {"lint/source"},
	"lint/files":           {"lint", "lint/source"},
	"lint/config":          {"lint", "lint/source", "lint/near"},
	"lint/filter":          {"lint", "lint/source", "lint/near"},
	"lint/fix":             {"lint", "lint/source"},
	"lint/report":          {"lint", "lint/source"},
	"lint/reference":       {"lint", "lint/source", "lint/config", "lint/filter", "lint/report"},
	"lint/linttest":        {"lint", "lint/source", "lint/config", "lint/filter", "lint/fix", "lint/reference", "lint/report"},
	"rules/yamltext":       {"lint/source"},
	"rules/promql":         {"lint/source"},
	"rules/monitors":       {"lint", "lint/source", "lint/near"},
	"rules":                {"lint", "lint/source", "lint/near", "rules/yamltext", "rules/promql", "rules/monitors"},
	"runbook":              {"lint", "lint/source"},
	"runbook/checks":       {"lint", "lint/source", "lint/near", "rules", "rules/promql", "runbook"},
	"rules/checks":         {"lint", "lint/source", "lint/near", "rules", "rules/promql", "rules/monitors", "runbook"},
	"cmd/monitoringlinter": {"lint", "lint/source", "lint/near", "lint/files", "lint/config", "lint/filter", "lint/reference", "lint/report", "rules", "rules/checks", "runbook", "runbook/checks"},
}

// TestImports holds the table of who may import whom, and that PromQL is parsed
// in one place only.
func TestImports(t *testing.T) {
	const module = "github.com/monitoringlinter/monitoringlinter/"
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], module)
		allowed, ok := imports[pkg]
		if !ok {
			t.Errorf("package %s is not in the table of imports", pkg)
			continue
		}
		for _, path := range fields[1:] {
			if own, ok := strings.CutPrefix(path, module); ok && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s", pkg, own)
			}
		}
	}
	parses := regexp.MustCompile(`parser\.(NewParser|ParseExpr)\(`)
	err = filepath.WalkDir("../../rules", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") || strings.Contains(filepath.ToSlash(p), "rules/promql/") {
			return err
		}
		data, err := os.ReadFile(p)
		if parses.Match(data) {
			t.Errorf("%s parses PromQL: only package promql does", p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	readmeBlock   = regexp.MustCompile("(?s)```console\n(.*?)```")
	readmeCommand = regexp.MustCompile(`(?m)^\$ (.*)$`)
	readmeTime    = regexp.MustCompile(`\(\d+ms\)`)
)

// TestREADME runs the commands of the README that stand beside their output.
func TestREADME(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	ran := 0
	text := readmeBlock.ReplaceAllStringFunc(string(data), func(block string) string {
		inner := readmeBlock.FindStringSubmatch(block)[1]
		var b strings.Builder
		b.WriteString("```console\n")
		for _, m := range readmeCommand.FindAllStringSubmatch(inner, -1) {
			args, ok := strings.CutPrefix(m[1], "go run ./cmd/monitoringlinter ")
			if !ok {
				t.Errorf("README runs %q, which the test does not know how to run", m[1])
				continue
			}
			ran++
			var out bytes.Buffer
			command(context.Background(), stdio{in: strings.NewReader(""), out: &out, err: &out}, strings.Fields(args))
			b.WriteString(m[0] + "\n" + readmeTime.ReplaceAllString(out.String(), "(2ms)"))
		}
		b.WriteString("```")
		return b.String()
	})
	if ran == 0 {
		t.Fatal("README shows no command with its output")
	}
	if text == string(data) {
		return
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("README shows other output than the commands print; run make update (-README +printed):\n%s", cmp.Diff(string(data), text))
}

// TestArgumentsDoNotForgeOutput: names of files come from strangers, too.
func TestArgumentsDoNotForgeOutput(t *testing.T) {
	for _, args := range [][]string{{"\x1b[31mred.yaml"}, {"--format", "\x1b[2J"}, {"explain", "\x1b[2J\u202e"}, {"new", "\x1b[2J"}} {
		var errs strings.Builder
		if status := command(t.Context(), stdio{in: strings.NewReader(""), out: io.Discard, err: &errs}, args); status != exitFailure {
			t.Errorf("%q: exit status %d", args, status)
		}
		if strings.ContainsAny(errs.String(), "\x1b\u202e") {
			t.Errorf("%q prints %q", args, errs.String())
		}
	}
}
