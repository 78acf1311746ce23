package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/redact"
)

// Mine is a person's own config of an agent, to be part of the proof: files
// that shadow each other, hooks that answer as well, trust that was given. It
// is copied into the throw-away home and never written to.
//
// Credentials stay behind: of each file only the settings about hooks, leave
// and trust are taken, by name; nobody can list everything that may hold a
// secret. Within those, values whose name or shape is that of a secret are left
// out. Files that hold an account, and programs, are not copied at all.
type Mine struct {
	Home, Project string
	Getenv        func(string) string
}

// accountFile names files that hold an account more than config.
var accountFile = regexp.MustCompile(`(?i)(auth|credential|token|oauth|secret)|^\.claude\.json$`)

// secretName names settings whose value stays behind.
var secretName = regexp.MustCompile(`(?i)(api_?key|token|secret|password|passwd|credential|oauth|auth_?header|bearer|private_?key)|^key$`)

// private names tables whose values are anything, at whatever depth.
var private = map[string]bool{"env": true, "set": true, "headers": true}

// secretFlag is an argument that is followed by a secret.
var secretFlag = regexp.MustCompile(`(?i)^(-H|-u|--(header|user|proxy-user|pass)|--?[a-z_-]*(key|token|secret|password|passwd|credential|oauth|bearer)[a-z_-]*)$`)

// taken names the top-level settings that come along, per format: those that
// decide whether and how hooks run.
var taken = map[bool]map[string]bool{
	false: names("hooks", "permissions", "disableAllHooks", "allowManagedHooksOnly", "allowManagedPermissionRulesOnly",
		"sandbox", "outputStyle", "hooksConfig", "hooksDisabled", "enableHooks", "version", "trustedFolders", "trusted_folders"),
	true: names("hooks", "projects", "features", "sandbox_mode", "sandbox_workspace_write", "approval_policy",
		"allow_managed_hooks_only", "disable_all_hooks", "permission", "permissions", "trusted_folders", "folders"),
}

func names(list ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range list {
		out[n] = true
	}
	return out
}

// stay is a file that is not copied.
type stay struct{ file, why string }

// files are the person's own files of an agent and where they go.
func (m *Mine) files(a *agent.Agent, home, project string) (copies [][2]string, left []stay) {
	for _, f := range a.Files {
		if f.Scope != "user" && f.Scope != "project" {
			continue // it lies at a fixed place and counts by itself
		}
		pattern := f.Resolve(m.Home, m.Project, m.Getenv)
		to := f.Resolve(home, project, nil)
		if pattern == "" || to == "" {
			continue
		}
		found, _ := filepath.Glob(pattern) // a bad pattern finds nothing
		for _, from := range found {
			if accountFile.MatchString(filepath.Base(from)) {
				left = append(left, stay{from, "which holds an account"})
				continue
			}
			if f.Format == "script" || f.Format == "yaml" {
				left = append(left, stay{from, "which is no list of settings that could be picked from"})
				continue
			}
			copies = append(copies, [2]string{from, filepath.Join(filepath.Dir(to), filepath.Base(from))})
		}
	}
	return copies, left
}

// notes say what was taken along.
func (m *Mine) notes(a *agent.Agent) []string {
	if a == nil {
		return []string{"none of your files: hookmux does not know this agent's config yet"}
	}
	copies, left := m.files(a, "/home", "/project")
	var out []string
	for _, c := range copies {
		out = append(out, "with a copy of "+c[0])
	}
	for _, l := range left {
		out = append(out, "without "+l.file+", "+l.why)
	}
	if len(out) == 0 {
		out = append(out, "you have no config of this agent")
	}
	return out
}

// into copies the files to a stage. What the stage already has there (the
// scripted model) counts more.
func (m *Mine) into(st *Stage) error {
	if m == nil {
		return nil
	}
	a, ok := agent.Builtin().Agent(st.Driver.Name)
	if !ok {
		return nil
	}
	copies, _ := m.files(a, st.Home, st.Project)
	for _, c := range copies {
		if err := m.copy(a, c[0], c[1], st); err != nil {
			return err
		}
	}
	return nil
}

