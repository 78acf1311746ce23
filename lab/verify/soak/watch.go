package soak

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

// sample is one look at one agent: what its screen shows, and what hookmux says.
type sample struct {
	at     time.Time
	dialog bool
	inbox  bool // the inbox has a request of it
	says   map[string]bool
	words  string // what hookmux said, for display
	screen string
}

// The places where hookmux says that a session waits.
const (
	inPS     = "ps"
	inInbox  = "inbox"
	inPane   = "tmux pane"
	inWindow = "tmux window"
)

var places = []string{inPS, inInbox, inPane, inWindow}

// disagreement is a time in which a place said something other than the screen.
type disagreement struct {
	agent         string
	place         string
	dialog        bool // what the screen showed
	from          time.Time
	lasted        time.Duration
	samples       []sample
	personActions []string
}

func (d *disagreement) String() string {
	var b strings.Builder
	shows, says := "no dialog", "waiting"
	if d.dialog {
		shows, says = "a dialog", "not waiting"
	}
	fmt.Fprintf(&b, "%s: for %.1f s from %s the screen showed %s and %s said %s\n", d.agent, d.lasted.Seconds(),
		d.from.Format("15:04:05.0"), shows, d.place, says)
	for _, a := range d.personActions {
		fmt.Fprintf(&b, "  did %s\n", a)
	}
	last := ""
	for _, s := range d.samples {
		if s.words != last {
			fmt.Fprintf(&b, "  %s hookmux: %s\n", s.at.Format("15:04:05.0"), s.words)
			last = s.words
		}
	}
	if n := len(d.samples); n > 0 {
		for _, line := range strings.Split(d.samples[n/2].screen, "\n") {
			if line = strings.TrimRight(line, " "); line != "" {
				fmt.Fprintf(&b, "  | %s\n", line)
			}
		}
	}
	return b.String()
}

// comparison finds the times in which a place and the screen of one agent disagree.
type comparison struct {
	agent         string
	open          map[string]*disagreement
	done          []*disagreement
	personActions func() []string
}

// compareSample compares one sample.
func (c *comparison) compareSample(s sample) {
	for _, place := range places {
		wrong := s.says[place] != s.dialog
		// A request in the inbox waits for the user, whether or not the agent
		// shows its own dialog meanwhile.
		if s.inbox && s.says[place] {
			wrong = false
		}
		d := c.open[place]
		if d != nil && (!wrong || d.dialog != s.dialog) {
			d.lasted = s.at.Sub(d.from)
			c.done = append(c.done, d)
			delete(c.open, place)
			d = nil
		}
		if !wrong {
			continue
		}
		if d == nil {
			d = &disagreement{agent: c.agent, place: place, dialog: s.dialog, from: s.at}
			c.open[place] = d
		}
		d.samples = append(d.samples, s)
		if c.personActions != nil {
			d.personActions = c.personActions()
		}
	}
}

func (c *comparison) closeOpen(at time.Time) []*disagreement {
	for _, place := range places {
		if d := c.open[place]; d != nil {
			d.lasted = at.Sub(d.from)
			c.done = append(c.done, d)
		}
	}
	c.open = map[string]*disagreement{}
	return c.done
}

// watched holds what the watcher saw.
type watched struct {
	rounds    int
	dialogs   map[string]int // samples with a dialog, by agent
	slowest   time.Duration  // the longest round
	load      float64        // the highest load for each core
	differing []*disagreement
	errors    []string
}

// watchScreens looks at everything once each period.
func (r *run) watchScreens(ctx context.Context) *watched {
	w := &watched{dialogs: map[string]int{}}
	compared := map[string]*comparison{}
	for _, p := range r.panes {
		compared[p.name] = &comparison{agent: p.name, open: map[string]*disagreement{}, personActions: p.lastActions}
	}
	tick := time.NewTicker(r.options.Period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			for _, p := range r.panes {
				w.differing = append(w.differing, compared[p.name].closeOpen(time.Now())...)
			}
			return w
		case <-tick.C:
		}
		began := time.Now()
		samples, err := r.takeSamples(ctx)
		if ctx.Err() != nil {
			continue
		}
		if err != nil {
			w.errors = append(w.errors, err.Error())
			continue
		}
		w.rounds++
		w.slowest = max(w.slowest, time.Since(began))
		w.load = max(w.load, loadPerCore())
		for name, s := range samples {
			if s.dialog {
				w.dialogs[name]++
			}
			if err := r.film(name, s); err != nil {
				w.errors = append(w.errors, err.Error())
			}
			compared[name].compareSample(s)
		}
	}
}

