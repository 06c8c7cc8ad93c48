// SPDX-License-Identifier: Apache-2.0

// Monitoringlinter checks Prometheus rule files and the manifests that hold
// rules. See the README for what it finds and how it is configured.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/report"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/rules/checks"
	"github.com/monitoringlinter/monitoringlinter/runbook"
	runbookchecks "github.com/monitoringlinter/monitoringlinter/runbook/checks"
)

// The exit status.
const (
	exitClean    = 0 // nothing at or above --fail-on
	exitFindings = 1
	exitFailure  = 2 // the work could not be done
)

// What a run knows.
var (
	allChecks    = slices.Concat(checks.All(), runbookchecks.All())
	allLanguages = []lint.Language{rules.Language, runbook.Language}
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	std := stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	return command(ctx, std, os.Args[1:])
}

// stdio is the standard streams of a command.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// fail says why the work could not be done.
func (s stdio) fail(format string, args ...any) int {
	lines := strings.Split(fmt.Sprintf(format, args...), "\n")
	for i := range lines {
		lines[i] = report.Visible(lines[i])
	}
	fmt.Fprintf(s.err, "monitoringlinter: %s\n", strings.Join(lines, "\n"))
	return exitFailure
}

// A subcommand is what the first argument may name.
type subcommand struct {
	name, args, short string
	run               func(ctx context.Context, std stdio, args []string) int
}

// subcommands is filled in where it would otherwise refer to itself through
// help and completion.
var subcommands []subcommand

func init() {
	subcommands = []subcommand{
		{"lint", "[flags] [path | glob | -] ...", "lint files and folders (what happens without a subcommand)", lintCommand},
		{"checks", "", "list the checks", checksCommand},
		{"explain", "ID", "explain a check: what, why, examples, options", explainCommand},
		{"init", "[--preset NAME]", "write a .monitoringlinter.yaml to start from", initCommand},
		{"new", "ID", "write the files of a new check (for developers of monitoringlinter)", newCommand},
		{"completion", "bash|zsh|fish", "print a completion script for the shell", completionCommand},
	}
}

func command(ctx context.Context, std stdio, args []string) int {
	if len(args) > 0 {
		for _, c := range subcommands {
			if c.name != args[0] {
				continue
			}
			if c.name != "lint" && len(args) > 1 && (args[1] == "--help" || args[1] == "-h") {
				fmt.Fprintf(std.out, "%s\n\n  %s\n", strings.TrimSpace("monitoringlinter "+c.name+" "+c.args), c.short)
				return exitClean
			}
			return c.run(ctx, std, args[1:])
		}
		if args[0] == "help" {
			return lintCommand(ctx, std, []string{"--help"})
		}
	}
	return lintCommand(ctx, std, args)
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "monitoringlinter (unknown version)"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	var details []string
	for _, key := range []string{"vcs.revision", "vcs.time"} {
		for _, s := range info.Settings {
			if s.Key == key && s.Value != "" {
				details = append(details, s.Value)
			}
		}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.modified" && s.Value == "true" {
			details = append(details, "modified")
		}
	}
	details = append(details, info.GoVersion)
	return fmt.Sprintf("monitoringlinter %s (%s)", v, strings.Join(details, ", "))
}
