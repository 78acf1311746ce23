// Keeps agents from writing to files that are nobody's business but yours.
//
// Works on every agent that can be stopped before a tool runs. A call that
// touches several files is shown file by file, and one refusal refuses it all.
import type { HookAPI } from "hookmux";
import * as path from "node:path";

const PROTECTED = [
  { what: "environment file", matches: /(^|\/)\.env(\.[^/]+)?$/ },
  { what: "git's own folder", matches: /(^|\/)\.git(\/|$)/ },
  { what: "installed packages", matches: /(^|\/)node_modules(\/|$)/ },
  { what: "lock file", matches: /(^|\/)(package-lock\.json|pnpm-lock\.yaml|yarn\.lock|Cargo\.lock|go\.sum)$/ },
];

export default function (hooks: HookAPI) {
  hooks.on("tool_call", (event, ctx) => {
    if (event.toolName !== "write" && event.toolName !== "edit") return;
    // Made absolute first, so that src/../.env is .env.
    const file = path.resolve(ctx.cwd || "/", event.input.path ?? "");
    const hit = PROTECTED.find((p) => p.matches.test(file));
    if (!hit) return;
    ctx.ui.notify(`${event.toolName} of ${file} refused`, "warning");
    return { block: true, reason: `${file} is protected (${hit.what}); ask the user to change it` };
  });
}
