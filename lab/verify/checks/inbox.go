package checks

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// The runs in which the user answers from elsewhere: the agent is at a terminal and asks, the
// request waits in the inbox, and the answer comes through the daemon. The user is this process,
// inside the test bed's daemon.

// inboxTags are the commands of the run, in order.
const (
	tagYes    = "inbox-yes"
	tagNo     = "inbox-no"
	tagWindow = "inbox-window"
	tagLater  = "inbox-later"
	tagNobody = "inbox-nobody"
)

func inboxGroup() CheckGroup {
	return CheckGroup{
		Runs: []AgentRun{
			{
				Name:       "inbox",
				What:       "requests answered from elsewhere",
				Cannot:     noInbox,
				AtTerminal: alwaysApplies,
				Execute:    runInbox,
			},
			{
				Name:       "forms",
				What:       "forms of an MCP server answered from elsewhere",
				Cannot:     noForms,
				AtTerminal: alwaysApplies,
				Execute:    runForms,
			},
			{
				Name:       "plans",
				What:       "plans accepted from elsewhere",
				Cannot:     noPlans,
				AtTerminal: alwaysApplies,
				Execute:    runPlans,
			},
			{
				Name:       "questions",
				What:       "questions and plans answered from elsewhere",
				Cannot:     noQuestions,
				AtTerminal: alwaysApplies,
				Execute:    runQuestions,
			},
		},
		Checks: inboxChecks(),
	}
}

func alwaysApplies(*agent.Agent, drivers.Driver) bool { return true }

// noInbox returns why an agent's requests can't be answered from elsewhere here.
func noInbox(a *agent.Agent, d drivers.Driver) string {
	switch {
	case a.Inbox == nil:
		return "its requests cannot be answered from elsewhere"
	case d.TUI == nil:
		return "no interactive start that works offline is known"
	case d.Prompts == "":
		return "no start is known in which a person is asked"
	}
	return ""
}

func noQuestions(a *agent.Agent, d drivers.Driver) string {
	if why := noInbox(a, d); why != "" {
		return why
	}
	if d.Questions == nil {
		return "it is not known to ask questions here"
	}
	return ""
}

// showsWindow reports whether the agent's own prompt is there while a request waits.
func showsWindow(a *agent.Agent) bool { return a.Inbox != nil && a.Inbox.Prompt != agent.PromptHidden }

// openInboxGate lets the inbox ask if the agent itself doesn't.
func openInboxGate(st *testbed.TestBed) error {
	if !st.Agent.Inbox.Promptless {
		return nil
	}
	file := filepath.Join(st.Home, ".config/hookmux/config.json")
	return drivers.MergeJSON(file, map[string]any{"approvals.policy." + st.Agent.Name: "side-effects"})
}

func runInbox(ctx context.Context, st *testbed.TestBed) error {
	tags := []string{tagYes, tagNo}
	if showsWindow(st.Agent) {
		tags = append(tags, tagWindow)
	}
	if known, ok := agent.Builtin().Agent(st.Driver.Name); ok && known.Inbox != nil &&
		known.Inbox.Repeats { // not the test bed's, which a breakage may have changed
		tags = append(tags, tagLater)
	}
	tags = append(tags, tagNobody) // last: no one answers it
	var calls []model.ToolCall
	for _, tag := range tags {
		c := st.EscalatedCall(tag)
		if tag == tagWindow {
			// It runs for a while, so that its end is not the sign.
			c = st.EscalateCall(st.Table.Shell.Call("touch ran-" + tag + "; sleep 3; echo out-" + tag))
		}
		calls = append(calls, c)
	}
	st.SetScript(append(testbed.CallSteps(calls...), model.Step{Say: testbed.LastWords}))
	if err := openInboxGate(st); err != nil {
		return err
	}
	if err := st.StartDaemonWithHooks(nil); err != nil {
		return err
	}
	st.Env = append(st.Env, st.Driver.StrictEnv...)
	p, err := AttachPerson(ctx, st) // before the agent: it may ask at once
	if err != nil {
		return err
	}
	defer p.Detach()
	return st.AtTerminal(
		ctx,
		st.Driver.TUI(testbed.MarkedPrompt("Run it"), true),
		func(_ context.Context, t *testbed.Terminal) error {
			for _, tag := range tags {
				if !p.WasAsked(tag, st.Patience) {
					t.KeepScreen()
					return nil // the checks say what is missing
				}
				if st.LeftItsFile(tag) {
					p.Inbox.Early = append(p.Inbox.Early, tag)
				}
				switch tag {
				case tagYes:
					p.SendReply(tag, wire.InboxReplyParams{Choice: string(event.ChooseOnce)})
				case tagNo:
					p.SendReply(
						tag,
						wire.InboxReplyParams{
							Choice: string(event.ChooseDeny),
							Reason: testbed.WordFor(testbed.WordReason, tagNo),
						},
					)
				case tagWindow:
					p.inWindow(t, tag, st.Driver.Prompts)
				case tagLater:
					p.releaseThenAccept(t, tag)
				case tagNobody:
					p.measureOwnPrompt(t, tag, st.Driver.Prompts)
				}
			}
			return nil
		},
	)
}

