package trust

import (
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// toolCheck reports whether these arguments keep a tool from running code that
// the user has not seen.
type toolCheck func(f *TrustedContent, args []shell.Word) bool

// plainTools are built into the shell or do one thing with the data they are
// given; nil takes any arguments. What is not listed counts as running the
// project's code, so the list is short on purpose.
var plainTools = sync.OnceValue(func() map[string]toolCheck {
	list := map[string]toolCheck{
		"awk": awkPlain, "gawk": awkPlain, "mawk": awkPlain, "nawk": awkPlain,
		"sed": sedPlain, "gsed": sedPlain, "osascript": osascriptPlain,
		"jq": filesOf("-f", "--from-file", "-L"), "curl": filesOf("-K", "--config"),
		"sort": withoutPrefixes("--compress-prog"), "gsort": withoutPrefixes("--compress-prog"),
		"find": withoutPrefixes("-exec", "-ok"), "rg": withoutPrefixes("--pre", "--hostname-bin"),
		"source": sourcePlain, ".": sourcePlain,
		// Their text is among the runs; only text made while running is not.
		"eval": knownTool, "trap": knownTool,
	}
	for _, name := range programs.With(func(p *programs.Program) bool { return p.Has(programs.PlainTool) }) {
		list[name] = nil
	}
	return list
})

func withoutPrefixes(prefixes ...string) toolCheck {
	return func(_ *TrustedContent, args []shell.Word) bool {
		for _, a := range args {
			for _, p := range prefixes {
				if strings.HasPrefix(a.Text, p) {
					return false
				}
			}
		}
		return true
	}
}

// filesOf lets options name only trusted copies, or files outside the project.
func filesOf(options ...string) toolCheck {
	return func(f *TrustedContent, args []shell.Word) bool {
		fine := func(file string) bool { return f.isCopy(file) || strings.Contains(file, "/") && f.isOutside(file) }
		for i, a := range args {
			for _, o := range options {
				rest, ok := strings.CutPrefix(a.Text, o)
				switch {
				case !ok:
				case rest == "":
					if i+1 >= len(args) || !fine(args[i+1].Text) {
						return false
					}
				case strings.HasPrefix(rest, "="):
					if !fine(rest[1:]) {
						return false
					}
				case !strings.HasPrefix(o, "--") && !fine(rest): // -Kfile
					return false
				}
			}
		}
		return true
	}
}

func knownTool(_ *TrustedContent, args []shell.Word) bool {
	for _, a := range args {
		if a.Dynamic {
			return false
		}
	}
	return true
}

func sourcePlain(f *TrustedContent, args []shell.Word) bool {
	return len(args) > 0 && f.isCopy(args[0].Text)
}

// awkPlain reports whether an awk program starts no others, through system, pipes or
// loads.
func awkPlain(f *TrustedContent, args []shell.Word) bool {
	for i := 0; i < len(args); i++ {
		text := args[i].Text
		switch {
		case text == "-F" || text == "-v":
			i++
		case strings.HasPrefix(text, "-F"), strings.HasPrefix(text, "-v"), text == "--":
		case text == "-f":
			return i+1 < len(args) && f.isCopy(args[i+1].Text)
		case strings.HasPrefix(text, "-"):
			return false
		default:
			program := strings.ReplaceAll(text, "||", "")
			return !args[i].Dynamic && !strings.ContainsAny(program, "|@") && !strings.Contains(program, "system") &&
				!strings.Contains(program, "getline")
		}
	}
	return false
}

const (
	sedAddress = `(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?)`
	sedFlags   = `[gpIi0-9]*`
)

// sedForm are scripts without the commands that run or write anything.
var sedForm = lazyregexp.New(`^\s*(?:(?:` + sedAddress + `(?:,` + sedAddress + `)?\s*!?\s*)?(?:[pdqQ=hHgGxnND]|` +
	`s/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/` + sedFlags + `|` +
	`s\|(?:[^|\\\n]|\\.)*\|(?:[^|\\\n]|\\.)*\|` + sedFlags + `|` +
	`s#(?:[^#\\\n]|\\.)*#(?:[^#\\\n]|\\.)*#` + sedFlags + `|` +
	`s,(?:[^,\\\n]|\\.)*,(?:[^,\\\n]|\\.)*,` + sedFlags + `)\s*(?:[;\n]\s*|$))+$`)

func sedPlain(f *TrustedContent, args []shell.Word) bool {
	fine := func(i int) bool { return i < len(args) && !args[i].Dynamic && sedForm.MatchString(args[i].Text) }
	given := false
	for i := 0; i < len(args); i++ {
		text := args[i].Text
		flags, isFlag := strings.CutPrefix(text, "-")
		letters := strings.Trim(flags, "nErsuz")
		switch {
		case text == "-f":
			if i++; i >= len(args) || !f.isCopy(args[i].Text) {
				return false
			}
			given = true
		case isFlag && letters == "e":
			if i++; !fine(i) {
				return false
			}
			given = true
		case isFlag && flags != "" && letters == "":
		case isFlag:
			return false
		default:
			return given || fine(i)
		}
	}
	return given
}

// osascriptPlain reports whether the sentences on the command line load and run
// nothing.
func osascriptPlain(_ *TrustedContent, args []shell.Word) bool {
	for i := 0; i < len(args); i += 2 {
		if args[i].Text != "-e" || i+1 >= len(args) || strings.Contains(strings.ToLower(args[i+1].Text), "script") {
			return false
		}
	}
	return len(args) > 0
}

// projectTools run what they find in a folder, even when they are named by
// their own path.
var projectTools = strings.Fields(`
	ant ava awk babel bazel biome black bun bundle bunx buck cargo clang-tidy cmake composer deno direnv docker dotnet eslint
	expect flake git go golangci-lint gradle groovy husky isort java jest jshell julia just kotlin lefthook lerna lua luajit make gmake
	meson mise mix mocha mvn mypy ninja nix nox npm npx nx php phpunit pip pipenv playwright pnpm pnpx podman poetry
	pre-commit prettier pwsh powershell pylint pyright pytest R Rscript rake rails rspec rubocop ruff rustc sbt scala
	scons swift swc task tclsh tox ts-node tsc tsx turbo uv uvx vim vi nvim emacs vite vitest webpack xcodebuild yarn zx`)
