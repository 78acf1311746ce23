//go:build unix

package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// ceiling bounds every run: far more than any needs, far less than what the
// misbehaving handlers would take if nobody ended them.
const ceiling = 20 * time.Second

type bench struct {
	dir   string
	procs Processes
	notes []string
	call  hook.Call
}

func newBench(t testing.TB) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: dir}
	b.call = hook.Call{
		Hook: &hook.Registration{ID: "h1"},
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "FROM_AGENT=yes", "HOOKMUX_HANDLER=outer",
			"HOOKMUX_AGENT=old"},
		Event: &event.Event{ID: "e1", Agent: "grok", Kind: event.ToolBefore, Native: "PreToolUse", Session: "s1",
			Cwd: dir, Time: time.Unix(1, 0),
			Tool: &event.Tool{Kind: event.Shell, Name: "run_terminal_command", Commands: []string{"ls"},
				Input: json.RawMessage(`{"command":"ls"}`)}, Raw: []byte(`{"a":1}`)},
		Carries: event.Carries{Context: true, Deny: true, Input: true},
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), ceiling)
		defer cancel()
		if err := b.procs.Wait(ctx); err != nil {
			t.Error("processes left behind")
		}
	})
	return b
}

func (b *bench) handler(t testing.TB, r hook.Registration) hook.Handler {
	t.Helper()
	r.ID = "h1"
	h, err := New(r, Deps{Processes: &b.procs, Report: func(_, text string) { b.notes = append(b.notes, text) }})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// run runs a shell command as a handler.
func (b *bench) run(t *testing.T, limit time.Duration, command string) (event.Decision, error) {
	t.Helper()
	return b.handle(t, limit, hook.Registration{Handler: "command", Target: command})
}

func (b *bench) handle(t *testing.T, limit time.Duration, r hook.Registration) (event.Decision, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	started := time.Now()
	d, err := b.handler(t, r).Handle(ctx, &b.call)
	if took := time.Since(started); took > limit+ceiling/2 {
		t.Errorf("took %s with a limit of %s", took, limit)
	}
	return d, err
}

func (b *bench) script(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line with %q", err, part)
	}
}

// gone reports whether a process has ended; a zombie nobody reaps has.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}

func waitGone(t *testing.T, pidFile string) {
	t.Helper()
	data, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, fmt.Sprintf("process %d ends", pid), func() bool { return gone(pid) })
}

func TestCommandAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if d, err := b.run(t, ceiling, "true"); err != nil || !d.Empty() {
		t.Errorf("d = %+v, error %v; want no error and d.Empty()", d, err)
	}
	d, err := b.run(t, ceiling, `echo "no prod deploys" >&2; exit 2`)
	if err != nil || d.Verdict != event.Deny || d.Reason != "no prod deploys" {
		t.Errorf(`d = %+v, error %v; want no error, d.Verdict = event.Deny and d.Reason = "no prod deploys"`, d, err)
	}
	if d, err = b.run(t, ceiling, `echo '{"decision":"allow"}'`); err != nil || d.Verdict != event.Allow {
		t.Errorf("d = %+v, error %v; want no error and d.Verdict = event.Allow", d, err)
	}
	_, err = b.run(t, ceiling, `echo first >&2; echo broken >&2; exit 3`)
	wantError(t, err, "exit status 3: broken")
	_, err = b.run(t, ceiling, `kill -9 $$`)
	wantError(t, err, "killed by SIGKILL")
	_, err = b.run(t, ceiling, `no-such-program-anywhere`)
	wantError(t, err, "exit status 127")
}

