package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/launch/start"
	"github.com/hookmux/hookmux/internal/pipeline"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/protocols/cmux"
	"github.com/hookmux/hookmux/internal/protocols/mux0"
	"github.com/hookmux/hookmux/internal/recorder"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/server"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/hookmux/hookmux/internal/tshook/host"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// The adapters here give one service what it needs of another, in the types of the one that asks.

// Pushed requests occupy connections to the daemon; half of those stay free for the user.
const (
	_ = uint(server.MaxTalks - 2*queue.MaxPushed)
	_ = uint(server.MaxTalksEach - queue.MaxPushed)
)

// newServer registers every method and stream with the server.
func (h *Daemon) newServer() *server.Server {
	foreign := &cmux.Server{Deps: h.deps, Approvals: h.approvals, Pipeline: h.pipeline, Journal: h.recorder.Reader}
	renewing := &renewal{
		Context: h.ctx, Background: h.deps.Background, Version: h.version, Program: h.program,
		Waiting: h.pipeline.UndecidedCalls, Stop: h.Stop,
	}
	views := &readView{
		Evaluator: h.evaluator, Sessions: h.sessions.List, FindProject: h.selection.Registry.FindProject,
		Folder: workFolder(h.deps.Processes), Home: h.deps.Dirs.Home,
		Opened: func() []string { return h.selection.Config.Settings().Strings(config.MCPProjects) },
	}
	methods := h.ownMethods()
	for _, own := range []map[string]services.Method{
		renewing.Methods(), h.selection.Off.Methods(), h.pipeline.Methods(), h.recorder.Methods(h.ctx),
		h.stats.Methods(), h.usage.Methods(),
		h.selection.Methods(), h.sessions.Methods(),
		h.tsHooks.Methods(), h.terminals.Methods(), h.approvals.Methods(), h.notify.Methods(), foreign.Methods(),
		h.web.Methods(), h.connector.Methods(), h.shown.Methods(), h.member.Methods(),
	} {
		addMethods(methods, own)
	}
	long := h.pipeline.LongMethods()
	for _, own := range []map[string]services.LongMethod{h.outbox.Methods(), h.tsHooks.LongMethods(),
		foreign.LongMethods(), h.web.LongMethods(), h.usage.LongMethods(), h.shown.LongMethods(),
		h.telemetry.LongMethods(), h.member.LongMethods()} {
		addMethods(long, own)
	}
	checks := h.approvals.Checks()
	addMethods(checks, h.member.Checks())
	var socket *os.File
	if h.given != nil {
		socket = h.given.Socket
	}
	return server.New(h.ctx, server.Options{
		Given: socket,
		Deps:  h.deps, Evaluator: h.terminals, ViewOf: views.Of, Refused: h.noteRefusal, Hooks: hookCalls{h.pipeline},
		MetVersion: renewing.MetVersion, GiveUp: h.Stop,
		HandleMux0: h.processMux0Line, AnswerCmux: answerCmux, Version: h.version,
		Methods: methods, LongMethods: long, Checks: checks,
		Streams: map[string]server.StreamMethod{
			wire.MethodStream:      server.EventStream(h.notes, h.recorder),
			wire.MethodInboxStream: h.openInboxStream,
			wire.MethodRemoteFollow: func(params json.RawMessage, peer proc.Cred) (server.Stream, *wire.Error) {
				stream, bad := h.shown.Open(params, peer)
				return stream, bad
			},
		},
	})
}

// addMethods adds a service's methods. A name that another one has is a mistake in this
// program, and no daemon starts with it.
func addMethods[M any](table, more map[string]M) {
	for name, method := range more {
		if _, taken := table[name]; taken {
			panic("two services answer the method " + name)
		}
		table[name] = method
	}
}

func answerCmux(line []byte, call server.CallFunc) ([]byte, error) {
	return cmux.Answer(line, cmux.Caller(call))
}

func (h *Daemon) openInboxStream(params json.RawMessage, peer proc.Cred) (server.Stream, *wire.Error) {
	var p wire.InboxStreamParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	return func(ctx context.Context, id json.RawMessage, send func([]byte) bool) {
		h.approvals.Stream(ctx, id, p.Prompts, peer, send)
	}, nil
}

// processMux0Line processes a line of mux0 as an event.
func (h *Daemon) processMux0Line(line []byte, peer proc.Cred) {
	if m, ok := mux0.ReadLine(line, h.deps.Catalogue, h.deps.Problems); ok {
		h.pipeline.ProcessUnanswered(h.ctx, &services.Call{At: time.Now(), Peer: peer, Frame: frame.Request{
			ID: frame.NewID(), Agent: m.Agent, Event: m.Name, Payload: m.Payload,
		}})
	}
}

// hookCalls answers hook frames through the pipeline.
type hookCalls struct{ pipeline *pipeline.Pipeline }

