package install

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// AddWithoutRecord adds commands to an agent's hooks of a scope, after whatever is there, in
// the agent's own shape. Unlike Install it updates nothing and keeps no record: it is for
// throw-away homes in which broken hooks are tried out.
func (h *Host) AddWithoutRecord(a *agent.Agent, scope string, commands []hookentry.Command) error {
	if err := h.refuseRealHome(); err != nil {
		return err
	}
	if a.Install == nil || a.Install.Way == agent.WayPlugin {
		return fmt.Errorf("%s: takes no hook commands; `hookmux agents show %s` says what it can do", a.Name, a.Name)
	}
	if a.Install.Way == agent.WayScripts {
		var err error
		for i := 0; i < len(commands) && err == nil; i++ {
			err = scriptsOf(h, a).Add(scope, commands[i])
		}
		return err
	}
	place, path, ok := a.Install.Place(scope, h.diskView(a.Install))
	if !ok {
		return fmt.Errorf("%s: has no hooks of a %s; try the other scope", a.Name, scope)
	}
	t, err := hookentry.NewTarget(path, place, a.Install)
	if err != nil {
		return err
	}
	src, err := h.onDisk().read(path)
	if err != nil {
		return BrokenFile(path, err)
	}
	if src == nil {
		src = t.FreshText(place)
	}
	for _, c := range commands {
		if src, err = t.AppendCommand(src, c); err != nil {
			return BrokenFile(path, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return userfile.Store(path, src)
}

// Has reports whether a place that the agent uses has hooks of ours, trusted or not: whether
// the agent runs them is another question.
func (h *Host) Has(a *agent.Agent) bool {
	for _, s := range h.ReadSites(a) {
		if s.Ours > 0 && !s.Shadowed {
			return true
		}
	}
	return false
}
