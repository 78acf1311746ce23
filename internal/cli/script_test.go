//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
)

var update = flag.Bool("update", false, "write what commands print into the scripts' golden files")

// TestScripts runs every command as a person would, each script with a home
// and a daemon of its own. The script's folder is a git repository, and so a
// project.
func TestScripts(t *testing.T) {
	buildHookClient(t)
	t.Cleanup(func() { wantStateFilesSeen(t) })
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/scripts",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home, err := newHome(env.WorkDir)
			if err != nil {
				return err
			}
			env.Vars = append(env.Vars, home.env()...)
			env.Defer(func() {
				if err := home.end(); err != nil {
					// Cannot fail a script from here on but by its T.
					env.T().Fatal(err)
				}
			})
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Getuid() == 0, nil
			}
			if name != "pty" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0) // not in every sandbox
			if err == nil {
				f.Close()
			}
			return err == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":       cmdCode,
			"contains":   cmdContains,
			"denied":     cmdDenied,
			"passes":     cmdPasses,
			"payload":    cmdPayload,
			"eventually": cmdEventually,
			"take":       cmdTake,
			"times":      cmdTimes,
			"write":      cmdWrite,
		},
	})
}

// buildHookClient puts the real hook client beside hookmux, as it is
// installed.
var buildHookClient = func() func(*testing.T) {
	var once sync.Once
	var failed error
	return func(t *testing.T) {
		t.Helper()
		once.Do(func() {
			hookmux, err := exec.LookPath("hookmux")
			if err != nil {
				failed = err
				return
			}
			failed = programs.Build(filepath.Dir(hookmux), programs.Options{Names: []string{"hookmux-hook"}})
		})
		if failed != nil {
			t.Fatalf("error %v, want no error", failed)
		}
	}
}()

// home is one user of a script.
type home struct{ *sandbox.Home }

// newHome makes a user whose project is the folder work.
func newHome(work string) (home, error) {
	h, err := sandbox.New(sandbox.Options{InHome: true, Project: work})
	return home{h}, err
}

// env returns what a script adds to its own environment, with short names of the folders
// that scripts look into.
func (h home) env() []string {
	env := slices.DeleteFunc(slices.Clone(h.Env), func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	return append(env, "CONFIG="+h.Dirs.Config, "STATE="+h.Dirs.State, "TZ=UTC", "LANG=C.UTF-8",
		"GORACE=atexit_sleep_ms=0")
}

// end stops the daemon as a system would and leaves nothing behind.
func (h home) end() error {
	defer os.RemoveAll(h.Base)
	dirs := h.Dirs
	unknown := checkStateFiles(dirs) // while the daemon runs, and below after it
	if err := daemontest.EndDaemon(dirs); err != nil {
		return err
	}
	if err := errors.Join(unknown, checkStateFiles(dirs)); err != nil {
		return err
	}
	// The race detector and a crash speak there, to nobody who listens.
	log, _ := os.ReadFile(dirs.Log())
	for _, bad := range []string{"WARNING: DATA RACE", "panic while ", "goroutine 1 ["} {
		if at := bytes.Index(log, []byte(bad)); at >= 0 {
			return fmt.Errorf("the daemon's log says:\n%s", log[at:min(len(log), at+4000)])
		}
	}
	return nil
}

// cmdCode runs a command and wants exactly this exit code.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command args…")
	}
	if code := exitCode(ts, args[1], args[2:]...); args[0] != strconv.Itoa(code) {
		ts.Fatalf("exit code is %d, not %s", code, args[0])
	}
}

// exitCode runs a command and gives its exit code.
func exitCode(ts *testscript.TestScript, command string, args ...string) int {
	err := ts.Exec(command, args...)
	if err == nil {
		return 0
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	return exit.ExitCode()
}

// cmdPayload writes what an agent would put on a hook's stdin before it runs a
// command in the script's folder.
func cmdPayload(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: payload FILE AGENT COMMAND")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), payload(args[1], args[2], ts.MkAbs(".")), 0o600))
}

func payload(agent, command, cwd string) []byte {
	input := map[string]any{"command": command}
	p := map[string]any{
		"session_id": agent + "-session", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Bash",
		"tool_input": input, "tool_use_id": "call_1", "permission_mode": "default",
	}
	if agent == "grok" { // says most things twice, in two spellings
		p["tool_name"] = "run_terminal_command"
		for camel, key := range map[string]string{"sessionId": "session_id", "toolName": "tool_name",
			"toolInput": "tool_input", "toolUseId": "tool_use_id"} {
			p[camel] = p[key]
		}
		p["hookEventName"], p["workspaceRoot"] = "pre_tool_use", cwd
	}
	b, _ := json.Marshal(p)
	return b
}

// ask lets an agent's hook run before a shell command.
func ask(ts *testscript.TestScript, agent, command string) int {
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), ".git/payload"), payload(agent, command, ts.MkAbs(".")),
		0o600))
	return exitCode(ts, "sh", "-c", `exec hookmux-hook "$1" PreToolUse 60 <"$2"`, "sh", agent,
		filepath.Join(ts.Getenv("WORK"), ".git/payload"))
}

