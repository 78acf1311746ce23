package tshook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/tshook/bundle"
	"github.com/hookmux/hookmux/internal/tshook/engine"
	"github.com/hookmux/hookmux/internal/tshook/ops"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// fileOwner connects one loading of a file with the daemon: operations of the engine are done
// on behalf of its hook and of the event that is being handled.
type fileOwner struct {
	m      *Hook
	g      *loadedCode
	places func() *bundle.SourceMap
	acts   piActions
}

var _ ops.Owner = (*fileOwner)(nil)

func dirOf(path string) string { return filepath.Dir(path) }

func (v *fileOwner) File() string    { return v.m.path }
func (v *fileOwner) Version() string { return v.m.engine.host.Version }

func (v *fileOwner) ChildEnv() []string {
	if f := v.m.engine.host.ChildEnv; f != nil {
		return f(v.m.path)
	}
	return nil
}

func splitKey(key string) (agent, session string) {
	agent, session, _ = strings.Cut(key, "\x00")
	return agent, session
}

func (v *fileOwner) RecordAction(key, action, detail string, err error) {
	r := v.m.engine.host.Recorder
	if r == nil {
		return
	}
	d := HookAction{Hook: v.m.path, Action: action, Detail: detail}
	d.Agent, d.Session = splitKey(key)
	if err != nil {
		d.Err = err.Error()
	}
	r.RecordAction(d)
}

func (v *fileOwner) RecordConsole(level, text string) {
	if r := v.m.engine.host.Recorder; r != nil {
		r.RecordConsole(v.m.path, level, text)
	}
}

// describeProblem turns an exception into a problem with places in the source file.
func (v *fileOwner) describeProblem(event string, err error) *Problem {
	p := &Problem{Hook: v.m.path, Event: event, Text: oneLine(err.Error())}
	var js *engine.JSError
	if errors.As(err, &js) {
		p.Stack, p.Where = v.places().RewriteStack(js.Stack, bundle.NameInEngine)
	}
	return p
}

func (v *fileOwner) ReportError(event string, e *engine.JSError, _ int) {
	v.m.reportOnce(v.describeProblem(event, e))
}

func (v *fileOwner) ReportLimit(agent, what string) {
	if agent != "" {
		v.m.noteLimit(agent, what)
	}
}

// eventOf returns the event a dialog or a notice belongs to.
func (v *fileOwner) eventOf(dispatch int) *pendingEvent {
	v.g.mu.Lock()
	defer v.g.mu.Unlock()
	return v.g.asked[dispatch]
}

