// ---- Inner events: what happens inside pi, for hooks in TypeScript ----
//
// They are many and large, so the daemon is asked which of them anybody listens
// to, and only those are subscribed to. Nothing else hears of them.

const WANTED_WAIT = 1000; // how long pi's start is held up to learn what hooks listen to
const WANTED_SECONDS = 200; // how long that question stays open afterwards
const TOLD_LIMIT = 10_000;
const MESSAGES = 8; // how many hooks may add to one prompt

const list = (value) => (Array.isArray(value) ? value : undefined);
const paths = (value) => (list(value) || []).filter((one) => typeof one === "string");
const some = (object) => (Object.values(object).some((value) => value !== undefined) ? object : undefined);
const stated = (answer, ...keys) => some(Object.fromEntries(keys.map((key) => [key, answer[key]])));
const messages = (answer) => (list(answer.messages) ? { messages: answer.messages } : undefined);

// What a provider's headers must not tell anybody.
const SECRET = /auth|key|token|secret|cookie|credential|signature/i;
const harmless = (headers) => Object.fromEntries(Object.entries(isObject(headers) ? headers : {}).filter(([name]) => !SECRET.test(name)));

// Each event: what pi gets of the hooks' answer (without it pi waits for the
// hooks and takes nothing), whether pi's own abort ends the wait, whether pi
// doesn't wait at all, and what is sent in place of the event.
const INNER = {
  agent_start: {}, agent_end: {}, agent_settled: {}, turn_start: {}, message_start: {}, tool_execution_start: {}, tool_execution_end: {},
  session_tree: {}, session_compact_failed: {}, model_select: {}, thinking_level_select: {}, mcp_servers_change: {},
  after_provider_response: { shown: (event) => ({ ...event, headers: harmless(event.headers) }) },
  message_update: { often: true }, tool_execution_update: { often: true }, provider_stream_event: { often: true },
  context: { abort: true, take: messages }, context_with_system: { abort: true, take: messages },
  before_provider_request: { abort: true, take: (answer) => answer.payload },
  before_provider_headers: {
    abort: true,
    shown: (event) => ({ ...event, headers: harmless(event.headers) }),
    take: (answer, event) => {
      if (!isObject(answer.headers)) return;
      // What was not shown is not touched; what is gone is taken out.
      for (const name of Object.keys(harmless(event.headers))) if (!(name in answer.headers)) event.headers[name] = null;
      for (const [name, value] of Object.entries(answer.headers)) if (value === null || typeof value === "string") event.headers[name] = value;
    },
  },
  message_end: { take: (answer, event) => (isObject(answer.message) && answer.message.role === event.message?.role ? { message: answer.message } : undefined) },
  turn_end: { take: (answer) => stated({ continue: typeof answer.continue === "boolean" ? answer.continue : undefined, entries: list(answer.entries) }, "continue", "entries") },
  user_bash: {
    take: (answer) => {
      if (text(answer.threw)) throw new Error(answer.threw);
      return isObject(answer.result) ? { result: answer.result } : undefined;
    },
  },
  session_before_tree: { abort: true, take: (answer) => (answer.cancel === true ? { cancel: true } : stated(answer, "summary", "customInstructions", "replaceInstructions", "label")) },
  resources_discover: { take: (answer) => ({ skillPaths: paths(answer.skillPaths), promptPaths: paths(answer.promptPaths), themePaths: paths(answer.themePaths) }) },
  cache_warming_decision: { take: (answer) => stated(answer, "action") },
  // Whoever listens here must answer.
  project_trust: { take: (answer) => (answer.trusted === "yes" || answer.trusted === "no" ? stated(answer, "trusted", "remember") : { trusted: "undecided" }), otherwise: { trusted: "undecided" } },
  before_agent_start: {
    abort: true,
    take: (answer, event, rest) => {
      // A handler gives one message; the others go with the handlers behind it.
      const [message, ...more] = (list(answer.messages) || []).filter(isObject);
      rest.splice(0, rest.length, ...more);
      if (isObject(answer.systemPromptOptions) && isObject(event.systemPromptOptions)) replaceIn(event.systemPromptOptions, answer.systemPromptOptions);
      const whole = typeof answer.systemPrompt === "string" ? answer.systemPrompt : undefined;
      return some({ message, systemPrompt: whole !== undefined && Array.isArray(event.systemPrompt) ? [whole] : whole }); // omp has a list of them
    },
  },
};

// Where pi has hooks of its own among the events above, our plugin may be
// loaded twice: the one loaded last speaks.
const speaker = Symbol.for("hookmux.inner");

class Inner {
  constructor(pi, line, about) {
    Object.assign(this, { pi, line, about, wanted: new Set(), known: [], offered: new Set(), off: new Map(), rest: [], session: "", token: {}, stopped: false });
    globalThis[speaker] = this.token;
    this.subscribe("project_trust"); // before any session there is
  }

  // begin learns what hooks of a session listen to, now and from now on.
  async begin(session, cwd) {
    globalThis[speaker] = this.token;
    this.session = session;
    this.cwd = cwd;
    if (disabled(AGENT)) return;
    this.round = (this.round || 0) + 1;
    await within(new Promise((heard) => this.follow(this.round, heard)), WANTED_WAIT);
  }

