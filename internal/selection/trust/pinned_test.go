package trust

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/hook"
)

// describeAll looks at a project with one command per target.
func describeAll(t *testing.T, p *place, handler string, targets []string) map[string]Run {
	t.Helper()
	var regs []string
	for i, target := range targets {
		regs = append(regs, strings.Replace(command(string(rune('A'+i/26))+string(rune('a'+i%26)), target), `"command"`,
			`"`+handler+`"`, 1))
	}
	p.write(hooksFile, file(regs...))
	v, err := p.Inspect(p.root, nil)
	if err != nil || v.Problem != "" || len(v.Runs) != len(targets) {
		t.Fatalf(`%d of %d: %v %s; want no error, v.Problem == "" and len(v.Runs) == len(targets)`,
			len(v.Runs), len(targets), err, v.Problem)
	}
	runs := map[string]Run{}
	for _, r := range v.Runs {
		runs[r.Target] = r
	}
	return runs
}

func codePlace(t *testing.T) *place {
	p := newPlace(t)
	for _, f := range []string{"check.sh", "scripts/check.sh", "scripts/x.js", "scripts/x.py", "sub/x.sh",
		"tools/check.py", ".hookmux/g.awk", "Makefile", "package.json"} {
		p.write(f, "1")
	}
	return p
}

func TestCodeOfTheProjectIsMarked(t *testing.T) {
	p := codePlace(t)
	targets := []string{
		"cd sub && sh x.sh", "sh x.sh", "env make -s test", "timeout 5 npm test", "python3 -m tools.check",
		`node -e 'require("./scripts/x.js")'`, `python3 -c 'exec(open("scripts/x.py").read())'`,
		`find scripts -name '*.sh' -exec sh {} \;`, "PATH=$PWD/scripts:$PATH check.sh", "git -c core.pager=./scripts/check.sh log",
		"eslint . && jest",
		// by other ways
		"make", "/usr/bin/make", "/usr/bin/env make", "/bin/sh x.sh", "sh -s < data", "cat x | sh", "bash --rcfile rc check.sh",
		"./missing.sh", "sub/missing.sh -x", "../x.sh", "node_modules/.bin/eslint", "$TOOL x", "$(cat x)", "~other/x", "*/check.sh", "if",
		"export PATH=scripts; cat x", `export "PA"TH=scripts; cat x`, "read PATH; cat", "for PATH in scripts; do cat x; done",
		"LD_PRELOAD=./x.so cat", "BASH_ENV=x bash check.sh", "NODE_OPTIONS='-r ./x' node scripts/x.js", "GIT_PAGER=x cat",
		"env -C sub cat", "pushd sub; cat x", "source x.sh", ". sub/none.sh", "eval \"$X\"", "eval './none.sh -x'", "sh -c 'make'", "env sh -c './none.sh -x'",
		"env ./timeout 5 cat", `env "$X"/timeout 5 cat x`, "xargs sh", "xargs -I{} {}", "awk 'BEGIN { system(\"./x\") }'", "awk -f prog.awk",
		"awk '{ print | \"./x\" }'", "sed '1e ./x'", "sed 's/.*/.\\/x/e'", "sed -f prog.sed", "jq -f prog.jq", "jq -L lib .", "curl -K rc", "sort --compress-program=./x", "rg --pre ./x y",
		"osascript x.scpt", `osascript -e 'do shell script "./x"'`, "python3 -c 1", "python3", "python3 --version-check=x scripts/x.py", "node -r ./x scripts/x.js",
		"bun scripts/x.js", "lua x.lua", "deno run scripts/x.js", "/proc/self/cwd/check.sh", "trap \"$X\" EXIT", "alias cat=./x; cat", "hash -p ./x cat; cat",
		"chroot . cat", "docker run x", "ssh host ls", "f() { ./none.sh; }; f", "echo `make`", "echo <(make)", "tmux new ./x", "perl -e 1", "ruby -r./x scripts/x.js",
		"python3 -m tools.check scripts/x.py", "command make", "nohup make &", "true | make", "enable -f ./x.so y", "PYTHONPATH=. python3 scripts/x.py",
	}
	runs := describeAll(t, p, "command", targets)
	for _, target := range targets {
		if !runs[target].ProjectCode {
			t.Errorf("not marked: %s; want runs[target].ProjectCode", target)
		}
	}
	for target, run := range describeAll(t, p, "script",
		[]string{"make -s test", "sh x.sh", "./missing.sh", "python3 -m tools.check"}) {
		if !run.ProjectCode {
			t.Errorf("script not marked: %s", target)
		}
	}
	for target, run := range describeAll(t, p, "typescript", []string{"mod/none.ts"}) {
		if !run.ProjectCode {
			t.Errorf("module not marked: %s", target)
		}
	}
}

