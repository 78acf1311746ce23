package wire

import (
	"encoding/json"
	"time"
)

// The daemon's methods. Each has an authority: who may call it is in the daemon's
// method table and in docs/contributing/protocol.md.
const (
	MethodInfo      = "daemon.info"
	MethodStop      = "daemon.stop"
	MethodRenew     = "daemon.renew" // a newer client asks an older daemon to make room
	MethodOff       = "daemon.off"
	MethodInstall   = "install.may" // these four: may the caller do what commands do by themselves?
	MethodUninstall = "uninstall.may"
	MethodDoctor    = "doctor.may"
	MethodTmux      = "tmux.may"
	MethodOn        = "daemon.on"
	MethodPush      = "event.push"
	MethodStream    = "events.stream"
	MethodQuery     = "journal.query"
	MethodExplain   = "event.explain"
	// MethodExplainRun is MethodExplain that also runs command and script hooks.
	MethodExplainRun = "event.explain.run"
	MethodConfigGet  = "config.list"
	MethodConfigSet  = "config.set"
	MethodHooksList  = "hooks.list"
	MethodHooksAdd   = "hooks.add"
	MethodHooksSet   = "hooks.set"
	MethodHooksDrop  = "hooks.remove"
	MethodTrustLook  = "trust.look"
	MethodTrust      = "trust.add"
	MethodUntrust    = "trust.remove"
	MethodAllow      = "guard.allow"
	MethodPause      = "guard.pause"
	MethodStats      = "hooks.stats"
	MethodOutbox     = "session.outbox"    // a plugin asks for texts to put into its sessions
	MethodWanted     = "typescript.wanted" // a plugin asks which inner events anybody listens to
)

// Notifications of events.stream.
const (
	NoteEvent   = "events.event"
	NoteOutcome = "events.outcome"
	NoteReady   = "events.ready" // what follows is live
	NoteProblem = "events.problem"
	NoteTrace   = "events.trace"
)

// Info is the daemon's report about itself.
type Info struct {
	PID      int         `json:"pid"`
	Socket   string      `json:"socket"`
	Version  string      `json:"version"`
	Started  time.Time   `json:"started"`
	Uptime   float64     `json:"uptime"` // seconds
	Clock    time.Time   `json:"clock"`  // the daemon's, in its time zone
	Runtime  string      `json:"runtimeDir"`
	State    string      `json:"stateDir"`
	Config   string      `json:"configDir"`
	Off      *Off        `json:"off,omitempty"`
	Counts   Counts      `json:"counts"`
	Inbox    InboxInfo   `json:"inbox"`
	Agents   []AgentInfo `json:"agents"`
	Problems []Problem   `json:"problems"`
	// Unaccepted are settings files whose changes wait for you; what was accepted last is in effect.
	Unaccepted []Unaccepted `json:"unaccepted,omitempty"`
	// Root says that the daemon runs as root, where nothing keeps root's agents from passing for the
	// user.
	Root bool `json:"root,omitempty"`
	// LogOnly are the guards and hooks that evaluate and change nothing.
	LogOnly []LogOnlyHook `json:"logOnly,omitempty"`
	// Pauses are the guards, rules and packs that only log for a while.
	Pauses []Pause `json:"pauses,omitempty"`
	// Telemetry is the state of sending it; missing if it's off.
	Telemetry *TelemetryInfo `json:"telemetry,omitempty"`
	// Limited says that the caller is an agent, which only sees what is its own.
	Limited *Limited `json:"limited,omitempty"`
}

// Limited is what an agent's lists leave out.
type Limited struct {
	Sessions int `json:"sessions"`
}

// Pause is a guard, a rule or a pack that only logs for a while.
type Pause struct {
	Name  string    `json:"name"` // guard.destructive, a rule's id, a pack's name
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// PauseParams makes something only log for a while.
type PauseParams struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"` // 0 ends it
	Cwd     string  `json:"cwd,omitempty"`
}

// Off says that everything is answered neutrally, until when and by whom.
type Off struct {
	Since time.Time  `json:"since"`
	Until *time.Time `json:"until,omitempty"`
}

// Counts holds how much passed through.
type Counts struct {
	Events    uint64 `json:"events"`
	Decided   uint64 `json:"decided"`
	Denied    uint64 `json:"denied"`
	Waiting   int    `json:"waiting"`   // hook calls being answered right now
	Undrained int    `json:"undrained"` // acknowledged, not yet in the journal
	Journal   int64  `json:"journal"`   // bytes on disk
}

