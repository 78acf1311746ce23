package sessions

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/wire"
)

// waitingItems is everything that waits for a person, the oldest first.
func (v *view) waitingItems() []wire.InboxRequest {
	list := []wire.InboxRequest{}
	for _, one := range v.tracker.sessions.Waiting() {
		for _, held := range one.Held {
			// Also of a session whose process is gone: whoever asked still waits.
			list = append(list, wire.InboxRequest{
				ID: held.ID, Status: wire.InboxPending, Agent: one.Agent, Session: one.ID, CreatedAt: held.At,
			})
		}
		list = append(list, v.windowItems(one)...)
	}
	slices.SortStableFunc(list, func(a, b wire.InboxRequest) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return list
}

// windowItems is what of a session stands in the agent's own window.
func (v *view) windowItems(one *state.Session) []wire.InboxRequest {
	if one == nil {
		return nil
	}
	var list []wire.InboxRequest
	for _, waits := range one.WaitingList() {
		if waits.Held {
			continue
		}
		info := v.sessionInfo(one)
		item := wire.InboxRequest{
			ID: waits.ID, Status: wire.InboxWindow, Kind: windowKind(waits.Kind), Agent: one.Agent, Session: one.ID,
			Cwd: one.Cwd, Pane: info.Pane, Tool: waits.Tool, ToolKind: string(waits.Kind), Choices: []string{},
			CreatedAt: waits.At, AgentID: waits.Actor,
		}
		item.Shown = v.deps.AgentTitle(one.Agent) + " is asking in " + info.WindowName()
		if waits.What != "" {
			item.Asked = v.deps.Redactor.Text(waits.What)
			item.Shown += ": " + item.Asked
		}
		list = append(list, item)
	}
	return list
}

func windowKind(kind event.ToolKind) string {
	switch kind {
	case event.Question:
		return "question"
	case event.Plan:
		return "plan"
	}
	return "permission"
}
