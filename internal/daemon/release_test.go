package daemon

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/wire"
)

// settingValue returns a setting in force, as JSON without blanks.
func settingValue(w *daemonFixture, key string) string {
	var list []wire.Setting
	w.MustCall(wire.MethodConfigGet, wire.ConfigListParams{}, &list)
	for _, s := range list {
		var b bytes.Buffer
		if s.Key == key && json.Compact(&b, s.Value) == nil {
			return b.String()
		}
	}
	return ""
}

// TestReleasedState starts a daemon in a home of the first release and sees all of it read. What a release wrote keeps
// its meaning: whoever changes a format brings a migration, and these files stay as they are. Values that the release
// sealed with a key of its own are in testdata/release-0.1/sealed and are sealed here.
func TestReleasedState(t *testing.T) {
	w := newFixture(t)
	const from = "testdata/release-0.1"
	// Sessions leave the list after an hour: this one was written minutes ago.
	const written = "2026-11-19T01:57:"
	now := time.Now().UTC().Add(-5 * time.Minute)
	times := strings.NewReplacer(written, now.Format("2006-01-02T15:04:"), "2026-11-20T01:57:", now.Add(24*time.Hour).Format("2006-01-02T15:04:"))
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
			w.MustWrite(t, filepath.Join(w.Dirs.State, rest), times.Replace(string(text)))
		case "sealed":
			return sealed.Store(w.Dirs.State, rest, json.RawMessage(times.Replace(string(text))))
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
	if len(info.Pauses) != 1 || info.Pauses[0].Name != "guard.own-files" {
		t.Errorf("pauses %+v, want the release's one", info.Pauses)
	}
	if !info.Inbox.Away {
		t.Error("you aren't away, want it as the release left it")
	}
	var paired []wire.WebDevice
	w.MustCall(wire.MethodWebDevices, nil, &paired)
	if len(paired) != 1 || paired[0].Name != "Pixel" || paired[0].Scope != wire.ScopeAnswer {
		t.Errorf("devices %+v, want the release's one", paired)
	}
	for key, want := range map[string]string{config.UsageBudgets: `["day=30usd block=100%","session=5usd ask=80%"]`,
		config.GuardAllow: `["git-history.force-push"]`, "inbox.wait": `"5m"`} {
		if got := settingValue(w, key); got != want {
			t.Errorf("setting %s is %s, want %s", key, got, want)
		}
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
