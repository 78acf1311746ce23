package server

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/wire"
)

// View is the part that a reader may see. The zero value sees everything; an agent, and
// whatever it started, sees its own sessions and those of its project.
type View struct {
	// Limited says that an agent reads.
	Limited bool
	// Owns reports whether a session, or something that happened in a folder, is
	// the reader's own. Nil: nothing is.
	Owns func(agent, session, folder string) bool
	// Opened reports whether the user opened a folder to the agents of all projects. Only what
	// shows an agent its project asks for it.
	Opened func(folder string) bool
	// Hidden counts the sessions in a list that the reader doesn't see.
	Hidden func() int
}

func (v *View) owns(agent, session, folder string) bool {
	return v.Owns != nil && v.Owns(agent, session, folder)
}

// widened returns the view with what the user opened to agents. A view that belongs to no
// agent stays as it is.
func (v *View) widened() *View {
	if v.Owns == nil || v.Opened == nil {
		return v
	}
	wide := *v
	wide.Owns = func(agent, session, folder string) bool { return v.Owns(agent, session, folder) || v.Opened(folder) }
	return &wide
}

// reading limits what an agent may see of the answer to a method.
type reading struct {
	// limit leaves out what is not the reader's own; nil refuses the method.
	limit func(answer any, view *View) (any, *wire.Error)
	// open says that an answer, and a failure, is about no particular session.
	open bool
	// widens says that what the user opened to agents is shown, too.
	widens bool
	// refused completes "agents can't …" where the method isn't about sessions.
	refused string
}

// readings is the one table of what agents may read, for every method of the
// class read. A method that is not here is refused to them.
var readings = map[string]reading{
	wire.MethodInfo:     {limit: hideProblems},
	wire.MethodQuery:    {limit: limitEntries},
	wire.MethodStats:    {limit: hideErrors},
	wire.MethodSessions: {limit: limitSessions},
	wire.MethodSession:  {limit: limitDetail},

	wire.MethodProjectSessions: {limit: limitSessions, widens: true},
	wire.MethodProjectHistory:  {limit: limitEntries, widens: true},
	wire.MethodProjectBudgets:  {limit: limitBudgets, widens: true},

	wire.MethodInboxItems:  {limit: limitItems},
	wire.MethodPermissions: {limit: limitPermissions},
	wire.MethodCmuxList:    {limit: limitCmuxItems},
	wire.MethodCmuxJump:    {limit: limitPlace},

	// What a call of the reader's would meet, which settings, hooks and TypeScript hooks
	// there are, and where the reader sits.
	wire.MethodExplain:    {open: true},
	wire.MethodConfigGet:  {open: true},
	wire.MethodHooksList:  {open: true},
	wire.MethodTrustLook:  {open: true},
	wire.MethodAcceptLook: {open: true},
	wire.MethodTSHooks:    {open: true},
	wire.MethodWhoami:     {open: true},
	wire.MethodTerminals:  {open: true},

	// What may be used, and how much of the plans is; which project used how much is
	// left out.
	wire.MethodBudgets:     {limit: limitBudgets},
	wire.MethodUsageLimits: {open: true},
	wire.MethodUsage:       {limit: limitUsage},

	// Whether the collector of telemetry answers.
	wire.MethodTelemetryCheck: {open: true},

	// The channels that notify the user.
	wire.MethodNotifyStatus: {open: true},

	// This one takes sessions up.
	wire.MethodSessionResume: {refused: "resume sessions"},

	// Which other machines there are.
	wire.MethodHosts:         {refused: seeMachines},
	wire.MethodRemoteConnect: {refused: seeMachines},
	wire.MethodFleetStatus:   {refused: seeMachines},
	wire.MethodFleetList:     {refused: seeMachines},
	wire.MethodFleetLog:      {refused: seeMachines},
	wire.MethodFleetPolicy:   {refused: seeMachines},

	// Where the page for browsers is, which devices you paired, and the digits of one that
	// is being paired.
	wire.MethodWebStatus:   {refused: seeDevices},
	wire.MethodWebDevices:  {refused: seeDevices},
	wire.MethodWebPairWait: {refused: seeDevices},
}

