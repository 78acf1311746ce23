package wire

import (
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
)

// Methods of the feed. The names with "feed.…reply", feed.push, feed.list and
// feed.jump take and give what cmux's do; the others are hookmux's own.
const (
	MethodFeedItems    = "feed.items"
	MethodFeedStream   = "feed.stream"
	MethodFeedReply    = "feed.reply"
	MethodFeedRelease  = "feed.release"
	MethodGrants       = "grants.list"
	MethodGrantRevoke  = "grants.revoke"
	MethodAway         = "feed.away"
	MethodBack         = "feed.back"
	MethodPIN          = "approvals.pin"
	MethodFeedPush     = "feed.push"
	MethodFeedList     = "feed.list"
	MethodFeedPermit   = "feed.permission.reply"
	MethodFeedQuestion = "feed.question.reply"
	MethodFeedPlan     = "feed.exit_plan.reply"
	MethodFeedJump     = "feed.jump"
)

// Notifications of feed.stream.
const (
	NoteFeedReceived  = "feed.received"
	NoteFeedResolved  = "feed.resolved" // also when it is known later what came of the answer
	NoteFeedExpired   = "feed.expired"
	NoteFeedWithdrawn = "feed.withdrawn"
	NoteFeedReady     = "feed.ready" // everything that waits has been sent

	// For those who want windows as well:
	NoteFeedWindow     = "feed.window"     // something stands in an agent's own window
	NoteFeedWindowOver = "feed.windowOver" // it stands there no more
)

// FeedItem is one request as programs see it.
type FeedItem struct {
	ID      string `json:"id"`
	EventID string `json:"eventId,omitempty"` // of the event in the journal
	Status  string `json:"status"`            // see [FeedPending] and the others
	End     string `json:"end,omitempty"`
	Kind    string `json:"kind"` // permission, question, plan

	Agent   string `json:"agent"`
	Session string `json:"session"`
	AgentID string `json:"agentId,omitempty"` // of a subagent
	Cwd     string `json:"cwd,omitempty"`
	Project string `json:"project,omitempty"`
	Event   string `json:"event"` // the agent's own name of it
	Pane    string `json:"pane,omitempty"`
	Asked   string `json:"asked,omitempty"` // what an agent asks in its own window

	Tool     string          `json:"tool"` // "" and null where no tool asks
	ToolKind string          `json:"toolKind,omitempty"`
	Input    json.RawMessage `json:"input"`

	// Choices are what the person may say: once, always, all, bypass, deny,
	// answer for permissions and questions; accept, auto, manual, reject for a
	// plan. Releasing is always possible.
	Choices     []string          `json:"choices"`
	Questions   []event.Inquiry   `json:"questions,omitempty"`
	Plan        string            `json:"plan,omitempty"`
	Suggestions []json.RawMessage `json:"suggestions,omitempty"` // the agent's own, for suggestion: 1 …
	Rule        string            `json:"rule,omitempty"`        // exactly what always would allow
	NoRule      string            `json:"noRule,omitempty"`      // why there is none

	AskedBy string `json:"askedBy,omitempty"` // the hook that wants a person to look
	Why     string `json:"why,omitempty"`     // its reason
	Note    string `json:"note,omitempty"`    // what the person should know about answering

	Shown  string `json:"shown"`  // exactly what a person is to see
	SHA256 string `json:"sha256"` // of Shown

	CreatedAt time.Time     `json:"createdAt"`
	Deadline  time.Time     `json:"deadline,omitzero"`
	EndedAt   *time.Time    `json:"endedAt,omitempty"`
	Decision  *FeedDecision `json:"decision,omitempty"`
}

// FeedDecision is what was decided, by whom, and what came of it.
type FeedDecision struct {
	Choice   string                 `json:"choice"`
	Plan     string                 `json:"plan,omitempty"`
	Answers  []event.QuestionAnswer `json:"answers,omitempty"`
	Reason   string                 `json:"reason,omitempty"`
	Note     string                 `json:"note,omitempty"`
	Feedback string                 `json:"feedback,omitempty"`
	Grant    string                 `json:"grant,omitempty"` // id of the grant that was saved
	By       string                 `json:"by"`
	At       time.Time              `json:"at"`
	Outcome  string                 `json:"outcome"` // delivered, then confirmed or overtaken
}

// What came of a reply, and of a delivered one later.
const (
	ReplyDelivered = "delivered"
	ReplyAlready   = "already" // somebody was first
	ReplyExpired   = "expired" // nobody waits any more
	ReplyUnknown   = "unknown"
	ReplyConfirmed = "confirmed" // the agent did what was said
	ReplyOvertaken = "overtaken" // it did something else
)

