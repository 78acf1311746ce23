// Package foreign reads text of languages other than shell, as far as needed to find the
// commands in it: program text, makefiles, sed, Tcl, encodings. It also knows the output of
// programs that only change the text they read (decoders, tr, cut, the s command of sed), so
// that a command is found that was disguised and is restored by a pipe.
package foreign

import (
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

var listOpening = lazyregexp.New(`(?:\bq[qwx]?|%[wWqQxiI]?)\s*([({\[<|/!])`)

// QuotedLists returns the strings that perl and ruby write without quotation marks:
// qw(a b), q{a b}, %w[a b], %x(a b).
func QuotedLists(text string, most int) []string {
	var out []string
	for _, at := range listOpening.Compiled().FindAllStringSubmatchIndex(text, most) {
		end := text[at[2]]
		if i := strings.IndexByte("({[<", end); i >= 0 {
			end = ")}]>"[i]
		}
		if n := strings.IndexByte(text[at[3]:], end); n > 0 {
			out = append(out, text[at[3]:at[3]+n])
		}
	}
	return out
}

// StringLiterals returns the string literals in program text. Literals separated only by commas
// and blanks are joined, so ["rm", "-rf", "x"] reads as one command.
func StringLiterals(text string) []string {
	var out []string
	var list []string
	glued := false
	flush := func() {
		if len(list) > 0 {
			out = append(out, strings.Join(list, " "))
			list = nil
		}
	}
	for i := 0; i < len(text); i++ {
		ch := text[i]
		switch ch {
		case '\'', '"', '`':
			end, value := literalEnd(text, i)
			if end < 0 {
				i = len(text)
				break
			}
			if glued && len(list) > 0 {
				list[len(list)-1] += value
			} else if value != "" {
				list = append(list, value)
			}
			glued = false
			i = end
		case '+':
			glued = true // "a" + "b" is one string
		case ',', ' ', '\t', '\n', '[', '(':
			// still the same list
		default:
			glued = false
			flush()
		}
		if len(out) > 64 {
			break
		}
	}
	flush()
	return out
}

var addedLiterals = lazyregexp.New(`'([^'"\\\n]*)'\s*[+.]\s*'([^'"\\\n]*)'|"([^'"\\\n]*)"\s*[+.]\s*"([^'"\\\n]*)"`)

// importedName matches __import__('os'), which is os.
var importedName = lazyregexp.New(`__import__\(["'](\w+)["']\)`)

// maxJoins limits how often literals of one program are joined.
const maxJoins = 16

// byteInText matches a letter that is written as its number: chr(114), \x72.
var byteInText = lazyregexp.New(`(?:\bchr|fromCharCode)\((\d{2,3})\)|\\x([0-9a-fA-F]{2})`)

func letterOf(text string) string {
	digits, base := strings.Trim(text[strings.IndexAny(text, "(x"):], "()x"), 10
	if text[0] == '\\' {
		base = 16
	}
	n, err := strconv.ParseUint(digits, base, 8)
	if err != nil || n < ' ' || n > '~' || n == '\'' || n == '"' || n == '\\' {
		return text
	}
	if base == 16 {
		return string(rune(n))
	}
	return "'" + string(rune(n)) + "'"
}

// JoinLiterals writes literals that are added to each other as one: 'o'+'s' is 'os'.
func JoinLiterals(code string) string {
	if len(code) > 16<<10 {
		return code
	}
	code = importedName.ReplaceAllString(code, "$1")
	code = byteInText.Compiled().ReplaceAllStringFunc(code, letterOf)
	for range maxJoins {
		joined := addedLiterals.Compiled().ReplaceAllStringFunc(code, func(text string) string {
			quote := text[:1]
			parts := strings.SplitN(text, quote, 5)
			return quote + parts[1] + parts[3] + quote
		})
		if joined == code {
			break
		}
		code = joined
	}
	return code
}

// literalEnd finds the closing quote of the literal that opens at i.
func literalEnd(text string, i int) (int, string) {
	quote := text[i]
	var b strings.Builder
	for j := i + 1; j < len(text); j++ {
		switch {
		case text[j] == '\\' && j+1 < len(text):
			j++
			b.WriteByte(text[j])
		case text[j] == quote:
			return j, b.String()
		default:
			b.WriteByte(text[j])
		}
	}
	return -1, ""
}