func (c hookCalls) AnswerHook(ctx context.Context, call *services.Call) (frame.Reply, func(), bool) {
	reply := frame.Reply{ID: call.Frame.ID}
	if call.Frame.Inner {
		answer, ok := c.pipeline.AnswerInner(ctx, call)
		reply.Stdout = answer
		return reply, nil, ok
	}
	answer, decision, finish, ok := c.pipeline.Answer(ctx, call)
	reply.Exit, reply.Stdout, reply.Stderr = answer.Exit, []byte(answer.Stdout), []byte(answer.Stderr)
	if call.Container != "" {
		reply.Verdict, reply.Reason = containedVerdict(decision), decision.Reason
	}
	return reply, finish, ok
}

// containedVerdict returns a decision in the form that a caller in a container takes.
func containedVerdict(d event.Decision) string {
	switch d.Verdict {
	case event.Deny:
		return frame.VerdictDeny
	case event.Ask:
		return frame.VerdictAsk
	}
	return frame.VerdictNone
}

// journalListener notifies the sessions of what the recorder does.
type journalListener struct{ h *Daemon }

func (l journalListener) CaughtUp(ctx context.Context) {
	l.h.sessions.CatchUp(ctx, l.h.recorder.EventsSince)
}

// noteStored is called when events were stored: watchers are notified, and agents may have used
// something.
func (h *Daemon) noteStored() {
	h.notes.EventsStored()
	h.usage.Poke()
	h.member.Poke()
	h.shown.EventsStored()
}

// recordOwn records an event of hookmux itself.
func (h *Daemon) recordOwn(name, id string, at time.Time, payload any) {
	if b, err := json.Marshal(payload); err == nil {
		h.pipeline.RecordOwn(&services.Call{At: at, Frame: frame.Request{ID: id, Agent: wire.OwnAgent, Event: name,
			Payload: b}})
	}
}

// reportGap reports that a session continues without its hooks, in the list of problems, the log and
// notices, and when that is over.
func (h *Daemon) reportGap(gap sessions.Gap) {
	one := gap.Session
	key := "gap:" + one.Agent + ":" + one.ID
	title := h.deps.AgentTitle(one.Agent)
	since := gap.From.Local().Format("15:04:05")
	payload := map[string]string{"session_id": one.ID, "cwd": one.Cwd, "agent": one.Agent}
	if gap.Until.IsZero() {
		what := title + " (session " + wire.ShortID(one.ID) + ") works, and none of its hooks arrived since " + since +
			": nothing guards it"
		h.deps.Problems.Set(key, what, "hookmux doctor "+one.Agent)
		payload["message"] = what
		h.notify.HooksMissing(one, since)
	} else {
		h.deps.Problems.Clear(key)
		payload["message"] = title + " (session " + wire.ShortID(one.ID) + ") worked without its hooks from " + since +
			" to " + gap.Until.Local().Format("15:04:05") + ": nothing guarded it, and the log lacks what it did"
	}
	h.recordOwn(wire.OwnGap, frame.NewID(), time.Now(), payload)
}

// newApprovals creates the approvals service with what it needs.
func (h *Daemon) newApprovals() *approvals.Service {
	return approvals.New(approvals.Options{
		Deps: h.deps, Settings: h.selection, Recorder: ownEvents{h.recorder.Reader, h}, Sessions: h.sessions,
		FocusPane: sessions.FocusPane, MayAnswer: h.mayAnswer, ReachesUser: h.reachesUser,
		Elsewhere: h.hosts,
		Stopping:  func() bool { return h.server.Stopping() }, Context: h.ctx, Started: h.started, Effect: h.effectOf,
	})
}

// effectOf returns what a call would do, as guards and rules see it: computed once per request.
func (h *Daemon) effectOf(ev *event.Event) (text, risk string) {
	effect := h.selection.Examine(ev).Effect(h.deps.Dirs.Home)
	return effect.Text, string(effect.Risk)
}

// reachesUser reports whether notices about such a request reach the user. It is a method because
// notices are created after approvals, whose requests they report.
func (h *Daemon) reachesUser(agent, kind string) bool { return h.notify.Reaches(agent, kind) }

// mayAnswer reports whether the peer could answer: the user sees everything they decide about;
// anyone else gets what the journal gets.
func (h *Daemon) mayAnswer(peer proc.Cred) (bool, string) {
	verdict := h.evaluator.May(authority.Decide, peer, nil)
	return verdict.Trusted(), verdict.Reason()
}

// ownEvents is the recorder as approvals sees it.
type ownEvents struct {
	*recorder.Reader
	h *Daemon
}

// WakeJournal has what was recorded stored soon.
func (o ownEvents) WakeJournal() { o.h.recorder.Wake() }

// RecordOwn records an event of hookmux itself.
func (o ownEvents) RecordOwn(name, id string, at time.Time, payload any) {
	o.h.recordOwn(name, id, at, payload)
}

