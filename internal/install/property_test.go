package install

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
)

// shapes are all the ways in which hooks can be arranged, in all formats,
// whether or not an agent of today has them.
func shapes() []*target {
	handler := agent.HandlerSpec{Form: "line", Command: "command", Timeout: "timeout", Unit: "s", With: map[string]any{"type": "command"}}
	listed := handler
	listed.Event, listed.With = "event", nil
	exec := handler
	exec.Form, exec.Args = "exec", "args"
	var out []*target
	for _, format := range []edit.Format{edit.JSON, edit.TOML, edit.YAML} {
		for _, at := range [][]string{{"hooks"}, {"a", "hooks"}, nil} {
			out = append(out,
				&target{format: format, at: at, spec: &agent.InstallSpec{Shape: agent.ShapeNested, Handler: exec, Matcher: agent.MatcherSpec{Key: "matcher", All: "*", Needed: len(at) == 1}}},
				&target{format: format, at: at, spec: &agent.InstallSpec{Shape: agent.ShapeFlat, Handler: handler}},
			)
			if at != nil {
				out = append(out,
					&target{format: format, at: at, spec: &agent.InstallSpec{Shape: agent.ShapeList, Handler: listed}},
					&target{format: format, at: at, spec: &agent.InstallSpec{Shape: agent.ShapeNamed, Handler: handler}},
				)
			}
		}
	}
	return out
}

func (t *target) name() string {
	format := map[edit.Format]string{edit.JSON: "json", edit.TOML: "toml", edit.YAML: "yaml"}[t.format]
	return format + " " + string(t.spec.Shape) + " at " + strings.Join(t.at, ".")
}

var documents = flag.Int("documents", 0, "how many documents per shape the property tests try; 0 is few")

var testAgent = &agent.Agent{Name: "robot"}

func commandsOf(program string, events ...string) []Command {
	var out []Command
	for i, e := range events {
		out = append(out, Command{Program: program, Agent: "robot", Event: e, Seconds: 60 + i})
	}
	return out
}

// theirs is a handler of somebody else's, in the shape.
func (t *target) theirs(event, command string) any {
	h := map[string]any{"type": "command", "command": command}
	switch t.spec.Shape {
	case agent.ShapeNested:
		return map[string]any{"matcher": "X", "hooks": []any{h}}
	case agent.ShapeList:
		h["event"] = event
	case agent.ShapeNamed:
		return map[string]any{"name": command, "hooks": map[string]any{event: []any{h}}}
	}
	return h
}

func (t *target) listFor(event string) []string {
	if t.spec.Shape == agent.ShapeNested || t.spec.Shape == agent.ShapeFlat {
		return join(t.at, event)
	}
	return t.at
}

// drawDocument makes a file that somebody could have: other settings, hooks of
// their own, comments, odd white space.
func drawDocument(rt *rapid.T, t *target) []byte {
	src := []byte(map[edit.Format]string{edit.JSON: "{}", edit.TOML: "", edit.YAML: ""}[t.format])
	must := func(out []byte, err error) {
		if err != nil {
			rt.Skip(err)
		}
		src = out
	}
	for i := range rapid.IntRange(0, 3).Draw(rt, "settings") {
		value := rapid.SampledFrom([]any{1, "text", true, []any{"a", "b"}, map[string]any{"x": 1, "y": "z"}, []any{}, map[string]any{}}).Draw(rt, "value")
		must(t.format.Set(src, []string{fmt.Sprintf("k%d", i)}, value))
	}
	for i := range rapid.IntRange(0, 3).Draw(rt, "hooks") {
		event := rapid.SampledFrom([]string{"Before", "After", "Other"}).Draw(rt, "event")
		must(t.format.Append(src, t.listFor(event), t.theirs(event, "theirs-"+strconv.Itoa(i))))
	}
	if rapid.Bool().Draw(rt, "behind") {
		must(t.format.Set(src, []string{"z"}, map[string]any{"last": "one"}))
	}
	text := string(src)
	if t.format != edit.JSON || rapid.Bool().Draw(rt, "newline") {
		text = strings.TrimRight(text, "\n") + "\n"
	}
	comment := map[edit.Format]string{edit.JSON: "// theirs", edit.TOML: "# theirs", edit.YAML: "# theirs"}[t.format]
	switch rapid.IntRange(0, 3).Draw(rt, "comment") {
	case 0:
		text = comment + "\n" + text
	case 1:
		text = strings.TrimRight(text, "\n") + "\n" + comment + "\n"
	}
	if rapid.IntRange(0, 3).Draw(rt, "crlf") == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if t.format == edit.JSON && rapid.IntRange(0, 3).Draw(rt, "tabs") == 0 {
		text = strings.ReplaceAll(text, "  ", "\t")
	}
	if _, err := t.parseText([]byte(text)); err != nil {
		rt.Skip(err)
	}
	return []byte(text)
}

// builtPrograms is where tests with real agents built hookmux, if any did.
var builtPrograms string

// TestMain sets how many documents are tried.
func TestMain(m *testing.M) {
	if order := os.Getenv("HOOKMUX_TEST_KILL"); order != "" {
		if err := beKilled(order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	n := 8
	if *documents > 0 {
		n = *documents
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(n)); err != nil {
		panic(err)
	}
	debug.SetGCPercent(800) // many small texts: much of the time would go there
	code := m.Run()
	if builtPrograms != "" {
		os.RemoveAll(builtPrograms)
	}
	os.Exit(code)
}

func each(t *testing.T, property func(rt *rapid.T, s *target)) {
	t.Helper()
	t.Parallel()
	for _, s := range shapes() {
		t.Run(s.name(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) { property(rt, s) })
		})
	}
}

