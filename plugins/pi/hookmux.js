// hookmux plugin __VERSION_PLAIN__ for __AGENT_PLAIN__
// Written by `hookmux install`, taken out by `hookmux uninstall`; edits are lost at the next upgrade.

/*__HOOKMUX_LINE__*/

/*__HOOKMUX_INNER__*/

// What is sent and taken back is written down in hookmux's catalogue
// (agent/data/pi.yaml and omp.yaml, agent/dialect/pi.go).

// How long pi is held up for a decision; it has no limit of its own, and omp has
// one for every handler.
const SHORT_LIMIT = Math.min(60_000, GATE_LIMIT);
const FLUSH_WAIT = 1800;
const SETTLE_WAIT = 1500; // how long an older pi may take to be idle after its last word
const MAX_TEXT = 20_000;
const SETTLE_GRACE = 2000; // how long the daemon may take to let a request go that was answered here

const OPTIONAL = new Set(["agent_start", "session_compact_failed", "user_bash", "user_python", "session_tree"]);

// What is large and in pi's own record, or can't travel.
const HEAVY = new Set(["context", "entries", "messages", "preparation", "systemPrompt", "systemPromptOptions", "branchEntries", "signal", "last_assistant_message"]);
// Hooks that write a summary need these, unless they are too much.
const FOR_SUMMARIES = ["preparation", "branchEntries"];
const MAX_HEAVY = 4 << 20;

// What hooks in TypeScript may have pi do.
const ACTS = {
  ui: ["notify", "setStatus", "setTitle", "setWidget", "setWorkingMessage", "setWorkingVisible", "setWorkingIndicator", "setHiddenThinkingLabel", "setEditorText", "pasteToEditor", "setToolsExpanded", "setTheme"],
  pi: ["appendEntry", "setActiveTools", "setLabel", "setSessionName", "setThinkingLevel"],
  ctx: ["abort", "compact", "shutdown"],
};

// omp tells of its own commands as of prompts, begins a turn without input where it
// prints, and has a word of its own for input that goes no further.
const IS_OMP = AGENT === "omp";
const HANDLED = IS_OMP ? { handled: true } : { action: "handled" };

// pi refuses to start, in every mode, with an extension that throws here.
// Names that a version doesn't know are kept and never called, so that one
// file serves all of them.
export default function hookmux(pi) {
  try {
    handlers(pi);
  } catch {} // pi goes on without us
}

