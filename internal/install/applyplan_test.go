package install

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// Every agent is installed by somebody else at the same time: all are recorded,
// and all come out again.
func TestSeveralInstallationsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	before := picture(t, h.Dirs.Home)
	var all sync.WaitGroup
	for _, a := range installable() {
		all.Go(func() {
			o := Options{Agents: []*agent.Agent{a}, Scope: User, Trust: true}
			if _, err := h.ApplyPlan(func() (*Plan, error) { return h.Install(o) }, nil, &Disk{}); err != nil {
				t.Errorf("%s: error %v, want no error", a.Name, err)
			}
		})
	}
	all.Wait()
	m, err := h.load()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range installable() {
		if !hasRecord(m, a) {
			t.Errorf("%s: has no record", a.Name)
		}
	}
	if left, _ := filepath.Glob(Shim(h.Dirs) + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v; want len(left) <= 0", left)
	}
	mustUninstall(t, h, installable()...)
	if err := os.Remove(lockPath(h.Dirs.State)); err != nil {
		t.Fatal(err)
	}
	after := picture(t, h.Dirs.Home)
	for path, is := range after {
		if before[path] != is {
			t.Errorf("%s: is = %s, want before[path] = %q", path, is, is)
		}
	}
}

func TestLinksMadeAtOnce(t *testing.T) {
	t.Parallel()
	at := filepath.Join(t.TempDir(), "bin", hookentry.HookName)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 20 {
				if err := ReplaceLink(at, "/x/"+hookentry.HookName); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// A plan that was made before somebody else installed does not overwrite their
// record.
func TestManifestIsNotOverwritten(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	late, err := h.Install(Options{Agents: []*agent.Agent{known(t, "claude")}, Scope: User})
	if err != nil {
		t.Fatal(err)
	}
	mustInstall(t, h, Options{Agents: []*agent.Agent{known(t, "gemini")}})
	if err := late.Apply(&Disk{}); err == nil || !strings.Contains(err.Error(), "run the command again") {
		t.Errorf(`error %v; want an error and "run the command again" in err.Error()`, err)
	}
	if m, err := h.load(); err != nil || !hasRecord(m, known(t, "gemini")) {
		t.Errorf("the record is gone (%v)", err)
	}
}

func TestOnlyWhatWasShownIsDone(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	claude := known(t, "claude")
	settings := filepath.Join(h.Dirs.Home, ".claude", "settings.json")
	write(t, settings, "{}\n")
	plans := func() (*Plan, error) { return h.Install(Options{Agents: []*agent.Agent{claude}, Scope: User}) }
	shown, err := plans()
	if err != nil {
		t.Fatal(err)
	}
	// Another agent meanwhile changes nothing that was shown.
	mustInstall(t, h, Options{Agents: []*agent.Agent{known(t, "gemini")}})
	if _, err := h.ApplyPlan(plans, shown, &Diff{Out: io.Discard}); err != nil {
		t.Error(err)
	}
	write(t, settings, "{\"a\": 1}\n")
	if _, err := h.ApplyPlan(plans, shown, &Disk{}); !errors.Is(err, errMoved) {
		t.Errorf("error %v; want err to be errMoved", err)
	}
	if got := read(t, settings); got != "{\"a\": 1}\n" {
		t.Errorf("written all the same:\n%s", got)
	}
}

// What is written into an agent's config while it is told to trust our hooks,
// by itself or by its owner, stays when hookmux goes.
func TestWritesDuringTrustStay(t *testing.T) {
	t.Parallel()
	for _, more := range []string{"", "model = \"new\"\n", "# a note\n"} {
		h := newHost(t)
		codex := known(t, "codex")
		config := h.trustOf(codex).file()
		was := "personality = \"friendly\"\n"
		write(t, config, was)
		p, err := h.Install(Options{Agents: []*agent.Agent{codex}, Scope: User, Trust: true})
		if err != nil {
			t.Fatal(err)
		}
		told := false
		err = p.Apply(&Disk{Trust: func(g *OwnHooks) error {
			told = true
			now, _, err := hookentry.WriteTrust([]byte(more+read(t, config)), g.Keys, nil)
			write(t, config, string(now)+"\n")
			return err
		}})
		if err != nil || !told {
			t.Fatalf("told = %v, error %v; want no error and told", told, err)
		}
		mustUninstall(t, h, codex)
		if got := strings.TrimRight(read(t, config), "\n"); got != strings.TrimRight(more+was, "\n") {
			t.Errorf("%q is left of %q", got, more+was)
		}
	}
}