func (v *fileOwner) Ask(ctx context.Context, dispatch int, q Question) Answer {
	asker, a := v.m.engine.host.Asker, v.eventOf(dispatch)
	if asker == nil || a == nil || a.ctx.Err() != nil {
		return Answer{Cancelled: true}
	}
	if v.m.isLogOnly() {
		v.g.mu.Lock()
		if a.question == "" {
			a.question = orElse(oneLine(q.Title), orElse(oneLine(q.Text), "a question"))
		}
		v.g.mu.Unlock()
		return Answer{Cancelled: true}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !a.until.IsZero() { // so that the question shows its deadline
		var stop context.CancelFunc
		ctx, stop = context.WithDeadline(ctx, a.until)
		defer stop()
	}
	forget := context.AfterFunc(a.ctx, cancel)
	defer forget()
	q.Event, q.Hook = a.call.Event, v.m.path
	type reply struct {
		answer Answer
		err    error
	}
	got := make(chan reply, 1)
	go func() {
		answer, err := asker.Ask(ctx, q)
		got <- reply{answer, err}
	}()
	select {
	case r := <-got:
		if r.err != nil || ctx.Err() != nil {
			return Answer{Cancelled: true}
		}
		return r.answer
	case <-ctx.Done(): // do not wait for an asker that ignores ctx
		return Answer{Cancelled: true}
	}
}

func (v *fileOwner) Notify(dispatch int, text, level string) {
	asker := v.m.engine.host.Asker
	if asker == nil || v.m.isLogOnly() {
		return
	}
	n := Notice{Hook: v.m.path, Level: level, Text: text}
	if a := v.eventOf(dispatch); a != nil {
		n.Event = a.call.Event
	}
	asker.Notify(n)
}

// errPrint is returned to a hook that sends into an unattended session.
var errPrint = errors.New("send: nobody attends this session (print mode); nothing can be sent to it")

func (v *fileOwner) Send(key string, msg Message) error {
	if v.m.isLogOnly() {
		v.RecordAction(key, "would have sent", fmt.Sprintf("%d characters", len([]rune(msg.Text))), nil)
		return nil
	}
	msg.Hook = v.m.path
	msg.Agent, msg.Session = splitKey(key)
	if len(msg.Attachments) > 0 {
		v.m.noteLimit(msg.Agent, "send: attachments are left out; only the text is sent")
	}
	delivered := false
	var err error
	if s := v.m.engine.host.Sender; s != nil {
		delivered, err = s.Send(context.Background(), msg)
	}
	switch {
	case err == nil && !delivered && v.isHeadless(key):
		err = errPrint
	case err == nil && !delivered:
		err = v.m.engine.queueText(key, msg.Text)
	}
	v.RecordAction(key, "send", fmt.Sprintf("%d characters", len([]rune(msg.Text))), err)
	return err
}

func (v *fileOwner) isHeadless(key string) bool {
	v.m.mu.Lock()
	defer v.m.mu.Unlock()
	t := v.m.memories[key]
	return t != nil && t.headless
}

// Entries returns a session's entries: from pi's own record, or from the events seen.
func (v *fileOwner) Entries(key string) any {
	v.m.mu.Lock()
	t := v.m.memories[key]
	var list []any
	record := ""
	if t != nil {
		list, record = t.entries, t.record
	}
	v.m.mu.Unlock()
	if record != "" {
		if own := readRecord(record); own != nil {
			return own
		}
	}
	if list == nil {
		return []any{}
	}
	return list
}

// readRecord reads pi's session file: a header, then one entry per line.
func readRecord(path string) []any {
	text, err := ops.ReadRegular(path)
	if err != nil {
		return nil
	}
	entries := []any{}
	for line := range strings.SplitSeq(string(text), "\n") {
		if e := pi.ParseObject([]byte(line)); e != nil && e["type"] != "session" {
			entries = append(entries, e)
		}
	}
	return entries
}

func (v *fileOwner) Model(ctx context.Context, dispatch int, args json.RawMessage) (json.RawMessage, error) {
	if v.m.isLogOnly() {
		return nil, errors.New("complete: this hook only logs, so it uses no model of the agent")
	}
	model, a := v.m.engine.host.Model, v.eventOf(dispatch)
	if model == nil || a == nil {
		return nil, errors.New("complete: pi's models can be used only while one of pi's events is looked at, " +
			"through hookmux's " + "extension in pi")
	}
	return model.Complete(ctx, a.call.Event, args)
}

// perPlace is how many different texts are reported for one place: some contain a
// number or a path and differ each time.
const perPlace = 3

// reportOnce reports a problem once for each content of the file.
func (m *Hook) reportOnce(p *Problem) {
	m.mu.Lock()
	fresh := m.isNewProblem(p)
	if fresh && len(m.info.Errors) < 20 {
		m.info.Errors = append(m.info.Errors, *p)
	}
	m.mu.Unlock()
	if fresh {
		m.tellRecorder(*p)
	}
}

type problemKey struct{ event, where, text string }

// isNewProblem records a problem and reports whether it is new.
func (m *Hook) isNewProblem(p *Problem) bool {
	key := problemKey{p.Event, p.Where, p.Text}
	if m.reported[key] || len(m.reported) >= 200 {
		return false
	}
	at := 0
	for known := range m.reported {
		if known.event == p.Event && known.where == p.Where {
			at++
		}
		// The end of an engine by a limit is reported again, without the place
		// that the handler's own report has.
		if p.Where == "" && known.event == p.Event && known.text == p.Text {
			return false
		}
	}
	if at < perPlace {
		m.reported[key] = true
	}
	return at < perPlace
}

func (m *Hook) tellRecorder(p Problem) {
	if r := m.engine.host.Recorder; r != nil {
		r.Problem(p)
	}
}

// noteLimit records once what an agent could not carry.
func (m *Hook) noteLimit(agent, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := agent + "\x00" + text
	if m.lacks[key] || len(m.lacks) > 200 {
		return
	}
	m.lacks[key] = true
	m.info.Limits = appendNewLimits(m.info.Limits, []Limit{{Agent: agent, Text: text}})
}

func appendNewLimits(have, more []Limit) []Limit {
	for _, l := range more {
		known := false
		for _, h := range have {
			known = known || h == l || (h.Agent == "*" && h.Text == l.Text)
		}
		if !known {
			have = append(have, l)
		}
	}
	return have
}
