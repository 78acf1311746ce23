// How each event is given to the handlers of one session, and what is made of
// what they return. The rules differ between pi's generations.

const truthy = (r) => r !== null && typeof r === "object";

// heard runs one handler. Outside of tool_call a throw is reported and the
// rest still run; the first generation gives each handler its time.
async function heard(session, request, event, handler, ctx) {
  try {
    const said = handler(event, ctx);
    if (!said || typeof said.then !== "function") return said;
    if (settings.generation !== "hooks1" || event.reason === "before_compact") return await said;
    return await bounded(session, request, said);
  } catch (e) {
    report(request, event, e);
    return undefined;
  }
}

// bounded waits for a handler as long as the settings say, not counting the
// time a person takes. The handler itself goes on.
function bounded(session, request, said) {
  return new Promise((done, fail) => {
    let timer;
    const arm = () => {
      timer = setTimeout(() => (request.open > 0 ? arm() : fail(new Error(`handler took longer than ${settings.timeout} ms`))), settings.timeout);
    };
    within(session, arm);
    said.then(
      (v) => {
        clearTimeout(timer);
        done(v);
      },
      (e) => {
        clearTimeout(timer);
        fail(e);
      },
    );
  });
}

function report(request, event, e) {
  call("problem", { dispatch: request.id, event: event.type + (event.reason ? ":" + event.reason : ""), error: describe(e) });
}

// picture remembers an input, so that a change shows: most are flat.
function picture(input) {
  const keys = Object.keys(input);
  const flat = [keys];
  for (let i = 0; i < keys.length; i++) {
    const value = input[keys[i]];
    if (value !== null && typeof value === "object") return JSON.stringify(input);
    flat.push(value);
  }
  return flat;
}

function unchanged(before, input) {
  if (typeof before === "string") return JSON.stringify(input) === before;
  if (input === null || typeof input !== "object") return false;
  const keys = before[0];
  for (let i = 0; i < keys.length; i++) if (input[keys[i]] !== before[i + 1]) return false;
  return Object.keys(input).length === keys.length;
}

// checkAnswer refuses what a handler said by mistake: a word, true, or a member
// that means nothing. A guard that says { blok: true } must not let the call pass.
// Numbers and lists are what push() and its like leave behind, and say nothing.
function checkAnswer(event, r, members, want) {
  let what = "";
  if (typeof r === "string" || r === true) what = JSON.stringify(r).slice(0, 80);
  else if (truthy(r) && !Array.isArray(r)) {
    const unknown = Object.keys(r).find((key) => !members.includes(key) && r[key] !== undefined);
    if (unknown !== undefined) what = `the unknown member ${JSON.stringify(unknown).slice(0, 80)}`;
  }
  if (what) throw new TypeError(`${event.type}: a handler returned ${what}; ${want}`);
}

// ToolCall is tool_call. The first block stops; a throw blocks, and the caller
// hears it as threw. It is waited for at every call of a tool, so it is told by
// a callback: awaiting costs several times what a regex does.
class ToolCall {
  constructor(request, event, list, ctx, done) {
    this.request = request;
    this.event = event;
    this.list = list;
    this.many = list.length; // those who come while it is evaluated are not asked
    this.at = 0;
    this.ctx = ctx;
    this.done = done;
    this.before = picture(event.input);
    this.result = undefined;
    this.next();
  }
  next() {
    try {
      while (this.at < this.many) {
        const r = this.list[this.at++](this.event, this.ctx);
        if (r && typeof r.then === "function") {
          r.then((v) => this.later(v), (e) => this.threw(e));
          return;
        }
        if (r && !this.heard(r)) return;
      }
      const { input } = this.event;
      this.done(this.result, unchanged(this.before, input) ? undefined : input);
    } catch (e) {
      this.threw(e);
    }
  }
  later(r) {
    try {
      if (!this.heard(r)) return;
    } catch (e) {
      return this.threw(e);
    }
    this.next();
  }
  heard(r) {
    checkAnswer(this.event, r, ["block", "reason", "terminate"], "return { block: true, reason } to stop the call, and nothing to let it pass");
    if (!truthy(r)) return true;
    if (r.block) {
      this.done({ block: true, reason: r.reason === undefined ? "" : String(r.reason), terminate: r.terminate });
      return false;
    }
    this.result = r;
    return true;
  }
  threw(e) {
    report(this.request, this.event, e);
    this.done(undefined, undefined, describe(e));
  }
}

function checkInput(event, r) {
  const want = 'return { action: "handled" } to stop the prompt, { action: "transform", text } to change it, and nothing to let it pass';
  checkAnswer(event, r, ["action", "text", "images"], want);
  if (truthy(r) && r.action !== undefined && !["continue", "handled", "transform"].includes(r.action)) {
    throw new TypeError(`input: a handler returned the unknown action ${JSON.stringify(r.action).slice(0, 80)}; ${want}`);
  }
}

