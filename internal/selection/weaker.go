package selection

import (
	"path/filepath"

	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/ruleset"
)

// weakerBy says, a line each, what takes protection away or may approve for you once changes
// take effect. Comments, order and display settings aren't in it.
func (r *Acceptance) weakerBy(changes []accepted.Change) []string {
	basis, _, _ := r.Accepted.State()
	settings, _ := r.Config.File(config.User, "") // none: nothing changed there
	var list []string
	sawSettings := false
	for _, c := range changes {
		switch {
		case c.Kind == accepted.Unreadable:
		case c.Path == settings:
			sawSettings = true
			list = append(list, config.Weaker(c.Before, c.After, basis)...)
		case c.Path == r.Registry.GlobalFile():
			list = append(list, r.Registry.Weaker(c.Before, c.After)...)
		case filepath.Dir(c.Path) == r.Accepted.RulesFolder():
			list = append(list, ruleset.Weaker(c.Path, c.Before, c.After)...)
		case filepath.Dir(c.Path) == r.Accepted.ProgramsFolder():
			list = append(list, ruleset.WeakerPrograms(c.Path, c.Before, c.After)...)
		default: // a TypeScript hook, a program that a hook runs, a description of an agent
			list = append(list, c.Path+" is "+string(c.Kind))
		}
	}
	if basis == accepted.Lost && !sawSettings {
		list = append(list, config.Weaker(nil, nil, basis)...)
	}
	return list
}

// Weaker returns what [wire.MethodAccept] would take away right now.
func (r *Acceptance) Weaker() []string {
	if r.Accepted == nil {
		return nil
	}
	changes, _ := r.Accepted.Pending()
	return r.weakerBy(changes)
}
