// hookmux plugin __VERSION_PLAIN__ for __AGENT_PLAIN__
// Written by `hookmux install`, taken out by `hookmux uninstall`; edits are lost at the next upgrade.

/*__HOOKMUX_LINE__*/

// What is sent and taken back is written down in hookmux's catalogue
// (agent/data/openclaw.yaml, agent/dialect/openclaw.go).

const SHORT_LIMIT = 60_000; // how long a prompt is held up for a decision
const HOST_MARGIN = 5_000; // what OpenClaw waits longer than we do: its limit refuses the call
const FLUSH_WAIT = 2000;
const MAX_RUNS = 500;
const MAX_TEXT = 20_000;
const MAX_QUESTION = 250; // OpenClaw refuses questions of more than 256 characters

const OPTIONAL = new Set(["before_reset", "subagent_spawned", "subagent_ended"]);

// What is large and in OpenClaw's own record, or can't travel.
const HEAVY = new Set(["messages", "systemPrompt", "abortSignal", "hookInvocation", "toolAuthority"]);

// OpenClaw calls register more than once, in more than one mode, and then the
// handlers of one of them: what is known belongs to all.
const line = new Line(AGENT, "", OPTIONAL);
const runs = new Map(); // run → what is known of it
const folders = new Map(); // agent → its folder

export default {
  id: "hookmux",
  name: "hookmux",
  description: "Hooks, guards and approvals of hookmux",
  register(api) {
    try {
      handlers(api);
    } catch {} // OpenClaw goes on without us
  },
};

function handlers(api) {
  const version = text(api.runtime?.version) || undefined;

  // runOf is what we know of a run: a prompt, and all that follows from it.
  function runOf(event, ctx) {
    const id = text(ctx.runId) || text(event.runId) || text(ctx.sessionKey);
    let run = runs.get(id);
    if (run) return run;
    if (runs.size >= MAX_RUNS) runs.delete(runs.keys().next().value);
    run = { id, open: false, decision: undefined, context: "" };
    runs.set(id, run);
    return run;
  }

  // folderOf is where an agent works. Only some events tell.
  function folderOf(ctx) {
    const agent = text(ctx.agentId);
    const told = text(ctx.workspaceDir);
    if (told) folders.set(agent, told);
    else if (!folders.has(agent)) {
      try {
        folders.set(agent, text(api.runtime.agent.resolveAgentWorkspaceDir(api.config, agent)));
      } catch {
        folders.set(agent, ""); // this version does not say
      }
    }
    return folders.get(agent) || "";
  }

  function about(event, ctx, more) {
    const light = (from) => Object.fromEntries(Object.entries(from).filter(([key, value]) => !HEAVY.has(key) && typeof value !== "function"));
    line.cwd = folderOf(ctx);
    return { event: light(event), ctx: light(ctx), plugin: { version, cwd: line.cwd || undefined, ...more } };
  }

  const session = (ctx) => text(ctx.sessionKey) || text(ctx.sessionId);
  const tell = (name, event, ctx, more) => line.tell(session(ctx), name, about(event, ctx, more));
  const ask = (name, event, ctx, limit, options, more) => line.ask(session(ctx), name, about(event, ctx, more), limit, options);

  // on registers a handler that can't fail: to OpenClaw a failure is a refusal.
  const on = (name, limit, handle) =>
    api.on(
      name,
      async (event, ctx) => {
        try {
          return await handle(isObject(event) ? event : {}, isObject(ctx) ? ctx : {});
        } catch {} // no opinion
      },
      { timeoutMs: limit + HOST_MARGIN },
    );

  const report = (name) => on(name, SHORT_LIMIT, (event, ctx) => tell(name, event, ctx));

  // decided asks about a prompt, once per run: it is built anew with every
  // pass over the model.
  function decided(event, ctx) {
    const run = runOf(event, ctx);
    run.decision ??= (async () => {
      run.open = true;
      const answer = await ask("before_prompt_build", event, ctx, SHORT_LIMIT, { refusal: { outcome: "block", reason: unreachable } });
      run.context = text(answer.prependContext);
      if (answer.outcome === "block") run.open = false;
      return answer;
    })();
    return run;
  }

  on("before_prompt_build", SHORT_LIMIT, async (event, ctx) => {
    const run = decided(event, ctx);
    await run.decision;
    const words = run.context;
    run.context = "";
    return words ? { prependContext: words } : undefined;
  });

  // Here alone a prompt can be refused.
  on("before_agent_run", SHORT_LIMIT, async (event, ctx) => {
    const answer = await decided(event, ctx).decision;
    if (answer.outcome !== "block") return undefined;
    const why = text(answer.reason) || "refused by a hookmux hook";
    return { outcome: "block", reason: why, message: text(answer.message) || why };
  });

  on("before_tool_call", GATE_LIMIT, async (event, ctx) => {
    const signal = ctx.abortSignal instanceof AbortSignal ? ctx.abortSignal : undefined;
    const answer = await ask("before_tool_call", event, ctx, GATE_LIMIT, { signal, refusal: { block: true, blockReason: unreachable } });
    if (signal?.aborted) return { block: true, blockReason: "the turn was aborted" };
    if (answer.block === true) return { block: true, blockReason: text(answer.blockReason) || "refused by a hookmux hook" };
    const out = {};
    if (isObject(answer.params)) out.params = answer.params;
    else if (answer.params !== undefined) return { block: true, blockReason: "hookmux: the changed input could not be put in place" };
    if (isObject(answer.requireApproval)) {
      const why = text(answer.requireApproval.description);
      out.requireApproval = { ...answer.requireApproval, description: [...why].slice(0, MAX_QUESTION).join("") };
    }
    return Object.keys(out).length ? out : undefined;
  });

  report("after_tool_call");

  // The end of a run. OpenClaw exits behind it, and waits for us.
  on("agent_end", FLUSH_WAIT * 2, async (event, ctx) => {
    const run = runOf(event, ctx);
    runs.delete(run.id);
    if (run.open) tell("agent_end", event, ctx, ending(event));
    await line.flush(FLUSH_WAIT);
  });

  for (const name of ["session_start", "before_compaction", "after_compaction", "before_reset", "subagent_spawned", "subagent_ended"]) report(name);

  on("session_end", FLUSH_WAIT * 2, async (event, ctx) => {
    tell("session_end", event, ctx);
    await line.flush(FLUSH_WAIT);
  });
}

// ending is how a run ended. That a model failed OpenClaw calls a success; the
// last message says it.
function ending(event) {
  const last = Array.isArray(event.messages) ? event.messages.filter((message) => message?.role === "assistant").pop() : undefined;
  const parts = Array.isArray(last?.content) ? last.content : [];
  const message = parts.filter((part) => part?.type === "text").map((part) => text(part.text)).join("\n").slice(0, MAX_TEXT) || undefined;
  if (last?.stopReason === "aborted") return { reason: "cancelled", message };
  if (event.success !== false && last?.stopReason !== "error") return { message };
  return { reason: "failed", error: text(event.error) || text(last?.errorMessage) || undefined, message };
}
