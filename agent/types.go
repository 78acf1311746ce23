package agent

import (
	"time"

	"github.com/hookmux/hookmux/event"
)

// Agent is one entry of the catalogue: everything hookmux knows about one
// coding agent. It is read from one YAML file; treat it as read-only.
type Agent struct {
	Name    string   `yaml:"name"`
	Title   string   `yaml:"title"`
	Aliases []string `yaml:"aliases"`
	// Like names an agent that this one was made from. Its input and output are that one's
	// unless the file says otherwise: dialect, events, tools, fields, status and inbox. Where
	// its files are, and how it's installed, started, resumed and recognized, it says itself.
	Like    string `yaml:"like"`
	Dialect string `yaml:"dialect"` // which of the dialects it speaks, by the name of the file that holds it
	Tried   string `yaml:"tried"`   // the version the claims below were tried on
	// Since is the first version that has these hooks; empty if that isn't known. The entry
	// describes the versions from it to Tried.
	Since string   `yaml:"since"`
	Notes []string `yaml:"notes"` // what a user or maintainer should know
	// Protocol says that this isn't an agent: its events, whose names begin with its own name
	// and a colon, are reported by a program in place of any agent.
	Protocol bool `yaml:"protocol"`
	// Guest says that a project describes it: it's used if a command names it, and never for
	// a process or a program that calls by another agent's name.
	Guest bool     `yaml:"-"`
	ACP   *ACPSpec `yaml:"acp"` // nil: nobody looked at it through the Agent Client Protocol

	Version  VersionSource  `yaml:"version"`
	Attended AttendedSource `yaml:"attended"`
	Pane     PaneSource     `yaml:"pane"`
	// IgnoresOutputAfterExit says that the agent reads nothing more of a hook that has
	// exited, so that what was printed last may be lost.
	IgnoresOutputAfterExit bool `yaml:"deaf_after_exit"`
	// RawBreaks says that texts in its payloads may hold line breaks and other control
	// characters as they are, which is no JSON: they are escaped before it is read.
	RawBreaks bool `yaml:"raw_breaks"`
	// OffersTogether says that accepting one of the permanent permissions that the agent
	// offers accepts all of them: they are read as one.
	OffersTogether bool `yaml:"offers_together"`

	Events []*EventSpec `yaml:"events"`
	// Inner are events that stay inside the agent: its plugin passes them to TypeScript hooks
	// that listen to them, and to nothing else.
	Inner []string `yaml:"inner"`
	// Unheard are events that the agent has and hookmux doesn't register for, each with what
	// it is: an event that is neither here nor above is new.
	Unheard map[string]string `yaml:"unheard"`
	Tools   []*ToolSpec       `yaml:"tools"`
	Fields  FieldSpec         `yaml:"fields"`
	Ignored map[string]string `yaml:"ignored"` // payload key → why no unified field holds it

	// HookFormat names the format, one that registrations of hooks may have, of
	// the hooks in its files: `hookmux hooks import` takes those over.
	HookFormat string `yaml:"hook_format"`
	// Permissions is where it keeps permission rules of its own: `hookmux rules import`
	// takes those over. Nil: it has none that can be read.
	Permissions *PermissionFiles `yaml:"permissions"`

	Marks Marks `yaml:"marks"`
	// HooksOff is how it is started without its hooks; nil if that isn't known.
	HooksOff *HooksOff    `yaml:"hooks_off"`
	Mods     *Mods        `yaml:"mods"` // nil: it has none, as far as known
	Files    []HookFile   `yaml:"files"`
	Guarded  Guarded      `yaml:"guarded"`
	Install  *InstallSpec `yaml:"install"` // nil: hookmux cannot write itself into this agent
	// NotInstalled is why hookmux does not write itself into an agent that takes hooks.
	NotInstalled string `yaml:"not_installed"`

	Launch Launch        `yaml:"launch"`
	Usage  *UsageRecords `yaml:"usage"`  // nil: it keeps no records of what it uses, as far as known
	Resume *ResumeSpec   `yaml:"resume"` // nil: no session of it can be resumed
	Status StatusSpec    `yaml:"status"`
	Inbox  *Inbox        `yaml:"inbox"` // nil: no request of this agent can be answered from elsewhere

	compiled *compiled
}

