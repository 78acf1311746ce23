package cmdutil

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
)

// SubcommandArgs is for a command that does its work through subcommands.
func SubcommandArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UnknownCommand(cmd, args)
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
			return missingArgs(cmd, names[len(args):])
		}
		if len(args) > len(names) {
			return unexpectedArg(cmd, args[len(names)])
		}
		return nil
	}
}

// missingArgs names the arguments that are missing, and the command that lists what could be the first of them.
func missingArgs(cmd *cobra.Command, names []string) error {
	if kind, list := whatIs(cmd, names[0]); list != "" && len(names) < 3 {
		text := "which " + kind + "? `" + list + "` lists them"
		if f := cmd.Flags().Lookup("all"); f != nil && strings.Contains(cmd.Use, "["+names[0]) {
			text += "; --all means all of them"
		}
		return UsageError("%s", text)
	}
	if names[0] == "MODE" {
		return UsageError("which mode? Choose from off, log, ask, block")
	}
	text := strings.Join(names, " and ") + " " + map[bool]string{true: "are", false: "is"}[len(names) > 1] + " missing"
	if example := firstExample(cmd); example != "" {
		return UsageError("%s, as in `%s`", text, example)
	}
	return UsageError("%s; see `%s --help`", text, cmd.CommandPath())
}

// firstExample is the first of a command's examples that is a single line.
func firstExample(cmd *cobra.Command) string {
	for line := range strings.Lines(cmd.Example) {
		line, _, _ = strings.Cut(line, "  #")
		if line = strings.TrimSpace(line); strings.HasPrefix(line, cmd.CommandPath()+" ") && !strings.HasSuffix(line, "\\") {
			return line
		}
	}
	return ""
}

// whatIs says what an argument stands for, and which command lists what it can be.
func whatIs(cmd *cobra.Command, name string) (kind, list string) {
	parent := ""
	if cmd.Parent() != nil {
		parent = cmd.Parent().Name()
	}
	switch name {
	case "SESSION":
		return "session", "hookmux ps"
	case "REQUEST":
		return "request", "hookmux inbox"
	case "AGENT":
		return "agent", "hookmux agents"
	case "KEY":
		return "setting", "hookmux config list --all"
	}
	switch parent + " " + name {
	case "guard NAME":
		return "guard", "hookmux guard list"
	case "rules NAME":
		return "rule or pack", "hookmux rules list"
	case "agents NAME":
		return "agent", "hookmux agents"
	case "permissions ID":
		return "permission", "hookmux permissions"
	case "exception RULE":
		if cmd.Name() == "remove" {
			return "exception", "hookmux guard exception list"
		}
		return "rule", "hookmux guard list --rules"
	}
	return "", ""
}

// unexpectedArg is about an argument too many. An agent's name belongs behind -a.
func unexpectedArg(cmd *cobra.Command, arg string) error {
	if f := cmd.Flags().Lookup("agent"); f != nil {
		if _, ok := agent.Builtin().Agent(arg); ok {
			flag := "--agent"
			if f.Shorthand != "" {
				flag = "-" + f.Shorthand
			}
			return UsageError("unexpected argument %q; did you mean `%s %s %s`?", arg, cmd.CommandPath(), flag, arg)
		}
	}
	if strings.Contains(cmd.Use, "DURATION") {
		return UsageError("write the duration in one word, such as 30m; see `%s --help`", cmd.CommandPath())
	}
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	if command := meantBelow[path][strings.ToLower(arg)]; command != "" {
		return UsageError("unexpected argument %q; did you mean `%s %s`?", arg, cmd.Root().Name(), command)
	}
	if say := argsInWords[path]; say != "" {
		return UsageError("unexpected argument %q: %s", arg, say)
	}
	if command, ok := otherCommand[path]; ok {
		return UsageError("%s takes no %s; did you mean `hookmux %s %s`?", path, command.takes, command.name,
			quoteWords([]string{arg}))
	}
	if _, err := strconv.Atoi(arg); err == nil && cmd.Flags().ShorthandLookup("n") != nil {
		return UsageError("unexpected argument %q; did you mean `%s -n %s`?", arg, cmd.CommandPath(), arg)
	}
	_, takes, _ := strings.Cut(cmd.Use, " ")
	if takes = strings.TrimSpace(strings.TrimPrefix(takes, "[flags]")); takes == "" {
		return UsageError("unexpected argument %q: %s takes none", arg, path)
	}
	return UsageError("unexpected argument %q: %s takes only %s", arg, path, takes)
}

// otherCommand is the command that takes the name that a list takes none of.
var otherCommand = map[string]struct{ takes, name string }{
	"ps": {"session", "show"}, "inbox": {"request", "approve"}, "agents list": {"name", "agents show"},
	"guard list": {"name", "guard show"}, "rules list": {"name", "rules show"}, "config list": {"name", "config get"},
}

// argsInWords answers an argument for a command that takes none, where you might expect one.
var argsInWords = map[string]string{
	"away":        "`hookmux away` lasts until `hookmux away --end`",
	"on":          "`hookmux on` turns everything on; for one guard, use `hookmux guard on NAME`",
	"notify on":   channelsInWords,
	"notify off":  channelsInWords,
	"notify test": "it tests every channel that `hookmux notify` shows; " + channelsInWords,
	"status":      "`hookmux show SESSION` shows one session, `hookmux agents show NAME` one agent",
}

// OptionalArg allows one argument, or none.
func OptionalArg() cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return unexpectedArg(cmd, args[1])
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
