package claude

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/programs"
)

// pathAccess describes how a command uses a file.
type pathAccess struct {
	path  string
	reads bool
	// writes also includes creating and removing.
	writes bool
	glob   bool
}

// pathWords finds the program and its operands, after the words that path rules skip.
func (p *shellPart) pathWords() []shellWord {
	words := p.words
	for len(words) > 0 {
		if words[0].plain == "env" {
			words = words[1:]
			for len(words) > 0 && (words[0].plain == "-i" || variableWord.MatchString(words[0].plain)) {
				words = words[1:]
			}
			continue
		}
		n := passedWords(words)
		if n == 0 {
			return words
		}
		words = words[min(n, len(words)):]
	}
	return nil
}

// accesses lists the files that a part is known to read and write, without redirections.
func (p *shellPart) accesses() []pathAccess {
	words := p.pathWords()
	if len(words) == 0 || words[0].dynamic {
		return nil
	}
	name, args := words[0].plain, words[1:]
	switch {
	case name == "cd":
		if len(args) == 0 {
			return []pathAccess{{path: "~", reads: true}}
		}
		if args[0].plain == "-" {
			return nil
		}
		return accessAll(args[:1], pathAccess{reads: true})
	case name == "ls":
		operands := withoutFlags(args)
		if len(operands) == 0 {
			return []pathAccess{{path: ".", reads: true}}
		}
		return accessAll(operands, pathAccess{reads: true})
	case programs.Is(name, programs.ClaudeReads):
		return accessAll(withoutFlags(args), pathAccess{reads: true})
	case programs.Is(name, programs.ClaudeWrites):
		return accessAll(withoutFlags(args), pathAccess{writes: true})
	case name == "cp" || name == "mv":
		operands := withoutFlags(args)
		out := accessAll(operands, pathAccess{writes: true, reads: true})
		if len(out) > 0 {
			out[len(out)-1].reads = false
		}
		return out
	case name == "find":
		return accessAll(findOperands(args), pathAccess{reads: true})
	case name == "grep" || name == "egrep" || name == "fgrep" || name == "rg":
		return accessAll(grepOperands(args), pathAccess{reads: true})
	case name == "sed":
		return accessAll(sedOperands(args), pathAccess{reads: true, writes: !isReadingSed(args)})
	case name == "awk":
		return accessAll(patternOperands(args, " -f --file ", " -F -v "), pathAccess{reads: true})
	case name == "jq":
		operands := patternOperands(args, " -f --from-file ", " --arg --argjson --slurpfile ")
		return accessAll(operands, pathAccess{reads: true})
	case name == "git":
		return accessAll(gitOperands(args), pathAccess{reads: true})
	}
	return nil
}

func accessAll(words []shellWord, like pathAccess) []pathAccess {
	var out []pathAccess
	for _, word := range words {
		if word.plain == "" || word.dynamic {
			continue
		}
		access := like
		access.path, access.glob = word.plain, word.glob
		out = append(out, access)
	}
	return out
}

func withoutFlags(words []shellWord) []shellWord {
	var out []shellWord
	for i, word := range words {
		if word.plain == "--" {
			return append(out, words[i+1:]...)
		}
		if !strings.HasPrefix(word.plain, "-") || word.plain == "-" {
			out = append(out, word)
		} else if _, value, found := strings.Cut(word.plain, "="); found && strings.Contains(value, "/") {
			out = append(out, shellWord{plain: value})
		}
	}
	return out
}

func findOperands(words []shellWord) []shellWord {
	var out []shellWord
	started := false
	for i, word := range words {
		switch word.plain {
		case "-L", "-H", "-P":
		case "-newer", "-anewer", "-cnewer", "-path", "-wholename", "-ipath", "-samefile", "-files0-from":
			started = true
			if i+1 < len(words) {
				out = append(out, words[i+1])
			}
		default:
			if strings.HasPrefix(word.plain, "-") || word.plain == "!" || word.plain == "(" {
				started = true
			} else if !started {
				out = append(out, word)
			}
		}
	}
	if len(out) == 0 {
		return []shellWord{{plain: "."}}
	}
	return out
}

