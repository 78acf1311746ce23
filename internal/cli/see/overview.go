package see

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// overview is the agents, what their sessions do, and what's wrong.
type overview struct {
	hooks    []agents.HookState
	sessions []wire.Session
	problems int
	daemon   bool
}

// print says what's here and what to do next. It starts nothing.
func (o *overview) print(app *cmdutil.App) {
	app.Say("%s", strings.TrimSpace(VersionLine))
	app.Say("agents    %s", agents.DescribeHookStates(o.hooks))
	app.Say("sessions  %s", describeSessions(o))
	if o.problems > 0 {
		app.Say("problems  %d", o.problems)
	}
	app.Say("")
	var rows [][]string
	for _, step := range o.nextSteps() {
		rows = append(rows, []string{"  " + step[0], step[1]})
	}
	text.Table(app.Stdout, rows, app.Columns())
}

func (o *overview) anyHooked() bool {
	return slices.ContainsFunc(o.hooks, func(h agents.HookState) bool { return h.Hooked })
}

// startable returns the agents that are here, those with hooks first.
func (o *overview) startable() []string {
	var hooked, bare []string
	for _, h := range o.hooks {
		if h.Hooked {
			hooked = append(hooked, h.Agent)
		} else {
			bare = append(bare, h.Agent)
		}
	}
	return append(hooked, bare...)
}

func takeOverview(ctx context.Context, app *cmdutil.App) (*overview, error) {
	hooks, err := agents.HookStates(app)
	if err != nil {
		return nil, err
	}
	o := &overview{hooks: hooks}
	for _, h := range hooks {
		if h.Wrong != "" {
			o.problems++
		}
	}
	c, err := app.RunningDaemon()
	if err != nil {
		return nil, err
	}
	info, err := c.Info(ctx)
	if err != nil {
		return o, nil // no daemon, no sessions
	}
	o.daemon = true
	o.problems += len(agents.WithoutHooks(info.Problems, hooks))
	if o.sessions, err = c.Sessions(ctx, client.SessionsParams{}); err != nil {
		return nil, err
	}
	return o, nil
}

// countSessions counts the sessions that are waiting, running, and neither.
func (o *overview) countSessions() (wait, run, rest int) {
	for i := range o.sessions {
		s := &o.sessions[i]
		switch {
		case s.Ended != nil:
		case s.WaitingSince != nil:
			wait++
		case s.Status == wire.StatusRunning:
			run++
		default:
			rest++
		}
	}
	return wait, run, rest
}

func describeSessions(o *overview) string {
	if !o.daemon {
		return "none; the daemon starts with the next hook"
	}
	wait, run, rest := o.countSessions()
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{wait, "waiting"}, {run, "running"}, {rest, "idle"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// nextSteps are commands that make sense now, the most urgent first.
func (o *overview) nextSteps() [][2]string {
	var steps [][2]string
	add := func(command, what string) { steps = append(steps, [2]string{command, what}) }
	wait, run, rest := o.countSessions()
	var bare, hooked []string
	for _, h := range o.hooks {
		if h.Hooked {
			hooked = append(hooked, h.Agent)
		} else {
			bare = append(bare, h.Agent)
		}
	}
	if wait > 0 {
		add("hookmux inbox", "see what's waiting for you, and answer it")
		add("hookmux jump --next", "go to the agent that has waited longest")
	}
	if o.problems > 0 {
		add("hookmux doctor", "see what's wrong and how to fix it")
	}
	switch {
	case len(o.hooks) == 0:
		add("hookmux install --help", "no agent found on PATH: install one (claude, codex, gemini …), then run setup")
	case len(hooked) == 0:
		add("hookmux setup", "hook "+strings.Join(bare, ", ")+" and turn on guards, step by step")
		add("hookmux run "+bare[0], "or try one session without changing any file")
	case wait+run+rest == 0:
		add(hooked[0], "start an agent as usual, then:")
	}
	if len(hooked) > 0 {
		add("hookmux ps", "see what every agent is doing")
		add("hookmux log -f", "follow events as they happen")
		if len(bare) > 0 {
			add("hookmux install "+strings.Join(bare, " "), "hook these too")
		}
		add("hookmux guard list", "see what's blocked in every agent")
	}
	if len(hooked) == 0 {
		add("hookmux up --demo", "look around the live view with recorded agents")
	}
	add("hookmux --help", "all commands")
	return steps
}
