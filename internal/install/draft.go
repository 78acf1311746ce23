package install

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// draft is a plan in the making: files as they will be.
type draft struct {
	host *Host
	old  *Manifest // as it is on disk
	next *Manifest // as it will be

	files map[string]*draftFile
	order []string
	makes []Step // folders to make
	keeps []Step // what is put aside before it goes
	drops []Step // folders to drop
	notes []string
	left  []string // files that something of ours stays in
	shim  bool     // the shim is still run by something that stays
}

// noteFailedRemoval notes a file that hookmux can't be removed from. Its record stays.
func (d *draft) noteFailedRemoval(path string, err error) {
	if slices.Contains(d.left, path) {
		return
	}
	if b := (*BrokenError)(nil); errors.As(err, &b) && b.Path == path {
		err = b.Err
	}
	d.left = append(d.left, path)
	d.notes = append(d.notes, fmt.Sprintf("%s: hookmux is still in it: %v; correct it and run the command "+
		"again", path, err))
}

// draftFile is one file on its way.
type draftFile struct {
	path    string
	agent   string
	disk    []byte // as it is; nil: not there
	now     []byte // as it will be
	changes []plannedChange
	record  *Record // in draft.next
	fresh   bool    // the record is a new one
	gone    bool    // it was dropped: what is opened again needs no record
}

type plannedChange struct {
	op       Op
	now      []byte
	why      string
	ownHooks *OwnHooks
	runs     bool // it is a program
}

func (h *Host) newDraft() (*draft, error) {
	if err := h.refuseRealHome(); err != nil {
		return nil, err
	}
	m, err := h.load()
	if err != nil {
		return nil, err
	}
	return &draft{host: h, old: m, next: m.clone(), files: map[string]*draftFile{}}, nil
}

// openFile reads a file, once; its record is made when there is none.
func (d *draft) openFile(path, agentName, scope string, kind Kind) (*draftFile, error) {
	f, ok := d.files[path]
	if !ok {
		data, err := d.host.onDisk().read(path)
		if err != nil {
			return nil, BrokenFile(path, err)
		}
		f = &draftFile{path: path, agent: agentName, disk: data, now: data}
		d.files[path] = f
		d.order = append(d.order, path)
	}
	if f.record = d.next.Files[path]; f.record == nil {
		f.fresh = true
		f.record = &Record{Agent: agentName, Scope: scope, Kind: kind}
		if scope == Project {
			f.record.Project = d.host.Project
		}
		d.next.Files[path] = f.record
	}
	return f, nil
}

// forgetFile drops a record that was made for nothing.
func (d *draft) forgetFile(f *draftFile) {
	if f.fresh && len(f.changes) == 0 {
		delete(d.next.Files, f.path)
	}
}

// rememberOriginal works out what a file is without us. As long as only we have changed it,
// that is its original content; otherwise it is what removing our entries would leave.
func (d *draft) rememberOriginal(f *draftFile, a *agent.Agent) error {
	if len(f.changes) > 0 {
		return nil // two things in one file
	}
	was := d.old.Files[f.path]
	if was != nil && hash(f.disk) == was.After {
		return nil
	}
	if f.disk == nil {
		f.record.Original, f.record.Kept, f.record.Keys = nil, nil, nil
		f.record.Dirs = d.foldersFor(f.path, f.path)
		return nil
	}
	original, err := d.host.stripHooks(a, f.path, f.disk, f.record)
	if err != nil {
		return BrokenFile(f.path, err)
	}
	f.record.Original = original
	return nil
}

// foldersFor returns the folders that were or will be made for a file; also those that
// an installation made which was killed before it came to the file.
func (d *draft) foldersFor(path, name string) []string {
	out := d.host.missingDirs(path)
	if was := d.old.Files[name]; was != nil {
		for i := len(was.Dirs) - 1; i >= 0; i-- {
			if !slices.Contains(out, was.Dirs[i]) {
				out = slices.Insert(out, 0, was.Dirs[i])
			}
		}
	}
	return out
}

