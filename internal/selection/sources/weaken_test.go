package sources

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/selection/config"
)

// place makes the folders of a user.
func place(t *testing.T) paths.Dirs {
	t.Helper()
	base := t.TempDir()
	dirs := paths.Dirs{Home: base + "/home", Config: base + "/home/config", State: base + "/state",
		Data:    base + "/data",
		Runtime: base + "/run", System: base + "/etc"}
	for _, dir := range []string{dirs.Config, dirs.State, dirs.Data, dirs.System} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

func open(dirs paths.Dirs, readOnly bool) *Sources {
	return New(Options{Dirs: dirs, Catalogue: agent.Builtin(), Accepted: OpenAccepted(dirs, readOnly)})
}

// samples are calls that some guard refuses when it is on.
var samples = []string{
	"git push --force origin main", "git reset --hard HEAD~3", "cat ~/.ssh/id_rsa", "cat .env", "hookmux off",
	"hookmux guard off destructive", "make deploy", "make clean", "npm publish",
}

// protection says how strictly each sample is refused, each hook guards and each
// gate asks; larger is stricter.
func protection(s *Sources) map[string]int {
	all := map[string]int{}
	set, trusted := s.HooksIn("")
	settings := s.SettingsIn("", trusted)
	guards := s.Guards(GuardOptions{
		Settings: [2]*config.Settings{settings}, Protected: s.ProtectedPaths(nil), Project: s.Dirs.Home,
	})
	for _, command := range samples {
		input, _ := json.Marshal(map[string]string{"command": command})
		ev := &event.Event{ID: "1", Agent: "claude", Native: "PreToolUse", Kind: event.ToolBefore, Cwd: s.Dirs.Home,
			Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{command}, Input: input}}
		for _, e := range hook.Select(guards, ev, nil) {
			if e.LogOnly {
				continue
			}
			d, err := e.Run.Handle(context.Background(), &hook.Call{Event: ev, Hook: &e.Registration})
			rank := map[event.Verdict]int{event.Ask: 1, event.Deny: 2}[d.Verdict]
			if err != nil {
				rank = 2
			}
			all[command] = max(all[command], rank)
		}
	}
	for _, h := range set.Hooks {
		if h.IsEnabled() && !h.LogOnly && h.RoleFor(event.ToolBefore) == hook.Guard {
			rank := 1
			if h.FailureMeans() == hook.FailDeny {
				rank = 2
			}
			all["hook "+h.ID] = rank
		}
	}
	for _, name := range []string{"approvals.policy", "approvals.policy.claude", "approvals.policy.codex"} {
		key, _ := config.Find(name)
		all[name] = slices.Index(key.Choices, settings.Choice(name))
	}
	all["modules"] = len(settings.Strings(config.Modules))
	for _, file := range []string{"~/a.ts", "~/b.ts"} {
		if !OnlyLogsTSHook(s.Dirs, settings, file) {
			all["module "+file] = 1
		}
	}
	return all
}

// wantNoWeaker fails when something is less strict than before.
func wantNoWeaker(t *testing.T, when string, before, after map[string]int) {
	t.Helper()
	for what, was := range before {
		if after[what] < was {
			t.Fatalf("%s: %s fell from %d to %d", when, what, was, after[what])
		}
	}
}

func pick(r *rand.Rand, list ...string) string { return list[r.Intn(len(list))] }