// FeedOutcome is what came of asking a person about an event.
type FeedOutcome struct {
	Request string `json:"request"`
	End     string `json:"end"`
	TookUS  int64  `json:"tookUs"`
}

// FeedInfo is the feed in a few words.
type FeedInfo struct {
	Waiting         int  `json:"waiting"`           // requests that can be answered here
	Windows         int  `json:"windows,omitempty"` // questions in agents' own windows
	CanAnyoneAnswer bool `json:"someone"`           // somebody could answer
	Away            bool `json:"away"`
}

// The statuses of a [FeedItem].
const (
	FeedPending   = "pending"
	FeedResolved  = "resolved"
	FeedExpired   = "expired"
	FeedWithdrawn = "withdrawn"
	// FeedWindow: the agent asks in its own window, and only there can it be
	// answered.
	FeedWindow = "window"
)

// FeedStreamParams says what a stream of the feed tells.
type FeedStreamParams struct {
	Windows bool `json:"windows,omitempty"` // also what stands in agents' own windows
}

// FeedListParams asks for requests.
type FeedListParams struct {
	// Windows adds what stands in agents' own windows: with it the list is
	// everything that waits for a person.
	Windows bool `json:"windows,omitempty"`

	All bool   `json:"all,omitempty"` // also those that ended lately
	ID  string `json:"id,omitempty"`  // one of them, by a unique beginning of its id
}

// FeedReplyParams is a person's answer.
type FeedReplyParams struct {
	ID       string                 `json:"id"`
	Choice   string                 `json:"choice"`
	Plan     string                 `json:"plan,omitempty"`
	Answers  []event.QuestionAnswer `json:"answers,omitempty"`
	Reason   string                 `json:"reason,omitempty"` // of a refusal, for the model
	Note     string                 `json:"note,omitempty"`   // for the model, beside an approval
	Feedback string                 `json:"feedback,omitempty"`

	// Rule is the item's rule, as the person saw it: always saves that or
	// nothing. Suggestion takes up one of the agent's own instead, from 1.
	Rule       string  `json:"rule,omitempty"`
	Scope      string  `json:"scope,omitempty"`
	Seconds    float64 `json:"seconds,omitempty"` // how long a grant counts
	Suggestion int     `json:"suggestion,omitempty"`

	SHA256 string `json:"sha256,omitempty"` // of what was seen; another is refused
	PIN    string `json:"pin,omitempty"`
}

// FeedReplyResult says what became of an answer.
type FeedReplyResult struct {
	ID string `json:"id"`
	// Outcome is delivered; or already (somebody was first), expired (nobody
	// waits any more) or unknown.
	Outcome string        `json:"outcome"`
	By      string        `json:"by,omitempty"`  // who decided
	Why     string        `json:"why,omitempty"` // how it ended, where nobody decided
	Grant   *GrantInfo    `json:"grant,omitempty"`
	Item    *FeedItem     `json:"item,omitempty"`
	Decided *FeedDecision `json:"decision,omitempty"`
	// Degraded says what of the answer the agent cannot carry, and what it gets
	// instead.
	Degraded []string `json:"degraded,omitempty"`
}

// FeedIDParams names one request.
type FeedIDParams struct {
	ID string `json:"id"`
}

// GrantInfo is a standing grant.
type GrantInfo struct {
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

// AwayInfo says whether the person is away.
type AwayInfo struct {
	Away  bool       `json:"away"`
	Since *time.Time `json:"since,omitempty"`
}

// FeedReady follows what waits at the beginning of feed.stream.
type FeedReady struct {
	Away bool `json:"away"`
	// Attached says that agents are held for who listens; else Why says why it
	// is not taken for a person.
	Attached bool   `json:"attached"`
	Why      string `json:"why,omitempty"`
}

// Digest is what happened while the person was away.
type Digest struct {
	WasAway bool       `json:"wasAway"`
	Since   *time.Time `json:"since,omitempty"`
	Waiting []FeedItem `json:"waiting"`
	Ended   []FeedItem `json:"ended"`
	Granted uint64     `json:"granted"`        // calls that grants let pass
	Note    string     `json:"note,omitempty"` // what is not known
	// Monitored are calls that monitored hooks would have stopped, asked about
	// or changed, the newest first; MonitoredCount is how many there were.
	Monitored      []MonitoredCall `json:"monitored,omitempty"`
	MonitoredCount int             `json:"monitoredCount,omitempty"`
}

// PINParams sets, changes or drops the PIN for approvals.
type PINParams struct {
	PIN string `json:"pin,omitempty"` // the one in force
	New string `json:"new,omitempty"` // "" drops it
}