func TestInAndOutAgainIsTheSame(t *testing.T) {
	each(t, func(rt *rapid.T, s *target) {
		src := drawDocument(rt, s)
		want := commandsOf("/x/"+hookName, "Before", "After", "End")
		now, kept, err := s.writeCommands(src, testAgent, want, nil)
		if err != nil {
			rt.Fatalf("install: %v\n%s", err, src)
		}
		again, _, err := s.writeCommands(now, testAgent, want, kept)
		if err != nil || string(again) != string(now) {
			rt.Fatalf("installing twice: %v\n%s\n---\n%s", err, now, again)
		}
		if n := s.count(rt, now); n != 3 {
			rt.Fatalf("%d hooks of ours\n%s", n, now)
		}
		out, err := s.removeEntries(now, testAgent, kept)
		if err != nil || string(out) != string(src) {
			rt.Fatalf("%v\nbefore:\n%q\nafter:\n%q\nwith:\n%s", err, src, out, now)
		}
	})
}

func (t *target) count(rt *rapid.T, src []byte) (n int) {
	r, err := t.parseText(src)
	if err != nil {
		rt.Fatal(err)
	}
	for _, s := range t.slots(r) {
		if isFor(s, testAgent) {
			n++
		}
	}
	return n
}

// An upgrade in between: another program, one event more, one less.
func TestUpgradesInBetween(t *testing.T) {
	each(t, func(rt *rapid.T, s *target) {
		src := drawDocument(rt, s)
		now, kept, err := s.writeCommands(src, testAgent, commandsOf("/old/"+hookName, "Before", "Gone"), nil)
		if err != nil {
			rt.Fatal(err)
		}
		now, kept, err = s.writeCommands(now, testAgent, commandsOf("/new/"+hookName, "Before", "After"), kept)
		if err != nil {
			rt.Fatal(err)
		}
		if n := s.count(rt, now); n != 2 || strings.Contains(string(now), "/old/") {
			rt.Fatalf("%d hooks of ours\n%s", n, now)
		}
		out, err := s.removeEntries(now, testAgent, kept)
		if err != nil || string(out) != string(src) {
			rt.Fatalf("%v\nbefore:\n%q\nafter:\n%q\nwith:\n%s", err, src, out, now)
		}
	})
}

// What a person did in between, beside our entries or elsewhere, stays, and
// nothing else does.
func TestPeoplesEditsInBetweenStay(t *testing.T) {
	each(t, func(rt *rapid.T, s *target) {
		src := drawDocument(rt, s)
		now, kept, err := s.writeCommands(src, testAgent, commandsOf("/x/"+hookName, "Before", "After"), nil)
		if err != nil {
			rt.Fatal(err)
		}
		bytewise := len(src) > 40 // an empty file gets its looks from what comes first
		type change func([]byte) ([]byte, error)
		var changes []change
		for i := range rapid.IntRange(1, 3).Draw(rt, "edits") {
			event := rapid.SampledFrom([]string{"Before", "After", "Other"}).Draw(rt, "at")
			switch rapid.IntRange(0, 2).Draw(rt, "edit") {
			case 0:
				bytewise = false // where a list was made, how it looks is ours
				changes = append(changes, func(b []byte) ([]byte, error) {
					return s.format.Append(b, s.listFor(event), s.theirs(event, fmt.Sprintf("edit-%d", i)))
				})
			case 1:
				changes = append(changes, func(b []byte) ([]byte, error) {
					return s.format.Set(b, []string{fmt.Sprintf("edit%d", i)}, map[string]any{"v": i})
				})
			case 2:
				changes = append(changes, func(b []byte) ([]byte, error) { return s.format.Remove(b, []string{"k0"}) })
			}
		}
		mine, theirs := now, src
		for _, c := range changes {
			var err2 error
			mine, err = c(mine)
			theirs, err2 = c(theirs)
			if err != nil || err2 != nil {
				rt.Skip(err, err2)
			}
		}
		out, err := s.removeEntries(mine, testAgent, kept)
		if err != nil {
			rt.Fatalf("%v\n%s", err, mine)
		}
		if a, b := plain(rt, s, out), plain(rt, s, theirs); a != b {
			rt.Fatalf("says\n%s\nand should\n%s\nwith us it was\n%s", a, b, mine)
		}
		if bytewise && string(out) != string(theirs) {
			rt.Fatalf("is\n%q\nand should be\n%q\nwith us it was\n%s", out, theirs, mine)
		}
		if s.count(rt, out) != 0 {
			rt.Fatalf("still there:\n%s", out)
		}
	})
}

func plain(rt *rapid.T, t *target, src []byte) string {
	r, err := t.parseText(src)
	if err != nil {
		rt.Fatalf("%v\n%s", err, src)
	}
	var v any
	if raw := r.Raw(); raw != nil {
		if err := json.Unmarshal(raw, &v); err != nil {
			rt.Fatal(err)
		}
	}
	if v == nil {
		v = map[string]any{}
	}
	return string(asJSON(v))
}
