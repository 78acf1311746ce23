package guard

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/shell"
)

// gitParts finds git's subcommand behind its global options.
func gitParts(r *shell.Run) (sub string, args []shell.Word) {
	all := r.Args()
	for i := 0; i < len(all); i++ {
		t := all[i].Text
		switch {
		case t == "-C" || t == "-c" || t == "--git-dir" || t == "--work-tree" || t == "--namespace" || t == "--exec-path":
			i++
		case strings.HasPrefix(t, "-"):
		default:
			return t, all[i+1:]
		}
	}
	return "", nil
}

func protectedBranch(ref string) bool {
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "heads/")
	switch ref {
	case "main", "master", "trunk", "develop", "dev", "production", "prod", "staging", "release", "stable", "gh-pages":
		return true
	}
	return strings.HasPrefix(ref, "release/") || strings.HasPrefix(ref, "release-")
}

func gitRule(x *env, r *shell.Run) {
	sub, args := gitParts(r)
	flags, rest := splitFlags(args)
	lose := func(rule, what string) { x.f.add(rule, r.String(), fmt.Sprintf("git %s %s", sub, what)) }
	const history, discard = "git-history", "git-discard"
	switch sub {
	case "push":
		gitPush(x, r, flags, rest)
	case "reset":
		if hasLong(flags, "--hard", "--har", "--ha") { // git takes short forms of long options
			lose(discard, "--hard throws away uncommitted work and may drop commits")
		}
	case "clean":
		if (hasShort(flags, 'f') || hasLong(flags, "--force")) && !hasShort(flags, 'n') && !hasLong(flags, "--dry-run") {
			lose(discard, "deletes untracked files")
		}
	case "checkout":
		if hasShort(flags, 'f') || hasLong(flags, "--force") || wholeTree(rest) {
			lose(discard, "throws away all uncommitted changes")
		}
	case "switch":
		if hasShort(flags, 'f') || hasLong(flags, "--force", "--discard-changes") {
			lose(discard, "throws away all uncommitted changes")
		}
	case "restore":
		staged := hasShort(flags, 'S') || hasLong(flags, "--staged")
		worktree := hasShort(flags, 'W') || hasLong(flags, "--worktree")
		if wholeTree(rest) && (!staged || worktree) {
			lose(discard, "throws away all uncommitted changes")
		}
	case "branch":
		force := hasShort(flags, 'f') || hasLong(flags, "--force")
		del := hasShort(flags, 'd') || hasLong(flags, "--delete")
		if hasShort(flags, 'D') || force && del {
			gitBranches(x, r, rest)
		}
	case "stash":
		if len(rest) > 0 && (rest[0].Text == "drop" || rest[0].Text == "clear") {
			lose(history, rest[0].Text+" loses stashed work")
		}
	case "reflog":
		if len(rest) > 0 && (rest[0].Text == "expire" || rest[0].Text == "delete") {
			lose(history, rest[0].Text+" removes the way back to lost commits")
		}
	case "filter-branch", "filter-repo":
		if !hasLong(flags, "--analyze", "--help") && !has(flags, "-h") {
			lose(history, "rewrites the whole history")
		}
	case "gc":
		if has(flags, "--prune=now", "--prune=all") {
			lose(history, "removes unreachable commits at once")
		}
	case "prune":
		if !hasShort(flags, 'n') && !hasLong(flags, "--dry-run") {
			lose(history, "removes unreachable commits at once")
		}
	case "update-ref":
		if has(flags, "-d") || hasLong(flags, "--delete") {
			lose(history, "deletes a reference")
		}
	case "symbolic-ref":
		if has(flags, "-d") || hasLong(flags, "--delete") {
			lose(history, "deletes a reference")
		}
	case "worktree":
		if len(rest) > 0 && rest[0].Text == "remove" && (hasShort(flags, 'f') || hasLong(flags, "--force")) && !x.allScratch(rest[1:], r) {
			lose(discard, "remove --force throws away a worktree's uncommitted work")
		}
	case "rm":
		if !hasLong(flags, "--cached") && hasShort(flags, 'r', 'f') && wholeTree(rest) && !hasShort(flags, 'n') {
			lose(discard, "deletes every tracked file")
		}
	case "submodule":
		if has(rest, "deinit") && (hasShort(flags, 'f') || hasLong(flags, "--force")) && (hasLong(flags, "--all") || wholeTree(rest)) {
			lose(discard, "deinit --force throws away submodules' work")
		}
	case "remote":
		// remote remove forgets an address, remote prune old names: both come back.
	case "replace":
		if hasShort(flags, 'd') {
			lose(history, "deletes replacement references")
		}
	}
}

// gitBranches: throwing away one's own finished branch is daily work; losing a
// branch everyone builds on, or whatever a list happens to name, is not.
func gitBranches(x *env, r *shell.Run, names []shell.Word) {
	for _, n := range names {
		switch {
		case protectedBranch(n.Text):
			x.f.add("git-history", r.String(), fmt.Sprintf("git branch -D deletes %s with whatever it holds", n.Text))
			return
		case n.Dynamic && !n.From.Empty(), viaXargs(r):
			x.f.add("git-history", r.String(), "git branch -D deletes every branch of a list, unmerged commits included")
			return
		}
	}
	if len(names) == 0 && viaXargs(r) {
		x.f.add("git-history", r.String(), "git branch -D deletes every branch of a list, unmerged commits included")
	}
}

// allScratch reports whether every operand lies in a place made to be lost.
func (x *env) allScratch(rest []shell.Word, r *shell.Run) bool {
	for _, w := range rest {
		if p := x.place(w, r); !p.known || !x.scratch(p.path) {
			return false
		}
	}
	return len(rest) > 0
}

// wholeTree reports whether a pathspec means everything.
func wholeTree(rest []shell.Word) bool {
	return has(rest, ".", "./", ":/", "*", ":/*", "./*", ":/.")
}

func gitPush(x *env, r *shell.Run, flags, rest []shell.Word) {
	if hasShort(flags, 'n') || hasLong(flags, "--dry-run") {
		return
	}
	say := func(what string) { x.f.add("git-force-push", r.String(), "git push "+what) }
	if has(flags, "--force", "--forc", "--for", "--force=true") || shortForce(flags) {
		say("--force can overwrite other people's commits; --force-with-lease is safer")
	}
	if hasLong(flags, "--mirror") {
		say("--mirror overwrites and deletes every remote branch")
	}
	if hasLong(flags, "--prune") {
		say("--prune deletes remote branches that do not exist here")
	}
	del := hasLong(flags, "--delete") || hasShort(flags, 'd')
	for i, w := range rest {
		t := w.Text
		switch {
		case strings.HasPrefix(t, "+") && len(t) > 1:
			say("with + before a refspec can overwrite other people's commits")
		case strings.HasPrefix(t, ":") && protectedBranch(t[1:]), del && i > 0 && protectedBranch(t):
			say("deletes the remote branch " + strings.TrimPrefix(t, ":"))
		}
	}
}

// shortForce looks for -f in clusters such as -uf, but not in -o value.
func shortForce(flags []shell.Word) bool {
	for _, f := range flags {
		t := f.Text
		if len(t) > 1 && t[1] != '-' && t[1] != 'o' && strings.IndexByte(t, 'f') > 0 && len(t) < 5 {
			return true
		}
	}
	return false
}

func historyToolRule(x *env, r *shell.Run) {
	if has(r.Args(), "--help", "-h", "--version", "--analyze") || len(r.Args()) == 0 {
		return
	}
	x.f.add("git-history", r.String(), r.Name()+" rewrites the whole history")
}
