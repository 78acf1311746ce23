package tshook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A file of some megabytes comes through whole, as text and as
// bytes, and takes no longer than looking at it does: a hook has a second.
func TestLargeFiles(t *testing.T) {
	s := newHarness(t, func(h *Host) { h.Limits.Slice = 20 * time.Second }) // the machine may be slow
	plain := filepath.Join(s.dir, "plain")
	if err := os.WriteFile(plain, []byte(strings.Repeat("grüße, 世界 🙂 and so on\n", 25_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	m := s.load("large.ts", `import { readFileSync, writeFileSync, appendFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { execFileSync } from "node:child_process";
const words = () => readFileSync("`+plain+`", "utf8");
export default (hooks: any) => hooks.on("tool_call", async (event: any) => {
  const does: any = {
    text: () => words().length,
    promised: async () => (await readFile("`+plain+`", { encoding: "utf-8" })).length,
    bytes: () => readFileSync("`+plain+`").length,
    wrote: () => { writeFileSync("`+plain+`.2", words()); appendFileSync("`+plain+`.2", "end"); return readFileSync("`+plain+`.2").length; },
    bytesAgain: () => { writeFileSync("`+plain+`.3", readFileSync("`+plain+`")); return readFileSync("`+plain+`.3", "utf8") === words(); },
    exec: () => execFileSync("cat", ["`+plain+`"], { encoding: "utf8" }) === words(),
    broken: () => { writeFileSync("`+plain+`.4", Buffer.from([0x61, 0xff, 0x62])); return readFileSync("`+plain+`.4", "utf8") + readFileSync("`+plain+`.4").length; },
    lone: () => { writeFileSync("`+plain+`.5", "a\ud800b"); return readFileSync("`+plain+`.5", "utf8"); },
    other: () => { writeFileSync("`+plain+`.6", "é", "latin1"); return readFileSync("`+plain+`.6").length + readFileSync("`+plain+`.6", "latin1") + readFileSync("`+plain+`.6", "hex"); },
    base64: () => [Buffer.from("YQ", "base64"), Buffer.from("Y Q-_=x", "base64").toString("base64url"), Buffer.from("YWJjZ", "base64"), btoa("a?>"), atob("YT8+")].join(),
    over: () => { const text = "grüße 世界".repeat(50_000); const b = Buffer.from(text); return b.length + " " + (b.toString() === text) + " " + new TextDecoder().decode(new TextEncoder().encode(text)).length; },
    overBroken: () => { const b = Buffer.alloc(20_000, 97); b[3] = 255; return b.toString().length + b.toString().slice(2, 5) + Buffer.from("a".repeat(20_000) + "\ud800").length; },
    quick: () => {
      const began = performance.now(), text = words(), bytes = readFileSync("`+plain+`"), read = performance.now();
      let n = 0;
      for (let i = 0; i < text.length; i++) n += text.charCodeAt(i) & 1;
      const looked = performance.now();
      return n > 0 && bytes.length > 0 && read - began < 3 * (looked - read) ? "quick" : "reading " + (read - began) + " ms, looking " + (looked - read) + " ms";
    },
    mixed: () => Buffer.from("aé世🙂".repeat(3) + "\ud800z").toString(),
  };
  return { block: true, reason: String(await does[event.input.command]()) };
});`)
	for does, want := range map[string]string{
		"text": "575000", "promised": "575000", "bytes": "775000", "wrote": "775003", "bytesAgain": "true", "exec": "true",
		"broken": "a\ufffdb3", "lone": "a\ufffdb", "other": "1ée9", "base64": "a,YQ-_,abc,YT8+,a?>", "quick": "quick", "over": "700000 true 400000", "overBroken": "20000a\ufffda20003", "mixed": "aé世🙂aé世🙂aé世🙂\ufffdz",
	} {
		if d := s.must(m, s.bash(does)); d.Reason != want {
			t.Errorf("%s: %q, want %q", does, d.Reason, want)
		}
	}
	if said := s.troubles(); said != "" {
		t.Errorf(`s.troubles() = %q, want ""`, said)
	}
}
