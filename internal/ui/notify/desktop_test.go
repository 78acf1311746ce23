package notify

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/shell"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/ui/notify/bustest"
	"github.com/hookmux/hookmux/internal/wire"
)

// pressedButtons are the button presses a desktop was told of, one by one.
type pressedButtons chan string

func newDesktop(t *testing.T, bus *bustest.Bus) (*desktop, pressedButtons) {
	presses := make(pressedButtons, 8)
	d := &desktop{
		address: func() (string, error) { return bus.Address, nil },
		sound:   func(string) soundChoice { return soundChoice{name: "message"} },
		pressed: func(n Notice, button string) { presses <- button + " " + n.Request },
	}
	t.Cleanup(d.close)
	return d, presses
}

// next waits for a press.
func (p pressedButtons) next(t *testing.T) string {
	t.Helper()
	select {
	case got := <-p:
		return got
	case <-time.After(await.Patience):
		t.Fatal("no button arrived")
		return ""
	}
}

// only returns the one notification that is shown.
func only(t *testing.T, bus *bustest.Bus) bustest.Bubble {
	t.Helper()
	list := bus.Shown()
	if len(list) != 1 {
		t.Fatalf("%d notifications are shown, want one: %+v", len(list), list)
	}
	return list[0]
}

func newest(bus *bustest.Bus) (id uint32) {
	for _, one := range bus.Shown() {
		id = max(id, one.ID)
	}
	return id
}

func mustShow(t *testing.T, d *desktop, n *Notice) {
	t.Helper()
	if err := d.show(context.Background(), n); err != nil {
		t.Fatalf("the notice is not shown: %v", err)
	}
}

func TestDesktopShowsReplacesWithdraws(t *testing.T) {
	bus := bustest.Start(t)
	d, _ := newDesktop(t, bus)
	n := sample()
	n.Body = "<b>rm & x</b>"
	mustShow(t, d, n)
	shown := only(t, bus)
	first := shown.ID
	if shown.Title != n.Title || !strings.HasPrefix(shown.Body, "&lt;b&gt;rm &amp; x&lt;/b&gt;\n") {
		t.Errorf("shown %q, %q; want the title and the body without markup", shown.Title, shown.Body)
	}
	if want := []string{"default", "Show", "show", "Show", "deny", "Deny"}; !slices.Equal(shown.Actions, want) {
		t.Errorf("buttons %v, want %v", shown.Actions, want)
	}
	if sound, _ := shown.Hints["sound-name"].Value().(string); sound != "message" || shown.Stays != 0 {
		t.Errorf("sound %q, stays %d; want message, and until it is answered", sound, shown.Stays)
	}
	// What can no longer be answered here has no button for it, in the same place.
	moved := *n
	moved.CanDeny = false
	mustShow(t, d, &moved)
	shown = only(t, bus)
	if shown.ID != first || shown.Replaces != first || slices.Contains(shown.Actions, buttonDeny) {
		t.Errorf("shown as %d in the place of %d with %v; want %d replaced, without Deny", shown.ID, shown.Replaces,
			shown.Actions, first)
	}
	// Nothing can be shown: a click, which presses the default button or the only one, is no Deny.
	moved.CanDeny, moved.CanShow = true, false
	mustShow(t, d, &moved)
	if got, want := only(t, bus).Actions, []string{"default", "Dismiss", "deny", "Deny"}; !slices.Equal(got, want) {
		t.Errorf("buttons %v, want %v", got, want)
	}
	if err := d.withdraw(context.Background(), n); err != nil || len(bus.Shown()) != 0 {
		t.Errorf("%d are shown after it was withdrawn (%v), want none", len(bus.Shown()), err)
	}
	// Nothing is left to withdraw.
	if err := d.withdraw(context.Background(), n); err != nil || bus.Withdrawn() != 1 {
		t.Errorf("withdrawn %d times (%v), want once", bus.Withdrawn(), err)
	}
}

