package edit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The ways in which other tools were seen to damage people's files, one test
// each, named after what goes wrong.

// inAndOut appends value at path, wants the text in, and the old one back.
func inAndOut(t *testing.T, f Format, src, path string, value any, in string) {
	t.Helper()
	at := split(path)
	got, err := f.Append([]byte(src), at, value)
	if err != nil || string(got) != in {
		t.Errorf("%q, %v; want %q", got, err, in)
		return
	}
	before, err := f.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	n := max(0, before.Len(at...))
	at = append(at, itoa(n))
	if back, err := f.Prune(got, at, before.Depth(at...)); err != nil || string(back) != src {
		t.Errorf("taken out: %q, %v; want %q", back, err, src)
	}
}

func TestFlowStyleHooksGetASecondTopLevelKey(t *testing.T) {
	inAndOut(t, YAML, "hooks: {pre: [{command: mine}]}\nx: 1\n", "hooks.pre", hook{Command: "c"},
		"hooks: {pre: [{command: mine}, {command: c}]}\nx: 1\n")
	inAndOut(t, YAML, "eventHooks: {events: [{name: a}], logFile: l}\n", "eventHooks.events", hook{Command: "c"},
		"eventHooks: {events: [{name: a}, {command: c}], logFile: l}\n")
}

func TestOtherIndentationMakesDuplicateEvents(t *testing.T) {
	inAndOut(t, YAML, "eventHooks:\n    logFile: l\n    events:\n        - name: a\n", "eventHooks.events",
		hook{Command: "c"},
		"eventHooks:\n    logFile: l\n    events:\n        - name: a\n        - command: c\n")
	inAndOut(t, YAML, "eventHooks:\n logFile: l\n", "eventHooks.events", hook{Command: "c"},
		"eventHooks:\n logFile: l\n events:\n  - command: c\n")
}

func TestZeroIndentedListGetsMixedIndentation(t *testing.T) {
	inAndOut(t, YAML, "hooks:\n  pre:\n  - command: mine\n    timeout: 5\n  post: []\n", "hooks.pre",
		hook{Command: "c"},
		"hooks:\n  pre:\n  - command: mine\n    timeout: 5\n  - command: c\n  post: []\n")
}

func TestQuotedKeysAreNotRecognised(t *testing.T) {
	inAndOut(t, YAML, "\"hooks\":\n  'pre': [a]\n", "hooks.pre", "c", "\"hooks\":\n  'pre': [a, c]\n")
	inAndOut(t, TOML, "\"hooks\" = ['a']\n", "hooks", "c", "\"hooks\" = ['a', \"c\"]\n")
}

func TestInlineEmptyIsNotRestored(t *testing.T) {
	inAndOut(t, YAML, "hooks: {} # none\n", "hooks.pre", "c", "hooks: {pre: [c]} # none\n")
	inAndOut(t, YAML, "hooks:\n  pre: []   # none\n  post: { }\n", "hooks.pre", "c",
		"hooks:\n  pre: [c]   # none\n  post: { }\n")
	inAndOut(t, JSON, `{"hooks": {}}`, "hooks.Stop", "c", `{"hooks": {"Stop": ["c"]}}`)
}

func TestUninstallLeavesAnEmptyHooksKey(t *testing.T) {
	inAndOut(t, JSON, "{\n  \"a\": 1\n}\n", "hooks.Stop", "c",
		"{\n  \"a\": 1,\n  \"hooks\": {\n    \"Stop\": [\"c\"]\n  }\n}\n")
	inAndOut(t, YAML, "a: 1\n", "hooks.stop", "c", "a: 1\nhooks:\n  stop:\n    - c\n")
	inAndOut(t, TOML, "a = 1\n", "hooks.stop", hook{Command: "c"}, "a = 1\n\n[[hooks.stop]]\ncommand = \"c\"\n")
}

func TestCarriageReturnsAreNormalised(t *testing.T) {
	inAndOut(t, YAML, "hooks:\r\n  pre:\r\n    - a\r\nb: 1\r\n", "hooks.pre", "c",
		"hooks:\r\n  pre:\r\n    - a\r\n    - c\r\nb: 1\r\n")
	inAndOut(t, TOML, "[[hooks]]\r\na = 1\r\n", "hooks", hook{Command: "c"},
		"[[hooks]]\r\na = 1\r\n\r\n[[hooks]]\r\ncommand = \"c\"\r\n")
}

func TestInlineFeaturesTableIsDefinedTwice(t *testing.T) {
	src := "features = { web = true }\n"
	in, err := TOML.Set([]byte(src), []string{"features", "hooks"}, true)
	if want := "features = { web = true, hooks = true }\n"; err != nil || string(in) != want {
		t.Fatalf("%q, %v; want %q", in, err, want)
	}
	if out, err := TOML.Remove(in, []string{"features", "hooks"}); err != nil || string(out) != src {
		t.Errorf("out = %q, error %v; want no error and string(out) = %q", out, err, src)
	}
	in, err = TOML.Set([]byte("features.web = true\n"), []string{"features", "hooks"}, true)
	if want := "features.web = true\nfeatures.hooks = true\n"; err != nil || string(in) != want {
		t.Errorf("dotted: %q, %v; want %q", in, err, want)
	}
}

