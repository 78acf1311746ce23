//go:build unix

package main

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// guardedWorld returns a world in which guards are on and no daemon comes up.
func guardedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	write(t, paths.KeyBeside(guardnote.File(w.dirs.State)), strings.Repeat("k", 32))
	if err := guardnote.Write(w.dirs.State, guardnote.Builtin()); err != nil {
		t.Fatal(err)
	}
	return w
}

// noDaemon keeps daemons from coming up for a minute.
func (w *world) noDaemon() {
	w.t.Helper()
	if err := daemonstart.Pause(w.dirs); err != nil {
		w.t.Fatal(err)
	}
}

// hook runs the real client with a payload.
func (w *world) hook(payload string, args ...string) result {
	w.t.Helper()
	cmd := w.command(args...)
	cmd.Stdin = strings.NewReader(payload)
	return resultOf(w.t, cmd)
}

func resultOf(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatalf("error %v, want cmd.ProcessState other than nil", err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// uncheckedOf returns what the hook says of an agent's deciding event when nobody
// could check it.
func uncheckedOf(t *testing.T, agent string) result {
	t.Helper()
	row, ok := neutral.Lookup(agent, deciding)
	if !ok || row.Unchecked == row.Neutral {
		t.Fatalf("the table has no answer for a %s %s that nobody checked", agent, deciding)
	}
	return result{row.Unchecked.Stdout, row.Unchecked.Stderr, row.Unchecked.Exit}
}

func evaluated(payload string) result {
	return result{agent + " " + deciding + ": " + payload, "evaluated", 5}
}

func TestEvaluateDecidesWithoutADaemon(t *testing.T) {
	w := guardedWorld(t)
	w.noDaemon()
	if got := w.hook("payload", agent, deciding, "60"); got != evaluated("payload") {
		t.Errorf("got %+v, want what hookmux evaluate said", got)
	}
	if n := len(w.spooled()); n != 1 {
		t.Errorf("%d events were left for the next daemon, want 1", n)
	}
	large := strings.Repeat("0123456789", maxPayload/10+1)
	if got := w.hook(large, agent, deciding, "60"); got.stdout != "--truncated "+evaluated(large[:cutPayload]).stdout {
		t.Errorf("of a payload that was cut came %.80q", got.stdout)
	}
	// Where no guard applies nobody is asked.
	if got := w.hook("payload", agent, "UserPromptSubmit"); got != (result{}) {
		t.Errorf("an event that no guard covers: %+v", got)
	}
	if got := w.hook("payload", agent, observed); got != (result{}) {
		t.Errorf("an observing event: %+v", got)
	}
	if got := w.hook("payload", "--on-unavailable=deny", agent, deciding); got != denyOf(t) {
		t.Errorf("a hook that was installed to refuse: %+v", got)
	}
	// A guard hook of the user's on another event.
	if err := guardnote.Write(w.dirs.State, []guardnote.Cover{{Agent: agent, Event: "UserPromptSubmit"}}); err != nil {
		t.Fatal(err)
	}
	if got := w.hook("payload", agent, "UserPromptSubmit"); got.stdout != agent+" UserPromptSubmit: payload" {
		t.Errorf("an event that a hook guards: %+v", got)
	}
	// The note is a file that everybody can write: it says where else guards
	// are, and does not take the built-in ones away.
	if got := w.hook("payload", agent, deciding, "60"); got != evaluated("payload") {
		t.Errorf("a note without the built-in guards: got %+v, want what hookmux evaluate said", got)
	}
}

func TestNobodyCanCheck(t *testing.T) {
	w := guardedWorld(t)
	w.noDaemon()
	for _, broken := range []string{"die", "garbage"} {
		write(t, filepath.Join(w.dirs.Runtime, "evaluate"), broken)
		for _, name := range []string{agent, "codex"} {
			if got := w.hook("payload", name, deciding, "60"); got != uncheckedOf(t, name) {
				t.Errorf("%s, hookmux evaluate %s: %+v; want a question to the user, or a refusal", name, broken, got)
			}
		}
		if got := w.hook("payload", agent, observed); got != (result{}) {
			t.Errorf("an observing event: %+v", got)
		}
	}
	write(t, filepath.Join(w.dirs.Runtime, "evaluate"), "hang")
	if got := w.hook("payload", agent, deciding, "2"); got != uncheckedOf(t, agent) {
		t.Errorf("hookmux evaluate hangs: %+v", got)
	}
	// An agent of the user's own, which the note names.
	if err := guardnote.Write(w.dirs.State, []guardnote.Cover{{Agent: "mine", Event: "Thing"}}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.dirs.Runtime, "evaluate"), "die")
	if got := w.hook("payload", "mine", "Thing"); got.exit != 2 || got.stderr != unchecked {
		t.Errorf("an agent of the user's own: %+v", got)
	}
	if got := w.hook("payload", "mine", "Other"); got != (result{}) {
		t.Errorf("another event of it: %+v", got)
	}
}

func TestMissingOrDamagedNoteCountsAsGuardsOn(t *testing.T) {
	for _, damage := range []string{"", "hookmux guards 2\n* tool.before\n"} {
		w := newWorld(t)
		w.noDaemon()
		write(t, filepath.Join(w.dirs.State, "journal.db"), "") // a daemon ran here once
		if damage != "" {
			write(t, guardnote.File(w.dirs.State), damage)
		}
		if got := w.hook("payload", agent, deciding); got != evaluated("payload") {
			t.Errorf(`note %q: %+v; want got == evaluated("payload")`, damage, got)
		}
		if got := w.hook("payload", agent, "UserPromptSubmit"); got != (result{}) {
			t.Errorf("note %q: %+v; want got == (result{})", damage, got)
		}
		if got := w.hook("payload", "mine", "Thing"); got.stdout != "mine Thing: payload" {
			t.Errorf("note %q, an agent that only hookmux evaluate may know: %+v", damage, got)
		}
	}
	w := newWorld(t)
	w.noDaemon()
	if got := w.hook("payload", agent, deciding); got != (result{}) {
		t.Errorf("hookmux was never in use here: %+v", got)
	}
}

// A program of the user can rewrite the note and make `hookmux evaluate` fail at once.
func TestNoteDoesNotTakeGuardsAwayWhereNobodyCanCheck(t *testing.T) {
	const empty = "hookmux guards 2\nwritten 9000000000000000000\nseal none\nend\n"
	for name, change := range map[string]func(w *world, note string) error{
		"missing":    func(_ *world, note string) error { return os.Remove(note) },
		"no text":    func(_ *world, note string) error { return os.WriteFile(note, nil, 0o600) },
		"empty list": func(_ *world, note string) error { return os.WriteFile(note, []byte(empty), 0o600) },
		"garbage":    func(_ *world, note string) error { return os.WriteFile(note, []byte("\x00\xffgarbage\n"), 0o600) },
		"of before": func(_ *world, note string) error {
			return os.WriteFile(note, []byte("hookmux guards 1\nend\n"), 0o600)
		},
		"unreadable": func(_ *world, note string) error { return os.Chmod(note, 0) },
		"a folder":   func(_ *world, note string) error { return errors.Join(os.Remove(note), os.Mkdir(note, 0o700)) },
		"a link": func(_ *world, note string) error {
			return errors.Join(os.Remove(note), os.Symlink(os.DevNull, note))
		},
		"older than the settings": func(w *world, _ string) error {
			if err := guardnote.Write(w.dirs.State, nil); err != nil {
				return err
			}
			file, later := filepath.Join(w.dirs.State, "accepted.json"), time.Now().Add(time.Minute)
			write(w.t, file, "{}")
			return os.Chtimes(file, later, later)
		},
	} {
		w := guardedWorld(t)
		w.noDaemon()
		write(t, filepath.Join(w.dirs.State, "journal.db"), "") // a daemon ran here once
		write(t, filepath.Join(w.dirs.Runtime, "evaluate"), "die")
		if err := change(w, guardnote.File(w.dirs.State)); err != nil {
			t.Fatal(err)
		}
		for _, who := range []string{agent, "codex"} {
			if got := w.hook("payload", who, deciding, "60"); got != uncheckedOf(t, who) {
				t.Errorf("note %s, %s: %+v; want a question to the user, or a refusal", name, who, got)
			}
		}
		if got := w.hook("payload", agent, observed); got != (result{}) {
			t.Errorf("note %s, an observing event: %+v", name, got)
		}
	}
	// Settings in force without guards: nobody is asked for nothing.
	w := guardedWorld(t)
	w.noDaemon()
	if err := guardnote.Write(w.dirs.State, nil); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.dirs.Runtime, "evaluate"), "die")
	if got := w.hook("payload", agent, deciding, "60"); got != (result{}) {
		t.Errorf("hookmux wrote that nothing is guarded: %+v", got)
	}
}

