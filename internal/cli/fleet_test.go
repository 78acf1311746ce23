//go:build unix

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/wire"
)

// buildFleetServer puts hookmux-fleet beside hookmux.
var buildFleetServer = sync.OnceValue(func() error {
	hookmux, err := exec.LookPath("hookmux")
	if err != nil {
		return err
	}
	return programs.Build(filepath.Dir(hookmux), programs.Options{Names: []string{"hookmux-fleet"}})
})

// machine is one machine of a fleet: a home with a daemon of its own.
type machine struct {
	t      *testing.T
	home   home
	within []string // the command that runs others on this machine; nil: none
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	buildHookClient(t)
	if err := buildFleetServer(); err != nil {
		t.Fatal(err)
	}
	work, err := os.MkdirTemp("", "fleet")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(work) })
	h, err := newHome(work)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, home: h}
	t.Cleanup(func() {
		if m.status().Serves {
			m.run("fleet", "leave", "--delete-fleet", "--yes")
		}
		if err := h.end(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func (m *machine) command(name string, args ...string) *exec.Cmd {
	line := slices.Concat(m.within, []string{name}, args)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env, cmd.Dir = append(m.home.env(), "PATH="+os.Getenv("PATH")), m.home.Project
	return cmd
}

// try runs hookmux on this machine.
func (m *machine) try(args ...string) (string, error) {
	out, err := m.command("hookmux", args...).CombinedOutput()
	return string(out), err
}

func (m *machine) run(args ...string) string {
	m.t.Helper()
	out, err := m.try(args...)
	if err != nil {
		m.t.Fatalf("hookmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (m *machine) json(into any, args ...string) {
	m.t.Helper()
	out, err := m.command("hookmux", append(args, "--json")...).Output()
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		m.t.Fatalf("hookmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (m *machine) status() (s wire.FleetStatus) {
	out, _ := m.command("hookmux", "fleet", "status", "--json").Output()
	_ = json.Unmarshal(out, &s) // without a daemon: not in a fleet
	return s
}

// hook calls a hook and returns its answer.
func (m *machine) hook(agent, event, payload string) string {
	m.t.Helper()
	cmd := m.command("hookmux-hook", agent, event, "60")
	cmd.Stdin = strings.NewReader(payload)
	out, err := cmd.Output()
	if err != nil {
		m.t.Errorf("hookmux-hook %s %s: %v", agent, event, err)
	}
	return string(out)
}

// followInbox keeps an inbox open until the test ends: somebody who may answer looks.
func (m *machine) followInbox() {
	m.t.Helper()
	watching := m.command("hookmux", "inbox", "--follow")
	if err := watching.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = watching.Process.Kill(); _ = watching.Wait() })
}

// waitForOperator waits until this machine knows that an operator looks.
func (m *machine) waitForOperator() {
	m.t.Helper()
	eventuallyFleet(m.t, "this machine knows that an operator looks", func() bool {
		info, err := (&client.Client{Socket: m.home.Dirs.Socket(), Timeout: daemontest.Patience}).Info(m.t.Context())
		return err == nil && info.Inbox.CanAnyoneAnswer
	})
}

func (m *machine) invite(role string) string {
	m.t.Helper()
	var code wire.FleetCode
	m.json(&code, "fleet", "invite", "--role", role)
	return code.Code
}

func eventuallyFleet(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(daemontest.Patience); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came that %s", what)
		}
	}
}

func (m *machine) killDaemon() {
	m.t.Helper()
	if err := daemontest.EndDaemon(m.home.Dirs); err != nil {
		m.t.Fatal(err)
	}
}

// serverAddress returns what hookmux-fleet wrote down.
func (m *machine) serverPID() int {
	b, err := os.ReadFile(filepath.Join(m.home.Dirs.State, "fleet-server", "server.json"))
	var at struct{ PID int }
	if err == nil {
		err = json.Unmarshal(b, &at)
	}
	if err != nil {
		return 0
	}
	return at.PID
}

// rowsOf reads the events of a journal by id, with what was decided.
func rowsOf(t *testing.T, path string) map[string]journal.Stored {
	t.Helper()
	j, err := journal.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	rows := map[string]journal.Stored{}
	for one, err := range j.Query(context.Background(), journal.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		rows[one.ID] = one
	}
	return rows
}

func journalOf(dirs paths.Dirs) string { return filepath.Join(dirs.State, "journal.db") }

// compareJournals says what of a member's journal since it joined the central one lacks or
// has otherwise.
func compareJournals(t *testing.T, desk, member *machine, id string, since time.Time) []string {
	t.Helper()
	return compareRows(rowsOf(t, journalOf(member.home.Dirs)),
		rowsOf(t, filepath.Join(desk.home.Dirs.State, "fleet-server", "journal.db")), id, since)
}

func compareRows(own, central map[string]journal.Stored, id string, since time.Time) []string {
	var wrong []string
	found := 0
	for key, row := range own {
		if row.Time.Before(since) {
			continue
		}
		there, ok := central[id+"/"+key]
		if !ok {
			wrong = append(wrong, "missing: "+key+" "+row.Agent+" "+row.Native)
			continue
		}
		found++
		same := there.Time.Equal(row.Time) && there.Agent == row.Agent && there.Kind == row.Kind && there.Session == row.Session &&
			there.Native == row.Native && there.Tool == row.Tool && string(there.Body) == string(row.Body)
		if row.Outcome != nil {
			same = same && there.Outcome != nil && there.Outcome.Verdict == row.Outcome.Verdict &&
				string(there.Outcome.Decision) == string(row.Outcome.Decision)
		}
		if !same {
			wrong = append(wrong, fmt.Sprintf("different: %s\n  own     %+v\n  central %+v", key, row, there))
		}
	}
	for key, row := range central {
		if rest, ok := strings.CutPrefix(key, id+"/"); ok {
			if _, known := own[rest]; !known && row.Native != wire.OwnUsage { // which only the fleet has
				wrong = append(wrong, "invented: "+key+" "+row.Native)
			}
		}
	}
	if found == 0 {
		wrong = append(wrong, "nothing was compared")
	}
	return wrong
}

const promptPayload = `{"session_id":"s-%d","cwd":"/tmp","hook_event_name":"UserPromptSubmit","prompt":"number %d"}`

// Three machines with real daemons, a real hookmux-fleet and TLS between them.
func TestFleetOfThree(t *testing.T) {
	t.Parallel()
	desk, build, wall := newMachine(t), newMachine(t), newMachine(t)
	build.hook("claude", "UserPromptSubmit", fmt.Sprintf(promptPayload, 0, 0)) // before it joins
	out := desk.run("fleet", "init", "--listen", "127.0.0.1:0", "--name", "desk")
	if !strings.Contains(out, "hookmux fleet join hmf1-") {
		t.Errorf("`fleet init` printed no join command: %s", out)
	}
	code := desk.invite("member")
	asked := time.Now()
	transcript := filepath.Join(build.home.Dirs.Home, ".claude/projects/-tmp/s-0.jsonl")
	if err := os.MkdirAll(filepath.Dir(transcript), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(transcript, fmt.Appendf(nil, `{"type":"assistant","sessionId":"s-0","cwd":"/tmp","timestamp":%q,"requestId":"r1",`+
		`"message":{"id":"m1","model":"claude-opus-4-5","usage":{"input_tokens":1000,"output_tokens":50}}}`+"\n",
		asked.UTC().Format(time.RFC3339)), 0o600); err != nil {
		t.Fatal(err)
	}
	build.run("fleet", "join", code, "--name", "build")
	joined := time.Now()
	if out, err := wall.try("fleet", "join", code); err == nil || !strings.Contains(out, "used already") {
		t.Errorf("the code was used twice: error %v, %s", err, out)
	}
	wall.run("fleet", "join", desk.invite("reader"), "--name", "Wall.example")
	if out, err := build.try("fleet", "invite"); err == nil || !strings.Contains(out, "only operators") {
		t.Errorf("a member invited another machine: error %v, %s", err, out)
	}
	for i := range 20 {
		build.hook("claude", "UserPromptSubmit", fmt.Sprintf(promptPayload, i, i))
	}
	id := build.status().ID
	var wrong []string
	defer func() {
		if t.Failed() && len(wrong) > 0 {
			t.Logf("the journals differ:\n%s", strings.Join(wrong, "\n"))
		}
	}()
	eventuallyFleet(t, "the central journal has what build did", func() bool {
		wrong = compareJournals(t, desk, build, id, joined)
		return len(wrong) == 0
	})
	for key, row := range rowsOf(t, filepath.Join(desk.home.Dirs.State, "fleet-server", "journal.db")) {
		if strings.HasPrefix(key, id+"/") && row.Time.Before(asked) {
			t.Errorf("%s is from before the machine joined", key)
		}
	}

	var sessions []wire.Session
	for who, m := range map[string]*machine{"the operator": desk, "the reader": wall} {
		eventuallyFleet(t, who+" sees build's sessions", func() bool {
			m.json(&sessions, "ps")
			n := 0
			for _, s := range sessions {
				if s.Host == "build" && s.Status == wire.StatusRunning {
					n++
				}
			}
			return n == 20
		})
	}
	if build.json(&sessions, "ps"); len(sessions) != 20 {
		t.Errorf("a plain member sees %d sessions, want its own 20", len(sessions))
	}
	var members []wire.FleetMember
	desk.json(&members, "fleet", "list")
	got := map[string]string{}
	for _, m := range members {
		got[m.Name] = m.Role
	}
	if fmt.Sprint(got) != "map[build:member desk:operator wall:reader]" {
		t.Errorf("the fleet has %v", got)
	}

	// An answer from the desk to a request of build, which waits because the desk's inbox
	// is open.
	desk.followInbox()
	build.waitForOperator()
	done := make(chan string, 1)
	go func() {
		done <- build.hook("claude", "PermissionRequest", `{"session_id":"s-1","cwd":"/tmp","hook_event_name":"PermissionRequest",`+
			`"tool_name":"Bash","tool_input":{"command":"make deploy TOKEN=ghp_0123456789012345678901234567890123456"}}`)
	}()
	var items []wire.InboxRequest
	eventuallyFleet(t, "build's request is in the desk's inbox", func() bool {
		desk.json(&items, "inbox")
		return len(items) == 1 && items[0].Host == "build" && items[0].Status == wire.InboxPending
	})
	if strings.Contains(items[0].Shown, "ghp_") {
		t.Errorf("a secret left the machine: %s", items[0].Shown)
	}
	if out, err := wall.try("approve", items[0].ID); err == nil {
		t.Errorf("a reader answered: %s", out)
	}
	desk.run("approve", items[0].ID)
	if answer := <-done; !strings.Contains(answer, `"allow"`) {
		t.Errorf("the agent heard %s, want the desk's yes", answer)
	}
	var by string
	eventuallyFleet(t, "the central journal says who answered", func() bool {
		for line := range strings.Lines(desk.run("audit", "export", "--host", "build")) {
			var r struct {
				Host  string
				Event struct{ Native string }
				Note  struct{ By, Verdict string }
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil || r.Host != "build" {
				t.Fatalf("a record of the audit is %s, error %v; want one of build", line, err)
			}
			if r.Event.Native == wire.OwnDecision && r.Note.Verdict == "allow" {
				by = r.Note.By
			}
		}
		return by != ""
	})
	if !strings.Contains(by, "on desk (fleet, m") || !strings.Contains(by, "pid") {
		t.Errorf("the answer is by %q, want the user, the terminal and the machine desk", by)
	}

	askCentral(t, desk, build, wall, asked)
	pushPolicies(t, desk, build)

	// A machine that dies is lost, and what it asked vanishes.
	desk.run("fleet", "remove", "wall")
	eventuallyFleet(t, "the removed reader is refused, and says so", func() bool {
		said, _ := wall.try("status") // it fails where there's a problem
		return !wall.status().Connected && strings.Contains(said, "it was removed")
	})
	wall.hook("claude", "UserPromptSubmit", fmt.Sprintf(promptPayload, 0, 0)) // it reaches nobody any more
	eventuallyFleet(t, "the removed reader has something unsent", func() bool { return wall.status().Backlog > 0 })
	build.run("fleet", "leave")
	if s := build.status(); s.Joined {
		t.Errorf("it left and still is in the fleet: %+v", s)
	}
	eventuallyFleet(t, "the desk forgets the machine that left", func() bool {
		desk.json(&sessions, "ps")
		return len(sessions) == 0
	})
	wall.run("fleet", "leave")
	desk.run("fleet", "leave", "--delete-fleet", "--yes")
	wantNothingOfTheFleet(t, desk, build, wall)
}

// askCentral asks the fleet's journal what build's own answers.
func askCentral(t *testing.T, desk, build, wall *machine, since time.Time) {
	t.Helper()
	from := since.Format(time.RFC3339Nano)
	// Cursors, and the machine's name in the fleet, are the journal's own.
	own := regexp.MustCompile(`"cursor":"\d+",?|"where":\{[^}]*\},?`)
	for _, args := range [][]string{{"--since", from}, {"--kind", "turn.start", "--since", from}, {"--decision", "allow"}, {"-n", "3"},
		{"--session", "s-7"}, {"-a", "codex"}} {
		args = append([]string{"log", "--json"}, args...)
		var got, want string
		t.Cleanup(func() {
			if t.Failed() && got != want {
				t.Logf("%q: the fleet says\n%s\nbuild\n%s", args, got, want)
			}
		})
		eventuallyFleet(t, fmt.Sprint("the fleet answers ", args, " as build does"), func() bool {
			want = own.ReplaceAllString(build.run(args...), "")
			got = own.ReplaceAllString(desk.run(append(args, "--host", "build")...), "")
			return got == want
		})
	}
	if out := wall.run("log", "--host", "all", "-n", "500"); !strings.Contains(out, "build ") || !strings.Contains(out, "desk ") {
		t.Errorf("the log of every machine is\n%s", out)
	}
	if out, err := build.try("log", "--host", "desk"); err == nil || !strings.Contains(out, "only operators and readers") {
		t.Errorf("a member read the fleet's log: error %v, %s", err, out)
	}
	if out, err := desk.try("log", "--host", "nowhere"); err == nil || !strings.Contains(out, `no machine "nowhere"`) {
		t.Errorf("the log of a machine that there isn't: error %v, %s", err, out)
	}
	var used, there wire.UsageReport
	eventuallyFleet(t, "the fleet knows what build used", func() bool {
		build.json(&used, "usage", "--by", "agent,model,day")
		desk.json(&there, "usage", "--by", "agent,model,day", "--host", "build")
		return len(used.Rows) > 0 && reflect.DeepEqual(used.Rows, there.Rows) && used.Totals == there.Totals
	})
	if out, err := desk.try("jump", "build/s-1"); err == nil || !strings.Contains(out, "`ssh build`") {
		t.Errorf("jump to a session outside of tmux: error %v, %s; want how to go there", err, out)
	}
	type report struct{ Scanned, WouldDeny int }
	replay := func(m *machine, more ...string) (r report) {
		m.json(&r, append([]string{"rules", "replay", "--guards"}, more...)...)
		return r
	}
	if got, want := replay(desk, "--host", "build"), replay(build); got != want || got.Scanned == 0 {
		t.Errorf("a replay of build's calls from the fleet's journal says %+v, from its own %+v", got, want)
	}
}

// pushPolicies pushes policies from the desk, and has build's agent call under them.
func pushPolicies(t *testing.T, desk, build *machine) {
	t.Helper()
	folder := t.TempDir()
	rule := "version: 1\nrules:\n  - {id: no-deploy, why: deploys go through the pipeline, match: {program: shipit}, " +
		"decide: deny, examples: {hit: [shipit now]}}\n"
	for name, text := range map[string]string{"deploy.yaml": rule, "config.json": `{"guard.publish": "block"}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(command string) string {
		return build.hook("claude", "PreToolUse", `{"session_id":"s-1","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash",`+
			`"tool_input":{"command":"`+command+`"}}`)
	}
	if answer := call("shipit now"); strings.Contains(answer, "deny") {
		t.Fatalf("before the policy the agent hears %s", answer)
	}
	if out, err := build.try("fleet", "policy", "push", folder); err == nil || !strings.Contains(out, "only operators") {
		t.Errorf("a member pushed a policy: error %v, %s", err, out)
	}
	desk.run("fleet", "policy", "push", folder)
	of := func() (m wire.FleetMemberPolicy) {
		var p wire.FleetPolicy
		desk.json(&p, "fleet", "policy", "status")
		for _, one := range p.Members {
			if one.Name == "build" {
				m = one
			}
		}
		return m
	}
	eventuallyFleet(t, "policy 1 counts on build", func() bool { return of().Version == 1 })
	if c := of().Contact; c != nil {
		t.Errorf("it's proven before an agent called: %+v", c)
	}
	build.run("config", "set", "guard.publish", "off")
	for _, command := range []string{"shipit now", "npm publish"} {
		eventuallyFleet(t, command+" is stopped by the policy", func() bool { return strings.Contains(call(command), "deny") })
	}
	eventuallyFleet(t, "an agent's call proves it", func() bool {
		call("ls")
		c := of().Contact
		return c != nil && c.Version == 1 && c.Agent == "claude" && c.Event == "PreToolUse"
	})
	// One that allows something, or can't be read, changes nothing.
	for what, text := range map[string]string{"a broken one": "rules: [", "one that allows": strings.Replace(rule, "deny,", "allow,", 1)} {
		if err := os.WriteFile(filepath.Join(folder, "deploy.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := desk.try("fleet", "policy", "push", folder); err == nil {
			t.Errorf("%s was pushed: %s", what, out)
		}
	}
	// It counts after a restart while the fleet is away, and after its file was deleted.
	build.killDaemon()
	if answer := call("shipit now"); !strings.Contains(answer, "deny") {
		t.Errorf("after a restart the agent hears %s", answer)
	}
	if err := os.Remove(filepath.Join(build.home.Dirs.State, "fleet-policy.json")); err != nil {
		t.Fatal(err)
	}
	if answer := call("shipit now"); !strings.Contains(answer, "deny") {
		t.Errorf("after its file was deleted the agent hears %s", answer)
	}
	eventuallyFleet(t, "the fleet sends the policy again", func() bool {
		_, err := os.Stat(filepath.Join(build.home.Dirs.State, "fleet-policy.json"))
		return err == nil
	})
	// Deleted while no daemon runs, it's reported until the fleet has sent it again.
	build.killDaemon()
	if err := os.Remove(filepath.Join(build.home.Dirs.State, "fleet-policy.json")); err != nil {
		t.Fatal(err)
	}
	build.run("daemon", "start")
	eventuallyFleet(t, "the fleet sends the policy to the next daemon", func() bool { return strings.Contains(call("shipit now"), "deny") })
	desk.run("fleet", "policy", "clear", "--yes")
	eventuallyFleet(t, "the policy is taken away", func() bool { return !strings.Contains(call("shipit now"), "deny") })
}

// Members, server and daemons are killed at random while agents work; the server is also
// stopped for a while, as when a link is cut. Afterwards each member's own journal is
// compared with the central one, row by row. HOOKMUX_FLEET_ROUNDS sets the rounds.
func TestFleetLosesNothing(t *testing.T) {
	t.Parallel()
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	if n, err := strconv.Atoi(os.Getenv("HOOKMUX_FLEET_ROUNDS")); err == nil {
		rounds = n
	}
	seed := time.Now().UnixNano()
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	t.Logf("seed %d, %d rounds", seed, rounds)
	desk := newMachine(t)
	desk.run("fleet", "init", "--listen", "127.0.0.1:0", "--name", "desk")
	members := []*machine{newMachine(t), newMachine(t)}
	ids, since := make([]string, len(members)), make([]time.Time, len(members))
	for i, m := range members {
		m.run("fleet", "join", desk.invite("member"), "--name", fmt.Sprintf("member%d", i))
		since[i], ids[i] = time.Now(), m.status().ID
	}
	kill := func(pid int, signal syscall.Signal) {
		if pid > 1 {
			_ = syscall.Kill(pid, signal) // it may have ended
		}
	}
	faults := map[string]int{}
	n := 0
	for range rounds {
		var working sync.WaitGroup
		for _, m := range members {
			for range 6 {
				n++
				number := n
				working.Go(func() { m.hook("claude", "UserPromptSubmit", fmt.Sprintf(promptPayload, number, number)) })
				working.Go(func() {
					m.hook("claude", "PreToolUse", fmt.Sprintf(`{"session_id":"s-%d","cwd":"/tmp","hook_event_name":"PreToolUse",`+
						`"tool_name":"Bash","tool_input":{"command":"echo %d"}}`, number, number))
				})
			}
		}
		time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
		victim := members[random.IntN(len(members))]
		fault := []string{"server", "daemon", "stopped", "both", "none"}[random.IntN(5)]
		faults[fault]++
		switch fault {
		case "server":
			kill(desk.serverPID(), syscall.SIGKILL)
		case "daemon":
			kill(daemonstart.DaemonPID(victim.home.Dirs), syscall.SIGKILL)
		case "both":
			kill(desk.serverPID(), syscall.SIGKILL)
			kill(daemonstart.DaemonPID(victim.home.Dirs), syscall.SIGKILL)
		case "stopped":
			pid := desk.serverPID()
			kill(pid, syscall.SIGSTOP)
			time.Sleep(time.Duration(200+random.IntN(800)) * time.Millisecond)
			kill(pid, syscall.SIGCONT)
		}
		working.Wait()
		for _, m := range members { // as a person would, after so many deaths
			_ = daemonstart.Forget(m.home.Dirs)
			_, _ = m.try("daemon", "start")
		}
	}
	t.Logf("faults: %v", faults)
	for i, m := range members {
		m.hook("claude", "UserPromptSubmit", fmt.Sprintf(promptPayload, 0, 0))
		var wrong []string
		for end := time.Now().Add(2 * daemontest.Patience); ; time.Sleep(200 * time.Millisecond) {
			if wrong = compareJournals(t, desk, m, ids[i], since[i]); len(wrong) == 0 {
				break
			}
			if time.Now().After(end) {
				b, _ := os.ReadFile(filepath.Join(desk.home.Dirs.State, "fleet-server", "log"))
				t.Fatalf("member %d (%+v): %d rows are wrong:\n%s\nthe server's log:\n%s", i, m.status(), len(wrong),
					strings.Join(wrong[:min(len(wrong), 10)], "\n"), b[max(0, len(b)-3000):])
			}
		}
	}
}
