package daemon

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/wire"
)

// TestReleasedState starts a daemon in a home of the first release and sees all of it read. What a release wrote keeps
// its meaning: whoever changes a format brings a migration, and these files stay as they are. Values that the release
// sealed with a key of its own are in testdata/release-0.1/sealed and are sealed here.
func TestReleasedState(t *testing.T) {
	w := newFixture(t)
	const from = "testdata/release-0.1"
	// Sessions leave the list after an hour: this one was written minutes ago.
	const written = "2026-11-19T01:57:"
	minutesAgo := time.Now().UTC().Add(-5 * time.Minute).Format("2006-01-02T15:04:")
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, rest, _ := strings.Cut(filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(from+"/"))), "/")
		switch folder {
		case "config":
			w.MustWrite(t, filepath.Join(w.Dirs.Config, rest), string(text))
		case "state":
			w.MustWrite(t, filepath.Join(w.Dirs.State, rest), strings.ReplaceAll(string(text), written, minutesAgo))
		case "sealed":
			return sealed.Store(w.Dirs.State, rest, json.RawMessage(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Up()

	info, err := w.Client.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range info.Problems {
		t.Errorf("problem %s: %s", p.Key, p.What)
	}
	var permissions []wire.PermissionInfo
	w.MustCall(wire.MethodPermissions, nil, &permissions)
	if len(permissions) != 2 || permissions[0].Rule != "run exactly: npm test" || permissions[1].Project != "/home/dev/app" {
		t.Errorf("permissions %+v, want both of the release", permissions)
	}
	var sessions []wire.Session
	w.MustCall(wire.MethodSessions, wire.SessionsParams{All: true}, &sessions)
	if len(sessions) != 1 || sessions[0].Title != "Fix the flaky payment test" {
		t.Errorf("sessions %+v, want the release's one", sessions)
	}
	for command, want := range map[string]string{"rm -rf ~/": "destructive.rm-broad", "make deploy": "no-deploy", "deploy prod": "no-prod"} {
		reply := w.Send(daemontest.ToolBefore("claude", "s", "", command))
		if said := string(reply.Stdout); !strings.Contains(said, `"deny"`) || !strings.Contains(said, want) {
			t.Errorf("%s: %q, want it denied by %s", command, said, want)
		}
	}
}