func TestOnlyTheOwnersButtonsCount(t *testing.T) {
	bus := bustest.Start(t)
	d, presses := newDesktop(t, bus)
	mustShow(t, d, sample())
	id := only(t, bus).ID
	for _, forged := range []string{":1.666", busName, "", busSelf} {
		bus.Signal(forged, actionFor, id, buttonDeny)
	}
	bus.Signal(bustest.Owner, actionFor, id+1, buttonDeny) // of somebody else's notification
	bus.Signal(bustest.Owner, actionFor, id, "approve")    // there is no such button
	bus.Signal(bustest.Owner, actionFor, id)               // too short
	bus.Signal(bustest.Owner, actionFor, "x", buttonDeny)  // no number
	bus.Signal(":1.666", ownerFor, busName, "", ":1.666")  // only the bus says who owns a name
	bus.Signal(":1.666", actionFor, id, buttonDeny)        // so that this is still forged
	bus.Signal(bustest.Owner, actionFor, id, buttonShow)   // a real one behind all of them
	if got := presses.next(t); got != "show r1" {
		t.Errorf("heard %q, want only the owner's show", got)
	}
	bus.Signal(bustest.Owner, actionFor, id, buttonDeny)
	if got := presses.next(t); got != "deny r1" {
		t.Errorf("heard %q, want deny", got)
	}
	// What is closed has no buttons.
	bus.Signal(bustest.Owner, closedFor, id, uint32(2))
	bus.Signal(bustest.Owner, actionFor, id, buttonDeny)
	mustShow(t, d, &Notice{ID: "r0", Request: "r0", Title: "x"})
	for _, button := range []string{buttonDeny, buttonShow, "default"} {
		bus.Signal(bustest.Owner, actionFor, newest(bus), button) // it has no buttons
	}
	mustShow(t, d, &Notice{ID: "r2", Request: "r2", Title: "x", CanShow: true})
	last := newest(bus)
	bus.Signal(bustest.Owner, actionFor, last, buttonDeny) // it cannot be denied
	bus.Signal(bustest.Owner, actionFor, last, "default")
	if got := presses.next(t); got != "show r2" {
		t.Errorf("heard %q, want show of the second notice alone", got)
	}
}

// Who takes the place of the one who showed notices knows nothing of them.
func TestAnotherOwner(t *testing.T) {
	bus := bustest.Start(t)
	d, presses := newDesktop(t, bus)
	mustShow(t, d, sample())
	id := only(t, bus).ID
	bus.Signal(busSelf, ownerFor, busName, bustest.Owner, ":1.8")
	bus.Signal(":1.8", actionFor, id, buttonDeny)
	bus.Signal(bustest.Owner, actionFor, id, buttonDeny)
	await.Until(t, "the new one is known", func() bool { return d.ownerNow() == ":1.8" })
	mustShow(t, d, sample())
	last := newest(bus)
	bus.Signal(":1.8", actionFor, last, buttonShow)
	if got := presses.next(t); got != "show r1" {
		t.Errorf("heard %q, want the new one's show alone", got)
	}
}

func (d *desktop) ownerNow() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.owner
}

// What is shown goes with the daemon.
func TestDesktopEnds(t *testing.T) {
	bus := bustest.Start(t)
	d, _ := newDesktop(t, bus)
	mustShow(t, d, sample())
	d.close()
	if list := bus.Shown(); len(list) != 0 {
		t.Errorf("%d notifications are left, want none: %+v", len(list), list)
	}
}

// A bus that went away is found again.
func TestBusComesBack(t *testing.T) {
	bus := bustest.Start(t)
	d, _ := newDesktop(t, bus)
	mustShow(t, d, sample())
	bus.HangUp()
	await.Until(t, "it is shown again", func() bool { return d.show(context.Background(), sample()) == nil })
}

