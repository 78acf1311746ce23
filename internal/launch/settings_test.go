package launch

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

func TestSettingsHoldOneHandlerPerDefaultEvent(t *testing.T) {
	argv, injected, notes, err := plan(t, "claude", nil, "-p", "hi")
	if err != nil || !injected || len(notes) != 0 {
		t.Fatalf("injected = %v, notes = %q, error %v; want no error, injected and len(notes) = 0",
			injected, notes, err)
	}
	if len(argv) != 5 || argv[1] != "--settings" || !slices.Equal(argv[3:], []string{"-p", "hi"}) {
		t.Fatalf(`argv = %q; want len(argv) == 5, argv[1] == "--settings" and argv[3:] equal to `+
			`[]string{"-p", "hi"}`, argv)
	}
	settings := decoded(t, argv[2])
	hooks := settings["hooks"].(map[string]any)
	a := catalogued(t, "claude")
	for _, e := range a.Events {
		groups := groupsOf(t, settings, e.Name)
		if e.Install != agent.InstallDefault {
			if hooks[e.Name] != nil {
				t.Errorf("%s is %s and yet registered", e.Name, e.Install)
			}
			continue
		}
		if len(groups) != 1 {
			t.Errorf("%s: %d groups, want 1", e.Name, len(groups))
		}
	}
	want := []any{map[string]any{"hooks": []any{map[string]any{
		"type": "command", "command": testHook, "args": []any{"claude", "PreToolUse", "3600"}, "timeout": 3600.0,
	}}}}
	if got := groupsOf(t, settings, "PreToolUse"); !reflect.DeepEqual(got, want) {
		t.Errorf("PreToolUse = %v, want %v", got, want)
	}
	for _, never := range []string{"WorktreeCreate", "MessageDisplay"} {
		if hooks[never] != nil {
			t.Errorf("%s is registered; want hooks[never] == nil", never)
		}
	}
}

// An agent that passes over a handler's words is given one line.
func TestSettingsInOneLine(t *testing.T) {
	argv, injected, _, err := plan(t, "codebuddy", nil, "-p", "hi")
	if err != nil || !injected {
		t.Fatalf("injected = %v, error %v; want no error and injected", injected, err)
	}
	want := []any{map[string]any{"hooks": []any{map[string]any{
		"type": "command", "command": shellquote.Line([]string{testHook, "codebuddy", "PreToolUse", "3600"}), "timeout": 3600.0,
	}}}}
	if got := groupsOf(t, decoded(t, argv[2]), "PreToolUse"); !reflect.DeepEqual(got, want) {
		t.Errorf("PreToolUse = %v, want %v", got, want)
	}
	again, _, _, err := plan(t, "codebuddy", nil, argv[1:]...)
	if err != nil || !slices.Equal(again, argv) {
		t.Errorf("planned twice: %q, %v; want no error and again equal to argv", again, err)
	}
}

func TestSettingsOfThePersonAreFoldedIn(t *testing.T) {
	const own = `{"model":"opus","hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"mine"}]}],"WorktreeCreate":[{"hooks":[]}]},"permissions":{"deny":["Read(.env)"]},"n":12345678901234567890}`
	const commented = "\ufeff// mine\n{\n  \"model\": \"opus\", /* which */\n  \"hooks\": {\"PreToolUse\": " +
		"[{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"},]},]},\n}\n"
	f := files{"s.json": own, "c.jsonc": commented, "empty.json": " \n"}
	cases := []struct {
		name string
		args []string
		at   int // index in argv of the settings
		want []string
	}{
		{"file", []string{"--settings", "s.json", "hi"}, 2, []string{"--settings", "", "hi"}},
		{"inline", []string{"-p", "--settings", own, "hi"}, 3, []string{"-p", "--settings", "", "hi"}},
		{"attached", []string{"hi", "--settings=s.json"}, 2, []string{"hi", ""}},
		{"attached inline", []string{"--settings= " + own}, 1, []string{""}},
		{"comments, commas, BOM", []string{"--settings", "c.jsonc"}, 2, []string{"--settings", ""}},
		{"several", []string{"--settings", "gone.json", "--model", "x", "--settings=also-gone", "--settings", "s.json", "hi"}, 4, []string{"--model", "x", "--settings", "", "hi"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			argv, injected, notes, err := plan(t, "claude", f, c.args...)
			if err != nil || !injected {
				t.Fatalf("injected = %v, error %v; want no error and injected", injected, err)
			}
			if (len(notes) > 0) != (c.name == "several") {
				t.Errorf(`notes = %q; want (len(notes) > 0) == (c.name == "several")`, notes)
			}
			text := strings.TrimPrefix(argv[c.at], "--settings=")
			rest := slices.Clone(argv[1:])
			rest[c.at-1] = ""
			if !slices.Equal(rest, c.want) {
				t.Errorf("other arguments = %q, want %q", rest, c.want)
			}
			settings := decoded(t, text)
			groups := groupsOf(t, settings, "PreToolUse")
			if len(groups) != 2 || commandOf(groups[0]) != "mine" || commandOf(groups[1]) != testHook {
				t.Errorf(`PreToolUse = %v; want len(groups) == 2, commandOf(groups[0]) == "mine" and `+
					`commandOf(groups[1]) == testHook`, groups)
			}
			if settings["model"] != "opus" || len(groupsOf(t, settings, "Stop")) != 1 {
				t.Errorf(`settings = %v; want settings["model"] == "opus" and len(groupsOf(t, settings, `+
					`"Stop")) == 1`, settings)
			}
		})
	}
	argv, _, _, err := plan(t, "claude", f, "--settings", "s.json")
	if err != nil || !strings.Contains(argv[2], "12345678901234567890") ||
		strings.Index(argv[2], `"model"`) > strings.Index(argv[2], `"permissions"`) {
		t.Errorf("numbers or order changed: %v %s", err, argv)
	}
	for _, none := range []string{"", " ", "empty.json"} {
		argv, injected, _, err := plan(t, "claude", f, "--settings", none)
		if err != nil || !injected || len(groupsOf(t, decoded(t, argv[2]), "Stop")) != 1 {
			t.Errorf(`--settings %q: %v %v; want no error, injected and len(groupsOf(t, decoded(t, argv[2]), `+
				`"Stop")) == 1`, none, injected, err)
		}
	}
}

