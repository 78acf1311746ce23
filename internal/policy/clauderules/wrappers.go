package clauderules

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/programs"
)

var (
	timeoutLength = lazyregexp.New(`^\d+(\.\d+)?[smhd]?$`)
	timeoutFlag   = lazyregexp.New(`^(--(foreground|preserve-status|verbose)|-v|(--(kill-after|signal)=|-[ks])[\w.+-]+)$`)
	timeoutPair   = lazyregexp.New(`^(--kill-after|--signal|-k|-s)$`)
	niceNumber    = lazyregexp.New(`^-\d+$`)
	stdbufFlag    = lazyregexp.New(`^-[ioe][LN0-9]+$`)
	variableWord  = lazyregexp.New(`^[A-Za-z_]\w*(\[[^\]]*\])?\+?=`)
)

// harmlessWrapper counts the words of a wrapper that allow rules look past, 0 for none.
func harmlessWrapper(words []shellWord) int {
	at := func(i int) string {
		if i < len(words) {
			return words[i].plain
		}
		return ""
	}
	n := 1
	switch at(0) {
	case "timeout":
		for n < len(words) && (timeoutFlag.MatchString(at(n)) || timeoutPair.MatchString(at(n))) {
			if !timeoutFlag.MatchString(at(n)) {
				n++ // its value
			}
			n++
		}
		if at(n) == "--" {
			n++
		}
		if !timeoutLength.MatchString(at(n)) {
			return 0
		}
		return n + 1
	case "nice":
		if at(1) == "-n" {
			n = 3
		} else if niceNumber.MatchString(at(1)) {
			n = 2
		}
	case "stdbuf":
		for stdbufFlag.MatchString(at(n)) {
			n++
		}
		if n == 1 {
			return 0
		}
	case "command":
		if at(1) == "-p" {
			n = 2
		}
	case "nohup", "time", "builtin":
	default:
		return 0
	}
	if at(n) == "--" {
		n++
	}
	if strings.HasPrefix(at(n), "-") {
		return 0
	}
	return n
}

// restrictedWrapper gets past a program that starts another one.
type restrictedWrapper struct{ *programs.ClaudeWrapper }

type unwrapped struct {
	words      []string
	onlyPrefix bool
}

// unwrapWords lists a command and what it starts, as far as deny and ask rules look.
func unwrapWords(words []string) []unwrapped {
	out := []unwrapped{{words: words}}
	todo := [][]string{words}
	for len(todo) > 0 && len(out) < 32 {
		current := todo[0]
		todo = todo[1:]
		name := current[0][strings.LastIndexByte(current[0], '/')+1:]
		claude := programs.Of(name).Claude
		if claude == nil || claude.Wrapper == nil {
			continue
		}
		wrapper := restrictedWrapper{claude.Wrapper}
		if name == "xargs" {
			if len(current) > 1 && !strings.HasPrefix(current[1], "-") {
				out = append(out, unwrapped{current[1:], true})
			}
			continue
		}
		for _, rest := range wrapper.started(name, current) {
			if len(rest) > 0 && rest[0] != "" {
				out = append(out, unwrapped{words: rest})
				todo = append(todo, rest)
			}
		}
	}
	return out
}

// started lists what a wrapper may start.
func (w restrictedWrapper) started(name string, words []string) [][]string {
	if w.PlainOnly {
		plain := make([]shellWord, len(words))
		for i, word := range words {
			plain[i].plain = word
		}
		if n := harmlessWrapper(plain); n > 0 && n < len(words) {
			return [][]string{words[n:]}
		}
		return nil
	}
	if name == "command" && len(words) > 1 && strings.HasPrefix(strings.ToLower(words[1]), "-v") {
		return nil
	}
	if name == "time" && len(words) > 1 && strings.HasPrefix(words[1], "-") && words[1] != "-p" {
		return nil
	}
	if name == "script" && len(words) > 1 && len(words[1]) > 2 && words[1][0] == '-' && words[1][1] != '-' {
		return nil
	}
	rest := w.skipOptions(words[1:])
	if w.Operands == 0 {
		return [][]string{rest}
	}
	var out [][]string
	if w.Optional {
		out = append(out, rest)
	}
	if len(rest) > w.Operands {
		out = append(out, w.skipOptions(rest[w.Operands:]))
	}
	return out
}

func (w restrictedWrapper) skipOptions(words []string) []string {
	for len(words) > 0 {
		word := words[0]
		switch {
		case word == "--":
			return words[1:]
		case slices.Contains(w.Values, word):
			words = words[min(2, len(words)):]
		case strings.HasPrefix(word, "-"):
			words = words[1:]
		case w.Assigns && variableWord.MatchString(word):
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

// removes reports whether a part runs rm or rmdir, wrapped or not.
func (p *shellPart) removes() bool {
	if len(p.words) == 0 {
		return false
	}
	plain := make([]string, len(p.words))
	for i, word := range p.words {
		plain[i] = word.plain
	}
	for _, form := range unwrapWords(plain) {
		if name := path.Base(form.words[0]); name == "rm" || name == "rmdir" {
			return true
		}
	}
	return false
}

// shellScripts lists the texts that a part hands to bash -c and the like.
func (p *shellPart) shellScripts() []string {
	var out []string
	if len(p.words) == 0 {
		return nil
	}
	plain := make([]string, len(p.words))
	for i, word := range p.words {
		plain[i] = word.plain
	}
	for _, form := range unwrapWords(plain) {
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
