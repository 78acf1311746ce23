// Package protocol defines the messages between members of a fleet and its server, over
// NATS: subjects, messages, roles, join codes and signatures. It links no server.
package protocol

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/wire"
)

// Version is the newest version of the protocol that a program speaks, Oldest the oldest one. Two
// programs use the newest version that both speak.
const (
	Version = 1
	Oldest  = 1
)

// Versions are the versions the sender of a message speaks.
type Versions struct {
	Version int `json:"version"`
	Oldest  int `json:"oldest,omitempty"` // 0: only Version
}

// Spoken are the versions this program speaks.
var Spoken = Versions{Version, Oldest}

// Check returns why two programs can't work together; whose names the other one.
func (v Versions) Check(whose string) error {
	switch oldest := cmp.Or(v.Oldest, v.Version); {
	case v.Version < Oldest:
		return fmt.Errorf("%s speaks version %d of the fleet's protocol, and this needs %d or newer; upgrade hookmux there",
			whose, v.Version, Oldest)
	case oldest > Version:
		return fmt.Errorf("%s speaks version %d of the fleet's protocol, and this knows %d; upgrade hookmux here",
			whose, oldest, Version)
	}
	return nil
}

// Roles.
const (
	RoleMember   = "member"   // its events and requests go to the fleet; it sees nothing of others
	RoleReader   = "reader"   // also sees every machine
	RoleOperator = "operator" // also answers requests, invites and removes machines
)

// Roles lists them.
var Roles = []string{RoleMember, RoleReader, RoleOperator}

// SeesOthers reports whether a role sees other machines.
func SeesOthers(role string) bool { return role == RoleReader || role == RoleOperator }

// Subjects. A member publishes below its own id only; the server's permissions make sure of it.
// Members never reach JetStream: the server's exchange receives what they send, checks it and
// stores it.
const JoinSubject = "fleet.join"

// What a member sends, below its own subject.
const (
	UpEvents = "events" // a [Batch]
	UpState  = "state"  // a [State]
	UpAsk    = "ask"    // an [Ask]
)

// UpSubject returns where a member sends something, AnswerSubject where answers to its requests
// come in, LiveSubject where the server notifies others about it.
func UpSubject(member, what string) string { return "fleet.up." + member + "." + what }
func AnswerSubject(member string) string   { return "fleet.answer." + member }
func LiveSubject(member string) string     { return "fleet.live." + member }

// SenderOf returns the member that sends to a subject.
func SenderOf(subject string) (member string, ok bool) {
	rest, ok := strings.CutPrefix(subject, "fleet.up.")
	member, _, found := strings.Cut(rest, ".")
	return member, ok && found
}

// AttendedSubject is where the server says whether an operator looks at requests:
// [Attended].
const AttendedSubject = "fleet.attended"

// Attended says whether an operator looks; it holds for [StateTTL].
type Attended struct {
	On bool `json:"on"`
	// Policy is the version of the fleet's newest policy.
	Policy int64 `json:"policy,omitempty"`
}

// Inbox returns the prefix of the subjects on which the server answers a member.
func Inbox(member string) string { return "_INBOX_fleet." + member }

// ResultSubject returns where a member says what became of an operator's answer. It includes the
// member, so that none can say it for another one, and the operator, so that no one else
// receives it.
func ResultSubject(member, operator, answer string) string {
	return "fleet.result." + member + "." + operator + "." + answer
}

// Limits.
const (
	// MaxMessage is the largest message the server accepts.
	MaxMessage = 512 << 10
	// MaxBatch is about how large a message of events gets.
	MaxBatch = 192 << 10
	// MaxUnread is the maximum number of messages of one member that wait in the server.
	MaxUnread = 256
	// StateTTL is how long a member's state lasts if it isn't renewed; RenewEvery is how often it
	// is.
	StateTTL   = 30 * time.Second
	RenewEvery = 10 * time.Second
	// CodeLasts is how long a join code can be used.
	CodeLasts = 10 * time.Minute
)

