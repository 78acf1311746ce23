//go:build unix

package handler

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest/await"
)

// ahpBench is a hook with a backend, its programs ended with the test.
type ahpBench struct {
	*bench
	t        *testing.T
	backends *Backends
	run      hook.Handler
}

func newAHPBench(t *testing.T, target string, options hook.AHP) *ahpBench {
	t.Helper()
	b := &ahpBench{bench: newBench(t), t: t, backends: new(Backends)}
	t.Cleanup(b.backends.Close)
	b.use(target, options)
	return b
}

func (b *ahpBench) use(target string, options hook.AHP) {
	b.t.Helper()
	reg := hook.Registration{ID: "h1", Agent: "*", HookType: "*", Handler: hook.HandlerAHP, Target: target, AHP: &options}
	if err := reg.Check(nil, nil); err != nil {
		b.t.Fatal(err)
	}
	run, err := New(reg, Deps{Processes: &b.procs, Backends: b.backends, StateDir: b.dir})
	if err != nil {
		b.t.Fatal(err)
	}
	b.run, b.call.Hook = run, &reg
}

func (b *ahpBench) ask() (event.Decision, error) {
	ctx, cancel := context.WithTimeout(context.Background(), ceiling)
	defer cancel()
	return b.run.Handle(ctx, &b.call)
}

// program writes a backend in sh. ANSWER is a whole answer without effects.
func (b *ahpBench) program(body string) string {
	b.t.Helper()
	file := filepath.Join(b.dir, "backend.sh")
	text := "#!/bin/sh\nANSWER='" + answerWith(`[]`) + "'\nDENY='" +
		answerWith(`[{"type":"deny","reason":"not here"}]`) + "'\necho started >>" + b.dir + "/starts\n" + body + "\n"
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		b.t.Fatal(err)
	}
	return file
}

func (b *ahpBench) starts() int {
	text, _ := os.ReadFile(filepath.Join(b.dir, "starts"))
	return strings.Count(string(text), "\n")
}

func answerWith(effects string) string {
	return `{"jsonrpc":"2.0","id":"e1","result":{"protocolVersion":"draft","effects":` + effects + `}}`
}

func newProgramBench(t *testing.T, body string, options hook.AHP) *ahpBench {
	t.Helper()
	b := newAHPBench(t, "true", options)
	b.use(b.program(body), options)
	return b
}

// One program serves many events, and what it says counts.
func TestBackendServesManyEvents(t *testing.T) {
	b := newProgramBench(t, `while read -r line; do case $line in *danger*) echo "$DENY";; *) echo "$ANSWER";; esac; done`,
		hook.AHP{})
	for range 3 {
		if d, err := b.ask(); err != nil || !d.Empty() {
			t.Fatalf("got %+v, %v; want no opinion", d, err)
		}
	}
	b.call.Event.Tool.Input = json.RawMessage(`{"command":"danger"}`)
	if d, err := b.ask(); err != nil || d.Verdict != event.Deny || d.Reason != "not here" {
		t.Errorf("got %+v, %v; want a deny for not here", d, err)
	}
	if n := b.starts(); n != 1 {
		t.Errorf("the program was started %d times, want once", n)
	}
}

// A program for each event gets one message and the end of its input.
func TestBackendPerEvent(t *testing.T) {
	b := newProgramBench(t, `cat >message; echo "$DENY"`, hook.AHP{Lifecycle: hook.AHPPerEvent})
	b.call.Project = b.dir
	for range 2 {
		if d, err := b.ask(); err != nil || d.Verdict != event.Deny {
			t.Fatalf("got %+v, %v; want a deny", d, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(b.dir, "message"))
	if err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), `"method":"hooks/intercept"`) {
		t.Errorf("the program read %q, %v; want one question on one line", text, err)
	}
	if n := b.starts(); n != 2 {
		t.Errorf("the program was started %d times, want twice", n)
	}
}

