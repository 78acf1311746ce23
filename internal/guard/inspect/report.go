package inspect

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// Call is one tool call, in unified words.
type Call struct {
	Agent    string
	ToolKind string // shell, file_read, file_write, file_edit, search, fetch, task, mcp, question, plan, other
	ToolName string
	Commands []string
	Reads    []string // paths as the tool named them
	Writes   []string
	URL      string
	Input    []byte // raw tool input, JSON
	Cwd      string
	Project  string
	Home     string
	// Event is the event behind the call, nil where there is none.
	Event *event.Event
}

// Options is what a guard that is written in Go knows of the machine.
type Options struct {
	// OwnPaths are further absolute files and directories for own-files.
	OwnPaths []string
	// DaemonPID is the daemon's process number, 0 when it is not known; own-files
	// then cannot tell `kill 123` from any other kill.
	DaemonPID int
	// Resolve follows the symbolic links in an absolute path as far as it exists
	// and returns the rest unchanged. It must be quick and must not fail; nil
	// leaves every path as it is named. own-files and secrets judge both names.
	Resolve func(path string) string
	// Twin is the name that a file has among these files, and the files in these
	// folders, if it is one of them by a hard link; "" if it is none. Nil: nobody
	// knows.
	Twin func(path string, among []string) string
}

// Finding is one thing a guard objects to.
type Finding struct {
	Guard  string `json:"guard"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"` // one line: what and why
	Where  string `json:"where"`  // the piece of the command, or the path
	// Ask says that a person is asked about it, also where the guard denies.
	Ask bool `json:"ask,omitempty"`
	// Unreadable says that the text itself is what the guard objects to: it cannot be
	// read in full.
	Unreadable bool `json:"-"`
}

// RuleInfo describes one rule.
type RuleInfo struct {
	ID   string `json:"id"`
	What string `json:"what"`
}

// Allowed is what a person lets pass for good.
type Allowed struct {
	rules map[string]bool
	exact []string // "rule:command"
}

// NewAllowed reads Options.Allow.
func NewAllowed(list []string) Allowed {
	a := Allowed{rules: map[string]bool{}}
	for _, entry := range list {
		if strings.Contains(entry, ":") {
			a.exact = append(a.exact, entry)
			continue
		}
		name, _ := hook.GuardName(entry)
		a.rules[name] = true
	}
	return a
}

// Rule reports whether a rule, or a whole guard, is allowed.
func (a Allowed) Rule(id string) bool { return a.rules[id] }

// Report collects findings, without doubles and without what is allowed.
type Report struct {
	Command string // the command that is being checked, "" for file tools
	List    []Finding
	guard   string
	allow   Allowed
}

// NewReport makes an empty report of the guard of that name.
func NewReport(guard string, allow Allowed) *Report { return &Report{guard: guard, allow: allow} }

// MaxFindings is enough to decide and to explain.
const MaxFindings = 16

// Add adds one finding. rule is the id without the guard's name.
func (f *Report) Add(rule, where, reason string) { f.AddAsking(rule, where, reason, false) }

// AddAsking adds one that a person may be asked about instead of a refusal.
func (f *Report) AddAsking(rule, where, reason string, ask bool) {
	id := f.guard + "." + rule
	if f.allow.Rule(id) || len(f.List) >= MaxFindings {
		return
	}
	if f.Command != "" && slices.Contains(f.allow.exact, id+":"+f.Command) {
		return
	}
	fd := Finding{Guard: f.guard, Rule: id, Reason: oneLine(reason, 300), Where: oneLine(where, 200), Ask: ask,
		Unreadable: rule == "unreadable"}
	if !slices.Contains(f.List, fd) {
		f.List = append(f.List, fd)
	}
}

// oneLine keeps agent text from breaking a message into lines.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' || r < ' ' }),
		" ")
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && s[cut]&0xc0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
