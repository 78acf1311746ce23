package wire

import "time"

// Methods about changes of the user's settings that hookmux's own commands did
// not make.
const (
	MethodConfirmLook    = "confirm.look"    // what waits, with the difference
	MethodConfirm        = "confirm.take"    // take exactly what was seen
	MethodConfirmRestore = "confirm.restore" // write what was confirmed back into the files
	MethodConfirmFollow  = "confirm.follow"  // take changes of some files as they come
	MethodConfirmFirst   = "confirm.first"   // take what is there, where nothing was ever confirmed
	MethodConfirmFile    = "confirm.file"    // take one file that a command wrote
)

// ConfirmHook stands as the hook in traces about files whose changes are taken
// as they come.
const ConfirmHook = "confirm"

// ConfirmView is what waits for a person.
type ConfirmView struct {
	Basis   string     `json:"basis"` // confirmed, new (nobody ever did), lost (what was confirmed is gone)
	Since   *time.Time `json:"since,omitempty"`
	Problem string     `json:"problem,omitempty"` // with what is kept on disk
	// Weaker says, a line each, what takes protection away or may say yes in the
	// person's place once it counts.
	Weaker  []string        `json:"weaker,omitempty"`
	Changes []ConfirmChange `json:"changes"`
	Hash    string          `json:"hash"` // of exactly these changes
	Notes   []string        `json:"notes,omitempty"`
}

// ConfirmChange is a file that holds something else than what was confirmed.
type ConfirmChange struct {
	File   string `json:"file"`
	Change string `json:"change"`            // added, edited, removed, unreadable
	Diff   string `json:"diff,omitempty"`    // unified
	Error  string `json:"error,omitempty"`   // why it cannot be confirmed
	Counts bool   `json:"inForce,omitempty"` // some of it counts already, because it only refuses more
}

// ConfirmParams names what a person saw.
type ConfirmParams struct {
	Hash string `json:"hash"`
}

// ConfirmFilesParams names files by absolute paths.
type ConfirmFilesParams struct {
	Files []string `json:"files"`
}

// ConfirmFileParams is a file that a command of a person wrote.
type ConfirmFileParams struct {
	File    string `json:"file"`
	Content string `json:"content"`
	// LogOnly says that the file is about to be written, and shall only logs.
	LogOnly bool `json:"log,omitempty"`
}

// Unconfirmed is a file in the daemon's status whose change waits.
type Unconfirmed struct {
	File   string `json:"file"`
	Change string `json:"change"`
}
