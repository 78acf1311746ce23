package drift

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/internal/realagents"
)

func line(event, payload string) recordings.Line {
	return recordings.Line{Event: event, Payload: json.RawMessage(payload)}
}

func never(string) bool { return false }

// Each kind of difference is told as what it is.
func TestCompareReleases(t *testing.T) {
	before := Observed{
		Events: []recordings.Line{
			line("Start", `{"id":"1","cwd":"/p","sha256":"x","sha1":"x"}`),
			line("Tool", `{"id":"1","tool":{"name":"sh","old":1},"files":{"/p/a":1}}`),
			line("Rare", `{"id":"1"}`),
			line("End", `{"id":"1"}`),
		},
		Rows: []recordings.Row{
			{Check: "deny", Event: "Tool", Claim: "deny", Mark: "✓"},
			{Check: "input", Event: "Tool", Claim: "input", Mark: "✓"},
			{Check: "context", Event: "Start", Claim: "context", Mark: "–"},
			{Check: "order", Mark: "✓"},
			{Check: "keep", Event: "End", Claim: "keep", Mark: "✓"}, // not asked this time
		},
	}
	now := Observed{
		Events: []recordings.Line{
			line("Start", `{"id":"2","cwd":"/p","sha256":"x","model":"x"}`),
			line("Tool", `{"id":"2","tool":{"name":"sh","new":1},"files":{"/p/b":1}}`),
			line("Fresh", `{"id":"2"}`),
		},
		Rows: []recordings.Row{
			{Check: "deny", Event: "Tool", Claim: "deny", Mark: "✗", Why: "the command ran"},
			{Check: "input", Event: "Tool", Claim: "input", Mark: "–", Why: "no time"},
			{Check: "context", Event: "Start", Claim: "context", Mark: "✓"},
			{Check: "order", Mark: "✓"},
			{Check: "added", Mark: "✗"}, // the catalogue's doing
		},
	}
	got := Compare(before, now, func(event string) bool { return event == "Rare" })
	want := Changes{
		NewEvents: []string{"Fresh"}, LostEvents: []string{"End"},
		NewFields:  []Field{{"Start", "model"}, {"Tool", "tool.new"}},
		LostFields: []Field{{"Start", "sha1"}, {"Tool", "tool.old"}},
		Broken: []Answer{{Check: "deny", Event: "Tool", Claim: "deny", Was: "✓", Now: "✗",
			Why: "the command ran"}},
		Unproven: []Answer{{Check: "input", Event: "Tool", Claim: "input", Was: "✓", Now: "–", Why: "no time"},
			{Check: "keep", Event: "End", Claim: "keep", Was: "✓", Now: "–", Why: "it was not asked"}},
		Gained: []Answer{{Check: "context", Event: "Start", Claim: "context", Was: "–", Now: "✓"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the changes are %+v\nwant %+v", got, want)
	}
	if same := Compare(before, before, never); same.Any() || len(same.Unproven)+len(same.Gained) > 0 {
		t.Errorf("a release differs from itself by %+v, want nothing", same)
	}
	if unheard := Compare(before, Observed{Rows: before.Rows}, never); unheard.Any() {
		t.Errorf("without recorded events the changes are %+v, want none: nothing was seen", unheard)
	}
}

// An answer is named as --check takes it; two checks of one claim are told apart.
func TestAnswerNames(t *testing.T) {
	for want, a := range map[string]Answer{
		"order":                       {Check: "order"},
		"Stop.fires":                  {Check: "fires", Event: "Stop"},
		"PreToolUse.deny":             {Check: "deny", Event: "PreToolUse", Claim: "deny"},
		"PreToolUse.ask (ask-dialog)": {Check: "ask-dialog", Event: "PreToolUse", Claim: "ask"},
	} {
		if got := a.ID(); got != want {
			t.Errorf("%+v is named %q, want %q", a, got, want)
		}
	}
}

// The recordings are comparable: each is like itself, and has events.
func TestRecordingsAreLikeThemselves(t *testing.T) {
	for _, name := range recordings.Agents() {
		seen, err := builtinRecording(name)
		if err != nil {
			t.Errorf("%s: %v, want its recording", name, err)
			continue
		}
		if c := Compare(seen, seen, never); c.Any() || len(fieldsOf(seen.Events)) == 0 {
			t.Errorf("%s: differs from itself by %+v, or has no events; want neither", name, c)
		}
	}
}

// An event that is only named in the program is found among its like.
func TestNamesBesideEvents(t *testing.T) {
	known := []string{"PreToolUse", "PostToolUse", "Stop", "SessionStart"}
	for text, want := range map[string][]string{
		`x=["PreToolUse","PostToolUse","Stop","TeamIdle"],y`:                        {"TeamIdle"},
		"var e = [\n  'PreToolUse',\n  'Stop',\n  'SessionStart',\n  'NewOne',\n];": {"NewOne"},
		`["PreToolUse","PostToolUse","Stop"]`:                                       nil,
		`["PreToolUse","Stop","Bash","Edit"]`:                                       nil, // too few that are known
		`["PreToolUse","PostToolUse","Stop","with_score"]`:                          nil, // written another way
		`E["A"="PreToolUse"]="A";E["B"="Stop"]="B";E["C"="SessionStart"]="C";E["D"="Later"]="D"`: {
			"Later"},
	} {
		file := filepath.Join(t.TempDir(), "program.js")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := NamedIn(programFiles(file), known); !slices.Equal(got, want) {
			t.Errorf("%s names %v, want %v", text, got, want)
		}
	}
}

// asker returns one with a scripted registry and scripted releases.
func asker(t *testing.T, asked Asked, events string) *Asker {
	return &Asker{
		Dir:    t.TempDir(),
		Newest: func(context.Context, string) (string, error) { return "9.0.0", nil },
		Install: func(_ context.Context, a realagents.Agent, dir string, _ func(string)) (realagents.Installed, error) {
			program := filepath.Join(dir, "program")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return realagents.Installed{}, err
			}
			return realagents.Installed{Name: a.Name, Argv: []string{program}}, os.WriteFile(program, nil, 0o755)
		},
		Verify: func(_ context.Context, program, record string) (Asked, error) {
			if filepath.Base(program) != "goose" {
				return Asked{}, fmt.Errorf("the program is %s, want one that is named after the agent", program)
			}
			if events == "" {
				return asked, nil
			}
			if err := os.MkdirAll(record, 0o755); err != nil {
				return Asked{}, err
			}
			return asked, os.WriteFile(filepath.Join(record, "goose.jsonl"), []byte(events), 0o600)
		},
		Recording: func(string) (Observed, error) {
			return Observed{
				Rows:   []recordings.Row{{Check: "deny", Event: "PreToolUse", Claim: "deny", Mark: "✓"}},
				Events: []recordings.Line{line("PreToolUse", `{"a":1}`)},
			}, nil
		},
	}
}

// Every way a newest release can stand is a result with its reason, and nothing
// that was installed stays.
func TestAskNewest(t *testing.T) {
	goose, _ := realagents.Find("goose")
	fine := Asked{Rows: []recordings.Row{{Check: "deny", Event: "PreToolUse", Claim: "deny", Mark: "✓"}}}
	broken := Asked{Rows: []recordings.Row{{Check: "deny", Event: "PreToolUse", Claim: "deny", Mark: "✗",
		Why: "it ran"}}}
	const as, other = `{"event":"PreToolUse","payload":{"a":2}}`, `{"event":"PreToolUse","payload":{"b":2}}`
	for _, test := range []struct {
		name   string
		asked  Asked
		events string
		change func(*Asker)
		state  State
		says   string
	}{
		{"as recorded", fine, as, nil, Same, "1.52.0 → 9.0.0: as recorded"},
		{"a field", fine, other, nil, Changed, "new fields: PreToolUse b"},
		{"an answer", broken, as, nil, Changed, "✓ → ✗ PreToolUse.deny: it ran"},
		{"no events", Asked{Rows: fine.Rows, Note: "an act broke"}, "", nil, Same, "not compared: an act broke"},
		{"no start", Asked{Problem: "it ends at once"}, "", nil, NotAsked, "could not be asked: it ends at once"},
		{"the same release", fine, as, func(k *Asker) {
			k.Newest = func(context.Context, string) (string, error) { return goose.Version, nil }
		}, Recorded, "the newest release is the recorded one"},
		{"the same release, named", fine, as, func(k *Asker) {
			k.Again = true
			k.Newest = func(context.Context, string) (string, error) { return goose.Version, nil }
		}, Same, "Goose 1.52.0: as recorded"},
		{"no registry", fine, as, func(k *Asker) {
			k.Newest = func(context.Context, string) (string, error) { return "", errors.New("no such package") }
		}, NotInstallable, "not installable: no such package"},
		{"no program in it", fine, as, func(k *Asker) {
			k.Install = func(context.Context, realagents.Agent, string, func(string)) (realagents.Installed, error) {
				return realagents.Installed{}, errors.New("goose: no Linux program in the package")
			}
		}, NotInstallable, "not installable: goose: no Linux program"},
		{"nothing recorded", fine, as, func(k *Asker) {
			k.Recording = func(string) (Observed, error) { return Observed{}, errors.New("nothing is recorded") }
		}, NotAsked, "nothing is recorded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := asker(t, test.asked, test.events)
			if test.change != nil {
				test.change(k)
			}
			d := k.Ask(context.Background(), goose)
			report := Report{Agents: []Difference{d}}
			var text strings.Builder
			report.Text(&text)
			said := strings.ReplaceAll(text.String(), goose.Version, "1.52.0")
			if d.State != test.state || !strings.Contains(said, test.says) {
				t.Errorf("state %s and\n%swant %s and %q in it", d.State, said, test.state, test.says)
			}
			if quiet := test.state == Same || test.state == Recorded; report.Quiet() != quiet {
				t.Errorf("quiet is %v, want %v", report.Quiet(), quiet)
			}
			if left, err := os.ReadDir(k.Dir); err != nil || len(left) > 0 {
				t.Errorf("%v is left of the release (%v), want nothing", left, err)
			}
		})
	}
}

