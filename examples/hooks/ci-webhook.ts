// Tells agents what continuous integration says. A job posts to this machine,
// for example through an SSH tunnel:
//
//   curl -d '{"status":"failed","text":"TestLogin broke"}' http://127.0.0.1:8787/ci
//
// Every session that is open in the folder named by "cwd" hears of it, or every
// session when none is named. Only this machine can reach the port.
import type { HookAPI } from "hookmux";
import * as http from "node:http";

const PORT = 8787;

// What stands out here is shared by all sessions: they have one server.
const sessions = new Map<string, { cwd: string; tell(text: string): void }>();
let server: http.Server | undefined;

function listen() {
  server ??= http
    .createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += chunk));
      request.on("end", () => {
        let told = 0;
        try {
          const { status, text, cwd } = JSON.parse(body);
          for (const one of sessions.values()) {
            if (cwd && one.cwd !== cwd) continue;
            one.tell(`CI says: ${String(status ?? "done")}${text ? "\n" + String(text).slice(0, 4000) : ""}`);
            told++;
          }
        } catch {
          response.writeHead(400);
          response.end("send JSON: {status, text, cwd?}\n");
          return;
        }
        response.writeHead(200);
        response.end(`told ${told} sessions\n`);
      });
    })
    .listen(PORT, "127.0.0.1");
}

export default function (hooks: HookAPI) {
  let key = "";
  hooks.on("session_start", (_event, ctx) => {
    key = `${ctx.agent} ${ctx.sessionId}`;
    const tell = (text: string) => hooks.sendMessage({ customType: "ci", content: text, display: true }, { triggerTurn: true });
    sessions.set(key, { cwd: ctx.cwd, tell });
    listen();
  });
  hooks.on("session_shutdown", () => {
    sessions.delete(key);
  });
}
