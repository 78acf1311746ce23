//go:build unix

package paths

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// person makes a password file in which this user has a home, and gives it.
func person(t *testing.T) (home string) {
	t.Helper()
	base := t.TempDir()
	home = filepath.Join(base, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(base, "passwd")
	line := "me:x:" + strconv.Itoa(os.Getuid()) + ":1::" + home + ":/bin/sh\n"
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	old := passwdFile
	passwdFile = file
	t.Cleanup(func() { passwdFile = old })
	return home
}

// ownFile returns the path of the running test program.
func ownFile(t *testing.T) string {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// other returns a program that is not the running one.
func other(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func install(t *testing.T, getenv func(string) string, hook, program string) Dirs {
	t.Helper()
	d, err := Find(getenv)
	if err != nil {
		t.Fatal(err)
	}
	file, _ := InstallationKey(getenv)
	key := []byte(strings.Repeat("k", 32))
	if err := replaceFile(file, string(key)); err != nil {
		t.Fatal(err)
	}
	if written, err := d.WriteInstallation(getenv, hook, program, key, []string{"PATH=/own/bin"}); err != nil ||
		!written {
		t.Fatalf("the installation was not written: %v, %v", written, err)
	}
	return d
}

func TestInstalledProgramTakesNothingFromTheEnvironment(t *testing.T) {
	noRunUser(t)
	home := person(t)
	want := install(t, env("HOME", home, "XDG_CONFIG_HOME", home+"/settings"), ownFile(t), other(t))
	if want.Config != home+"/settings/hookmux" {
		t.Fatalf("the user's choice was not taken: %+v", want)
	}
	for _, getenv := range []func(string) string{
		env(), env("HOME", "/elsewhere"), env("HOME", home),
		env(RuntimeVariable, "/r", "HOME", "/elsewhere", "XDG_STATE_HOME", "/s", "XDG_CONFIG_HOME", "/c", "XDG_DATA_HOME", "/d"),
		env(RuntimeVariable, want.Runtime, "HOME", "/elsewhere"),
	} {
		got := find(t, getenv)
		if got.Home != home || got.Runtime != want.Runtime || got.State != want.State || got.Config != want.Config ||
			got.Data != want.Data {
			t.Errorf("got %+v, want the places of the installation %+v", got, want)
		}
	}
	// A throw-away home, as `hookmux verify` makes one, has its own all the same.
	got, err := FindByEnvironment(env("HOME", "/elsewhere", RuntimeVariable, "/r"))
	if err != nil || got.Home != "/elsewhere" || got.Runtime != "/r" || got.Installation() != nil {
		t.Errorf("got %+v, %v; want the places of the environment", got, err)
	}
	if err := RemoveInstallation(env()); err != nil {
		t.Fatal(err)
	}
	if got := find(t, env("HOME", home, RuntimeVariable, "/r")); got.Runtime != "/r" || got.Installation() != nil {
		t.Errorf("an installation that was removed still counts: %+v", got)
	}
}

func TestProgramOfNoInstallationTakesTheEnvironment(t *testing.T) {
	noRunUser(t)
	home := person(t)
	program := other(t)
	d := install(t, env("HOME", home), program, program)
	visitor := env("HOME", "/elsewhere", RuntimeVariable, "/r")
	if got := find(t, visitor); got.Runtime != "/r" || got.Home != "/elsewhere" {
		t.Errorf("a build in a source tree is bound to the installation: %+v", got)
	}
	// It may not serve the installation's socket, under whichever name.
	for _, dir := range []string{d.Runtime, d.Runtime + "/", linkTo(t, d.Runtime)} {
		served := find(t, env("HOME", "/elsewhere", RuntimeVariable, dir))
		if err := served.CheckServing(visitor); err == nil || !strings.Contains(err.Error(), program) {
			t.Errorf("serving %s: %v; want a refusal that names %s", dir, err, program)
		}
	}
	if err := find(t, visitor).CheckServing(visitor); err != nil {
		t.Errorf("a folder of its own is refused: %v", err)
	}
	// When the installed programs are gone, whoever asks belongs to it.
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if got := find(t, visitor); got.Home != home {
		t.Errorf("got %+v; want the places of the installation, whose programs were moved", got)
	}
}

func linkTo(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	return link
}

func TestInstalledDaemonMayServe(t *testing.T) {
	noRunUser(t)
	home := person(t)
	install(t, env("HOME", home), ownFile(t), ownFile(t))
	d := find(t, env(RuntimeVariable, "/r"))
	if err := d.CheckServing(env()); err != nil {
		t.Error(err)
	}
	if !IsDefaultRuntime(home+"/.local/state/hookmux/run", env("HOME", "/elsewhere")) || IsDefaultRuntime("/r", env()) {
		t.Error("the default folder is not known")
	}
}

func TestVisitorLeavesNoInstallation(t *testing.T) {
	noRunUser(t)
	home := person(t)
	elsewhere := env("HOME", t.TempDir())
	d := find(t, elsewhere)
	if written, err := d.WriteInstallation(elsewhere, "/h", "/p", nil, nil); written || err != nil {
		t.Errorf("written %v, %v; want nothing below a home that is not the user's own", written, err)
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
		t.Errorf("%s holds %v, %v; want nothing", home, entries, err)
	}
	own := env("HOME", home)
	for _, hook := range []string{"relative", "", "/with\nbreak"} {
		if written, err := find(t, own).WriteInstallation(own, hook, "/p", nil, nil); written || err == nil {
			t.Errorf("hook %q was written down", hook)
		}
	}
}

func TestDamagedInstallationDoesNotCount(t *testing.T) {
	whole := installationFirst + "\nhome=/h\nruntime=/r\nstate=/s\nconfig=/c\ndata=/d\nhook=/k\nprogram=/p\n" +
		installationLast + "\n"
	got, ok := parseInstallation(whole)
	if want := (Installation{Home: "/h", Runtime: "/r", State: "/s", Config: "/c", Data: "/d", Hook: "/k",
		Program: "/p"}); !ok || *got != want {
		t.Fatalf("got %+v, %v; want %+v", got, ok, want)
	}
	for _, text := range []string{
		"", whole[:len(whole)-1], whole[1:], strings.Replace(whole, "state=/s\n", "", 1), strings.Replace(whole, "=/r", "=r", 1), whole + "x",
	} {
		if got, ok := parseInstallation(text); ok {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

func TestSocketInAFolderOpenToOthersIsNotBelieved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	d := Dirs{Runtime: dir}
	if err := d.CheckSocket(); err == nil {
		t.Error("a folder that is not there passes")
	}
	if err := d.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	if err := d.CheckSocket(); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := d.CheckSocket(); err == nil {
		t.Error("a folder that others may write to passes")
	}
	if err := d.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	if err := d.CheckSocket(); err != nil {
		t.Errorf("after a daemon closed the folder: %v", err)
	}
}

// changeRecord rewrites the record of the installation.
func changeRecord(t *testing.T, home string, change func(text string) string) {
	t.Helper()
	file := home + "/.local/state/hookmux/installation"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(change(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A record that something other than a person's command wrote changes nothing: neither
// the places, nor who is believed on the socket, nor what the daemon's programs are found
// by.
func TestChangedInstallationIsNotBelieved(t *testing.T) {
	noRunUser(t)
	line := func(name, value string) func(string) string {
		return func(text string) string {
			return regexp.MustCompile("(?m)^"+name+"=.*$").ReplaceAllString(text, name+"="+value)
		}
	}
	for what, change := range map[string]func(string) string{
		"another runtime": line("runtime", "/tmp/evil"), "another state": line("state", "/tmp/evil"),
		"other settings": line("config", "/tmp/evil"), "other data": line("data", "/tmp/evil"),
		"another home": line("home", "/tmp/evil"), "another program": line("program", "/usr/bin/python3"),
		"no seal": func(text string) string {
			return regexp.MustCompile("(?m)^seal=.*\n").ReplaceAllString(line("runtime", "/tmp/evil")(text), "")
		},
		"a seal of nothing": func(text string) string { return line("seal", "")(line("runtime", "/tmp/evil")(text)) },
		"another PATH":      line("environ", "PATH=/tmp/evil"),
		"two environments": func(text string) string {
			return strings.Replace(text, "\nenviron=", "\nenviron=PATH=/tmp/evil\nenviron=", 1)
		},
		"a line behind the seal": func(text string) string {
			return strings.Replace(text, "\nend\n", "\nruntime=/tmp/evil\nend\n", 1)
		},
		"an unsealed record of before": func(text string) string {
			body, _, _ := strings.Cut(text, "\nenviron=")
			return line("runtime", "/tmp/evil")(body + "\nend\n")
		},
		"other programs": func(text string) string {
			return line("hook", "/bin/cat")(line("program", "/bin/cat")(line("runtime", "/tmp/evil")(text)))
		},
		"nothing at all": func(string) string { return "" },
	} {
		t.Run(what, func(t *testing.T) {
			home := person(t)
			installShim(t, home)
			want := install(t, env("HOME", home), ownFile(t), beside("hookmux"))
			changeRecord(t, home, change)
			// The agent's environment has no say either.
			got := find(t, env("HOME", "/tmp/evil", RuntimeVariable, "/tmp/evil/run", "XDG_CONFIG_HOME", "/tmp/evil"))
			if got.Home != home || got.Runtime != want.Runtime || got.State != want.State ||
				got.Config != want.Config || got.Data != want.Data {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if i := got.Installation(); i == nil || i.Program != beside("hookmux") {
				t.Errorf("the program is %+v, want the one beside the client", i)
			}
			if i := got.Installation(); i.IsSealed() {
				t.Error("it passes for sealed")
			}
			for _, entry := range got.DaemonEnviron([]string{"PATH=/tmp/evil", "PYTHONPATH=/tmp/evil"}) {
				if strings.Contains(entry, "evil") {
					t.Errorf("the daemon has %s", entry)
				}
			}
		})
	}
}

// installShim puts the path that agents run in its place; it leads to the hook client
// beside the running program.
func installShim(t *testing.T, home string) {
	t.Helper()
	hook := beside("hookmux-hook")
	if err := os.WriteFile(hook, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	shim := home + "/.local/share/hookmux/bin/hookmux-hook"
	if err := os.MkdirAll(filepath.Dir(shim), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(hook, shim); err != nil {
		t.Fatal(err)
	}
}

// A sealed record counts as it is written, and so does the environment of the user
// who sealed it, whoever starts the daemon.
func TestSealedInstallationIsBelieved(t *testing.T) {
	noRunUser(t)
	home := person(t)
	install(t, env("HOME", home, "XDG_CONFIG_HOME", home+"/settings"), ownFile(t), beside("hookmux"))
	d := find(t, env())
	if d.Config != home+"/settings/hookmux" || !d.Installation().IsSealed() {
		t.Errorf("got %+v, want the sealed places", d)
	}
	got := d.DaemonEnviron([]string{"PATH=/tmp/evil", "HOME=/tmp/evil", "BASH_ENV=/tmp/evil", "XDG_CONFIG_HOME=/tmp/evil",
		"LC_ALL=C", "LOCK=3", "SHELL=/tmp/evil", "TMPDIR=/tmp/evil", "LD_PRELOAD=/tmp/evil"}, "LOCK")
	if want := "HOME=" + home + " PATH=/own/bin LC_ALL=C LOCK=3"; strings.Join(got, " ") != want {
		t.Errorf("the daemon has %q, want %q", got, want)
	}
	// Without a record the environment is left alone.
	if got := (Dirs{}).DaemonEnviron([]string{"PATH=/x"}); len(got) != 1 || got[0] != "PATH=/x" {
		t.Errorf("a daemon of no installation has %q", got)
	}
}
