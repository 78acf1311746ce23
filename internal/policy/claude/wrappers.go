package claude

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/programs"
)

var variableWord = lazyregexp.New(`^[A-Za-z_]\w*(\[[^\]]*\])?\+?=`)

// passedWords returns the number of words of a program that allow rules look past, 0 for none.
func passedWords(words []shellWord) int {
	at := func(i int) string {
		if i < len(words) {
			return words[i].plain
		}
		return ""
	}
	passed := programs.ClaudePassedOf(at(0))
	if passed == nil {
		return 0
	}
	n := 1
	for n == 1 || !passed.Once {
		if slices.Contains(passed.Values, at(n)) {
			n += 2
		} else if passed.HasOption(at(n)) {
			n++
		} else {
			break
		}
	}
	if passed.Needed && n == 1 {
		return 0
	}
	if at(n) == "--" {
		n++
	}
	if passed.Operand != "" {
		if !passed.TakesOperand(at(n)) {
			return 0
		}
		return n + 1
	}
	if strings.HasPrefix(at(n), "-") {
		return 0
	}
	return n
}

type unwrapped struct {
	words      []string
	onlyPrefix bool
}

// unwrapWords lists a command and what it starts, as deep as deny and ask rules look.
func unwrapWords(words []string) []unwrapped {
	out := []unwrapped{{words: words}}
	todo := [][]string{words}
	for len(todo) > 0 && len(out) < 32 {
		current := todo[0]
		todo = todo[1:]
		program := programs.Of(current[0][strings.LastIndexByte(current[0], '/')+1:])
		wrapper := program.ClaudeWrapper()
		if wrapper == nil || len(current) > 1 && wrapper.StopsAt(current[1]) {
			continue
		}
		for _, rest := range startedWords(program, wrapper, current) {
			if len(rest) == 0 || rest[0] == "" {
				continue
			}
			out = append(out, unwrapped{rest, wrapper.Prefix})
			if !wrapper.Prefix {
				todo = append(todo, rest)
			}
		}
	}
	return out
}

// startedWords lists what a wrapper may start.
func startedWords(program *programs.Program, wrapper *programs.ClaudeWrapper, words []string) [][]string {
	if program.Claude.Passed != nil && wrapper.Passed {
		plain := make([]shellWord, len(words))
		for i, word := range words {
			plain[i].plain = word
		}
		if n := passedWords(plain); n > 0 && n < len(words) {
			return [][]string{words[n:]}
		}
		return nil
	}
	skip := wrapper.Operands
	if program.Runs != nil {
		skip = program.Runs.Skip
	}
	rest := skipOptions(program.Runs, wrapper.Flags, words[1:])
	if skip == 0 {
		return [][]string{rest}
	}
	var out [][]string
	if wrapper.Optional {
		out = append(out, rest)
	}
	if len(rest) > skip {
		out = append(out, skipOptions(program.Runs, wrapper.Flags, rest[skip:]))
	}
	return out
}

// skipOptions returns the words after a wrapper's options.
func skipOptions(runs *programs.Prefix, flags, words []string) []string {
	if runs == nil {
		runs = &programs.Prefix{}
	}
	for len(words) > 0 {
		word := words[0]
		switch {
		case word == "--":
			return words[1:]
		case slices.Contains(flags, word):
			words = words[1:]
		case slices.Contains(runs.Long, word), len(word) == 2 && word[0] == '-' && strings.IndexByte(runs.Values, word[1]) >= 0:
			words = words[min(2, len(words)):]
		case strings.HasPrefix(word, "-"):
			words = words[1:]
		case runs.Assigns && variableWord.MatchString(word):
			if strings.Contains(word, "$(") {
				return nil
			}
			words = words[1:]
		default:
			return words
		}
	}
	return nil
}

// unwrapped lists a part and what it starts.
func (p *shellPart) unwrapped() []unwrapped {
	if len(p.words) == 0 {
		return nil
	}
	plain := make([]string, len(p.words))
	for i, word := range p.words {
		plain[i] = word.plain
	}
	return unwrapWords(plain)
}

// removes reports whether a part runs rm or rmdir, wrapped or not.
func (p *shellPart) removes() bool {
	for _, form := range p.unwrapped() {
		if name := path.Base(form.words[0]); name == "rm" || name == "rmdir" {
			return true
		}
	}
	return false
}

// shellScripts lists the texts that a part hands to bash -c and the like.
func (p *shellPart) shellScripts() []string {
	var out []string
	for _, form := range p.unwrapped() {
		name := form.words[0][strings.LastIndexByte(form.words[0], '/')+1:]
		if !programs.Is(name, programs.ClaudeShell) || form.onlyPrefix {
			continue
		}
		hasScript := false
		for _, word := range form.words[1:] {
			if strings.HasPrefix(word, "-") {
				hasScript = hasScript || !strings.HasPrefix(word, "--") && strings.Contains(word, "c")
				continue
			}
			if hasScript {
				out = append(out, word)
			}
			break
		}
	}
	return out
}
