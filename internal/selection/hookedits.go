package selection

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

func (r *edits) listHooks(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.HooksListParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	return r.listHooksIn(p.Cwd, p.Agent), nil
}

// editError distinguishes a mistake of the caller from a failure of the daemon.
func editError(err error) *wire.Error {
	var own *wire.Error
	if errors.As(err, &own) {
		return own
	}
	return wire.Errorf(wire.CodeConflict, "%v", err)
}

func (r *edits) addHook(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.HooksEditParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	var reg hook.Registration
	if err := json.Unmarshal(p.Registration, &reg); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "can't read the hook: %v", err)
	}
	if err := r.TSHooks.ResolveTarget(&reg, p.Scope, p.Cwd, r.Registry.RootFor); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	check := reg
	if check.ID == "" {
		check.ID = "generated"
	}
	if err := r.canRun(check, p.Scope); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	reg.Agent = r.AgentName(reg.Agent)
	return r.editHooks(p, func(hooks *registry.Registry, file string) (registry.Change, error) {
		if p.Replace {
			return hooks.Put(file, reg)
		}
		return hooks.Add(file, reg)
	})
}

// canRun refuses what would only fail later, at every call.
func (r *edits) canRun(reg hook.Registration, scope string) error {
	if err := reg.Check(r.sources.KnowsAgent, r.sources.KnowsType); err != nil {
		return err
	}
	if scope == registry.Global {
		if err := checkTarget(reg); err != nil {
			return err
		}
	}
	if reg.Handler == hook.HandlerTypeScript {
		return nil // it is loaded when it is there, and says itself what is wrong
	}
	_, err := handler.New(reg, r.handlers)
	return err
}

func (r *edits) changeHook(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.HooksEditParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	return r.editHooks(p, func(hooks *registry.Registry, file string) (registry.Change, error) {
		return hooks.Set(file, p.ID, func(reg *hook.Registration) error {
			handler, target := reg.Handler, reg.Target
			if err := json.Unmarshal(p.Patch, reg); err != nil {
				return wire.Errorf(wire.CodeParams, "can't read the change: %v", err)
			}
			// A target that does not change is resolved already; resolving it again
			// would start from the folder the user is in now.
			if reg.Handler != handler || reg.Target != target {
				if err := r.TSHooks.ResolveTarget(reg, p.Scope, p.Cwd, r.Registry.RootFor); err != nil {
					return wire.Errorf(wire.CodeParams, "%v", err)
				}
			}
			if err := r.canRun(*reg, p.Scope); err != nil {
				return wire.Errorf(wire.CodeParams, "%v", err)
			}
			return nil
		})
	})
}

func (r *edits) removeHook(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.HooksEditParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	return r.editHooks(p, func(hooks *registry.Registry, file string) (registry.Change, error) {
		return hooks.Remove(file, p.ID)
	})
}

// editHooks changes a file of hooks, and lets trust follow exactly that change. A
// scope that is not named is the project's, if it has the hook, else the
// user's.
func (r *edits) editHooks(p wire.HooksEditParams,
	change func(*registry.Registry, string) (registry.Change, error)) (any, *wire.Error) {
	// One edit at a time, with the trust that follows it: two that overtake each other
	// would look like another program's change.
	r.editing.Lock()
	defer r.editing.Unlock()
	defer r.views.Forget()
	scope, root := p.Scope, ""
	if scope != registry.Global {
		root = r.Registry.RootFor(p.Cwd)
	}
	if scope == "" {
		scope = registry.Global
		if list, _ := r.Registry.List(registry.ProjectFile(root)); hasHook(list, p.ID) {
			scope = registry.Project
		}
	}
	file := r.Registry.GlobalFile()
	if scope == registry.Project {
		if p.Cwd == "" || !filepath.IsAbs(p.Cwd) {
			return nil, wire.Errorf(wire.CodeParams, "the project's folder is missing")
		}
		if inOwnPlaces(root, r.Dirs) {
			return nil, wire.Errorf(wire.CodeParams, "%s is hookmux's own folder; add the hook with --global", root)
		}
		file = registry.ProjectFile(root)
	}
	done, err := change(r.Registry, file)
	if err != nil {
		return nil, editError(err)
	}
	r.views.DropProblemsOf(done.Hook.ID)
	named := len(p.Registration) > 0 || namesTarget(p.Patch)
	if scope == registry.Global && r.Accepted != nil && named && done.Hook.Handler == hook.HandlerTypeScript {
		r.acceptance.acceptNamed([]string{done.Hook.Target})
	}
	result := wire.HooksEditResult{File: done.File, Scope: scope}
	result.Registration, _ = json.Marshal(done.Hook)
	if scope == registry.Project {
		if note := trustEdit(r.Trust, root, done); note != "" {
			result.Notes = append(result.Notes, note)
		}
	}
	if len(p.Registration)+len(p.Patch) > 0 { // not when it is removed
		result.Notes = append(result.Notes, editNotes(&done.Hook, r.Catalogue.Agents())...)
	}
	return result, nil
}

func hasHook(list []registry.Parsed, id string) bool {
	return slices.ContainsFunc(list, func(p registry.Parsed) bool { return p.ID == id })
}

func inOwnPlaces(root string, dirs paths.Dirs) bool {
	for _, own := range []string{dirs.Config, dirs.OpenState(), dirs.OpenRuntime()} {
		if root == own || strings.HasPrefix(root, own+"/") {
			return true
		}
	}
	return false
}

// namesTarget reports whether a change of a hook says what it runs.
func namesTarget(patch json.RawMessage) bool {
	var p struct {
		Target *string `json:"target"`
	}
	return json.Unmarshal(patch, &p) == nil && p.Target != nil
}
