// hookmux plugin __VERSION_PLAIN__ for __AGENT_PLAIN__
// Written by `hookmux install`, taken out by `hookmux uninstall`; edits are lost at the next upgrade.

/*__HOOKMUX_LINE__*/

// What is sent and taken back is written down in hookmux's catalogue
// (agent/data/opencode.yaml, agent/dialect/opencode.go). Agents that were made
// from OpenCode load the same file, under a name of their own.

// How long OpenCode is held up for a decision; it has no limit of its own.
const SHORT_LIMIT = 60_000;
const FLUSH_WAIT = 2000;
const MAX_SESSIONS = 300;
const MAX_TEXT = 20_000;
const MAX_CALLS = 1000;
const SETTLE_GRACE = 2000; // how long the daemon may take to let a request go that was answered here
const MAX_KEPT = 8; // how often in a row hookmux prompts a session by itself

const OPTIONAL = new Set(["command.execute.before", "command.executed", "file.edited", "todo.updated", "session.deleted"]);
const DEFAULT_TITLE = /^(New|Child) session - \d{4}-/;
const COMMANDS = ["run", "serve", "web", "acp", "attach", "github", "pr"];

// OpenCode 1 calls server, OpenCode 2 calls setup. Since 1.17.10 OpenCode 1 also calls
// setup, beside server, with a context that has no hooks.
export default { id: "hookmux", server, setup };

async function server(input) {
  try {
    const { client, directory } = input ?? {};
    return hooks(firstDoor(client), directory, attended());
  } catch {
    return {}; // OpenCode goes on without us
  }
}

// attended: `run` has nobody to ask, the terminal has; a server may have.
function attended() {
  const command = process.argv.slice(2).find((word) => COMMANDS.includes(word));
  return command === "run" ? false : command === undefined ? true : undefined;
}

// firstDoor is how OpenCode 1 is spoken to: through the injected client, because in
// the terminal there is no other door.
function firstDoor(client) {
  const post = (url, body) => attempt(() => client._client.post({ url, body, headers: { "Content-Type": "application/json" } }));
  return {
    prompt: (s, words) => {
      const body = { parts: [{ type: "text", text: words }], agent: s.agent || undefined, model: s.model ?? undefined };
      return client.session.promptAsync({ path: { id: s.id }, body });
    },
    async permission(s, id, reply, message) {
      const done = await post("/permission/" + encodeURIComponent(id) + "/reply", { reply, message });
      if (done && !done.error) return;
      await attempt(() => client.postSessionIdPermissionsPermissionId({ path: { id: s.id, permissionID: id }, body: { response: reply } }));
    },
    // No answers: the question is dismissed.
    question: (id, answers) => post("/question/" + encodeURIComponent(id) + (answers ? "/reply" : "/reject"), answers ? { answers } : {}),
    toast: (message, variant) => attempt(() => client?.tui?.showToast?.({ body: { title: "hookmux", message, variant } })),
  };
}

