package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/polkit"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// The settings about proofs. They are kept under a seal, not in files that
// anybody may edit.
const (
	pinKey   = "approvals.pin"
	kindsKey = "approvals.kinds"
	wayKey   = "approvals.proof"
)

// Polkit asks you for your password; nil only if you gave it.
type Polkit interface {
	Check(ctx context.Context, who polkit.Process, text string) error
}

// Proofs are what you must prove besides your trusted terminal: the PIN, or a password.
type Proofs struct {
	// Polkit has polkit ask you for your password.
	Polkit    Polkit
	deps      services.Deps
	queue     *queue.Table
	findOther func(id string) (wire.InboxRequest, bool) // one that isn't in the queue
	recordOwn func(name, id string, at time.Time, payload any)
	pin       *ledger.PIN
	proving   sync.Mutex // one dialog at a time
}

// prove makes you prove who you are before an answer is used, if you want that. It comes in
// addition to the rules about trusted terminals. A no needs no proof.
func (p *Proofs) prove(ask services.Asking, item *wire.InboxRequest, r *queue.Request, said *queue.UserAnswer, pin string,
	peer proc.Cred) *wire.Error {
	if said.Verdict == event.Deny {
		return nil
	}
	proof := p.pin.Proof()
	if !lastsLonger(said) && !slices.ContainsFunc(proofKinds(r), proof.Covers) {
		return nil
	}
	switch proof.Way {
	case "", ledger.ByPIN:
		if err := p.CheckPIN("request "+item.ID, pin, peer); err != nil {
			return wire.Errorf(wire.CodePIN, "%v", err)
		}
		return nil
	case ledger.ByPolkit:
		return p.provePolkit(ask, item, peer)
	}
	return wire.Errorf(wire.CodeRefused, "approvals ask for %s, which this hookmux does not know; upgrade it, "+
		"or `hookmux config set %s pin`", proof.Way, wayKey)
}

// proofKinds returns the kinds that a request counts as.
func proofKinds(r *queue.Request) []string {
	switch r.Need.Kind {
	case policy.Plan:
		return []string{string(event.Plan)}
	case policy.Question:
		return []string{string(event.Question)}
	}
	t := r.Event.Tool
	if t == nil || !t.Kind.Known() {
		return []string{string(event.OtherTool)}
	}
	kinds := []string{string(t.Kind)}
	if t.Kind == event.Shell {
		return kinds
	}
	// What a tool does counts, whatever it is called.
	if len(t.Commands) > 0 {
		kinds = append(kinds, string(event.Shell))
	}
	if len(t.Writes) > 0 {
		kinds = append(kinds, string(event.FileWrite), string(event.FileEdit))
	}
	return kinds
}

// lastsLonger reports whether an answer allows more than this one call: that asks
// for the proof whatever the kind, as it may allow what is of another one.
func lastsLonger(said *queue.UserAnswer) bool {
	switch said.Answer.Choice {
	case event.ChooseAlways, event.ChooseAll, event.ChooseBypass:
		return true
	}
	return said.Answer.Plan == event.PlanAuto
}

// provePolkit has polkit ask the user, until the request ends.
func (p *Proofs) provePolkit(ask services.Asking, item *wire.InboxRequest, peer proc.Cred) *wire.Error {
	refused := func(why error) *wire.Error {
		p.deps.Log.Warn("not proven", "request", item.ID, "pid", peer.PID, "why", why)
		return wire.Errorf(wire.CodeRefused, "%v", why)
	}
	if ask == nil {
		return refused(errors.New("there's no one to ask for a password"))
	}
	caller, err := p.deps.Processes.Lookup(peer.PID)
	if err != nil || peer.At != 0 && caller.Start > peer.At {
		return refused(errors.New("who answers is gone, so polkit cannot be asked about them"))
	}
	if !p.proving.TryLock() {
		return refused(errors.New("polkit asks about another answer already; finish that first"))
	}
	defer p.proving.Unlock()
	ctx, done := ask()
	defer done()
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if _, waits := p.queue.Request(item.ID); waits { // else it stands at the agent's own prompt
		watching.Go(func() { p.endWithRequest(ctx, item.ID, end) })
	}
	text := termsafe.Line(redact.Text(item.Agent+": "+item.About()), 160)
	who := polkit.Process{PID: caller.PID, Start: caller.Start, UID: peer.UID}
	if err := p.Polkit.Check(ctx, who, text); err != nil {
		return refused(err)
	}
	return nil
}

// endWithRequest calls end when a request waits no more.
func (p *Proofs) endWithRequest(ctx context.Context, id string, end context.CancelCauseFunc) {
	_, next := p.queue.Watch()
	for {
		var wake <-chan struct{}
		_, next, wake, _ = p.queue.Next(next)
		if _, waits := p.queue.Request(id); !waits {
			end(errors.New("the request ended meanwhile"))
			return
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return
		}
	}
}