// PastRequests reads what the journal knows of requests and permissions since a
// moment, the newest first.
func (o ownEvents) PastRequests(ctx context.Context, since time.Time, limit int,
	each func(approvals.PastRequest)) error {
	filter := journal.Filter{Since: since, Inbox: true, Newest: true, Limit: limit}
	return o.EachOutcome(ctx, filter, func(s *journal.Stored, outcome *wire.Outcome) {
		each(approvals.PastRequest{
			ID: s.ID, Time: s.Time, By: s.Outcome.By, Outcome: *outcome,
			Event: func() event.Event { return o.Rebuild(s) },
		})
	})
}

func (h *Daemon) newTSHooks() *host.Service {
	return host.New(h.ctx, h.deps, host.Options{
		Version: h.version, Selection: tsHookSelection{h}, Journal: h.recordOwn,
		People:  people{func() *approvals.Service { return h.approvals }}, // created later
		Plugins: pluginCalls{h.ctx, h.outbox},
		Environment: func(id string) []string {
			return []string{pipeline.HandlerVariable + "=" + h.marks.Mark(id)}
		},
		HookReloaded: func(id string) { h.selection.DropProblemsOf(id) },
		Accepted:     h.accepted,
	})
}

// tsHookSelection tells TypeScript hooks what applies where.
type tsHookSelection struct{ h *Daemon }

func (s tsHookSelection) Settings() *config.Settings { return s.h.selection.Config.Settings() }

func (s tsHookSelection) Refresh(root string) { s.h.selection.Refresh(root) }

func (s tsHookSelection) FindProject(cwd string) string {
	return s.h.selection.Registry.FindProject(cwd)
}

func (s tsHookSelection) Trusted(root string) bool {
	return s.h.selection.Trust.InForce(root).Status == trust.Trusted
}

func (s tsHookSelection) InnerHooks(ev *event.Event, peer proc.Cred) []*hook.Entry {
	return s.h.pipeline.InnerHooks(ev, peer)
}

// people passes what TypeScript hooks ask on to the user.
type people struct{ approvals func() *approvals.Service }

func (p people) AskUser(ctx context.Context, ev *event.Event, q queue.Question) (string, error) {
	return p.approvals().AskUser(ctx, ev, q)
}

func (p people) CanAnyoneAnswer() bool { return p.approvals().CanAnyoneAnswer() }

// pluginCalls reaches hookmux's plugins inside agents.
type pluginCalls struct {
	ctx    context.Context
	outbox *server.Outbox
}

func (c pluginCalls) Send(agent, session, text string) (bool, error) {
	return c.outbox.Send(c.ctx, agent, session, text)
}

func (c pluginCalls) Call(ctx context.Context, agent, session string, call json.RawMessage,
) (wire.OutboxDone, bool, error) {
	return c.outbox.Put(ctx, agent, wire.OutboxText{ID: frame.NewID(), Session: session, Call: call})
}

// pageAccess is the daemon as the page for browsers sees it.
type pageAccess struct{ h *Daemon }

func (a pageAccess) Call(ctx context.Context, method string, params json.RawMessage) (any, *wire.Error) {
	return a.h.server.Call(ctx, method, params)
}

// FollowSessions calls each for every change of a session; the first call, without a line, says that
// nothing is missed from now on.
func (a pageAccess) FollowSessions(ctx context.Context, each func(line []byte) bool) {
	params, _ := json.Marshal(wire.StreamParams{Sessions: wire.SessionsOnly})
	stream, bad := server.EventStream(a.h.notes, a.h.recorder)(params, proc.Cred{})
	if bad != nil {
		return
	}
	began := false
	stream(ctx, json.RawMessage("1"), func(line []byte) bool {
		if !began {
			began = true
			line = nil // the answer to the request itself
		}
		return each(line)
	})
}

// ResumeInTmux resumes a session where `hookmux resume` would, without a terminal of its own: in its
// old pane, or in a new window.
func (a pageAccess) ResumeInTmux(ctx context.Context, record *wire.ResumeRecord) (string, error) {
	if !(&tmux.Server{}).Available() {
		return "", errors.New("tmux isn't installed on the machine it ran on; resume it in a terminal there")
	}
	// The pane that the daemon happens to have been started in is no part of it.
	getenv := func(name string) string {
		if strings.HasPrefix(name, "TMUX") {
			return ""
		}
		return os.Getenv(name)
	}
	return (&start.Resumer{Getenv: getenv}).InTmux(ctx, record, "")
}

// OwnSessions returns the sessions of this machine.
func (a pageAccess) OwnSessions() []wire.Session { return a.h.sessions.List(false) }

// RecordDevice journals what happened to a paired device.
func (a pageAccess) RecordDevice(what string, device wire.WebDevice) {
	a.h.recordOwn(wire.OwnDevice, frame.NewID(), time.Now(), map[string]any{"what": what, "device": device})
}

// WarnElsewhere notifies you.
func (a pageAccess) WarnElsewhere(device wire.WebDevice) { a.h.notify.DeviceElsewhere(device) }
