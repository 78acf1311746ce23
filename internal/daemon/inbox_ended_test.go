package daemon

import (
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
)

// A request of a session whose process is gone still waits for whoever asked: the list,
// the stream and `ps` show it alike until it is answered.
func TestRequestOfASessionWhoseProcessIsGone(t *testing.T) {
	w := open(t)
	w.watchInbox()
	w.tell("claude", "UserPromptSubmit", "s", map[string]any{"prompt": "go"})
	call := w.startCall(permission("s", "make"))
	item := w.waiting()
	w.SetProcesses(daemontest.BelowAgent("claude")) // another process of the session
	w.tell("claude", "Notification", "s", map[string]any{"message": "hi"})
	w.SetProcesses(daemontest.AtTerminal()) // kill -9: no hook tells
	w.Eventually("the process is missed", func() bool {
		turn := w.session("s").Turn
		return turn != nil && turn.Ended != nil
	})
	list, err := w.Client.Waiting(context.Background(), false)
	if err != nil || len(list) != 1 || list[0].ID != item.ID || list[0].Status != wire.InboxPending {
		t.Errorf("the inbox lists %+v, %v; want the request %s", list, err, item.ID)
	}
	at := slices.IndexFunc(w.sessions(), func(s wire.Session) bool { return s.ID == "s" && s.Ended == nil })
	if at < 0 {
		t.Errorf("ps has %+v, want the session that waits among them", w.sessions())
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "deny"})
	call.answer()
	w.Eventually("the session has ended", func() bool { return w.session("s").Ended != nil })
}

// A socket that a killed daemon left behind is removed; it is nothing to be told of.
func TestSocketOfAKilledDaemon(t *testing.T) {
	w := newFixture(t)
	// Where there is no folder for logins, the socket is below the state.
	w.Dirs.Runtime = w.Dirs.State + "/run"
	if err := w.Dirs.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	// As kill -9 leaves it.
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.Dirs.Socket(), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	socket.SetUnlinkOnClose(false)
	if err := socket.Close(); err != nil {
		t.Fatal(err)
	}
	w.Client.Socket = w.Dirs.Socket()
	w.Up()
	info, err := w.Client.Info(context.Background())
	if err != nil || len(info.Problems) > 0 {
		t.Errorf("problems %+v, %v; want none", info.Problems, err)
	}
	entries, err := os.ReadDir(w.Dirs.Runtime)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "daemon.sock.") {
			t.Errorf("%s was set aside, want it removed", e.Name())
		}
	}
}