func TestEmptiedFeaturesTableStays(t *testing.T) {
	src := "model = \"x\"\n"
	at := []string{"features", "hooks"}
	in, err := TOML.Set([]byte(src), at, true)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := TOML.Prune(in, at, 0); err != nil || string(out) != src {
		t.Errorf("in = %q, out = %q, error %v; want no error and string(out) = %q", in, out, err, src)
	}
}

func TestObsoleteKeyIsDeletedInAnyTableOrText(t *testing.T) {
	src := "[other]\ncodex_hooks = 1\ntext = \"\"\"\ncodex_hooks = true\n\"\"\"\n[features]\ncodex_hooks = true # " +
		"old\nx = 1\n"
	want := strings.Replace(src, "codex_hooks = true # old", "# old", 1)
	if out, err := TOML.Remove([]byte(src), []string{"features", "codex_hooks"}); err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

func TestStaticArrayAndTablesTogetherAreInvalid(t *testing.T) {
	inAndOut(t, TOML, "hooks = []\n[x]\n", "hooks", hook{Command: "c"}, "hooks = [{ command = \"c\" }]\n[x]\n")
	inAndOut(t, TOML, "hooks = [\n  { event = \"a\" },\n]\n", "hooks", hook{Command: "c"},
		"hooks = [\n  { event = \"a\" },\n  { command = \"c\" },\n]\n")
}

func TestTrustKeysWithDotsAreTornApart(t *testing.T) {
	src := "[hooks.state.\"/a.b/hooks.json:stop:0:0\"]\ntrusted_hash = \"x\"\n\n[tui]\n"
	at := []string{"hooks", "state", "/a.b/hooks.json:pre_tool_use:0:0"}
	in, err := TOML.Set([]byte(src), at, map[string]string{"trusted_hash": "y"})
	want := "[hooks.state.\"/a.b/hooks.json:stop:0:0\"]\ntrusted_hash = " +
		"\"x\"\n\n[hooks.state.\"/a.b/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"y\"\n\n[tui]\n"
	if err != nil || string(in) != want {
		t.Fatalf("%q, %v; want %q", in, err, want)
	}
	if out, err := TOML.Prune(in, at, 2); err != nil || string(out) != src {
		t.Errorf("out = %q, error %v; want no error and string(out) = %q", out, err, src)
	}
}

func TestCommentsAndTrailingCommasAreLostOrRefused(t *testing.T) {
	inAndOut(t, JSON, "{\n  // \"hooks\": {\n  \"z\": 1, /* b */\n  \"a\": [1,],\n}\n", "hooks.Stop", "c",
		"{\n  // \"hooks\": {\n  \"z\": 1, /* b */\n  \"a\": [1,],\n  \"hooks\": {\n    \"Stop\": [\"c\"]\n  },\n}\n")
}

func TestBrokenFilesAreReplaced(t *testing.T) {
	for f, src := range map[Format]string{JSON: `{"a": `, YAML: "a: [1\n", TOML: "a = \n"} {
		if out, err := f.Append([]byte(src), []string{"hooks"}, 1); err == nil || out != nil {
			t.Errorf("%T: %q became %q; want an error and out == nil", f, src, out)
		}
	}
}

func TestRemovingOursShiftsTheOthers(t *testing.T) {
	// ours between two of the user's: they stay, in order, to the byte
	for _, c := range []struct {
		f         Format
		src, want string
	}{
		{JSON, "{\"h\": [\n  \"a\", // first\n  \"ours\",\n  \"b\"\n]}", "{\"h\": [\n  \"a\", // first\n  \"b\"\n]}"},
		{YAML, "h:\n- a # first\n- ours\n# then\n- b\n", "h:\n- a # first\n# then\n- b\n"},
		{TOML, "h = [\n  \"a\", # first\n  \"ours\",\n  \"b\"\n]\n", "h = [\n  \"a\", # first\n  \"b\"\n]\n"},
		{TOML, "[[h]]\na = 1\n\n[[h]]\nours = 1\n\n# then\n[[h]]\nb = 1\n", "[[h]]\na = 1\n\n# then\n[[h]]\nb = 1\n"},
	} {
		if out, err := c.f.RemoveAt([]byte(c.src), []string{"h"}, 1); err != nil || string(out) != c.want {
			t.Errorf("%q, %v; want %q", out, err, c.want)
		}
	}
}

func TestFormatsByName(t *testing.T) {
	for name, want := range map[string]Format{"json": JSON, "yaml": YAML, "toml": TOML} {
		if f, err := For(name); err != nil || f != want {
			t.Errorf("%s: f = %v, error %v; want no error and f = %v", name, f, err, want)
		}
	}
	if _, err := For("ini"); err == nil {
		t.Error("ini is a format")
	}
}

// formatOf returns the format of a sample by its name.
func formatOf(name string) Format {
	f, _ := For(strings.TrimPrefix(filepath.Ext(name), "."))
	return f
}

// samples are real configurations, by format.
func samples(tb testing.TB) map[Format][][]byte {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "real", "*"))
	if err != nil || len(names) < 10 {
		tb.Fatalf("samples: %v, %v; want no error and len(names) >= 10", names, err)
	}
	all := map[Format][][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		all[formatOf(name)] = append(all[formatOf(name)], text)
	}
	return all
}

func TestSamplesAreReadable(t *testing.T) {
	for f, texts := range samples(t) {
		for _, text := range texts {
			if _, err := f.Parse(text); err != nil {
				t.Errorf("%.30q…: error %v, want no error", text, err)
			}
		}
	}
}
