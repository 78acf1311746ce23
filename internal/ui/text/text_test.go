package text

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC // lines show local time
	os.Exit(m.Run())
}

var noon = time.Date(2026, 5, 4, 12, 0, 1, 234_000_000, time.UTC)

const hostile = "a\x1b[2Jb\u202ec\u200bd\x07\r\ne\u0085\xff"
const hostileShown = `a\x1b[2Jb\u202ec\u200bd\x07⏎e\u0085\xff`

func outcome(d event.Decision) *wire.Outcome {
	b, _ := json.Marshal(d)
	return &wire.Outcome{ID: "e", Agent: "claude", Native: "PreToolUse", Tool: "Bash", Time: noon, TookUS: 12_345,
		Decision: b}
}

func TestEventLines(t *testing.T) {
	for _, c := range []struct {
		name string
		ev   event.Event
		out  *wire.Outcome
		want string
	}{
		{"bare", event.Event{}, nil, "                              "},
		{"a command", event.Event{Agent: "claude", Kind: event.ToolBefore, Session: "0198-abcdefgh12345678",
			Tool: &event.Tool{Name: "Bash", Commands: []string{"ls", "pwd"}}}, nil,
			"claude      tool call          Bash: ls ; pwd [0198-abc]"},
		{"a path", event.Event{Agent: "grok", Kind: event.ToolAfter, Tool: &event.Tool{Name: "edit", Writes: []string{"/home/u/project/src/main.go"}}}, nil,
			"grok        tool done          edit src/main.go"},
		{"a call that failed", event.Event{Agent: "codex", Kind: event.ToolAfter, Error: "exit code 2",
			Tool: &event.Tool{Name: "Bash", Commands: []string{"make"}, Failed: true}}, nil,
			"codex       tool done          Bash: make ✗ failed: exit code 2"},
		{"a call that failed without a word", event.Event{Agent: "codex", Kind: event.ToolAfter,
			Tool: &event.Tool{Name: "Bash", Commands: []string{"make"}, Failed: true}}, nil,
			"codex       tool done          Bash: make ✗ failed"},
		{"paths", event.Event{Agent: "codex", Kind: event.ToolBefore, Tool: &event.Tool{Name: "apply_patch", Writes: []string{"a.go", "b.go"}, Reads: []string{"c"}}}, nil,
			"codex       tool call          apply_patch a.go and 2 more"},
		{"an address", event.Event{Agent: "claude", Kind: event.ToolBefore, Tool: &event.Tool{Name: "WebFetch", URL: "https://example.org/x"}}, nil,
			"claude      tool call          WebFetch https://example.org/x"},
		{"a prompt", event.Event{Agent: "claude", Kind: event.TurnStart, Session: "s1", Prompt: "fix\nit"}, nil,
			"claude      prompt             fix⏎it [s1]"},
		{"an error before a message", event.Event{Agent: "claude", Kind: event.TurnEnd, Error: "overloaded", Message: "m"}, nil,
			"claude      turn done          overloaded"},
		{"a detail", event.Event{Agent: "claude", Kind: event.SessionStart, Detail: "resume"}, nil,
			"claude      session started    resume"},
		{"another event", event.Event{Agent: "claude", Kind: event.Other, Native: "WorktreeCreate"}, nil,
			"claude      WorktreeCreate    "},
		{"a person's answer", event.Event{Agent: "hookmux", Kind: event.Other, Native: "decision", Detail: "use staging",
			Raw: []byte(`{"request":"mbyz","agent":"claude","session":"f9eb64a1-c366-4a3e-8591-77cbd2a99b06","tool":"Bash",` +
				`"kind":"permission","verdict":"deny","reason":"use staging"}`)}, nil,
			"hookmux     decision           you denied mbyz, claude Bash [f9eb64a1]: use staging"},
		{"a subagent", event.Event{Agent: "claude", Kind: event.SubagentEnd, Subagent: &event.Subagent{Type: "explore"}}, nil,
			"claude      subagent done      subagent explore"},
		{"marks", event.Event{Agent: "claude", Kind: event.ToolBefore, Nested: true, Truncated: true, Malformed: "cut off\nat 7"}, nil,
			"claude      tool call          (inside a hook) (cut) (malformed: cut off⏎at 7)"},
		{"with what came of it", event.Event{Agent: "claude", Kind: event.ToolBefore, Tool: &event.Tool{Name: "Bash", Commands: []string{"deploy prod"}}},
			outcome(event.Decision{Verdict: event.Deny, By: "no-prod", Reason: "not today"}),
			"claude      tool call          Bash: deploy prod → deny · by no-prod · not today"},
		{"nothing came of it", event.Event{Agent: "claude", Kind: event.TurnEnd}, outcome(event.Decision{}), "claude      turn done         "},
		{"hostile",
			event.Event{Agent: hostile, Kind: hostile, Session: hostile, Subagent: &event.Subagent{Type: hostile}, Malformed: hostile,
				Tool: &event.Tool{Name: hostile, Commands: []string{hostile}}}, nil,
			`a\x1b[2Jb…  a\x1b[2Jb\u202ec…  ` + hostileShown + `: ` + hostileShown +
				` [a\x1b[2Jb] subagent a\x1b[2Jb\u202ec\u200bd… (malformed: ` + hostileShown + `)`},
		{"wide letters line up", event.Event{Agent: "助手", Kind: event.TurnEnd}, nil, "助手        turn done         "},
	} {
		c.ev.Time = noon
		got := Style{}.Event(&c.ev, c.out)
		if got != "May 04 12:00:01 "+c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, "May 04 12:00:01 "+c.want)
		}
	}
}

