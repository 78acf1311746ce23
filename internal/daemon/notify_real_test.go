package daemon

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/wire"
)

// realDesktop is a dunst on an X server without a screen, on a bus of its own.
type realDesktop struct {
	w       *daemonFixture
	address string
	environ []string
}

// startDesktop begins one; the test is left out where a program of it is not here.
func startDesktop(t *testing.T, w *daemonFixture) *realDesktop {
	t.Helper()
	if os.Getenv("HOOKMUX_VERIFY") == "" {
		t.Skip("a real desktop is for `make verify`")
	}
	for _, program := range []string{"dbus-daemon", "Xvfb", "dunst", "dunstctl", "dbus-send", "dbus-monitor"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("a real desktop is left out: there is no %s here", program)
		}
	}
	folder := sandbox.TempDir(t)
	d := &realDesktop{w: w, environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder}}
	// Each prints one line once it can be used.
	d.address = d.start("dbus-daemon", "--session", "--nofork", "--nopidfile",
		"--address=unix:path="+filepath.Join(folder, "bus"), "--print-address")
	d.environ = append(d.environ, "DBUS_SESSION_BUS_ADDRESS="+d.address)
	number := d.start("Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp")
	d.environ = append(d.environ, "DISPLAY=:"+number)
	menu, settings := filepath.Join(folder, "menu"), filepath.Join(folder, "dunstrc")
	for name, text := range map[string]string{
		menu: "#!/bin/sh\ngrep Deny\n", settings: "[global]\ndmenu = " + menu + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatalf("no settings for dunst: %v", err)
		}
	}
	d.launch("dunst", "-config", settings)
	w.Eventually("dunst answers", func() bool { _, err := d.run("dunstctl", "count"); return err == nil })
	return d
}

func (d *realDesktop) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = d.environ
	return cmd
}

// launch starts a program that ends with the test.
func (d *realDesktop) launch(program string, args ...string) *bufio.Reader {
	d.w.T.Helper()
	cmd := d.command(program, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.w.T.Fatalf("%s has no output: %v", program, err)
	}
	if err := cmd.Start(); err != nil {
		d.w.T.Fatalf("%s does not start: %v", program, err)
	}
	d.w.T.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return bufio.NewReader(out)
}

// start launches a program and waits for its first line.
func (d *realDesktop) start(program string, args ...string) string {
	d.w.T.Helper()
	line, err := d.launch(program, args...).ReadString('\n')
	if err != nil {
		d.w.T.Fatalf("%s said nothing: %v", program, err)
	}
	return strings.TrimSpace(line)
}

