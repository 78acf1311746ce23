package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// complete gives every command below root the words it takes, for shells that
// complete. What a word means stands in the command's own usage line (AGENT,
// KEY, …), so a new command gets them by being written like the others.
func (w *world) complete(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		w.complete(cmd)
		if cmd.Name() == "hooks" {
			cmd.ValidArgsFunction = w.hooksWords
		} else if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
			cmd.ValidArgsFunction = w.wordsOf(cmd)
		}
		for flag, words := range map[string]func() []string{"agent": w.agentNames, "kind": kindNames, "events": kindNames} {
			if cmd.Flags().Lookup(flag) != nil {
				_ = cmd.RegisterFlagCompletionFunc(flag, fixed(words)) // fails only when it is there already
			}
		}
		if cmd.Flags().Lookup("on-unavailable") != nil {
			_ = cmd.RegisterFlagCompletionFunc("on-unavailable", fixed(func() []string { return []string{"neutral", "deny"} }))
		}
	}
}

type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

func fixed(words func() []string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words(), cobra.ShellCompDirectiveNoFileComp
	}
}

// wordsOf completes the arguments by the names in the usage line.
func (w *world) wordsOf(cmd *cobra.Command) completer {
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
		words, known := w.wordsFor(cmd, strings.TrimSuffix(place, "…"), args)
		if !known {
			return nil, cobra.ShellCompDirectiveDefault // perhaps a file
		}
		// What stands there already is not meant again.
		words = slices.DeleteFunc(words, func(s string) bool { return slices.Contains(args, s) })
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func (w *world) wordsFor(cmd *cobra.Command, place string, args []string) (words []string, known bool) {
	switch place {
	case "AGENT":
		switch cmd.Name() {
		case "run":
			if c, err := w.catalogue(); err == nil {
				words = launch.Can(c.Agents())
			}
		case "install", "uninstall", "doctor":
			words = w.agentsWhere(func(a *agent.Agent) bool { return a.Install != nil })
		default:
			words = w.agentNames()
		}
		return words, true
	case "EVENT":
		return w.eventNames(args[0]), true
	case "SESSION":
		return w.sessionWords(), true
	case "SHELL":
		return []string{"bash", "zsh", "fish"}, true
	case "KEY":
		for _, k := range config.Keys() {
			words = append(words, k.Name)
		}
		return words, true
	case "VALUE":
		if k, ok := config.Find(args[0]); ok {
			words = k.Choices
		}
		return words, true
	case "NAME":
		if cmd.Parent() != nil && cmd.Parent().Name() == "guard" {
			for _, k := range config.Keys() {
				if name, ok := strings.CutPrefix(k.Name, "guard."); ok && k.Type == config.Choice {
					words = append(words, name)
				}
			}
		}
		return words, true
	}
	return nil, false
}

func (w *world) agentNames() []string {
	return w.agentsWhere(func(*agent.Agent) bool { return true })
}

func (w *world) agentsWhere(fits func(*agent.Agent) bool) (names []string) {
	c, err := w.catalogue()
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

func (w *world) eventNames(of string) (names []string) {
	c, err := w.catalogue()
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

// sessionWords are the sessions of a running hub, their titles beside them.
func (w *world) sessionWords() (words []string) {
	c, err := w.running()
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
		if plainName(s.ID) { // it is typed into a shell
			words = append(words, s.ID+"\t"+termsafe.Line(strings.TrimSpace(s.Agent+" "+s.Title), 60))
		}
	}
	return words
}

// hooksWords completes `hooks AGENT VERB …`, whose verbs come second.
func (w *world) hooksWords(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0:
		return append(w.agentNames(), "import"), cobra.ShellCompDirectiveNoFileComp
	case args[0] == "import":
		return []string{"claude"}, cobra.ShellCompDirectiveDefault
	case len(args) == 1:
		return []string{"discover", "list", "add", "remove", "set", "handle"}, cobra.ShellCompDirectiveNoFileComp
	case len(args) == 2 && (args[1] == "add" || args[1] == "handle"):
		return append(w.eventNames(args[0]), kindNames()...), cobra.ShellCompDirectiveNoFileComp
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
