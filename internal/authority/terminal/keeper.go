package terminal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// PIN is the number that an unproven terminal needs.
type PIN interface {
	Set() bool
	Check(pin string) error
}

// Keeper evaluates callers and asks you if you can settle it at your terminal. One value
// serves all connections.
type Keeper struct {
	Evaluator *authority.Evaluator
	// Asker talks to terminals.
	Asker Asker
	// PIN may be nil: then there is none.
	PIN PIN

	mu   sync.Mutex
	busy map[string]chan struct{}
	// watched are the terminals at which views wait for keys.
	watched bounded.Map[authority.Identity, watchedView]
}

// ErrAnswered ends a question whose request was answered elsewhere.
var ErrAnswered = errors.New("it waits no more: it was answered elsewhere, or its agent went on")

// Asker asks you something at your terminal.
type Asker interface {
	// AskCode has them type a code that is shown at their trusted terminal.
	AskCode(ctx context.Context, v *authority.Verdict, a authority.Action) error
	// AskPIN has them type their PIN at the caller's terminal.
	AskPIN(ctx context.Context, v *authority.Verdict, a authority.Action, check func(string) error) error
}

// NewAsker asks at the terminals of this machine.
func NewAsker(source *Source) Asker { return &terminalAsker{source} }

// EvaluateSilently evaluates without asking anybody.
func (k *Keeper) EvaluateSilently(peer proc.Cred, a authority.Action) authority.Verdict {
	return k.Evaluator.Evaluate(peer, a, nil)
}

// Decide evaluates an action and asks the user where that is needed. It may
// wait for them; ctx ends when the caller hangs up.
func (k *Keeper) Decide(ctx context.Context, peer proc.Cred, a authority.Action) authority.Verdict {
	return k.Ask(ctx, peer, a, k.EvaluateSilently(peer, a))
}

// Ask goes on from what Look said.
func (k *Keeper) Ask(ctx context.Context, peer proc.Cred, a authority.Action, v authority.Verdict) authority.Verdict {
	if v.Outcome == authority.Allowed || v.Outcome == authority.Refused {
		return v
	}
	if v.Outcome == authority.NeedPIN && (k.PIN == nil || !k.PIN.Set()) {
		return refuseBecause(v, v.Why+". A PIN works here, too: set one in a trusted "+
			"terminal with `hookmux config set approvals.pin on`")
	}
	release, err := k.takeTurn(ctx, v.TTY)
	if err != nil {
		return refuseBecause(v, fmt.Sprintf("%s, and another question is open at %s", v.Why, v.TTY))
	}
	defer release()
	if v.Outcome == authority.NeedPIN {
		err = k.Asker.AskPIN(ctx, &v, a, k.PIN.Check)
	} else {
		err = k.Asker.AskCode(ctx, &v, a)
	}
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, ErrAnswered) {
		return refuseBecause(v, cause.Error())
	}
	if err != nil {
		return refuseBecause(v, fmt.Sprintf("%s, and %v", v.Why, err))
	}
	// Processes and terminals may have changed while the user typed.
	again := k.Evaluator.Evaluate(peer, a, nil)
	if again.Outcome < v.Outcome || !sameTerminal(&v, &again) {
		return refuseBecause(again, "the terminal changed while it was asked; run it again")
	}
	again.Outcome, again.OK, again.Cause = authority.Allowed, true, authority.NoCause
	again.Why = "was confirmed at " + v.TTY
	return again
}

// sameTerminal compares who asks and where they sit.
func sameTerminal(a, b *authority.Verdict) bool {
	if len(a.Chain) == 0 || len(b.Chain) == 0 {
		return false
	}
	same := func(p, q proc.Process) bool { return p.PID == q.PID && p.Start == q.Start }
	return same(a.Chain[0], b.Chain[0]) && a.TTY == b.TTY && a.Terminal.TTY == b.Terminal.TTY && same(a.Terminal.Leader,
		b.Terminal.Leader) && same(a.Holder, b.Holder)
}

func refuseBecause(v authority.Verdict, why string) authority.Verdict {
	v.Outcome, v.OK = authority.Refused, false
	v.Why = why
	return v
}

