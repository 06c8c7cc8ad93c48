// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/config"
	"github.com/monitoringlinter/monitoringlinter/lint/files"
	"github.com/monitoringlinter/monitoringlinter/lint/filter"
	"github.com/monitoringlinter/monitoringlinter/lint/report"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

// lintFlags are the flags of the main command.
type lintFlags struct {
	set *pflag.FlagSet

	rulesFiles      []string
	config          string
	presets         []string
	enable, disable []string
	format          string
	reports         []string
	failOn, show    string
	stdinFilename   string
	jobs            int
	color           string
	quiet           bool
	version, help   bool
}

func newLintFlags() *lintFlags {
	f := &lintFlags{set: pflag.NewFlagSet("monitoringlinter", pflag.ContinueOnError)}
	s := f.set
	s.SortFlags = false
	s.Usage = func() {}
	s.StringArrayVar(&f.rulesFiles, "rules-file", nil, "lint `FILE`; the same as naming the path (repeatable)")
	s.StringVar(&f.config, "config", "", "read the configuration from `FILE` (default .monitoringlinter.yaml, searched upwards from the current folder)")
	s.StringArrayVar(&f.presets, "preset", nil, "start from the preset `NAME`: default, strict, kubevirt or openshift (repeatable)")
	s.StringSliceVar(&f.enable, "enable", nil, "turn on the checks of that `ID` or glob (repeatable)")
	s.StringSliceVar(&f.disable, "disable", nil, "turn off the checks of that `ID` or glob, as in 'promql/*' (repeatable)")
	s.StringVar(&f.format, "format", "text", "write the report to standard output as `FORMAT`: "+strings.Join(formatNames(), ", "))
	s.StringArrayVar(&f.reports, "report", nil, "write a further report, `FORMAT=PATH` (repeatable)")
	s.StringVar(&f.failOn, "fail-on", "error", "exit with 1 if there is a finding of `SEVERITY` or above: error, warning, info or never")
	s.StringVar(&f.show, "show", "warning", "lowest `SEVERITY` to show: error, warning or info")
	s.StringVar(&f.stdinFilename, "stdin-filename", "", "the `PATH` that findings on standard input (-) show")
	s.IntVar(&f.jobs, "jobs", runtime.GOMAXPROCS(0), "read and check at most `N` files at a time")
	s.StringVar(&f.color, "color", "auto", "colours and source lines: auto, always or never")
	s.BoolVarP(&f.quiet, "quiet", "q", false, "no summary and no notes on standard error")
	s.BoolVar(&f.version, "version", false, "print the version")
	s.BoolVarP(&f.help, "help", "h", false, "print this help")
	return f
}