// AgentInfo is one agent of the catalogue as this daemon has met it.
type AgentInfo struct {
	Name    string     `json:"name"`
	Title   string     `json:"title"`
	Program string     `json:"program,omitempty"` // found on PATH
	Events  uint64     `json:"events"`
	Last    *time.Time `json:"last,omitempty"`
	Version string     `json:"version,omitempty"`
}

// Problem is something wrong, worded so that you can act on it.
type Problem struct {
	Key   string    `json:"key"` // what it is about; a fixed problem goes by this
	What  string    `json:"what"`
	Fix   string    `json:"fix,omitempty"`
	Since time.Time `json:"since"`
	Count int       `json:"count,omitempty"`
}

// Filter narrows events for journal.query and events.stream.
type Filter struct {
	Agents  []string `json:"agents,omitempty"`
	Kinds   []string `json:"kinds,omitempty"` // unified kinds or native names
	Session string   `json:"session,omitempty"`
	ID      string   `json:"id,omitempty"` // of an event, or the beginning of it
	Tool    string   `json:"tool,omitempty"`
	Verdict string   `json:"verdict,omitempty"`
	// LogOnly keeps only events about which a only logged hook would have had a
	// say.
	LogOnly bool      `json:"logOnly,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Until   time.Time `json:"until,omitzero"`
	// Text keeps only events with this text in prompts, commands, results or titles.
	Text string `json:"text,omitempty"`
}

// MaxQueryPage is how many events one answer to journal.query holds at most.
const MaxQueryPage = 1000

// QueryParams asks for stored events.
type QueryParams struct {
	Filter
	After  string `json:"after,omitempty"` // cursor
	Limit  int    `json:"limit,omitempty"`
	Newest bool   `json:"newest,omitempty"` // the last Limit instead of the first
	Before string `json:"before,omitempty"` // cursor; with Newest, the page before the one that began there
}

// QueryResult is a page of stored events; an empty Next is the last page. Next is
// the After of the following page, with Newest the Before of the earlier one.
type QueryResult struct {
	Entries []Entry `json:"entries"`
	Next    string  `json:"next,omitempty"`
	// Unsearched is how many events a search for a text didn't look at, because they
	// aren't in the search index yet, or not any more.
	Unsearched int64 `json:"unsearched,omitempty"`
}

// StreamParams starts a stream. Without After it begins with what comes next.
type StreamParams struct {
	Filter
	After string `json:"after,omitempty"`
	// Sessions asks for session.changed: SessionsAlso, or SessionsOnly for
	// nothing else.
	Sessions string `json:"sessions,omitempty"`
}

// Entry is a stored event with its outcome.
type Entry struct {
	Cursor  string          `json:"cursor"`
	Event   json.RawMessage `json:"event"`
	Outcome *Outcome        `json:"outcome,omitempty"`
}

// Outcome is the daemon's answer and the reason for it.
type Outcome struct {
	ID       string          `json:"id"`
	Agent    string          `json:"agent,omitempty"`
	Native   string          `json:"native,omitempty"`
	Tool     string          `json:"tool,omitempty"`
	Cursor   string          `json:"cursor,omitempty"`
	Time     time.Time       `json:"time"`
	TookUS   int64           `json:"tookUs"`
	Decision json.RawMessage `json:"decision"`
	Steps    []Step          `json:"steps,omitempty"`
	Neutral  string          `json:"neutral,omitempty"` // why no one was asked: off, nested, late
	Inbox    *InboxOutcome   `json:"inbox,omitempty"`   // the user was asked
	// the event that reported the same before, through another agent's file
	Duplicate string `json:"twin,omitempty"`
	// Amends says that it replaces what was sent about the event before: hooks that only log answered
	// after the agent had its answer.
	Amends bool `json:"amends,omitempty"`
}

// Step records what one hook did.
type Step struct {
	Hook    string `json:"hook"`
	Role    string `json:"role"`
	TookUS  int64  `json:"tookUs"`
	Verdict string `json:"verdict,omitempty"`
	Error   string `json:"error,omitempty"`
	Again   bool   `json:"again,omitempty"`
	Would   *Would `json:"would,omitempty"` // what a hook that only logs would have done
}

// Ready is how far a stream has replayed.
type Ready struct {
	Cursor string `json:"cursor"`
}

// Trace is a line the trace handler or a handler's report left.
type Trace struct {
	Hook string `json:"hook"`
	Text string `json:"text"`
	File string `json:"file,omitempty"` // the file it is about, where Hook is [AcceptHook]
}

// PushParams is an event reported by a program instead of a hook process.
type PushParams struct {
	ID      string          `json:"id,omitempty"`
	Agent   string          `json:"agent"`
	Event   string          `json:"event"` // native name or unified kind
	Cwd     string          `json:"cwd,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Timeout float64         `json:"timeout,omitempty"` // seconds the caller waits
	Env     []string        `json:"env,omitempty"`
}

