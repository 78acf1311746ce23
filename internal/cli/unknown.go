package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/hookcmd"
	"github.com/hookmux/hookmux/internal/cli/rulescmd"
	"github.com/hookmux/hookmux/internal/selection/config"
)

// checkCommand rejects a command that doesn't exist before its flags are read, so that the
// command is named and not the flag, and so that --help after it doesn't show the help of
// another.
func checkCommand(app *cmdutil.App, root *cobra.Command, args []string) error {
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		return nil // the shell asks; cobra adds these two only when it runs
	}
	root.InitDefaultHelpFlag() // or `--help guard` takes guard for its value
	root.InitDefaultHelpCmd()
	if err := flagFirst(root, args); err != nil {
		return err
	}
	cmd, rest, err := root.Find(args)
	if err != nil || !cmd.HasSubCommands() {
		return nil // cobra's own errors, and arguments that the command itself reads
	}
	var words []string
	for _, word := range rest {
		switch {
		case word == "-h" || word == "--help":
		case len(words) == 0 && strings.HasPrefix(word, "-"):
			return nil // what follows may be its value: the command's own check comes later
		default:
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return nil
	}
	if cmd.Name() == "hooks" { // an agent may come first
		if len(words) < len(rest) && !slices.Contains(agentNames(app), words[0]) { // --help
			return cmdutil.UnknownCommand(cmd, words, nouns(app)...)
		}
		return nil
	}
	return cmdutil.UnknownCommand(cmd, words, nouns(app)...)
}

// flagFirst answers a command's flag in front of the command, as in `hookmux --json ps`.
func flagFirst(root *cobra.Command, args []string) error {
	if len(args) < 2 || !strings.HasPrefix(args[0], "--") || args[0] == "--" || strings.HasPrefix(args[1], "-") {
		return nil
	}
	name, _, _ := strings.Cut(args[0][2:], "=")
	cmd, _, err := root.Find(args[1:])
	if root.Flags().Lookup(name) != nil || err != nil || cmd == root || cmd.Flags().Lookup(name) == nil {
		return nil
	}
	return cmdutil.UsageError("flags go behind the command: `%s %s %s`", root.Name(), cmdutil.QuoteWords(args[1:]), args[0])
}

// settingNames returns the names of the settings.
func settingNames() []string {
	var list []string
	for _, k := range config.Keys() {
		list = append(list, k.Name)
	}
	return list
}

// nouns returns what has names that may be written in place of a command.
func nouns(app *cmdutil.App) []cmdutil.Noun {
	return []cmdutil.Noun{
		{Command: "guard", Names: rulescmd.GuardNames},
		{Command: "rules", Names: func() []string { return rulescmd.Names(app) }},
		{Command: "hooks", Names: func() []string { return hookcmd.HookNames(app) }},
		{Command: "config", Names: settingNames},
		{Command: "agents", Names: func() []string { return agentNames(app) }},
	}
}
