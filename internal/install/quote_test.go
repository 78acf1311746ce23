package install

import "testing"

// Shells that are not on this machine are stood in for by their rules: how each
// reads one word that is made of quoted and bare parts.

// posixWord reads as sh, bash and zsh do: nothing is special between single
// quotes, and outside of them a backslash takes the next character as it is.
func posixWord(s string) (out string, ok bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'':
			for i++; i < len(s) && s[i] != '\''; i++ {
				out += s[i : i+1]
			}
			if i == len(s) {
				return "", false
			}
		case c == '\\' && i+1 < len(s):
			i++
			out += s[i : i+1]
		case special(c, i, s):
			return "", false
		default:
			out += s[i : i+1]
		}
	}
	return out, true
}

// fishWord reads as fish does: between single quotes \' and \\ are one
// character, and outside a backslash takes the next one, unless it is a letter
// that means something else with it.
func fishWord(s string) (out string, ok bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'':
			for i++; i < len(s) && s[i] != '\''; i++ {
				if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\'' || s[i+1] == '\\') {
					i++
				}
				out += s[i : i+1]
			}
			if i == len(s) {
				return "", false
			}
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\'' && s[i] != '\\' {
				return "", false
			}
			out += s[i : i+1]
		case special(c, i, s):
			return "", false
		default:
			out += s[i : i+1]
		}
	}
	return out, true
}

// special are the bare characters that some shell does not take as they are.
// A percent sign is one at the front of a word (jobs, in old fish), and an
// equals sign too (zsh looks up a program), as well as anywhere before a slash
// in a word that could be an assignment.
func special(c byte, i int, s string) bool {
	switch c {
	case ' ', '\t', '\n', '"', '$', '`', '~', '*', '?', '[', ']', '{', '}', '#', ';', '&', '|', '<', '>', '(', ')', '!', '^':
		return true
	case '%':
		return i == 0 && s != "%s"
	case '=':
		return i == 0 || s[0] != '-'
	}
	return c >= 0x80
}

func TestWordsAreQuotedAlikeForEveryShell(t *testing.T) {
	for word, want := range map[string]string{
		"plain":            "plain",
		"/usr/bin/x-y_z.1": "/usr/bin/x-y_z.1",
		denyFlag:           denyFlag,
		"%s":               "%s",
		"":                 "''",
		"a b":              "'a b'",
		"it's":             `'it'\''s'`,
		`a\b`:              `'a'\\'b'`,
		`\\`:               `''\\''\\''`,
		`'`:                `''\'''`,
		`\'`:               `''\\''\'''`,
		"$HOME":            "'$HOME'",
		"`x`":              "'`x`'",
		"~/x":              "'~/x'",
		"=ls":              "'=ls'",
		"A=b":              "'A=b'",
		"%1":               "'%1'",
		"a*?[b]{c,d}":      "'a*?[b]{c,d}'",
		"new\nline":        "'new\nline'",
		"ü":                "'ü'",
		"!x^y#z":           "'!x^y#z'",
		"-x=(y)":           "'-x=(y)'",
	} {
		got := quoteWord(word)
		if got != want {
			t.Errorf("%q is written %s, not %s", word, got, want)
		}
		if back, ok := posixWord(got); !ok || back != word {
			t.Errorf("%s: sh, bash and zsh read %q (%v)", got, back, ok)
		}
		if back, ok := fishWord(got); !ok || back != word {
			t.Errorf("%s: fish reads %q (%v)", got, back, ok)
		}
	}
}
