// Package daemon composes the services into the one process that receives every hook of every
// agent: New builds them, Run starts and stops them. It has no behaviour of its own except for
// the process: its lock and its status. What happens to an event is in package pipeline.
//
// What the daemon promises: an acknowledged event is in the journal exactly once, also after
// kill -9; a slow, silent or hostile peer delays no one else; a broken disk or database never
// stops deciding; no answer of a dying daemon is a yes.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/access"
	"github.com/hookmux/hookmux/internal/authority/callers"
	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/fleet"
	"github.com/hookmux/hookmux/internal/fleet/member"
	"github.com/hookmux/hookmux/internal/fleet/remote"
	"github.com/hookmux/hookmux/internal/keeper"
	"github.com/hookmux/hookmux/internal/pipeline"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/protocols/mux0"
	"github.com/hookmux/hookmux/internal/recorder"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/selection"
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/server"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions"
	"github.com/hookmux/hookmux/internal/telemetry"
	"github.com/hookmux/hookmux/internal/tshook/host"
	"github.com/hookmux/hookmux/internal/ui/notify"
	"github.com/hookmux/hookmux/internal/ui/web"
	"github.com/hookmux/hookmux/internal/usage"
	"github.com/hookmux/hookmux/internal/wire"
)

// Options configures a daemon.
type Options struct {
	Dirs      paths.Dirs
	Catalogue *agent.Catalogue // nil: the built-in one and the user's own agents
	Table     proc.Table       // nil: the system's
	Version   string
	PID       int       // of the daemon; 0 is this process
	Program   string    // this program on disk; "" switches renewal off
	Log       io.Writer // nil: nowhere
	// Extra are hooks that a Go program adds to the registered ones.
	Extra []*hook.Entry
	// Person says that the user started this daemon: its places are then noted, so that a daemon
	// which a stripped hook starts later uses the same.
	Person bool
	// LiveSettings makes the user's files take effect as they are, accepted or not: for tests of
	// everything else.
	LiveSettings bool
	// Given is what the system service gave this daemon; nil without the service.
	Given *keeper.Given
	// Environment holds the environment whose HOOKMUX_* settings apply: for a daemon that the user
	// started, never for one that a hook started.
	Environment []string
	// Removed lists agents' hooks that something other than hookmux removed; if nil, the daemon
	// does not check. One goroutine calls it.
	Removed func(*agent.Catalogue) []wire.Problem
	// Facts and Asker play the machine in tests: who sits where, and what they
	// type. Nil: this machine.
	Facts authority.Source
	Asker terminal.Asker
}

// Daemon is a running daemon.
type Daemon struct {
	deps    services.Deps
	version string
	program string
	started time.Time
	person  bool
	given   *keeper.Given // open as long as the daemon runs
	removed func(*agent.Catalogue) []wire.Problem
	// accepted says what of the user's files is in effect; nil: all of it.
	accepted *accepted.Store

	evaluator *authority.Evaluator
	terminals *access.Service
	callers   *callers.Callers
	marks     *pipeline.HandlerMarks
	notes     *server.Notes
	outbox    *server.Outbox
	stats     *recorder.HookStats
	tsHooks   *host.Service
	selection *selection.Service
	sessions  *sessions.Service
	recorder  *recorder.Recorder
	approvals *approvals.Service
	notify    *notify.Service
	pipeline  *pipeline.Pipeline
	usage     *usage.Service
	telemetry *telemetry.Service
	server    *server.Server
	web       *web.Service
	hosts     *fleet.Hosts
	connector *remote.Connector
	shown     *remote.Server
	member    *member.Service
	contained *server.ContainerSocket // nil: containers can't report

	lock   *daemonstart.DaemonLock
	ctx    context.Context // ends when the daemon does: cancels what still runs
	cancel context.CancelFunc
	stop   chan string // why to stop
}

