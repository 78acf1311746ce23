package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// Whatever shape a request for permission has: guards see the command in it.
func TestGuardsSeeTheCommand(t *testing.T) {
	for name, call := range map[string]string{
		"a command that is called a read":   `"kind":"read","rawInput":{"command":["bash","-lc","danger now"]}`,
		"a command that is called a search": `"kind":"search","rawInput":{"command":"danger now"}`,
		"a text":                            `"kind":"execute","rawInput":"danger now"`,
		"a text of another kind":            `"kind":"other","rawInput":"danger now"`,
		"a list":                            `"kind":"execute","rawInput":["danger","now"]`,
		"the text of an object":             `"kind":"execute","rawInput":"{\"command\":\"danger now\"}"`,
		"arguments beside it":               `"kind":"execute","rawInput":{"command":"danger","args":["now"]}`,
		"content of another shape": `"kind":"execute","rawInput":{"command":"danger now"},"content":` +
			`[{"type":"content","content":["x"]}]`,
		"_meta of another shape":     `"kind":"execute","rawInput":{"command":"danger now"},"_meta":{"claudeCode":"x"}`,
		"locations of another shape": `"kind":"execute","rawInput":{"command":"danger now"},"locations":"x"`,
	} {
		_, events := played(t, []string{"x"}, `< {"id":1,"method":"session/request_permission","error":"odd","params":`+
			`{"sessionId":"s","toolCall":{"toolCallId":"c",`+call+`},"options":[]}}`)
		found := slices.ContainsFunc(events, func(ev event.Event) bool {
			return ev.Native == eventPermission && ev.Tool != nil && slices.Contains(ev.Tool.Commands, "danger now")
		})
		if !found {
			t.Errorf("%s: guards see %q, want the command danger now", name, summary(events))
		}
	}
}

// The files that a call's differences and places name count beside its input, also
// where the agent's own tool of that name has other members.
func TestGuardsSeeEveryFile(t *testing.T) {
	for _, program := range []string{"x", "claude-agent-acp", "opencode"} {
		for _, tool := range []string{`"kind":"edit"`, `"kind":"edit","name":"Write"`} {
			_, events := played(t, []string{program}, `< {"id":1,"method":"session/request_permission","params":`+
				`{"sessionId":"s","toolCall":{"toolCallId":"c",`+tool+`,"rawInput":{"path":"/a","file_path":"/a"},"content":`+
				`[{"type":"diff","path":"/b","newText":"x"}],"locations":[{"path":"/c"}]},"options":[]}}`)
			for _, path := range []string{"/a", "/b", "/c"} {
				if !slices.ContainsFunc(events, func(ev event.Event) bool {
					return ev.Native == eventPermission && slices.Contains(ev.Tool.Writes, path)
				}) {
					t.Errorf("%s, %s: guards see %q, want %s written", program, tool, summary(events), path)
				}
			}
		}
	}
}

func TestReadsStayReads(t *testing.T) {
	_, events := played(t, []string{"claude-agent-acp"}, `< {"id":1,"method":"session/request_permission","params":`+
		`{"sessionId":"s","toolCall":{"toolCallId":"c","kind":"read","name":"Read","rawInput":{"file_path":"/a"}},"options":[]}}`)
	for _, ev := range events {
		if ev.Tool != nil && len(ev.Tool.Writes) > 0 {
			t.Errorf("%s writes %q, want reads only", ev.Native, ev.Tool.Writes)
		}
	}
}

const (
	terminal = `{"jsonrpc":"2.0","id":9,"method":"terminal/create","params":{"sessionId":"s","command":"ls","args":["-a b"]}}`
	batched  = `[` + request + `,` + other + `]`
)

// An editor runs commands and writes files without asking anybody: hookmux decides
// before it hears of them, and a no is an error for the agent.
func TestWhatTheEditorWouldDoAtOnce(t *testing.T) {
	s := runTranscript(t)
	for method, want := range map[string]string{
		"terminal/create":    `{"args":["-r","~"],"command":"rm"}`,
		"fs/write_text_file": `{"path":"/a","content":"x"}`,
		"fs/read_text_file":  `{"path":"/a"}`,
	} {
		s.say(s.agentSays, `{"jsonrpc":"2.0","id":9,"method":"`+method+`","params":`+want+`}`)
		ask := <-s.daemon.asked
		if ask.report.Event != "acp:"+method {
			t.Errorf("%s is told as %s, want acp:%s", method, ask.report.Event, method)
		}
		ask.waits() // a person is asked: the editor must not do it meanwhile
		go ask.answer(Answer{Result: json.RawMessage(`{"refused":true}`), Reason: "hookmux: not here"})
		s.agentGets(`{"error":{"code":-32001,"message":"hookmux: not here"},"id":9,"jsonrpc":"2.0"}`)
	}
	s.say(s.agentSays, terminal)
	ask := <-s.daemon.asked
	var said struct{ ToolInput struct{ Command string } }
	if err := json.Unmarshal(ask.report.Payload, &said); err != nil || said.ToolInput.Command != "ls '-a b'" {
		t.Errorf("the command is told as %q (%v), want ls '-a b'", said.ToolInput.Command, err)
	}
	go ask.answer(Answer{})
	s.editorGets(terminal)
	done := `{"jsonrpc":"2.0","id":9,"result":{"terminalId":"t"}}`
	go s.say(s.editorSays, done)
	s.agentGets(done)
}