// randomConfig returns a file of settings, seldom a sound one.
func randomConfig(r *rand.Rand) string {
	var keys []string
	for _, name := range []string{"guard.destructive", "guard.secrets", "guard.own-files"} {
		if r.Intn(2) == 0 {
			keys = append(keys, fmt.Sprintf("%q: %q", name, pick(r, "off", "log", "ask", "on", "maybe")))
		}
	}
	for _, name := range []string{"approvals.policy", "approvals.policy.claude", "approvals.policy.codex"} {
		if r.Intn(3) == 0 {
			keys = append(keys, fmt.Sprintf("%q: %q", name, pick(r, "off", "permission", "side-effects", "all")))
		}
	}
	if r.Intn(2) == 0 {
		keys = append(keys, `"guard.allow": [`+pick(r, "", `"own-files.control"`,
			`"git.force-push", "own-files.control"`, `7`)+`]`)
	}
	if r.Intn(3) == 0 {
		keys = append(keys, `"modules": [`+pick(r, "", `"~/a.ts"`, `"~/b.ts", "~/a.ts"`)+`]`)
	}
	if r.Intn(3) == 0 {
		keys = append(keys, `"modules.log": [`+pick(r, "", `"~/a.ts"`, `"~/b.ts", "~/a.ts"`)+`]`)
	}
	if r.Intn(4) == 0 {
		keys = append(keys, `"journal.keep": "1h"`)
	}
	if r.Intn(4) == 0 {
		keys = append(keys, `"rules.modes": ["a=`+pick(r, "off", "log", "block")+`", "b=ask"]`)
	}
	text := "{" + strings.Join(keys, ", ") + "}"
	if r.Intn(6) == 0 {
		text = text[:r.Intn(len(text))]
	}
	return text
}

func randomHooks(r *rand.Rand) string {
	var hooks []string
	for _, id := range []string{"a", "b", "c"} {
		if r.Intn(2) == 0 {
			continue
		}
		more := pick(
			r,
			"",
			`, "role": "guard"`,
			`, "role": "observe"`,
			`, "enabled": false`,
			`, "onFailure": "ignore"`,
			`, "locked": true`,
			`, "log": true`,
		)
		hooks = append(
			hooks,
			fmt.Sprintf(`{"id": %q, "agent": "*", "hookType": "tool.before", "handler": "command", "target": %q%s}`,
				id, pick(r, "true", "false", "exit 2"), more),
		)
	}
	text := `{"hooks": [` + strings.Join(hooks, ", ") + `]}`
	if r.Intn(6) == 0 {
		text = text[:r.Intn(len(text))]
	}
	return text
}

// randomRules returns a file of rules, whose ids other files have as well.
func randomRules(r *rand.Rand) string {
	text := "version: 1\nrules:\n"
	for _, id := range []string{"a", "b", "c"} {
		if r.Intn(2) == 0 {
			continue
		}
		call := pick(r, "make deploy", "make clean", "npm publish", "git reset --hard HEAD~3")
		words := strings.Fields(call)
		text += fmt.Sprintf("  - {id: %s, why: x, match: {program: %s, subcommand: %s}, decide: %s, state: %s, "+
			"examples: {hit: [%s]}}\n", id, words[0], words[1], pick(r, "deny", "ask", "warn", "allow", "maybe"),
			pick(r, "on", "on", "ask", "log", "off"), pick(r, call, call, call, "ls"))
	}
	if r.Intn(6) == 0 {
		text = text[:r.Intn(len(text))]
	}
	return text
}

