// Processes and servers, asked from Go.

// run is one finished process: {stdout, stderr, code, killed, signal}.
function run(command, args, options = {}) {
  return new Promise((done, fail) => {
    if (options.signal && options.signal.aborted) return done({ stdout: "", stderr: "", code: 1, killed: true });
    let release = () => {};
    const id = start("exec", request(command, args, options), {
      done: (r) => {
        release();
        done(r);
      },
      fail: (e) => {
        release();
        fail(e);
      },
    });
    release = onAbort(options.signal, () => native.sync("kill", JSON.stringify({ id, signal: "SIGTERM" })));
  });
}

const request = (command, args, options) => ({
  command: String(command), args: (args || []).map(String), cwd: options.cwd ? place(options.cwd) : process.cwd(), env: options.env ? plain(options.env) : plain(about.env), timeout: options.timeout || 0,
  input: options.input === undefined ? "" : asData(options.input), shell: typeof options.shell === "string" ? options.shell : options.shell ? "/bin/sh" : "", detached: Boolean(options.detached),
});
const plain = (env) => Object.fromEntries(Object.keys(env).filter((k) => env[k] !== undefined).map((k) => [k, String(env[k])]));

const shellArgs = (options) => ({ ...options, shell: (options && options.shell) || true });

function failed(what, r) {
  const e = new Error(`Command failed: ${what}\n${r.stderr || ""}`);
  return Object.assign(e, { code: r.code, killed: Boolean(r.killed), signal: r.signal || null, cmd: what, stdout: r.stdout, stderr: r.stderr });
}

function execFile(command, args, options, done) {
  if (!Array.isArray(args)) [args, options, done] = [[], args, options];
  if (typeof options === "function") [options, done] = [{}, options];
  const child = spawn(command, args, options || {});
  let out = [];
  let err = [];
  child.stdout.on("data", (d) => out.push(d));
  child.stderr.on("data", (d) => err.push(d));
  child.on("error", (e) => done && done(e, "", ""));
  child.on("close", (code, signal) => {
    if (!done) return;
    const encoding = (options && options.encoding) || "utf8";
    const text = (list) => (encoding === "buffer" ? Buffer.concat(list) : Buffer.concat(list).toString(encoding));
    const r = { code, signal, killed: child.killed, stdout: text(out), stderr: text(err) };
    if (code === 0) done(null, r.stdout, r.stderr);
    else done(failed([command, ...args].join(" "), r), r.stdout, r.stderr);
  });
  return child;
}
const exec = (line, options, done) => (typeof options === "function" ? execFile(line, [], shellArgs({}), options) : execFile(line, [], shellArgs(options), done));

class Writable extends EventEmitter {
  writable = true;
  constructor(write, end) {
    super();
    this.put = write;
    this.finish = end;
  }
  write(data, encoding, done) {
    this.put(typeof data === "string" ? encodeText(data, typeof encoding === "string" ? encoding : "utf8") : asBytes(data));
    const then = typeof encoding === "function" ? encoding : done;
    if (then) later(then);
    return true;
  }
  end(data) {
    if (!this.writable) return this;
    if (data !== undefined && typeof data !== "function") this.write(data);
    this.writable = false;
    this.finish();
    later(() => this.emit("finish"));
    return this;
  }
  destroy() { return this.end(); }
}

