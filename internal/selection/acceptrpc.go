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
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/rogpeppe/go-internal/diff"
)

// maxDiff is the largest text whose difference is shown line by line.
const maxDiff = 256 << 10

// views shows what counts, as those need it who change files.
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

// Acceptance handles the changes of the user's files that hookmux's own commands didn't
// make: it shows, accepts, restores and follows them.
type Acceptance struct {
	Options
	Config   *config.Loader
	Registry *registry.Registry
	views    views
	editing  *sync.Mutex // one edit at a time
}

// methods are about changes that hookmux's own commands did not make.
func (r *Acceptance) methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodAcceptLook:    {Run: r.lookAtChanges},
		wire.MethodAccept:        {Run: r.acceptChanges},
		wire.MethodAcceptRestore: {Run: r.restoreAccepted},
		wire.MethodAcceptFollow:  {Run: r.followFiles},
		wire.MethodAcceptFirst:   {Run: r.acceptFirst},
	}
}

var errAllCounts = wire.Errorf(wire.CodeConflict, "this daemon takes files as they are; there is nothing to accept")

func (r *Acceptance) lookAtChanges(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	if r.Accepted == nil {
		return wire.AcceptView{Basis: string(accepted.Accepted), Changes: []wire.AcceptChange{}}, nil
	}
	r.views.Refresh("") // TypeScript hooks and programs that hooks name are found by loading them
	changes, hash := r.Accepted.Pending()
	for i := range changes {
		if c := &changes[i]; c.Err == nil && c.After != nil && trust.IsTSHookName(filepath.Base(c.Path)) {
			c.Err = r.TSHooks.CheckSyntax(c.Path) // accepted, it would refuse the calls that it decides
		}
	}
	return r.describeView(changes, hash), nil
}

func (r *Acceptance) describeView(changes []accepted.Change, hash string) wire.AcceptView {
	basis, since, problem := r.Accepted.State()
	view := wire.AcceptView{Basis: string(basis), Hash: hash, Changes: []wire.AcceptChange{}}
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

func describeChange(c accepted.Change) wire.AcceptChange {
	one := wire.AcceptChange{File: c.Path, Change: string(c.Kind), Counts: c.InForce, Diff: differenceOf(c)}
	if c.Err != nil {
		one.Error = c.Err.Error()
	}
	return one
}

// differenceOf returns a change as a readable difference.
func differenceOf(c accepted.Change) string {
	if c.Kind == accepted.Unreadable {
		return ""
	}
	if len(c.Before) > maxDiff || len(c.After) > maxDiff || !utf8.Valid(c.Before) || !utf8.Valid(c.After) {
		return "the content is not text, or too large to be shown\n"
	}
	before, after := config.HideSecrets(c.Before, c.After)
	was := " (accepted)"
	if c.Kind == accepted.NotWanted {
		was = " (active)"
	}
	text := string(diff.Diff(c.Path+was, before, c.Path+" (now)", after))
	if _, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(text, "diff ") {
		return rest
	}
	return text
}

func (r *Acceptance) acceptChanges(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.AcceptParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if p.Hash == "" {
		return nil, wire.Errorf(wire.CodeParams, "accepting needs the hash of what you saw (accept.look)")
	}
	if r.Accepted == nil {
		return nil, errAllCounts
	}
	r.editing.Lock()
	changes, err := r.Accepted.Accept(p.Hash)
	r.editing.Unlock()
	if err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "%v", err)
	}
	r.acceptNamed(r.namedTSHooks())
	r.applyAccepted()
	view := r.describeView(changes, p.Hash)
	for _, c := range changes {
		if filepath.Dir(c.Path) == r.Accepted.AgentsFolder() {
			view.Notes = append(view.Notes, "descriptions of agents count when the daemon starts again: `hookmux daemon "+
				"restart`")
			break
		}
	}
	return view, nil
}

// restoreAccepted writes what was accepted back into the files. What is in force
// stays as it is.
func (r *Acceptance) restoreAccepted(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.AcceptParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if r.Accepted == nil {
		return nil, errAllCounts
	}
	r.editing.Lock()
	changes, left, err := r.Accepted.Restore(p.Hash)
	r.editing.Unlock()
	if err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "%v", err)
	}
	r.applyAccepted()
	view := r.describeView(changes, p.Hash)
	for _, why := range left {
		view.Notes = append(view.Notes, why.Error())
	}
	return view, nil
}

