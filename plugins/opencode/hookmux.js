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
const SETTLE_GRACE = 2000; // how long the daemon may take to let a request go that was answered here
const MAX_KEPT = 8; // how often in a row hookmux prompts a session by itself

const OPTIONAL = new Set(["command.execute.before", "command.executed", "file.edited", "todo.updated", "session.deleted"]);
const DEFAULT_TITLE = /^(New|Child) session - \d{4}-/;
const COMMANDS = ["run", "serve", "web", "acp", "attach", "github", "pr"];

export default async function hookmux(input) {
  try {
    return hooks(input ?? {});
  } catch {
    return {}; // OpenCode goes on without us
  }
}

// attended: `run` has nobody to ask, the terminal has; a server may have.
function attended() {
  const command = process.argv.slice(2).find((word) => COMMANDS.includes(word));
  return command === "run" ? false : command === undefined ? true : undefined;
}

function hooks({ client, directory }) {
  const line = new Line(AGENT, text(directory), OPTIONAL);
  const person = attended();
  const sessions = new Map();
  const waiting = new Map(); // permission or question → what stops its request

  // What is sent to one of our sessions from elsewhere. `opencode run` ends
  // with its only turn.
  const inbox = person === false ? undefined : line.listen(() => [...sessions.values()].filter((s) => s.told && !s.parent).map((s) => s.id), prompted);

  async function prompted(id, words) {
    const s = sessions.get(id);
    if (!s) throw new Error("the session is gone");
    const body = { parts: [{ type: "text", text: words }], agent: s.agent || undefined, model: s.model ?? undefined };
    const done = await client.session.promptAsync({ path: { id }, body });
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

  const post = (url, body) => attempt(() => client._client.post({ url, body, headers: { "Content-Type": "application/json" } }));

  // answerPermission speaks through the injected client: in the terminal there
  // is no other door. A refusal with a message lets the turn go on.
  async function answerPermission(s, id, answer) {
    if (answer.reply !== "once" && answer.reply !== "always" && answer.reply !== "reject") return;
    const done = await post("/permission/" + encodeURIComponent(id) + "/reply", { reply: answer.reply, message: text(answer.message) || undefined });
    if (done && !done.error) return;
    await attempt(() => client.postSessionIdPermissionsPermissionId({ path: { id: s.id, permissionID: id }, body: { response: answer.reply } }));
  }

  async function answerQuestion(_s, id, answer) {
    const question = "/question/" + encodeURIComponent(id);
    if (answer.reject === true) return post(question + "/reject", {});
    if (!Array.isArray(answer.answers)) return;
    await post(question + "/reply", { answers: answer.answers.map((one) => (Array.isArray(one) ? one.map(text) : [])) });
  }

  const toast = (message, variant) => attempt(() => client?.tui?.showToast?.({ body: { title: "hookmux", message, variant } }));

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
    const body = { parts: [{ type: "text", text: prompt }], agent: s.agent || undefined, model: s.model ?? undefined };
    await attempt(() => client.session.promptAsync({ path: { id: s.id }, body }));
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
    "question.asked": (event) => overBus(event, answerQuestion),
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
        void toast("prompt blocked: " + answer.throw, "warning"); // OpenCode itself just drops it
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
