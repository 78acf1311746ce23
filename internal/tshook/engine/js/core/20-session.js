// One file serves many sessions. For each the default export is called once,
// with an API that belongs to that session.

let settings = { generation: "ext", timeout: 30000 };
let factory = null;
const sessions = new Map(); // key → Session
let spare = null; // made while loading; the first session takes it over

const cancelled = () => (settings.generation === "hooks1" ? null : undefined);

// lacking notes, once per session, that something was asked for which only pi
// can do.
function lacking(session, what) {
  if (session.lacks.has(what)) return;
  session.lacks.add(what);
  if (!session.pi) call("lacking", { what, agent: session.agent });
}

// act lets pi do something, where our extension listens there.
function act(session, on, method, args) {
  if (!session.pi) return lacking(session, on === "ui" && method === "setStatus" ? "ui.setStatus: pi's footer is in pi only" : `${on === "pi" ? "" : on + "."}${method}: works in pi only`);
  if (args.some((a) => typeof a === "function")) return lacking(session, `${on}.${method}: what a hook draws itself does not reach pi`);
  within(session, () => start("act", { what: "act", on, method, args: args.map((a) => (a === undefined ? null : a)) }, { done() {}, fail() {} }));
}
const uiActs = ["setStatus", "setTitle", "setWidget", "setWorkingMessage", "setWorkingVisible", "setWorkingIndicator", "setHiddenThinkingLabel", "setEditorText", "pasteToEditor", "setToolsExpanded", "setTheme"];

class Session {
  constructor(key) {
    this.key = key;
    this.agent = "";
    this.id = "";
    this.cwd = "";
    this.pi = false;
    this.dispatch = 0;
    this.handlers = new Map();
    this.lacks = new Set();
    this.flags = new Map();
    this.commands = new Map();
    this.tools = new Map();
    this.added = []; // entries the hook appended
    this.name = undefined;
    this.heard = null; // its event bus
    this.ready = undefined;
    this.failure = undefined;
    this.about = null;
  }
  get bus() { return (this.heard ||= new (part("web").EventEmitter)()); }
  open() {
    const before = current;
    current = this;
    try {
      const made = factory(api(this));
      if (made && typeof made.then === "function") this.ready = made.then(() => void (this.ready = undefined), (e) => {
        this.failure = { error: e };
        this.ready = undefined;
      });
    } catch (e) {
      this.failure = { error: e };
    } finally {
      current = before;
    }
    return this;
  }
  close() {
    for (const [id, w] of [...waiting]) if (w.owner === this && ["timer", "watch", "listen", "spawn"].includes(w.op)) stop(id);
    sessions.delete(this.key);
  }
}

let latest = null; // the session that was used last

function sessionOf(about) {
  if (latest && latest.about === about && sessions.get(about.key) === latest) return latest;
  let session = sessions.get(about.key);
  if (!session) {
    session = spare || new Session(about.key).open();
    session.key = about.key;
    spare = null;
    if (sessions.size >= settings.sessions) sessions.values().next().value.close();
  } else sessions.delete(about.key); // to the end: used last
  sessions.set(about.key, session);
  session.agent = about.agent;
  session.id = about.session;
  session.cwd = about.cwd;
  session.pi = about.pi;
  session.headless = about.headless;
  session.about = about;
  return (latest = session);
}

// --- what a hook gets as its first argument ---------------------------------------

function send(session, text, options) {
  const said = call("send", { key: session.key, text, ...options });
  if (said) throw new Error(said);
}

const attachmentsOf = (list) => (Array.isArray(list) ? list : []).map((a) => ({ type: a.type || "image", fileName: a.fileName || a.name || "", mimeType: a.mimeType || "", content: a.content || a.data || "" }));
const imagesOf = (content) => (Array.isArray(content) ? attachmentsOf(content.filter((p) => p && p.type === "image")) : []);

