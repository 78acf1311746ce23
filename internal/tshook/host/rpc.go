package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tshook"
	"github.com/hookmux/hookmux/internal/wire"
)

// Methods returns what the daemon can be asked about files.
func (s *Service) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodTSHooks:   {Run: s.listMethod},
		wire.MethodTSHookRun: {Run: s.launchMethod},
	}
}

// LongMethods returns the methods that may wait.
func (s *Service) LongMethods() map[string]services.LongMethod {
	return map[string]services.LongMethod{wire.MethodWanted: s.AwaitWanted}
}

// listMethod lists every file that is loaded, and those of the project that are
// not trusted.
func (s *Service) listMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.TSHooksParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	selection := s.options.Selection
	root := ""
	if p.Cwd != "" {
		root = selection.FindProject(p.Cwd)
	}
	selection.Refresh(root)
	s.files.awaitLoading(s.ctx)
	list := []wire.TSHookInfo{}
	for _, one := range s.files.allFiles() {
		info := s.fileInfo(one)
		if one.trusted == nil || one.trusted.Root == root {
			list = append(list, info)
		}
	}
	if root != "" && !selection.Trusted(root) {
		list = append(list, untrustedFiles(root, list)...)
	}
	return list, nil
}

// untrustedFiles returns the files of a project's folder that are not in known.
func untrustedFiles(root string, known []wire.TSHookInfo) []wire.TSHookInfo {
	var list []wire.TSHookInfo
	entries, _ := os.ReadDir(filepath.Join(root, trust.TSHookDir))
	for _, e := range entries {
		path := filepath.Join(root, trust.TSHookDir, e.Name())
		listed := slices.ContainsFunc(known, func(m wire.TSHookInfo) bool { return m.Path == path })
		if !listed && !e.IsDir() && trust.IsTSHookName(e.Name()) {
			list = append(list, wire.TSHookInfo{
				ID: hook.TSHookID(trust.TSHookDir + "/" + e.Name()), Path: path, Scope: registry.Project,
				Why: "not trusted: `hookmux trust`",
			})
		}
	}
	return list
}

// fileInfo returns a file as clients see it.
func (s *Service) fileInfo(one *loadedFile) wire.TSHookInfo {
	out := wire.TSHookInfo{ID: one.id, Path: one.trusted.Shown(one.path), Scope: one.scope}
	m := s.files.tsHookOf(one)
	if m == nil {
		out.Why = "still being loaded"
		return out
	}
	info := m.Info()
	out.InForce, out.LogOnly = info.OK(), one.logOnly.Load()
	if !info.OK() {
		out.Why = "does not load; what it would have evaluated is refused"
		if out.LogOnly {
			out.Why = "does not load; it only logs, so nothing is refused"
		}
	}
	if out.InForce {
		out.Why = s.files.goneNote(one.path)
	}
	if info.Limits == nil {
		info.Limits = []tshook.Limit{}
	}
	b, _ := json.Marshal(info)
	out.Info = json.RawMessage(one.trusted.Shown(string(b)))
	return out
}

// launchMethod loads files for the launch of an agent by the process that asks.
func (s *Service) launchMethod(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.TSHookRunParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	if len(p.Files) == 0 || slices.ContainsFunc(p.Files, func(f string) bool { return !filepath.IsAbs(f) }) {
		return nil, wire.Errorf(wire.CodeParams, "typescript.run needs the absolute paths of files")
	}
	who, err := s.deps.Processes.Lookup(peer.PID)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "the process that asks cannot be seen: %v", err)
	}
	one := &launched{PID: who.PID, Start: who.Start, Files: p.Files}
	s.launchEntries(one)
	list := []wire.TSHookInfo{}
	var broken []string
	for _, file := range s.files.allFiles() {
		if !slices.Contains(p.Files, file.path) {
			continue
		}
		if err := file.awaitReady(s.ctx); err != nil {
			return nil, wire.Errorf(wire.CodeWithdrawn, "the daemon is stopping")
		}
		info := s.fileInfo(file)
		if m := s.files.tsHookOf(file); m != nil {
			if known := m.Info(); !known.OK() && len(known.Errors) > 0 {
				broken = append(broken, known.Errors[0].Error())
			}
		}
		list = append(list, info)
	}
	if len(broken) > 0 {
		s.launchEnded(one)
		return nil, wire.Errorf(wire.CodeParams, "%s", strings.Join(broken, "; "))
	}
	if err := s.launches.addLaunch(who, p.Files); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "the launch could not be noted: %v", err)
	}
	return list, nil
}
