package realagents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

const modelAt = "http://127.0.0.1:4999/r/some%20run"

func TestEveryAgentHasAWholeEntry(t *testing.T) {
	if len(Names()) < 13 {
		t.Errorf("only %v; want len(Names()) >= 13", Names())
	}
	for _, a := range append([]Agent{nodeRuntime, newNodeRuntime}, table...) {
		if a.Name == "" || a.Version == "" || a.Program == "" || len(a.Platforms) == 0 || len(a.Proven) == 0 {
			t.Errorf("%s: entry lacks something: %+v", a.Name, a)
		}
		for _, p := range a.Platforms {
			specs := a.npmPackages(p)
			if len(specs) == 0 {
				t.Errorf("%s: no package for %s", a.Name, p)
			}
			for _, s := range append(specs, a.expand(a.Program, p), a.expand(a.Brotli, p)) {
				if strings.ContainsAny(s, "{}") {
					t.Errorf("%s on %s: %q is not filled in", a.Name, p, s)
				}
			}
			for _, s := range specs {
				if !strings.Contains(strings.TrimPrefix(s, "@"), "@") {
					t.Errorf("%s: %q is not pinned", a.Name, s)
				}
			}
		}
	}
	for _, a := range table {
		if !slices.Contains([]string{"messages", "responses", "chat", "gemini", "augment"}, a.API) || a.Shell.Name == "" ||
			a.Shell.Arg == "" {
			t.Errorf(`%s: API %q, shell %+v; want a.API in []string{"messages", "responses", "chat", `+
				`"gemini", "augment"}, a.Shell.Name != "" and a.Shell.Arg != ""`, a.Name, a.API, a.Shell)
		}
		if args := Headless(a.Name, "the prompt"); !slices.Contains(args, "the prompt") {
			t.Errorf(`%s: headless %v; want "the prompt" in args`, a.Name, args)
		}
	}
	if Headless("nobody", "x") != nil {
		t.Error("arguments for an unknown agent")
	}
}

func TestCodexProgramPerPlatform(t *testing.T) {
	a, _ := Find("codex")
	for p, want := range map[string]string{
		"linux/amd64":  "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
		"darwin/arm64": "node_modules/@openai/codex-darwin-arm64/vendor/aarch64-apple-darwin/bin/codex",
	} {
		if got := a.expand(a.Program, p); got != want {
			t.Errorf("%s: a.expand(a.Program, p) = %s, want %q", p, got, want)
		}
	}
}

func TestHomesAreCompleteAndClosed(t *testing.T) {
	t.Setenv("AWS_PROFILE", "mine")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "mine")
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			home, project := filepath.Join(t.TempDir(), "home"), t.TempDir()
			env, err := WriteHome(name, home, modelAt, project)
			if err != nil {
				t.Fatal(err)
			}
			vars := map[string]string{}
			for _, kv := range env {
				k, v, ok := strings.Cut(kv, "=")
				if !ok {
					t.Errorf("kv = %q: got ok = false, want true", kv)
				}
				if _, twice := vars[k]; twice {
					t.Errorf("%s is set twice", k)
				}
				if v == "mine" {
					t.Errorf("%s came from outside", k)
				}
				vars[k] = v
			}
			for _, k := range []string{"PATH", "HOME", "TERM", "SHELL", "TMPDIR", "HTTPS_PROXY", "https_proxy",
				"NO_PROXY"} {
				if vars[k] == "" {
					t.Errorf(`%s is missing; want vars[k] != ""`, k)
				}
			}
			if vars["HOME"] != home || !strings.Contains(vars["HTTPS_PROXY"], "127.0.0.1") {
				t.Errorf(`env = %q, want vars["HOME"] = %q and "127.0.0.1" in vars["HTTPS_PROXY"]`, env, home)
			}
			if _, err := os.Stat(vars["TMPDIR"]); err != nil {
				t.Error(err)
			}
			// The model's address is somewhere, in a file or in the environment.
			all := strings.Join(env, "\n")
			err = filepath.WalkDir(home, func(p string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(p)
				if err != nil {
					return err
				}
				all += string(b)
				var v map[string]any
				switch filepath.Ext(p) {
				case ".json":
					err = json.Unmarshal(b, &v)
				case ".toml":
					err = toml.Unmarshal(b, &v)
				}
				if st, e := d.Info(); e == nil && st.Mode().Perm() != 0o600 {
					t.Errorf("%s has mode %v; want e != nil or st.Mode().Perm() == 0o600", p, st.Mode())
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			if !strings.Contains(all, "127.0.0.1:4999") || !strings.Contains(all, "r/some%20run") {
				t.Error("the model's address is nowhere")
			}
		})
	}
}

func TestProjectsAreTrusted(t *testing.T) {
	folder := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	resolved, err := filepath.EvalSymlinks(link)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"claude": ".claude.json", "codex": ".codex/config.toml"} {
		home := filepath.Join(t.TempDir(), "home")
		if _, err := WriteHome(name, home, modelAt, link); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(home, file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), link) || !strings.Contains(string(b), resolved) {
			t.Errorf("%s: project not trusted under both names: %s", name, b)
		}
	}
}

func TestWriteHomeRefusesNonsense(t *testing.T) {
	abs := t.TempDir()
	for name, c := range map[string][4]string{
		"agent":   {"nobody", abs, modelAt, abs},
		"home":    {"claude", "rel", modelAt, abs},
		"project": {"claude", abs, modelAt, "rel"},
		"model":   {"claude", abs, "not an address", abs},
	} {
		if _, err := WriteHome(c[0], c[1], c[2], c[3]); err == nil {
			t.Errorf("wrong %s accepted; want an error", name)
		}
	}
}

func TestShellCalls(t *testing.T) {
	for _, a := range table {
		c := a.Shell.Call("echo <&>")
		var v map[string]any
		if err := json.Unmarshal(c.Input, &v); err != nil || c.Name != a.Shell.Name {
			t.Fatalf("%s: error %v, want no error and c.Name = a.Shell.Name", a.Name, err)
		}
		got := v[a.Shell.Arg]
		if l, ok := got.([]any); ok && a.Shell.List {
			got = l[0]
		}
		if got != "echo <&>" {
			t.Errorf(`%s: c.Input = %s, want "echo <&>"`, a.Name, c.Input)
		}
	}
}

func TestCacheDir(t *testing.T) {
	t.Setenv("HOOKMUX_AGENTS_DIR", "/somewhere/else")
	if d, err := CacheDir(); err != nil || d != "/somewhere/else" {
		t.Errorf(`d = %s, error %v; want no error and d = "/somewhere/else"`, d, err)
	}
	t.Setenv("HOOKMUX_AGENTS_DIR", "")
	t.Setenv("XDG_CACHE_HOME", "/c")
	t.Setenv("HOME", "/h")
	if d, err := CacheDir(); err != nil || !strings.HasSuffix(d, filepath.Join("hookmux", "agents")) {
		t.Errorf("CacheDir() = %s, error %v; want no error and d that ends with %q",
			d, err, filepath.Join("hookmux", "agents"))
	}
}