// edit does to a file what dotfile managers, editors and agents do.
func editFile(t *testing.T, r *rand.Rand, path, text string) string {
	t.Helper()
	var err error
	what := pick(r, "write", "write", "write", "replace", "empty", "remove", "dangle", "folder", "link", "rename")
	if info, lstatErr := os.Lstat(path); lstatErr == nil && (info.IsDir() || info.Mode()&os.ModeSymlink != 0) {
		err = os.RemoveAll(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	switch what {
	case "write":
		err = os.WriteFile(path, []byte(text), 0o600)
	case "replace":
		if err = os.WriteFile(path+".new", []byte(text), 0o600); err == nil {
			err = os.Rename(path+".new", path)
		}
	case "empty":
		err = os.WriteFile(path, nil, 0o600)
	case "remove":
		err = os.RemoveAll(path)
	case "dangle":
		_ = os.Remove(path)
		err = os.Symlink(filepath.Join(filepath.Dir(path), "nowhere"), path)
	case "folder":
		_ = os.Remove(path)
		err = os.Mkdir(path, 0o700)
	case "link":
		_ = os.Remove(path)
		if err = os.WriteFile(path+".elsewhere", []byte(text), 0o600); err == nil {
			err = os.Symlink(path+".elsewhere", path)
		}
	case "rename":
		_ = os.Rename(path, path+".old")
	}
	if err != nil {
		t.Fatal(err)
	}
	return what
}

// No series of edits of the user's files weakens what is in force, across
// restarts of the daemon and for `hookmux evaluate` as well.
func TestEditsNeverWeaken(t *testing.T) {
	for seed := range int64(20) {
		r := rand.New(rand.NewSource(seed))
		dirs := place(t)
		if r.Intn(3) == 0 {
			text := pick(r, `{"guard.destructive": "block"}`, `{"guard.secrets": "ask", "approvals.policy": "side-effects"}`)
			if err := os.WriteFile(filepath.Join(dirs.System, "config.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		files := map[string]func(*rand.Rand) string{
			filepath.Join(dirs.Config, "config.json"): randomConfig, filepath.Join(dirs.Config, "hooks.json"): randomHooks,
			filepath.Join(dirs.Config, "rules/m.yaml"): randomRules, filepath.Join(dirs.Config, "rules/n.yaml"): randomRules,
		}
		if err := os.Mkdir(filepath.Join(dirs.Config, "rules"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, path := range slices.Sorted(maps.Keys(files)) {
			if err := os.WriteFile(path, []byte(files[path](r)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := open(dirs, false)
		if r.Intn(3) > 0 {
			_ = s.Accepted.AcceptInitial(true) // broken files are not taken
		}
		before := protection(s)
		for step := range 16 {
			path := filepath.Join(dirs.Config, pick(r, "config.json", "hooks.json", "rules/m.yaml", "rules/n.yaml"))
			when := fmt.Sprintf("seed %d, step %d: %s %s", seed, step, editFile(t, r, path, files[path](r)),
				filepath.Base(path))
			wantNoWeaker(t, when+", evaluated without a daemon", before, protection(open(dirs, true)))
			if r.Intn(4) == 0 {
				s = open(dirs, false)
			}
			after := protection(s)
			wantNoWeaker(t, when, before, after)
			wantNoWeaker(t, when+", evaluated after the daemon", after, protection(open(dirs, true)))
			before = after
		}
	}
}

// Without an accepted state guards are on, whatever the files say.
func TestLostStateMeansGuards(t *testing.T) {
	for name, damage := range map[string]func(state string) error{
		"removed":  func(state string) error { return os.Remove(filepath.Join(state, "accepted.json")) },
		"emptied":  func(state string) error { return os.WriteFile(filepath.Join(state, "accepted.json"), nil, 0o600) },
		"replaced": func(state string) error { return replaceByFolder(filepath.Join(state, "accepted.json")) },
		"forged": func(state string) error {
			return os.WriteFile(filepath.Join(state, "accepted.json"),
				[]byte(`{"content":{"basis":"accepted","files":{}},"mac":"00"}`), 0o600)
		},
		"without its key":                    func(state string) error { return os.Remove(filepath.Join(state, "consent.key")) },
		"without its contents":               func(state string) error { return os.RemoveAll(filepath.Join(state, "accepted")) },
		"removed, mark and all of the state": os.RemoveAll,
	} {
		dirs := place(t)
		path := filepath.Join(dirs.Config, "config.json")
		if err := os.WriteFile(path, []byte(`{"guard.destructive": "block", "guard.secrets": "block"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := open(dirs, false).Accepted.AcceptInitial(true); err != nil {
			t.Fatal(err)
		}
		before := protection(open(dirs, true))
		if err := os.WriteFile(path, []byte(`{"guard.destructive": "off", "guard.own-files": "off"}`),
			0o600); err != nil {
			t.Fatal(err)
		}
		if err := damage(dirs.State); err != nil {
			t.Fatal(err)
		}
		wantNoWeaker(t, name+", evaluated without a daemon", before, protection(open(dirs, true)))
		wantNoWeaker(t, name, before, protection(open(dirs, false)))
	}
}

func replaceByFolder(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Mkdir(path, 0o700)
}