func (m *Mine) copy(a *agent.Agent, from, to string, st *Stage) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("%s: %w; run without --mine", from, err)
	}
	isTOML := strings.HasSuffix(from, ".toml")
	theirs, err := parseConfig(text, isTOML)
	if err != nil {
		// The agent shall meet a broken file where the person has one; what is
		// in it cannot be told apart, so none of it comes along.
		return writeCopy(to, []byte(brokenConfig))
	}
	theirs = m.clean(pick(a, theirs, isTOML), st).(map[string]any)
	if ours, err := os.ReadFile(to); err == nil {
		own, err := parseConfig(ours, isTOML)
		if err != nil {
			return fmt.Errorf("%s: %w", to, err)
		}
		theirs = laidOver(theirs, own)
	}
	var out []byte
	if isTOML {
		out, err = toml.Marshal(theirs)
	} else {
		out, err = json.MarshalIndent(theirs, "", "  ")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return writeCopy(to, out)
}

// brokenConfig parses as nothing, neither JSON nor TOML.
const brokenConfig = "{ = this stands for a file that does not parse\n"

// pick takes the settings that come along. Besides those named, the names of
// the agent's own events (some files hold nothing else) and paths, to which
// trust is given.
func pick(a *agent.Agent, whole map[string]any, isTOML bool) map[string]any {
	out := map[string]any{}
	for key, value := range whole {
		_, isEvent := a.Event(key)
		if taken[isTOML][key] || isEvent || filepath.IsAbs(key) {
			out[key] = value
		}
	}
	return out
}

func writeCopy(to string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

func parseConfig(text []byte, isTOML bool) (map[string]any, error) {
	whole := map[string]any{}
	if isTOML {
		return whole, toml.Unmarshal(text, &whole)
	}
	plain, err := hujson.Standardize(bytes.TrimPrefix(text, []byte("\ufeff")))
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(plain))
	dec.UseNumber()
	return whole, dec.Decode(&whole)
}

// clean takes out what stays behind, and turns paths of the person's home into
// those of the stage: trust is given to paths.
func (m *Mine) clean(v any, st *Stage) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if private[key] || secretName.MatchString(key) && !filepath.IsAbs(key) && !isHash(value) && !isBool(value) {
				continue
			}
			out[m.moved(key, st)] = m.clean(value, st)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = m.clean(e, st)
			// In a command that is a list, a flag's value stands alone.
			if before, ok := v[max(0, i-1)].(string); ok && i > 0 && secretFlag.MatchString(before) {
				out[i] = "REDACTED"
			}
		}
		return out
	case string:
		return redact.Text(v)
	}
	return v
}

func isBool(v any) bool { _, ok := v.(bool); return ok }

// isHash: a hash of a trusted hook is no secret.
func isHash(v any) bool {
	s, ok := v.(string)
	return ok && strings.HasPrefix(s, "sha256:")
}

// moved renames keys that are paths. Commands stay as they are but for secrets
// in them: they are meant to run as the person has them.
func (m *Mine) moved(key string, st *Stage) string {
	for _, pair := range [][2]string{{m.Project, st.Project}, {m.Home, st.Home}} {
		if pair[0] == "" || pair[0] == "/" {
			continue
		}
		if key == pair[0] || strings.HasPrefix(key, pair[0]+"/") {
			return pair[1] + strings.TrimPrefix(key, pair[0])
		}
	}
	return key
}

// laidOver is base with every value of top in its place, table by table.
func laidOver(base, top map[string]any) map[string]any {
	for key, value := range top {
		if inner, ok := value.(map[string]any); ok {
			if below, ok := base[key].(map[string]any); ok {
				base[key] = laidOver(below, inner)
				continue
			}
		}
		base[key] = value
	}
	return base
}
