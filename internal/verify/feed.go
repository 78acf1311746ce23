package verify

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
	"github.com/hookmux/hookmux/internal/verify/model"
	"github.com/hookmux/hookmux/internal/wire"
)

// The acts in which a person answers from elsewhere: the agent is at a
// terminal and asks, the feed holds the request, and the answer comes through
// the hub. The person is this process, inside the stage's hub.

// Feed is what became of the requests of an act, by the command's tag.
type Feed struct {
	Asked   map[string]wire.FeedItem // as they came
	Ended   map[string]wire.FeedItem // as they ended
	Replies map[string]string        // what the reply heard
	Times   map[string]int           // how often one came
	// Prompted is how long after the request was let go the agent's own prompt
	// was on the screen; negative when it never was.
	Prompted time.Duration
	// Early says that a command ran while its request still waited.
	Early []string
	// Sign is when the first sign of an answer in the agent's own window could
	// be seen after the key, Gone how long after that sign the request was out
	// of the feed; negative when it did not come.
	Sign, Gone time.Duration
}

// feedTags are the commands of the act, in order.
const (
	tagYes    = "feed-yes"
	tagNo     = "feed-no"
	tagWindow = "feed-window"
	tagLater  = "feed-later"
	tagNobody = "feed-nobody"
)

func feedPart() Part {
	return Part{
		Acts: []Act{
			{Name: "feed", What: "requests answered from elsewhere", Cannot: noFeed, AtTerminal: alwaysApplies, Play: playFeed},
			{Name: "forms", What: "forms of an MCP server answered from elsewhere", Cannot: noForms, AtTerminal: alwaysApplies, Play: playForms},
			{Name: "plans", What: "plans accepted from elsewhere", Cannot: noPlans, AtTerminal: alwaysApplies, Play: playPlans},
			{Name: "questions", What: "questions and plans answered from elsewhere", Cannot: noQuestions, AtTerminal: alwaysApplies, Play: playQuestions},
		},
		Checks: feedChecks(),
	}
}

func alwaysApplies(*agent.Agent, Driver) bool { return true }

// noFeed says why an agent's requests cannot be answered from elsewhere here.
func noFeed(a *agent.Agent, d Driver) string {
	switch {
	case a.Feed == nil:
		return "its requests cannot be answered from elsewhere"
	case d.TUI == nil:
		return "no interactive start that works offline is known"
	case d.Prompts == "":
		return "no start is known in which a person is asked"
	}
	return ""
}

func noQuestions(a *agent.Agent, d Driver) string {
	if why := noFeed(a, d); why != "" {
		return why
	}
	if d.Questions == nil {
		return "it is not known to ask questions here"
	}
	return ""
}

// showsWindow says that the agent's own prompt is there while a request waits.
func showsWindow(a *agent.Agent) bool { return a.Feed != nil && a.Feed.Window != agent.WindowHidden }

// openFeedGate lets the feed ask where the agent asks nobody by itself.
func (st *Stage) openFeedGate() error {
	if !st.Agent.Feed.Promptless {
		return nil
	}
	file := filepath.Join(st.Home, ".config/hookmux/config.json")
	return mergeJSON(file, map[string]any{"gate." + st.Agent.Name: "side-effects"})
}

func playFeed(ctx context.Context, st *Stage) error {
	tags := []string{tagYes, tagNo}
	if showsWindow(st.Agent) {
		tags = append(tags, tagWindow)
	}
	if known, ok := agent.Builtin().Agent(st.Driver.Name); ok && known.Feed != nil && known.Feed.Repeats { // not the stage's, which a saboteur may have changed
		tags = append(tags, tagLater)
	}
	tags = append(tags, tagNobody) // last: nobody answers it
	var calls []model.ToolCall
	for _, tag := range tags {
		c := st.escalatedCall(tag)
		if tag == tagWindow {
			// It runs for a while, so that its end is not the sign.
			c = st.escalateCall(st.Table.Shell.Call("touch ran-" + tag + "; sleep 3; echo out-" + tag))
		}
		calls = append(calls, c)
	}
	st.setScript(append(callSteps(calls...), model.Step{Say: lastWords}))
	if err := st.openFeedGate(); err != nil {
		return err
	}
	if err := st.startHubWithHooks(nil); err != nil {
		return err
	}
	st.Env = append(st.Env, st.Driver.StrictEnv...)
	p, err := st.attachPerson(ctx) // before the agent: it may ask at once
	if err != nil {
		return err
	}
	defer p.detach()
	return st.atTerminal(ctx, st.Driver.TUI(markedPrompt("Run it"), true), func(ctx context.Context, t *terminal) error {
		for _, tag := range tags {
			if !p.wasAsked(tag, st.patience) {
				t.keepScreen()
				return nil // the checks say what is missing
			}
			if st.leftItsFile(tag) {
				p.feed.Early = append(p.feed.Early, tag)
			}
			switch tag {
			case tagYes:
				p.sendReply(tag, wire.FeedReplyParams{Choice: string(event.ChooseOnce)})
			case tagNo:
				p.sendReply(tag, wire.FeedReplyParams{Choice: string(event.ChooseDeny), Reason: wordFor(wordReason, tagNo)})
			case tagWindow:
				p.inWindow(t, tag, st.Driver.Prompts)
			case tagLater:
				p.later(t, tag)
			case tagNobody:
				p.nobody(t, tag, st.Driver.Prompts)
			}
		}
		return nil
	})
}