function api(session) {
  const own = {
    on(name, run) {
      if (typeof run !== "function") throw new TypeError(`on("${name}"): the handler must be a function`);
      const list = session.handlers.get(name) || [];
      list.push(run);
      session.handlers.set(name, list);
      return () => void session.handlers.set(name, (session.handlers.get(name) || []).filter((r) => r !== run));
    },
    send: (text, attachments) => send(session, String(text), { turn: true, attachments: attachmentsOf(attachments) }),
    sendMessage: (message, options = {}) => send(session, textOf(message.content), { turn: Boolean(options.triggerTurn), deliver: options.deliverAs || "", attachments: imagesOf(message.content) }),
    sendUserMessage: (content, options = {}) => send(session, textOf(content), { turn: true, deliver: options.deliverAs || "", attachments: imagesOf(content) }),
    exec: (command, args, options) => within(session, () => execute(command, args, { cwd: session.cwd || undefined, ...options })),
    appendEntry(customType, data) {
      if (session.pi) act(session, "pi", "appendEntry", [customType, data]);
      else lacking(session, "appendEntry: kept in memory for this session; only pi writes it into its record");
      session.added.push({ type: "custom", id: Math.random().toString(16).slice(2, 10).padEnd(8, "0"), parentId: null, timestamp: new Date().toISOString(), customType, data });
    },
    registerCommand(name, options) {
      session.commands.set(name, options);
      session.handlers.set("hookmux_command", [() => {}]); // see its rule
      lacking(session, `registerCommand: /${name} can be typed in pi only`);
    },
    registerTool(tool) {
      session.tools.set(tool.name, tool);
      session.handlers.set("hookmux_tool", [() => {}]); // see its rule
      lacking(session, `registerTool: the tool ${tool.name} is offered to the model in pi only`);
    },
    registerFlag(name, options = {}) {
      session.flags.set(name, options.default);
      lacking(session, `registerFlag: --${name} can be given to pi only; here it has its default`);
    },
    registerShortcut: (key) => lacking(session, `registerShortcut: ${key} works in pi only`),
    getFlag: (name) => session.flags.get(name),
    getCommands: () => [...session.commands].map(([name, o]) => ({ name, description: o.description, source: "extension" })),
    getActiveTools: () => session.active || ["read", "bash", "edit", "write"],
    getAllTools: () => ["read", "bash", "edit", "write", "grep", "find", "ls", ...session.tools.keys()].map((name) => ({ name, description: "", parameters: {} })),
    setActiveTools(names) {
      session.active = [...names];
      if (session.pi) act(session, "pi", "setActiveTools", [session.active]);
      else lacking(session, "setActiveTools: only pi can take tools from the model; block them in tool_call instead");
    },
    getSessionName: () => session.name,
    setSessionName(name) {
      session.name = name;
      if (session.pi) act(session, "pi", "setSessionName", [name]);
      else lacking(session, "setSessionName: only pi takes a name from a hook");
    },
    setLabel: (...args) => act(session, "pi", "setLabel", args),
    setThinkingLevel: (...args) => act(session, "pi", "setThinkingLevel", args),
    getThinkingLevel: () => "off",
    events: {
      on(name, run) {
        session.bus.on(name, run);
        return () => session.bus.off(name, run);
      },
      emit: (name, data) => void session.bus.emit(name, data),
    },
    get agent() { return session.agent; },
  };
  return new Proxy(own, {
    get(target, name) {
      if (name in target || typeof name !== "string" || name === "then") return target[name];
      return () => lacking(session, `${name}: works in pi only`);
    },
  });
}

// --- what a handler gets as its second argument -------------------------------------

const paint = new Proxy({}, { get: (_, name) => (name === "fg" || name === "bg" ? (_c, text) => text : (text) => text) });

