package daemon

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/server"
	"github.com/hookmux/hookmux/internal/wire"
)

// This file decides what a program that asks the daemon may read.

// readView finds out what a peer may read.
type readView struct {
	Evaluator   *authority.Evaluator
	Sessions    func(all bool) []wire.Session
	FindProject func(folder string) string
	// Folder returns the folder a process works in, without links; "" if unknown.
	Folder func(pid int) string
	Home   string
	// Opened returns the folders that the user opened to the agents of all projects.
	Opened func() []string
}

// workFolder returns the folder a process works in, or the one it was started in.
func workFolder(table proc.Table) func(pid int) string {
	return func(pid int) string {
		if dir := proc.Folder(pid); dir != "" {
			return dir
		}
		env, _ := table.Environ(pid) // nil for an error
		for _, one := range env {
			if dir, ok := strings.CutPrefix(one, "PWD="); ok {
				return resolve(dir)
			}
		}
		return ""
	}
}

// resolve returns a folder without links; the folder itself if that isn't known.
func resolve(dir string) string {
	if to, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(dir) {
		return to
	}
	return dir
}

// Of returns what a peer may read: an agent, and what it started, its own
// sessions and what happens in its project; everybody else all of it.
func (s *readView) Of(peer proc.Cred) server.View {
	agent, accused := s.Evaluator.Accused(peer)
	if !accused {
		return server.View{}
	}
	view := server.View{Limited: true}
	var own []wire.Session
	for _, one := range s.Sessions(true) {
		// A process id may have been another process's before.
		if agent.PID != 0 && one.PID == agent.PID && one.Agent == agent.Agent && !agent.Began.After(one.LastEvent) {
			own = append(own, one)
		}
	}
	if len(own) > 0 {
		// An agent can report a session in any folder: only those below its process's own count.
		started := s.Folder(agent.PID)
		var folders []string
		for _, one := range own {
			if s.inProject(started, resolve(one.Cwd)) {
				folders = append(folders, one.Cwd)
			}
		}
		view.Owns = func(agent, session, folder string) bool {
			return slices.ContainsFunc(own, func(one wire.Session) bool {
				return one.Agent == agent && session != "" && one.ID == session
			}) || slices.ContainsFunc(folders, func(dir string) bool { return s.inProject(dir, folder) })
		}
	}
	view.Opened = s.isOpened
	view.Hidden = func() (n int) {
		for _, one := range s.Sessions(false) {
			if view.Owns == nil || !view.Owns(one.Agent, one.ID, one.Cwd) {
				n++
			}
		}
		return n
	}
	return view
}

// inProject reports whether a folder belongs to the project that another one is in. A home is no
// project: everything is in it.
func (s *readView) inProject(own, folder string) bool {
	if !filepath.IsAbs(own) || !filepath.IsAbs(folder) {
		return false
	}
	root := s.FindProject(own)
	if root == "" {
		root = own
	}
	root, folder = filepath.Clean(root), filepath.Clean(folder)
	if isBelow(s.Home, root) {
		return folder == root
	}
	return isBelow(folder, root)
}

// isOpened reports whether a folder is one of those that the user opened to agents, or in one.
func (s *readView) isOpened(folder string) bool {
	return slices.ContainsFunc(s.Opened(), func(dir string) bool {
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			dir = filepath.Join(s.Home, rest)
		}
		if !filepath.IsAbs(dir) || !filepath.IsAbs(folder) {
			return dir == config.AllProjects
		}
		at := filepath.Clean(folder)
		return isBelow(at, filepath.Clean(dir)) || isBelow(at, resolve(dir))
	})
}

func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