// patience is how long a script waits for what must come.
const patience = time.Minute

// cmdEventually runs a command until its stdout fits, since the journal is filled
// behind the answer; or lets an agent ask until it's denied or passes, since the daemon
// looks at files again only after a moment (selection.LoadAgain).
func cmdEventually(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN command args… | denied AGENT COMMAND REASON | passes AGENT COMMAND")
	}
	var wrong func() string // what doesn't hold yet
	switch args[0] {
	case "denied":
		wrong = func() string { return notDenied(ts, neg, args[1:]) }
	case "passes":
		wrong = func() string { return notPassed(ts, neg, args[1:]) }
	default:
		pattern, err := regexp.Compile("(?m)" + args[0])
		ts.Check(err)
		wrong = func() string {
			_ = ts.Exec(args[1], args[2:]...)
			if pattern.MatchString(ts.ReadFile("stdout")) != neg {
				return ""
			}
			return fmt.Sprintf("%q does not hold", args[0])
		}
	}
	pause := 10 * time.Millisecond
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		pause = min(pause+pause/2, 500*time.Millisecond)
		why := wrong()
		if why == "" {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("still after %s: %s", patience, why)
		}
	}
}

// cmdTake puts what the last command printed into a variable: the first group
// of a pattern.
func cmdTake(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: take VARIABLE PATTERN")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found := pattern.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) < 2 {
		ts.Fatalf("stdout has no %s", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// cmdTimes wants a pattern so many times in a file.
func cmdTimes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: times N PATTERN FILE")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	if n := len(pattern.FindAllString(ts.ReadFile(args[2]), -1)); strconv.Itoa(n) != args[0] {
		ts.Fatalf("%s is in %s %d times", args[1], args[2], n)
	}
}

// cmdWrite writes a text into a file; \n is a line end.
func cmdWrite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: write FILE TEXT")
	}
	text := strings.ReplaceAll(args[1], `\n`, "\n")
	file := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
	ts.Check(os.WriteFile(file, []byte(text+"\n"), 0o644))
}

// cmdDenied lets an agent ask before a shell command and wants it stopped, in
// whatever words the agent understands, for this reason.
func cmdDenied(ts *testscript.TestScript, neg bool, args []string) {
	if why := notDenied(ts, neg, args); why != "" {
		ts.Fatalf("%s", why)
	}
}

// notDenied lets an agent ask once and says why that wasn't denied as it should be.
func notDenied(ts *testscript.TestScript, neg bool, args []string) string {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: denied AGENT COMMAND REASON")
	}
	code := ask(ts, args[0], args[1])
	said := ts.ReadFile("stdout") + ts.ReadFile("stderr")
	if code != 2 && !(code == 0 && regexp.MustCompile(`"(deny|block)"`).MatchString(said)) {
		return fmt.Sprintf("%s may run %q (exit code %d)", args[0], args[1], code)
	}
	if !regexp.MustCompile(args[2]).MatchString(said) {
		return fmt.Sprintf("the reason is not %q", args[2])
	}
	return ""
}

// cmdContains wants that a file holds all of another one, in one piece.
func cmdContains(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: contains FILE PART")
	}
	if whole, part := ts.ReadFile(args[0]), ts.ReadFile(args[1]); !strings.Contains(whole, part) {
		ts.Fatalf("%s holds\n%s\nwant this in it:\n%s", args[0], whole, part)
	}
}

// cmdPasses wants that nothing is said about a shell command.
func cmdPasses(ts *testscript.TestScript, neg bool, args []string) {
	if why := notPassed(ts, neg, args); why != "" {
		ts.Fatalf("%s", why)
	}
}

// notPassed lets an agent ask once and says what kept that from passing.
func notPassed(ts *testscript.TestScript, neg bool, args []string) string {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: passes AGENT COMMAND")
	}
	if code := ask(ts, args[0], args[1]); code != 0 || ts.ReadFile("stdout") != "" || ts.ReadFile("stderr") != "" {
		return fmt.Sprintf("something is said about %q (exit code %d)", args[1], code)
	}
	return ""
}
