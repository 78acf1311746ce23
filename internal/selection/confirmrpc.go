package selection

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/confirmed"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// maxDiff is the largest text whose difference is shown line by line.
const maxDiff = 256 << 10

// confirmMethods are about changes that hookmux's own commands did not make.
func (r methods) confirmMethods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodConfirmLook:    {Run: r.lookAtChanges},
		wire.MethodConfirm:        {Run: r.confirmChanges},
		wire.MethodConfirmRestore: {Run: r.restoreConfirmed},
		wire.MethodConfirmFollow:  {Run: r.followFiles},
		wire.MethodConfirmFirst:   {Run: r.confirmFirst},
		wire.MethodConfirmFile:    {Run: r.confirmFile},
	}
}

var errAllCounts = wire.Errorf(wire.CodeConflict, "this hub takes files as they are; there is nothing to confirm")

func (r methods) lookAtChanges(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	if r.Confirmed == nil {
		return wire.ConfirmView{Basis: string(confirmed.Confirmed), Changes: []wire.ConfirmChange{}}, nil
	}
	r.viewOf(places{}) // modules and programs that hooks name are found by loading them
	changes, hash := r.Confirmed.Pending()
	return r.describeView(changes, hash), nil
}

func (r methods) describeView(changes []confirmed.Change, hash string) wire.ConfirmView {
	basis, since, problem := r.Confirmed.State()
	view := wire.ConfirmView{Basis: string(basis), Hash: hash, Changes: []wire.ConfirmChange{}}
	if !since.IsZero() {
		view.Since = &since
	}
	if problem != nil {
		view.Problem = problem.Error()
	}
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
	text := string(diff.Diff(c.Path+" (confirmed)", before, c.Path+" (now)", after))
	if _, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(text, "diff ") {
		return rest
	}
	return text
}

func (r methods) confirmChanges(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.ConfirmParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if p.Hash == "" {
		return nil, wire.Errorf(wire.CodeParams, "confirming needs the hash of what the person saw (confirm.look)")
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
	r.confirmNamed(namedModules(r.Service))
	r.applyConfirmed()
	view := r.describeView(changes, p.Hash)
	for _, c := range changes {
		if filepath.Dir(c.Path) == r.Confirmed.AgentsFolder() {
			view.Notes = append(view.Notes, "descriptions of agents count when the hub starts again: `hookmux hub "+
				"restart`")
			break
		}
	}
	return view, nil
}

// restoreConfirmed writes what was confirmed back into the files. What is in force
// stays as it is.
func (r methods) restoreConfirmed(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
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
func (r *Service) applyConfirmed() {
	r.Forget()
	r.Modules.LoadChanged()
	r.viewOf(places{})
	r.SettingsChanged()
	r.reportUnconfirmed()
}

func (r methods) confirmFirst(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	r.ConfirmInitial(true)
	return map[string]bool{"ok": true}, nil
}

// confirmFile takes a file that a command of a person wrote into the folder of
// hooks, or of rules.
func (r methods) confirmFile(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.ConfirmFileParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if p.Monitor {
		if bad := r.monitorNew(p.File); bad != nil {
			return nil, bad
		}
		return map[string]bool{"ok": true}, nil
	}
	if r.Confirmed == nil {
		return map[string]bool{"ok": true}, nil
	}
	if !r.Confirmed.IsNew(p.File) {
		return map[string]bool{"ok": true}, nil // the hub that this command started took it
	}
	if filepath.Dir(p.File) == r.Confirmed.RulesFolder() {
		if err := onlyTightens(p.File, []byte(p.Content)); err != nil {
			return nil, wire.Errorf(wire.CodeConflict, "%v", err)
		}
	} else if filepath.Dir(p.File) != r.Confirmed.HooksFolder() {
		return nil, wire.Errorf(wire.CodeParams, "%s is not a new file in %s", p.File, r.Confirmed.HooksFolder())
	}
	if err := r.Confirmed.ConfirmFile(p.File, []byte(p.Content)); err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "%v", err)
	}
	r.applyConfirmed()
	return map[string]bool{"ok": true}, nil
}

// followEvery is how often followed files are looked at.
const followEvery = 250 * time.Millisecond

// followFiles takes changes of some files as they come, as long as the calling
// process runs.
func (r methods) followFiles(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
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
	r.viewOf(places{})
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
func (r methods) canFollow(file string) error {
	if !filepath.IsAbs(file) {
		return errors.New("is not an absolute path")
	}
	folder := filepath.Dir(file)
	if folder == r.Confirmed.HooksFolder() || folder == r.Confirmed.AgentsFolder() ||
		folder == r.Confirmed.RulesFolder() || r.Confirmed.Tracked(file) {
		return nil
	}
	return errors.New("is none of your settings, nor a file that your hooks are made of")
}

// confirmFollowed takes what changed in followed files and tells who follows.
func (r *Service) confirmFollowed() {
	changes := r.Confirmed.ConfirmFollowed()
	if len(changes) == 0 {
		return
	}
	settings, _ := r.Config.File(config.User, "") // none: nobody can follow it
	for _, c := range changes {
		if c.Path == settings || c.Path == r.Registry.GlobalFile() {
			r.confirmNamed(namedModules(r)) // followed too: what it names comes with it
		}
	}
	r.applyConfirmed()
	for _, c := range changes {
		r.Log.Info("confirmed", "file", c.Path, "change", string(c.Kind))
		r.Notes.Publish(wire.NoteTrace, wire.Trace{Hook: wire.ConfirmHook, File: c.Path,
			Text: c.Path + " (" + string(c.Kind) + ")"})
	}
}

// Unconfirmed lists what waits, for the hub's status.
func (r *Service) Unconfirmed() []wire.Unconfirmed {
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
