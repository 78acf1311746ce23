package guardcmd

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
)

// hookVerbs are the verbs of `hookmux hooks [AGENT] VERB`, with what each one needs.
var hookVerbs = []struct{ name, needs string }{
	{"list", ""}, {"discover", ""}, {"add", "TYPE"}, {"remove", "ID"}, {"set", "ID"}, {"on", "ID"}, {"off", "ID"},
	{"mode", "ID"}, {"pause", "ID"}, {"handle", "TYPE"},
}

// HookVerbs are the verbs of `hookmux hooks [AGENT] VERB`, which cobra does not know.
func HookVerbs() []string {
	list := []string{"import"}
	for _, v := range hookVerbs {
		list = append(list, v.name)
	}
	return list
}

// HooksCommand speaks agent-mux's grammar, hooks <agent> <verb>, which is not
// cobra's: the agent comes before the verb.
func HooksCommand(app *cmdutil.App) *cobra.Command {
	f := &hookFlags{}
	cmd := &cobra.Command{
		Use:   "hooks [AGENT] [VERB]",
		Short: "Run your own hooks in every agent",
		Long: `Hooks are commands, scripts, TypeScript files or HTTP backends that run when something
happens in an agent. AGENT is a name from ` + "`hookmux agents`" + `; without one, a hook is for
every agent. TYPE is an event kind that all agents share (tool.before, turn.end, …) or
an agent's own event name. Without a verb, lists the hooks.

  list              the hooks here, and which of them are active
  discover          the events there are
  add TYPE          add a hook (to this project, or with --global for all)
  set ID            change a hook
  remove ID         remove a hook
  on ID, off ID     turn a hook on or off
  mode ID MODE      off, log (only record what it would have done) or block
  pause ID [10m]    let it only log for a while; --end ends the pause
  import FILE       import agent-mux's hooks.json; import claude imports the hooks
                    in your Claude Code settings for your other agents

A command gets the event as JSON on stdin. It denies with exit code 2 and the reason on
stderr, or answers with JSON: see docs/hooks.md. A TypeScript file is a hook as soon as
it is in ~/.config/hookmux/hooks: ` + "`hookmux hooks new`" + ` writes one. A backend that speaks
the Agent Hooks Protocol is a hook with the handler ahp: see docs/ahp.md.`,
		Example: `  hookmux hooks new gate               # a hook in TypeScript
  hookmux hooks test gate.ts --agent codex --input '{"command":"ls"}'
  hookmux hooks add tool.before --global --id no-prod --match-command '\bdeploy prod\b' \
      --handler command --target 'echo "no prod deploys" >&2; exit 2'
  hookmux hooks mode no-prod log
  hookmux hooks claude discover
  hookmux hooks import claude`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"list"}
			}
			if args[0] == "import" {
				return hooksImport(app, cmd, f, args[1:])
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
	f.addTo(cmd)
	cmd.AddCommand(hookNewCommand(app), hookTestCommand(app), hookTypesCommand(app))
	return cmd
}

func isHookVerb(word string) bool {
	return slices.ContainsFunc(hookVerbs, func(v struct{ name, needs string }) bool { return v.name == word })
}

// unknownHookVerb answers `hookmux hooks WORD`, where WORD is an agent without a verb, or neither.
func unknownHookVerb(app *cmdutil.App, word string) error {
	if catalogue, err := app.Catalogue(); err == nil {
		if _, ok := catalogue.Agent(word); ok {
			return cmdutil.UsageError("what about %s's hooks? Write `hookmux hooks %s list`, or another of %s", word, word,
				strings.Join(HookVerbs(), ", "))
		}
	}
	return cmdutil.UnknownName("hooks command", word, append(HookVerbs(), "new", "test", "types"), "hookmux hooks --help")
}

// agentComesFirst answers who wrote the verb before the agent, as agent-mux's own help does.
func agentComesFirst(agentName, verb string, rest []string) error {
	return cmdutil.UsageError("the agent comes first: `hookmux hooks %s`",
		strings.Join(append([]string{agentName, verb}, rest...), " "))
}

