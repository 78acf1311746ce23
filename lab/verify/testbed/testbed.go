// Package testbed is where one run of an agent takes place: a throw-away home and
// project, a scripted model, a daemon whose hook keeps every event, the agent itself
// (headless or in a tmux server of its own), and the evidence of what happened.
package testbed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/daemon"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/ownconfig"
)

// TestBed is where one run of an agent takes place: a throw-away home and project, a scripted
// model, a daemon, and the agent. Everything is below one folder.
type TestBed struct {
	Driver  drivers.Driver
	Agent   *agent.Agent // nil for agents that are not in the catalogue
	Table   realagents.Agent
	In      realagents.Installed
	Bin     string // folder of hookmux and hookmux-hook
	Model   *model.Server
	Run     string // name of the run at the model
	Base    string
	Home    string
	Project string
	Env     []string
	Dirs    paths.Dirs

	catalogue  *agent.Catalogue
	Watcher    *Watcher
	Breakage   *Breakage
	mine       bool           // the user's own config is part of it
	Daemon     *daemon.Daemon // while it runs
	StopDaemon func()
	Extra      []*hook.Entry // hooks in addition to the run's own
	// Facts and Asker simulate the user's terminal if an act needs one that the
	// daemon believes; nil: this machine.
	Facts    authority.Source
	Asker    terminal.Asker
	Evidence *Evidence
	Patience time.Duration
	InPane   bool // the agent at the terminal knows its tmux
	// Columns and Lines are the size of its terminal; 0: a usual one.
	Columns, Lines int
	terminals      int // how many there were
}

// Setting is shared by all test beds of one agent.
type Setting struct {
	Driver   drivers.Driver
	In       realagents.Installed
	Bin      string
	Model    *model.Server
	Mine     *ownconfig.Config
	Breakage *Breakage
	Patience time.Duration
	Serial   func() string
	// SharedWith is a test bed whose home and daemon this agent shares; nil: it gets its own.
	SharedWith *TestBed
}

// New lays a test bed out. decide may be nil; withDaemon false leaves the daemon
// away.
func New(s *Setting, run string) (*TestBed, error) {
	if s.SharedWith != nil {
		return newShared(s, run)
	}
	base, err := ShortTemp()
	if err != nil {
		return nil, err
	}
	st := &TestBed{
		Driver: s.Driver, Table: drivers.TableOf(s.Driver.Name), In: s.In, Bin: s.Bin, Model: s.Model,
		Run:  s.Driver.Name + "-" + run + "-" + s.Serial(),
		Base: base, Home: filepath.Join(base, "home"), Project: filepath.Join(base, "project"),
		Breakage: s.Breakage, mine: s.Mine != nil, Evidence: &Evidence{Run: run, Exit: -1, Folder: base},
		Patience: s.Patience, StopDaemon: func() {},
	}
	if err := st.layOut(s); err != nil {
		os.RemoveAll(base)
		return nil, err
	}
	return st, nil
}

// newShared creates a test bed in the home of another: several agents of one user. The project is its
// own; the daemon is the other's.
func newShared(s *Setting, run string) (*TestBed, error) {
	base := s.SharedWith.Base
	st := &TestBed{
		Driver: s.Driver, Table: drivers.TableOf(s.Driver.Name), In: s.In, Bin: s.Bin, Model: s.Model,
		Run:  s.Driver.Name + "-" + run + "-" + s.Serial(),
		Base: base, Home: s.SharedWith.Home, Project: filepath.Join(base, "project-"+s.Driver.Name),
		Evidence: &Evidence{Run: run, Exit: -1, Folder: base}, Patience: s.Patience, StopDaemon: func() {},
	}
	return st, st.layOut(s)
}

