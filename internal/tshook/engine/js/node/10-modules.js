// The part of Node's modules that hooks use. Everything that leaves the engine
// is a request to Go.

globalThis.__part = (shared) => {
const { native, HostError, call, start, stop, ask, within, later, describe, loose, tend, inspect, format, callable, now, born, part, textOf, onlyPi, bareModel } = shared;
const { utf8, fromUtf8, toBase64, fromBase64, fromLatin, toLatin, asBytes, encodeText, decodeText, Buffer, TextEncoder, TextDecoder, btoa, atob, DOMException, Event, EventTarget, AbortSignal, AbortController, fire, onAbort, URL, URLSearchParams, Headers, Request, Response, fetch, structuredClone, webcrypto, randomBytes, EventEmitter } = part("web");
const modules = new Map(); // name without "node:" → the module

// --- path -----------------------------------------------------------------------

function normalizeParts(parts, absolute) {
  const out = [];
  for (const part of parts) {
    if (!part || part === ".") continue;
    if (part !== "..") out.push(part);
    else if (out.length && out[out.length - 1] !== "..") out.pop();
    else if (!absolute) out.push("..");
  }
  return out;
}
const path = {
  sep: "/",
  delimiter: ":",
  normalize(p) {
    const absolute = p.startsWith("/");
    const out = normalizeParts(p.split("/"), absolute).join("/");
    const tail = p.endsWith("/") && out ? "/" : "";
    return (absolute ? "/" : "") + out + tail || (absolute ? "/" : ".");
  },
  join: (...parts) => path.normalize(parts.filter(Boolean).join("/") || "."),
  resolve(...parts) {
    let whole = "";
    for (let i = parts.length - 1; i >= 0 && !whole.startsWith("/"); i--) if (parts[i]) whole = parts[i] + (whole ? "/" + whole : "");
    if (!whole.startsWith("/")) whole = process.cwd() + "/" + whole;
    return "/" + normalizeParts(whole.split("/"), true).join("/");
  },
  isAbsolute: (p) => p.startsWith("/"),
  dirname(p) {
    const at = p.replace(/\/+$/, "").lastIndexOf("/");
    return at < 0 ? "." : at === 0 ? "/" : p.slice(0, at).replace(/\/+$/, "") || "/";
  },
  basename(p, suffix) {
    const name = p.replace(/\/+$/, "").split("/").pop() || "";
    return suffix && name.endsWith(suffix) && name !== suffix ? name.slice(0, -suffix.length) : name;
  },
  extname(p) {
    const name = path.basename(p);
    const at = name.lastIndexOf(".");
    return at > 0 ? name.slice(at) : "";
  },
  relative(from, to) {
    const a = path.resolve(from).split("/").filter(Boolean);
    const b = path.resolve(to).split("/").filter(Boolean);
    let same = 0;
    while (same < a.length && same < b.length && a[same] === b[same]) same++;
    return [...a.slice(same).map(() => ".."), ...b.slice(same)].join("/");
  },
  parse(p) {
    const base = path.basename(p);
    const ext = path.extname(base);
    return { root: p.startsWith("/") ? "/" : "", dir: p.includes("/") ? path.dirname(p) : "", base, ext, name: ext ? base.slice(0, -ext.length) : base };
  },
  format: (o) => (o.dir || o.root || "") + (o.dir && o.dir !== "/" ? "/" : "") + (o.base || (o.name || "") + (o.ext || "")),
  toNamespacedPath: (p) => p,
};
path.posix = path;
modules.set("path", path);
modules.set("path/posix", path);

// --- process, os ----------------------------------------------------------------

const about = call("about");
const output = (level) => ({
  isTTY: false, columns: 80, rows: 24, fd: level === "error" ? 2 : 1, writable: true,
  write(text, encoding, done) {
    call("said", { level: level === "error" ? "error" : "stdout", text: typeof text === "string" ? text : fromUtf8(asBytes(text)) });
    const then = typeof encoding === "function" ? encoding : done;
    if (then) then();
    return true;
  },
  on() { return this; }, once() { return this; }, end() {},
});
const environment = new Proxy({}, {
  get: (_, name) => (typeof name === "string" ? about.env[name] : undefined),
  has: (_, name) => name in about.env,
  set(_, name, value) {
    about.env[name] = String(value);
    return true;
  },
  deleteProperty: (_, name) => delete about.env[name],
  ownKeys: () => Reflect.ownKeys(about.env),
  getOwnPropertyDescriptor: (_, name) => (name in about.env ? { value: about.env[name], enumerable: true, configurable: true, writable: true } : undefined),
});
const process = Object.assign(new EventEmitter(), {
  env: environment, argv: ["hookmux", about.file], argv0: "hookmux", execArgv: [], execPath: "hookmux", pid: about.pid, ppid: about.ppid, platform: about.platform, arch: about.arch,
  version: "v20.0.0", versions: { node: "20.0.0", quickjs: about.engine, hookmux: about.version }, title: "hookmux", release: { name: "hookmux" }, exitCode: undefined,
  cwd: () => (shared.current && shared.current.cwd) || about.cwd,
  chdir() { throw new Error("process.chdir: a hook shares its folder with others; use absolute paths"); },
  exit() { throw new Error("process.exit: a hook cannot end hookmux; return from the handler"); },
  kill() { throw new Error("process.kill: a hook may end only what it started; keep what spawn gave you and call its kill()"); },
  hrtime: Object.assign((since) => {
    const t = now() / 1000;
    const s = Math.floor(t);
    const out = [s, Math.floor((t - s) * 1e9)];
    if (!since) return out;
    const n = out[1] - since[1];
    return n < 0 ? [out[0] - since[0] - 1, n + 1e9] : [out[0] - since[0], n];
  }, { bigint: () => BigInt(Math.floor(now() * 1e6)) }),
  uptime: () => (Date.now() - born) / 1000,
  nextTick: (run, ...args) => void queueMicrotask(() => run(...args)),
  memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
  emitWarning: (text) => console.warn(String(text)),
  getuid: () => about.uid, geteuid: () => about.uid, umask: () => 0o077,
  stdout: output("log"), stderr: output("error"), stdin: Object.assign(new EventEmitter(), { isTTY: false, setEncoding() {}, resume() {}, pause() {} }),
});
modules.set("process", process);
modules.set("os", {
  EOL: "\n", platform: () => about.platform, type: () => ({ linux: "Linux", darwin: "Darwin" })[about.platform] || about.platform, arch: () => about.arch, homedir: () => about.home, tmpdir: () => about.tmp,
  hostname: () => about.host, release: () => "", cpus: () => Array.from({ length: about.cpus }, () => ({ model: "", speed: 0, times: {} })), userInfo: () => ({ username: about.user, uid: about.uid, gid: about.uid, homedir: about.home, shell: about.env.SHELL || null }),
  totalmem: () => 0, freemem: () => 0, loadavg: () => [0, 0, 0], uptime: () => 0, networkInterfaces: () => ({}), endianness: () => "LE",
  constants: { signals: { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGTERM: 15 } },
});

// --- fs -------------------------------------------------------------------------

const place = (p) => {
  if (p instanceof URL) p = modules.get("url").fileURLToPath(p);
  if (p instanceof Uint8Array) p = fromUtf8(p);
  if (typeof p !== "string") throw Object.assign(new TypeError('The "path" argument must be of type string or an instance of Buffer or URL'), { code: "ERR_INVALID_ARG_TYPE" });
  return path.resolve(p);
};
const encodingOf = (options) => (typeof options === "string" ? options : options && options.encoding);
const asData = (data, options) => toBase64(typeof data === "string" ? encodeText(data, encodingOf(options) || "utf8") : asBytes(data));
// Go reads and writes text faster than we make it of bytes.
const inWords = (options) => /^utf-?8$/i.test(encodingOf(options) || "");
const content = (data, options) => (typeof data === "string" && (!encodingOf(options) || inWords(options)) ? { text: data } : { data: asData(data, options) });
const fromData = (text, options) => {
  if (typeof text === "object") return text.text;
  const encoding = encodingOf(options);
  const bytes = fromBase64(text);
  return encoding && encoding !== "buffer" ? decodeText(bytes, encoding) : Buffer.over(bytes);
};

class Stats {
  constructor(s) {
    Object.assign(this, s);
    for (const key of ["atime", "mtime", "ctime", "birthtime"]) {
      this[key + "Ms"] = s.mtimeMs;
      this[key] = new Date(s.mtimeMs);
    }
  }
  isFile() { return this.kind === "file"; }
  isDirectory() { return this.kind === "dir"; }
  isSymbolicLink() { return this.kind === "link"; }
  isFIFO() { return this.kind === "fifo"; }
  isSocket() { return this.kind === "socket"; }
  isBlockDevice() { return false; }
  isCharacterDevice() { return this.kind === "device"; }
}
class Dirent extends Stats {
  constructor(e, parent) {
    super({ kind: e.kind });
    this.name = e.name;
    this.parentPath = this.path = parent;
  }
}

// Each entry: how to ask, and what to make of the answer. From one table come
// the sync, the promised and the callback form.
const fsOps = {
  readFile: [(p, o) => ["read", { path: place(p), words: inWords(o) }], (v, p, o) => fromData(v, o)],
  writeFile: [(p, d, o) => ["write", { path: place(p), ...content(d, o), flag: (o && o.flag) || "w", mode: o && o.mode }]],
  appendFile: [(p, d, o) => ["write", { path: place(p), ...content(d, o), flag: "a", mode: o && o.mode }]],
  readdir: [
    (p, o) => ["list", { path: place(p), recursive: Boolean(o && o.recursive) }],
    (v, p, o) => (o && o.withFileTypes ? v.map((e) => new Dirent(e, path.join(place(p), e.parent || ""))) : v.map((e) => (e.parent ? e.parent + "/" : "") + e.name)),
  ],
  stat: [(p, o) => ["stat", { path: place(p), missing: Boolean(o && o.throwIfNoEntry === false) }], (v) => (v ? new Stats(v) : undefined)],
  lstat: [(p, o) => ["stat", { path: place(p), link: true, missing: Boolean(o && o.throwIfNoEntry === false) }], (v) => (v ? new Stats(v) : undefined)],
  access: [(p) => ["stat", { path: place(p) }], () => undefined],
  realpath: [(p) => ["realpath", { path: place(p) }]],
  readlink: [(p) => ["readlink", { path: place(p) }]],
  mkdir: [(p, o) => ["mkdir", { path: place(p), recursive: Boolean(o && o.recursive), mode: typeof o === "number" ? o : o && o.mode }], (v) => v || undefined],
  mkdtemp: [(p) => ["mkdtemp", { path: place(p) }]],
  rmdir: [(p, o) => ["remove", { path: place(p), dir: true, recursive: Boolean(o && o.recursive) }]],
  rm: [(p, o) => ["remove", { path: place(p), recursive: Boolean(o && o.recursive), force: Boolean(o && o.force) }]],
  unlink: [(p) => ["remove", { path: place(p) }]],
  rename: [(a, b) => ["rename", { path: place(a), to: place(b) }]],
  copyFile: [(a, b) => ["copy", { path: place(a), to: place(b) }]],
  symlink: [(a, b) => ["symlink", { target: String(a), path: place(b) }]],
  chmod: [(p, mode) => ["chmod", { path: place(p), mode: Number(mode) }]],
  truncate: [(p, n) => ["truncate", { path: place(p), size: n || 0 }]],
  utimes: [(p, a, m) => ["utimes", { path: place(p), mtimeMs: m instanceof Date ? m.getTime() : Number(m) * 1000 }]],
};
const fs = { promises: {}, constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1 }, Stats, Dirent };
for (const [name, [question, answer = (v) => (v === null ? undefined : v)]] of Object.entries(fsOps)) {
  fs[name + "Sync"] = (...args) => answer(call(...question(...args)), ...args);
  fs.promises[name] = async (...args) => answer(await ask(...question(...args)), ...args);
  fs[name] = (...args) => {
    const done = callable(args.pop());
    fs.promises[name](...args).then((v) => done(null, v), (e) => done(e));
  };
}
fs.existsSync = (p) => {
  try {
    return call("stat", { path: place(p), missing: true }) !== null;
  } catch {
    return false;
  }
};
fs.exists = (p, done) => later(() => done(fs.existsSync(p)));
fs.watch = (p, options, listener) => {
  if (typeof options === "function") listener = options;
  const watcher = new EventEmitter();
  const gone = () => {};
  const id = start("watch", { path: place(p), recursive: Boolean(options && options.recursive) }, {
    data: (e) => watcher.emit("change", e.type, e.name),
    fail: (e) => watcher.listenerCount("error") ? watcher.emit("error", e) : loose(e, "fs.watch"),
    done: gone,
  });
  if (listener) watcher.on("change", listener);
  watcher.close = () => {
    stop(id);
    later(() => watcher.emit("close"));
  };
  watcher.ref = watcher.unref = () => watcher;
  // A file that is not there is an error at once, as in Node.
  call("stat", { path: place(p) });
  if (options && options.signal) onAbort(options.signal, () => watcher.close());
  return watcher;
};
const watched = new Map();
fs.watchFile = (p, options, listener) => {
  const run = typeof options === "function" ? options : listener;
  let before = fs.statSync(p, { throwIfNoEntry: false }) || new Stats({ kind: "", size: 0, mtimeMs: 0, mode: 0 });
  const timer = setInterval(() => {
    const after = fs.statSync(p, { throwIfNoEntry: false }) || new Stats({ kind: "", size: 0, mtimeMs: 0, mode: 0 });
    if (after.mtimeMs !== before.mtimeMs || after.size !== before.size) run(after, before);
    before = after;
  }, Math.max((options && options.interval) || 5007, 100));
  watched.set(place(p), timer);
};
fs.unwatchFile = (p) => clearInterval(watched.get(place(p)));

