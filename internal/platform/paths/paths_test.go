package paths

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// noRunUser makes the test independent of whether this machine has /run/user.
func noRunUser(t *testing.T) {
	old := runUser
	runUser = filepath.Join(t.TempDir(), "none")
	t.Cleanup(func() { runUser = old })
}

func find(t *testing.T, getenv func(string) string) Dirs {
	t.Helper()
	d, err := Find(getenv)
	if err != nil {
		t.Fatal(err)
	}
	only, err := RuntimeOnly(getenv)
	if err != nil || only.Runtime != d.Runtime {
		t.Errorf("RuntimeOnly says %s, %v; Find says %s", only.Runtime, err, d.Runtime)
	}
	return d
}

func TestDefaults(t *testing.T) {
	noRunUser(t)
	d := find(t, env("HOME", "/h"))
	want := Dirs{
		Home: "/h", Runtime: "/h/.local/state/hookmux/run", State: "/h/.local/state/hookmux",
		Config: "/h/.config/hookmux", Data: "/h/.local/share/hookmux", System: "/etc/hookmux", stripped: true,
	}
	if d != want {
		t.Errorf("got  %+v\nwant %+v", d, want)
	}
	if d.Socket() != "/h/.local/state/hookmux/run/daemon.sock" {
		t.Errorf(`d.Socket() = %q, want "/h/.local/state/hookmux/run/daemon.sock"`, d.Socket())
	}
}

func TestVariables(t *testing.T) {
	noRunUser(t)
	d := find(t, env("HOME", "/h/", "XDG_STATE_HOME", "/s", "XDG_CONFIG_HOME", "/c", "XDG_DATA_HOME", "/d",
		"HOOKMUX_RUNTIME_DIR", "/r/"))
	if d.State != "/s/hookmux" || d.Config != "/c/hookmux" || d.Data != "/d/hookmux" || d.Runtime != "/r" ||
		d.Home != "/h" {
		t.Errorf(`d = %+v, want d.State = "/s/hookmux", d.Config = "/c/hookmux", d.Data = "/d/hookmux", d.Runtime = `+
			`"/r" and d.Home = "/h"`, d)
	}
	d = find(t, env("HOME", "/h", "XDG_STATE_HOME", "s", "XDG_CONFIG_HOME", "./c", "HOOKMUX_RUNTIME_DIR", "r"))
	if d.State != "/h/.local/state/hookmux" || d.Config != "/h/.config/hookmux" ||
		d.Runtime != "/h/.local/state/hookmux/run" {
		t.Errorf("relative values count: %+v", d)
	}
}

func TestRuntimeGoesByUserID(t *testing.T) {
	noRunUser(t)
	mine := filepath.Join(runUser, strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	// XDG_RUNTIME_DIR must make no difference, there or not.
	for _, getenv := range []func(string) string{env("HOME", "/h"),
		env("HOME", "/h", "XDG_RUNTIME_DIR", "/elsewhere")} {
		if d := find(t, getenv); d.Runtime != mine+"/hookmux" {
			t.Errorf("d.Runtime = %q, want %q", d.Runtime, mine+"/hookmux")
		}
	}
}

func TestHomeFromPasswd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "passwd")
	text := "# 1:x:7:7::/no:/sh\nroot:x:0:0:root:/root:/bin/sh\nbroken:x\nrel:x:8:8::here:/sh\nme:x:7:7:Me,,:/home/me/:/bin/sh\r\nlast:x:9:9::/home/last:"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for uid, want := range map[int]string{0: "/root", 7: "/home/me", 9: "/home/last", 8: "", 5: ""} {
		if got, ok := passwdHome(file, uid); got != want || ok != (want != "") {
			t.Errorf(`uid %d: %q, %v; want got == want and ok == (want != "")`, uid, got, ok)
		}
	}
	if _, ok := passwdHome(file+".none", 0); ok {
		t.Error("a home out of nothing")
	}
}

func TestLongSocket(t *testing.T) {
	shortBase = t.TempDir()
	t.Cleanup(func() { shortBase = "/tmp" })
	long := filepath.Join(t.TempDir(), strings.Repeat("long/", 20), "run")
	d := find(t, env("HOME", "/h", RuntimeVariable, long))
	other := find(t, env("HOME", "/h", RuntimeVariable, long+"2"))
	if d.Socket() == other.Socket() {
		t.Error("two runtime dirs share a socket")
	}
	if !strings.HasPrefix(d.Socket(), shortBase+"/hookmux-"+strconv.Itoa(os.Getuid())+"-") {
		t.Errorf(`d.Socket() = %q, want one that begins with shortBase + "/hookmux-" + strconv.Itoa(os.Getuid()) + "-"`,
			d.Socket())
	}
	if len(strings.TrimPrefix(d.Socket(), shortBase))+len("/tmp") > longestSocket {
		t.Error("the short path is long:", d.Socket())
	}
	if d.CheckSocket() == nil {
		t.Error("a directory that isn't there passes")
	}
	if err := d.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	if err := d.CheckSocket(); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{d.Runtime, filepath.Dir(d.Socket())} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: info.Mode() = %v, error %v; want no error and info.Mode().Perm() = 0o700",
				dir, info.Mode(), err)
		}
	}
}

