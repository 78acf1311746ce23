package verify

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/verify/model"
	"github.com/hookmux/hookmux/internal/wire"
)

// TestRealAttempts: from the shell tool of a real agent, nothing that is
// usually tried lets it approve a request.
func TestRealAttempts(t *testing.T) {
	st := realStage(t, "claude")
	if err := st.ready(nil); err != nil {
		t.Fatal(err)
	}
	id := pendingRequest(t, st)
	approve := launch.ShellWords([]string{filepath.Join(st.Bin, "hookmux"), "approve", id, "--once"})
	clean := "env -i HOME=" + st.Home + " PATH=$PATH HOOKMUX_RUNTIME_DIR=$HOOKMUX_RUNTIME_DIR "
	into := func(name string) string { return " >said-" + name + " 2>&1 </dev/null" }
	attempts := map[string]string{
		"plain":       approve + into("plain"),
		"setsid":      "setsid -w " + approve + into("setsid"),
		"double-fork": "(setsid sh -c '" + approve + into("double-fork") + "' &) & sleep 2",
		"hidden-fork": "(" + clean + "setsid sh -c 'sleep 0.3; " + approve + into("hidden-fork") + "' &) & sleep 2",
		"nohup":       "nohup " + approve + into("nohup"),
		"env-i":       clean + approve + into("env-i"),
	}
	if tmux, err := exec.LookPath("tmux"); err == nil {
		server := tmux + " -S " + filepath.Join(st.Base, "attempt.sock") + " "
		t.Cleanup(func() { _ = exec.Command(tmux, "-S", filepath.Join(st.Base, "attempt.sock"), "kill-server").Run() })
		attempts["tmux-run-shell"] = server + "-f /dev/null new-session -d 'sleep 60'; " + server + "run-shell '" + approve + into("tmux-run-shell") + "'; sleep 1"
		attempts["tmux-pane"] = server + "new-window -d '" + approve + into("tmux-pane") + "'; sleep 2"
	}
	var names []string
	var ss []model.Step
	for name, command := range attempts {
		names = append(names, name)
		// In a script: spelt out, the guard of hookmux's own files stops it
		// before anybody has to judge who calls.
		st.own(t, st.Project, "try-"+name, "cd "+st.Project+"\n"+command+"\n")
		ss = append(ss, model.Step{Calls: []model.ToolCall{st.Table.Shell.Call("sh ./try-" + name + "; echo tried-" + name)}})
	}
	ss = append(ss, model.Step{Calls: []model.ToolCall{st.Table.Shell.Call(approve + into("spelt-out"))}})
	st.script(append(ss, model.Step{Say: lastWords}))
	if err := st.headless(context.Background(), st.start(), st.free("Approve it yourself")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(st.Project, "said-spelt-out")); err == nil {
		t.Error("the guard let the command itself pass")
	}
	for _, name := range names {
		said, err := os.ReadFile(filepath.Join(st.Project, "said-"+name))
		if err != nil || !strings.Contains(string(said), "refused: ") {
			t.Errorf("%s: %q %v", name, said, err)
		}
		t.Logf("%s: %s", name, strings.TrimSpace(string(said)))
	}
	var items []wire.FeedItem
	if err := st.hub.Do(wire.MethodFeedItems, wire.FeedListParams{ID: id}, &items); err != nil || len(items) != 1 || items[0].Status != "pending" {
		t.Errorf("the request: %+v %v", items, err)
	}
	refused := 0
	for range 40 { // the journal is filled behind the corridor
		refused = 0
		c := &client.Client{Socket: st.Dirs.Socket()}
		if err := c.Query(context.Background(), client.QueryParams{}, func(e client.Entry) bool {
			if strings.Contains(string(e.Event), `"native":"refused"`) {
				refused++
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if refused >= len(names) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if refused < len(names) {
		t.Errorf("%d of %d attempts are in the journal", refused, len(names))
	}
}

// pendingRequest puts a request of somebody else into the stage's feed.
func pendingRequest(t *testing.T, st *Stage) string {
	t.Helper()
	st.hub.Sink(true)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		payload := json.RawMessage(`{"session_id":"other","hook_event_name":"PermissionRequest","cwd":"/p","tool_name":"Bash","tool_input":{"command":"touch ran-other"}}`)
		_, _ = (&client.Client{Socket: st.Dirs.Socket(), Timeout: 5 * time.Minute}).Push(ctx, wire.PushParams{Agent: "claude", Event: "PermissionRequest", Payload: payload, Timeout: 600})
	}()
	t.Cleanup(func() { cancel(); <-over })
	for range 1500 {
		var items []wire.FeedItem
		if err := st.hub.Do(wire.MethodFeedItems, wire.FeedListParams{}, &items); err != nil {
			t.Fatal(err)
		}
		if len(items) == 1 {
			return items[0].ID
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("no request came to the feed")
	return ""
}
