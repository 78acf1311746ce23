package guardcmd

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/spf13/cobra"
)

// HooksCommand speaks agent-mux's grammar, hooks <agent> <verb>, which is not
// cobra's: the agent stands before the verb.
func HooksCommand(app *cmdutil.App) *cobra.Command {
	f := &hookFlags{}
	cmd := &cobra.Command{
		Use: "hooks [AGENT] discover|list|add TYPE|remove ID|set ID|on ID|off ID|log ID|handle TYPE  |  " +
			"hooks import FILE|claude",
		Short: "Hooks, written once for every agent",
		Long: `Registers hooks. AGENT is a name from ` + "`hookmux status`" + `; without one every agent is
meant, as with '*'. TYPE is a kind that all agents share (tool.before, turn.end, …)
or an agent's own event name.

  discover     which events there are
  list         which hooks are registered, and which are in force
  add TYPE     register one (defaults: built-in log, this project)
  set ID       change one; remove ID takes it out
  on ID        let one decide; off ID stops it; log ID lets it judge and only
               records what it would have done. ID may be a TypeScript file
  handle TYPE  run the hooks on a payload from stdin and print the native answer
  import FILE  take over agent-mux's hooks.json; import claude takes over the
               hooks of your Claude Code settings for your other agents

A command gets the event as JSON on stdin. It denies with exit code 2 and the
reason on stderr, or answers with JSON; docs/hooks.md has it all. A backend that
speaks the Agent Hooks Protocol is a hook with the handler ahp: a program, or an
address; docs/ahp.md has it all.`,
		Example: `  hookmux hooks '*' add tool.before --global --id no-prod --match-command '\bdeploy prod\b' \
      --handler command --target 'echo "no prod deploys" >&2; exit 2'
  hookmux hooks '*' add tool.before --global --id policy --handler ahp \
      --target https://policy.example.com/hooks --token-env POLICY_TOKEN
  hookmux hooks claude discover
  hookmux hooks list
  hookmux hooks import claude`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 && !verbWithoutAgent(args) {
				return cmdutil.UsageError("write `hookmux hooks [AGENT] VERB`, for example `hookmux hooks list`; " +
					"see `hookmux hooks --help`")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "import" {
				return hooksImport(app, cmd, f, args[1:])
			}
			if verbWithoutAgent(args) {
				args = append([]string{hook.Any}, args...)
			}
			return runHooksVerb(app, cmd, f, args[0], args[1], args[2:])
		},
	}
	f.addTo(cmd)
	return cmd
}

// verbWithoutAgent tells `hooks list` and `hooks add TYPE` from `hooks AGENT VERB`.
func verbWithoutAgent(args []string) bool {
	if len(args) == 0 {
		return false
	}
	switch args[0] {
	case "list", "discover":
		return len(args) == 1
	case "add", "remove", "set", "on", "off", "log":
		return len(args) == 2
	}
	return false
}

type hookFlags struct {
	handler, target, id, mode, format, onFailure  string
	priority, enabled, timeout                    string
	matchTool, matchName, matchCommand, matchPath string
	global, project, locked, asJSON, log          bool
	ahp                                           ahpFlags
}

func (f *hookFlags) addTo(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.handler, "handler", "", "builtin, command, script, module or ahp (default builtin)")
	fl.StringVar(&f.target, "target", "", "what it runs (default log)")
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
	fl.BoolVar(&f.locked, "locked", false, "a project cannot replace it (global hooks)")
	fl.BoolVar(&f.log, "log", false, "only record what it would have done")
	fl.BoolVar(&f.global, "global", false, "for all projects (~/.config/hookmux/hooks.json)")
	fl.BoolVar(&f.project, "project", false, "for this project (.hookmux/hooks.json); the default of add")
	fl.BoolVar(&f.asJSON, "json", false, "for programs")
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
				return cmdutil.UsageError("the agent stands before the verb: `hookmux hooks %s`",
					strings.Join(append([]string{verb, agentName}, rest...), " "))
			}
			return cmdutil.UsageError("agent %q is unknown; `hookmux status` lists the agents, '*' means all",
				agentName)
		}
		agentName = a.Name
	}
	if f.global && f.project {
		return cmdutil.UsageError("--global and --project exclude each other")
	}
	want := map[string]string{
		"add": "a TYPE", "remove": "an ID", "set": "an ID", "on": "an ID", "off": "an ID", "log": "an ID",
		"handle": "a TYPE",
	}[verb]
	switch {
	case verb != "discover" && verb != "list" && want == "":
		return cmdutil.UsageError("there is no verb %q; write discover, list, add, remove, set, on, off, log "+
			"or handle", verb)
	case want != "" && len(rest) == 0:
		return cmdutil.UsageError("`hookmux hooks %s %s` needs %s", agentName, verb, want)
	case want == "" && len(rest) > 0, len(rest) > 1:
		return cmdutil.UsageError("unexpected argument %q; see `hookmux hooks --help`", rest[len(rest)-1])
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
	case "on", "off", "log":
		return switchHook(app, cmd, f, verb, rest[0])
	case "set":
		if f.id != "" {
			return cmdutil.UsageError("an id cannot be changed; remove the hook and add it under its new id")
		}
		patch, err := f.registrationPatch(cmd)
		if err != nil {
			return err
		}
		if len(patch) == 0 {
			return cmdutil.UsageError("nothing to change; name a flag such as --enabled false")
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
