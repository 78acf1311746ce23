// Begins no work on top of changes that are not committed.
//
// The first prompt of a session waits until you say that it may go on; with
// nobody to ask it is refused, and "anyway" somewhere in the prompt lets it
// pass. In pi, new sessions and forks wait as well.
import type { Context, HookAPI } from "hookmux";

export default function (hooks: HookAPI) {
  let first = true;

  // dirty lists what is not committed; nothing outside of a repository.
  async function dirty(ctx: Context): Promise<string[]> {
    const { stdout, code } = await hooks.exec("git", ["status", "--porcelain"], { cwd: ctx.cwd, timeout: 10_000 });
    return code === 0 ? stdout.split("\n").filter((line) => line.trim()) : [];
  }

  async function mayGoOn(ctx: Context, what: string): Promise<boolean> {
    const files = await dirty(ctx);
    if (files.length === 0) return true;
    const shown = files.slice(0, 10).join("\n") + (files.length > 10 ? `\n… and ${files.length - 10} more` : "");
    if (ctx.hasUI) return await ctx.ui.confirm(`${files.length} changes are not committed. ${what}?`, shown);
    console.warn(`${files.length} changes are not committed; commit them, or write "anyway"`);
    return false;
  }

  hooks.on("input", async (event, ctx) => {
    if (!first) return;
    if (/\banyway\b/i.test(event.text ?? "") || (await mayGoOn(ctx, "Begin all the same"))) {
      first = false;
      return;
    }
    return { action: "handled" };
  });

  hooks.on("session_before_switch", async (_event, ctx) => ((await mayGoOn(ctx, "Leave this session")) ? undefined : { cancel: true }));
  hooks.on("session_before_fork", async (_event, ctx) => ((await mayGoOn(ctx, "Fork")) ? undefined : { cancel: true }));
}
