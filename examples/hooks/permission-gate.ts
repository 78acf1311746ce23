// Asks you before an agent runs a command that is hard to take back.
//
// The question comes up wherever you are: in `hookmux inbox -f`, in tmux, in
// pi's own window. With nobody to ask the command is refused.
import type { HookAPI } from "hookmux";

const RISKY: [string, RegExp][] = [
  ["deletes a tree", /\brm\s+(-[a-zA-Z]*[rR]|--recursive)/],
  ["runs as root", /\b(sudo|doas)\b/],
  ["opens files to everybody", /\b(chmod|chown)\b.*\b777\b/],
  ["rewrites what others have", /\bgit\s+push\b.*(--force\b|--force-with-lease\b|\s-f\b)/],
];

export default function (hooks: HookAPI) {
  hooks.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return;
    const command = event.input.command ?? "";
    const risk = RISKY.find(([, shape]) => shape.test(command));
    if (!risk) return;
    if (!ctx.hasUI) return { block: true, reason: `this ${risk[0]}, and no one is available to approve this` };
    const choice = await ctx.ui.select(`${ctx.agent} wants to run a command that ${risk[0]}:\n${command}`, ["Run it", "No"]);
    if (choice !== "Run it") return { block: true, reason: "the user said no" };
  });
}