func TestSettingsThatCannotBeFoldedAreAnError(t *testing.T) {
	f := files{"broken": `{"a":`, "list": `[]`, "text": "hello"}
	for _, value := range []string{
		"gone.json", "broken", "list", "text", "{bad}", `{"hooks":[]}`, `{"hooks":{"Stop":{}}}`, `{"hooks":null}`,
		`{"a":"` + strings.Repeat("x", maxArgument) + `"}`,
	} {
		argv, _, _, err := plan(t, "claude", f, "--settings", value, "hi")
		if err == nil {
			t.Errorf("%.40q: no error, argv %.200q", value, argv)
			continue
		}
		if msg := err.Error(); strings.Contains(msg, "\n") || len(msg) > 600 || !strings.Contains(msg, ";") {
			t.Errorf("%.40q: message %q; want no \"\\n\" in msg, len(msg) <= 600 and \";\" in msg", value, msg)
		}
	}
}

func TestHooklessSessionsAreLeftAloneAndSaidSo(t *testing.T) {
	for _, flag := range []string{"--bare", "--safe-mode"} {
		argv, injected, notes, err := plan(t, "claude", nil, "-p", "hi", flag, "--settings", "gone.json")
		if err != nil || injected || len(notes) != 1 || len(argv) != 6 {
			t.Errorf("%s: argv = %q, injected = %v, notes = %q, error %v; want no error, not injected, len(notes) = "+
				"1 and len(argv) = 6", flag, argv, injected, notes, err)
		}
	}
	_, injected, notes, err := plan(t, "claude", nil, "--settings", `{"disableAllHooks":true}`)
	if err != nil || !injected || len(notes) != 1 || !strings.Contains(notes[0], "disableAllHooks") {
		t.Errorf(`injected = %v, notes = %q, error %v; want no error, injected, len(notes) = 1 and `+
			`"disableAllHooks" in notes[0]`, injected, notes, err)
	}
}

func TestAwkwardHookPathsReachSettingsWhole(t *testing.T) {
	for _, hook := range awkwardPaths() {
		argv, _, _, err := Plan(Request{Agent: catalogued(t, "claude"), Program: "claude", Hook: hook})
		if err != nil {
			t.Fatal(err)
		}
		if got := commandOf(groupsOf(t, decoded(t, argv[2]), "Stop")[0]); got != hook {
			t.Errorf("command = %q, want %q", got, hook)
		}
	}
	for _, name := range []string{"claude", "codex"} {
		if _, _, _, err := Plan(Request{Agent: catalogued(t, name), Program: name,
			Hook: "/opt/\xff/hookmux-hook"}); err == nil {
			t.Errorf("%s: a path that is not UTF-8 was accepted", name)
		}
	}
}

func awkwardPaths() []string {
	return []string{
		"/opt/with space/hookmux-hook", `/opt/it's/hookmux-hook`, `/opt/a"b\c/hookmux-hook`, "/opt/naïve 日本/hookmux-hook",
		"/opt/$HOME `x` ${y}/hookmux-hook", "/opt/a\nb\tc/hookmux-hook", "/opt/<&>;|*?[]{}#!~/hookmux-hook", "/opt/\u2028\x01\x7f/hookmux-hook",
	}
}
