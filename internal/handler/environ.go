package handler

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// projectDirVar is the variable in which Claude Code passes the project's folder to its hooks.
const projectDirVar = "CLAUDE_PROJECT_DIR"

// passed are the variables of the calling hook that a process gets: what agents promise
// their hooks, and the place in tmux. Everything else is the daemon's own: a repository
// may choose an agent's environment, and PATH, PYTHONPATH, BASH_ENV and their like
// would replace what a guard is made of.
var passed = []string{
	"CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_CODE_REMOTE", "CODEBUDDY_PROJECT_DIR", "CODEBUDDY_SESSION_ID",
	"CONTINUE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "CURSOR_TRANSCRIPT_PATH", "CURSOR_VERSION", "DEVIN_PROJECT_DIR",
	"DROID_PROJECT_DIR", "FACTORY_PROJECT_DIR", "GEMINI_CWD", "GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID",
	"QODER_PROJECT_DIR", "QODER_SESSION_ID", "QWEN_PROJECT_DIR", "TRAE_PROJECT_DIR", "TMUX", "TMUX_PANE",
}

// handlerBase returns what every process of a handler gets.
func handlerBase(call *hook.Call) []string {
	base := ownEnviron()
	for _, entry := range call.Env {
		if name, _, ok := strings.Cut(entry, "="); ok && slices.Contains(passed, name) {
			base = append(base, entry)
		}
	}
	return base
}

// processEnviron returns the environment of a process: the user's, a few variables of the call,
// and what hookmux adds.
func processEnviron(call *hook.Call, cwd string, format hook.Format, mark func(id string) string) []string {
	ev := call.Event
	base := handlerBase(call)
	chain := mark(call.Hook.ID)
	if before := paths.GetenvLast(call.Env)("HOOKMUX_HANDLER"); before != "" {
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

// ownEnviron returns the part of the daemon's environment that is the user's.
func ownEnviron() (env []string) {
	has := map[string]bool{}
	for _, entry := range os.Environ() {
		if name, value, ok := strings.Cut(entry, "="); ok && value != "" && paths.IsPersonal(name) {
			has[name] = true
			env = append(env, entry)
		}
	}
	if !has["PATH"] {
		env = append(env, "PATH="+paths.DefaultPath)
	}
	if home, err := os.UserHomeDir(); !has["HOME"] && err == nil && home != "" {
		env = append(env, "HOME="+home)
	}
	return env
}

// projectDir returns what Claude Code would call the project here. Its own variable is used
// only on Claude itself: an agent that runs below Claude inherits one that belongs to another
// session.
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

// workDir returns where a process runs: the event's cwd; if that is gone the project, else the
// root. The note says so.
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
