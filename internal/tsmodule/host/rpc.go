package hub

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/tsmodule"
	"github.com/hookmux/hookmux/internal/wire"
)

func (h *Hub) moduleMethods() map[string]method {
	return map[string]method{
		wire.MethodModules:   {authority.Read, h.doModules},
		wire.MethodModuleRun: {authority.Decide, h.doModuleRun},
		wire.MethodWanted:    {authority.Report, h.doWanted},
	}
}

// doModules lists every file that is loaded, and those of the project that are
// not trusted.
func (h *Hub) doModules(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.ModulesParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	root := ""
	if p.Cwd != "" {
		root = h.rules.registry.FindProject(p.Cwd)
	}
	h.rules.view(places{here: root}) // as it is now
	h.modules.settle(h.ctx)
	list := []wire.ModuleInfo{}
	for _, one := range h.modules.all() {
		info := h.modules.infoOf(one)
		if one.force == nil || one.force.Root == root {
			list = append(list, info)
		}
	}
	if root != "" {
		f := h.rules.trust.InForce(root)
		live, _ := os.ReadDir(filepath.Join(root, trust.ModuleDir))
		for _, e := range live {
			path := filepath.Join(root, trust.ModuleDir, e.Name())
			known := slices.ContainsFunc(list, func(m wire.ModuleInfo) bool { return m.Path == path })
			if !known && !e.IsDir() && trust.IsModuleName(e.Name()) && f.Status != trust.Trusted {
				list = append(list, wire.ModuleInfo{ID: "module:" + trust.ModuleDir + "/" + e.Name(), Path: path, Scope: registry.Project, Why: "not trusted: `hookmux trust`"})
			}
		}
	}
	return list, nil
}

func (ms *modules) infoOf(one *held) wire.ModuleInfo {
	out := wire.ModuleInfo{ID: one.id, Path: one.force.Shown(one.path), Scope: one.scope}
	m := ms.of(one)
	if m == nil {
		out.Why = "still being loaded"
		return out
	}
	info := m.Info()
	out.InForce = info.OK()
	if !info.OK() {
		out.Why = "does not load; what it would have judged is refused"
	}
	if info.Limits == nil {
		info.Limits = []tsmodule.Limit{}
	}
	b, _ := json.Marshal(info)
	out.Info = json.RawMessage(one.force.Shown(string(b)))
	return out
}

// doModuleRun loads files for the launch of an agent by the process that asks.
func (h *Hub) doModuleRun(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.ModuleRunParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if len(p.Files) == 0 || slices.ContainsFunc(p.Files, func(f string) bool { return !filepath.IsAbs(f) }) {
		return nil, wire.Errorf(wire.CodeParams, "modules.run needs the absolute paths of files")
	}
	who, err := h.deps.Processes.Lookup(peer.PID)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "the process that asks cannot be seen: %v", err)
	}
	one := &oneRun{PID: who.PID, Start: who.Start, Files: p.Files}
	h.modules.ofRun(one)
	list := []wire.ModuleInfo{}
	var broken []string
	for _, held := range h.modules.all() {
		if !slices.Contains(p.Files, held.path) {
			continue
		}
		if err := held.wait(h.ctx); err != nil {
			return nil, wire.Errorf(wire.CodeWithdrawn, "the hub is stopping")
		}
		info := h.modules.infoOf(held)
		if m := h.modules.of(held); m != nil {
			if known := m.Info(); !known.OK() && len(known.Errors) > 0 {
				broken = append(broken, known.Errors[0].Error())
			}
		}
		list = append(list, info)
	}
	if len(broken) > 0 {
		h.modules.want(one.owner(), nil, 0)
		return nil, wire.Errorf(wire.CodeParams, "%s", strings.Join(broken, "; "))
	}
	if err := h.modules.runs.add(who, p.Files); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "the launch could not be noted: %v", err)
	}
	return list, nil
}
