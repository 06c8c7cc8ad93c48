// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var checkID = regexp.MustCompile(`^[a-z]+/[a-z0-9]+(-[a-z0-9]+)*$`)

// newCommand writes the files of a new check into the checkout it runs in.
func newCommand(_ context.Context, std stdio, args []string) int {
	if len(args) != 1 {
		return std.fail("new takes the ID of the check to be, as in alert/flapping")
	}
	id := args[0]
	if !checkID.MatchString(id) {
		return std.fail("%q is no check ID: area/name in small letters, as in alert/flapping", id)
	}
	if findCheck(id) != nil {
		return std.fail("there is a check %s already", id)
	}
	root := filepath.Join("rules", "checks")
	if _, err := os.Stat(filepath.Join(root, "checks.go")); err != nil {
		return std.fail("new writes into the sources of monitoringlinter: run it at their root")
	}
	name := strings.NewReplacer("/", "_", "-", "_").Replace(id)
	cases := filepath.Join(root, "testdata", filepath.FromSlash(id))
	for _, f := range []struct{ path, text string }{
		{filepath.Join(root, name+".go"), checkTemplate},
		{filepath.Join(cases, "hit.txtar"), hitTemplate},
		{filepath.Join(cases, "clean.txtar"), cleanTemplate},
	} {
		text := strings.NewReplacer("ID", id, "FUNC", camel(id)).Replace(f.text)
		if err := writeNew(f.path, text); err != nil {
			return std.fail("%v", err)
		}
		fmt.Fprintf(std.out, "wrote %s\n", filepath.ToSlash(f.path))
	}
	return exitClean
}

func writeNew(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already", path)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func camel(id string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(id, func(r rune) bool { return r == '/' || r == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

const checkTemplate = `// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/rules"
)

var _ = add(lint.Check{
	ID:       "ID",
	Severity: lint.Warning,
	Doc: lint.Doc{
		Title: "",
		Why:   "",
		Bad: ` + "``" + `,
		Good: ` + "``" + `,
		TurnOff: "",
		Since:   "",
		Refs:    []string{},
	},
	Run: lint.On(checkFUNC),
})

// The type of the second parameter is what the check is about: a rule, a
// group, a file, an expression, or the project for all of them.
func checkFUNC(p *lint.Pass, r *rules.Rule) {
	p.Reportf(r.Place(), "%s says nothing yet", r.Object())
}
`

const hitTemplate = `What is wrong here, in one sentence.

-- rules.yaml --
groups:
- name: g
  rules:
  - alert: Hit # want @"Hit" "ID: alert Hit"
    expr: up == 0
`

const cleanTemplate = `What looks alike and is right, in one sentence.

-- rules.yaml --
groups:
- name: g
  rules:
  - alert: Clean
    expr: up == 0
`
