package destructive

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/shell"
)

func gitRule(x *scope, r *shell.Run) {
	sub, args := inspect.GitParts(r)
	flags, rest := inspect.SplitFlags(args)
	lose := func(rule, what string) { x.Report.Add(rule, r.String(), fmt.Sprintf("git %s %s", sub, what)) }
	const history, discard = "git-history", "git-discard"
	switch sub {
	case "push":
		gitPush(x, r, flags, rest)
	case "reset":
		if inspect.HasLong(flags, "--hard") {
			lose(discard, "--hard throws away uncommitted work and may drop commits")
		}
	case "clean":
		free := strings.Contains(strings.ToLower(r.String()), "clean.requireforce=false")
		if (free || inspect.HasShort(flags, 'f') || inspect.HasLong(flags, "--force")) &&
			!inspect.HasShort(flags, 'n') &&
			!inspect.HasLong(flags, "--dry-run") {
			lose(discard, "deletes untracked files")
		}
	case "checkout":
		if inspect.HasShort(flags, 'f') || inspect.HasLong(flags, "--force") || wholeTree(rest) {
			lose(discard, "throws away all uncommitted changes")
		}
	case "switch":
		if inspect.HasShort(flags, 'f') || inspect.HasLong(flags, "--force", "--discard-changes") {
			lose(discard, "throws away all uncommitted changes")
		}
	case "restore":
		staged := inspect.HasShort(flags, 'S') || inspect.HasLong(flags, "--staged")
		worktree := inspect.HasShort(flags, 'W') || inspect.HasLong(flags, "--worktree")
		if wholeTree(rest) && (!staged || worktree) {
			lose(discard, "throws away all uncommitted changes")
		}
	case "branch":
		force := inspect.HasShort(flags, 'f') || inspect.HasLong(flags, "--force")
		del := inspect.HasShort(flags, 'd') || inspect.HasLong(flags, "--delete")
		if inspect.HasShort(flags, 'D') || force && del {
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
		if !inspect.HasLong(flags, "--analyze", "--help") && !inspect.HasWord(flags, "-h") {
			lose(history, "rewrites the whole history")
		}
	case "gc":
		if inspect.HasWord(flags, "--prune=now", "--prune=all") {
			lose(history, "removes unreachable commits at once")
		}
	case "prune":
		if !inspect.HasShort(flags, 'n') && !inspect.HasLong(flags, "--dry-run") {
			lose(history, "removes unreachable commits at once")
		}
	case "update-ref", "symbolic-ref":
		if inspect.HasWord(flags, "-d") || inspect.HasLong(flags, "--delete") ||
			inspect.HasLong(flags, "--stdin") && strings.Contains(x.StatementText(r), "delete ") {
			lose(history, "deletes a reference")
		}
	case "tag":
		if inspect.HasShort(flags, 'd') || inspect.HasLong(flags, "--delete") {
			gitTags(x, r, rest)
		}
	case "read-tree":
		if inspect.HasLong(flags, "--reset") && inspect.HasShort(flags, 'u') {
			lose(discard, "--reset throws away uncommitted work")
		}
	case "checkout-index":
		if inspect.HasShort(flags, 'f') && inspect.HasShort(flags, 'a') {
			lose(discard, "-f -a throws away all uncommitted changes")
		}
	case "worktree":
		if len(rest) > 0 && rest[0].Text == "remove" && (inspect.HasShort(flags, 'f') || inspect.HasLong(flags,
			"--force")) && !x.allScratch(rest[1:], r) {
			lose(discard, "remove --force throws away a worktree's uncommitted work")
		}
	case "rm":
		if !inspect.HasLong(flags, "--cached") && inspect.HasShort(flags, 'r', 'f') && wholeTree(rest) &&
			!inspect.HasShort(flags, 'n') {
			lose(discard, "deletes every tracked file")
		}
	case "submodule":
		if inspect.HasWord(rest, "deinit") && (inspect.HasShort(flags, 'f') || inspect.HasLong(flags, "--force")) &&
			(inspect.HasLong(flags, "--all") || wholeTree(rest)) {
			lose(discard, "deinit --force throws away submodules' work")
		}
	case "remote":
		// remote remove forgets an address, remote prune old names: both come back.
	case "replace":
		if inspect.HasShort(flags, 'd') {
			lose(history, "deletes replacement references")
		}
	}
}

// gitBranches judges the deletion of branches. One's own finished branch is daily
// work; a branch everyone builds on, or whatever a list happens to name, is not.
func gitBranches(x *scope, r *shell.Run, names []shell.Word) {
	for _, n := range names {
		switch {
		case programs.IsProtectedBranch(n.Text):
			x.Report.Add("git-history", r.String(),
				fmt.Sprintf("git branch -D deletes %s with whatever it holds", n.Text))
			return
		case n.Dynamic && !n.From.Empty(), inspect.ViaXargs(r):
			x.Report.Add("git-history", r.String(), "git branch -D deletes every branch of a list, unmerged commits "+
				"included")
			return
		}
	}
}

// gitTags judges the deletion of tags. One tag is soon made again; every tag of a list
// is not.
func gitTags(x *scope, r *shell.Run, names []shell.Word) {
	listed := inspect.ViaXargs(r)
	for _, n := range names {
		listed = listed || n.Dynamic && !n.From.Empty()
	}
	if listed {
		x.Report.Add("git-history", r.String(), "git tag -d deletes every tag of a list")
	}
}

// allScratch reports whether every operand lies in a place made to be lost.
func (x *scope) allScratch(rest []shell.Word, r *shell.Run) bool {
	for _, w := range rest {
		if p := x.ResolveWord(w, r); !p.Known || !x.IsScratch(p.Path) {
			return false
		}
	}
	return len(rest) > 0
}

// wholeTree reports whether a pathspec means everything.
func wholeTree(rest []shell.Word) bool {
	return inspect.HasWord(rest, ".", "./", ":/", "*", ":/*", "./*", ":/.")
}

// gitPush judges forced pushes. One's own branch is daily work; a branch that others
// build on, or one that is not named, is not.
func gitPush(x *scope, r *shell.Run, flags, rest []shell.Word) {
	if inspect.HasShort(flags, 'n') || inspect.HasLong(flags, "--dry-run") {
		return
	}
	say := func(what string) { x.Report.Add("git-force-push", r.String(), "git push "+what) }
	forces := forcesPush(flags)
	if inspect.HasWord(flags, "--mirror", "--mirro", "--mirr", "--mir", "--mi") {
		say("--mirror overwrites and deletes every remote branch")
	}
	if inspect.HasLong(flags, "--prune") {
		say("--prune deletes remote branches that do not exist here")
	}
	if forces && (len(rest) < 2 || inspect.HasLong(flags, "--all", "--branches")) {
		say("--force without a branch can overwrite other people's commits; name the branch, or use --force-with-lease")
		return
	}
	del := inspect.HasLong(flags, "--delete") || inspect.HasShort(flags, 'd')
	for _, w := range rest[min(1, len(rest)):] {
		ref, plus := strings.CutPrefix(w.Text, "+")
		to := ref
		if i := strings.LastIndexByte(ref, ':'); i >= 0 {
			to = ref[i+1:]
		}
		switch {
		case del && w.Dynamic && !w.From.Empty(), del && inspect.ViaXargs(r):
			say("deletes every branch or tag of a list")
		case (del || strings.HasPrefix(ref, ":")) && programs.IsProtectedBranch(to):
			say("deletes the remote branch " + to)
		case (forces || plus) && !ownBranch(w, to):
			say("--force can overwrite other people's commits on " + to + "; --force-with-lease is safer")
		}
	}
}

// forcesPush reports whether a push is forced; --force-with-lease alone is not.
func forcesPush(flags []shell.Word) bool {
	return inspect.HasWord(flags, "--force", "--forc", "--for", "--force=true") || shortForce(flags)
}

// ownBranch reports whether ref is plainly the name of a branch that nobody else
// builds on.
func ownBranch(w shell.Word, ref string) bool {
	if w.Dynamic || w.Glob || ref == "" || programs.IsProtectedBranch(ref) {
		return false
	}
	return ref != "HEAD" && ref != "@" && !strings.ContainsAny(ref, "*$`") && !strings.HasPrefix(ref, "refs/tags/")
}

// shortForce looks for -f in clusters such as -uf, but not in the value of -o.
func shortForce(flags []shell.Word) bool {
	for _, f := range flags {
		cluster, _, _ := strings.Cut(f.Text, "o")
		if !strings.HasPrefix(f.Text, "--") && strings.Contains(cluster, "f") {
			return true
		}
	}
	return false
}

func historyToolRule(x *scope, r *shell.Run) {
	if inspect.HasWord(r.Args(), "--help", "-h", "--version", "--analyze") || len(r.Args()) == 0 {
		return
	}
	x.Report.Add("git-history", r.String(), r.Name()+" rewrites the whole history")
}
