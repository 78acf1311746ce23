package hookcmd

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/rulescmd"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// hookVerbs are the verbs of `hookmux hooks [AGENT] VERB`, with what each one needs.
var hookVerbs = []struct{ name, needs string }{
	{"list", ""}, {"discover", ""}, {"add", "KIND"}, {"remove", "ID"}, {"set", "ID"}, {"on", "ID"}, {"off", "ID"},
	{"mode", "ID"}, {"pause", "ID"}, {"handle", "KIND"},
}

// HookVerbs returns the verbs of `hookmux hooks [AGENT] VERB`, which cobra doesn't know.
func HookVerbs() []string {
	list := []string{"import"}
	for _, v := range hookVerbs {
		list = append(list, v.name)
	}
	return list
}

// HooksCommand uses agent-mux's grammar, hooks <agent> <verb>, which isn't cobra's: the agent
// comes before the verb. The verbs without an agent are commands of their own.
func HooksCommand(app *cmdutil.App) *cobra.Command {
	f := &hookFlags{}
	cmd := &cobra.Command{
		Use:   "hooks [AGENT]",
		Short: "Run your own hooks in every agent",
		Long: `Hooks are commands, scripts, TypeScript files or HTTP backends that run when
something happens in an agent. Without a command, lists your hooks.

A command gets the event as JSON on stdin. To deny a call, it exits with code 2 and
writes the reason to stderr. A TypeScript file runs as soon as it's in
~/.config/hookmux/hooks; ` + "`hookmux hooks new`" + ` writes one to start from.

To work with one agent's hooks only, put its name first: hookmux hooks claude list.`,
		Example: `  hookmux hooks new gate               # a hook in TypeScript
  hookmux hooks add tool.before --global --id no-prod \
      --match-command '\bdeploy prod\b' \
      --handler command --target 'echo "no prod deploys" >&2; exit 2'
  hookmux hooks mode no-prod log       # only record what it would have done
  hookmux hooks discover claude        # the events of Claude Code
  hookmux hooks import claude          # use your Claude Code hooks everywhere`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"list"}
			}
			if isHookVerb(args[0]) && (len(args) < 2 || !isHookVerb(args[1])) {
				args = append([]string{hook.Any}, args...)
			}
			if len(args) == 1 {
				return unknownHookVerb(app, args[0])
			}
			return runHooksVerb(app, cmd, f, args[0], args[1], args[2:])
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = flag.Name != "json" }) // the verbs' own help shows them
	for _, v := range hookCommands {
		verb := &cobra.Command{Use: v.use, Short: v.short, Long: v.long, Example: v.example, Args: cobra.ArbitraryArgs,
			Hidden: v.hidden}
		verb.RunE = func(cmd *cobra.Command, args []string) error {
			if verb.Name() == "import" {
				return hooksImport(app, cmd, f, args)
			}
			f.plain = true
			return runHooksVerb(app, cmd, f, hook.Any, verb.Name(), args)
		}
		v.flags(f, verb.Flags())
		verb.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
		cmd.AddCommand(verb)
	}
	cmd.AddCommand(hookNewCommand(app), hookTestCommand(app), hookTypesCommand(app))
	return cmd
}