// Whatever a program does instead of answering is a failure, and none of it is a yes.
func TestBackendMisbehaves(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"ends":              {`read -r line; echo 'no database' >&2; exit 3`, "no database"},
		"never reads":       {`exit 0`, "ended"},
		"banner":            {`read -r line; echo 'listening'; cat >/dev/null`, "no message"},
		"other id":          {`read -r line; echo "$ANSWER" | sed s/e1/e2/; cat >/dev/null`, "nobody asked"},
		"other version":     {`read -r line; echo "$ANSWER" | sed s/draft/9.9/; cat >/dev/null`, "9.9"},
		"unknown effect":    {`read -r line; echo "$DENY" | sed s/deny/approve/; cat >/dev/null`, "not offered"},
		"endless line":      {`read -r line; head -c 3000000 /dev/zero | tr '\0' x; cat >/dev/null`, "more than 1 MiB"},
		"closes its output": {`read -r line; exec >&-; sleep 1000`, "ended without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newProgramBench(t, c.body, hook.AHP{Version: "draft"})
			d, err := b.ask()
			if err == nil || !strings.Contains(err.Error(), c.want) || !d.Empty() {
				t.Errorf("got %+v, %v; want no decision and a failure with %q", d, err, c.want)
			}
		})
	}
}

// A program that does not answer in time is ended with what it started; the next event
// starts another.
func TestBackendIsEndedAtItsTime(t *testing.T) {
	b := newProgramBench(t, `while read -r line; do
  if [ -e `+"answers"+` ]; then echo "$ANSWER"; else sleep 1000 & echo $! >pid; wait; echo "$DENY"; fi
done`, hook.AHP{})
	b.call.Project = b.dir
	ctx, cancel := context.WithCancel(context.Background())
	pid := filepath.Join(b.dir, "pid")
	go func() {
		await.Until(t, "the program to wait", func() bool { text, _ := os.ReadFile(pid); return len(text) > 1 })
		cancel()
	}()
	if d, err := b.run.Handle(ctx, &b.call); err == nil || !d.Empty() {
		t.Fatalf("got %+v, %v; want a failure", d, err)
	}
	var child int
	text, _ := os.ReadFile(pid)
	fmt.Sscan(string(text), &child)
	await.Until(t, "what it started to be ended", func() bool { return syscall.Kill(child, 0) != nil })
	if err := os.WriteFile(filepath.Join(b.dir, "answers"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := b.ask(); err != nil || !d.Empty() {
		t.Errorf("the next event got %+v, %v; want no opinion of a new program", d, err)
	}
}

// A program has the variables of the agent that asks, not those of whoever asked first.
func TestBackendHasTheVariablesOfWhoAsks(t *testing.T) {
	b := newProgramBench(t, `while read -r line; do echo "$DENY" | sed "s/not here/key $POLICY_KEY/"; done`,
		hook.AHP{Env: []string{"POLICY_KEY"}})
	others := b.call.Env
	for _, key := range []string{"k1", "k2", "k1"} {
		b.call.Env = slices.Concat(others, []string{"POLICY_KEY=" + key})
		if d, err := b.ask(); err != nil || d.Reason != "key "+key {
			t.Errorf("got %+v, %v; want a deny of the program that has %s", d, err, key)
		}
	}
	if n := b.starts(); n != 2 {
		t.Errorf("programs were started %d times, want one for each key", n)
	}
}

// A program that had ended between two events is started anew, and the event is
// answered.
func TestBackendThatEndedIsStartedAgain(t *testing.T) {
	b := newProgramBench(t, `read -r line; echo "$ANSWER"`, hook.AHP{})
	for range 3 {
		if d, err := b.ask(); err != nil || !d.Empty() {
			t.Fatalf("got %+v, %v; want no opinion", d, err)
		}
	}
	if n := b.starts(); n != 3 {
		t.Errorf("the program was started %d times, want once for each event", n)
	}
}

// A program that fails again and again is not started at every event.
func TestBackendRestsAfterFailures(t *testing.T) {
	b := newProgramBench(t, `exit 1`, hook.AHP{})
	b.backends.firstRest = time.Hour
	var last error
	for range 6 {
		_, last = b.ask()
	}
	if last == nil || !strings.Contains(last.Error(), "not started again for") {
		t.Errorf("the last event got %v, want that the program rests", last)
	}
	if n := b.starts(); n != 2 {
		t.Errorf("the program was started %d times, want twice", n)
	}
}

// A program that was replaced is started anew.
func TestBackendThatChangedIsStartedAgain(t *testing.T) {
	b := newProgramBench(t, `while read -r line; do echo "$ANSWER"; done`, hook.AHP{})
	if d, err := b.ask(); err != nil || !d.Empty() {
		t.Fatalf("got %+v, %v; want no opinion", d, err)
	}
	b.program(`while read -r line; do echo "$DENY"; done # changed`)
	if d, err := b.ask(); err != nil || d.Verdict != event.Deny {
		t.Errorf("got %+v, %v; want the deny of the program as it is now", d, err)
	}
}

// An observer is told and does not answer; what it writes all the same does not stop it.
func TestBackendObserves(t *testing.T) {
	b := newProgramBench(t, `while read -r line; do echo "$line" >>told; echo noise; done`, hook.AHP{})
	b.call.Project = b.dir
	b.call.Hook.Role = hook.Observe
	for range 3 {
		if d, err := b.ask(); err != nil || !d.Empty() {
			t.Fatalf("got %+v, %v; want nothing", d, err)
		}
	}
	await.Until(t, "three events told", func() bool {
		text, _ := os.ReadFile(filepath.Join(b.dir, "told"))
		return strings.Count(string(text), `"method":"hooks/observe"`) == 3
	})
}

// A program gets few variables, and those that the hook names.
func TestBackendEnvironment(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("HOOKMUX_RUNTIME_DIR", "/r1") // what it starts must reach this daemon, no other
	b := newProgramBench(t, `env >vars; while read -r line; do echo "$ANSWER"; done`, hook.AHP{Env: []string{"POLICY_KEY"}})
	b.call.Project = b.dir
	b.call.Env = append(b.call.Env, "POLICY_KEY=k1", "OTHER_SECRET=x")
	if _, err := b.ask(); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(b.dir, "vars"))
	for want, there := range map[string]bool{"POLICY_KEY=k1": true, "HOOKMUX_HANDLER=h1": true, "OTHER_SECRET": false,
		"FROM_AGENT": false, "HOOKMUX_RUNTIME_DIR=/r1": true} {
		if strings.Contains(string(text), want) != there {
			t.Errorf("the program's variables are\n%swant %s there: %v", text, want, there)
		}
	}
}

// A backend that speaks another version only is spoken to in that.
func TestBackendVersionIsFoundOut(t *testing.T) {
	b := newProgramBench(t, `while read -r line; do echo asked >>asked; case $line in
  *'"protocolVersion":"draft"'*) echo '{"jsonrpc":"2.0","id":"e1","error":{"code":-32001,"message":"no"}}';;
  *) echo "$DENY" | sed s/draft/0.1/;;
esac; done`, hook.AHP{})
	b.call.Project = b.dir
	for range 2 {
		if d, err := b.ask(); err != nil || d.Verdict != event.Deny {
			t.Fatalf("got %+v, %v; want a deny in the version 0.1", d, err)
		}
	}
	text, _ := os.ReadFile(filepath.Join(b.dir, "asked"))
	if n := strings.Count(string(text), "\n"); n != 3 || b.starts() != 1 {
		t.Errorf("asked %d times in %d processes, want three times in one", n, b.starts())
	}
}

// serveAHP is a backend at an address, and what it was sent.
func serveAHP(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, body string)) (*ahpBench, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		handle(w, r, string(body))
	}))
	t.Cleanup(server.Close)
	return newAHPBench(t, server.URL+"/hooks", hook.AHP{}), server
}