// escalateCall makes a call one that needs leave, where that takes more than the
// call.
func (st *Stage) escalateCall(c model.ToolCall) model.ToolCall {
	if st.Driver.Escalate != nil {
		return st.Driver.Escalate(c)
	}
	return c
}

// leftItsFile reports whether the tagged command left its file.
func (st *Stage) leftItsFile(tag string) bool {
	_, err := os.Stat(filepath.Join(st.Project, "ran-"+tag))
	return err == nil
}

// elsewhere is the person who answers from elsewhere.
type elsewhere struct {
	st   *Stage
	ctx  context.Context
	conn net.Conn
	feed *Feed

	mu      sync.Mutex
	gone    map[string]time.Time // when a request was out of the feed, by tag
	changed chan struct{}
}

// attachPerson lets the feed hold requests for this person, who sees what comes.
func (st *Stage) attachPerson(ctx context.Context) (*elsewhere, error) {
	st.hub.Sink(true)
	st.evidence.Feed = Feed{Asked: map[string]wire.FeedItem{}, Ended: map[string]wire.FeedItem{}, Replies: map[string]string{}, Times: map[string]int{}, Prompted: -1, Sign: -1, Gone: -1}
	p := &elsewhere{st: st, ctx: ctx, feed: &st.evidence.Feed, gone: map[string]time.Time{}, changed: make(chan struct{})}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", st.Dirs.Socket())
	if err != nil {
		return nil, err
	}
	p.conn = conn
	if _, err := fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":1,"method":%q}`+"\n", wire.MethodFeedStream); err != nil {
		conn.Close()
		return nil, err
	}
	go p.keepStream()
	return p, nil
}

func (p *elsewhere) detach() {
	p.conn.Close()
	p.st.hub.Sink(false)
}

// keepStream keeps what the stream tells.
func (p *elsewhere) keepStream() {
	lines := bufio.NewScanner(p.conn)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var note struct {
			Method string
			Params wire.FeedItem
		}
		if json.Unmarshal(lines.Bytes(), &note) != nil || note.Params.ID == "" {
			continue
		}
		tag := itemTag(&note.Params)
		p.mu.Lock()
		if note.Method == wire.NoteFeedReceived {
			p.feed.Times[tag]++
			if _, ok := p.feed.Asked[tag]; !ok {
				p.feed.Asked[tag] = note.Params
			}
		} else if p.feed.Asked[tag].ID == note.Params.ID { // what came of an earlier one may be told later
			p.feed.Ended[tag] = note.Params
			if p.gone[tag].IsZero() {
				p.gone[tag] = time.Now()
			}
		}
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
	}
}

// itemTag is what a request is about: the tag of a command or a form, else its
// kind.
func itemTag(item *wire.FeedItem) string {
	if m := tagPattern.Compiled().FindSubmatch(item.Input); m != nil {
		return string(m[1])
	}
	if m := formPattern.FindStringSubmatch(item.Shown); m != nil {
		return m[1]
	}
	return item.Kind
}

