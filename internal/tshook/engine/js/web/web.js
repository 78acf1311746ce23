// Text and bytes, and the part of the web's interface that hooks use.

globalThis.__part = (shared) => {
const { native, HostError, call, start, stop, ask, within, later, describe, loose, tend, inspect, format, callable, now, born, part, textOf, onlyPi, bareModel } = shared;
// --- text and bytes -------------------------------------------------------------

// The engine's own are a hundred times as fast as a loop: a hook has a second.
const fastFrom = Uint8Array.fromBase64;
const fastTo = Uint8Array.prototype.toBase64;

// long is where asking Go takes less time than a loop.
const long = 10000;

function utf8(text) {
  if (text.length > long) return fromBase64(call("bytes", text));
  const out = new Uint8Array(text.length * 3); // at most
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    let c = text.charCodeAt(i);
    if (c >= 0xd800 && c < 0xe000) {
      const d = c < 0xdc00 && i + 1 < text.length ? text.charCodeAt(i + 1) : 0;
      if (d >= 0xdc00 && d < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (d - 0xdc00);
        i++;
      } else c = 0xfffd;
    }
    if (c < 0x80) out[n++] = c;
    else {
      if (c < 0x800) out[n++] = 0xc0 | (c >> 6);
      else {
        if (c < 0x10000) out[n++] = 0xe0 | (c >> 12);
        else {
          out[n++] = 0xf0 | (c >> 18);
          out[n++] = 0x80 | ((c >> 12) & 63);
        }
        out[n++] = 0x80 | ((c >> 6) & 63);
      }
      out[n++] = 0x80 | (c & 63);
    }
  }
  return out.slice(0, n);
}

function fromUtf8(bytes, fatal) {
  if (bytes.length > long) {
    const words = call("words", toBase64(bytes));
    if (typeof words === "object") return words.text;
  }
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
      let end = i + 1;
      while (end - i < 4000 && bytes[end] < 0x80) end++;
      out += String.fromCharCode.apply(null, piece) + String.fromCharCode.apply(null, bytes.subarray(i, end));
      piece = [];
      i = end;
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
  if (bytes instanceof Uint8Array) return fastTo.call(bytes, url ? { alphabet: "base64url", omitPadding: true } : undefined);
  let out = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const n = (bytes[i] << 16) | ((bytes[i + 1] || 0) << 8) | (bytes[i + 2] || 0);
    out += alphabet[n >> 18] + alphabet[(n >> 12) & 63] + (i + 1 < bytes.length ? alphabet[(n >> 6) & 63] : "=") + (i + 2 < bytes.length ? alphabet[n & 63] : "=");
  }
  return url ? out.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "") : out;
}