// setContent returns the next state of a file; the same again is no change, and nil is
// returned.
func (f *draftFile) setContent(op Op, now []byte) *plannedChange {
	f.record.After = hash(now)
	if SameText(f.now, now) {
		return nil
	}
	f.now = now
	f.changes = append(f.changes, plannedChange{op: op, now: now})
	return &f.changes[len(f.changes)-1]
}

// stripHooks returns a file without our hooks; nil when nothing else is in it and it is
// ours altogether.
func (h *Host) stripHooks(a *agent.Agent, path string, src []byte, r *Record) (out []byte, err error) {
	out = src
	var kept []hookentry.Kept
	var keys [][]string
	if r != nil {
		kept, keys = r.Kept, r.Keys
	}
	own := false
	for _, p := range a.Install.Places {
		if !a.Install.TakesEntries() || h.resolvePath(p.HookFile) != path {
			continue
		}
		t, err := h.target(path, p, a.Install)
		if err != nil {
			return nil, err
		}
		before := out
		if !hookentry.CouldMention(out) {
			continue
		}
		if out, err = t.RemoveEntries(out, a, kept); err != nil {
			return nil, err
		}
		own = own || a.Install.Way == agent.WayFile || r != nil && r.Original == nil && r.After != ""
		if own && !SameText(before, out) && t.IsHollow(out, p) {
			return nil, nil
		}
	}
	return hookentry.WithdrawTrust(out, keys, kept)
}

// changeSteps returns the steps that change other people's files: folders, files, agents'
// settings and trust, and folders that are no longer needed.
func (d *draft) changeSteps() []Step {
	var writes, told []Step
	for _, path := range d.order {
		f := d.files[path]
		prev := f.disk
		for _, st := range f.changes {
			s := Step{Op: st.op, Path: path, Agent: f.agent, Old: prev, New: st.now, Why: st.why, OwnHooks: st.ownHooks,
				Runnable: st.runs}
			if st.now == nil {
				s.Op = OpDelete
			}
			if st.op == OpTrust {
				told = append(told, s)
			} else {
				writes = append(writes, s)
			}
			prev = st.now
		}
	}
	// The innermost first.
	slices.SortFunc(d.drops, func(a, b Step) int { return len(b.Path) - len(a.Path) })
	d.drops = slices.CompactFunc(d.drops, func(a, b Step) bool { return a.Path == b.Path })
	return slices.Concat(d.keeps, d.makes, writes, told, d.drops)
}

// sameManifest reports whether the manifest is on disk as it will be.
func (d *draft) sameManifest() bool {
	return SameText(d.next.step(d.host.Dirs).New, d.old.disk)
}

func (d *draft) hasChanged(agentName string) bool {
	for _, f := range d.files {
		if f.agent == agentName && len(f.changes) > 0 {
			return true
		}
	}
	return false
}

// takeOut removes our entries from a place of an agent, and what was put into
// its trust file.
func (d *draft) takeOut(a *agent.Agent, p agent.InstallPlace, path, scope string) error {
	data, err := d.host.onDisk().read(path)
	if err != nil {
		return BrokenFile(path, err)
	}
	if data == nil && d.next.Files[path] == nil {
		return nil
	}
	f, err := d.openFile(path, a.Name, scope, KindEntries)
	if err != nil {
		return err
	}
	t, err := d.host.target(path, p, a.Install)
	if err != nil {
		return err
	}
	before := f.now
	if before != nil {
		r, err := t.ParseText(before)
		if err != nil {
			return BrokenFile(path, err)
		}
		slots := t.Handlers(r)
		mine := slices.ContainsFunc(slots, func(s *hookentry.Handler) bool { return hookentry.IsFor(s, a) })
		for _, s := range slots {
			if s.MentionsUs() {
				d.shim = d.shim || strings.Contains(s.Text, Shim(d.host.Dirs))
				d.notes = append(
					d.notes,
					fmt.Sprintf("%s: line %d: names %s and is not in the form that hookmux writes, so "+
						"it is left alone; take it out by hand: %s", path, s.Line, hookentry.HookName, s.Text),
				)
			}
		}
		if was := d.old.Files[path]; !mine && (was == nil || was.Kind == KindTrust) {
			d.forgetFile(f)
			if f.fresh && f.gone {
				delete(d.next.Files, path)
			}
			return nil
		}
	}
	was := d.old.Files[path]
	var now []byte
	switch {
	case f.now == nil: // it was removed
	case was != nil && hash(f.now) == was.After:
		now = was.Original
	default:
		if now, err = d.host.stripHooks(a, path, f.now, was); err != nil {
			return BrokenFile(path, err)
		}
	}
	if byHash(a) && before != nil {
		if now, err = d.withdrawTrustOf(t, a, p, path, before, now); err != nil {
			return err
		}
	}
	d.dropFile(f, now)
	return nil
}