  stop() {
    this.stopped = true;
    this.question?.destroy();
  }

  // follow keeps asking. A daemon that is about to start is asked again soon.
  async follow(round, heard) {
    for (let retry = 50; !this.stopped && round === this.round; ) {
      const wanted = await this.ask(heard ? 0 : WANTED_SECONDS, this.known);
      if (this.stopped || round !== this.round) break;
      if (wanted) {
        retry = 50;
        this.want(wanted);
        heard?.();
        heard = undefined;
        continue;
      }
      if (wanted === null) {
        retry = 600_000;
        heard?.();
        heard = undefined;
      }
      await idle(retry);
      retry = Math.min(retry * 2, 60_000);
    }
    heard?.();
  }

  // ask gives the names, undefined when no daemon answers, null when it is too old
  // to know. Nothing of this keeps pi alive.
  async ask(wait, known) {
    const params = { agent: AGENT, session: this.session, cwd: this.cwd, known, wait };
    const answer = await question("typescript.wanted", params, (socket) => (this.question = socket));
    return answer && (list(answer.result?.events) ? answer.result : null);
  }

  want({ events, known, tools, commands }) {
    this.known = list(known) || events;
    this.wanted = new Set(events.filter((name) => Object.hasOwn(INNER, name)));
    for (const tool of list(tools) || []) this.offer("tool", tool);
    for (const command of list(commands) || []) this.offer("command", command);
    for (const name of this.wanted) this.subscribe(name);
    for (const [name, off] of this.off) {
      if (this.wanted.has(name) || name === "project_trust" || typeof off !== "function") continue; // an older pi keeps it; see handle
      off();
      this.off.delete(name);
    }
  }

  // offer registers what a hook offers with pi. pi has no way to take it back;
  // once no hook has it any more it says so when it is used.
  offer(what, one) {
    const key = what + ":" + text(one?.name);
    if (!text(one?.name) || this.offered.has(key)) return;
    this.offered.add(key);
    const ask = async (fields, ctx, signal) => {
      const type = "hookmux_" + what;
      const payload = this.about({ type, name: one.name, ...fields }, ctx, true);
      const answer = await this.line.ask(text(payload.ctx.sessionId), type, payload, GATE_LIMIT, { inner: true, signal });
      if (text(answer.threw)) throw new Error(answer.threw);
      if (answer === NONE) throw new Error("no hook answers for " + one.name + " any more; hookmux hooks list");
      return answer;
    };
    try {
      if (what === "tool") {
        const execute = async (toolCallId, params, signal, _update, ctx) => {
          const { tool } = await ask({ toolCallId, params }, ctx, signal);
          return isObject(tool) && list(tool.content) ? tool : { content: [], details: tool };
        };
        this.pi.registerTool?.({ ...one, label: one.label || one.name, execute });
      } else {
        const handler = async (args, ctx) => {
          try {
            await ask({ args }, ctx);
          } catch (err) {
            peek(() => ctx.ui.notify("hookmux: " + err.message, "error"));
          }
        };
        this.pi.registerCommand?.(one.name, { description: one.description, handler });
      }
    } catch {} // pi does not take it
  }

  subscribe(name) {
    if (this.off.has(name)) return;
    this.off.set(name, undefined);
    const offs = [this.pi.on(name, (event, ctx) => this.handle(name, event, ctx))];
    if (name === "before_agent_start") for (let n = 1; n < MESSAGES; n++) offs.push(this.pi.on(name, () => (this.rest.length ? { message: this.rest.shift() } : undefined)));
    if (offs.every((off) => typeof off === "function")) this.off.set(name, () => offs.forEach((off) => off()));
  }

  async handle(name, event, ctx) {
    const spec = INNER[name];
    const otherwise = spec.otherwise;
    let answer;
    try {
      if (globalThis[speaker] !== this.token || !isObject(event) || disabled(AGENT)) return otherwise;
      if (name === "project_trust") {
        if (!this.round) this.cwd = text(event.cwd);
        const wanted = await within(this.ask(0, []), WANTED_WAIT);
        this.wanted = new Set(wanted?.events);
      }
      if (!this.wanted.has(name)) return otherwise;
      const { signal, ...shown } = spec.shown ? spec.shown(event) : event;
      const payload = this.about({ ...shown, type: name }, ctx, true);
      const session = text(payload.ctx.sessionId);
      if (spec.often) return void this.line.tell(session, name, payload, { inner: true, limit: TOLD_LIMIT });
      answer = await this.line.ask(session, name, payload, SHORT_LIMIT, { inner: true, signal: spec.abort ? signal ?? peek(() => ctx.signal) : undefined });
    } catch {
      return otherwise; // no opinion
    }
    if (!spec.take || answer === NONE) return otherwise;
    return spec.take(answer, event, this.rest) ?? otherwise;
  }
}

// idle waits without keeping pi alive.
const idle = (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref?.());

// ---- End of inner events ----