// takeTurn lets one question at a time be asked at a terminal.
func (k *Keeper) takeTurn(ctx context.Context, tty string) (release func(), err error) {
	for {
		k.mu.Lock()
		if k.busy == nil {
			k.busy = map[string]chan struct{}{}
		}
		other, taken := k.busy[tty]
		if !taken {
			mine := make(chan struct{})
			k.busy[tty] = mine
			k.mu.Unlock()
			return func() {
				k.mu.Lock()
				delete(k.busy, tty)
				k.mu.Unlock()
				close(mine)
			}, nil
		}
		k.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// terminalAsker asks at real terminals.
type terminalAsker struct{ source *Source }

// AskCode asks in a popup over the tmux client at the trusted terminal, else at the caller's
// own terminal. The code itself is written to the trusted terminal, past tmux: every program
// can have tmux show what its panes hold, and have a pane pass for a popup.
// Each character must have come from the keyboard of the trusted terminal.
func (t *terminalAsker) AskCode(ctx context.Context, v *authority.Verdict, a authority.Action) error {
	proves := t.source.setBack(v.Terminal.TTY, authority.Identity{}) == nil
	if !proves && v.Terminal.Client != nil {
		return fmt.Errorf("no code can be asked for: %s belongs to another user", v.Terminal.TTY)
	}
	on, err := t.openTerminal(ctx, v, a)
	if err != nil {
		return fmt.Errorf("no code can be asked for: %w", err)
	}
	defer on.Close()
	if c := v.Terminal.Client; c != nil {
		behind, err := t.source.openBehind(ctx, v.Terminal.TTY, c, termsafe.Line(actionText(a), maxAbout))
		if err != nil {
			return fmt.Errorf("no code can be shown at %s: %w", v.Terminal.TTY, err)
		}
		defer behind.close()
		on = &muxedScreen{on, behind}
	}
	if proves {
		on = &provenScreen{on, t.source, v.Terminal.TTY}
	}
	if err := askCode(ctx, on, a, v.Reason()); err != nil {
		return err
	}
	takeEnter(ctx, on) // another key must not be taken for one of the code
	return nil
}

// provenScreen believes a key only if one was read at the trusted terminal since the last.
type provenScreen struct {
	screen
	source *Source
	tty    string
}

func (p *provenScreen) ReadKey(ctx context.Context) (byte, error) {
	key, err := p.screen.ReadKey(ctx)
	if err != nil {
		return 0, err
	}
	there := p.source.readSince(p.tty)
	if err := p.source.setBack(p.tty, authority.Identity{}); err != nil || !there {
		return 0, errNotThere
	}
	return key, nil
}

func (p *provenScreen) Flush() error {
	if err := p.screen.Flush(); err != nil {
		return err
	}
	return p.source.setBack(p.tty, authority.Identity{})
}

// openTerminal opens the screen for a code: never a pane of tmux or another
// multiplexer, which every program can read and type into.
func (t *terminalAsker) openTerminal(ctx context.Context, v *authority.Verdict, a authority.Action) (screen, error) {
	if v.Terminal.NoCode != "" {
		return nil, errors.New(v.Terminal.NoCode)
	}
	if c := v.Terminal.Client; c != nil && !c.Popup {
		return t.source.openPopup(ctx, c, describeAction(a, v.Reason()))
	}
	return openScreen(v.TTY)
}

// WatchKeys has the daemon notice the next key at the caller's trusted terminal, for a view
// that waits for one. again says that the view still waits: then only keys that went
// elsewhere are forgotten. It reports nothing and allows nothing.
func (k *Keeper) WatchKeys(peer proc.Cred, again bool) {
	source, ok := k.Evaluator.Source.(*Source)
	if !ok {
		return
	}
	p, err := source.Lookup(peer.PID)
	if err != nil {
		return
	}
	caller := authority.Identity{PID: p.PID, Start: p.Start}
	k.mu.Lock()
	at, known := k.watched.Get(caller)
	k.mu.Unlock()
	if !known { // keys come fast, and this takes a while
		v := k.EvaluateSilently(peer, authority.Action{})
		if !v.Trusted() {
			return
		}
		at = watchedView{view: v.TTY, tty: v.Terminal.TTY}
		if v.Terminal.Client != nil {
			at.server = v.Terminal.Client.Server.PID
		}
		k.mu.Lock()
		k.watched.Put(caller, at, maxWatched)
		k.mu.Unlock()
	}
	source.watchOpens(at.tty, at.server)
	if at.server == 0 {
		return
	}
	if at.view != at.tty {
		source.watchOpens(at.view, at.server)
	}
	if again && !source.hasStaleKey(at.tty, time.Now()) {
		return
	}
	_ = source.watchKeys(at.tty, caller, at.view, at.server) // if not, a code is asked for
}

// watchedView is where a view runs, where its keys are typed, and the multiplexer in between.
type watchedView struct {
	view, tty string
	server    int
}

// maxWatched bounds how many views are remembered.
const maxWatched = 64

// AskPIN asks at the caller's terminal, whatever else reads there.
func (t *terminalAsker) AskPIN(ctx context.Context, v *authority.Verdict, a authority.Action,
	check func(string) error) error {
	on, err := openScreen(v.TTY)
	if err != nil {
		return err
	}
	defer on.Close()
	return askPIN(ctx, on, a, "hookmux cannot tell who is at this terminal", check)
}
