package tui

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// Sessions and requests of other machines name theirs, are answered by their whole ID, and
// say so when their machine is lost.
func TestOtherMachines(t *testing.T) {
	s := newScreen(t, 100, 24)
	lost := s.now.Add(-2 * time.Minute)
	s.send(sessionsMsg([]wire.Session{
		{ID: "build/s1", Host: "build", Agent: "claude", Status: wire.StatusWaiting, Title: "deploy the shop", Cwd: "/srv/shop", Pane: "%7"},
		{ID: "cloud/s2", Host: "cloud", HostLost: &lost, Agent: "codex", Status: wire.StatusUnknown, Title: "train", Cwd: "/srv/train"},
		{ID: "s3", Agent: "claude", Status: wire.StatusRunning, Title: "write the docs", Cwd: "/home/me/docs"},
	}))
	s.arrive(s.request("build/k1", func(r *wire.InboxRequest) { r.Host, r.Session = "build", "build/s1" }))
	s.mustShow("on build", "on cloud", "deploy the shop", "write the docs")
	s.wait(time.Second)
	s.press("a")
	if len(s.daemon.replies) != 1 || s.daemon.replies[0].ID != "build/k1" || s.daemon.replies[0].Choice != "once" {
		t.Errorf("replies: %+v, want build/k1 approved once\n%s", s.daemon.replies, s.text())
	}
}
