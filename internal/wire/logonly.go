package wire

import (
	"time"

	"github.com/hookmux/hookmux/event"
)

// WouldCode is what a hook that only logs would have done.
type WouldCode string

// The codes.
const (
	WouldDeny    WouldCode = "deny"
	WouldAsk     WouldCode = "ask"
	WouldChange  WouldCode = "change" // the call's input
	WouldAllow   WouldCode = "allow"
	WouldGoOn    WouldCode = "keep-going" // an agent that was about to stop
	WouldResult  WouldCode = "result"     // change the call's result
	WouldContext WouldCode = "context"    // say something to the model
	WouldOther   WouldCode = "other"      // say something else to the agent
)

// Would is the decision of a hook in log mode that changed nothing.
type Would struct {
	Code   WouldCode `json:"code"`
	Reason string    `json:"reason,omitempty"`
	Rules  []string  `json:"rules,omitempty"` // that would have matched
}

// WouldOf describes a decision that did not count; nil for none.
func WouldOf(d *event.Decision) *Would {
	if d == nil || d.Empty() {
		return nil
	}
	w := &Would{Code: WouldOther, Reason: d.Reason, Rules: d.Rules}
	if len(w.Rules) == 0 && d.Rule != "" {
		w.Rules = []string{d.Rule}
	}
	switch {
	case d.Verdict == event.Deny:
		w.Code = WouldDeny
	case d.Verdict == event.Ask:
		w.Code = WouldAsk
	case d.Verdict == event.Modify || d.Input != nil:
		w.Code = WouldChange
	case d.Verdict == event.Allow:
		w.Code = WouldAllow
	case d.KeepGoing:
		w.Code = WouldGoOn
	case d.Output != nil:
		w.Code = WouldResult
	case d.Context != "":
		w.Code = WouldContext
	}
	return w
}

// LogOnlyHook is a guard or hook that evaluates and changes nothing.
type LogOnlyHook struct {
	Hook  string `json:"hook"`
	Would uint64 `json:"would"` // calls it would have stopped, asked about or changed, since the daemon started
}

// LogOnlyCall is a call that a hook in log mode would have matched.
type LogOnlyCall struct {
	ID    string    `json:"id"` // of the event
	Time  time.Time `json:"time"`
	Agent string    `json:"agent"`
	Tool  string    `json:"tool,omitempty"`
	Hook  string    `json:"hook"`
	Would Would     `json:"would"`
}
