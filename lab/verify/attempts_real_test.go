package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/authority/attempts"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// From the shell tool of a real agent, no row of the table of
// attempts lets it approve a request. Timers (at, cron) are tried on
// process trees alone (internal/daemon, internal/authority): they would run on the
// machine of whoever tests.
func TestRealAttempts(t *testing.T) {
	for _, agent := range []string{"claude", "codex"} {
		t.Run(agent, func(t *testing.T) { attemptsOf(t, agent) })
	}
}

func attemptsOf(t *testing.T, agent string) {
	st := realTestBed(t, agent)
	if err := st.StartDaemonWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	id := pendingRequest(t, st)
	approve := shellquote.Line([]string{filepath.Join(st.Bin, "hookmux"), "approve", id})
	approver := filepath.Join(st.Project, "approver")
	build := exec.Command("go", "build", "-trimpath", "-o", approver, "./testdata/approver")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: build.CombinedOutput() = %s, want no error", err, out)
	}
	rows := append(attemptRows(t), attempts.Attempt{Name: "go-client", Command: "DO"})
	var names []string
	var ss []model.Step
	for _, row := range rows {
		names = append(names, row.Name)
		command := approve
		if row.Name == "go-client" {
			command = approver + " " + id
		}
		writeAttempt(t, st, row, command)
	}
	// All in one call of the tool, side by side: each waits for its own answer.
	tries := "for try in " + strings.Join(names, " ") + "; do sh ./try-$try & done; wait"
	t.Cleanup(func() { stopServers(st) })
	waits := "for try in " + strings.Join(names, " ") + "; do " + strings.TrimSpace(awaitRefusal("said-$try")) +
		"; done"
	// Codex goes on before a long command has ended, unless told to wait
	for _, command := range []string{tries, waits} {
		call := st.Table.Shell.Call(command)
		if agent == "codex" {
			call = drivers.WithInput(call, map[string]any{"yield_time_ms": 30000})
		}
		ss = append(ss, model.Step{Calls: []model.ToolCall{call}})
	}
	// Spelt out, a guard refuses the command before anybody has to evaluate who calls.
	spelt := map[string]string{"said-spelt-out": approve + " >said-spelt-out 2>&1"}
	for i, row := range attempts.Of(attempts.Guarded, attempts.Agent) {
		file := fmt.Sprintf("said-guarded-%d", i)
		spelt[file] = "{ " + row.Command + "\n} >" + file + " 2>&1"
	}
	for _, command := range spelt {
		ss = append(ss, model.Step{Calls: []model.ToolCall{st.Table.Shell.Call(command)}})
	}
	// By editing our files: the guard refuses each, and says so in the journal.
	ours := []string{"permissions.json", "consent.key", "decisions.jsonl", "away.json"}
	for _, file := range ours {
		ss = append(ss, model.Step{Calls: []model.ToolCall{st.Table.Shell.Call("echo forged > " +
			filepath.Join(st.Dirs.State, file))}})
	}
	st.SetScript(append(ss, model.Step{Say: testbed.LastWords}))
	if err := st.RunHeadless(context.Background(), st.AgentCommand(),
		st.FreeCommand("Approve it yourself")); err != nil {
		t.Fatal(err)
	}
	for file, command := range spelt {
		if _, err := os.Stat(filepath.Join(st.Project, file)); err == nil {
			t.Errorf("the guard let %q pass", command)
		}
	}
	for _, file := range ours {
		if b, _ := os.ReadFile(filepath.Join(st.Dirs.State, file)); strings.Contains(string(b), "forged") {
			t.Errorf(`%s was written; want no "forged" in string(b)`, file)
		}
	}
	for _, name := range names {
		said, err := os.ReadFile(filepath.Join(st.Project, "said-"+name))
		if err != nil || !strings.Contains(string(said), "refused: ") {
			t.Errorf(`%s: said = %q, error %v; want no error and "refused: " in string(said)`, name, said, err)
		}
		t.Logf("%s: %s", name, strings.TrimSpace(string(said)))
	}
	var items []wire.InboxRequest
	if err := st.Daemon.CallMethod(wire.MethodInboxItems, wire.InboxListParams{ID: id}, &items); err != nil || len(items) != 1 ||
		items[0].Status != "pending" {
		t.Errorf(`the request: %+v %v; want no error, len(items) == 1 and items[0].Status == "pending"`, items, err)
	}
	var refused, denied int
	for range 100 { // the journal is filled behind the answer
		refused, denied = 0, 0
		if err := readJournal(st, func(e client.Entry) {
			if strings.Contains(string(e.Event), `"native":"refused"`) {
				refused++
			}
			if e.Outcome != nil && strings.Contains(string(e.Outcome.Decision), "own-files") &&
				strings.Contains(string(e.Event), "echo forged") {
				denied++
			}
		}); err != nil {
			t.Fatal(err)
		}
		if refused >= len(names) && denied >= len(ours) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d of %d attempts are in the journal, and %d of %d edits", refused, len(names), denied, len(ours))
}