func TestNoBus(t *testing.T) {
	empty := t.TempDir()
	_, err := busAddress("", func(name string) string { return map[string]string{"XDG_RUNTIME_DIR": empty}[name] })
	if _, there := os.Stat("/run/user/" + "0/bus"); there != nil && !errors.Is(err, errAbsent) {
		t.Errorf("error %v, want one that says that it is not here", err)
	}
	d := &desktop{address: func() (string, error) { return "unix:path=" + filepath.Join(empty, "none"), nil }}
	if err := d.show(context.Background(), sample()); !errors.Is(err, errAbsent) {
		t.Errorf("error %v, want one that says that it is not here", err)
	}
	if got, err := busAddress("unix:path=/x", func(string) string { return "" }); got != "unix:path=/x" || err != nil {
		t.Errorf("address %q (%v), want the one that was set", got, err)
	}
}

// A bus that lets nobody in, or answers nothing, holds up neither notices nor the end
// of the daemon.
func TestSilentBus(t *testing.T) {
	folder, err := os.MkdirTemp("", "bus") // short enough for a socket
	if err != nil {
		t.Fatalf("no folder for the bus: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "bus")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatalf("no socket for the bus: %v", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	d := &desktop{address: func() (string, error) { return "unix:path=" + socket, nil }}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := d.show(ctx, sample()); !errors.Is(err, errAbsent) {
		t.Errorf("error %v, want one that says that no bus answers", err)
	}
	d.close()
}

// Only sockets of this machine are a bus: other addresses run programs or go over the
// network.
func TestBusAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"unix:path=/run/user/1000/bus":                        "/run/user/1000/bus",
		"unix:abstract=/tmp/dbus-x,guid=00":                   "@/tmp/dbus-x",
		"tcp:host=1.2.3.4,port=5;unix:guid=0,path=/a%20b":     "/a b",
		"unixexec:path=/bin/sh,argv1=-c,argv2=touch%20/tmp/x": "",
		"tcp:host=192.0.2.1,port=1":                           "",
		"autolaunch:":                                         "",
		"launchd:env=DBUS_LAUNCHD_SESSION_BUS_SOCKET":         "",
		"unix:path=":         "",
		"/run/user/1000/bus": "",
		"nonce-tcp:host=localhost,port=1,noncefile=/etc/passwd": "",
	} {
		got, err := config.BusSocket(address)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: socket %q (%v), want %q", address, got, err, want)
		}
	}
	// The environment of a daemon may be that of an agent that started it.
	folder := t.TempDir()
	got, err := busAddress("", func(name string) string { return map[string]string{"XDG_RUNTIME_DIR": folder}[name] })
	if strings.Contains(got, folder) {
		t.Errorf("address %q (%v), want none in a folder without a bus", got, err)
	}
}

// The Mac's script gets texts as arguments.
func TestScriptGetsArguments(t *testing.T) {
	folder := t.TempDir()
	program, heard := filepath.Join(folder, "osascript"), filepath.Join(folder, "heard")
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + heard + "\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatalf("no stand-in: %v", err)
	}
	n := sample()
	n.Title = `-e do shell script "id"`
	for name, want := range map[string]string{"": "", "Glass": "Glass\n"} {
		mac := scriptNotice{program, func(string) soundChoice { return soundChoice{name: name} }}
		if err := mac.show(context.Background(), n); err != nil {
			t.Fatalf("the stand-in failed: %v", err)
		}
		b, _ := os.ReadFile(heard)
		want = "\nend run\n--\n" + n.Title + "\n" + n.lines() + "\n" + want
		if !strings.HasSuffix(string(b), want) || strings.Contains(string(b), "sound name") != (name != "") {
			t.Errorf("the script got %q, want the texts as arguments behind --, and the sound %q", b, name)
		}
	}
}