function handlers(pi) {
  const line = new Line(AGENT, "", OPTIONAL);
  const version = versionOf(process.argv[1]);
  const resulted = new Set(); // calls whose tool_result was reported
  let started = ""; // session and reason of the last session_start
  let message; // what to tell the model when the prompt goes out
  let systemWords = ""; // what to add to its system prompt then
  let said = "";
  let failure = "";
  let aborted = false;
  let open = false; // a turn whose end was not reported yet
  let goingOn = false; // hookmux kept it going
  let settles = false; // this pi says when it has settled
  let timer;
  let here = ""; // the session, once there is one that can be written to
  const inbox = line.listen(() => (here ? [here] : []), prompted);

  let latest; // the newest context; it knows the models
  let known = ""; // the session that was seen last

  // prompted puts words into the session as the user's own, or runs a model
  // for a hook: the keys stay here.
  async function prompted(session, words, call) {
    if (session !== here) throw new Error("the session is gone");
    if (isObject(call)) return call.what === "act" ? acted(call) : await completed(call);
    await pi.sendUserMessage(words, { deliverAs: "followUp" });
  }

  // acted calls one of pi's own methods for a hook. What takes long is not
  // waited for.
  function acted({ on, method, args }) {
    const target = { ui: peek(() => latest.ui), ctx: latest, pi }[text(on)];
    if (!ACTS[text(on)]?.includes(method) || typeof target?.[method] !== "function") throw new Error("pi has no " + on + "." + method + " for hooks");
    const doing = target[method](...(Array.isArray(args) ? args.map((one) => one ?? undefined) : []));
    doing?.catch?.(() => {});
    return true;
  }

  async function completed(call) {
    const registry = peek(() => latest.modelRegistry);
    if (typeof registry?.complete !== "function") throw new Error("this pi has no models for hooks");
    const named = text(call.model?.provider);
    const model = named ? registry.find(named, call.model.id) : peek(() => latest.model);
    if (!model) throw new Error(named ? "pi has no model " + named + "/" + call.model.id : "pi has no model to use");
    // What a hook holds for a key is none.
    const { apiKey, headers, ...options } = isObject(call.options) ? call.options : {};
    return (await registry.complete(model, call.context, options)) ?? null;
  }

  // A context of a session that was replaced throws when it is looked at.
  // inner: the event is for hooks alone, and whole.
  function about(event, ctx, inner, more) {
    const manager = peek(() => ctx.sessionManager);
    const shown = {};
    for (const key of Object.keys(event)) if (inner || !HEAVY.has(key)) shown[key] = event[key];
    if (event.type === "session_before_compact") {
      for (const key of FOR_SUMMARIES) if ((encode(event[key])?.length ?? MAX_HEAVY) < MAX_HEAVY) shown[key] = event[key];
    }
    const around = {
      mode: peek(() => ctx.mode), hasUI: peek(() => ctx.hasUI), cwd: peek(() => ctx.cwd), idle: peek(() => ctx.isIdle()),
      sessionFile: peek(() => manager.getSessionFile()), sessionId: peek(() => manager.getSessionId()), sessionName: peek(() => manager.getSessionName()),
      model: modelOf(peek(() => ctx.model)),
    };
    if (inner) around.usage = peek(() => ctx.getContextUsage());
    if (event.type === "agent_start") around.systemPrompt = peek(() => ctx.getSystemPrompt());
    if (event.type === "session_before_compact") around.models = peek(() => ctx.modelRegistry.getAll().map(modelOf));
    // What ends together with its session, as a dialog does, is still its own.
    known = text(around.sessionId) || known;
    if (!text(around.sessionId) && known) around.sessionId = known;
    line.cwd = text(around.cwd) || line.cwd;
    latest = ctx;
    return { event: shown, ctx: around, plugin: { version, inner: true, ...more } };
  }

  const tell = (event, ctx, more) => {
    const payload = about(event, ctx, false, more);
    line.tell(text(payload.ctx.sessionId), event.type, payload);
  };

  const ask = (event, ctx, limit, options, more) => {
    const payload = about(event, ctx, false, more);
    return line.ask(text(payload.ctx.sessionId), event.type, payload, limit, options);
  };

  // on registers a handler that can't fail and is heard once per event.
  const on = (name, handle) =>
    pi.on(name, async (event, ctx) => {
      try {
        if (isObject(event) && firstSight(event, name)) return await handle({ ...event, type: name }, ctx, event);
      } catch {} // no opinion
    });

  const report = (event, ctx) => tell(event, ctx);

  const notify = (ctx, words, level) => {
    if (text(words)) peek(() => ctx.ui.notify("hookmux: " + words, level));
  };

  // ending is what is known about a turn that ends, and ends it.
  const ending = () => {
    open = false;
    return { message: said.slice(0, MAX_TEXT) || undefined, error: failure || undefined, goingOn: goingOn || undefined };
  };

  const begin = () => {
    clearTimeout(timer);
    open = true;
    goingOn = aborted = false;
    failure = said = "";
  };

  const inner = new Inner(pi, line, about);

  // omp says session_switch and session_branch where pi loads extensions anew.
  for (const name of ["session_start", "session_switch", "session_branch"]) on(name, async (event, ctx) => {
    const key = text(peek(() => ctx.sessionManager.getSessionId())) + " " + event.reason;
    if (key === started) return; // RPC says it twice
    started = key;
    tell(event, ctx);
    // A pi that prints ends with its only turn.
    here = peek(() => ctx.mode) === "print" || peek(() => ctx.mode) === "json" ? "" : text(peek(() => ctx.sessionManager.getSessionId()));
    inbox.changed();
    await inner.begin(text(peek(() => ctx.sessionManager.getSessionId())), text(peek(() => ctx.cwd)));
  });

  on("session_info_changed", report);

  on("input", async (event, ctx) => {
    // What becomes a prompt of it begins with before_agent_start.
    if (IS_OMP && text(event.text).startsWith("/")) return;
    const joins = Boolean(event.streamingBehavior); // a prompt for the turn under way
    const answer = await ask(event, ctx, SHORT_LIMIT, { refusal: { action: "handled", notice: unreachable } });
    if (answer.action === "handled") {
      notify(ctx, "prompt blocked: " + (text(answer.notice) || "by a hook"), "warning");
      if (!peek(() => ctx.hasUI)) console.error("hookmux: prompt blocked: " + printable(text(answer.notice)));
      return HANDLED;
    }
    notify(ctx, answer.notice, "info");
    if (!joins) begin();
    const words = text(answer.message?.content);
    const rewritten = answer.action === "transform" && typeof answer.text === "string";
    const prompt = rewritten ? answer.text : text(event.text);
    const images = rewritten && Array.isArray(answer.images) ? answer.images : event.images;
    // No before_agent_start follows for a prompt that joins.
    if (joins && words) return { action: "transform", text: prompt + "\n\n" + words, images };
    if (words) message = answer.message;
    systemWords = text(answer.systemPrompt);
    if (rewritten) return { action: "transform", text: prompt, images };
  });

  on("before_agent_start", async (event, ctx) => {
    if (!open) {
      begin(); // a turn that no input began
      const answer = IS_OMP ? await ask(event, ctx, SHORT_LIMIT) : NONE;
      notify(ctx, answer.notice, "info");
      if (text(answer.message?.content)) message = answer.message;
    }
    const out = {};
    if (message) out.message = message;
    // omp has a list of them.
    if (systemWords) out.systemPrompt = Array.isArray(event.systemPrompt) ? [...event.systemPrompt, systemWords] : [text(event.systemPrompt), systemWords].filter(Boolean).join("\n\n");
    message = undefined;
    systemWords = "";
    return Object.keys(out).length ? out : undefined;
  });

  on("tool_call", async (event, ctx, original) => {
    const signal = peek(() => ctx.signal);
    const answer = await decided(event, ctx, signal);
    if (signal?.aborted) {
      aborted = true; // the last message may call it an error
      return refuse("the turn was aborted");
    }
    notify(ctx, answer.notice, "info");
    if (answer.block === true) return refuse(answer.reason);
    // Where nobody sits, the answer is no.
    if (text(answer.ask) && !(await confirmed(ctx, event, isObject(answer.input) ? answer.input : event.input, answer.ask, signal))) return refuse(answer.ask);
    if (answer.input === undefined) return;
    if (!replaceIn(original.input, answer.input)) return refuse("hookmux: the changed input could not be put in place");
    return { input: original.input }; // omp takes it from here, pi from the event
  });

  // decided asks the daemon. While a person is asked elsewhere, a dialog is up
  // here as well: pi has no prompt of its own. The first answer counts, and
  // closes the other place.
  async function decided(event, ctx, signal) {
    const remote = new AbortController(); // gives the daemon up
    const dialog = new AbortController(); // closes the dialog
    const stop = () => (remote.abort(), dialog.abort());
    signal?.addEventListener?.("abort", stop, { once: true });
    let shown; // the dialog's answer: true, false, undefined when it was closed
    let input; // what would run, where hooks changed it
    let opened;
    const opening = new Promise((resolve) => (opened = resolve));
    const held = (why, changed) => {
      if (shown || signal?.aborted || !peek(() => ctx.hasUI)) return;
      if (isObject(changed)) input = changed;
      shown = confirmed(ctx, event, input ?? event.input, why, dialog.signal);
      opened();
    };
    const answeredHere = (yes) => {
      const answered = { type: "hookmux_answered", toolName: event.toolName, toolCallId: event.toolCallId, input: event.input, reason: yes ? "allow" : "deny" };
      tell(answered, ctx);
      const timer = setTimeout(() => remote.abort(), line.wants(answered.type) ? SETTLE_GRACE : 0);
      timer.unref?.();
      return yes ? { input } : refuse("the user at pi refused it");
    };
    try {
      const asked = ask(event, ctx, GATE_LIMIT, { signal: remote.signal, refusal: { block: true, reason: unreachable }, held }).then((answer) => ({ answer }));
      const here = opening.then(() => shown).then((yes) => (yes === undefined ? asked : { yes }));
      const { answer, yes } = await Promise.race([asked, here]);
      if (answer === undefined) return answeredHere(yes);
      const settled = answer.allow === true || answer.block === true || answer.input !== undefined;
      if (!shown || settled) return answer;
      // The daemon lets go: the dialog is pi's own prompt now.
      const last = await shown;
      return last === undefined ? answer : answeredHere(last);
    } finally {
      dialog.abort();
      signal?.removeEventListener?.("abort", stop);
    }
  }

  // confirmed puts a call to the user at pi: true, false, or undefined when
  // nobody could be asked or the question was taken back.
  async function confirmed(ctx, event, input, why, signal) {
    if (!peek(() => ctx.hasUI)) return undefined;
    const what = text(input?.command) || text(input?.path) || encode(input);
    const words = [why, what].filter(Boolean).map((one) => printable(one)).join("\n");
    try {
      const yes = await ctx.ui.confirm("hookmux: let " + event.toolName + " run?", words, { signal });
      return signal?.aborted ? undefined : yes === true;
    } catch {
      return undefined;
    }
  }

  on("tool_result", async (event, ctx) => {
    if (resulted.size > 1000) resulted.clear();
    resulted.add(event.toolCallId);
    const answer = await ask(event, ctx, SHORT_LIMIT, { signal: peek(() => ctx.signal) });
    notify(ctx, answer.notice, "info");
    const patch = {};
    if (Array.isArray(answer.content)) patch.content = answer.content;
    if (typeof answer.isError === "boolean") patch.isError = answer.isError;
    for (const key of ["details", "structuredContent", "usage"]) if (answer[key] !== undefined) patch[key] = answer[key];
    return Object.keys(patch).length ? patch : undefined;
  });

  // Refused, unknown and malformed calls come to an end nowhere else.
  on("tool_execution_end", (event, ctx) => {
    if (!resulted.delete(event.toolCallId) && event.isError === true) tell(event, ctx);
  });

  on("message_end", (event) => {
    const spoken = event.message;
    if (spoken?.role !== "assistant") return;
    said = wordsOf(spoken.content) || said;
    aborted = aborted || spoken.stopReason === "aborted";
    failure = spoken.stopReason === "error" ? text(spoken.errorMessage) || "error" : "";
  });

  on("agent_start", (event, ctx) => {
    clearTimeout(timer);
    tell(event, ctx);
  });

  on("agent_before_settle", async (event, ctx) => {
    settles = true;
    if (!open) return;
    const answer = await ask(event, ctx, SHORT_LIMIT, {}, ending());
    notify(ctx, answer.notice, "info");
    if (answer.continue !== true || !Array.isArray(answer.entries) || event.outcome === "error") return;
    open = goingOn = true;
    return { continue: true, entries: answer.entries };
  });

  // omp's, before it settles; an aborted turn ends without it.
  on("session_stop", async (event, ctx) => {
    if (!open) return;
    const answer = await ask(event, ctx, SHORT_LIMIT, { signal: event.signal }, ending());
    notify(ctx, answer.notice, "info");
    const words = answer.continue === true && Array.isArray(answer.entries) ? answer.entries.map((one) => text(one?.content)).filter(Boolean).join("\n\n") : "";
    if (!words || failure) return;
    open = goingOn = true;
    return { continue: true, additionalContext: words };
  });

  on("agent_settled", (event, ctx) => {
    settles = true;
    clearTimeout(timer);
    if (!open) return;
    const cancelled = aborted || event.aborted === true;
    tell({ ...event, reason: cancelled ? "cancelled" : failure ? "failed" : undefined }, ctx, ending());
  });

  // A pi that can't say that it has settled says agent_end once per retry.
  const endOld = (event, ctx) => {
    clearTimeout(timer);
    if (!open || settles) return;
    tell({ type: "agent_end", reason: aborted ? "cancelled" : failure ? "failed" : undefined }, ctx, ending());
  };
  on("agent_end", (event, ctx) => {
    if (settles || !open || event.willContinue === true) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (peek(() => ctx.isIdle()) !== false) endOld(event, ctx);
    }, SETTLE_WAIT);
    timer.unref?.();
  });

  on("session_before_compact", async (event, ctx) => {
    const answer = await ask(event, ctx, SHORT_LIMIT, { signal: event.signal });
    if (answer.cancel === true) {
      notify(ctx, "compaction stopped by a hook", "warning");
      return { cancel: true };
    }
    if (isObject(answer.compaction) && text(answer.compaction.summary)) return { compaction: answer.compaction };
  });

  // A session that is left, for a new one, another or a fork of it.
  for (const [name, words] of [["session_before_switch", "the session was kept by a hook"], ["session_before_fork", "forking was stopped by a hook"], ["session_before_branch", "forking was stopped by a hook"]]) {
    on(name, async (event, ctx) => {
      const answer = await ask(event, ctx, SHORT_LIMIT, { signal: event.signal });
      if (answer.cancel === true) {
        notify(ctx, words, "warning");
        return { cancel: true };
      }
      if (answer.skipConversationRestore === true) return { skipConversationRestore: true };
    });
  }

  for (const name of ["session_compact", "session_compact_failed", "ui_prompt_start", "ui_prompt_end", "user_bash", "user_python", "session_tree", "tool_approval_requested", "tool_approval_resolved"]) {
    on(name, report);
  }

  on("session_shutdown", async (event, ctx) => {
    endOld(event, ctx);
    inbox.stop();
    inner.stop();
    tell(event, ctx);
    await line.flush(FLUSH_WAIT);
  });
}

