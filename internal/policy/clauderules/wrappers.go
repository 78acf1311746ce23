package clauderules

import (
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
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

// restrictedWrapper says how to get past a program that starts another one.
type restrictedWrapper struct {
	withValue string // options that take the next word, between blanks
	operands  int    // words before the command
	optional  bool   // the operands may be missing
	assigns   bool   // NAME=value may stand before the command
	plainOnly bool   // only without options
}

var restrictedWrappers = map[string]restrictedWrapper{
	"sudo":    {withValue: " -u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir ", assigns: true},
	"doas":    {withValue: " -u -C "},
	"env":     {withValue: " -u -C --unset --chdir ", assigns: true},
	"command": {}, "builtin": {}, "nohup": {}, "noglob": {}, "nocorrect": {}, "time": {},
	"exec":    {withValue: " -a "},
	"setsid":  {},
	"watch":   {withValue: " -n --interval "},
	"timeout": {withValue: " -s -k --signal --kill-after ", operands: 1},
	"ionice":  {withValue: " -c -n -p --class --classdata "},
	"strace":  {withValue: " -o -e -p -s -u "},
	"ltrace":  {withValue: " -o -e -p -s -u "},
	"unshare": {}, "nsenter": {withValue: " -t "},
	"flock":   {withValue: " -w -E --timeout ", operands: 1, optional: true},
	"script":  {operands: 1, optional: true},
	"taskset": {operands: 1}, "chrt": {operands: 1}, "pkexec": {withValue: " --user "},
	"nice": {plainOnly: true}, "stdbuf": {plainOnly: true}, "xargs": {plainOnly: true},
}

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
		wrapper, known := restrictedWrappers[name]
		if !known {
			continue
		}
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
	if w.plainOnly {
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
	if w.operands == 0 {
		return [][]string{rest}
	}
	var out [][]string
	if w.optional {
		out = append(out, rest)
	}
	if len(rest) > w.operands {
		out = append(out, w.skipOptions(rest[w.operands:]))
	}
	return out
}

func (w restrictedWrapper) skipOptions(words []string) []string {
	for len(words) > 0 {
		word := words[0]
		switch {
		case word == "--":
			return words[1:]
		case strings.Contains(w.withValue, " "+word+" ") && word != "":
			words = words[min(2, len(words)):]
		case strings.HasPrefix(word, "-"):
			words = words[1:]
		case w.assigns && variableWord.MatchString(word):
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

var shellPrograms = map[string]bool{"bash": true, "sh": true, "zsh": true, "dash": true, "ksh": true}

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
		if !shellPrograms[name] || form.onlyPrefix {
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