// waitUntil waits for something the stream tells.
func (p *elsewhere) waitUntil(limit time.Duration, is func() bool) bool {
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

func (p *elsewhere) wasAsked(tag string, limit time.Duration) bool {
	return p.waitUntil(limit, func() bool { return p.feed.Asked[tag].ID != "" })
}

// sendReply answers, and notes what the reply heard.
func (p *elsewhere) sendReply(tag string, params wire.FeedReplyParams) {
	p.mu.Lock()
	item := p.feed.Asked[tag]
	p.mu.Unlock()
	params.ID, params.SHA256 = item.ID, item.SHA256
	var result wire.FeedReplyResult
	outcome := ""
	if err := p.st.hub.Do(wire.MethodFeedReply, params, &result); err != nil {
		outcome = err.Error()
	} else {
		outcome = result.Outcome
	}
	p.mu.Lock()
	p.feed.Replies[tag] = outcome
	p.mu.Unlock()
}

// release lets a request go.
func (p *elsewhere) release(tag string) bool {
	p.mu.Lock()
	item := p.feed.Asked[tag]
	p.mu.Unlock()
	var result wire.FeedReplyResult
	err := p.st.hub.Do(wire.MethodFeedRelease, wire.FeedIDParams{ID: item.ID}, &result)
	if err != nil {
		result.Outcome = err.Error()
	}
	p.mu.Lock()
	p.feed.Replies[tag] = result.Outcome
	p.mu.Unlock()
	return err == nil
}

// later lets a request go and says yes in the agent's own window: it must run,
// and not be put to anybody a second time.
func (p *elsewhere) later(t *terminal, tag string) {
	ctx, cancel := context.WithTimeout(p.ctx, 20*time.Second)
	defer cancel()
	if !p.release(tag) || !t.awaitText(ctx, p.st.Driver.Prompts) || t.pressKeys(ctx, p.st.Driver.Accept) != nil {
		return
	}
	for !p.st.leftItsFile(tag) && pauseFor(ctx, 20*time.Millisecond) {
	}
}

// nobody lets a request go, and looks how soon the agent asks by itself: its
// own prompt is known by what it shows.
func (p *elsewhere) nobody(t *terminal, tag, shows string) {
	began := time.Now()
	if !p.release(tag) {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	for {
		if strings.Contains(squeezed(t.captureScreen(ctx)), shows) {
			p.feed.Prompted = time.Since(began)
			break
		}
		if !pauseFor(ctx, 20*time.Millisecond) {
			break
		}
	}
	t.keepScreen()
	pauseFor(p.ctx, time.Second) // does it run all the same?
}

func squeezed(screen string) string { return strings.Join(strings.Fields(screen), " ") }

// inWindow answers in the agent's own window, known by what it shows, and looks
// how soon after the first sign of it the request is out of the feed.
func (p *elsewhere) inWindow(t *terminal, tag, shows string) {
	ctx, cancel := context.WithTimeout(p.ctx, 20*time.Second)
	defer cancel()
	sign, err := p.st.signOf()
	if err != nil || !t.awaitText(ctx, shows) {
		return
	}
	for range 100 { // the dialog may be drawn before the agent says that it waits
		if !sign() || !pauseFor(ctx, 50*time.Millisecond) {
			break
		}
	}
	pauseFor(ctx, 300*time.Millisecond) // a dialog that was just drawn takes no keys yet
	pressed := time.Now()
	if t.pressKeys(ctx, p.st.Driver.Accept) != nil {
		return
	}
	for !sign() {
		if time.Since(pressed) > 4*time.Second { // it was lost; a person presses it again
			if pressed = time.Now(); t.pressKeys(ctx, p.st.Driver.Accept) != nil {
				return
			}
		}
		if !pauseFor(ctx, 5*time.Millisecond) {
			return
		}
	}
	seen := time.Now()
	p.feed.Sign = seen.Sub(pressed)
	p.waitUntil(10*time.Second, func() bool { return !p.gone[tag].IsZero() })
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.gone[tag]; !at.IsZero() {
		p.feed.Gone = max(0, at.Sub(seen))
	}
}

// signOf watches for the first sign of an answer in the agent's own window,
// which the catalogue names. It looks for itself, not through the feed.
func (st *Stage) signOf() (func() bool, error) {
	known, ok := agent.Builtin().Agent(st.Driver.Name) // not the stage's, which a saboteur may have changed
	if !ok || known.Feed == nil {
		return nil, errors.New("it has no feed")
	}
	switch known.Feed.Window {
	case agent.WindowState:
		var last *event.Event
		for _, x := range st.watcher.allSeen() {
			if x.Event.Kind == event.PermissionRequest {
				last = &x.Event
			}
		}
		if last == nil || last.Transcript == "" {
			return nil, errors.New("no request to look for")
		}
		spec := known.Feed.State
		file := filepath.Join(filepath.Dir(last.Transcript), strings.ReplaceAll(spec.Path, "{pid}", strconv.Itoa(last.Where.PID)))
		return func() bool {
			var state map[string]any
			b, err := os.ReadFile(file)
			return err == nil && json.Unmarshal(b, &state) == nil && state[spec.Status] != spec.Waiting
		}, nil
	case agent.WindowEvent:
		before := len(st.resolutions())
		return func() bool { return len(st.resolutions()) > before }, nil
	}
	return nil, errors.New("there is no window to answer in")
}

// resolutions are the agent's reports of requests that were answered.
func (st *Stage) resolutions() []Seen {
	var out []Seen
	for _, x := range st.watcher.allSeen() {
		if x.Event.Kind == event.PermissionResolved || st.Agent.Feed.AnsweredBy(&x.Event) != "" {
			out = append(out, x)
		}
	}
	return out
}
