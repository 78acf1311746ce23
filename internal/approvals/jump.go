package hub

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/ui/tmux"
	"github.com/hookmux/hookmux/internal/wire"
)

// jumpTime is how long a tmux may take to bring a pane forward.
const jumpTime = 3 * time.Second

// doFeedJump says where a session runs and brings its tmux pane before the
// person. For whoever may not decide it only says where: an agent that moved
// the person's windows could have them type into another one.
func (h *Hub) doFeedJump(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p struct {
		ID string `json:"workstream_id"`
	}
	if err := read(params, &p); err != nil {
		return nil, err
	}
	agent, id := h.splitWorkstream(p.ID, "")
	out := map[string]any{"matched": false, "focused": false}
	matched := func(cwd, pane string) {
		out["matched"], out["agent"], out["session"], out["cwd"], out["pane"] = true, agent, id, cwd, pane
	}
	for _, item := range h.desk.table.Items(true) {
		if item.Agent == agent && item.Session == id {
			matched(item.Cwd, item.Pane)
			out["why"] = "it is not known where the session runs"
		}
	}
	for _, s := range h.sessions.List(true) {
		if s.Agent != agent || s.ID != id {
			continue
		}
		matched(s.Cwd, s.Pane)
		if why := h.bringForward(&s, peer); why != "" {
			out["why"] = why
		} else {
			out["focused"] = true
			delete(out, "why")
		}
		break
	}
	return out, nil
}

// bringForward says why a session's pane could not be shown, "" when it is.
func (h *Hub) bringForward(s *wire.Session, peer proc.Cred) string {
	switch {
	case s.Ended != nil:
		return "the session has ended"
	case s.Mux != "tmux" || s.Pane == "" || s.Pane == "unknown":
		return "the session sits in no tmux pane that is known"
	case !h.mayAnswer(peer):
		return "only a person's program may move windows"
	}
	ctx, cancel := context.WithTimeout(h.ctx, jumpTime)
	defer cancel()
	done, err := (&tmux.Server{Socket: s.Server}).Focus(ctx, s.Pane, "")
	switch {
	case err != nil:
		return err.Error()
	case done.Client == "":
		return "nobody looks at that tmux; its pane is chosen for who attaches next"
	}
	return ""
}
