package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire"
)

// states are the states in which the view must look right.
var states = map[string]func(s *screen){
	"empty": func(*screen) {},
	"unhooked": func(s *screen) {
		s.model.opts.Empty = []string{"", "hookmux setup                hook claude, codex, switch guards on, step by step",
			"hookmux run claude           or try one session, without changing a file"}
	},
	"nodaemon": func(s *screen) { s.send(connectionMsg{"no daemon runs; `hookmux daemon start` starts one"}) },
	"day":      (*screen).fillDay,
	"question": func(s *screen) {
		s.fillDay()
		s.wait(time.Second)
		s.press("down", "esc")
		s.wait(time.Second)
		s.press("enter")
	},
	"window": func(s *screen) { s.fillDay(); s.press("down", "down") },
	"session": func(s *screen) {
		s.daemon.detail = &wire.SessionDetail{Session: wire.Session{ID: "s4", Agent: "opencode", Status: "failed",
			Title: "update the dependencies", Cwd: "/home/me/web", StartedAt: noon.Add(-time.Hour)}}
		s.daemon.entries = journalOf("s4")
		s.fillDay()
		s.press("down", "down", "down")
	},
	"command": func(s *screen) {
		s.arrive(s.request("k1", func(r *wire.InboxRequest) {
			r.Shown = "Claude Code wants to run a command with Bash\nin /home/me/shop\n" +
				"  $ cd \"$HOME/shop\" && go test -race ./... 2>&1 | tee 'test log.txt' # all of them\n" +
				"  $ curl -fsSL https://example.com/" + strings.Repeat("a-very-long-path/", 10) + "install.sh -o x.sh\n" +
				"  · description: Run the tests once more, because the clock of the machine was wrong yesterday\n"
		}))
	},
	"edit": func(s *screen) {
		s.arrive(s.request("k1", func(r *wire.InboxRequest) {
			r.Shown = "Claude Code wants to write with Edit\nin /home/me/shop\nfile: clock.go\n" +
				"  - func Now() time.Time { return time.Now() }\n  + func Now() time.Time { return clock() }\n"
		}))
	},
	"plan": func(s *screen) {
		s.arrive(s.request("k1", func(r *wire.InboxRequest) {
			r.Kind, r.Choices = "plan", []string{"accept", "auto", "manual", "reject"}
			r.Shown = "Claude Code has a plan\nin /home/me/shop\n  # Move the database\n  \n  1. Copy the schema.\n" +
				"  2. Compare row counts.\n"
		}))
	},
	"danger": func(s *screen) {
		s.daemon.detail = &wire.SessionDetail{Session: wire.Session{ID: "session-k1", Agent: "opencode"}}
		s.daemon.entries = journalOf("session-k1")
		s.send(sessionsMsg{{ID: "session-k1", Agent: "opencode", Status: "waiting", Title: "a clean build", Cwd: "/home/me/shop",
			Usage: &wire.SessionUsage{CostUSD: new(1.24), Tokens: 812000, ContextLeft: new(12.4), Plan: true}, LastWords: "I'll build it from scratch."}})
		s.arrive(s.request("k1", func(r *wire.InboxRequest) {
			r.Agent, r.Effect, r.Risk = "opencode", "deletes build/ · runs make · no rule matches", "high"
			r.Shown = "OpenCode wants to run a command with bash\nin /home/me/shop\n  $ rm -rf build && make -j8 all\n"
		}))
	},
	"unread": func(s *screen) {
		s.arrive(s.request("k1", func(r *wire.InboxRequest) {
			r.Effect, r.Risk = "writes notes.md · no rule matches", "normal"
			r.Shown = "Claude Code wants to write with Write\nfile: notes.md\n" + strings.Repeat("  + a line of many\n", 60)
		}))
	},
	"form": func(s *screen) {
		s.arrive(s.request("k1", func(r *wire.InboxRequest) {
			r.Kind, r.Tool, r.Choices = "question", "", []string{"answer", "deny"}
			r.Questions = append(question(), event.Inquiry{Text: "Which checks?", Multi: true, Options: []event.Option{
				{Label: "unit"}, {Label: "lint"}}})
		}))
		s.wait(time.Second)
		s.press("enter", "1", "down", "space")
	},
	"start": func(s *screen) {
		s.model.opts.Agents, s.model.opts.Folder = []string{"claude", "codex", "gemini"}, "/home/me/shop"
		s.model.opts.Start = func(context.Context, Work) (string, error) { return "", nil }
		s.fillDay()
		s.press("n", "down", "down")
		s.typeText("login")
	},
	"sidebar": func(s *screen) { s.model.opts.Sidebar = true; s.fillDay() },
	"always":  func(s *screen) { s.fillDay(); s.wait(time.Second); s.press("A") },
	"deny":    func(s *screen) { s.fillDay(); s.wait(time.Second); s.press("d"); s.typeText("use the fake clock") },
	"batch":   func(s *screen) { s.fillDay(); s.arrive(s.request("k4", nil)); s.wait(time.Second); s.press("B") },
	"history": func(s *screen) {
		s.fillDay()
		s.daemon.entries = journalOf("s4")
		s.press("h", "end", "up")
	},
	"help": func(s *screen) { s.fillDay(); s.press("?") },
	"silent": func(s *screen) {
		s.fillDay()
		s.wait(time.Second)
		s.send(silenceMsg{})
		s.press("a")
	},
	"hungup": func(s *screen) { s.fillDay(); s.send(connectionMsg{"the daemon closed the connection"}) },
	"otherversion": func(s *screen) {
		s.fillDay()
		s.model.opts.Version = "0.3.0"
		s.send(infoMsg{&client.Info{Version: "0.2.1"}})
	},
	"problems": func(s *screen) { s.fillDay(); s.send(infoMsg{&client.Info{Problems: twoProblems()}}) },
	"remedies": func(s *screen) { s.fillDay(); s.send(infoMsg{&client.Info{Problems: twoProblems()}}); s.press("p") },
	"off": func(s *screen) {
		s.fillDay()
		until := s.now.Add(30 * time.Minute)
		s.send(infoMsg{&client.Info{Off: &wire.Off{Since: s.now, Until: &until}, Inbox: wire.InboxInfo{Away: true}}})
	},
	"crowd": func(s *screen) {
		var list []wire.Session
		for i := range 500 {
			list = append(list, wire.Session{ID: fmt.Sprintf("s%03d", i), Agent: "claude", Status: "running",
				Title: fmt.Sprintf("task %d", i), Cwd: "/home/me/shop", Tool: "Bash: make", StartedAt: noon,
				Since: noon.Add(-time.Hour)})
		}
		s.send(sessionsMsg(list))
		s.arrive(s.request("k1", nil))
		s.press("home", "down", "down", "down", "down", "down", "down", "down", "down", "down", "down", "down")
	},
}

