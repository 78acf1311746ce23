// ---- The line to the daemon: the same in every hookmux plugin ----
//
// One connection per request; a header line, the payload, the environment, and
// the reply. Nothing here throws into the agent: what goes wrong on our side
// is "no opinion", or a refusal where the user installed it so.

import net from "node:net";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";

const AGENT = "__HOOKMUX_AGENT__"; // whose plugin this is
const CLIENT = "__HOOKMUX_HOOK__"; // hookmux-hook: leaves events behind and starts the daemon while none answers
const UNAVAILABLE = "__HOOKMUX_ON_UNAVAILABLE__"; // neutral or deny
const GATE_LIMIT = Number("__HOOKMUX_LIMIT_MS__"); // how long a tool call waits for a decision
const EVENTS = "__HOOKMUX_EVENTS__"; // the events to report, separated by commas; "" the usual ones

const OBSERVE_WAIT = 2000; // an acknowledgement comes at once or the daemon is stuck
const REACH_WAIT = 3000; // how long a daemon that died under a request may take to come back
const MAX_SENDS = 4;
const MAX_PAYLOAD = 16 << 20;
const CUT_PAYLOAD = 64 << 10;
const MAX_INNER = 8 << 20; // what a hook in TypeScript is shown at once; it has 64 MiB
const MAX_ENV = 1 << 20;
const MAX_QUEUE = 500;
const POLL_SECONDS = 200; // how long a question for texts stays open
const POLL_RETRY = 2000; // how soon it is asked again when no daemon answers; doubles up to a minute
const HEAD_START = 50; // what a question gets so that what is told after it also arrives after it

const NONE = Object.freeze({});

const isOn = (value) => value === "1" || value === "true";
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value) => (typeof value === "string" ? value : "");

// The part of a limit kept back so that the answer is in time.
const marginOf = (limit) => (limit < 5000 ? limit / 4 : Math.max(2000, limit / 20));

function disabled(agent) {
  const own = "HOOKMUX_" + agent.toUpperCase().replace(/[^A-Z0-9]/g, "_") + "_DISABLED";
  return isOn(process.env.HOOKMUX_DISABLED) || isOn(process.env[own]);
}

const deniesUnavailable = () => (process.env.HOOKMUX_ON_UNAVAILABLE || UNAVAILABLE) === "deny";

const chosen = new Set(EVENTS.split(",").filter(Boolean));
const unreachable = "hookmux: the daemon can't be reached, and this plugin was installed to refuse then; run hookmux status";