const (
	seeMachines = "see your other machines"
	seeDevices  = "see your web page or its devices"
)

// LimitsReading reports whether the table of readings has a word on a method.
func LimitsReading(method string) bool {
	_, known := readings[method]
	_, stream := streamReadings[method]
	return known || stream
}

// refuseReading refuses an agent what it may not read, with the same message whether that is
// hidden or doesn't exist.
func refuseReading(what string) *wire.Error {
	limit := "agents only see their own sessions"
	if what != "" {
		limit = "agents can't " + what
	}
	return wire.Errorf(wire.CodeRefused, "refused: hookmux takes this terminal for an agent's (`hookmux whoami` says why), and %s; "+
		"run it in your own terminal", limit)
}

// mayRead reports whether a method has an answer for agents at all. What it would
// do beside answering must not happen either.
func (v *View) mayRead(method string) *wire.Error {
	if one := readings[method]; v.Limited && !one.open && one.limit == nil {
		return refuseReading(one.refused)
	}
	return nil
}

// limitAnswer gives what a reader may see of an answer, or of a failure.
func (v *View) limitAnswer(method string, answer any, failure *wire.Error) (any, *wire.Error) {
	one := readings[method]
	switch {
	case !v.Limited || one.open:
		return answer, failure
	case one.limit == nil:
		return nil, refuseReading(one.refused)
	case failure != nil:
		return nil, refuseReading(one.refused) // the failure's own words may name sessions and requests of others
	}
	return one.limit(answer, v)
}

func errUnknownAnswer(answer any) *wire.Error {
	return wire.Errorf(wire.CodeInternal, "an answer of the type %T is not shown to agents", answer)
}

// hideProblems leaves out what is wrong, which may be about anybody's project,
// and says so, and that lists are limited.
func hideProblems(answer any, view *View) (any, *wire.Error) {
	info, ok := answer.(wire.Info)
	if !ok {
		return nil, errUnknownAnswer(answer)
	}
	if n := len(info.Problems); n > 0 {
		info.Problems = []wire.Problem{hiddenProblems(info.Problems[0])}
	}
	info.Limited = &wire.Limited{}
	if view.Hidden != nil {
		info.Limited.Sessions = view.Hidden()
	}
	return info, nil
}

// limitUsage leaves the reader's own rows; rows that can't be attributed are left out.
func limitUsage(answer any, view *View) (any, *wire.Error) {
	report, ok := answer.(wire.UsageReport)
	if !ok {
		return nil, errUnknownAnswer(answer)
	}
	all := report.Rows
	report.Rows, report.Totals, report.Unpriced = []wire.UsageRow{}, wire.UsageTotals{}, []string{}
	for _, row := range all {
		if !view.owns(row.Agent, row.Session, row.Project) {
			continue
		}
		report.Rows = append(report.Rows, row)
		report.Totals.Add(row.UsageTokens)
		report.Totals.UnpricedTokens += row.UnpricedTokens
		if row.CostUSD != nil {
			report.Totals.CostUSD += *row.CostUSD
		}
	}
	report.Totals.CostUSD = wire.RoundUSD(report.Totals.CostUSD)
	return report, nil
}

func hiddenProblems(first wire.Problem) wire.Problem {
	return wire.Problem{Key: "hidden", What: "there is a problem that only you can see",
		Fix: "run `hookmux status` in your own terminal", Since: first.Since}
}

func hideErrors(answer any, _ *View) (any, *wire.Error) {
	list, ok := answer.([]wire.HookStat)
	if !ok {
		return nil, errUnknownAnswer(answer)
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].LastErr = ""
	}
	return list, nil
}

