package approvals

import (
	"context"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// jumpTime is how long a terminal may take to bring a pane forward.
const jumpTime = 3 * time.Second

// Jump says where a session runs and brings its pane before the person. For
// whoever may not decide it only says where: an agent that moved the person's
// windows could have them type into another one.
func (s *Service) Jump(agent, session string, peer proc.Cred) map[string]any {
	out := map[string]any{"matched": false, "focused": false}
	matched := func(cwd, pane string) {
		out["matched"], out["agent"], out["session"], out["cwd"], out["pane"] = true, agent, session, cwd, pane
	}
	for _, item := range s.queue.Items(true) {
		if item.Agent == agent && item.Session == session {
			matched(item.Cwd, item.Pane)
			out["why"] = "it is not known where the session runs"
		}
	}
	for _, one := range s.Sessions.List(true) {
		if one.Agent != agent || one.ID != session {
			continue
		}
		matched(one.Cwd, one.Pane)
		if why := s.bringForward(&one, peer); why != "" {
			out["why"] = why
		} else {
			out["focused"] = true
			delete(out, "why")
		}
		break
	}
	return out
}

// bringForward says why a session's pane could not be shown, "" when it is.
func (s *Service) bringForward(one *wire.Session, peer proc.Cred) string {
	switch {
	case one.Ended != nil:
		return "the session has ended"
	case one.Mux == "" || one.Pane == "" || one.Pane == "unknown":
		return "the session sits in no pane or window that is known"
	case !s.mayAnswer(peer):
		return "only a person's program may move windows"
	}
	ctx, cancel := context.WithTimeout(s.Context, jumpTime)
	defer cancel()
	attached, err := s.FocusPane(ctx, one)
	switch {
	case err != nil:
		return err.Error()
	case !attached:
		return "nobody looks at that tmux; its pane is chosen for who attaches next"
	}
	return ""
}