func TestMakeRuntimeRefuses(t *testing.T) {
	base := t.TempDir()
	open := Dirs{Runtime: filepath.Join(base, "open")}
	if err := os.Mkdir(open.Runtime, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open.Runtime, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := open.MakeRuntime(); err != nil {
		t.Error(err)
	}
	if info, _ := os.Stat(open.Runtime); info.Mode().Perm() != 0o700 {
		t.Errorf("still open: %v; want info.Mode().Perm() == 0o700", info.Mode())
	}

	file := Dirs{Runtime: filepath.Join(base, "file")}
	if err := os.WriteFile(file.Runtime, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := file.MakeRuntime(); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file passes: %v", err)
	}
	if err := (Dirs{}).MakeRuntime(); err == nil {
		t.Error("no name passes")
	}

	linked := Dirs{Runtime: filepath.Join(base, "linked")}
	if err := os.Symlink(open.Runtime, linked.Runtime); err != nil {
		t.Fatal(err)
	}
	if err := linked.MakeRuntime(); err != nil {
		t.Errorf("a link of our own to a directory of our own: %v", err)
	}
	if os.Geteuid() == 0 {
		theirs := Dirs{Runtime: filepath.Join(base, "theirs")}
		if err := os.Mkdir(theirs.Runtime, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(theirs.Runtime, 12345, 12345); err != nil {
			t.Skip("root may not give files away here:", err)
		}
		linked.Runtime += "2"
		if err := os.Symlink(theirs.Runtime, linked.Runtime); err != nil {
			t.Fatal(err)
		}
		for _, d := range []Dirs{theirs, linked} {
			if err := d.MakeRuntime(); err == nil || !strings.Contains(err.Error(), "another user") {
				t.Errorf(`%s: error %v, want an error and "another user" in err.Error()`, d.Runtime, err)
			}
		}
	}
}

func TestRemember(t *testing.T) {
	noRunUser(t)
	home, state := t.TempDir(), t.TempDir()
	login := env("HOME", home, "XDG_STATE_HOME", state, "XDG_CONFIG_HOME", "/conf")
	d := find(t, login)
	if err := d.Remember(); err != nil {
		t.Fatal(err)
	}
	bare := env("HOME", home)
	if got := find(t, bare); got.State == d.State {
		t.Error("a state directory that isn't there counts")
	}
	if err := os.MkdirAll(d.State, 0o700); err != nil {
		t.Fatal(err)
	}
	got := find(t, bare)
	if got.State != d.State || got.Config != d.Config || got.Data != d.Data || got.Runtime != d.Runtime {
		t.Errorf("got  %+v\nwant %+v", got, d)
	}
	if err := got.Remember(); err != nil { // knows no better: must leave the note alone
		t.Fatal(err)
	}
	for _, file := range []string{homeNote(home), filepath.Join(d.Runtime, note)} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: info = %v, error %v; want no error and info.Mode().Perm() = 0o600", file, info, err)
		}
	}
	// The home's note survives the loss of the runtime dir.
	if err := os.RemoveAll(d.Runtime); err != nil {
		t.Fatal(err)
	}
	if got := find(t, bare); got.Config != d.Config {
		t.Errorf("after a reboot: %+v", got)
	}
	// An environment that speaks isn't overruled.
	if got := find(t, env("HOME", home, "XDG_CACHE_HOME", "/x")); got.Config != filepath.Join(home, ".config/hookmux") {
		t.Errorf(`overruled: %+v; want got.Config == filepath.Join(home, ".config/hookmux")`, got)
	}
	// Nor is a daemon with a runtime dir of its own drawn in.
	if got := find(t, env("HOME", home, RuntimeVariable, t.TempDir())); got.Config == d.Config {
		t.Errorf("drawn in: %+v; want got.Config != d.Config", got)
	}
	// Others' notes don't count.
	if err := os.Chmod(homeNote(home), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, ok := Remembered(home, ""); ok {
		t.Error("a note that anybody can write counts")
	}
	// A login shell without settings takes the note back.
	if err := find(t, env("HOME", home, "XDG_SESSION_ID", "1")).Remember(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(homeNote(home)); !os.IsNotExist(err) {
		t.Error("the note is still there")
	}
}

func TestChosenRuntimeKeepsToItself(t *testing.T) {
	home, run, state := t.TempDir(), t.TempDir(), t.TempDir()
	d := find(t, env("HOME", home, RuntimeVariable, run, "XDG_STATE_HOME", state))
	if err := os.MkdirAll(d.State, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.Remember(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(homeNote(home)); !os.IsNotExist(err) {
		t.Error("a throw-away daemon left a note in the home directory")
	}
	if got := find(t, env("HOME", home, RuntimeVariable, run)); got.State != d.State {
		t.Errorf("its own hooks don't find it: %+v", got)
	}
	if len(d.Spools()) != 1 {
		t.Errorf("it sweeps %v; want len(d.Spools()) == 1", d.Spools())
	}
}

func TestSpools(t *testing.T) {
	noRunUser(t)
	d := find(t, env("HOME", "/h", "XDG_STATE_HOME", "/s"))
	if got := d.Spools(); len(got) != 2 || got[0] != "/s/hookmux/spool" || got[1] != "/h/.local/state/hookmux/spool" {
		t.Errorf(`got %q, want 2 of them, got[0] = "/s/hookmux/spool" and got[1] = "/h/.local/state/hookmux/spool"`,
			got)
	}
	if got := find(t, env("HOME", "/h")).Spools(); len(got) != 1 {
		t.Errorf(`find(t, env("HOME", "/h")).Spools() = %q, want 1 of them`, got)
	}
}