const rules = {
  tool_call: (session, request, event, list, ctx) => new Promise((done) => new ToolCall(request, event, list, ctx, (result, input, threw) => done({ result, input, threw }))),

  async tool_result(session, request, event, list, ctx) {
    let result;
    for (const handler of list) {
      const r = await heard(session, request, event, handler, ctx);
      if (!truthy(r)) continue;
      if (settings.generation !== "ext") {
        result = r; // the last one wins whole
        continue;
      }
      result = { ...result };
      for (const key of ["content", "details", "structuredContent", "isError", "usage"]) {
        if (r[key] === undefined) continue;
        result[key] = event[key] = r[key];
        if (key === "content" && r.structuredContent === undefined) delete event.structuredContent;
      }
    }
    if (result && settings.generation !== "ext") delete result.isError;
    return { result };
  },

  async input(session, request, event, list, ctx) {
    let changed = false;
    for (const handler of list) {
      const r = await heard(session, request, event, handler, ctx);
      try {
        checkInput(event, r);
      } catch (e) {
        report(request, event, e);
        return { threw: describe(e) };
      }
      if (!truthy(r)) continue;
      if (r.action === "handled") return { result: { action: "handled" } };
      if (r.action === "transform") {
        changed = true;
        if (r.text !== undefined) event.text = String(r.text);
        if (r.images !== undefined) event.images = r.images;
      }
    }
    return changed ? { result: { action: "transform", text: event.text, images: event.images } } : {};
  },

  async before_agent_start(session, request, event, list, ctx) {
    const messages = [];
    const appended = [];
    const options = JSON.stringify(event.systemPromptOptions);
    let prompt;
    if (event.systemPrompt) request.prompt = event.systemPrompt;
    for (const handler of list) {
      const r = await heard(session, request, event, handler, ctx);
      if (!truthy(r)) continue;
      if (r.message) messages.push(r.message);
      if (r.systemPromptAppend) appended.push(String(r.systemPromptAppend));
      if (typeof r.systemPrompt === "string") prompt = event.systemPrompt = request.prompt = r.systemPrompt;
    }
    const result = { messages, systemPrompt: prompt, systemPromptAppend: appended.join("\n\n") || undefined };
    // Its sections may be written to in place.
    if (session.pi && JSON.stringify(event.systemPromptOptions) !== options) result.systemPromptOptions = event.systemPromptOptions;
    return messages.length || appended.length || prompt !== undefined || result.systemPromptOptions ? { result } : {};
  },

  async user_bash(session, request, event, list, ctx) {
    for (const handler of list) {
      try {
        const r = await handler(event, ctx);
        if (r === undefined) continue;
        if (truthy(r) && r.operations) throw new Error("user_bash: operations cannot be carried out of a hook; return { result } instead");
        return truthy(r) ? { result: r } : { threw: { name: "", message: "a user_bash handler returned something that is no object", stack: "" } };
      } catch (e) {
        report(request, event, e);
        return { threw: describe(e) };
      }
    }
    return {};
  },

  async project_trust(session, request, event, list, ctx) {
    for (const handler of list) {
      const r = await heard(session, request, event, handler, ctx);
      if (truthy(r) && (r.trusted === "yes" || r.trusted === "no")) return { result: r };
    }
    return {};
  },
};

// What a hook offers pi is run here, for our extension there. A file that has
// no such tool or command leaves it to the next.
const offered = (of, run) => async (session, request, event, list, ctx) => {
  const one = session[of].get(event.name);
  if (!one) return {};
  try {
    return { result: (await run(one, event, ctx, request)) || { done: true } };
  } catch (e) {
    return { threw: describe(e) };
  }
};
rules.hookmux_tool = offered("tools", async (tool, event, ctx, request) => ({ tool: await tool.execute(event.toolCallId, event.params, signalOf(request), () => {}, ctx) }));
rules.hookmux_command = offered("commands", (command, event, ctx) => Promise.resolve(command.handler(event.args, ctx)).then(() => undefined));

// Every handler gets what those before it made of one field.
const chained = (field, fits = () => true) => async (session, request, event, list, ctx) => {
  let changed = false;
  for (const handler of list) {
    const r = await heard(session, request, event, handler, ctx);
    const value = field === "payload" ? r : truthy(r) ? r[field] : undefined;
    if (value === undefined || !fits(value, event)) continue;
    event[field] = value;
    changed = true;
  }
  return changed ? { result: { [field]: event[field] } } : {};
};
rules.message_end = chained("message", (m, event) => m && m.role === event.message.role);
rules.before_provider_request = chained("payload");