// ShowProof puts what is in force into a setting about proofs.
func (p *Proofs) ShowProof(setting wire.Setting) wire.Setting {
	var value any
	var chosen bool
	switch proof := p.pin.Proof(); setting.Key {
	case pinKey:
		if chosen = p.pin.Set(); chosen {
			value = "on"
		} else {
			value = "off"
		}
	case kindsKey:
		value, chosen = proof.Kinds, proof.Kinds != nil
		if !chosen {
			value = proofWords()
		}
	case wayKey:
		value, chosen = proof.Way, proof.Way != ""
		if !chosen {
			value = ledger.ByPIN
		}
	default:
		return setting
	}
	setting.Default, setting.Origin, setting.File = true, "default", ""
	if chosen {
		setting.Default, setting.Origin = false, "user"
	}
	setting.Value, _ = json.Marshal(value)
	return setting
}

// proofWords returns the kinds that can be chosen.
func proofWords() []string {
	var words []string
	for _, kind := range event.ToolKinds() {
		words = append(words, string(kind))
	}
	return words
}

// SetProof changes a setting about proofs. value was checked; nil is the default.
func (p *Proofs) SetProof(key string, value any, pin string, peer proc.Cred) *wire.Error {
	change := func(proof *ledger.Proof) { proof.Way = ledger.ByPIN }
	switch v := value.(type) {
	case string:
		if v == ledger.ByPolkit {
			if bad := polkitMisfit(peer); bad != nil {
				return bad
			}
		}
		change = func(proof *ledger.Proof) { proof.Way = v }
	case []string:
		change = func(proof *ledger.Proof) { proof.Kinds = append([]string{}, v...) }
	default:
		if key == kindsKey {
			change = func(proof *ledger.Proof) { proof.Kinds = nil }
		}
	}
	err := p.pin.ChangeProof(pin, change)
	var wrong *ledger.PINError
	switch {
	case errors.As(err, &wrong):
		if pin != "" {
			p.noteWrongPIN("a change of "+key, peer, err)
		}
		return wire.Errorf(wire.CodePIN, "%v", err)
	case err != nil:
		return wire.Errorf(wire.CodeInternal, "%v", err)
	}
	return nil
}

// polkitMisfit says why polkit would prove nothing here.
func polkitMisfit(peer proc.Cred) *wire.Error {
	switch {
	case runtime.GOOS != "linux":
		return wire.Errorf(wire.CodeParams, "polkit is there on Linux only; approvals can ask for a PIN")
	case peer.UID == 0:
		return wire.Errorf(wire.CodeParams,
			"polkit asks root for no password, so that it proves nothing for root; approvals can ask for a PIN")
	}
	return nil
}

// PIN returns the one that approvals ask for.
func (p *Proofs) PIN() *ledger.PIN { return p.pin }

// CheckPIN compares a PIN that came with an answer to a request, and notes a
// wrong one.
func (p *Proofs) CheckPIN(id, pin string, peer proc.Cred) error {
	err := p.pin.Check(pin)
	if err != nil && pin != "" {
		p.noteWrongPIN(id, peer, err)
	}
	return err
}

// CheckText says why a device, or another machine, may not send a session a text: where
// approvals ask for something, a text does, too, since the agent takes it for your word.
func (s *Service) CheckText(session, pin string) *wire.Error {
	switch way := s.proofs.pin.Proof().Way; way {
	case "", ledger.ByPIN:
		if err := s.proofs.CheckPIN("a text to "+session, pin, proc.Cred{}); err != nil {
			return wire.Errorf(wire.CodePIN, "%v", err)
		}
		return nil
	default:
		return wire.Errorf(wire.CodeRefused, "approvals ask for %s on this machine; send the text in a terminal there", way)
	}
}

// FindWaiting returns a request that waits, with what is closed when it does no more: nil for
// those at an agent's own prompt and on other machines.
func (p *Proofs) FindWaiting(id string) (item wire.InboxRequest, over <-chan struct{}, ok bool) {
	if item, over, ok = p.queue.FindWaiting(id); !ok && id != "" {
		item, ok = p.findOther(id)
	}
	return item, over, ok
}

// findOther returns a request that isn't in the queue: at an agent's own prompt, or on another machine.
func (s *Service) findOther(id string) (wire.InboxRequest, bool) {
	if item, ok := s.findPrompt(id); ok {
		return item, true
	}
	item, found, bad := s.findElsewhere(id)
	return item, found && bad == nil
}

// noteWrongPIN lets the user learn of a wrong PIN.
func (p *Proofs) noteWrongPIN(id string, peer proc.Cred, why error) {
	p.deps.Log.Warn("wrong PIN", "request", id, "pid", peer.PID, "why", why)
	p.recordOwn(wire.OwnRefused, frame.NewID(), time.Now(),
		map[string]any{"method": wire.MethodInboxReply, "pid": peer.PID, "reason": why.Error()})
	p.deps.Notes.Publish(wire.NoteTrace, wire.Trace{Hook: "hookmux", Text: "a wrong PIN was given for " + id})
}

// changePIN sets, changes or removes the PIN.
func (p *Proofs) changePIN(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var given wire.PINParams
	if err := services.ReadParams(params, &given); err != nil {
		return nil, err
	}
	if err := p.pin.Change(given.PIN, given.New); err != nil {
		var pin *ledger.PINError
		if errors.As(err, &pin) {
			if given.PIN != "" {
				p.noteWrongPIN("a change of the PIN", peer, err)
			}
			return nil, wire.Errorf(wire.CodePIN, "%v", err)
		}
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	return map[string]bool{"set": p.pin.Set()}, nil
}
