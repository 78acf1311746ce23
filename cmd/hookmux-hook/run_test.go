//go:build unix

package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

func neutralOf(t *testing.T, event string) result {
	t.Helper()
	row, ok := neutral.Lookup(agent, event)
	if !ok || row.Decides != (event == deciding) {
		t.Fatalf("the table has changed: %s %s is %+v", agent, event, row)
	}
	return result{row.Neutral.Stdout, row.Neutral.Stderr, row.Neutral.Exit}
}

func denyOf(t *testing.T) result {
	t.Helper()
	row, _ := neutral.Lookup(agent, deciding)
	if row.Deny == (neutral.Answer{}) {
		t.Fatal("the table has no way to refuse a tool")
	}
	return result{row.Deny.Stdout, row.Deny.Stderr, row.Deny.Exit}
}

func TestAnswerPassesThrough(t *testing.T) {
	w := newWorld(t, "SOME=thing", "EMPTY=")
	h := w.listen(func(conn net.Conn, r frame.Request, _ int) {
		reply(conn, frame.Reply{ID: r.ID, Exit: 7, Stdout: []byte("out\x00\xff"), Stderr: []byte("err")})
	})
	payload := "\ufeff{\n \"a\": \xff\x00}\n"
	if got := w.run(payload, agent, deciding, "100"); got != (result{"out\x00\xff", "err", 7}) {
		t.Errorf(`w.run(payload, agent, deciding, "100") = %+v, want (result{"out\x00\xff", "err", 7})`, got)
	}
	r := h.requests()[0]
	if r.Agent != agent || r.Event != deciding || string(r.Payload) != payload || r.Version != version.String ||
		r.Truncated {
		t.Errorf("r = %+v, want r.Agent = %q, r.Event = %q, string(r.Payload) = %q, r.Version = version.String and "+
			"not r.Truncated", r, agent, deciding, payload)
	}
	if len(r.ID) != 26 {
		t.Errorf("id %q; want len(r.ID) == 26", r.ID)
	}
	if r.Deadline > 95*time.Second || r.Deadline < 60*time.Second {
		t.Errorf("%v left of 100 s less the margin", r.Deadline)
	}
	if want := strings.Join(w.env, "\x00") + "\x00"; string(r.Env) != want {
		t.Errorf("environment %q, want %q", r.Env, want)
	}
	if cwd, err := os.Getwd(); err == nil && r.Cwd == "" {
		t.Errorf("no working directory, though it is %s", cwd)
	}
	if len(w.spooled()) != 0 {
		t.Error("an answered event lies in the spool")
	}
}

func TestDeadlines(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"600": 600 * time.Second, "0.5": 500 * time.Millisecond, "10m": 10 * time.Minute, "1500ms": 1500 * time.Millisecond,
		"": 0, "x": 0, "-5": 0, "-5s": 0, "NaN": 0, "Inf": longest, "1e300": longest, "999999h": longest, "0": 0,
	} {
		if got := parseLimit(text); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	// Without an argument the table's own limit counts; an agent that nobody
	// knows has none.
	w := newWorld(t)
	h := w.listen(func(conn net.Conn, r frame.Request, _ int) { reply(conn, frame.Reply{ID: r.ID}) })
	w.run("", agent, deciding)
	w.run("", "somebody-elses", "Thing")
	w.run("", "somebody-elses", "Thing", "rubbish", "more")
	seen := h.requests()
	if len(seen) != 3 || seen[0].Deadline == 0 || seen[1].Deadline != 0 || seen[2].Deadline != 0 {
		t.Errorf("seen = %+v, want 3 of them, seen[0].Deadline other than 0, seen[1].Deadline = 0 and "+
			"seen[2].Deadline = 0", seen)
	}
}