// fromBase64 passes over what is no digit, as Node does; the engine's own does
// not.
function fromBase64(text) {
  try {
    return fastFrom.call(Uint8Array, text);
  } catch {
    return anyBase64(text);
  }
}
function anyBase64(text) {
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
const btoa = (text) => {
  text = String(text);
  if (/[^\0-\xff]/.test(text)) throw new DOMException("The string to be encoded contains characters outside of the Latin1 range.", "InvalidCharacterError");
  return toBase64(fromLatin(text));
};
const atob = (text) => toLatin(fromBase64(String(text)));

const TextEncoder = class TextEncoder {
  get encoding() { return "utf-8"; }
  encode(text = "") { return utf8(String(text)); }
};
const TextDecoder = class TextDecoder {
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
const DOMException = class DOMException extends Error {
  constructor(message = "", name = "Error") {
    super(message);
    this.name = name;
    this.code = name === "AbortError" ? 20 : name === "TimeoutError" ? 23 : 0;
  }
};

const Event = class Event {
  constructor(type, options = {}) {
    this.type = type;
    this.cancelable = Boolean(options.cancelable);
    this.defaultPrevented = false;
    this.timeStamp = Date.now();
  }
  preventDefault() { this.defaultPrevented = this.cancelable; }
  stopPropagation() {}
  stopImmediatePropagation() { this.stopped = true; }
};

const EventTarget = class EventTarget {
  #listeners = new Map();
  addEventListener(type, run, options = {}) {
    if (!run) return;
    const list = this.#listeners.get(type) || [];
    if (!list.some((l) => l.run === run)) list.push({ run, once: options && options.once });
    this.#listeners.set(type, list);
  }
  removeEventListener(type, run) {
    this.#listeners.set(type, (this.#listeners.get(type) || []).filter((l) => l.run !== run));
  }
  dispatchEvent(event) {
    event.target = this;
    for (const l of [...(this.#listeners.get(event.type) || [])]) {
      if (l.once) this.removeEventListener(event.type, l.run);
      try {
        typeof l.run === "function" ? l.run.call(this, event) : l.run.handleEvent(event);
      } catch (e) {
        loose(e, event.type);
      }
      if (event.stopped) break;
    }
    return !event.defaultPrevented;
  }
};

const abortError = () => new DOMException("This operation was aborted", "AbortError");

class AbortSignal extends EventTarget {
  aborted = false;
  reason = undefined;
  onabort = null;
  throwIfAborted() {
    if (this.aborted) throw this.reason;
  }
  static abort(reason) {
    const signal = new AbortSignal();
    fire(signal, reason);
    return signal;
  }
  static timeout(ms) {
    const signal = new AbortSignal();
    setTimeout(() => fire(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")), ms);
    return signal;
  }
  static any(signals) {
    const signal = new AbortSignal();
    for (const s of signals) {
      if (s.aborted) {
        fire(signal, s.reason);
        break;
      }
      s.addEventListener("abort", () => fire(signal, s.reason), { once: true });
    }
    return signal;
  }
}
function fire(signal, reason) {
  if (signal.aborted) return;
  signal.aborted = true;
  signal.reason = reason === undefined ? abortError() : reason;
  const event = new Event("abort");
  if (typeof signal.onabort === "function") {
    try {
      signal.onabort(event);
    } catch (e) {
      loose(e, "abort");
    }
  }
  signal.dispatchEvent(event);
}
const AbortController = class AbortController {
  signal = new AbortSignal();
  abort(reason) { fire(this.signal, reason); }
};

// onAbort runs when the signal fires, at once when it has; the function it
// gives takes that back.
function onAbort(signal, run) {
  if (!signal || typeof signal.addEventListener !== "function") return () => {};
  if (signal.aborted) {
    run(signal.reason);
    return () => {};
  }
  const listener = () => run(signal.reason);
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}

// --- addresses ------------------------------------------------------------------

const quoted = (text) => encodeURIComponent(text).replace(/%20/g, "+").replace(/[!'()~]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());
const unquoted = (text) => {
  try {
    return decodeURIComponent(text.replace(/\+/g, " "));
  } catch {
    return text;
  }
};

class URLSearchParams {
  #list = [];
  #changed;
  constructor(init = "", changed) {
    this.#changed = changed || (() => {});
    if (typeof init === "string") {
      for (const part of init.replace(/^\?/, "").split("&")) {
        if (!part) continue;
        const at = part.indexOf("=");
        this.#list.push(at < 0 ? [unquoted(part), ""] : [unquoted(part.slice(0, at)), unquoted(part.slice(at + 1))]);
      }
    } else if (typeof init[Symbol.iterator] === "function") for (const [k, v] of init) this.#list.push([String(k), String(v)]);
    else for (const k of Object.keys(init)) this.#list.push([k, String(init[k])]);
  }
  get size() { return this.#list.length; }
  get(name) {
    const found = this.#list.find(([k]) => k === name);
    return found ? found[1] : null;
  }
  getAll(name) { return this.#list.filter(([k]) => k === name).map(([, v]) => v); }
  has(name) { return this.#list.some(([k]) => k === name); }
  append(name, value) {
    this.#list.push([String(name), String(value)]);
    this.#changed();
  }
  set(name, value) {
    const at = this.#list.findIndex(([k]) => k === name);
    this.#list = this.#list.filter(([k], i) => k !== name || i === at);
    if (at < 0) this.#list.push([String(name), String(value)]);
    else this.#list.find(([k]) => k === name)[1] = String(value);
    this.#changed();
  }
  delete(name) {
    this.#list = this.#list.filter(([k]) => k !== name);
    this.#changed();
  }
  sort() {
    this.#list.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#changed();
  }
  forEach(run) { for (const [k, v] of this.#list) run(v, k, this); }
  *keys() { for (const [k] of this.#list) yield k; }
  *values() { for (const [, v] of this.#list) yield v; }
  *entries() { for (const pair of this.#list) yield [...pair]; }
  [Symbol.iterator]() { return this.entries(); }
  toString() { return this.#list.map(([k, v]) => quoted(k) + "=" + quoted(v)).join("&"); }
}

class URL {
  #parts;
  #params;
  constructor(input, base) { this.#parts = call("url", { url: String(input), base: base === undefined ? "" : String(base) }); }
  static canParse(input, base) {
    try {
      new URL(input, base);
      return true;
    } catch {
      return false;
    }
  }
  get href() {
    const p = this.#parts;
    const user = p.username ? p.username + (p.password ? ":" + p.password : "") + "@" : "";
    return p.protocol + (p.slashes ? "//" + user + this.host : "") + p.pathname + p.search + p.hash;
  }
  set href(value) { this.#parts = call("url", { url: String(value), base: "" }); }
  get origin() { return /^(https?|ftp|wss?):$/.test(this.#parts.protocol) ? this.#parts.protocol + "//" + this.host : "null"; }
  get host() { return this.#parts.hostname + (this.#parts.port ? ":" + this.#parts.port : ""); }
  get search() { return this.#parts.search; }
  set search(value) {
    this.#parts.search = value ? (String(value).startsWith("?") ? "" : "?") + value : "";
    this.#params = undefined;
  }
  get hash() { return this.#parts.hash; }
  set hash(value) { this.#parts.hash = value ? (String(value).startsWith("#") ? "" : "#") + value : ""; }
  get searchParams() {
    if (!this.#params) {
      const params = (this.#params = new URLSearchParams(this.#parts.search, () => {
        const text = params.toString();
        this.#parts.search = text ? "?" + text : "";
      }));
    }
    return this.#params;
  }
  get protocol() { return this.#parts.protocol; }
  set protocol(value) { this.#parts.protocol = String(value).replace(/:?$/, ":"); }
  get hostname() { return this.#parts.hostname; }
  set hostname(value) { this.#parts.hostname = String(value); }
  get port() { return this.#parts.port; }
  set port(value) { this.#parts.port = String(value); }
  get pathname() { return this.#parts.pathname; }
  set pathname(value) { this.#parts.pathname = String(value).replace(/^\/?/, "/"); }
  get username() { return this.#parts.username; }
  set username(value) { this.#parts.username = String(value); }
  get password() { return this.#parts.password; }
  set password(value) { this.#parts.password = String(value); }
  toString() { return this.href; }
  toJSON() { return this.href; }
}

// --- fetch ----------------------------------------------------------------------

class Headers {
  #map = new Map();
  constructor(init) {
    if (!init) return;
    const pairs = init instanceof Headers || typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
    for (const [k, v] of pairs) this.append(k, v);
  }
  append(name, value) {
    const key = String(name).toLowerCase();
    this.#map.set(key, this.#map.has(key) ? this.#map.get(key) + ", " + value : String(value));
  }
  set(name, value) { this.#map.set(String(name).toLowerCase(), String(value)); }
  get(name) {
    const value = this.#map.get(String(name).toLowerCase());
    return value === undefined ? null : value;
  }
  has(name) { return this.#map.has(String(name).toLowerCase()); }
  delete(name) { this.#map.delete(String(name).toLowerCase()); }
  forEach(run) { for (const [k, v] of this.#map) run(v, k, this); }
  keys() { return this.#map.keys(); }
  values() { return this.#map.values(); }
  entries() { return this.#map.entries(); }
  [Symbol.iterator]() { return this.#map.entries(); }
}

function bodyBytes(body) {
  if (body === undefined || body === null) return new Uint8Array(0);
  if (typeof body === "string") return utf8(body);
  if (body instanceof URLSearchParams) return utf8(body.toString());
  return asBytes(body);
}

class Body {
  #bytes;
  bodyUsed = false;
  constructor(body) { this.#bytes = bodyBytes(body); }
  async #take() {
    if (this.bodyUsed) throw new TypeError("Body is unusable: Body has already been read");
    this.bodyUsed = true;
    return this.#bytes;
  }
  async text() { return fromUtf8(await this.#take()); }
  async json() { return JSON.parse(await this.text()); }
  async bytes() { return this.#take(); }
  async arrayBuffer() {
    const bytes = await this.#take();
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  }
  copy() { return this.#bytes; }
}

class Request extends Body {
  constructor(input, options = {}) {
    const base = input instanceof Request ? input : {};
    super(options.body !== undefined ? options.body : input instanceof Request ? input.copy() : undefined);
    this.url = input instanceof Request ? input.url : String(input);
    this.method = String(options.method || base.method || "GET").toUpperCase();
    this.headers = new Headers(options.headers || base.headers);
    this.signal = options.signal || base.signal;
    this.redirect = options.redirect || base.redirect || "follow";
    if (options.body instanceof URLSearchParams && !this.headers.has("content-type")) this.headers.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
    if (typeof options.body === "string" && !this.headers.has("content-type")) this.headers.set("content-type", "text/plain;charset=UTF-8");
  }
}

class Response extends Body {
  constructor(body, options = {}) {
    super(body);
    this.status = options.status === undefined ? 200 : options.status;
    this.statusText = options.statusText || "";
    this.headers = new Headers(options.headers);
    this.url = options.url || "";
    this.ok = this.status >= 200 && this.status < 300;
    this.redirected = Boolean(options.redirected);
  }
  static json(value, options) { return new Response(JSON.stringify(value), { ...options, headers: { "content-type": "application/json", ...(options && options.headers) } }); }
  clone() { return new Response(this.copy(), this); }
}

const fetch = (input, options) =>
  new Promise((done, fail) => {
    const request = new Request(input, options);
    if (request.signal && request.signal.aborted) return fail(request.signal.reason);
    let release = () => {};
    const id = start("fetch", { url: request.url, method: request.method, headers: [...request.headers], body: toBase64(request.copy()), redirect: request.redirect }, {
      done: (r) => {
        release();
        done(new Response(fromBase64(r.body), r));
      },
      fail: (e) => {
        release();
        fail(Object.assign(new TypeError("fetch failed: " + e.message), { cause: e, stack: e.stack }));
      },
    });
    release = onAbort(request.signal, (reason) => {
      stop(id);
      fail(reason);
    });
  });

// --- the rest -------------------------------------------------------------------

const structuredClone = (value) => {
  const seen = new Map();
  const copy = (v) => {
    if (typeof v === "function" || typeof v === "symbol") throw new DOMException(`${inspect(v)} could not be cloned.`, "DataCloneError");
    if (v === null || typeof v !== "object") return v;
    if (seen.has(v)) return seen.get(v);
    let out;
    if (v instanceof Date) return new Date(v);
    if (v instanceof RegExp) return new RegExp(v.source, v.flags);
    if (ArrayBuffer.isView(v)) return v.slice();
    if (v instanceof ArrayBuffer) return v.slice(0);
    if (Array.isArray(v)) {
      seen.set(v, (out = new Array(v.length)));
      v.forEach((e, i) => (out[i] = copy(e)));
    } else if (v instanceof Map) {
      seen.set(v, (out = new Map()));
      for (const [k, e] of v) out.set(copy(k), copy(e));
    } else if (v instanceof Set) {
      seen.set(v, (out = new Set()));
      for (const e of v) out.add(copy(e));
    } else if (v instanceof Error) {
      seen.set(v, (out = new Error(v.message)));
      out.name = v.name;
      out.stack = v.stack;
    } else {
      seen.set(v, (out = {}));
      for (const k of Object.keys(v)) out[k] = copy(v[k]);
    }
    return out;
  };
  return copy(value);
};

const randomBytes = (n) => Buffer.over(fromBase64(call("random", n)));
const webcrypto = {
  randomUUID() {
    const b = randomBytes(16);
    b[6] = (b[6] & 15) | 64;
    b[8] = (b[8] & 63) | 128;
    const h = decodeText(b, "hex");
    return [h.slice(0, 8), h.slice(8, 12), h.slice(12, 16), h.slice(16, 20), h.slice(20)].join("-");
  },
  getRandomValues(view) {
    asBytes(view).set(randomBytes(view.byteLength));
    return view;
  },
  subtle: {
    async digest(algorithm, data) {
      const name = String(algorithm.name || algorithm).toLowerCase().replace("-", "");
      const out = fromBase64(call("hash", { algorithm: name, data: toBase64(asBytes(data)) }));
      return out.buffer.slice(out.byteOffset, out.byteOffset + out.byteLength);
    },
  },
};

class EventEmitter {
  #on = new Map();
  on(name, run) {
    callable(run);
    this.#on.set(name, [...(this.#on.get(name) || []), { run }]);
    return this;
  }
  once(name, run) {
    callable(run);
    this.#on.set(name, [...(this.#on.get(name) || []), { run, once: true }]);
    return this;
  }
  prependListener(name, run) {
    this.#on.set(name, [{ run: callable(run) }, ...(this.#on.get(name) || [])]);
    return this;
  }
  off(name, run) {
    const list = this.#on.get(name) || [];
    const at = list.findLastIndex((l) => l.run === run);
    if (at >= 0) this.#on.set(name, list.filter((_, i) => i !== at));
    return this;
  }
  emit(name, ...args) {
    const list = this.#on.get(name) || [];
    if (!list.length && name === "error") throw args[0] instanceof Error ? args[0] : new Error("Unhandled error: " + inspect(args[0]));
    for (const l of list) {
      if (l.once) this.off(name, l.run);
      tend(l.run.apply(this, args), String(name));
    }
    return list.length > 0;
  }
  removeAllListeners(name) {
    name === undefined ? this.#on.clear() : this.#on.delete(name);
    return this;
  }
  listenerCount(name) { return (this.#on.get(name) || []).length; }
  listeners(name) { return (this.#on.get(name) || []).map((l) => l.run); }
  eventNames() { return [...this.#on.keys()]; }
  setMaxListeners() { return this; }
}
EventEmitter.prototype.addListener = EventEmitter.prototype.on;
EventEmitter.prototype.removeListener = EventEmitter.prototype.off;
EventEmitter.EventEmitter = EventEmitter;
EventEmitter.once = (emitter, name) =>
  new Promise((done, fail) => {
    emitter.once(name, (...args) => done(args));
    if (name !== "error") emitter.once("error", fail);
  });

return { utf8, fromUtf8, toBase64, fromBase64, fromLatin, toLatin, asBytes, encodeText, decodeText, Buffer, TextEncoder, TextDecoder, btoa, atob, DOMException, Event, EventTarget, AbortSignal, AbortController, fire, onAbort, URL, URLSearchParams, Headers, Request, Response, fetch, structuredClone, webcrypto, randomBytes, EventEmitter, crypto: webcrypto };
};