// In a terminal a long label is cut so that the line fits, and the session stays.
func TestEventFits(t *testing.T) {
	ev := event.Event{Agent: "claude", Kind: event.TurnStart, Session: "0199a111-7c1e-7000-8000-00000000a001", Time: noon,
		Prompt: strings.Repeat("words ", 40)}
	for _, c := range []struct {
		width        int
		starts, ends string
	}{
		{80, "12:00:01 claude   prompt ", "… [0199a111]"},
		{100, "May 04 12:00:01 claude      prompt ", "… [0199a111-7c1e]"},
		{160, "May 04 12:00:01 claude      prompt ", "… [0199a111-7c1e]"},
		{0, "May 04 12:00:01 claude      prompt ", "words words  [0199a111-7c1e]"},
	} {
		got := Style{Width: c.width}.Event(&ev, nil)
		if c.width > 0 && termsafe.Width(got) != c.width || !strings.HasPrefix(got, c.starts) || !strings.HasSuffix(got, c.ends) {
			t.Errorf("in a terminal of %d columns: %q, %d wide; want it to begin with %q, end with %q and fill the line", c.width, got,
				termsafe.Width(got), c.starts, c.ends)
		}
	}
}

// Where lines have no date of their own, the first of another day has one above it.
func TestDay(t *testing.T) {
	for _, c := range []struct {
		width int
		want  []string
	}{
		{80, []string{"", "", "Tue May 05", ""}},
		{120, []string{"", "", "", ""}},
		{0, []string{"", "", "", ""}},
	} {
		style, day := Style{Width: c.width}, ""
		style.Day(noon, &day)
		for i, after := range []time.Duration{0, time.Hour, 13 * time.Hour, 14 * time.Hour} {
			if got := style.Day(noon.Add(after), &day); got != c.want[i] {
				t.Errorf("%s later in a terminal of %d columns: %q, want %q", after, c.width, got, c.want[i])
			}
		}
	}
}