func TestStationsLetGoInOrder(t *testing.T) {
	now := time.Now()
	for _, limit := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second, time.Minute,
		time.Hour} {
		c := newTiming(now, limit)
		if !c.answerBy.Before(c.giveUp) || !c.giveUp.Before(c.last) || !c.last.Before(now.Add(limit)) {
			t.Errorf("%v: c = %+v, want c.answerBy.Before(c.giveUp), c.giveUp.Before(c.last) and "+
				"c.last.Before(now.Add(limit))", limit, c)
		}
		if wait := c.reachFrom(now, false).Sub(now); wait > 3*time.Second || wait > limit/2 {
			t.Errorf("%v: waits %v for a daemon", limit, wait)
		}
		if wait := c.waitFrom(now, true).Sub(now); wait > 2*time.Second || wait > limit/2 {
			t.Errorf("%v: an observer waits %v", limit, wait)
		}
	}
}

func TestUsage(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{{agent}, {"", deciding}, {"--nonsense", agent, deciding},
		{"--on-unavailable=maybe", agent, deciding}, {"--on-unavailable"}} {
		got := w.run("payload", args...)
		if got.exit != usageExit || got.stdout != "" || !strings.Contains(got.stderr, "usage: hookmux-hook") {
			t.Errorf(`%q: got %+v, want got.exit = usageExit, got.stdout = "" and "usage: hookmux-hook" in got.stderr`,
				args, got)
		}
	}
	// An agent that dropped our arguments must not take us for a failed hook.
	if got := w.run("payload"); got != (result{}) {
		t.Errorf("without arguments: %+v; want got == (result{})", got)
	}
	if got := w.run("", "--help"); got.exit != 0 || got.stdout != usage {
		t.Errorf("got %+v, want got.exit = 0 and got.stdout = %q", got, usage)
	}
	if got := w.run("", "--version"); got != (result{"hookmux-hook " + version.String + "\n", "", 0}) {
		t.Errorf(`w.run("", "--version") = %+v, want (result{"hookmux-hook " + version.String + "\n", "", 0})`, got)
	}
}

func TestDisabled(t *testing.T) {
	for _, variable := range []string{"HOOKMUX_DISABLED=1", "HOOKMUX_CLAUDE_DISABLED=1"} {
		w := newWorld(t, variable)
		h := w.listen(func(net.Conn, frame.Request, int) {})
		if got := w.run("payload", agent, deciding); got != neutralOf(t, deciding) {
			t.Errorf(`%s: w.run("payload", agent, deciding) = %+v, want %+v`, variable, got, neutralOf(t, deciding))
		}
		if len(h.requests()) != 0 || len(w.spooled()) != 0 {
			t.Errorf("%s: the event went somewhere", variable)
		}
	}
	if got := disabledVariable("grok-cli.2"); got != "HOOKMUX_GROK_CLI_2_DISABLED" {
		t.Errorf(`disabledVariable("grok-cli.2") = %q, want "HOOKMUX_GROK_CLI_2_DISABLED"`, got)
	}
}

func TestNoDaemonObserving(t *testing.T) {
	w := newWorld(t, "TMUX_PANE=%5")
	if got := w.run("payload", "--on-unavailable=deny", agent, observed); got != neutralOf(t, observed) {
		t.Errorf("got %+v, want %+v", got, neutralOf(t, observed))
	}
	recs := w.spooled()
	if len(recs) != 1 || recs[0].Agent != agent || recs[0].Event != observed || string(recs[0].Payload) != "payload" ||
		recs[0].Pane != "%5" || recs[0].Time.IsZero() {
		t.Errorf(`recs = %+v, want 1 of them, recs[0].Agent = %q, recs[0].Event = %q, string(recs[0].Payload) = `+
			`"payload", recs[0].Pane = "%%5" and not recs[0].Time.IsZero()`, recs, agent, observed)
	}
}