function spawn(command, args, options) {
  if (!Array.isArray(args)) [args, options] = [[], args];
  options = options || {};
  const child = new EventEmitter();
  Object.assign(child, { stdout: new Readable(), stderr: new Readable(), killed: false, exitCode: null, signalCode: null, pid: undefined, connected: false, spawnargs: [command, ...args], spawnfile: command });
  const quiet = options.stdio === "inherit" || options.stdio === "ignore";
  const finish = () => {
    child.stdout.push(null);
    child.stderr.push(null);
  };
  const id = start("spawn", { ...request(command, args, options), inherit: options.stdio === "inherit" }, {
    data: (e) => {
      if (e.pid) {
        child.pid = e.pid;
        child.emit("spawn");
      }
      if (e.stdout && !quiet) child.stdout.push(fromBase64(e.stdout));
      if (e.stderr && !quiet) child.stderr.push(fromBase64(e.stderr));
    },
    done: (r) => {
      finish();
      child.exitCode = r.signal ? null : r.code;
      child.signalCode = r.signal || null;
      child.emit("exit", child.exitCode, child.signalCode);
      later(() => later(() => child.emit("close", child.exitCode, child.signalCode))).catch((e) => loose(e, "child_process"));
    },
    fail: (e) => {
      finish();
      if (child.listenerCount("error")) child.emit("error", e);
      else loose(e, "child_process");
    },
  });
  const tell = (args) => native.sync("input", JSON.stringify({ id, ...args }));
  child.stdin = new Writable((bytes) => tell({ data: toBase64(bytes) }), () => tell({ end: true }));
  if (quiet || (Array.isArray(options.stdio) && options.stdio[0] === "ignore") || options.input !== undefined) child.stdin.end();
  child.kill = (signal = "SIGTERM") => {
    child.killed = true;
    return JSON.parse(native.sync("kill", JSON.stringify({ id, signal: typeof signal === "number" ? { 1: "SIGHUP", 2: "SIGINT", 9: "SIGKILL", 15: "SIGTERM" }[signal] || "SIGTERM" : signal }))).value === true;
  };
  child.ref = child.unref = () => child;
  child.disconnect = () => {};
  if (options.signal) onAbort(options.signal, () => child.kill());
  return child;
}

function spawnSync(command, args, options) {
  if (!Array.isArray(args)) [args, options] = [[], args];
  options = options || {};
  let r;
  try {
    r = call("execsync", { ...request(command, args, options), words: inWords(options) && options.stdio !== "inherit" });
  } catch (error) {
    return { error, status: null, signal: null, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), output: [null, null, null], pid: 0 };
  }
  const show = (b64) => fromData(b64, options.encoding);
  const out = { status: r.signal ? null : r.code, signal: r.signal || null, stdout: show(r.stdout), stderr: show(r.stderr), pid: r.pid };
  if (options.stdio === "inherit") {
    process.stdout.write(fromUtf8(fromBase64(r.stdout)));
    process.stderr.write(fromUtf8(fromBase64(r.stderr)));
  }
  out.output = [null, out.stdout, out.stderr];
  if (r.timedOut) out.error = Object.assign(new Error(`spawnSync ${command} ETIMEDOUT`), { code: "ETIMEDOUT" });
  return out;
}
function execFileSync(command, args, options) {
  if (!Array.isArray(args)) [args, options] = [[], args];
  const r = spawnSync(command, args, options);
  if (r.error) throw r.error;
  if (r.status !== 0) throw Object.assign(failed([command, ...args].join(" "), { stderr: String(r.stderr), stdout: r.stdout, code: r.status, signal: r.signal }), { status: r.status, stdout: r.stdout, stderr: r.stderr });
  return r.stdout;
}
const promised = Symbol.for("nodejs.util.promisify.custom");
const asPair = (run) => (...args) => new Promise((done, fail) => run(...args, (e, stdout, stderr) => (e ? fail(e) : done({ stdout, stderr }))));
execFile[promised] = asPair(execFile);
exec[promised] = asPair(exec);
modules.set("child_process", {
  spawn, spawnSync, exec, execFile, execFileSync, execSync: (line, options) => execFileSync(line, [], shellArgs(options)),
  fork() { throw new Error('child_process.fork needs Node; write "runtime: node" into the first comment of this hook'); },
});

// --- http -----------------------------------------------------------------------

