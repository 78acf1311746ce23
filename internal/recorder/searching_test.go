package recorder

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/recorder/search"
	"github.com/hookmux/hookmux/internal/wire"
)

func recordPrompt(t *testing.T, r *Recorder, id, session, cwd, prompt string) {
	t.Helper()
	payload := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"prompt":%q}`, session, cwd, prompt)
	ev := r.deps.Catalogue.Decode(agentInput("claude", "UserPromptSubmit", id, payload))
	if err := r.RecordEvent(id, time.Now(), &ev, []byte(payload)); err != nil {
		t.Fatal(err)
	}
	r.Wake()
}

func foundIDs(t *testing.T, r *Reader, q wire.QueryParams) (ids []string, result wire.QueryResult) {
	t.Helper()
	result, err := r.Query(t.Context(), q)
	if err != nil {
		t.Fatalf("searching for %q: %v", q.Text, err)
	}
	for _, e := range result.Entries {
		id, _ := jsontext.String(jsontext.Get(e.Event, "id"))
		ids = append(ids, id)
	}
	return ids, result
}

func text(words string) wire.QueryParams { return wire.QueryParams{Filter: wire.Filter{Text: words}} }

// Prompts, commands, results and titles are found, also before they are in the index;
// then the index is made and the same is found.
func TestSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deps := testDeps(t)
		r, start := openRecorder(t, deps)
		stop := start()
		recordPrompt(t, r, "e1", "s1", "/p", "write the database migration")
		for id, one := range map[string][2]string{
			"e2": {"PreToolUse", `{"session_id":"s1","cwd":"/p","tool_name":"Bash","tool_input":{"command":"rake db:migrate"}}`},
			"e3": {"PostToolUse", `{"session_id":"s1","cwd":"/p","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"20260101_migration.rb"}}`},
			"e4": {"PreToolUse", `{"session_id":"migration","cwd":"/migration","tool_name":"Bash","tool_input":{"command":"pwd","token":"sk-ant-api03-` + strings.Repeat("Ab1", 31) + `AA"}}`},
		} {
			ev := deps.Catalogue.Decode(agentInput("claude", one[0], id, one[1]))
			if err := r.RecordEvent(id, time.Now(), &ev, []byte(one[1])); err != nil {
				t.Fatal(err)
			}
		}
		r.Wake()
		time.Sleep(time.Second) // of the bubble: stored, not indexed yet
		check := func(when string) {
			t.Helper()
			for words, want := range map[string][]string{
				"migr": {"e1", "e2", "e3"}, "database migration": {"e1"}, "db:migrate": {"e2"}, "rb": {"e3"}, "sk-ant-api03": nil,
			} {
				got, result := foundIDs(t, r.Reader, text(words))
				slices.Sort(got)
				if !slices.Equal(got, want) || result.Unsearched != 0 {
					t.Errorf("%s, %q: found %q, %d not searched; want %q", when, words, got, result.Unsearched, want)
				}
			}
		}
		if _, err := os.Stat(indexPath(deps.Dirs)); err == nil {
			t.Error("the index is there at once: want it made later")
		}
		check("without an index")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		x, err := search.OpenReadOnly(indexPath(deps.Dirs), r.indexer.of)
		if err != nil || x == nil {
			t.Fatalf("the index: %v, error %v", x, err)
		}
		if s, err := x.Span(t.Context()); err != nil || s.Through != 4 {
			t.Errorf("in the index up to %+v, error %v; want 4", s, err)
		}
		x.Close()
		check("with an index")
		if b, err := os.ReadFile(indexPath(deps.Dirs)); err != nil || strings.Contains(string(b), "Ab1Ab1") {
			t.Errorf("the index holds a secret, or cannot be read: %v", err)
		}

		// Pages, both ways, with another filter beside.
		q := text("migr")
		q.Limit = 2
		_, page := foundIDs(t, r.Reader, q)
		q.After = page.Next
		rest, end := foundIDs(t, r.Reader, q)
		if page.Next == "" || len(rest) != 1 || end.Next != "" {
			t.Errorf("second page %q after %q, next %q", rest, page.Next, end.Next)
		}
		q = text("migr")
		q.Kinds = []string{string(event.ToolBefore)}
		if got, _ := foundIDs(t, r.Reader, q); !slices.Equal(got, []string{"e2"}) {
			t.Errorf("only tool.before: %q", got)
		}

		// After the daemon has stopped it works as well.
		stop()
		offline, done, err := OpenStored(deps.Dirs, deps.Catalogue)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		if got, _ := foundIDs(t, offline, text("database")); !slices.Equal(got, []string{"e1"}) {
			t.Errorf("without a daemon: %q", got)
		}
	})
}