// With no program to start there is nothing to wait for.
func TestNoDaemonDeciding(t *testing.T) {
	w := newWorld(t)
	within(t, 10*time.Second, "no daemon and no program", func() {
		if got := w.run("payload", agent, deciding, "600"); got != neutralOf(t, deciding) {
			t.Errorf(`w.run("payload", agent, deciding, "600") = %+v, want %+v`, got, neutralOf(t, deciding))
		}
	})
	if got := w.run("", "--on-unavailable=deny", agent, deciding); got != denyOf(t) {
		t.Errorf("got %+v, want %+v", got, denyOf(t))
	}
	if got := w.run("", "--on-unavailable", "deny", agent, deciding); got != denyOf(t) {
		t.Errorf("got %+v, want %+v", got, denyOf(t))
	}
	if got := w.run("", "somebody-elses", "Thing"); got != (result{}) {
		t.Errorf(`w.run("", "somebody-elses", "Thing") = %+v, want (result{})`, got)
	}
	if len(w.spooled()) != 4 {
		t.Errorf("w.spooled() = %+v, want 4 of them", w.spooled())
	}
	w.env = append(w.env, "HOOKMUX_ON_UNAVAILABLE=deny", "HOOKMUX_DEBUG=1")
	got := w.run("", agent, deciding)
	if got.stdout != denyOf(t).stdout || !strings.Contains(got.stderr, "not found") {
		t.Errorf(`got %+v, want got.stdout = denyOf(t).stdout and "not found" in got.stderr`, got)
	}
	if got := w.run("", "--on-unavailable=neutral", agent, deciding); got.stdout != neutralOf(t, deciding).stdout {
		t.Errorf("got %+v, want got.stdout = neutralOf(t, deciding).stdout", got)
	}
	if got := w.run("", "somebody-elses", "Thing"); got.exit != 2 || !strings.Contains(got.stderr, "can't be reached") {
		t.Errorf(`got %+v, want got.exit = 2 and "can't be reached" in got.stderr`, got)
	}
}

func TestDaemonDiesMeanwhile(t *testing.T) {
	w := newWorld(t)
	h := w.listen(func(conn net.Conn, r frame.Request, n int) {
		switch n {
		case 1: // gone without a word
		case 2: // gone in the middle of a word
			_, _ = conn.Write([]byte(`{"id":"` + r.ID + `","exit":0,"stdout":5}` + "\nab"))
		default:
			reply(conn, frame.Reply{ID: r.ID, Stdout: []byte("at last")})
		}
	})
	if got := w.run("payload", agent, deciding, "60"); got != (result{stdout: "at last"}) {
		t.Errorf(`w.run("payload", agent, deciding, "60") = %+v, want (result{stdout: "at last"})`, got)
	}
	seen := h.requests()
	if len(seen) != 3 || seen[0].ID != seen[1].ID || seen[1].ID != seen[2].ID || seen[2].Deadline > seen[0].Deadline {
		t.Errorf("seen = %+v, want 3 of them, seen[0].ID = seen[1].ID, seen[1].ID = seen[2].ID and seen[2].Deadline "+
			"at most seen[0].Deadline", seen)
	}
	if len(w.spooled()) != 0 {
		t.Error("an answered event lies in the spool")
	}
}

// A call that waits for a person asks every daemon that starts: a daemon that went
// after a while did not go because of it.
func TestDaemonsComeAndGoWhileAPersonIsAsked(t *testing.T) {
	w := newWorld(t)
	const daemons = maxSends + 2
	h := w.listen(func(conn net.Conn, r frame.Request, n int) {
		if n < daemons {
			time.Sleep(waitedLong + 50*time.Millisecond)
			return
		}
		_, _ = conn.Write(frame.AppendReply(nil, &frame.Reply{ID: r.ID, Stdout: []byte("at last")}))
	})
	if got := w.run("payload", agent, deciding, "60"); got.stdout != "at last" {
		t.Errorf(`got %+v, want got.stdout = "at last"`, got)
	}
	seen := h.requests()
	if len(seen) != daemons || seen[0].ID != seen[daemons-1].ID {
		t.Errorf("asked %d times; want len(seen) == daemons and seen[0].ID == seen[daemons-1].ID", len(seen))
	}
}

