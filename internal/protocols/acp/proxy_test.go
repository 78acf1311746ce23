package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// playedDaemon says to requests for permission what a test wants.
type playedDaemon struct {
	mu      sync.Mutex
	reports []Report
	asked   chan playedAsk
}

type playedAsk struct {
	ctx    context.Context
	report Report
	waits  func()
	answer func(Answer)
}

func (h *playedDaemon) Report(r Report, then func()) {
	h.mu.Lock()
	h.reports = append(h.reports, r)
	h.mu.Unlock()
	if then != nil {
		then()
	}
}

func (h *playedDaemon) Decide(ctx context.Context, r Report, waits func(), answer func(Answer)) {
	h.asked <- playedAsk{ctx, r, waits, answer}
}

// told lists the names of the events that were told.
func (h *playedDaemon) told() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for _, r := range h.reports {
		names = append(names, strings.TrimPrefix(r.Event, "acp:"))
	}
	return strings.Join(names, " ")
}

// transcript is a proxy between a played editor and a played agent.
type transcript struct {
	t                  *testing.T
	daemon             *playedDaemon
	editorSays         io.WriteCloser
	agentSays          io.WriteCloser
	editorHears, hears *bufio.Reader // hears is the agent's
	ended              chan error
}

func runTranscript(t *testing.T) *transcript {
	t.Helper()
	editorIn, editorSays := io.Pipe()
	editorHears, editorOut := io.Pipe()
	agentOut, agentSays := io.Pipe()
	agentHears, agentIn := io.Pipe()
	s := &transcript{t: t, daemon: &playedDaemon{asked: make(chan playedAsk, 4)}, editorSays: editorSays, agentSays: agentSays,
		editorHears: bufio.NewReader(editorHears), hears: bufio.NewReader(agentHears), ended: make(chan error, 1)}
	p := &Proxy{Conversation: &Conversation{Naming: NameAgent(agent.Builtin(), "", []string{"claude-agent-acp"})},
		Daemon: s.daemon, FromEditor: editorIn, ToEditor: editorOut, FromAgent: agentOut, ToAgent: agentIn}
	go func() { s.ended <- p.Run(context.Background()) }()
	return s
}

func (s *transcript) editorGets(want string) { s.t.Helper(); s.gets(s.editorHears, "the editor", want) }
func (s *transcript) agentGets(want string)  { s.t.Helper(); s.gets(s.hears, "the agent", want) }

func (s *transcript) gets(from *bufio.Reader, who, want string) {
	s.t.Helper()
	line, err := from.ReadString('\n')
	if err != nil || line != want+"\n" {
		s.t.Fatalf("%s got %q, %v; want %q", who, line, err, want)
	}
}

func (s *transcript) say(to io.Writer, line string) {
	s.t.Helper()
	if _, err := io.WriteString(to, line+"\n"); err != nil {
		s.t.Error(err) // often called beside the test's own goroutine
	}
}

const (
	request = `{"jsonrpc":"2.0", "id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":` +
		`{"toolCallId":"c1","name":"Bash","kind":"execute","rawInput":{"command":"ls"},"title":"ls"},"options":[` +
		`{"optionId":"a","name":"Yes","kind":"allow_once"},{"optionId":"aa","name":"Always","kind":"allow_always"},` +
		`{"optionId":"r","name":"No","kind":"reject_once"}]}}`
	editorYes = `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"a"}}}`
	chosenNo  = `{"outcome":{"outcome":"selected","optionId":"r"}}`
	other     = `{"jsonrpc":"2.0","method":"_own/thing","params":{ "b":1, "a":2 }}`
)

func TestRefusalAnswersTheAgent(t *testing.T) {
	s := runTranscript(t)
	s.say(s.agentSays, request)
	ask := <-s.daemon.asked
	go ask.answer(Answer{Result: json.RawMessage(chosenNo), Reason: "not here"})
	s.editorGets(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"content":[{"content":` +
		`{"text":"hookmux: not here","type":"text"},"type":"content"}],"sessionUpdate":"tool_call_update","toolCallId":"c1"}}}`)
	s.agentGets(`{"id":7,"jsonrpc":"2.0","result":` + chosenNo + `}`)
	go s.say(s.agentSays, other) // the editor never saw the request
	s.editorGets(other)
}

func TestNoOpinionAsksTheEditor(t *testing.T) {
	s := runTranscript(t)
	s.say(s.agentSays, request)
	ask := <-s.daemon.asked
	go ask.answer(Answer{})
	s.editorGets(request)
	go s.say(s.editorSays, editorYes)
	s.agentGets(editorYes)
	if ask.ctx.Err() == nil {
		t.Error("the daemon is not told that nobody waits any more")
	}
	if got, want := s.daemon.told(), "tool_call session/request_permission.end"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

func TestFirstAnswerCounts(t *testing.T) {
	t.Run("the editor's", func(t *testing.T) {
		s := runTranscript(t)
		s.say(s.agentSays, request)
		ask := <-s.daemon.asked
		go ask.waits()
		s.editorGets(request)
		go s.say(s.editorSays, editorYes)
		s.agentGets(editorYes)
		ask.answer(Answer{Result: json.RawMessage(chosenNo)}) // too late
		go s.say(s.editorSays, other)
		s.agentGets(other)
	})
	t.Run("hookmux's", func(t *testing.T) {
		s := runTranscript(t)
		s.say(s.agentSays, request)
		ask := <-s.daemon.asked
		go ask.waits()
		s.editorGets(request)
		go ask.answer(Answer{Result: json.RawMessage(chosenNo)})
		s.editorGets(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`)
		s.agentGets(`{"id":7,"jsonrpc":"2.0","result":` + chosenNo + `}`)
		s.say(s.editorSays, editorYes) // too late
		go s.say(s.editorSays, other)
		s.agentGets(other)
	})
}