class Dialogs {
  #ctx;
  constructor(ctx) { this.#ctx = ctx; }
  get theme() { return paint; }
  #ask(kind, fields, options = {}) {
    const { session, request } = this.#ctx;
    if (!this.#ctx.hasUI) return Promise.resolve({ cancelled: true });
    if (options.signal && options.signal.aborted) return Promise.resolve({ cancelled: true });
    return within(session, () => new Promise((done) => {
      request.open++;
      let release = () => {};
      let timer;
      const finish = (answer) => {
        clearTimeout(timer);
        release();
        request.open--;
        done(answer);
      };
      const id = start("ask", { dispatch: request.id, kind, ...fields }, { done: finish, fail: () => finish({ cancelled: true }) });
      const end = () => {
        if (!waiting.has(id)) return;
        stop(id);
        finish({ cancelled: true });
      };
      if (options.timeout > 0) timer = setTimeout(end, options.timeout);
      release = watchSignal(options.signal, end);
    }));
  }
  async select(title, options, more) {
    const list = options.map((o) => String(typeof o === "object" && o ? o.label || o.value : o));
    const a = await this.#ask("select", { title: String(title), options: list }, more);
    return a.cancelled ? cancelled() : a.value;
  }
  async confirm(title, message, more) {
    const a = await this.#ask("confirm", { title: String(title), text: message === undefined ? "" : String(message) }, more);
    return !a.cancelled && a.confirmed === true;
  }
  async input(title, placeholder, more) {
    const a = await this.#ask("input", { title: String(title), placeholder: placeholder === undefined ? "" : String(placeholder) }, more);
    return a.cancelled ? cancelled() : a.value;
  }
  async editor(title, prefill, more) {
    const a = await this.#ask("editor", { title: String(title), placeholder: prefill === undefined ? "" : String(prefill) }, more);
    return a.cancelled ? cancelled() : a.value;
  }
  notify(message, level = "info") {
    call("notify", { dispatch: this.#ctx.request.id, text: String(message), level: String(level) });
    if (this.#ctx.session.pi) act(this.#ctx.session, "ui", "notify", [String(message), String(level)]);
  }
  async custom() {
    lacking(this.#ctx.session, "ui.custom: own components can be drawn in pi only; the dialog counts as closed");
    return undefined;
  }
  getEditorText() { return ""; }
  getToolsExpanded() { return false; }
  getAllThemes() { return []; }
}
const dialogs = (ctx) => new Proxy(new Dialogs(ctx), {
  get(target, name) {
    const value = Reflect.get(target, name, target);
    if (value !== undefined || typeof name !== "string" || name === "then") return typeof value === "function" ? value.bind(target) : value;
    if (uiActs.includes(name)) return (...args) => (name === "setStatus" && args[1] === undefined && !ctx.session.pi ? undefined : act(ctx.session, "ui", name, args));
    return () => lacking(ctx.session, `ui.${name}: works in pi only`);
  },
});

class Record {
  #session;
  #request;
  constructor(session, request) {
    this.#session = session;
    this.#request = request;
  }
  getEntries() {
    const list = call("entries", { key: this.#session.key, dispatch: this.#request.id });
    const { added } = this.#session;
    if (!added.length) return list;
    // pi writes down what was added; until it has, it is known here.
    const same = (e) => e.customType + JSON.stringify(e.data);
    const written = new Set(list.filter((e) => e.type === "custom").map(same));
    return [...list, ...added.filter((e) => !written.has(same(e)))];
  }
  getBranch() { return this.getEntries(); }
  getLeafEntry() { return this.getEntries().at(-1); }
  getLeafId() { return (this.getLeafEntry() || {}).id || null; }
  getEntry(id) { return this.getEntries().find((e) => e.id === id); }
  getSessionFile() { return this.#request.ctx.sessionFile || undefined; }
  getSessionId() { return this.#session.id; }
  getSessionName() { return this.#request.ctx.title || this.#session.name; }
  getCwd() { return this.#session.cwd; }
  getHeader() { return { type: "session", id: this.#session.id, cwd: this.#session.cwd }; }
  getLabel() { return undefined; }
  buildSessionContext() { return { messages: this.getEntries().filter((e) => e.type === "message").map((e) => e.message) }; }
}

const its = Symbol("its"); // not for those who look at a context's keys
class Context {
  constructor(session, request) {
    this[its] = [session, request];
    this.hasUI = request.ctx.hasUI;
    this.cwd = request.ctx.cwd;
    this.mode = request.ctx.mode;
    this.sessionFile = request.ctx.sessionFile || (settings.generation === "hooks1" ? null : undefined);
    this.agent = request.ctx.agent;
    this.sessionId = request.ctx.session;
  }
  get session() { return this[its][0]; }
  get request() { return this[its][1]; }
  get ui() { return this._ui || hide(this, "_ui", dialogs(this)); }
  get signal() { return signalOf(this.request); }
  get sessionManager() { return new Record(this.session, this.request); }
  get model() { return this.request.ctx.piModel ? { ...bareModel("", ""), ...this.request.ctx.piModel } : this.request.ctx.model ? bareModel("", this.request.ctx.model) : undefined; }
  get modelRegistry() {
    const session = this.session;
    const only = (what) => {
      if (!session.pi) throw onlyPi("modelRegistry." + what);
    };
    // pi tells which models it has where a summary is to be written.
    const { models } = this.request.ctx;
    const all = () => (models || []).map((m) => ({ ...bareModel("", ""), ...m }));
    return {
      find: (provider, id) => (only("find"), models ? all().find((m) => m.provider === provider && m.id === id) : bareModel(provider, id)),
      getAll: () => (only("getAll"), all()), getAvailable: () => (only("getAvailable"), all()),
      complete: (model, context, options) => within(session, () => part("packages").askModel("complete", { model, context, options })),
      getApiKey: async () => (only("getApiKey"), "held by pi"), getApiKeyAndHeaders: async () => (only("getApiKeyAndHeaders"), { ok: true, apiKey: "held by pi" }),
    };
  }
  exec(command, args, options) { return within(this.session, () => execute(command, args, { cwd: this.cwd || undefined, ...options })); }
  isIdle() { return this.request.ctx.idle; }
  hasPendingMessages() { return false; }
  isProjectTrusted() { return true; }
  getContextUsage() { return this.request.ctx.usage; }
  getSystemPrompt() { return this.request.prompt || this.request.ctx.prompt || ""; }
  abort() { this.session.pi ? act(this.session, "ctx", "abort", []) : lacking(this.session, "ctx.abort: only pi can be told to stop; block the call instead"); }
  shutdown() { act(this.session, "ctx", "shutdown", []); }
  compact(options) { act(this.session, "ctx", "compact", [{ customInstructions: options && options.customInstructions }]); }
  async waitForIdle() {}
}
function hide(object, key, value) {
  Object.defineProperty(object, key, { value });
  return value;
}

// signalOf is the signal of one event. Few handlers look at it.
function signalOf(request) {
  if (!request.abort) {
    const { AbortController } = part("web");
    request.abort = new AbortController();
    if (request.expired) request.abort.abort(timeIsUp());
  }
  return request.abort.signal;
}
const timeIsUp = () => new (part("web").DOMException)("the agent's time for this event is nearly over", "TimeoutError");
