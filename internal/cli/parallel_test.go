//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Of many writers at once none loses what another added.
// agent-mux lost one of six.
func TestParallelAdds(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 25
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
	hookmux := func(args ...string) ([]byte, error) {
		cmd := exec.Command("hookmux", args...)
		cmd.Dir, cmd.Env = work, append([]string{"PATH=" + os.Getenv("PATH")}, h.env()...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%v: %w\n%s", args, err, out)
		}
		return out, err
	}
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			for j := range each {
				// Two files, the first daemon start among them: also that is a race.
				scope := []string{"--global", "--project"}[(i+j)%2]
				if _, err := hookmux("hooks", "*", "add", "tool.before", scope, "--id",
					fmt.Sprintf("h%d-%d", i, j)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()

	ids := map[string]bool{}
	for _, file := range []string{filepath.Join(h.Dirs.Config, "hooks.json"),
		filepath.Join(work, ".hookmux/hooks.json")} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var content struct{ Hooks []struct{ ID string } }
		if err := json.Unmarshal(b, &content); err != nil {
			t.Fatalf("%s: error %v, want no error", file, err)
		}
		for _, one := range content.Hooks {
			ids[one.ID] = true
		}
	}
	if len(ids) != workers*each {
		t.Errorf("%d of %d hooks survived", len(ids), workers*each)
	}
	out, err := hookmux("hooks", "*", "list", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var listed []struct {
		InForce bool
		Why     string
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		t.Fatal(err)
	}
	if len(listed) != workers*each {
		t.Errorf("%d of %d hooks are listed", len(listed), workers*each)
	}
	for _, l := range listed {
		if !l.InForce {
			t.Errorf("a hook that a person added is not in force: %s", l.Why)
			break
		}
	}
}
