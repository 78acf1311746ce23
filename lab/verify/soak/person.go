package soak

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/looks"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// noteAction remembers what the user did.
func (p *agentPane) noteAction(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.personActions = append(p.personActions, time.Now().Format("15:04:05.0 ")+fmt.Sprintf(format, args...))
	p.personActions = p.personActions[max(0, len(p.personActions)-12):]
}

func (p *agentPane) lastActions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.personActions)
}

func (p *agentPane) countTurn(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns[kind]++
}

// drivePerson has one agent run one turn after the other.
func (r *run) drivePerson(ctx context.Context, p *agentPane) {
	for ctx.Err() == nil {
		asked := r.modelAsked(p)
		kind := turnKinds[p.random.Intn(len(turnKinds))]
		p.countTurn(kind)
		p.noteAction("prompt: %s", kind)
		if _, err := r.term.RunTmux(ctx, "send-keys", "-t", p.pane, "-l", "Do it "+model.Mark(kind)); err != nil {
			return
		}
		if !testbed.PauseFor(ctx, 700*time.Millisecond) || r.press(ctx, p, "Enter") != nil {
			return
		}
		r.followTurn(ctx, p, kind, asked)
		if !testbed.PauseFor(ctx, time.Duration(300+p.random.Intn(1500))*time.Millisecond) {
			return
		}
	}
}

// longestTurn is when a turn that does not end is stopped.
const longestTurn = 90 * time.Second

// modelAsked returns how often the agent asked its model so far.
func (r *run) modelAsked(p *agentPane) int { return len(p.st.Model.Requests(p.st.Run)) }

// followTurn acts until the turn is over. asked is how often the model was called before.
func (r *run) followTurn(ctx context.Context, p *agentPane, kind string, asked int) {
	began, busy := time.Now(), false
	stopAt := time.Time{}
	if kind == turnSlow || p.random.Intn(6) == 0 {
		stopAt = began.Add(time.Duration(2500+p.random.Intn(2500)) * time.Millisecond)
	}
	for time.Since(began) < longestTurn {
		if !testbed.PauseFor(ctx, 150*time.Millisecond) {
			return
		}
		if p.dialogs.ShowsDialog(r.capture(ctx, p.pane)) {
			busy = true
			r.answerDialog(ctx, p)
			continue
		}
		one, ok := r.sessionOf(ctx, p)
		if !ok {
			continue
		}
		working := one.Status == wire.StatusRunning || one.Status == wire.StatusWaiting
		busy = busy || working
		switch {
		case one.Status == wire.StatusWaiting:
			r.answerHeld(ctx, p)
		case working && !stopAt.IsZero() && time.Now().After(stopAt):
			p.noteAction("stops the turn")
			r.pressSlowly(ctx, p, p.dialogs.Stop)
			stopAt = time.Time{}
		case !working && (busy || r.modelAsked(p) > asked && time.Since(began) > 5*time.Second):
			return
		case !busy && time.Since(began) > 30*time.Second && r.modelAsked(p) == asked:
			p.noteAction("the prompt was not taken")
			return
		}
	}
	p.noteAction("the turn does not end; Esc")
	r.pressSlowly(ctx, p, p.dialogs.Stop)
}

// pressSlowly presses keys one after the other: two at once are another key.
func (r *run) pressSlowly(ctx context.Context, p *agentPane, keys []string) {
	for _, key := range keys {
		if r.press(ctx, p, key) != nil || !testbed.PauseFor(ctx, 500*time.Millisecond) {
			return
		}
	}
}

// answerDialog answers the dialog on the screen, after a while.
func (r *run) answerDialog(ctx context.Context, p *agentPane) {
	if !testbed.PauseFor(ctx, time.Duration(600+p.random.Intn(5000))*time.Millisecond) {
		return
	}
	if p.random.Intn(2) == 0 && r.answerHeld(ctx, p) {
		r.awaitNoDialog(ctx, p)
		return
	}
	screen := r.capture(ctx, p.pane)
	if !p.dialogs.ShowsDialog(screen) {
		return
	}
	keys, what := p.dialogs.Yes, "yes"
	if strings.Contains(screen, looks.AskedColour) {
		keys, what = p.dialogs.Choose, "the first option"
	}
	if p.random.Intn(3) == 0 {
		keys, what = p.dialogs.No, "no"
	}
	p.noteAction("in the window: %s (%v)", what, keys)
	r.pressSlowly(ctx, p, keys)
	r.awaitNoDialog(ctx, p)
}

// awaitNoDialog gives an answer a moment to take effect; another dialog may follow.
func (r *run) awaitNoDialog(ctx context.Context, p *agentPane) {
	for range 10 {
		if !p.dialogs.ShowsDialog(r.capture(ctx, p.pane)) ||
			!testbed.PauseFor(ctx, 150*time.Millisecond) {
			return
		}
	}
}

// answerHeld answers through hookmux, if the inbox has a request of the agent.
func (r *run) answerHeld(ctx context.Context, p *agentPane) bool {
	list, err := r.client.Waiting(ctx, false)
	if err != nil {
		return false
	}
	for _, item := range list {
		if item.Agent != p.name || item.Status != wire.InboxPending {
			continue
		}
		reply := wire.InboxReplyParams{ID: item.ID, SHA256: item.SHA256, Choice: string(event.ChooseOnce)}
		switch refuse := p.random.Intn(3) == 0; {
		case refuse || !slices.Contains(item.Choices, reply.Choice) && !slices.Contains(item.Choices, "answer"):
			reply.Choice, reply.Reason = string(event.ChooseDeny), "not now"
		case slices.Contains(item.Choices, "answer"):
			reply.Choice = string(event.ChooseAnswer)
			for _, q := range item.Questions {
				reply.Answers = append(reply.Answers,
					event.QuestionAnswer{ID: q.ID, Question: q.Text, Options: []string{"blue"}})
			}
		}
		var result wire.InboxReplyResult
		err := r.testBed.Daemon.CallMethod(wire.MethodInboxReply, reply, &result)
		p.noteAction("through hookmux: %s: %v %v", reply.Choice, result.Outcome, err)
		return err == nil
	}
	return false
}

// sessionOf returns the agent's session in its pane, as `ps` shows it.
func (r *run) sessionOf(ctx context.Context, p *agentPane) (client.SessionInfo, bool) {
	list, err := r.client.Sessions(ctx, client.SessionsParams{Agents: []string{p.name}})
	if err != nil {
		return client.SessionInfo{}, false
	}
	for _, one := range list {
		if one.Ended == nil {
			return one, true
		}
	}
	return client.SessionInfo{}, false
}