const refuse = (reason) => ({ block: true, reason: text(reason).trim() || "blocked by a hookmux hook" });

// peek looks at something that may not be there in this version.
function peek(look) {
  try {
    return look();
  } catch {
    return undefined;
  }
}

// modelOf is what a hook may know of a model.
const modelOf = (model) => (isObject(model) ? { provider: model.provider, id: model.id, name: model.name, api: model.api, reasoning: model.reasoning, input: model.input, contextWindow: model.contextWindow, maxTokens: model.maxTokens } : undefined);

function wordsOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.filter((part) => part?.type === "text").map((part) => text(part.text)).join("\n");
}

// printable makes what a model wrote harmless to look at.
const printable = (words, most = 2000) => words.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => (c === "\n" ? c : "\\u{" + c.codePointAt(0).toString(16) + "}")).slice(0, most);

// versionOf finds pi's version beside the program that runs.
function versionOf(program) {
  try {
    for (let dir = path.dirname(fs.realpathSync(program)), up = 0; up < 4; dir = path.dirname(dir), up++) {
      const file = path.join(dir, "package.json");
      if (!fs.existsSync(file)) continue;
      const { name, version } = JSON.parse(fs.readFileSync(file, "utf8"));
      if (/pi-coding-agent$/.test(text(name))) return text(version) || undefined;
    }
  } catch {} // packed some other way
  return undefined;
}
