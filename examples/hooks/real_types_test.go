package hooks

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/tsmodule"
	"github.com/hookmux/hookmux/internal/verify/agents"
)

// typescript is the compiler these types are held against.
const typescript = "typescript@5.9.3"

// compiler finds or fetches the compiler, or skips and says why.
func compiler(t *testing.T) (node, tsc string) {
	t.Helper()
	if len(strings.Fields(os.Getenv("HOOKMUX_VERIFY"))) == 0 {
		t.Skip(`types are checked with the others that need npm; set HOOKMUX_VERIFY="pi"`)
	}
	cannot := func(why string) {
		t.Helper()
		if os.Getenv("HOOKMUX_VERIFY_STRICT") == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		cannot("no node here, so types are not checked")
	}
	cache, err := agents.CacheDir()
	if err != nil {
		cannot(err.Error())
	}
	dir := filepath.Join(cache, strings.ReplaceAll(typescript, "@", "-"))
	tsc = filepath.Join(dir, "node_modules", "typescript", "bin", "tsc")
	if _, err := os.Stat(tsc); err == nil {
		return node, tsc
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	tmp, err := os.MkdirTemp(cache, "typescript")
	if err != nil {
		cannot(err.Error())
	}
	defer os.RemoveAll(tmp)
	cmd := exec.CommandContext(ctx, "npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", tmp, typescript)
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		cannot(typescript + " cannot be installed here: " + err.Error() + " " + string(out))
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, err := os.Stat(tsc); err != nil {
			cannot(err.Error())
		}
	}
	return node, tsc
}

// TestRealTypes: the examples and the starting point are what hookmux.d.ts says
// hooks are, and the types notice what is not.
func TestRealTypes(t *testing.T) {
	node, tsc := compiler(t)
	files, err := filepath.Glob("*.ts")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	dir := t.TempDir()
	put := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	types := put("hookmux.d.ts", tsmodule.Types())
	check := func(files ...string) string {
		t.Helper()
		args := append([]string{tsc, "--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"}, files...)
		out, _ := exec.Command(node, args...).CombinedOutput()
		return string(out)
	}
	var copies []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		copies = append(copies, put(name, string(text)))
	}
	copies = append(copies, put("starter.ts", tsmodule.Starter("starter")), put("inner.ts", `import type { HookAPI } from "hookmux";
export default function (hooks: HookAPI) {
  hooks.on("context", (event) => ({ messages: event.messages.slice(-10) }));
  hooks.on("before_provider_headers", (event) => { event.headers["x-mine"] = "1"; });
  hooks.on("user_bash", (event) => (event.command === "x" ? { result: { output: "y", exitCode: 0, cancelled: false, truncated: false } } : undefined));
  hooks.on("something_new", (event) => event.whatever);
}
`))
	if said := check(append(slices.Clone(copies), types)...); said != "" {
		t.Errorf("%s", said)
	}
	wrong := put("wrong.ts", `import type { HookAPI } from "hookmux";
export default function (hooks: HookAPI) {
  hooks.on("tool_call", (event) => ({ block: "yes" }));
}
`)
	if said := check(wrong, types); !strings.Contains(said, "wrong.ts(3,") {
		t.Errorf("a block that is no boolean passed: %q", said)
	}
}