// PermissionFiles are the files in which an agent keeps permission rules.
type PermissionFiles struct {
	// Format is one of internal/policy/ruleimport.
	Format string     `yaml:"format"`
	Files  []HookFile `yaml:"files"` // scope local: the user's own for a project
	// Trusted says where the agent remembers which projects you trust; it ignores what others
	// allow. Nil: it doesn't use that.
	Trusted *ProjectTrust `yaml:"trusted"`
}

// ProjectTrust is a file in JSON: At is an object of it that has a member for each
// project's path, whose member Flag is true for a trusted one.
type ProjectTrust struct {
	HookFile `yaml:",inline"`
	At       string `yaml:"at"`
	Flag     string `yaml:"flag"`
}

// ACPSpec is how an agent shows itself to an editor that talks to it by the
// Agent Client Protocol.
type ACPSpec struct {
	// Names lists the names it gives itself when a connection begins, and the names of
	// programs and packages that speak the protocol for it.
	Names []string `yaml:"names"`
	// TitleIsCommand says that a request to run a command that comes without the
	// call's input has the whole command for its title.
	TitleIsCommand bool `yaml:"title_is_command"`
}

// Install says whether hookmux registers for an event.
type Install string

// The three ways an event may be treated by the installer.
const (
	InstallDefault  Install = "default"
	InstallOptional Install = "optional"
	InstallNever    Install = "never"
)

// EventSpec is one native event of an agent.
type EventSpec struct {
	Name    string     `yaml:"name"`
	Kind    event.Kind `yaml:"kind"`
	Install Install    `yaml:"install"`
	Why     string     `yaml:"why"`   // why it is optional or never installed
	Since   string     `yaml:"since"` // first version that knows it; empty means as far back as known
	// KindWith and KindWithout give the kind where one native event means
	// several things: payload key → kind when it is there, or is not. A key
	// that is null or empty is not there. Dots descend.
	KindWith    map[string]event.Kind `yaml:"kind_with"`
	KindWithout map[string]event.Kind `yaml:"kind_without"`

	// Answer names the shape in which the dialect writes an answer; empty
	// means the agent ignores what a hook prints here.
	Answer string `yaml:"answer"`
	// PlainStdout says that text which is not JSON reaches the model here.
	PlainStdout bool         `yaml:"plain_stdout"`
	Carries     Capabilities `yaml:"carries"`
	Neutral     *AnswerSpec  `yaml:"neutral"` // when silence and exit 0 are not "no opinion"
	Deny        *AnswerSpec  `yaml:"deny"`    // when the dialect's own refusal is not the one to use

	Timeout        Duration `yaml:"timeout"`         // how long the agent waits when its config says nothing
	InstallTimeout Duration `yaml:"install_timeout"` // what hookmux asks for; zero means Timeout
	MaxTimeout     Duration `yaml:"max_timeout"`     // more than this is cut by the agent; zero means no limit known
	// how often in a row the agent lets itself be kept going; zero means for ever
	KeepCap int `yaml:"keep_cap"`

	Matcher string `yaml:"matcher"` // the payload key that a matcher in the agent's config is held against

	// What the event says without saying it in the payload.
	Failed bool   `yaml:"failed"` // the tool call it reports failed
	Detail string `yaml:"detail"` // Detail when the payload has none
	// Tool is the tool that is called where the payload names none; where it has no
	// input either, the payload itself is that.
	Tool string `yaml:"tool"`
	// Fields overrides the agent's fields at this event.
	Fields map[string]string `yaml:"fields"`
}

// Decides reports whether the agent does something with the answer.
func (e *EventSpec) Decides() bool {
	c := e.Carries
	return c.Allow != nil || c.Deny != nil || c.Ask != nil || c.Input != nil ||
		c.Output != nil || c.Context != nil || c.Keep != nil
}