// patternOperands drops the first operand, which is a pattern or program, unless it was given with
// a flag.
func patternOperands(words []shellWord, fileFlags, valueFlags string) []shellWord {
	var out []shellWord
	given := false
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case word.plain == "--":
			rest := words[i+1:]
			if !given && len(rest) > 0 {
				rest = rest[1:]
			}
			return append(out, rest...)
		case strings.Contains(fileFlags, " "+word.plain+" "):
			given = true
			if i+1 < len(words) {
				out = append(out, words[i+1])
			}
			i++
		case strings.Contains(valueFlags, " "+word.plain+" "):
			i++
			if strings.HasPrefix(word.plain, "--arg") {
				i++
			}
		case strings.HasPrefix(word.plain, "-") && word.plain != "-":
			if flag, value, found := strings.Cut(word.plain, "="); found && strings.Contains(fileFlags, " "+flag+" ") {
				given = true
				out = append(out, shellWord{plain: value})
			}
		case !given:
			given = true
		default:
			out = append(out, word)
		}
	}
	return out
}

func grepOperands(words []shellWord) []shellWord {
	for i, word := range words {
		if word.plain == "-e" || word.plain == "--regexp" || strings.HasPrefix(word.plain, "--regexp=") {
			return withoutFlags(append(append([]shellWord{}, words[:i]...), words[min(i+2, len(words)):]...))
		}
	}
	return patternOperands(words, " -f --file ",
		" -A -B -C -m --max-count --context --include --exclude -g --glob -t --type ")
}

func sedOperands(words []shellWord) []shellWord {
	for i, word := range words {
		if word.plain == "-e" || word.plain == "--expression" {
			return withoutFlags(append(append([]shellWord{}, words[:i]...), words[min(i+2, len(words)):]...))
		}
	}
	return patternOperands(words, " -f --file ", "")
}

var printingScript = lazyregexp.New(`^(\d+|\$|\d+,(\d+|\$))p(;(\d+|\$|\d+,(\d+|\$))p)*$`)

// isReadingSed recognises sed -n 1,5p, the only form that Claude Code considers reading.
func isReadingSed(words []shellWord) bool {
	quiet, script := false, ""
	for _, word := range words {
		switch {
		case word.plain == "-n" || word.plain == "--quiet" || word.plain == "--silent":
			quiet = true
		case word.plain == "-E" || word.plain == "-r":
		case strings.HasPrefix(word.plain, "-"):
			return false
		case script == "":
			script = word.plain
		}
	}
	return quiet && printingScript.MatchString(script)
}

func gitOperands(words []shellWord) []shellWord {
	for len(words) > 0 && words[0].plain == "--no-pager" {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	switch words[0].plain {
	case "diff":
		return withoutFlags(words[1:])
	case "grep":
		return patternOperands(words[1:], " -f ", " -A -B -C -e ")
	}
	return nil
}

// deniedByPath finds the Read or Edit rule that forbids what a part does with files.
func deniedByPath(rules []*Rule, part *shellPart, place Place, folders []string) *Rule {
	check := func(name string, glob, reads, writes bool) *Rule {
		for _, spellings := range accessSpellings(name, glob, place, folders) {
			if reads {
				if rule := anyPathRule(rules, "Read", spellings, place); rule != nil {
					return rule
				}
			}
			if writes {
				if rule := anyPathRule(rules, "Edit", spellings, place); rule != nil {
					return rule
				}
			}
		}
		return nil
	}
	for _, access := range part.accesses() {
		if rule := check(access.path, access.glob, access.reads, access.writes); rule != nil {
			return rule
		}
	}
	for _, word := range part.inputs {
		if rule := check(word.plain, word.glob, true, false); rule != nil {
			return rule
		}
	}
	for _, word := range part.outputs {
		if rule := check(word.plain, word.glob, false, true); rule != nil {
			return rule
		}
	}
	return nil
}

// accessSpellings lists the paths that a written path may mean, also below folders entered before.
func accessSpellings(name string, glob bool, place Place, folders []string) [][]string {
	if glob {
		name = globFolder(name)
	}
	out := [][]string{place.spellings(place.absolute(name))}
	for _, folder := range folders {
		entered := place
		entered.Cwd = folder
		out = append(out, place.spellings(entered.absolute(name)))
	}
	return out
}

// globFolder returns the part of a path before its first pattern.
func globFolder(name string) string {
	at := strings.IndexAny(name, "*?[")
	if at < 0 {
		return name
	}
	cut := strings.LastIndexByte(name[:at], '/')
	switch {
	case cut < 0:
		return "."
	case cut == 0:
		return "/"
	}
	return name[:cut]
}
