package ownfiles

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// ourNames are names of files that contain hooks; ownRoots are folders.
var ourNames = []string{"hooks.json", "hooks.v1.json", "hooks.toml", "settings.json", "settings.local.json",
	"managed-settings.json", "trusted_hooks.json", "shell-hooks-allowlist.json",
	".crush.json", "hookmux-hook", "hookmux.ts", "hookmux.js"}

// checkFind denies a find that looks for our files and deletes or changes what it finds.
func (c *writer) checkFind() {
	t, x, r := c.t, c.x, c.r
	args := r.Args()
	c.write(facts.OptionValues(args, "-fprint", "-fprintf", "-fls", "-fprint0"))
	if !x.FindDeletes(r, args) && !findChanges(x, r, args) || r.Contained {
		return
	}
	if programs.WayOf(r.Name()) == "found-by-name" {
		c.checkFoundByName(args)
		return
	}
	c.remove(c.rest[:min(len(c.rest), 1)])
	for i, a := range args {
		if i == 0 || i > 1 && (args[i-2].Text == "-not" || args[i-2].Text == "!") || i+1 < len(args) &&
			args[i+1].Text == "-prune" {
			continue
		}
		switch args[i-1].Text {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname",
			"-samefile":
		default:
			continue
		}
		if seeksOurs(a.Text) || t.isOwned(a.Text) {
			x.Report.Add("delete", r.Head(), fmt.Sprintf("finds %s and changes or deletes it", a.Text))
			return
		}
	}
}

// checkFoundByName does the same for fd: a pattern, and the folders it looks in. Unless it's
// told to, it passes over hidden files below them.
func (c *writer) checkFoundByName(args []shell.Word) {
	own, _ := shell.SplitCommand(c.x.Script.Programs.Of(c.r.Name()), args)
	flags, operands := facts.SplitFlags(own)
	for _, w := range operands[:min(len(operands), 1)] {
		if seeksOurs(w.Text) || c.t.isOwned(w.Text) {
			c.x.Report.Add("delete", c.r.Head(), fmt.Sprintf("finds %s and changes or deletes it", w.Text))
			return
		}
	}
	operands = operands[min(len(operands), 1):]
	operands = append(operands[:len(operands):len(operands)],
		facts.OptionValues(own, "--search-path", "--base-directory", "-C")...)
	if dir, moved := c.here(); moved && len(operands) == 0 {
		operands = append(operands, dir)
	}
	hidden := facts.HasShort(flags, 'H', 'u') || facts.HasLong(flags, "--hidden", "--unrestricted")
	for _, w := range operands {
		p := c.x.ResolveWord(w, c.r)
		if hidden || !p.Known || strings.Contains(p.Path, "/.") {
			c.remove([]shell.Word{w})
		}
	}
}

// seeksOurs reports whether a pattern of find is written to match our files.
func seeksOurs(pattern string) bool {
	l := strings.ToLower(pattern)
	for _, part := range strings.Split(l, "/") {
		if len(strings.Trim(part, "*?.")) < 4 || strings.HasPrefix(part, "*.") {
			continue
		}
		for _, n := range slices.AppendSeq(slices.Clone(ourNames), maps.Keys(ownRoots())) {
			if ok, err := path.Match(part, n); ok && err == nil {
				return !strings.Contains(l, "/commands") && !strings.Contains(l, "/worktrees") &&
					!strings.Contains(l, "/projects")
			}
		}
	}
	return false
}

// findChanges reports whether -exec, or the pipe after find, runs a program that writes.
func findChanges(x *scope, r *shell.Run, args []shell.Word) bool {
	changes := func(name string, args []shell.Word) bool {
		switch x.Script.Programs.Of(name).Kind {
		case programs.KindMove, programs.KindReplace, programs.KindMode, programs.KindCopy, programs.KindLink:
			return true
		}
		spec, reads := x.Script.Programs.ReaderOf(name)
		return reads && facts.ChangesInPlace(args, args, spec.InPlace) || name == "perl" && facts.HasShort(args, 'i')
	}
	if _, command := shell.SplitCommand(x.Script.Programs.Of(r.Name()), args); len(command) > 0 {
		return changes(path.Base(command[0].Text), command)
	}
	for i, a := range args {
		switch a.Text {
		case "-exec", "-execdir", "-ok", "-okdir":
			for _, program := range args[i+1 : min(i+2, len(args))] {
				if changes(path.Base(program.Text), args[i+1:]) {
					return true
				}
			}
		}
	}
	for _, n := range x.RunsIn(r.To) {
		if changes(n.Name(), n.Args()) {
			return true
		}
	}
	return false
}
