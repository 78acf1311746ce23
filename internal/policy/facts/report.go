package facts

import (
	"slices"
	"strings"
)

// Call is one tool call, in unified terms.
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
}

// Machine is what checks in Go know about the machine.
type Machine struct {
	// OwnPaths are further absolute files and directories that agents must not write.
	OwnPaths []string
	// DaemonPID is the daemon's process number, 0 if it isn't known: `kill 123` is then like any
	// other kill.
	DaemonPID int
	// Resolve follows the symbolic links in an absolute path as far as it exists and returns the
	// rest unchanged. It must be quick and must not fail; nil leaves every path as it is named.
	Resolve func(path string) string
	// Disk reads the folders that patterns are about; nil: none is read.
	Disk *Disk
	// Twin returns the name that a file has among these files, and the files in these folders,
	// if it is one of them by a hard link; "" if it isn't. Nil if that isn't known.
	Twin func(path string, among func() []string) string
}

// Found is one thing that a check in Go found.
type Found struct {
	Check  string // the check's name
	Reason string // one line: what and why
	Where  string // the piece of the command, or the path
	Ask    bool   // you are asked about it, if the rule would deny
	// Line is the index of the command line, -1 for what a tool itself names.
	Line int
}

// Report collects what checks find, without duplicates.
type Report struct {
	Line int // the command line that is being checked, -1 for file tools
	List []Found
}

// maxFound is enough to decide and to explain.
const maxFound = 16

// Add adds one finding of the check of that name.
func (f *Report) Add(check, where, reason string) { f.AddAsking(check, where, reason, false) }

// AddAsking adds a finding that you may be asked about instead of it being denied.
func (f *Report) AddAsking(check, where, reason string, ask bool) {
	if len(f.List) >= maxFound {
		return
	}
	found := Found{Check: check, Reason: oneLine(reason, 300), Where: oneLine(where, 200), Ask: ask, Line: f.Line}
	if !slices.Contains(f.List, found) {
		f.List = append(f.List, found)
	}
}

// oneLine keeps agent text from breaking a message into lines.
func oneLine(s string, limit int) string {
	s = s[:min(len(s), 8*limit)]
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
