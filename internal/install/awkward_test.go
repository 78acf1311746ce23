package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookmux/hookmux/agent"
)

// awkwardHome is a home in which paths are not what they seem.
type awkwardHome struct {
	name string
	// make prepares a folder and names a host's variables.
	make func(t *testing.T, base string) (env []string)
	// dotfiles keeps the folder of the agent's file elsewhere, behind a link.
	dotfiles bool
}

var awkwardHomes = []awkwardHome{
	{name: "a plain home"},
	{name: "it's a \"höme\" of $USER; with spaces"},
	{name: "a home behind a link", make: func(t *testing.T, base string) []string {
		for _, name := range []string{"home", "project"} {
			if err := os.MkdirAll(filepath.Join(base, "real", name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join("real", name), filepath.Join(base, name)); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	}},
	{name: "a config folder of its own", make: func(_ *testing.T, base string) []string {
		return []string{"XDG_CONFIG_HOME", filepath.Join(base, "home", "my config")}
	}},
	{name: "dotfiles behind a link", dotfiles: true},
}

// peoplesDocuments are examples of files as they may be before we come, by format. The
// first ones every agent's file can be.
var peoplesDocuments = map[string][]string{
	"json": {"{}", "{\n}\n", "{\"mine\": [1, 2],\t\"x\": {\"y\": null}}", "{\r\n  \"mine\": true\r\n}\r\n", "",
		"\ufeff{\"mine\": 1}\n", "{\n  // mine\n  \"mine\": 1, /* and\n  this */\n}\n", "{\"mine\": 1",
		"[1]\n"},
	"toml": {"mine = 1\n", "# mine\r\nmine = \"x\"\r\n\r\n[mine_too]\r\ny = [1,\r\n 2]\r\n", "", "mine = 1", "mine = [\n"},
	"yaml": {"mine: 1\n", "# mine\nmine:\n    - 1   # one\n    - {a: b}\n", "mine: 1", "", "---\nmine: |\n  text\n",
		"mine: [1\n"},
}

// documentsOf returns the documents for a place of an agent; an empty list where it has
// no file of other people's.
func documentsOf(a *agent.Agent, place agent.InstallPlace) []string {
	if a.Install.Way != agent.WayEntries {
		return nil
	}
	return peoplesDocuments[strings.TrimSuffix(place.Format, "c")]
}

// Every agent, both scopes, every awkward home, every document: what is installed
// and taken out again leaves each byte, mode, folder and link as it was, and what is
// refused leaves them as well.
func TestEveryAgentInAwkwardHomes(t *testing.T) {
	for _, a := range installable() {
		for _, scope := range []string{User, Project} {
			for _, home := range awkwardHomes {
				t.Run(a.Name+" "+scope+" "+home.name, func(t *testing.T) {
					h := awkwardHost(t, home)
					place, _, ok := a.Install.Place(scope, h.diskView(a.Install))
					if !ok {
						t.Skip("it takes no hooks there")
					}
					documents := documentsOf(a, place)
					if a.Install.Way == agent.WayEntries && len(documents) == 0 {
						t.Fatalf("no document of format %s, want some in peoplesDocuments", place.Format)
					}
					if home.name != awkwardHomes[0].name {
						documents = documents[:min(1, len(documents))]
					}
					comeAndGo(t, a, scope, home, nil)
					for i, document := range documents {
						if installed := comeAndGo(t, a, scope, home, &document); !installed && i == 0 {
							t.Errorf("%q was refused, want it installed into", document)
						}
					}
				})
			}
		}
	}
}

// awkwardHost is a person in such a home.
func awkwardHost(t *testing.T, home awkwardHome) *Host {
	t.Helper()
	base := filepath.Join(t.TempDir(), home.name)
	if err := os.MkdirAll(base, 0o700); err != nil {
		t.Fatal(err)
	}
	var env []string
	if home.make != nil {
		env = home.make(t, base)
	}
	return hostAt(t, base, env...)
}

// comeAndGo installs into a home with or without a document in the agent's place,
// and takes out what was installed. It says whether anything was.
func comeAndGo(t *testing.T, a *agent.Agent, scope string, home awkwardHome, document *string) bool {
	t.Helper()
	h := awkwardHost(t, home)
	_, path, _ := a.Install.Place(scope, h.diskView(a.Install))
	if home.dotfiles {
		linkFolder(t, h, filepath.Dir(path))
	}
	what := "no file"
	if document != nil {
		what = *document
		write(t, path, what)
	}
	root := filepath.Dir(h.Dirs.Home)
	before := wholePicture(t, root)
	plan, err := h.Install(Options{Agents: []*agent.Agent{a}, Scope: scope, Trust: true})
	if err != nil {
		if diff := cmp.Diff(before, wholePicture(t, root)); diff != "" {
			t.Errorf("%q: refused (%v), and changed all the same (-want +got):\n%s", what, err, diff)
		}
		if document == nil {
			t.Errorf("no file: refused with %v, want it installed", err)
		}
		return false
	}
	if err := plan.Apply(&Disk{}); err != nil {
		t.Fatalf("%q: carried out with %v, want no error", what, err)
	}
	if !plan.Agents[0].Changed {
		return false
	}
	if again, err := h.Install(Options{Agents: []*agent.Agent{a}, Scope: scope, Trust: true}); err != nil ||
		len(again.Steps) > 0 {
		t.Errorf("%q: installing again would do %v (%v), want nothing", what, again.Steps, err)
	}
	mustUninstall(t, h, a)
	if diff := cmp.Diff(before, wholePicture(t, root)); diff != "" {
		t.Errorf("%q: not as it was (-want +got):\n%s", what, diff)
	}
	return true
}

// linkFolder makes a folder one that is elsewhere, unless it is the home or the
// project itself.
func linkFolder(t *testing.T, h *Host, folder string) {
	t.Helper()
	if folder == h.Dirs.Home || folder == h.Project {
		return
	}
	target := filepath.Join(h.Dirs.Home, "dotfiles", filepath.Base(folder))
	for _, dir := range []string{target, filepath.Dir(folder)} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(target, folder); err != nil {
		t.Fatal(err)
	}
}

// wholePicture is picture, of a home that may be behind a link as well.
func wholePicture(t *testing.T, root string) map[string]string {
	t.Helper()
	all := picture(t, root)
	for _, ours := range []string{".local", ".local/share", ".local/state", ".local/state/hookmux"} {
		delete(all, filepath.Join("real", "home", ours))
	}
	return all
}