func TestFixedHooksAreNotMarked(t *testing.T) {
	p := codePlace(t)
	targets := []string{
		"./check.sh", "check.sh/../scripts/check.sh", `"$HOOKMUX_PROJECT"/check.sh --strict`, `"${CLAUDE_PROJECT_DIR}"/scripts/check.sh`,
		"sh check.sh", "bash -eu scripts/check.sh a b", "bash -o pipefail scripts/check.sh", "python3 -u tools/check.py < data.txt", "/usr/bin/python3.12 tools/check.py", "node scripts/x.js",
		"timeout 5 ./check.sh", "env FOO=1 ./check.sh", "FOO=1 ./check.sh | tee log", "exec ./check.sh", "sh -c './check.sh && true'", "nice -n 5 sh check.sh",
		"echo hi", "true", "exit 2", "jq -r .tool_name", "grep -q rm && exit 2", "test -f x || echo no >&2", "[ -n \"$X\" ] && exit 2", "curl -s -d @- https://example.org/hook",
		"timeout 5 curl -s https://example.org/hook", "cat | jq -e '.x' > /dev/null", "sed -n 's/a/b/p'", "sed -e 's|a|b|g' -e 3d", "awk '{print $1}'", "awk -F: '$1 == \"x\" || $2 { print }'", "awk -f .hookmux/g.awk",
		"logger -t hook x", "notify-send done", `osascript -e 'display notification "x"'`, "date +%s", "f() { echo x; }; f", "x=$(cat); case $x in *rm*) exit 2;; esac",
		"/opt/guard/bin/check --config x", "~/bin/guard x", "command -v make", ". scripts/check.sh", "if grep -q x; then exit 2; fi", "while read -r l; do echo \"$l\"; done", "xargs grep x",
		"timeout 5 cat \"$HOME/x\"", "time ./check.sh", "find . -name x", "eval './check.sh'",
	}
	runs := describeAll(t, p, "command", targets)
	for _, target := range targets {
		if runs[target].ProjectCode {
			t.Errorf("marked: %s; want !runs[target].ProjectCode", target)
		}
	}
	if got := runs["python3 -u tools/check.py < data.txt"].Files; len(got) != 1 || got[0] != "tools/check.py" {
		t.Errorf(`got %q, want 1 of them and got[0] = "tools/check.py"`, got)
	}
	for target, run := range describeAll(t, p, "script",
		[]string{"check.sh -x", "./check.sh", "/opt/guard/check", "python3 tools/check.py"}) {
		if run.ProjectCode {
			t.Errorf("script marked: %s; want !run.ProjectCode", target)
		}
	}
}

