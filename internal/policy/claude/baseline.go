package claude

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/programs"
)

// What Claude Code does without any rule: commands it considers harmless, files it reads
// without asking. Only what is needed to distinguish allow from ask is listed here.

var harmlessGit = map[string]bool{"status": true, "log": true, "diff": true, "show": true, "blame": true,
	"ls-files":  true,
	"rev-parse": true, "rev-list": true, "describe": true, "reflog": true, "shortlog": true, "cat-file": true,
	"for-each-ref": true, "grep": true, "merge-base": true, "ls-remote": true}

var changingFind = lazyregexp.New(`^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$`)

// isHarmless reports whether Claude Code runs a part without a rule. Where its files
// lie is another question.
func (p *shellPart) isHarmless() bool {
	if p.timed || p.leading {
		return false
	}
	for _, assign := range p.assigns {
		if len(p.words) > 0 && (!assign.plain || !programs.HarmlessForClaude(assign.name)) {
			return false
		}
	}
	if len(p.words) == 0 {
		return len(p.assigns) > 0
	}
	if p.isTest {
		return true
	}
	words := p.words
	for {
		passed := programs.ClaudePassedOf(words[0].plain)
		if passed == nil || !passed.Harmless {
			break
		}
		n := passedWords(words)
		if n == 0 || n >= len(words) {
			return false
		}
		words = words[n:]
	}
	return isHarmlessCommand(words)
}

func isHarmlessCommand(words []shellWord) bool {
	if words[0].dynamic {
		return false
	}
	name, args := words[0].plain, make([]string, 0, len(words))
	for _, word := range words[1:] {
		args = append(args, word.plain)
	}
	switch name {
	case "cd":
		return len(args) == 0 || args[0] == "-" || !strings.HasPrefix(args[0], "-")
	case "printf":
		return len(args) == 0 || args[0] != "-v"
	case "sort":
		return !hasFlag(args, "-o", "--output")
	case "uniq":
		for _, arg := range args {
			if !strings.HasPrefix(arg, "-") {
				return false
			}
		}
		return true
	case "date":
		return len(args) == 0 || strings.HasPrefix(args[0], "+") || args[0] == "-u"
	case "hostname":
		return len(args) == 0
	case "node", "python", "python3":
		return len(args) == 1 && (args[0] == "--version" || args[0] == "-v" && name == "node")
	case "docker":
		return len(args) > 0 && (args[0] == "ps" || args[0] == "images")
	case "find":
		for _, arg := range args {
			if changingFind.MatchString(arg) {
				return false
			}
		}
		return true
	case "sed":
		return isReadingSed(words[1:])
	case "xargs":
		return len(args) > 0 && programs.Is(args[0], programs.ClaudeXargs)
	case "git":
		return isHarmlessGit(args)
	case "tree":
		return !hasFlag(args, "-o", "-R")
	case "jq":
		text := strings.Join(args, " ")
		return !hasFlag(args, "-f", "--from-file", "--rawfile", "--slurpfile") &&
			!strings.Contains(text, ".env") && !strings.Contains(text, "$ENV")
	}
	return programs.Is(name, programs.ClaudeHarmless)
}

func hasFlag(args []string, flags ...string) bool {
	for _, arg := range args {
		for _, flag := range flags {
			if arg == flag || strings.HasPrefix(arg, flag+"=") || len(flag) == 2 && strings.HasPrefix(arg, flag) {
				return true
			}
		}
	}
	return false
}

func isHarmlessGit(args []string) bool {
	if len(args) == 0 {
		return false
	}
	rest := args[1:]
	if hasFlag(rest, "--output", "--ext-diff", "--open-files-in-pager") {
		return false
	}
	switch args[0] {
	case "branch":
		return onlyListingFlags(rest, "-a", "-r", "-v", "-vv", "--all", "--list", "-l", "--show-current",
			"--remotes", "--verbose")
	case "tag":
		return len(rest) == 0 || rest[0] == "-l" || rest[0] == "--list"
	case "remote":
		return len(rest) == 0 || len(rest) == 1 && (rest[0] == "-v" || rest[0] == "--verbose")
	case "config":
		return len(rest) > 0 && rest[0] == "--get"
	case "stash":
		return len(rest) > 0 && (rest[0] == "list" || rest[0] == "show")
	case "worktree":
		return len(rest) > 0 && rest[0] == "list"
	}
	return harmlessGit[args[0]]
}

func onlyListingFlags(args []string, flags ...string) bool {
	for _, arg := range args {
		if !hasFlag([]string{arg}, flags...) {
			return false
		}
	}
	return true
}

// openHosts are fetched from without a rule. The list is longer in Claude Code.
var openHosts = map[string]bool{"docs.python.org": true, "react.dev": true, "code.claude.com": true,
	"docs.anthropic.com": true, "docs.claude.com": true, "platform.claude.com": true, "modelcontextprotocol.io": true,
	"developer.mozilla.org": true, "go.dev": true, "pkg.go.dev": true, "doc.rust-lang.org": true,
	"www.typescriptlang.org": true, "nodejs.org": true, "docs.djangoproject.com": true, "kubernetes.io": true}