func formatNames() []string {
	names := make([]string, 0, len(report.Formats))
	for name := range report.Formats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A reportFile is a report that goes to a file.
type reportFile struct{ format, path string }

// severities are the flags that name one, decoded.
type severities struct{ failOn, show lint.Severity }

// check validates the flags that have a set of values.
func (f *lintFlags) check() (s severities, reports []reportFile, err error) {
	var errs []error
	if f.failOn != "never" {
		if s.failOn, err = lint.ParseSeverity(f.failOn); err != nil {
			errs = append(errs, fmt.Errorf("--fail-on: %w, never", err))
		}
	}
	if s.show, err = lint.ParseSeverity(f.show); err != nil {
		errs = append(errs, fmt.Errorf("--show: %w", err))
	}
	if !f.set.Changed("show") && s.failOn != lint.Unset {
		s.show = min(s.show, s.failOn) // what fails the run is to be seen
	}
	if report.Formats[f.format] == nil {
		errs = append(errs, fmt.Errorf("--format: %q is none of %s", f.format, strings.Join(formatNames(), ", ")))
	}
	if !slices.Contains([]string{"auto", "always", "never"}, f.color) {
		errs = append(errs, fmt.Errorf("--color: %q is none of auto, always, never", f.color))
	}
	if f.jobs < 1 {
		errs = append(errs, fmt.Errorf("--jobs: %d is less than 1", f.jobs))
	}
	for _, r := range f.reports {
		format, path, ok := strings.Cut(r, "=")
		switch {
		case !ok || path == "":
			errs = append(errs, fmt.Errorf("--report: %q is not FORMAT=PATH, as in sarif=results.sarif", r))
		case path == "-":
			errs = append(errs, fmt.Errorf("--report: standard output takes one report, that of --format"))
		case report.Formats[format] == nil:
			errs = append(errs, fmt.Errorf("--report: format %q is none of %s", format, strings.Join(formatNames(), ", ")))
		}
		reports = append(reports, reportFile{format, path})
	}
	return s, reports, errors.Join(errs...)
}

func lintCommand(ctx context.Context, std stdio, args []string) int {
	start := time.Now()
	f := newLintFlags()
	if err := f.set.Parse(args); err != nil {
		return std.fail("%v\nrun monitoringlinter --help for the flags", err)
	}
	switch {
	case f.help:
		usage(std.out, f)
		return exitClean
	case f.version:
		fmt.Fprintln(std.out, version())
		return exitClean
	}
	severities, reports, err := f.check()
	if err != nil {
		return std.fail("%v", err)
	}
	conf, err := f.settings()
	if err != nil {
		return std.fail("%v", err)
	}
	status := exitClean
	paths := append(f.set.Args(), f.rulesFiles...)
	if len(paths) == 0 {
		paths = []string{"."}
	}
	inputs, found, err := files.Find(paths, files.Options{
		Excluded:  conf.Excluded,
		Stdin:     std.in,
		StdinName: f.stdinFilename,
		Split:     rendered,
		Fail:      rules.Unreadable,
	})
	if err != nil {
		status = std.fail("%v", err)
	}

	project, unknown := lint.Parse(ctx, inputs, allLanguages, f.jobs)
	findings := filter.Apply(project, lint.Run(ctx, project, conf, f.jobs), conf, allChecks, time.Now())
	if err := ctx.Err(); err != nil {
		return std.fail("interrupted")
	}

	r := report.Run{
		Findings: findings,
		Checks:   allChecks,
		Notices:  slices.Concat(notices(found), nothingIn(append(unknown, uncounted(project, inputs)...)), skipped(project, inputs, findings, severities.show)),
		Version:  version(),
		Failed:   status == exitFailure,
	}
	r.Summary = report.Summarize(findings, project.Count(), time.Since(start))
	terminal := f.color == "always" || f.color == "auto" && isTerminal(std.out)
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // paths are then reported as they are
	}
	dir = filepath.ToSlash(dir)
	options := report.Options{Show: severities.show, Color: terminal && os.Getenv("NO_COLOR") == "", Snippets: terminal, Dir: dir}
	if err := write(std.out, f.format, r, options); err != nil {
		return std.fail("writing the report: %v", err)
	}
	for _, out := range reports {
		if err := writeFile(out, r, report.Options{Show: severities.show, Dir: dir}); err != nil {
			status = std.fail("writing the report: %v", err)
		}
	}
	if !f.quiet {
		errTerminal := f.color == "always" || f.color == "auto" && isTerminal(std.err)
		if err := report.WriteSummary(std.err, r, report.Options{Show: severities.show, Color: errTerminal && os.Getenv("NO_COLOR") == ""}); err != nil {
			return exitFailure
		}
	}
	if status == exitClean && severities.failOn != lint.Unset {
		for _, finding := range findings {
			if finding.Hidden == "" && finding.Severity >= severities.failOn {
				return exitFindings
			}
		}
	}
	return status
}

// rendered takes the output of helm template apart by the templates it is made of.
func rendered(data []byte) []files.Part {
	var parts []files.Part
	for path, documents := range rules.Rendered(string(data)) {
		parts = append(parts, files.Part{Path: path, Data: []byte(documents)})
	}
	return parts
}

