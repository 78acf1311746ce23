//go:build unix

// Package standin goes from the installer to the answer for agents that cannot be run here. A stand-in of a vendor is
// a small program of how the vendor's agent loads its hook file and runs a hook, written from the vendor's documents
// alone: what the vendor rejects, it rejects. It has tests only, one file per vendor; vendors_test.go lists them.
package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/daemon"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// vendor is the stand-in of one agent. Everything in it is the vendor's word.
type vendor struct {
	agent string // in the catalogue
	// user and project are the files that hold its hooks, "~/…" and "./…"; without project it has none of a project.
	user, project string
	// was are texts that people have in the file: uninstall gives each back. The first stands there during the test.
	was []string
	// rejects are texts that the vendor does not load.
	rejects []string
	// takes are breakages of an installed file that the vendor does not mind, for it does not read what they break.
	takes []string
	// load reads the text of a hook file and gives every hook that would run.
	load func(w *world, file string, text []byte) ([]entry, error)
	// call is the vendor's message to a hook before its shell tool runs a command.
	call func(w *world, command string) call
	// read says how the vendor reads what a hook gave back.
	read func(e entry, r result) reading
	// honours says how a call of the shell tool ends.
	honours honours
	// more are checks of this vendor alone, while the daemon is up.
	more func(t *testing.T, w *world)
}

// honours says what the vendor does in each case. Where nothing is said it goes on as without a hook.
type honours struct {
	neutral   outcome // hookmux has no opinion
	deny      outcome // a guard or a hook refuses; refused unless it can only watch
	unchecked outcome // guards are on and nobody can be asked: the daemon is down and cannot be started
	missing   outcome // the program of the hook is gone
}

// outcome says how a call ends.
type outcome string

const (
	goesOn   outcome = "goes on"  // as without a hook: the vendor's own rules decide
	approved outcome = "approved" // it runs, and the user is not asked
	asks     outcome = "asks"     // the user is asked
	refused  outcome = "refused"  // it does not run
)

// call is one event as the vendor tells it.
type call struct {
	event   string
	tool    string // what matchers are held against
	payload string
}

// reading says how the vendor understood an answer.
type reading struct {
	outcome outcome
	why     string // what the model or the user reads
}

// entry is one hook as the vendor understood it.
type entry struct {
	event   string
	matches func(tool string) bool // nil: every tool
	argv    []string               // after the vendor's own splitting; a shell is the first word where one is used
	dir     string                 // working directory; empty: the project
	env     []string               // what the vendor adds to its own environment
	limit   time.Duration          // how long the vendor waits
}

// result says how a hook's process ended.
type result struct {
	sandbox.Answer
	failed error // it could not be started
}

// world is a home with hookmux-hook, a daemon, and a person's own settings.
type world struct {
	*daemontest.Bench
	agent *agent.Agent
	v     *vendor
}

// userHook refuses every command that holds the word deploy.
const userHook = `{"version":1,"hooks":[{"id":"no-deploys","agent":"*","hookType":"tool.before","handler":"command",` +
	`"target":"echo no deploys today >&2; exit 2","match":{"command":"deploy"}}]}`