// ShortTemp creates a folder whose path leaves room for a socket's address.
func ShortTemp() (string, error) {
	if dir, err := os.MkdirTemp("/tmp", "hmv"); err == nil {
		return filepath.EvalSymlinks(dir)
	}
	dir, err := os.MkdirTemp("", "hmv")
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

func (st *TestBed) layOut(s *Setting) error {
	// A project that is the root of its own repository: agents stop looking
	// for one there.
	for _, d := range []string{".git/objects", ".git/refs/heads"} {
		if err := os.MkdirAll(filepath.Join(st.Project, d), 0o755); err != nil {
			return err
		}
	}
	head := []byte("ref: refs/heads/main\n")
	if err := os.WriteFile(filepath.Join(st.Project, ".git/HEAD"), head, 0o644); err != nil {
		return err
	}
	env, err := realagents.WriteHome(s.Driver.Name, st.Home, st.Model.URL(st.Run), st.Project)
	if err != nil {
		return err
	}
	st.Env = slices.Concat(env, st.In.Env, []string{paths.RuntimeVariable + "=" + filepath.Join(st.Base, "run")})
	if st.Evidence.Refusing, err = s.Mine.CopyInto(s.Driver.Name, st.Home, st.Project); err != nil {
		return err
	}
	if err := st.Breakage.prepare(st); err != nil {
		return err
	}
	st.catalogue = agent.Builtin()
	if st.Breakage != nil && st.Breakage.Catalogue != "" {
		var problems []agent.Problem
		st.catalogue, problems = agent.Load(filepath.Join(st.Home, ".config/hookmux/agents"))
		if len(problems) > 0 {
			return fmt.Errorf("saboteur: %s", problems[0])
		}
	}
	st.Agent, _ = st.catalogue.Agent(s.Driver.Name)
	st.Dirs, err = paths.FindByEnvironment(st.LookupEnv)
	st.Dirs.System = filepath.Join(st.Base, "etc") // the machine's own rules are no part of this
	return err
}

func (st *TestBed) LookupEnv(name string) string {
	return paths.GetenvLast(st.Env)(name)
}

// StartDaemon starts a daemon with the run's hook in the home.
func (st *TestBed) StartDaemon(decide Decide) error {
	st.Watcher = newWatcher(st.catalogue, decide)
	st.Watcher.forget = st.Breakage != nil && st.Breakage.Forget
	entry, err := st.Watcher.hookEntry()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(st.Base, "daemon.log"))
	if err != nil {
		return err
	}
	h, err := daemon.New(daemon.Options{
		Dirs: st.Dirs, Catalogue: st.catalogue, Version: "verify", Log: log,
		Table: st.ProcessTable(), Facts: st.Facts, Asker: st.Asker, Extra: append([]*hook.Entry{entry}, st.Extra...),
		LiveSettings: true, // what a check writes is what it wants
	})
	if err != nil {
		log.Close()
		return err
	}
	st.Daemon = h
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := h.Run(ctx); err != nil {
			fmt.Fprintln(log, err)
		}
	}()
	st.StopDaemon = func() {
		cancel()
		<-done
		log.Close()
		st.StopDaemon = func() {}
	}
	until := time.Now().Add(10 * time.Second)
	for {
		if _, err := os.Stat(st.Dirs.Socket()); err == nil {
			return nil
		}
		if time.Now().After(until) {
			return errors.New("the daemon of the stage does not come up; see daemon.log with --keep")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// RestartDaemon stops the daemon and, after meanwhile, starts another. A hook that waits would
// start one as soon as its daemon is gone, and two can't run: until the other one is up, hooks see
// that it is being started.
func (st *TestBed) RestartDaemon(decide Decide, meanwhile func()) error {
	lock, err := os.OpenFile(st.Dirs.StartLock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // lets it go
	if err := files.TryLock(lock); err != nil {
		return err
	}
	st.StopDaemon()
	if err := os.WriteFile(st.Dirs.AliveFile(), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return err
	}
	meanwhile()
	return st.StartDaemon(decide)
}

// ProcessTable returns the processes the test bed's daemon sees.
func (st *TestBed) ProcessTable() proc.Table {
	if st.Breakage != nil && st.Breakage.Immortal {
		return &remembering{Table: outside{proc.System(), os.Getpid()}, known: map[int]proc.Process{}}
	}
	return outside{proc.System(), os.Getpid()}
}

// RunHeadless starts the agent on a prompt and waits for it.
func (st *TestBed) RunHeadless(ctx context.Context, in realagents.Installed, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, st.Patience)
	defer cancel()
	r, err := realagents.Run(ctx, in, st.Env, st.Project, args...)
	e := st.Evidence
	e.Exit, e.Stdout, e.Stderr = r.Exit, r.Stdout, r.Stderr
	return err
}

// PlannedCommand returns the command line `hookmux run` would use, for runs in which
// hookmux itself is taken away before the agent starts.
func (st *TestBed) PlannedCommand(ctx context.Context, args []string) (realagents.Installed, []string, error) {
	in := st.AgentCommand()
	if !st.ByRun() {
		return in, args, nil
	}
	argv := append([]string{"run", "--dry-run", "--json", st.In.Argv[0]}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(st.Bin, "hookmux"), argv...)
	cmd.Env, cmd.Dir = st.Env, st.Project
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return in, nil, fmt.Errorf("hookmux run --dry-run: %w: %s", err, strings.TrimSpace(said.String()))
	}
	var plan struct {
		Argv []string `json:"argv"`
	}
	if err := json.Unmarshal(out, &plan); err != nil || len(plan.Argv) == 0 {
		return in, nil, fmt.Errorf("hookmux run --dry-run: no command line in %q", out)
	}
	in.Argv = plan.Argv[:1]
	return in, plan.Argv[1:], nil
}

// OwnBin gives the test bed its own copies of both programs, so that they can be broken or removed.
func (st *TestBed) OwnBin() error {
	dir := filepath.Join(st.Base, "bin")
	if st.Bin == dir {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"hookmux", "hookmux-hook"} {
		if err := copyProgram(filepath.Join(st.Bin, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	st.Bin = dir
	return nil
}

// copyProgram links if it can: one of them is large.
func copyProgram(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	return CopyFile(from, to)
}

// CollectEvidence collects the evidence and ends whatever still runs.
func (st *TestBed) CollectEvidence(err error, began time.Time) *Evidence {
	e := st.Evidence
	if st.Watcher != nil {
		// Agents send their last events in the background.
		time.Sleep(150 * time.Millisecond)
	}
	e.Left = st.ClearUp()
	st.StopDaemon()
	if st.Watcher != nil {
		e.Seen = st.Watcher.AllSeen()
	}
	if files, serr := spool.Sweep(st.Dirs.Spool()); serr == nil {
		for _, f := range files {
			if recs, _, rerr := spool.ReadFile(f.Path); rerr == nil {
				e.Spooled = append(e.Spooled, recs...)
			}
		}
	}
	e.Requests, e.Told = st.Model.Requests(st.Run), st.Model.Told(st.Run)
	e.Files = ProjectFiles(st.Project)
	e.Err, e.Took = err, time.Since(began)
	for _, s := range e.Seen {
		if s.Event.AgentVersion != "" {
			e.Version = s.Event.AgentVersion
		}
	}
	return e
}

// CannotRun is the error of a run that is impossible with an agent.
type CannotRun string

func (u CannotRun) Error() string { return string(u) }

// PauseFor waits; it is false when ctx was over first.
func PauseFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// WaitUntil checks every so often, until something holds or ctx is over.
func WaitUntil(ctx context.Context, every time.Duration, holds func() bool) {
	for !holds() {
		if !PauseFor(ctx, every) {
			return
		}
	}
}
