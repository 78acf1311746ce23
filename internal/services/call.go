package services

import (
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// Call is one hook call. One value travels from the frame to the answer: the server or a
// program fills the first part, and each step of the pipeline adds what it finds out.
type Call struct {
	Frame  frame.Request // what the caller sent; Env is valid until the call is finished
	At     time.Time
	Peer   proc.Cred
	Pushed bool // by a program, not by a hook
	// Container is where the caller runs, if it runs in one: it may only report, and is answered with
	// nothing but a denial or a question. "" for callers of this machine.
	Container string
	// OnGone calls cancel when the caller hangs up, until stop; nil for callers that can't.
	OnGone func(cancel func()) (stop func())
	// OnWait notifies a caller that shows a dialog of its own that you are being asked; nil
	// for others.
	OnWait func(request, why string, input []byte)
	DryRun *DryRun // nil for a real call

	Event    event.Event
	Carries  event.Carries // what the agent can take back
	Deadline time.Time     // until when the agent waits
	Project  string        // whose hooks apply; "" for none
	Outcome  hook.Outcome  // what hooks said; a permission or your answer is put into its decision
	Skipped  Skip          // why no one was asked
	// Delivered runs once the caller has its answer; nil for nothing.
	Delivered func()
}

// DryRun belongs to a call that is only looked at: nothing is written down, used up or put
// to anyone for it. hookmux's own guards are pure and do run; what other hooks would say
// isn't known before they run. Its methods may be called on nil, a real call.
type DryRun struct {
	Suppose  *event.Decision // instead of asking hooks
	RunHooks bool            // command and script hooks too
	Notes    []string        // what the steps would have done
}

// Note adds what a step would have done.
func (r *DryRun) Note(what string) {
	if r != nil {
		r.Notes = append(r.Notes, what)
	}
}