// Where the daemon listens: the rules of hookmux's own programs, in the same
// order, so that a plugin with a stripped environment meets the same daemon.
function socketPath() {
  const uid = process.getuid();
  const dir = runtimeDir(uid);
  if (Buffer.byteLength(dir) + "/daemon.sock".length <= 100) return dir + "/daemon.sock";
  let hash = 0xcbf29ce484222325n; // FNV-1a
  for (const byte of Buffer.from(dir)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  const short = "/tmp/hookmux-" + uid + "-" + hash.toString(36);
  // Anybody may make a folder there: only our own is believed.
  if (fs.lstatSync(short).uid !== uid || fs.statSync(short).uid !== uid) throw new Error(short + " belongs to another user");
  return short + "/daemon.sock";
}

// The socket, if its folder is ours and closed to others: whoever else could
// listen there would answer in the daemon's place.
function trustedSocket() {
  const socket = socketPath();
  const folder = fs.statSync(path.dirname(socket));
  if (folder.uid !== process.getuid() || folder.mode & 0o022) throw new Error(socket + " is open to others");
  return socket;
}

// What `hookmux install` wrote down, below the home that the password database
// names: the folder of the daemon that this plugin belongs to. The environment has
// no say then; whoever starts an agent may choose it.
//
// Any program of the user can write the record: without its seal only the usual
// places are believed, also where it is gone.
function installedRuntime(uid) {
  let home, lines;
  try {
    const user = fs.readFileSync("/etc/passwd", "utf8").split("\n").map((line) => line.split(":"));
    home = user.find((fields) => fields[2] === String(uid))?.[5];
  } catch {} // nobody is listed there
  if (!home || !path.isAbsolute(home)) return "";
  const login = "/run/user/" + uid;
  const usual = [login + "/hookmux", path.join(home, ".local/state/hookmux/run")];
  const byDefault = fs.existsSync(login) ? usual[0] : usual[1];
  const isUsualClient = CLIENT === path.join(home, ".local/share/hookmux/bin/hookmux-hook");
  try {
    lines = fs.readFileSync(path.join(home, ".local/state/hookmux/installation"), "utf8").split("\n");
  } catch {
    lines = []; // there is no record
  }
  if (lines[0] !== "hookmux installation 1" || !lines.includes("end")) return isUsualClient ? byDefault : "";
  const field = (name) => lines.find((line) => line.startsWith(name + "="))?.slice(name.length + 1) || "";
  const isSealed = sealed(home, lines.join("\n"));
  if (field("hook") !== CLIENT && (isSealed || !isUsualClient)) return "";
  const said = field("runtime");
  return path.isAbsolute(said) && (isSealed || usual.includes(said)) ? path.resolve(said) : byDefault;
}

// sealed reports whether a person's command wrote the record of the installation.
function sealed(home, text) {
  const at = text.indexOf("\nseal=");
  if (at < 0) return false;
  try {
    const key = fs.readFileSync(path.join(home, ".local/state/hookmux/consent.key"));
    const seal = createHmac("sha256", key).update("installation\0" + text.slice(0, at)).digest("hex");
    return text.slice(at) === "\nseal=" + seal + "\nend\n";
  } catch {
    return false; // there is no key
  }
}

function runtimeDir(uid) {
  const installed = installedRuntime(uid);
  if (installed) return installed;
  const named = process.env.HOOKMUX_RUNTIME_DIR;
  if (named && path.isAbsolute(named)) return path.resolve(named);
  try {
    if (fs.statSync("/run/user/" + uid).isDirectory()) return "/run/user/" + uid + "/hookmux";
  } catch {} // no such place on this machine
  const home = process.env.HOME && path.isAbsolute(process.env.HOME) ? process.env.HOME : os.userInfo().homedir;
  return path.join(home, ".local/state/hookmux/run");
}

function environment() {
  let size = 0;
  const parts = [];
  for (const [name, value] of Object.entries(process.env)) {
    const part = Buffer.from(name + "=" + value + "\0");
    if (size + part.length > MAX_ENV) continue;
    size += part.length;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

// Why a request got no reply: absent (nobody listens), gone (hung up on),
// silent (out of time), stopped (we gave it up ourselves).
class NoReply extends Error {
  constructor(kind) {
    super(kind);
    this.kind = kind;
  }
}

// exchange sends one frame and reads one. The socket and the timer stay
// referenced: pi ends in mid-turn when nothing else keeps its process alive.
// held is told when a person is being asked: the reply then takes its time.
function exchange(head, payload, wait, signal, sent, held) {
  return new Promise((resolve, reject) => {
    let socket;
    let connected = false;
    let got = Buffer.alloc(0);
    let header = null;
    const end = (settle, value) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stopped);
      socket?.destroy();
      settle(value);
    };
    const stopped = () => end(reject, new NoReply("stopped"));
    const timer = setTimeout(() => end(reject, new NoReply("silent")), Math.max(1, wait));
    if (signal?.aborted) return stopped();
    signal?.addEventListener("abort", stopped, { once: true });
    try {
      socket = net.connect({ path: trustedSocket() });
    } catch {
      return end(reject, new NoReply("absent"));
    }
    socket.on("connect", () => {
      connected = true;
      const env = environment();
      head.payload = payload.length;
      head.env = env.length;
      socket.write(Buffer.concat([Buffer.from(JSON.stringify(head) + "\n"), payload, env]), () => sent?.());
    });
    socket.on("data", (chunk) => {
      got = Buffer.concat([got, chunk]);
      try {
        while (!header) {
          const at = got.indexOf(10);
          if (at < 0) return;
          const said = JSON.parse(got.subarray(0, at).toString());
          got = got.subarray(at + 1);
          if (said.request === undefined) header = said;
          else if (said.id === head.id) held?.(text(said.why), said.input);
        }
        if (got.length < (header.stdout || 0) + (header.stderr || 0)) return;
        if (header.id !== head.id) throw new Error("another call's answer");
        end(resolve, got.subarray(0, header.stdout || 0).toString());
      } catch {
        end(reject, new NoReply("gone")); // not a daemon we understand
      }
    });
    socket.on("error", () => end(reject, new NoReply(connected ? "gone" : "absent")));
    socket.on("close", () => end(reject, new NoReply(connected ? "gone" : "absent")));
  });
}

// viaClient hands the event to hookmux-hook, which starts the daemon, waits for
// it when the event decides something, and else leaves the event on disk.
function viaClient(agent, event, payload, limit, decides, id, signal) {
  return new Promise((resolve) => {
    if (!CLIENT) return resolve(null);
    const args = [agent, event, String(Math.max(0.1, limit / 1000)), "id=" + id];
    if (deniesUnavailable()) args.unshift("--on-unavailable=deny");
    let child;
    let timer;
    const out = [];
    const end = (value) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stopped);
      resolve(value);
    };
    const stopped = () => {
      try {
        child?.kill();
      } catch {} // already gone
      end(null);
    };
    try {
      child = spawn(CLIENT, args, { stdio: ["pipe", decides ? "pipe" : "ignore", "ignore"], detached: true });
      child.on("error", () => end(null)); // hookmux was taken off this machine
      child.on("close", () => end(Buffer.concat(out).toString()));
      child.stdout?.on("data", (chunk) => out.push(chunk));
      child.stdin.on("error", () => {}); // it may not read to the end
      child.stdin.end(payload);
      signal?.addEventListener("abort", stopped, { once: true });
      timer = setTimeout(decides ? stopped : () => (child.unref(), end(null)), decides ? limit : REACH_WAIT);
    } catch {
      end(null);
    }
  });
}

