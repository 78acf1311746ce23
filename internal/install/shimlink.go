package install

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/tmux"
)

// This file keeps the path that is in agents' configs: always the same, whatever version of
// hookmux is installed where, because agents and users pin their trust to it. It is a copy
// of hookmux-hook, or a link to one that only root can replace.

// ShimPath returns what agents run.
func ShimPath(d paths.Dirs) string { return filepath.Join(ProgramFolder(d), hookentry.HookName) }

// StableHook prefers the path under which hookmux-hook is found on PATH to the file it leads
// to: package managers keep the former and move the latter.
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

// RefreshShim points the link at this hookmux-hook again after an upgrade moved it. It never
// creates a missing one, and leaves copies to `hookmux install`; a hookmux that isn't the one on
// PATH only fixes a link that leads nowhere. If that link led to a folder that was moved or
// cleaned, copies replace it.
func RefreshShim(d paths.Dirs, hook string, onPath bool) error {
	link := ShimPath(d)
	to, err := os.Readlink(link)
	if err != nil || to == hook {
		return nil
	}
	target, works := NewShimTarget(d, hook), paths.Runnable(link)
	if works && (!onPath || target.Copied != "") {
		return nil
	}
	return RunSteps(target.Steps(d, to), &Disk{})
}

// ShimTarget is the program that agents run.
type ShimTarget struct {
	Hook string // this hookmux's own hookmux-hook, or the copy of it
	// Copied is the folder of this hookmux's programs if that may vanish, so that agents run copies;
	// empty: agents run these programs themselves.
	Copied string
}

// NewShimTarget decides whether agents run this hookmux-hook or a copy of it.
func NewShimTarget(d paths.Dirs, hook string) ShimTarget {
	kept := ShimPath(d)
	switch {
	case filepath.Dir(hook) == filepath.Dir(kept):
		return ShimTarget{Hook: kept} // this is the copy
	case MayVanish(hook):
		return ShimTarget{Hook: kept, Copied: filepath.Dir(hook)}
	}
	return ShimTarget{Hook: hook}
}

// isLink reports whether agents reach the program through a link, rather than run a copy.
func (t ShimTarget) isLink(d paths.Dirs) bool { return t.Hook != ShimPath(d) }

// Steps make agents run the target; to is where the link leads now.
func (t ShimTarget) Steps(d paths.Dirs, to string) []Step {
	var out []Step
	for _, name := range Names {
		from, kept := filepath.Join(t.Copied, name), filepath.Join(ProgramFolder(d), name)
		if t.Copied != "" && !isCopy(from, kept) {
			out = append(out, Step{Op: OpProgram, Path: kept, From: from})
		}
	}
	if t.isLink(d) && to != t.Hook {
		out = append(out, Step{Op: OpLink, Path: ShimPath(d), New: []byte(t.Hook)})
		if isRegular(program(d)) {
			out = append(out, Step{Op: OpDropLink, Path: program(d)})
		}
	}
	return out
}

// isCopy reports whether a file is a copy of a program, and not a link to it.
func isCopy(from, kept string) bool { return isRegular(kept) && SameProgram(from, kept) }

func isRegular(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode().IsRegular()
}

// Outdated describes how the copies that agents run differ from this hookmux; empty if they don't,
// and if agents run no copies.
func (t ShimTarget) Outdated(d paths.Dirs) string {
	if t.Copied == "" || !isRegular(ShimPath(d)) {
		return ""
	}
	for _, name := range Names {
		from, kept := filepath.Join(t.Copied, name), filepath.Join(ProgramFolder(d), name)
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

// Note says that programs are copied, and what that means for an upgrade; empty if they aren't.
func (t ShimTarget) Note(home string) string {
	if t.Copied == "" {
		return ""
	}
	return fmt.Sprintf("agents run a copy of hookmux in %s, so that your hooks survive if %s is moved or deleted; run "+
		"`hookmux install` again after an upgrade", paths.Shorten(home, filepath.Dir(t.Hook)),
		paths.Shorten(home, t.Copied))
}

// DropShimSteps returns the steps that remove the link or the copies, and their folders if nothing
// else is in them. A hookmux that tmux runs stays until [DropShimForTmux].
func DropShimSteps(d paths.Dirs) []Step {
	out := []Step{{Op: OpDropLink, Path: ShimPath(d)}}
	if _, err := os.Lstat(tmux.OwnConf(d.Data)); err != nil && isRegular(program(d)) {
		out = append(out, Step{Op: OpDropLink, Path: program(d)})
	}
	return append(out, dropFolders(d)...)
}

func dropFolders(d paths.Dirs) []Step {
	return []Step{{Op: OpDropDir, Path: ProgramFolder(d)}, {Op: OpDropDir, Path: d.Data}}
}

// program returns where the copy of hookmux is.
func program(d paths.Dirs) string { return filepath.Join(ProgramFolder(d), Names[0]) }

// ShimForTmux returns the hookmux that tmux is configured to run, and the steps that put it
// there: the copy, if this one may vanish.
func ShimForTmux(d paths.Dirs, self string) (string, []Step) {
	kept := program(d)
	switch {
	case filepath.Base(self) != filepath.Base(kept) || !MayVanish(self):
		return self, nil
	case isRegular(kept) && paths.Runnable(kept):
		return kept, nil // `hookmux install` renews it, with the hookmux-hook next to it
	}
	return kept, []Step{{Op: OpProgram, Path: kept, From: self}}
}

// DropShimForTmux returns the steps that remove the hookmux that tmux ran, if no agent needs it.
func DropShimForTmux(d paths.Dirs) []Step {
	if _, err := os.Lstat(ShimPath(d)); err == nil || !isRegular(program(d)) {
		return nil
	}
	return append([]Step{{Op: OpDropLink, Path: program(d)}}, dropFolders(d)...)
}