function hooks(door, directory, person) {
  const line = new Line(AGENT, text(directory), OPTIONAL);
  const sessions = new Map();
  const waiting = new Map(); // permission or question → what stops its request

  // What is sent to one of our sessions from elsewhere. `opencode run` ends
  // with its only turn.
  const inbox = person === false ? undefined : line.listen(() => [...sessions.values()].filter((s) => s.told && !s.parent).map((s) => s.id), prompted);

  async function prompted(id, words) {
    const s = sessions.get(id);
    if (!s) throw new Error("the session is gone");
    const done = await door.prompt(s, words);
    if (done?.error) throw new Error(AGENT + " refused it: " + encode(done.error));
  }

  // session is what we know of one of OpenCode's sessions.
  function session(id) {
    let s = sessions.get(id);
    if (s) return s;
    if (sessions.size >= MAX_SESSIONS) {
      const idle = [...sessions.values()].find((old) => !old.open && !old.gates.size);
      if (idle) sessions.delete(idle.id);
    }
    s = {
      id, parent: "", agent: "", title: "", version: "", model: null,
      speaking: "", said: "", // the message being written, and its words
      open: false, cancelled: false, // is a turn under way, was it aborted
      kept: "", keeps: 0, // what hookmux prompted by itself, and how often
      gates: new Set(), failed: new Set(), told: false,
    };
    sessions.set(id, s);
    return s;
  }

  // beside is what we know and OpenCode doesn't say in every event.
  function beside(s, more) {
    const known = { version: s.version || undefined, attended: person, parent: s.parent || undefined, agent: (s.parent && s.agent) || undefined };
    return { ...known, ...more };
  }

  const hookPayload = (s, hook, input, output, more) => ({ hook, input, output, plugin: beside(s, more) });
  const busPayload = (s, event, more) => ({ id: event.id, type: event.type, properties: event.properties, plugin: beside(s, more) });

  function known(s) {
    if (s.told) return;
    s.told = true;
    inbox?.changed();
  }

  function tell(s, event, more) {
    known(s);
    line.tell(s.id, event.type, busPayload(s, event, more));
  }

  function ask(s, event, payload, limit, options) {
    known(s);
    return line.ask(s.id, event, payload, limit, options);
  }

  // gated asks while something waits that must not go on after an abort.
  async function gated(s, event, payload, limit, refusal) {
    const stop = new AbortController();
    s.gates.add(stop);
    try {
      const answer = await ask(s, event, payload, limit, { signal: stop.signal, refusal });
      return stop.signal.aborted ? { throw: "the turn was aborted" } : answer;
    } finally {
      s.gates.delete(stop);
    }
  }

  function stopGates(s) {
    for (const stop of s.gates) stop.abort();
    for (const [id, wait] of waiting) if (wait.session === s.id) settleElsewhere(id);
  }

  // cancel stops what waits in an aborted session and in those that work for it.
  function cancel(s) {
    if (s.cancelled) return;
    s.cancelled = true;
    stopGates(s);
    for (const child of sessions.values()) if (child.parent === s.id) cancel(child);
  }

  function settleElsewhere(id) {
    waiting.get(id)?.stop.abort();
    waiting.delete(id);
  }

  // settledHere: somebody answered in OpenCode itself. The daemon learns that from
  // the report that goes out now, and lets the request go; only if it does not,
  // we hang up.
  function settledHere(id, event) {
    const wait = waiting.get(id);
    waiting.delete(id);
    report(event);
    if (!wait) return;
    const timer = setTimeout(() => wait.stop.abort(), SETTLE_GRACE);
    timer.unref?.();
  }

  // overBus asks about something that OpenCode's own prompt shows meanwhile.
  // The answer counts only while nobody else has given one.
  async function overBus(event, use, refusal) {
    const { id, sessionID } = event.properties;
    if (waiting.has(id)) return;
    const s = session(sessionID);
    const wait = { session: s.id, stop: new AbortController() };
    waiting.set(id, wait);
    const answer = await ask(s, event.type, busPayload(s, event), GATE_LIMIT, { signal: wait.stop.signal, refusal });
    if (waiting.get(id) !== wait) return;
    waiting.delete(id);
    await use(s, id, answer);
  }

  // A refusal with a message lets the turn go on.
  async function answerPermission(s, id, answer) {
    if (answer.reply !== "once" && answer.reply !== "always" && answer.reply !== "reject") return;
    await door.permission(s, id, answer.reply, text(answer.message) || undefined);
  }

  async function answerQuestion(_s, id, answer) {
    if (answer.reject === true) return door.question(id);
    if (!Array.isArray(answer.answers)) return;
    await door.question(id, answer.answers.map((one) => (Array.isArray(one) ? one.map(text) : [])));
  }

  // finish reports the end of a turn exactly once. OpenCode says both
  // session.status idle and session.idle, after an abort more than once, and
  // session.error before them.
  async function finish(s, event) {
    stopGates(s);
    if (!s.open) return;
    s.open = false;
    const more = { message: s.said.slice(0, MAX_TEXT) || undefined, goingOn: s.keeps > 0 || undefined };
    if (event.type === "session.error") return tell(s, event, more);
    const answer = await ask(s, "session.idle", busPayload(s, event, more), SHORT_LIMIT);
    const prompt = text(answer.prompt);
    // `opencode run` leaves now; a person who began anew knows better.
    if (!prompt || s.parent || person === false || s.open || s.keeps >= MAX_KEPT) return;
    s.kept = prompt;
    await attempt(() => door.prompt(s, prompt));
  }

  function partUpdated(event) {
    const part = event.properties.part;
    const s = session(part.sessionID);
    if (part.type === "text" && part.messageID === s.speaking && !part.synthetic) s.said = text(part.text);
    if (part.type !== "tool" || part.state?.status !== "error" || s.failed.has(part.callID)) return;
    // The only word on a tool that failed: the after-hook isn't called then.
    if (s.failed.size > 1000) s.failed.clear();
    s.failed.add(part.callID);
    tell(s, event);
  }

  function know(info) {
    const s = session(info.id);
    s.parent = text(info.parentID) || s.parent;
    s.agent = text(info.agent) || s.agent;
    s.version = text(info.version) || s.version;
    return s;
  }

  const report = (event) => tell(session(event.properties.sessionID), event);

  // The bus. OpenCode does not wait for these.
  const bus = {
    "session.created": (event) => tell(know(event.properties.info), event),
    "session.updated"(event) {
      const s = know(event.properties.info);
      const title = text(event.properties.info.title);
      if (!title || title === s.title || DEFAULT_TITLE.test(title)) return;
      s.title = title;
      tell(s, event);
    },
    "session.deleted"(event) {
      const s = session(event.properties.info?.id ?? event.properties.sessionID);
      stopGates(s);
      tell(s, event);
      sessions.delete(s.id);
      inbox?.changed();
    },
    "session.status"(event) {
      const { sessionID, status } = event.properties;
      const s = session(sessionID);
      if (status.type === "busy") s.cancelled = false;
      if (status.type === "busy" && door.opens) s.open = true;
      if (status.type === "retry") tell(s, event);
      if (status.type === "idle") return finish(s, { id: event.id, type: "session.idle", properties: { sessionID } });
    },
    "session.idle": (event) => finish(session(event.properties.sessionID), event),
    "session.error"(event) {
      if (!event.properties.sessionID) return;
      const s = session(event.properties.sessionID);
      if (event.properties.error?.name === "MessageAbortedError") cancel(s);
      return finish(s, event);
    },
    "session.compacted": report,
    "message.updated"(event) {
      const { info } = event.properties;
      if (info.role === "assistant") session(info.sessionID).speaking = info.id;
    },
    "message.part.updated": partUpdated,
    "permission.asked": (event) => overBus(event, answerPermission, { reply: "reject", message: unreachable }),
    "permission.replied": (event) => settledHere(event.properties.requestID ?? event.properties.permissionID, event),
    "question.asked": (event) => (door.question ? overBus(event, answerQuestion) : report(event)),
    "question.replied": (event) => settledHere(event.properties.requestID, event),
    "question.rejected": (event) => settledHere(event.properties.requestID, event),
    "todo.updated": report,
    "command.executed": report,
    "file.edited"(event) {
      const s = [...sessions.values()].reverse().find((one) => one.open);
      if (s) line.tell(s.id, event.type, busPayload(s, event, { session: s.id }));
    },
  };

  // hook makes a handler that throws only what the daemon wants thrown.
  const hook = (name, handle) => async (input, output) => {
    let refused = "";
    await attempt(async () => {
      if (firstSight(output, name)) refused = text(await handle(session(input.sessionID), input, output));
    });
    if (refused) throw new Error(refused);
  };

  return {
    event: async ({ event }) => {
      await attempt(async () => {
        if (Object.hasOwn(bus, event.type) && firstSight(event, event.type)) await bus[event.type]({ ...event, properties: event.properties ?? {} });
      });
    },

    "chat.message": hook("chat.message", async (s, input, output) => {
      const message = output.message ?? {};
      const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => text(part.text)).join("\n");
      s.keeps = s.kept !== "" && prompt === s.kept ? s.keeps + 1 : 0;
      Object.assign(s, { open: true, cancelled: false, said: "", kept: "" });
      s.agent = text(message.agent) || s.agent;
      if (isObject(message.model)) s.model = { providerID: message.model.providerID, modelID: message.model.modelID };
      const payload = hookPayload(s, "chat.message", input, output, { goingOn: s.keeps > 0 || undefined });
      const answer = await ask(s, "chat.message", payload, SHORT_LIMIT, { refusal: { throw: unreachable } });
      if (text(answer.throw)) {
        s.open = false;
        void door.toast("prompt blocked: " + answer.throw, "warning"); // OpenCode itself just drops it
      } else if (text(answer.context)) addPart(output.parts, message, answer.context);
      return answer.throw;
    }),

    "command.execute.before": hook("command.execute.before", async (s, input, output) => {
      const answer = await ask(s, "command.execute.before", hookPayload(s, "command.execute.before", input, output), SHORT_LIMIT, { refusal: { throw: unreachable } });
      return answer.throw;
    }),

    "tool.execute.before": hook("tool.execute.before", async (s, input, output) => {
      if (s.cancelled) return "the turn was aborted"; // OpenCode would run the tool all the same
      const answer = await gated(s, "tool.execute.before", hookPayload(s, "tool.execute.before", input, output), GATE_LIMIT, { throw: unreachable });
      if (text(answer.throw)) return answer.throw;
      if (answer.output !== undefined && !layOver(output, answer.output)) return "hookmux: the changed input could not be put in place";
    }),

    "tool.execute.after": hook("tool.execute.after", async (s, input, output) => {
      const fromServer = Array.isArray(output.content) && typeof output.output !== "string"; // a tool of an MCP server
      const shown = fromServer ? { ...output, output: output.content.map((part) => text(part?.text)).filter(Boolean).join("\n") } : output;
      const answer = await gated(s, "tool.execute.after", hookPayload(s, "tool.execute.after", input, shown), SHORT_LIMIT);
      if (s.cancelled) return; // the result goes nowhere any more
      if (text(answer.throw)) return answer.throw;
      if (fromServer && typeof answer.output?.output === "string") output.content = [{ type: "text", text: answer.output.output }];
      else layOver(output, answer.output);
    }),

    // Not called by 1.18; versions that call it take the answer from here.
    "permission.ask": hook("permission.ask", async (s, input, output) => {
      const event = { id: input.id, type: "permission.asked", properties: { ...input, permission: input.permission ?? input.type } };
      const answer = await gated(s, "permission.asked", busPayload(s, event), GATE_LIMIT, { reply: "reject" });
      if (answer.reply === "once" || answer.reply === "always") output.status = "allow";
      else if (answer.reply === "reject") output.status = "deny";
    }),

    "experimental.session.compacting": hook("experimental.session.compacting", async (s, input, output) => {
      const answer = await ask(s, "experimental.session.compacting", hookPayload(s, "experimental.session.compacting", input, output), SHORT_LIMIT);
      if (text(answer.context) && Array.isArray(output.context)) output.context.push(answer.context);
    }),

    dispose: () =>
      attempt(async () => {
        inbox?.stop();
        for (const s of sessions.values()) {
          stopGates(s);
          if (s.id && s.told && !s.parent) line.tell(s.id, "dispose", hookPayload(s, "dispose", {}, undefined, { session: s.id }));
        }
        await line.flush(FLUSH_WAIT);
        sessions.clear();
      }),
  };
}

