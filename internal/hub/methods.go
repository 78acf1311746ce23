package hub

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/recorder"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// methods is the table of what the hub can be asked and who may ask it.
// events.stream is not in it: it takes the connection over (serveRPC).
func (h *Hub) methods() map[string]method {
	table := map[string]method{
		wire.MethodInfo:    {authority.Read, h.doInfo},
		wire.MethodStop:    {authority.Decide, h.doStop},
		wire.MethodRenew:   {authority.Report, h.doRenew},
		wire.MethodOff:     {authority.Decide, h.doOff},
		wire.MethodOn:      {authority.Decide, h.doOn},
		wire.MethodQuery:   {authority.Read, h.doQuery},
		wire.MethodExplain: {authority.Read, h.doExplain},
		wire.MethodStats:   {authority.Read, h.doStats},
		wire.MethodOutbox:  {authority.Report, h.doOutbox},
	}
	// What commands do to files without the hub: an agent that tries is refused
	// by the command itself; here it is journalled.
	for _, name := range []string{wire.MethodInstall, wire.MethodUninstall, wire.MethodDoctor, wire.MethodTmux} {
		table[name] = method{authority.Decide, h.doMay}
	}
	return table
}

// doMay is reached by a person only.
func (h *Hub) doMay(json.RawMessage, proc.Cred) (any, *wire.Error) {
	return map[string]bool{"ok": true}, nil
}

// refused notes an attempt to decide without authority: a person should learn
// that an agent tried.
func (h *Hub) refused(name string, peer proc.Cred, v authority.Verdict) {
	h.deps.Log.Warn("refused", "method", name, "pid", peer.PID, "why", v.Reason, "agent", v.Agent)
	who := "a process"
	if v.Agent != "" {
		who = v.Agent
	}
	payload, _ := json.Marshal(map[string]any{"method": name, "pid": peer.PID, "reason": v.Reason, "agent": v.Agent})
	in := arrival{id: frame.NewID(), agent: "hookmux", event: "refused", payload: payload, at: time.Now(), peer: peer}
	h.note(&in)
	h.streams.Publish(wire.NoteTrace, wire.Trace{Hook: "hookmux", Text: who + " tried " + name + " and was refused: " + v.Reason})
}

func (h *Hub) doInfo(json.RawMessage, proc.Cred) (any, *wire.Error) {
	info := wire.Info{
		PID: os.Getpid(), Socket: h.deps.Dirs.Socket(), Version: h.version, Started: h.started,
		Uptime: time.Since(h.started).Seconds(), Runtime: h.deps.Dirs.Runtime, State: h.deps.Dirs.State, Config: h.deps.Dirs.Config,
		Off: h.selection.Off.Info(), Agents: h.agentInfos(), Problems: h.selection.AllProblems(),
		Counts: wire.Counts{
			Events: h.seen.total.Load(), Decided: h.seen.decided.Load(), Denied: h.seen.denied.Load(),
			Waiting: h.open.waiting(), Undrained: h.recorder.Undrained(),
		},
	}
	info.Feed = h.approvals.Info()
	info.Counts.Journal = h.recorder.Size()
	return info, nil
}

func (h *Hub) doStop(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.StopParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if p.Reason == "" {
		p.Reason = "somebody asked for it"
	}
	// The answer goes out first.
	time.AfterFunc(10*time.Millisecond, func() { h.Stop(p.Reason) })
	return map[string]bool{"stopping": true}, nil
}

func (h *Hub) doRenew(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.RenewParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if h.program == "" {
		return wire.RenewResult{Why: "this hub does not know its program on disk"}, nil
	}
	result := h.renew(p.Version)
	if result.Leaving {
		time.AfterFunc(10*time.Millisecond, func() { h.Stop(result.Why) })
	}
	return result, nil
}

func (h *Hub) doOff(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.OffParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if p.Seconds < 0 || p.Seconds > (366*24*time.Hour).Seconds() {
		return nil, wire.Errorf(wire.CodeParams, "%.0f days are too long to be off for; a year is the most", p.Seconds/86400)
	}
	return h.selection.Off.SwitchOff(time.Duration(p.Seconds * float64(time.Second))), nil
}

func (h *Hub) doOn(json.RawMessage, proc.Cred) (any, *wire.Error) {
	was := h.selection.Off.IsOff()
	if err := h.selection.Off.SwitchOn(); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	return map[string]bool{"wasOff": was}, nil
}

// doPush takes an event from a program instead of a hook process.
func (h *Hub) doPush(ctx context.Context, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.PushParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if p.Agent == "" || p.Event == "" {
		return nil, wire.Errorf(wire.CodeParams, "event.push needs agent and event")
	}
	if p.ID == "" {
		p.ID = frame.NewID()
	}
	in := arrival{
		id: p.ID, agent: p.Agent, event: p.Event, cwd: p.Cwd, payload: p.Payload, at: time.Now(), peer: peer, pushed: true,
		limit: time.Duration(p.Timeout * float64(time.Second)),
	}
	if len(p.Env) > 0 {
		in.env = []byte(strings.Join(p.Env, "\x00"))
	}
	in.gone = func(cancel func()) func() { return goneWith(ctx, cancel) }
	answer, decision, ok := h.answer(h.ctx, &in)
	h.finish(&in)
	if !ok {
		return nil, wire.Errorf(wire.CodeWithdrawn, "the hub is stopping; push the event again with the same id")
	}
	d, _ := json.Marshal(decision)
	return wire.PushResult{ID: p.ID, Stdout: answer.Stdout, Stderr: answer.Stderr, ExitCode: answer.Exit, Decision: d}, nil
}

func (h *Hub) doQuery(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var q wire.QueryParams
	if err := read(params, &q); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(h.ctx, 30*time.Second)
	defer cancel()
	result, err := h.recorder.Query(ctx, q)
	if errors.Is(err, recorder.ErrCursor) {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	return result, nil
}

func (h *Hub) doStats(json.RawMessage, proc.Cred) (any, *wire.Error) {
	return h.stats.List(), nil
}
