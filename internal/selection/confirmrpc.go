package selection

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/confirmed"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/rogpeppe/go-internal/diff"
)

// maxDiff is the largest text whose difference is shown line by line.
const maxDiff = 256 << 10

// views is what counts, as those need it who change files.
type views interface {
	// Forget makes the next event look at the files.
	Forget()
	// Refresh reads what counts in a project, "" for what counts everywhere.
	Refresh(root string)
	// ProjectOf is the project with hooks of its own that a folder is in.
	ProjectOf(folder string) string
	// DropProblemsOf forgets what was wrong with a hook.
	DropProblemsOf(id string)
}

// Confirmations are the changes of the user's files that something else than hookmux's own
// commands made: shown, confirmed by a person, restored, followed.
type Confirmations struct {
	Options
	Config   *config.Loader
	Registry *registry.Registry
	views    views
	editing  *sync.Mutex // one edit at a time
}

// methods are about changes that hookmux's own commands did not make.
func (r *Confirmations) methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodConfirmLook:    {Run: r.lookAtChanges},
		wire.MethodConfirm:        {Run: r.confirmChanges},
		wire.MethodConfirmRestore: {Run: r.restoreConfirmed},
		wire.MethodConfirmFollow:  {Run: r.followFiles},
		wire.MethodConfirmFirst:   {Run: r.confirmFirst},
	}
}

var errAllCounts = wire.Errorf(wire.CodeConflict, "this daemon takes files as they are; there is nothing to confirm")

func (r *Confirmations) lookAtChanges(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	if r.Confirmed == nil {
		return wire.ConfirmView{Basis: string(confirmed.Confirmed), Changes: []wire.ConfirmChange{}}, nil
	}
	r.views.Refresh("") // modules and programs that hooks name are found by loading them
	changes, hash := r.Confirmed.Pending()
	return r.describeView(changes, hash), nil
}

func (r *Confirmations) describeView(changes []confirmed.Change, hash string) wire.ConfirmView {
	basis, since, problem := r.Confirmed.State()
	view := wire.ConfirmView{Basis: string(basis), Hash: hash, Changes: []wire.ConfirmChange{}}
	if !since.IsZero() {
		view.Since = &since
	}
	if problem != nil {
		view.Problem = problem.Error()
	}
	view.Weaker = r.weakerBy(changes)
	for _, c := range changes {
		view.Changes = append(view.Changes, describeChange(c))
	}
	return view
}

func describeChange(c confirmed.Change) wire.ConfirmChange {
	one := wire.ConfirmChange{File: c.Path, Change: string(c.Kind), Counts: c.InForce, Diff: differenceOf(c)}
	if c.Err != nil {
		one.Error = c.Err.Error()
	}
	return one
}

// differenceOf is the difference as people read it.
func differenceOf(c confirmed.Change) string {
	if c.Kind == confirmed.Unreadable {
		return ""
	}
	if len(c.Before) > maxDiff || len(c.After) > maxDiff || !utf8.Valid(c.Before) || !utf8.Valid(c.After) {
		return "the content is not text, or too large to be shown\n"
	}
	before, after := config.HideSecrets(c.Before, c.After)
	text := string(diff.Diff(c.Path+" (accepted)", before, c.Path+" (now)", after))
	if _, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(text, "diff ") {
		return rest
	}
	return text
}

func (r *Confirmations) confirmChanges(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.ConfirmParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if p.Hash == "" {
		return nil, wire.Errorf(wire.CodeParams, "accepting needs the hash of what you saw (confirm.look)")
	}
	if r.Confirmed == nil {
		return nil, errAllCounts
	}
	r.editing.Lock()
	changes, err := r.Confirmed.Confirm(p.Hash)
	r.editing.Unlock()
	if err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "%v", err)
	}
	r.confirmNamed(r.namedModules())
	r.applyConfirmed()
	view := r.describeView(changes, p.Hash)
	for _, c := range changes {
		if filepath.Dir(c.Path) == r.Confirmed.AgentsFolder() {
			view.Notes = append(view.Notes, "descriptions of agents count when the daemon starts again: `hookmux daemon "+
				"restart`")
			break
		}
	}
	return view, nil
}

// restoreConfirmed writes what was confirmed back into the files. What is in force
// stays as it is.
func (r *Confirmations) restoreConfirmed(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.ConfirmParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if r.Confirmed == nil {
		return nil, errAllCounts
	}
	r.editing.Lock()
	changes, left, err := r.Confirmed.Restore(p.Hash)
	r.editing.Unlock()
	if err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "%v", err)
	}
	r.applyConfirmed()
	view := r.describeView(changes, p.Hash)
	for _, why := range left {
		view.Notes = append(view.Notes, why.Error())
	}
	return view, nil
}

// applyConfirmed lets what was confirmed count at once.
func (r *Confirmations) applyConfirmed() {
	r.views.Forget()
	r.Modules.LoadChanged()
	r.views.Refresh("")
	r.SettingsChanged()
	r.reportUnconfirmed()
}

