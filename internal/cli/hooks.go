package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/importer"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// hooksCommand speaks agent-mux's grammar, hooks <agent> <verb>, which is not
// cobra's: the agent stands before the verb.
func (w *world) hooksCommand() *cobra.Command {
	f := &hookFlags{}
	cmd := &cobra.Command{
		Use:   "hooks AGENT discover|list|add TYPE|remove ID|set ID|handle TYPE  |  hooks import FILE|claude",
		Short: "Hooks, written once for every agent",
		Long: `Registers hooks. AGENT is a name from ` + "`hookmux status`" + ` or '*' for every agent; TYPE
is a kind that all agents share (tool.before, turn.end, …) or an agent's own
event name.

  discover     which events there are
  list         which hooks are registered, and which are in force
  add TYPE     register one (defaults: built-in log, this project)
  set ID       change one; remove ID takes it out
  handle TYPE  run the hooks on a payload from stdin and print the native answer
  import FILE  take over agent-mux's hooks.json; import claude takes over the
               hooks of your Claude Code settings for your other agents

A command gets the event as JSON on stdin. It denies with exit code 2 and the
reason on stderr, or answers with JSON; docs/hooks.md has it all.`,
		Example: `  hookmux hooks '*' add tool.before --global --id no-prod --match-command '\bdeploy prod\b' \
      --handler command --target 'echo "no prod deploys" >&2; exit 2'
  hookmux hooks claude discover
  hookmux hooks '*' list --json
  hookmux hooks import claude`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("write `hookmux hooks AGENT VERB`, for example `hookmux hooks '*' list`; see `hookmux hooks --help`")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "import" {
				return w.hooksImport(cmd, f, args[1:])
			}
			return w.hooks(cmd, f, args[0], args[1], args[2:])
		},
	}
	f.add(cmd)
	return cmd
}

type hookFlags struct {
	handler, target, id, mode, format, onFailure  string
	priority, enabled, timeout                    string
	matchTool, matchName, matchCommand, matchPath string
	global, project, locked, asJSON               bool
}

func (f *hookFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.handler, "handler", "", "builtin, command, script or module (default builtin)")
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
	fl.BoolVar(&f.global, "global", false, "for all projects (~/.config/hookmux/hooks.json)")
	fl.BoolVar(&f.project, "project", false, "for this project (.hookmux/hooks.json); the default of add")
	fl.BoolVar(&f.asJSON, "json", false, "for programs")
}

func (w *world) hooks(cmd *cobra.Command, f *hookFlags, agentName, verb string, rest []string) error {
	if agentName != hook.Any && !w.hubKnows(cmd.Context(), agentName) {
		catalogue, err := w.catalogue()
		if err != nil {
			return err
		}
		a, ok := catalogue.Agent(agentName)
		if !ok {
			if _, swapped := catalogue.Agent(verb); swapped {
				return usage("the agent stands before the verb: `hookmux hooks %s`", strings.Join(append([]string{verb, agentName}, rest...), " "))
			}
			return usage("agent %q is unknown; `hookmux status` lists the agents, '*' means all", agentName)
		}
		agentName = a.Name
	}
	if f.global && f.project {
		return usage("--global and --project exclude each other")
	}
	want := map[string]string{"add": "a TYPE", "remove": "an ID", "set": "an ID", "handle": "a TYPE"}[verb]
	switch {
	case verb != "discover" && verb != "list" && want == "":
		return usage("there is no verb %q; write discover, list, add, remove, set or handle", verb)
	case want != "" && len(rest) == 0:
		return usage("`hookmux hooks %s %s` needs %s", agentName, verb, want)
	case want == "" && len(rest) > 0, len(rest) > 1:
		return usage("%q is too much; see `hookmux hooks --help`", rest[len(rest)-1])
	}
	switch verb {
	case "discover":
		return w.hooksDiscover(f, agentName)
	case "list":
		return w.hooksList(cmd, f, agentName)
	case "add":
		return w.hooksAdd(cmd, f, agentName, rest[0])
	case "remove":
		return w.hooksEdit(cmd, f, wire.MethodHooksDrop, wire.HooksEditParams{ID: rest[0]}, "removed")
	case "set":
		if f.id != "" {
			return usage("an id cannot be changed; remove the hook and add it under its new id")
		}
		patch, err := f.patch(cmd)
		if err != nil {
			return err
		}
		if len(patch) == 0 {
			return usage("nothing to change; name a flag such as --enabled false")
		}
		b, _ := json.Marshal(patch)
		return w.hooksEdit(cmd, f, wire.MethodHooksSet, wire.HooksEditParams{ID: rest[0], Patch: b}, "changed")
	}
	return w.hooksHandle(cmd, f, agentName, rest[0])
}

