package sessions

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/launch/resumeargs"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/store"
	"github.com/hookmux/hookmux/internal/wire"
)

// resumer knows how sessions are resumed.
type resumer struct {
	deps     services.Deps
	settings SettingsSource
	tracker  *tracker
	panes    *paneFinder
	records  *store.Store
	claims   claimList
	unread   bool // some records could not be read
}

// recordSession writes down how a session is resumed. It is called at each
// prompt, after the agent has its answer.
func (r *resumer) recordSession(one *state.Session) {
	a, ok := r.deps.Catalogue.Agent(one.Agent)
	if !ok || !r.tracker.switches.Load().resume[one.Agent] {
		return
	}
	id := ownID(one)
	if !resumeargs.ValidID(id) || one.Attended == event.AttendedNo {
		return
	}
	old, had := r.records.Get(one.Agent, id)
	start := resumeargs.Start{Work: one.Cwd, Mode: one.Mode}
	record := store.Record{
		Agent: one.Agent, Session: id, Title: r.deps.Redactor.Text(one.Title.Name()), At: one.LastEvent,
		From: old.From,
		Pane: one.Place.Pane, Mux: one.Place.Mux, Server: one.Place.Server, MuxPID: one.Place.MuxPID,
		TTY: one.Place.TTY, Shared: one.Place.Shared,
	}
	if !one.Place.Shared && one.Place.PID > 0 && !r.readProcess(a, one, &start, &record) {
		return
	}
	if record.From == "" {
		record.From = one.Cwd
	}
	start.Dir = record.From
	plan, err := resumeargs.Resume(a, id, start)
	if err != nil {
		if had && errors.Is(err, resumeargs.ErrOnce) {
			r.records.Forget(one.Agent, id)
		}
		return
	}
	if plan.Dir == "" && one.Terminal != "" {
		return // a line about a terminal names no folder, and its process did not tell either
	}
	record.Argv, record.Dir = plan.Argv, plan.Dir
	r.describePlace(&record)
	if err := r.records.Put(record); err != nil {
		r.deps.Problems.Raise("resume",
			"how a session is resumed cannot be written down: "+err.Error(),
			"make room or repair "+r.deps.Dirs.State)
		return
	}
	r.deps.Problems.Clear("resume")
}

// ownID returns the id that the agent itself gave a session: reports about terminals name
// terminals, and the agent's id beside it if they know one.
func ownID(one *state.Session) string {
	if one.Terminal == one.ID {
		return one.AgentID
	}
	return one.ID
}

// recordKey returns the key under which a session's record is kept.
func (r *resumer) recordKey(key state.Key) state.Key {
	if one, ok := r.tracker.sessions.Get(key); ok {
		key.ID = ownID(one)
	}
	return key
}

// readProcess reads off a session's process how it was started. It is false when
// there is nothing to record: the process is gone, or is a run of one prompt.
func (r *resumer) readProcess(a *agent.Agent, one *state.Session, start *resumeargs.Start,
	record *store.Record) bool {
	record.PID, record.Start = one.Place.PID, one.Place.Start
	shown, err := r.deps.Processes.Args(one.Place.PID)
	if err != nil || sessionLife(r.deps.Processes, one) == state.Gone {
		return false // neither its flags nor whether it was a run of one prompt can be known any more
	}
	if program, args, ok := resumeargs.FromProcess(a, shown); ok {
		start.Program = program
		start.Args, record.Run = launch.Strip(a, args)
	}
	note, ok := resumeargs.ReadNote(r.deps.Dirs.OpenRuntime(), one.Place.PID, one.Place.Start)
	if ok && note.Agent == a.Name {
		// What the launcher noted is complete; a process may show a title of its
		// own instead of its arguments.
		if note.Once {
			return false
		}
		start.Args, record.Run = note.Args, note.Given
		if record.From == "" {
			record.From = note.Dir
		}
	}
	environ, _ := r.deps.Processes.Environ(one.Place.PID)
	record.Env = slices.DeleteFunc(resumeargs.Env(a, environ), r.isOwnVariable)
	env := paths.GetenvFrom(environ)
	record.Run = record.Run || launch.ParseActive(env(launch.ActiveVariable)).Agent == a.Name
	if record.From == "" && (one.TurnCount > 1 || one.Terminal != "") {
		record.From = env("PWD")
	}
	return true
}