// What agents write does nothing on any channel.
func TestHostileTexts(t *testing.T) {
	hostile := "a\x1b]52;c;aGk=\a\r\nb\u202e\u200b#(touch x)#{pane_id}%H" + strings.Repeat("W", 10<<10) + "\u009d0;x\x9c;"
	item := wire.InboxRequest{ID: "r1;\x1b\\", Kind: "permission", Agent: "claude", Session: "s\x1b[2J", Cwd: "/x/" + hostile,
		Tool: hostile, Shown: hostile + "\n  " + hostile, Status: wire.InboxPending, Pane: "%1\a"}
	one := wire.Session{Agent: "claude", ID: "s", Cwd: "/x", Turn: &wire.Turn{N: 1, Ended: &noon, Seconds: 99,
		Summary: hostile}}
	for _, full := range []bool{false, true} {
		for _, n := range []Notice{requestNotice(&item, hostile, full), turnNotice("turn", &one, hostile, full)} {
			for field, text := range map[string]string{"title": n.Title, "body": n.Body, "next": n.Next, "project": n.Project} {
				if strings.ContainsAny(text, "\x1b\a\r\n\u202e\u200b\u009d\u009c") || len(text) > 800 {
					t.Errorf("the %s holds what must not be there, or is too long: %q", field, text)
				}
			}
			for _, kind := range []string{"9", "777", "99"} {
				text := oscText(kind, &n)
				inner := strings.ReplaceAll(strings.ReplaceAll(text, "\x1b\\", ""), "\x1b]"+kind+";", "")
				if strings.ContainsAny(inner, "\x1b\a\r\n\u009d") {
					t.Errorf("OSC %s ends or begins something else: %q", kind, text)
				}
				if kind == "777" && strings.Count(inner, ";") != 2 {
					t.Errorf("OSC 777 has %d separators, want 2: %q", strings.Count(inner, ";"), text)
				}
			}
		}
	}
}

// What a notice says to run is safe to be copied into a shell, whatever an agent calls
// its session.
func TestCommandsAreSafeToCopy(t *testing.T) {
	for _, session := range []string{";reboot;", "$(id)", "a_`id`|sh", "x\ny", "'; id '", "&&id", ">x", "-a b", "*"} {
		one := wire.Session{ID: session, Turn: &wire.Turn{Ended: &noon}}
		item := request(func(i *wire.InboxRequest) { i.Session, i.Status = session, wire.InboxPrompt })
		for _, n := range []Notice{requestNotice(&item, "Claude Code", true), turnNotice("t", &one, "Claude Code", true)} {
			words, err := shell.Fields(n.Next, func(string) string { return "EXPANDED" })
			if err != nil || len(words) != 3 || words[2] != clean(wire.ShortID(session), 24) {
				t.Errorf("%q: a shell reads %q as %q (%v), want the session as one word", session, n.Next, words, err)
			}
		}
	}
}

func TestSequences(t *testing.T) {
	for terminal, want := range map[string]string{
		"kitty(0.39.1)": "99", "xterm-kitty": "99", "ghostty 1.1.2": "777", "foot(1.16)": "777", "WezTerm 20240203": "9",
		"iTerm2 3.5": "9", "xterm-256color": "9", "": "9",
	} {
		if got := sequenceFor(terminal); got != want {
			t.Errorf("%q gets OSC %s, want %s", terminal, got, want)
		}
	}
}

func TestSounds(t *testing.T) {
	folder := t.TempDir()
	heard := filepath.Join(folder, "heard")
	file := filepath.Join(folder, "ping.oga")
	player := filepath.Join(folder, "paplay")
	for name, text := range map[string]string{player: "#!/bin/sh\necho \"$@\" >" + heard + "\n", file: "x"} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatalf("no stand-in: %v", err)
		}
	}
	p := soundPlayer{
		choice: func(kind string) soundChoice {
			return chooseSound(map[string]string{"permission": "~/ping.oga", "plan": "bell", "failed": "/none"}[kind], folder)
		},
		lookPath: func(name string) (string, error) {
			if name == "paplay" {
				return player, nil
			}
			return "", os.ErrNotExist
		},
	}
	n := sample()
	if err := p.show(context.Background(), n); err != nil {
		t.Fatalf("the sound is not played: %v", err)
	}
	if b, _ := os.ReadFile(heard); strings.TrimSpace(string(b)) != file {
		t.Errorf("played %q, want %q", b, file)
	}
	for kind, want := range map[string]error{"plan": errAbsent, "failed": os.ErrNotExist, "question": nil} {
		n.Kind = kind
		if err := p.show(context.Background(), n); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", kind, err, want)
		}
	}
}