// A daemon that hangs up on everybody, as one without room does, and one that
// talks nonsense.
func TestDaemonThatHangsUpIsNoWayAround(t *testing.T) {
	for _, said := range []string{"", "nonsense\n"} {
		w := guardedWorld(t)
		h := w.listen(func(conn net.Conn, _ frame.Request, _ int) { _, _ = io.WriteString(conn, said) })
		if got := w.hook("payload", agent, deciding, "60"); got != evaluated("payload") {
			t.Errorf("a daemon that says %q: %+v", said, got)
		}
		if n := len(h.requests()); n < 2 {
			t.Errorf("a daemon that says %q was asked %d times, want at least once more", said, n)
		}
	}
}

func TestSilentDaemonIsNoWayAround(t *testing.T) {
	w := guardedWorld(t)
	w.listen(func(conn net.Conn, _ frame.Request, _ int) { untilClosed(conn) })
	// Whether hookmux evaluate manages in so little time depends on the
	// machine; a neutral answer is never right.
	got := w.hook("payload", agent, deciding, "4")
	if got != evaluated("payload") && got != uncheckedOf(t, agent) {
		t.Errorf(`got %+v; want got == evaluated("payload") or got == uncheckedOf(t, agent)`, got)
	}
}

// An agent that wrote everything and never closes the stream gets its answer.
func TestStdinThatIsNeverClosed(t *testing.T) {
	w := newWorld(t)
	w.listen(func(conn net.Conn, r frame.Request, _ int) { reply(conn, frame.Reply{ID: r.ID, Stdout: r.Payload}) })
	const payload = `{"tool_name":"Bash","tool_input":{"command":"echo \"}\" {[\\"}}` + "\n"
	cmd := w.command(agent, deciding, "600")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if _, err := io.WriteString(stdin, payload); err != nil {
		t.Fatal(err)
	}
	if got := resultOf(t, cmd); got.stdout != payload {
		t.Errorf("got %+v; want got.stdout == payload", got)
	}
}