// applyAccepted lets what was accepted count at once.
func (r *Acceptance) applyAccepted() {
	r.views.Forget()
	r.TSHooks.LoadChanged()
	r.views.Refresh("")
	r.SettingsChanged()
	r.reportUnaccepted()
}

func (r *Acceptance) acceptFirst(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	r.AcceptInitial(true)
	return map[string]bool{"ok": true}, nil
}

// followEvery is how often followed files are looked at.
const followEvery = 250 * time.Millisecond

// followFiles takes changes of some files as they come, as long as the calling
// process runs.
func (r *Acceptance) followFiles(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.AcceptFilesParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if r.Accepted == nil {
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
	stop := r.Accepted.Follow(p.Files)
	r.acceptFollowed()
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
				r.acceptFollowed()
			}
		}
	})
	return map[string][]string{"files": p.Files}, nil
}

// canFollow says why the changes of a file cannot be followed; nil if they can.
func (r *Acceptance) canFollow(file string) error {
	if !filepath.IsAbs(file) {
		return errors.New("is not an absolute path")
	}
	folder := filepath.Dir(file)
	if folder == r.Accepted.HooksFolder() || folder == r.Accepted.AgentsFolder() ||
		folder == r.Accepted.RulesFolder() || folder == r.Accepted.ProgramsFolder() || r.Accepted.Tracked(file) {
		return nil
	}
	return errors.New("is none of your settings, nor a file that your hooks are made of")
}

// acceptFollowed accepts what changed in followed files and notifies their followers.
func (r *Acceptance) acceptFollowed() {
	changes := r.Accepted.AcceptFollowed()
	if len(changes) == 0 {
		return
	}
	settings, _ := r.Config.File(config.User, "") // none: nobody can follow it
	for _, c := range changes {
		if c.Path == settings || c.Path == r.Registry.GlobalFile() {
			r.acceptNamed(r.namedTSHooks()) // followed too: what it names comes with it
		}
	}
	r.applyAccepted()
	for _, c := range changes {
		r.Log.Info("accepted", "file", c.Path, "change", string(c.Kind))
		r.Notes.Publish(wire.NoteTrace, wire.Trace{Hook: wire.AcceptHook, File: c.Path,
			Text: c.Path + " (" + string(c.Kind) + ")"})
	}
}

// Unaccepted lists what waits, for the daemon's status.
func (r *Acceptance) Unaccepted() []wire.Unaccepted {
	if r.Accepted == nil {
		return nil
	}
	changes, _ := r.Accepted.Pending()
	var list []wire.Unaccepted
	for _, c := range changes {
		list = append(list, wire.Unaccepted{File: c.Path, Change: string(c.Kind)})
	}
	return list
}

// AcceptInitial accepts what is there now where nothing was ever accepted: by a
// person, or because there are no settings at all.
func (r *Acceptance) AcceptInitial(byUser bool) {
	if r.Accepted == nil {
		return
	}
	if err := r.Accepted.AcceptInitial(byUser); err != nil {
		r.Problems.Raise(accepted.ProblemKey, "can't save what you accepted: "+err.Error(),
			"make room or repair "+r.Dirs.State)
	}
	r.acceptNamed(r.namedTSHooks())
	r.views.Forget()
}

// namedTSHooks returns the TypeScript hooks that accepted settings and hooks name.
func (r *Acceptance) namedTSHooks() []string {
	names := r.Config.AcceptedTSHooks()
	for _, reg := range r.Registry.Load("", "").Hooks {
		if reg.Handler == "typescript" && !reg.Unaccepted {
			names = append(names, reg.Target)
		}
	}
	return names
}

// acceptNamed accepts TypeScript hooks that you have just named and that were never seen
// before. What other programs name stays as it is.
func (r *Acceptance) acceptNamed(names []string) {
	if basis, _, _ := r.Accepted.State(); basis != accepted.Accepted {
		return
	}
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = filepath.Join(r.Dirs.Home, rest)
		}
		if filepath.IsAbs(name) {
			r.Accepted.AcceptNamed(filepath.Clean(name))
		}
	}
}

// reportUnaccepted lists what waits for you among the problems.
func (r *Acceptance) reportUnaccepted() {
	if r.Accepted == nil {
		return
	}
	what, fix := r.Accepted.Describe()
	if what == "" {
		r.Problems.Clear(accepted.ProblemKey)
		return
	}
	r.Problems.Set(accepted.ProblemKey, what, fix)
}