// Record states who a member is. The fleet's key signs it.
type Record struct {
	Fleet  string    `json:"fleet"` // the fleet's public key
	ID     string    `json:"id"`
	Name   string    `json:"name"`
	Role   string    `json:"role"`
	Key    string    `json:"key"` // the member's public key
	Joined time.Time `json:"joined"`
	By     string    `json:"by,omitempty"` // who invited it
}

// Signed is a text and the signature of a key over it.
type Signed struct {
	Text      string `json:"text"`
	Signature []byte `json:"signature"`
}

// Sign makes a signed text of a value.
func Sign(key nkeys.KeyPair, value any) (Signed, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return Signed{}, err
	}
	signature, err := key.Sign(text)
	return Signed{string(text), signature}, err
}

// ErrSignature says that a signature is wrong.
var ErrSignature = errors.New("the signature is wrong")

// Read checks the signature and reads the text.
func (s Signed) Read(public string, into any) error {
	key, err := nkeys.FromPublicKey(public)
	if err != nil || key.Verify([]byte(s.Text), s.Signature) != nil {
		return ErrSignature
	}
	return json.Unmarshal([]byte(s.Text), into)
}

// ReadRecord reads a member's record that the fleet signed.
func (s Signed) ReadRecord(fleet string) (r Record, err error) {
	if err = s.Read(fleet, &r); err == nil && (r.Fleet != fleet || r.ID != MemberID(r.Key) || !slices.Contains(Roles, r.Role)) {
		err = ErrSignature
	}
	return r, err
}

// MemberID returns the id of the member with a key.
func MemberID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "m" + hex.EncodeToString(sum[:6])
}

// HostName turns a machine's own name into one that hosts may have here.
func HostName(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	name = strings.Trim(strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, name), "-")
	if name = name[:min(len(name), 26)]; !wire.IsHostName(name) {
		return "machine"
	}
	return name
}

// Code is a join code, readable.
type Code struct {
	Servers []string // host:port
	Pin     []byte   // SHA-256 of the server's public key
	Secret  string   // in hexadecimal
}

const (
	codePrefix = "hmf1-"
	secretSize = 16
)

// NewSecret returns a random secret for a code.
func NewSecret() string {
	var b [secretSize]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// String returns the text that users copy: as short as its parts allow.
func (c Code) String() string {
	secret, _ := hex.DecodeString(c.Secret) // ours
	return codePrefix + base64.RawURLEncoding.EncodeToString(slices.Concat(c.Pin, secret, []byte(strings.Join(c.Servers, ","))))
}

var errNoCode = errors.New("that isn't a join code; copy the whole line that `hookmux fleet invite` printed")

// ReadCode reads a join code.
func ReadCode(text string) (c Code, err error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), codePrefix)
	b, err := base64.RawURLEncoding.DecodeString(rest)
	const fixed = sha256.Size + secretSize
	if !ok || err != nil || len(b) <= fixed {
		return Code{}, errNoCode
	}
	c = Code{Servers: strings.Split(string(b[fixed:]), ","), Pin: b[:sha256.Size], Secret: hex.EncodeToString(b[sha256.Size:fixed])}
	for _, server := range c.Servers {
		if _, _, err := net.SplitHostPort(server); err != nil {
			return Code{}, errNoCode
		}
	}
	return c, nil
}

// JoinUser is the user name with which a join code's secret is presented.
const JoinUser = "join"

// JoinInbox names the subjects on which a machine with a join code is answered.
func JoinInbox(secret string) string {
	sum := sha256.Sum256([]byte("inbox " + secret))
	return hex.EncodeToString(sum[:8])
}

// JoinRequest asks to become a member.
type JoinRequest struct {
	Versions
	Secret string `json:"secret"`
	Key    string `json:"key"`
	Name   string `json:"name"`
}

