// What somebody writes into .agent-trigger in the agent's folder is given to
// the agent: at once where it has a channel (pi, OpenCode), elsewhere with the
// session's next event. A cron job, an editor or another program may write it:
//
//   echo "the nightly build is red, look at it" > .agent-trigger
import type { HookAPI } from "hookmux";
import * as fs from "node:fs";
import * as path from "node:path";

const NAME = ".agent-trigger";

export default function (hooks: HookAPI) {
  let watching: { close(): void } | undefined;

  hooks.on("session_start", (_event, ctx) => {
    if (watching || !ctx.cwd) return;
    const file = path.join(ctx.cwd, NAME);
    const look = () => {
      let text = "";
      try {
        text = fs.readFileSync(file, "utf8").trim();
      } catch {
        return; // not there
      }
      if (!text) return; // emptied by us
      fs.writeFileSync(file, "");
      hooks.sendMessage({ customType: "trigger", content: `From ${NAME}:\n${text}`, display: true }, { triggerTurn: true });
    };
    try {
      watching = fs.watch(ctx.cwd, (_what, name) => {
        if (!name || name === NAME) look();
      });
    } catch (problem) {
      console.warn(`${ctx.cwd} cannot be watched: ${problem}`);
      return;
    }
    look(); // something may wait already
  });

  hooks.on("session_shutdown", () => watching?.close());
}
