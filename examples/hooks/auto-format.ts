// Formats a file right after an agent wrote or edited it.
//
// The model is told, where the agent lets a hook change a result; elsewhere
// the file is formatted all the same. Programs that are not installed are
// passed over.
import type { HookAPI } from "hookmux";
import * as path from "node:path";

const FORMATTERS: Record<string, string[]> = {
  ".go": ["gofmt", "-w"],
  ".py": ["ruff", "format"],
  ".rs": ["rustfmt"],
  ".ts": ["prettier", "--write"], ".tsx": ["prettier", "--write"], ".js": ["prettier", "--write"], ".css": ["prettier", "--write"],
};

export default function (hooks: HookAPI) {
  hooks.on("tool_result", async (event, ctx) => {
    if (event.isError || (event.toolName !== "write" && event.toolName !== "edit")) return;
    const file = path.resolve(ctx.cwd || "/", event.input.path ?? "");
    const command = FORMATTERS[path.extname(file)];
    if (!command) return;
    const [program, ...args] = command;
    const done = await hooks.exec(program, [...args, file], { cwd: ctx.cwd, timeout: 20_000 });
    if (done.code !== 0 && !done.stdout && !done.stderr) return; // not installed
    const note = done.code === 0 ? `${path.basename(file)} was formatted with ${program}` : `${program} says: ${done.stderr.trim().slice(0, 500)}`;
    return { content: [...event.content, { type: "text", text: note }] };
  });
}