// attemptRows returns the rows of the table that a real agent's shell tool tries, as
// far as the programs they need are here.
func attemptRows(t *testing.T) []attempts.Attempt {
	t.Helper()
	var out []attempts.Attempt
	for _, row := range attempts.Of(attempts.Person, attempts.Agent) {
		if _, err := exec.LookPath(row.Needs); row.Needs != "" && err != nil {
			t.Logf("%s is not tried: there is no %s here", row.Name, row.Needs)
			continue
		}
		out = append(out, row)
	}
	return out
}

// writeAttempt writes the script try-NAME, which does what a row says. It is a
// script because spelt out the guard of hookmux's own files stops the command
// before anybody has to evaluate who calls.
func writeAttempt(t *testing.T, st *testbed.TestBed, row attempts.Attempt, command string) {
	t.Helper()
	said := filepath.Join(st.Project, "said-"+row.Name)
	// What the daemon is found by stands in the script: attempts take variables away.
	do := "export HOME=" + shellquote.Word(st.Home) + " HOOKMUX_RUNTIME_DIR=" + shellquote.Word(st.Dirs.Runtime) +
		"\n" + command + " >" + shellquote.Word(said) + " 2>&1 </dev/null\n"
	writePersonFile(t, st.Project, "do-"+row.Name, do)
	tried := strings.ReplaceAll(row.Command, "DO", "sh "+filepath.Join(st.Project, "do-"+row.Name))
	// A tmux server of this launch, and no other's.
	tried = strings.ReplaceAll(tried, " -L ", " -S "+filepath.Join(st.Base, "tmux-"))
	writePersonFile(t, st.Project, "try-"+row.Name, "cd "+st.Project+"\n"+tried+"\n"+awaitRefusal("said-"+row.Name))
}

// stopServers ends the tmux servers that attempts started.
func stopServers(st *testbed.TestBed) {
	sockets, _ := filepath.Glob(filepath.Join(st.Base, "tmux-*"))
	for _, socket := range sockets {
		_ = exec.Command("tmux", "-S", socket, "kill-server").Run()
	}
}

// awaitRefusal returns a shell line that waits until a file tells of a refusal: an
// attempt that goes on behind its caller's back is answered when it likes.
func awaitRefusal(file string) string {
	return "n=0; while ! grep -q refused: " + file + " 2>/dev/null && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done\n"
}

// readJournal reads what the test bed's daemon has stored, from within: on the socket
// this process counts as the agent it reported for, and reads no other's events.
func readJournal(st *testbed.TestBed, each func(client.Entry)) error {
	for after := ""; ; {
		var page wire.QueryResult
		if err := st.Daemon.CallMethod(wire.MethodQuery, wire.QueryParams{After: after}, &page); err != nil {
			return err
		}
		for _, e := range page.Entries {
			each(e)
		}
		if after = page.Next; after == "" {
			return nil
		}
	}
}

// pendingRequest puts a request of somebody else into the test bed's inbox.
func pendingRequest(t *testing.T, st *testbed.TestBed) string {
	t.Helper()
	st.Daemon.CountSink(true)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		payload := json.RawMessage(`{"session_id":"other","hook_event_name":"PermissionRequest","cwd":"/p","tool_name":"Bash","tool_input":{"command":"touch ran-other"}}`)
		_, _ = (&client.Client{Socket: st.Dirs.Socket(), Timeout: 5 * time.Minute}).Push(ctx,
			wire.PushParams{Agent: "claude", Event: "PermissionRequest", Payload: payload, Timeout: 600})
	}()
	t.Cleanup(func() { cancel(); <-over })
	for range 1500 {
		var items []wire.InboxRequest
		if err := st.Daemon.CallMethod(wire.MethodInboxItems, wire.InboxListParams{}, &items); err != nil {
			t.Fatal(err)
		}
		if len(items) == 1 {
			return items[0].ID
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("no request came to the inbox")
	return ""
}
