package cmdutil

import (
	"strings"

	"github.com/spf13/cobra"
)

// SubcommandArgs is checks a command that does its work through subcommands.
func SubcommandArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UnknownCommand(cmd, args[0])
	}
	return nil
}

// SomeArgs is for a command that takes one argument or several of a kind.
func SomeArgs(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return ExactArgs(name)(cmd, args)
		}
		return nil
	}
}

// ExactArgs makes a wrong number of arguments a usage error that names them.
func ExactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			are := "is"
			if len(names)-len(args) > 1 {
				are = "are"
			}
			return UsageError("%s %s missing; see `%s --help`", strings.Join(names[len(args):], " and "), are,
				cmd.CommandPath())
		}
		if len(args) > len(names) {
			return UsageError("unexpected argument %q; see `%s --help`", args[len(names)], cmd.CommandPath())
		}
		return nil
	}
}

// OptionalArg allows one argument, or none.
func OptionalArg() cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return UsageError("unexpected argument %q; see `%s --help`", args[1], cmd.CommandPath())
		}
		return nil
	}
}

// PlainName tells what can be the name of a function in every shell.
func PlainName(s string) bool {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return s != "" && s[0] != '-'
}
