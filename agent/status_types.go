package agent

import (
	"fmt"
	"slices"

	"github.com/hookmux/hookmux/event"
)

// StatusSpec says what an agent's events mean for the status of a session,
// where the event's kind alone does not say it.
type StatusSpec struct {
	// Unasked are the permission modes in which the agent runs calls without asking you, as
	// its events name them: "bypass", nothing decides; "auto", a model does.
	Unasked map[string]string `yaml:"unasked"`
	// OpensSilently says that the agent reports nothing before its first prompt, so that only
	// its process shows that it's open.
	OpensSilently bool `yaml:"opens_silently"`
	// TellsTerminal is the first version that reports to its own terminal what it does (OSC
	// 7501); "" if none does.
	TellsTerminal string `yaml:"tells_terminal"`
	// Signals are tried in order; the first that matches the event is used. If none matches,
	// the event means what its kind usually means.
	Signals []SignalSpec `yaml:"signals"`

	// Async are native events the agent does not wait for: they may reach us
	// late, and in another order than they happened, within their turn.
	Async []string `yaml:"async"`

	// KeepsRunning are payload lists at a turn's end that, while not empty,
	// mean that the agent is not done: it will go on by itself.
	KeepsRunning []string `yaml:"keeps_running"`

	// Steers says that what you send during a turn becomes part of that turn, and that the
	// agent reports every interrupt itself.
	Steers bool `yaml:"steers"`

	// NoTurnIDs says that the agent's turn ids don't distinguish turns.
	NoTurnIDs bool `yaml:"no_turn_ids"`

	// ChildSessions says that subagents report under session ids of their own, which must not
	// be taken for your sessions.
	ChildSessions bool `yaml:"child_sessions"`

	// Titles are the places a session's title comes from, best first; one
	// that is not listed is not used. See [TitleSources].
	Titles []string `yaml:"titles"`
	// TopicTool is a tool whose input says, under "title", what the agent is
	// about to do.
	TopicTool string `yaml:"topic_tool"`
	// Placeholders begin titles that the agent gives before it has one.
	Placeholders []string `yaml:"placeholders"`

	Transcript TranscriptSpec `yaml:"transcript"`

	// Answers says how it shows that you answered in the agent's own terminal, where no hook
	// reports it before the allowed command ends.
	Answers AnswerSigns `yaml:"answers"`
}

// AnswerSigns are the signs of an answer at the agent's own prompt.
type AnswerSigns struct {
	// Child says that a command which is allowed becomes a process below the
	// agent's, with the command's text among its arguments.
	Child bool `yaml:"child"`
	// Title is a part of the terminal's title while the agent waits for its
	// person, and at no other time.
	Title string `yaml:"title"`
}

// SignalSpec is one rule of a [StatusSpec]. Empty fields fit everything.
type SignalSpec struct {
	Event    string `yaml:"event"`    // native name
	Detail   string `yaml:"detail"`   // event.Event.Detail; "-" fits only an empty one
	Message  string `yaml:"message"`  // event.Event.Message: what the agent puts where the model said nothing
	Kind     string `yaml:"kind"`     // what the event was read as, where its name does not tell
	Subagent string `yaml:"subagent"` // the subagent's type
	Since    string `yaml:"since"`    // first version it holds for
	Until    string `yaml:"until"`    // first version it holds for no more; an unknown version is a new one
	Is       Signal `yaml:"is"`
}

// Signal says how an event changes the status of its session.
type Signal string

// The signals.
const (
	SignalNothing    Signal = "nothing"    // no news about the status
	SignalStarts     Signal = "starts"     // the session is there
	SignalLeaves     Signal = "leaves"     // the session is over
	SignalPrompts    Signal = "prompts"    // a turn begins
	SignalWorks      Signal = "works"      // a turn is going on
	SignalActive     Signal = "breathes"   // a sign of life within a turn; begins none
	SignalSays       Signal = "says"       // within a turn: the message is what it does now
	SignalAsks       Signal = "asks"       // a person must decide something now
	SignalAttention  Signal = "nudges"     // a person is called, nobody says why
	SignalAnswered   Signal = "answered"   // a person is not waited for any more
	SignalRefuses    Signal = "refuses"    // a person said no to what was asked, at the agent's own prompt
	SignalEnds       Signal = "ends"       // the turn is over
	SignalFails      Signal = "fails"      // the turn is over because the model could not be asked
	SignalInterrupts Signal = "interrupts" // the turn is over because a person stopped it
	SignalDeclines   Signal = "declines"   // as interrupts; what was asked was refused by that
	SignalIdle       Signal = "settles"    // nothing goes on any more: ends a turn whose end was not reported
	SignalFaults     Signal = "faults"     // the model could not be asked; the turn's end follows
	SignalRecovers   Signal = "recovers"   // the model answers: a turn that failed for it goes on
	SignalNests      Signal = "nests"      // a turn inside the turn begins, whose end looks like the outer one's
)

// Signals lists every signal.
func Signals() []Signal {
	return []Signal{
		SignalNothing, SignalStarts, SignalLeaves, SignalPrompts, SignalWorks, SignalActive,
		SignalSays, SignalAsks, SignalAttention, SignalAnswered, SignalRefuses, SignalEnds, SignalFails,
		SignalInterrupts, SignalDeclines, SignalIdle, SignalFaults, SignalRecovers, SignalNests,
	}
}

// TitleSources returns the places a title can come from.
func TitleSources() []string {
	return []string{
		TitleNamed, TitlePayload, TitleIndex, TitleGenerated, TitleTopic, TitlePrompt,
	}
}

