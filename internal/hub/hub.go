// Package hub is the one process that hears every hook of every agent. Its
// corridor (corridor.go) is the way of one event: decode, intake, apply,
// dispatch, gate, encode. Behind the corridor a drain fills the journal;
// beside it stands the JSON-RPC room for people's commands.
//
// What it promises: an acknowledged event is in the journal exactly once, also
// after kill -9; a slow, silent or hostile peer holds nobody up; a broken disk
// or database never stops deciding; no answer of a dying hub is a yes.
package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/seat"
	"github.com/hookmux/hookmux/internal/compat/cmux"
	"github.com/hookmux/hookmux/internal/compat/mux0"
	"github.com/hookmux/hookmux/internal/platform/hubstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/problems"
	"github.com/hookmux/hookmux/internal/recorder"
	"github.com/hookmux/hookmux/internal/selection"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions"
	"github.com/hookmux/hookmux/internal/tsmodule/host"
	"github.com/hookmux/hookmux/internal/wire"
)

// Options is what a hub is made of.
type Options struct {
	Dirs      paths.Dirs
	Catalogue *agent.Catalogue // nil: the built-in one and the user's own agents
	Table     proc.Table       // nil: the system's
	Version   string
	PID       int       // of the hub; 0 is this process
	Program   string    // this program on disk; "" switches renewal off
	Log       io.Writer // nil: nowhere
	// Extra are hooks that a Go program puts into the corridor besides the
	// registered ones.
	Extra []*hook.Entry
	// Person says that a person started this hub: its places are then noted,
	// so that a hub which a stripped hook starts later uses the same.
	Person bool
	// Environment lets HOOKMUX_* settings count: for a hub that a person
	// started, never for one that a hook started.
	Environment []string
	// Facts and Asker play the machine in tests: who sits where, and what they
	// type. Nil: this machine.
	Facts authority.Source
	Asker seat.Asker
}

// Hub is a running hub.
type Hub struct {
	deps      services.Deps
	version   string
	program   string
	started   time.Time
	person    bool
	judge     *authority.Judge
	keeper    *seat.Keeper
	enrolled  *seat.Enrolments
	callers   *callers
	selection *selection.Service
	marks     *marks
	recorder  *recorder.Recorder
	rounds    *rounds
	stats     *recorder.HookStats
	streams   *streams
	open      *openCalls
	twins     *twins
	outbox    *outbox
	rpc       map[string]method
	long      map[string]longMethod
	approvals *approvals.Service
	modules   *host.Service
	seen      seenAgents
	sessions  *sessions.Service
	dispatch  hook.Dispatcher

	listener *net.UnixListener
	conns    *connections
	life     *hubstart.Life
	ctx      context.Context // ends when the hub does: cancels what still runs
	cancel   context.CancelFunc
	stop     chan string // why to stop
	stopping atomic.Bool
	nesting  atomic.Int32 // nested events being decided
	renewing atomic.Bool
	slots    chan struct{} // bounds observers under way
}

// ErrRunning means that another hub has the socket.
var ErrRunning = errors.New("a hub is already running")

// New makes a hub ready: places, lock, journal, socket. Run starts it.
func New(o Options) (*Hub, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Table == nil {
		o.Table = proc.System()
	}
	h := &Hub{
		person: o.Person, version: o.Version, program: o.Program,
		started: time.Now(), stop: make(chan string, 1),
		rounds: newRounds(), stats: recorder.NewHookStats(),
		streams: newStreams(), open: newOpenCalls(), twins: newTwins(), outbox: newOutbox(), conns: newConnections(),
		slots: make(chan struct{}, maxTellers),
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	log := slog.New(slog.NewTextHandler(o.Log, nil))
	h.deps = services.Deps{
		Dirs: o.Dirs, Catalogue: o.Catalogue, Processes: o.Table, Log: log, Notes: h.streams, Background: new(sync.WaitGroup),
		Problems: problems.New(func(p wire.Problem) {
			log.Warn("problem", "what", p.What, "fix", p.Fix)
			h.streams.Publish(wire.NoteProblem, p)
		}),
	}
	if h.deps.Catalogue == nil {
		var found []agent.Problem
		h.deps.Catalogue, found = agent.Load(h.deps.Dirs.Config+"/agents", h.deps.Dirs.System+"/agents")
		for _, p := range found {
			h.deps.Problems.Raise("agent:"+p.File, p.String(), "correct the file; until then that agent's entry is not used")
		}
	}
	if err := h.prepare(); err != nil {
		h.Close()
		return nil, err
	}
	if o.PID == 0 {
		o.PID = os.Getpid()
	}
	h.judge = NewJudge(h.deps.Catalogue, h.deps.Processes, o.Facts, o.PID)
	h.callers = newCallers(h.judge)
	h.marks = newMarks(h.deps.Dirs.State)
	h.modules = h.newModules()
	h.selection = h.newSelection(o.Extra, o.Environment)
	h.dispatch = hook.Dispatcher{Change: h.deps.Catalogue.WithInput}
	h.rpc, h.long = h.methods(), h.longMethods()
	addMethods(h.rpc, h.selection.Methods())
	addMethods(h.rpc, h.modules.Methods())
	maps.Copy(h.rpc, h.seatMethods())
	h.sessions = sessions.New(h.ctx, h.deps, sessions.Options{
		Settings: h.selection.Config, Sender: h, SessionGone: h.modules.ForgetSession, TerminalReport: mux0.TerminalReport,
	})
	addMethods(h.rpc, h.sessions.Methods())
	h.recorder = recorder.New(recorder.Options{
		Deps: h.deps, Listener: journalListener{h}, Stored: h.streams.stored, Late: h.sessions.ApplyLate,
		Retention: h.retention,
	})
	h.approvals = h.newApprovals()
	h.openSeats(&o)
	addMethods(h.rpc, h.approvals.Methods())
	foreign := &cmux.Server{Deps: h.deps, Approvals: h.approvals, Pipeline: h}
	addMethods(h.rpc, foreign.Methods())
	for name, m := range foreign.LongMethods() {
		h.long[name] = longMethod{m.Class, m.Run}
	}
	h.modules.OpenLaunches()
	return h, nil
}

// prepare takes the places and the lock that make this the only hub.
func (h *Hub) prepare() error {
	if err := h.deps.Dirs.MakeRuntime(); err != nil {
		return err
	}
	if err := os.MkdirAll(h.deps.Dirs.State, 0o700); err != nil {
		// Deciding needs no state: a hub that refused to start would leave
		// every guard open.
		h.deps.Problems.Raise("state", "nothing can be kept: "+err.Error(), "repair "+h.deps.Dirs.State+"; decisions go on meanwhile")
	}
	life, err := hubstart.Hold(h.deps.Dirs)
	if err != nil {
		return err
	}
	h.life = life
	if err := h.deps.Dirs.CheckSocket(); err != nil {
		return err
	}
	socket := h.deps.Dirs.Socket()
	// We hold the lock, so whoever made this socket is gone.
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w", socket, err)
	}
	return nil
}

