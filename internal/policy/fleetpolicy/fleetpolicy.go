// Package fleetpolicy keeps the policy that the operators of a fleet pushed to this machine: rules
// and settings of guards that apply in addition to its own.
//
// Contract: a policy only tightens. It's replaced as a whole or not at all. If it can no longer be
// read, the one that was read last stays in force until the daemon ends.
package fleetpolicy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

// FileName is the policy in the state folder. It is sealed.
const FileName = "fleet-policy.json"

// SettingsFile is the file of a policy with settings of guards; every other one has rules.
const SettingsFile = "config.json"

// Limits of a policy: it travels in one message.
const (
	maxFiles = 100
	MaxSize  = 256 << 10
)

// File is one file of a policy.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Policy holds the rules that operators pushed. One without files removes the previous one.
type Policy struct {
	Version int64     `json:"version"`
	By      string    `json:"by"`
	Pushed  time.Time `json:"pushed"`
	Files   []File    `json:"files"`
}

var ruleFile = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}\.ya?ml$`)

// CheckFiles rejects files that no policy may have. What settings may say is checked by the
// package that reads them.
func CheckFiles(list []File) error {
	size := 0
	for i, f := range list {
		size += len(f.Text)
		switch {
		case f.Name != SettingsFile && !ruleFile.MatchString(f.Name):
			return fmt.Errorf("%.60q doesn't belong in a fleet's policy, which has NAME.yaml with rules and %s with guards", f.Name, SettingsFile)
		case slices.ContainsFunc(list[:i], func(before File) bool { return before.Name == f.Name }):
			return fmt.Errorf("%s appears twice", f.Name)
		case i >= maxFiles:
			return fmt.Errorf("the policy has more than %d files", maxFiles)
		case size > MaxSize:
			return fmt.Errorf("the policy is larger than %d KiB", MaxSize>>10)
		}
	}
	found, problems := rules.Parse((&Policy{Files: list}).Sources("")...)
	if len(problems) > 0 {
		return errors.New(problems[0].String())
	}
	for _, r := range found {
		if r.MayAllow() {
			return fmt.Errorf("%s:%d: the rule %s allows something; a fleet's policy only makes things tighter", r.File, r.Line, r.ID)
		}
	}
	return nil
}

// Sources returns the files of rules, as their reader takes them; where is put before their names.
func (p *Policy) Sources(where string) []rules.Source {
	var list []rules.Source
	for _, f := range p.Files {
		if f.Name != SettingsFile {
			list = append(list, rules.Source{Name: where + f.Name, Data: []byte(f.Text), Layer: rules.System})
		}
	}
	return list
}

// Settings returns the text of the settings; nil: it has none.
func (p *Policy) Settings() []byte {
	for _, f := range p.Files {
		if f.Name == SettingsFile {
			return []byte(f.Text)
		}
	}
	return nil
}

// Where returns what the policy's files are shown as.
func (p *Policy) Where() string { return fmt.Sprintf("fleet policy %d/", p.Version) }

// ReadFolder reads the files of a policy from a folder: those directly in it, and those of
// a folder named rules in it. Nothing outside of it is read, whatever its links say.
func ReadFolder(dir string) ([]File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var list []File
	for _, folder := range []string{".", "rules"} {
		entries, err := fs.ReadDir(root.FS(), folder)
		if folder != "." && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() || strings.HasPrefix(e.Name(), ".") || !e.Type().IsRegular() ||
				!ruleFile.MatchString(e.Name()) && (e.Name() != SettingsFile || folder != ".") {
				continue
			}
			text, err := fs.ReadFile(root.FS(), filepath.Join(folder, e.Name()))
			if err != nil {
				return nil, err
			}
			list = append(list, File{e.Name(), string(text)})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no rules (NAME.yaml) and no %s", dir, SettingsFile)
	}
	return list, CheckFiles(list)
}

// Store replaces the policy in a state folder, as a whole.
func Store(state string, p *Policy) error { return sealed.Store(state, FileName, p) }

// Load reads the policy in a state folder; nil: there is none.
func Load(state string) (*Policy, error) {
	var p Policy
	if err := sealed.Load(state, FileName, &p); err != nil || p.Version == 0 {
		return nil, err
	}
	return &p, nil
}

// Remove takes the policy away. reread lets readers see that it has no files any more before
// the file is removed: one that just vanishes stays in force.
func Remove(state string, reread func()) error {
	path := filepath.Join(state, FileName)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	p, err := Load(state)
	if err != nil || p == nil {
		p = &Policy{Version: 1}
	}
	p.Files = nil
	if err := Store(state, p); err != nil {
		return err
	}
	reread()
	return os.Remove(path)
}

// Source reads the policy again whenever its file changed. It isn't for concurrent use.
type Source struct {
	State string // "": there is none
	info  fs.FileInfo
	known bool
	now   Policy
	err   error
}

// Read returns the policy in force, and whether it or the error has changed.
func (s *Source) Read() (p *Policy, changed bool, err error) {
	if s.State == "" {
		return &s.now, false, nil
	}
	info, err := os.Stat(filepath.Join(s.State, FileName))
	switch {
	case err != nil && !s.known:
		return &s.now, false, nil // a folder that can't be read is reported elsewhere
	case err != nil: // it vanished: it wasn't removed the proper way
		changed = s.err == nil && len(s.now.Files) > 0
		if changed {
			s.err = errors.New("the fleet's policy was deleted; it stays active until the daemon ends, and the fleet sends it again")
		}
		s.info = nil
		return &s.now, changed, s.err
	case s.info != nil && userfile.SameStamp(s.info, info):
		return &s.now, false, s.err
	}
	fresh, err := Load(s.State)
	s.info, s.known = info, true
	switch {
	case err != nil:
		changed, s.err = s.err == nil, fmt.Errorf("%w; the policy read last stays active", err)
	case fresh != nil:
		changed, s.now, s.err = true, *fresh, nil
	}
	return &s.now, changed, s.err
}
