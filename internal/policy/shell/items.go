package shell

import (
	"strings"
)

// ArgumentSource is how the text that xargs reads becomes arguments.
type ArgumentSource struct {
	Placeholder string // replaced by each item; "" when items are appended
	ByLine      bool   // an item is a line, blanks included
	File        Word   // read instead of standard input
}

// readXargsOptions reads the options of xargs that say where items come from.
func readXargsOptions(args []Word) ArgumentSource {
	var s ArgumentSource
	for i := range args {
		t := args[i].Text
		switch {
		case t == "-i" || t == "--replace":
			s.Placeholder, s.ByLine = "{}", true
		case strings.HasPrefix(t, "--replace="):
			s.Placeholder, s.ByLine = t[len("--replace="):], true
		case strings.HasPrefix(t, "-0"), t == "--null", strings.HasPrefix(t, "-d"), strings.HasPrefix(t, "--delimiter"):
			s.ByLine = true
		}
		for _, option := range [...]string{"-I", "-J"} {
			value, ok := optionValue(args, i, option)
			if glued, isGlued := strings.CutPrefix(t, option); isGlued && glued != "" {
				value, ok = glued, true
			}
			if ok {
				s.Placeholder, s.ByLine = value, true
			}
		}
		for _, option := range [...]string{"-a", "--arg-file"} {
			if _, ok := optionValue(args, i, option); ok && t == option {
				s.File = args[i+1]
			} else if glued, ok := strings.CutPrefix(t, option+"="); ok {
				s.File = cutWord(args[i], len(t)-len(glued))
			}
		}
	}
	return s
}

// splitItems splits text at the ends of lines, or as xargs does at blanks outside of quotes.
func splitItems(text string, byLine bool) []Word {
	if !byLine && strings.ContainsAny(text, `'"\`) {
		var out []Word
		for _, line := range strings.Split(text, "\n") {
			out = append(out, quotedWords(line)...)
		}
		return out
	}
	if !byLine {
		return splitBlanks(text)
	}
	var out []Word
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == 0 || r == '\n' }) {
		dynamic := strings.ContainsAny(line, "$`")
		word := Word{Text: line, Bare: line, Dynamic: dynamic}
		if dynamic {
			word.Bare = WithoutUnknown(line)
		}
		out = append(out, word)
	}
	return out
}

// replaceAll replaces the placeholder in every word by an item.
func replaceAll(words []Word, placeholder string, item Word) []Word {
	out := make([]Word, len(words))
	for i, a := range words {
		if strings.Contains(a.Text, placeholder) {
			a.Tilde = a.Text == placeholder && item.Tilde
			a.Text = strings.ReplaceAll(a.Text, placeholder, item.Text)
			a.Bare = strings.ReplaceAll(a.Bare, placeholder, item.Bare)
			a.Dynamic = a.Dynamic || item.Dynamic
			a.From = item.From
		}
		out[i] = a
	}
	return out
}
