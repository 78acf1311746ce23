// Package starts remembers in which folder each session of an agent was first heard
// of, on disk: for the next hub, and for a call that is judged while none answers.
//
// Contract: the first folder of a session counts for good. A session is one small
// file, so that several programs may note and read at once.
package starts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/platform/smallfile"
)

// The files, and their bounds.
const (
	folderName = "starts"
	maxFile    = 64 << 10
	most       = 4096 // sessions; of more the older half is forgotten
)

// Note is the file of a session.
type note struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	Folder  string `json:"folder"`
}

// ErrNotWhole says that the file of a session cannot be read as one.
var ErrNotWhole = errors.New("the note of where a session started is damaged")

// fileOf is the file of a session.
func fileOf(state, agent, session string) string {
	sum := sha256.Sum256([]byte(agent + "\x00" + session))
	return filepath.Join(state, folderName, hex.EncodeToString(sum[:12])+".json")
}

// Read is the folder that a session started in; fs.ErrNotExist for a session nobody
// heard of.
func Read(state, agent, session string) (string, error) {
	data, err := smallfile.Read(fileOf(state, agent, session), maxFile)
	if err != nil {
		return "", err
	}
	var n note
	if json.Unmarshal(data, &n) != nil || n.Agent != agent || n.Session != session {
		return "", ErrNotWhole
	}
	return n.Folder, nil
}

// Remember is the folder that a session started in, which is this one if nobody
// heard of it before.
func Remember(state, agent, session, folder string) (string, error) {
	known, err := Read(state, agent, session)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return known, err
	}
	data, err := json.Marshal(note{agent, session, folder})
	if err != nil {
		return "", err
	}
	file := fileOf(state, agent, session)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err := errors.Join(err, temp.Close()); err != nil {
		return "", err
	}
	// A link, because it fails where another program was first.
	if err := os.Link(temp.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(temp.Name(), file); err != nil { // a disk without links
			return "", err
		}
	}
	return Read(state, agent, session)
}

// Prune forgets the sessions that were heard of first where there are too many.
func Prune(state string) error {
	dir := filepath.Join(state, folderName)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) <= most {
		return nil
	}
	if err != nil {
		return err
	}
	type aged struct {
		name string
		at   time.Time
	}
	var list []aged
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			list = append(list, aged{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b aged) int { return a.at.Compare(b.at) })
	for _, a := range list[:max(len(list)-most/2, 0)] {
		if err := os.Remove(filepath.Join(dir, a.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot forget where old sessions started: %w", err)
		}
	}
	return nil
}
