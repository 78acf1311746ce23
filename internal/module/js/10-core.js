// What every file finds in its world: the way to Go, and the globals that a
// hook written for Node expects. Nothing here has powers of its own: whatever
// leaves the engine goes through call() and start(), which Go answers.

const native = { sync: globalThis.__sync, start: globalThis.__async };
delete globalThis.__sync;
delete globalThis.__async;

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
  waiting.set(id, { ...handlers, owner: current, op });
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

// tend looks after a promise that its caller will not wait for.
function tend(value, what) {
  if (value && typeof value.then === "function") value.then(undefined, (e) => loose(e, what));
}

// --- showing values -------------------------------------------------------------

function inspect(value, depth = 3, seen = []) {
  switch (typeof value) {
    case "string":
      return seen.length ? JSON.stringify(value) : value;
    case "function":
      return `[Function${value.name ? ": " + value.name : " (anonymous)"}]`;
    case "bigint":
      return value + "n";
    case "symbol":
      return value.toString();
    case "undefined":
      return "undefined";
    case "object":
      break;
    default:
      return String(value);
  }
  if (value === null) return "null";
  if (value instanceof Error) return value.stack ? `${value.name}: ${value.message}\n${value.stack.trimEnd()}` : String(value);
  if (value instanceof Date) return isNaN(value) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (seen.includes(value)) return "[Circular]";
  if (seen.length > depth) return Array.isArray(value) ? "[Array]" : "[Object]";
  const inner = [...seen, value];
  const show = (v) => inspect(v, depth, inner);
  const around = (open, parts, close) => {
    if (!parts.length) return open + close;
    const line = `${open} ${parts.join(", ")} ${close}`;
    if (line.length <= 76 && !line.includes("\n")) return line;
    const pad = "  ".repeat(inner.length);
    return `${open}\n${pad}${parts.join(",\n" + pad)}\n${"  ".repeat(inner.length - 1)}${close}`;
  };
  if (Array.isArray(value)) {
    const parts = value.slice(0, 100).map(show);
    if (value.length > 100) parts.push(`... ${value.length - 100} more items`);
    return around("[", parts, "]");
  }
  if (value instanceof Map) return `Map(${value.size}) ` + around("{", [...value].map(([k, v]) => `${show(k)} => ${show(v)}`), "}");
  if (value instanceof Set) return `Set(${value.size}) ` + around("{", [...value].map(show), "}");
  if (value instanceof Promise) return "Promise { ? }";
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${value.length}) ` + around("[", [...value.subarray(0, 50)].map(String), "]");
  const name = value.constructor && value.constructor !== Object ? value.constructor.name + " " : "";
  const keys = Object.keys(value);
  const parts = keys.slice(0, 100).map((key) => `${/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)}: ${show(value[key])}`);
  return name + around("{", parts, "}");
}

function format(first, ...rest) {
  if (typeof first !== "string") return [first, ...rest].map((v) => inspect(v)).join(" ");
  const text = first.replace(/%[sdifjoOc%]/g, (mark) => {
    if (mark === "%%") return "%";
    if (!rest.length) return mark;
    const value = rest.shift();
    switch (mark) {
      case "%s":
        return typeof value === "object" ? inspect(value, 0) : String(value);
      case "%d":
        return String(Number(value));
      case "%i":
        return String(parseInt(value, 10));
      case "%f":
        return String(parseFloat(value));
      case "%j":
        return JSON.stringify(value);
      case "%c":
        return "";
    }
    return inspect(value);
  });
  return [text, ...rest.map((v) => inspect(v))].join(" ");
}

// --- console, timers ------------------------------------------------------------

const say = (level) => (...args) => void call("said", { level, text: format(...args) });
const counts = new Map();
const clocks = new Map();
globalThis.console = {
  log: say("log"), info: say("log"), debug: say("debug"), warn: say("warn"), error: say("error"), trace: say("debug"), dir: (v) => say("log")(inspect(v)),
  table: say("log"), group: say("log"), groupEnd() {},
  assert: (ok, ...args) => ok || say("error")("Assertion failed:", ...args),
  count(label = "default") {
    counts.set(label, (counts.get(label) || 0) + 1);
    say("log")(`${label}: ${counts.get(label)}`);
  },
  time: (label = "default") => void clocks.set(label, now()),
  timeEnd: (label = "default") => say("log")(`${label}: ${(now() - (clocks.get(label) || now())).toFixed(3)}ms`),
};

const born = Date.now();
const now = () => call("clock");
globalThis.performance = { now, timeOrigin: born, mark() {}, measure() {} };

class Timer {
  constructor(run, ms, args, again) {
    this.run = run;
    this.args = args;
    this.again = again;
    this.ms = Math.min(Math.max(Number(ms) || 0, again ? 1 : 0), 2147483647);
    this.arm();
  }
  arm() {
    this.id = start("timer", this.ms, {
      done: () => {
        this.id = 0;
        if (this.again) this.arm();
        tend(this.run(...this.args), "timer");
      },
    });
  }
  close() {
    this.again = false;
    if (this.id) stop(this.id);
    this.id = 0;
    return this;
  }
  refresh() {
    if (this.id) stop(this.id);
    this.arm();
    return this;
  }
  ref() { return this; }
  unref() { return this; }
  hasRef() { return true; }
  [Symbol.toPrimitive]() { return this.id; }
}

function callable(run) {
  if (typeof run !== "function") throw new TypeError('The "callback" argument must be of type function');
  return run;
}
const dropTimer = (timer) => void (timer instanceof Timer ? timer.close() : timer && stop(Number(timer)));
globalThis.setTimeout = (run, ms, ...args) => new Timer(callable(run), ms, args, false);
globalThis.setInterval = (run, ms, ...args) => new Timer(callable(run), ms, args, true);
globalThis.setImmediate = (run, ...args) => new Timer(callable(run), 0, args, false);
globalThis.clearTimeout = globalThis.clearInterval = globalThis.clearImmediate = dropTimer;
globalThis.queueMicrotask = (run) => {
  callable(run);
  later(run).catch((e) => loose(e, "queueMicrotask"));
};

// --- text and bytes -------------------------------------------------------------

function utf8(text) {
  const out = [];
  for (let i = 0; i < text.length; i++) {
    let c = text.charCodeAt(i);
    if (c >= 0xd800 && c < 0xe000) {
      const d = c < 0xdc00 && i + 1 < text.length ? text.charCodeAt(i + 1) : 0;
      if (d >= 0xdc00 && d < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (d - 0xdc00);
        i++;
      } else c = 0xfffd;
    }
    if (c < 0x80) out.push(c);
    else if (c < 0x800) out.push(0xc0 | (c >> 6), 0x80 | (c & 63));
    else if (c < 0x10000) out.push(0xe0 | (c >> 12), 0x80 | ((c >> 6) & 63), 0x80 | (c & 63));
    else out.push(0xf0 | (c >> 18), 0x80 | ((c >> 12) & 63), 0x80 | ((c >> 6) & 63), 0x80 | (c & 63));
  }
  return new Uint8Array(out);
}

function fromUtf8(bytes, fatal) {
  let out = "";
  let piece = [];
  const put = (c) => {
    if (c > 0xffff) piece.push(0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 1023));
    else piece.push(c);
    if (piece.length > 4000) {
      out += String.fromCharCode.apply(null, piece);
      piece = [];
    }
  };
  for (let i = 0; i < bytes.length; ) {
    const b = bytes[i];
    if (b < 0x80) {
      put(b);
      i++;
      continue;
    }
    const need = b >= 0xc2 && b < 0xe0 ? 1 : b >= 0xe0 && b < 0xf0 ? 2 : b >= 0xf0 && b < 0xf5 ? 3 : 0;
    let c = need === 1 ? b & 31 : need === 2 ? b & 15 : b & 7;
    let k = 1;
    let low = b === 0xe0 ? 0xa0 : b === 0xf0 ? 0x90 : 0x80;
    let high = b === 0xed ? 0x9f : b === 0xf4 ? 0x8f : 0xbf;
    while (k <= need && i + k < bytes.length && bytes[i + k] >= low && bytes[i + k] <= high) {
      c = (c << 6) | (bytes[i + k] & 63);
      low = 0x80;
      high = 0xbf;
      k++;
    }
    if (need && k > need) put(c);
    else {
      if (fatal) throw new TypeError("The encoded data was not valid");
      put(0xfffd);
    }
    i += need && k > need ? need + 1 : k;
  }
  return out + String.fromCharCode.apply(null, piece);
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const digits = new Map([...alphabet].map((c, i) => [c, i]));
digits.set("-", 62).set("_", 63);

function toBase64(bytes, url) {
  let out = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const n = (bytes[i] << 16) | ((bytes[i + 1] || 0) << 8) | (bytes[i + 2] || 0);
    out += alphabet[n >> 18] + alphabet[(n >> 12) & 63] + (i + 1 < bytes.length ? alphabet[(n >> 6) & 63] : "=") + (i + 2 < bytes.length ? alphabet[n & 63] : "=");
  }
  return url ? out.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "") : out;
}

function fromBase64(text) {
  const out = [];
  let n = 0;
  let bits = 0;
  for (const c of text) {
    const d = digits.get(c);
    if (d === undefined) {
      if (c === "=") break;
      continue;
    }
    n = (n << 6) | d;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out.push((n >> bits) & 255);
    }
    n &= 0xffff;
  }
  return new Uint8Array(out);
}

const fromLatin = (text) => Uint8Array.from(text, (c) => c.charCodeAt(0) & 255);
function toLatin(bytes) {
  let out = "";
  for (const b of bytes) out += String.fromCharCode(b);
  return out;
}
globalThis.btoa = (text) => {
  text = String(text);
  if (/[^\0-\xff]/.test(text)) throw new DOMException("The string to be encoded contains characters outside of the Latin1 range.", "InvalidCharacterError");
  return toBase64(fromLatin(text));
};
globalThis.atob = (text) => toLatin(fromBase64(String(text)));

globalThis.TextEncoder = class TextEncoder {
  get encoding() { return "utf-8"; }
  encode(text = "") { return utf8(String(text)); }
};
globalThis.TextDecoder = class TextDecoder {
  constructor(label = "utf-8", options = {}) {
    this.encoding = String(label).toLowerCase();
    this.fatal = Boolean(options.fatal);
    if (!/^(utf-?8|latin1|ascii|us-ascii|iso-8859-1|windows-1252)$/.test(this.encoding)) throw new RangeError(`The encoding "${label}" is not supported`);
    this.rest = new Uint8Array(0);
  }
  decode(data, options = {}) {
    let bytes = data === undefined ? new Uint8Array(0) : asBytes(data);
    if (!/^utf/.test(this.encoding)) return toLatin(bytes);
    if (this.rest.length) {
      const joined = new Uint8Array(this.rest.length + bytes.length);
      joined.set(this.rest);
      joined.set(bytes, this.rest.length);
      bytes = joined;
    }
    let end = bytes.length;
    if (options.stream) end -= unfinished(bytes);
    this.rest = bytes.slice(end);
    const text = fromUtf8(bytes.subarray(0, end), this.fatal);
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
};

// unfinished is how many bytes at the end begin a character that goes on.
function unfinished(bytes) {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const b = bytes[bytes.length - back];
    if (b >= 0xc0) return back < (b >= 0xf0 ? 4 : b >= 0xe0 ? 3 : 2) ? back : 0;
    if (b < 0x80) return 0;
  }
  return 0;
}

function asBytes(data) {
  if (data instanceof Uint8Array) return data;
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw new TypeError("expected bytes");
}

function encodeText(text, encoding = "utf8") {
  switch (String(encoding).toLowerCase().replace("-", "")) {
    case "utf8":
      return utf8(text);
    case "hex":
      return Uint8Array.from((text.match(/[0-9a-f]{2}/gi) || []).map((h) => parseInt(h, 16)));
    case "base64":
    case "base64url":
      return fromBase64(text);
    case "latin1":
    case "binary":
    case "ascii":
      return fromLatin(text);
    case "utf16le":
    case "ucs2": {
      const out = new Uint8Array(text.length * 2);
      for (let i = 0; i < text.length; i++) {
        out[2 * i] = text.charCodeAt(i) & 255;
        out[2 * i + 1] = text.charCodeAt(i) >> 8;
      }
      return out;
    }
  }
  throw new TypeError(`Unknown encoding: ${encoding}`);
}

function decodeText(bytes, encoding = "utf8") {
  switch (String(encoding).toLowerCase().replace("-", "")) {
    case "utf8":
      return fromUtf8(bytes);
    case "hex":
      return Array.from(bytes, (b) => (b < 16 ? "0" : "") + b.toString(16)).join("");
    case "base64":
      return toBase64(bytes);
    case "base64url":
      return toBase64(bytes, true);
    case "latin1":
    case "binary":
      return toLatin(bytes);
    case "ascii":
      return toLatin(bytes.map((b) => b & 127));
    case "utf16le":
    case "ucs2": {
      let out = "";
      for (let i = 0; i + 1 < bytes.length; i += 2) out += String.fromCharCode(bytes[i] | (bytes[i + 1] << 8));
      return out;
    }
  }
  throw new TypeError(`Unknown encoding: ${encoding}`);
}

class Buffer extends Uint8Array {
  static from(value, encoding, length) {
    if (typeof value === "string") return Buffer.over(encodeText(value, encoding));
    if (value instanceof ArrayBuffer) return new Buffer(value, encoding, length);
    if (value && value.type === "Buffer" && Array.isArray(value.data)) value = value.data;
    const out = new Buffer(value.length);
    out.set(value);
    return out;
  }
  static over(bytes) { return new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength); }
  static alloc(size, fill, encoding) {
    const out = new Buffer(size);
    return fill === undefined ? out : out.fill(typeof fill === "string" ? encodeText(fill, encoding)[0] || 0 : fill);
  }
  static allocUnsafe(size) { return new Buffer(size); }
  static isBuffer(value) { return value instanceof Buffer; }
  static isEncoding(name) {
    try {
      encodeText("", name);
      return true;
    } catch {
      return false;
    }
  }
  static byteLength(value, encoding) { return typeof value === "string" ? encodeText(value, encoding).length : value.byteLength; }
  static concat(list, total) {
    const out = new Buffer(total === undefined ? list.reduce((n, b) => n + b.length, 0) : total);
    let at = 0;
    for (const b of list) {
      if (at >= out.length) break;
      out.set(b.subarray(0, out.length - at), at);
      at += b.length;
    }
    return out;
  }
  static compare(a, b) {
    for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return Math.sign(a.length - b.length);
  }
  toString(encoding, from = 0, to = this.length) { return decodeText(super.subarray(from, to), encoding); }
  toJSON() { return { type: "Buffer", data: Array.from(this) }; }
  equals(other) { return Buffer.compare(this, other) === 0; }
  slice(from, to) { return this.subarray(from, to); }
  subarray(from, to) { return Buffer.over(super.subarray(from, to)); }
  write(text, at = 0) {
    const bytes = encodeText(text).subarray(0, this.length - at);
    this.set(bytes, at);
    return bytes.length;
  }
  indexOf(what, from = 0) {
    const bytes = typeof what === "string" ? encodeText(what) : typeof what === "number" ? [what] : what;
    outer: for (let i = from; i + bytes.length <= this.length; i++) {
      for (let k = 0; k < bytes.length; k++) if (this[i + k] !== bytes[k]) continue outer;
      return i;
    }
    return -1;
  }
  includes(what, from) { return this.indexOf(what, from) >= 0; }
  copy(target, at = 0, from = 0, to = this.length) {
    const piece = this.subarray(from, Math.min(to, from + target.length - at));
    target.set(piece, at);
    return piece.length;
  }
  readUInt8(at = 0) { return this[at]; }
  readUInt16BE(at = 0) { return (this[at] << 8) | this[at + 1]; }
  readUInt16LE(at = 0) { return this[at] | (this[at + 1] << 8); }
  readUInt32BE(at = 0) { return (this.readUInt16BE(at) * 0x10000) + this.readUInt16BE(at + 2); }
  readUInt32LE(at = 0) { return this.readUInt16LE(at) + this.readUInt16LE(at + 2) * 0x10000; }
}
globalThis.Buffer = Buffer;