// A relative path means the trusted copy of the project's file, whatever folder
// of the project the agent is in and whatever lies there.
func TestCopyRunsWhateverTheFolder(t *testing.T) {
	p := newPlace(t)
	p.write(hooksFile, file(command("a", "./check.sh")))
	p.write("check.sh", "#!/bin/sh\necho trusted\n")
	f := p.trust()
	p.write("check.sh", "#!/bin/sh\necho changed\n")
	p.write("deep/down/check.sh", "#!/bin/sh\necho other\n")
	for _, target := range []string{"./check.sh", "sh check.sh", "timeout 5 ./check.sh", "env sh ./check.sh",
		"sh -c ./check.sh"} {
		reg, err := f.Rewrite(hook.Registration{ID: "a", Handler: "command", Target: target})
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{p.root, filepath.Join(p.root, "deep", "down"), os.TempDir()} {
			cmd := exec.Command("sh", "-c", reg.Target)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "trusted\n" {
				t.Errorf("%s in %s: %s %v; want no error and string(out) == \"trusted\\n\"",
					reg.Target, dir, out, err)
			}
		}
	}
	// A script's bare name is a program of the system unless it is covered.
	reg, err := f.Rewrite(hook.Registration{ID: "a", Handler: "script", Target: "make -s"})
	if err != nil || reg.Target != "make -s" {
		t.Errorf(`reg.Target = %q, error %v; want no error and reg.Target = "make -s"`, reg.Target, err)
	}
	reg, _ = f.Rewrite(hook.Registration{ID: "a", Handler: "command", Target: `"$HOOKMUX_PROJECT"-old/check.sh`})
	if reg.Target != `"$HOOKMUX_PROJECT"-old/check.sh` {
		t.Errorf(`reg.Target = %q, want "$HOOKMUX_PROJECT"-old/check.sh`, reg.Target)
	}
}

func TestAddingAfterADeletionDropsNoGuard(t *testing.T) {
	p := newPlace(t)
	p.write(hooksFile, file(command("guard", "true")))
	f := p.trust()
	os.RemoveAll(filepath.Join(p.root, ".hookmux"))
	fresh := file(command("new", "true"))
	p.write(hooksFile, fresh)
	if err := p.Retrust(p.root, hooksFile, nil, []byte(fresh)); err == nil ||
		!strings.Contains(err.Error(), "hookmux trust") {
		t.Errorf(`error %v, want an error and "hookmux trust" in err.Error()`, err)
	}
	if now := p.want(Changed); now.Hooks != f.Hooks {
		t.Error("the trusted guard is not in force")
	}
	p.trust()
	// Where the user agreed to the deletion, an edit is followed again.
	os.RemoveAll(filepath.Join(p.root, ".hookmux"))
	p.trust()
	p.write(hooksFile, fresh)
	if err := p.Retrust(p.root, hooksFile, nil, []byte(fresh)); err != nil {
		t.Error(err)
	}
	p.want(Trusted)
}

func TestOlderContentDoesNotComeBackSilently(t *testing.T) {
	p := newPlace(t)
	checkout := func(head string) { p.write(".git/HEAD", head+"\n") }
	checkout("ref: refs/heads/main")
	first, second := file(command("a", "true")), file(command("a", "true"), command("guard", "true"))
	p.write(hooksFile, first)
	p.trust()
	p.write(hooksFile, second)
	f := p.trust()
	// A stash, a restore, an agent: the guard stays.
	p.write(hooksFile, first)
	if now := p.want(Changed); now.Hooks != f.Hooks {
		t.Error("an older content took the guard away")
	}
	if err := p.Retrust(p.root, hooksFile, []byte(first), []byte(first)); err == nil {
		t.Error("trust followed an edit of content that was given up")
	}
	// Another branch may hold it, and switching does not ask.
	for range 2 {
		checkout("ref: refs/heads/older")
		p.write(hooksFile, first)
		p.want(Trusted)
		checkout("ref: refs/heads/main")
		p.write(hooksFile, second)
		p.want(Trusted)
	}
	checkout("0123456789012345678901234567890123456789") // a bisect
	p.write(hooksFile, first)
	p.want(Trusted)
	// Two contents, each trusted on its own branch.
	checkout("ref: refs/heads/older")
	third := file(command("b", "true"))
	p.write(hooksFile, third)
	p.trust()
	checkout("ref: refs/heads/main")
	if now := p.want(Trusted); filepath.Base(filepath.Dir(filepath.Dir(now.Hooks))) == "" {
		t.Errorf("now.Hooks = %q, want filepath.Base(filepath.Dir(filepath.Dir(now.Hooks))) not empty", now.Hooks)
	}
	p.write(hooksFile, file())
	if now := p.want(Changed); now.Hooks != f.Hooks {
		t.Error("what is in force is not what was last trusted on the branch")
	}
}