// ---- OpenCode 2 ----
//
// It has other names for the same things. What it says is put into the form of
// OpenCode 1, so that hookmux knows one agent; what it takes back is put into its own.

// setup throws what keeps the tool hooks from being there: OpenCode then lists this
// plugin as failed, instead of running without guards.
async function setup(context) {
  if (typeof context?.tool?.hook !== "function") return; // OpenCode 1
  const place = text(context.location?.directory);
  const door = secondDoor(context);
  const person = attended() === false ? false : undefined; // its server has no terminal
  const own = hooks(door, place || process.cwd(), person);
  const calls = new Map(); // call → its tool and input: a permission names only the call

  await context.tool.hook("execute.before", async (event) => {
    if (!firstSight(event, "execute.before")) return;
    const output = { args: structuredClone(event.input) };
    if (calls.size >= MAX_CALLS) calls.delete(calls.keys().next().value);
    calls.set(callOf(event), { tool: event.tool, input: event.input });
    await own["tool.execute.before"]({ tool: event.tool, sessionID: event.sessionID, callID: callOf(event) }, output);
    if (encode(output.args) !== encode(event.input)) event.input = output.args;
  });
  await context.tool.hook("execute.after", async (event) => {
    calls.delete(callOf(event));
    if (!firstSight(event, "execute.after")) return;
    const input = { tool: event.tool, sessionID: event.sessionID, callID: callOf(event), args: event.input };
    if (event.status === "error") {
      const state = { status: "error", input: event.input, error: text(event.error?.message) };
      const part = { type: "tool", sessionID: event.sessionID, messageID: event.messageID, callID: input.callID, tool: event.tool, state };
      return own.event({ event: { type: "message.part.updated", properties: { sessionID: event.sessionID, part } } });
    }
    const said = contentText(event.result?.content);
    const output = { title: "", output: said, metadata: event.result?.metadata ?? {} };
    await own["tool.execute.after"](input, output);
    if (output.output !== said) event.result = { ...event.result, content: [{ type: "text", text: output.output }] };
  });
  await attempt(() =>
    context.session.hook("prompt", async (event) => {
      if (!firstSight(event, "prompt")) return;
      const part = { type: "text", text: text(event.prompt?.text) };
      await own["chat.message"]({ sessionID: event.sessionID, messageID: event.messageID }, { message: { id: event.messageID }, parts: [part] });
      if (part.text !== text(event.prompt?.text)) event.prompt.text = part.text;
    }),
  );
  await attempt(() =>
    context.session.hook("compaction", async (event) => {
      const output = { context: [] };
      await own["experimental.session.compacting"]({ sessionID: event.sessionID }, output);
      for (const words of output.context) event.system.push({ type: "text", text: words });
    }),
  );

  const events = await attempt(() => context.event.subscribe()[Symbol.asyncIterator]());
  void attempt(async () => {
    for (let next = await events.next(); !next.done; next = await events.next()) {
      const from = text(next.value.location?.directory ?? next.value.data?.location?.directory);
      if (place && from && from !== place) continue; // one server has several projects
      for (const event of (await attempt(() => firstEvents(next.value, calls))) ?? []) void own.event({ event });
    }
  });
  return async () => {
    void attempt(() => events.return?.());
    await own.dispose();
  };
}

