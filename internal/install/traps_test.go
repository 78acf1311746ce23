package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/tmux"
)

// Ours stays where it is, is brought up to date, and is there once.
func TestAnOldEntryIsBroughtUpToDateInItsPlace(t *testing.T) {
	a := known(t, "claude")
	h := newHost(t)
	path := filepath.Join(h.Dirs.Home, ".claude/settings.json")
	ours := `{"hooks": [{"type": "command", "command": "/old/place/hookmux-hook", "args": ["claude", "PreToolUse", "60"], "timeout": 60, "statusMessage": "theirs"}]}`
	write(t, path, `{"hooks": {"PreToolUse": [`+ours+`, {"hooks": [{"type": "command", "command": "mine"}]}, `+ours+
		`], "OldEvent": [`+ours+`]}}`)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Events: []string{"PreToolUse"}})
	var got map[string]map[string][]struct {
		Hooks []struct {
			Command, StatusMessage string
			Args                   []string
			Timeout                int
		}
	}
	d, err := edit.Parse([]byte(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	list := got["hooks"]["PreToolUse"]
	if len(list) != 2 || len(got["hooks"]) != 1 {
		t.Fatalf(`read(t, path) = %q, want len(list) = 2 and len(got["hooks"]) = 1`, read(t, path))
	}
	first := list[0].Hooks[0]
	if !strings.HasSuffix(first.Command, "exec "+Shim(h.Dirs)+" claude PreToolUse 3600") || first.Timeout != 3600 ||
		first.Args != nil || first.StatusMessage != "theirs" || list[1].Hooks[0].Command != "mine" {
		t.Errorf(`read(t, path) = %q, want first.Command that ends with "exec " + Shim(h.Dirs) + " claude `+
			`PreToolUse 3600", first.Timeout = 3600, first.Args = nil, first.StatusMessage = "theirs" and list[1].Hooks[0].Command = "mine"`,
			read(t, path))
	}
}

// A person put their own handler into our group.
func TestOnlyOurHandlerLeavesASharedGroup(t *testing.T) {
	a := known(t, "claude")
	h := newHost(t)
	p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Events: []string{"PreToolUse"}})
	path := p.Agents[0].Path
	text, err := edit.AppendToArray([]byte(read(t, path)), []string{"hooks", "PreToolUse", "0", "hooks"},
		map[string]any{"type": "command", "command": "mine"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(text))
	mustUninstall(t, h, a)
	d, err := edit.Parse([]byte(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(d.Raw()); got != `{"hooks":{"PreToolUse":[{"hooks":[{"command":"mine","type":"command"}]}]}}` {
		t.Errorf(`d.Raw() = %q, want {"hooks":{"PreToolUse":[{"hooks":[{"command":"mine","type":"command"}]}]}}`, got)
	}
}

// Kimi and Cursor drop everything over one member they do not know; Cursor
// reads // in a string as a comment.
func TestOnlyNamedMembersAndHarmlessTextAreWritten(t *testing.T) {
	for _, a := range installable() {
		if !a.Install.TakesEntries() {
			continue
		}
		h := newHost(t)
		place, path, _ := a.Install.Place(User, h.diskView(a.Install))
		mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
		tg, err := hookentry.NewTarget(path, place, a.Install)
		if err != nil {
			t.Fatal(err)
		}
		r, err := tg.Format.Parse([]byte(read(t, path)))
		if err != nil {
			t.Fatal(err)
		}
		hs := a.Install.Handler
		allowed := map[string]bool{hs.Command: true, hs.Args: true, hs.Event: true, hs.Timeout: true,
			hs.Name: true, hs.Inside: true}
		for k := range hs.With {
			allowed[k] = true
		}
		events := map[string]int{}
		for _, s := range tg.Handlers(r) {
			events[s.Event]++
			for k := range s.Members {
				if !allowed[k] {
					t.Errorf("%s: %s: member %s is not named in the catalogue", a.Name, s.Event, k)
				}
			}
			if strings.Contains(s.Text, "//") || strings.Contains(s.Text, "/*") {
				t.Errorf("%s: %s could be read as a comment", a.Name, s.Text)
			}
			if e, ok := a.Event(s.Event); !ok || e.Install != agent.InstallDefault {
				t.Errorf("%s: %s is installed; want ok and e.Install == agent.InstallDefault", a.Name, s.Event)
			}
			if s.Command.Seconds != hookentry.Limit(a, mustEvent(t, a, s.Event)) {
				t.Errorf("%s: %s: the hook believes in %d s", a.Name, s.Event, s.Command.Seconds)
			}
		}
		for event, n := range events {
			if n != 1 {
				t.Errorf("%s: %d hooks at %s, want 1", a.Name, n, event)
			}
		}
	}
}

func mustEvent(t *testing.T, a *agent.Agent, name string) *agent.EventSpec {
	t.Helper()
	e, ok := a.Event(name)
	if !ok {
		t.Fatalf("name = %q: got ok = false, want true", name)
	}
	return e
}

func TestOddPlacesAreErrorsAndNotTraps(t *testing.T) {
	a := known(t, "claude")
	for name, lay := range map[string]func(h *Host){
		"the folder is a file": func(h *Host) { write(t, filepath.Join(h.Dirs.Home, ".claude"), "") },
		"the file is a folder": func(h *Host) { write(t, filepath.Join(h.Dirs.Home, ".claude/settings.json/x"), "") },
		"links in a circle": func(h *Host) {
			write(t, filepath.Join(h.Dirs.Home, ".claude/x"), "")
			_ = os.Symlink("settings.json", filepath.Join(h.Dirs.Home, ".claude/settings.json"))
		},
		"cut off": func(h *Host) { write(t, filepath.Join(h.Dirs.Home, ".claude/settings.json"), `{"hooks": {`) },
	} {
		h := newHost(t)
		lay(h)
		before := picture(t, h.Dirs.Home)
		_, err := h.Install(Options{Agents: []*agent.Agent{a, known(t, "grok")}, Scope: User})
		if err == nil || !strings.Contains(err.Error(), ".claude") {
			t.Errorf(`%s: error %v, want an error and ".claude" in err.Error()`, name, err)
		}
		if d := cmp.Diff(before, picture(t, h.Dirs.Home)); d != "" {
			t.Errorf(`%s: cmp.Diff(before, picture(t, h.Dirs.Home)) = %s, want ""`, name, d)
		}
	}
}

// An empty file is a file nobody wrote anything into yet.
func TestEmptyFiles(t *testing.T) {
	for _, name := range []string{"claude", "kimi", "qwen"} {
		for _, text := range []string{"", "\n", " \n\n"} {
			a := known(t, name)
			h := newHost(t)
			_, path, _ := a.Install.Place(User, h.diskView(a.Install))
			write(t, path, text)
			mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
			if !h.Installed(a) {
				t.Errorf("%s: not installed into %q", name, text)
			}
			mustUninstall(t, h, a)
			if got := read(t, path); got != text {
				t.Errorf("%s: %q became %q; want got == text", name, text, got)
			}
		}
	}
}

// Somebody wrote between plan and writing.
func TestAFileThatChangedMeanwhileIsNotOverwritten(t *testing.T) {
	a := known(t, "claude")
	h := newHost(t)
	path := filepath.Join(h.Dirs.Home, ".claude/settings.json")
	write(t, path, "{}")
	p, err := h.Install(Options{Agents: []*agent.Agent{a}, Scope: User})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, `{"new": 1}`)
	if err := p.Apply(&Disk{}); err == nil || read(t, path) != `{"new": 1}` {
		t.Errorf(`%v: read(t, path) = %s, want an error and {"new": 1}`, err, read(t, path))
	}
}

// A link that an earlier version made to a folder that was moved or cleaned becomes a
// copy; one that works, and a copy, are left to `hookmux install`.
func TestADeadLinkBecomesACopy(t *testing.T) {
	h := newHost(t)
	mustInstall(t, h, Options{Agents: []*agent.Agent{known(t, "claude")}})
	shim := Shim(h.Dirs)
	clone := t.TempDir()
	next := filepath.Join(clone, hookentry.HookName)
	for _, name := range Names {
		writeProgram(t, filepath.Join(clone, name), "of the clone: "+name)
	}
	if err := RefreshShim(h.Dirs, next, true); err != nil {
		t.Fatal(err)
	}
	if to, _ := os.Readlink(shim); to != h.Hook {
		t.Errorf("a link that works leads to %s now, want %s as before", to, h.Hook)
	}
	if err := os.Remove(h.Hook); err != nil {
		t.Fatal(err)
	}
	if err := RefreshShim(h.Dirs, next, false); err != nil {
		t.Fatal(err)
	}
	for _, name := range Names {
		if got := read(t, filepath.Join(filepath.Dir(shim), name)); got != "of the clone: "+name {
			t.Errorf("%s is %q, want the clone's", name, got)
		}
	}
	writeProgram(t, next, "newer")
	if err := RefreshShim(h.Dirs, next, true); err != nil || read(t, shim) == "newer" {
		t.Errorf("a copy was replaced without `hookmux install` (%v)", err)
	}
	if err := RefreshShim(newHost(t).Dirs, next, true); err != nil {
		t.Error(err)
	}
}

// hostFromClone returns one whose programs are in a folder that you can write to.
func hostFromClone(t *testing.T) (h *Host, clone string) {
	t.Helper()
	h = newHost(t)
	clone = filepath.Dir(h.Hook)
	for _, name := range Names {
		writeProgram(t, filepath.Join(clone, name), "#!/bin/sh\necho first "+name+"\n")
	}
	target := NewShimTarget(h.Dirs, h.Hook)
	h.Hook, h.Copied = target.Hook, target.Copied
	return h, clone
}

func writeProgram(t *testing.T, file, text string) {
	t.Helper()
	write(t, file, text)
	if err := os.Chmod(file, 0o755); err != nil {
		t.Fatal(err)
	}
}

// Moving or cleaning the clone that hookmux was installed from takes no guard away, an
// upgrade replaces the copies, and uninstalling takes them away.
func TestInstalledFromAClone(t *testing.T) {
	h, clone := hostFromClone(t)
	claude := known(t, "claude")
	p := mustInstall(t, h, Options{Agents: []*agent.Agent{claude}})
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "a copy of hookmux") {
		t.Errorf("notes = %q, want that agents run a copy", p.Notes)
	}
	target := ShimTarget{Hook: h.Hook, Copied: h.Copied}
	if outdated := target.Outdated(h.Dirs); outdated != "" {
		t.Errorf("just copied: %q", outdated)
	}
	// An older installation has a link there.
	if err := os.Remove(Shim(h.Dirs)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(clone, hookentry.HookName), Shim(h.Dirs)); err != nil {
		t.Fatal(err)
	}
	mustInstall(t, h, Options{Agents: []*agent.Agent{claude}})

	for _, name := range Names {
		writeProgram(t, filepath.Join(clone, name), "#!/bin/sh\necho second "+name+"\n")
		later := time.Now().Add(time.Minute)
		if err := os.Chtimes(filepath.Join(clone, name), later, later); err != nil {
			t.Fatal(err)
		}
	}
	if outdated := target.Outdated(h.Dirs); !strings.Contains(outdated, "older than this hookmux") {
		t.Errorf("after an upgrade: %q, want that the copy is older", outdated)
	}
	mustInstall(t, h, Options{Agents: []*agent.Agent{claude}})
	if outdated := target.Outdated(h.Dirs); outdated != "" {
		t.Errorf("installed again: %q", outdated)
	}
	if err := os.Rename(clone, clone+"x"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(Shim(h.Dirs)).Output(); string(out) != "second hookmux-hook\n" {
		t.Errorf("the clone was moved, and the hook says %q (%v)", out, err)
	}
	// The copy itself is what is run now.
	copied := NewShimTarget(h.Dirs, Shim(h.Dirs))
	if s := copied.Steps(h.Dirs, ""); len(s) > 0 {
		t.Errorf("the copy would be copied: %v", s)
	}
	mustUninstall(t, h, claude)
	if _, err := os.Lstat(filepath.Dir(Shim(h.Dirs))); !os.IsNotExist(err) {
		t.Errorf("the copies are still there (%v)", err)
	}
}

// From copies to a package that only root can replace: the link takes the copy's place.
func TestALinkReplacesCopies(t *testing.T) {
	h, _ := hostFromClone(t)
	mustInstall(t, h, Options{Agents: []*agent.Agent{known(t, "claude")}})
	target := NewShimTarget(h.Dirs, "/usr/bin/true")
	if target.Copied != "" {
		t.Fatalf("a program of the system is copied: %+v", target)
	}
	if err := RunSteps(target.Steps(h.Dirs, ""), &Disk{}); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(filepath.Dir(Shim(h.Dirs)))
	if to, _ := os.Readlink(Shim(h.Dirs)); to != "/usr/bin/true" || len(entries) != 1 {
		t.Errorf("it leads to %q, and there are %v; want one link", to, entries)
	}
}

// What tmux runs stays when agents need it no longer, and the other way round.
func TestProgramForTmux(t *testing.T) {
	h, clone := hostFromClone(t)
	self := filepath.Join(clone, "hookmux")
	program, copies := ShimForTmux(h.Dirs, self)
	if filepath.Dir(program) != filepath.Dir(Shim(h.Dirs)) || len(copies) != 1 {
		t.Fatalf("tmux runs %s, with %v", program, copies)
	}
	if err := RunSteps(copies, &Disk{}); err != nil {
		t.Fatal(err)
	}
	write(t, tmux.OwnConf(h.Dirs.Data), "bind A")
	mustInstall(t, h, Options{Agents: []*agent.Agent{known(t, "claude")}})
	if s := DropShimForTmux(h.Dirs); len(s) > 0 {
		t.Errorf("agents run it, and tmux would take it away: %v", s)
	}
	mustUninstall(t, h, known(t, "claude"))
	if !paths.Runnable(program) {
		t.Error("tmux runs it, and it is gone")
	}
	if err := RunSteps(DropShimForTmux(h.Dirs), &Disk{}); err != nil || paths.Runnable(program) {
		t.Errorf("nothing needs it, and it is still there (%v)", err)
	}
}

func TestTheRealHomeIsRefusedInTests(t *testing.T) {
	dirs, err := paths.Find(func(string) string { return "" })
	if err != nil {
		t.Skip("no home in the password file")
	}
	h := &Host{Dirs: dirs, Getenv: func(string) string { return "" }}
	if _, err := h.Install(Options{Agents: []*agent.Agent{known(t, "claude")}, Scope: User}); err == nil {
		t.Error("a test may write into the home of whoever runs it")
	}
}

// The manifest is a person's own file once more: nobody else may read it.
func TestTheManifestIsPrivate(t *testing.T) {
	h := newHost(t)
	mustInstall(t, h, Options{Agents: []*agent.Agent{known(t, "claude")}})
	info, err := os.Stat(manifestPath(h.Dirs))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("info = %v, error %v; want no error and info.Mode().Perm() = 0o600", info, err)
	}
	write(t, manifestPath(h.Dirs), "{ nonsense")
	if _, err := h.Uninstall(installable()); err == nil || !strings.Contains(err.Error(), "install.json") {
		t.Errorf(`error %v, want an error and "install.json" in err.Error()`, err)
	}
}

func TestCommentsInAFileOfOurs(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	claude := known(t, "claude")
	settings := filepath.Join(h.Dirs.Home, ".claude", "settings.json")
	mustInstall(t, h, Options{Agents: []*agent.Agent{claude}})
	write(t, settings, "// my note\n"+read(t, settings))
	mustUninstall(t, h, claude)
	if got := read(t, settings); got != "// my note\n{}\n" {
		t.Errorf(`read(t, settings) = %q, want "// my note\n{}\n"`, got)
	}
}
