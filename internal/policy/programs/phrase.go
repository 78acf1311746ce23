package programs

import (
	"strings"
	"sync"
)

// phrase is one of the table's phrases in a form that is quick to compare.
type phrase struct {
	text    string
	words   []phraseWord
	wanted  int  // words other than wildcards
	anyLast bool // it ends with *
}

// readOnce holds the phrases of a program once they have been asked for.
type readOnce struct {
	once    sync.Once
	phrases map[Effect][]phrase
}

type wordKind uint8

// Kinds of words in a phrase.
const (
	operandWord wordKind = iota
	anyWord              // *
	optionWord           // -x|--long=VALUE
	vitalWord            // @service
	notThere             // !x
)

type phraseWord struct {
	kind     wordKind
	text     string
	patterns []wordPattern
	options  []wantedOption
}

// wantedOption is an option of a phrase. letter is the letter of a short one, which may be joined
// with others.
type wantedOption struct {
	name, value wordPattern
	letter      string
	valued      bool
}

// wordPattern is a word that may begin or end with *.
type wordPattern struct {
	bare         string
	starts, ends bool // it begins, or ends, with a *
}

func readPhrases(texts []string) []phrase {
	out := make([]phrase, len(texts))
	for i, text := range texts {
		out[i] = phrase{text: text, anyLast: strings.HasSuffix(text, " *")}
		for field := range strings.FieldsSeq(text) {
			w := phraseWord{text: field}
			word, not := strings.CutPrefix(field, "!")
			switch {
			case not:
				w.kind = notThere
			case field == "*":
				w.kind = anyWord
			case strings.HasPrefix(field, "@"):
				w.kind = vitalWord
			case strings.HasPrefix(field, "-"):
				w.kind = optionWord
			}
			for one := range strings.SplitSeq(word, "|") {
				w.patterns = append(w.patterns, readPattern(one))
				if w.kind == optionWord || w.kind == notThere {
					w.options = append(w.options, readOption(one))
				}
			}
			if w.kind != anyWord && w.kind != notThere {
				out[i].wanted++
			}
			out[i].words = append(out[i].words, w)
		}
	}
	return out
}

func readOption(text string) wantedOption {
	name, value, valued := strings.Cut(text, "=")
	o := wantedOption{name: readPattern(name), value: readPattern(value), valued: valued}
	if len(name) == 2 && name[0] == '-' {
		o.letter = name[1:]
	}
	return o
}

func readPattern(text string) wordPattern {
	return wordPattern{bare: strings.Trim(text, "*"), starts: strings.HasPrefix(text, "*"), ends: strings.HasSuffix(text, "*")}
}

// fits reports whether a word matches the pattern.
func (p *wordPattern) fits(word string) bool {
	switch {
	case p.starts && p.ends:
		return strings.Contains(word, p.bare)
	case p.ends:
		return strings.HasPrefix(word, p.bare)
	case p.starts:
		return strings.HasSuffix(word, p.bare)
	}
	return word == p.bare
}

func fitsAny(list []wordPattern, word string) bool {
	for i := range list {
		if list[i].fits(word) {
			return true
		}
	}
	return false
}