// JoinAnswer lets the machine in, or says why not.
type JoinAnswer struct {
	Error  string `json:"error,omitempty"`
	Record Signed `json:"record"`
	Fleet  string `json:"fleet"`
}

// What a member requests from the server.
const (
	AskHello  = "hello"
	AskHosts  = "hosts"  // reader, operator: every machine's state
	AskList   = "list"   // who is in the fleet
	AskInvite = "invite" // operator
	AskRemove = "remove" // operator, and everybody for itself
	AskLog    = "log"    // reader, operator: the central journal
	AskPolicy = "policy" // the fleet's policy, if it's newer than what the member has
	AskPush   = "push"   // operator: a policy for every member
)

// Ask is a request to the server.
type Ask struct {
	Versions
	What     string `json:"what"`
	Instance string `json:"instance,omitempty"` // hello: of the daemon
	Role     string `json:"role,omitempty"`     // invite
	Member   string `json:"member,omitempty"`   // remove, log: id or name
	Have     int64  `json:"have,omitempty"`     // policy: the version in force there
	// Filter says which events of the log are asked for; nil: all.
	Filter *journal.Filter `json:"filter,omitempty"`
	// Policy is the policy to push.
	Policy *SignedPolicy `json:"policy,omitempty"`
}

// Told is the server's answer.
type Told struct {
	Versions
	Error  string  `json:"error,omitempty"`
	Again  bool    `json:"again,omitempty"` // state: another daemon said hello since
	Fleet  string  `json:"fleet,omitempty"`
	Record *Signed `json:"record,omitempty"` // hello: the member's own, as it is now
	// Attended answers a hello: an operator looks at requests.
	Attended bool     `json:"attended,omitempty"`
	Code     string   `json:"code,omitempty"`    // invite
	Members  []Member `json:"members,omitempty"` // list
	Hosts    []Host   `json:"hosts,omitempty"`   // hosts
	Events   []Event  `json:"events,omitempty"`  // log
	More     bool     `json:"more,omitempty"`    // log: there were more than fit
	// Newest is the version of the fleet's policy; 0: none was ever pushed.
	Newest int64 `json:"newest,omitempty"`
	// Policy is the newest one: in answers about it.
	Policy *SignedPolicy `json:"policy,omitempty"`
}

// Member is a member as the list shows it.
type Member struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Role    string    `json:"role"`
	Joined  time.Time `json:"joined"`
	By      string    `json:"by,omitempty"`
	Seen    time.Time `json:"seen,omitzero"` // by the server's clock
	Online  bool      `json:"online"`
	Version string    `json:"hookmux,omitempty"`
	Backlog int64     `json:"backlog,omitempty"`
	Events  int64     `json:"events"`            // in the central journal since the server started
	Refused int64     `json:"refused,omitempty"` // messages that the server didn't take
	Why     string    `json:"why,omitempty"`     // the last one's reason
	// Policy describes the member's policy; nil: it reported nothing.
	Policy *wire.MemberPolicy `json:"policy,omitempty"`
}

// State is a member's report about itself, in [HostBucket].
type State struct {
	Instance string              `json:"instance"` // as in its hello
	Version  string              `json:"hookmux"`
	User     string              `json:"user"`
	Backlog  int64               `json:"backlog,omitempty"` // events that aren't in the fleet yet
	Content  bool                `json:"content"`           // requests are complete enough to be answered
	Sessions []wire.Session      `json:"sessions"`
	Requests []wire.InboxRequest `json:"requests"`
	Left     int                 `json:"left,omitempty"`    // how many didn't fit
	Attends  bool                `json:"attends,omitempty"` // operator: someone looks at requests there
	Policy   *wire.MemberPolicy  `json:"policy,omitempty"`
}

// Host is a machine as others see it. State is nil if the machine was lost.
type Host struct {
	Member string `json:"member"`
	Name   string `json:"name"`
	Lost   bool   `json:"lost,omitempty"` // it didn't renew its state
	Gone   bool   `json:"gone,omitempty"` // it left the fleet
	State  *State `json:"state,omitempty"`
}

