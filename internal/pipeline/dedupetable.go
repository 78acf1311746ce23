package pipeline

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/services"
)

// duplicates finds calls that report the same thing.
type duplicates struct {
	mu    sync.Mutex
	open  map[dedupeKey][]*dedupeEntry // oldest first
	count int
	swept time.Time
	now   func() time.Time
}

type dedupeKey struct {
	pid         int
	start       uint64
	kind        event.Kind
	session     string
	sub         string
	call        string
	contentHash [sha256.Size]byte
}

// dedupeEntry is a question of one or more commands.
type dedupeEntry struct {
	list     *duplicates
	key      dedupeKey
	id       string   // of the call that came first
	commands []string // the commands, by the agent in them

	ready   chan struct{} // closed once decided or given up
	until   time.Time     // when it is forgotten; zero while undecided
	decided bool
	outcome hook.Outcome // without the steps: those were the first one's
	skipped services.Skip
}

func newDuplicates() *duplicates {
	return &duplicates{open: map[dedupeKey][]*dedupeEntry{}, now: time.Now}
}

func (t *duplicates) findOrAdd(key dedupeKey, id, command string) (*dedupeEntry, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.sweepOld(now)
	list := t.open[key]
	for i := len(list) - 1; i >= 0; i-- {
		one := list[i]
		if !one.isOver(now) && !slices.Contains(one.commands, command) {
			one.commands = append(one.commands, command)
			return one, false
		}
	}
	one := &dedupeEntry{list: t, key: key, id: id, commands: []string{command}, ready: make(chan struct{})}
	t.open[key] = append(list, one)
	t.count++
	return one, true
}

func (o *dedupeEntry) isOver(now time.Time) bool { return !o.until.IsZero() && now.After(o.until) }

// sweepOld forgets what is over, now and then, or when there is too much of it.
func (t *duplicates) sweepOld(now time.Time) {
	if now.Sub(t.swept) < keepWithoutID && t.count < keepDuplicates {
		return
	}
	t.swept = now
	full := t.count >= keepDuplicates // then half of what is decided goes as well
	for key, list := range t.open {
		left := slices.DeleteFunc(list, func(o *dedupeEntry) bool {
			return o.isOver(now) || full && t.count > keepDuplicates/2 && !o.until.IsZero()
		})
		t.count -= len(list) - len(left)
		if len(left) == 0 {
			delete(t.open, key)
		} else {
			t.open[key] = left
		}
	}
}

// How long a decision is kept for a duplicate. A tool call with an id of its own
// cannot be mistaken for a later one, so it is kept longer: hooks of others may
// run in between.
const (
	keepWithoutID  = 10 * time.Second
	keepWithID     = 2 * time.Minute
	keepDuplicates = 4096
)
