// SPDX-License-Identifier: Apache-2.0

// Package reference writes the documentation of checks from their declarations:
// the pages that the repository shows, and what explain prints. The findings
// under an example are what the check says of it, so the pages cannot lie.
package reference

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/config"
	"github.com/monitoringlinter/monitoringlinter/lint/filter"
	"github.com/monitoringlinter/monitoringlinter/lint/report"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// ExampleFile is the name under which an example is linted that is no txtar
// archive of several files.
const ExampleFile = "rules.yaml"

// A Reference documents checks, which it may run on their examples.
type Reference struct {
	Languages []lint.Language
	Checks    []*lint.Check // every check there is
}

// Example lints an example from the documentation of a check, under the
// options that the documentation says, with that check alone.
func (r Reference) Example(c *lint.Check, text string) ([]lint.Finding, error) {
	var file *source.File
	switch {
	case c.Doc.Config != "":
		file = source.NewFileString(".monitoringlinter.yaml", "checks:\n  "+c.ID+":\n"+indented(c.Doc.Config)+"\n")
	case c.OptIn:
		file = source.NewFileString(".monitoringlinter.yaml", "checks:\n  "+c.ID+": on\n")
	}
	conf, err := config.Load(config.Input{File: file, Checks: []*lint.Check{c}, Root: "."})
	if err != nil {
		return nil, fmt.Errorf("%s: Doc.Config: %w", c.ID, err)
	}
	var inputs []lint.Input
	for _, f := range exampleFiles(text) {
		inputs = append(inputs, lint.Input{Path: f.Name, Named: true, Read: func() ([]byte, error) { return f.Data, nil }})
	}
	p, _ := lint.Parse(context.Background(), inputs, r.Languages, 1)
	return filter.Apply(p, lint.Run(context.Background(), p, conf, 1), conf, r.Checks, time.Now()), nil
}

func exampleFiles(text string) []txtar.File {
	if ar := txtar.Parse([]byte(text)); len(ar.Files) > 0 {
		return ar.Files
	}
	return []txtar.File{{Name: ExampleFile, Data: []byte(text)}}
}

// language returns what the example is written in, for a fence around it.
func language(text string) string {
	if len(txtar.Parse([]byte(text)).Files) > 0 {
		return "text"
	}
	return "yaml"
}

// Section returns the documentation of a check as a section of a Markdown page.
func (r Reference) Section(c *lint.Check) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", c.ID)
	fmt.Fprintf(&b, "%s. Severity: %s%s.", upperFirst(c.Doc.Title), c.Severity, optIn(c))
	fmt.Fprintf(&b, " Since %s.\n\n%s\n\n", c.Doc.Since, c.Doc.Why)
	if c.Doc.Config != "" {
		fmt.Fprintf(&b, "With the options\n\n```yaml\nchecks:\n  %s:\n%s\n```\n\n", c.ID, indented(c.Doc.Config))
	}
	findings, err := r.printed(c)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "```%s\n%s```\n\nis reported as\n\n```text\n%s```\n\nand this is not:\n\n```%s\n%s```\n\n", language(c.Doc.Bad), c.Doc.Bad, findings, language(c.Doc.Good), c.Doc.Good)
	if options := Options(c); len(options) > 0 {
		b.WriteString("| option | default | meaning |\n| --- | --- | --- |\n")
		for _, o := range options {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", o.Name, escapeCell(o.Default), escapeCell(o.Doc))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "Turn it off when: %s\n", lowerFirst(c.Doc.TurnOff))
	if len(c.Doc.Refs) > 0 {
		b.WriteString("\nSources:\n\n")
		for _, ref := range c.Doc.Refs {
			fmt.Fprintf(&b, "- <%s>\n", ref)
		}
	}
	return b.String(), nil
}

func optIn(c *lint.Check) string {
	if c.OptIn {
		return ", off until it is configured"
	}
	return ""
}

func indented(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return "    " + strings.Join(lines, "\n    ")
}

func escapeCell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// lowerFirst makes a sentence part of another one; an acronym stays as it is.
func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// printed returns the report of the bad example.
func (r Reference) printed(c *lint.Check) (string, error) {
	found, err := r.Example(c, c.Doc.Bad)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = report.Formats["text"](&out, report.Run{Findings: found}, report.Options{Show: lint.Info})
	return out.String(), err
}

// An Option is an option of a check.
type Option struct {
	Name    string
	Default string // as YAML in one line
	Doc     string
	Shared  string // the top-level configuration key it is taken from, or ""
}

// Options returns the options of a check in the order of their declaration.
func Options(c *lint.Check) []Option {
	if c.Options() == nil {
		return nil
	}
	v := reflect.ValueOf(c.Options())
	var out []Option
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		o := Option{Name: name, Default: inline(v.Field(i).Interface()), Doc: f.Tag.Get("doc"), Shared: f.Tag.Get("shared")}
		if o.Shared != "" {
			o.Doc += fmt.Sprintf(" Taken from the top-level key `%s`.", o.Shared)
		}
		out = append(out, o)
	}
	return out
}

// inline returns v as YAML in flow style.
func inline(v any) string {
	var n yaml.Node
	if err := n.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	flow(&n)
	data, err := yaml.Marshal(&n)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.Join(strings.Fields(string(data)), " ")
}

func flow(n *yaml.Node) {
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		n.Style = yaml.FlowStyle
	}
	for _, c := range n.Content {
		flow(c)
	}
}

// Page returns the reference page of the checks.
func (r Reference) Page(title, intro string) (string, error) {
	var b strings.Builder
	b.WriteString("<!-- Written by make generate from the checks themselves; do not edit. -->\n\n")
	fmt.Fprintf(&b, "# %s\n\n%s\n\n| check | severity | reports |\n| --- | --- | --- |\n", title, strings.TrimSpace(intro))
	for _, c := range r.Checks {
		severity := c.Severity.String()
		if c.OptIn {
			severity += ", off"
		}
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", c.ID, strings.ReplaceAll(c.ID, "/", ""), severity, escapeCell(c.Doc.Title))
	}
	for _, c := range r.Checks {
		section, err := r.Section(c)
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + section)
	}
	return b.String(), nil
}