type hookFlags struct {
	handler, target, id, mode, format, onFailure  string
	priority, enabled, timeout                    string
	matchTool, matchName, matchCommand, matchPath string
	global, project, locked, asJSON, log, end     bool
	ahp                                           ahpFlags
}

func (f *hookFlags) addTo(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.handler, "handler", "", "command, script, module (TypeScript), ahp or builtin")
	fl.StringVar(&f.target, "target", "", "what it runs")
	fl.StringVar(&f.id, "id", "", "its name (default: generated)")
	fl.StringVar(&f.mode, "mode", "", "guard (may decide), advise (may add context) or observe")
	fl.StringVar(&f.priority, "priority", "", "order, lower first (default 100)")
	fl.StringVar(&f.enabled, "enabled", "", "true or false")
	fl.StringVar(&f.timeout, "timeout", "", "seconds, or 30s, 2m (default: setting hooks.timeout)")
	fl.StringVar(&f.format, "format", "", "claude: feed and read Claude Code's own hook format")
	fl.StringVar(&f.onFailure, "on-failure", "", "what a guard's failure means: deny (default), ask, ignore")
	fl.StringVar(&f.matchTool, "match-tool", "", "only this kind of tool: shell, file_write, …")
	fl.StringVar(&f.matchName, "match-name", "", "only tools whose own name fits this glob")
	fl.StringVar(&f.matchCommand, "match-command", "", "only commands that fit this regular expression")
	fl.StringVar(&f.matchPath, "match-path", "", "only paths that fit this glob")
	fl.BoolVar(&f.locked, "locked", false, "projects can't replace it (global hooks)")
	fl.BoolVar(&f.log, "log", false, "only record what it would have done")
	fl.BoolVar(&f.global, "global", false, "for all projects (~/.config/hookmux/hooks.json)")
	fl.BoolVar(&f.project, "project", false, "for this project (.hookmux/hooks.json); the default of add")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
	fl.BoolVar(&f.end, "end", false, "pause: end it now")
	f.ahp.addTo(fl)
}

func runHooksVerb(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, agentName, verb string, rest []string) error {
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
			var known []string
			for _, one := range catalogue.Agents() {
				known = append(known, one.Name)
			}
			if !isHookVerb(verb) {
				return unknownHookVerb(app, agentName)
			}
			return cmdutil.UnknownName("agent", agentName, known, "hookmux agents --all")
		}
		agentName = a.Name
	}
	if f.global && f.project {
		return cmdutil.UsageError("use --global or --project, not both")
	}
	if !isHookVerb(verb) {
		return cmdutil.UnknownName("hooks command", verb, HookVerbs(), "hookmux hooks --help")
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
		return cmdutil.UsageError("%s is missing, as in `hookmux hooks %s%s %s`; see `hookmux hooks --help`", needs, before,
			verb, needs)
	case verb == "mode" && len(rest) == 1:
		return cmdutil.UsageError("MODE is missing: off, log or block")
	case len(rest) > most:
		if catalogue, err := app.Catalogue(); err == nil && agentName == hook.Any {
			if _, ok := catalogue.Agent(rest[0]); ok {
				return agentComesFirst(rest[0], verb, rest[1:])
			}
		}
		return cmdutil.UsageError("unexpected argument %q; see `hookmux hooks --help`", rest[most])
	}
	switch verb {
	case "discover":
		return hooksDiscover(app, f, agentName)
	case "list":
		return hooksList(app, cmd, f, agentName)
	case "add":
		return hooksAdd(app, cmd, f, agentName, rest[0])
	case "remove":
		return hooksEdit(app, cmd, f, wire.MethodHooksDrop, wire.HooksEditParams{ID: rest[0]}, "removed")
	case "on":
		return setHookMode(app, cmd, f, rules.Block, rest[0])
	case "off":
		return setHookMode(app, cmd, f, rules.Off, rest[0])
	case "mode":
		mode, err := rulescmd.ParseMode(rest[1])
		if err != nil {
			return err
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
		b, _ := json.Marshal(patch)
		return hooksEdit(app, cmd, f, wire.MethodHooksSet, wire.HooksEditParams{ID: rest[0], Patch: b}, "changed")
	}
	return hooksHandle(app, cmd, f, agentName, rest[0])
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
