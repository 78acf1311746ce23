package sessions

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/tmux"
)

// Terminals that show program status hear what agents in them and in tmux do, unless the
// agent says it itself, and forget it when that is over.
func TestTerminalsAreTold(t *testing.T) {
	all := newTracker(func(*event.Event) (*state.TerminalReport, error) { return nil, nil })
	all.setSwitches(testSwitches())
	deps := services.Deps{Catalogue: agent.Builtin(), Redactor: redact.New(), Log: slog.New(slog.DiscardHandler),
		Processes: proctest.New(
			proctest.Node{PID: 10, Name: "gemini", Env: []string{"TERM_PROGRAM=iTerm.app"}},
			proctest.Node{PID: 11, Name: "gemini", Env: []string{"TERM_PROGRAM=xterm"}},
			proctest.Node{PID: 12, Name: "codex", Env: []string{"TERM_PROGRAM=iTerm.app"}},
			proctest.Node{PID: 20, Name: "tmux", Env: []string{"CMUX_SURFACE_ID=7"}},
		)}
	d := newTerminalDisplay(t.Context(), deps, all)
	var written []string
	d.write = func(tty, text string) error {
		written = append(written, tty+" "+strings.TrimSuffix(strings.TrimPrefix(text, "\x1b]7501;"), "\x1b\\"))
		return nil
	}
	attached := []tmux.Client{{TTY: "/dev/pts/20", PID: 20, Terminal: "ghostty 1.3"}, {TTY: "/dev/pts/21", Terminal: "xterm"},
		{TTY: "/dev/pts/22", Terminal: "iTerm2 3.6.9"}}
	d.clients = func(context.Context, string) ([]tmux.Client, error) {
		if len(attached) == 0 {
			return nil, errors.New("nobody")
		}
		return attached, nil
	}
	at := time.Now()
	send := func(name, session string, kind event.Kind, place event.Place, more func(*event.Event)) {
		at = at.Add(time.Second)
		ev := &event.Event{Agent: name, Session: session, Kind: kind, Native: "x", Time: at, Where: place, Prompt: "Fix it"}
		if more != nil {
			more(ev)
		}
		all.applyEvent(ev, 0)
		for _, c := range all.takeChanges() {
			d.show(c.Key, c.Session)
		}
	}
	title := ":title=" + base64.StdEncoding.EncodeToString([]byte("Fix it"))
	iterm, xterm := event.Place{PID: 10, TTY: "/dev/pts/10"}, event.Place{PID: 11, TTY: "/dev/pts/11"}
	inTmux := event.Place{PID: 12, TTY: "/dev/pts/12", Mux: "tmux", Pane: "%1", Server: "/s"}
	d.setMode("auto")
	send("gemini", "g1", event.TurnStart, iterm, nil)
	send("gemini", "g1", event.ToolBefore, iterm, func(ev *event.Event) {
		ev.Tool = &event.Tool{Name: "run_shell_command", Kind: event.Shell, CallID: "1", Commands: []string{"ls"}}
	})
	send("gemini", "g2", event.TurnStart, xterm, nil)
	send("codex", "c1", event.TurnStart, event.Place{PID: 12, TTY: "/dev/pts/12"}, nil) // it says so itself
	send("codex", "c2", event.TurnStart, inTmux, nil)
	send("gemini", "g1", event.TurnEnd, iterm, func(ev *event.Event) { ev.Prompt, ev.Message = "", "All done" })
	d.setMode("off")
	done := ":msg=" + base64.StdEncoding.EncodeToString([]byte("All done"))
	want := []string{
		"/dev/pts/10 state=working:id=hookmux/gemini-g1:app=gemini" + title,
		"/dev/pts/20 state=working:id=hookmux/codex-c2:app=codex" + title,
		"/dev/pts/22 state=working:id=hookmux/codex-c2:app=codex" + title,
		"/dev/pts/10 state=done:id=hookmux/gemini-g1:app=gemini" + title + done,
	}
	if len(written) != len(want)+3 || !slices.Equal(written[:len(want)], want) {
		t.Fatalf("written was\n%s\nwant\n%s\nand three that clear it", strings.Join(written, "\n"), strings.Join(want, "\n"))
	}
	for _, line := range written[len(want):] {
		if !strings.Contains(line, "state=clear:id=hookmux/") {
			t.Errorf("at the end: %q, want a record to be cleared", line)
		}
	}
	// Everybody is told where you say so, and who attaches later at the next look.
	written = nil
	d.setMode("on")
	attached = append(attached, tmux.Client{TTY: "/dev/pts/23"})
	d.showAll()
	d.setMode("off")
	for _, tty := range []string{"/dev/pts/11", "/dev/pts/21", "/dev/pts/23"} {
		if !slices.ContainsFunc(written, func(line string) bool { return strings.HasPrefix(line, tty+" state=working") }) {
			t.Errorf("%s was not told: %q", tty, written)
		}
	}
}

func testSwitches() *switches {
	now := &switches{catalogue: agent.Builtin(), rules: map[string]state.Rules{}}
	for _, a := range agent.Builtin().Agents() {
		now.rules[a.Name] = state.Rules{Spec: &a.Status}
	}
	return now
}
