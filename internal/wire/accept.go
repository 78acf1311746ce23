package wire

import "time"

// Methods about changes of the user's settings that hookmux's own commands did
// not make.
const (
	MethodAcceptLook    = "accept.look"    // what waits, with the difference
	MethodAccept        = "accept.take"    // take exactly what was seen
	MethodAcceptRestore = "accept.restore" // write what was accepted back into the files
	MethodAcceptFollow  = "accept.follow"  // take changes of some files as they come
	MethodAcceptFirst   = "accept.first"   // take what is there, if nothing was ever accepted
	MethodAcceptFile    = "accept.file"    // take one file that a command wrote
)

// AcceptHook is the hook in traces about files whose changes take effect at once.
const AcceptHook = "accept"

// AcceptView shows what waits for you.
type AcceptView struct {
	Basis   string     `json:"basis"` // accepted, new (nothing ever was), lost (what was accepted is gone)
	Since   *time.Time `json:"since,omitempty"`
	Problem string     `json:"problem,omitempty"` // with what is kept on disk
	// Weaker lists, one line each, the changes that remove protection or may say yes in your place
	// once they take effect.
	Weaker  []string       `json:"weaker,omitempty"`
	Changes []AcceptChange `json:"changes"`
	Hash    string         `json:"hash"` // of exactly these changes
	Notes   []string       `json:"notes,omitempty"`
}

// AcceptChange is a file that holds something other than what was accepted.
type AcceptChange struct {
	File   string `json:"file"`
	Change string `json:"change"`            // added, edited, removed, "removed, never accepted", unreadable
	Diff   string `json:"diff,omitempty"`    // unified
	Error  string `json:"error,omitempty"`   // why it cannot be accepted
	Counts bool   `json:"inForce,omitempty"` // some of it is in effect already, because it only denies more
}

// AcceptParams names what you were shown.
type AcceptParams struct {
	Hash string `json:"hash"`
}

// AcceptFilesParams names files by absolute paths.
type AcceptFilesParams struct {
	Files []string `json:"files"`
}

// AcceptFileParams is a file that a command of yours wrote.
type AcceptFileParams struct {
	File    string `json:"file"`
	Content string `json:"content"`
	// LogOnly says that the file is about to be written, and should only log.
	LogOnly bool `json:"log,omitempty"`
}

// Unaccepted is a file in the daemon's status whose change waits.
type Unaccepted struct {
	File   string `json:"file"`
	Change string `json:"change"`
}