const callOf = (event) => text(event.id) || text(event.callID);
const contentText = (content) => (typeof content === "string" ? content : Array.isArray(content) ? content.map((part) => text(part?.text)).filter(Boolean).join("\n") : "");

// secondDoor is how OpenCode 2 is spoken to. Its versions differ in what they call the
// answer of a permission and the text of a prompt; they ignore what they don't know.
function secondDoor(context) {
  return {
    opens: true, // a turn can begin without a prompt
    prompt: (s, words) => context.session.prompt({ sessionID: s.id, text: words, prompt: { text: words }, delivery: "queue" }),
    permission: (s, id, reply, message) => context.permission.reply({ sessionID: s.id, requestID: id, reply, decision: reply, message }),
    toast: () => {}, // it has none for plugins of the server
  };
}

// firstEvents are the events of OpenCode 1 that say what one of OpenCode 2 says.
function firstEvents({ id, type, data, location }, calls) {
  const sessionID = data?.sessionID;
  const as = (kind, properties) => ({ id, type: kind, properties: { sessionID, ...properties } });
  const settled = (reply) => as(reply, { requestID: data.id });
  switch (type) {
    case "session.created": {
      const info = data.info ?? data;
      const { parentID, agent, title, version } = info;
      return [as(type, { sessionID: info.id ?? sessionID, info: { id: info.id ?? sessionID, parentID, agent, title, version, directory: text(info.location?.directory ?? location?.directory) || undefined } })];
    }
    case "session.execution.started":
      return [as("session.status", { status: { type: "busy" } })];
    case "session.execution.succeeded":
      return [as("session.idle")];
    case "session.execution.failed":
      return [as("session.error", { error: { name: text(data.error?.type) || "UnknownError", data: { message: text(data.error?.message) } } })];
    case "session.execution.interrupted":
      return [as("session.error", { error: { name: "MessageAbortedError", data: {} } })];
    case "session.compaction.ended":
      return [as("session.compacted")];
    case "session.deleted":
      return [as(type)];
    case "permission.asked": {
      const call = data.source?.id ?? data.source?.callID;
      const known = calls.get(call);
      const own = known && (data.action === known.tool || data.action === "edit") ? known.input : undefined;
      const metadata = { ...own, ...data.metadata, ...(own ? {} : plainRequest(data.action, data.resources)) };
      return [as(type, { id: data.id, permission: own ? known.tool : data.action, patterns: data.resources, always: data.save, metadata, tool: call ? { callID: call, messageID: data.source.messageID } : undefined })];
    }
    case "permission.replied":
      return [as(type, { requestID: data.requestID, reply: data.reply ?? data.decision })];
    case "form.created": {
      const { form } = data;
      const questions = (form.fields ?? []).map((field) => ({
        header: text(field.title) || text(field.key),
        question: text(field.description) || text(field.title) || text(form.title),
        options: (field.options ?? []).map((option) => ({ label: text(option.label) || text(option.value), description: text(option.description) })),
      }));
      return [as("question.asked", { sessionID: form.sessionID, id: form.id, questions })];
    }
    case "form.replied":
      return [settled("question.replied")];
    case "form.cancelled":
      return [settled("question.rejected")];
    default:
      return [];
  }
}

