package hub

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/sessions/resumeargs"
	"github.com/hookmux/hookmux/internal/sessions/resumestore"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/wire"
)

// remember writes down how a session is taken up again. It is called at each
// prompt, behind the corridor.
func (s *sessions) remember(one *state.Session) {
	a, ok := s.deps.Catalogue.Agent(one.Agent)
	if !ok || !s.switches.Load().resume[one.Agent] {
		return
	}
	// Only an id that the agent gave: mux0's lines name terminals.
	if one.Terminal == one.ID || !resumeargs.ValidID(one.ID) || one.Attended == event.AttendedNo {
		return
	}
	old, had := s.records.Get(one.Agent, one.ID)
	start := resumeargs.Start{Work: one.Cwd, Mode: one.Mode}
	record := resumestore.Record{
		Agent: one.Agent, Session: one.ID, Title: redact.Text(one.Title.Name()), At: one.LastEvent, From: old.From,
		Pane: one.Place.Pane, Mux: one.Place.Mux, Server: one.Place.Server, MuxPID: one.Place.MuxPID, TTY: one.Place.TTY,
	}
	if !one.Place.Shared && one.Place.PID > 0 {
		record.PID, record.Start = one.Place.PID, one.Place.Start
		shown, err := s.deps.Processes.Args(one.Place.PID)
		if err != nil || s.alive(one) == state.Gone {
			return // its flags cannot be known any more, nor whether it was a run of one prompt
		}
		if program, args, ok := resumeargs.FromProcess(a, shown); ok {
			start.Program = program
			start.Args, record.Run = launch.Strip(a, args)
		}
		if note, ok := resumeargs.Left(s.deps.Dirs.Runtime, one.Place.PID, one.Place.Start); ok && note.Agent == a.Name {
			// What the launcher knows is whole; a process may show a title of
			// its own instead.
			if note.Once {
				return
			}
			start.Args, record.Run = note.Args, note.Given
			if record.From == "" {
				record.From = note.Dir
			}
		}
		environ, _ := s.deps.Processes.Environ(one.Place.PID)
		record.Env = slices.DeleteFunc(resumeargs.Env(a, environ), s.ours)
		env := lookupList(environ)
		record.Run = record.Run || launch.ParseActive(env(launch.ActiveVariable)).Agent == a.Name
		if record.From == "" && one.TurnCount > 1 {
			record.From = env("PWD")
		}
	}
	if record.From == "" {
		record.From = one.Cwd
	}
	start.Dir = record.From
	plan, err := resumeargs.Resume(a, one.ID, start)
	if err != nil {
		if had && errors.Is(err, resumeargs.ErrOnce) {
			s.records.Forget(one.Agent, one.ID)
		}
		return
	}
	record.Argv, record.Dir = plan.Argv, plan.Dir
	s.whereItSits(&record)
	if err := s.records.Put(record); err != nil {
		s.deps.Problems.Raise("resume", "how a session is taken up again cannot be written down: "+err.Error(), "make room or repair "+s.deps.Dirs.State)
		return
	}
	s.deps.Problems.Mend("resume")
}

// ours tells a variable that points into hookmux's own places: the launcher set
// it and will do so again.
func (s *sessions) ours(variable string) bool {
	_, value, _ := strings.Cut(variable, "=")
	for _, dir := range []string{s.deps.Dirs.State, s.deps.Dirs.Runtime, s.deps.Dirs.Data} {
		if dir != "" && (value == dir || strings.HasPrefix(value, dir+"/")) {
			return true
		}
	}
	return false
}

// whereItSits names the spot so that another session in it can be told: a
// pane of this very tmux server, or a terminal with this very shell in it. The
// next server's or the next shell's is another one, though it may be called
// the same.
func (s *sessions) whereItSits(r *resumestore.Record) {
	table := s.deps.Processes
	switch {
	case r.Mux == "tmux" && r.Pane != "" && r.MuxPID > 0:
		if server, err := table.Lookup(r.MuxPID); err == nil {
			r.MuxStart = server.Start
		}
		r.Place = fmt.Sprintf("tmux %s %d.%d %s", r.Server, r.MuxPID, r.MuxStart, r.Pane)
	case r.Pane != "" && r.Mux != "" && r.Mux != "tmux":
		r.Place = fmt.Sprintf("%s %s %s", r.Mux, r.Server, r.Pane)
	case r.TTY != "" && r.PID > 0:
		p, err := table.Lookup(r.PID)
		if err != nil || p.SID <= 0 {
			return
		}
		if leader, err := table.Lookup(p.SID); err == nil {
			r.Place = fmt.Sprintf("tty %s %d.%d", r.TTY, leader.PID, leader.Start)
		}
	}
}