// Some handlers change a field in place.
const inPlace = (field, run) => async (session, request, event, list, ctx) => {
  const before = JSON.stringify(event[field]);
  await run(session, request, event, list, ctx);
  return JSON.stringify(event[field]) === before ? {} : { result: { [field]: event[field] } };
};
rules.context = rules.context_with_system = inPlace("messages", chained("messages", Array.isArray));
rules.before_provider_headers = inPlace("headers", ignored);

// Later handlers replace what earlier ones said, field by field.
const replaced = (...fields) => async (session, request, event, list, ctx) => {
  let result;
  for (const handler of list) {
    const r = await heard(session, request, event, handler, ctx);
    if (!truthy(r)) continue;
    result = { ...result };
    for (const field of fields) if (r[field] !== undefined) result[field] = r[field];
  }
  return { result };
};
rules.agent_before_settle = replaced("continue", "entries");
rules.turn_end = replaced("continue", "entries");
rules.resources_discover = replaced("skillPaths", "promptPaths", "themePaths");

// The last answer counts, the first cancel stops.
async function cancellable(session, request, event, list, ctx) {
  let result;
  for (const handler of list) {
    const r = await heard(session, request, event, handler, ctx);
    if (!truthy(r)) continue;
    result = r;
    if (r.cancel) break;
  }
  return { result };
}

async function ignored(session, request, event, list, ctx) {
  for (const handler of list) await heard(session, request, event, handler, ctx);
  return {};
}

function ruleFor(type) {
  if (Object.hasOwn(rules, type)) return rules[type];
  if (type === "session" || type.startsWith("session_before_") || type === "cache_warming_decision") return cancellable;
  return ignored;
}

const branchedAt = new Map(); // a session's file → the place of the entry that it was last branched from

// branchIndex is the place of the entry that a session is branched from. Behind the
// branch pi names the session only, not the entry.
function branchIndex(event, request) {
  if (event.reason === "branch") return branchedAt.get(event.previousSessionFile);
  const index = Math.max(event.entries.findIndex((e) => e.id === event.entryId), 0);
  if (request.ctx.sessionFile) branchedAt.set(request.ctx.sessionFile, index);
  return index;
}

// dressed gives an event what cannot travel as JSON.
function dressed(event, session, request) {
  Object.defineProperty(event, "native", {
    configurable: true,
    enumerable: true,
    get() {
      const value = JSON.parse(request.native);
      Object.defineProperty(event, "native", { value, writable: true, configurable: true, enumerable: true });
      return value;
    },
  });
  if (!event.absent && !event.wants) return event;
  const { absent: missing, wants } = event;
  const rest = event;
  delete rest.absent;
  delete rest.wants;
  for (const name of missing || []) {
    if (Object.hasOwn(rest, name)) continue; // it was said all the same, as in `hooks test --input`
    Object.defineProperty(rest, name, {
      configurable: true,
      get() {
        throw new Error(session.pi ? `pi did not say event.${name}` : `event.${name} is known in pi only; this session is ${session.agent}'s`);
      },
    });
  }
  for (const name of wants || []) {
    // The first generation counted the header as an entry.
    if (name === "entries") Object.defineProperty(rest, name, { configurable: true, get: () => { const file = new Record(session, request); return [file.getHeader(), ...file.getEntries()]; } });
    if (name === "sessionFile") rest.sessionFile = request.ctx.sessionFile || null;
    // The first generation named an entry by its place.
    if (name === "targetTurnIndex") rest.targetTurnIndex = branchIndex(rest, request);
    if (name === "model") Object.defineProperty(rest, name, { configurable: true, enumerable: true, get: () => new Context(session, request).model });
    if (name === "signal") Object.defineProperty(rest, name, { configurable: true, enumerable: true, get: () => signalOf(request) });
    if (name === "resolveApiKey") rest.resolveApiKey = async () => {
      if (!session.pi) throw onlyPi("resolveApiKey");
      return "held by pi";
    };
  }
  return rest;
}

const running = new Map(); // dispatch → request

async function dispatch(request) {
  const session = sessionOf(request.ctx);
  current = session;
  session.dispatch = request.id;
  request.open = 0;
  running.set(request.id, request);
  const out = [];
  try {
    if (session.ready) await session.ready;
    if (session.failure) throw session.failure.error;
    const ctx = new Context(session, request);
    for (const event of request.events) {
      const list = session.handlers.get(event.type);
      if (!list || !list.length || (event.type === "agent_settled" && request.goesOn)) {
        out.push(null);
        continue;
      }
      if (event.type === "before_agent_start" && request.text !== undefined) event.prompt = request.text;
      const said = await ruleFor(event.type)(session, request, dressed(event, session, request), [...list], ctx);
      if (said.result && said.result.action === "transform") request.text = said.result.text; // what follows is about that
      if (event.type === "agent_before_settle" && said.result && said.result.continue) request.goesOn = true;
      out.push(said.result === undefined && said.input === undefined && said.threw === undefined ? null : said);
      if (said.threw || (said.result && (said.result.block || said.result.action === "handled"))) break;
    }
  } finally {
    running.delete(request.id);
    if (request.ends) session.close();
  }
  return out;
}

