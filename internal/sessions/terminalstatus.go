package sessions

import (
	"cmp"
	"context"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/tty"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/tmux"
)

// terminalDisplay reports to terminals what sessions do, in the agents' place: many agents
// don't, and tmux passes on nothing of what the others report.
type terminalDisplay struct {
	ctx     context.Context
	deps    services.Deps
	tracker *tracker
	write   func(tty, text string) error
	clients func(ctx context.Context, socket string) ([]tmux.Client, error)

	mode    string
	changes chan terminalChange
	stopped chan struct{}
}

// terminalChange is the news that terminals get of a session.
type terminalChange struct {
	key    state.Key
	report ProgramStatus
	place  event.Place
	itself bool // its own terminal hears it from the agent
	again  bool // nothing changed, but other terminals may be there now
}

func newTerminalDisplay(ctx context.Context, deps services.Deps, t *tracker) *terminalDisplay {
	return &terminalDisplay{ctx: ctx, deps: deps, tracker: t, mode: "off", write: tty.Write,
		clients: func(ctx context.Context, socket string) ([]tmux.Client, error) {
			return (&tmux.Server{Socket: socket}).Clients(ctx)
		}}
}

// setMode chooses which terminals get reports: off, auto or on.
func (d *terminalDisplay) setMode(mode string) {
	if mode == d.mode {
		return
	}
	if d.changes != nil { // those that were told forget it
		close(d.changes)
		<-d.stopped
		d.changes = nil
	}
	d.mode = mode
	if mode == "off" {
		return
	}
	d.changes, d.stopped = make(chan terminalChange, maxChangesBehind), make(chan struct{})
	go d.tell(d.changes, d.stopped, mode == "on")
	d.showAll()
}

func (d *terminalDisplay) showAll() {
	if d.changes == nil {
		return
	}
	for _, one := range d.tracker.sessions.Snapshot() {
		c := d.change(one)
		c.again = true
		d.send(c)
	}
}

// show reports a session; nil means that it's gone.
func (d *terminalDisplay) show(key state.Key, one *state.Session) {
	switch {
	case d.changes == nil:
	case one == nil:
		d.send(terminalChange{key: key, report: clearReport(key)})
	default:
		d.send(d.change(one))
	}
}

func (d *terminalDisplay) send(c terminalChange) {
	select {
	case d.changes <- c:
	default: // the next tick tells all of it again
	}
}

// programStates maps our statuses to the protocol's; others aren't reported.
var programStates = map[state.Status]string{
	state.NeverRan: programIdle, state.Idle: programIdle, state.Running: programWorking,
	state.WaitingForYou: programBlocked, state.Success: programDone, state.Failed: programFailed,
}

func (d *terminalDisplay) change(one *state.Session) terminalChange {
	c := terminalChange{key: one.Key, place: one.Place, report: clearReport(one.Key)}
	a, known := d.deps.Catalogue.Agent(one.Agent)
	c.itself = known && a.TellsTerminal(one.Version)
	now, shown := programStates[one.Status]
	if !shown || !one.Live() && !one.CutOff {
		return c
	}
	c.report.State, c.report.App, c.report.Title = now, one.Agent, d.deps.Redactor.Text(one.Title.Name())
	switch now {
	case programBlocked:
		c.report.Kind = programPermission
		if list := one.WaitingList(); len(list) > 0 {
			c.report.Message = d.deps.Redactor.Text(list[0].What)
			if list[0].Kind == event.Question {
				c.report.Kind = programQuestion
			}
		}
	case programDone, programFailed:
		if one.Turn != nil {
			c.report.Message = d.deps.Redactor.Text(cmp.Or(one.Turn.Error, one.Turn.Summary))
		}
	}
	return c
}

// clearReport has a terminal forget a session.
func clearReport(key state.Key) ProgramStatus {
	return ProgramStatus{State: programClear, ID: []string{"hookmux", key.Agent + "-" + key.ID}}
}

// tell writes what changed until no more changes come; then it clears the terminals.
func (d *terminalDisplay) tell(changes <-chan terminalChange, stopped chan<- struct{}, all bool) {
	defer close(stopped)
	type told struct {
		text      string
		place     event.Place
		terminals map[string]string // what each heard
	}
	known := map[state.Key]told{}
	forget := func(key state.Key, terminals map[string]string) {
		gone := clearReport(key)
		for tty := range terminals {
			_ = d.write(tty, gone.Sequence()) // it may be gone itself
		}
	}
	for c := range changes {
		text, before := c.report.Sequence(), known[c.key]
		if !c.again && text == before.text && c.place == before.place {
			continue // what a session does with which tool isn't told
		}
		if c.report.State == programClear {
			forget(c.key, before.terminals)
			delete(known, c.key)
			continue
		}
		now := told{text, c.place, map[string]string{}}
		for _, tty := range d.terminalsOf(&c, all) {
			if before.terminals[tty] == text || d.write(tty, text) == nil {
				now.terminals[tty] = text
			}
			delete(before.terminals, tty)
		}
		forget(c.key, before.terminals)
		known[c.key] = now
	}
	for key, one := range known {
		forget(key, one.terminals)
	}
}

// terminalsOf returns the terminals that show a session: in tmux those that are attached to
// its server, else its own.
func (d *terminalDisplay) terminalsOf(c *terminalChange, all bool) []string {
	var list []string
	switch {
	case c.place.Mux == "tmux":
		clients, err := d.clients(d.ctx, c.place.Server)
		if err != nil {
			return nil // no server, or nobody at it
		}
		for _, client := range clients {
			if all || showsProgramStatus(client.Terminal) || d.isKnown(client.PID) {
				list = append(list, client.TTY)
			}
		}
	case c.place.Mux == "" && c.place.TTY != "" && !c.itself && (all || d.isKnown(c.place.PID)):
		list = append(list, c.place.TTY)
	}
	return list
}

// isKnown reports whether a process runs in a terminal that shows program status, as its
// environment says.
func (d *terminalDisplay) isKnown(pid int) bool {
	if pid <= 0 {
		return false
	}
	environ, err := d.deps.Processes.Environ(pid)
	if err != nil {
		return false
	}
	variables := paths.GetenvFrom(environ)
	return variables("CMUX_SURFACE_ID") != "" || showsProgramStatus(variables("TERM_PROGRAM"))
}

// showsProgramStatus reports whether a terminal is one that shows program status, by what
// it calls itself.
func showsProgramStatus(terminal string) bool {
	name, _, _ := strings.Cut(strings.ToLower(terminal), " ")
	switch name {
	case "iterm.app", "iterm2", "cmux", "rex", "tuios":
		return true
	}
	return false
}