func limitEntries(answer any, view *View) (any, *wire.Error) {
	page, ok := answer.(wire.QueryResult)
	if !ok {
		return nil, errUnknownAnswer(answer)
	}
	own := []wire.Entry{}
	for _, one := range page.Entries {
		if view.ownsEvent(one.Event) {
			own = append(own, one)
		}
	}
	page.Entries = own
	return page, nil
}

// ownsEvent reads whose event it is. What hookmux itself records concerns everyone.
func (v *View) ownsEvent(ev json.RawMessage) bool {
	agent, _ := jsontext.String(jsontext.Get(ev, "agent"))
	session, _ := jsontext.String(jsontext.Get(ev, "session"))
	folder, _ := jsontext.String(jsontext.Get(ev, "cwd"))
	return agent != "" && agent != wire.OwnAgent && v.owns(agent, session, folder)
}

func limitSessions(answer any, view *View) (any, *wire.Error) {
	list, ok := answer.([]wire.Session)
	if !ok {
		return nil, errUnknownAnswer(answer)
	}
	own := []wire.Session{}
	for _, one := range list {
		if one.Host == "" && view.owns(one.Agent, one.ID, one.Cwd) {
			own = append(own, one)
		}
	}
	return own, nil
}

// limitBudgets leaves out those for other projects.
func limitBudgets(answer any, view *View) (any, *wire.Error) {
	list, ok := answer.([]wire.Budget)
	if !ok {
		return nil, errUnknownAnswer(answer)
	}
	own := []wire.Budget{}
	for _, one := range list {
		if one.Project == "" || view.owns("", "", one.Project) {
			own = append(own, one)
		}
	}
	return own, nil
}

func limitDetail(answer any, view *View) (any, *wire.Error) {
	one, ok := answer.(wire.SessionDetail)
	if !ok {
		return nil, errUnknownAnswer(answer)
	}
	if one.Host != "" || !view.owns(one.Agent, one.ID, one.Cwd) {
		return nil, refuseReading("")
	}
	return one, nil
}

func limitItems(answer any, view *View) (any, *wire.Error) {
	list, ok := answer.([]wire.InboxRequest)
	if !ok {
		return nil, errUnknownAnswer(answer)
	}
	own := []wire.InboxRequest{}
	for i := range list {
		if list[i].Host == "" && view.owns(list[i].Agent, list[i].Session, list[i].Cwd) {
			own = append(own, list[i])
		}
	}
	return own, nil
}

// hidesRequest reports whether the caller asked for one request that isn't its own, or
// doesn't exist.
func (v *View) hidesRequest(method string, params json.RawMessage, answer any) bool {
	id, _ := jsontext.String(jsontext.Get(params, "id"))
	if !v.Limited || method != wire.MethodInboxItems || id == "" {
		return false
	}
	own, _ := limitItems(answer, v)
	list, _ := own.([]wire.InboxRequest)
	return len(list) == 0
}

func limitPermissions(answer any, view *View) (any, *wire.Error) {
	list, ok := answer.([]wire.PermissionInfo)
	if !ok {
		return nil, errUnknownAnswer(answer)
	}
	own := []wire.PermissionInfo{}
	for _, one := range list {
		if (one.Session != "" || one.Project != "") && view.owns(one.Agent, one.Session, one.Project) {
			own = append(own, one)
		}
	}
	return own, nil
}

// limitCmuxItems is limitItems in cmux's format.
func limitCmuxItems(answer any, view *View) (any, *wire.Error) {
	words, _ := answer.(map[string]any)
	list, ok := words["items"].([]map[string]any)
	if !ok {
		return nil, errUnknownAnswer(answer)
	}
	own := []map[string]any{}
	for _, one := range list {
		agent, folder := textOf(one["source"]), textOf(one["cwd"])
		if view.owns(agent, strings.TrimPrefix(textOf(one["workstream_id"]), agent+"-"), folder) {
			own = append(own, one)
		}
	}
	return map[string]any{"items": own}, nil
}

