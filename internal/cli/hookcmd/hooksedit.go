package hookcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/install/importer"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/spf13/cobra"
)

// registrationPatch returns the flags that were given, as the registration's own keys. Bad
// values are errors here, where the flag is known.
func (f *hookFlags) registrationPatch(cmd *cobra.Command) (map[string]any, error) {
	out := map[string]any{}
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	for flag, value := range map[string]string{"handler": f.handler, "target": f.target, "role": f.role,
		"format": f.format, "on-failure": f.onFailure} {
		if given(flag) {
			key := flag
			if flag == "on-failure" {
				key = "onFailure"
			}
			out[key] = value
		}
	}
	if given("role") && f.role != "" {
		if err := cmdutil.CheckChoice("role", f.role, string(hook.Guard), string(hook.Advise), string(hook.Observe)); err != nil {
			return nil, err
		}
	}
	if given("on-failure") {
		if err := cmdutil.CheckFlag("on-failure", f.onFailure, "deny", "ask", "ignore"); err != nil {
			return nil, err
		}
	}
	if given("match-command") {
		if _, err := regexp.Compile(f.matchCommand); err != nil {
			return nil, cmdutil.UsageError("--match-command %q isn't a regular expression: %s", f.matchCommand,
				strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	if given("priority") {
		var n int
		if _, err := fmt.Sscanf(f.priority, "%d", &n); err != nil || fmt.Sprint(n) != strings.TrimSpace(f.priority) {
			return nil, cmdutil.UsageError("--priority %q isn't a whole number", f.priority)
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
			return nil, cmdutil.UsageError("--enabled %q isn't true or false", f.enabled)
		}
	}
	if given("timeout") {
		span, err := time.ParseDuration(f.timeout)
		if err != nil {
			span, err = time.ParseDuration(f.timeout + "s")
		}
		if err != nil || span <= 0 {
			return nil, cmdutil.UsageError("--timeout %v", config.BadSpan(f.timeout, "30s or 2m"))
		}
		out["timeout"] = hook.Duration(span)
	}
	if given("locked") {
		out["locked"] = f.locked
	}
	if given("log") {
		out["log"] = f.log
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
	return out, nil
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
	if f.plain && values["handler"] == nil && values["target"] == nil { // agent-mux's form has a default
		return cmdutil.UsageError("what should it run? As in --handler command --target 'make lint'; `hookmux hooks new NAME` writes " +
			"one in TypeScript")
	}
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
	if err := cmdutil.CheckChoice("handler", fmt.Sprint(values["handler"]), "command", "script", "typescript",
		"builtin"); err != nil {
		return err
	}
	if err := checkType(app, agentName, hookType); err != nil {
		return err
	}
	if err := checkBuiltin(values); err != nil {
		return err
	}
	b, _ := json.Marshal(values)
	if err := checkDefinition(app, b); err != nil {
		return err
	}
	return hooksEdit(app, cmd, f, wire.MethodHooksAdd, wire.HooksEditParams{Registration: b}, "added")
}

// checkDefinition finds what is wrong with a new hook before you are asked who you are.
func checkDefinition(app *cmdutil.App, values []byte) error {
	var r hook.Registration
	if err := json.Unmarshal(values, &r); err != nil {
		return cmdutil.UsageError("%v", err)
	}
	if r.Match != nil && r.Match.Tool != "" && !event.ToolKind(r.Match.Tool).Known() {
		var kinds []string
		for _, k := range event.ToolKinds() {
			kinds = append(kinds, string(k))
		}
		return cmdutil.CheckFlag("match-tool", r.Match.Tool, kinds...)
	}
	if file := r.Target; (r.Handler == "script" || r.Handler == hook.HandlerTypeScript && strings.HasSuffix(file, "s")) &&
		!strings.ContainsAny(file, " ~$") {
		if !filepath.IsAbs(file) {
			file = filepath.Join(app.Cwd(), file)
		}
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return cmdutil.FileError(r.Target, err)
		}
	}
	if r.ID == "" {
		r.ID = "new"
	}
	if err := checkRegistration(&r); err != nil {
		return cmdutil.UsageError("%v", err)
	}
	return nil
}

// checkType rejects what is neither a kind of event nor one of the agent's own.
func checkType(app *cmdutil.App, agentName, hookType string) error {
	if hookType == hook.Any || event.Kind(hookType).Known() || knownType(app, agentName, hookType) {
		return nil
	}
	var known []string
	for _, k := range event.Kinds() {
		known = append(known, string(k))
	}
	catalogue, err := app.Catalogue()
	if err != nil {
		return err
	}
	for _, a := range catalogue.Agents() {
		if agentName == hook.Any || a.Name == agentName {
			for _, e := range a.Events {
				known = append(known, e.Name)
			}
		}
	}
	list := "hookmux hooks discover"
	if agentName != hook.Any {
		list = "hookmux hooks " + agentName + " discover"
	}
	return cmdutil.UnknownName("event", hookType, known, list)
}

// checkBuiltin finds a misspelt built-in while you are still looking.
func checkBuiltin(values map[string]any) error {
	if values["handler"] != "builtin" {
		return nil
	}
	target, _ := values["target"].(string)
	known := handler.NewBuiltins(handler.Deps{})
	if _, err := handler.New(hook.Registration{ID: "new", Handler: "builtin", Target: target},
		handler.Deps{Builtins: known}); err != nil {
		return cmdutil.UnknownName("built-in hook", target, known.Names(), "")
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
	var result wire.HooksEditResult
	if err := app.CallDaemon(cmd.Context(), method, p, &result); err != nil {
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