// PushResult is the native answer to a pushed event.
type PushResult struct {
	ID       string          `json:"id"`
	Stdout   string          `json:"stdout"`
	Stderr   string          `json:"stderr"`
	ExitCode int             `json:"exitCode"`
	Decision json.RawMessage `json:"decision"`
	Unknown  string          `json:"unknown,omitempty"` // why the event couldn't be looked at
}

// ExplainParams asks what would happen to an event, without it happening.
type ExplainParams struct {
	Agent    string          `json:"agent"`
	Event    string          `json:"event"`
	Payload  []byte          `json:"payload"`
	Cwd      string          `json:"cwd,omitempty"`
	Decision json.RawMessage `json:"decision,omitempty"` // suppose this instead of asking hooks
	Env      []string        `json:"env,omitempty"`
}

// Explained is the way of one event, from payload to native answer.
type Explained struct {
	Event    json.RawMessage `json:"event"`
	Matched  []Matched       `json:"matched"`
	Decision json.RawMessage `json:"decision"`
	Carries  map[string]bool `json:"carries"`
	Degraded []string        `json:"degraded,omitempty"`
	Answer   Answer          `json:"answer"`
	Notes    []string        `json:"notes,omitempty"`
	// Unknown are hooks that may decide and were not run: what is decided is
	// not known without them.
	Unknown []string `json:"unknown,omitempty"`
	// Examination holds what guards and rules think of the call, one by one
	// (internal/policy/examine).
	Examination json.RawMessage `json:"examination,omitempty"`
}