// limitPlace returns where a session runs, in cmux's format.
func limitPlace(answer any, view *View) (any, *wire.Error) {
	words, ok := answer.(map[string]any)
	if !ok {
		return nil, errUnknownAnswer(answer)
	}
	if !view.owns(textOf(words["agent"]), textOf(words["session"]), textOf(words["cwd"])) {
		return map[string]any{"matched": false, "focused": false}, nil
	}
	return words, nil
}

func textOf(value any) string {
	text, _ := value.(string)
	return text
}

// streamReading reports whether an agent may receive one note of a stream.
type streamReading func(filter *streamFilter, params json.RawMessage) bool

// streamReadings is the table of what agents receive on streams: for every stream the notes
// they may get. They don't receive what isn't listed.
var streamReadings = map[string]map[string]streamReading{
	wire.MethodStream: {
		wire.NoteReady: mayReadAll, wire.NoteEvent: mayReadEvent, wire.NoteOutcome: mayReadOutcome,
		wire.NoteSession: mayReadSession,
	},
	wire.MethodInboxStream: {
		wire.NoteInboxReady: mayReadAll, wire.NoteInboxReceived: mayReadItem, wire.NoteInboxResolved: mayReadItem,
		wire.NoteInboxExpired: mayReadItem, wire.NoteInboxWithdrawn: mayReadItem,
		wire.NoteInboxPrompt: mayReadItem, wire.NoteInboxPromptOver: mayReadItem,
	},
}

// streamFilter passes on the lines of a stream that an agent may receive.
type streamFilter struct {
	view  *View
	notes map[string]streamReading
	sent  idSet // events that were passed on: their outcomes are, too
}

// limitStream wraps what sends the lines of a stream.
func (v *View) limitStream(method string, send func([]byte) bool) func([]byte) bool {
	if !v.Limited {
		return send
	}
	filter := &streamFilter{view: v, notes: streamReadings[method]}
	return func(lines []byte) bool {
		var own []byte
		for line := range bytes.Lines(lines) {
			if filter.mayReadLine(line) {
				own = append(own, line...)
			}
		}
		return len(own) == 0 || send(own)
	}
}

func (f *streamFilter) mayReadLine(line []byte) bool {
	var note struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(line, &note) != nil {
		return false
	}
	if note.Method == "" {
		return true // the answer to the request itself
	}
	may := f.notes[note.Method]
	return may != nil && may(f, note.Params)
}

func mayReadAll(*streamFilter, json.RawMessage) bool { return true }

func mayReadEvent(f *streamFilter, params json.RawMessage) bool {
	var one wire.Entry
	if json.Unmarshal(params, &one) != nil || !f.view.ownsEvent(one.Event) && !isProbe(one.Event) {
		return false
	}
	f.sent.addID(entryID(&one))
	return true
}

// isProbe reports whether an event only asks whether hooks reach the daemon: an agent that
// runs `hookmux doctor` may receive it.
func isProbe(raw json.RawMessage) bool {
	var ev struct {
		Native string `json:"native"`
	}
	return json.Unmarshal(raw, &ev) == nil && ev.Native == wire.ProbeEvent
}

func mayReadOutcome(f *streamFilter, params json.RawMessage) bool {
	var one wire.Outcome
	return json.Unmarshal(params, &one) == nil && f.sent.removeID(one.ID)
}

func mayReadSession(f *streamFilter, params json.RawMessage) bool {
	var one wire.SessionChange
	return json.Unmarshal(params, &one) == nil && one.Session.Host == "" &&
		f.view.owns(one.Session.Agent, one.Session.ID, one.Session.Cwd)
}

func mayReadItem(f *streamFilter, params json.RawMessage) bool {
	var one wire.InboxRequest
	return json.Unmarshal(params, &one) == nil && one.Host == "" && f.view.owns(one.Agent, one.Session, one.Cwd)
}