// RemotePerson is the user who answers from elsewhere.
type RemotePerson struct {
	st    *testbed.TestBed
	ctx   context.Context
	conn  net.Conn
	Inbox *testbed.Inbox

	mu      sync.Mutex
	gone    map[string]time.Time // when a request was out of the inbox, by tag
	changed chan struct{}
}

// AttachPerson has requests wait for this simulated user, who sees what arrives.
func AttachPerson(ctx context.Context, st *testbed.TestBed) (*RemotePerson, error) {
	st.Daemon.CountSink(true)
	st.Evidence.Inbox = testbed.Inbox{
		Asked:    map[string]wire.InboxRequest{},
		Ended:    map[string]wire.InboxRequest{},
		Replies:  map[string]string{},
		Times:    map[string]int{},
		Prompted: -1,
		Sign:     -1,
		Gone:     -1,
	}
	p := &RemotePerson{
		st:      st,
		ctx:     ctx,
		Inbox:   &st.Evidence.Inbox,
		gone:    map[string]time.Time{},
		changed: make(chan struct{}),
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", st.Dirs.Socket())
	if err != nil {
		return nil, err
	}
	p.conn = conn
	if _, err := fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":1,"method":%q}`+"\n", wire.MethodInboxStream); err != nil {
		conn.Close()
		return nil, err
	}
	go p.keepStream()
	return p, nil
}

func (p *RemotePerson) Detach() {
	p.conn.Close()
	p.st.Daemon.CountSink(false)
}

// keepStream keeps what the stream reports.
func (p *RemotePerson) keepStream() {
	lines := bufio.NewScanner(p.conn)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var note struct {
			Method string
			Params wire.InboxRequest
		}
		if json.Unmarshal(lines.Bytes(), &note) != nil || note.Params.ID == "" {
			continue
		}
		tag := itemTag(&note.Params)
		p.mu.Lock()
		if note.Method == wire.NoteInboxReceived {
			p.Inbox.Times[tag]++
			if _, ok := p.Inbox.Asked[tag]; !ok {
				p.Inbox.Asked[tag] = note.Params
			}
		} else if p.Inbox.Asked[tag].ID == note.Params.ID { // the result of an earlier one may be reported later
			p.Inbox.Ended[tag] = note.Params
			if p.gone[tag].IsZero() {
				p.gone[tag] = time.Now()
			}
		}
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
	}
}

// itemTag returns what a request is about: the tag of a command or a form, else its
// kind.
func itemTag(item *wire.InboxRequest) string {
	if m := testbed.TagPattern.Compiled().FindSubmatch(item.Input); m != nil {
		return string(m[1])
	}
	if m := formPattern.FindStringSubmatch(item.Shown); m != nil {
		return m[1]
	}
	return item.Kind
}

