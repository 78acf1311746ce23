package sessions

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/wire"
)

// waitingItems returns everything that waits for you, the oldest first.
func (v *view) waitingItems() []wire.InboxRequest {
	list := []wire.InboxRequest{}
	for _, one := range v.tracker.sessions.Waiting() {
		for _, open := range one.Requests {
			// Also for a session whose process is gone: the caller still waits.
			list = append(list, wire.InboxRequest{
				ID: open.ID, Status: wire.InboxPending, Agent: one.Agent, Session: one.ID, CreatedAt: open.At,
			})
		}
		list = append(list, v.promptItems(one)...)
	}
	slices.SortStableFunc(list, func(a, b wire.InboxRequest) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return list
}

// promptItems returns a session's requests at the agent's own prompt.
func (v *view) promptItems(one *state.Session) []wire.InboxRequest {
	if one == nil {
		return nil
	}
	var list []wire.InboxRequest
	for _, waits := range one.WaitingList() {
		if waits.InInbox || v.tracker.isDeciding(waits.Event) {
			continue // hookmux may still make a request of it
		}
		info := v.sessionInfo(one)
		item := wire.InboxRequest{
			ID: waits.ID, Status: wire.InboxPrompt, Kind: promptKind(waits.Kind), Agent: one.Agent, Session: one.ID,
			Cwd: one.Cwd, Pane: info.Pane, Tool: waits.Tool, ToolKind: string(waits.Kind), Choices: []string{},
			CreatedAt: waits.At, AgentID: waits.Actor,
		}
		item.Shown = v.deps.AgentTitle(one.Agent) + " is asking in " + info.WindowName()
		if waits.What != "" {
			item.Asked = v.deps.Redactor.Text(waits.What)
			item.Shown += ": " + item.Asked
		}
		if v.dialogOf(one, &waits) != nil {
			item.Choices = []string{string(event.ChooseOnce), string(event.ChooseDeny)}
			item.Shown = promptCard(v.deps.AgentTitle(one.Agent)+" asks in "+info.WindowName(), one.Cwd, waits.Whole)
			sum := sha256.Sum256([]byte(item.Shown))
			item.SHA256 = hex.EncodeToString(sum[:])
		}
		list = append(list, item)
	}
	return list
}

// dialogOf returns the agent's dialog, where keys can answer what waits in it: one command that
// is known whole, the only thing that waits in a session whose tmux pane is known.
func (v *view) dialogOf(one *state.Session, waits *state.Waiting) *agent.Dialog {
	a, ok := v.deps.Catalogue.Agent(one.Agent)
	if !ok || a.Inbox == nil || a.Inbox.Dialog == nil || waits.InInbox || waits.Whole == "" || waits.Actor != "" ||
		len(one.WaitingList()) != 1 || one.Place.Mux != "tmux" || one.Place.Pane == "" {
		return nil
	}
	return a.Inbox.Dialog
}

// promptCard returns what you see of a command before you answer it with keys.
func promptCard(head, folder, command string) string {
	var b strings.Builder
	b.WriteString(termsafe.Line(head, 0) + "\n")
	if folder != "" {
		b.WriteString(termsafe.Line("in "+folder, 0) + "\n")
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(command, "\n"), "\n") {
		b.WriteString(wire.CardIndent + wire.CardCommand + line + "\n")
	}
	return termsafe.Text(b.String())
}

func promptKind(kind event.ToolKind) string {
	switch kind {
	case event.Question:
		return "question"
	case event.Plan:
		return "plan"
	}
	return "permission"
}
