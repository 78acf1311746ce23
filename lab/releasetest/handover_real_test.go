//go:build unix

package releasetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// toolCalls are the calls of one turn; a person is asked about each.
const toolCalls = 4

// witnessed are the events of which each agent also tells a hook of the user's own.
var witnessed = []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"}

// realHandover is a home in which real agents work while hookmux is replaced.
type realHandover struct {
	*handover
	model    *model.Server
	testBeds []*testbed.TestBed
	random   *rand.Rand
}

// Claude Code and Codex are in the middle of a turn each, at terminals, with hooks that the version
// before installed. At a random moment the programs are replaced. Each turn ends as it should, the user is asked
// once about each call, and every event that an agent told a hook of the user's own is in the journal.
// HOOKMUX_HANDOVER_SEED repeats a run.
func TestRealHandover(t *testing.T) {
	list, now := os.Getenv("HOOKMUX_HANDOVER_BEFORE"), os.Getenv("HOOKMUX_HANDOVER_NOW")
	if list == "" || now == "" {
		t.Skip("HOOKMUX_HANDOVER_BEFORE is not set; `make release-test` builds programs of the versions before")
	}
	seed, err := strconv.ParseUint(os.Getenv("HOOKMUX_HANDOVER_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64N(1_000_000)
	}
	t.Logf("HOOKMUX_HANDOVER_SEED=%d repeats this run", seed)
	for one := range strings.SplitSeq(list, ",") {
		name, before, _ := strings.Cut(one, "=")
		for moment := range moments {
			t.Run(fmt.Sprintf("%s/%d", name, moment), func(t *testing.T) {
				h := layOutReal(t, rand.New(rand.NewPCG(seed, uint64(moment))))
				h.sameIDs = name == "now"
				h.workThrough(before, now, moment%2 == 1)
			})
		}
	}
}

// layOutReal makes one home for both agents.
func layOutReal(t *testing.T, random *rand.Rand) *realHandover {
	srv, err := model.Start(model.Options{Delay: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	h := &realHandover{model: srv, random: random}
	for _, name := range []string{"claude", "codex"} {
		driver, _ := drivers.Find(name)
		driver.Run = false // hooks are installed
		driver.Welcome = nil
		setting := &testbed.Setting{Driver: driver, In: agentstest.Require(t, name), Model: srv,
			Patience: agentstest.Timeout, Serial: func() string { return "t" }}
		if len(h.testBeds) > 0 {
			setting.SharedWith = h.testBeds[0]
		}
		st, err := testbed.New(setting, "handover")
		if err != nil {
			t.Fatal(err)
		}
		if len(h.testBeds) > 0 { // a place for its terminal
			if st.Base = filepath.Join(st.Base, name); os.MkdirAll(st.Base, 0o700) != nil {
				t.Fatalf("%s cannot be made", st.Base)
			}
		}
		st.Env = append(st.Env, "HOOKMUX_TEST_BELOW="+name) // the test programs know its hooks by this
		h.testBeds = append(h.testBeds, st)
	}
	first := h.testBeds[0]
	h.handover = &handover{
		Home: &sandbox.Home{Base: first.Base, Project: first.Project, Bin: filepath.Join(first.Base, "bin"),
			Env: slices.DeleteFunc(slices.Clone(first.Env), func(one string) bool {
				return strings.HasPrefix(one, "HOOKMUX_TEST_BELOW=")
			}), Dirs: first.Dirs},
		t: t, asked: map[string][]string{}, approved: map[string]int{},
		ponder: func() { time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond) },
	}
	t.Cleanup(func() {
		for _, st := range h.testBeds {
			st.ClearUp()
		}
		if err := daemontest.EndDaemon(h.Dirs); err != nil {
			t.Error(err)
		}
		testbed.RemoveAll(first.Base)
	})
	return h
}

func (h *realHandover) witnessFolder(agent string) string {
	return filepath.Join(h.Base, "told", agent)
}

// writeWitness gives the user a hook of their own for each event: it keeps what the agent told.
func (h *realHandover) writeWitness(agent, file string) {
	h.t.Helper()
	hooks := map[string]any{}
	folder := h.witnessFolder(agent)
	for _, event := range witnessed {
		hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command",
			"command": "cat > \"$(mktemp '" + folder + "/" + event + ".XXXXXX')\""}}}}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := drivers.MergeJSON(filepath.Join(h.testBeds[0].Home, file), map[string]any{"hooks": hooks}); err != nil {
		h.t.Fatal(err)
	}
}

// told counts what an agent told the user's own hook, by event.
func (h *realHandover) told(agent string) map[string]int {
	files, _ := filepath.Glob(filepath.Join(h.witnessFolder(agent), "*"))
	counts := map[string]int{}
	for _, file := range files {
		event, _, _ := strings.Cut(filepath.Base(file), ".")
		counts[event]++
	}
	return counts
}

