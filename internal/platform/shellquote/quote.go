// Package shellquote quotes words so that a shell reads them back as they are.
//
// Every function returns the same bytes for the same word in every version: agents pin their
// trust to command strings that are made here. This is why syntax.Quote of mvdan.cc/sh isn't
// used. It writes it's in double quotes, in which "!" means something to an interactive bash,
// leaves words bare that zsh or fish expand ("^", "!", "%1", "}"), and rejects line breaks
// and bytes that aren't text for a POSIX shell, although single quotes can hold both.
package shellquote

import "strings"

// Word quotes a word so that it can be used anywhere in a command line of a POSIX shell or
// zsh. Plain words stay bare. A word with "=" is quoted unless it is a flag: NAME=value in
// front of a command is an assignment, and zsh looks for a program behind a leading "=".
func Word(s string) string {
	if isPlain(s, argumentChars) && (strings.HasPrefix(s, "-") || !strings.Contains(s, "=")) {
		return s
	}
	return Single(s)
}

// Argument quotes a word that follows the name of a command, where NAME=value is a word like
// any other and stays bare.
func Argument(s string) string {
	if isPlain(s, argumentChars) {
		return s
	}
	return Single(s)
}

// Portable quotes a word so that POSIX shells, zsh and fish read it back alike. A backslash
// is put outside the quotes: inside, fish reads two as one.
func Portable(s string) string {
	chars := portableChars
	if strings.HasPrefix(s, "--") {
		chars += "="
	}
	if !strings.HasPrefix(s, "%") || s == "%s" { // a job, in old fish; %s is no job's number
		chars += "%"
	}
	if isPlain(s, chars) {
		return s
	}
	return "'" + strings.NewReplacer(`'`, `'\''`, `\`, `'\\'`).Replace(s) + "'"
}

// Single writes a word in single quotes for a POSIX shell, also a plain one.
func Single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Fish writes a word in single quotes for fish alone, also a plain one.
func Fish(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// Line quotes words as one command line: Word for each.
func Line(words []string) string { return joinQuoted(words, Word) }

// Arguments quotes words as one line: Argument for each.
func Arguments(words []string) string { return joinQuoted(words, Argument) }

func joinQuoted(words []string, write func(string) string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = write(word)
	}
	return strings.Join(quoted, " ")
}

// Characters that may stay bare in addition to letters and digits.
const (
	portableChars = "_-./:@+,"
	argumentChars = portableChars + "%="
)

// isPlain reports whether a word has only ASCII letters, digits and the given
// characters, and at least one of them.
func isPlain(s, chars string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte(chars, c) < 0 {
			return false
		}
	}
	return s != ""
}
