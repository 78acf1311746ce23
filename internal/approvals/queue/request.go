// Package queue holds the requests that wait for you: ask, wait, reply, close.
//
// Contract: a request is registered before it is announced; any number of callers may wait
// for one; it ends once, for one reason, and every waiter gets that. A reply is first
// claimed, then recorded by the caller's commit, and only then passed to the waiters: an
// answer that the agent gets is always on record, and of two replies one wins and the other
// is told so. No request survives the process: a daemon that comes back shows nothing
// stale. Only the ids of waiting requests are passed on.
package queue

import (
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/wire"
)

// Outcome says how a reply ended.
type Outcome string

// The outcomes of a reply, and what is known of a delivered one later.
const (
	Delivered Outcome = wire.ReplyDelivered
	Already   Outcome = wire.ReplyAlready
	Gone      Outcome = wire.ReplyExpired
	Unknown   Outcome = wire.ReplyUnknown

	Confirmed Outcome = wire.ReplyConfirmed // the agent did what was said
	Overtaken Outcome = wire.ReplyOvertaken // it did something else
)

// Request is what you're asked. Nothing about it changes once it is open except the end of
// its time.
type Request struct {
	Need    policy.Need
	Event   *event.Event // with the input as hooks changed it
	Project string
	Pushed  bool   // by a program, not by an agent's hook
	Relayed bool   // the program is told the answer, in its own words, and not the agent in its
	ByHook  bool   // a hook's own question: its answer is not the agent's
	ForYes  bool   // a hook's question which asks for nothing but a yes
	Number  string // the agent's own number of the request
	Key     string // who asks again under the same key joins the request; "" never does
	Rule    *policy.Rule
	NoRule  string // why there is no rule

	Suggestions []json.RawMessage

	Effect string // what the call would do, in a line
	Risk   string // low, normal, high
	Line   int    // of the file, where the text that an edit replaces begins

	Shown  string // exactly what the user sees
	Hash   string // SHA-256 of Shown
	Note   string // what the user should know about answering
	Opened time.Time
	Until  time.Time
	Latest time.Time // the hook may not wait beyond it
}

// UserAnswer is your answer with everything that belongs to it.
type UserAnswer struct {
	Verdict    event.Verdict
	Answer     event.Answer
	Reason     string
	By         string
	At         time.Time
	Permission string
	Signed     *ledger.Signature // by a paired device
}

// Result is sent to every waiter of a request.
type Result struct {
	ID         string
	End        End
	UserAnswer UserAnswer // when it was answered
}

// Words returns the choices as you type them.
func (r *Request) Words() []string {
	words := []string{}
	for _, c := range r.Need.Choices {
		words = append(words, string(c))
	}
	for _, m := range r.Need.Plans {
		words = append(words, string(m))
	}
	return words
}
