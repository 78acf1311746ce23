//go:build unix

package launch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeCodex does what a real one does to its folder: a config that is written
// beside and renamed, a file it never had, a folder it never had, a dotfile, a
// line in a log that is there; and it reads its hooks.
const fakeCodex = `#!/bin/sh
cd "$CODEX_HOME" || exit 1
printf 'model = "y"\n' > config.toml.tmp && mv config.toml.tmp config.toml
echo secret > auth.json; chmod 600 auth.json
mkdir -p sessions/2026 && echo one > sessions/2026/a.jsonl
mkdir -p log && echo more >> log/codex.log
echo dot > .version
cat hooks.json > "$SEEN"
[ -z "$DURING" ] || sh -c "$DURING"
exit 9
`

type overlaid struct {
	t    *testing.T
	o    *Overlay
	user string
	seen string
}

func newOverlay(t *testing.T) *overlaid {
	t.Helper()
	base := t.TempDir()
	w := &overlaid{t: t, user: filepath.Join(base, "user"), seen: filepath.Join(base, "seen")}
	w.o = &Overlay{User: w.user, Dir: filepath.Join(base, "state", "overlay"), File: "hooks.json",
		Merge: func(own []byte) ([]byte, error) {
			if strings.Contains(string(own), "broken") {
				return nil, errors.New("line 1: is broken")
			}
			return append([]byte("ours+"), own...), nil
		}}
	w.write("bin", fakeCodex)
	return w
}

func (w *overlaid) write(rel, text string) {
	w.t.Helper()
	path := filepath.Join(w.user, rel)
	if rel == "bin" {
		path = filepath.Join(filepath.Dir(w.user), "codex")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *overlaid) run(during string) []string {
	w.t.Helper()
	told, err := w.o.Prepare()
	if err != nil {
		w.t.Fatal(err)
	}
	program := filepath.Join(filepath.Dir(w.user), "codex")
	code, more, err := w.o.RunOver(program, []string{"codex"},
		[]string{"PATH=/usr/bin:/bin", "CODEX_HOME=" + w.o.Dir, "SEEN=" + w.seen, "DURING=" + during,
			"USER_DIR=" + w.user})
	if err != nil || code != 9 {
		w.t.Fatalf("code = %v, error %v; want no error and code = 9", code, err)
	}
	return append(told, more...)
}

func (w *overlaid) has(rel, want string) {
	w.t.Helper()
	path := filepath.Join(w.user, rel)
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink != 0 {
		w.t.Errorf("%s: error %v, want no error and info.Mode() & os.ModeSymlink = 0", rel, err)
		return
	}
	if text, err := os.ReadFile(path); string(text) != want {
		w.t.Errorf("%s: text = %q, error %v; want string(text) = %q", rel, text, err, want)
	}
}

func TestTheOverlayBringsEverythingHome(t *testing.T) {
	w := newOverlay(t)
	w.write("hooks.json", `{"mine":1}`)
	w.write("config.toml", "model = \"x\"\n")
	w.write("log/codex.log", "first\n")
	w.write(".dot", "mine")
	if told := w.run(""); len(told) > 0 {
		t.Errorf(`w.run("") = %q, want none`, told)
	}
	if seen, _ := os.ReadFile(w.seen); string(seen) != `ours+{"mine":1}` {
		t.Errorf("the agent saw %q", seen)
	}
	for rel, text := range map[string]string{
		"config.toml": "model = \"y\"\n", "auth.json": "secret\n", "sessions/2026/a.jsonl": "one\n",
		"log/codex.log": "first\nmore\n", ".version": "dot\n", ".dot": "mine", "hooks.json": `{"mine":1}`,
	} {
		w.has(rel, text)
	}
	if info, err := os.Stat(filepath.Join(w.user, "auth.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("info = %v, error %v; want no error and info.Mode().Perm() = 0o600", info, err)
	}
	// The next one finds them through links, and one that was deleted is gone.
	if err := os.Remove(filepath.Join(w.user, ".dot")); err != nil {
		t.Fatal(err)
	}
	w.run("[ ! -e .dot ] && [ -L sessions ] && [ -L log ] || echo wrong > wrong; echo two > sessions/2026/b.jsonl")
	w.has("sessions/2026/b.jsonl", "two\n")
	if _, err := os.Stat(filepath.Join(w.user, "wrong")); err == nil {
		t.Error("the folder does not look like the user's")
	}
	if _, err := os.Lstat(filepath.Join(w.o.Dir, ".dot")); err == nil {
		t.Error("a link that leads nowhere stayed")
	}
}

func TestTheOverlayOverwritesNothingNewer(t *testing.T) {
	w := newOverlay(t)
	w.write("config.toml", "model = \"x\"\n")
	told := w.run(`sleep 0.05; printf 'model = "z"\n' > "$USER_DIR/config.toml"`)
	w.has("config.toml", "model = \"z\"\n")
	if len(told) != 1 || !strings.Contains(told[0], "stays; the session's is ") {
		t.Fatalf(`told = %q, want 1 of them and "stays; the session's is " in told[0]`, told)
	}
	_, kept, _ := strings.Cut(told[0], "the session's is ")
	if text, err := os.ReadFile(kept); string(text) != "model = \"y\"\n" {
		t.Errorf(`text = %q, error %v; want string(text) = "model = \"y\"\n"`, text, err)
	}
}

// A folder that the user's side got meanwhile is merged into.
func TestTheOverlayMergesFolders(t *testing.T) {
	w := newOverlay(t)
	w.run(`mkdir -p "$USER_DIR/sessions/2026" "$USER_DIR/sessions/2025"; echo other > "$USER_DIR/sessions/2026/c.jsonl"`)
	w.has("sessions/2026/a.jsonl", "one\n")
	w.has("sessions/2026/c.jsonl", "other\n")
	if told := w.run(""); len(told) > 0 {
		t.Errorf(`w.run("") = %q, want none`, told)
	}
}

// Killed before anything was brought home: the next launch does it.
func TestTheOverlayOfAKilledSession(t *testing.T) {
	w := newOverlay(t)
	if _, err := w.o.Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.o.Dir, "history.jsonl"), []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(w.o.Dir, "history.jsonl"), old, old); err != nil {
		t.Fatal(err)
	}
	w.run("")
	w.has("history.jsonl", "left")
}

// A file that the user keeps elsewhere and links to stays such a link.
func TestTheOverlayKeepsThePersonsLinks(t *testing.T) {
	w := newOverlay(t)
	dot := filepath.Join(filepath.Dir(w.user), "dotfiles.toml")
	if err := os.WriteFile(dot, []byte("model = \"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(w.user, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dot, filepath.Join(w.user, "config.toml")); err != nil {
		t.Fatal(err)
	}
	w.run("")
	if text, _ := os.ReadFile(dot); string(text) != "model = \"y\"\n" {
		t.Errorf(`text = %q, want "model = \"y\"\n"`, text)
	}
	if info, err := os.Lstat(filepath.Join(w.user, "config.toml")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}

func TestABrokenHooksFileStopsTheOverlay(t *testing.T) {
	w := newOverlay(t)
	w.write("hooks.json", "broken")
	if _, err := w.o.Prepare(); err == nil || !strings.Contains(err.Error(), "hooks.json: line 1") {
		t.Errorf(`error %v, want an error and "hooks.json: line 1" in err.Error()`, err)
	}
}