func TestOutcomeLines(t *testing.T) {
	step := func(o *wire.Outcome, s ...wire.Step) *wire.Outcome { o.Steps = s; return o }
	neutral := outcome(event.Decision{})
	neutral.Neutral = "off"
	for _, c := range []struct {
		name string
		out  *wire.Outcome
		want string // "" when there is nothing to say
	}{
		{"nothing", outcome(event.Decision{}), ""},
		{"nothing, with a reason", outcome(event.Decision{Reason: "r", By: "x"}), ""},
		{"no decision", &wire.Outcome{}, ""},
		{"deny", outcome(event.Decision{Verdict: event.Deny, By: "g", Reason: "no\nway"}), "deny · by g · no⏎way"},
		{"ask", outcome(event.Decision{Verdict: event.Ask, By: "g", Reason: "sure?"}), "ask · by g · sure?"},
		{"allow", outcome(event.Decision{Verdict: event.Allow, By: "g", Reason: "fine"}), "allow · by g"},
		{"changed", outcome(event.Decision{Verdict: event.Modify, By: "g", Input: json.RawMessage(`{}`)}), "changed · by g"},
		{"changed and allowed", outcome(event.Decision{Verdict: event.Modify, Allowed: true, By: "g"}), "changed and allowed · by g"},
		{"kept going", outcome(event.Decision{KeepGoing: true, Reason: "tests"}), "tests · kept going"},
		{"said to the model", outcome(event.Decision{Context: "c", Output: json.RawMessage("1")}), "context added · result changed"},
		{"degraded", outcome(event.Decision{Verdict: event.Deny, Reason: "r", Degraded: []event.Degradation{{What: event.PartAsk, To: event.ToDeny, Why: "it cannot"}}}), "deny · r · degraded: ask → deny: it cannot"},
		{"a hook failed", step(outcome(event.Decision{}), wire.Step{Hook: "ok"}, wire.Step{Hook: "h", Error: "exit status 3"}), "hook h failed: exit status 3"},
		{"neutral", neutral, "neutral: off"},
		{"not to be read", &wire.Outcome{Decision: json.RawMessage(`{"verdict":"rewrite"}`)}, `unreadable decision: decision "rewrite" is none of allow, deny, ask, modify, none`},
		{"hostile", step(outcome(event.Decision{Verdict: event.Deny, By: hostile, Reason: hostile, Degraded: []event.Degradation{{Text: hostile}}}), wire.Step{Hook: hostile, Error: hostile}),
			"deny · by " + shown + " · " + shown + " · degraded: " + shown + " · hook " + hostileShown + " failed: " + hostileShown},
	} {
		want := ""
		if c.want != "" {
			want = " → " + c.want
		}
		if got := (Style{}).Outcome(c.out, false); got != want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, want)
		}
	}
	if got := (Style{}).Outcome(outcome(event.Decision{Verdict: event.Deny, Reason: "no"}),
		true); got != "May 04 12:00:01 claude      → PreToolUse Bash  deny · no (12.3ms)" { // when it was decided
		t.Errorf("alone: %q, want %q", got, "May 04 12:00:01 claude      → PreToolUse Bash  deny · no (12.3ms)")
	}
	if got := (Style{}).Outcome(outcome(event.Decision{}), true); got != "" {
		t.Errorf("alone, nothing to say: %q", got)
	}
}

// shown is hostile text once it went through JSON, where broken bytes become
// U+FFFD.
var shown = termsafe.Line(strings.ReplaceAll(hostile, "\xff", "\ufffd"), 0)

func TestEntry(t *testing.T) {
	ev := event.Event{ID: "e", Time: noon, Agent: "claude", Kind: event.TurnStart, Prompt: "hello"}
	got := Style{}.Entry(&wire.Entry{Event: ev.AppendJSON(nil, event.Form{}),
		Outcome: outcome(event.Decision{Context: "c"})})
	if got != "May 04 12:00:01 claude      prompt             hello → context added" {
		t.Errorf(`got %q, want "May 04 12:00:01 claude      prompt             hello → context added"`, got)
	}
	if got := (Style{}).Entry(&wire.Entry{Event: json.RawMessage(`{"time":"\u001b[2J"}`)}); !strings.HasPrefix(got,
		"unreadable event: ") || strings.Contains(got, "\x1b") {
		t.Errorf(`got %q, want one that begins with "unreadable event: " and no "\x1b" in it`, got)
	}
}

func TestColours(t *testing.T) {
	ev := event.Event{Time: noon, Agent: "claude", Kind: event.ToolBefore, Session: "s", Truncated: true,
		Tool: &event.Tool{Name: "Bash\x1b[0m"}}
	out := outcome(event.Decision{Verdict: event.Deny, Reason: "no"})
	got := Style{Color: true}.Event(&ev, out)
	want := "\x1b[2mMay 04 12:00:01\x1b[0m \x1b[35mclaude     \x1b[0m tool call          Bash\\x1b[0m " +
		"\x1b[2m[s]\x1b[0m \x1b[33m(cut)\x1b[0m \x1b[2m→\x1b[0m \x1b[31mdeny\x1b[0m · no"
	if got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if plain := (Style{}).Event(&ev, out); plain != stripColours(got) {
		t.Errorf("colours change the words: %q", plain)
	}
}