// question asks the daemon one thing. Nothing of this keeps the agent alive; made
// gets the socket. It gives undefined when no daemon answers.
function question(method, params, made) {
  return new Promise((resolve) => {
    let got = "";
    let socket;
    try {
      socket = net.connect({ path: trustedSocket() });
    } catch {
      return resolve(undefined);
    }
    made?.(socket);
    socket.unref?.();
    socket.on("connect", () => socket.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) + "\n"));
    socket.on("data", (chunk) => {
      got += chunk;
      if (!got.includes("\n")) return;
      socket.destroy();
      resolve(read(got));
    });
    socket.on("error", () => resolve(undefined));
    socket.on("close", () => resolve(undefined));
  });
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// within waits for a promise, but not for ever.
function within(promise, ms) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, ms)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Line keeps the order of what one agent process says, session by session.
class Line {
  constructor(agent, cwd, optional) {
    this.agent = agent;
    this.cwd = cwd;
    this.optional = optional; // events that are reported only when asked for
    this.seq = Date.now(); // a plugin that is loaded again goes on above what it sent before
    this.tails = new Map(); // session → when everything before has been said
    this.waiting = 0;
    this.asking = new Set(); // questions under way
  }

  wants(event) {
    return (chosen.size ? chosen.has(event) : !this.optional.has(event)) && !disabled(this.agent);
  }

  // tell reports something that happened. It never waits and never throws.
  tell(session, event, payload, { inner = false, limit = OBSERVE_WAIT } = {}) {
    if (!(inner || this.wants(event)) || this.waiting >= MAX_QUEUE) return;
    const call = this.prepare(event, payload, limit, false, inner);
    if (!call) return;
    this.waiting++;
    const before = this.tails.get(session);
    const said = (async () => {
      await before;
      await this.deliver(call);
    })()
      .catch(() => {})
      .finally(() => this.waiting--);
    this.follow(session, said);
  }

