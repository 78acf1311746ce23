package checks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// What you see of an agent at a terminal: is it shown as running, waiting, stopped and gone when it
// is, and does `hookmux resume` resume the same conversation?

func statusGroup() CheckGroup {
	check := func(id, proves string, within time.Duration, broken testbed.Breakage, applies func(Subject) bool) Check {
		return Check{
			ID: "status-" + id, Proves: proves, Runs: []string{"status"}, Breakage: broken,
			Applies:  func(s Subject) bool { return wholeAgent(s) && applies(s) },
			Evaluate: func(p *Proof, _ Subject) Result { return evaluateMoment(p.Of("status"), id, within) },
		}
	}
	always := func(Subject) bool { return true }
	return CheckGroup{
		Runs: []AgentRun{{
			Name: "status", What: "a session that is prompted, stopped, killed and taken up again", Execute: runStatus,
			AtTerminal: func(*agent.Agent, drivers.Driver) bool { return true },
			Cannot: func(_ *agent.Agent, d drivers.Driver) string {
				if d.TUI == nil {
					return "no interactive start that works offline is known"
				}
				return ""
			},
		}},
		Checks: []Check{
			check("running", "a session is shown as running after a prompt", 0, noStatus, always),
			check("waits", "a session is shown as waiting while its agent asks", 0, noStatus,
				func(s Subject) bool { return s.Driver.AsksInStatus }),
			check("esc", "a session interrupted during a call stops showing as running within two seconds", 2*time.Second, noStatus, always),
			check("pane", "a session is found in its tmux pane", 0, otherPane, always),
			check("killed", "a killed session shows as ended within a second", time.Second, immortal, always),
			check(
				"resume",
				"`hookmux resume` continues the same conversation",
				0,
				noResume,
				func(s Subject) bool { return s.Agent.Resume != nil && s.Driver.NoResume == "" },
			),
		},
	}
}

var (
	noStatus = testbed.Breakage{Name: "no-status", What: "a daemon that follows no status", Settings: `{"status": "off"}`}
	noResume = testbed.Breakage{
		Name:     "no-resume",
		What:     "a daemon that records nothing to take up",
		Settings: `{"resume": "off"}`,
	}
	immortal  = testbed.Breakage{Name: "immortal", What: "a daemon that does not see processes end", Immortal: true}
	otherPane = testbed.Breakage{Name: "other-pane", What: "an agent that was told another pane", Pane: "%99"}
)

func evaluateMoment(e *testbed.Evidence, id string, within time.Duration) Result {
	m, tried := e.Status[id]
	switch {
	case !tried && e.Err != nil:
		return UnsureBecause("the turn did not get that far: %v", e.Err)
	case !tried:
		return UnsureBecause("it did not come so far")
	case !m.Seen:
		return FailsBecause("look at the events of the act with --keep, and at daemon.log",
			"not seen within %s; instead: %s", m.Took.Round(10*time.Millisecond), m.Got)
	case within > 0 && m.Took > slack*within:
		return FailsBecause("how it is noticed takes too long", "took %s", m.Took.Round(10*time.Millisecond))
	case within > 0 && m.Took > within:
		return UnsureBecause("took %s; try it again when the machine has less to do", m.Took.Round(10*time.Millisecond))
	}
	return HoldsBecause("after %s", m.Took.Round(10*time.Millisecond))
}

// statusRun is one run about status under way.
type statusRun struct {
	st *testbed.TestBed
	t  *testbed.Terminal
	c  *client.Client
	id string
}

const (
	firstWords = "Remember the word hookmux-verify-heliotrope and run it"
	laterWords = "Now go on"
)

func runStatus(ctx context.Context, st *testbed.TestBed) error {
	st.Evidence.Status = map[string]testbed.Moment{}
	settings := map[string]string{"resume": "on"}
	if s := st.Breakage; s != nil && s.Settings != "" {
		if err := json.Unmarshal([]byte(s.Settings), &settings); err != nil {
			return err
		}
	}
	if err := drivers.WriteJSON(filepath.Join(st.Dirs.Config, "config.json"), settings); err != nil {
		return err
	}
	long := st.Table.Shell.Call("touch ran-long; sleep 40")
	if st.Driver.Escalate != nil && st.Driver.AsksInStatus {
		long = st.Driver.Escalate(long)
	}
	st.Model.SetScenario(st.Run, model.Scenario{
		Steps: append(testbed.CallSteps(long), model.Step{Say: testbed.LastWords}),
		Named: map[string][]model.Step{
			"slow":  {{Say: "Too late.", Delay: 40 * time.Second}},
			"again": {{Say: "I went on."}},
		},
	})
	if err := st.StartDaemonWithHooks(nil); err != nil {
		return err
	}
	if st.Driver.AsksInStatus {
		st.Env = append(st.Env, st.Driver.StrictEnv...)
	}
	st.InPane = true
	st.Patience *= 4 // three turns and a second start
	return st.AtTerminal(
		ctx,
		st.Driver.TUI(testbed.MarkedPrompt(firstWords), st.Driver.AsksInStatus),
		func(ctx context.Context, t *testbed.Terminal) error {
			p := &statusRun{st: st, t: t, c: &client.Client{Socket: st.Dirs.Socket(), Timeout: 5 * time.Second}}
			return p.runSteps(ctx)
		},
	)
}