func TestDaemonDiesObserving(t *testing.T) {
	w := newWorld(t)
	h := w.listen(func(net.Conn, frame.Request, int) {})
	if got := w.run("payload", agent, observed); got != neutralOf(t, observed) {
		t.Errorf(`w.run("payload", agent, observed) = %+v, want %+v`, got, neutralOf(t, observed))
	}
	seen, recs := h.requests(), w.spooled()
	if len(seen) != 1 || len(recs) != 1 || recs[0].ID != seen[0].ID {
		t.Errorf("sent %+v, left %+v; want len(seen) == 1, len(recs) == 1 and recs[0].ID == seen[0].ID", seen, recs)
	}
}

func TestGarbageReplies(t *testing.T) {
	for _, garbage := range []string{
		"\n", "{}\n", "HTTP/1.1 200 OK\r\n\r\n", `{"id":"other","exit":0}` + "\n", `{"id":"1","stdout":99999999999}` + "\n",
		strings.Repeat("x", 2*frame.MaxHeader), "\x00\xff\n",
	} {
		w := newWorld(t)
		h := w.listen(func(conn net.Conn, _ frame.Request, _ int) { _, _ = conn.Write([]byte(garbage)) })
		if got := w.run("payload", agent, deciding, "60"); got != neutralOf(t, deciding) {
			t.Errorf(`%.20q: w.run("payload", agent, deciding, "60") = %+v, want %+v`,
				garbage, got, neutralOf(t, deciding))
		}
		if n := len(h.requests()); n != maxSends {
			t.Errorf("%.20q: asked %d times, want %d", garbage, n, maxSends)
		}
		if recs := w.spooled(); len(recs) != 1 {
			t.Errorf("%.20q: left %+v; want len(recs) == 1", garbage, recs)
		}
	}
}

func TestSilentDaemon(t *testing.T) {
	w := newWorld(t)
	w.listen(func(conn net.Conn, _ frame.Request, _ int) { untilClosed(conn) })
	within(t, 20*time.Second, "a silent daemon", func() {
		if got := w.run("payload", agent, deciding, "0.4"); got != neutralOf(t, deciding) {
			t.Errorf(`w.run("payload", agent, deciding, "0.4") = %+v, want %+v`, got, neutralOf(t, deciding))
		}
	})
	within(t, 20*time.Second, "a silent daemon", func() {
		if got := w.run("payload", agent, observed, "1"); got != neutralOf(t, observed) {
			t.Errorf(`w.run("payload", agent, observed, "1") = %+v, want %+v`, got, neutralOf(t, observed))
		}
	})
	left := w.spooled()
	if !slices.ContainsFunc(left, func(r spool.Record) bool { return r.Event == observed }) {
		t.Errorf("the event is lost: %+v", left)
	}
}

