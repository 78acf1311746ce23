package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/hookcmd"
	"github.com/hookmux/hookmux/internal/cli/rulescmd"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/wire"
)

// addCompletions gives every command below root the words it takes, for shells that
// complete. What a word means is in the command's own usage line (AGENT, KEY, …), so a new
// command gets them by being written like the others.
func addCompletions(app *cmdutil.App, root *cobra.Command) {
	for _, cmd := range root.Commands() {
		addCompletions(app, cmd)
		if cmd.Name() == "hooks" {
			cmd.ValidArgsFunction = func(p0 *cobra.Command, args []string, p2 string) ([]string,
				cobra.ShellCompDirective) {
				return hooksWords(app, p0, args, p2)
			}
		} else if cmd.Name() == "why" {
			cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
				if len(args) == 0 {
					return agentNames(app), cobra.ShellCompDirectiveNoFileComp
				}
				return eventNames(app, args[0]), cobra.ShellCompDirectiveNoFileComp
			}
		} else if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
			cmd.ValidArgsFunction = wordsOf(app, cmd)
		}
		for flag, words := range map[string]func() []string{"agent": func() []string { return agentNames(app) },
			"kind": kindNames, "events": kindNames} {
			if cmd.Flags().Lookup(flag) != nil {
				_ = cmd.RegisterFlagCompletionFunc(flag, fixedWords(words)) // fails only when it is there already
			}
		}
		if cmd.Flags().Lookup("on-unavailable") != nil {
			_ = cmd.RegisterFlagCompletionFunc("on-unavailable",
				fixedWords(func() []string { return []string{"neutral", "deny"} }))
		}
	}
}

type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

func fixedWords(words func() []string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words(), cobra.ShellCompDirectiveNoFileComp
	}
}

// wordsOf completes the arguments by the names in the usage line.
func wordsOf(app *cmdutil.App, cmd *cobra.Command) completer {
	_, line, _ := strings.Cut(cmd.Use, " ")
	var places []string
	for _, word := range strings.Fields(line) {
		if word == "|" {
			break // another form, with flags
		}
		if word = strings.Trim(word, "[]"); !strings.HasPrefix(word, "-") {
			places = append(places, word)
		}
	}
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(places) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		place := places[min(len(args), len(places)-1)]
		if len(args) >= len(places) && !strings.HasSuffix(place, "…") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		words, known := wordsFor(app, cmd, strings.TrimSuffix(place, "…"), args)
		if !known {
			return nil, cobra.ShellCompDirectiveDefault // perhaps a file
		}
		// A word that is there already isn't suggested again.
		words = slices.DeleteFunc(words, func(s string) bool { return slices.Contains(args, s) })
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func wordsFor(app *cmdutil.App, cmd *cobra.Command, place string, args []string) (words []string, known bool) {
	switch place {
	case "AGENT":
		switch cmd.Name() {
		case "run":
			if c, err := app.Catalogue(); err == nil {
				words = launch.Can(c.Agents())
			}
		case "import":
			words = agentsWhere(app, func(a *agent.Agent) bool { return a.Permissions != nil })
		case "install", "uninstall", "doctor":
			words = agentsWhere(app, func(a *agent.Agent) bool { return a.Install != nil })
		default:
			words = agentNames(app)
		}
		return words, true
	case "EVENT":
		return eventNames(app, args[0]), true
	case "SESSION":
		return sessionWords(app), true
	case "REQUEST":
		return requestWords(app), true
	case "ANSWER", "REASON":
		return nil, true
	case "SHELL":
		return []string{"bash", "zsh", "fish"}, true
	case "KEY":
		for _, k := range config.Keys() {
			words = append(words, k.Name)
		}
		return words, true
	case "MODE":
		for _, mode := range rules.Modes() {
			words = append(words, string(mode))
		}
		return words, true
	case "VALUE":
		if k, ok := config.Find(args[0]); ok {
			words = k.Choices
		}
		return words, true
	case "NAME":
		if cmd.Parent() != nil && cmd.Parent().Name() == "rules" {
			if cmd.Name() == "update" || cmd.Name() == "remove" {
				return rulescmd.PackNames(app), true
			}
			return rulescmd.Names(app), true
		}
		if cmd.Parent() != nil && cmd.Parent().Name() == "guard" {
			for _, k := range config.Keys() {
				if name, ok := hook.GuardName(k.Name); ok && k.Type == config.Choice {
					words = append(words, name)
				}
			}
		}
		return words, true
	}
	return nil, false
}

func agentNames(app *cmdutil.App) []string {
	return agentsWhere(app, func(*agent.Agent) bool { return true })
}

func agentsWhere(app *cmdutil.App, fits func(*agent.Agent) bool) (names []string) {
	c, err := app.Catalogue()
	if err != nil {
		return nil // completing is no place for complaints
	}
	for _, a := range c.Agents() {
		if fits(a) {
			names = append(names, a.Name)
		}
	}
	return names
}

func eventNames(app *cmdutil.App, of string) (names []string) {
	c, err := app.Catalogue()
	if err != nil {
		return nil
	}
	if a, ok := c.Agent(of); ok {
		for _, e := range a.Events {
			names = append(names, e.Name)
		}
	}
	return names
}

// sessionWords returns the sessions of a running daemon, with their titles.
func sessionWords(app *cmdutil.App) (words []string) {
	c, err := app.RunningDaemon()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	list, err := c.Sessions(ctx, wire.SessionsParams{All: true})
	if err != nil {
		return nil
	}
	for _, s := range list {
		if cmdutil.PlainName(s.ID) { // it is typed into a shell
			words = append(words, s.ID+"\t"+termsafe.Line(strings.TrimSpace(s.Agent+" "+s.Title), 60))
		}
	}
	return words
}

// requestWords returns the pending requests of a running daemon, with what they ask.
func requestWords(app *cmdutil.App) (words []string) {
	c, err := app.RunningDaemon()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	list, err := c.Waiting(ctx, false)
	if err != nil {
		return nil
	}
	for i := range list {
		if r := &list[i]; r.Status == wire.InboxPending && cmdutil.PlainName(r.ID) {
			words = append(words, r.ID+"\t"+termsafe.Line(r.About(), 60))
		}
	}
	return words
}

// hooksWords completes `hooks AGENT VERB …`, whose verbs come second.
func hooksWords(app *cmdutil.App, _ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0:
		return append(agentNames(app), hookcmd.HookVerbs()...), cobra.ShellCompDirectiveNoFileComp
	case args[0] == "import":
		importable := func(a *agent.Agent) bool { return a.HookFormat != "" }
		return agentsWhere(app, importable), cobra.ShellCompDirectiveDefault
	case len(args) == 1 && (args[0] == "add" || args[0] == "handle"):
		return kindNames(), cobra.ShellCompDirectiveNoFileComp
	case len(args) == 1:
		return hookcmd.HookVerbs(), cobra.ShellCompDirectiveNoFileComp
	case len(args) == 2 && (args[1] == "add" || args[1] == "handle"):
		return append(eventNames(app, args[0]), kindNames()...), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

func kindNames() []string {
	var out []string
	for _, k := range event.Kinds() {
		out = append(out, string(k))
	}
	return out
}
