package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sort"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Manifest is our record of what was written where. It is a help and not the
// truth: without it, or with an old one, our entries are still recognised.
type Manifest struct {
	Version int                `json:"version"`
	Files   map[string]*Record `json:"files"`

	disk []byte // as it was read; nil: there was none
}

// Record is one file.
type Record struct {
	Agent   string `json:"agent"`
	Scope   string `json:"scope"`
	Project string `json:"project,omitempty"`
	Kind    Kind   `json:"kind"`
	// Original is the file without us; nil: it was not there.
	Original []byte `json:"original"`
	// After is the hash of what we wrote last.
	After string           `json:"after"`
	Kept  []hookentry.Kept `json:"kept,omitempty"`
	Keys  [][]string       `json:"keys,omitempty"` // what was added in addition to hooks
	Dirs  []string         `json:"dirs,omitempty"` // folders created for it
	// Chosen is what the user asked for, and Wrote the events that resulted from it.
	Chosen *Choice  `json:"chosen,omitempty"`
	Wrote  []string `json:"wrote,omitempty"`
}

// Kind names the kind of a file in the manifest.
type Kind string

// The kinds of files.
const (
	KindEntries Kind = "entries"
	KindPlugin  Kind = "plugin"
	KindScript  Kind = "script" // the program of one event
	KindSeed    Kind = "seed"
	KindTrust   Kind = "trust"
	KindSetting Kind = "setting" // a setting without which a plugin is passed over
)

func manifestPath(d paths.Dirs) string { return filepath.Join(d.State, "install.json") }

// load reads the manifest; none is an empty one.
func (h *Host) load() (*Manifest, error) {
	m := &Manifest{Version: 1, Files: map[string]*Record{}}
	path := manifestPath(h.Dirs)
	data, err := h.onDisk().read(path)
	if err != nil || data == nil {
		return m, err
	}
	m.disk = data
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s: cannot be read (%w); move it away: entries of ours are found without it", path, err)
	}
	if m.Files == nil {
		m.Files = map[string]*Record{}
	}
	for path, r := range m.Files {
		if r == nil || !filepath.IsAbs(path) {
			delete(m.Files, path)
		}
	}
	return m, nil
}

func (m *Manifest) clone() *Manifest {
	out := &Manifest{Version: m.Version, Files: map[string]*Record{}, disk: m.disk}
	for path, r := range m.Files {
		c := *r
		out.Files[path] = &c
	}
	return out
}

func (m *Manifest) encodeManifest() []byte {
	data, _ := json.MarshalIndent(m, "", " ") // strings and bytes always can be
	return append(data, '\n')
}

// step writes the manifest, or takes it away when nothing is left.
func (m *Manifest) step(d paths.Dirs) Step {
	s := Step{Op: OpManifest, Path: manifestPath(d), Old: m.disk}
	if len(m.Files) > 0 {
		s.New = m.encodeManifest()
	}
	return s
}

func (m *Manifest) paths() []string {
	var all []string
	for path := range m.Files {
		all = append(all, path)
	}
	sort.Strings(all)
	return all
}

// recordAgentWrites records what was really written, if an agent did the writing. It only does so
// if the agent wrote nothing else: otherwise restoring the old bytes would undo that too, and only
// our own keys may go.
func (h *Host) recordAgentWrites(m *Manifest, done []Step) error {
	changed, before := false, m.encodeManifest()
	for _, s := range done {
		r := m.Files[s.Path]
		if s.Op != OpTrust || r == nil {
			continue
		}
		data, err := h.onDisk().read(s.Path)
		if err != nil || data == nil {
			continue
		}
		if is := hash(data); is != r.After && s.OwnHooks != nil && h.onlyOurs(s.OwnHooks.Agent, s.Path, data, r) {
			r.After, changed = is, true
		}
	}
	if !changed {
		return nil
	}
	return ReplaceFile(manifestPath(h.Dirs), before, m.encodeManifest())
}

// onlyOurs reports whether a file has its original content once our part is removed.
func (h *Host) onlyOurs(a *agent.Agent, path string, data []byte, r *Record) bool {
	without, err := h.stripHooks(a, path, data, r)
	if err != nil {
		return false
	}
	is, err := edit.TOML.Parse(without)
	if err != nil {
		return false
	}
	was, err := edit.TOML.Parse(r.Original)
	return err == nil && hookentry.SameJSON(filled(is.Raw()), filled(was.Raw())) &&
		bytes.Count(without, []byte("#")) == bytes.Count(r.Original, []byte("#"))
}

// filled returns a value without the tables in it that hold nothing: an agent that
// writes a table out by its keys forgets that there was an empty one.
func filled(raw []byte) []byte {
	var v any
	if raw == nil {
		return hookentry.AsJSON(nil)
	}
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	var walk func(any) any
	walk = func(v any) any {
		m, ok := v.(map[string]any)
		if !ok {
			return v
		}
		for key, value := range m {
			if m[key] = walk(value); m[key] == nil {
				delete(m, key)
			}
		}
		if len(m) == 0 {
			return nil
		}
		return m
	}
	return hookentry.AsJSON(walk(v))
}

func hash(data []byte) string {
	if data == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
