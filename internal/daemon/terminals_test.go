package daemon

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
)

// Single answers are given without a question; what takes protection away is
// asked for, in words that say what it is.
func TestWhatTakesProtectionAwayIsAskedFor(t *testing.T) {
	w := open(t)
	w.watchInbox()
	call := w.startCall(permission("s", "make"))
	item := w.waiting()
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	if got, _ := call.answer(); !strings.Contains(got, `"allow"`) {
		t.Errorf(`call.answer() = %q, want "allow" in it`, got)
	}
	w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: "guard.secrets", Value: json.RawMessage(`"block"`)}, nil)
	if asked := w.Person.Asked(); len(asked) != 0 {
		t.Errorf("a single answer and a tighter guard asked for a code: %q", asked)
	}
	w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: "guard.secrets", Value: json.RawMessage(`"off"`)}, nil)
	call = w.startCall(permission("s", "make again"))
	item = w.waiting()
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "always", Rule: item.Rule, Scope: "everywhere"})
	_, _ = call.answer()
	w.MustCall(wire.MethodOff, wire.OffParams{Seconds: 1}, nil)
	want := []string{
		"set guard.secrets to off", "approve for claude: $ make again (and always allow: " + item.Rule + ")",
		"turn hookmux off, with all guards, for 1s",
	}
	if asked := w.Person.Asked(); !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

// Terminals that a person trusted are kept over a restart, and nobody else
// can write them down.
func TestTrustsTerminals(t *testing.T) {
	w := open(t)
	w.SetProcesses(daemontest.AtTerminal(proctest.Node{PID: os.Getpid(), Name: "hookmux", User: os.Getuid()}))
	var info wire.TerminalInfo
	w.MustCall(wire.MethodTerminalAdd, wire.TerminalParams{PID: os.Getpid()}, &info)
	list := func() (pids []int) {
		t.Helper()
		var infos []wire.TerminalInfo
		w.MustCall(wire.MethodTerminals, nil, &infos)
		for _, one := range infos {
			pids = append(pids, one.PID)
		}
		return pids
	}
	if got := list(); !slices.Equal(got, []int{os.Getpid()}) || info.Name != "hookmux" {
		t.Fatalf(`trusted %v, %+v; want got equal to []int{os.Getpid()} and info.Name == "hookmux"`, got, info)
	}
	if asked := w.Person.Asked(); len(asked) != 1 || !strings.Contains(asked[0], "trust the terminals of process") {
		t.Errorf("trusting asked for %q", asked)
	}
	w.Down()
	w.Up()
	if got := list(); !slices.Equal(got, []int{os.Getpid()}) {
		t.Errorf("after a restart %v", got)
	}
	w.MustCall(wire.MethodTerminalRemove, wire.TerminalParams{PID: os.Getpid()}, nil)
	if got := list(); len(got) != 0 {
		t.Errorf("after removing %v; want len(got) == 0", got)
	}
	if err := w.Call(wire.MethodTerminalRemove, wire.TerminalParams{PID: os.Getpid()}, nil); err == nil {
		t.Error("what is not trusted was removed")
	}
	if err := w.Call(wire.MethodTerminalAdd, wire.TerminalParams{PID: 4_999_999}, nil); err == nil {
		t.Error("a process that is not there was trusted")
	}
	w.Down()
	file := w.Dirs.State + "/trusted-terminals.json"
	if err := os.WriteFile(file, []byte(`[{"pid":1,"start":1}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Up()
	if got := list(); len(got) != 0 {
		t.Errorf("a forged file trusted %v", got)
	}
	if _, ok := w.Problem("terminals"); !ok {
		t.Error("nobody is told of the forged file")
	}
}

// A caller learns what the daemon makes of it.
func TestTerminalLook(t *testing.T) {
	w := open(t)
	var view wire.TerminalView
	w.MustCall(wire.MethodWhoami, nil, &view)
	if view.Outcome != authority.Allowed.String() || view.Terminal != authority.Edge.String() || view.TTY != "/dev/pts/77" {
		t.Errorf(`a person: %+v; want view.Outcome == authority.Allowed.String(), view.Terminal == `+
			`authority.Edge.String() and view.TTY == "/dev/pts/77"`, view)
	}
	for name, table := range attempts() {
		w.SetProcesses(table)
		w.MustCall(wire.MethodWhoami, nil, &view)
		if view.Outcome == authority.Allowed.String() || view.Outcome == authority.NeedCode.String() {
			t.Errorf("%s: view = %+v, want view.Outcome other than authority.Allowed.String() and view.Outcome "+
				"other than authority.NeedCode.String()", name, view)
		}
	}
}
