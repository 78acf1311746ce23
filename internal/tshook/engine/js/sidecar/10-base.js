// The ground that sessions and events stand on when a hook runs in Node: the
// same names as in js/core/10-base.js, made from Node's own.

const { createRequire } = await import("node:module");
const nodeRequire = createRequire("file:///");
const util = nodeRequire("node:util");
const fsOut = nodeRequire("node:fs");
const put = (line) => fsOut.writeSync(3, JSON.stringify(line) + "\n");
const native = { sync: (op, json) => put({ op, args: JSON.parse(json) }), done: (id, text) => put({ op: "done", args: { id, value: text === "" ? undefined : JSON.parse(text) } }) };
const answers = {
  entries: ({ dispatch }) => (running.get(dispatch) || { ctx: {} }).ctx.entries || [],
  send: (args) => {
    const session = sessions.get(args.key);
    if (session && session.headless) return "send: nobody attends this session (print mode); nothing can be sent to it";
    put({ op: "send", args });
    return null;
  },
};
const importFile = (file) => import(file);
const call = (op, args) => (answers[op] ? answers[op](args) : put({ op, args }));
let current = null;
const waiting = new Map();
let requests = 0;
function start(op, args, handlers) {
  const id = ++requests;
  waiting.set(id, { ...handlers, owner: current, op });
  put({ start: id, op, args: args === undefined ? null : args, key: current ? current.key : "" });
  return id;
}
function stop(id) {
  if (waiting.delete(id)) call("stop", id);
}
function within(owner, run) {
  const before = current;
  current = owner;
  try {
    return run();
  } finally {
    current = before;
  }
}
class HostError extends Error {
  constructor(said) {
    super(said.message);
    if (said.code) this.code = said.code;
  }
}
const inspect = util.inspect;
function describe(e) {
  if (e !== null && typeof e === "object" && typeof e.message === "string") return { name: String(e.name || "Error"), message: e.message, stack: String(e.stack || "").replace(/^(?!\s+at ).*\n/gm, ""), code: e.code };
  return { name: "", message: typeof e === "string" ? e : inspect(e), stack: "" };
}
const loose = (e, what) => call("problem", { event: what || "", error: describe(e) });
function rejected(e) {
  const said = describe(e);
  const kind = said.name && said.name !== "Error" ? said.name + ": " : "";
  call("problem", { event: "", error: { ...said, name: "", message: "a promise was rejected and nothing handles it: " + kind + said.message } });
}
process.on("unhandledRejection", rejected);
// A hook that ends Node is told of with the place where it did.
let closing = false;
process.on("exit", (code) => {
  if (!closing) call("problem", { event: "", error: { name: "", message: `the hook ended its Node process (exit code ${code})`, stack: String(new Error().stack).replace(/^(?!\s+at ).*\n/gm, "") } });
});
process.on("uncaughtException", (e) => loose(e, ""));
const onAbort = (signal, run) => {
  if (!signal) return () => {};
  if (signal.aborted) {
    run(signal.reason);
    return () => {};
  }
  const listener = () => run(signal.reason);
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
};
const watchSignal = onAbort;
const textOf = (content) => (typeof content === "string" ? content : Array.isArray(content) ? content.filter((p) => p && p.type === "text").map((p) => p.text).join("\n") : "");
const onlyPi = (what) => new Error(`${what} runs inside pi only`);
const bareModel = (provider, id) => ({ provider, id, name: id, api: "", input: ["text"], contextWindow: 0, maxTokens: 0, cost: {} });
const shared = { call, start, stop, within, describe, loose, inspect, textOf, onlyPi, bareModel, get current() { return current; } };
const made = {
  web: { EventEmitter: nodeRequire("node:events"), AbortController, DOMException, onAbort, structuredClone, randomBytes: nodeRequire("node:crypto").randomBytes, decodeText: (b, e) => Buffer.from(b).toString(e) },
  node: { path: nodeRequire("node:path"), util, about: { env: process.env, home: nodeRequire("node:os").homedir(), version: "" } },
};
const part = (name) => made[name];
shared.part = part;
globalThis.__require = (name) => made.packages.packages(name);
const execute = (command, args, options = {}) =>
  new Promise((done) => {
    nodeRequire("node:child_process").execFile(String(command), (args || []).map(String), { cwd: options.cwd || undefined, env: options.env, timeout: options.timeout || 0, signal: options.signal, maxBuffer: 16 << 20 }, (e, stdout, stderr) =>
      done({ stdout, stderr, code: e && !e.signal && e.name !== "AbortError" ? (typeof e.code === "number" ? e.code : 1) : 0, killed: Boolean(e && (e.killed || e.name === "AbortError")) }));
  });
