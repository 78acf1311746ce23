// Keeps the working tree as it was before every prompt, and brings it back.
//
// Each prompt makes a commit that no branch points to, under
// refs/hookmux/SESSION/NUMBER: your branches, index and stashes stay as they
// are, and untracked files are in it too. To go back, write as a prompt
//
//   /restore        before the last prompt
//   /restore 3      before the third
//
// In pi the question also comes up when you fork the session.
import type { Context, HookAPI } from "hookmux";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

export default function (hooks: HookAPI) {
  const kept: string[] = []; // commits of this session, the first prompt's first

  async function git(ctx: Context, args: string[], env?: Record<string, string>) {
    const { stdout, code } = await hooks.exec("git", args, { cwd: ctx.cwd, timeout: 20_000, env });
    return code === 0 ? stdout.trim() : undefined;
  }

  // snapshot is a commit of everything that is there, ignored files excepted.
  async function snapshot(ctx: Context, title: string) {
    const top = await git(ctx, ["rev-parse", "--show-toplevel"]);
    if (!top) return undefined; // no repository here
    // An index of its own: the user's must not notice.
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), "checkpoint-"));
    try {
      const env = { GIT_INDEX_FILE: path.join(dir, "index") };
      if ((await git(ctx, ["-C", top, "add", "--all"], env)) === undefined) return undefined;
      const tree = await git(ctx, ["write-tree"], env);
      const head = await git(ctx, ["rev-parse", "--verify", "HEAD"]);
      if (!tree) return undefined;
      const who = ["-c", "user.name=checkpoint", "-c", "user.email=checkpoint@localhost"];
      return await git(ctx, [...who, "commit-tree", tree, "-m", title, ...(head ? ["-p", head] : [])]);
    } finally {
      fs.rmSync(dir, { recursive: true, force: true });
    }
  }

  async function restore(ctx: Context, number: number) {
    const commit = kept[number - 1];
    if (!commit) return `there is no checkpoint ${number}; ${kept.length} are kept`;
    const now = await snapshot(ctx, "before restoring " + number); // so that this can be undone, too
    if (!now) return "the state before could not be kept, so nothing was touched";
    const top = (await git(ctx, ["rev-parse", "--show-toplevel"])) ?? ctx.cwd;
    await git(ctx, ["update-ref", ref(ctx, "before-restore"), now]);
    const added = (await git(ctx, ["-C", top, "diff", "--name-only", "-z", "--diff-filter=A", commit, now])) ?? "";
    if ((await git(ctx, ["-C", top, "restore", "--source", commit, "--worktree", "--", "."])) === undefined) return "git could not restore it";
    for (const file of added.split("\0").filter(Boolean)) fs.rmSync(path.join(top, file), { force: true });
    return undefined;
  }

  const ref = (ctx: Context, name: string) => `refs/hookmux/${(ctx.sessionId || "session").replace(/[^A-Za-z0-9-]/g, "-")}/${name}`;

  hooks.on("input", async (event, ctx) => {
    const wish = /^\/restore(?:\s+(\d+))?\s*$/.exec(event.text ?? "");
    if (wish) {
      const number = wish[1] ? Number(wish[1]) : kept.length;
      if (ctx.hasUI && !(await ctx.ui.confirm("Restore?", `Files go back to how they were before prompt ${number}.`))) return { action: "handled" };
      const problem = await restore(ctx, number);
      ctx.ui.notify(problem ?? `restored checkpoint ${number}`, problem ? "error" : "info");
      console.log(problem ?? `restored checkpoint ${number}`);
      return { action: "handled" }; // the agent never sees it
    }
    const commit = await snapshot(ctx, "before prompt " + (kept.length + 1));
    if (!commit) return;
    kept.push(commit);
    await git(ctx, ["update-ref", ref(ctx, String(kept.length)), commit]);
  });

  hooks.on("session_before_fork", async (_event, ctx) => {
    if (!kept.length || !ctx.hasUI) return;
    const options = [...kept.keys()].reverse().map((i) => `before prompt ${i + 1}`);
    const chosen = await ctx.ui.select("Restore the files as well?", [...options, "leave them"]);
    const at = options.indexOf(chosen ?? "");
    if (at >= 0) await restore(ctx, kept.length - at);
  });
}