// waitUntil waits for something the stream reports.
func (p *RemotePerson) waitUntil(limit time.Duration, is func() bool) bool {
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	for {
		p.mu.Lock()
		ok, changed := is(), p.changed
		p.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

func (p *RemotePerson) WasAsked(tag string, limit time.Duration) bool {
	return p.waitUntil(limit, func() bool { return p.Inbox.Asked[tag].ID != "" })
}

// SendReply answers, and notes what the reply heard.
func (p *RemotePerson) SendReply(tag string, params wire.InboxReplyParams) {
	p.mu.Lock()
	item := p.Inbox.Asked[tag]
	p.mu.Unlock()
	params.ID, params.SHA256 = item.ID, item.SHA256
	var result wire.InboxReplyResult
	var outcome string
	if err := p.st.Daemon.CallMethod(wire.MethodInboxReply, params, &result); err != nil {
		outcome = err.Error()
	} else {
		outcome = result.Outcome
	}
	p.mu.Lock()
	p.Inbox.Replies[tag] = outcome
	p.mu.Unlock()
}

// release releases a request.
func (p *RemotePerson) release(tag string) bool {
	p.mu.Lock()
	item := p.Inbox.Asked[tag]
	p.mu.Unlock()
	var result wire.InboxReplyResult
	err := p.st.Daemon.CallMethod(wire.MethodInboxSkip, wire.InboxIDParams{ID: item.ID}, &result)
	if err != nil {
		result.Outcome = err.Error()
	}
	p.mu.Lock()
	p.Inbox.Replies[tag] = result.Outcome
	p.mu.Unlock()
	return err == nil
}

// releaseThenAccept releases a request and says yes at the agent's own prompt: it must run,
// and the user must not be asked a second time.
func (p *RemotePerson) releaseThenAccept(t *testbed.Terminal, tag string) {
	ctx, cancel := context.WithTimeout(p.ctx, 20*time.Second)
	defer cancel()
	if !p.release(tag) || !t.AwaitText(ctx, p.st.Driver.Prompts) || t.PressKeys(ctx, p.st.Driver.Accept) != nil {
		return
	}
	testbed.WaitUntil(ctx, 20*time.Millisecond, func() bool { return p.st.LeftItsFile(tag) })
}

// measureOwnPrompt releases a request, and measures how soon the agent asks by itself: its
// own prompt is known by what it shows.
func (p *RemotePerson) measureOwnPrompt(t *testbed.Terminal, tag, shows string) {
	began := time.Now()
	if !p.release(tag) {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	for {
		if strings.Contains(joinFields(t.CaptureScreen(ctx)), shows) {
			p.Inbox.Prompted = time.Since(began)
			break
		}
		if !testbed.PauseFor(ctx, 20*time.Millisecond) {
			break
		}
	}
	t.KeepScreen()
	testbed.PauseFor(p.ctx, time.Second) // does it run all the same?
}

func joinFields(screen string) string { return strings.Join(strings.Fields(screen), " ") }

// inWindow answers at the agent's own prompt, known by what it shows, and looks
// how soon after the first sign of it the request is out of the inbox.
func (p *RemotePerson) inWindow(t *testbed.Terminal, tag, shows string) {
	ctx, cancel := context.WithTimeout(p.ctx, 20*time.Second)
	defer cancel()
	sign, err := signOf(p.st)
	if err != nil || !t.AwaitText(ctx, shows) {
		return
	}
	for range 100 { // the dialog may be drawn before the agent says that it waits
		if !sign() || !testbed.PauseFor(ctx, 50*time.Millisecond) {
			break
		}
	}
	testbed.PauseFor(ctx, 300*time.Millisecond) // a dialog that was just drawn takes no keys yet
	pressed := time.Now()
	if t.PressKeys(ctx, p.st.Driver.Accept) != nil {
		return
	}
	for !sign() {
		if time.Since(pressed) > 4*time.Second { // it was lost; a user would press it again
			if pressed = time.Now(); t.PressKeys(ctx, p.st.Driver.Accept) != nil {
				return
			}
		}
		if !testbed.PauseFor(ctx, 5*time.Millisecond) {
			return
		}
	}
	seen := time.Now()
	p.Inbox.Sign = seen.Sub(pressed)
	p.waitUntil(10*time.Second, func() bool { return !p.gone[tag].IsZero() })
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.gone[tag]; !at.IsZero() {
		p.Inbox.Gone = max(0, at.Sub(seen))
	}
}

// signOf watches for the first sign of an answer at the agent's own prompt,
// which the catalogue names. It looks for itself, not through the inbox.
func signOf(st *testbed.TestBed) (func() bool, error) {
	known, ok := agent.Builtin().Agent(st.Driver.Name) // not the test bed's, which a breakage may have changed
	if !ok || known.Inbox == nil {
		return nil, errors.New("it has no inbox")
	}
	switch known.Inbox.Prompt {
	case agent.PromptState:
		var last *event.Event
		for _, x := range st.Watcher.AllSeen() {
			if x.Event.Kind == event.PermissionRequest {
				last = &x.Event
			}
		}
		if last == nil || last.Transcript == "" {
			return nil, errors.New("no request to look for")
		}
		spec := known.Inbox.State
		file := filepath.Join(filepath.Dir(last.Transcript),
			strings.ReplaceAll(spec.Path, "{pid}", strconv.Itoa(last.Where.PID)))
		return func() bool {
			var state map[string]any
			b, err := os.ReadFile(file)
			return err == nil && json.Unmarshal(b, &state) == nil && state[spec.Status] != spec.Waiting
		}, nil
	case agent.PromptEvent:
		before := len(resolutions(st))
		return func() bool { return len(resolutions(st)) > before }, nil
	}
	return nil, errors.New("there is no window to answer in")
}

// resolutions returns the agent's reports of requests that were answered.
func resolutions(st *testbed.TestBed) []testbed.Seen {
	var out []testbed.Seen
	for _, x := range st.Watcher.AllSeen() {
		if x.Event.Kind == event.PermissionResolved || st.Agent.Inbox.AnsweredBy(&x.Event) != "" {
			out = append(out, x)
		}
	}
	return out
}
