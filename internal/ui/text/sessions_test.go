package text

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// The list fits every terminal, and says what an agent does in each.
func TestSessionsFitTheTerminal(t *testing.T) {
	long := strings.Repeat("refactor the shopping cart ", 5)
	list := []wire.Session{
		{ID: "c5acb495-1111-4222-8333-444455556666", Agent: "claude", Status: "waiting", Title: long, Pane: "%12", Mux: "tmux",
			Cwd: "/home/user/projects/shop", Asks: []string{"Bash: npm test -- --grep payments"}},
		{ID: "0199a1b2-3c4d-7eee-8fff-000011112222", Agent: "codex", Status: "running", Title: "deploy", Tool: "Bash: make deploy",
			Cwd: "/home/user/projects/infrastructure", Turn: &wire.Turn{}},
		{ID: "ses_5f3a1b2c4d5e", Agent: "opencode", Status: "done", Title: "購物車重構購物車重構購物車重構購物車重構", Cwd: "/p",
			Turn: &wire.Turn{Ended: &noon, Summary: "Bash is not needed: " + long}},
	}
	cost := 0.05
	for i := range list {
		list[i].Since, list[i].Usage = noon, &wire.SessionUsage{CostUSD: &cost, Tokens: 8500}
		if list[i].Turn != nil {
			list[i].Turn.Started = noon
		}
	}
	for width := 40; width <= 260; width++ {
		var b bytes.Buffer
		(Style{Color: true}).Sessions(&b, list, noon.Add(time.Hour), width)
		lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
		if len(lines) != 4 || !strings.Contains(lines[0], "ACTIVITY") || !strings.Contains(lines[0], "STATUS") {
			t.Fatalf("%d columns: want a head with STATUS and ACTIVITY and 3 lines, got\n%s", width, b.String())
		}
		for i, line := range lines {
			if n := termsafe.Width(plain(line)); n > width {
				t.Errorf("%d columns: a line takes %d: %q", width, n, plain(line))
			}
			if i > 0 && !strings.Contains(line, "Bash") {
				t.Errorf("%d columns: does not say what it does: %q", width, plain(line))
			}
		}
	}
	for width, want := range map[int]string{
		120: "STATUS     AGENT     ID            TITLE                             AGE   PANE  COST   ACTIVITY",
		80:  "STATUS     AGENT     ID            TITLE                  AGE   ACTIVITY", 240: "STATUS     AGENT     ID",
	} {
		var b bytes.Buffer
		(Style{}).Sessions(&b, list, noon.Add(time.Hour), width)
		if !strings.HasPrefix(b.String(), want) {
			t.Errorf("%d columns: want a head that begins %q, got\n%s", width, want, b.String())
		}
	}
}

// A session is called the same everywhere, by the beginning of its id.
// An interrupted turn is no failure, an agent's own word for its end is put into plain ones, and what is known of
// the mode is said.
func TestSessionInWords(t *testing.T) {
	ended := noon.Add(time.Minute)
	one := wire.Session{ID: "s1", Agent: "claude", Status: "idle", Mode: "default", StartedAt: noon,
		Turn: &wire.Turn{Started: noon, Ended: &ended, Result: "interrupted", ExitCode: 1}}
	var b bytes.Buffer
	Style{}.Session(&b, &wire.SessionDetail{Session: one}, ended, "")
	for _, want := range []string{"\n  – 12:00:01  1m0s  interrupted\n", "default (as last reported)",
		"\nresume\n  hookmux resume s1\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	one.Turn = nil
	one.Ended = &ended
	for reason, want := range map[string]string{
		"prompt_input_exit": "you quit", "exit": "you quit", "other": "no reason given", "bye_bye": "bye bye",
		"the process is gone": "the process is gone",
	} {
		one.EndReason = reason
		if got := Doing(&one); got != want {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
}

func TestShortID(t *testing.T) {
	for id, want := range map[string]string{
		"": "", "s1": "s1", "c5acb495-1111-4222-8333-444455556666": "c5acb495", "0199a1b2-3c4d-7eee-8fff-000011112222": "0199a1b2-3c4d",
		"ses_5f3a1b2c4d5e6f": "ses_5f3a1b2c", "abcdefg\u00e9x": "abcdefg",
	} {
		if got := wire.ShortID(id); got != want || !strings.HasPrefix(id, got) {
			t.Errorf("wire.ShortID(%q) is %q, want %q", id, got, want)
		}
	}
	var list []wire.Session
	for i := range 20 {
		list = append(list, wire.Session{ID: fmt.Sprintf("same-beginning-%02d", i)})
	}
	seen := map[string]bool{}
	for _, id := range uniqueShortIDs(list, false) {
		if seen[id] {
			t.Errorf("two sessions are called %q", id)
		}
		seen[id] = true
	}
}

// What agents write for their models is not shown to a person.
func TestWithoutMarkup(t *testing.T) {
	for in, want := range map[string]string{
		"no prod deploys": "no prod deploys",
		"no prod deploys\n<system-reminder>\nthink\n</system-reminder>": "no prod deploys",
		"a <system-reminder>x</system-reminder> b":                      "a b",
		"cut off <system-reminder>and then":                             "cut off",
		"<tool_use_error>File has not been read yet</tool_use_error>":   "File has not been read yet",
		"if a < b && c > d { <T> }":                                     "if a < b && c > d { <T> }",
	} {
		if got := withoutMarkup(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// A session whose folder nobody knows shows none.
func TestSessionWithoutAFolder(t *testing.T) {
	var b bytes.Buffer
	Style{}.Sessions(&b, []wire.Session{{ID: "a", Agent: "claude", Status: "running", Since: noon}}, noon, 0)
	if strings.Contains(b.String(), ".") {
		t.Errorf("a session without a folder is shown as\n%swant no dot in its place", b.String())
	}
}

func TestFailureWords(t *testing.T) {
	for _, c := range []struct {
		said string
		exit int
		want string
	}{
		{"Exit code 254 npm error x", 254, "exit 254  npm error x"},
		{"Exit code 254", 254, "exit 254"},
		{"npm error", 1, "exit 1  npm error"},
		{"no such file", 0, "no such file"},
	} {
		if got := failureWords(c.said, c.exit); got != c.want {
			t.Errorf("failureWords(%q, %d) = %q, want %q", c.said, c.exit, got, c.want)
		}
	}
}