// Where titles come from. What you give with `hookmux rename` overrides all of them.
const (
	TitleNamed     = "named"     // a person named it in the agent
	TitlePayload   = "payload"   // the hook's payload says it
	TitleIndex     = "index"     // the agent's own list of sessions says it
	TitleGenerated = "generated" // the agent made one up from the conversation
	TitleTopic     = "topic"     // the agent says what it is about to do
	TitlePrompt    = "prompt"    // the first prompt
)

// TranscriptSpec says where an agent keeps its record of a session and in
// which format.
type TranscriptSpec struct {
	Format string `yaml:"format"`  // a format of internal/sessions/transcript; empty: cannot be read
	Root   string `yaml:"root"`    // directory all records lie below; "~/" is the home
	Env    string `yaml:"env"`     // variable that, when set, stands for the first directory of Root
	EnvDir string `yaml:"env_dir"` // the directory Env stands for when that is not the first one
	// Find is the record's path below Root where the payload does not give
	// it: {session} is the session id, * any one name.
	Find string `yaml:"find"`
	// Names are further files that hold titles, relative to the record with
	// "./" or "../", else to the directory above Root.
	Names []NameFile `yaml:"names"`
}

// NameFile is a file beside an agent's records that holds titles.
type NameFile struct {
	File   string `yaml:"file"`
	Format string `yaml:"format"` // a format of internal/sessions/transcript
}

// SignalOf returns what an event says about the status, or "" if only its kind does.
func (s *StatusSpec) SignalOf(ev *event.Event) Signal {
	for i := range s.Signals {
		if s.Signals[i].fits(ev) {
			return s.Signals[i].Is
		}
	}
	return ""
}

// SaysNothing reports whether a message is the agent's placeholder for an empty answer of
// the model.
func (s *StatusSpec) SaysNothing(message string) bool {
	return message != "" && slices.ContainsFunc(s.Signals, func(one SignalSpec) bool { return one.Message == message })
}

func (s *SignalSpec) fits(ev *event.Event) bool {
	if s.Event != "" && s.Event != ev.Native {
		return false
	}
	switch s.Detail {
	case "":
	case "-":
		if ev.Detail != "" {
			return false
		}
	default:
		if s.Detail != ev.Detail {
			return false
		}
	}
	if s.Message != "" && s.Message != ev.Message {
		return false
	}
	if s.Kind != "" && s.Kind != string(ev.Kind) {
		return false
	}
	if s.Subagent != "" && (ev.Subagent == nil || ev.Subagent.Type != s.Subagent) {
		return false
	}
	if s.Since != "" && ev.AgentVersion != "" && compareVersions(ev.AgentVersion, s.Since) < 0 {
		return false
	}
	if s.Until != "" && (ev.AgentVersion == "" || compareVersions(ev.AgentVersion, s.Until) >= 0) {
		return false
	}
	return true
}

// status checks the status block.
func (c *checker) status(name string, own, whole *Agent) {
	s := &own.Status
	known := func(event string) bool {
		return slices.ContainsFunc(whole.Events, func(e *EventSpec) bool { return e != nil && e.Name == event })
	}
	for i, rule := range s.Signals {
		path := fmt.Sprintf("$.status.signals[%d]", i)
		if rule.Event != "" && !known(rule.Event) {
			c.at(path+".event", "%s: status: %s is not an event of this agent", name, rule.Event)
		}
		if !slices.Contains(Signals(), rule.Is) {
			c.at(path+".is", "%s: status: %q is not a signal", name, rule.Is)
		}
		if rule.Kind != "" && !event.Kind(rule.Kind).Known() {
			c.at(path+".kind", "%s: status: %q is not a kind of event", name, rule.Kind)
		}
		if rule.Event == "" && rule.Detail == "" && rule.Subagent == "" {
			c.at(path, "%s: status: a signal without an event, a detail or a subagent fits everything", name)
		}
	}
	for i, event := range s.Async {
		if !known(event) {
			c.at(fmt.Sprintf("$.status.async[%d]", i), "%s: status: %s is not an event of this agent", name, event)
		}
	}
	for i, source := range s.Titles {
		if !slices.Contains(TitleSources(), source) {
			c.at(fmt.Sprintf("$.status.titles[%d]", i), "%s: status: %q is not a source of titles", name, source)
		}
	}
	if t := s.Transcript; t.Root != "" && t.Format == "" || t.Format != "" && t.Root == "" {
		c.at("$.status.transcript", "%s: status: a transcript needs both a format and a root", name)
	}
}

// overlayStatus lays a user's block over the one that is there: rules come
// before the old ones, lists that are given replace.
func overlayStatus(base, add StatusSpec) StatusSpec {
	base.Signals = joined(add.Signals, base.Signals)
	base.Async = joined(base.Async, add.Async)
	base.KeepsRunning = joined(base.KeepsRunning, add.KeepsRunning)
	base.Steers = base.Steers || add.Steers
	base.NoTurnIDs = base.NoTurnIDs || add.NoTurnIDs
	base.ChildSessions = base.ChildSessions || add.ChildSessions
	if len(add.Titles) > 0 {
		base.Titles = add.Titles
	}
	if add.TopicTool != "" {
		base.TopicTool = add.TopicTool
	}
	base.Placeholders = joined(base.Placeholders, add.Placeholders)
	base.Answers.Child = base.Answers.Child || add.Answers.Child
	if add.Answers.Title != "" {
		base.Answers.Title = add.Answers.Title
	}
	if add.Transcript.Format != "" {
		base.Transcript = add.Transcript
	}
	return base
}
