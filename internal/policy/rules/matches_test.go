package rules

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A pattern says the same with and without the look for its words.
func TestPatternWordsExcuseNothing(t *testing.T) {
	sources := []string{`(--force|-f)( |$)`, `(?i)kill(all)?`, `^a.*(push|pull)`, `[.](sql|dump)$`, `(?i)(staging|preview|--env[= ](dev|test))`,
		`x+yy`, `(ab|c)`, `(foo){2}`, `ſ?(?i)sk`, ``, `a|bcd`}
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.SampledFrom(sources).Draw(t, "pattern")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"--force", "-f", " ", "KILL", "kill", "all", "a", "push", "pull",
			".sql", ".dump", "Staging", "--env=dev", "yy", "x", "foo", "K", "ſk", "sK", "bcd", "c"}), 0, 6).Draw(t, "text"), "")
		p, err := newTextPattern(source)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.match(text), regexp.MustCompile(source).MatchString(text); got != want {
			t.Fatalf("%q matches %q: expected %v, got %v (words %q)", text, source, want, got, p.words)
		}
	})
}

// A pattern of stars fits what the shell's pattern fits.
func TestStars(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*]{0,8}`).Draw(t, "pattern") + "*"
		text := rapid.StringMatching(`[ab]{0,10}`).Draw(t, "text")
		if rapid.Bool().Draw(t, "ends") {
			pattern = strings.TrimSuffix(pattern, "*")
		}
		if !strings.Contains(pattern, "*") {
			return
		}
		want, err := path.Match(pattern, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := fitsText(pattern, text); got != want {
			t.Fatalf("%q with %q: expected %v, got %v", pattern, text, want, got)
		}
	})
}

// An expression about one command says the same where its parts about the whole call
// are evaluated apart.
func TestDividedExpressions(t *testing.T) {
	for _, tt := range []struct {
		source string
		parts  int
	}{
		{`command.program == "rm"`, 0},
		{`any(commands, .program == "git") and command.program == "rm"`, 1},
		{`any(commands, .text == command.text)`, 0},
		{`not (all(paths, .inProject) or command.listed) and any(command.args, # == "x")`, 1},
		{`none(commands, any(.args, # contains "a\"b")) or command.text matches "[.]x"`, 1},
	} {
		d := divide(tt.source)
		switch {
		case tt.parts == 0 && d != nil:
			t.Errorf("%s: expected to be left whole, got %d parts", tt.source, len(d.parts))
		case tt.parts > 0 && (d == nil || len(d.parts) != tt.parts):
			t.Errorf("%s: expected %d parts, got %+v", tt.source, tt.parts, d)
		}
	}
}