// createServer listens on this machine only: Go refuses other addresses.
function createServer(options, listener) {
  const server = new EventEmitter();
  if (typeof options === "function") listener = options;
  if (listener) server.on("request", listener);
  let id = 0;
  let where = null;
  server.listening = false;
  server.listen = (port, host, backlog, ready) => {
    const done = [port, host, backlog, ready].find((a) => typeof a === "function");
    if (port && typeof port === "object") [port, host] = [port.port, port.host];
    if (done) server.once("listening", done);
    id = start("listen", { port: Number(port) || 0, host: typeof host === "string" ? host : "" }, {
      data: (e) => {
        if (e.listening) {
          where = e.listening;
          server.listening = true;
          server.emit("listening");
          return;
        }
        const req = new Readable();
        Object.assign(req, { method: e.method, url: e.url, headers: e.headers, rawHeaders: Object.entries(e.headers).flat(), httpVersion: "1.1", complete: true, socket: { remoteAddress: e.remote, remotePort: 0 } });
        const res = new Answer(e.request);
        if (e.body) req.push(fromBase64(e.body));
        req.push(null);
        try {
          server.emit("request", req, res);
        } catch (err) {
          loose(err, "http");
          res.statusCode = 500;
          res.end("hook failed");
        }
      },
      fail: (e) => (server.listenerCount("error") ? server.emit("error", e) : loose(e, "http server")),
      done() {},
    });
    return server;
  };
  server.address = () => where;
  server.close = (done) => {
    if (id) stop(id);
    id = 0;
    server.listening = false;
    later(() => {
      server.emit("close");
      if (typeof done === "function") done();
    });
    return server;
  };
  server.closeAllConnections = server.closeIdleConnections = () => {};
  server.ref = server.unref = server.setTimeout = () => server;
  return server;
}