// Matched is a hook that applies to an event.
type Matched struct {
	ID      string `json:"id"`
	Scope   string `json:"scope"`
	Role    string `json:"role"`
	Handler string `json:"handler"`
	Target  string `json:"target"`
	Matches bool   `json:"matches"` // its match fits this very call
	Ran     bool   `json:"ran,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	Error   string `json:"error,omitempty"`
	LogOnly bool   `json:"log,omitempty"`   // it evaluates and changes nothing
	Would   *Would `json:"would,omitempty"` // what it would have done
}

// Answer holds what the agent's hook process would print and exit with.
type Answer struct {
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	ExitCode int    `json:"exitCode"`
}

// StopParams ends the daemon.
type StopParams struct {
	Reason string `json:"reason,omitempty"`
}

// RenewParams names the version that asks.
type RenewParams struct {
	Version string `json:"version"`
}

// RenewResult says whether the daemon makes room.
type RenewResult struct {
	Leaving bool   `json:"leaving"`
	Why     string `json:"why"`
}

// OffParams switches everything to neutral; Seconds 0 means until `on`.
type OffParams struct {
	Seconds float64 `json:"seconds,omitempty"`
}

// ConfigSetParams changes one setting; a nil Value takes it out.
type ConfigSetParams struct {
	Key     string          `json:"key"`
	Value   json.RawMessage `json:"value,omitempty"`
	Project string          `json:"project,omitempty"` // folder; "" is the user's own file
	PIN     string          `json:"pin,omitempty"`     // the one in force, where the setting asks for it
}

// Setting is one setting with where it comes from.
type Setting struct {
	Key     string          `json:"key"`
	Value   json.RawMessage `json:"value"`
	Default bool            `json:"default"`
	Origin  string          `json:"origin"` // default, system, user, project, environment
	File    string          `json:"file,omitempty"`
	Doc     string          `json:"doc,omitempty"`
}

// ConfigListParams names the folder whose project layer is used.
type ConfigListParams struct {
	Cwd string `json:"cwd,omitempty"`
}

// HooksListParams asks for registrations in force.
type HooksListParams struct {
	Cwd   string `json:"cwd,omitempty"`
	Agent string `json:"agent,omitempty"`
}

// ListedHook is a registration with its place.
type ListedHook struct {
	Registration json.RawMessage `json:"registration"`
	Scope        string          `json:"scope"`
	File         string          `json:"file,omitempty"`
	InForce      bool            `json:"inForce"`
	Why          string          `json:"why,omitempty"` // why it is not in force
}

// HooksEditParams adds, changes or removes a registration.
type HooksEditParams struct {
	Scope        string          `json:"scope"` // project or global
	Cwd          string          `json:"cwd,omitempty"`
	ID           string          `json:"id,omitempty"`
	Registration json.RawMessage `json:"registration,omitempty"`
	Patch        json.RawMessage `json:"patch,omitempty"`
	Replace      bool            `json:"replace,omitempty"` // add: an entry of the same id is replaced
}

// HooksEditResult lists what was written where.
type HooksEditResult struct {
	Registration json.RawMessage `json:"registration"`
	File         string          `json:"file"`
	Scope        string          `json:"scope"`
	Notes        []string        `json:"notes,omitempty"`
}

// TrustParams names a folder in a project.
type TrustParams struct {
	Cwd  string `json:"cwd"`
	Hash string `json:"hash,omitempty"` // of what the user saw; trusting anything else is rejected
}

// TrustView is shown to you before you trust a project.
type TrustView struct {
	Project  string   `json:"project"`
	Status   string   `json:"status"` // trusted, changed, untrusted, none
	Hash     string   `json:"hash"`
	Runs     []string `json:"runs,omitempty"`     // commands that would run
	Files    []string `json:"files,omitempty"`    // files whose content is covered
	Replaces []string `json:"replaces,omitempty"` // global ids the project overrides
	Changes  []string `json:"changes,omitempty"`  // since it was trusted
	Problem  string   `json:"problem,omitempty"`  // why it cannot be trusted as it is
}

// AllowParams lets a guard's rule pass, once or always.
type AllowParams struct {
	Rule string `json:"rule"`
	Once bool   `json:"once,omitempty"`
	Drop bool   `json:"drop,omitempty"` // take an earlier allowance back
}

// HookStat is what one hook costs.
type HookStat struct {
	Hook     string  `json:"hook"`
	Calls    uint64  `json:"calls"`
	Failures uint64  `json:"failures"`
	Denied   uint64  `json:"denied"`
	Would    uint64  `json:"would,omitempty"` // calls that a only logged hook would have stopped, asked about or changed
	MeanUS   float64 `json:"meanUs"`
	P95US    float64 `json:"p95Us"`
	MaxUS    float64 `json:"maxUs"`
	LastErr  string  `json:"lastError,omitempty"`
}

// WantedParams is a plugin's question: which of its agent's inner events do
// hooks listen to in this session? It is answered when the list is another one
// than Known, or after Wait seconds.
type WantedParams struct {
	Agent   string   `json:"agent"`
	Session string   `json:"session,omitempty"`
	Cwd     string   `json:"cwd,omitempty"`
	Known   []string `json:"known,omitempty"`
	Wait    float64  `json:"wait,omitempty"`
}

// WantedResult names the events, sorted, and what hooks offer: tools for the
// model and commands for the user, as the agent takes them. Known are the
// events, and "tool:" and "command:" before the names of those.
type WantedResult struct {
	Events   []string          `json:"events"`
	Tools    []json.RawMessage `json:"tools,omitempty"`
	Commands []json.RawMessage `json:"commands,omitempty"`
	Known    []string          `json:"known"`
}

// OutboxParams is a plugin's question: is there anything to put into these sessions? Wait is how many
// seconds the question may stay open. Done reports what happened to what it was given before.
type OutboxParams struct {
	Agent    string       `json:"agent"`
	Sessions []string     `json:"sessions"`
	Poller   string       `json:"poller,omitempty"` // names the plugin: its newer question replaces the older
	Wait     float64      `json:"wait,omitempty"`
	Done     []OutboxDone `json:"done,omitempty"`
}

// OutboxDone is a plugin's word on one text; Error is why it is not in.
type OutboxDone struct {
	ID     string          `json:"id"`
	Error  string          `json:"error,omitempty"`
	Result json.RawMessage `json:"result,omitempty"` // of a call
}

// OutboxResult lists what is to be put in, oldest first. Until a text is done it
// may come again, with the same id.
type OutboxResult struct {
	Texts []OutboxText `json:"texts"`
}

// OutboxText is one text for one session.
type OutboxText struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Text    string `json:"text"`
	// Call is a call for the plugin to make instead of putting a text in: run the agent's model, {what,
	// model, context, options}.
	Call json.RawMessage `json:"call,omitempty"`
}

// MethodTelemetryCheck asks the collector of telemetry for an answer.
const MethodTelemetryCheck = "telemetry.check"

// TelemetryInfo is the state of sending telemetry.
type TelemetryInfo struct {
	Endpoint string `json:"endpoint"`
	Queued   int    `json:"queued"` // spans and log records
	Sent     int64  `json:"sent"`
	Dropped  int64  `json:"dropped"`
	Problem  string `json:"problem,omitempty"` // why the last try failed
}

// TelemetryCheck is how a collector answered; an empty Endpoint is off.
type TelemetryCheck struct {
	Endpoint string `json:"endpoint,omitempty"`
	Problem  string `json:"problem,omitempty"`
}
