package agent

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/golden"
)

// fixture is one payload a real agent sent.
type fixture struct {
	agent, file, event string
	payload            []byte
}

func fixtures(t testing.TB) []fixture {
	t.Helper()
	var out []fixture
	for _, a := range Builtin().Agents() {
		out = append(out, fixturesOf(t, a, filepath.Join("testdata/fixtures", a.Name))...)
	}
	return out
}

func fixturesOf(t testing.TB, a *Agent, dir string) (out []fixture) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no fixtures (error %v); want what it sends, one file per event, as %s/EVENT.json", a.Name, err, dir)
	}
	for _, file := range files {
		if filepath.Base(file) == "decisions.json" {
			continue
		}
		payload, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		native := fixtureEvent(a, filepath.Base(file), payload)
		if native == "" {
			t.Fatalf("%s: of no event in the catalogue", file)
		}
		out = append(out, fixture{a.Name, filepath.Base(file), native, payload})
	}
	return out
}

// fixtureEvent returns the event of a fixture: what its payload says, or the
// longest event its file is named after, behind a word that sorts files.
func fixtureEvent(a *Agent, file string, payload []byte) string {
	var head struct {
		Event string `json:"hook_event_name"`
	}
	if json.Unmarshal(payload, &head) == nil {
		if _, ok := a.Event(head.Event); ok {
			return head.Event
		}
	}
	for _, word := range []string{"pascal.", "event.", "hook."} {
		file = strings.TrimPrefix(file, word)
	}
	found := ""
	for _, e := range a.Events {
		if strings.HasPrefix(file, e.Name+".") && len(e.Name) > len(found) {
			found = e.Name
		}
	}
	return found
}