  // ask gets the daemon's answer: an object, empty when it has no opinion. What
  // was told before goes first; what is told later doesn't wait for it. refusal
  // is the answer of a plugin installed to refuse while no daemon answers.
  // held is called when the daemon asks a person. inner is for hooks in TypeScript
  // alone, and lost while no daemon answers.
  async ask(session, event, payload, limit, { signal, refusal = NONE, held, inner = false } = {}) {
    if (!inner && !this.wants(event)) return NONE;
    try {
      const call = this.prepare(event, payload, limit, true, inner);
      if (!call) return NONE;
      Object.assign(call, { signal, refusal, held });
      if (held) call.head.waits = true;
      const before = this.tails.get(session);
      let answered;
      const sent = new Promise((resolve) => (call.sent = resolve));
      const done = new Promise((resolve) => (answered = resolve));
      this.follow(session, sent.then(() => within(done, HEAD_START)));
      this.asking.add(call);
      try {
        if (before) await within(before, OBSERVE_WAIT);
        return await this.deliver(call);
      } finally {
        call.sent();
        answered();
        this.asking.delete(call);
        if (!this.asking.size) this.answered?.();
      }
    } catch {
      return NONE;
    }
  }

  // flush waits until everything has been said and answered: before the agent
  // exits, because hanging up cancels what the daemon is at.
  async flush(ms) {
    const answered = this.asking.size ? new Promise((resolve) => (this.answered = resolve)) : undefined;
    await within(Promise.all([answered, ...this.tails.values()]), ms);
  }

