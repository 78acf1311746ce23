package install

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

func TestLeftoversAreReplacedOrRemoved(t *testing.T) {
	home := t.TempDir()
	d := paths.Dirs{Home: home, State: filepath.Join(home, "state"), Data: filepath.Join(home, "data"), Runtime: filepath.Join(home, "run")}
	files := map[string]string{
		"state/grants.json": "{}", "state/trust.json": "{}", "run/hub.log": "x", "run/hub.log.1": "x", "run/daemon.log": "x",
		"state/confirmed.json": "{}", "state/confirmed.once": "x", "state/confirmed/abc": "x",
		"data/programs/hookmux": "x", "data/programs/hookmux-hook": "x", "data/confirmed.once": "x",
		".config/systemd/user/hookmux.service": "ExecStart=hookmux hub --service\n",
	}
	write := func() {
		for name, text := range files {
			path := filepath.Join(home, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	there := func(name string) bool { _, err := os.Lstat(filepath.Join(home, name)); return err == nil }
	write()
	link := filepath.Join(d.Data, "bin", "hookmux-hook")
	if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(filepath.Join(d.Data, "programs", "hookmux-hook"), link)); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(FindLeftovers(d), func(one Leftover) bool { return filepath.Base(one.Path) == "programs" }) {
		t.Error("programs that hooks still run are to be removed")
	}
	if err := os.Remove(link); err != nil { // an installation writes its own there
		t.Fatal(err)
	}
	if err := CleanLeftovers(FindLeftovers(d), false); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"state/grants.json": false, "run/hub.log": false, "run/hub.log.1": false,
		"state/confirmed.json": false, "data/programs": false, "data/confirmed.once": false, "state/confirmed.once": false, "state/confirmed": false, "state/accepted.once": true,
		"state/trust.json": true, "run/daemon.log": true, ".config/systemd/user/hookmux.service": true} {
		if there(name) != want {
			t.Errorf("%s there: %v, want %v", name, there(name), want)
		}
	}
	unit, _ := os.ReadFile(filepath.Join(home, ".config/systemd/user/hookmux.service"))
	if !strings.HasSuffix(string(unit), "\nExecStart=hookmux daemon --service\n") {
		t.Errorf("the unit is %q, want one that starts hookmux daemon", unit)
	}
	if taken := FindTakenOver(d); len(taken) != 1 || filepath.Base(taken[0].Path) != "hookmux.service" {
		t.Errorf("uninstall would remove %v, want the unit that was taken over", taken)
	}
	if left := FindLeftovers(d); len(left) != 0 {
		t.Errorf("after cleaning, %v is left, want nothing", left)
	}
	write()
	if err := CleanLeftovers(FindLeftovers(d), true); err != nil || there(".config/systemd/user/hookmux.service") {
		t.Errorf("uninstall leaves the unit of an earlier build (%v), want it removed", err)
	}
}