func stripColours(s string) string {
	for _, code := range []string{"0", "1", "2", "31", "32", "33", "34", "35", "36", "94", "95", "96"} {
		s = strings.ReplaceAll(s, "\x1b["+code+"m", "")
	}
	return s
}

// Whatever an agent sends, a line stays a line and holds nothing a terminal
// would act upon.
func TestNothingDangerousReachesTheScreen(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", hostile, "\x1b]0;t\x07", "\u2066x\u2069",
		"\u00ad", "a\nb", "\x9b31m"}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		s := func(name string) string { return text.Draw(t, name) }
		ev := event.Event{
			Time: noon, Agent: s("agent"), Kind: event.Kind(s("kind")), Native: s("native"), Session: s("session"),
			Prompt:  s("prompt"),
			Message: s("message"), Detail: s("detail"), Malformed: s("malformed"),
			Subagent: &event.Subagent{Type: s("sub")},
		}
		if rapid.Bool().Draw(t, "tool") {
			ev.Tool = &event.Tool{Name: s("tool"), URL: s("url")}
			if rapid.Bool().Draw(t, "path") {
				ev.Tool.Writes = []string{s("path")}
			}
		}
		out := outcome(event.Decision{Verdict: event.Deny, Reason: s("reason"), By: s("by"),
			Degraded: []event.Degradation{{Text: s("degraded")}}})
		out.Agent, out.Native, out.Tool, out.Neutral = s("o agent"), s("o native"), s("o tool"), s("neutral")
		out.Steps = []wire.Step{{Hook: s("hook"), Error: s("step error") + "x"}}
		info := wire.Info{
			Socket: s("socket"), Version: s("version"), Config: s("config"), State: s("state"),
			Agents:   []wire.AgentInfo{{Name: s("a"), Program: s("program"), Version: s("a version"), Last: &noon}},
			Problems: []wire.Problem{{What: s("what"), Fix: s("fix"), Count: 2}},
		}
		var status bytes.Buffer
		(Style{}).Status(&status, &StatusReport{Info: &info, Problems: info.Problems, All: true, Notes: []string{s("note")}},
			noon)
		lines := []string{(Style{}).Event(&ev, out), (Style{}).Outcome(out, true)}
		for _, line := range lines {
			if strings.Contains(line, "\n") {
				t.Fatalf("two lines: %q; want no \"\\n\" in line", line)
			}
		}
		for _, line := range append(lines, status.String()) {
			if !utf8.ValidString(line) {
				t.Fatalf("line = %q, want utf8.ValidString(line)", line)
			}
			previous := rune(0)
			for _, r := range line {
				if termsafe.Dangerous(r) && termsafe.Text(string([]rune{previous, r})) != string([]rune{previous, r}) {
					t.Fatalf("%U in %q; want !termsafe.Dangerous(r) or termsafe.Text(string([]rune{previous, "+
						"r})) == string([]rune{previous, r})", r, line)
				}
				previous = r
			}
		}
	})
}