// claims are sessions that somebody is taking up right now.
type claims struct {
	mu  sync.Mutex
	all map[state.Key]claim
}

// claim is who takes a session up, and since when.
type claim struct {
	at time.Time
	by processKey
}

// claimLasts is how long it may take an agent until it reports itself.
const claimLasts = time.Minute

// held reports whether somebody is at it. Whoever ended meanwhile has given up.
func (c *claims) held(key state.Key, table proc.Table) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[key].stands(table)
}

func (c claim) stands(table proc.Table) bool {
	return time.Since(c.at) < claimLasts && (c.by.pid <= 0 || lifeOf(table, c.by) != state.Gone)
}

// hold claims a session; false when somebody else has.
func (c *claims) hold(key state.Key, by processKey, table proc.Table) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[key].stands(table) {
		return false
	}
	if c.all == nil || len(c.all) > 1024 {
		c.all = map[state.Key]claim{}
	}
	c.all[key] = claim{time.Now(), by}
	return true
}

// takenUp tells the book that a process takes a session up: it becomes the
// agent, and an agent may say nothing before its first prompt.
func (s *sessions) takenUp(r resumestore.Record, by processKey) {
	table := s.deps.Processes
	p, err := table.Lookup(by.pid)
	if err != nil {
		return
	}
	environ, _ := table.Environ(by.pid)
	where := s.hub.whereOf(caller{pid: p.PID, start: p.Start, tty: p.TTY}, event.Place{}, []byte(strings.Join(environ, "\x00")))
	s.note(s.book.Resumed(state.Key{Agent: r.Agent, ID: r.Session}, time.Now(), where, r.Dir, r.Title))
}

func (c *claims) drop(key state.Key) {
	c.mu.Lock()
	delete(c.all, key)
	c.mu.Unlock()
}

// running says why a session must not be taken up: it lives.
func (s *sessions) running(r resumestore.Record) string {
	key := state.Key{Agent: r.Agent, ID: r.Session}
	if one, ok := s.book.Get(key); ok {
		if one.Live() && s.alive(one) != state.Gone {
			if pane := one.Place.Pane; pane != "" {
				return "it is still running, in pane " + pane
			}
			return "it is still running"
		}
		return ""
	}
	if r.PID > 0 && lifeOf(s.deps.Processes, processKey{r.PID, r.Start}) == state.Alive {
		return fmt.Sprintf("its process %d still runs", r.PID)
	}
	return ""
}

func (s *sessions) record(r resumestore.Record) wire.ResumeRecord {
	out := wire.ResumeRecord{
		Session: r.Session, Agent: r.Agent, Title: r.Title, Argv: r.Argv, Run: r.Run, Dir: r.Dir, Env: r.Env,
		Pane: r.Pane, Server: r.Server, At: r.At, Live: s.running(r),
	}
	if r.Mux != "tmux" {
		out.Pane, out.Server = "", ""
	}
	if one, ok := s.book.Get(state.Key{Agent: r.Agent, ID: r.Session}); ok && one.Title.Name() != "" {
		out.Title = redact.Text(one.Title.Name())
	}
	if out.Pane != "" && r.MuxPID > 0 && lifeOf(s.deps.Processes, processKey{r.MuxPID, r.MuxStart}) == state.Gone {
		out.Pane, out.Moved = "", true // another server's pane of that name is not its own
	}
	if out.Live == "" && s.claims.held(state.Key{Agent: r.Agent, ID: r.Session}, s.deps.Processes) {
		out.Live = "it was taken up a moment ago"
	}
	return out
}

func lookupList(environ []string) func(string) string {
	return func(name string) string {
		for _, one := range environ {
			if key, value, ok := strings.Cut(one, "="); ok && key == name {
				return value
			}
		}
		return ""
	}
}
