package guardcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/importer"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// HooksCommand speaks agent-mux's grammar, hooks <agent> <verb>, which is not
// cobra's: the agent stands before the verb.
func HooksCommand(app *cmdutil.App) *cobra.Command {
	f := &hookFlags{}
	cmd := &cobra.Command{
		Use: "hooks [AGENT] discover|list|add TYPE|remove ID|set ID|on ID|off ID|monitor ID|handle TYPE  |  " +
			"hooks import FILE|claude",
		Short: "Hooks, written once for every agent",
		Long: `Registers hooks. AGENT is a name from ` + "`hookmux status`" + `; without one every agent is
meant, as with '*'. TYPE is a kind that all agents share (tool.before, turn.end, …)
or an agent's own event name.

  discover     which events there are
  list         which hooks are registered, and which are in force
  add TYPE     register one (defaults: built-in log, this project)
  set ID       change one; remove ID takes it out
  on ID        let one decide; off ID stops it; monitor ID lets it judge and only
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
	case "add", "remove", "set", "on", "off", "monitor":
		return len(args) == 2
	}
	return false
}

type hookFlags struct {
	handler, target, id, mode, format, onFailure  string
	priority, enabled, timeout                    string
	matchTool, matchName, matchCommand, matchPath string
	global, project, locked, asJSON, monitor      bool
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
	fl.BoolVar(&f.monitor, "monitor", false, "only record what it would have done")
	fl.BoolVar(&f.global, "global", false, "for all projects (~/.config/hookmux/hooks.json)")
	fl.BoolVar(&f.project, "project", false, "for this project (.hookmux/hooks.json); the default of add")
	fl.BoolVar(&f.asJSON, "json", false, "for programs")
	f.ahp.addTo(fl)
}

func runHooksVerb(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, agentName, verb string, rest []string) error {
	if agentName != hook.Any && !hubKnows(cmd.Context(), app, agentName) {
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
		"add": "a TYPE", "remove": "an ID", "set": "an ID", "on": "an ID", "off": "an ID", "monitor": "an ID",
		"handle": "a TYPE",
	}[verb]
	switch {
	case verb != "discover" && verb != "list" && want == "":
		return cmdutil.UsageError("there is no verb %q; write discover, list, add, remove, set, on, off, monitor "+
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
	case "on", "off", "monitor":
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

// hubKnows reports whether a running hub has an agent of that name: reading
// the whole catalogue for that takes longer than all the rest of a command.
func hubKnows(ctx context.Context, app *cmdutil.App, name string) bool {
	c, err := app.RunningHub()
	if err != nil {
		return false
	}
	info, err := c.Info(ctx)
	return err == nil && slices.ContainsFunc(info.Agents, func(a wire.AgentInfo) bool { return a.Name == name })
}

func hooksDiscover(app *cmdutil.App, f *hookFlags, name string) error {
	catalogue, err := app.Catalogue()
	if err != nil {
		return err
	}
	type row struct {
		Agent   string          `json:"agent"`
		Type    string          `json:"type"`
		Kind    event.Kind      `json:"kind"`
		Decides bool            `json:"decides"`
		Carries map[string]bool `json:"carries"`
		Install string          `json:"install"`
	}
	list := []row{}
	for _, a := range catalogue.Agents() {
		if name != hook.Any && a.Name != name {
			continue
		}
		for _, e := range a.Events {
			c := e.CarriesAt("")
			list = append(list, row{a.Name, e.Name, e.Kind, e.Decides(), map[string]bool{
				"allow": c.Allow, "deny": c.Deny, "ask": c.Ask, "input": c.Input, "output": c.Output,
				"context": c.Context, "keep": c.Keep,
			}, string(e.Install)})
		}
	}
	if f.asJSON {
		return app.PrintJSON(list)
	}
	rows := [][]string{{"AGENT", "TYPE", "KIND", "A HOOK MAY"}}
	for _, r := range list {
		var may []string
		for _, word := range []string{"deny", "allow", "ask", "input", "output", "context", "keep"} {
			if r.Carries[word] {
				may = append(may, map[string]string{"input": "change input", "output": "change result",
					"context": "add context", "keep": "keep going"}[word]+
					map[string]string{"deny": "deny", "allow": "allow", "ask": "ask"}[word])
			}
		}
		if len(may) == 0 {
			may = []string{"observe"}
		}
		rows = append(rows, []string{r.Agent, r.Type, string(r.Kind), strings.Join(may, ", ")})
	}
	text.Table(app.Stdout, rows, app.Columns())
	return nil
}

func hooksList(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, name string) error {
	c, err := app.ReadHub(cmd.Context())
	if err != nil {
		return err
	}
	p := wire.HooksListParams{Cwd: app.Cwd()}
	if name != hook.Any {
		p.Agent = name
	}
	var list []wire.ListedHook
	if err := c.Call(cmd.Context(), wire.MethodHooksList, p, &list); err != nil {
		return err
	}
	if f.asJSON {
		return app.PrintJSON(list)
	}
	var modules []wire.ModuleInfo
	if err := c.Call(cmd.Context(), wire.MethodModules, wire.ModulesParams{Cwd: app.Cwd()}, &modules); err != nil {
		return err
	}
	defer sayModules(app, modules)
	if len(list) == 0 {
		app.Say("no hooks are registered; `hookmux hooks add tool.before …` adds one")
		return nil
	}
	rows := [][]string{{"ID", "AGENT", "TYPE", "PRIORITY", "RUNS", "SCOPE", "STATE"}}
	for _, l := range list {
		var r hook.Registration
		if err := json.Unmarshal(l.Registration, &r); err != nil {
			return err
		}
		state := "in force"
		switch {
		case !l.InForce:
			state = l.Why
		case r.Monitor:
			state = "monitors"
		}
		rows = append(rows, []string{termsafe.Line(r.ID, 40), r.Agent, r.HookType, fmt.Sprint(r.Order()),
			termsafe.Line(r.Handler+" "+r.Target, 60), l.Scope, termsafe.Line(state, 120)})
	}
	text.Table(app.Stdout, rows, app.Columns())
	return nil
}

// sayModules names the hooks that are files in TypeScript.
func sayModules(app *cmdutil.App, modules []wire.ModuleInfo) {
	var names []string
	for _, m := range modules {
		names = append(names, termsafe.Line(filepath.Base(m.Path), 40))
	}
	if len(names) > 0 {
		app.Say("in TypeScript (`hookmux module list`): %s", strings.Join(names, ", "))
	}
}

// registrationPatch is the flags that were given, as the registration's own keys. Bad
// values are errors here, where the flag is known.
func (f *hookFlags) registrationPatch(cmd *cobra.Command) (map[string]any, error) {
	out := map[string]any{}
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	for flag, value := range map[string]string{"handler": f.handler, "target": f.target, "mode": f.mode,
		"format": f.format, "on-failure": f.onFailure} {
		if given(flag) {
			key := flag
			if flag == "on-failure" {
				key = "onFailure"
			}
			out[key] = value
		}
	}
	if given("priority") {
		var n int
		if _, err := fmt.Sscanf(f.priority, "%d", &n); err != nil || fmt.Sprint(n) != strings.TrimSpace(f.priority) {
			return nil, cmdutil.UsageError("--priority %q is not a whole number", f.priority)
		}
		out["priority"] = n
	}
	if given("enabled") {
		switch f.enabled {
		case "true", "yes", "on", "1":
			out["enabled"] = true
		case "false", "no", "off", "0":
			out["enabled"] = false
		default:
			return nil, cmdutil.UsageError("--enabled %q is neither true nor false", f.enabled)
		}
	}
	if given("timeout") {
		span, err := time.ParseDuration(f.timeout)
		if err != nil {
			span, err = time.ParseDuration(f.timeout + "s")
		}
		if err != nil || span <= 0 {
			return nil, cmdutil.UsageError("--timeout %q is not a time span; write seconds, or 30s", f.timeout)
		}
		out["timeout"] = hook.Duration(span)
	}
	if given("locked") {
		out["locked"] = f.locked
	}
	if given("monitor") {
		out["monitor"] = f.monitor
	}
	match := map[string]string{}
	for flag, value := range map[string]string{"tool": f.matchTool, "name": f.matchName, "command": f.matchCommand,
		"path": f.matchPath} {
		if given("match-" + flag) {
			match[flag] = value
		}
	}
	if len(match) > 0 {
		out["match"] = match
	}
	backend, err := f.ahp.values(given)
	if len(backend) > 0 {
		out["ahp"] = backend
	}
	return out, err
}

func hooksAdd(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, agentName, hookType string) error {
	values, err := f.registrationPatch(cmd)
	if err != nil {
		return err
	}
	if name, ok := importer.KindOf(hookType); ok && !knownType(app, agentName, hookType) {
		hookType = name // agent-mux's own name
	}
	values["agent"], values["hookType"] = agentName, hookType
	if f.id != "" {
		values["id"] = f.id
	}
	if values["handler"] == nil {
		values["handler"] = "builtin"
	}
	if values["target"] == nil {
		if values["handler"] != "builtin" {
			return cmdutil.UsageError("--target is missing: what should the %s run?", values["handler"])
		}
		values["target"] = "log"
	}
	if err := checkBuiltin(values); err != nil {
		return err
	}
	b, _ := json.Marshal(values)
	return hooksEdit(app, cmd, f, wire.MethodHooksAdd, wire.HooksEditParams{Registration: b}, "added")
}

// checkBuiltin finds a misspelt built-in while the person is still looking.
func checkBuiltin(values map[string]any) error {
	if values["handler"] != "builtin" {
		return nil
	}
	target, _ := values["target"].(string)
	known := handler.NewBuiltins(handler.Deps{})
	if _, err := handler.New(hook.Registration{ID: "new", Handler: "builtin", Target: target},
		handler.Deps{Builtins: known}); err != nil {
		return cmdutil.UsageError("there is no built-in %q; there are %s", target, strings.Join(known.Names(), ", "))
	}
	return nil
}

func hooksEdit(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, method string, p wire.HooksEditParams,
	done string) error {
	p.Cwd = app.Cwd()
	switch {
	case f.global:
		p.Scope = "global"
	case f.project || method == wire.MethodHooksAdd:
		p.Scope = "project"
	}
	c, err := app.ConnectHub(cmd.Context())
	if err != nil {
		return err
	}
	var result wire.HooksEditResult
	if err := c.Call(cmd.Context(), method, p, &result); err != nil {
		var bad *wire.Error
		if errors.As(err, &bad) && bad.Code == wire.CodeParams {
			return cmdutil.UsageError("%s", bad.Message)
		}
		return err
	}
	if f.asJSON {
		return app.PrintJSON(result)
	}
	var r hook.Registration
	_ = json.Unmarshal(result.Registration, &r)
	app.Say("%s %s (%s, %s)", done, termsafe.Line(r.ID, 80), result.Scope, termsafe.Line(app.Shorten(result.File), 200))
	for _, n := range result.Notes {
		app.Say("%s", termsafe.Line(n, 300))
	}
	return nil
}

// hooksHandle is agent-mux's handle: a payload in, the native answer out. Its
// exit code is the answer's, like a hook's.
func hooksHandle(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, agentName, hookType string) error {
	if agentName == hook.Any {
		return cmdutil.UsageError("handle needs one agent, not '*'")
	}
	native, err := nativeEvent(app, agentName, hookType)
	if err != nil {
		return err
	}
	payload, err := app.ReadPayload("hooks " + agentName + " handle " + hookType)
	if err != nil {
		return err
	}
	c, err := app.ConnectHub(cmd.Context())
	if err != nil {
		return err
	}
	c.Timeout = 10 * time.Minute
	result, err := c.Push(cmd.Context(), wire.PushParams{Agent: agentName, Event: native, Cwd: app.Cwd(),
		Payload: event.RawJSON(payload), Env: app.Environ, Timeout: 600})
	if err != nil {
		return err
	}
	if f.asJSON {
		return app.PrintJSON(result)
	}
	fmt.Fprint(app.Stdout, result.Stdout)
	fmt.Fprint(app.Stderr, result.Stderr)
	if result.ExitCode != 0 {
		return cmdutil.Exit(result.ExitCode)
	}
	return nil
}

// nativeEvent finds the agent's own event for what a person calls it: its
// native name, a kind, or agent-mux's name. Anything else is a mistake, and
// must not look like a hook that has nothing against it.
func nativeEvent(app *cmdutil.App, agentName, hookType string) (string, error) {
	catalogue, err := app.Catalogue()
	if err != nil {
		return "", err
	}
	a, ok := catalogue.Agent(agentName)
	if !ok {
		return "", cmdutil.UsageError("agent %q is unknown; `hookmux status` lists the agents", agentName)
	}
	if _, ok := a.Event(hookType); ok {
		return hookType, nil
	}
	kind := event.Kind(hookType)
	if !kind.Known() {
		name, ok := importer.KindOf(hookType)
		if !ok {
			return "", cmdutil.UsageError("%s has no event %q; `hookmux hooks %s discover` lists them", agentName,
				hookType, agentName)
		}
		kind = event.Kind(name)
	}
	for _, e := range a.Events {
		if e.Kind == kind {
			return e.Name, nil
		}
	}
	return "", cmdutil.UsageError("%s has no event of kind %s; `hookmux hooks %s discover` lists what it has",
		agentName, kind, agentName)
}

// knownType tells an agent's own event names; of '*' any agent's.
func knownType(app *cmdutil.App, agentName, name string) bool {
	catalogue, err := app.Catalogue()
	if err != nil {
		return false
	}
	for _, a := range catalogue.Agents() {
		if agentName == hook.Any || a.Name == agentName {
			if _, ok := a.Event(name); ok {
				return true
			}
		}
	}
	return false
}
