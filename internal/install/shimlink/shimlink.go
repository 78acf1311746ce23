// Package shimlink keeps the path that stands in agents' configs: always the same,
// whatever version of hookmux is installed where, because agents and people pin
// their trust to it. It is a link to the hookmux-hook of today.
package shimlink

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/install/programcopy"
	"github.com/hookmux/hookmux/internal/install/steps"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Path is where the link is.
func Path(d paths.Dirs) string { return filepath.Join(d.Data, "bin", hookentry.HookName) }

// StableHook prefers the name under which hookmux-hook stands on PATH to where
// that leads: package managers keep the first and move the second.
func StableHook(hook, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if file := filepath.Join(dir, hookentry.HookName); paths.SameFile(file, hook) {
			return file
		}
	}
	return hook
}

// Refresh points the link at this hookmux-hook again after an upgrade moved
// it. It never makes one that is not there; a hookmux that is not the one on
// PATH only fixes a link that leads nowhere.
func Refresh(d paths.Dirs, hook string, onPath bool) error {
	link := Path(d)
	to, err := os.Readlink(link)
	if err != nil || to == hook {
		return nil
	}
	if !onPath && paths.Runnable(link) {
		return nil
	}
	return steps.ReplaceLink(link, hook)
}

// Target is where the link leads to.
type Target struct {
	Hook string // this hookmux's own hookmux-hook, or the copy of it
	// Copied is the folder of this hookmux's programs where that may vanish, so that
	// agents run copies; empty: agents run these programs themselves.
	Copied string
}

// NewTarget decides whether agents run this hookmux-hook or a copy of it.
func NewTarget(d paths.Dirs, hook string) Target {
	if !programcopy.MayVanish(hook) {
		return Target{Hook: hook}
	}
	return Target{Hook: filepath.Join(programcopy.Folder(d), hookentry.HookName), Copied: filepath.Dir(hook)}
}

// Steps make the link lead to the target; to is where it leads now.
func (t Target) Steps(d paths.Dirs, to string) []steps.Step {
	var out []steps.Step
	for _, name := range programcopy.Names {
		if from, kept := filepath.Join(t.Copied, name), filepath.Join(filepath.Dir(t.Hook), name); t.Copied != "" &&
			!programcopy.Same(from, kept) {
			out = append(out, steps.Step{Op: steps.OpProgram, Path: kept, From: from})
		}
	}
	if to != t.Hook {
		out = append(out, steps.Step{Op: steps.OpLink, Path: Path(d), New: []byte(t.Hook)})
	}
	return out
}

// Outdated reports whether agents run a copy that is not of this hookmux.
func (t Target) Outdated() bool {
	return t.Copied != "" && !programcopy.Same(filepath.Join(t.Copied, hookentry.HookName), t.Hook)
}

// Note says that programs are copied, and what that means for an upgrade; empty where
// they are not.
func (t Target) Note(home string) string {
	if t.Copied == "" {
		return ""
	}
	return fmt.Sprintf("this hookmux runs from %s, which its package manager may delete; agents run a copy in %s, so "+
		"run `hookmux install` again after an upgrade", paths.Shorten(home, t.Copied),
		paths.Shorten(home, filepath.Dir(t.Hook)))
}

// DropSteps take away the link, the copies where there are some, and their folders
// where nothing else is in them.
func DropSteps(d paths.Dirs) []steps.Step {
	link, copies := Path(d), programcopy.Folder(d)
	out := []steps.Step{{Op: steps.OpDropLink, Path: link}, {Op: steps.OpDropDir, Path: filepath.Dir(link)}}
	if _, err := os.Lstat(copies); err == nil {
		for _, name := range programcopy.Names {
			out = append(out, steps.Step{Op: steps.OpDropLink, Path: filepath.Join(copies, name)})
		}
		out = append(out, steps.Step{Op: steps.OpDropDir, Path: copies})
	}
	return append(out, steps.Step{Op: steps.OpDropDir, Path: d.Data})
}
