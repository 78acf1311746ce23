package install

import (
	"slices"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// folderTrust is whether an agent trusts a folder.
type folderTrust int

const (
	folderUnasked folderTrust = iota // it will ask
	folderTrusted
	folderRefused
)

// inFolder looks up whether an agent trusts a folder, the way the agent does: of the rules
// whose path contains the folder, the one with the longest path applies.
func (t agentTrust) inFolder(folder string) (folderTrust, string, error) {
	h, spec := t.host, t.agent.Install.Trust.Folders
	switch h.Getenv(spec.SwitchEnv) {
	case "true":
		return folderTrusted, spec.SwitchEnv, nil
	case "false":
		return folderRefused, spec.SwitchEnv, nil
	}
	if path, off := t.asksNowhere(); off {
		return folderTrusted, path, nil
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
	word, asked := LongestPrefixRule(r, spec, folder, h.onDisk().realPath)
	switch {
	case !asked:
		return folderUnasked, path, nil
	case slices.Contains(spec.Yes, word), slices.Contains(spec.Parent, word):
		return folderTrusted, path, nil
	}
	return folderRefused, path, nil
}

// asksNowhere reports whether a setting of the user makes the agent trust every folder, and
// the file that holds the setting.
func (t agentTrust) asksNowhere() (path string, off bool) {
	spec := t.agent.Install.Trust.Folders
	if spec == nil || spec.Switch == nil {
		return "", false
	}
	path = t.host.resolvePath(agent.HookFile{Path: spec.Switch.Path, Env: spec.Switch.Env})
	raw, _ := readSetting(t.host.onDisk(), path, spec.Switch.Format, spec.Switch.Key)
	return path, raw != nil && hookentry.SameJSON(raw, hookentry.AsJSON(spec.Switch.When))
}
