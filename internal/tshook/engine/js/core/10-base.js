// What every file finds in its world: the way to Go, and the globals that a
// hook written for Node expects. Nothing here has powers of its own: whatever
// leaves the engine goes through call() and start(), which Go answers.

const native = { sync: globalThis.__sync, start: globalThis.__async, done: globalThis.__done };
delete globalThis.__sync;
delete globalThis.__async;
delete globalThis.__done;
const importFile = (file) => enter.importFile(file); // from Go: what is compiled beforehand cannot import
globalThis.global = globalThis;

class HostError extends Error {
  constructor(said) {
    super(said.message);
    this.name = said.name || "Error";
    if (said.code) this.code = said.code;
    for (const key of ["errno", "syscall", "path", "status", "signal", "stdout", "stderr"]) if (said[key] !== undefined) this[key] = said[key];
  }
}

// call asks Go and waits; the engine stands still meanwhile.
function call(op, args) {
  const said = JSON.parse(native.sync(op, JSON.stringify(args === undefined ? null : args)));
  if (said.error) throw new HostError(said.error);
  return said.value;
}

// The session on whose behalf code runs right now. It is set for each turn of
// the loop, and a turn that continues a request is that requester's.
let current = null;
const waiting = new Map(); // request → what goes on when Go answers
let requests = 0;

// start asks Go and goes on. Handlers: done(value), fail(error), data(piece).
// It returns the request's number.
function start(op, args, handlers) {
  const id = ++requests;
  const w = { ...handlers, owner: current, op };
  if (handlers.fail) w.place = new Error().stack; // where the hook asked: Go's error comes without a place
  waiting.set(id, w);
  try {
    native.start(id, op, JSON.stringify(args === undefined ? null : args), current ? current.key : "");
  } catch (e) {
    waiting.delete(id);
    throw e;
  }
  return id;
}

const ask = (op, args) => new Promise((done, fail) => start(op, args, { done, fail }));

// stop ends a request that may last: a timer, a watch, a server.
function stop(id) {
  if (waiting.delete(id)) call("stop", id);
}

// within runs code for a session, and gives back whose turn it was.
function within(owner, run) {
  const before = current;
  current = owner;
  try {
    return run();
  } finally {
    current = before;
  }
}

const later = (run) => Promise.resolve().then(run);

function describe(e) {
  // null is what is thrown when there is no memory left for an exception.
  if (e === null) return { name: "InternalError", message: "out of memory (or null was thrown)", stack: "" };
  if (e !== null && typeof e === "object" && typeof e.message === "string") {
    return { name: String(e.name || "Error"), message: e.message, stack: typeof e.stack === "string" ? e.stack : "", code: e.code };
  }
  let text;
  try {
    text = typeof e === "string" ? e : inspect(e);
  } catch {
    text = "something that cannot be shown";
  }
  return { name: "", message: text, stack: "" };
}

// loose reports an error nobody was there to catch.
const loose = (e, what) => call("problem", { event: what || "", error: describe(e) });

// rejected reports a promise that was rejected and that nothing handles.
function rejected(e) {
  const said = describe(e === null ? "null" : e);
  const kind = said.name && said.name !== "Error" ? said.name + ": " : "";
  call("problem", { event: "", error: { ...said, name: "", message: "a promise was rejected and nothing handles it: " + kind + said.message } });
}

// tend looks after a promise that its caller will not wait for.
function tend(value, what) {
  if (value && typeof value.then === "function") value.then(undefined, (e) => loose(e, what));
}

// Showing values, console and timers are of the common part.
const inspect = (...args) => part("common").inspect(...args);
const format = (...args) => part("common").format(...args);

const born = Date.now();
const now = () => call("clock");
globalThis.performance = { now, timeOrigin: born, mark() {}, measure() {} };

function callable(run) {
  if (typeof run !== "function") throw new TypeError('The "callback" argument must be of type function');
  return run;
}
globalThis.queueMicrotask = (run) => {
  callable(run);
  later(run).catch((e) => loose(e, "queueMicrotask"));
};

// --- parts --------------------------------------------------------------------------

// A hook that only looks at commands needs little of all this. The rest comes
// in parts, when something of it is first touched.
const parts = new Map();
function part(name) {
  if (!parts.has(name)) {
    call("part", name);
    const make = globalThis.__part;
    delete globalThis.__part;
    parts.set(name, make(shared));
  }
  return parts.get(name);
}
const lazily = (names, of, pick) => {
  for (const name of names) {
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get() {
        const value = pick(part(of), name);
        this[name] = value;
        return value;
      },
      set(value) {
        Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
      },
    });
  }
};
const named = (from, name) => from[name];
lazily(["console", "setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"], "common", named);
lazily(["Buffer", "TextEncoder", "TextDecoder", "btoa", "atob", "DOMException", "Event", "EventTarget", "AbortSignal", "AbortController", "URL", "URLSearchParams", "Headers", "Request", "Response", "fetch", "structuredClone", "crypto"], "web", named);
lazily(["process", "require"], "node", named);
globalThis.__require = (name) => part("node").require(name);

const shared = { native, HostError, call, start, stop, ask, within, later, describe, loose, tend, inspect, format, callable, now, born, part, get current() { return current; }, textOf, onlyPi, bareModel };

// --- small things that the session needs too ------------------------------------------

function textOf(content) {
  return typeof content === "string" ? content : Array.isArray(content) ? content.filter((p) => p && p.type === "text").map((p) => p.text).join("\n") : "";
}

// onlyPi is the error of whatever runs inside pi alone.
function onlyPi(what) {
  return new Error(`${what} runs inside pi only${current && current.agent && !current.pi ? `; this session is ${current.agent}'s` : ""}`);
}

function bareModel(provider, id) {
  return { provider, id, name: id, api: "", input: ["text"], contextWindow: 0, maxTokens: 0, cost: {} };
}

const watchSignal = (signal, run) => (signal ? part("web").onAbort(signal, run) : () => {});

// execute is one finished process: {stdout, stderr, code, killed}.
function execute(command, args, options = {}) {
  return new Promise((done, fail) => {
    if (options.signal && options.signal.aborted) return done({ stdout: "", stderr: "", code: 0, killed: true });
    let release = () => {};
    const id = start("exec", { command: String(command), args: (args || []).map(String), cwd: options.cwd || (current && current.cwd) || "", env: options.env, timeout: options.timeout || 0 }, {
      done: (r) => {
        release();
        // A process that was ended by a signal has no code: pi calls that 0,
        // and says killed when it was its own doing.
        done({ stdout: r.stdout, stderr: r.stderr, code: r.signal ? 0 : r.code, killed: r.killed === true });
      },
      fail: (e) => {
        release();
        fail(e);
      },
    });
    release = watchSignal(options.signal, () => native.sync("kill", JSON.stringify({ id, signal: "SIGTERM" })));
  });
}