// film appends a sample to a file, if all of them are wanted.
func (r *run) film(agent string, s sample) error {
	if r.options.Film == "" {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(r.options.Film, agent+".txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = fmt.Fprintf(file, "==== %s dialog %v inbox %v; %s\n%s\n", s.at.Format("15:04:05.0"), s.dialog, s.inbox,
		s.words, strings.TrimRight(s.screen, " \n"))
	return err
}

const screenEnd = "\x1fend of screen\x1f"

// takeSamples asks tmux once for all screens and marks, and the daemon for its lists.
func (r *run) takeSamples(ctx context.Context) (map[string]sample, error) {
	var args []string
	for i, p := range r.panes {
		if i > 0 {
			args = append(args, ";")
		}
		args = append(args, "capture-pane", "-p", "-J", "-t", p.pane, ";", "display-message", "-p", "-t", p.pane,
			screenEnd+"#{@hookmux_pane_status}|#{@hookmux_status}|#{pane_dead}|#{pane_title}"+screenEnd)
	}
	out, err := r.term.RunTmux(ctx, args...)
	if err != nil {
		return nil, err
	}
	at := time.Now()
	list, err := r.client.Sessions(ctx, client.SessionsParams{})
	if err != nil {
		return nil, err
	}
	waiting, err := r.client.Waiting(ctx, false)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(out, screenEnd)
	if len(parts) < 2*len(r.panes) {
		return nil, fmt.Errorf("tmux told of %d panes", len(parts)/2)
	}
	samples := map[string]sample{}
	for i, p := range r.panes {
		marks := strings.SplitN(parts[2*i+1], "|", 4)
		s := sample{
			at: at, screen: parts[2*i], dialog: p.dialogs.ShowsDialog(parts[2*i]),
			says: map[string]bool{
				inPane: marks[0] == wire.StatusWaiting, inWindow: marks[1] == wire.StatusWaiting,
			},
		}
		words := []string{"marks " + strings.Join(marks, " ")}
		for _, one := range list {
			if one.Agent == p.name && one.Ended == nil {
				s.says[inPS] = s.says[inPS] || one.Status == wire.StatusWaiting
				words = append(words, fmt.Sprintf("ps %s %s %q pane %s", one.ID[:min(8, len(one.ID))], one.Status,
					one.Tool, one.Pane))
			}
		}
		for _, item := range waiting {
			if item.Agent == p.name {
				s.says[inInbox] = true
				s.inbox = s.inbox || item.Status == wire.InboxPending
				words = append(words, fmt.Sprintf("inbox %s %s %s %q", item.ID, item.Status, item.Event, item.Shown))
			}
		}
		s.words = strings.Join(words, "; ")
		samples[p.name] = s
	}
	return samples, nil
}

// loadPerCore returns how many processes wait for each core, by the last minute; 0 if the machine
// doesn't report it.
func loadPerCore() float64 {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var load float64
	if _, err := fmt.Sscan(string(b), &load); err != nil {
		return 0
	}
	return load / float64(runtime.NumCPU())
}

// Report holds the results of a run.
type Report struct {
	Rounds  int
	Dialogs map[string]int // samples in which a dialog was visible
	Turns   map[string]map[string]int
	Load    float64       // the highest load for each core
	Slowest time.Duration // the longest round of looking
	Worst   map[string]time.Duration
	Limit   time.Duration
	// Exceptions are disagreements that lasted longer than the limit.
	Exceptions []string
	// Late are those that lasted longer than on a machine with nothing else to do,
	// and not longer than the limit.
	Late   []string
	Errors []string
}

// allowed is how long a place may lag behind the screen.
const allowed = 2 * time.Second

// mostSlack is how much longer it may take at most on a machine that has more to do
// than it can.
const mostSlack = 4

func (r *run) makeReport(w *watched) *Report {
	report := &Report{
		Rounds: w.rounds, Dialogs: w.dialogs, Turns: map[string]map[string]int{}, Load: w.load, Slowest: w.slowest,
		Worst: map[string]time.Duration{}, Errors: w.errors,
		Limit: time.Duration(float64(allowed) * min(max(1, w.load), mostSlack)),
	}
	for _, p := range r.panes {
		report.Turns[p.name] = p.turns
	}
	for _, d := range w.differing {
		key := d.agent + " " + d.place
		report.Worst[key] = max(report.Worst[key], d.lasted)
		switch {
		case d.lasted > report.Limit:
			report.Exceptions = append(report.Exceptions, d.String())
		case d.lasted > allowed:
			report.Late = append(report.Late, d.String())
		}
	}
	return report
}
