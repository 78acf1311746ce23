package agent

import (
	"path/filepath"
	"slices"
)

// InstallSpec says how hookmux writes itself into an agent's config, in data, so that the
// installer knows formats and no agents. What it writes for an event follows from the place,
// the shape and the handler; the events have their limits and answers.
type InstallSpec struct {
	Way Way `yaml:"way"`

	// Places are the files that can be written, best first within a scope. The first of the
	// scope is used, unless one of its Unless files exists.
	Places []InstallPlace `yaml:"places"`
	// Home is the folder that shows that the agent is used here; "" is the one below the
	// home folder that its places are in. It is given where another agent uses that one.
	Home  string `yaml:"home"`
	Shape Shape  `yaml:"shape"`
	// Flat are events whose handlers are in no group, though Shape is nested.
	Flat []string `yaml:"flat"`
	// Spellings are other keys under which the agent takes an event, key to event,
	// where it throws away a file that has both: what is there is used.
	Spellings map[string]string `yaml:"spellings"`
	// Matcher is how an entry says which calls it is meant for.
	Matcher MatcherSpec `yaml:"matcher"`
	Handler HandlerSpec `yaml:"handler"`
	// Plugin describes the file to write where Way is plugin.
	Plugin *PluginSpec `yaml:"plugin"`

	// Consent is where the agent keeps which hooks you allowed; nil: it doesn't ask. What is
	// installed is added there, and removed again.
	Consent *ConsentSpec `yaml:"consent"`

	// RequiredFiles are files without which the agent passes over ours, relative to its
	// folder; they are made only where absent.
	RequiredFiles []Seed `yaml:"beside"`

	// Drops says for what in a file the agent passes over all of it; nil: nothing
	// is known.
	Drops *DropsSpec `yaml:"drops"`

	// Missing says what the agent does when the program of the hook is gone:
	// open (it goes on), closed (it refuses calls), stuck (it cannot be used).
	// Other than open, a command line must check for the program itself.
	Missing Missing `yaml:"missing"`
	// Closed is the member of a handler that makes its failures deny, for users who want
	// calls denied while hookmux can't be reached.
	Closed *Member `yaml:"closed"`

	Pickup Pickup      `yaml:"pickup"`
	Trust  TrustStep   `yaml:"trust"`
	Off    []OffSwitch `yaml:"off"` // settings that switch hooks off, for the doctor
	// Permit says what outside of this machine must have switched hooks on, which nothing
	// here shows; empty: nothing.
	Permit string   `yaml:"permit"`
	Reads  []string `yaml:"reads"` // agents whose hook files this one runs as well
	// ReadsScope says which of their files it runs: user or project; empty
	// means both.
	ReadsScope string `yaml:"reads_scope"`
}

// Way is the mechanism by which an agent takes hooks.
type Way string

// The ways.
const (
	WayEntries Way = "entries" // entries in a file that belongs to the user
	WayFile    Way = "file"    // entries in a file of our own, in a directory that is read whole
	WayPlugin  Way = "plugin"  // code that the agent loads
	WayScripts Way = "scripts" // one program per event, named after it, in a directory
)

// EventMark is replaced by an event's name in the path of a place whose Way is scripts.
const EventMark = "{event}"

// TakesEntries reports whether hooks are entries in a file.
func (s *InstallSpec) TakesEntries() bool { return s.Way == WayEntries || s.Way == WayFile }

// Shape is how an entry is arranged around its handler.
type Shape string

// The shapes; AT is the place's At.
const (
	ShapeNested Shape = "nested" // AT.EVENT[] = {matcher?, hooks: [handler]}
	ShapeFlat   Shape = "flat"   // AT.EVENT[] = handler, matcher among its members
	ShapeList   Shape = "list"   // AT[] = handler, event and matcher among its members
	ShapeNamed  Shape = "named"  // AT[] = {name, hooks: {EVENT: [handler]}}
	ShapeEvents Shape = "events" // AT[] = {name: EVENT, commands: [handler]}, one element for each event
)

