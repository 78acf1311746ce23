package ownfiles

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

func TestMatchParts(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		rest          int
		ok            bool
	}{
		{"a/b", "a/b", 0, true}, {"a", "a/b", 1, true}, {"a/b/c", "a/b", -1, true}, {"a/x", "a/b", 0, false},
		{"a/*", "a/b", 0, true}, {"*/b", ".a/b", 0, false}, {".*/b", ".a/b", 0, true}, {"a/b*", "a/bcd", 0, true}, {"a/[bc]",
			"a/b", 0, true},
		{"**/b", "a/c/b", 0, true}, {"**/b", "b", 0, true}, {"**/b", "a/.c/b", 0, false}, {"a/**/z", "a/z", 0, true},
		{"**/x", "a/b", -1, true},
		{"a/@(b)", "a/b", 0, true}, {"a/b(N)", "a/b", 0, true}, {"a/[", "a/b", 0, false}, {"a/?", "a/b", 0, true}, {"a/??",
			"a/b", 0, false},
		{"a/(b|c)", "a/b", 0, true}, {"**", "a/b", 0, true}, {"a/**", "a", -1, true}, {"**/b", "a/b/c", -1, true},
		{strings.Repeat("**/", 8) + "b", "b", 0, true}, {strings.Repeat("**/", 9) + "b", "b", -1, true},
		{strings.Repeat("**/", 9) + "b", "a/b", 0, true}, {"**/b/c", "a/b", -1, true},
	} {
		rest, ok := matchParts(strings.Split(tt.pattern, "/"), strings.Split(tt.path, "/"), 0)
		if rest != tt.rest || ok != tt.ok {
			t.Errorf("matchParts(%q, %q) = %d, %v; want %d, %v", tt.pattern, tt.path, rest, ok, tt.rest, tt.ok)
		}
	}
}

func TestIsOwned(t *testing.T) {
	c := New(facts.Machine{OwnPaths: []string{"/srv/hm", "", "/abc"}})
	for p, want := range map[string]bool{
		"/home/dev/.claude/settings.json": true, ".claude/settings.json": true, "x.claude/settings.json": false,
		"/x/.CLAUDE/Settings.json": true,
		"/srv/hm":                  true, "/srv/hm/x": true, "/srv/hmx": false, ".hookmux/x": true, ".hookmux": true, "a.hookmux/x": false,
		"/etc/hookmux/x":        true,
		"/run/user/1/hookmux/s": true, "/run/user/1/other": false, "src/settings.json": false, "": false, "abc": false, "/abc": true, "/abd": false,
		"/home/dev//.codex//hooks.json": true, "/Library/Application Support/Cursor/hooks.json": true,
		"/home/dev/.claude/sessions/s1/dev-mods/evil/register.tsx": true, "/home/dev/.claude/plugins/x/hooks/hooks.json": true,
		"/home/dev/app/dev-modsx/a.ts": false, "/home/dev/.claude/skills/x/SKILL.md": false,
		".claude/settings.json.bak": false,
	} {
		if got := c.isOwned(p); got != want {
			t.Errorf("isOwned(%q) = %v, want %v", p, got, want)
		}
	}
}

func TestOwnBinary(t *testing.T) {
	for _, tt := range []struct {
		word shell.Word
		want bool
	}{
		{shell.Word{Text: "/usr/bin/hookmux"}, true}, {shell.Word{Text: "hookmux-hook"}, true},
		{shell.Word{Text: "HOOKMUX.exe"}, true},
		{shell.Word{Text: "hookmux/"}, false}, {shell.Word{Text: "x"}, false}, {shell.Word{Text: "hookmux.go"}, false},
		{shell.Word{Text: "$D/hookmux-hook.bak", Dynamic: true}, true}, {shell.Word{Text: "$D/hookmux.bak", Dynamic: true},
			false},
		{shell.Word{Text: "/bin/hookmux-*", Glob: true}, true}, {shell.Word{Text: "/bin/hooks-*", Glob: true}, false},
		{shell.Word{Text: "/bin/*", Glob: true}, false},
	} {
		if got := ownBinary(tt.word); got != tt.want {
			t.Errorf("ownBinary(%+v) = %v, want %v", tt.word, got, tt.want)
		}
	}
}

func TestHasFileRedirect(t *testing.T) {
	for cmd, want := range map[string]bool{
		"a > b": true, "a 2>&1": false, "a >/dev/null": false, "a > /dev/null 2>&1": false, "a >> b": true, "a >| b": true,
		"a": false, "a 2>&-": false,
		"a >&b": true, "a 2>&1 > c": true, "> b": true, "a 2>&0": false, "a 2>&9": false, "a >&": true, "a >": true, "a 2>&/": true,
		"a 2>&:": true,
	} {
		if got := hasFileRedirect(cmd); got != want {
			t.Errorf("hasFileRedirect(%q) = %v, want %v", cmd, got, want)
		}
	}
}

func TestTakesExecution(t *testing.T) {
	for line, want := range map[string]bool{
		"755 f": false, "644 f": true, "0644 f": true, "0755 f": false, "000 f": true, "0 f": true, "-x f": true,
		"a-x f": true, "u=rw f": true, "u=rwx f": false,
		"+x f": false, "-R 644 f": true, "g-w f": false, "u+x,g-x f": true,
	} {
		var words []shell.Word
		for _, f := range strings.Fields(line) {
			words = append(words, shell.Word{Text: f})
		}
		if got := takesExecution(words); got != want {
			t.Errorf("takesExecution(%q) = %v, want %v", line, got, want)
		}
	}
}

func TestHasNumber(t *testing.T) {
	for text, want := range map[string]bool{"42": true, "a42b": true, "142": false, "421": false, "1 42 1": true, "042": false, "942": false, "420": false, "429": false, "/42": true, ":42": true, "42/": true, "42:": true,
		"142 42": true, "": false} {
		if got := hasNumber(text, "42"); got != want {
			t.Errorf("hasNumber(%q, 42) = %v, want %v", text, got, want)
		}
	}
}

func TestDownloadTargets(t *testing.T) {
	for cmd, want := range map[string]string{
		"curl -o f u/x": "f", "curl -sof u/x": "", "curl -so f u/x": "f", "curl -O u/x?y": "x", "curl --output=f u/x": "f",
		"curl u/x": "",
		"wget u/x": "x", "wget -O f u/x": "f x", "wget -P d u/x": "d/x", "curl --output-dir d -O u/x": "d/x",
		"wget -Pd u/x": "d/x", "curl - u/x": "", "curl -O": "", "curl -o": "", "wget": "", "wget -P": "",
	} {
		s := shell.Parse(cmd)
		var got []string
		for _, w := range downloadTargets(&s.Runs[0]) {
			got = append(got, w.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("downloadTargets(%q) = %q, want %q", cmd, got, want)
		}
	}
}
