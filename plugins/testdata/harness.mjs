// Plays an agent to a plugin: loads the file, calls what it is told to, and
// prints what came of it. Usage: node harness.mjs opencode|opencode2|openclaw|pi PLUGIN STEPS
//
// Steps, in order: {do:"call", name, ...} calls a hook and waits; with as:"x"
// it doesn't wait until {do:"await", as:"x"}; {do:"event", event};
// {do:"subscribed"} notes what the plugin listens to by now; {do:"abort"} ends pi's signal; {do:"until", got, client, poll} waits until the daemon
// has got that many requests, the client that many calls, and the daemon was
// asked for texts that often.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [agent, file, script] = process.argv.slice(2);
const result = { calls: [], client: [], notices: [] };
const stop = new AbortController();
process.on("unhandledRejection", (err) => {
  result.unhandled = String(err);
});

const note = (name, fails) => async (args) => {
  result.client.push({ name, args });
  return fails ? { error: { name: "NotFound" } } : {};
};
const client = {
  tui: { showToast: note("showToast") },
  session: { promptAsync: note("promptAsync") },
  _client: { post: note("post", process.env.HARNESS_POST_FAILS === "1") },
  postSessionIdPermissionsPermissionId: note("legacy"),
};

const registered = new Map();
const ctx = {
  mode: process.env.HARNESS_MODE || "tui",
  hasUI: (process.env.HARNESS_MODE || "tui") === "tui",
  cwd: "/src/project",
  signal: stop.signal,
  model: { provider: "lab", id: "small" },
  isIdle: () => true,
  sessionManager: { getSessionId: () => "pi-1", getSessionFile: () => "/s/pi-1.jsonl", getSessionName: () => undefined },
  ui: {
    notify: (message) => result.notices.push(message),
    confirm: async (title, message, options) => {
      result.notices.push(title + "|" + message);
      if (process.env.HARNESS_CONFIRM !== "wait") return process.env.HARNESS_CONFIRM === "yes";
      // Nobody answers: it stays until it is closed.
      await new Promise((resolve) => options.signal.addEventListener("abort", resolve, { once: true }));
      result.notices.push("closed");
      return false;
    },
  },
};

const plugin = (await import(pathToFileURL(file))).default;
let hooks = {};
const register = (name, handler) => registered.set(name, [...(registered.get(name) || []), handler]);

// OpenCode 2, as its documents and its types say: it takes a definition with an id and
// a setup, and refuses the plugin as a whole when setup throws.
const bus = { waiting: [], next: undefined };
const second = {
  location: { directory: "/src/project" },
  tool: { hook: async (name, handler) => register("tool " + name, handler) },
  session: { hook: async (name, handler) => register("session " + name, handler), prompt: note("prompt") },
  permission: { reply: note("reply") },
  event: {
    async *subscribe() {
      for (;;) {
        while (bus.waiting.length) yield bus.waiting.shift();
        await new Promise((resolve) => (bus.next = resolve));
      }
    },
  },
};
const emit = (event) => {
  bus.waiting.push(event);
  bus.next?.();
};
if (agent === "opencode2") {
  if (typeof plugin !== "object" || typeof plugin?.id !== "string" || typeof plugin.setup !== "function")
    throw new Error("Plugin must export a default definition with an id and an effect or setup function.");
  if (process.env.HARNESS_NO_TOOLS) second.tool.hook = async () => { throw new Error("no such hook"); };
  try {
    hooks = { dispose: await plugin.setup(second) };
  } catch (err) {
    result.notices.push("failed: " + err.message);
  }
}
const clawContext = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s-1", runId: "run-1", abortSignal: stop.signal };
if (agent === "opencode2");
else if (agent === "opencode") {
  await plugin.setup({ agent: {}, command: {} }); // what OpenCode 1 has of OpenCode 2: no hooks
  hooks = await plugin.server({ client, directory: "/src/project" });
}
else if (agent === "amp") plugin({ on: register, system: { workspaceRoot: "file:///src/project" } });
else if (agent === "openclaw") plugin.register({ on: register, config: {}, runtime: { version: "1.0", agent: { resolveAgentWorkspaceDir: () => "/src/project" } } });
else await plugin({ on: register, sendUserMessage: (words, how) => note("sendUserMessage")({ words, ...how }) });
result.hooks = agent === "opencode" ? Object.keys(hooks) : [...registered.keys()];

async function call(step) {
  const record = { as: step.as || step.name, ...step.say };
  result.calls.push(record);
  const began = Date.now();
  try {
    if (agent === "opencode") record.returned = await hooks[step.name](step.input, step.output);
    else for (const handler of registered.get(step.name) || []) record.returned = (await handler(step.event, agent === "openclaw" ? clawContext : ctx)) ?? record.returned;
  } catch (err) {
    record.threw = err.message;
  }
  record.ms = Date.now() - began;
  record.output = step.output;
  record.event = step.event;
}

async function until({ got = 0, client = 0, poll = 0 }) {
  const there = (name, n) => !n || fs.existsSync(path.join(process.env.HOOKMUX_RUNTIME_DIR, name + n));
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    if (there("got-", got) && there("poll-", poll) && result.client.length >= client) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("waited in vain for request " + got + ", client call " + client);
}

const running = new Map();
for (const step of JSON.parse(script)) {
  if (step.do === "until") await until(step);
  else if (step.do === "abort") stop.abort();
  else if (step.do === "subscribed") result.subscribed = [...registered.keys()];
  else if (step.do === "await") await running.get(step.as);
  else if (step.do === "event" && agent === "opencode2") emit(step.event);
  else if (step.do === "event") hooks.event({ event: step.event });
  else if (step.as) running.set(step.as, call(step));
  else await call(step);
}
await Promise.all(running.values());
if (hooks.dispose && process.env.HARNESS_DISPOSE !== "0") await hooks.dispose();
process.stdout.write(JSON.stringify(result));
