package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// FoundMods is what loads code into an agent that hears of calls beside hooks.
type FoundMods struct {
	Loads []string // what loads mods, each with where it is
	Lifts []string // what lets mods lift refusals, each with where it is
}

// Mods looks for mods of an agent: in its files of settings, the environment, and the
// folders in which it keeps those that it wrote itself.
func (h *Host) Mods(a *agent.Agent) FoundMods {
	var found FoundMods
	if a.Mods == nil {
		return found
	}
	seen := map[string]bool{}
	for _, file := range a.Files {
		for _, path := range h.matches(h.resolvePath(file)) {
			if seen[h.onDisk().realPath(path)] {
				continue
			}
			seen[h.onDisk().realPath(path)] = true
			for _, key := range a.Mods.Settings {
				if raw, line := readSetting(h.onDisk(), path, file.Format, key); isSet(raw) {
					found.Loads = append(found.Loads, fmt.Sprintf("%s, line %d: %s", path, line, key))
				}
			}
			if raw, line := readSetting(h.onDisk(), path, file.Format, a.Mods.Lifts); raw != nil &&
				!hookentry.SameJSON(raw, []byte("false")) && isSet(raw) {
				found.Lifts = append(found.Lifts, fmt.Sprintf("%s, line %d: %s", path, line, a.Mods.Lifts))
			}
		}
	}
	for _, name := range a.Mods.Variables {
		if h.Getenv(name) != "" {
			found.Loads = append(found.Loads, "the variable "+name)
		}
	}
	for _, folder := range a.Mods.Folders {
		found.Loads = append(found.Loads, h.matches(h.resolvePath(agent.HookFile{Path: folder}))...)
	}
	return found
}

// matches returns the files that match a path, which may be a glob.
func (h *Host) matches(path string) []string {
	if !strings.ContainsAny(path, "*?[") {
		return slices.DeleteFunc([]string{path}, func(one string) bool { return one == "" })
	}
	return h.onDisk().glob(filepath.Clean(path))
}

// isSet reports whether a setting says anything.
func isSet(raw []byte) bool {
	return raw != nil && !slices.Contains([]string{"null", "[]", "{}", `""`}, strings.TrimSpace(string(raw)))
}

// LiftNote says that mods can lift what hookmux refuses; "" where they cannot.
func (f FoundMods) LiftNote(title string) string {
	if len(f.Lifts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: a mod of %s can lift what hookmux refuses", strings.Join(f.Lifts, "; "), title)
}

// checkMods says what loads mods into an agent, and whether these can lift refusals.
func (d *Doctor) checkMods(a *agent.Agent) {
	found := d.Host.Mods(a)
	if note := found.LiftNote(a.Title); note != "" {
		d.addFinding(a.Name, "mods", Bad, "take the setting out, or set it to false", "%s", note)
	}
	if len(found.Loads) > 0 {
		d.addFinding(a.Name, "mods", Note, "",
			"loads mods, which hear of calls beside hooks (%s); by its documents they cannot lift a refusal unless %s is true",
			strings.Join(found.Loads, "; "), a.Mods.Lifts)
	}
}

// checkLoaded asks an agent whether it loaded hookmux's plugin, for versions in which
// nobody ran it.
func (d *Doctor) checkLoaded(a *agent.Agent) {
	if d.Host.AgentVersion == nil {
		return
	}
	why := a.OnlyDocumented(d.Host.AgentVersion(a))
	if why == "" {
		return
	}
	spec := a.Install.Plugin
	ask := a.Launch.Program + " " + strings.Join(spec.Lists, " ")
	if d.Plugins == nil || len(spec.Lists) == 0 {
		d.addFinding(a.Name, "loaded", Note, ask, "%s", why)
		return
	}
	listed, err := d.Plugins(a, spec.Lists)
	switch {
	case err != nil:
		d.addFinding(a.Name, "loaded", Note, ask, "%s; it couldn't be asked (%v)", why, err)
	case listsPlugin(listed):
		d.addFinding(a.Name, "loaded", Good, "", "%s lists hookmux's plugin; nobody ran it in this version", a.Title)
	default:
		d.addFinding(a.Name, "loaded", Bad, "hookmux install "+a.Name+", then restart "+a.Title,
			"%s doesn't list hookmux's plugin as loaded (%s): nothing guards it", a.Title, ask)
	}
}

// listsPlugin reports whether a list of plugins has hookmux's, loaded.
func listsPlugin(list string) bool {
	for line := range strings.Lines(list) {
		fields := strings.Fields(strings.ToLower(line))
		if slices.Contains(fields, "hookmux") && !slices.Contains(fields, "failed") {
			return true
		}
	}
	return false
}