// Capabilities are the things an agent takes from a hook at one event.
type Capabilities struct {
	Allow   *Capability `yaml:"allow"`
	Deny    *Capability `yaml:"deny"`
	Ask     *Capability `yaml:"ask"`
	Input   *Capability `yaml:"input"`
	Output  *Capability `yaml:"output"`
	Context *Capability `yaml:"context"`
	Keep    *Capability `yaml:"keep"`
	Notice  *Capability `yaml:"notice"`
}

// Capability is one claim and where it comes from. In YAML it may be written
// as its proof alone.
type Capability struct {
	// Proof starts with one of the values of [ProofKind] and a colon.
	Proof string `yaml:"proof"`
	Since string `yaml:"since"` // first version that has it; empty means as far back as known
	Until string `yaml:"until"` // first version that has it no more
	// NeedsAllow says that using this approves the call as well, so that it may only be sent
	// if the call was approved.
	NeedsAllow bool `yaml:"needs_allow"`
	// NeedsUser says that this may only be sent if someone is known to attend: otherwise the
	// agent would wait for ever.
	NeedsUser bool `yaml:"needs_user"`
	// EndsRun says that taking this up ends the agent's run: nothing after it is
	// played, and the model does not read why.
	EndsRun bool `yaml:"ends_run"`
}

// AnswerSpec is an answer written out: two streams and an exit code.
type AnswerSpec struct {
	Stdout string `yaml:"stdout"`
	Stderr string `yaml:"stderr"`
	Exit   int    `yaml:"exit"`
}

// ToolSpec says what a tool is and where its input keeps what matters. Paths
// into the input are keys joined by dots; "[]" after a key means each element
// of the list.
type ToolSpec struct {
	Name     string         `yaml:"name"` // a name, or a glob with * at one or both ends
	Kind     event.ToolKind `yaml:"kind"`
	Commands []string       `yaml:"commands"`
	Program  string         `yaml:"program"` // the program that runs the commands, such as python3; a shell when empty
	Reads    []string       `yaml:"reads"`
	Writes   []string       `yaml:"writes"`
	Patches  []string       `yaml:"patches"` // text in apply_patch format, which names the paths it writes
	URL      []string       `yaml:"url"`
	// Folder is where the call says in which folder it runs. Of a tool for which no
	// entry says it, members that are named after a folder are read.
	Folder []string `yaml:"folder"`
	MCP    string   `yaml:"mcp"` // how the name is built, e.g. mcp__{server}__{tool}
	// Change says which keys of the input a hook may change: empty means
	// all, "-" none; with names, exactly these are sent.
	Change []string `yaml:"change"`
	// Ignored are input keys that nothing is read from, with the reason.
	Ignored map[string]string `yaml:"ignored"`
}

// FieldSpec says which payload keys have the unified fields. The first key of a list that is
// there and not empty is used. Dots descend. A list of message parts means the text in them,
// a list of folders its first.
type FieldSpec struct {
	Event        []string `yaml:"event"`
	Session      []string `yaml:"session"`
	Turn         []string `yaml:"turn"`
	Cwd          []string `yaml:"cwd"`
	Mode         []string `yaml:"mode"`
	Model        []string `yaml:"model"`
	Title        []string `yaml:"title"`
	Transcript   []string `yaml:"transcript"`
	Prompt       []string `yaml:"prompt"`
	Message      []string `yaml:"message"`
	Detail       []string `yaml:"detail"`
	Error        []string `yaml:"error"`
	SubagentID   []string `yaml:"subagent_id"`
	SubagentType []string `yaml:"subagent_type"`
	Parent       []string `yaml:"parent"`   // session or agent the subagent works for
	Version      []string `yaml:"version"`  // the agent's own
	Attended     []string `yaml:"attended"` // true when a person sits at it
	ToolName     []string `yaml:"tool_name"`
	ToolInput    []string `yaml:"tool_input"`
	ToolOutput   []string `yaml:"tool_output"`
	ToolCall     []string `yaml:"tool_call"`
	MCPServer    []string `yaml:"mcp_server"`
	DurationMS   []string `yaml:"duration_ms"`
	Failed       []string `yaml:"failed"`      // any true one counts
	Interrupted  []string `yaml:"interrupted"` // true when a person stopped the call; any true one counts
	GoingOn      []string `yaml:"going_on"`
	Background   []string `yaml:"background"`  // lists; their lengths add up
	Truncated    []string `yaml:"truncated"`   // any true one counts
	Questions    []string `yaml:"questions"`   // a list of questions, or the schema of a form
	Suggestions  []string `yaml:"suggestions"` // a list of the standing approvals the agent offers
}