// An existing journal without an index gets one in the background; until then the
// newest events are searched, and the answer says how many were not.
func TestExistingJournalGetsAnIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deps := testDeps(t)
		r, start := openRecorder(t, deps)
		j := r.journal.Load()
		r.maxUnindexed = 500
		const events = 800
		var batch []journal.Item
		for i := range events {
			word := "ordinary"
			if i == 10 || i == events-10 {
				word = "needle"
			}
			batch = append(batch, journal.Item{Row: &journal.Row{ID: fmt.Sprintf("e%d", i), Time: time.Now(), Agent: "claude",
				Kind: string(event.TurnStart), Native: "UserPromptSubmit", Session: "s1", Body: []byte(`{"prompt":"` + word + `"}`)}})
			if len(batch) == 1000 || i == events-1 {
				if _, _, err := j.Write(batch); err != nil {
					t.Fatal(err)
				}
				batch = batch[:0]
			}
		}
		got, result := foundIDs(t, r.Reader, text("needle"))
		if !slices.Equal(got, []string{fmt.Sprintf("e%d", events-10)}) || result.Unsearched != 300 {
			t.Errorf("without an index: %q, %d not searched; want the newer one and 300", got, result.Unsearched)
		}
		start()
		for range 600 { // the bubble's time: nothing is waited for
			time.Sleep(time.Second)
			if got, result = foundIDs(t, r.Reader, text("needle")); result.Unsearched == 0 {
				break
			}
		}
		if !slices.Equal(got, []string{"e10", fmt.Sprintf("e%d", events-10)}) || result.Unsearched != 0 {
			t.Errorf("with an index: %q, %d not searched; want both", got, result.Unsearched)
		}
	})
}

// What an index that can't be written costs: results beyond the newest events, and it is
// said; nothing else.
func TestSearchOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deps := testDeps(t)
		if err := os.Mkdir(indexPath(deps.Dirs), 0o700); err != nil { // as good as full: it can't be made
			t.Fatal(err)
		}
		if err := os.WriteFile(indexPath(deps.Dirs)+"/x", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r, start := openRecorder(t, deps)
		start()
		recordPrompt(t, r, "e1", "s1", "/p", "needle")
		time.Sleep(10 * time.Second)
		if !slices.ContainsFunc(deps.Problems.All(), func(p wire.Problem) bool { return p.Key == "search" }) {
			t.Errorf("problems %v; want one about the search index", deps.Problems.All())
		}
		if got, _ := foundIDs(t, r.Reader, text("needle")); !slices.Equal(got, []string{"e1"}) {
			t.Errorf("found %q, want the event", got)
		}
		if err := os.RemoveAll(indexPath(deps.Dirs)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * indexRetry)
		if slices.ContainsFunc(deps.Problems.All(), func(p wire.Problem) bool { return p.Key == "search" }) {
			t.Errorf("problems %v; want none after the repair", deps.Problems.All())
		}
	})
}

// Neither how long a page is nor whether another follows says anything about what the
// reader doesn't own.
func TestPagesSayNothingAboutOthers(t *testing.T) {
	deps := testDeps(t)
	r, start := openRecorder(t, deps)
	start()
	j := r.journal.Load()
	for i := range 20 {
		cwd, word := "/theirs", "needle"
		if i == 17 {
			cwd, word = "/mine", "hay"
		}
		if _, _, err := j.Write([]journal.Item{{Row: &journal.Row{ID: fmt.Sprintf("e%d", i), Time: time.Now(), Agent: "claude",
			Kind: string(event.TurnStart), Native: "UserPromptSubmit", Session: cwd, Cwd: cwd, Body: []byte(`{"prompt":"` + word + `"}`)}}}); err != nil {
			t.Fatal(err)
		}
	}
	mine := func(_, _, folder string) bool { return folder == "/mine" }
	for _, q := range []wire.QueryParams{{Limit: 1}, {Limit: 1, Newest: true}, {Limit: 1, Filter: wire.Filter{Text: "hay"}}} {
		result, err := r.queryOwn(t.Context(), q, mine)
		if err != nil || len(result.Entries) != 1 {
			t.Errorf("%+v: %d entries, error %v; want the reader's own", q, len(result.Entries), err)
		}
	}
	result, err := r.queryOwn(t.Context(), wire.QueryParams{Limit: 1, Filter: wire.Filter{Text: "needle"}}, mine)
	if err != nil || len(result.Entries) != 0 || result.Next != "" {
		t.Errorf("a word of others: %+v, error %v; want the same as for a word that nobody wrote", result, err)
	}
}

func agentInput(agentName, native, id, payload string) agent.Input {
	return agent.Input{ID: id, Time: time.Now(), Agent: agentName, Event: native, Payload: []byte(payload)}
}

// What retention deletes from the journal leaves the index as well.
func TestDeletedEventsLeaveTheIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deps := testDeps(t)
		r := New(Options{
			Deps: deps, Listener: noListener{}, Late: func(*event.Event) {}, Stored: func() {},
			Retention: func() Retention { return Retention{Age: 3 * time.Hour} },
		})
		done := make(chan struct{})
		go func() { defer close(done); r.Run(t.Context()) }()
		defer func() { r.Stop(); <-done; r.Close() }()
		recordPrompt(t, r, "old", "s1", "/p", "needle")
		time.Sleep(2 * time.Hour) // of the bubble
		recordPrompt(t, r, "new", "s1", "/p", "needle")
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		x, err := search.OpenReadOnly(indexPath(deps.Dirs), r.indexer.of)
		if err != nil || x == nil {
			t.Fatalf("the index: %v, error %v", x, err)
		}
		defer x.Close()
		q, _ := search.ParseQuery("needle")
		if found, err := x.Match(t.Context(), q, 0, 100, false, 10); err != nil || len(found) != 1 || found[0] != 2 {
			t.Errorf("the index finds %v, error %v; want only the event that the journal still has", found, err)
		}
	})
}