// What a person said yes to is not asked about again when the agent does it.
func TestYesCountsForWhatIsDone(t *testing.T) {
	s := runTranscript(t)
	s.say(s.agentSays, request)
	ask := <-s.daemon.asked
	go ask.answer(Answer{})
	s.editorGets(request)
	go s.say(s.editorSays, editorYes)
	s.agentGets(editorYes)
	run := `{"jsonrpc":"2.0","id":9,"method":"terminal/create","params":{"sessionId":"s","command":"bash","args":["-lc","ls"]}}`
	go s.say(s.agentSays, run)
	s.editorGets(run)
	s.say(s.agentSays, terminal)
	if ask := <-s.daemon.asked; ask.report.Event != eventTerminal {
		t.Errorf("another command is told as %s, want %s", ask.report.Event, eventTerminal)
	}
}

// Several messages in one line are taken apart where guards have a say.
func TestBatchIsTakenApart(t *testing.T) {
	s := runTranscript(t)
	go s.say(s.agentSays, batched)
	ask := <-s.daemon.asked
	s.editorGets(strings.NewReplacer(" ", "").Replace(other))
	go ask.answer(Answer{Result: json.RawMessage(chosenNo)})
	s.agentGets(`{"id":7,"jsonrpc":"2.0","result":` + chosenNo + `}`)
}

// Two open requests with one number: nobody could tell whom an answer is for.
func TestNumberOfAnOpenRequestIsTaken(t *testing.T) {
	s := runTranscript(t)
	s.say(s.agentSays, request)
	<-s.daemon.asked
	for _, number := range []string{"7", "7.0", "7e0"} {
		go s.say(s.agentSays, strings.Replace(request, `"id":7`, `"id":`+number, 1))
		s.agentGets(`{"error":{"code":-32600,"message":"hookmux: a request with this number is open already"},"id":` + number +
			`,"jsonrpc":"2.0"}`)
	}
}

// Names of members count as they are spelled: an editor does not read "Method".
func TestMemberNamesAreExact(t *testing.T) {
	m, ok := ReadMessage([]byte(`{"id":1,"method":"session/request_permission","Method":"x","ID":2}`))
	if !ok || m.Method != "session/request_permission" || m.Key() != "1" {
		t.Errorf("read %q with number %s, want session/request_permission with 1", m.Method, m.Key())
	}
}

// What is too long to be looked into whole does not pass.
func TestTooLongALineEndsTheConversation(t *testing.T) {
	var got strings.Builder
	p := &Proxy{Conversation: &Conversation{Naming: NameAgent(agent.Builtin(), "", []string{"x"})},
		Daemon: &playedDaemon{}, FromEditor: strings.NewReader(""), ToEditor: &got, MaxLine: 100 << 10,
		FromAgent: strings.NewReader(request + strings.Repeat(" ", 200<<10) + "\n"), ToAgent: discardCloser{}}
	if err := p.Run(context.Background()); err == nil || got.Len() > 0 {
		t.Errorf("Run gave %v and the editor %d bytes, want an error and nothing", err, got.Len())
	}
}

// A daemon that takes a request and is never heard of again is not waited for.
func TestStuckDaemonIsNotWaitedFor(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "daemon.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	h := &FrameDaemon{Socket: socket, Agent: func() string { return "x" }, PingEvery: time.Millisecond,
		Start:    func(context.Context) error { return errors.New("no") },
		Alive:    func(context.Context) error { return errors.New("silent") },
		Evaluate: func(context.Context, string, string, Report) Answer { return Answer{Reason: "evaluated"} }}
	h.Begin()
	defer h.End(context.Background())
	for _, payload := range [][]byte{[]byte("{}"), make([]byte, frame.Standard.Payload+1)} {
		answers := make(chan Answer)
		h.Decide(context.Background(), Report{eventPermission, payload}, func() {}, func(a Answer) { answers <- a })
		if a := <-answers; a.Reason != "evaluated" {
			t.Errorf("answer %q, want that of the check without a daemon", a.Reason)
		}
	}
}

// Whoever listens on the socket and is not the daemon is not believed.
func TestAnotherProgramOnTheSocketIsNotBelieved(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "daemon.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := frame.ReadRequest(bufio.NewReader(conn), nil, frame.Standard); err == nil {
				t.Error("the stranger was asked, want it hung up on")
			}
		}
	}()
	h := &FrameDaemon{Socket: socket, Agent: func() string { return "x" },
		Check:    func(net.Conn) error { return errors.New("a stranger") },
		Alive:    func(context.Context) error { return nil },
		Evaluate: func(context.Context, string, string, Report) Answer { return Answer{Reason: "evaluated"} }}
	h.Begin()
	defer h.End(context.Background())
	answers := make(chan Answer)
	h.Decide(context.Background(), Report{eventPermission, []byte("{}")}, func() {}, func(a Answer) { answers <- a })
	if a := <-answers; a.Reason != "evaluated" {
		t.Errorf("answer %q, want that of the check without a daemon", a.Reason)
	}
}

// More events than can wait are not dropped without a word: they are counted, said once, and left for the next daemon.
func TestReportsBeyondTheLimitAreLeftForTheNextDaemon(t *testing.T) {
	stuck := make(chan struct{})
	var left, said atomic.Int64
	h := &FrameDaemon{Socket: filepath.Join(t.TempDir(), "none"), Agent: func() string { return "x" },
		Start:      func(context.Context) error { <-stuck; return errors.New("no daemon") },
		Leave:      func(string, string, Report) { left.Add(1) },
		OnOverload: func() { said.Add(1) }}
	h.Begin()
	const more = 10
	then := 0
	for range maxQueued + 1 + more { // one may be under way
		h.Report(Report{Event: "acp_update"}, func() { then++ })
	}
	if n := h.LeftOut(); n < more || n > more+1 || left.Load() != n || said.Load() != 1 || int64(then) != n {
		t.Errorf("%d found no room, %d were left, said %d times, %d went on; want %d or one more each, said once", n,
			left.Load(), said.Load(), then, more)
	}
	close(stuck)
}