func writeJSON(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	io.WriteString(w, body)
}

func TestBackendByHTTP(t *testing.T) {
	b, server := serveAHP(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" ||
			r.Header.Get("Authorization") != "Bearer t1" || r.Header.Get("X-Key") != "k1" {
			t.Errorf("got %s with %v, want a POST of JSON with the token and the key", r.Method, r.Header)
		}
		if strings.Contains(body, "hooks/observe") {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		writeJSON(w, answerWith(`[{"type":"deny","reason":"not here"}]`))
	})
	b.use(server.URL, hook.AHP{TokenEnv: "POLICY_TOKEN", HeadersEnv: map[string]string{"X-Key": "POLICY_KEY"}})
	b.call.Env = append(b.call.Env, "POLICY_TOKEN=t1", "POLICY_KEY=k1")
	if d, err := b.ask(); err != nil || d.Verdict != event.Deny || d.Reason != "not here" {
		t.Errorf("got %+v, %v; want a deny for not here", d, err)
	}
	b.call.Hook.Role = hook.Observe
	if d, err := b.ask(); err != nil || !d.Empty() {
		t.Errorf("an observer got %+v, %v; want nothing", d, err)
	}
}

// Whatever an address does instead of answering is a failure, and none of it is a yes.
func TestBackendByHTTPMisbehaves(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for name, c := range map[string]struct {
		handle func(w http.ResponseWriter, r *http.Request)
		want   string
	}{
		"error":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "HTTP 503"},
		"no token": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "ahp.tokenEnv"},
		"accepted": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }, "HTTP 202"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, "redirect"},
		"plain text": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, answerWith(`[]`)) }, "content type"},
		"rubbish":    {func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, `[]`) }, "no message"},
		"other id": {func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, strings.Replace(answerWith(`[]`), "e1", "e2", 1))
		}, "nobody asked"},
		"much": {func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, strings.Repeat(" ", 2<<20)) }, "1 MiB"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			writeJSON(w, `{`)
		}, "cannot be reached"},
		"hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached"},
		"JSON errors": {func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, `{"jsonrpc":"2.0","id":"e1","error":{"code":-32003,"message":"later"}}`)
		}, "-32003"},
	} {
		b, _ := serveAHP(t, func(w http.ResponseWriter, r *http.Request, _ string) { c.handle(w, r) })
		d, err := b.ask()
		if err == nil || !strings.Contains(err.Error(), c.want) || !d.Empty() {
			t.Errorf("%s: got %+v, %v; want no decision and a failure with %q", name, d, err, c.want)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("another address was asked %d times, want redirects left alone", n)
	}
}