// One that breaks off in the middle is put to a person once its time is over.
func TestHalfAPayloadIsNotHarmless(t *testing.T) {
	w := guardedWorld(t)
	cmd := w.command(agent, deciding, "1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if _, err := io.WriteString(stdin, `{"tool_name":"Bash"`); err != nil {
		t.Fatal(err)
	}
	if got := resultOf(t, cmd); got != uncheckedOf(t, agent) {
		t.Errorf("got %+v; want got == uncheckedOf(t, agent)", got)
	}
}

func TestWholeTexts(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, `[]`: true, " {\n} \r\n\t": true, `{"a":{"b":[1,"]}"]}}`: true, `{"a":"\""}`: true, `{"a":"\\"}`: true,
		``: false, `{`: false, `{"a":"}`: false, `{"a":"\"}`: false, `{}{}`: false, `{} x`: false, `}`: false, `"text"`: false, `[[]`: false,
		strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000): true, strings.Repeat("[", 1_000_000): false,
	} {
		if got := isWhole([]byte(text)); got != want {
			t.Errorf("%.40q: %v, want %v", text, got, want)
		}
	}
}

func TestPeerIsThisUser(t *testing.T) {
	w := newWorld(t)
	w.listen(func(net.Conn, frame.Request, int) {})
	c, err := dialDaemon(w.dirs.Socket(), time.Now().Add(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if _, uid, err := c.peerOf(); err != nil || uid != os.Getuid() {
		t.Errorf("the peer is user %d, %v; want %d", uid, err, os.Getuid())
	}
	if err := errors.Join(checkUser(c), checkProgram(c, w.dirs)); err != nil {
		t.Errorf("this user's own process is refused: %v", err)
	}
	if c.peerStopped() {
		t.Error("this very process counts as stopped")
	}
}