func TestStatus(t *testing.T) {
	last, until := noon.Add(-90*time.Second), noon.Add(time.Hour)
	info := wire.Info{
		PID: 42, Version: "0.1", Uptime: 3700, Socket: "/run/daemon.sock", Config: "/c", State: "/s",
		Off:    &wire.Off{Since: noon, Until: &until},
		Counts: wire.Counts{Events: 10, Decided: 2, Denied: 1, Waiting: 3, Undrained: 4, Journal: 5 << 20},
		Agents: []wire.AgentInfo{
			{Name: "claude", Program: "/bin/claude", Events: 9, Last: &last, Version: "2.1"},
			{Name: "codex", Program: "/bin/codex"}, {Name: "grok"},
		},
		Problems: []wire.Problem{{What: "the disk is full", Fix: "make room", Count: 3}, {What: "two\nlines"}},
	}
	report := &StatusReport{Info: &info, Problems: info.Problems, Notes: []string{"a note"}, All: true,
		Agents: []HookedAgent{NewHookedAgent("claude", true, 9, ""), NewHookedAgent("codex", false, 0, "")}}
	var b bytes.Buffer
	(Style{}).Status(&b, report, noon)
	want := `2 problems
     ✗ the disk is full (3 times)
       → make room
     ✗ two⏎lines

agents   claude  hooked, 9 events, last 1m30s ago, version 2.1, /bin/claude
         codex   not hooked, /bin/codex
         not here: grok
off      all hooks, guards and rules are off until 13:00:01
daemon   running, pid 42, version 0.1, up 1h1m
         10 events, 2 decided, 1 denied, 4 not yet in the journal, journal 5.0 MiB
         socket /run/daemon.sock
         settings /c, state /s
note     a note
`
	if b.String() != want {
		t.Errorf("b.String() = %s, want %q", b.String(), want)
	}
	b.Reset()
	(Style{Color: true}).Status(&b, report, noon)
	if stripColours(b.String()) != want || b.String() == want {
		t.Errorf("in colour:\n%q; want stripColours(b.String()) == want and b.String() != want", b.String())
	}
	b.Reset()
	report.Problems, report.All, report.Info = nil, false, &wire.Info{Off: &wire.Off{}}
	(Style{Width: 80}).Status(&b, report, noon)
	for _, line := range []string{"until `hookmux on`", "hookmux is off: nothing is blocked", "journal 0 B", "up <1s"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no %q in\n%s; want line in b.String()", line, b.String())
		}
	}
	b.Reset()
	(Style{}).Status(&b, &StatusReport{NoDaemon: "not running", Problems: []wire.Problem{{What: "x"}}}, noon)
	if !strings.HasPrefix(b.String(), "1 problem\n") || !strings.Contains(b.String(), "\ndaemon   not running\n") {
		t.Errorf(`b.String() = %q, want it to begin with "1 problem" and to say that no daemon runs`, b.String())
	}
}

func TestSpansAndSizes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "<1s", 999 * time.Millisecond: "<1s", 12 * time.Second: "12s", 185 * time.Second: "3m5s", 26 * time.Hour: "1d2h", 23*time.Hour + 59*time.Minute: "23h",
		42*time.Minute + 9*time.Second: "42m", 3*time.Hour + 20*time.Minute: "3h20m", 300 * time.Hour: "12d",
	} {
		if got := ago(d); got != want {
			t.Errorf("%s: ago(d) = %s, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 3 << 30: "3.0 GiB"} {
		if got := size(n); got != want {
			t.Errorf("%d: size(n) = %s, want %q", n, got, want)
		}
	}
	for in, want := range map[string]string{"/a": "/a", "a": "a", "./a": "a", "/x/y/z": "y/z", "x/y/": "x/y", "/": "/",
		"../a": "../a"} {
		if got := tail(in); got != want {
			t.Errorf("%s: tail(in) = %s, want %q", in, got, want)
		}
	}
}

// In a terminal no line is wider than it, and words stay whole.
func TestTableFits(t *testing.T) {
	rows := [][]string{
		{"inbox.wait", "2m", "how long an agent is held for a person when its own prompt cannot be used meanwhile"},
		{"gate", "off", "what waits"},
	}
	for width, want := range map[int]string{
		60: "inbox.wait  2m   how long an agent is held for a person when\n" +
			"                 its own prompt cannot be used meanwhile\n" +
			"gate        off  what waits\n",
		34: "inbox.wait  2m\n    how long an agent is held for\n    a person when its own prompt\n" +
			"    cannot be used meanwhile\ngate        off  what waits\n",
	} {
		var b bytes.Buffer
		if Table(&b, rows, width); b.String() != want {
			t.Errorf("at %d columns:\n%s\nwant\n%s", width, b.String(), want)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	Table(&b, [][]string{{"id", "agent", "target"}, {"a-long-id", "*", ""}, {"助手", "codex", "x  y"}, {}, {"one"}}, 0)
	want := "id         agent  target\na-long-id  *\n助手       codex  x  y\n\none\n"
	if b.String() != want {
		t.Errorf("b.String() = %q, want = %q; want b.String() = %q", b.String(), want, want)
	}
}