// play is one agent at its terminal, from the prompt to the turn's end.
func (h *realHandover) play(st *testbed.TestBed) {
	name := st.Driver.Name
	welcome, _ := drivers.Find(name)
	args := append(slices.Clone(st.Driver.Trusting), st.Driver.TUI(testbed.MarkedPrompt("Run it"), true)...)
	err := st.AtTerminal(context.Background(), args, func(ctx context.Context, term *testbed.Terminal) error {
		testbed.WaitUntil(ctx, 100*time.Millisecond, func() bool {
			screen := strings.Join(strings.Fields(term.CaptureScreen(ctx)), " ")
			for _, w := range welcome.Welcome {
				if strings.Contains(screen, w.Text) {
					for _, key := range w.Keys {
						testbed.PauseFor(ctx, 300*time.Millisecond)
						_ = term.PressKeys(ctx, key) // the next look shows whether it was taken
					}
				}
			}
			return h.told(name)["Stop"] > 0
		})
		if h.told(name)["Stop"] == 0 {
			h.t.Errorf("%s: the turn did not end; its screen:\n%s", name, term.CaptureScreen(ctx))
		}
		// The agent's hooks run side by side: hookmux may still be waiting for the next daemon.
		soon, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		testbed.WaitUntil(soon, 100*time.Millisecond, func() bool {
			out, err := h.person("log", "--json", "--agent", name, "--kind", "Stop")
			return err == nil && out != ""
		})
		return nil
	})
	if err != nil {
		h.t.Errorf("%s: %v, want no error", name, err)
	}
}

func tagOf(agent string, call int) string { return fmt.Sprintf("%s-call-%d", agent, call) }

func (h *realHandover) workThrough(before, now string, restart bool) {
	t := h.t
	if err := os.MkdirAll(h.Bin, 0o700); err != nil {
		t.Fatal(err)
	}
	h.putPrograms(before)
	h.writeWitness("claude", ".claude/settings.json")
	h.writeWitness("codex", ".codex/hooks.json")
	for _, args := range [][]string{{"daemon", "start"}, {"install", "--yes", "claude", "codex"}, {"away"}} {
		if out, err := h.person(args...); err != nil {
			t.Fatalf("hookmux %q: %v\n%s", args, err, out)
		}
	}
	first := h.daemonVersion()
	for _, st := range h.testBeds {
		var calls []model.ToolCall
		for call := range toolCalls {
			calls = append(calls, st.EscalatedCall(tagOf(st.Driver.Name, call)))
		}
		st.SetScript(append(testbed.CallSteps(calls...), model.Step{Say: testbed.LastWords}))
	}

	var agents, others sync.WaitGroup
	done := make(chan struct{})
	for _, st := range h.testBeds {
		agents.Go(func() { h.play(st) })
	}
	others.Go(func() { h.answerRequests(done) })
	h.awaitMoment()
	h.putPrograms(now)
	waiting, _ := h.person("inbox", "--json")
	t.Logf("replaced; %d requests were waiting, restarted by the user: %v", strings.Count(waiting, `"pending"`), restart)
	if restart {
		if out, err := h.person("daemon", "restart"); err != nil {
			t.Errorf("daemon restart ended with %v: %s", err, out)
		}
	}
	agents.Wait()
	close(done)
	others.Wait()
	h.awaitOtherVersion(first)
	h.compareTurns()
	if err := daemontest.EndDaemon(h.Dirs); err != nil {
		t.Fatal(err)
	}
	h.compareJournal()
}

// awaitMoment waits for a random step of the turns, and a moment longer.
func (h *realHandover) awaitMoment() {
	steps, pause := 1+h.random.IntN(2*toolCalls), time.Duration(h.random.IntN(1000))*time.Millisecond
	await.Until(h.t, fmt.Sprintf("the model was asked %d times", steps), func() bool {
		asked := 0
		for _, st := range h.testBeds {
			for _, q := range h.model.Requests(st.Run) {
				if q.Kind == model.ReqScripted {
					asked++
				}
			}
		}
		return asked >= steps
	})
	time.Sleep(pause)
	h.t.Logf("the moment: %s after %d answers of the model", pause, steps)
}

// compareTurns wants each call to have run, its output read by the model, and one yes
// of the user for it.
func (h *realHandover) compareTurns() {
	for _, st := range h.testBeds {
		for call := range toolCalls {
			tag := tagOf(st.Driver.Name, call)
			if !st.LeftItsFile(tag) || !h.model.Saw(st.Run, "out-"+tag) {
				h.t.Errorf("%s: the file is there: %v, the model read its output: %v; want both", tag, st.LeftItsFile(tag),
					h.model.Saw(st.Run, "out-"+tag))
			}
		}
		if !h.model.Reached(st.Run, "", toolCalls) {
			h.t.Errorf("%s: the model was not asked for its last words", st.Driver.Name)
		}
	}
	h.compareAnswers(len(h.testBeds) * toolCalls)
}

// compareJournal wants what agents told the user's own hook in the journal, as
// often.
func (h *realHandover) compareJournal() {
	t := h.t
	j, err := journal.Open(filepath.Join(h.Dirs.State, "journal.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	stored := map[string]int{}
	for row, err := range j.Query(context.Background(), journal.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(row.ID, "late-") {
			stored[row.Agent+" "+row.Native]++
		}
	}
	text, _ := json.Marshal(stored)
	for _, st := range h.testBeds {
		told := h.told(st.Driver.Name)
		for _, event := range witnessed {
			if told[event] == 0 || stored[st.Driver.Name+" "+event] != told[event] {
				t.Errorf("%s told of %s %d times, and the journal has it %d times; want as often, at least once; stored: %s",
					st.Driver.Name, event, told[event], stored[st.Driver.Name+" "+event], text)
			}
		}
	}
}