// VersionSource says which environment variable of a hook process has the agent's version:
// the part between Prefix and Until, dashes read as dots.
type VersionSource struct {
	Env    string `yaml:"env"`
	Prefix string `yaml:"prefix"`
	Until  string `yaml:"until"`
}

// AttendedSource says which environment variable shows whether someone sits at the agent.
type AttendedSource struct {
	Env string `yaml:"env"`
	Yes string `yaml:"yes"`
	No  string `yaml:"no"`
}

// PaneSource says which variable names the terminal pane, and when it's wrong.
type PaneSource struct {
	Env        string `yaml:"env"`
	UnlessEnv  string `yaml:"unless_env"`
	UnlessHas  string `yaml:"unless_has"`
	UnlessNote string `yaml:"unless_note"`
	// Clients says how a daemon that serves many terminals is asked which of them
	// shows a session; empty: it cannot be asked.
	Clients string `yaml:"clients"`
}

// ClientsByControlSocket asks the daemon through its control socket.
const ClientsByControlSocket = "control-socket"

// Marks distinguish an agent's processes from others.
type Marks struct {
	Programs []string `yaml:"programs"` // base names of executables
	Paths    []string `yaml:"paths"`    // fragments of an executable's or script's path
	// Environment variables that a process below the agent carries. A peer
	// that has one is below an agent. NAME alone or NAME=value.
	Environment []string `yaml:"environment"`
	// AlsoCarries are agents whose variables its processes carry, too: what has both is below it.
	AlsoCarries []string `yaml:"beside"`
	// Caller variables are set in the agent's hook processes and by no other
	// agent; they say who called, as far as inheritance lets them.
	Caller []string `yaml:"caller"`
}

// HooksOff describes how a command line can keep an agent from finding, or
// not run, its hooks. Variables that move one of its Files count as well.
type HooksOff struct {
	Programs  []string `yaml:"programs"`  // other names it is started by
	Packages  []string `yaml:"packages"`  // names under which npx and its like start it
	Moves     []string `yaml:"moves"`     // variables that have it read its settings somewhere else
	Variables []string `yaml:"variables"` // variables that keep it from running hooks
	Options   []string `yaml:"options"`   // options that do
	Settings  []string `yaml:"settings"`  // options that name a file of settings, which can switch hooks off
	Overrides []string `yaml:"overrides"` // options that set one setting, KEY=VALUE
	Unasked   []string `yaml:"unasked"`   // options, or OPTION=VALUE, with which it asks nobody before it acts
}

// Mods is how an agent loads code into itself that handles calls beside hooks, and whether
// that can lift what a hook denied.
type Mods struct {
	Settings  []string `yaml:"settings"`  // keys in its files that load mods; dots descend
	Variables []string `yaml:"variables"` // variables that do
	// Folders hold mods that the agent wrote itself; names may be globs.
	Folders []HookFile `yaml:"folders"`
	// Manifests are files of plugins; one with a key that Keys names loads a mod.
	Manifests []HookFile `yaml:"manifests"`
	Keys      []string   `yaml:"keys"`
	// Off is the key that, when true in a managed file, keeps the user's mods from being
	// loaded.
	Off   string `yaml:"off"`
	Lifts string `yaml:"lifts"` // the key that, when true, lets mods lift the agent's own deny rules
	Proof string `yaml:"proof"` // where this is known from, as of a capability
}

