package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

func keyPress(key string) tea.KeyPressMsg {
	if key == "backspace" {
		return tea.KeyPressMsg{Code: tea.KeyBackspace}
	}
	return tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
}

func pasted(text string) tea.PasteMsg { return tea.PasteMsg{Content: text} }

// onScreen is the time for which a request must have been on the screen, whatever
// the view's own constants say.
const onScreen = 300 * time.Millisecond

// watcher looks at every frame as a person does, and knows nothing of the view: which
// lines of which request stood there, by marks in their text.
type watcher struct {
	s     *screen
	items map[string]*wire.InboxRequest // by id, as they are now
	lines map[string]int                // by hash
	seen  map[string]map[int]bool       // by hash: the lines that stood in a frame
	whole map[string]time.Time          // by hash: since when all of them had stood there
	once  map[string]time.Time          // by hash: since when any of it did
}

// newRequest makes a request of some lines, each with a mark.
func (w *watcher) newRequest(id string, version, lines int, change func(*wire.InboxRequest)) *wire.InboxRequest {
	item := w.s.request(id, func(r *wire.InboxRequest) {
		r.Shown = ""
		for i := range lines {
			r.Shown += fmt.Sprintf("  $ <%s.%d:%d>\n", id, version, i)
		}
		if change != nil {
			change(r)
		}
	})
	w.items[id], w.lines[item.SHA256] = item, lines
	w.seen[item.SHA256] = map[int]bool{}
	return item
}

// drawEvery is how often a terminal draws the latest frame, whatever the view's own
// constants say: what was replaced before was never seen.
const drawEvery = 100 * time.Millisecond

// wait lets time pass, and looks at everything that is drawn meanwhile.
func (w *watcher) wait(d time.Duration) {
	for end := w.s.now.Add(d); ; {
		drawn := w.s.now.Truncate(drawEvery).Add(drawEvery)
		if drawn.After(end) {
			w.s.wait(end.Sub(w.s.now))
			return
		}
		// What stands there right before is what is drawn.
		w.look(drawn)
		w.s.wait(drawn.Sub(w.s.now))
	}
}

// look takes a frame down.
func (w *watcher) look(now time.Time) {
	frame := w.s.text()
	for _, item := range w.items {
		hash := item.SHA256
		mark, _, _ := strings.Cut(strings.TrimPrefix(item.Shown, "  $ "), ":")
		for i := range w.lines[hash] {
			if strings.Contains(frame, fmt.Sprintf("%s:%d>", mark, i)) {
				w.seen[hash][i] = true
				if w.once[hash].IsZero() {
					w.once[hash] = now
				}
			}
		}
		if len(w.seen[hash]) == w.lines[hash] && w.whole[hash].IsZero() {
			w.whole[hash] = now
		}
	}
}

// check holds answers against what stood on the screen before them.
func (w *watcher) check(rt *rapid.T, replies []client.InboxReply) {
	for _, reply := range replies {
		since, what := w.whole[reply.SHA256], "all of it was"
		if reply.Choice == "deny" {
			since, what = w.once[reply.SHA256], "any of it was"
		}
		switch shownFor := w.s.now.Sub(since); {
		case w.items[reply.ID].SHA256 != reply.SHA256:
			rt.Fatalf("the answer to %s carries %s, want the hash of its text, %s", reply.ID, reply.SHA256,
				w.items[reply.ID].SHA256)
		case since.IsZero():
			rt.Fatalf("%s: %s, before %s on the screen", reply.ID, reply.Choice, what)
		case shownFor < onScreen:
			rt.Fatalf("%s: %s, %v after %s on the screen, want at least %v", reply.ID, reply.Choice, shownFor, what,
				onScreen)
		}
	}
}