// runSteps continues as long as what it waits for arrives.
func (p *statusRun) runSteps(ctx context.Context) error {
	if !p.timeUntil(ctx, "running", p.st.Patience/4, func(s *client.SessionInfo) bool {
		return s.Status == wire.StatusRunning || s.Status == wire.StatusWaiting
	}) {
		if m := p.st.Evidence.Status["running"]; p.isListed() { // it is there, and shows nothing of what it does
			p.st.Evidence.Status["waits"], p.st.Evidence.Status["esc"] = m, m
		}
		return nil
	}
	if p.st.Driver.AsksInStatus {
		if !p.timeUntil(ctx, "waits", 40*time.Second,
			func(s *client.SessionInfo) bool { return s.Status == wire.StatusWaiting }) {
			return nil
		}
		p.t.AwaitStillness(ctx)
		accept := p.st.Driver.Accept
		if accept == "" {
			accept = "Enter"
		}
		if err := p.t.PressKeys(ctx, accept); err != nil {
			return err
		}
	}
	ran := filepath.Join(p.st.Project, "ran-long")
	for i := 0; ; i++ {
		if _, err := os.Stat(ran); err == nil {
			break
		}
		if i > 200 || !testbed.PauseFor(ctx, 100*time.Millisecond) {
			return errors.New("the scripted command never began")
		}
	}
	// By now tmux was asked whether the pane is really its own.
	if !testbed.PauseFor(ctx, time.Second) {
		return ctx.Err()
	}
	p.timeUntil(ctx, "pane", 5*time.Second, func(s *client.SessionInfo) bool {
		out, err := p.t.RunTmux(ctx, "display-message", "-p", "#{pane_id}")
		return err == nil && s.Mux == "tmux" && s.Pane == strings.TrimSpace(out)
	})
	keys := p.st.Driver.Interrupt
	if len(keys) == 0 {
		keys = []string{"Escape"}
	}
	for i, key := range keys {
		if i > 0 && !testbed.PauseFor(ctx, 500*time.Millisecond) { // two at once are another key
			return ctx.Err()
		}
		if err := p.t.PressKeys(ctx, key); err != nil {
			return err
		}
	}
	if !p.timeUntil(ctx, "esc", 10*time.Second, func(s *client.SessionInfo) bool {
		return s.Status != wire.StatusRunning && s.Status != wire.StatusWaiting
	}) {
		return nil
	}
	p.t.AwaitStillness(ctx)
	return p.killAndResume(ctx)
}

func (p *statusRun) killAndResume(ctx context.Context) error {
	if err := p.t.TypeLine(ctx, "Now slowly "+model.Mark("slow")); err != nil {
		return err
	}
	pid := 0
	if !p.waitUntil(ctx, 20*time.Second, func(s *client.SessionInfo) bool {
		pid = s.PID
		return s.Status == wire.StatusRunning && pid > 1
	}) {
		return errors.New("the second prompt was not seen")
	}
	if process, err := os.FindProcess(pid); err != nil {
		return err
	} else if err := process.Kill(); err != nil {
		return err
	}
	if !p.timeUntil(ctx, "killed", 10*time.Second,
		func(s *client.SessionInfo) bool { return s.Ended != nil && s.Status != wire.StatusRunning }) {
		return nil
	}
	if p.st.Driver.NoResume != "" {
		return nil
	}
	return p.resumeSession(ctx)
}

