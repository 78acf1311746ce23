package install

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// folderTrust is what an agent thinks of a folder.
type folderTrust int

const (
	folderUnasked folderTrust = iota // it will ask
	folderTrusted
	folderRefused
)

// inFolder looks up whether an agent trusts a folder, the way it does
// itself: the rule with the longest path that the folder is in counts.
func (t agentTrust) inFolder(folder string) (folderTrust, string, error) {
	h, spec := t.host, t.agent.Install.Trust.Folders
	switch h.Getenv(spec.SwitchEnv) {
	case "true":
		return folderTrusted, spec.SwitchEnv, nil
	case "false":
		return folderRefused, spec.SwitchEnv, nil
	}
	if off := spec.Switch; off != nil {
		path := h.resolvePath(agent.HookFile{Path: off.Path, Env: off.Env})
		if raw, _ := readSetting(h.onDisk(), path, off.Format, off.Key); raw != nil &&
			hookentry.SameJSON(raw, hookentry.AsJSON(off.When)) {
			return folderTrusted, path, nil
		}
	}
	path := h.Getenv(spec.Env)
	if path == "" {
		path = h.resolvePath(agent.HookFile{Path: spec.Path})
	}
	src, err := h.onDisk().read(path)
	if err != nil || src == nil {
		return folderUnasked, path, err
	}
	r, err := edit.JSON.Parse(src)
	if err != nil {
		return folderUnasked, path, err
	}
	folder = h.onDisk().realPath(folder)
	longest, word := -1, ""
	for _, rule := range r.Keys() {
		var is string
		if json.Unmarshal(r.Raw(rule), &is) != nil {
			continue
		}
		at := rule
		if slices.Contains(spec.Parent, is) {
			at = filepath.Dir(rule)
		}
		if isWithin(h.onDisk().realPath(at), folder) && len(rule) > longest {
			longest, word = len(rule), is
		}
	}
	switch {
	case longest < 0:
		return folderUnasked, path, nil
	case slices.Contains(spec.Yes, word), slices.Contains(spec.Parent, word):
		return folderTrusted, path, nil
	}
	return folderRefused, path, nil
}

// isWithin reports whether a folder is another one or below it.
func isWithin(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
