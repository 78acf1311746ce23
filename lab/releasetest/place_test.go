package releasetest

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
)

// made is a release on disk.
type made struct{ dir, version string }

// file returns the one file of a release that fits a pattern.
func (m made) file(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(m.dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s in %s: found %v, want one file", pattern, m.dir, found)
	}
	return found[0]
}

// releases returns the one before and the new one.
func releases(t *testing.T) (before, now made) {
	t.Helper()
	read := func(variable string) made {
		dir, version, ok := strings.Cut(os.Getenv(variable), "=")
		if !ok {
			t.Skipf("%s is not set; `make release-test` builds both releases and sets it", variable)
		}
		return made{dir, version}
	}
	return read("HOOKMUX_RELEASE_BEFORE"), read("HOOKMUX_RELEASE_NOW")
}

// needs leaves a test out where a program is not installed.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed here", name)
		}
	}
}

// place is where one package is tried: a home of somebody who has Claude Code.
type place struct {
	t    *testing.T
	root string // what the programs see as /; empty: the machine's own
	home string // as the programs see it
	env  []string
	bin  string // where hookmux is, as the programs see it
	npx  bool   // hookmux is run by npx
}

func newPlace(t *testing.T, root, bin string) *place {
	t.Helper()
	base := sandbox.TempDir(t)
	if root != "" {
		var err error
		if base, err = os.MkdirTemp(filepath.Join(root, "tmp"), "hm"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(base) })
		base = strings.TrimPrefix(base, root)
	}
	p := &place{t: t, root: root, home: filepath.Join(base, "home"), bin: bin}
	for _, dir := range []string{"home/.claude", "run"} {
		if err := os.MkdirAll(p.onMachine(filepath.Join(base, dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.env = []string{"HOME=" + p.home, "HOOKMUX_RUNTIME_DIR=" + filepath.Join(base, "run"), "LANG=C.UTF-8",
		"PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "SHELL=/bin/sh", "USER=person"}
	t.Cleanup(p.endDaemon)
	return p
}

// onMachine returns the path of a file as this test sees it.
func (p *place) onMachine(path string) string { return filepath.Join(p.root, path) }

// command prepares a program of the place.
func (p *place) command(name string, args ...string) *exec.Cmd {
	if !strings.Contains(name, "/") && p.root == "" {
		for _, entry := range p.env {
			if list, ok := strings.CutPrefix(entry, "PATH="); ok {
				for _, dir := range filepath.SplitList(list) {
					if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
						name = filepath.Join(dir, name)
						break
					}
				}
			}
		}
	}
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = p.env, p.onMachine(p.home)
	if p.root != "" {
		cmd = exec.Command("chroot", slices.Concat([]string{p.root, "env", "-i"}, p.env, []string{name}, args)...)
	}
	return cmd
}

// run runs a program that must succeed, and gives what it said.
func (p *place) run(name string, args ...string) string {
	p.t.Helper()
	out, err := p.command(name, args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s %q ended with %v, want success:\n%s", name, args, err, out)
	}
	return string(out)
}

func (p *place) wantVersion(version string) {
	p.t.Helper()
	if got := strings.TrimSpace(p.run("hookmux", "--version")); got != "hookmux "+version {
		p.t.Fatalf("the program says it is %q, want hookmux %s", got, version)
	}
}

func (p *place) settings() string {
	p.t.Helper()
	text, err := os.ReadFile(p.onMachine(filepath.Join(p.home, ".claude/settings.json")))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// callHook runs the command that stands in Claude's settings, as Claude does.
func (p *place) callHook() string {
	p.t.Helper()
	var settings struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	if err := json.Unmarshal([]byte(p.settings()), &settings); err != nil {
		p.t.Fatal(err)
	}
	line := settings.Hooks["PreToolUse"][0].Hooks[0].Command
	cmd := p.command("/bin/sh", "-c", line)
	cmd.Stdin = strings.NewReader(`{"session_id":"s1","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash",` +
		`"tool_input":{"command":"ls"},"tool_use_id":"t1","transcript_path":""}`)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("the hook %q ended with %v, want success:\n%s", line, err, out)
	}
	return string(out)
}

// daemon returns what the daemon of the place says about itself.
func (p *place) daemon() (version string, pid int) {
	c := client.Client{Socket: p.onMachine(filepath.Join(filepath.Dir(p.home), "run/daemon.sock"))}
	info, err := c.Info(context.Background())
	if err != nil {
		return "", 0
	}
	return info.Version, info.PID
}

// awaitDaemon calls the agent's hook until a daemon of this version has answered it.
func (p *place) awaitDaemon(version string) {
	p.t.Helper()
	await.Until(p.t, "a daemon of version "+version+" answers the agent's hook", func() bool {
		p.callHook()
		got, _ := p.daemon()
		return got == version
	})
}

// runHooked runs a command that tries the agent's hook out and watches it arrive. A
// test may not watch everywhere: whatever called a hook is taken for an agent, and
// with it what started the test, unless hookmux knows that as no agent.
func (p *place) runHooked(args ...string) string {
	p.t.Helper()
	cmd := p.command("hookmux", args...)
	if p.npx {
		cmd = p.command("npx", append([]string{"hookmux"}, args...)...)
	}
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
	case strings.Contains(string(out), "nothing reached the daemon"):
		p.t.Logf("hookmux %q could not watch its hook arrive: this test counts as an agent here", args)
	default:
		p.t.Fatalf("hookmux %q ended with %v, want success:\n%s", args, err, out)
	}
	return string(out)
}

func (p *place) endDaemon() {
	await.Until(p.t, "the daemon ends", func() bool {
		_, pid := p.daemon()
		if pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
		return pid == 0
	})
}

// tryUpgrade takes a package through its life. Settings of the agent stay as the old
// version wrote them.
func (p *place) tryUpgrade(before, now made, installBefore, installNow, remove func()) {
	p.t.Helper()
	installBefore()
	p.wantVersion(before.version)
	p.runHooked("install", "--yes", "claude")
	written := p.settings()
	p.awaitDaemon(before.version)

	installNow()
	p.wantVersion(now.version)
	p.awaitDaemon(now.version)
	if got := p.settings(); got != written {
		p.t.Errorf("the upgrade made Claude's settings\n%s\nwant them as they were:\n%s", got, written)
	}
	if out := p.runHooked("doctor", "claude"); !strings.Contains(out, "events hooked") ||
		!strings.Contains(out, "version "+now.version) {
		p.t.Errorf("the doctor says, want a daemon of %s and all hooks in their places:\n%s", now.version, out)
	}
	p.runHooked("install", "--yes", "claude")
	if out := p.run("hookmux", "uninstall", "--dry-run"); !strings.Contains(out, ".claude/settings.json") {
		p.t.Errorf("uninstall --dry-run says, want Claude's settings named:\n%s", out)
	}
	p.endDaemon()

	remove()
	if out, err := p.command("hookmux", "--version").CombinedOutput(); err == nil {
		p.t.Errorf("after the removal hookmux still runs and says %s", out)
	}
}

// wantNoFiles wants nothing of hookmux below a folder.
func wantNoFiles(t *testing.T, dir string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error { // what cannot be read is not ours
		if err == nil && !e.IsDir() && strings.Contains(filepath.Base(path), "hookmux") {
			t.Errorf("%s is still there, want it removed", path)
		}
		return nil
	})
}
