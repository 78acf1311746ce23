package shellquote

import (
	"testing"
	"testing/quick"
)

// Shells that are not on this machine are replaced by their rules: how each
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
		case isSpecial(c, i, s):
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
		case isSpecial(c, i, s):
			return "", false
		default:
			out += s[i : i+1]
		}
	}
	return out, true
}

// isSpecial knows the bare characters that some shell does not take as they are.
// A percent sign is one at the front of a word (jobs, in old fish), and an
// equals sign too (zsh looks up a program), as well as anywhere before a slash
// in a word that could be an assignment.
func isSpecial(c byte, i int, s string) bool {
	switch c {
	case ' ', '\t', '\n', '"', '$', '`', '~', '*', '?', '[', ']', '{', '}', '#', ';', '&', '|', '<', '>', '(', ')', '!',
		'^':
		return true
	case '%':
		return i == 0 && s != "%s"
	case '=':
		return i == 0 || s[0] != '-'
	}
	return c >= 0x80
}

// TestBytesStayTheSame holds what each function has always written: agents pin
// their trust to these bytes.
func TestBytesStayTheSame(t *testing.T) {
	for _, row := range []struct{ word, anywhere, argument, portable string }{
		{"plain", "plain", "plain", "plain"},
		{"/usr/bin/x-y_z.1", "/usr/bin/x-y_z.1", "/usr/bin/x-y_z.1", "/usr/bin/x-y_z.1"},
		{"a:b,c@d%e+f", "a:b,c@d%e+f", "a:b,c@d%e+f", "a:b,c@d%e+f"},
		{"--on-unavailable=deny", "--on-unavailable=deny", "--on-unavailable=deny", "--on-unavailable=deny"},
		{"-x=y", "-x=y", "-x=y", "'-x=y'"},
		{"A=b", "'A=b'", "A=b", "'A=b'"},
		{"=ls", "'=ls'", "=ls", "'=ls'"},
		{"/a=b/c", "'/a=b/c'", "/a=b/c", "'/a=b/c'"},
		{"%s", "%s", "%s", "%s"},
		{"%1", "%1", "%1", "'%1'"},
		{"", "''", "''", "''"},
		{"a b", "'a b'", "'a b'", "'a b'"},
		{"it's", `'it'\''s'`, `'it'\''s'`, `'it'\''s'`},
		{`a\b`, `'a\b'`, `'a\b'`, `'a'\\'b'`},
		{`\\`, `'\\'`, `'\\'`, `''\\''\\''`},
		{`'`, `''\'''`, `''\'''`, `''\'''`},
		{`\'`, `'\'\'''`, `'\'\'''`, `''\\''\'''`},
		{"$HOME", "'$HOME'", "'$HOME'", "'$HOME'"},
		{"`x`", "'`x`'", "'`x`'", "'`x`'"},
		{"~/x", "'~/x'", "'~/x'", "'~/x'"},
		{"a*?[b]{c,d}", "'a*?[b]{c,d}'", "'a*?[b]{c,d}'", "'a*?[b]{c,d}'"},
		{"new\nline", "'new\nline'", "'new\nline'", "'new\nline'"},
		{"ü", "'ü'", "'ü'", "'ü'"},
		{"\xff", "'\xff'", "'\xff'", "'\xff'"},
		{"!x^y#z", "'!x^y#z'", "'!x^y#z'", "'!x^y#z'"},
		{"-x=(y)", "'-x=(y)'", "'-x=(y)'", "'-x=(y)'"},
	} {
		for _, c := range []struct{ name, got, want string }{
			{"Word", Word(row.word), row.anywhere},
			{"Argument", Argument(row.word), row.argument},
			{"Portable", Portable(row.word), row.portable},
		} {
			if c.got != c.want {
				t.Errorf("%s(%q) is %s, expected %s", c.name, row.word, c.got, c.want)
			}
		}
		checkReadBack(t, row.word)
	}
}

// checkReadBack reads what is written for a word as the shells do.
func checkReadBack(t *testing.T, word string) bool {
	t.Helper()
	good := true
	for _, c := range []struct {
		name, got string
		read      func(string) (string, bool)
	}{
		{"Portable, read by sh", Portable(word), posixWord},
		{"Portable, read by fish", Portable(word), fishWord},
		{"Single, read by sh", Single(word), posixWord},
		{"Fish, read by fish", Fish(word), fishWord},
	} {
		if back, ok := c.read(c.got); !ok || back != word {
			t.Errorf("%s: %q is written %s and read as %q (%v)", c.name, word, c.got, back, ok)
			good = false
		}
	}
	return good
}

func TestEveryWordIsReadBack(t *testing.T) {
	if err := quick.Check(func(word string) bool { return checkReadBack(t, word) }, nil); err != nil {
		t.Error(err)
	}
}

func TestLines(t *testing.T) {
	words := []string{"/usr/bin/x", "-p", "it's", "", "a=b", "--m=x", "$y"}
	if got, want := Line(words), `/usr/bin/x -p 'it'\''s' '' 'a=b' --m=x '$y'`; got != want {
		t.Errorf("Line is %s, expected %s", got, want)
	}
	if got, want := Arguments(words), `/usr/bin/x -p 'it'\''s' '' a=b --m=x '$y'`; got != want {
		t.Errorf("Arguments is %s, expected %s", got, want)
	}
	if got := Line(nil); got != "" {
		t.Errorf("no words are %q, expected nothing", got)
	}
}
