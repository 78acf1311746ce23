package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/protocols/acp"
	"github.com/hookmux/hookmux/internal/protocols/ahp"
)

// playedDaemon answers as it is told to, or not at all.
type playedDaemon struct {
	mu     sync.Mutex
	told   []acp.Report
	asked  []acp.Report
	answer func(n int) (effects string, ok bool)
}

func (h *playedDaemon) Report(r acp.Report, _ func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, r)
}

func (h *playedDaemon) Decide(_ context.Context, r acp.Report, _ func(), answer func(acp.Answer)) {
	h.mu.Lock()
	h.asked = append(h.asked, r)
	n := len(h.asked)
	h.mu.Unlock()
	if effects, ok := h.answer(n); ok {
		go answer(acp.Answer{Result: json.RawMessage(effects)})
	}
}

func always(effects string) func(int) (string, bool) {
	return func(int) (string, bool) { return effects, true }
}

func question(id string) string {
	return `{"jsonrpc":"2.0","id":"` + id + `","method":"hooks/intercept","params":{"protocolVersion":"0.1","event":` +
		`{"id":"` + id + `","source":"urn:x:y","type":"tool.before","time":"2026-11-17T12:00:00Z","session":{"id":"s1"},` +
		`"tool":{"callId":"c-` + id + `","name":"run","kind":"shell","input":{"command":"ls"}}},` +
		`"capabilities":{"effects":["deny"]}}}`
}

func told(id string) string {
	return strings.Replace(strings.Replace(question(id), `"id":"`+id+`","method":"hooks/intercept"`,
		`"method":"hooks/observe"`, 1), `,"capabilities":{"effects":["deny"]}`, ``, 1)
}

// serve gives lines to a provider and what it wrote, sorted by nothing.
func serve(t *testing.T, daemon *playedDaemon, lines ...string) []string {
	t.Helper()
	var out bytes.Buffer
	p := New(daemon, NewName(""))
	if err := p.ServeStdio(context.Background(), strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\n' })
}

func TestServesLines(t *testing.T) {
	daemon := &playedDaemon{answer: always(`[{"type":"deny","reason":"no"}]`)}
	got := serve(t, daemon, told("e0"), "", question("q1"), told("q1"), "  ")
	want := `{"jsonrpc":"2.0","id":"q1","result":{"protocolVersion":"0.1","effects":[{"type":"deny","reason":"no"}]}}`
	if len(got) != 1 || got[0] != want {
		t.Errorf("wrote %q, want %q alone", got, want)
	}
	if len(daemon.asked) != 1 || len(daemon.told) != 1 {
		t.Errorf("the daemon was asked %d times and told %d, want once each: a call that was asked about is not told again",
			len(daemon.asked), len(daemon.told))
	}
}

// Silence of the daemon is an empty list; what is no list is an error, and no answer.
func TestAnswersOfTheDaemon(t *testing.T) {
	for answer, want := range map[string]string{
		"":           `"result":{"protocolVersion":"0.1","effects":[]}`,
		`{"a":1}`:    `"error":{"code":-32004`,
		`[{"type":`:  `"error":{"code":-32004`,
		`refused`:    `"error":{"code":-32004`,
		`["x"] ["y"`: `"error":{"code":-32004`,
	} {
		got := serve(t, &playedDaemon{answer: always(answer)}, question("q1"))
		if len(got) != 1 || !strings.Contains(got[0], want) || !strings.Contains(got[0], `"id":"q1"`) {
			t.Errorf("the daemon said %q and the agent got %q, want %s", answer, got, want)
		}
	}
}

// A message without an end is passed over in little memory, and the next one counts.
func TestVeryLongMessages(t *testing.T) {
	daemon := &playedDaemon{answer: always(``)}
	long := strings.Replace(question("q1"), `"ls"`, `"`+strings.Repeat("x", ahp.MaxMessage)+`"`, 1)
	got := serve(t, daemon, long, question("q2"), long)
	if len(daemon.asked) != 1 || len(got) != 3 {
		t.Fatalf("the daemon was asked %d times, and %d lines came; want one question and three lines", len(daemon.asked), len(got))
	}
	refused := 0
	for _, line := range got {
		if strings.Contains(line, "longer than 4 MiB") && strings.Contains(line, `"id":null`) {
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("%d messages were refused, want the two long ones", refused)
	}
}

// More questions than can be open are refused, not kept.
func TestTooManyQuestions(t *testing.T) {
	daemon := &playedDaemon{answer: func(int) (string, bool) { return "", false }}
	p := New(daemon, NewName(""))
	ctx, cancel := context.WithCancel(context.Background())
	for range maxOpen {
		if p.Take(ctx, []byte(question("q"))) == nil {
			t.Fatal("a question is not answered, want it open")
		}
	}
	answer := p.Take(ctx, []byte(question("q")))
	if line := string(answer()); !strings.Contains(line, "-32003") {
		t.Errorf("one more got %q, want the code -32003", line)
	}
	cancel()
}

// Who an agent says it is never makes it one of the catalogue.
func TestNames(t *testing.T) {
	for said, want := range map[string]string{"claude": "ahp-claude", "": "ahp-agent", "Toy Agent/2": "ahp-toy-agent-2",
		"ahp-x": "ahp-x", "\x1b[31m": "ahp-31m", strings.Repeat("x", 99): "ahp-" + strings.Repeat("x", 40), "人": "ahp-agent"} {
		if got := NewName(said).String(); got != want {
			t.Errorf("%q is called %q, want %q", said, got, want)
		}
	}
	named := NewName("mine")
	named.learn("claude")
	if named.String() != "ahp-mine" {
		t.Errorf("what the agent says made it %s, want ahp-mine as it was started", named)
	}
}

func TestListensHereOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "[::]:0", "example.com:0", "8765", "127.0.0.1"} {
		if l, err := Listen(address); err == nil {
			l.Close()
			t.Errorf("%s is listened on, want it refused", address)
		}
	}
}