// Batch is a message of events.
type Batch struct {
	Events []Event `json:"events"`
}

// Event is an event and what came of it, redacted.
type Event struct {
	Host      string          `json:"host,omitempty"`   // in answers of the server
	Cursor    int64           `json:"cursor,omitempty"` // there, too
	ID        string          `json:"id"`
	Time      time.Time       `json:"time"`
	Agent     string          `json:"agent"`
	Kind      string          `json:"kind"`
	Native    string          `json:"native"`
	Tool      string          `json:"tool,omitempty"`
	Session   string          `json:"session,omitempty"`
	Cwd       string          `json:"cwd,omitempty"`
	Version   string          `json:"version,omitempty"`
	Caller    string          `json:"caller,omitempty"`
	Nested    bool            `json:"nested,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Body      json.RawMessage `json:"body,omitempty"`
	Outcome   *Outcome        `json:"outcome,omitempty"`
}

// Outcome is the result of an event.
type Outcome struct {
	Time     time.Time       `json:"time"`
	TookUS   int64           `json:"tookUs,omitempty"`
	Verdict  string          `json:"verdict"`
	By       string          `json:"by,omitempty"`
	Degraded bool            `json:"degraded,omitempty"`
	Decision json.RawMessage `json:"decision,omitempty"`
}

// EventOf returns a stored event as it leaves this machine. It was redacted when it was stored.
func EventOf(s *journal.Stored, content bool) Event {
	e := Event{ID: s.ID, Time: s.Time, Agent: s.Agent, Kind: s.Kind, Native: s.Native, Tool: s.Tool,
		Session: s.Session, Cwd: s.Cwd, Version: s.AgentVersion, Caller: s.Caller, Nested: s.Nested, Truncated: s.Truncated}
	if content && json.Valid(s.Body) {
		e.Body = s.Body
	}
	if o := s.Outcome; o != nil {
		e.Outcome = &Outcome{Time: o.Time, TookUS: o.Took.Microseconds(), Verdict: o.Verdict, By: o.By,
			Degraded: o.Degraded}
		if content && json.Valid(o.Decision) {
			e.Outcome.Decision = o.Decision
		}
	}
	e.Fit()
	return e
}

// Fit changes the texts of an event so that [Event.Check] accepts them: an agent's names for its
// tools, sessions and folders may be anything, and must not hold up later events here.
func (e *Event) Fit() {
	fit := func(text *string, most int) {
		*text = termsafe.CutBytes(strings.ToValidUTF8(strings.ReplaceAll(*text, "\x00", "\uFFFD"), "\uFFFD"), most)
	}
	for _, text := range []*string{&e.Agent, &e.Kind, &e.Native, &e.Tool, &e.Session, &e.Cwd, &e.Version, &e.Caller} {
		fit(text, maxText)
	}
	if e.Outcome != nil {
		fit(&e.Outcome.Verdict, maxText/2)
		fit(&e.Outcome.By, maxText/2)
	}
}

// Stored returns an event of another machine as this one's journal would have it.
func (e *Event) Stored() journal.Stored {
	s := journal.Stored{Cursor: e.Cursor, Row: journal.Row{ID: e.ID, Time: e.Time, Agent: e.Agent, Kind: e.Kind, Native: e.Native,
		Tool: e.Tool, Session: e.Session, Cwd: e.Cwd, AgentVersion: e.Version, Caller: e.Caller, Host: e.Host, Nested: e.Nested,
		Truncated: e.Truncated, Body: e.Body}}
	if s.Body == nil {
		s.Body = json.RawMessage("{}") // its machine sends no content
	}
	if o := e.Outcome; o != nil {
		s.Outcome = &journal.Outcome{ID: e.ID, Time: o.Time, Took: time.Duration(o.TookUS) * time.Microsecond, Verdict: o.Verdict,
			By: o.By, Degraded: o.Degraded, Decision: o.Decision}
	}
	return s
}

// IDMark is put between a machine and the id of its event in a journal of several machines, so
// that none can take the id of another one's event.
const IDMark = "/"

// Items appends an event to items in the form such a journal takes: owner is whose it is there,
// host the machine's name.
func (e *Event) Items(owner, host string, items []journal.Item) []journal.Item {
	s := e.Stored()
	s.ID, s.Host = owner+IDMark+s.ID, host
	items = append(items, journal.Item{Row: &s.Row})
	if s.Outcome != nil {
		s.Outcome.ID = s.ID
		items = append(items, journal.Item{Outcome: s.Outcome})
	}
	return items
}

// UsageEvent returns what agents of a machine used on a day, as such a journal has it: one event,
// whose outcome is replaced until the day is over.
func UsageEvent(day string, rows []wire.UsageRow, now time.Time) (Event, error) {
	begins, err := time.ParseInLocation(time.DateOnly, day, time.Local)
	if err != nil {
		return Event{}, fmt.Errorf("%.20q isn't a day", day)
	}
	used, err := json.Marshal(rows)
	if err != nil {
		return Event{}, err
	}
	id := wire.OwnUsage + "-" + day
	decision, err := json.Marshal(wire.Outcome{ID: id, Agent: wire.OwnAgent, Time: now, Decision: used})
	return Event{ID: id, Time: begins, Agent: wire.OwnAgent, Kind: string(event.Other), Native: wire.OwnUsage,
		Outcome: &Outcome{Time: now, Verdict: "none", Decision: decision}}, err
}

// UsageByDay sorts what was used by day.
func UsageByDay(report *wire.UsageReport) map[string][]wire.UsageRow {
	days := map[string][]wire.UsageRow{}
	for _, row := range report.Rows {
		days[row.Day] = append(days[row.Day], row)
	}
	return days
}

// The longest texts of an event.
const (
	maxID   = 128
	maxText = 4 << 10
)

// Check returns what is wrong with an event that another machine sent; nil: nothing.
func (e *Event) Check() error {
	if e.ID == "" || len(e.ID) > maxID || strings.ContainsFunc(e.ID, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return errors.New("an event without a proper id")
	}
	for _, text := range []string{e.Agent, e.Kind, e.Native, e.Tool, e.Session, e.Cwd, e.Version, e.Caller, e.Host} {
		switch {
		case len(text) > maxText:
			return fmt.Errorf("an event with a field of %d bytes", len(text))
		case strings.ContainsRune(text, 0): // PostgreSQL takes none
			return errors.New("an event with a field that has a null character")
		}
	}
	if e.Agent == "" || !plausible(e.Time) || e.Outcome != nil && !plausible(e.Outcome.Time) {
		return errors.New("an event without an agent or a proper time")
	}
	if o := e.Outcome; o != nil && (len(o.Verdict)+len(o.By) > maxText || strings.ContainsRune(o.Verdict+o.By, 0)) {
		return errors.New("an event whose outcome can't be stored")
	}
	return nil
}

// plausible reports whether a time is valid in every store, and in JSON in every time zone. A
// member's clock may be wrong.
func plausible(at time.Time) bool { return at.UTC().Year() >= 1970 && at.UTC().Year() < 9999 }

// SendAnswer sends an operator's answer to the member whose request it is, and returns what the
// member says.
func SendAnswer(ctx context.Context, conn *nats.Conn, member, operator string, answer []byte) ([]byte, error) {
	result := ResultSubject(member, operator, rand.Text())
	hears, err := conn.SubscribeSync(result)
	if err != nil {
		return nil, err
	}
	defer func() { _ = hears.Unsubscribe() }() // it fails if the connection is gone
	if err := conn.PublishRequest(AnswerSubject(member), result, answer); err != nil {
		return nil, err
	}
	msg, err := hears.NextMsgWithContext(ctx)
	if err != nil {
		return nil, err
	}
	if msg.Header.Get("Status") == "503" {
		return nil, nats.ErrNoResponders
	}
	return msg.Data, nil
}

// Answer is an operator's answer to a request of another machine. The operator's key signs it;
// the record, which the fleet's key signed, says who that is. It needs no time: a request is
// answered once, and its id never comes again.
type Answer struct {
	Fleet  string                `json:"fleet"`
	Member string                `json:"member"` // whose request it is
	From   string                `json:"from"`   // the operator's id
	User   string                `json:"user"`   // who answers there
	Reply  wire.InboxReplyParams `json:"reply"`
	// Skip leaves the request to the agent's own prompt; Reply has only its id.
	Skip bool `json:"skip,omitempty"`
}

// SignedAnswer is sent to members: the text of an [Answer], the signature of the operator's
// key over [AnswerMessage], and who that is.
type SignedAnswer struct {
	Text      string `json:"text"`
	Signature []byte `json:"signature"`
	Record    Signed `json:"record"`
	PIN       string `json:"pin,omitempty"` // not signed, so that it isn't kept
}

// AnswerMessage returns what an operator signs: which request, what was shown, the choice, and a
// hash of everything else. It has no text of yours or the agent's, so that it can be kept with
// the decision as it is.
func AnswerMessage(a *Answer, text string) string {
	choice := a.Reply.Choice
	switch {
	case a.Skip:
		choice = "skip"
	case a.Reply.Plan != "":
		choice += " " + a.Reply.Plan
	}
	sum := sha256.Sum256([]byte(text))
	return strings.Join([]string{"hookmux-fleet-answer-1", "fleet " + a.Fleet, "member " + a.Member, "from " + a.From,
		"request " + a.Reply.ID, "shown " + a.Reply.SHA256, "choice " + choice, "answer " + hex.EncodeToString(sum[:])}, "\n")
}

// SignAnswer returns an answer in the form in which it is sent.
func SignAnswer(key nkeys.KeyPair, record Signed, a *Answer) (SignedAnswer, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return SignedAnswer{}, err
	}
	signature, err := key.Sign([]byte(AnswerMessage(a, string(text))))
	return SignedAnswer{Text: string(text), Signature: signature, Record: record}, err
}

// RecordReader reads records of a fleet. It remembers the last one, so that the signature
// of an operator's record isn't checked with each of its answers.
type RecordReader struct{ last atomic.Pointer[readRecord] }

type readRecord struct {
	fleet  string
	signed Signed
	record Record
}

// Read is [Signed.ReadRecord].
func (c *RecordReader) Read(s Signed, fleet string) (Record, error) {
	if last := c.last.Load(); last != nil && last.fleet == fleet && last.signed.Text == s.Text &&
		bytes.Equal(last.signed.Signature, s.Signature) {
		return last.record, nil
	}
	r, err := s.ReadRecord(fleet)
	if err == nil {
		c.last.Store(&readRecord{fleet, s, r})
	}
	return r, err
}

// Read checks who signed an answer, and reads it. message is the signed text.
func (s SignedAnswer) Read(records *RecordReader, fleet string) (r Record, a Answer, message string, err error) {
	if r, err = records.Read(s.Record, fleet); err != nil {
		return r, a, "", fmt.Errorf("it isn't from a member of this fleet: %w", err)
	}
	if err = json.Unmarshal([]byte(s.Text), &a); err != nil {
		return r, a, "", errors.New("it can't be read")
	}
	message = AnswerMessage(&a, s.Text)
	key, err := nkeys.FromPublicKey(r.Key)
	if err != nil || key.Verify([]byte(message), s.Signature) != nil || a.From != r.ID || a.Fleet != fleet {
		return r, a, "", fmt.Errorf("%s didn't sign it: %w", r.Name, ErrSignature)
	}
	return r, a, message, nil
}

// AnswerResult is the result of an answer.
type AnswerResult struct {
	Error  *wire.Error            `json:"error,omitempty"`
	Result *wire.InboxReplyResult `json:"result,omitempty"`
}
