package claude

import (
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
)

// hasWildcard reports whether a rule's text has a star that is not escaped.
func hasWildcard(content string) bool { return unescapedIndex(content, '*') >= 0 }

// commandPrefix matches x of "x:*".
func commandPrefix(content string) (string, bool) {
	prefix, found := strings.CutSuffix(content, ":*")
	return prefix, found && prefix != ""
}

// isExact reports whether a Bash rule names one command text, without any wildcard.
func isExact(content string) bool {
	_, prefix := commandPrefix(content)
	return !prefix && !hasWildcard(content)
}

// matchesCommand compares a rule's text with a command's text.
func matchesCommand(content, command string) bool {
	if prefix, ok := commandPrefix(content); ok {
		return command == prefix || strings.HasPrefix(command, prefix+" ")
	}
	if !hasWildcard(content) {
		return command == content
	}
	return matchesWildcard(content, command)
}

// matchesWildcard compares a text with a pattern in which only * is special.
func matchesWildcard(pattern, text string) bool {
	if before, found := strings.CutSuffix(pattern, " *"); found && !hasWildcard(before) {
		literal := splitWildcard(before)[0] // "x *" is also "x" alone
		return text == literal || strings.HasPrefix(text, literal+" ")
	}
	parts := splitWildcard(pattern)
	text, found := strings.CutPrefix(text, parts[0])
	if !found || len(parts) == 1 {
		return found && text == ""
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, last)
}

// splitWildcard splits a pattern at its stars and unescapes the rest.
func splitWildcard(pattern string) []string {
	var out []string
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern) && (pattern[i+1] == '*' || pattern[i+1] == '\\'):
			i++
			b.WriteByte(pattern[i])
		case pattern[i] == '*':
			out = append(out, b.String())
			b.Reset()
		default:
			b.WriteByte(pattern[i])
		}
	}
	return append(out, b.String())
}

// restrictingRule finds the deny or ask rule that covers a command.
func restrictingRule(rules []*Rule, line *commandLine) *Rule {
	for _, rule := range rules {
		if rule.Tool != "Bash" || !rule.HasContent {
			continue
		}
		if strings.ContainsAny(rule.Content, "|&;") && matchesCommand(rule.Content, line.withoutOut) {
			return rule
		}
		for i := range line.every {
			if partFallsUnder(rule.Content, &line.every[i]) {
				return rule
			}
		}
	}
	return nil
}

// partFallsUnder compares a deny or ask rule with a part: as written, without quotes, after
// variables and wrappers, without the folder of the program.
func partFallsUnder(content string, part *shellPart) bool {
	for _, form := range part.restrictedForms() {
		if form.onlyPrefix && isExact(content) {
			continue
		}
		if matchesCommand(content, form.text) {
			return true
		}
	}
	return false
}

type commandForm struct {
	text       string
	onlyPrefix bool
}

// restrictedForms lists the texts under which deny and ask rules look for a part.
func (p *shellPart) restrictedForms() []commandForm {
	if len(p.words) == 0 {
		return nil
	}
	written := make([]string, len(p.words))
	for i, word := range p.words {
		written[i] = word.written
	}
	forms := []commandForm{{text: strings.Join(written, " ")}, {text: p.spaced}}
	for _, words := range p.unwrapped() {
		text := strings.TrimSpace(strings.Join(words.words, " "))
		forms = append(forms, commandForm{text, words.onlyPrefix})
		if at := strings.LastIndexByte(words.words[0], '/'); at >= 0 {
			text = strings.TrimSpace(strings.Join(append([]string{words.words[0][at+1:]}, words.words[1:]...), " "))
			forms = append(forms, commandForm{text, words.onlyPrefix})
		}
	}
	return forms
}

// allowingRule finds the allow rule that covers a part.
func allowingRule(rules []*Rule, part *shellPart) *Rule {
	if part.leading || len(part.words) == 0 {
		return nil
	}
	forms := part.allowedForms()
	for _, rule := range rules {
		if rule.Tool != "Bash" || !rule.HasContent {
			continue
		}
		for _, form := range forms {
			if isExact(rule.Content) && form.exact && matchesCommand(rule.Content, form.text) {
				return rule
			}
			if !isExact(rule.Content) && !form.exact && matchesCommand(rule.Content, form.text) {
				return rule
			}
			prefix, ok := commandPrefix(rule.Content)
			if before, found := strings.CutSuffix(rule.Content, " *"); found && !hasWildcard(before) {
				prefix, ok = before, true
			}
			if ok && form.xargs && matchesCommand("xargs "+prefix+":*", form.text) {
				return rule
			}
		}
	}
	return nil
}

type allowedForm struct {
	text         string
	exact, xargs bool
}

// allowedForms lists the texts under which allow rules look for a part: far fewer than for deny
// rules. Exact rules see the blanks as they are written.
func (p *shellPart) allowedForms() []allowedForm {
	forms := []allowedForm{{text: p.whole, exact: true}, {text: p.spaced, exact: true}}
	for _, assign := range p.assigns {
		if !assign.plain || !programs.HarmlessForClaude(assign.name) {
			return forms
		}
	}
	words := p.words
	for {
		first := words[0].plain
		if words[0].dynamic || strings.ContainsAny(first, " \t\n") {
			return forms
		}
		spaced, rest := p.spaced, make([]string, 0, len(words))
		for _, word := range words[1:] {
			rest = append(rest, word.written)
		}
		if at := lastWordStart(spaced, words); at >= 0 {
			spaced = first + spaced[at+len(words[0].written):]
		}
		joined := strings.TrimSpace(first + " " + strings.Join(rest, " "))
		forms = append(forms, allowedForm{text: spaced, exact: true})
		forms = append(forms, allowedForm{text: joined, xargs: first == "xargs"})
		n := passedWords(words)
		if n == 0 || n >= len(words) {
			return forms
		}
		words = words[n:]
	}
}

// lastWordStart finds where the words begin inside the text as written.
func lastWordStart(spaced string, words []shellWord) int {
	at := len(spaced)
	for i := len(words) - 1; i >= 0; i-- {
		at = strings.LastIndex(spaced[:at], words[i].written)
		if at < 0 {
			return -1
		}
	}
	return at
}