// InstallPlace is a file that can be written.
type InstallPlace struct {
	HookFile `yaml:",inline"`
	// At is where in the file the hooks are, keys joined by dots; empty means that the file's
	// top level contains the events.
	At string `yaml:"at"`
	// With are members that the file also needs, e.g. a version number; they are added if
	// they're missing.
	With Settings `yaml:"with"`
	// Unless names files of the same directory that, when they are there,
	// make the agent pass over this one.
	Unless []string `yaml:"unless"`
	// Ends are endings with which a file is the event's program as well, if Way is scripts:
	// ours gets one if the bare name is taken.
	Ends []string `yaml:"ends"`
	// WhenUsed says that this place is the one, before those above it, when
	// it already holds hooks: the agent complains about two.
	WhenUsed bool `yaml:"when_used"`
}

// ConsentSpec is a list of the commands that you allowed, each with its event, in a file
// beside the one that contains the hooks.
type ConsentSpec struct {
	HookFile `yaml:",inline"`
	At       string `yaml:"at"`      // where in the file the list stands, keys joined by dots
	Event    string `yaml:"event"`   // key of the event's name
	Command  string `yaml:"command"` // key of the command, word for word as in the hooks
	// Harmless are members that the agent adds itself.
	Harmless []string `yaml:"harmless"`
}

// ConsentList returns the agent as if that list were its hooks; nil where it has none.
func (a *Agent) ConsentList() *Agent {
	if a.Install == nil || a.Install.Consent == nil {
		return nil
	}
	c, list := a.Install.Consent, *a
	handler := HandlerSpec{Form: a.Install.Handler.Form, Command: c.Command, Event: c.Event, Harmless: c.Harmless}
	list.Install = &InstallSpec{Way: WayEntries, Shape: ShapeList, Handler: handler,
		Places: []InstallPlace{{HookFile: c.HookFile, At: c.At}}}
	return &list
}

// MatcherSpec says how an entry is meant for every call.
type MatcherSpec struct {
	Key string `yaml:"key"` // empty: there is none
	// All is the value that matches everything; it is written only when
	// Needed, because a missing matcher matches everything too.
	All    string `yaml:"all"`
	Needed bool   `yaml:"needed"`
}

// HandlerSpec names the members of a handler.
type HandlerSpec struct {
	// Form is exec (a program and a list of words, no shell in between), line (one line for a
	// shell), or words (one line that the agent splits into words itself).
	Form    string `yaml:"form"`
	Command string `yaml:"command"` // key of the line, or of the program
	Args    string `yaml:"args"`    // key of the words, when Form is exec
	Event   string `yaml:"event"`   // key of the event's name, when Shape is list
	Name    string `yaml:"name"`    // key under which each entry has a name for people; empty: none has one
	Inside  string `yaml:"inside"`  // key of the object that holds the command and With; empty: the entry does
	Timeout string `yaml:"timeout"` // key of the time limit; empty: none can be written
	Unit    string `yaml:"unit"`    // s or ms
	// Max is the longest limit that may be written; more makes the agent
	// throw the entry, or the file, away. Zero means none is known.
	Max Duration `yaml:"max"`
	// With are members every handler has, e.g. type: command.
	With Settings `yaml:"with"`
	// Strict says that one unknown member makes the agent drop more than the
	// entry, so that nothing but the members named here may ever be written.
	Strict bool `yaml:"strict"`
	// Harmless are members you may add to one of our entries: they change neither when it
	// runs nor whether its answer is used.
	Harmless []string `yaml:"harmless"`
}

// DropsSpec says for what an agent ignores a whole file of hooks. It always does if the text
// isn't JSON once comments are removed.
type DropsSpec struct {
	// CommentsInText says that it takes // and /* for a comment inside of
	// strings, too.
	CommentsInText bool `yaml:"comments_in_text"`
	// UnknownEvents says that an event it does not know is enough.
	UnknownEvents bool `yaml:"unknown_events"`
}