// Guarded are files that guards keep agents away from, besides those in which it keeps
// hooks. They are endings of paths, in lower case; one with "/" at its end means all below it.
type Guarded struct {
	Hooks       []string          `yaml:"hooks"`       // what switches or holds hooks
	Credentials map[string]string `yaml:"credentials"` // where its keys are, each with what they are
}

// HookFile is a file in which an agent keeps hooks.
type HookFile struct {
	Scope  string `yaml:"scope"`   // user, project, managed
	Path   string `yaml:"path"`    // "~/" is the home, "./" the project; the name may be a glob
	Env    string `yaml:"env"`     // variable that, when set, stands for the first directory of a "~/" path
	EnvDir string `yaml:"env_dir"` // the directory Env stands for when that is not the first one
	Format string `yaml:"format"`  // json, jsonc, toml, yaml, script
	// Guard only: hookmux never writes it, but an agent that edits it changes
	// its own hooks.
	GuardOnly bool `yaml:"guard_only"`
}

// UsageRecords says where an agent records the tokens that it uses.
type UsageRecords struct {
	Format  string         `yaml:"format"` // one of the formats that internal/usage reads
	Folders []RecordFolder `yaml:"folders"`
	// StatusLine is the file that names the agent's status line, below your home
	// directory or in the folder that a variable of Folders names, where only the status
	// line is given the state of your plan.
	StatusLine string `yaml:"status_line"`
}

// RecordFolder is a folder with records.
type RecordFolder struct {
	Env   string `yaml:"env"`   // a variable that names the folder instead of Home
	Home  string `yaml:"home"`  // relative to your home directory
	Below string `yaml:"below"` // the part of it that has the records
}

// Launch says how hooks are given to an agent for one launch, with no file
// edited.
type Launch struct {
	Program string `yaml:"program"`
	// settings-flag, codex-overrides, extension-flag, config-env; empty: cannot be done
	Inject  string `yaml:"inject"`
	Carrier string `yaml:"carrier"` // the flag or variable that carries them, where Inject leaves it open
	// A handler given at launch is one line for a shell; else a program and its arguments
	Line        bool     `yaml:"line"`
	Passthrough []string `yaml:"passthrough"` // subcommands that run no session
	PassFlags   []string `yaml:"pass_flags"`  // flags that run no session
	ValueFlags  []string `yaml:"value_flags"` // flags that take the next argument
	Sessions    []string `yaml:"sessions"`    // subcommands that run a session
	// FirstPrompt is the flag that begins an interactive session with a prompt; "-" where
	// the prompt is an argument of its own, "" where that isn't known.
	FirstPrompt string `yaml:"first_prompt"`
	// Overlay is for versions that pass over hooks on the command line: a
	// config folder that looks like the user's own and holds our hooks too.
	Overlay *OverlaySpec `yaml:"overlay"`
}

// OverlaySpec says which folder is overlaid.
type OverlaySpec struct {
	Dir  string `yaml:"dir"`  // the user's
	Env  string `yaml:"env"`  // variable that names another
	File string `yaml:"file"` // the file in it that holds hooks
	// Probe is an override that shows, when the agent lists its hooks, whether
	// it takes them from the command line.
	Probe string `yaml:"probe"`
}

// Duration is a time.Duration that is written like 1.5s in YAML.
type Duration time.Duration

// UnmarshalYAML reads 600s, 1.5s, 2m.
func (d *Duration) UnmarshalYAML(unmarshal func(any) error) error {
	var s string
	if err := unmarshal(&s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// UnmarshalYAML takes the proof alone or the whole claim.
func (c *Capability) UnmarshalYAML(unmarshal func(any) error) error {
	var proof string
	if err := unmarshal(&proof); err == nil {
		c.Proof = proof
		return nil
	}
	type plain Capability
	return unmarshal((*plain)(c))
}