// resumeSession resumes the session in the same terminal, types something, and expects the model to
// receive the old conversation with it.
func (p *statusRun) resumeSession(ctx context.Context) error {
	began := time.Now()
	fail := func(format string, args ...any) error {
		p.st.Evidence.Status["resume"] = testbed.Moment{Took: time.Since(began), Got: fmt.Sprintf(format, args...)}
		return nil
	}
	records, err := p.c.ResumeRecords(ctx, p.id, false)
	if err != nil || len(records) == 0 {
		return fail("no record: %v", err)
	}
	// The agent's own name on PATH, as on a user's machine.
	bin := filepath.Join(p.st.Base, "agentbin")
	wrapper := "#!/bin/sh\nexec " + shellquote.Line(p.st.In.Argv) + " \"$@\"\n"
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(bin, p.st.Driver.Program), []byte(wrapper), 0o755); err != nil {
		return err
	}
	env := append(slices.Clone(p.st.Env), "PATH="+bin+":"+p.st.LookupEnv("PATH"))
	argv := []string{filepath.Join(p.st.Bin, "hookmux"), "resume", p.id}
	script := filepath.Join(p.st.Base, "resume.sh")
	line := "cd / && exec env -i " + shellquote.Line(env) + ` TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" ` + shellquote.Line(argv) + "\n"
	if err := os.WriteFile(script, []byte(line), 0o600); err != nil {
		return err
	}
	if _, err := p.t.RunTmux(ctx, "respawn-pane", "-k", "/bin/sh "+shellquote.Word(script)); err != nil {
		return err
	}
	if out, err := p.t.RunTmux(ctx, "display-message", "-p", "#{pane_pid}"); err == nil {
		_, _ = fmt.Sscan(out, &p.t.PID)
	}
	// An agent that is there again shows what was said before.
	shown, cancel := context.WithTimeout(ctx, 40*time.Second)
	p.t.AwaitText(shown, "heliotrope")
	cancel()
	if !testbed.PauseFor(ctx, time.Second) {
		return ctx.Err()
	}
	p.t.AwaitStillness(ctx)
	before := p.st.Model.SawTimes(p.st.Run, laterWords)
	if err := p.t.TypeLine(ctx, laterWords+" "+model.Mark("again")); err != nil {
		return err
	}
	// Some say right after a turn that they are idle.
	done := p.waitUntil(ctx, p.st.Patience/8, func(s *client.SessionInfo) bool {
		over := s.Status == wire.StatusDone ||
			s.Status == wire.StatusIdle && p.st.Model.SawTimes(p.st.Run, laterWords) > before
		return s.Ended == nil && over && s.LastEvent.After(began)
	})
	p.t.KeepScreen()
	if p.st.Model.SawTimes(p.st.Run, laterWords) == before {
		return fail("the model did not hear what was said after it; with `%s`", strings.Join(records[0].Argv, " "))
	}
	whole := false
	for _, r := range p.st.Model.Requests(p.st.Run) {
		b, _ := json.Marshal(r)
		whole = whole || strings.Contains(string(b), "heliotrope") && strings.Contains(string(b), laterWords)
	}
	switch {
	case !whole:
		return fail("the model heard the new words without the old ones; with `%s`", strings.Join(records[0].Argv, " "))
	case !done:
		return fail(
			"its events did not come under its old id; with `%s` (run: %v); the list: %s",
			strings.Join(records[0].Argv, " "),
			records[0].Run,
			p.listSessions(),
		)
	}
	p.st.Evidence.Status["resume"] = testbed.Moment{
		Seen: true,
		Took: time.Since(began),
		Got:  strings.Join(records[0].Argv, " "),
	}
	return nil
}

// timeUntil waits for a state and notes how long it took.
func (p *statusRun) timeUntil(ctx context.Context, id string, most time.Duration,
	is func(*client.SessionInfo) bool) bool {
	began := time.Now()
	seen := p.waitUntil(ctx, most, is)
	m := testbed.Moment{Seen: seen, Took: time.Since(began)}
	if !seen {
		m.Got = p.listSessions()
	}
	p.st.Evidence.Status[id] = m
	p.t.KeepScreen()
	return seen
}

// waitUntil looks at the session until it is so.
func (p *statusRun) waitUntil(ctx context.Context, most time.Duration, is func(*client.SessionInfo) bool) bool {
	for end := time.Now().Add(most); time.Now().Before(end); {
		if list, err := p.c.Sessions(ctx, client.SessionsParams{Agents: []string{p.st.Driver.Name}}); err == nil {
			for i := range list {
				if p.id != "" && list[i].ID != p.id || !is(&list[i]) {
					continue
				}
				p.id = list[i].ID
				return true
			}
		}
		if !testbed.PauseFor(ctx, 20*time.Millisecond) {
			return false
		}
	}
	return false
}

// isListed reports whether the session is listed at all.
func (p *statusRun) isListed() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	list, err := p.c.Sessions(ctx, client.SessionsParams{Agents: []string{p.st.Driver.Name}})
	return err == nil && len(list) > 0
}

func (p *statusRun) listSessions() string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) // also when the run's time is over
	defer cancel()
	list, err := p.c.Sessions(ctx, client.SessionsParams{})
	if err != nil {
		return err.Error()
	}
	var words []string
	for _, s := range list {
		words = append(
			words,
			fmt.Sprintf("%s %s %s pid %d pane %q ended %v %s", s.Agent, s.ID, s.Status, s.PID, s.Pane, s.Ended != nil,
				s.Tool),
		)
	}
	if len(words) == 0 {
		words = append(words, "no session")
	}
	seen := p.st.Watcher.AllSeen()
	for _, s := range seen[max(0, len(seen)-8):] {
		words = append(words, s.Event.Native)
	}
	return strings.Join(words, "; ")
}