// hookCommands are the verbs of hooks as commands, with their flags in addition to --json.
var hookCommands = []struct {
	use, short, long, example string
	flags                     func(f *hookFlags, fl *pflag.FlagSet)
	hidden                    bool
}{
	{use: "list", short: "List the hooks here, and which of them are active",
		example: "  hookmux hooks list\n  hookmux hooks claude list",
		flags: func(f *hookFlags, fl *pflag.FlagSet) {
			fl.BoolVar(&f.all, "all", false, "include notes about agents that aren't on this machine")
		}},
	{use: "add KIND", short: "Add a hook to this project, or to all with --global",
		long: `Adds a hook. KIND is a kind of event that all agents share, such as tool.before or
turn.end, or one agent's own name for an event; ` + "`hookmux hooks discover`" + ` lists both. To
add it for one agent only, write hookmux hooks AGENT add KIND.

A command or script gets the event as JSON on stdin. It denies the call with exit
code 2 and the reason on stderr, or answers with JSON.`,
		example: `  hookmux hooks add turn.end --global --handler command --target 'say done'
  hookmux hooks add tool.before --id no-prod --match-command 'deploy prod' \
      --handler command --target 'echo "no prod deploys" >&2; exit 2'
  hookmux hooks codex add tool.before --handler script --target ./check.sh`,
		flags: func(f *hookFlags, fl *pflag.FlagSet) {
			fl.StringVar(&f.id, "id", "", "its name (default: generated)")
			f.addDefinition(fl)
			f.addScope(fl)
		}},
	{use: "set ID", short: "Change a hook",
		long:    `Changes a hook. It takes the flags of hookmux hooks add; what you don't name stays as it is.`,
		example: "  hookmux hooks set no-prod --timeout 30s\n  hookmux hooks set no-prod --match-command 'deploy (prod|live)'",
		flags: func(f *hookFlags, fl *pflag.FlagSet) {
			f.addDefinition(fl)
			fl.StringVar(&f.id, "id", "", "an ID can't be changed")
			_ = fl.MarkHidden("id") // it's there: this can't fail
			f.addScope(fl)
		}},
	{use: "remove ID", short: "Remove a hook", example: "  hookmux hooks remove no-prod", flags: (*hookFlags).addScope},
	{use: "on ID", short: "Turn a hook on", example: "  hookmux hooks on no-prod", flags: (*hookFlags).addScope},
	{use: "off ID", short: "Turn a hook off", example: "  hookmux hooks off no-prod", flags: (*hookFlags).addScope},
	{use: "mode ID MODE", short: "Set a hook's mode: off, log or block",
		long: `Sets whether a hook is off, only logs what it would have done, or decides (block).
` + "`hookmux log --log-only`" + ` shows what a hook in log mode would have done.`,
		example: "  hookmux hooks mode no-prod log\n  hookmux hooks mode gate.ts block", flags: (*hookFlags).addScope},
	{use: "pause ID [DURATION]", short: "Let a hook only log for a while",
		long: `Lets a hook only log for a while: 10 minutes unless you say otherwise, a day at most.
It comes back by itself. --end ends the pause now.`,
		example: "  hookmux hooks pause no-prod 30m\n  hookmux hooks pause no-prod --end",
		flags: func(f *hookFlags, fl *pflag.FlagSet) {
			fl.BoolVar(&f.end, "end", false, "end the pause now")
		}},
	{use: "discover [AGENT]", short: "List the events that hooks can listen to",
		long: `Lists the events of every agent, the kind each belongs to, and what a hook may do
there. With AGENT, lists that agent's events only.`,
		example: "  hookmux hooks discover claude\n  hookmux hooks discover --json", flags: func(*hookFlags, *pflag.FlagSet) {}},
	{use: "import FILE|AGENT", short: "Import hooks from agent-mux or Claude Code",
		long: `Imports the hooks in your Claude Code settings, so that your other agents run them, or
the hooks in agent-mux's hooks.json. Importing again updates what was imported before.`,
		example: "  hookmux hooks import claude\n  hookmux hooks import ~/.amux/hooks.json", flags: (*hookFlags).addScope},
	{use: "handle KIND", short: "Run the hooks on a payload (agent-mux's form)", hidden: true,
		example: "  hookmux hooks claude handle PreToolUse < payload.json", flags: func(*hookFlags, *pflag.FlagSet) {}},
}

func isHookVerb(word string) bool {
	return slices.ContainsFunc(hookVerbs, func(v struct{ name, needs string }) bool { return v.name == word })
}

// unknownHookVerb answers `hookmux hooks WORD` if WORD is an agent without a verb, or
// neither.
func unknownHookVerb(app *cmdutil.App, word string) error {
	if catalogue, err := app.Catalogue(); err == nil {
		if _, ok := catalogue.Agent(word); ok {
			return cmdutil.UsageError("which command? As in `hookmux hooks %s list`; `hookmux hooks --help` lists them", word)
		}
	}
	return unknownHooksCommand(word)
}

// unknownHooksCommand says which of the commands of hooks was probably meant.
func unknownHooksCommand(words ...string) error {
	return cmdutil.UnknownSubcommand("hookmux hooks", words, append(HookVerbs(), "new", "test", "types"))
}

// agentComesFirst explains a verb that was written before the agent, as in agent-mux's own
// help.
func agentComesFirst(agentName, verb string, rest []string) error {
	return cmdutil.UsageError("the agent comes first: `hookmux hooks %s`",
		strings.Join(append([]string{agentName, verb}, rest...), " "))
}

type hookFlags struct {
	handler, target, id, role, format, onFailure  string
	priority, enabled, timeout                    string
	matchTool, matchName, matchCommand, matchPath string
	global, project, locked, asJSON, log, end     bool
	all                                           bool
	plain                                         bool // `hooks VERB`, not agent-mux's `hooks AGENT VERB`
}

