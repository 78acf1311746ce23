package sessions

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/store"
	"github.com/hookmux/hookmux/internal/wire"
)

// Methods returns the daemon's methods for sessions. Agents can't use those that change what
// you see or speak for you.
func (s *Service) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodSessions:      {Run: s.listMethod},
		wire.MethodSession:       {Run: s.showMethod},
		wire.MethodSessionResume: {Run: s.resumeMethod},
		wire.MethodSessionRename: {Run: s.renameMethod},
		wire.MethodSessionForget: {Run: s.forgetMethod},
		wire.MethodSessionSend:   {Run: s.sendMethod},
	}
}

func (s *Service) listMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.SessionsParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	s.opened.find(s.ctx)
	list := s.view.listSessions(p.All)
	if s.elsewhere != nil {
		if more := s.elsewhere.Sessions(p.All); len(more) > 0 {
			list = append(list, more...)
			sortSessions(list)
		}
	}
	if len(p.Agents) > 0 {
		var wanted []string
		for _, name := range p.Agents {
			wanted = append(wanted, s.deps.AgentName(name))
		}
		list = slices.DeleteFunc(list, func(one wire.Session) bool { return !slices.Contains(wanted, one.Agent) })
	}
	return list, nil
}

// readSession finds the session that the parameters of a method name.
func (s *Service) readSession(params json.RawMessage) (state.Key, *wire.Error) {
	var p wire.SessionParams
	if err := services.ReadParams(params, &p); err != nil {
		return state.Key{}, err
	}
	return s.findHere(p.Session)
}

func (s *Service) showMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.SessionParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	key, bad := s.view.findSession(p.Session)
	if bad == nil {
		return s.view.sessionDetail(key), nil
	}
	one, bad := s.findElsewhere(p.Session, bad)
	if bad != nil {
		return nil, bad
	}
	ctx, cancel := context.WithTimeout(s.ctx, elsewhereTime)
	defer cancel()
	d, bad := s.elsewhere.Session(ctx, one.ID)
	if bad != nil {
		return nil, bad
	}
	return d, nil
}

// renameMethod gives a session another title.
func (s *Service) renameMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.SessionRenameParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	title := state.OneLine(p.Title)
	if (title == "") != p.Auto {
		return nil, wire.Errorf(wire.CodeParams, "a title is needed, or auto for the agent's own")
	}
	key, bad := s.findHere(p.Session)
	if bad != nil {
		return nil, bad
	}
	if _, ok := s.tracker.sessions.Get(key); !ok {
		return nil, wire.Errorf(wire.CodeConflict, "%s has ended; resume it first with `hookmux resume`", key.ID)
	}
	if p.Auto {
		s.tracker.noteChange(s.tracker.sessions.AutoTitle(key))
	} else {
		s.tracker.noteChange(s.tracker.sessions.Rename(key, title))
	}
	one, ok := s.tracker.sessions.Get(key)
	if !ok {
		return nil, wire.Errorf(wire.CodeGone, "%s left meanwhile", key.ID)
	}
	return s.view.sessionInfo(one), nil
}

// forgetMethod takes a session out for good.
func (s *Service) forgetMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	key, bad := s.readSession(params)
	if bad != nil {
		return nil, bad
	}
	if one, ok := s.tracker.sessions.Get(key); ok && len(one.Requests) > 0 {
		return nil, wire.Errorf(wire.CodeConflict, "%s waits for your answer (`hookmux inbox`); answer or skip it "+
			"first",
			key.ID)
	}
	d := s.view.sessionDetail(key)
	s.forgetSession(key)
	return d.Session, nil
}

// resumeMethod returns how sessions are resumed, and lets the caller claim them.
func (s *Service) resumeMethod(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.SessionResumeParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	s.ReadSettings() // a switch that was turned a moment ago counts
	var list []store.Record
	if p.Session == "" {
		list = s.resumer.offeredRecords()
	} else {
		key, bad := s.findHere(p.Session)
		if bad != nil {
			return nil, bad
		}
		own := s.resumer.recordKey(key)
		r, ok := s.resumer.records.Get(own.Agent, own.ID)
		if !ok {
			return nil, wire.Errorf(wire.CodeConflict, "%s %s cannot be resumed: %s",
				key.Agent, key.ID, s.resumer.whyNotResumable(key))
		}
		list = []store.Record{r}
	}
	by := processKey{pid: peer.PID}
	if caller, err := s.deps.Processes.Lookup(peer.PID); err == nil {
		by.start = caller.Start
	}
	out := []wire.ResumeRecord{}
	for _, r := range list {
		w := s.resumer.recordInfo(r)
		if p.Claim && w.Live == "" {
			if !s.resumer.claimRecord(r, by) {
				w.Live = claimedReason
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// sendMethod gives a session a text: through its agent's plugin where one
// listens, else typed into its pane, if the user says so.
func (s *Service) sendMethod(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.SessionSendParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	if strings.TrimSpace(p.Text) == "" {
		return nil, wire.Errorf(wire.CodeParams, "there is nothing to send")
	}
	if i := strings.IndexFunc(p.Text, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }); i >= 0 {
		return nil, wire.Errorf(wire.CodeParams, "the text has a control character, %q, which would be a key in the agent's terminal", p.Text[i:i+1])
	}
	key, bad := s.view.findSession(p.Session)
	if bad != nil {
		return s.sendElsewhere(p, peer, bad)
	}
	one, ok := s.tracker.sessions.Get(key)
	if !ok || !one.Live() {
		return nil, wire.Errorf(wire.CodeConflict, "%s has ended; `hookmux resume` resumes it", key.ID)
	}
	if delivered, err := s.sender.Send(key.Agent, key.ID, p.Text); err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "%s: %v", key.ID, err)
	} else if delivered {
		return wire.SessionSent{Session: s.view.sessionInfo(one), Via: "plugin"}, nil
	}
	if !p.Type {
		return nil, wire.Errorf(wire.CodeConflict, "%s takes no messages from outside its terminal; "+
			"--type types the text into its pane", key.Agent)
	}
	if one.Waits() {
		return nil, wire.Errorf(wire.CodeConflict, "%s is waiting for your answer and would take this text for it; "+
			"answer first, with `hookmux inbox` or `hookmux jump %s`", key.ID, shellquote.Argument(key.ID))
	}
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	server, pane, err := s.paneNow(ctx, one)
	if err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "%s: %v, so nothing can be typed into it", key.ID, err)
	}
	if err := server.Type(ctx, pane, p.Text, true); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%s: %v", key.ID, err)
	}
	return wire.SessionSent{Session: s.view.sessionInfo(one), Via: "pane"}, nil
}
