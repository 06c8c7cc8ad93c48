// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/monitoringlinter/monitoringlinter/lint/config"
)

const configName = ".monitoringlinter.yaml"

// schemaURL is where editors find the schema of the configuration.
const schemaURL = "https://raw.githubusercontent.com/monitoringlinter/monitoringlinter/main/lint/config/monitoringlinter.schema.json"

func initCommand(_ context.Context, std stdio, args []string) int {
	set := pflag.NewFlagSet("init", pflag.ContinueOnError)
	set.Usage = func() {}
	preset := set.String("preset", "default", "")
	if err := set.Parse(args); err != nil {
		return std.fail("init: %v", err)
	}
	if set.NArg() > 0 {
		return std.fail("init takes no arguments")
	}
	var names []string
	for _, p := range config.Presets() {
		names = append(names, p.Name)
	}
	if !slices.Contains(names, *preset) {
		return std.fail("init: preset %q is none of %s", *preset, strings.Join(names, ", "))
	}
	f, err := os.OpenFile(configName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return std.fail("%s exists already", configName)
	}
	if err != nil {
		return std.fail("%v", err)
	}
	_, err = fmt.Fprintf(f, configTemplate, schemaURL, *preset)
	if err := errors.Join(err, f.Close()); err != nil {
		return std.fail("%v", err)
	}
	fmt.Fprintf(std.out, "wrote %s\n", configName)
	return exitClean
}

const configTemplate = `# yaml-language-server: $schema=%s
# monitoringlinter checks lists the checks; monitoringlinter explain ID tells their options.
extends: [%s]

# Files that are not to be read:
# exclude: ["vendor/**"]

# checks:
#   alert/for: {min: 1m, max: {critical: 1h, default: 1d}}
#   alert/runbook-url: error
#   promql/regexp: off

# Other settings for some files, or for objects that others maintain:
# overrides:
#   - paths: ["legacy/**"]
#     checks: {"alert/*": info}
#   - objects: {labels: {app.kubernetes.io/part-of: kube-prometheus}}
#     checks: {promql/regexp: off}
`
