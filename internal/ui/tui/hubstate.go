package tui

import (
	"reflect"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/client"
)

// hubState is what is known about the hub itself.
type hubState struct {
	connection string            // why the hub cannot be followed; "" when it is
	silent     bool              // it does not answer, and has not hung up
	problem    string            // either of them in words
	ready      *client.FeedReady // whether agents wait for this view
	connected  map[string]bool   // requests named since the feed was followed anew; nil once it is ready
	info       *client.Info
}

func (h *hubState) isOff() bool       { return h.info != nil && h.info.Off != nil }
func (h *hubState) isOn() bool        { return h.info != nil && h.info.Off == nil }
func (h *hubState) isAway() bool      { return h.ready != nil && h.ready.Away }
func (h *hubState) isHere() bool      { return h.ready != nil && !h.ready.Away }
func (h *hubState) hasProblems() bool { return h.info != nil && len(h.info.Problems) > 0 }

// isOtherVersion reports whether the hub is of another version than the view.
func (h *hubState) isOtherVersion(own string) bool {
	return h.info != nil && own != "" && h.info.Version != own
}

// setInfo keeps what the hub said about itself.
func (h *hubState) setInfo(info *client.Info) {
	h.info, h.silent = info, false
	if h.ready != nil {
		h.ready.Away = info.Feed.Away
	}
}

// disconnect notes that the hub cannot be followed.
func (h *hubState) disconnect(why string) {
	h.connection, h.ready, h.connected = why, nil, map[string]bool{}
}

// nameProblem says what is wrong with the hub, and reports whether something was and is
// no more.
func (h *hubState) nameProblem() (isOver bool) {
	before := h.problem
	h.problem = h.connection
	if h.problem == "" && h.silent {
		h.problem = "the hub runs and does not answer; `hookmux hub restart` ends it and starts another"
	}
	return before != "" && h.problem == ""
}

// saysNothingNew reports whether a message is only the hub's word that it is as it was.
func (h *hubState) saysNothingNew(msg tea.Msg) bool {
	said, ok := msg.(hubMsg)
	if !ok || len(said) != 1 || h.info == nil || h.silent {
		return false
	}
	now, ok := said[0].(infoMsg)
	return ok && h.info.Version == now.info.Version && h.info.Feed.Away == now.info.Feed.Away &&
		reflect.DeepEqual(h.info.Off, now.info.Off) && reflect.DeepEqual(h.info.Problems, now.info.Problems)
}
