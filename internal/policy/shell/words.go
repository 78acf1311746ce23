package shell

import (
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
	"strings"
)

// Word is one word of a command after quote removal.
type Word struct {
	// Text is the word with quotes removed and known values filled in. Unknown expansions stay as
	// they were written, e.g. "$DIR/cache".
	Text string
	// Bare is Text with every expansion that may be empty taken as empty. That is what makes
	// `rm -rf "$DIR/"` visible as a delete of "/".
	Bare string
	// Dynamic says that Text contains something only the running shell knows.
	Dynamic bool
	// Glob says that Text contains an unquoted pattern character.
	Glob bool
	// Unlisted says that more names of files match the pattern than were looked at.
	Unlisted bool
	// Tilde says that Text starts with an unquoted "~" that the shell expands.
	Tilde bool
	// Vars names the variables whose value becomes part of the word.
	Vars []string
	// From is the span of runs whose output becomes this word: $(…), <(…).
	From Span
}

// Span is a half-open range of indexes into Script.Runs.
type Span struct{ Lo, Hi int }

// Empty reports whether the span covers no run.
func (s Span) Empty() bool { return s.Hi <= s.Lo }

// quotedWords returns the words of a line with quotes removed.
func quotedWords(line string) []Word { return literalWords(foreign.SplitQuoted(line)) }

// literalWords makes words of texts that are taken literally.
func literalWords(texts []string) []Word {
	out := make([]Word, len(texts))
	for i, text := range texts {
		out[i] = Word{Text: text, Bare: text}
	}
	return out
}

// textsOf returns the texts of words.
func textsOf(words []Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

func joinTexts(words []Word) string { return strings.Join(textsOf(words), " ") }

// splitBlanks splits text that is known at its blanks.
func splitBlanks(text string) []Word {
	var out []Word
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\x00 \n\t", r) }) {
		dynamic := strings.ContainsAny(f, "$`")
		bare := f
		if dynamic {
			bare = WithoutUnknown(f)
		}
		out = append(out, Word{Text: f, Bare: bare, Dynamic: dynamic, Glob: strings.ContainsAny(f, "*?[")})
	}
	return out
}

// splitAt splits text that is known at every one of the separators.
func splitAt(text, separators string) []Word {
	if strings.Trim(separators, " \t\n") == "" {
		return splitBlanks(text)
	}
	return literalWords(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) }))
}