// settings reads the configuration.
func (f *lintFlags) settings() (*config.Config, error) {
	in := config.Input{Checks: allChecks, Presets: f.presets, Enable: f.enable, Disable: f.disable, Root: "."}
	path := f.config
	if path == "" {
		found, ok := config.Find(".")
		if !ok {
			return config.Load(in)
		}
		path = found
	}
	data, err := readConfig(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	in.File = source.NewFile(filepath.ToSlash(path), data)
	in.Root = filepath.ToSlash(filepath.Dir(path))
	conf, err := config.Load(in)
	if err != nil {
		return nil, fmt.Errorf("the configuration is not valid:\n%w", err)
	}
	return conf, nil
}

func readConfig(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most = 1 << 20
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("%s is larger than 1 MiB", path)
	}
	return data, err
}

func notices(found []files.Notice) []report.Notice {
	out := make([]report.Notice, len(found))
	for i, n := range found {
		out[i] = report.Notice(n)
	}
	return out
}

// uncounted returns the inputs that hold only what rules and monitors refer to.
func uncounted(project *lint.Project, inputs []lint.Input) []lint.Input {
	context := map[string]bool{}
	for _, d := range project.Documents {
		var c lint.Counts
		if d.Count(&c); c == (lint.Counts{}) {
			context[d.Source().Path] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(inputs), func(in lint.Input) bool { return !context[in.Path] })
}

// nothingIn says of the files that the user named, and that hold nothing to
// lint, that they do not.
func nothingIn(unknown []lint.Input) []report.Notice {
	var out []report.Notice
	for _, in := range unknown {
		if !in.Named {
			continue
		}
		message := "nothing to lint: the file holds no rules and no monitors"
		if data, err := in.Read(); err == nil && len(strings.TrimSpace(string(data))) == 0 {
			message = "nothing to lint: the file is empty"
		}
		out = append(out, report.Notice{Path: in.Path, Message: message})
	}
	return out
}

// skipped repeats what is said of a file that the user named when the finding
// that says it is not shown, and there is nothing else to say of the file.
func skipped(project *lint.Project, inputs []lint.Input, findings []lint.Finding, show lint.Severity) []report.Notice {
	named := map[string]bool{}
	for _, in := range inputs {
		named[in.Path] = in.Named
	}
	empty := map[string]bool{}
	for _, d := range project.Documents {
		var c lint.Counts
		d.Count(&c)
		if path := d.Source().Path; named[path] && c.Rules+c.Monitors+c.Runbooks == 0 {
			empty[path] = true
		}
	}
	var out []report.Notice
	for _, f := range findings {
		if path := f.Span.File.Path; empty[path] && f.Severity < show && f.Check == "syntax/unrendered" {
			out = append(out, report.Notice{Path: path, Message: f.Message})
			empty[path] = false
		}
	}
	return out
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func write(w io.Writer, format string, r report.Run, o report.Options) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := report.Formats[format](b, r, o); err != nil {
		return err
	}
	return b.Flush()
}

func writeFile(out reportFile, r report.Run, o report.Options) (err error) {
	f, err := os.Create(out.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f, out.format, r, o)
}

func usage(w io.Writer, f *lintFlags) {
	fmt.Fprint(w, `monitoringlinter checks Prometheus rules (rule files, PrometheusRule and the like) and what
scrapes their metrics (ServiceMonitor, PodMonitor, Probe, ScrapeConfig).

Usage:
  monitoringlinter [lint] [flags] [path | glob | -] ...
`)
	for _, c := range subcommands[1:] {
		fmt.Fprintf(w, "  monitoringlinter %s\n", strings.TrimSpace(c.name+" "+c.args))
	}
	fmt.Fprint(w, "\nWithout a path it lints the current folder and all below. - is standard input.\n\nFlags:\n")
	fmt.Fprint(w, f.set.FlagUsages())
	fmt.Fprint(w, `
Exit status: 0 no finding at or above --fail-on; 1 findings; 2 the work could not be done.
`)
}
