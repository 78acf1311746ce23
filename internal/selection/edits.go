package hub

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/guard"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/wire"
)

func settingOf(e config.Entry) wire.Setting {
	value, _ := json.Marshal(config.Format(e.Value))
	if list, ok := e.Value.([]string); ok {
		value, _ = json.Marshal(append([]string{}, list...))
	}
	if ms, ok := e.Value.(config.Milliseconds); ok {
		value, _ = json.Marshal(ms)
	}
	return wire.Setting{Key: e.Key.Name, Value: value, Default: e.Default, Origin: string(e.Origin.Layer), File: e.Origin.File, Doc: e.Key.Doc}
}

func (h *Hub) doConfigList(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.ConfigListParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	root := h.rules.registry.FindProject(p.Cwd)
	list := []wire.Setting{}
	for _, e := range h.rules.config.For(root, h.rules.trusted(root)).List() {
		s := settingOf(e)
		if s.Key == config.ApprovalsPIN {
			s = h.approvals.PINSetting(s) // not a matter of files that anybody may edit
		}
		list = append(list, s)
	}
	return list, nil
}

func (h *Hub) doConfigSet(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.ConfigSetParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if p.Key == config.ApprovalsPIN {
		return nil, wire.Errorf(wire.CodeParams, "%s asks for the PIN itself; use `hookmux config set %s on`", p.Key, p.Key)
	}
	if p.Key == config.Modules && p.Value != nil {
		if err := h.modules.CheckSetting(textOf(p.Value)); err != nil {
			return nil, wire.Errorf(wire.CodeParams, "%v", err)
		}
	}
	layer, root := config.User, ""
	if p.Project != "" {
		layer, root = config.Project, h.rules.registry.RootFor(p.Project)
	}
	if err := h.rules.setConfig(layer, root, p.Key, p.Value); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	h.sessions.ReadSettings() // what is switched off is forgotten at once
	e, ok := h.rules.config.For(root, h.rules.trusted(root)).Get(p.Key)
	if !ok {
		return nil, wire.Errorf(wire.CodeParams, "%v", config.Unknown(p.Key))
	}
	return settingOf(e), nil
}

// setConfig changes a setting and lets it count at once. In a trusted project
// trust follows exactly that change.
func (r *rules) setConfig(layer config.Layer, root, key string, value json.RawMessage) error {
	r.editing.Lock()
	defer r.editing.Unlock()
	defer r.forget()
	var done config.Change
	var err error
	if value == nil {
		done, err = r.config.Unset(layer, root, key)
	} else {
		done, err = r.config.Set(layer, root, key, textOf(value))
	}
	if err == nil && root != "" && r.trust.Known(root) {
		_ = r.trust.Retrust(root, done.File, done.Before, done.After) // else status says what is not trusted
	}
	return err
}

// textOf is a JSON value as a person would type it.
func textOf(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// doAllow lets one rule of a guard pass.
func (h *Hub) doAllow(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.AllowParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if !knownRule(p.Rule) {
		return nil, wire.Errorf(wire.CodeParams, "there is no rule %q; `hookmux guard list --rules` lists them", p.Rule)
	}
	type said struct {
		Text string `json:"text"`
	}
	if p.Once {
		h.rules.once.give(p.Rule)
		return said{"the next call that " + p.Rule + " objects to passes, within ten minutes"}, nil
	}
	allowed := h.rules.config.Settings().Strings(config.GuardAllow)
	had := slices.Contains(allowed, p.Rule)
	if p.Drop {
		once := h.rules.once.drop(p.Rule)
		if !had && !once {
			return said{p.Rule + " was not allowed"}, nil
		}
		allowed = slices.DeleteFunc(allowed, func(s string) bool { return s == p.Rule })
	} else if !had {
		allowed = append(allowed, p.Rule)
	}
	b, _ := json.Marshal(allowed)
	if err := h.rules.setConfig(config.User, "", config.GuardAllow, b); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	if p.Drop {
		return said{p.Rule + " is guarded again"}, nil
	}
	return said{p.Rule + " is allowed always; `hookmux guard allow " + p.Rule + " --drop` takes it back"}, nil
}

func knownRule(rule string) bool {
	for _, g := range guard.List() {
		for _, r := range g.Rules {
			if r.ID == rule {
				return true
			}
		}
	}
	return false
}

func (h *Hub) doHooksList(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.HooksListParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	return h.rules.list(p.Cwd, p.Agent), nil
}

// editError tells a mistake of the caller from trouble of the hub.
func editError(err error) *wire.Error {
	var own *wire.Error
	if errors.As(err, &own) {
		return own
	}
	return wire.Errorf(wire.CodeConflict, "%v", err)
}

func (h *Hub) doHooksAdd(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.HooksEditParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	var reg hook.Registration
	if err := json.Unmarshal(p.Registration, &reg); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "the registration cannot be read: %v", err)
	}
	if err := h.modules.ResolveTarget(&reg, p.Scope, p.Cwd, h.rules.registry.RootFor); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	check := reg
	if check.ID == "" {
		check.ID = "generated"
	}
	if err := h.canRun(check, p.Scope); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	reg.Agent = h.deps.AgentName(reg.Agent)
	return h.edit(p, func(r *registry.Registry, file string) (registry.Change, error) {
		if p.Replace {
			return r.Put(file, reg)
		}
		return r.Add(file, reg)
	})
}