// Close gives back what New took. Run does it itself.
func (h *Hub) Close() {
	h.cancel()
	if h.modules != nil {
		h.modules.Close()
	}
	if h.listener != nil {
		h.listener.Close()
	}
	if h.life != nil {
		_ = h.life.Stop()
	}
}

// Run listens and serves until ctx ends or somebody stops the hub. It returns
// when everything acknowledged is in the journal or safe on disk.
func (h *Hub) Run(ctx context.Context) error {
	defer h.Close()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: h.deps.Dirs.Socket(), Net: "unix"})
	if err != nil {
		return fmt.Errorf("%s: %w", h.deps.Dirs.Socket(), err)
	}
	h.listener = listener
	if err := os.Chmod(h.deps.Dirs.Socket(), 0o600); err != nil {
		return err
	}
	if h.person { // anybody else may have chosen the environment
		if err := h.deps.Dirs.Remember(); err != nil {
			h.deps.Problems.Raise("places", fmt.Sprintf("the places of settings could not be noted: %v", err),
				"a hub that a hook starts may look for settings in ~/.config instead")
		}
	}
	h.life.Ready()
	go h.approvals.RecallDecisions()
	drained := make(chan struct{})
	go func() { defer close(drained); h.recorder.Run(h.ctx) }()
	go h.conns.sweep(h.ctx)
	go h.sessions.Run()
	go h.selection.Refresh("") // TypeScript hooks are warm before the first event
	go h.approvals.Run(h.ctx)
	served := make(chan struct{})
	go func() { defer close(served); h.serve() }()
	h.deps.Log.Info("hub is up", "pid", os.Getpid(), "version", h.version, "socket", h.deps.Dirs.Socket())

	why := "the context ended"
	select {
	case <-ctx.Done():
	case why = <-h.stop:
	}
	h.deps.Log.Info("hub stops", "why", why)
	h.shutDown(served, drained)
	h.deps.Log.Info("hub is down", "events", h.seen.total.Load())
	return nil
}

// shutDown: nobody new comes in; whoever waits for a decision is hung up on,
// which its client takes as "ask the next hub", never as a yes; short calls
// finish; then the drain ends.
func (h *Hub) shutDown(served, drained chan struct{}) {
	h.stopping.Store(true)
	h.listener.Close()
	_ = os.Remove(h.deps.Dirs.Socket())
	h.approvals.EndRequests() // whoever waits for a person asks the next hub
	h.conns.finish(2 * time.Second)
	h.cancel()
	h.conns.closeAll()
	// One budget for all that may be slow to end: whoever waits for the next
	// hub waits for this, too.
	ending, release := context.WithTimeout(context.Background(), endWithin)
	defer release()
	told := make(chan struct{})
	go func() { h.deps.Background.Wait(); close(told) }()
	for what, over := range map[string]chan struct{}{"connections": served, "observers": told} {
		select {
		case <-over:
		case <-ending.Done():
			h.deps.Log.Warn(what + " that do not end were left behind")
		}
	}
	if err := h.selection.WaitForHandlers(ending); err != nil {
		h.deps.Log.Warn("handlers still running were left behind", "error", err)
	}
	h.modules.Close() // what they did is written down yet
	h.recorder.Stop()
	<-drained
	h.sessions.Stop()
	h.recorder.Close()
	h.approvals.Close()
}

// endWithin bounds the end of everything but the drain. A handler that ignores
// SIGTERM is killed after one second.
const endWithin = 2 * time.Second

// Stop asks the hub to end.
func (h *Hub) Stop(why string) {
	select {
	case h.stop <- why:
	default:
	}
}

// journalListener tells the sessions what the recorder does.
type journalListener struct{ h *Hub }

func (l journalListener) CaughtUp(ctx context.Context) {
	l.h.sessions.CatchUp(ctx, l.h.recorder.EventsSince)
}

func (l journalListener) FreeMemory() { l.h.sessions.ReleaseMemory(sessions.KeepActive) }
