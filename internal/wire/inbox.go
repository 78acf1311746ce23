package wire

import (
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
)

// Methods of the inbox. Those whose names begin with "feed." take and return what cmux's do; the
// others are hookmux's own.
const (
	MethodInboxItems       = "inbox.items"
	MethodInboxStream      = "inbox.stream"
	MethodInboxReply       = "inbox.reply"
	MethodInboxSkip        = "inbox.skip"
	MethodPermissions      = "permissions.list"
	MethodPermissionRemove = "permissions.remove"
	MethodAway             = "inbox.away"
	MethodBack             = "inbox.back"
	MethodPIN              = "approvals.pin"
	MethodCmuxPush         = "feed.push"
	MethodCmuxList         = "feed.list"
	MethodCmuxPermit       = "feed.permission.reply"
	MethodCmuxQuestion     = "feed.question.reply"
	MethodCmuxPlan         = "feed.exit_plan.reply"
	MethodCmuxJump         = "feed.jump"
)

// Notifications of inbox.stream.
const (
	NoteInboxReceived  = "inbox.received"
	NoteInboxResolved  = "inbox.resolved" // also when the result of the answer is known later
	NoteInboxExpired   = "inbox.expired"
	NoteInboxWithdrawn = "inbox.withdrawn"
	NoteInboxReady     = "inbox.ready" // everything that waits has been sent

	// For those who want windows as well:
	NoteInboxPrompt     = "inbox.prompt"     // an agent asks at its own prompt
	NoteInboxPromptOver = "inbox.promptOver" // it no longer does
)

// InboxRequest is one request as programs see it.
type InboxRequest struct {
	ID      string `json:"id"`                // HOST/ID for one of another machine
	Host    string `json:"host,omitempty"`    // the machine that asks; "" for this one
	EventID string `json:"eventId,omitempty"` // of the event in the journal
	Status  string `json:"status"`            // see [InboxPending] and the others
	End     string `json:"end,omitempty"`
	Kind    string `json:"kind"` // permission, question, plan

	Agent   string `json:"agent"`
	Session string `json:"session"`
	AgentID string `json:"agentId,omitempty"` // of a subagent
	Cwd     string `json:"cwd,omitempty"`
	Project string `json:"project,omitempty"`
	Event   string `json:"event"` // the agent's own name of it
	Pane    string `json:"pane,omitempty"`
	Asked   string `json:"asked,omitempty"` // what an agent is asking in its own terminal

	Tool     string          `json:"tool"` // "" and null if no tool asks
	ToolKind string          `json:"toolKind,omitempty"`
	Input    json.RawMessage `json:"input"`
	Call     string          `json:"call,omitempty"` // the agent's own id of the call, if it has one

	// Choices lists what the user may say: once, always, all, bypass, deny,
	// answer for permissions and questions; accept, auto, manual, reject for a
	// plan. Releasing is always possible.
	Choices     []string          `json:"choices"`
	Questions   []event.Inquiry   `json:"questions,omitempty"`
	Plan        string            `json:"plan,omitempty"`
	Suggestions []json.RawMessage `json:"suggestions,omitempty"` // the agent's own, for suggestion: 1 …
	Rule        string            `json:"rule,omitempty"`        // exactly what always would allow
	NoRule      string            `json:"noRule,omitempty"`      // why there is none

	// Effect describes what the call would do, in one line from guards and rules: "deletes build/
	// · no rule matches"; "" for questions and plans. Risk is low, normal or high. Both
	// are a summary: nothing may be decided by them alone.
	Effect string `json:"effect,omitempty"`
	Risk   string `json:"risk,omitempty"`

	// Line is the line of the file where the text that an edit replaces begins; 0 if unknown.
	Line int `json:"line,omitempty"`

	AskedBy string `json:"askedBy,omitempty"` // the hook that wants the user to look
	Why     string `json:"why,omitempty"`     // its reason
	Note    string `json:"note,omitempty"`    // what the user should know about answering

	Shown  string `json:"shown"`  // exactly what the user is to see
	SHA256 string `json:"sha256"` // of Shown

	CreatedAt time.Time      `json:"createdAt"`
	Deadline  time.Time      `json:"deadline,omitzero"`
	EndedAt   *time.Time     `json:"endedAt,omitempty"`
	Decision  *InboxDecision `json:"decision,omitempty"`
}

// InboxDecision records a decision, by whom, and its result.
type InboxDecision struct {
	Choice     string                 `json:"choice"`
	Plan       string                 `json:"plan,omitempty"`
	Answers    []event.QuestionAnswer `json:"answers,omitempty"`
	Reason     string                 `json:"reason,omitempty"`
	Note       string                 `json:"note,omitempty"`
	Feedback   string                 `json:"feedback,omitempty"`
	Permission string                 `json:"permission,omitempty"` // id of the permission that was saved
	By         string                 `json:"by"`
	At         time.Time              `json:"at"`
	Outcome    string                 `json:"outcome"` // delivered, then confirmed or overtaken
}

// The result of a reply, and of a delivered one later.
const (
	ReplyDelivered = "delivered"
	ReplyAlready   = "already" // it was answered before
	ReplyExpired   = "expired" // nothing waits for it any more
	ReplyUnknown   = "unknown"
	ReplyThere     = "there"     // only the agent's own prompt takes an answer; nothing was typed into it
	ReplyConfirmed = "confirmed" // the agent did what was said
	ReplyOvertaken = "overtaken" // it did something else
)