// startHTTP serves a provider on this machine, and gives its address.
func startHTTP(t *testing.T, daemon *playedDaemon) string {
	t.Helper()
	listener, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- New(daemon, NewName("")).ServeHTTP(ctx, listener, testToken, time.Hour) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String() + "/"
}

const testToken = "0123456789abcdef"

func post(ctx context.Context, t *testing.T, url, token, kind, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

func TestServesHTTP(t *testing.T) {
	daemon := &playedDaemon{answer: always(`[{"type":"deny","reason":"no"}]`)}
	url := startHTTP(t, daemon)
	ctx := context.Background()
	const kind = "application/json"
	for name, c := range map[string]struct {
		token, kind, body string
		status            int
		want              string
	}{
		"question":     {testToken, kind, question("q1"), 200, `"effects":[{"type":"deny","reason":"no"}]`},
		"told":         {testToken, kind, told("e1"), 202, ""},
		"rubbish":      {testToken, kind, "x", 200, "-32700"},
		"no token":     {"", kind, question("q1"), 401, "Unauthorized"},
		"other token":  {testToken + "x", kind, question("q1"), 401, "Unauthorized"},
		"plain text":   {testToken, "text/plain", question("q1"), 415, ""},
		"much too big": {testToken, kind, strings.Repeat(" ", ahp.MaxMessage+1), 413, ""},
	} {
		if status, text := post(ctx, t, url, c.token, c.kind, c.body); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: HTTP %d with %q, want %d with %q", name, status, text, c.status, c.want)
		}
	}
	if r, err := http.Get(url); err != nil || r.StatusCode != http.StatusUnauthorized {
		t.Errorf("a GET without the token: %v, %v; want HTTP 401", r, err)
	}
	if len(daemon.asked) != 1 || len(daemon.told) != 1 {
		t.Errorf("the daemon was asked %d times and told %d, want once each", len(daemon.asked), len(daemon.told))
	}
	http.DefaultClient.CloseIdleConnections()
}

// An agent that hangs up is not waited for: the question ends with it.
func TestHangingUpEndsTheQuestion(t *testing.T) {
	given := make(chan context.Context, 1)
	daemon := &contextDaemon{given: given}
	listener, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serving, stop := context.WithCancel(context.Background())
	defer stop()
	go New(daemon, NewName("")).ServeHTTP(serving, listener, testToken, time.Hour)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		post(ctx, t, "http://"+listener.Addr().String()+"/", testToken, "application/json", question("q1"))
	}()
	var asked context.Context
	select {
	case asked = <-given:
	case <-time.After(daemontest.Patience):
		t.Fatal("the daemon was not asked, want one question")
	}
	cancel()
	await.Until(t, "the question to end", func() bool { return asked.Err() != nil })
}

type contextDaemon struct{ given chan context.Context }

func (h *contextDaemon) Report(acp.Report, func()) {}
func (h *contextDaemon) Decide(ctx context.Context, _ acp.Report, _ func(), _ func(acp.Answer)) {
	h.given <- ctx
}