// isOwnVariable reports whether a variable points into hookmux's own places: the
// launcher set it and will do so again.
func (r *resumer) isOwnVariable(variable string) bool {
	_, value, _ := strings.Cut(variable, "=")
	for _, dir := range []string{r.deps.Dirs.OpenState(), r.deps.Dirs.OpenRuntime(), r.deps.Dirs.Data} {
		if dir != "" && (value == dir || strings.HasPrefix(value, dir+"/")) {
			return true
		}
	}
	return false
}

// describePlace names a session's place so that another session in it is
// recognised: a pane of this very tmux server, or a terminal with this very
// shell in it. The next server's or the next shell's is another place, though it
// may have the same name.
func (r *resumer) describePlace(record *store.Record) {
	table := r.deps.Processes
	switch {
	case record.Mux == "tmux" && record.Pane != "" && record.MuxPID > 0:
		if server, err := table.Lookup(record.MuxPID); err == nil {
			record.MuxStart = server.Start
		}
		record.Place = fmt.Sprintf("tmux %s %d.%d %s", record.Server, record.MuxPID, record.MuxStart, record.Pane)
	case record.Pane != "" && record.Mux != "" && record.Mux != "tmux":
		record.Place = fmt.Sprintf("%s %s %s", record.Mux, record.Server, record.Pane)
	case record.TTY != "" && record.PID > 0:
		p, err := table.Lookup(record.PID)
		if err != nil || p.SID <= 0 {
			return
		}
		if leader, err := table.Lookup(p.SID); err == nil {
			record.Place = fmt.Sprintf("tty %s %d.%d", record.TTY, leader.PID, leader.Start)
		}
	}
}

// claimRecord lets a process resume a session; false if another one does. The process
// becomes the agent, and an agent may report nothing before its first prompt, so the state
// machine learns it here.
func (r *resumer) claimRecord(record store.Record, by processKey) bool {
	key := state.Key{Agent: record.Agent, ID: record.Session}
	table := r.deps.Processes
	if !r.claims.claimSession(key, by, table) {
		return false
	}
	p, err := table.Lookup(by.pid)
	if err != nil {
		return true
	}
	environ, _ := table.Environ(by.pid)
	who := Process{PID: p.PID, Start: p.Start, TTY: p.TTY}
	where := r.panes.locateProcess(who, event.Place{}, []byte(strings.Join(environ, "\x00")))
	r.tracker.noteChange(r.tracker.sessions.Resumed(key, time.Now(), where, record.Dir, record.Title))
	return true
}

// runningReason says why a session must not be resumed: it lives.
func (r *resumer) runningReason(record store.Record) string {
	if one, ok := r.tracker.sessions.Get(state.Key{Agent: record.Agent, ID: record.Session}); ok {
		if one.Live() && sessionLife(r.deps.Processes, one) != state.Gone {
			if pane := one.Place.Pane; pane != "" {
				return "it is still running, in pane " + pane
			}
			return "it is still running"
		}
		return ""
	}
	if record.PID > 0 && processLife(r.deps.Processes, processKey{record.PID, record.Start}) == state.Alive {
		return fmt.Sprintf("its process %d still runs", record.PID)
	}
	return ""
}

// claimedReason says that the session is already being resumed.
const claimedReason = "it was resumed a moment ago"

