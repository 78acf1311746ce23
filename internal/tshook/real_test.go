package tshook

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// examples fetches the example hooks that one of pi's packages ships.
func examples(t *testing.T, pkg, version, folder string) string {
	t.Helper()
	return fromPackage(t, pkg, version, filepath.Join("examples", folder))
}

// fromPackage fetches the examples and documentation of one of pi's packages.
// They are other people's text: they are kept in the agents' cache, never in
// the tree.
func fromPackage(t *testing.T, pkg, version, wantedPath string) string {
	t.Helper()
	wanted := strings.Fields(os.Getenv("HOOKMUX_VERIFY"))
	if !slices.Contains(wanted, "pi") && !slices.Contains(wanted, "all") {
		t.Skip(`pi's own examples not asked for; set HOOKMUX_VERIFY="pi" to run them`)
	}
	cache, err := realagents.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "pi-examples-"+version)
	found := filepath.Join(dir, "package", wantedPath)
	if _, err := os.Stat(found); err != nil {
		if err := fetchExamples(pkg+"@"+version, dir); err != nil {
			if os.Getenv("HOOKMUX_VERIFY_STRICT") == "1" {
				t.Fatalf(`error %v, want os.Getenv("HOOKMUX_VERIFY_STRICT") other than "1"`, err)
			}
			t.Skipf("%s %s cannot be fetched here: %v", pkg, version, err)
		}
	}
	return found
}

func fetchExamples(spec, dir string) error {
	tmp, err := os.MkdirTemp("", "hookmux-pi")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "pack", "--silent", spec)
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.New("npm pack: " + err.Error() + " " + string(out))
	}
	packed, err := filepath.Glob(filepath.Join(tmp, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return errors.New("npm pack left no archive")
	}
	f, err := os.Open(packed[0])
	if err != nil {
		return err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || !strings.HasPrefix(h.Name, "package/examples/") &&
			!strings.HasPrefix(h.Name, "package/docs/") || !filepath.IsLocal(h.Name) {
			continue
		}
		to := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		text, err := io.ReadAll(r)
		if err == nil {
			err = os.WriteFile(to, text, 0o644)
		}
		if err != nil {
			return err
		}
	}
}

// entryPoints returns the hooks of a folder as pi finds them.
func entryPoints(t *testing.T, dir string) []string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.ts"))
	nested, _ := filepath.Glob(filepath.Join(dir, "*", "index.ts"))
	if files = append(files, nested...); len(files) < 5 {
		t.Fatalf("%s holds %d hooks; want len(files) >= 5", dir, len(files))
	}
	return files
}

// TestRealExamplesLoad loads every example of both eras. Those that cannot be
// loaded are named with the reason; another one failing, or one of these
// loading, is news.
func TestRealExamplesLoad(t *testing.T) {
	for _, era := range []struct {
		pkg, version, folder string
		generation           Generation
		not                  map[string]string
	}{
		{"@mariozechner/pi-coding-agent", "0.27.9", "hooks", pi.Hooks1, nil},
		{"@earendil-works/pi-coding-agent", "1.5.0", "extensions", pi.Ext, map[string]string{
			"custom-provider-anthropic/index.ts": `Could not resolve "@anthropic-ai/sdk"`, // packages the example wants installed beside it
			"gondolin/index.ts":                  `Could not resolve "@earendil-works/gondolin"`,
			"with-deps/index.ts":                 `Could not resolve "ms"`,
		}},
	} {
		t.Run(era.version, func(t *testing.T) {
			s := newHarness(t, nil)
			loaded := 0
			dir := examples(t, era.pkg, era.version, era.folder)
			for _, path := range entryPoints(t, dir) {
				name, _ := filepath.Rel(dir, path)
				m, err := s.engine.Load(context.Background(), Source{Path: path})
				why, expected := era.not[name]
				switch {
				case err == nil && expected:
					t.Errorf("%s loads now; want an error or !expected", name)
				case err != nil && (!expected || !strings.Contains(err.Error(), why)):
					t.Errorf("%s: error %v, want none or the expected %q", name, err, why)
				case err == nil:
					loaded++
					if g := m.Info().Generation; g != era.generation {
						t.Errorf("%s: taken for %s, want %s", name, g, era.generation)
					}
				}
			}
			t.Logf("%d loaded, %d not: %v", loaded, len(era.not), era.not)
		})
	}
}

// TestRealExamplesWithPackages loads the examples that want packages installed
// beside them, once that is done, as their first lines ask for.
func TestRealExamplesWithPackages(t *testing.T) {
	dir := examples(t, "@earendil-works/pi-coding-agent", "1.5.0", "extensions")
	for name, first := range map[string]string{
		"with-deps":                 "",
		"custom-provider-anthropic": "",
		"gondolin":                  "// runtime: node\n", // it starts a virtual machine
	} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, nil)
			beside := filepath.Join(s.dir, name)
			if err := os.CopyFS(beside, os.DirFS(filepath.Join(dir, name))); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund",
				"--omit=dev")
			cmd.Dir = beside
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Skipf("its packages cannot be installed here: %v %s", err, out)
			}
			path := filepath.Join(beside, "index.ts")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append([]byte(first), text...), 0o600); err != nil {
				t.Fatal(err)
			}
			m, err := s.engine.Load(t.Context(), Source{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("listens to %v, %s", m.Info().Events, m.Info().Runtime)
		})
	}
}