// catalogue is the agents that hookmux knows, with those the user described.
func (w *world) catalogue() (*agent.Catalogue, error) {
	dirs, err := w.dirs()
	if err != nil {
		return nil, err
	}
	catalogue, _ := agent.Load(dirs.Config+"/agents", dirs.System+"/agents") // the hub reports problems
	return catalogue, nil
}

// hubKnows reports whether a running hub has an agent of that name: reading
// the whole catalogue for that takes longer than all the rest of a command.
func (w *world) hubKnows(ctx context.Context, name string) bool {
	c, err := w.running()
	if err != nil {
		return false
	}
	info, err := c.Info(ctx)
	return err == nil && slices.ContainsFunc(info.Agents, func(a wire.AgentInfo) bool { return a.Name == name })
}

func (w *world) hooksDiscover(f *hookFlags, name string) error {
	catalogue, err := w.catalogue()
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
				"allow": c.Allow, "deny": c.Deny, "ask": c.Ask, "input": c.Input, "output": c.Output, "context": c.Context, "keep": c.Keep,
			}, string(e.Install)})
		}
	}
	if f.asJSON {
		return w.printJSON(list)
	}
	rows := [][]string{{"AGENT", "TYPE", "KIND", "A HOOK MAY"}}
	for _, r := range list {
		var may []string
		for _, word := range []string{"deny", "allow", "ask", "input", "output", "context", "keep"} {
			if r.Carries[word] {
				may = append(may, map[string]string{"input": "change input", "output": "change result", "context": "add context", "keep": "keep going"}[word]+map[string]string{"deny": "deny", "allow": "allow", "ask": "ask"}[word])
			}
		}
		if len(may) == 0 {
			may = []string{"observe"}
		}
		rows = append(rows, []string{r.Agent, r.Type, string(r.Kind), strings.Join(may, ", ")})
	}
	text.Table(w.stdout, rows)
	return nil
}

func (w *world) hooksList(cmd *cobra.Command, f *hookFlags, name string) error {
	c, err := w.hub(cmd.Context())
	if err != nil {
		return err
	}
	p := wire.HooksListParams{Cwd: w.cwd()}
	if name != hook.Any {
		p.Agent = name
	}
	var list []wire.ListedHook
	if err := c.Call(cmd.Context(), wire.MethodHooksList, p, &list); err != nil {
		return err
	}
	if f.asJSON {
		return w.printJSON(list)
	}
	if len(list) == 0 {
		w.say("no hooks are registered; `hookmux hooks '*' add tool.before …` adds one")
		return nil
	}
	rows := [][]string{{"ID", "AGENT", "TYPE", "PRIORITY", "RUNS", "SCOPE", "STATE"}}
	for _, l := range list {
		var r hook.Registration
		if err := json.Unmarshal(l.Registration, &r); err != nil {
			return err
		}
		state := "in force"
		if !l.InForce {
			state = l.Why
		}
		rows = append(rows, []string{termsafe.Line(r.ID, 40), r.Agent, r.HookType, fmt.Sprint(r.Order()), termsafe.Line(r.Handler+" "+r.Target, 60), l.Scope, termsafe.Line(state, 120)})
	}
	text.Table(w.stdout, rows)
	return nil
}

// patch is the flags that were given, as the registration's own keys. Bad
// values are errors here, where the flag is known.
func (f *hookFlags) patch(cmd *cobra.Command) (map[string]any, error) {
	out := map[string]any{}
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	for flag, value := range map[string]string{"handler": f.handler, "target": f.target, "mode": f.mode, "format": f.format, "on-failure": f.onFailure} {
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
			return nil, usage("--priority %q is no whole number", f.priority)
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
			return nil, usage("--enabled %q is neither true nor false", f.enabled)
		}
	}
	if given("timeout") {
		span, err := time.ParseDuration(f.timeout)
		if err != nil {
			span, err = time.ParseDuration(f.timeout + "s")
		}
		if err != nil || span <= 0 {
			return nil, usage("--timeout %q is no time span; write seconds, or 30s", f.timeout)
		}
		out["timeout"] = hook.Duration(span)
	}
	if given("locked") {
		out["locked"] = f.locked
	}
	match := map[string]string{}
	for flag, value := range map[string]string{"tool": f.matchTool, "name": f.matchName, "command": f.matchCommand, "path": f.matchPath} {
		if given("match-" + flag) {
			match[flag] = value
		}
	}
	if len(match) > 0 {
		out["match"] = match
	}
	return out, nil
}