// A program in JavaScript is started on its Node, whatever is in its path.
func TestProgramUnderName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's here")
	program, err := putUnderName(realagents.Installed{Name: "gemini", Argv: []string{"/bin/echo", "a b's"}}, dir)
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(program)
	if want := `exec '/bin/echo' 'a b'\''s' "$@"`; err != nil || !strings.Contains(string(script), want) {
		t.Errorf("the script is %s (%v), want %s in it", script, err, want)
	}
}

// Every recording is broken on purpose, one thing at a time, and each is told as what the agent would then have
// changed: an event that is new, one that is gone, a field that is gone, an answer that no longer counts.
func TestBrokenRecordingsAreNoticed(t *testing.T) {
	for _, name := range recordings.Agents() {
		seen, err := builtinRecording(name)
		if err != nil {
			t.Fatal(err)
		}
		first := seen.Events[0].Event
		without := Observed{Rows: seen.Rows}
		for _, l := range seen.Events {
			if l.Event != first {
				without.Events = append(without.Events, l)
			}
		}
		if got := Compare(without, seen, never); !slices.Contains(got.NewEvents, first) {
			t.Errorf("%s: with %s not recorded the new events are %v, want it", name, first, got.NewEvents)
		}
		if got := Compare(seen, without, never); !slices.Contains(got.LostEvents, first) {
			t.Errorf("%s: without %s the lost events are %v, want it", name, first, got.LostEvents)
		}
		more := Observed{Rows: slices.Clone(seen.Rows), Events: append(slices.Clone(seen.Events),
			line(first, `{"field_of_before":1}`))}
		if got := Compare(more, seen, never); !slices.Contains(got.LostFields, Field{first, "field_of_before"}) {
			t.Errorf("%s: the lost fields are %v, want field_of_before of %s", name, got.LostFields, first)
		}
		for i, r := range seen.Rows {
			if r.Mark != holds {
				continue
			}
			now := Observed{Rows: slices.Clone(seen.Rows), Events: seen.Events}
			now.Rows[i].Mark = fails
			if got := Compare(seen, now, never); len(got.Broken) != 1 || !got.Any() {
				t.Errorf("%s: with %s of %s failing, broken are %v; want that one", name, r.Check, r.Event, got.Broken)
			}
		}
	}
}