// What is said of a session is read once, as long as it stays the same.
const abouts = new Map();
function aboutOf(text) {
  let about = abouts.get(text);
  if (about === undefined) {
    if (abouts.size >= 64) abouts.clear();
    abouts.set(text, (about = JSON.parse(text)));
  }
  return about;
}

// quickly is dispatch for what happens most: one call of a tool. It comes in
// three pieces, which are described where Go writes them.
function quickly(id, about, own, text) {
  const ctx = aboutOf(about);
  const said = JSON.parse(text);
  const session = sessionOf(ctx);
  const event = {
    input: said[2],
    toolCallId: said[1],
    toolName: said[0],
    type: "tool_call",
    get native() {
      const value = JSON.parse(own);
      Object.defineProperty(this, "native", { value, writable: true, configurable: true, enumerable: true });
      return value;
    },
  };
  const request = { id, ctx, open: 0 };
  const list = session.handlers.get("tool_call");
  if (session.ready || session.failure || !list || !list.length) {
    request.events = [event];
    request.native = own;
    dispatch(request).then((v) => finish(id, v), (e) => fail(id, e));
    return;
  }
  current = session;
  session.dispatch = id;
  running.set(id, request);
  new ToolCall(request, event, list, new Context(session, request), (result, input, threw) => {
    running.delete(id);
    finish(id, result === undefined && input === undefined && threw === undefined ? undefined : [{ result, input, threw }]);
  });
}

// --- Go's way in ------------------------------------------------------------------

const finish = (id, value) => {
  let text;
  try {
    text = value === undefined ? "" : JSON.stringify(value) || "";
  } catch (e) {
    return fail(id, e); // what was said cannot be told
  }
  native.done(id, text);
};
const fail = (id, e) => native.sync("done", JSON.stringify({ id, error: describe(e) }));

function loaded(id, space) {
  let made = space.default;
  if (made && typeof made !== "function" && typeof made.default === "function") made = made.default;
  if (typeof made !== "function") throw new Error("no default export; write: export default function (hooks) { … }");
  factory = made;
  spare = new Session("").open();
  const say = () => {
    if (spare && spare.failure) return fail(id, spare.failure.error);
    const tools = [...spare.tools.values()].map(({ name, label, description, parameters, promptSnippet, promptGuidelines }) => ({ name, label, description, parameters, promptSnippet, promptGuidelines }));
    const commands = [...spare.commands].map(([name, o]) => ({ name, description: (o && o.description) || "" }));
    finish(id, { events: [...spare.handlers.keys()], lacks: [...spare.lacks], tools, commands });
  };
  if (spare.ready) spare.ready.then(say);
  else say();
}

const entries = {
  load(id, args) {
    settings = args;
    current = null;
    importFile(args.file).then((space) => loaded(id, space)).catch((e) => fail(id, e));
  },
  event(id, request) {
    request.id = id;
    dispatch(request).then((v) => finish(id, v.some((said) => said !== null) ? v : undefined), (e) => fail(id, e));
  },
  expire(id) {
    const request = running.get(id);
    if (!request) return;
    current = sessions.get(request.ctx.key) || null;
    request.expired = true;
    if (request.abort) request.abort.abort(timeIsUp());
  },
  abandon: (id) => void running.delete(id),
  drop(id, key) {
    const session = sessions.get(key);
    if (session) session.close();
  },
  reply(id, said) {
    const w = waiting.get(id);
    if (!w) return;
    current = w.owner;
    if (said.data !== undefined) return w.data && w.data(said.data);
    waiting.delete(id);
    if (said.error) {
      const error = new HostError(said.error);
      if (w.place) error.stack = w.place;
      (w.fail || ((e) => loose(e, w.op)))(error);
    }
    else if (w.done) w.done(said.value);
  },
};

const enter = globalThis.__enter = (kind, id, json, own, text) => {
  if (kind === "rejected") {
    const reason = globalThis.__rejected;
    delete globalThis.__rejected;
    return rejected(reason);
  }
  if (kind === "well") return void new Uint8Array(1 << 18); // throws when the engine's memory is used up
  if (kind === "call") {
    try {
      quickly(id, json, own, text);
    } catch (e) {
      fail(id, e);
    }
    return;
  }
  try {
    entries[kind](id, json === "" ? undefined : JSON.parse(json));
  } catch (e) {
    loose(e, kind === "reply" ? "" : kind);
  }
};