// load reads one fixture by agent and file name.
func loadFixture(t testing.TB, agent, file string) []byte {
	t.Helper()
	payload, err := os.ReadFile(filepath.Join("testdata/fixtures", agent, file))
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// Every field of every payload is either mapped or listed as ignored with a
// reason; so are the inputs of the tools the catalogue describes.
func TestEveryFieldIsAccountedFor(t *testing.T) {
	for _, f := range fixtures(t) {
		accountForFixture(t, Builtin(), f)
	}
}

func accountForFixture(t *testing.T, c *Catalogue, f fixture) {
	t.Helper()
	a, _ := c.Agent(f.agent)
	table := a.compiled.events[f.event]
	if table == nil {
		t.Errorf("%s: event %s is not in the catalogue", f.agent, f.event)
		return
	}
	accountFor(t, a, f, table, nil, f.payload)
	ev := c.Decode(Input{Agent: f.agent, Event: f.event, Payload: f.payload})
	if ev.Tool == nil {
		return
	}
	tool := a.compiled.tool(ev.Tool.Name)
	if tool == a.compiled.fallback && ev.Tool.Name != "nosuch" { // made up by the lab
		t.Errorf("%s/%s: tool %s is not in the catalogue", f.agent, f.file, ev.Tool.Name)
	}
	if tool.glob != nil && ev.Tool.Kind == event.MCP {
		return // a server's own arguments
	}
	if len(ev.Tool.Input) == 0 || bytes.Equal(ev.Tool.Input, f.payload) {
		return // a report about the end of a call, or the payload itself, which was looked at
	}
	var input map[string]json.RawMessage
	if err := json.Unmarshal(ev.Tool.Input, &input); err != nil {
		t.Fatalf("%s/%s: error %v, want no error", f.agent, f.file, err)
	}
next:
	for key := range input {
		for _, p := range tool.places {
			if p.steps[0].key == key {
				continue next
			}
		}
		if tool.spec.Ignored[key] == "" {
			t.Errorf("%s/%s: input %q of %s is neither read nor ignored", f.agent, f.file, key, ev.Tool.Name)
		}
	}
}

// Payloads that no hook of ours is sent lie in a folder beside those that one is: of
// events that only TypeScript hooks hear, that nobody listens to, or that a plugin passes on
// in some cases only. Each is of an event that the catalogue names, with what it is.
func TestEveryEventBesideIsNamed(t *testing.T) {
	for _, a := range Builtin().Agents() {
		files, err := filepath.Glob(filepath.Join("testdata/fixtures", a.Name, "beside", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			payload, err := os.ReadFile(file)
			if err != nil || !json.Valid(payload) {
				t.Errorf("%s: %v, want JSON", file, err)
			}
			if eventBeside(a, filepath.Base(file)) == "" {
				t.Errorf("%s: of no event that the entry of %s hears or names as inner or unheard", file, a.Name)
			}
		}
	}
}

// eventBeside returns the event that a file is named after.
func eventBeside(a *Agent, file string) string {
	names := slices.Clone(a.Inner)
	for name := range a.Unheard {
		names = append(names, name)
	}
	for _, e := range a.Events {
		names = append(names, e.Name)
	}
	file = strings.TrimPrefix(strings.TrimPrefix(file, "event."), "hook.")
	for _, name := range names {
		if strings.HasPrefix(file, name+".") {
			return name
		}
	}
	return ""
}

// An event is heard or not, and what is not has its reason.
func TestUnheardEvents(t *testing.T) {
	for _, a := range Builtin().Agents() {
		for name, why := range a.Unheard {
			if _, heard := a.Event(name); heard || slices.Contains(a.Inner, name) || why == "" {
				t.Errorf("%s: %s is unheard because of %q, want an event that nobody hears and a reason", a.Name, name,
					why)
			}
		}
	}
}

// No fixture says where it was made or holds a secret.
func TestFixturesTellNothingElse(t *testing.T) {
	err := filepath.WalkDir("testdata/fixtures", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, word := range []string{"/work/", "/root/", "BEGIN OPENSSH", "ghp_", "sk-ant-", "AKIA"} {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%s has %q in it, want it trimmed", path, word)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// accountFor goes through an object of a payload: a key is read whole, or
// ignored, or an object whose keys are each accounted for.
func accountFor(t *testing.T, a *Agent, f fixture, table *eventTable, above []string, value []byte) {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil {
		t.Errorf("%s/%s: %q is not an object: %v", f.agent, f.file, above, err)
		return
	}
	for key, inner := range fields {
		path := slices.Concat(above, []string{key})
		whole, below := false, false
		for _, s := range table.keys[path[0]] {
			whole = whole || slices.Equal(s.sub, path[1:])
			below = below || len(s.sub) >= len(path) && slices.Equal(s.sub[:len(path)-1], path[1:])
		}
		name := strings.Join(path, ".")
		switch {
		case whole || a.Ignored[name] != "":
		case below && len(inner) > 0 && inner[0] == '{':
			accountFor(t, a, f, table, path, inner)
		case below: // mapped where it is an object
		default:
			for k := range a.Ignored { // an object of which all that is there is ignored
				below = below || strings.HasPrefix(k, name+".")
			}
			if below && len(inner) > 0 && inner[0] == '{' {
				accountFor(t, a, f, table, path, inner)
				continue
			}
			t.Errorf("%s/%s: field %q is neither mapped nor ignored", f.agent, f.file, name)
		}
	}
}

// unseen are events the lab could not bring about, or kept no payload of.
var unseen = []string{
	"grok PostToolUseFailure", "grok PostCompact",
	"qwen UserPromptExpansion", "qwen SessionDelete",
	"copilot preMcpToolCall",
	"kimi UserPromptQueued", "kimi SessionHeartbeat", "kimi TaskStarted", "kimi Notification",
	"droid SubagentStop", "droid PreCompact",
	"codebuddy StopFailure", "codebuddy PreCompact", "codebuddy PostCompact",
	"opencode permission.ask", // never called
	"pi hookmux_answered",     // our own extension makes it
	"cline TaskResume", "cline TaskCancel", "cline UserPromptSubmit",
	"auggie Notification",
	"amp agent.start", "amp agent.end", "amp changes.prompt",
	"openclaw session_start", "openclaw session_end", "openclaw before_compaction", "openclaw after_compaction",
	"openclaw before_reset", "openclaw subagent_spawned", "openclaw subagent_ended",
	"kilo command.execute.before", "kilo permission.ask", "kilo question.rejected", "kilo session.error",
	"kilo experimental.session.compacting", "kilo session.compacted", "kilo file.edited", "kilo command.executed",
	"kilo todo.updated", "kilo session.deleted", "kilo dispose",
	"omp session_info_changed", "omp agent_before_settle", "omp agent_settled", "omp session_compact_failed",
	"omp ui_prompt_start", "omp ui_prompt_end", "omp session_before_fork", "omp session_tree", "omp project_trust",
	"omp user_python",
	"goose BeforeReadFile", "goose AfterFileEdit", "goose BeforeShellExecution", "goose AfterShellExecution",
	"cursor subagentStart", "cursor preCompact", "cursor beforeMCPExecution", "cursor afterMCPExecution",
	"cursor beforeReadFile", "cursor afterAgentThought", "cursor beforeTabFileRead", "cursor afterTabFileEdit",
	"cursor workspaceOpen", "windsurf post_cascade_response_with_transcript", "windsurf post_setup_worktree",
}

// documentedOnly reports whether no real agent was asked about anything: all that is
// known is its vendor's word.
func documentedOnly(a *Agent) bool {
	for _, e := range a.Events {
		for _, claim := range e.Claims() {
			if ProofKindOf(claim.Capability.Proof) == Tested {
				return false
			}
		}
	}
	return true
}

// Every event was seen, but for those, and for what hookmux does not register for where
// nothing but the vendor's documents is known.
func TestEveryEventHasAFixture(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range unseen {
		seen[e] = true
	}
	for _, f := range fixtures(t) {
		seen[f.agent+" "+f.event] = true
	}
	for _, a := range Builtin().Agents() {
		for _, e := range a.Events {
			if !seen[a.Name+" "+e.Name] && (e.Install == InstallDefault || !documentedOnly(a)) {
				t.Errorf("%s %s has no fixture", a.Name, e.Name)
			}
		}
	}
}

// nobodys are reports that name no session.
var nobodys = map[string]bool{
	"junie/PreToolUse.doc.json":       true, // its payloads name none
	"codebuddy/Notification.json":     true, // comes before there is a session
	"opencode/hook.dispose.json":      true, // the plugin says it
	"opencode/event.file.edited.json": true, "pi/project_trust.json": true,
}

func TestDecodedEventsMatchGoldens(t *testing.T) {
	pages := map[string]*bytes.Buffer{}
	for _, f := range fixtures(t) {
		ev := Builtin().Decode(Input{ID: "id", Time: time.Unix(1700000000, 0), Agent: f.agent, Event: f.event,
			Payload: f.payload, Cwd: "/from/the/frame"})
		if !bytes.Equal(ev.Raw, f.payload) {
			t.Errorf("%s/%s: raw differs; want ev.Raw equal to f.payload", f.agent, f.file)
		}
		if ev.Malformed != "" || ev.Native != f.event || ev.Session == "" && !nobodys[f.agent+"/"+f.file] {
			t.Errorf(`%s/%s: ev = %+v, want ev.Malformed = "", ev.Native = %q and not ev.Session == "" && `+
				`!nobodys[f.agent+"/"+f.file]`, f.agent, f.file, ev, f.event)
		}
		var line bytes.Buffer
		if err := json.Indent(&line, ev.AppendJSON(nil, event.Form{NoBodies: true}), "", "  "); err != nil {
			t.Fatal(err)
		}
		if pages[f.agent] == nil {
			pages[f.agent] = &bytes.Buffer{}
		}
		pages[f.agent].WriteString("== " + f.file + "\n" + line.String() + "\n")
	}
	for agent, page := range pages {
		golden.Match(t, filepath.Join("testdata/golden", agent+".txt"), page.String())
	}
}