// canRun refuses what would only fail later, at every call.
func (h *Hub) canRun(reg hook.Registration, scope string) error {
	if err := reg.Check(h.knowsAgent, h.knowsType); err != nil {
		return err
	}
	if scope == registry.Global {
		if err := notOfTheProject(reg); err != nil {
			return err
		}
	}
	if reg.Handler == "module" {
		return nil // it is loaded when it is there, and says itself what is wrong
	}
	_, err := handler.New(reg, h.rules.handlers)
	return err
}

func (h *Hub) doHooksSet(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.HooksEditParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	return h.edit(p, func(r *registry.Registry, file string) (registry.Change, error) {
		return r.Set(file, p.ID, func(reg *hook.Registration) error {
			handler, target := reg.Handler, reg.Target
			if err := json.Unmarshal(p.Patch, reg); err != nil {
				return wire.Errorf(wire.CodeParams, "the change cannot be read: %v", err)
			}
			// What stays stands in the file as it should; read anew it would be
			// taken from where the person is now.
			if reg.Handler != handler || reg.Target != target {
				if err := h.modules.ResolveTarget(reg, p.Scope, p.Cwd, h.rules.registry.RootFor); err != nil {
					return wire.Errorf(wire.CodeParams, "%v", err)
				}
			}
			if err := h.canRun(*reg, p.Scope); err != nil {
				return wire.Errorf(wire.CodeParams, "%v", err)
			}
			return nil
		})
	})
}

func (h *Hub) doHooksRemove(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.HooksEditParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	return h.edit(p, func(r *registry.Registry, file string) (registry.Change, error) { return r.Remove(file, p.ID) })
}

// edit changes a file of hooks, and lets trust follow exactly that change. A
// scope that is not named is the project's, if it has the hook, else the
// user's.
func (h *Hub) edit(p wire.HooksEditParams, change func(*registry.Registry, string) (registry.Change, error)) (any, *wire.Error) {
	r := h.rules
	// One edit at a time, with the trust that follows it: two that overtake
	// each other would look like somebody else's change.
	r.editing.Lock()
	defer r.editing.Unlock()
	defer r.forget()
	scope, root := p.Scope, ""
	if scope != registry.Global {
		root = r.registry.RootFor(p.Cwd)
	}
	if scope == "" {
		scope = registry.Global
		if list, _ := r.registry.List(registry.ProjectFile(root)); hasHook(list, p.ID) {
			scope = registry.Project
		}
	}
	file := r.registry.GlobalFile()
	if scope == registry.Project {
		if p.Cwd == "" || !filepath.IsAbs(p.Cwd) {
			return nil, wire.Errorf(wire.CodeParams, "the project's folder is missing")
		}
		if inOwnPlaces(root, h) {
			return nil, wire.Errorf(wire.CodeParams, "%s is hookmux's own folder; add the hook with --global", root)
		}
		file = registry.ProjectFile(root)
	}
	done, err := change(r.registry, file)
	if err != nil {
		return nil, editError(err)
	}
	r.dropProblemsOf(done.Hook.ID)
	result := wire.HooksEditResult{File: done.File, Scope: scope}
	result.Registration, _ = json.Marshal(done.Hook)
	if scope == registry.Project {
		if note := r.followEdit(root, done); note != "" {
			result.Notes = append(result.Notes, note)
		}
	}
	return result, nil
}

func hasHook(list []registry.Parsed, id string) bool {
	return slices.ContainsFunc(list, func(p registry.Parsed) bool { return p.ID == id })
}

func inOwnPlaces(root string, h *Hub) bool {
	for _, own := range []string{h.deps.Dirs.Config, h.deps.Dirs.State, h.deps.Dirs.Runtime} {
		if root == own || strings.HasPrefix(root, own+"/") {
			return true
		}
	}
	return false
}
