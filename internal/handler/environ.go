package handler

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// projectDirVar is how Claude Code tells its hooks the project's folder.
const projectDirVar = "CLAUDE_PROJECT_DIR"

// processEnviron is what a process gets: the environment of the agent's hook, with
// what hookmux adds. Without one (an event that was kept while no daemon ran)
// the daemon's own PATH and HOME must do.
func processEnviron(call *hook.Call, cwd string, format hook.Format, mark func(id string) string) []string {
	ev := call.Event
	base := call.Env
	if len(base) == 0 {
		base = minimalEnviron()
	}
	chain := mark(call.Hook.ID)
	if before := paths.GetenvLast(base)("HOOKMUX_HANDLER"); before != "" {
		chain = before + " " + chain // an id holds no blank
	}
	added := [...]struct{ name, value string }{
		{"HOOKMUX_AGENT", ev.Agent},
		{"HOOKMUX_EVENT", string(ev.Kind)},
		{"HOOKMUX_NATIVE_EVENT", ev.Native},
		{"HOOKMUX_SESSION", ev.Session},
		{"HOOKMUX_EVENT_ID", ev.ID},
		{"HOOKMUX_HOOK_ID", call.Hook.ID},
		{"HOOKMUX_PROJECT", call.Project},
		{"HOOKMUX_HANDLER", chain},
		{"PWD", cwd},
		{projectDirVar, ""},
	}
	last := len(added) - 1
	use := added[:last]
	if format == hook.Claude {
		added[last].value = projectDir(call, cwd)
		use = added[:]
	}
	env := make([]string, 0, len(base)+len(use))
next:
	for _, entry := range base {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			continue
		}
		for i := range use {
			if use[i].name == name {
				continue next
			}
		}
		env = append(env, entry)
	}
	for _, v := range use {
		// An agent's bytes end up here; what an environment cannot hold
		// would keep the process from starting.
		if strings.IndexByte(v.value, 0) >= 0 {
			v.value = strings.ReplaceAll(v.value, "\x00", "")
		}
		env = append(env, v.name+"="+v.value)
	}
	return env
}

func minimalEnviron() []string {
	path := os.Getenv("PATH")
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin"
	}
	env := []string{"PATH=" + path}
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		env = append(env, "HOME="+home)
	}
	return env
}

// projectDir is what Claude Code would call the project here. Its own word
// counts only on Claude itself: an agent that runs below Claude inherits a
// variable that means another session.
func projectDir(call *hook.Call, cwd string) string {
	if speaksClaude(call.Event) {
		if dir := paths.GetenvLast(call.Env)(projectDirVar); dir != "" {
			return dir
		}
	}
	if call.Project != "" {
		return call.Project
	}
	for dir := cwd; ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return cwd
		}
		dir = parent
	}
}

// workDir is where a process runs: the event's cwd; when that is gone the
// project, else the root. The note says so.
func workDir(call *hook.Call) (dir, note string) {
	if isDir(call.Event.Cwd) {
		return call.Event.Cwd, ""
	}
	dir = "/"
	if isDir(call.Project) {
		dir = call.Project
	}
	if call.Event.Cwd != "" {
		note = "cwd " + call.Event.Cwd + " is not a directory; ran in " + dir
	}
	return dir, note
}

func isDir(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
