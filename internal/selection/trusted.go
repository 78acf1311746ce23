package selection

import (
	"encoding/json"
	"fmt"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

func isTrusted(store *trust.Store, root string) bool {
	return root != "" && store.InForce(root).Status == trust.Trusted
}

// trustEdit makes trust follow the user's own edit through hookmux, and says what prevents
// that if it can't.
func trustEdit(store *trust.Store, root string, done registry.Change) string {
	if err := store.Retrust(root, done.File, done.Before, done.After); err != nil {
		return fmt.Sprintf("it does not run yet: %v", err)
	}
	return ""
}

// listHooksIn shows every registration that could count in a folder, and whether it
// does.
func (r *edits) listHooksIn(cwd, agent string) []wire.ListedHook {
	root := ""
	if cwd != "" {
		root = r.Registry.FindProject(cwd)
	}
	set, trusted := r.sources.HooksIn(root)
	listed := []wire.ListedHook{}
	add := func(reg hook.Registration, scope, file string, inForce bool, why string) {
		if agent != "" && reg.Agent != hook.Any && reg.Agent != agent {
			return
		}
		b, _ := json.Marshal(reg)
		if inForce && !reg.IsEnabled() {
			inForce, why = false, "disabled"
		}
		listed = append(listed, wire.ListedHook{Registration: b, Scope: scope, File: file, InForce: inForce, Why: why})
	}
	inForce := map[string]bool{}
	for _, e := range set.Hooks {
		inForce[e.Scope+":"+e.ID] = true
		add(e.Registration, e.Scope, e.File, true, "")
	}
	for _, g := range r.Registry.Load("", "").Hooks {
		if !inForce[registry.Global+":"+g.ID] {
			add(g.Registration, registry.Global, g.File, false, "replaced by the project's hook of the same id")
		}
	}
	if root != "" && trusted != nil && trusted.Status != trust.Trusted {
		live, _ := r.Registry.List(registry.ProjectFile(root))
		for _, p := range live {
			if !inForce[registry.Project+":"+p.ID] {
				add(p.Registration, registry.Project, registry.ProjectFile(root), false, "not trusted: `hookmux trust`")
			}
		}
	}
	return listed
}

func trustView(v trust.View) wire.TrustView {
	out := wire.TrustView{Project: v.Root, Status: string(v.Status), Hash: v.Hash, Replaces: v.Replaces}
	if v.Status == trust.Absent {
		out.Status = "none"
	}
	if v.Problem != "" {
		out.Problem = v.Problem
	}
	for _, run := range v.Runs {
		line := fmt.Sprintf("%s on %s %s: %s %s", run.ID, run.Agent, run.HookType, run.Handler, run.Target)
		if run.ProjectCode {
			line += "  (runs code of the project that can change later)"
		}
		if !run.Enabled {
			line += "  (disabled)"
		}
		out.Runs = append(out.Runs, line)
	}
	for _, f := range v.Files {
		if trust.IsTSHook(f.Path) {
			out.Runs = append(out.Runs, f.Path+" where it listens, on every agent: typescript")
		}
		out.Files = append(out.Files, f.Path)
	}
	for _, c := range v.Changes {
		out.Changes = append(out.Changes, c.String())
	}
	return out
}

func (r *edits) trustParams(params json.RawMessage) (string, wire.TrustParams, *wire.Error) {
	var p wire.TrustParams
	if err := services.ReadParams(params, &p); err != nil {
		return "", p, err
	}
	root := r.Registry.FindProject(p.Cwd)
	if root == "" {
		root = r.Registry.RootFor(p.Cwd)
	}
	return root, p, nil
}

func (r *edits) showTrust(root string) (any, *wire.Error) {
	view, err := r.Trust.Inspect(root, r.Registry.Load("", "").Registrations())
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	return trustView(view), nil
}

func (r *edits) lookAtTrust(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	root, _, bad := r.trustParams(params)
	if bad != nil {
		return nil, bad
	}
	return r.showTrust(root)
}

func (r *edits) trustProject(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	root, p, bad := r.trustParams(params)
	if bad != nil {
		return nil, bad
	}
	if p.Hash == "" {
		return nil, wire.Errorf(wire.CodeParams, "trust needs the hash of what you saw (trust.look)")
	}
	if _, err := r.Trust.Trust(root, p.Hash); err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "%v", err)
	}
	r.views.Forget()
	r.views.Refresh(root) // what was taken back ends now
	return r.showTrust(root)
}

func (r *edits) untrustProject(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	root, _, bad := r.trustParams(params)
	if bad != nil {
		return nil, bad
	}
	if err := r.Trust.Untrust(root); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	r.views.Forget()
	r.views.Refresh(root) // what was taken back ends now
	return r.showTrust(root)
}