class Readable extends EventEmitter {
  readable = true;
  #encoding;
  #chunks = [];
  #ended = false;
  #wake = () => {};
  #flowing = false;
  setEncoding(encoding) {
    this.#encoding = encoding;
    return this;
  }
  push(bytes) {
    if (bytes === null) this.#ended = true;
    else this.#chunks.push(bytes);
    this.#wake();
    if (this.#flowing) this.#flow();
  }
  on(name, run) {
    super.on(name, run);
    if (name === "data") this.resume();
    return this;
  }
  resume() {
    if (!this.#flowing) {
      this.#flowing = true;
      later(() => this.#flow()).catch((e) => loose(e, "stream"));
    }
    return this;
  }
  pause() {
    this.#flowing = false;
    return this;
  }
  #flow() {
    while (this.#flowing && this.#chunks.length) this.emit("data", this.#shown(this.#chunks.shift()));
    if (this.#ended && this.#flowing && !this.#chunks.length && this.readable) {
      this.readable = false;
      this.emit("end");
      this.emit("close");
    }
  }
  #shown(bytes) { return this.#encoding ? decodeText(bytes, this.#encoding) : Buffer.over(bytes); }
  pipe(target) {
    this.on("data", (d) => target.write(d));
    this.on("end", () => target.end && target !== process.stdout && target !== process.stderr && target.end());
    return target;
  }
  destroy() {
    this.#ended = true;
    this.readable = false;
    return this;
  }
  ref() { return this; }
  unref() { return this; }
  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.#chunks.length) yield this.#shown(this.#chunks.shift());
      if (this.failure) throw this.failure;
      if (this.#ended) return;
      await new Promise((wake) => (this.#wake = wake));
    }
  }
}
fs.createReadStream = (p, options) => {
  const stream = new Readable();
  if (encodingOf(options)) stream.setEncoding(encodingOf(options));
  stream.path = p;
  ask("read", { path: place(p) }).then(
    (data) => {
      const bytes = fromBase64(data);
      for (let at = 0; at < bytes.length; at += 65536) stream.push(bytes.subarray(at, at + 65536));
      stream.push(null);
    },
    (e) => {
      stream.failure = e;
      stream.push(null);
      if (stream.listenerCount("error")) stream.emit("error", e);
    },
  );
  return stream;
};
fs.createWriteStream = (p, options) => {
  const stream = new EventEmitter();
  let line = ask("write", { path: place(p), data: "", flag: (options && options.flags) || "w" });
  stream.write = (d) => {
    line = line.then(() => ask("write", { path: place(p), data: asData(d), flag: "a" }));
    line.catch((e) => stream.listenerCount("error") ? stream.emit("error", e) : loose(e, "write stream"));
    return true;
  };
  stream.end = (d, done) => {
    if (typeof d === "function") done = d;
    else if (d) stream.write(d);
    line.then(() => {
      stream.emit("finish");
      stream.emit("close");
      if (typeof done === "function") done();
    }, () => {});
  };
  stream.close = stream.destroy = stream.end;
  return stream;
};
modules.set("fs", fs);
modules.set("fs/promises", { ...fs.promises, constants: fs.constants });
