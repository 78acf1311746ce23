package hookentry_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/install/hookentry/hookentrytest"
)

var testAgent = &agent.Agent{Name: "robot"}

func commandsOf(program string, events ...string) []hookentry.Command {
	var out []hookentry.Command
	for i, e := range events {
		out = append(out, hookentry.Command{Program: program, Agent: "robot", Event: e, Seconds: 60 + i})
	}
	return out
}

// drawDocument makes a file that somebody could have: other settings, hooks of
// their own, comments, odd white space.
func drawDocument(rt *rapid.T, t *hookentry.Target) []byte {
	src := []byte(map[edit.Format]string{edit.JSON: "{}", edit.TOML: "", edit.YAML: ""}[t.Format])
	must := func(out []byte, err error) {
		if err != nil {
			rt.Skip(err)
		}
		src = out
	}
	for i := range rapid.IntRange(0, 3).Draw(rt, "settings") {
		value := rapid.SampledFrom([]any{1, "text", true, []any{"a", "b"}, map[string]any{"x": 1, "y": "z"}, []any{},
			map[string]any{}}).Draw(rt, "value")
		must(t.Format.Set(src, []string{fmt.Sprintf("k%d", i)}, value))
	}
	for i := range rapid.IntRange(0, 3).Draw(rt, "hooks") {
		event := rapid.SampledFrom([]string{"Before", "After", "Other"}).Draw(rt, "event")
		must(t.Format.Append(src, hookentrytest.ListFor(t, event),
			hookentrytest.TheirHandler(t, event, "theirs-"+strconv.Itoa(i))))
	}
	if rapid.Bool().Draw(rt, "behind") {
		must(t.Format.Set(src, []string{"z"}, map[string]any{"last": "one"}))
	}
	text := string(src)
	if t.Format != edit.JSON || rapid.Bool().Draw(rt, "newline") {
		text = strings.TrimRight(text, "\n") + "\n"
	}
	comment := map[edit.Format]string{edit.JSON: "// theirs", edit.TOML: "# theirs", edit.YAML: "# theirs"}[t.Format]
	switch rapid.IntRange(0, 3).Draw(rt, "comment") {
	case 0:
		text = comment + "\n" + text
	case 1:
		text = strings.TrimRight(text, "\n") + "\n" + comment + "\n"
	}
	if rapid.IntRange(0, 3).Draw(rt, "crlf") == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if t.Format == edit.JSON && rapid.IntRange(0, 3).Draw(rt, "tabs") == 0 {
		text = strings.ReplaceAll(text, "  ", "\t")
	}
	if _, err := t.ParseText([]byte(text)); err != nil {
		rt.Skip(err)
	}
	return []byte(text)
}

func each(t *testing.T, property func(rt *rapid.T, s *hookentry.Target)) {
	t.Helper()
	t.Parallel()
	for _, s := range hookentrytest.Shapes() {
		t.Run(hookentrytest.ShapeName(s), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) { property(rt, s) })
		})
	}
}

func TestInAndOutAgainIsTheSame(t *testing.T) {
	each(t, func(rt *rapid.T, s *hookentry.Target) {
		src := drawDocument(rt, s)
		want := commandsOf("/x/"+hookentry.HookName, "Before", "After", "End")
		now, kept, err := s.WriteCommands(src, testAgent, want, nil)
		if err != nil {
			rt.Fatalf("install: %v\n%s", err, src)
		}
		again, _, err := s.WriteCommands(now, testAgent, want, kept)
		if err != nil || string(again) != string(now) {
			rt.Fatalf("installing twice: %v\n%s\n---\n%s; want no error and string(again) == string(now)",
				err, now, again)
		}
		if n := countOurs(rt, s, now); n != 3 {
			rt.Fatalf("%d hooks of ours\n%s", n, now)
		}
		out, err := s.RemoveEntries(now, testAgent, kept)
		if err != nil || string(out) != string(src) {
			rt.Fatalf("%v\nbefore:\n%q\nafter:\n%q\nwith:\n%s", err, src, out, now)
		}
	})
}

func countOurs(rt *rapid.T, t *hookentry.Target, src []byte) (n int) {
	r, err := t.ParseText(src)
	if err != nil {
		rt.Fatal(err)
	}
	for _, s := range t.Handlers(r) {
		if hookentry.IsFor(s, testAgent) {
			n++
		}
	}
	return n
}

// An upgrade in between: another program, one event more, one less.
func TestUpgradesInBetween(t *testing.T) {
	each(t, func(rt *rapid.T, s *hookentry.Target) {
		src := drawDocument(rt, s)
		now, kept, err := s.WriteCommands(src, testAgent, commandsOf("/old/"+hookentry.HookName, "Before", "Gone"), nil)
		if err != nil {
			rt.Fatal(err)
		}
		now, kept, err = s.WriteCommands(now, testAgent, commandsOf("/new/"+hookentry.HookName, "Before", "After"),
			kept)
		if err != nil {
			rt.Fatal(err)
		}
		if n := countOurs(rt, s, now); n != 2 || strings.Contains(string(now), "/old/") {
			rt.Fatalf("%d hooks of ours\n%s", n, now)
		}
		out, err := s.RemoveEntries(now, testAgent, kept)
		if err != nil || string(out) != string(src) {
			rt.Fatalf("%v\nbefore:\n%q\nafter:\n%q\nwith:\n%s", err, src, out, now)
		}
	})
}

// What a person did in between, beside our entries or elsewhere, stays, and
// nothing else does.
func TestPeoplesEditsInBetweenStay(t *testing.T) {
	each(t, func(rt *rapid.T, s *hookentry.Target) {
		src := drawDocument(rt, s)
		now, kept, err := s.WriteCommands(src, testAgent, commandsOf("/x/"+hookentry.HookName, "Before", "After"), nil)
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
					return s.Format.Append(b, hookentrytest.ListFor(s, event),
						hookentrytest.TheirHandler(s, event, fmt.Sprintf("edit-%d", i)))
				})
			case 1:
				changes = append(changes, func(b []byte) ([]byte, error) {
					return s.Format.Set(b, []string{fmt.Sprintf("edit%d", i)}, map[string]any{"v": i})
				})
			case 2:
				changes = append(changes, func(b []byte) ([]byte, error) { return s.Format.Remove(b, []string{"k0"}) })
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
		out, err := s.RemoveEntries(mine, testAgent, kept)
		if err != nil {
			rt.Fatalf("error %v, mine = %s; want no error", err, mine)
		}
		if a, b := plain(rt, s, out), plain(rt, s, theirs); a != b {
			rt.Fatalf("says\n%s\nand should\n%s\nwith us it was\n%s", a, b, mine)
		}
		if bytewise && string(out) != string(theirs) {
			rt.Fatalf("is\n%q\nand should be\n%q\nwith us it was\n%s", out, theirs, mine)
		}
		if countOurs(rt, s, out) != 0 {
			rt.Fatalf("still there:\n%s; want countOurs(rt, s, out) == 0", out)
		}
	})
}

func plain(rt *rapid.T, t *hookentry.Target, src []byte) string {
	r, err := t.ParseText(src)
	if err != nil {
		rt.Fatalf("error %v, src = %s; want no error", err, src)
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
	return string(hookentry.AsJSON(v))
}
