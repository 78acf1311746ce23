package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/wire"
)

func TestFrames(t *testing.T) {
	states := map[string]func(s *screen){
		"empty": func(*screen) {},
		"nohub": func(s *screen) { s.send(connectionMsg{"no hub runs; `hookmux hub start` starts one"}) },
		"day":   (*screen).fillDay,
		"question": func(s *screen) {
			s.fillDay()
			s.wait(time.Second)
			s.press("down", "esc")
			s.wait(time.Second)
			s.press("enter")
		},
		"window": func(s *screen) { s.fillDay(); s.press("down", "down") },
		"session": func(s *screen) {
			s.hub.detail = &wire.SessionDetail{Session: wire.Session{ID: "s4", Agent: "opencode", Status: "failed",
				Title: "update the dependencies", Cwd: "/home/me/web", StartedAt: noon.Add(-time.Hour)}}
			s.fillDay()
			s.press("down", "down", "down")
		},
		"always": func(s *screen) { s.fillDay(); s.wait(time.Second); s.press("A") },
		"deny":   func(s *screen) { s.fillDay(); s.wait(time.Second); s.press("d"); s.typeText("use the fake clock") },
		"help":   func(s *screen) { s.fillDay(); s.press("?") },
		"silent": func(s *screen) {
			s.fillDay()
			s.wait(time.Second)
			s.send(connectionMsg{"the hub closed the connection"})
		},
	}
	for name, prepare := range states {
		for _, width := range []int{40, 80, 120, 200} {
			t.Run(fmt.Sprintf("%s-%d", name, width), func(t *testing.T) {
				s := newScreen(t, width, 24)
				prepare(s)
				frame := frame{s.model}.render()
				for i, line := range strings.Split(frame, "\n") {
					if n := ansi.StringWidth(line); n > width {
						t.Errorf("line %d is %d columns wide, want at most %d: %q", i+1, n, width, line)
					}
				}
				if n := strings.Count(frame, "\n") + 1; n != 24 {
					t.Errorf("the frame has %d lines, want 24", n)
				}
				var lines []string
				for line := range strings.SplitSeq(ansi.Strip(frame), "\n") {
					lines = append(lines, strings.TrimRight(line, " "))
				}
				mustMatchGolden(t, fmt.Sprintf("%s-%d", name, width), strings.Join(lines, "\n")+"\n")
			})
		}
	}
}

// Text of agents never reaches the terminal as control characters, and never
// makes a line wider than the screen.
func TestHostileText(t *testing.T) {
	hostile := []string{"\x1b[2J\x1b]52;c;ZXZpbA==\x07", "a\rb", "\u202eevil", "zero\u200bwidth", "#(rm -rf x)",
		strings.Repeat("x", 10_000), "漢字かな🙂👩\u200d👩\u200d👧é", "\x9b31m", "tab\there\nline"}
	for _, text := range hostile {
		for _, width := range []int{40, 120} {
			s := newScreen(t, width, 20)
			s.send(sessionsMsg{{ID: "session-k1", Agent: text, Status: "needsInput", Title: text, Cwd: "/" + text,
				Tool: text}})
			s.arrive(s.request("k1", func(r *wire.FeedItem) {
				r.Agent, r.Shown, r.Note, r.Rule = text, "Claude wants\n  $ "+text+"\n", text, text
			}))
			s.wait(time.Second)
			for _, key := range []string{"", "A", "esc", "?", "esc", "d"} {
				if key != "" {
					s.press(key)
				}
				for line := range strings.SplitSeq(frame{s.model}.render(), "\n") {
					if n := ansi.StringWidth(line); n > width {
						t.Errorf("%q after %q: a line is %d columns wide, want at most %d", text[:min(len(text), 20)],
							key, n, width)
					}
					for _, r := range ansi.Strip(line) {
						if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u200b' {
							t.Errorf("%q after %q: %q reaches the terminal", text[:min(len(text), 20)], key, r)
						}
					}
				}
			}
		}
	}
}
