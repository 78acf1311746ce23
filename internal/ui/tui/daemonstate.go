package tui

import (
	"reflect"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/client"
)

// daemonState holds what is known about the daemon itself.
type daemonState struct {
	connection string             // why the daemon cannot be followed; "" when it is
	silent     bool               // it does not answer, and has not hung up
	problem    string             // either of them as text
	ready      *client.InboxReady // whether agents wait for this view
	connected  map[string]bool    // requests named since the inbox was followed again; nil once it is ready
	info       *client.Info
}

func (h *daemonState) isOff() bool       { return h.info != nil && h.info.Off != nil }
func (h *daemonState) isOn() bool        { return h.info != nil && h.info.Off == nil }
func (h *daemonState) isAway() bool      { return h.ready != nil && h.ready.Away }
func (h *daemonState) isHere() bool      { return h.ready != nil && !h.ready.Away }
func (h *daemonState) hasProblems() bool { return h.info != nil && len(h.info.Problems) > 0 }

// isOtherVersion reports whether the daemon has another version than the view.
func (h *daemonState) isOtherVersion(own string) bool {
	return h.info != nil && own != "" && h.info.Version != own
}

// setInfo keeps what the daemon said about itself.
func (h *daemonState) setInfo(info *client.Info) {
	h.info, h.silent = info, false
	if h.ready != nil {
		h.ready.Away = info.Inbox.Away
	}
}

// disconnect notes that the daemon cannot be followed.
func (h *daemonState) disconnect(why string) {
	h.connection, h.ready, h.connected = why, nil, map[string]bool{}
}

// nameProblem says what is wrong with the daemon, and reports whether something was and is
// no more.
func (h *daemonState) nameProblem() (isOver bool) {
	before := h.problem
	h.problem = h.connection
	if h.problem == "" && h.silent {
		h.problem = "The daemon is running but doesn't answer; `hookmux daemon restart` replaces it."
	}
	return before != "" && h.problem == ""
}

// saysNothingNew reports whether a message only says that the daemon is as it was.
func (h *daemonState) saysNothingNew(msg tea.Msg) bool {
	said, ok := msg.(daemonMsg)
	if !ok || len(said) != 1 || h.info == nil || h.silent {
		return false
	}
	now, ok := said[0].(infoMsg)
	return ok && h.info.Version == now.info.Version && h.info.Inbox.Away == now.info.Inbox.Away &&
		reflect.DeepEqual(h.info.Off, now.info.Off) && reflect.DeepEqual(h.info.Problems, now.info.Problems)
}
