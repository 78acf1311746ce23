package handler

import (
	"errors"
	"strings"
)

// Word is one word of a script's target.
type Word struct {
	Text string
	// Home says that the word starts with an unquoted ~, which is replaced by the home of the user
	// the hook runs for.
	Home bool
}

// In returns the word with its ~ replaced by home.
func (w Word) In(home string) string {
	if !w.Home || home == "" {
		return w.Text
	}
	return strings.TrimRight(home, "/") + w.Text[1:]
}

// Split cuts a script's target into its executable and arguments the way a shell does: blanks
// separate words, quotes and backslashes keep them together. Nothing is expanded but ~, and no
// other character is special.
func Split(line string) ([]Word, error) {
	var words []Word
	var text strings.Builder
	inWord, home := false, false
	end := func() {
		if inWord {
			words = append(words, Word{text.String(), home})
			text.Reset()
			inWord, home = false, false
		}
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\n', '\r':
			end()
		case '\\':
			if i++; i == len(line) {
				return nil, errors.New("ends in a backslash; write two for a real one")
			}
			if line[i] != '\n' { // a line that goes on
				text.WriteByte(line[i])
				inWord = true
			}
		case '\'':
			length := strings.IndexByte(line[i+1:], '\'')
			if length < 0 {
				return nil, errors.New("a ' is not closed")
			}
			text.WriteString(line[i+1 : i+1+length])
			inWord = true
			i += length + 1
		case '"':
			closing, err := doubleQuoted(&text, line, i+1)
			if err != nil {
				return nil, err
			}
			inWord = true
			i = closing
		default:
			if c == '~' && !inWord {
				rest := line[i+1:]
				home = rest == "" || strings.IndexByte("/ \t\n\r", rest[0]) >= 0
			}
			text.WriteByte(c)
			inWord = true
		}
	}
	end()
	return words, nil
}

// doubleQuoted reads from i up to the closing quote and returns its place. As
// in a shell a backslash quotes only what is special between these quotes.
func doubleQuoted(text *strings.Builder, line string, i int) (int, error) {
	for ; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '"':
			return i, nil
		case c == '\\' && i+1 < len(line) && strings.IndexByte("\"\\$`\n", line[i+1]) >= 0:
			if i++; line[i] != '\n' {
				text.WriteByte(line[i])
			}
		default:
			text.WriteByte(c)
		}
	}
	return 0, errors.New("a \" is not closed")
}