func (r *Confirmations) confirmFirst(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	r.ConfirmInitial(true)
	return map[string]bool{"ok": true}, nil
}

// followEvery is how often followed files are looked at.
const followEvery = 250 * time.Millisecond

// followFiles takes changes of some files as they come, as long as the calling
// process runs.
func (r *Confirmations) followFiles(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.ConfirmFilesParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if r.Confirmed == nil {
		return nil, errAllCounts
	}
	if len(p.Files) == 0 {
		return nil, wire.Errorf(wire.CodeParams, "no file is named")
	}
	r.views.Refresh("")
	for _, file := range p.Files {
		if err := r.canFollow(file); err != nil {
			return nil, wire.Errorf(wire.CodeParams, "%s %v", file, err)
		}
	}
	caller, err := r.Processes.Lookup(peer.PID)
	if err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "the calling process is not known: %v", err)
	}
	ended := r.WatchExit(r.Context, peer.PID, caller.Start)
	if ended == nil {
		return nil, wire.Errorf(wire.CodeInternal, "this system does not tell when a process ends, so files cannot "+
			"be followed")
	}
	stop := r.Confirmed.Follow(p.Files)
	r.confirmFollowed()
	r.Background.Go(func() {
		defer stop()
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-r.Context.Done():
				return
			case <-tick.C:
				r.confirmFollowed()
			}
		}
	})
	return map[string][]string{"files": p.Files}, nil
}

// canFollow says why the changes of a file cannot be followed; nil if they can.
func (r *Confirmations) canFollow(file string) error {
	if !filepath.IsAbs(file) {
		return errors.New("is not an absolute path")
	}
	folder := filepath.Dir(file)
	if folder == r.Confirmed.HooksFolder() || folder == r.Confirmed.AgentsFolder() ||
		folder == r.Confirmed.RulesFolder() || folder == r.Confirmed.ProgramsFolder() || r.Confirmed.Tracked(file) {
		return nil
	}
	return errors.New("is none of your settings, nor a file that your hooks are made of")
}

// confirmFollowed takes what changed in followed files and tells who follows.
func (r *Confirmations) confirmFollowed() {
	changes := r.Confirmed.ConfirmFollowed()
	if len(changes) == 0 {
		return
	}
	settings, _ := r.Config.File(config.User, "") // none: nobody can follow it
	for _, c := range changes {
		if c.Path == settings || c.Path == r.Registry.GlobalFile() {
			r.confirmNamed(r.namedModules()) // followed too: what it names comes with it
		}
	}
	r.applyConfirmed()
	for _, c := range changes {
		r.Log.Info("confirmed", "file", c.Path, "change", string(c.Kind))
		r.Notes.Publish(wire.NoteTrace, wire.Trace{Hook: wire.ConfirmHook, File: c.Path,
			Text: c.Path + " (" + string(c.Kind) + ")"})
	}
}

// Unconfirmed lists what waits, for the daemon's status.
func (r *Confirmations) Unconfirmed() []wire.Unconfirmed {
	if r.Confirmed == nil {
		return nil
	}
	changes, _ := r.Confirmed.Pending()
	var list []wire.Unconfirmed
	for _, c := range changes {
		list = append(list, wire.Unconfirmed{File: c.Path, Change: string(c.Kind)})
	}
	return list
}

// ConfirmInitial confirms what is there now where nothing was ever confirmed: by a
// person, or because there are no settings at all.
func (r *Confirmations) ConfirmInitial(byPerson bool) {
	if r.Confirmed == nil {
		return
	}
	if err := r.Confirmed.ConfirmInitial(byPerson); err != nil {
		r.Problems.Raise(confirmed.ProblemKey, "can't save what you accepted: "+err.Error(),
			"make room or repair "+r.Dirs.State)
	}
	r.confirmNamed(r.namedModules())
	r.views.Forget()
}

// namedModules are the TypeScript hooks that confirmed settings and hooks name.
func (r *Confirmations) namedModules() []string {
	names := r.Config.ConfirmedModules()
	for _, reg := range r.Registry.Load("", "").Hooks {
		if reg.Handler == "module" && !reg.Unconfirmed {
			names = append(names, reg.Target)
		}
	}
	return names
}

// confirmNamed confirms TypeScript hooks that a person has just named and that were
// never seen before. What others name stays as it is.
func (r *Confirmations) confirmNamed(names []string) {
	if basis, _, _ := r.Confirmed.State(); basis != confirmed.Confirmed {
		return
	}
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = filepath.Join(r.Dirs.Home, rest)
		}
		if filepath.IsAbs(name) {
			r.Confirmed.ConfirmNamed(filepath.Clean(name))
		}
	}
}

// reportUnconfirmed says in the list of problems what waits for a person.
func (r *Confirmations) reportUnconfirmed() {
	if r.Confirmed == nil {
		return
	}
	what, fix := r.Confirmed.Describe()
	if what == "" {
		r.Problems.Clear(confirmed.ProblemKey)
		return
	}
	r.Problems.Set(confirmed.ProblemKey, what, fix)
}