// dropFile notes the last state of a file that is no longer ours.
func (d *draft) dropFile(f *draftFile, now []byte) {
	f.gone = true
	if !SameText(f.now, now) {
		f.now = now
		f.changes = append(f.changes, plannedChange{op: OpWrite, now: now})
	}
	if now == nil {
		d.dropDirs(f.agent, f.record.Dirs)
	}
	delete(d.next.Files, f.path)
}

func (d *draft) dropDirs(agentName string, dirs []string) {
	for _, dir := range dirs {
		d.drops = append(d.drops, Step{Op: OpDropDir, Path: dir, Agent: agentName})
	}
}

// withdrawTrustOf withdraws trust in our hooks and keeps other people's valid. It returns the
// new content of the hooks' own file, which may be unchanged.
func (d *draft) withdrawTrustOf(t *hookentry.Target, a *agent.Agent, p agent.InstallPlace, hooks string, before,
	after []byte) ([]byte, error) {
	path := d.host.trustOf(a).file()
	if path == "" {
		return after, nil
	}
	source := d.host.trustOf(a).sourceName(hooks, p)
	keys, err := t.TrustKeys(before, a, source)
	if err != nil {
		return nil, BrokenFile(hooks, err)
	}
	var moves map[string]string
	if after != nil {
		moves = t.MovedTrustKeys(before, after, source)
	}
	if path == hooks {
		return d.withoutTrust(path, after, keys, moves, d.old.Files[path])
	}
	was := d.old.Files[path]
	f, err := d.openFile(path, a.Name, User, KindTrust)
	if err == nil && f.now != nil {
		_, err = edit.TOML.Parse(f.now)
	}
	if err != nil {
		// Nothing can be said about trust, and the hooks go all the same:
		// trust in what is not there does no harm.
		if was == nil {
			delete(d.next.Files, path)
		} else {
			d.noteFailedRemoval(path, err)
		}
		return after, nil
	}
	now := f.now
	switch {
	case now == nil:
	case was != nil && hash(now) == was.After && len(moves) == 0:
		now = was.Original
	default:
		if now, err = d.withoutTrust(path, now, keys, moves, was); err != nil {
			return nil, err
		}
	}
	d.dropFile(f, now)
	return after, nil
}

func (d *draft) withoutTrust(path string, src []byte, keys map[string]string, moves map[string]string,
	was *Record) ([]byte, error) {
	if src == nil {
		return nil, nil
	}
	var all [][]string
	var kept []hookentry.Kept
	if was != nil {
		all, kept = slices.Clone(was.Keys), was.Kept
	}
	for key := range keys {
		if !slices.ContainsFunc(all, func(k []string) bool { return slices.Equal(k, hookentry.CodexTrustPath(key)) }) {
			all = append(all, hookentry.CodexTrustPath(key))
		}
	}
	slices.SortFunc(all, func(a, b []string) int {
		return hookentry.CompareKeys(strings.Join(a, ":"),
			strings.Join(b, ":"))
	})
	now, err := hookentry.WithdrawTrust(src, all, kept)
	if err == nil {
		now, err = hookentry.RenameTrustKeys(now, moves)
	}
	if err != nil {
		return nil, BrokenFile(path, err)
	}
	if len(now) == 0 && was != nil && was.Original == nil {
		return nil, nil
	}
	return now, nil
}
