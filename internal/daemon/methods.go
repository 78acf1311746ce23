package daemon

import (
	"encoding/json"
	"os"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// ownMethods returns the methods about the process itself.
func (h *Daemon) ownMethods() map[string]services.Method {
	table := map[string]services.Method{
		wire.MethodInfo: {Run: h.infoMethod},
		wire.MethodStop: {Run: h.stopMethod},
		wire.MethodHosts: {Run: func(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
			if bad := services.ReadParams(params, &struct{}{}); bad != nil {
				return nil, bad
			}
			return h.hosts.List(), nil
		}},
	}
	table[wire.MethodProjectSessions] = services.Method{Run: refuseNoAgent, RunOwn: h.projectSessions}
	table[wire.MethodProjectHistory] = services.Method{Run: refuseNoAgent,
		RunOwn: h.recorder.Methods(h.ctx)[wire.MethodQuery].RunOwn}
	table[wire.MethodProjectBudgets] = services.Method{Run: refuseNoAgent, RunOwn: h.projectBudgets}
	// What commands do to files without the daemon: the command itself rejects
	// an agent that tries; here it is journalled.
	for _, name := range []string{wire.MethodInstall, wire.MethodUninstall, wire.MethodDoctor, wire.MethodTmux} {
		table[name] = services.Method{Run: h.acknowledge}
	}
	return table
}

// refuseNoAgent rejects calls about the caller's project if the caller has none.
func refuseNoAgent(json.RawMessage, proc.Cred) (any, *wire.Error) {
	return nil, wire.Errorf(wire.CodeRefused, "refused: only an agent's own processes may read about its project, and this "+
		"isn't one; use `hookmux ps` and `hookmux log`")
}

// projectSessions lists the sessions that belong to the caller's project.
func (h *Daemon) projectSessions(params json.RawMessage, owns services.Owns) (any, *wire.Error) {
	var p wire.SessionsParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	own := []wire.Session{}
	for _, one := range h.sessions.List(p.All) {
		if owns(one.Agent, one.ID, one.Cwd) {
			own = append(own, one)
		}
	}
	return own, nil
}

// projectBudgets lists the budgets by which the sessions of the caller's project are
// checked.
func (h *Daemon) projectBudgets(_ json.RawMessage, owns services.Owns) (any, *wire.Error) {
	own := []wire.Budget{}
	seen := map[[2]string]bool{}
	for _, one := range h.sessions.List(false) {
		if !owns(one.Agent, one.ID, one.Cwd) {
			continue
		}
		for _, b := range h.selection.BudgetsFor(one.Agent, one.ID, one.Cwd) {
			if key := [2]string{b.ID, b.Session}; !seen[key] {
				seen[key] = true
				own = append(own, b)
			}
		}
	}
	return own, nil
}

// acknowledge returns ok; its authority lets only the user reach it.
func (h *Daemon) acknowledge(json.RawMessage, proc.Cred) (any, *wire.Error) {
	return map[string]bool{"ok": true}, nil
}

// noteRefusal notes an attempt to decide without authority: the user should learn that an agent
// tried.
func (h *Daemon) noteRefusal(name string, peer proc.Cred, v authority.Verdict) {
	h.deps.Log.Warn("refused", "method", name, "pid", peer.PID, "why", v.Reason(), "agent", v.Agent)
	who := "a process"
	if v.Agent != "" {
		who = v.Agent
	}
	payload, _ := json.Marshal(map[string]any{"method": name, "pid": peer.PID, "reason": v.Reason(),
		"agent": v.Agent})
	h.pipeline.RecordOwn(&services.Call{At: time.Now(), Peer: peer, Frame: frame.Request{
		ID: frame.NewID(), Agent: wire.OwnAgent, Event: wire.OwnRefused, Payload: payload,
	}})
	h.notes.Publish(wire.NoteTrace, wire.Trace{Hook: "hookmux",
		Text: who + " tried " + name + " and was refused: " + v.Why})
}

func (h *Daemon) infoMethod(json.RawMessage, proc.Cred) (any, *wire.Error) {
	dirs := h.deps.Dirs
	info := wire.Info{
		PID: os.Getpid(), Socket: dirs.Socket(), Version: h.version, Started: h.started,
		Uptime: time.Since(h.started).Seconds(), Clock: time.Now(), Runtime: dirs.OpenRuntime(), State: dirs.OpenState(), Config: dirs.Config,
		Off: h.selection.Off.Info(), Agents: h.pipeline.AgentInfos(), Problems: h.selection.AllProblems(),
		Counts: h.pipeline.Counts(), Inbox: h.approvals.Info(),
	}
	info.Counts.Undrained = h.recorder.Undrained()
	info.Unaccepted = h.selection.Acceptance.Unaccepted()
	info.Root = h.terminals.RunsAsRoot()
	info.LogOnly = selection.LogOnly(h.selection, h.stats.Would)
	info.Pauses = h.selection.Pauses.Info()
	info.Telemetry = h.telemetry.Info()
	info.Counts.Journal = h.recorder.Size()
	return info, nil
}

func (h *Daemon) stopMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.StopParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	if p.Reason == "" {
		p.Reason = "somebody asked for it"
	}
	// The answer goes out first.
	h.deps.Background.After(h.ctx, 10*time.Millisecond, func() { h.Stop(p.Reason) })
	return map[string]bool{"stopping": true}, nil
}