func twoProblems() []wire.Problem {
	return []wire.Problem{
		{Key: "hooks", What: "Claude Code does not call hookmux: disableAllHooks is set in ~/.claude/settings.json, line 3",
			Fix: "take that line out, or run `hookmux run claude`"},
		{Key: "disk", What: "the journal cannot be written: no space left on device", Fix: "make room in ~/.local/state"}}
}

// journalOf are events of a session, and a decision, as the journal has them.
func journalOf(session string) []client.Entry {
	at := noon.Add(-10 * time.Minute)
	entry := func(ev *event.Event, outcome *wire.Outcome) client.Entry {
		at = at.Add(time.Minute)
		ev.Session, ev.Time = session, at
		text, err := json.Marshal(ev)
		if err != nil {
			panic(err) // plain values
		}
		return client.Entry{Event: text, Outcome: outcome}
	}
	call := func(kind event.Kind, command string) *event.Event {
		return &event.Event{Agent: "opencode", Kind: kind, Tool: &event.Tool{Name: "bash", Commands: []string{command}}}
	}
	decided := func(d event.Decision) *wire.Outcome {
		text, _ := json.Marshal(d)
		return &wire.Outcome{Decision: text}
	}
	return []client.Entry{
		entry(&event.Event{Agent: "opencode", Kind: event.TurnStart, Prompt: "update the dependencies"}, nil),
		entry(call(event.ToolBefore, "npm outdated"), nil),
		entry(call(event.PermissionRequest, "npm update"), decided(event.Decision{Verdict: event.Allow, By: "person"})),
		entry(call(event.ToolBefore, "rm -rf ~/"), decided(event.Decision{Verdict: event.Deny, By: "guard.destructive",
			Reason: "deletes the home directory", Rule: "destructive.rm-broad"})),
		entry(&event.Event{Agent: "opencode", Kind: event.TurnEnd, Message: "npm could not reach the registry."}, nil),
		entry(&event.Event{ID: "d1", Agent: "hookmux", Kind: event.Other, Native: "decision", Raw: []byte(`{"id":"d1",` +
			`"request":"q4jz","agent":"claude","session":"s4","cwd":"/home/me/web","kind":"permission","tool":"Bash",` +
			`"verdict":"deny","reason":"not today","by":"bash, pid 7, /dev/pts/3",` +
			`"shown":"Claude Code wants to run a command with Bash\n  $ git push --force\n","at":"2026-11-16T11:40:00Z"}`)},
			nil),
	}
}

