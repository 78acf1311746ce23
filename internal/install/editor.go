package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// Op names what a step does.
type Op string

// The kinds of steps.
const (
	OpWrite    Op = "write"    // Old becomes New; nil Old: there is no file
	OpDelete   Op = "delete"   // a file that holds Old goes
	OpMakeDir  Op = "mkdir"    // a folder
	OpDropDir  Op = "rmdir"    // a folder, if it is empty
	OpLink     Op = "link"     // Path becomes a link to New
	OpDropLink Op = "unlink"   // a link or a copied program goes
	OpManifest Op = "manifest" // our own record of all this
	OpTrust    Op = "trust"    // Old becomes New, by the agent itself if it can
	OpSweep    Op = "sweep"    // what a killed installation left goes
	OpProgram  Op = "program"  // Path becomes a copy of the program From
	// New is kept at Path, in our own folder: the file is ours and is removed, but was changed
	OpKeep Op = "keep"
)

// Step is one change of the disk that happens whole or not at all.
type Step struct {
	Op    Op     `json:"op"`
	Path  string `json:"path"`
	Agent string `json:"agent,omitempty"`
	Old   []byte `json:"-"`
	New   []byte `json:"-"`
	Why   string `json:"why,omitempty"` // what a file is for, if that isn't obvious
	From  string `json:"from,omitempty"`
	// Runnable says that the file is a program: a new one may be run.
	Runnable bool `json:"runnable,omitempty"`
	// OwnHooks are the hooks that the agent is asked to trust, at a trust step.
	OwnHooks *OwnHooks `json:"-"`
}

// Editor carries steps out.
type Editor interface{ Do(Step) error }

// RunSteps passes the steps to an editor in order and stops at the first that fails.
func RunSteps(steps []Step, e Editor) error {
	for _, s := range steps {
		if userfile.AtStep != nil {
			userfile.AtStep()
		}
		if err := e.Do(s); err != nil {
			return err
		}
	}
	return nil
}

// Disk does the steps.
type Disk struct {
	// Show, if set, shows each step before it is done.
	Show *Diff
	// Trust asks the agent itself to trust hooks; nil, or an error of it,
	// makes the step write the file.
	Trust func(*OwnHooks) error
}

// Do does a step.
func (d *Disk) Do(s Step) error {
	if d.Show != nil {
		if err := d.Show.Do(s); err != nil {
			return err
		}
	}
	switch s.Op {
	case OpKeep:
		return userfile.Store(s.Path, s.New)
	case OpManifest:
		if s.New == nil {
			return deleteFile(s.Path, s.Old)
		}
		return ReplaceFile(s.Path, s.Old, s.New)
	case OpTrust:
		if d.Trust == nil || s.OwnHooks == nil {
			return ReplaceFile(s.Path, s.Old, s.New)
		}
		if d.Trust(s.OwnHooks) == nil {
			return nil
		}
		return trustOurselves(s)
	case OpWrite:
		write := userfile.WriteFile
		if s.Runnable {
			write = userfile.WriteProgram
		}
		return replaceBy(write, s)
	case OpDelete:
		return deleteFile(s.Path, s.Old)
	case OpMakeDir:
		return os.MkdirAll(s.Path, 0o700)
	case OpDropDir:
		// Not empty, or gone: both are fine.
		_ = os.Remove(s.Path)
		return nil
	case OpSweep:
		return nil // done under the lock, before the first step
	case OpLink:
		return ReplaceLink(s.Path, string(s.New))
	case OpDropLink:
		return dropFile(s.Path)
	case OpProgram:
		return CopyProgram(s.From, s.Path)
	}
	return fmt.Errorf("%s: there is no step %q", s.Path, s.Op)
}

func dropFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReplaceFile writes a file, unless it was changed since it was planned.
func ReplaceFile(path string, old, now []byte) error {
	return replaceBy(userfile.WriteFile, Step{Path: path, Old: old, New: now})
}

func replaceBy(write func(string, func([]byte) ([]byte, error)) error, s Step) error {
	return write(s.Path, func(is []byte) ([]byte, error) {
		if !SameText(is, s.Old) {
			return nil, fmt.Errorf("%s: was changed by another program just now; run the command again", s.Path)
		}
		return s.New, nil
	})
}

// trustOurselves writes trust if the agent couldn't be asked, or didn't confirm in time that it was
// done: it may have written some or all of it by then.
func trustOurselves(s Step) error {
	return userfile.WriteFile(s.Path, func(is []byte) ([]byte, error) {
		if SameText(is, s.Old) {
			return s.New, nil
		}
		now, _, err := hookentry.WriteTrust(is, s.OwnHooks.Keys, nil)
		if err != nil {
			return nil, BrokenFile(s.Path, err)
		}
		return now, nil
	})
}

// deleteFile removes a file, following its links, unless it was changed since it was planned.
func deleteFile(path string, old []byte) error {
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	is, err := userfile.ReadFile(resolved, userfile.MaxFile)
	if err != nil {
		return err
	}
	if !bytes.Equal(is, old) {
		return fmt.Errorf("%s: was changed by another program just now; run the command again", path)
	}
	return os.Remove(resolved)
}

// SameText compares with nil as no file at all.
func SameText(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// ReplaceLink creates a symlink in one step, replacing one or a copied program.
func ReplaceLink(at, to string) error {
	if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink == 0 && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is neither a link nor a program of ours; remove it", at)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	// A name of its own: several may do this at once.
	temp := fmt.Sprintf("%s.%016x.new", at, rand.Uint64())
	if err := os.Symlink(to, temp); err != nil {
		return err
	}
	if userfile.AtStep != nil {
		userfile.AtStep()
	}
	if err := os.Rename(temp, at); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
