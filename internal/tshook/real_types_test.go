package tshook

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/realagents"
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
			t.Fatalf("a strict run skips nothing, and here: %s", why)
		}
		t.Skip(why)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		cannot("no node here, so types are not checked")
	}
	cache, err := realagents.CacheDir()
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
	cmd := exec.CommandContext(ctx, "npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", tmp,
		typescript)
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

// typeCheck compiles files as an editor would that opens a folder `hookmux hooks
// new` wrote to, and returns what the compiler says.
func typeCheck(t *testing.T, files map[string]string) string {
	t.Helper()
	node, tsc := compiler(t)
	dir := t.TempDir()
	files["hookmux.d.ts"], files["tsconfig.json"] = Types(), EditorConfig()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(node, tsc, "--pretty", "false", "--project", ".")
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput() // it fails when it complains
	return string(out)
}

// complaint is the place and the text of one of the compiler's errors.
var complaint = regexp.MustCompile(`(?m)^([^\s(]+)\((\d+),\d+\): error (.*)$`)

// readFolder reads the TypeScript files below a folder.
func readFolder(t *testing.T, dir, prefix string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".ts") || d.Name() == "test.ts" {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[prefix+filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil || len(files) < 5 {
		t.Fatalf("%s holds %d files, %v; want no error and len(files) >= 5", dir, len(files), err)
	}
	return files
}

// The examples and the starting point are what
// hookmux.d.ts says hooks are.
func TestRealTypesAcceptOwnHooks(t *testing.T) {
	files := readFolder(t, filepath.Join("..", "..", "examples", "hooks"), "")
	files["starter.ts"] = Starter("starter")
	files["inner.ts"] = `import { isToolCallEventType, type HookAPI } from "hookmux";
export default function (hooks: HookAPI) {
  hooks.on("context", (event) => ({ messages: event.messages.slice(-10) }));
  hooks.on("before_provider_headers", (event) => { event.headers["x-mine"] = "1"; });
  hooks.on("user_bash", (event) => (event.command === "x" ? { result: { output: "y", exitCode: 0, cancelled: false, truncated: false } } : undefined));
  hooks.on("tool_call", (event) => (isToolCallEventType("bash", event) && event.input.command.startsWith("x") ? { block: true } : undefined));
  hooks.on("tool_call", async (event) => { if (event.toolName === "mcp__x__y") event.input.anything = event.native.input?.other; });
  hooks.on("input", async (event) => (event.text ? { action: "transform", text: "x" } : { action: "continue" }));
}
`
	if said := typeCheck(t, files); said != "" {
		t.Errorf("expected no complaint, got\n%s", said)
	}
}

// Pi's own examples and what its documentation prints.
func TestRealTypesAcceptPi(t *testing.T) {
	for _, era := range []struct {
		name, pkg, version, folder string
		missing                    map[string]string // packages that an example wants installed beside it
	}{
		{"hooks", "@mariozechner/pi-coding-agent", "0.27.9", "hooks", nil},
		{"extensions", "@earendil-works/pi-coding-agent", "1.5.0", "extensions", map[string]string{
			"custom-provider-anthropic/index.ts": "'@anthropic-ai/sdk", "gondolin/index.ts": "'@earendil-works/gondolin'", "with-deps/index.ts": "'ms'",
		}},
	} {
		t.Run(era.name, func(t *testing.T) {
			said := typeCheck(t, readFolder(t, examples(t, era.pkg, era.version, era.folder), ""))
			for _, one := range complaint.FindAllStringSubmatch(said, -1) {
				if want := era.missing[one[1]]; want == "" || !strings.Contains(one[3], "Cannot find module "+want) {
					t.Errorf("one[0] = %s, want want not empty and %q in one[3]", one[0], "Cannot find module "+want)
				}
			}
		})
	}
	t.Run("documentation", func(t *testing.T) {
		files := map[string]string{}
		for i, block := range fenced.FindAllStringSubmatch(documentation(t), -1) {
			text := block[1]
			switch {
			case strings.Contains(text, "[...]"): // a form to fill in
				continue
			case strings.Contains(text, "export default"):
			case strings.HasPrefix(text, "pi.on("), strings.HasPrefix(text, "const ") &&
				strings.Count(text, "const ") == 1 && strings.Contains(text, "ctx."), strings.HasPrefix(text, "ctx."):
				text = "import type { HookAPI, HookEventContext } from \"@mariozechner/pi-coding-agent/hooks\";\n" +
					"export default async function (pi: HookAPI, ctx: HookEventContext) {\n" + text + "\n}\n"
			default:
				continue
			}
			files["sample"+string(rune('a'+i/26))+string(rune('a'+i%26))+".ts"] = text
		}
		if len(files) < 15 {
			t.Errorf("only %d samples found", len(files))
		}
		if said := typeCheck(t, files); said != "" {
			t.Errorf("expected no complaint, got\n%s", said)
		}
	})
}

// Each line below is a mistake that the engine
// ignores or refuses, and the compiler names the same line.
func TestRealTypesRejectMistakes(t *testing.T) {
	mistakes := map[string]string{
		"member":         `hooks.on("tool_call", () => ({ blok: true }));`,
		"async-member":   `hooks.on("tool_call", async () => ({ blok: true }));`,
		"second-member":  `hooks.on("tool_call", async (event) => { if (event.toolName === "bash") return { block: true, raeson: "x" }; });`,
		"word":           `hooks.on("tool_call", () => "deny");`,
		"true":           `hooks.on("tool_call", () => true);`,
		"block":          `hooks.on("tool_call", () => ({ block: "yes" }));`,
		"input":          `hooks.on("tool_call", (event) => { if (event.toolName === "bash" && event.input.comand) return { block: true }; });`,
		"path":           `hooks.on("tool_call", (event) => { if (event.toolName === "write" && event.input.file_path) return { block: true }; });`,
		"event-member":   `hooks.on("tool_call", (event) => { event.inptu; });`,
		"event":          `hooks.on("tool_cal", () => {});`,
		"claude-event":   `hooks.on("PreToolUse", () => {});`,
		"action":         `hooks.on("input", () => ({ action: "handle" }));`,
		"action-member":  `hooks.on("input", () => ({ acton: "handled" }));`,
		"result":         `hooks.on("tool_result", () => ({ contents: [] }));`,
		"no-result":      `hooks.on("agent_end", () => ({ cancel: true }));`,
		"cancel":         `hooks.on("session_before_compact", () => ({ cancle: true }));`,
		"session":        `hooks.on("session", (event) => { if (event.reason === "before_brnch") return { cancel: true }; });`,
		"session-result": `hooks.on("session", () => ({ canceled: true }));`,
		"api":            `hooks.sendd("x");`,
		"dialog":         `hooks.on("tool_call", async (_, ctx) => { await ctx.ui.confrim("x"); });`,
		"context":        `hooks.on("tool_call", (_, ctx) => { if (!ctx.hasUi) return { block: true }; });`,
		"not-a-function": `hooks.on("tool_call", 1);`,
	}
	files := map[string]string{}
	for name, line := range mistakes {
		files[name+".ts"] = "import type { HookAPI } from \"hookmux\";\nexport default function (hooks: HookAPI) " +
			"{\n  " + line + "\n}\n"
	}
	found := map[string]bool{}
	for _, one := range complaint.FindAllStringSubmatch(typeCheck(t, files), -1) {
		if one[2] == "3" {
			found[strings.TrimSuffix(one[1], ".ts")] = true
		}
	}
	for name, line := range mistakes {
		if !found[name] {
			t.Errorf("%s: expected a complaint, got none: %s", name, line)
		}
	}
}