// Member is one key and its value.
type Member struct {
	Key   string `yaml:"key"`
	Value any    `yaml:"value"`
	Since string `yaml:"since"` // first version of the agent that knows it
}

// KnownTo reports whether a version of the agent knows the member. An unknown
// version is taken to know it.
func (m *Member) KnownTo(version string) bool {
	return m != nil && (version == "" || m.Since == "" || compareVersions(version, m.Since) >= 0)
}

// WithKnownEvents returns the agent without the events that its version on this machine does
// not know yet: some agents warn of such a hook at every start, or drop the whole file.
// The version is asked for only where that matters; "" is taken to know all.
func (a *Agent) WithKnownEvents(askVersion func(*Agent) string) *Agent {
	if askVersion == nil || !slices.ContainsFunc(a.Events, func(e *EventSpec) bool { return e.Since != "" }) {
		return a
	}
	version := askVersion(a)
	older := *a
	older.Events = slices.DeleteFunc(slices.Clone(a.Events), func(e *EventSpec) bool {
		return version != "" && e.Since != "" && compareVersions(version, e.Since) < 0
	})
	return &older
}

// TellsTerminal reports whether a version reports to its own terminal what it does; an
// unknown one is taken to be new.
func (a *Agent) TellsTerminal(version string) bool {
	since := a.Status.TellsTerminal
	return since != "" && (version == "" || compareVersions(version, since) >= 0)
}

// OlderThanTried reports whether a version is older than the one that was
// asked about everything in the catalogue.
func (a *Agent) OlderThanTried(version string) bool {
	return version != "" && a.Tried != "" && compareVersions(version, a.Tried) < 0
}

// NewerThanTried reports whether a version is newer than the one that everything in the
// catalogue was tested with, so that it isn't known whether it still holds.
func (a *Agent) NewerThanTried(version string) bool {
	return version != "" && a.Tried != "" && compareVersions(version, a.Tried) > 0
}

// OlderThanHooks reports whether a version is older than the first one that has
// hooks as the entry says.
func (a *Agent) OlderThanHooks(version string) bool {
	return version != "" && a.Since != "" && compareVersions(version, a.Since) < 0
}

// OnlyDocumented says that hookmux's plugin was never run in this version of an agent; "" if
// it was, or nothing is known.
func (a *Agent) OnlyDocumented(version string) string {
	if version == "" || a.Install == nil || a.Install.Plugin == nil || a.Install.Plugin.DocumentedFrom == "" ||
		compareVersions(version, a.Install.Plugin.DocumentedFrom) < 0 {
		return ""
	}
	return a.Title + " " + version + " loads hookmux's plugin by its documentation only: from " +
		a.Install.Plugin.DocumentedFrom + " on it was never run, so guards may be missing there"
}

// PluginSpec is a plugin file and what must lie beside it.
type PluginSpec struct {
	Source string `yaml:"source"` // its directory under plugins/
	// DocumentedFrom is the first version for which the plugin follows the vendor's
	// documents and wasn't run; empty: none. DocumentedProof says where they are.
	DocumentedFrom  string `yaml:"documented_from"`
	DocumentedProof string `yaml:"documented_proof"`
	// Lists are the arguments with which such a version lists the plugins it loaded, and
	// ListsProof says where that is known from. Ours is in its list as "hookmux"; a line
	// with the word "failed" is of one that isn't loaded.
	Lists      []string `yaml:"lists"`
	ListsProof string   `yaml:"lists_proof"`
	// Seeds are files that are made, only where absent, so that the agent
	// loads plugins at all; a path that ends in a slash is a directory.
	Seeds []Seed `yaml:"seeds"`
	// Alone are patterns, relative to the plugin's directory, of other programs' files that
	// would miss what the seeds pretend to be there: with one of them no seed is written.
	Alone []string `yaml:"alone"`
	// Broken says what the agent does with a file it cannot load: open (it
	// goes on without), stuck (it does not start).
	Broken Missing `yaml:"broken"`
	// Enable must be in one of the user's configs so that the agent
	// loads the plugin; nil: it loads what is there.
	Enable *EnableSpec `yaml:"enable"`
}

