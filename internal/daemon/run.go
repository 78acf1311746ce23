package daemon

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/services"
)

// Run listens and serves until ctx ends or the daemon is stopped. It returns when everything
// acknowledged is in the journal or safe on disk.
//
// Start: the socket is open before anything runs, so that hooks can queue up; then the recorder
// (it stores what an earlier daemon left), sessions, approvals, and last the server. Stop: see
// shutDown.
func (h *Daemon) Run(ctx context.Context) error {
	defer h.Close()
	if err := h.server.Listen(); err != nil {
		return err
	}
	if h.person { // anybody else may have chosen the environment
		if err := h.deps.Dirs.Remember(); err != nil {
			h.deps.Problems.Raise("places",
				fmt.Sprintf("the places of settings could not be noted: %v", err),
				"a daemon that a hook starts may look for settings in ~/.config instead")
		}
	}
	h.lock.Ready()
	for _, who := range daemonstart.Bypassed(h.deps.Dirs) {
		h.deps.Problems.Raise("lock:"+who, who, "look at what that process is, and end it")
	}
	var recording, following, serving services.Background
	recording.Go(func() { h.recorder.Run(h.ctx) })
	go h.sessions.Run() // sessions.Stop waits for it
	following.Go(h.approvals.RecallDecisions)
	following.Go(func() { h.approvals.Run(h.ctx) })
	following.Go(func() { h.notify.Run(h.ctx) })
	following.Go(func() { h.web.Run(h.ctx) })
	following.Go(func() { h.connector.Run(h.ctx) })
	following.Go(func() { h.selection.Refresh("") }) // begins to load TypeScript hooks
	following.Go(func() { h.usage.Run(h.ctx) })
	following.Go(func() { h.telemetry.Run(h.ctx) })
	h.member.Run()
	following.Go(func() { h.watchSocket(h.ctx) })
	following.Go(func() { h.watchRemoved(h.ctx) })
	serving.Go(h.server.Serve)
	if h.given != nil {
		go h.watchKeeper()
	}
	h.deps.Log.Info("daemon is up", "pid", os.Getpid(), "version", h.version, "socket", h.deps.Dirs.Socket())

	why := "the context ended"
	select {
	case <-ctx.Done():
	case why = <-h.stop:
	}
	h.deps.Log.Info("daemon stops", "why", why)
	h.shutDown(&recording, &following, &serving)
	h.deps.Log.Info("daemon is down", "events", h.pipeline.Counts().Events)
	return nil
}

// endWithin bounds the end of everything but the recorder. A handler that
// ignores SIGTERM is killed after one second.
var endWithin = 2 * time.Second

// shutDown stops the services in this order:
//  1. no new connection is accepted;
//  2. calls that wait for the user are hung up on, which their client takes as "ask the next
//     daemon", never as a yes; short calls finish;
//  3. everything else that runs is cancelled and waited for, with one limit for all: anything
//     that waits for the next daemon waits for this, too;
//  4. the files of TypeScript hooks end, and what they did is recorded;
//  5. the recorder stores what it has, sessions end, and the files on disk are closed.
func (h *Daemon) shutDown(recording, following, serving *services.Background) {
	h.server.StopAccepting(h.lock.Lost()) // then the socket there is another daemon's
	h.approvals.EndRequests()
	h.server.FinishCalls(2 * time.Second)
	h.cancel()
	h.server.HangUp()

	ending, release := context.WithTimeout(context.Background(), endWithin)
	defer release()
	for _, one := range []struct {
		what    string
		running *services.Background
	}{{"connections", serving}, {"services", following}, {"background work", h.deps.Background}} {
		if !one.running.Wait(ending) {
			h.deps.Log.Warn("what does not end is left behind", "what", one.what)
		}
	}
	if err := h.selection.WaitForHandlers(ending); err != nil {
		h.deps.Log.Warn("handlers still running were left behind", "error", err)
	}

	h.tsHooks.Close()
	h.recorder.Stop()
	storing, enough := context.WithTimeout(context.Background(), storeWithin)
	defer enough()
	if !recording.Wait(storing) {
		h.deps.Log.Warn("events are left in the intake for the next daemon")
	}
	if !h.sessions.Stop(storing) {
		h.deps.Log.Warn("what does not end is left behind", "what", "sessions")
	}
	h.recorder.Close()
	h.approvals.Close()
}

// storeWithin bounds how long a daemon that ends writes to the journal. What is left then is in the
// intake, where the next daemon finds it.
const storeWithin = 20 * time.Second

// watchSocket ends a daemon that can't be reached any more: its folder was removed, or its lock
// moved aside. Another daemon may be running already. It also opens and closes the socket for
// containers.
func (h *Daemon) watchSocket(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	defer h.serveContainers(false)
	h.serveContainers(h.selection.Config.Settings().Choice(config.Containers) == "on")
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if h.lostSocketOrLock() {
				h.Stop("its folder " + h.deps.Dirs.Runtime + " was removed or replaced")
				return
			}
			h.serveContainers(h.selection.Config.Settings().Choice(config.Containers) == "on")
		}
	}
}

// watchKeeper ends a daemon whose keeper has ended: the next keeper doesn't know it.
func (h *Daemon) watchKeeper() {
	_, _ = h.given.Conn.Read(make([]byte, 1)) // it never says anything
	h.Stop("the system service ended")
}

// lostSocketOrLock reports whether callers find another lock than this daemon's, or
// something other than its socket.
func (h *Daemon) lostSocketOrLock() bool { return h.lock.Lost() || !h.server.InPlace() }

// Stop asks the daemon to end.
func (h *Daemon) Stop(why string) {
	select {
	case h.stop <- why:
	default:
	}
}