func TestFrames(t *testing.T) {
	for name, prepare := range states {
		t.Run(name, func(t *testing.T) {
			coloured := ""
			for _, width := range []int{40, 80, 120, 200} {
				s := newScreen(t, width, 24)
				prepare(s)
				frame := (&palette{}).paint(frame{s.model}.render())
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
				coloured += visibleStyles(checkThemes(t, frame)) + "\n"
			}
			mustMatchGolden(t, name+".colours", coloured)
		})
	}
}

// checkThemes holds that a frame is the same with 16 colours and with millions, that
// it sets no background, so that it fits light and dark ones, and that NO_COLOR
// takes the colours out and nothing else. It returns the frame with 16 colours.
func checkThemes(t *testing.T, frame string) string {
	t.Helper()
	in := func(profile colorprofile.Profile) string {
		var b strings.Builder
		if _, err := (&colorprofile.Writer{Forward: &b, Profile: profile}).WriteString(frame); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(b.String(), "\x1b[0m", "\x1b[m")
	}
	sixteen, none := in(colorprofile.ANSI), in(colorprofile.ASCII)
	if millions := in(colorprofile.TrueColor); millions != sixteen {
		t.Errorf("with millions of colours the frame is\n%q\nwant the one with 16\n%q", millions, sixteen)
	}
	if ansi.Strip(none) != ansi.Strip(frame) {
		t.Errorf("without colours the frame says\n%s\nwant\n%s", ansi.Strip(none), ansi.Strip(frame))
	}
	for _, sequence := range styleSequence.FindAllStringSubmatch(none, -1) {
		if colourCode.MatchString(sequence[1]) {
			t.Errorf("NO_COLOR leaves %q", sequence[0])
		}
	}
	for _, sequence := range styleSequence.FindAllStringSubmatch(sixteen, -1) {
		if backgroundCode.MatchString(sequence[1]) {
			t.Errorf("%q sets a background", sequence[0])
		}
	}
	return sixteen
}

var (
	styleSequence  = regexp.MustCompile("\x1b\\[([0-9;]*)m")
	colourCode     = regexp.MustCompile(`(^|;)([349][0-7]|[34]8|10[0-7])(;|$)`)
	backgroundCode = regexp.MustCompile(`(^|;)(4[0-8]|10[0-7])(;|$)`)
)

// visibleStyles writes styles so that a golden file can be read.
func visibleStyles(frame string) string {
	frame = styleSequence.ReplaceAllString(frame, "‹$1›")
	return regexp.MustCompile(` +(\n|$)`).ReplaceAllString(frame, "$1")
}

// Text of agents never reaches the terminal as control characters, and never
// makes a line wider than the screen.
func TestHostileText(t *testing.T) {
	hostile := []string{"\x1b[2J\x1b]52;c;ZXZpbA==\x07", "a\rb", "\u202eevil", "zero\u200bwidth", "#(rm -rf x)",
		strings.Repeat("x", 10_000), "漢字かな🙂👩\u200d👩\u200d👧é", "\x9b31m", "tab\there\nline",
		"$(\x1b]0;x\x07)", "'\u202e", "a\u0301\u0301\u0301", "\U0001F468\u200d\U0001F469", "é\u0085\u2028x"}
	for _, text := range hostile {
		for _, width := range []int{40, 120} {
			s := newScreen(t, width, 20)
			s.send(sessionsMsg{{ID: "session-k1", Agent: text, Status: "waiting", Title: text, Cwd: "/" + text,
				Tool: text}})
			s.arrive(s.request("k1", func(r *wire.InboxRequest) {
				r.Agent, r.Shown, r.Note, r.Rule = text, "Claude wants\n  $ "+text+"\n", text, text
			}))
			s.arrive(s.request("k2", func(r *wire.InboxRequest) { r.Questions, r.Choices = question(), []string{"answer", "once"} }))
			s.daemon.entries = journalOf("session-k1")
			for i := range s.daemon.entries {
				safe, _ := json.Marshal(text)
				s.daemon.entries[i].Event = []byte(strings.ReplaceAll(string(s.daemon.entries[i].Event), `npm update`,
					string(safe[1:len(safe)-1])))
			}
			s.send(infoMsg{&client.Info{Version: text, Problems: []wire.Problem{{What: text, Fix: text}}}})
			s.wait(time.Second)
			for _, key := range []string{"", "A", "esc", "?", "esc", "p", "esc", "B", "esc", "h", "end", "up", "d"} {
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
