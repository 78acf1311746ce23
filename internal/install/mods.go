package install

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// FoundMods describes code loaded into an agent that is notified of calls in addition to
// hooks, and that can override a hook's denial.
type FoundMods struct {
	Loads []string // what loads mods, each with where it is; none if the machine keeps them out
	Lifts []string // what lets mods lift the agent's own deny rules, each with where it is
}

// Mods looks for mods of an agent: in its files of settings, the environment, and the
// folders in which it keeps those that it wrote itself.
func (h *Host) Mods(a *agent.Agent) FoundMods {
	var found FoundMods
	if a.Mods == nil || h.modsAreOff(a) {
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
		found.Loads = append(found.Loads, h.matches(h.resolvePath(folder))...)
	}
	for _, manifest := range a.Mods.Manifests {
		for _, path := range h.matches(h.resolvePath(manifest)) {
			for _, key := range a.Mods.Keys {
				if raw, line := readSetting(h.onDisk(), path, manifest.Format, key); isSet(raw) {
					found.Loads = append(found.Loads, fmt.Sprintf("%s, line %d: %s", path, line, key))
				}
			}
		}
	}
	return found
}

// modsAreOff reports whether a file of the machine's keeps the user's mods from being loaded.
func (h *Host) modsAreOff(a *agent.Agent) bool {
	for _, file := range a.Files {
		if file.Scope != "managed" {
			continue
		}
		for _, path := range h.matches(h.resolvePath(file)) {
			if raw, _ := readSetting(h.onDisk(), path, file.Format, a.Mods.Off); hookentry.SameJSON(raw, []byte("true")) {
				return true
			}
		}
	}
	return false
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

// LiftNote says that mods can override what hookmux denies; "" if there are none.
func (f FoundMods) LiftNote(title string) string {
	if len(f.Loads)+len(f.Lifts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s loads mods, which can lift what hookmux refuses (%s)", title,
		strings.Join(slices.Concat(f.Loads, f.Lifts), "; "))
}

// LiftFix returns what to do about mods.
func LiftFix(a *agent.Agent) string {
	return "remove the ones you didn't choose; to keep all of them out, as root, set " + a.Mods.Off + " to true in " +
		managedFile(a)
}

// managedFile returns where the machine's settings of an agent are.
func managedFile(a *agent.Agent) string {
	for _, file := range a.Files {
		if file.Scope == "managed" && (runtime.GOOS == "darwin") == strings.HasPrefix(file.Path, "/Library/") &&
			!strings.Contains(file.Path, "*") {
			return file.Path
		}
	}
	return "its managed settings"
}

// checkMods reports what loads mods into an agent.
func (d *Doctor) checkMods(a *agent.Agent) {
	if note := d.Host.Mods(a).LiftNote(a.Title); note != "" {
		d.addFinding(a.Name, "mods", Bad, LiftFix(a), "%s", note)
	}
}

// checkLoaded asks an agent whether it loaded hookmux's plugin, for versions that weren't
// tried out.
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
		d.addFinding(a.Name, "loaded", Good, "", "%s lists hookmux's plugin; it's untested in this version", a.Title)
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
