//go:build unix

package cli

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hookmux/hookmux/internal/codextrust"
)

// oldHomeFile is the home that hookmux 0.1.0 left: settings and hooks of all
// agents, sessions, journal, permissions, hooks. testdata/upgrade/make.sh makes it, and made
// it with the programs of commit 1cb22c92; no version was tagged since.
const oldHomeFile = "testdata/upgrade/0.1.0.json"

// Where the home was made.
const (
	madeBase = "/tmp/hookmux-upgrade"
	madeHome = madeBase + "/home"
	madeBin  = madeBase + "/bin"
)

// oldHome is a home as it is kept: the folders it was made in stand as @HOME@ and
// @BIN@, but in the journal, which only remembers them.
type oldHome struct {
	Made   time.Time
	Home   []oldFile // as the old hookmux left it
	Before []oldFile // before it was installed
}

type oldFile struct {
	Path string
	Mode fs.FileMode
	Text string `json:",omitempty"`
	Link string `json:",omitempty"`
	Gzip []byte `json:",omitempty"` // what is not text
	Dir  bool   `json:",omitempty"`
}

// TestPackOldHome writes the file from what make.sh made.
func TestPackOldHome(t *testing.T) {
	if os.Getenv("HOOKMUX_PACK_HOME") == "" {
		t.Skip("HOOKMUX_PACK_HOME is not set")
	}
	info, err := os.Stat(filepath.Join(madeHome, ".local/state/hookmux/sessions.log"))
	if err != nil {
		t.Fatal(err)
	}
	kept := oldHome{Made: info.ModTime().UTC().Truncate(time.Second), Home: packFolder(t, madeHome),
		Before: packFolder(t, filepath.Join(madeBase, "before"))}
	text, err := json.MarshalIndent(kept, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(oldHomeFile, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

func packFolder(t *testing.T, dir string) (list []oldFile) {
	t.Helper()
	hide := strings.NewReplacer(madeHome, "@HOME@", madeBin, "@BIN@")
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		one := oldFile{Path: path[len(dir)+1:], Mode: info.Mode().Perm(), Dir: e.IsDir()}
		switch {
		case e.IsDir():
		case e.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			one.Link = hide.Replace(to)
		default:
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if utf8.Valid(content) && !bytes.Contains(content, []byte{0}) {
				one.Text = hide.Replace(string(content))
				break
			}
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			if _, err := w.Write(content); err != nil {
				return err
			}
			if err := w.Close(); err != nil {
				return err
			}
			one.Gzip = packed.Bytes()
		}
		list = append(list, one)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// upgraded is a home that an old hookmux left, with the new one in its place.
type upgraded struct {
	t    *testing.T
	env  []string
	home string
	work string
	kept oldHome
}

// newUpgraded lays the old home out. What depends on where a home is (hashes of
// files, trust in hooks) and on when it was used is made to fit.
func newUpgraded(t *testing.T) *upgraded {
	t.Helper()
	buildHookClient(t)
	work := t.TempDir()
	h, err := newHome(work)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.end(); err != nil {
			t.Error(err)
		}
	})
	u := &upgraded{t: t, home: filepath.Join(h.Base, "home"), work: work}
	// No agent of the machine is asked anything.
	u.env = append(append(os.Environ(), h.env()...), "PATH="+u.bin()+":/usr/bin:/bin")
	text, err := os.ReadFile(oldHomeFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &u.kept); err != nil {
		t.Fatal(err)
	}
	u.layOut()
	u.fitRecord()
	u.fitTrust()
	// The daemon wants changed settings confirmed, as the real one does.
	if err := os.WriteFile(filepath.Join(u.home, confirmFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return u
}

// content is a file of the old home as it is in this one.
func (u *upgraded) content(f oldFile) []byte {
	u.t.Helper()
	if f.Gzip == nil {
		return []byte(strings.NewReplacer("@HOME@", u.home, "@BIN@", u.bin()).Replace(f.Text))
	}
	r, err := gzip.NewReader(bytes.NewReader(f.Gzip))
	if err != nil {
		u.t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		u.t.Fatal(err)
	}
	return content
}

// bin is where the new programs are.
func (u *upgraded) bin() string {
	hookmux, err := exec.LookPath("hookmux")
	if err != nil {
		u.t.Fatal(err)
	}
	return filepath.Dir(hookmux)
}

var timestamps = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

func (u *upgraded) layOut() {
	u.t.Helper()
	late := time.Since(u.kept.Made) - time.Minute
	for _, f := range u.kept.Home {
		path := filepath.Join(u.home, f.Path)
		var err error
		switch {
		case f.Dir:
			err = os.MkdirAll(path, f.Mode)
		case f.Link != "":
			err = os.Symlink(string(u.content(oldFile{Text: f.Link})), path)
		default:
			content := u.content(f)
			if strings.HasSuffix(f.Path, "/sessions.log") || strings.Contains(f.Path, "/resume/") {
				// It was used a moment ago: sessions of long ago are forgotten.
				content = timestamps.ReplaceAllFunc(content, func(text []byte) []byte {
					at, err := time.Parse(time.RFC3339Nano, string(text))
					if err != nil {
						return text
					}
					return []byte(at.Add(late).UTC().Format(time.RFC3339Nano))
				})
			}
			err = os.WriteFile(path, content, f.Mode)
		}
		if err != nil {
			u.t.Fatal(err)
		}
	}
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// fitRecord makes the hashes in the installer's record those of the files here,
// where they were those of the files there.
func (u *upgraded) fitRecord() {
	u.t.Helper()
	file := filepath.Join(u.home, ".local/state/hookmux/install.json")
	text, err := os.ReadFile(file)
	if err != nil {
		u.t.Fatal(err)
	}
	fitted := 0
	for _, f := range u.kept.Home {
		if f.Gzip != nil || f.Dir || f.Link != "" {
			continue
		}
		there := strings.NewReplacer("@HOME@", madeHome, "@BIN@", madeBin).Replace(f.Text)
		was, is := hashOf([]byte(there)), hashOf(u.content(f))
		if was != is && bytes.Contains(text, []byte(was)) {
			text, fitted = bytes.ReplaceAll(text, []byte(was), []byte(is)), fitted+1
		}
	}
	if fitted < 11 {
		u.t.Errorf("the record has the hashes of %d files, want one of each agent at least", fitted)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// fitTrust makes Codex's trust fit the commands here: a hash is made of the whole
// command. That this hookmux makes the hashes the old one made is tested on the
// way.
func (u *upgraded) fitTrust() {
	u.t.Helper()
	at := slices.IndexFunc(u.kept.Home, func(f oldFile) bool { return f.Path == ".codex/hooks.json" })
	var kept struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Timeout int
			}
		}
	}
	if err := json.Unmarshal([]byte(u.kept.Home[at].Text), &kept); err != nil {
		u.t.Fatal(err)
	}
	file := filepath.Join(u.home, ".codex/config.toml")
	config, err := os.ReadFile(file)
	if err != nil {
		u.t.Fatal(err)
	}
	text, trusted := string(config), 0
	for event, groups := range kept.Hooks {
		for _, group := range groups {
			for _, h := range group.Hooks {
				hash := func(home string) string {
					command := strings.ReplaceAll(h.Command, "@HOME@", home)
					return codextrust.Hook{Event: event, Command: command, Timeout: h.Timeout}.Hash()
				}
				if strings.Contains(text, hash(madeHome)) {
					text, trusted = strings.Replace(text, hash(madeHome), hash(u.home), 1), trusted+1
				}
			}
		}
	}
	if rows := strings.Count(text, codextrust.HashField); trusted != rows || rows < 10 {
		u.t.Fatalf("of %d hashes that the old hookmux wrote this one makes %d", rows, trusted)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		u.t.Fatal(err)
	}
	// The record has the hash of this file as well.
	record := filepath.Join(u.home, ".local/state/hookmux/install.json")
	was, err := os.ReadFile(record)
	if err != nil {
		u.t.Fatal(err)
	}
	is := bytes.ReplaceAll(was, []byte(hashOf(config)), []byte(hashOf([]byte(text))))
	if err := os.WriteFile(record, is, 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// run runs a command as the person.
func (u *upgraded) run(args ...string) (output string, code int) {
	u.t.Helper()
	return u.inbox("", "hookmux", args...)
}

func (u *upgraded) inbox(stdin, name string, args ...string) (output string, code int) {
	u.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = u.env, u.work, strings.NewReader(stdin)
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		u.t.Fatalf("error %v, want not err != nil && cmd.ProcessState == nil", err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// wants runs a command that must succeed and say all of this.
func (u *upgraded) wants(want []string, args ...string) {
	u.t.Helper()
	output, code := u.run(args...)
	if code != 0 {
		u.t.Errorf("hookmux %q ended with %d, want 0:\n%s", args, code, output)
	}
	for _, one := range want {
		if !strings.Contains(output, one) {
			u.t.Errorf("hookmux %q does not say %q:\n%s", args, one, output)
		}
	}
}

// A daemon of this version, which the person starts, uses everything that
// hookmux 0.1.0 left, and leaves agents' files as they were before it.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	u := newUpgraded(t)
	u.wants(nil, "daemon", "start")
	// The person was there: nothing has to be confirmed.
	u.wants([]string{"nothing is wrong"}, "status")
	u.wants([]string{"payment bug", "0199aa-1", "0199bb-2", "add an endpoint", "g-3"}, "ps", "--all")
	u.wants([]string{"fix the payment bug", "deny · by no-prod · no prod deploys", "make -j4 test", "allow · by person",
		"decision"}, "log")
	u.wants([]string{"claude, everywhere", "run exactly: make -j4 test"}, "allow", "list")
	u.wants([]string{"no-prod", "log-ends", "in force"}, "hooks", "*", "list")
	u.wants([]string{"guard.destructive", "journal.keep", "10000d", "resume.claude"}, "config", "list")
	u.wants([]string{"cd /home/dev/shop && claude --resume 0199aa-1 --model M"}, "resume", "0199aa",
		"--print")

	// The hooks that stand in the agent's own file are decided about as before.
	u.answers("PreToolUse", bashPayload("PreToolUse", "deploy prod"), `"permissionDecision":"deny"`, "no prod deploys")
	u.answers("PreToolUse", bashPayload("PreToolUse", "git push --force origin main"), `"permissionDecision":"deny"`,
		"git-force-push")
	u.answers("PermissionRequest", bashPayload("PermissionRequest", "make -j4 test"), `"behavior":"allow"`)

	output, code := u.run("doctor")
	if code != 0 || strings.Contains(output, "✗") || !strings.Contains(output, "11 agents are hooked") {
		t.Errorf("doctor ended with %d, want no complaint about 11 agents:\n%s", code, output)
	}
	for _, want := range []string{"upgraded from an earlier version to", "new: ", "hookmux install "} {
		if !strings.Contains(output, want) {
			t.Errorf("doctor says, want %q after an upgrade:\n%s", want, output)
		}
	}
	u.wants(nil, "uninstall", "--yes")
	u.wantsAsBefore()
}

// Where an agent's hook starts the new daemon, settings that
// nobody confirmed count as far as they refuse, and status says what to do.
func TestUpgradeWithoutPerson(t *testing.T) {
	t.Parallel()
	u := newUpgraded(t)
	u.answers("PreToolUse", bashPayload("PreToolUse", "deploy prod"), `"permissionDecision":"deny"`, "no prod deploys")
	output, code := u.run("status")
	if code != 1 || !strings.Contains(output, "hookmux config accept") ||
		!strings.Contains(output, ".config/hookmux/config.json") {
		t.Errorf("status ended with %d, want it to name the settings that wait and `hookmux config accept`:\n%s", code,
			output)
	}
	u.wants(nil, "confirm", "--yes")
	u.wants([]string{"nothing is wrong"}, "status")

	// Installed anew, everything is as this hookmux writes it; and it still goes
	// without a trace.
	u.wants(nil, "install", "--yes")
	output, code = u.run("doctor")
	if code != 0 || strings.Contains(output, "is not as this hookmux writes it") {
		t.Errorf("doctor ended with %d, want every hook as this hookmux writes it:\n%s", code, output)
	}
	u.wants(nil, "uninstall", "--yes")
	u.wantsAsBefore()
}

func bashPayload(event, command string) string {
	text, _ := json.Marshal(map[string]any{"session_id": "0199aa-1", "transcript_path": "", "cwd": "/home/dev/shop",
		"hook_event_name": event, "tool_name": "Bash", "tool_input": map[string]string{"command": command}})
	return string(text)
}

// answers runs the hook that stands in Claude's settings, as Claude does.
func (u *upgraded) answers(event, payload string, want ...string) {
	u.t.Helper()
	settings, err := os.ReadFile(filepath.Join(u.home, ".claude/settings.json"))
	if err != nil {
		u.t.Fatal(err)
	}
	line := regexp.MustCompile(`"command": "(test -x [^"]* claude ` + event + ` \d+)"`).FindSubmatch(settings)
	if line == nil {
		u.t.Fatalf("no hook at %s stands in Claude's settings:\n%s", event, settings)
	}
	below := &upgraded{t: u.t, env: append(slices.Clone(u.env), belowVariable+"=claude"), work: u.work}
	output, code := below.inbox(payload, "sh", "-c", string(line[1]))
	for _, one := range want {
		if code != 0 || !strings.Contains(output, one) {
			u.t.Errorf("the hook at %s ended with %d and said %q, want %q in it", event, code, output, one)
		}
	}
}

// wantsAsBefore wants agents' files to be what they were before the old hookmux
// was installed, byte for byte, and nothing of hookmux's beside them.
func (u *upgraded) wantsAsBefore() {
	u.t.Helper()
	before := map[string]oldFile{}
	for _, f := range u.kept.Before {
		before[f.Path] = f
	}
	err := filepath.WalkDir(u.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == u.home {
			return err
		}
		rel := path[len(u.home)+1:]
		was, ok := before[rel]
		delete(before, rel)
		switch {
		case rel == ".local" || rel == ".config/hookmux":
			return fs.SkipDir // hookmux's own
		case rel == confirmFile:
		case !ok:
			u.t.Errorf("%s was not there before", rel)
		case !e.IsDir():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if string(content) != was.Text {
				u.t.Errorf("%s is %q, want %q as before", rel, content, was.Text)
			}
		}
		return nil
	})
	if err != nil {
		u.t.Error(err)
	}
	for rel := range before {
		u.t.Errorf("%s is gone, want it as it was", rel)
	}
}