// newBench makes a home with a running daemon. The daemon knows no process above the hooks: whoever runs this test, the
// name in the installed command counts.
func newBench(t *testing.T) *daemontest.Bench {
	t.Helper()
	b := daemontest.New(t, func(s daemontest.Setup) (daemontest.Daemon, error) {
		return daemon.New(daemon.Options{Dirs: s.Dirs, Table: s.Processes, Facts: s.Facts, Asker: s.Asker, Version: s.Version,
			PID: s.PID, Extra: s.Extra, Log: s.Log, LiveSettings: s.LiveSettings, Person: s.ByUser})
	})
	if err := programs.Build(b.Bin, programs.Options{Names: []string{"hookmux-hook"}}); err != nil {
		t.Fatal(err)
	}
	// A daemon that hooks would start, and a `hookmux evaluate` that they would run, fail at once.
	b.Write(b.Program("hookmux"), "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(b.Program("hookmux"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.Write(filepath.Join(b.Dirs.Config, "hooks.json"), userHook)
	b.Up()
	return b
}

// host returns the installer in the home.
func (w *world) host() *install.Host {
	return &install.Host{Dirs: w.Dirs, Project: w.Project, Getenv: paths.GetenvFrom(w.Env), Version: "1.0.0",
		Hook: w.Program("hookmux-hook"), Known: agent.Builtin().Agents()}
}

// file returns the real path of one of the vendor's files.
func (w *world) file(name string) string {
	if rest, ok := strings.CutPrefix(name, "./"); ok {
		return filepath.Join(w.Project, rest)
	}
	if rest, ok := strings.CutPrefix(name, "~/.config/"); ok {
		return filepath.Join(paths.GetenvFrom(w.Env)("XDG_CONFIG_HOME"), rest)
	}
	return filepath.Join(w.Dirs.Home, strings.TrimPrefix(name, "~/"))
}

// install is `hookmux install NAME`, with everything the user is asked answered with yes.
func (w *world) install(t *testing.T, scope string) {
	t.Helper()
	plan, err := w.host().Install(install.Options{Agents: []*agent.Agent{w.agent}, Scope: scope, Trust: true,
		Known: agent.Builtin().Agents()})
	if err == nil {
		err = plan.Apply(&install.Disk{})
	}
	if err != nil {
		t.Fatalf("install %s in %s: %v", w.agent.Name, scope, err)
	}
}

// uninstall is `hookmux uninstall NAME`.
func (w *world) uninstall(t *testing.T) {
	t.Helper()
	plan, err := w.host().Uninstall([]*agent.Agent{w.agent})
	if err == nil {
		err = plan.Apply(&install.Disk{})
	}
	if err != nil || len(plan.Left) > 0 {
		t.Fatalf("uninstall %s: %v, left %v %v; want no error and len(plan.Skipped) <= 0",
			w.agent.Name, err, plan.Left, plan.Notes)
	}
}

// load reads the vendor's file as the vendor does.
func (w *world) load(t *testing.T, name string) []entry {
	t.Helper()
	file := w.file(name)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := w.v.load(w, file, text)
	if err != nil {
		t.Fatalf("%s rejects its file: %v\n%s", w.agent.Title, err, text)
	}
	return entries
}

// isOurs reports whether a hook runs hookmux.
func isOurs(e entry) bool { return strings.Contains(strings.Join(e.argv, " "), "hookmux-hook") }

// ourEntry returns the one hook of ours that runs at a call.
func (w *world) ourEntry(t *testing.T, name string, c call) entry {
	t.Helper()
	var found []entry
	for _, e := range w.load(t, name) {
		if e.event == c.event && isOurs(e) && (e.matches == nil || e.matches(c.tool)) {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d hooks of hookmux run at %s of %s, want 1", len(found), c.event, c.tool)
	}
	return found[0]
}

// run runs a hook to its end as the vendor does. The environment is the user's, as a login shell has it.
func (w *world) run(e entry, payload string) result {
	ctx, cancel := context.WithTimeout(context.Background(), daemontest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.argv[0], e.argv[1:]...)
	cmd.Dir = e.dir
	if cmd.Dir == "" {
		cmd.Dir = w.Project
	}
	cmd.Env = append(slices.Clone(w.Env), e.env...)
	cmd.Stdin = strings.NewReader(payload)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return result{failed: err}
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return result{failed: err}
	}
	return result{Answer: sandbox.Answer{Stdout: stdout.String(), Stderr: stderr.String(),
		Exit: cmd.ProcessState.ExitCode()}}
}

// ask runs our hook at a call and reads the answer.
func (w *world) ask(t *testing.T, c call) reading {
	t.Helper()
	e := w.ourEntry(t, w.v.user, c)
	return w.v.read(e, w.run(e, c.payload))
}

// daemonDown stops the daemon and keeps hooks from starting another.
func daemonDown(t *testing.T, b *daemontest.Bench) {
	t.Helper()
	b.Down()
	if err := daemonstart.Pause(b.Dirs); err != nil {
		t.Fatal(err)
	}
}

// shell returns a line as a vendor gives it to sh.
func shell(line string) []string { return []string{"/bin/sh", "-c", line} }

// strictJSON decodes one JSON value and refuses what is behind it and members that are not known.
func strictJSON(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text behind the value")
	}
	return nil
}

// asJSON writes a payload.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return string(b)
}
