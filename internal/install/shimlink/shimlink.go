// Package shimlink keeps the path that stands in agents' configs: always the same,
// whatever version of hookmux is installed where, because agents and people pin
// their trust to it. It is a copy of hookmux-hook, or a link to one that only root can
// replace.
package shimlink

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/install/programcopy"
	"github.com/hookmux/hookmux/internal/install/steps"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/tmux"
)

// Path is what agents run.
func Path(d paths.Dirs) string { return filepath.Join(programcopy.Folder(d), hookentry.HookName) }

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

// Refresh points the link at this hookmux-hook again after an upgrade moved it. It never
// makes one that is not there, and leaves copies to `hookmux install`; a hookmux that is
// not the one on PATH only fixes a link that leads nowhere. Where that link led to a
// folder that was moved or cleaned, copies take its place.
func Refresh(d paths.Dirs, hook string, onPath bool) error {
	link := Path(d)
	to, err := os.Readlink(link)
	if err != nil || to == hook {
		return nil
	}
	target, works := NewTarget(d, hook), paths.Runnable(link)
	if works && (!onPath || target.Copied != "") {
		return nil
	}
	return steps.Run(target.Steps(d, to), &steps.Disk{})
}

// Target is what agents run.
type Target struct {
	Hook string // this hookmux's own hookmux-hook, or the copy of it
	// Copied is the folder of this hookmux's programs where that may vanish, so that
	// agents run copies; empty: agents run these programs themselves.
	Copied string
}

// NewTarget decides whether agents run this hookmux-hook or a copy of it.
func NewTarget(d paths.Dirs, hook string) Target {
	kept := Path(d)
	switch {
	case filepath.Dir(hook) == filepath.Dir(kept):
		return Target{Hook: kept} // this is the copy
	case programcopy.MayVanish(hook):
		return Target{Hook: kept, Copied: filepath.Dir(hook)}
	}
	return Target{Hook: hook}
}

// isLink reports whether agents reach the program through a link, rather than run a copy.
func (t Target) isLink(d paths.Dirs) bool { return t.Hook != Path(d) }

// Steps make agents run the target; to is where the link leads now.
func (t Target) Steps(d paths.Dirs, to string) []steps.Step {
	var out []steps.Step
	for _, name := range programcopy.Names {
		from, kept := filepath.Join(t.Copied, name), filepath.Join(programcopy.Folder(d), name)
		if t.Copied != "" && !isCopy(from, kept) {
			out = append(out, steps.Step{Op: steps.OpProgram, Path: kept, From: from})
		}
	}
	if t.isLink(d) && to != t.Hook {
		out = append(out, steps.Step{Op: steps.OpLink, Path: Path(d), New: []byte(t.Hook)})
		if isRegular(program(d)) {
			out = append(out, steps.Step{Op: steps.OpDropLink, Path: program(d)})
		}
	}
	return out
}

// isCopy reports whether a file is a copy of a program, and not a link to it.
func isCopy(from, kept string) bool { return isRegular(kept) && programcopy.Same(from, kept) }

func isRegular(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode().IsRegular()
}

// Outdated says in what way the copies that agents run are not this hookmux; empty where
// they are, and where agents run no copies.
func (t Target) Outdated(d paths.Dirs) string {
	if t.Copied == "" || !isRegular(Path(d)) {
		return ""
	}
	for _, name := range programcopy.Names {
		from, kept := filepath.Join(t.Copied, name), filepath.Join(programcopy.Folder(d), name)
		if isCopy(from, kept) {
			continue
		}
		age := "another build than"
		is, err := os.Stat(kept)
		own, errOwn := os.Stat(from)
		switch {
		case err != nil:
			return fmt.Sprintf("%s: is missing beside the hookmux-hook that agents run", kept)
		case errOwn == nil && is.ModTime().Before(own.ModTime()):
			age = "older than"
		}
		return fmt.Sprintf("%s: the copy that agents run is %s this hookmux (%s)", kept, age, from)
	}
	return ""
}

// Note says that programs are copied, and what that means for an upgrade; empty where
// they are not.
func (t Target) Note(home string) string {
	if t.Copied == "" {
		return ""
	}
	return fmt.Sprintf("hookmux copied itself to %s, so that your hooks survive if %s is moved or deleted; run "+
		"`hookmux install` again after an upgrade", paths.Shorten(home, filepath.Dir(t.Hook)),
		paths.Shorten(home, t.Copied))
}

// DropSteps take away the link or the copies, and their folders where nothing else is
// in them. A hookmux that tmux runs stays until [DropForTmux].
func DropSteps(d paths.Dirs) []steps.Step {
	out := []steps.Step{{Op: steps.OpDropLink, Path: Path(d)}}
	if _, err := os.Lstat(tmux.OwnConf(d.Data)); err != nil && isRegular(program(d)) {
		out = append(out, steps.Step{Op: steps.OpDropLink, Path: program(d)})
	}
	return append(out, dropFolders(d)...)
}

func dropFolders(d paths.Dirs) []steps.Step {
	return []steps.Step{{Op: steps.OpDropDir, Path: programcopy.Folder(d)}, {Op: steps.OpDropDir, Path: d.Data}}
}

// program is where the copy of hookmux is.
func program(d paths.Dirs) string { return filepath.Join(programcopy.Folder(d), programcopy.Names[0]) }

// ForTmux is the hookmux that tmux is told to run, and the steps that put it there: the
// copy, where this one may vanish.
func ForTmux(d paths.Dirs, self string) (string, []steps.Step) {
	kept := program(d)
	switch {
	case filepath.Base(self) != filepath.Base(kept) || !programcopy.MayVanish(self):
		return self, nil
	case isRegular(kept) && paths.Runnable(kept):
		return kept, nil // `hookmux install` renews it, with the hookmux-hook beside it
	}
	return kept, []steps.Step{{Op: steps.OpProgram, Path: kept, From: self}}
}

// DropForTmux takes away the hookmux that tmux ran, where no agent needs it.
func DropForTmux(d paths.Dirs) []steps.Step {
	if _, err := os.Lstat(Path(d)); err == nil || !isRegular(program(d)) {
		return nil
	}
	return append([]steps.Step{{Op: steps.OpDropLink, Path: program(d)}}, dropFolders(d)...)
}