// plainRequest is what a permission without its call is about: the commands or paths.
function plainRequest(action, resources) {
  const named = Array.isArray(resources) ? resources.map(text) : [];
  if (action === "shell" || action === "bash") return { command: named.join("\n") };
  return action === "read" || action === "edit" || action === "external_directory" ? { paths: named } : { resources: named };
}

// attempt keeps what goes wrong with us out of OpenCode.
async function attempt(what) {
  try {
    return await what();
  } catch {
    return undefined;
  }
}

// layOver changes what OpenCode handed over, in place: it keeps hold of the
// old objects.
function layOver(target, changes) {
  if (!isObject(changes)) return changes === undefined;
  for (const [key, value] of Object.entries(changes)) {
    if (isObject(target[key]) && !replaceIn(target[key], value)) return false;
    if (!isObject(target[key])) target[key] = value;
  }
  return true;
}

// addPart says something to the model beside the prompt. OpenCode sorts parts
// by id and refuses ids of another form.
function addPart(parts, message, words) {
  const last = parts[parts.length - 1];
  if (/^prt_.{13,}$/.test(text(last?.id))) {
    const id = last.id.slice(0, 16) + "z".repeat(last.id.length - 16);
    parts.push({ id, sessionID: last.sessionID, messageID: last.messageID ?? message.id, type: "text", text: words, synthetic: true });
    return;
  }
  const written = parts.filter((part) => part.type === "text").pop();
  if (written) written.text += "\n\n" + words;
}