func (d *realDesktop) run(program string, args ...string) (string, error) {
	out, err := d.command(program, args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// shown returns how many notifications are on the screen.
func (d *realDesktop) shown() string {
	out, _ := d.run("dunstctl", "count", "displayed")
	return out
}

// A real notification server: a request is shown, replaced by its next state,
// withdrawn; its button denies; what other programs press or forge approves nothing.
func TestRealDunst(t *testing.T) {
	w := open(t)
	d := startDesktop(t, w)
	w.set("notify.channels", "desktop")
	w.set("notify.bus", d.address)
	w.set("notify", "on")

	call := w.startCall(permission("s", "make"))
	item := w.waiting()
	w.Eventually("the request is shown", func() bool { return d.shown() == "1" })
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	if got, _ := call.answer(); !strings.Contains(got, `"allow"`) {
		t.Errorf("the hook heard %q, want an allow", got)
	}
	w.Eventually("the notification is withdrawn", func() bool { return d.shown() == "0" })

	call = w.startCall(permission("s", "make install"))
	item = w.waiting()
	w.Eventually("the next request is shown", func() bool { return d.shown() == "1" })
	history, _ := d.run("dunstctl", "history")
	if !strings.Contains(history, "asks for permission") {
		t.Errorf("dunst's history is %s, want the first request in it", history)
	}
	d.pressFromBelow(t)
	// A signal that is not dunst's: ids are small numbers.
	for _, id := range []string{"1", "2", "3", "4"} {
		for _, button := range []string{"deny", "approve"} {
			if out, err := d.run("dbus-send", "--session", "--type=signal", "/org/freedesktop/Notifications",
				"org.freedesktop.Notifications.ActionInvoked", "uint32:"+id, "string:"+button); err != nil {
				t.Fatalf("dbus-send: %v: %s", err, out)
			}
		}
	}
	if list := w.items(); len(list) != 1 || list[0].ID != item.ID || len(call.reply) != 0 {
		t.Fatalf("%+v wait, want the request, unanswered", list)
	}
	d.pressDeny(t)
	if got, _ := call.answer(); !strings.Contains(got, `"deny"`) {
		t.Errorf("the hook heard %q, want a deny", got)
	}
	w.Eventually("nothing is shown", func() bool { return d.shown() == "0" })
}

// A real notification server: a request that goes to its agent's own prompt keeps its
// notification, with other words; what a daemon left that was killed gives way to the next
// daemon's; and many requests are a few notifications.
func TestRealDunstReplaces(t *testing.T) {
	w := open(t)
	d := startDesktop(t, w)
	w.set("notify.channels", "desktop")
	w.set("notify.bus", d.address)
	w.set("notify", "on")
	signals := d.launch("timeout", "120", "dbus-monitor", "--session", "interface='org.freedesktop.Notifications'")
	d.awaitLine(signals, "NameAcquired") // it listens

	call := w.startCall(permission("s", "make"))
	item := w.waiting()
	d.awaitLine(signals, "hookmux up, or in the agent's terminal")
	w.Eventually("the request is shown", func() bool { return d.shown() == "1" })
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: item.ID}, nil)
	call.answer()
	d.awaitLine(signals, "hookmux jump")
	if got := d.shown(); got != "1" {
		t.Errorf("%s notifications are shown of one request that moved to its window, want 1", got)
	}
	if _, err := exec.LookPath("gdbus"); err == nil {
		// As the next daemon would, which does not know the number of the first one's.
		if out, err := d.run("gdbus", "call", "--session", "--dest", "org.freedesktop.Notifications", "--object-path",
			"/org/freedesktop/Notifications", "--method", "org.freedesktop.Notifications.Notify", "hookmux", "0", "",
			"title", "another daemon's", "[]", "{'x-dunst-stack-tag': <'hookmux "+item.ID+"'>}", "0"); err != nil {
			t.Fatalf("gdbus: %v: %s", err, out)
		}
		d.awaitLine(signals, "another daemon's")
		if got := d.shown(); got != "1" {
			t.Errorf("%s notifications are shown of one request of two daemons, want 1", got)
		}
	}
	if out, err := d.run("dunstctl", "close-all"); err != nil {
		t.Fatalf("dunstctl close-all: %v: %s", err, out)
	}
	w.Eventually("nothing is shown", func() bool { return d.shown() == "0" })

	var calls []*pendingCall
	for _, session := range []string{"a", "b", "c", "d", "e", "f"} {
		calls = append(calls, w.startCall(permission(session, "make")))
	}
	d.awaitLine(signals, "4 more requests wait for you")
	w.Eventually("seven requests, one of them closed before, are three notifications", func() bool { return d.shown() == "3" })
	for _, item := range w.items() {
		w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	}
	for _, call := range calls {
		call.answer()
	}
	w.Eventually("nothing is shown", func() bool { return d.shown() == "0" })
}

// pressFromBelow presses the notification's default button by dunst's own program,
// below a process that is called claude.
func (d *realDesktop) pressFromBelow(t *testing.T) {
	t.Helper()
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatalf("no shell: %v", err)
	}
	agent := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(agent, shell, 0o755); err != nil {
		t.Fatalf("no agent: %v", err)
	}
	signals := d.launch("timeout", "60", "dbus-monitor", "--session",
		"type='signal',interface='org.freedesktop.Notifications'")
	d.awaitLine(signals, "NameAcquired") // it listens
	if out, err := d.run(agent, "-c", "dunstctl action 0; true"); err != nil {
		t.Fatalf("dunstctl action: %v: %s", err, out)
	}
	d.awaitLine(signals, "member=ActionInvoked")
}

// awaitLine reads until a line holds a text.
func (d *realDesktop) awaitLine(from *bufio.Reader, text string) {
	d.w.T.Helper()
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			d.w.T.Fatalf("no line with %q came: %v", text, err)
		}
		if strings.Contains(line, text) {
			return
		}
	}
}

// pressDeny presses Deny in the place of a mouse: dunst offers the buttons to a menu
// program, and the one of this test chooses.
func (d *realDesktop) pressDeny(t *testing.T) {
	t.Helper()
	if out, err := d.run("dunstctl", "context"); err != nil {
		t.Fatalf("dunstctl context: %v: %s", err, out)
	}
}