// addTo adds every flag, for the form with the agent first.
func (f *hookFlags) addTo(fl *pflag.FlagSet) {
	fl.StringVar(&f.id, "id", "", "its name (default: generated)")
	f.addDefinition(fl)
	f.addScope(fl)
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
	fl.BoolVar(&f.all, "all", false, "list: include notes about agents that aren't on this machine")
	fl.BoolVar(&f.end, "end", false, "pause: end it now")
}

// addDefinition adds the flags that say what a hook does.
func (f *hookFlags) addDefinition(fl *pflag.FlagSet) {
	fl.StringVar(&f.handler, "handler", "", "kind of hook: command, script, typescript or builtin")
	fl.StringVar(&f.target, "target", "", "command or file to run")
	fl.StringVar(&f.role, "role", "", "its role: guard (may decide), advise (may add context) or observe")
	fl.StringVar(&f.priority, "priority", "", "order, lower first (default 100)")
	fl.StringVar(&f.timeout, "timeout", "", "30s or 2m (default: the setting hooks.timeout)")
	fl.StringVar(&f.onFailure, "on-failure", "", "what happens when it fails: deny (default), ask or ignore")
	fl.StringVar(&f.format, "format", "", "claude: use Claude Code's own hook format")
	fl.StringVar(&f.matchTool, "match-tool", "", "only this kind of tool: shell, file_write, …")
	fl.StringVar(&f.matchName, "match-name", "", "only tools whose name matches this glob")
	fl.StringVar(&f.matchCommand, "match-command", "", "only commands that match this regular expression")
	fl.StringVar(&f.matchPath, "match-path", "", "only paths that match this glob")
	fl.BoolVar(&f.locked, "locked", false, "projects can't replace it (with --global)")
	fl.BoolVar(&f.log, "log", false, "start in log mode: only record what it would have done")
	fl.StringVar(&f.enabled, "enabled", "", "true or false")
	_ = fl.MarkHidden("enabled") // agent-mux's; `hooks on` and `hooks off` do the same
}

// addScope adds the flags that say whose hook is meant.
func (f *hookFlags) addScope(fl *pflag.FlagSet) {
	fl.BoolVar(&f.global, "global", false, "for all projects (~/.config/hookmux/hooks.json)")
	fl.BoolVar(&f.project, "project", false, "for this project (.hookmux/hooks.json)")
}

