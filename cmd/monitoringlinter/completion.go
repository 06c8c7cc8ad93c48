// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

func completionCommand(_ context.Context, std stdio, args []string) int {
	scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
	if len(args) != 1 || scripts[args[0]] == "" {
		return std.fail("completion takes the name of a shell: bash, zsh or fish")
	}
	var commands, ids, flags, fish []string
	for _, c := range subcommands {
		commands = append(commands, c.name)
	}
	for _, c := range allChecks {
		ids = append(ids, c.ID)
	}
	newLintFlags().set.VisitAll(func(f *pflag.Flag) {
		flags = append(flags, "--"+f.Name)
		takes := " -r"
		if f.NoOptDefVal != "" {
			takes = ""
		}
		fish = append(fish, fmt.Sprintf("complete -c monitoringlinter -l %s%s", f.Name, takes))
	})
	fmt.Fprint(std.out, strings.NewReplacer(
		"@COMMANDS@", strings.Join(commands, " "),
		"@CHECKS@", strings.Join(ids, " "),
		"@FLAGS@", strings.Join(flags, " "),
		"@FISHFLAGS@", strings.Join(fish, "\n"),
	).Replace(scripts[args[0]]))
	return exitClean
}

const bashCompletion = `# bash completion of monitoringlinter: source <(monitoringlinter completion bash)
_monitoringlinter() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	case $before in
		explain|--enable|--disable) COMPREPLY=($(compgen -W "@CHECKS@" -- "$word")); return ;;
		completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")); return ;;
	esac
	if [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "@FLAGS@" -- "$word"))
	elif (( COMP_CWORD == 1 )); then
		COMPREPLY=($(compgen -W "@COMMANDS@" -- "$word") $(compgen -f -- "$word"))
	else
		COMPREPLY=($(compgen -f -- "$word"))
	fi
}
complete -o filenames -F _monitoringlinter monitoringlinter
`

const zshCompletion = `#compdef monitoringlinter
# zsh completion of monitoringlinter: monitoringlinter completion zsh > "${fpath[1]}/_monitoringlinter"
_monitoringlinter() {
	case ${words[CURRENT-1]} in
		explain|--enable|--disable) compadd -- @CHECKS@; return ;;
		completion) compadd -- bash zsh fish; return ;;
	esac
	if [[ ${words[CURRENT]} == -* ]]; then
		compadd -- @FLAGS@
	else
		(( CURRENT == 2 )) && compadd -- @COMMANDS@
		_files
	fi
}
compdef _monitoringlinter monitoringlinter
`

const fishCompletion = `# fish completion of monitoringlinter: monitoringlinter completion fish | source
complete -c monitoringlinter -n __fish_use_subcommand -a "@COMMANDS@"
complete -c monitoringlinter -n "__fish_seen_subcommand_from explain" -f -a "@CHECKS@"
complete -c monitoringlinter -n "__fish_seen_subcommand_from completion" -f -a "bash zsh fish"
@FISHFLAGS@
`