// InboxOutcome is the result of asking you about an event.
type InboxOutcome struct {
	Request string `json:"request"`
	End     string `json:"end"`
	TookUS  int64  `json:"tookUs"`
}

// InboxInfo summarises the inbox.
type InboxInfo struct {
	Waiting         int  `json:"waiting"`           // requests that can be answered here
	Prompts         int  `json:"prompts,omitempty"` // questions at agents' own prompts
	CanAnyoneAnswer bool `json:"someone"`           // someone could answer
	Away            bool `json:"away"`
}

// The statuses of a [InboxRequest].
const (
	InboxPending   = "pending"
	InboxResolved  = "resolved"
	InboxExpired   = "expired"
	InboxWithdrawn = "withdrawn"
	// InboxPrompt: the agent is asking in its own terminal, and only there can it be
	// answered.
	InboxPrompt = "prompt"
)

// InboxStreamParams selects what a stream of the inbox reports.
type InboxStreamParams struct {
	Prompts bool `json:"prompts,omitempty"` // also agents' own prompts
}

// InboxListParams asks for requests.
type InboxListParams struct {
	// Prompts adds what agents ask at their own prompts: with it the list is everything that waits
	// for you.
	Prompts bool `json:"prompts,omitempty"`

	All bool   `json:"all,omitempty"` // also those that ended lately
	ID  string `json:"id,omitempty"`  // one of them, by a unique beginning of its id
}

// InboxReplyParams is your answer.
type InboxReplyParams struct {
	ID       string                 `json:"id"`
	Choice   string                 `json:"choice"`
	Plan     string                 `json:"plan,omitempty"`
	Answers  []event.QuestionAnswer `json:"answers,omitempty"`
	Reason   string                 `json:"reason,omitempty"` // of a refusal, for the model
	Note     string                 `json:"note,omitempty"`   // for the model, with an approval
	Feedback string                 `json:"feedback,omitempty"`

	// Rule is the item's rule, as the user saw it: always saves that or
	// nothing. Suggestion picks one of the agent's own instead, from 1.
	Rule       string  `json:"rule,omitempty"`
	Scope      string  `json:"scope,omitempty"`
	Seconds    float64 `json:"seconds,omitempty"` // how long a permission is valid
	Suggestion int     `json:"suggestion,omitempty"`

	SHA256 string `json:"sha256,omitempty"` // of what was seen; another is rejected
	PIN    string `json:"pin,omitempty"`
}

// InboxReplyResult is what happened to an answer.
type InboxReplyResult struct {
	ID string `json:"id"`
	// Outcome is delivered; or already (it was answered before), expired (nothing waits for it any
	// more) or unknown.
	Outcome    string          `json:"outcome"`
	By         string          `json:"by,omitempty"`  // who decided
	Why        string          `json:"why,omitempty"` // how it ended, if no one decided
	Permission *PermissionInfo `json:"permission,omitempty"`
	Item       *InboxRequest   `json:"item,omitempty"`
	Decided    *InboxDecision  `json:"decision,omitempty"`
	// Degraded lists what of the answer the agent can't carry, and what it gets instead.
	Degraded []string `json:"degraded,omitempty"`
}

// InboxIDParams names one request.
type InboxIDParams struct {
	ID string `json:"id"`
}

// PermissionInfo is a saved permission.
type PermissionInfo struct {
	ID      string     `json:"id"`
	Agent   string     `json:"agent"`
	Scope   string     `json:"scope"`
	Session string     `json:"session,omitempty"`
	Project string     `json:"project,omitempty"`
	Rule    string     `json:"rule"`  // exactly what it allows
	Reach   string     `json:"reach"` // where, and until when
	Asked   string     `json:"asked,omitempty"`
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires,omitempty"`
	By      string     `json:"by,omitempty"`
	Used    uint64     `json:"used"`
}

// AwayInfo says whether the user is away.
type AwayInfo struct {
	Away  bool       `json:"away"`
	Since *time.Time `json:"since,omitempty"`
}

// InboxReady follows what waits at the beginning of inbox.stream.
type InboxReady struct {
	Away bool `json:"away"`
	// Attached says that agents wait for the caller; otherwise Why says why it isn't taken for the
	// user.
	Attached bool   `json:"attached"`
	Why      string `json:"why,omitempty"`
}

// Digest sums up what happened while the user was away.
type Digest struct {
	WasAway   bool           `json:"wasAway"`
	Since     *time.Time     `json:"since,omitempty"`
	Waiting   []InboxRequest `json:"waiting"`
	Ended     []InboxRequest `json:"ended"`
	Permitted uint64         `json:"permitted"`      // calls that permissions let pass
	Note      string         `json:"note,omitempty"` // what is not known
	// LogOnly are calls that only logged hooks would have stopped, asked about
	// or changed, the newest first; LogOnlyCount is how many there were.
	LogOnly      []LogOnlyCall `json:"logOnly,omitempty"`
	LogOnlyCount int           `json:"logOnlyCount,omitempty"`
}

// PINParams sets, changes or drops the PIN for approvals.
type PINParams struct {
	PIN string `json:"pin,omitempty"` // the one in force
	New string `json:"new,omitempty"` // "" drops it
}