class Answer extends Writable {
  statusCode = 200;
  statusMessage = "";
  headersSent = false;
  #headers = {};
  #body = [];
  constructor(request) {
    super((bytes) => this.#body.push(bytes), () => {
      this.headersSent = true;
      native.sync("respond", JSON.stringify({ request, status: this.statusCode, headers: this.#headers, body: toBase64(Buffer.concat(this.#body)) }));
    });
  }
  writeHead(status, message, headers) {
    this.statusCode = status;
    for (const [k, v] of Object.entries((typeof message === "object" ? message : headers) || {})) this.setHeader(k, v);
    return this;
  }
  setHeader(name, value) {
    this.#headers[String(name).toLowerCase()] = Array.isArray(value) ? value.join(", ") : String(value);
    return this;
  }
  getHeader(name) { return this.#headers[String(name).toLowerCase()]; }
  getHeaders() { return { ...this.#headers }; }
  hasHeader(name) { return String(name).toLowerCase() in this.#headers; }
  removeHeader(name) { delete this.#headers[String(name).toLowerCase()]; }
  flushHeaders() {}
}

const client = (scheme) => {
  function request(input, options, listener) {
    if (typeof options === "function") [options, listener] = [{}, options];
    const o = typeof input === "string" || input instanceof URL ? { ...options } : { ...input, ...options };
    const address = typeof input === "string" || input instanceof URL ? String(input) : `${o.protocol || scheme}//${o.hostname || o.host || "localhost"}${o.port ? ":" + o.port : ""}${o.path || "/"}`;
    const body = [];
    const req = new Writable((b) => body.push(b), () => {
      const data = Buffer.concat(body);
      fetch(address, { method: o.method || "GET", headers: o.headers, body: data.length ? data : undefined, signal: o.signal, redirect: "manual" }).then(
        async (r) => {
          const res = new Readable();
          Object.assign(res, { statusCode: r.status, statusMessage: r.statusText, headers: Object.fromEntries(r.headers) });
          req.emit("response", res);
          res.push(new Uint8Array(await r.arrayBuffer()));
          res.push(null);
        },
        (e) => (req.listenerCount("error") ? req.emit("error", e.cause || e) : loose(e, "http request")),
      );
    });
    if (listener) req.on("response", listener);
    req.setHeader = (k, v) => void (o.headers = { ...o.headers, [k]: v });
    req.setTimeout = () => req;
    req.abort = req.destroy = () => req;
    return req;
  }
  return { request, get: (...args) => request(...args).end() };
};
const STATUS_CODES = { 200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 301: "Moved Permanently", 302: "Found", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 409: "Conflict", 429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable" };
modules.set("http", { createServer, ...client("http:"), STATUS_CODES, METHODS: ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] });
modules.set("https", { ...client("https:") });

// --- small ones -----------------------------------------------------------------

const util = {
  inspect: (v, options) => { const text = inspect(v, (options && options.depth) || 3); return typeof v === "string" ? `'${text}'` : text; },
  format, TextEncoder, TextDecoder,
  promisify(run) {
    if (run[promised]) return run[promised];
    return (...args) => new Promise((done, fail) => run(...args, (e, v) => (e ? fail(e) : done(v))));
  },
  callbackify: (run) => (...args) => {
    const done = args.pop();
    run(...args).then((v) => done(null, v), done);
  },
  isDeepStrictEqual: (a, b) => same(a, b),
  deprecate: (run) => run,
  inherits(child, parent) { Object.setPrototypeOf(child.prototype, parent.prototype); },
  stripVTControlCharacters: (s) => String(s).replace(/\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g, ""),
  types: { isPromise: (v) => v instanceof Promise, isDate: (v) => v instanceof Date, isRegExp: (v) => v instanceof RegExp },
};
util.promisify.custom = promised;
util.inspect.custom = Symbol.for("nodejs.util.inspect.custom");

function same(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof Map || a instanceof Set) return a.size === b.size && same([...a], [...b]);
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k) && same(a[k], b[k]));
}
modules.set("util", util);

modules.set("url", {
  URL, URLSearchParams,
  fileURLToPath(u) {
    const url = typeof u === "string" ? new URL(u) : u;
    if (url.protocol !== "file:") throw Object.assign(new TypeError("The URL must be of scheme file"), { code: "ERR_INVALID_URL_SCHEME" });
    return decodeURIComponent(url.pathname);
  },
  pathToFileURL: (p) => new URL("file://" + path.resolve(p).split("/").map(encodeURIComponent).join("/")),
  parse(text) {
    const u = new URL(text);
    return { href: u.href, protocol: u.protocol, host: u.host, hostname: u.hostname, port: u.port || null, pathname: u.pathname, search: u.search || null, query: u.search ? u.search.slice(1) : null, hash: u.hash || null, path: u.pathname + u.search };
  },
  format: (u) => String(u.href || u),
});
modules.set("querystring", { parse: (t) => Object.fromEntries(new URLSearchParams(t)), stringify: (o) => new URLSearchParams(o).toString() });
modules.set("events", EventEmitter);
modules.set("buffer", { Buffer });
modules.set("timers", { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate });
const pause = (ms, value, options) => new Promise((done, fail) => {
  const timer = setTimeout(() => done(value), ms);
  onAbort(options && options.signal, (reason) => {
    clearTimeout(timer);
    fail(reason);
  });
});
modules.set("timers/promises", { setTimeout: pause, setImmediate: (value) => pause(0, value), scheduler: { wait: pause } });
modules.set("stream", { Readable, Writable, Stream: EventEmitter });
modules.set("string_decoder", {
  StringDecoder: class {
    #inner = new TextDecoder();
    write(bytes) { return this.#inner.decode(bytes, { stream: true }); }
    end(bytes) { return this.#inner.decode(bytes); }
  },
});
modules.set("readline", {
  createInterface({ input }) {
    const lines = new EventEmitter();
    const decoder = new TextDecoder();
    async function* each() {
      let rest = "";
      for await (const piece of input) {
        rest += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
        const parts = rest.split(/\r\n|\n|\r(?!$)/);
        rest = parts.pop();
        yield* parts;
      }
      if (rest) yield rest;
    }
    let read = false;
    lines[Symbol.asyncIterator] = () => {
      read = true;
      return each();
    };
    const on = lines.on.bind(lines);
    lines.on = (name, run) => {
      on(name, run);
      if (name === "line" && !read) {
        read = true;
        later(async () => {
          for await (const line of each()) lines.emit("line", line);
          lines.emit("close");
        }).catch((e) => loose(e, "readline"));
      }
      return lines;
    };
    lines.close = () => {};
    return lines;
  },
});
class Hash {
  #parts = [];
  constructor(algorithm, key) {
    this.algorithm = String(algorithm).toLowerCase().replace("-", "");
    this.key = key === undefined ? undefined : toBase64(typeof key === "string" ? utf8(key) : asBytes(key));
    call("hash", { algorithm: this.algorithm, data: "" });
  }
  update(data, encoding) {
    this.#parts.push(typeof data === "string" ? encodeText(data, encoding) : asBytes(data));
    return this;
  }
  digest(encoding) {
    const bytes = fromBase64(call("hash", { algorithm: this.algorithm, key: this.key, data: toBase64(Buffer.concat(this.#parts)) }));
    return encoding ? decodeText(bytes, encoding) : Buffer.over(bytes);
  }
}
modules.set("crypto", {
  randomUUID: webcrypto.randomUUID, randomBytes, randomInt: (a, b) => (b === undefined ? Math.floor(Math.random() * a) : a + Math.floor(Math.random() * (b - a))), getRandomValues: webcrypto.getRandomValues, webcrypto,
  createHash: (algorithm) => new Hash(algorithm), createHmac: (algorithm, key) => new Hash(algorithm, key),
  timingSafeEqual: (a, b) => a.length === b.length && a.reduce((d, x, i) => d | (x ^ b[i]), 0) === 0,
});
function assert(ok, message) {
  if (!ok) throw message instanceof Error ? message : Object.assign(new Error(message || "The expression evaluated to a falsy value"), { name: "AssertionError", code: "ERR_ASSERTION" });
}
Object.assign(assert, {
  ok: assert, equal: (a, b, m) => assert(a == b, m), strictEqual: (a, b, m) => assert(Object.is(a, b), m || `${inspect(a)} !== ${inspect(b)}`), notStrictEqual: (a, b, m) => assert(!Object.is(a, b), m),
  deepEqual: (a, b, m) => assert(same(a, b), m), deepStrictEqual: (a, b, m) => assert(same(a, b), m), fail: (m) => assert(false, m),
});
assert.strict = assert;
modules.set("assert", assert);
modules.set("module", { createRequire: () => require, builtinModules: [] });
const zlib = {};
for (const how of ["gzip", "gunzip", "deflate", "inflate", "deflateRaw", "inflateRaw"]) {
  const run = (zlib[how + "Sync"] = (data) => Buffer.over(fromBase64(call("zlib", { how, data: toBase64(typeof data === "string" ? utf8(data) : asBytes(data)) }))));
  zlib[how] = (data, options, done = options) => {
    let out, failure = null;
    try {
      out = run(data);
    } catch (e) {
      failure = e;
    }
    later(() => done(failure, out)).catch((e) => loose(e, "zlib"));
  };
}
modules.set("zlib", zlib);
modules.set("perf_hooks", { performance });
modules.set("tty", { isatty: () => false });
function require(name) {
  const plainName = name.replace(/^node:/, "");
  const found = modules.get(plainName) || part("packages").packages(name);
  if (found) return found;
  throw Object.assign(new Error(`${name} is not available in this engine; write "runtime: node" into the first comment of this hook to run it in Node`), { code: "MODULE_NOT_FOUND" });
}
return { require, process, path, util, about };
};
