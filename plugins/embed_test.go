package plugins_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/plugins"
)

func render(t testing.TB, name string, o plugins.Options) string {
	t.Helper()
	b, err := plugins.Render(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRenderedPluginsAreWhole(t *testing.T) {
	t.Parallel()
	hook := "/opt/a \"b\" \\ c\u2028/hookmux-hook"
	for _, name := range plugins.Sources() {
		text := render(t, name, plugins.Options{Version: "1.2.3", Hook: hook, Deny: true, Limit: 90 * time.Second})
		if strings.Contains(text, "__HOOKMUX") || strings.Contains(text, "__VERSION") {
			t.Errorf("%s: a placeholder was left standing", name)
		}
		for _, want := range []string{`UNAVAILABLE = "deny"`, `Number("90000")`, `\"b\" \\ c\u2028/hookmux-hook"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s; want want in text", name, want)
			}
		}
	}
}

func TestPluginsImportOnlyNode(t *testing.T) {
	t.Parallel()
	imports := regexp.MustCompile(`(?m)^\s*import\b.*?from\s+"([^"]+)"|\brequire\(|\bimport\(|process\.exit\(`)
	for _, name := range plugins.Sources() {
		text := render(t, name, plugins.Options{Version: "1"})
		found := imports.FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("%s: no imports found, the test looks wrong", name)
		}
		for _, m := range found {
			if !strings.HasPrefix(m[1], "node:") {
				t.Errorf(`%s: m[0] = %s, want m[1] that begins with "node:"`, name, m[0])
			}
		}
	}
}

func TestRecognise(t *testing.T) {
	t.Parallel()
	for _, name := range plugins.Sources() {
		text := render(t, name, plugins.Options{Version: "0.3.1-rc.2"})
		for _, form := range []string{text, "\ufeff" + text, strings.ReplaceAll(text, "\n", "\r\n"),
			text + "\n// a person's line\n"} {
			if found, version, ours := plugins.Recognise([]byte(form)); !ours || found != name ||
				version != "0.3.1-rc.2" {
				t.Errorf(`%s: recognised as %q %q %v; want ours, found == name and version == "0.3.1-rc.2"`,
					name, found, version, ours)
			}
		}
	}
	for _, foreign := range []string{
		"", "//", "export default () => {}", "// hookmux plugin for opencode\n", "// hookmux plugin 1.0 for No Body\n",
		"\n// hookmux plugin 1.0 for pi\n", "// about hookmux plugin 1.0 for pi\n", "// hookmux plugin 1.0 for pi",
	} {
		if _, _, ours := plugins.Recognise([]byte(foreign)); ours {
			t.Errorf("%q was taken for ours", foreign)
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	if _, err := plugins.Render("claude", plugins.Options{Version: "1"}); err == nil {
		t.Error("a plugin for an agent that takes none")
	}
	for _, version := range []string{"", "1\nprocess.exit()", "1 for pi"} {
		if _, err := plugins.Render("pi", plugins.Options{Version: version}); err == nil {
			t.Errorf("version %q; want an error", version)
		}
	}
}

// The plugin reports by default what the catalogue installs by default.
func TestEventsAgreeWithTheCatalogue(t *testing.T) {
	t.Parallel()
	optional := regexp.MustCompile(`const OPTIONAL = new Set\(\[(.*?)\]\)`)
	for _, name := range plugins.Sources() {
		text := render(t, name, plugins.Options{Version: "1"})
		list := optional.FindStringSubmatch(text)
		if list == nil {
			t.Fatalf("%s: no list of optional events", name)
		}
		a, ok := agent.Builtin().Agent(name)
		if !ok {
			t.Fatalf("%s: not in the catalogue", name)
		}
		for _, e := range a.Events {
			quoted := `"` + e.Name + `"`
			known := strings.Contains(text, quoted) || strings.Contains(text, "\n    "+e.Name+":")
			if e.Install == agent.InstallDefault && !known {
				t.Errorf("%s: %s is installed by default and the plugin doesn't know it", name, e.Name)
			}
			if isOptional := strings.Contains(list[1], quoted); isOptional != (e.Install == agent.InstallOptional) {
				t.Errorf("%s: %s is %s in the catalogue, optional in the plugin: %v", name, e.Name, e.Install,
					isOptional)
			}
		}
	}
}

func TestSyntax(t *testing.T) {
	t.Parallel()
	program := node(t)
	for _, name := range plugins.Sources() {
		file := filepath.Join(t.TempDir(), "plugin.mjs")
		text := render(t, name, plugins.Options{Version: "1.2.3", Hook: "/opt/\u2029\"'`${x}/hook"})
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(program, "--check", file).CombinedOutput(); err != nil {
			t.Errorf("%s: error %v, out = %s; want no error", name, err, out)
		}
	}
}

// An agent that was made from another loads the same source under its own name.
func TestOneSourceForTwoAgents(t *testing.T) {
	text := render(t, "opencode", plugins.Options{Agent: "kilo", Version: "1.0"})
	if of, version, ours := plugins.Recognise([]byte(text)); of != "kilo" || version != "1.0" || !ours {
		t.Errorf("recognised as %q %q %v, want kilo's of version 1.0", of, version, ours)
	}
	if !strings.Contains(text, `const AGENT = "kilo";`) || strings.Contains(text, "__") {
		t.Error("the name is not put in, or a slot is left; want kilo's name in its place")
	}
	if _, err := plugins.Render("opencode", plugins.Options{Agent: "No Body", Version: "1.0"}); err == nil {
		t.Error("a plugin was made for an agent called No Body, want an error")
	}
}