  // listen keeps one question open at the daemon: is there text for one of our
  // sessions? put puts it in, and throws when it can't. Nothing of this keeps
  // the agent alive or starts a daemon. It returns what to call when the sessions
  // changed, and at the end.
  listen(sessions, put) {
    const poller = randomBytes(8).toString("hex");
    // What is in: a daemon that did not hear so hands it out again, and the same
    // file loaded from two places gets it twice.
    const taken = (globalThis[Symbol.for("hookmux.taken")] ??= new Set());
    let done = [];
    let socket;
    let timer;
    let retry = POLL_RETRY;
    let stopped = false;
    let busy = false; // texts are being put in
    const later = (ms) => {
      clearTimeout(timer);
      if (stopped || busy) return;
      timer = setTimeout(poll, ms);
      timer.unref?.();
    };
    const missed = () => {
      later(retry);
      retry = Math.min(retry * 2, 60_000);
    };
    const take = async (answer, told) => {
      done = done.filter((one) => !told.includes(one));
      if (!Array.isArray(answer.result?.texts)) return later(600_000); // an older daemon
      retry = POLL_RETRY;
      busy = true;
      for (const one of answer.result.texts) {
        const word = { id: one.id };
        try {
          if (taken.has(one.id)) continue;
          taken.add(one.id);
          const result = await put(text(one.session), text(one.text), one.call);
          if (result !== undefined) word.result = result;
        } catch (err) {
          taken.delete(one.id);
          word.error = (text(err?.message) || "it failed").slice(0, 500);
        } finally {
          done.push(word);
        }
      }
      busy = false;
      if (taken.size > 1000) taken.clear();
      later(answer.result.texts.length ? 0 : 50);
    };
    const poll = () => {
      const list = sessions();
      if (stopped || !list.length || disabled(this.agent)) return;
      const old = socket;
      const told = [...done];
      let got = "";
      let mine;
      try {
        mine = socket = net.connect({ path: trustedSocket() });
      } catch {
        return missed();
      }
      old?.destroy();
      mine.unref?.();
      const over = (then) => {
        if (socket !== mine) return;
        socket = undefined;
        mine.destroy();
        then();
      };
      const params = { agent: this.agent, sessions: list.slice(-500), poller, wait: POLL_SECONDS, done: told };
      mine.on("connect", () => mine.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session.outbox", params }) + "\n"));
      mine.on("data", (chunk) => {
        got += chunk.toString("latin1"); // whole bytes; read as text when the line is whole
        if (!got.includes("\n")) return;
        over(() => void take(read(Buffer.from(got, "latin1").toString()), told).catch(() => {}));
      });
      mine.on("error", () => over(missed));
      mine.on("close", () => over(missed));
    };
    return {
      changed: () => later(20),
      stop() {
        stopped = true;
        clearTimeout(timer);
        const last = socket;
        socket = undefined;
        last?.destroy();
      },
    };
  }

  follow(session, said) {
    this.tails.set(session, said);
    said.then(() => {
      if (this.tails.get(session) === said) this.tails.delete(session);
    });
  }

  prepare(event, payload, limit, decides, inner = false) {
    let bytes = Buffer.from(encode(payload));
    const head = { v: 1, id: randomBytes(16).toString("hex"), seq: ++this.seq, agent: this.agent, event, deadline: 0 };
    if (inner) head.inner = true;
    if (inner && bytes.length > MAX_INNER) return null;
    if (this.cwd) head.cwd = this.cwd;
    if (bytes.length > MAX_PAYLOAD) {
      bytes = bytes.subarray(0, CUT_PAYLOAD);
      head.truncated = true;
    }
    return { event, head, payload: bytes, limit, decides, until: Date.now() + limit - marginOf(limit) / 2 };
  }

  // deliver brings one call to the daemon, over its death if need be.
  async deliver(call) {
    const reachUntil = Date.now() + Math.min(REACH_WAIT, call.limit / 2);
    for (let sends = 1; ; ) {
      const left = call.until - Date.now();
      if (left <= 0) return this.unavailable(call);
      try {
        if (call.decides) call.head.deadline = Math.max(1, Math.round(left - marginOf(call.limit) / 2));
        return read(await exchange(call.head, call.payload, left, call.signal, call.sent, call.held));
      } catch (err) {
        const kind = err?.kind;
        if (kind === "stopped") return NONE;
        if (kind === "silent" || sends >= MAX_SENDS) return this.unavailable(call);
        if (kind === "absent" && (sends === 1 || Date.now() > reachUntil)) return this.leave(call);
        // The daemon went while it had the call. The next one knows it by its id.
        if (kind === "gone") sends++;
        await pause(50);
      }
    }
  }

  // leave is what happens while no daemon listens.
  async leave(call) {
    call.sent?.();
    if (call.head.inner) return NONE;
    const left = call.until - Date.now();
    const answer = await viaClient(this.agent, call.event, call.payload, left, call.decides, call.head.id, call.signal);
    return answer === null ? this.unavailable(call) : read(answer);
  }

  unavailable(call) {
    return call.decides && !call.signal?.aborted && deniesUnavailable() ? call.refusal : NONE;
  }
}

// read takes an answer apart; what is no object says nothing.
function read(stdout) {
  try {
    const answer = stdout.trim() ? JSON.parse(stdout) : NONE;
    return isObject(answer) ? answer : NONE;
  } catch {
    return NONE;
  }
}

function encode(value) {
  const above = [];
  try {
    return JSON.stringify(value, function (_key, part) {
      if (typeof part === "bigint") return String(part);
      if (typeof part === "object" && part !== null) {
        while (above.length && above[above.length - 1] !== this) above.pop();
        if (above.includes(part)) return undefined; // a circle
        above.push(part);
      }
      return part;
    });
  } catch {
    return "{}"; // something that won't be looked at
  }
}

// replaceIn changes an object the agent keeps hold of: replacing it as a whole
// would go unseen.
function replaceIn(object, changed) {
  if (!isObject(object) || !isObject(changed)) return false;
  for (const key of Object.keys(object)) if (!(key in changed)) delete object[key];
  for (const key of Object.keys(changed)) object[key] = changed[key];
  return true;
}

// firstSight is true once per object: the same file loaded from two places
// must not report everything twice.
const sights = (globalThis[Symbol.for("hookmux.sights")] ??= new WeakMap());
function firstSight(object, event) {
  if (typeof object !== "object" || object === null) return true;
  let events = sights.get(object);
  if (!events) sights.set(object, (events = new Set()));
  if (events.has(event)) return false;
  events.add(event);
  return true;
}

// ---- End of the line ----