// recordInfo returns a record as clients see it.
func (r *resumer) recordInfo(record store.Record) wire.ResumeRecord {
	key := state.Key{Agent: record.Agent, ID: record.Session}
	out := wire.ResumeRecord{
		Session: record.Session, Agent: record.Agent, Title: record.Title, Argv: record.Argv, Run: record.Run,
		Dir: record.Dir, Env: record.Env, Pane: record.Pane, Server: record.Server, At: record.At,
		Live: r.runningReason(record), Served: record.Shared,
	}
	if record.Mux != "tmux" {
		out.Pane, out.Server = "", ""
	}
	if one, ok := r.tracker.sessions.Get(key); ok && one.Title.Name() != "" {
		out.Title = r.deps.Redactor.Text(one.Title.Name())
	}
	server := processKey{record.MuxPID, record.MuxStart}
	if out.Pane != "" && record.MuxPID > 0 && processLife(r.deps.Processes, server) == state.Gone {
		out.Pane, out.Moved = "", true // another server's pane of that name is not its own
	}
	if out.Live == "" && r.claims.isClaimed(key, r.deps.Processes) {
		out.Live = claimedReason
	}
	return out
}

// offeredRecords returns the records of agents whose switches are on.
func (r *resumer) offeredRecords() []store.Record {
	on := r.tracker.switches.Load().resume
	return slices.DeleteFunc(r.records.List(), func(record store.Record) bool { return !on[record.Agent] })
}

// offeredRecord returns the record of a session, if it may be resumed.
func (r *resumer) offeredRecord(key state.Key) (store.Record, bool) {
	key = r.recordKey(key)
	record, ok := r.records.Get(key.Agent, key.ID)
	return record, ok && r.tracker.switches.Load().resume[key.Agent]
}

// whyNotResumable says why a session has no record.
func (r *resumer) whyNotResumable(key state.Key) string {
	a, known := r.deps.Catalogue.Agent(key.Agent)
	settings := r.settings.Settings()
	switch {
	case !known || a.Resume == nil:
		return key.Agent + " has no way to resume a session that hookmux knows"
	case !settings.On("status", key.Agent):
		return fmt.Sprintf("its status is off; `hookmux config set status.%s on`", key.Agent)
	case !settings.On("resume", key.Agent):
		return fmt.Sprintf("resume is off for %s; turn it on with `hookmux config set resume.%s on`, from the next prompt on", key.Agent,
			key.Agent)
	case !resumeargs.ValidID(key.ID):
		return "its id did not come from the agent"
	}
	if one, ok := r.tracker.sessions.Get(key); ok && one.Terminal == one.ID {
		if one.AgentID == "" {
			return "only lines about its terminal tell of it, and none named a command that resumes it"
		}
		return "it had no prompt since resume was switched on, or its process did not tell its folder; by hand: " +
			strings.Join(commandFor(a, one.AgentID), " ")
	}
	return "nothing was recorded: it had no prompt since resume was switched on, or it is a run of one prompt"
}

// commandFor takes a session up again, as the agent's entry has it.
func commandFor(a *agent.Agent, id string) []string {
	plan, err := resumeargs.Resume(a, id, resumeargs.Start{})
	if err != nil {
		return nil
	}
	return plan.Argv
}

// dropSwitchedOff deletes the records of agents whose switches are off.
func (r *resumer) dropSwitchedOff() {
	on := r.tracker.switches.Load().resume
	r.records.Purge(func(record store.Record) bool { return on[record.Agent] })
}

// keepRecords is how long a session that had no prompt can be resumed.
const keepRecords = 30 * 24 * time.Hour

// dropOld deletes the records of sessions that ended long ago. A closed pane or window
// is no reason: it may have been closed by accident.
func (r *resumer) dropOld(now time.Time) {
	r.records.Purge(func(record store.Record) bool {
		return now.Sub(record.At) < keepRecords || r.runningReason(record) != ""
	})
}

// retryRead tries again to read records that couldn't be read: they may have been repaired.
func (r *resumer) retryRead() {
	if r.unread && r.records.Reload() == nil {
		r.unread = false
		r.deps.Problems.Clear("resume")
	}
}
