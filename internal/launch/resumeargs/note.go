package resumeargs

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/files"
)

// Note is left by `hookmux run` about a launch: agents that set their own process title hide
// the flags they were started with. It is in the runtime directory, named by the process, and
// holds no prompt and no credential.
type Note struct {
	PID   int      `json:"pid"`
	Start uint64   `json:"start"` // with PID it names one process
	Agent string   `json:"agent"`
	Args  []string `json:"args"`           // cleaned
	Once  bool     `json:"once,omitempty"` // the run cannot be resumed
	Given bool     `json:"given"`          // hooks were given at launch, not installed
	Dir   string   `json:"dir"`
}

func noteFile(runtime string, pid int) string {
	return filepath.Join(runtime, "launches", strconv.Itoa(pid)+".json")
}

// WriteNote writes a note about the process that is about to become the agent.
func WriteNote(runtime string, a *agent.Agent, n Note, args []string) error {
	kept, ok := Clean(a, args, n.Dir)
	n.Agent, n.Args, n.Once = a.Name, kept, !ok
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	file := noteFile(runtime, n.PID)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return files.Write(file, b)
}

// ReadNote reads the note about a process, if there is one.
func ReadNote(runtime string, pid int, start uint64) (Note, bool) {
	b, err := files.Read(noteFile(runtime, pid), 1<<20)
	if err != nil {
		return Note{}, false
	}
	var n Note
	if json.Unmarshal(b, &n) != nil || n.PID != pid || n.Start != start {
		return Note{}, false
	}
	return n, true
}

// writeTime is more than the writing of a note takes.
const writeTime = time.Minute

// Sweep deletes the notes about processes that ended.
func Sweep(runtime string, alive func(pid int, start uint64) bool) error {
	dir := filepath.Join(runtime, "launches")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range entries {
		file := filepath.Join(dir, f.Name())
		if info, err := f.Info(); err == nil && f.Name()[0] == '.' && time.Since(info.ModTime()) < writeTime {
			continue // it is being written
		}
		var n Note
		b, err := files.Read(file, 1<<20)
		if err == nil && json.Unmarshal(b, &n) == nil && alive(n.PID, n.Start) {
			continue
		}
		_ = os.Remove(file)
	}
	return nil
}
