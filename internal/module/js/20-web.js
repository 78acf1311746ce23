// The part of the web's interface that hooks use.

globalThis.DOMException = class DOMException extends Error {
  constructor(message = "", name = "Error") {
    super(message);
    this.name = name;
    this.code = name === "AbortError" ? 20 : name === "TimeoutError" ? 23 : 0;
  }
};

globalThis.Event = class Event {
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

globalThis.EventTarget = class EventTarget {
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
globalThis.AbortSignal = AbortSignal;
globalThis.AbortController = class AbortController {
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
globalThis.URLSearchParams = URLSearchParams;

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
globalThis.URL = URL;

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
globalThis.Headers = Headers;

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
globalThis.Request = Request;

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
globalThis.Response = Response;

globalThis.fetch = (input, options) =>
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
        fail(Object.assign(new TypeError("fetch failed: " + e.message), { cause: e }));
      },
    });
    release = onAbort(request.signal, (reason) => {
      stop(id);
      fail(reason);
    });
  });

// --- the rest -------------------------------------------------------------------

globalThis.structuredClone = (value) => {
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
globalThis.crypto = webcrypto;

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