func runHooksVerb(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, agentName, verb string, rest []string) error {
	if verb == "discover" && agentName == hook.Any && len(rest) == 1 {
		agentName, rest = rest[0], nil // nothing is taken after it, so either order is plain
	}
	if agentName != hook.Any && !daemonKnows(cmd.Context(), app, agentName) {
		catalogue, err := app.Catalogue()
		if err != nil {
			return err
		}
		a, ok := catalogue.Agent(agentName)
		if !ok {
			if _, swapped := catalogue.Agent(verb); swapped {
				return agentComesFirst(verb, agentName, rest)
			}
			if !isHookVerb(verb) {
				return unknownHooksCommand(append([]string{agentName, verb}, rest...)...)
			}
			unknown := cmdutil.UnknownAgent(catalogue, agentName)
			if len(rest) == 0 && slices.Contains([]string{"on", "off", "remove", "set"}, verb) && !strings.Contains(unknown.Error(), "did you mean") {
				return cmdutil.UsageError("the command comes first: `hookmux hooks %s %s`", verb, agentName)
			}
			return unknown
		}
		agentName = a.Name
	}
	if f.global && f.project {
		return cmdutil.UsageError("use --global or --project, not both")
	}
	if !isHookVerb(verb) {
		return unknownHooksCommand(verb)
	}
	if f.locked && !f.global {
		return cmdutil.UsageError("--locked needs --global: it keeps projects from replacing the hook")
	}
	i := slices.IndexFunc(hookVerbs, func(v struct{ name, needs string }) bool { return v.name == verb })
	needs, most := hookVerbs[i].needs, 1
	switch {
	case needs == "":
		most = 0
	case verb == "mode" || verb == "pause":
		most = 2
	}
	switch {
	case needs != "" && len(rest) == 0:
		before := ""
		if agentName != hook.Any {
			before = agentName + " "
		}
		if list := map[string]string{"ID": "hookmux hooks list", "NAME": "hookmux hooks list"}[needs]; list != "" {
			return cmdutil.UsageError("which hook? `%s` lists them", list)
		}
		if verb == "add" {
			return cmdutil.UsageError("which event, and what should it run? As in `hookmux hooks %sadd tool.before --handler command --target 'make lint'`; "+
				"`hookmux hooks discover` lists the events", before)
		}
		return cmdutil.UsageError("%s is missing, as in `hookmux hooks %s%s %s`; see `hookmux hooks --help`", needs, before,
			verb, needs)
	case verb == "mode" && len(rest) == 1:
		return cmdutil.UsageError("which mode? Choose from off, log, block")
	case len(rest) > most:
		if catalogue, err := app.Catalogue(); err == nil && agentName == hook.Any {
			if _, ok := catalogue.Agent(rest[0]); ok {
				return agentComesFirst(rest[0], verb, rest[1:])
			}
			if unknown := cmdutil.UnknownAgent(catalogue, rest[0]); most == 0 && strings.Contains(unknown.Error(), "did you mean") {
				return unknown
			}
		}
		return tooManyHookArgs(cmd, verb, rest, most)
	}
	switch verb {
	case "discover":
		return hooksDiscover(app, f, agentName)
	case "list":
		return hooksList(app, cmd, f, agentName)
	case "add":
		return hooksAdd(app, cmd, f, agentName, rest[0])
	case "remove":
		if err := checkHook(app, cmd, rest[0]); err != nil {
			return err
		}
		return hooksEdit(app, cmd, f, wire.MethodHooksDrop, wire.HooksEditParams{ID: rest[0]}, "removed")
	case "on":
		return setHookMode(app, cmd, f, rules.Block, rest[0])
	case "off":
		return setHookMode(app, cmd, f, rules.Off, rest[0])
	case "mode":
		mode, err := rulescmd.ParseMode(rest[1])
		if _, swapped := rulescmd.ParseMode(rest[0]); err != nil && swapped == nil {
			return cmdutil.UsageError("the hook comes first: `hookmux hooks mode %s %s`", rest[1], rest[0])
		}
		if err != nil || mode == rules.Asks {
			return cmdutil.UnknownMode(rest[1], []string{"off", "log", "block"})
		}
		return setHookMode(app, cmd, f, mode, rest[0])
	case "pause":
		return pauseHook(app, cmd, rest[0], rest[1:], f.end)
	case "set":
		if f.id != "" {
			return cmdutil.UsageError("you can't change an ID; remove the hook and add it under its new ID")
		}
		patch, err := f.registrationPatch(cmd)
		if err != nil {
			return err
		}
		if len(patch) == 0 {
			return cmdutil.UsageError("nothing to change; give a flag such as --timeout 30s")
		}
		if err := checkHook(app, cmd, rest[0]); err != nil {
			return err
		}
		b, _ := json.Marshal(patch)
		return hooksEdit(app, cmd, f, wire.MethodHooksSet, wire.HooksEditParams{ID: rest[0], Patch: b}, "changed")
	}
	return hooksHandle(app, cmd, f, agentName, rest[0])
}

// tooManyHookArgs returns the error for an argument too many after a verb.
func tooManyHookArgs(cmd *cobra.Command, verb string, rest []string, most int) error {
	switch {
	case verb == "list" || verb == "discover":
		return cmdutil.UnknownName("agent", rest[0], nil, "hookmux agents --all")
	case verb == "add" && strings.ContainsAny(rest[1], " /"):
		return cmdutil.UsageError("what it runs goes behind --target: `hookmux hooks add %s --handler command --target %q`", rest[0], rest[1])
	case verb == "add":
		return cmdutil.UsageError("one kind of event at a time, or '*' for all: `hookmux hooks add %s …`", rest[0])
	case verb == "remove" || verb == "on" || verb == "off" || verb == "set" || verb == "handle":
		return cmdutil.UsageError("one hook at a time: `hookmux hooks %s %s`", verb, rest[0])
	}
	if sub, _, err := cmd.Root().Find([]string{"hooks", verb}); err == nil {
		cmd = sub
	}
	return cmdutil.TooManyArgs(cmd, rest, most)
}

// daemonKnows reports whether a running daemon has an agent of that name: reading
// the whole catalogue for that takes longer than all the rest of a command.
func daemonKnows(ctx context.Context, app *cmdutil.App, name string) bool {
	c, err := app.RunningDaemon()
	if err != nil {
		return false
	}
	info, err := c.Info(ctx)
	return err == nil && slices.ContainsFunc(info.Agents, func(a wire.AgentInfo) bool { return a.Name == name })
}
