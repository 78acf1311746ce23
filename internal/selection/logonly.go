package selection

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/wire"
)

// LogOnly lists the guards, hooks and rules that apply everywhere and are in log mode,
// with how often each would have matched.
func LogOnly(r *Service, would func(id string) uint64) []wire.LogOnlyHook {
	var list []wire.LogOnlyHook
	known := map[string]bool{}
	for _, e := range r.viewOf(places{}).entries {
		if e.LogOnly && e.IsEnabled() && !known[e.ID] && !sources.IsRulesHook(e.ID) {
			known[e.ID] = true
			list = append(list, wire.LogOnlyHook{Hook: e.ID, Would: would(e.ID)})
		}
	}
	return append(list, logOnlyRules(r, would)...)
}

// logNew puts a TypeScript hook that is about to be written into log mode. One that is
// active already must be switched by its setting, which asks.
func (r *edits) logNew(file string) *wire.Error {
	folder := filepath.Join(r.Dirs.Config, "hooks")
	root, inProject := strings.CutSuffix(filepath.Dir(file),
		string(filepath.Separator)+filepath.FromSlash(trust.TSHookDir))
	if filepath.Dir(file) != folder && !inProject || !filepath.IsAbs(file) {
		return wire.Errorf(wire.CodeParams, "%s is neither in %s nor in a project's %s", file, folder, trust.TSHookDir)
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return wire.Errorf(wire.CodeConflict, "%s is there already; `hookmux hooks log` switches it", file)
	}
	if r.isInForce(root, file) {
		return wire.Errorf(wire.CodeConflict, "you accepted %s, and it is active although the file is gone; "+
			"run `hookmux config accept` first", file)
	}
	list := r.Config.Settings().Strings(config.ModulesLog)
	name := file
	if filepath.Dir(file) == folder {
		name = filepath.Base(file)
	}
	if sources.OnlyLogsTSHook(r.Dirs, r.Config.Settings(), file) {
		return nil
	}
	b, _ := json.Marshal(append(list, name))
	if err := r.setConfig(config.User, "", config.ModulesLog, b); err != nil {
		return wire.Errorf(wire.CodeInternal, "%v", err)
	}
	return nil
}

// isInForce reports whether a hook counts although its file is not there: a
// person accepted it, or trusts the project with it.
func (r *edits) isInForce(root, file string) bool {
	if r.Accepted != nil && !r.Accepted.IsNew(file) {
		return true
	}
	if root == filepath.Dir(file) { // not in a project
		return false
	}
	trusted := r.Trust.InForce(root)
	return slices.ContainsFunc(trusted.TSHooks(), func(copied string) bool { return trusted.Shown(copied) == file })
}
