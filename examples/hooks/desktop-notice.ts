// Tells the desktop when an agent is done or waits for you.
//
// Works with notify-send (Linux) and osascript (macOS). What the agent said is
// passed as an argument, never as part of a command.
import type { Context, HookAPI } from "hookmux";
import * as os from "node:os";
import * as path from "node:path";

export default function (hooks: HookAPI) {
  async function show(ctx: Context, title: string, text: string) {
    const words = text.replace(/[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]+/g, " ").trim().slice(0, 200);
    const call =
      os.platform() === "darwin"
        ? ["osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", title, words]
        : ["notify-send", "--app-name=hookmux", "--", title, words];
    await hooks.exec(call[0], call.slice(1), { timeout: 5_000 }).catch(() => undefined); // no desktop, no notice
  }

  const where = (ctx: Context) => `${ctx.agent} in ${path.basename(ctx.cwd || "/")}`;

  hooks.on("agent_end", async (event, ctx) => {
    const last = event.messages.at(-1);
    const parts = typeof last?.content === "string" ? [last.content] : (last?.content ?? []).map((p) => (p.type === "text" ? p.text : ""));
    await show(ctx, `${where(ctx)} is done`, parts.join(" ") || "The turn is over.");
  });

  hooks.on("ui_prompt_start", async (event, ctx) => show(ctx, `${where(ctx)} waits for you`, String(event.title ?? "")));
}