// A daemon that doesn't accept any more lets its queue fill up.
func TestDaemonThatDoesNotAccept(t *testing.T) {
	w := newWorld(t)
	s, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(s)
	if err := syscall.Bind(s, &syscall.SockaddrUnix{Name: w.dirs.Socket()}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(s, 0); err != nil {
		t.Fatal(err)
	}
	for range 3 { // fill the queue
		if c, err := dialDaemon(w.dirs.Socket(), time.Now().Add(10*time.Millisecond)); err == nil {
			t.Cleanup(c.close)
		}
	}
	for _, event := range []string{deciding, observed} {
		within(t, 20*time.Second, "a full queue", func() {
			if got := w.run("payload", agent, event, "1.2"); got != neutralOf(t, event) {
				t.Errorf(`w.run("payload", agent, event, "1.2") = %+v, want %+v`, got, neutralOf(t, event))
			}
		})
	}
	if len(w.spooled()) != 2 {
		t.Errorf("w.spooled() = %+v, want 2 of them", w.spooled())
	}
}

func TestLargePayloads(t *testing.T) {
	w := newWorld(t)
	h := w.listen(func(conn net.Conn, r frame.Request, _ int) { reply(conn, frame.Reply{ID: r.ID, Stdout: r.Payload}) })
	large := strings.Repeat("0123456789", 200_000)
	if got := w.run(large, agent, deciding); got.stdout != large {
		t.Errorf("%d bytes came back as %d", len(large), len(got.stdout))
	}
	tooLarge := bytes.Repeat([]byte{'x'}, maxPayload+1)
	w.run(string(tooLarge), agent, deciding)
	w.run(string(tooLarge[1:]), agent, deciding)
	seen := h.requests()
	if !seen[1].Truncated || len(seen[1].Payload) != cutPayload {
		t.Errorf("truncated %v, %d bytes; want seen[1].Truncated and len(seen[1].Payload) == cutPayload",
			seen[1].Truncated, len(seen[1].Payload))
	}
	if seen[2].Truncated || len(seen[2].Payload) != maxPayload {
		t.Errorf("truncated %v, %d bytes; want !seen[2].Truncated and len(seen[2].Payload) == maxPayload",
			seen[2].Truncated, len(seen[2].Payload))
	}
}

// An agent that pauses within a payload that is too large must still be able
// to write all of it: a broken pipe looks to some like a hook that failed.
func TestTooLargeIsReadToItsEnd(t *testing.T) {
	w := newWorld(t)
	h := w.listen(func(conn net.Conn, r frame.Request, _ int) { reply(conn, frame.Reply{ID: r.ID}) })
	r, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	opt, err := parseArgs([]string{agent, deciding}, paths.GetenvFrom(w.env))
	if err != nil {
		t.Fatal(err)
	}
	c := newCall(opt, w.env, time.Now().Add(5*time.Second)) // as if reading were quick; the pipe stays open, so it takes this long
	begun := make(chan error, 1)
	go func() {
		_, err := in.Write(bytes.Repeat([]byte{'x'}, maxPayload+1))
		begun <- err
	}()
	if _, done := c.tryQuickly(fd(r.Fd())); done || !c.cut {
		t.Fatalf("done %v, cut %v; want !done and c.cut", done, c.cut)
	}
	if err := <-begun; err != nil {
		t.Fatal(err)
	}
	rest := strings.NewReader("the rest")
	c.makeCall(rest, io.Discard)
	if seen := h.requests(); rest.Len() > 0 || len(seen) != 1 || !seen[0].Truncated ||
		len(seen[0].Payload) != cutPayload {
		t.Errorf("%d bytes left, %d requests", rest.Len(), len(seen))
	}
	_ = in.Close()
}

// The daemon must be able to tell an end from a break: only the first means that
// this is all the agent wrote.
func TestBrokenOffPayloadIsCut(t *testing.T) {
	w := newWorld(t)
	h := w.listen(func(conn net.Conn, r frame.Request, _ int) { reply(conn, frame.Reply{ID: r.ID}) })
	var out bytes.Buffer
	for _, end := range []error{io.EOF, syscall.EIO} {
		in := io.MultiReader(strings.NewReader("{"), iotest.ErrReader(end))
		runClient([]string{agent, deciding}, w.env, in, &out, &out)
	}
	if seen := h.requests(); len(seen) != 2 || seen[0].Truncated || !seen[1].Truncated {
		t.Errorf("seen = %+v, want 2 of them, not seen[0].Truncated and seen[1].Truncated", seen)
	}
}

func TestHugeEnvironment(t *testing.T) {
	env := []string{"A=1", "HUGE=" + strings.Repeat("x", maxEnv), "B=2"}
	if got := string(joinEnv(env)); got != "A=1\x00B=2\x00" {
		t.Errorf("%d bytes; want got == \"A=1\\x00B=2\\x00\"", len(got))
	}
}
