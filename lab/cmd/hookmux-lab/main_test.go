//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/lab/verify/drivers"
)

func TestMain(m *testing.M) {
	unused := func() { os.Exit(1) } // is there, and nothing calls it
	testscript.Main(m, map[string]func(){"hookmux-lab": main, "hookmux": unused, "hookmux-hook": unused})
}

// Scripts that need no agent.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/scripts",
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("XDG_RUNTIME_DIR", filepath.Join(e.WorkDir, "run"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				err = ts.Exec(args[1], args[2:]...)
				got := 0
				var exit *exec.ExitError
				if errors.As(err, &exit) {
					got = exit.ExitCode()
				}
				if got != want {
					ts.Fatalf("%v ended with code %d, want %d", args[1:], got, want)
				}
			},
		},
	})
}

// hookmux offers `hookmux verify` for agents that were recorded: all of those have a
// driver, and all drivers a recording.
func TestDriversHaveRecordings(t *testing.T) {
	for _, name := range drivers.Names() {
		if !recordings.Has(name) {
			t.Errorf("%s has a driver and no recording, so hookmux won't offer to test it", name)
		}
	}
	summaries, err := recordings.Summaries()
	if err != nil {
		t.Fatal(err)
	}
	for name := range summaries {
		if _, driven := drivers.Find(name); !driven {
			t.Errorf("%s has a recording and no driver, so hookmux offers a test that can't run", name)
		}
	}
}
