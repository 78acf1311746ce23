// hookmux plugin __VERSION_PLAIN__ for __AGENT_PLAIN__
// Written by `hookmux install`, taken out by `hookmux uninstall`; edits are lost at the next upgrade.

/*__HOOKMUX_LINE__*/

// What is sent and taken back is written down in hookmux's catalogue
// (agent/data/amp.yaml, agent/dialect/amp.go).

const SHORT_LIMIT = 60_000; // how long a prompt, a result and the end of a turn are held up for a decision
const FLUSH_WAIT = 2000;
const MAX_TEXT = 20_000;
const MAX_THREADS = 500;

const OPTIONAL = new Set([]);

export const description = "Hooks, guards and approvals of hookmux";

// Amp runs every plugin in a process of its own, with the plugin's folder as
// the current one.
export default function hookmux(amp) {
  try {
    handlers(amp);
  } catch {} // Amp goes on without us
}

function handlers(amp) {
  const line = new Line(AGENT, "", OPTIONAL);
  const kept = new Map(); // thread → what hookmux prompted it with by itself

  const threadOf = (event) => text(event.thread?.id);

  // folder is where the thread works; Amp names it by an address.
  function folder(ctx) {
    try {
      return decodeURIComponent(new URL(String(ctx?.system?.workspaceRoot ?? amp.system?.workspaceRoot)).pathname);
    } catch {
      return ""; // it has none
    }
  }

  function about(event, ctx, more) {
    const { messages, ...light } = event; // the conversation is in Amp's own record
    line.cwd = folder(ctx);
    return { event: light, plugin: { cwd: line.cwd || undefined, ...more } };
  }

  // on registers a handler that can't fail: to Amp a failure refuses the call.
  const on = (name, neutral, handle) =>
    amp.on(name, async (event, ctx) => {
      try {
        if (isObject(event)) return (await handle(event, ctx)) ?? neutral;
      } catch {} // no opinion
      return neutral;
    });

  on("session.start", undefined, (event, ctx) => line.tell(threadOf(event), "session.start", about(event, ctx)));

  on("agent.start", {}, async (event, ctx) => {
    const thread = threadOf(event);
    const goingOn = kept.get(thread) === text(event.message) && kept.has(thread);
    if (!goingOn) kept.delete(thread);
    const answer = await line.ask(thread, "agent.start", about(event, ctx, { goingOn: goingOn || undefined }), SHORT_LIMIT);
    if (text(answer.message?.content)) return { message: { content: answer.message.content } };
  });

  on("tool.call", { action: "allow" }, async (event, ctx) => {
    const refusal = { action: "reject-and-continue", message: unreachable };
    const answer = await line.ask(threadOf(event), "tool.call", about(event, ctx), GATE_LIMIT, { refusal });
    if (answer.action === "reject-and-continue") return { action: answer.action, message: text(answer.message) || "refused by a hookmux hook" };
    if (answer.action !== "modify") return undefined;
    if (isObject(answer.input)) return { action: "modify", input: answer.input };
    return { action: "reject-and-continue", message: "hookmux: the changed input could not be put in place" };
  });

  on("tool.result", undefined, (event, ctx) => line.tell(threadOf(event), "tool.result", about(event, ctx)));

  on("agent.end", undefined, async (event, ctx) => {
    const thread = threadOf(event);
    const more = { message: lastWords(event.messages), goingOn: kept.has(thread) || undefined };
    const answer = await line.ask(thread, "agent.end", about(event, ctx, more), SHORT_LIMIT);
    await line.flush(FLUSH_WAIT); // Amp may exit behind this
    if (answer.action !== "continue" || !text(answer.userMessage) || event.status !== "done") return undefined;
    if (kept.size >= MAX_THREADS) kept.clear();
    kept.set(thread, answer.userMessage);
    return { action: "continue", userMessage: answer.userMessage };
  });
}

function lastWords(messages) {
  const last = Array.isArray(messages) ? messages.filter((one) => one?.role === "assistant").pop() : undefined;
  const parts = Array.isArray(last?.content) ? last.content : [];
  return parts.filter((part) => part?.type === "text").map((part) => text(part.text)).join("\n").slice(0, MAX_TEXT) || undefined;
}
