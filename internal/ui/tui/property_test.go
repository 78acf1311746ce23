package tui

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/internal/wire"
)

func keyPress(key string) tea.KeyPressMsg {
	if key == "backspace" {
		return tea.KeyPressMsg{Code: tea.KeyBackspace}
	}
	return tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
}

func pasted(text string) tea.PasteMsg { return tea.PasteMsg{Content: text} }

// Whatever arrives and goes while whatever keys are pressed: an approval reaches
// only the request that was selected, with the hash of what was shown, and only
// after all of its lines were on the screen and the last of them for settleTime.
func TestNoAnswerReachesWhatWasNotShown(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newScreen(t, rapid.SampledFrom([]int{40, 80, 130}).Draw(rt, "width"),
			rapid.IntRange(8, 30).Draw(rt, "height"))
		seen := map[string]map[string]bool{} // by hash: the lines that stood in a frame
		whole := map[string]time.Time{}      // by hash: since when all of them did
		items := map[string]*wire.FeedItem{}
		lookAt := func() {
			r := s.model.selectedRow()
			if r == nil || r.request == nil {
				return
			}
			frame := s.text()
			hash := r.request.SHA256
			if seen[hash] == nil {
				seen[hash] = map[string]bool{}
			}
			all := true
			for i := range linesOf(r.request) {
				mark := fmt.Sprintf("<%s:%d>", r.request.ID, i)
				if containsMark(frame, mark) {
					seen[hash][mark] = true
				}
				all = all && seen[hash][mark]
			}
			if _, known := whole[hash]; all && !known {
				whole[hash] = s.now
			}
		}
		next := 0
		for range rapid.IntRange(5, 60).Draw(rt, "steps") {
			before := len(s.hub.replies)
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				next++
				id := fmt.Sprintf("k%d", next)
				lines := rapid.IntRange(1, 40).Draw(rt, "lines")
				items[id] = s.request(id, func(r *wire.FeedItem) {
					r.Shown = ""
					for i := range lines {
						r.Shown += fmt.Sprintf("  $ <%s:%d>\n", id, i)
					}
				})
				s.arrive(items[id])
			case 1:
				for _, item := range s.model.board.requests {
					s.end(item)
					break
				}
			case 2:
				s.wait(time.Duration(rapid.SampledFrom([]int{1, 100, 299, 300, 1000}).Draw(rt,
					"ms")) * time.Millisecond)
			case 3:
				s.send(tea.WindowSizeMsg{Width: rapid.IntRange(30, 140).Draw(rt, "w"),
					Height: rapid.IntRange(7, 40).Draw(rt, "h")})
			default:
				s.press(rapid.SampledFrom([]string{"a", "a", "a", "A", "space", "space", "down", "up", "tab", "b",
					"enter", "esc", "/"}).
					Draw(rt, "key"))
			}
			for _, reply := range s.hub.replies[before:] {
				if reply.Choice != "once" && reply.Choice != "always" {
					continue
				}
				if want := items[reply.ID].SHA256; reply.SHA256 != want {
					rt.Fatalf("the answer to %s carries %s, want the hash of what was shown, %s", reply.ID,
						reply.SHA256, want)
				}
				since, ok := whole[reply.SHA256]
				if !ok {
					rt.Fatalf("%s was approved before all of it was on the screen", reply.ID)
				}
				if shownFor := s.now.Sub(since); shownFor < settleTime {
					rt.Fatalf("%s was approved %v after its end appeared, want at least %v", reply.ID, shownFor,
						settleTime)
				}
			}
			lookAt()
		}
	})
}

func linesOf(item *wire.FeedItem) []string {
	var out []string
	for i := range item.Shown {
		if item.Shown[i] == '\n' {
			out = append(out, "")
		}
	}
	return out
}

func containsMark(frame, mark string) bool {
	for i := 0; i+len(mark) <= len(frame); i++ {
		if frame[i:i+len(mark)] == mark {
			return true
		}
	}
	return false
}