// Whatever arrives, changes and goes while whatever keys are pressed, alone or in a
// batch: an approval reaches only a request whose every line stood in a frame, the
// last of them 300 ms ago, and carries the hash of that text; a refusal only one of
// which something stood there as long.
func TestNoAnswerReachesWhatWasNotShown(t *testing.T) {
	approved, together := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		s := newScreen(t, rapid.SampledFrom([]int{40, 80, 130}).Draw(rt, "width"),
			rapid.IntRange(8, 30).Draw(rt, "height"))
		w := &watcher{s: s, items: map[string]*wire.InboxRequest{}, lines: map[string]int{},
			seen: map[string]map[int]bool{}, whole: map[string]time.Time{}, once: map[string]time.Time{}}
		do := func(step func()) {
			before := len(s.daemon.replies)
			step()
			replies := s.daemon.replies[before:]
			w.check(rt, replies)
			for _, reply := range replies {
				if reply.Choice != "deny" {
					approved++
				}
			}
			if len(replies) > 1 {
				together++
			}
		}
		arrived := 0
		// Often a request is just about as long as its place on the screen.
		newLength := func() int {
			fits := s.model.layout().detail.height - 3
			return max(1, rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(fits-1, fits+2)).Draw(rt, "lines"))
		}
		// happen is what others do: requests come, change and go, the window changes.
		happen := func() {
			waiting := s.model.board.requests
			one := rapid.IntRange(0, max(len(waiting)-1, 0)).Draw(rt, "which")
			switch what := rapid.IntRange(0, 4).Draw(rt, "happens"); {
			case what <= 1 || len(waiting) == 0:
				arrived++
				s.arrive(w.newRequest(fmt.Sprintf("k%d", arrived), 0, newLength(), nil))
			case what == 2:
				s.end(waiting[one])
			case what == 3: // the same request, another text
				arrived++
				s.arrive(w.newRequest(waiting[one].ID, arrived, newLength(), nil))
			default:
				s.send(tea.WindowSizeMsg{Width: rapid.IntRange(30, 140).Draw(rt, "w"),
					Height: rapid.IntRange(7, 40).Draw(rt, "h")})
			}
		}
		pause := func() {
			ms := rapid.SampledFrom([]int{1, 40, 60, 100, 299, 300, 350, 399, 419, 420, 1000}).Draw(rt, "ms")
			w.wait(time.Duration(ms) * time.Millisecond)
		}
		for range rapid.IntRange(5, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0, 1:
				do(happen)
			case 2:
				do(pause)
			case 3: // somebody reads to the end, and something may happen meanwhile
				do(func() { s.press("esc") })
				key := rapid.SampledFrom([]string{"a", "B"}).Draw(rt, "answer")
				if key == "B" {
					do(func() { s.press("B") })
				}
				for range rapid.IntRange(0, 12).Draw(rt, "pages") {
					ms := rapid.SampledFrom([]int{20, 60, 130, 130, 130}).Draw(rt, "look")
					do(func() { w.wait(time.Duration(ms) * time.Millisecond); s.press("space") })
				}
				if rapid.Bool().Draw(rt, "meanwhile") {
					do(happen)
				}
				ms := rapid.SampledFrom([]int{1, 200, 300, 330, 350, 380, 399, 410, 419, 420}).Draw(rt, "look")
				do(func() { w.wait(time.Duration(ms) * time.Millisecond); s.press(key) })
			default:
				if rapid.IntRange(0, 4).Draw(rt, "wheel") == 0 {
					place := s.model.layout().detail
					for range rapid.IntRange(1, 20).Draw(rt, "turns") {
						do(func() {
							w.wait(time.Duration(rapid.SampledFrom([]int{0, 5, 30, 130}).Draw(rt, "ms")) * time.Millisecond)
							s.send(tea.MouseWheelMsg{X: place.left, Y: place.top, Button: tea.MouseWheelDown})
						})
					}
				}
				do(func() {
					s.press(rapid.SampledFrom([]string{"a", "a", "A", "B", "d", "space", "down", "up", "tab", "b",
						"enter", "esc", "/", "h", "?", "w", "O", "r"}).Draw(rt, "key"))
				})
			}
		}
	})
	t.Logf("%d approvals, %d times several at once", approved, together)
	if approved == 0 || together == 0 && !testing.Short() { // a fifth of the checks then
		t.Error("no key approved anything, or never several at once: nothing was tried")
	}
}