func TestCancelledBeforeTheEditorSawIt(t *testing.T) {
	s := runTranscript(t)
	s.say(s.agentSays, request)
	ask := <-s.daemon.asked
	cancel := `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`
	go s.say(s.editorSays, cancel)
	s.agentGets(`{"id":7,"jsonrpc":"2.0","result":{"outcome":{"outcome":"cancelled"}}}`)
	s.agentGets(cancel)
	<-ask.ctx.Done()
}

func TestAgentTakesItsRequestBack(t *testing.T) {
	s := runTranscript(t)
	s.say(s.agentSays, request)
	ask := <-s.daemon.asked
	go s.say(s.agentSays, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`)
	s.agentGets(`{"error":{"code":-32800,"message":"Request cancelled"},"id":7,"jsonrpc":"2.0"}`)
	<-ask.ctx.Done()
}

func TestAgentEndsTheProxy(t *testing.T) {
	s := runTranscript(t)
	s.say(s.editorSays, "")
	s.agentGets("")
	_ = s.agentSays.Close()
	if err := <-s.ended; err != nil {
		t.Errorf("Run gave %v, want no error", err)
	}
}

// Messages of any length and content pass as they came.
func TestLinesPassUnchanged(t *testing.T) {
	long := `{"method":"x","params":"` + strings.Repeat("a", 17<<20) + `"}`
	for name, text := range map[string]string{
		"empty lines": "\n\n\n", "no line feed": `{"id":1}`, "long": long + "\n" + other + "\n",
		"long without a line feed": long, "carriage return": "{\"id\":1}\r\n", "nothing": "",
		"an answer to nothing": `{"id":null,"error":{"code":-32700}}`, "a list": `[{"method":"a"},{"method":"b"}]`,
		"names that differ by case below": `{"method":"x","params":{"env":{"path":"1","PATH":"2"}}}`,
	} {
		checkPasses(t, name, []byte(text))
	}
}

// checkPasses sends bytes as an agent's and looks at what the editor gets.
func checkPasses(t *testing.T, name string, text []byte) {
	t.Helper()
	var got bytes.Buffer
	p := &Proxy{Conversation: &Conversation{Naming: NameAgent(agent.Builtin(), "", []string{"x"})},
		Daemon: &playedDaemon{asked: make(chan playedAsk, 1000)}, FromEditor: strings.NewReader(""), ToEditor: &got,
		FromAgent: bytes.NewReader(text), ToAgent: discardCloser{}}
	if err := p.Run(context.Background()); err != nil {
		t.Errorf("%s: Run gave %v, want no error", name, err)
	}
	if !bytes.Equal(got.Bytes(), text) {
		t.Errorf("%s: %d bytes came out of %d, want the same", name, got.Len(), len(text))
	}
}

type discardCloser struct{}

func (discardCloser) Write(b []byte) (int, error) { return len(b), nil }
func (discardCloser) Close() error                { return nil }

func FuzzLines(f *testing.F) {
	f.Add([]byte(other + "\n{\"id\":null}\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call",` +
		`"toolCallId":"c","kind":"execute","status":"completed","rawInput":{"command":["a"]},"content":[{"type":"diff"}]}}}`))
	f.Add([]byte(`{"method":"$/cancel_request","params":{"requestId":1}}` + "\n\n\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Contains(text, []byte("permission")) || bytes.Contains(text, []byte(`\u`)) ||
			!bytes.Equal(onOneLine(text), text) {
			return // a request for permission waits
		}
		var fit []byte
		for line := range bytes.Lines(text) {
			if checkLine(line) == nil {
				fit = append(fit, line...)
			}
		}
		checkPasses(t, "fuzzed", fit)
	})
}