func TestProcessGetsEventEnvironmentAndPlace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.call.Project = filepath.Join(b.dir, "project")
	_, err := b.run(t, ceiling, `cat > in.json; env > env.txt; pwd > pwd.txt; cat /proc/self/fdinfo/0 > fd0.txt 2>/dev/null; true`)
	if err != nil {
		t.Fatal(err)
	}
	in, _ := os.ReadFile(filepath.Join(b.dir, "in.json"))
	if !bytes.Equal(in, b.call.Event.MarshalUnified()) {
		t.Errorf("stdin: %s; want in equal to b.call.Event.MarshalUnified()", in)
	}
	if pwd, _ := os.ReadFile(filepath.Join(b.dir, "pwd.txt")); strings.TrimSpace(string(pwd)) != b.dir {
		t.Errorf("cwd: %s; want strings.TrimSpace(string(pwd)) == b.dir", pwd)
	}
	data, _ := os.ReadFile(filepath.Join(b.dir, "env.txt"))
	env := strings.Split(string(data), "\n")
	for name, want := range map[string]string{
		"FROM_AGENT": "", "HOOKMUX_AGENT": "grok", "HOOKMUX_EVENT": "tool.before", "HOOKMUX_NATIVE_EVENT": "PreToolUse",
		"HOOKMUX_SESSION": "s1", "HOOKMUX_EVENT_ID": "e1", "HOOKMUX_HOOK_ID": "h1", "HOOKMUX_PROJECT": b.call.Project,
		"HOOKMUX_HANDLER": "outer h1", "CLAUDE_PROJECT_DIR": "",
	} {
		if got := paths.GetenvLast(env)(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	// A pipe that does not block would break most readers.
	if info, err := os.ReadFile(filepath.Join(b.dir, "fd0.txt")); err == nil && len(info) > 0 {
		for line := range strings.Lines(string(info)) {
			if flags, ok := strings.CutPrefix(line, "flags:"); ok {
				n, _ := strconv.ParseInt(strings.TrimSpace(flags), 8, 64)
				if n&syscall.O_NONBLOCK != 0 {
					t.Error("stdin does not block")
				}
			}
		}
	}
}

// What the agent's environment says is not what a handler is made of: its programs are
// found, and its interpreters started, as in the daemon's own.
func TestAgentsEnvironmentReachesNoHandler(t *testing.T) {
	b := newBench(t)
	evil := filepath.Join(b.dir, "evil")
	if err := os.MkdirAll(evil, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"guard": "#!/bin/sh\nexit 0\n", "sh": "#!/bin/true\n", "json.py": "raise SystemExit(0)\n", "env": "touch " + b.dir + "/ran\n",
		"grep": "#!/bin/sh\nexit 1\n",
	} {
		if err := os.WriteFile(filepath.Join(evil, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	good := filepath.Join(b.dir, "bin")
	if err := os.MkdirAll(good, 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/usr/bin/env sh\ngrep -q ls && { echo no >&2; exit 2; }\n"
	if err := os.WriteFile(filepath.Join(good, "guard"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", good+":"+os.Getenv("PATH"))
	b.call.Env = []string{"PATH=" + evil, "HOME=" + evil, "BASH_ENV=" + evil + "/env", "ENV=" + evil + "/env",
		"PYTHONPATH=" + evil, "PYTHONSTARTUP=" + evil + "/env", "NODE_OPTIONS=--require=" + evil, "LD_PRELOAD=" + evil + "/x.so",
		"LD_LIBRARY_PATH=" + evil, "PERL5LIB=" + evil, "RUBYOPT=-r" + evil, "GIT_CONFIG_GLOBAL=" + evil, "XDG_CONFIG_HOME=" + evil,
		"SHELL=" + evil + "/sh", "TMPDIR=" + evil, "IFS=l", "PS4=$(touch " + b.dir + "/ran)", "CLAUDE_PROJECT_DIR=/its/own", "TMUX_PANE=%1"}
	for _, r := range []hook.Registration{
		{Handler: "script", Target: "guard", Format: hook.Claude},
		{Handler: "command", Target: "guard", Format: hook.Claude},
	} {
		if d, err := b.handle(t, ceiling, r); err != nil || d.Verdict != event.Deny {
			t.Errorf("%s: %+v, %v; want the deny of the user's own guard", r.Handler, d, err)
		}
	}
	if _, err := b.run(t, ceiling, "env > env.txt"); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(b.dir, "env.txt"))
	if strings.Contains(string(text), evil) || !strings.Contains(string(text), "TMUX_PANE=%1\n") {
		t.Errorf("the handler has\n%swant nothing of the agent's but what it is promised", text)
	}
	if _, err := os.Lstat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("what the agent's environment names was run")
	}
}

func TestWithoutAnEnvironment(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SECRET_OF_THE_DAEMON", "x")
	b := newBench(t)
	b.call.Env = nil
	d, err := b.run(t, ceiling, `echo "$HOME|$SECRET_OF_THE_DAEMON|$HOOKMUX_HANDLER|${PATH:+path}"`)
	if want := os.Getenv("HOME") + "||h1|path"; err != nil || d.Context != want {
		t.Errorf("%q, %v; want %q", d.Context, err, want)
	}
}

func TestCwdThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.call.Event.Cwd = filepath.Join(b.dir, "gone")
	if d, err := b.run(t, ceiling, `pwd`); err != nil || d.Context != "/" {
		t.Errorf(`d = %+v, error %v; want no error and d.Context = "/"`, d, err)
	}
	b.call.Project = b.dir
	if d, err := b.run(t, ceiling, `pwd`); err != nil || d.Context != b.dir {
		t.Errorf("d = %+v, error %v; want no error and d.Context = b.dir", d, err)
	}
	if len(b.notes) != 2 || !strings.Contains(b.notes[0], "gone") {
		t.Errorf(`b.notes = %q, want 2 of them and "gone" in b.notes[0]`, b.notes)
	}
}

func TestForksAndExits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	d, err := b.run(t, ceiling, `sleep 30 & echo $! > pid; echo hello`)
	if err != nil || d.Context != "hello" {
		t.Errorf(`d = %+v, error %v; want no error and d.Context = "hello"`, d, err)
	}
	// What a hook leaves running on purpose is left alone.
	data, _ := os.ReadFile(filepath.Join(b.dir, "pid"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	if pid <= 1 {
		t.Fatalf("pid %q; want pid > 1", data)
	}
	if gone(pid) {
		t.Error("background process was ended")
	}
	syscall.Kill(pid, syscall.SIGKILL)
}

func TestPrintsALot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.run(t, ceiling, `head -c 100000000 /dev/zero; echo the end >&2`)
	wantError(t, err, "more than 1 MiB on stdout: the end")
	d, err := b.run(t, ceiling, `head -c 1000000 /dev/zero | tr '\0' x`)
	if err != nil || len(d.Context) != 1000000 {
		t.Errorf("len(d.Context) = %v, error %v; want no error and len(d.Context) = 1000000", len(d.Context), err)
	}
	_, err = b.run(t, ceiling, `head -c 3000000 /dev/zero | tr '\0' x >&2; echo >&2; echo last >&2; exit 7`)
	wantError(t, err, "exit status 7: last")
	_, err = b.run(t, 300*time.Millisecond, `while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done`)
	wantError(t, err, "no answer within")
}

func TestIgnoresSIGTERM(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.run(t, 300*time.Millisecond, `trap '' TERM; echo $$ > pid; while :; do sleep 30; done`)
	wantError(t, err, "no answer within")
	waitGone(t, filepath.Join(b.dir, "pid"))
}

func TestWholeGroupIsEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// The leader obeys at once, its child does not.
	_, err := b.run(t, 500*time.Millisecond, `(trap '' TERM; sh -c 'echo $PPID' > pid; while :; do sleep 30; done) & sleep 30`)
	wantError(t, err, "no answer within")
	waitGone(t, filepath.Join(b.dir, "pid"))
}

func TestGivenUpBeforeAndDuring(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := b.handler(t, hook.Registration{Handler: "command", Target: "touch ran"}).Handle(ctx, &b.call)
	wantError(t, err, "given up")
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("ran although nobody waits")
	}
	ctx, cancel = context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err = b.handler(t, hook.Registration{Handler: "command", Target: "exec sleep 30"}).Handle(ctx, &b.call)
	wantError(t, err, "given up")
}

func TestLargePayload(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.call.Event.Raw = append(append([]byte(`{"x":"`), bytes.Repeat([]byte("y"), 3<<20)...), `"}`...)
	if d, err := b.run(t, ceiling, `true`); err != nil || !d.Empty() {
		t.Errorf("not reading:: %v, %v; want no error and d.Empty()", d, err)
	}
	if d, err := b.run(t, ceiling, `exec <&-; sleep 0.05`); err != nil || !d.Empty() {
		t.Errorf("closing stdin:: %v, %v; want no error and d.Empty()", d, err)
	}
	want := strconv.Itoa(len(b.call.Event.MarshalUnified()))
	if d, err := b.run(t, ceiling, `wc -c | tr -d ' '`); err != nil || d.Context != want {
		t.Errorf("reading: %q, %v, want %s", d.Context, err, want)
	}
	// A background child that keeps stdin open must not hold the writer.
	if d, err := b.run(t, ceiling, `sleep 3 & true`); err != nil || !d.Empty() {
		t.Errorf("kept open:: %v, %v; want no error and d.Empty()", d, err)
	}
}

func TestClosesStdoutEarly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	d, err := b.run(t, ceiling, `echo note; exec >&- 2>&-; sleep 0.1; exit 0`)
	if err != nil || d.Context != "note" {
		t.Errorf(`d = %+v, error %v; want no error and d.Context = "note"`, d, err)
	}
	_, err = b.run(t, 300*time.Millisecond, `exec >&- 2>&-; exec sleep 30`)
	wantError(t, err, "no answer within")
}

func TestScript(t *testing.T) {
	b := newBench(t)
	t.Setenv("HOME", b.dir)
	say := "#!/bin/sh\nfor a; do printf '<%s>' \"$a\"; done; echo \" $PWD\"\n"
	b.script(t, "bin/say", say, 0o755)
	b.script(t, "plain", "#!/bin/sh\ntrue\n", 0o644)
	b.script(t, "no-interpreter", "#!/no/such/interpreter\n", 0o755)
	b.script(t, "no-line", "\x00\x01", 0o755)
	b.script(t, "project/tool", say, 0o755)
	for target, want := range map[string]string{
		`~/bin/say 'a b' "c'd" e\ f $HOME '~'`: "<a b><c'd><e f><$HOME><~> " + b.dir,
		b.dir + `/bin/say`:                     b.dir,
		`./bin/say x`:                          "<x> " + b.dir,
		`echo found in PATH`:                   "found in PATH",
	} {
		d, err := b.handle(t, ceiling, hook.Registration{Handler: "script", Target: target})
		if err != nil || d.Context != want {
			t.Errorf("%s: %q, %v; want %q", target, d.Context, err, want)
		}
	}
	for target, want := range map[string]string{
		b.dir + "/missing":      "check the target",
		"no-such-name-anywhere": "not found in PATH",
		"./plain":               "chmod +x",
		"./no-interpreter":      "interpreter",
		"./no-line":             "#!/bin/sh",
		b.dir:                   "name a file in it",
	} {
		_, err := b.handle(t, ceiling, hook.Registration{Handler: "script", Target: target})
		wantError(t, err, want)
	}
	b.call.Project = filepath.Join(b.dir, "project")
	d, err := b.handle(t, ceiling, hook.Registration{Handler: "script", Target: "./tool x"})
	if want := "<x> " + b.dir; err != nil || d.Context != want {
		t.Errorf("%q, %v; want %q", d.Context, err, want)
	}
}

func TestClaudeFormat(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	os.Mkdir(filepath.Join(b.dir, ".git"), 0o755)
	claude := func(target string) (event.Decision, error) {
		t.Helper()
		return b.handle(t, ceiling, hook.Registration{Handler: "command", Target: target, Format: hook.Claude})
	}
	answer := func(rest string) string {
		return `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + rest + `}}'`
	}
	d, err := claude(`cat > in.json; echo "$CLAUDE_PROJECT_DIR" > dir; ` +
		answer(`"permissionDecision":"allow","updatedInput":{"command":"pwd"},"additionalContext":"c"`))
	if want := (event.Decision{Verdict: event.Modify, Allowed: true, Input: json.RawMessage(`{"command":"pwd"}`),
		Context: "c"}); err != nil || !reflect.DeepEqual(d, want) {
		t.Errorf("d = %+v, error %v; want no error and d = %+v", d, err, want)
	}
	if in, _ := os.ReadFile(filepath.Join(b.dir, "in.json")); !bytes.Contains(in,
		[]byte(`"tool_name":"Bash","tool_input":{"command":"ls"}`)) {
		t.Errorf("stdin: %s; want []byte(`\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}`) in in", in)
	}
	if dir, _ := os.ReadFile(filepath.Join(b.dir, "dir")); strings.TrimSpace(string(dir)) != b.dir {
		t.Errorf("CLAUDE_PROJECT_DIR is %s", dir)
	}
	_, err = claude(answer(`"updatedInput":{"command":"pwd","timeout":3}`))
	wantError(t, err, `"timeout"`)
	_, err = claude(`exit 1`)
	wantError(t, err, "exit status 1")

	// Several commands are asked about one by one.
	tool := b.call.Event.Tool
	tool.Commands = []string{"one", "two", "three"}
	tool.Input = json.RawMessage(`{"commands":["one","two","three"]}`)
	d, err = claude(`grep -q '"command":"two"' && { echo "not two" >&2; exit 2; }; echo x >> runs; exit 0`)
	if err != nil || d.Verdict != event.Deny || d.Reason != "not two" {
		t.Errorf(`d = %+v, error %v; want no error, d.Verdict = event.Deny and d.Reason = "not two"`, d, err)
	}
	if runs, _ := os.ReadFile(filepath.Join(b.dir, "runs")); string(runs) != "x\n" {
		t.Errorf("runs: %q, want \"x\\n\"", runs)
	}
	d, err = claude(`n=$(sed 's/.*"command":"\([a-z]*\)".*/\1/'); ` +
		`printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"safe %s"}}}' "$n"`)
	if want := `{"commands":["safe one","safe two","safe three"]}`; err != nil || string(d.Input) != want || d.Allowed {
		t.Errorf("d = %+v, error %v; want no error, string(d.Input) = %q and not d.Allowed", d, err, want)
	}
	d, err = claude(`grep -q '"command":"two"' || ` + answer(`"permissionDecision":"allow"`))
	if err != nil || d.Verdict != event.None {
		t.Errorf("one approval too few: %+v, %v", d, err)
	}
	if d, err = claude(answer(`"permissionDecision":"allow"`)); err != nil || d.Verdict != event.Allow {
		t.Errorf("all approved: %+v, %v; want no error and d.Verdict == event.Allow", d, err)
	}

	// More than are asked about: commands together, files as a failure.
	tool.Commands = strings.Fields("a b c d e f g h i j")
	d, err = claude(`grep -q '"command":"h\\ni\\nj"' && exit 2; exit 0`)
	if err != nil || d.Verdict != event.Deny {
		t.Errorf("d = %+v, error %v; want no error and d.Verdict = event.Deny", d, err)
	}
	tool.Kind, tool.Writes = event.FileEdit, tool.Commands
	_, err = claude(`true`)
	wantError(t, err, "2 more files")
	if d, err = claude(`grep -q '"file_path":"c"' && exit 2; exit 0`); err != nil || d.Verdict != event.Deny {
		t.Errorf("d = %+v, error %v; want no error and d.Verdict = event.Deny", d, err)
	}
	b.call.Event.Kind = event.ToolAfter
	if d, err = claude(`true`); err != nil || !d.Empty() {
		t.Errorf("d = %+v, error %v; want no error and d.Empty()", d, err)
	}
}

func TestClaudeFormatOnClaude(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ev := b.call.Event
	ev.Agent, ev.Raw = "claude", []byte(`{"hook_event_name":"PreToolUse","tool_input":{"command":"ls"}}`)
	b.call.Env = append(b.call.Env, "CLAUDE_PROJECT_DIR=/its/own")
	d, err := b.handle(t, ceiling, hook.Registration{Handler: "command", Format: hook.Claude,
		Target: `cat > in.json; echo "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{\"command\":\"ls\",\"dir\":\"$CLAUDE_PROJECT_DIR\"}}}"`})
	if want := `{"dir":"/its/own"}`; err != nil || string(d.Input) != want || d.Verdict != event.Modify {
		t.Errorf("d = %+v, error %v; want no error, string(d.Input) = %q and d.Verdict = event.Modify", d, err, want)
	}
	if in, _ := os.ReadFile(filepath.Join(b.dir, "in.json")); !bytes.Equal(in, ev.Raw) {
		t.Errorf("stdin: %s, want %s", in, ev.Raw)
	}
}