func TestBackendByHTTPGivesUpInTime(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	b, _ := serveAHP(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		close(asked)
		<-answer
		writeJSON(w, answerWith(`[{"type":"allow"}]`))
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-asked; cancel() }()
	d, err := b.run.Handle(ctx, &b.call)
	close(answer)
	if err == nil || !d.Empty() {
		t.Errorf("got %+v, %v; want a failure, and the late answer ignored", d, err)
	}
}

// Nothing is sent without the token that the hook names, and the failure does not
// tell the address.
func TestBackendByHTTPWithoutItsToken(t *testing.T) {
	var asked atomic.Int32
	b, server := serveAHP(t, func(http.ResponseWriter, *http.Request, string) { asked.Add(1) })
	b.use(server.URL+"/secret-path", hook.AHP{TokenEnv: "POLICY_TOKEN_THAT_IS_NOT_SET"})
	if _, err := b.ask(); err == nil || !strings.Contains(err.Error(), "POLICY_TOKEN_THAT_IS_NOT_SET") {
		t.Errorf("got %v, want the missing variable named", err)
	}
	server.Close()
	b.use(server.URL+"/secret-path", hook.AHP{})
	if _, err := b.ask(); err == nil || strings.Contains(err.Error(), "secret-path") {
		t.Errorf("got %v, want a failure without the address", err)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the backend was asked %d times, want nothing sent", n)
	}
}

// Unencrypted, nothing leaves the machine, whatever a name means here.
func TestBackendByHTTPStaysHere(t *testing.T) {
	carry, err := newHTTPCarrier("http://192.0.2.1:9/", hook.AHP{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), ceiling)
	defer cancel()
	err = carry.deliver(ctx, &hook.Call{}, []byte("{}"), nil)
	if err == nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("got %v, want the other machine refused", err)
	}
}

// Events that the protocol has no word for are not sent; a hook that is meant for one
// of them says so.
func TestBackendWithoutAWord(t *testing.T) {
	b := newProgramBench(t, `while read -r line; do echo "$ANSWER"; done`, hook.AHP{Version: "0.1"})
	b.call.Event = &event.Event{ID: "e1", Kind: event.UserPlan, Time: time.Unix(1, 0)}
	if d, err := b.ask(); err != nil || !d.Empty() || b.starts() != 0 {
		t.Errorf("got %+v, %v after %d starts; want nothing sent", d, err, b.starts())
	}
	reg := hook.Registration{ID: "h", Agent: "*", HookType: "user.plan", Handler: hook.HandlerAHP, Target: "true"}
	if err := reg.Check(nil, nil); err == nil || !strings.Contains(err.Error(), "no event for user.plan") {
		t.Errorf("a hook for user.plan: %v, want it refused", err)
	}
}
