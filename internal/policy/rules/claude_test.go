package rules

import (
	"strings"
	"testing"
)

const claudeFileText = `version: 1
rules:
  - id: claude-settings
    why: your own permission rules of Claude Code
    claude:
      deny: ["Bash(git push:*)", "Read(./.env)"]
      ask: ["Bash(npm publish:*)"]
      allow: ["Bash(npm run test:*)"]
      settings:
        - project: ~/project
          deny: ["Edit(secrets/**)"]
        - project: ~/other
          deny: [Bash]
`

func TestRulesInClaudeCodesWords(t *testing.T) {
	plain := load(t, claudeFileText)
	strict := load(t, strings.Replace(claudeFileText, "claude:\n", "claude:\n      strict: true\n", 1))
	for _, c := range []struct {
		call         Example
		want, strict Verdict
		where        string
	}{
		{Example{Command: "git push origin x"}, Deny, Deny, "deny Bash(git push:*)"},
		{Example{Command: "git -C . push"}, NoVerdict, Deny, "deny Bash(git push:*) (strict; Claude Code misses it"},
		{Example{Command: "npm run test -- a"}, Allow, Allow, "allow Bash(npm run test:*)"},
		{Example{Command: "npm publish", Agent: "codex", Name: "exec"}, Ask, Ask, "ask Bash(npm publish:*)"},
		{Example{Read: ".env", Name: "read_file", Agent: "gemini"}, Deny, Deny, "deny Read(./.env)"},
		{Example{Write: "secrets/x"}, Deny, Deny, "deny Edit(secrets/**)"},
		{Example{Command: "make"}, NoVerdict, NoVerdict, ""},
	} {
		for i, list := range [][]*Rule{plain, strict} {
			want := []Verdict{c.want, c.strict}[i]
			got := NewSet(list, Options{Home: exampleHome}).Decide(c.call.Facts(0))
			if got.Verdict != want {
				t.Errorf("%s, strict %v: want %q, got %q by %+v", c.call, i == 1, want, got.Verdict, got.Hits)
				continue
			}
			if h := got.Decisive(); h != nil && !strings.HasPrefix(h.Where, c.where) {
				t.Errorf("%s: want the place to begin with %q, got %q", c.call, c.where, h.Where)
			}
		}
	}
}

func TestWrongRulesInClaudeCodesWords(t *testing.T) {
	for text, want := range map[string]string{
		"deny: ['Write(secrets/**)']":              "write Edit(secrets/**)",
		"deny: ['bash(x)']":                        "write Bash(x)",
		"strict: true":                             "claude has no rules",
		"settings: [{project: app, deny: [Bash]}]": "write a whole path",
		"deny: [Bash]\n    decide: deny":           "cannot have decide",
		"deny: [Bash]\n    when: 'true'":           "cannot have match or when",
		"denny: [Bash]":                            `there's no key "denny" below "claude"; did you mean "deny"?`,
	} {
		_, problems := Parse(Source{Name: "a.yaml", Layer: User,
			Data: []byte("version: 1\nrules:\n  - id: a\n    why: b\n    claude:\n      " + text + "\n")})
		if len(problems) != 1 || !strings.Contains(problems[0].Text, want) {
			t.Errorf("%q: want one problem with %q, got %v", text, want, problems)
		}
	}
	_, problems := Parse(Source{Name: "a.yaml", Layer: Project,
		Data: []byte("version: 1\nrules:\n  - id: a\n    why: b\n    claude: {deny: [WebFetch], allow: [Bash]}\n")})
	if len(problems) != 1 || !strings.Contains(problems[0].Text, "cannot allow") {
		t.Errorf("a project's allow: want a problem, got %v", problems)
	}
}
