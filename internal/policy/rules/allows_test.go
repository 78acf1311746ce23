package rules

import (
	"strings"
	"testing"
	"time"
)

// allowedBy says whether rules let a command pass.
func allowedBy(t *testing.T, text, command string) bool {
	t.Helper()
	list, problems := Parse(Source{Name: "x.yaml", Data: []byte("version: 1\ndecide: allow\nrules:\n" + text), Layer: User})
	if len(problems) > 0 {
		t.Fatalf("the rules have problems, expected none: %v", problems)
	}
	set := NewSet(list, Options{Home: exampleHome})
	return set.Decide(Example{Command: command}.Facts(set.Needs())).Verdict == Allow
}

// A rule that allows covers exactly what it was written about.
func TestAllowsNoMoreThanItSays(t *testing.T) {
	const (
		outside = "- {id: a, why: w, match: {tool: shell, contained: false}, examples: {hit: [ls]}}"
		each    = `- {id: a, why: w, match: {program: git}, when: 'command.subcommand == "status"', examples: {hit: [git status]}}`
		anyOf   = `- {id: a, why: w, when: 'any(commands, .program == "ls")', examples: {hit: [ls]}}`
		tools   = "- {id: a, why: w, match: {program: [go, tar, git, sort, rg, find]}, examples: {hit: [git status]}}"
		plain   = "- {id: a, why: w, match: {program: [git, ls]}, examples: {hit: [git status]}}"
	)
	for _, c := range []struct {
		rule, command string
		want          bool
	}{
		{outside, "ls", true},
		{outside, "docker exec x ls", false},
		{each, "git status", true},
		{each, "git status && git push -f", false},
		{anyOf, "ls", true},
		{anyOf, "ls; rm -rf ~", false},
		{anyOf, "ls > ~/.bashrc", false},
		{tools, "go test ./...", true},
		{tools, "go test -exec evil ./...", false},
		{tools, "go test -toolexec=evil", false},
		{tools, "tar xf a --to-command=evil", false},
		{tools, "git diff --output=x", false},
		{tools, "git --exec-path=/tmp/x status", false},
		{tools, "rg --pre evil x", false},
		{tools, "find . -delete", false},
		{tools, "sort -o x y", false},
		{tools, "sort y", true},
		{plain, "git status", true},
		{plain, "/usr/bin/git status", true},
		{plain, "LD_PRELOAD=/tmp/x.so git status", false},
		{plain, "PATH=/tmp/x git status", false},
		{plain, "PATH=/tmp/x; ls", false},
		{plain, "./ls", false},
		{plain, "/tmp/ls", false},
	} {
		if got := allowedBy(t, c.rule, c.command); got != c.want {
			t.Errorf("%s\n\t%q is allowed: %v, want %v", c.rule, c.command, got, c.want)
		}
	}
}

// Whoever may write into the folder of rules must not stop the daemon by it.
func TestDeepFilesAreRefusedAtOnce(t *testing.T) {
	for _, deep := range []string{strings.Repeat("[", 60000), strings.Repeat("{a: ", 30000),
		"\n" + strings.Repeat("- ", 60000) + "a"} {
		start := time.Now()
		_, problems := Parse(Source{Name: "x.yaml", Data: []byte("version: 1\nrules: " + deep), Layer: User})
		if took := time.Since(start); len(problems) != 1 || !problems[0].Whole || took > time.Second {
			t.Errorf("%.10q: took %v, problems %v; want len(problems) == 1, problems[0].Whole and took <= "+
				"time.Second", deep, took, len(problems))
		}
	}
}

// An expression that fills all memory ends the process, and nothing can catch that.
func TestExpressionsThatGrowAreRefused(t *testing.T) {
	if _, problems := Parse(Source{Name: "x.yaml", Layer: User, Data: []byte("version: 1\nrules: [{id: a, why: w, when: '" +
		strings.Repeat("(", 3_000_000) + "', decide: deny, examples: {hit: [ls]}}]\n")}); len(problems) != 1 {
		t.Errorf("three million brackets: %v", problems)
	}
	for when, refused := range map[string]bool{
		`reduce(1..12, #acc + #acc, tool.name) == "x"`:                true,
		`reduce([1], # , 0) == 0`:                                     true,
		`let a = tool.name + tool.name; a + a == "x"`:                 true,
		`replace(tool.name, "", tool.name) == "x"`:                    true,
		`repeat(tool.name, 3) == "x"`:                                 true,
		`join(["a", "b"], "c") == "x"`:                                true,
		`toJSON(toJSON(commands)) == "x"`:                             true,
		`toJSON(commands) contains "ls"`:                              false,
		`len(commands) + 1 > 1`:                                       false,
		`any(commands, .program == "ls") and counts.sameCall + 1 > 0`: false,
	} {
		_, problems := Parse(Source{Name: "x.yaml", Layer: User, Data: []byte("version: 1\nrules:\n  - id: a\n    why: w\n" +
			"    match: {program: ls}\n    decide: deny\n    when: '" + when + "'\n    examples: {hit: [ls]}\n")})
		got := len(problems) == 1 && strings.Contains(problems[0].Text, "is not allowed here")
		if got != refused || !refused && len(problems) > 0 {
			t.Errorf("%s: %v; want it refused: %v", when, problems, refused)
		}
	}
}

// Programs that take several targets do all of them, in any order and behind options
// and variables.
func TestTargetsBesideEachOther(t *testing.T) {
	list := load(t, `version: 1
rules:
  - {id: no-deploy, why: w, match: {program: make, subcommand: deploy}, decide: deny, examples: {hit: [make deploy], miss: [make test]}}
  - {id: tests, why: w, match: {program: make, subcommand: [test, lint]}, decide: allow, examples: {hit: [make test], miss: [make all]}}
  - {id: no-push, why: w, match: {program: git, subcommand: push}, decide: deny, examples: {hit: [git push], miss: [git log push]}}
`)
	for command, want := range map[string]Verdict{
		"make deploy": Deny, "make -C . deploy": Deny, "make -j 4 deploy": Deny, "make test deploy": Deny,
		"make V=1 deploy": Deny, "make -f other.mk test deploy": Deny, "make $TARGET": Ask, "make test $TARGET": Ask,
		"make test": Allow, "make test lint": Allow, "make test SHELL=/tmp/x": NoVerdict, "make test all": NoVerdict,
		"git log push": NoVerdict, "git push": Deny,
	} {
		e := Example{Command: command}
		set := NewSet(list, Options{Home: exampleHome})
		if got := set.Decide(e.Facts(set.Needs())); got.Verdict != want {
			t.Errorf("%s: %q, want %q", command, got.Verdict, want)
		}
	}
}