// New prepares a daemon: folders, lock, journal, services. Run opens the socket.
func New(o Options) (*Daemon, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Table == nil {
		o.Table = proc.System()
	}
	if o.PID == 0 {
		o.PID = os.Getpid()
	}
	h := &Daemon{
		person: o.Person, version: o.Version, program: o.Program, started: time.Now(),
		removed: o.Removed, given: o.Given,
		stop: make(chan string, 1), notes: server.NewNotes(),
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	log := slog.New(slog.NewTextHandler(o.Log, nil))
	h.deps = services.Deps{
		Dirs: o.Dirs, Catalogue: o.Catalogue, Processes: o.Table, Log: log, Notes: h.notes,
		Background: new(services.Background),
		Redactor:   redact.New(),
		Problems: services.NewProblems(func(p wire.Problem) {
			log.Warn("problem", "what", p.What, "fix", p.Fix)
			h.notes.Publish(wire.NoteProblem, p)
		}),
	}
	if err := h.acquireLock(); err != nil {
		h.Close()
		return nil, err
	}
	if !o.LiveSettings {
		h.accepted = sources.OpenAccepted(o.Dirs, false)
	}
	if h.deps.Catalogue == nil {
		var found []agent.Problem
		h.deps.Catalogue, found = sources.LoadCatalogue(o.Dirs, h.accepted, o.Person)
		for _, p := range found {
			h.deps.Problems.Raise("agent:"+p.File, p.String(),
				"correct the file; until then that agent's entry is not used")
		}
	}
	h.buildServices(o)
	return h, nil
}

// buildServices creates the services in an order in which each finds what it
// reads while it is created. If two need each other, the earlier one is given
// a function or an adapter of this package (wiring.go) that finds the later one
// when it is called.
func (h *Daemon) buildServices(o Options) {
	h.evaluator = terminal.NewEvaluator(h.deps.Catalogue, h.deps.Processes, o.Facts, o.PID)
	h.callers = callers.New(h.evaluator)
	h.marks = pipeline.NewHandlerMarks(h.deps.Dirs.State)
	h.stats = recorder.NewHookStats()
	h.outbox = server.NewOutbox(h.deps, func(pid int) (string, int) {
		caller := h.callers.Of(pid)
		return caller.Agent, caller.PID
	})
	h.tsHooks = h.newTSHooks()
	h.telemetry = telemetry.New(telemetry.Options{Deps: h.deps, Version: h.version, Settings: h.telemetrySettings})
	h.usage = usage.New(usage.Options{
		Deps: h.deps, Getenv: os.Getenv, Changed: h.noteUse, OwnPrices: h.pricesFile(),
		Sessions:   func(all bool) []wire.Session { return h.sessions.List(all) }, // created below
		Looked:     h.noteBudgets,
		HasBudgets: func() bool { return len(h.selection.Config.Settings().Strings(config.UsageBudgets)) > 0 },
	})
	h.selection = h.newSelection(o.Extra, o.Environment)
	h.selection.Acceptance.AcceptInitial(o.Person)
	h.hosts = fleet.New(fleet.Options{
		Background:     h.deps.Background,
		SessionChanged: func(change wire.SessionChange) { h.notes.Publish(wire.NoteSession, change) },
		RequestChanged: func(note string, item wire.InboxRequest) { h.approvals.NoteElsewhere(note, item) }, // created below
		Attended:       func() bool { return h.approvals.CanAnyoneAnswer() },
	})
	h.sessions = sessions.New(h.ctx, h.deps, sessions.Options{
		Elsewhere: h.hosts,
		Usage:     h.usage.SessionUsage,
		Settings:  h.selection.Config, Sender: pluginCalls{h.ctx, h.outbox}, SessionGone: h.tsHooks.ForgetSession,
		PromptsChanged: func(agent, session string, items []wire.InboxRequest) {
			h.approvals.PromptsChanged(agent, session, items) // created below; nothing is reported before Run
		},
		TurnEnded:      func(one wire.Session) { h.notify.TurnEnded(one) },
		Changed:        func() { h.member.SessionsChanged() },
		HooksMissing:   h.reportGap,
		TerminalReport: mux0.ReportReader(h.deps.Catalogue),
	})
	h.recorder = recorder.New(recorder.Options{
		Deps: h.deps, Listener: journalListener{h}, Stored: h.noteStored, Late: h.sessions.ApplyLate,
		Retention: h.retention, Followers: []recorder.Follower{newAuditor(h.deps)},
		Outbox: func() bool { return h.member.Joined() }, // created below; nothing is stored before Run
	})
	h.approvals = h.newApprovals()
	h.notify = notify.New(h.deps, h.selection.Config.Settings, approvals.NewNotices(h.approvals), h.sessions)
	h.terminals = access.New(h.deps, h.evaluator, o.Asker, h.approvals.Proofs())
	h.terminals.Weaker = h.selection.Acceptance.Weaker
	h.terminals.GuardState = func(key string) string { return h.selection.Config.Settings().Choice(key) }
	h.terminals.LogOnlyTSHooks = func() []string { return h.selection.Config.Settings().Strings(config.ModulesLog) }
	if h.terminals.IsRealMachine() {
		marker := terminal.NewMarker(h.deps.Processes)
		marker.NoteTerminals(h.evaluator.Source)
		h.callers.SetMarker(marker)
	}
	h.pipeline = pipeline.New(h.ctx, pipeline.Options{
		Deps: h.deps, Callers: h.callers, Marks: h.marks, Off: h.selection.Off, Recorder: h.recorder,
		Stop: h.Stop, HookStats: h.stats,
		Telemetry: telemetryCalls{h.telemetry},
		Sessions:  h.sessions, Selection: h.selection, TSHooks: h.tsHooks, Approvals: h.approvals,
		StartedByAgent: func(pid int) bool { return h.evaluator.Caller(pid, "").Agent != "" },
	})
	registry := devices.Open(h.deps)
	h.shown = remote.NewServer(remote.ServerOptions{Deps: h.deps, Version: h.version, Devices: registry,
		Requests: h.approvals, Daemon: pageAccess{h}, Journal: h.recorder.Reader})
	h.connector = remote.NewConnector(remote.ConnectorOptions{Deps: h.deps, Context: h.ctx, Hosts: h.hosts})
	h.evaluator.OwnLink = h.connector.OwnsProcess
	h.web = web.New(web.Options{Deps: h.deps, Context: h.ctx, Requests: h.approvals, Daemon: pageAccess{h},
		Devices: registry, Machines: h.shown})
	h.notify.SetDevices(h.web)
	h.member = h.newMember()
	h.server = h.newServer()
	h.tsHooks.OpenLaunches()
}

// acquireLock creates the folders and takes the lock that makes this the only daemon.
func (h *Daemon) acquireLock() error {
	if err := h.deps.Dirs.MakeRuntime(); err != nil {
		return err
	}
	if err := os.MkdirAll(h.deps.Dirs.State, 0o700); err != nil {
		// Deciding needs no state: a daemon that didn't start would leave every guard
		// open.
		h.deps.Problems.Raise("state", "nothing can be kept: "+err.Error(),
			"repair "+h.deps.Dirs.State+"; decisions go on meanwhile")
	}
	lock, err := daemonstart.AcquireLock(h.deps.Dirs)
	if err != nil {
		return err
	}
	h.lock = lock
	if h.given != nil {
		services.SweepState(h.deps)
		return nil // the keeper created the socket
	}
	if err := h.deps.Dirs.CheckSocket(); err != nil {
		return err
	}
	socket := h.deps.Dirs.Socket()
	// We hold the lock, so the process that created this socket is gone.
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		if _, errAside := files.SetAside(socket); errAside != nil { // a folder with something in it
			return fmt.Errorf("%s: %w", socket, err)
		}
	}
	services.SweepState(h.deps) // after the socket, which a killed daemon leaves behind
	return nil
}

// Close releases what New took. Run does it itself.
func (h *Daemon) Close() {
	h.cancel()
	if h.tsHooks != nil {
		h.tsHooks.Close()
	}
	if h.server != nil {
		h.server.Close()
	}
	if h.lock != nil {
		_ = h.lock.Stop()
	}
}

// ForgetProcesses drops what was remembered of the process table: for a
// program that exchanges it.
func (h *Daemon) ForgetProcesses() { h.callers.Forget() }