// EnableSpec are settings that are added to a file where they are absent, and taken
// out again.
type EnableSpec struct {
	HookFile `yaml:",inline"`
	At       string   `yaml:"at"`   // where in the file they stand, keys joined by dots
	With     Settings `yaml:"with"` // the settings; dots in a key descend
}

// Seed is a file beside a plugin or a hook file, relative to its directory.
type Seed struct {
	Path string `yaml:"path"`
	Text string `yaml:"text"`
	Why  string `yaml:"why"`
}

// Missing says how an agent reacts when its hook cannot be run.
type Missing string

// What can become of it.
const (
	MissingOpen   Missing = "open"
	MissingClosed Missing = "closed"
	MissingStuck  Missing = "stuck"
)

// Pickup says when a session that is open sees what was written.
type Pickup struct {
	When PickupTime `yaml:"when"`
	Say  string     `yaml:"say"` // what the user is told; one line
}

// PickupTime is when open sessions see a change.
type PickupTime string

// The times.
const (
	PickupNow     PickupTime = "now"     // with the next event
	PickupSession PickupTime = "session" // with the next session of the same process
	PickupStart   PickupTime = "start"   // when the agent is started again
)

// TrustStep is a step that you must take before written hooks run.
type TrustStep struct {
	Step    string `yaml:"step"`    // empty: nothing; hash (each entry by its hash), folder (the project's directory)
	Project string `yaml:"project"` // the same for project scope, when it differs
	Say     string `yaml:"say"`     // what the user is told; one line
	// Folders is where the agent remembers which folders are trusted.
	Folders *FolderTrust `yaml:"folders"`
}

// FolderTrust is a JSON file with a value for each folder. A folder's value applies to
// everything below it, the longest path first.
type FolderTrust struct {
	Path   string   `yaml:"path"`
	Env    string   `yaml:"env"`    // variable that names another file
	Yes    []string `yaml:"yes"`    // words for a folder that is trusted
	Parent []string `yaml:"parent"` // the same, for the folder around it
	// Switch is the setting with which every folder is trusted, and
	// SwitchEnv a variable that says true or false for all.
	Switch    *OffSwitch `yaml:"switch"`
	SwitchEnv string     `yaml:"switch_env"`
}

// OffSwitch is a setting that keeps hooks from running.
type OffSwitch struct {
	Path   string `yaml:"path"` // file, as in HookFile
	Env    string `yaml:"env"`
	Format string `yaml:"format"`
	Key    string `yaml:"key"`  // keys joined by dots
	When   any    `yaml:"when"` // the value that switches hooks off
	// Unless is a key of the same file that outranks this one: where it is
	// set, this one means nothing.
	Unless string `yaml:"unless"`
}

// DiskView is how [InstallSpec.Place] looks at the disk; it never does itself.
type DiskView struct {
	Resolve func(HookFile) string                      // the real path; empty when there is none
	Exists  func(path string) bool                     // is a file there? nil: no
	Used    func(path string, place InstallPlace) bool // does it hold hooks already? nil: no
}

// Place returns where hooks of a scope, user or project, are written, and the
// file's real path. False when the agent has no such place.
func (s *InstallSpec) Place(scope string, disk DiskView) (place InstallPlace, path string, ok bool) {
	if s == nil {
		return place, "", false
	}
	for _, p := range s.Places {
		at := disk.Resolve(p.HookFile)
		if p.Scope != scope || at == "" || disk.hidden(at, p.Unless) {
			continue
		}
		used := p.WhenUsed && disk.Used != nil && disk.Used(at, p)
		if used || !ok && !p.WhenUsed {
			place, path, ok = p, at, true
		}
		if used {
			break
		}
	}
	return place, path, ok
}

// hidden reports whether another file makes the agent pass over this one.
func (l DiskView) hidden(path string, by []string) bool {
	for _, name := range by {
		if l.Exists != nil && l.Exists(filepath.Join(filepath.Dir(path), name)) {
			return true
		}
	}
	return false
}