func (w *world) hooksAdd(cmd *cobra.Command, f *hookFlags, agentName, hookType string) error {
	values, err := f.patch(cmd)
	if err != nil {
		return err
	}
	if name, ok := importer.KindOf(hookType); ok && !w.knownType(agentName, hookType) {
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
			return usage("--target is missing: what should the %s run?", values["handler"])
		}
		values["target"] = "log"
	}
	if err := checkBuiltin(values); err != nil {
		return err
	}
	b, _ := json.Marshal(values)
	return w.hooksEdit(cmd, f, wire.MethodHooksAdd, wire.HooksEditParams{Registration: b}, "added")
}

// checkBuiltin finds a misspelt built-in while the person is still looking.
func checkBuiltin(values map[string]any) error {
	if values["handler"] != "builtin" {
		return nil
	}
	target, _ := values["target"].(string)
	known := handler.NewBuiltins(handler.Deps{})
	if _, err := handler.New(hook.Registration{ID: "new", Handler: "builtin", Target: target}, handler.Deps{Builtins: known}); err != nil {
		return usage("there is no built-in %q; there are %s", target, strings.Join(known.Names(), ", "))
	}
	return nil
}

func (w *world) hooksEdit(cmd *cobra.Command, f *hookFlags, method string, p wire.HooksEditParams, done string) error {
	p.Cwd = w.cwd()
	switch {
	case f.global:
		p.Scope = "global"
	case f.project || method == wire.MethodHooksAdd:
		p.Scope = "project"
	}
	c, err := w.hub(cmd.Context())
	if err != nil {
		return err
	}
	var result wire.HooksEditResult
	if err := c.Call(cmd.Context(), method, p, &result); err != nil {
		var bad *wire.Error
		if errors.As(err, &bad) && bad.Code == wire.CodeParams {
			return usage("%s", bad.Message)
		}
		return err
	}
	if f.asJSON {
		return w.printJSON(result)
	}
	var r hook.Registration
	_ = json.Unmarshal(result.Registration, &r)
	w.say("%s %s (%s, %s)", done, termsafe.Line(r.ID, 80), result.Scope, termsafe.Line(result.File, 200))
	for _, n := range result.Notes {
		w.say("%s", termsafe.Line(n, 300))
	}
	return nil
}

// hooksHandle is agent-mux's handle: a payload in, the native answer out. Its
// exit code is the answer's, like a hook's.
func (w *world) hooksHandle(cmd *cobra.Command, f *hookFlags, agentName, hookType string) error {
	if agentName == hook.Any {
		return usage("handle needs one agent, not '*'")
	}
	native, err := w.nativeEvent(agentName, hookType)
	if err != nil {
		return err
	}
	payload, err := w.payload("hooks " + agentName + " handle " + hookType)
	if err != nil {
		return err
	}
	c, err := w.hub(cmd.Context())
	if err != nil {
		return err
	}
	c.Timeout = 10 * time.Minute
	result, err := c.Push(cmd.Context(), wire.PushParams{Agent: agentName, Event: native, Cwd: w.cwd(), Payload: event.RawJSON(payload), Env: w.environ, Timeout: 600})
	if err != nil {
		return err
	}
	if f.asJSON {
		return w.printJSON(result)
	}
	fmt.Fprint(w.stdout, result.Stdout)
	fmt.Fprint(w.stderr, result.Stderr)
	if result.ExitCode != 0 {
		return &codeError{code: result.ExitCode}
	}
	return nil
}

// nativeEvent finds the agent's own event for what a person calls it: its
// native name, a kind, or agent-mux's name. Anything else is a mistake, and
// must not look like a hook that has nothing against it.
func (w *world) nativeEvent(agentName, hookType string) (string, error) {
	catalogue, err := w.catalogue()
	if err != nil {
		return "", err
	}
	a, ok := catalogue.Agent(agentName)
	if !ok {
		return "", usage("agent %q is unknown; `hookmux status` lists the agents", agentName)
	}
	if _, ok := a.Event(hookType); ok {
		return hookType, nil
	}
	kind := event.Kind(hookType)
	if !kind.Known() {
		name, ok := importer.KindOf(hookType)
		if !ok {
			return "", usage("%s has no event %q; `hookmux hooks %s discover` lists them", agentName, hookType, agentName)
		}
		kind = event.Kind(name)
	}
	for _, e := range a.Events {
		if e.Kind == kind {
			return e.Name, nil
		}
	}
	return "", usage("%s has no event of kind %s; `hookmux hooks %s discover` lists what it has", agentName, kind, agentName)
}

// knownType tells an agent's own event names; of '*' any agent's.
func (w *world) knownType(agentName, name string) bool {
	catalogue, err := w.catalogue()
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
