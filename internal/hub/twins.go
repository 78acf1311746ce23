package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/services"
)

// Some agents read other agents' files: with hookmux installed in both, one
// happening calls two commands of ours. Those are twins. Hooks and people hear
// of it once, and each command gets the answer, in the words of its own event.
//
// Two arrivals are twins only when all of this holds:
//   - one process called both, and its agent is known to read the other's file;
//   - they came by different installed commands. Two arrivals by one command are
//     two questions, however alike;
//   - they say the same: kind, session, subagent, call, input, prompt;
//   - the second comes while the first is being decided, or soon after.
//
// Of several equal ones the newest that its command did not ask about yet is
// meant: an older one was refused, and then the agent did not go on to ask the
// second command.

// After its decision a happening waits that long for its twin. A call with an
// id of its own cannot be mistaken for a later one, so it waits longer: hooks of
// others may run in between.
const (
	twinWindow     = 10 * time.Second
	twinWindowByID = 2 * time.Minute
	keepTwins      = 4096
)

type twins struct {
	mu    sync.Mutex
	open  map[twinKey][]*happening // oldest first
	count int
	swept time.Time
	now   func() time.Time
}

type twinKey struct {
	pid     int
	start   uint64
	kind    event.Kind
	session string
	sub     string
	call    string
	says    [sha256.Size]byte
}

// happening is what one or more commands ask about.
type happening struct {
	twins *twins
	key   twinKey
	id    string   // of the arrival that came first
	came  []string // the commands, by the agent in them

	ready   chan struct{} // closed once settled
	until   time.Time     // when it is forgotten; zero while undecided
	decided bool
	outcome hook.Outcome // without the steps: those were the first one's
	neutral services.Skip
}

func newTwins() *twins { return &twins{open: map[twinKey][]*happening{}, now: time.Now} }

// meet finds the happening an arrival tells of, and whether another told of it
// before. Most arrivals can have no twin.
func (h *Hub) meet(in *arrival, p *passage) {
	named := in.agent
	if a, ok := h.deps.Catalogue.Agent(named); ok {
		named = a.Name
	}
	if !h.readsFilesOf(p.caller.agent, named) || p.caller.pid <= 0 || p.ev.Malformed != "" {
		return
	}
	which, first := h.twins.enter(keyOfTwin(p), in.id, named)
	p.meets = which
	if !first {
		p.twin = which.id
	}
}

// readsFilesOf: the agent reads others' files, and the command stands in one of
// those or in its own.
func (h *Hub) readsFilesOf(caller, named string) bool {
	if caller == "" {
		return false
	}
	a, ok := h.deps.Catalogue.Agent(caller)
	return ok && a.Install != nil && len(a.Install.Reads) > 0 && (named == a.Name || slices.Contains(a.Install.Reads, named))
}

// keyOfTwin holds what both tell alike. Names of events and tools are not in
// it: some agents translate those for a file in another agent's form.
func keyOfTwin(p *passage) twinKey {
	ev := &p.ev
	k := twinKey{pid: p.caller.pid, start: p.caller.start, kind: ev.Kind, session: ev.Session}
	if ev.Subagent != nil {
		k.sub = ev.Subagent.ID
	}
	sum := sha256.New()
	if ev.Tool != nil {
		k.call = ev.Tool.CallID
		sum.Write([]byte(ev.Tool.Kind))
		sum.Write([]byte{0})
		sum.Write(canonical(ev.Tool.Input))
	}
	sum.Write([]byte{0})
	sum.Write([]byte(ev.Prompt))
	sum.Sum(k.says[:0])
	return k
}

// canonical is JSON without its accidents: order and white space.
func canonical(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // large numbers that differ must not become the same
	if d.Decode(&v) != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

func (t *twins) enter(key twinKey, id, command string) (*happening, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.sweep(now)
	list := t.open[key]
	for i := len(list) - 1; i >= 0; i-- {
		one := list[i]
		if !one.over(now) && !slices.Contains(one.came, command) {
			one.came = append(one.came, command)
			return one, false
		}
	}
	one := &happening{twins: t, key: key, id: id, came: []string{command}, ready: make(chan struct{})}
	t.open[key] = append(list, one)
	t.count++
	return one, true
}

func (o *happening) over(now time.Time) bool { return !o.until.IsZero() && now.After(o.until) }

// sweep forgets what is over, now and then, or when there is too much of it.
func (t *twins) sweep(now time.Time) {
	if now.Sub(t.swept) < twinWindow && t.count < keepTwins {
		return
	}
	t.swept = now
	crowded := t.count >= keepTwins // then half of what is decided goes as well
	for key, list := range t.open {
		left := slices.DeleteFunc(list, func(o *happening) bool { return o.over(now) || crowded && t.count > keepTwins/2 && !o.until.IsZero() })
		t.count -= len(list) - len(left)
		if len(left) == 0 {
			delete(t.open, key)
		} else {
			t.open[key] = left
		}
	}
}

// settle tells twins what came of it. Where nothing was decided, because the
// caller left, they are on their own.
func (p *passage) settle() { p.end(p.neutral != callerLeft) }

// leave is for whoever did not come as far as settle.
func (p *passage) leave() { p.end(false) }

func (p *passage) end(decided bool) {
	o := p.meets
	if o == nil || p.twin != "" {
		return
	}
	t := o.twins
	t.mu.Lock()
	defer t.mu.Unlock()
	if !o.until.IsZero() {
		return
	}
	o.decided = decided
	o.outcome = hook.Outcome{Decision: p.outcome.Decision}
	o.neutral = p.neutral
	switch {
	case !decided:
		o.until = t.now().Add(-1)
	case o.key.call != "":
		o.until = t.now().Add(twinWindowByID)
	default:
		o.until = t.now().Add(twinWindow)
	}
	close(o.ready)
}

// share gives a twin the outcome of the first, waiting while that is being
// decided. It is false when there is none to be had: then the arrival is a
// question of its own.
func (h *Hub) share(ctx context.Context, in *arrival, p *passage) bool {
	if p.twin == "" {
		return false
	}
	with := p.meets
	select {
	case <-with.ready:
	default:
		ctx, cancel := context.WithDeadline(ctx, p.deadline)
		defer cancel()
		var left atomic.Bool
		if in.gone != nil {
			defer in.gone(func() { left.Store(true); cancel() })()
		}
		select {
		case <-with.ready:
		case <-ctx.Done():
			// The first is still open, and the agent waits for it as well: what
			// is said there counts. Saying nothing here lets nothing through.
			p.neutral = twinUndecided
			if left.Load() {
				p.neutral = callerLeft
			}
			return true
		}
	}
	if !with.decided {
		return false
	}
	p.outcome, p.neutral = with.outcome, with.neutral
	return true
}
