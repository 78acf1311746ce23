// pi's own packages. Types are gone before a file gets here; what is left are
// a few helpers. Those that need a model run inside pi; the rest of pi is not
// here, and using it is a clear error.

const askModel = (what, args) => {
  if (!shared.current || !shared.current.pi) return Promise.reject(onlyPi(what));
  const { signal, ...options } = args.options || {};
  return new Promise((done, fail) => {
    const id = start("model", { what, ...args, options, dispatch: shared.current.dispatch }, { done, fail });
    onAbort(signal, (reason) => {
      stop(id);
      fail(reason);
    });
  });
};

const guard = (tool) => (event) => event.toolName === tool;
const guards = {
  isBashToolResult: guard("bash"), isReadToolResult: guard("read"), isEditToolResult: guard("edit"), isWriteToolResult: guard("write"),
  isGrepToolResult: guard("grep"), isFindToolResult: guard("find"), isLsToolResult: guard("ls"),
  isToolCallEventType: (tool, event) => event.toolName === tool,
};

// Messages as a model sees them: pi's own kinds become words of the user.
function convertToLlm(messages) {
  const out = [];
  for (const m of messages) {
    if (m.role === "user" || m.role === "assistant" || m.role === "toolResult") out.push(m);
    else if (m.role === "custom" || m.role === "hookMessage") out.push({ role: "user", content: typeof m.content === "string" ? [{ type: "text", text: m.content }] : m.content, timestamp: m.timestamp });
    else if (m.role === "bashExecution") out.push({ role: "user", content: [{ type: "text", text: `Ran \`${m.command}\`\n\`\`\`\n${m.output}\n\`\`\`` }], timestamp: m.timestamp });
    else if (m.summary) out.push({ role: "user", content: [{ type: "text", text: `<summary>\n${m.summary}\n</summary>` }], timestamp: m.timestamp });
  }
  return out;
}
const serializeConversation = (messages) =>
  messages
    .map((m) => {
      const calls = Array.isArray(m.content) ? m.content.filter((p) => p.type === "toolCall").map((p) => `${p.name}(${JSON.stringify(p.arguments)})`) : [];
      const who = { user: "User", assistant: "Assistant", toolResult: "Tool result" }[m.role] || m.role;
      return [textOf(m.content) && `[${who}]: ${textOf(m.content)}`, calls.length && `[Assistant tool calls]: ${calls.join("; ")}`].filter(Boolean).join("\n\n");
    })
    .filter(Boolean)
    .join("\n\n");

const findModel = (provider, id) => (shared.current && shared.current.pi ? { model: bareModel(provider, id), error: null } : { model: null, error: onlyPi("findModel").message });

function uuidv7() {
  const b = randomBytes(16);
  let t = Date.now();
  for (let i = 5; i >= 0; i--) {
    b[i] = t % 256;
    t = Math.floor(t / 256);
  }
  b[6] = (b[6] & 15) | 112;
  b[8] = (b[8] & 63) | 128;
  const h = decodeText(b, "hex");
  return [h.slice(0, 8), h.slice(8, 12), h.slice(12, 16), h.slice(16, 20), h.slice(20)].join("-");
}

// --- a little of pi-tui: what a file needs to be loaded and to measure text -------

const bare = util.stripVTControlCharacters;
const wide = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
const visibleWidth = (text) => [...bare(text)].reduce((n, c) => n + (/\p{M}|\p{Cf}/u.test(c) ? 0 : wide.test(c) ? 2 : 1), 0);
const truncateToWidth = (text, width, mark = "...") => {
  if (visibleWidth(text) <= width) return text;
  let out = "";
  for (const c of bare(text)) {
    if (visibleWidth(out + c) + visibleWidth(mark) > width) break;
    out += c;
  }
  return out + mark;
};
const keyNames = new Proxy({}, { get: (_, name) => (["ctrl", "shift", "alt", "ctrlShift", "ctrlAlt", "shiftAlt", "super"].includes(name) ? (key) => `${name.replace(/[A-Z]/g, (c) => "+" + c.toLowerCase())}+${key}` : String(name)) });
class Component {
  children = [];
  constructor(...args) { this.args = args; }
  addChild(child) { this.children.push(child); }
  removeChild(child) { this.children = this.children.filter((c) => c !== child); }
  clear() { this.children = []; }
  invalidate() {}
  handleInput() {}
  setText(text) { this.args[0] = text; }
  render(width) { return this.children.length ? this.children.flatMap((c) => c.render(width)) : typeof this.args[0] === "string" ? this.args[0].split("\n") : []; }
}

// Whatever else a package has can be imported and not used. Classes can be
// extended, because files do that while they are loaded.
function absent(pkg, name) {
  const fail = () => {
    throw onlyPi(`${name} of ${pkg}`);
  };
  // pi's own tools can be named and wrapped while a file is loaded.
  const tool = /^create(\w+)Tool(?:Definition)?$/.exec(name);
  if (tool) return () => ({ name: tool[1].toLowerCase(), label: tool[1], description: "", parameters: Type.Object({}), execute: async () => fail() });
  function Absent() {
    if (new.target && new.target !== Absent) return Reflect.construct(Component, [], new.target);
    return fail();
  }
  Object.setPrototypeOf(Absent.prototype, Component.prototype);
  Object.defineProperty(Absent, "name", { value: name });
  return Absent;
}
const openEnded = (pkg, known) => {
  const made = new Map();
  return Object.setPrototypeOf(known, new Proxy({}, {
    get(_, name) {
      if (typeof name !== "string" || name === "__esModule" || name === "then" || name === "default") return undefined;
      if (!made.has(name)) made.set(name, absent(pkg, name));
      return made.get(name);
    },
    has: () => false,
  }));
};

const agentPackage = openEnded("pi-coding-agent", {
  ...guards, convertToLlm, serializeConversation, messageTransformer: convertToLlm, findModel, defineTool: (tool) => tool, CONFIG_DIR_NAME: ".pi", VERSION: "0.0.0-hookmux",
  getAgentDir: () => about.env.PI_CODING_AGENT_DIR || path.join(about.home, ".pi", "agent"), getSettingsListTheme: () => ({}), getMarkdownTheme: () => ({}), getSelectListTheme: () => ({}),
  withFileMutationQueue: (_, run) => run(),
  DEFAULT_MAX_LINES: 2000, DEFAULT_MAX_BYTES: 50 * 1024, formatSize: (n) => (n < 1024 ? `${n}B` : n < 1048576 ? `${(n / 1024).toFixed(1)}KB` : `${(n / 1048576).toFixed(1)}MB`),
});
const aiPackage = openEnded("pi-ai", {
  Type, StringEnum: (values, o) => Type.Unsafe({ type: "string", enum: [...values], ...o }), uuidv7,
  complete: (model, context, options) => askModel("complete", { model, context, options }),
  completeSimple: (model, context, options) => askModel("complete", { model, context, options }),
  getModel: (provider, id) => bareModel(provider, id), getModels: () => [], getProviders: () => [], getEnvApiKey: () => undefined,
});
const tuiPackage = openEnded("pi-tui", {
  Key: keyNames, matchesKey: (data, key) => data === key, isKeyRelease: () => false, visibleWidth, truncateToWidth, wrapTextWithAnsi: (text) => text.split("\n"), CURSOR_MARKER: "",
  Component, Container: Component, Text: Component, Box: Component, Spacer: Component, Markdown: Component, SelectList: Component, SettingsList: Component, Input: Component, Editor: Component, Loader: Component, Image: Component,
});
const ownPackage = openEnded("hookmux", { ...guards, Type, version: about.version });

function packages(name) {
  const scoped = /^@(?:mariozechner|earendil-works)\/(pi-[a-z-]+)(\/.*)?$/.exec(name);
  switch (scoped ? scoped[1] : name) {
    case "pi-coding-agent":
      return agentPackage;
    case "pi-ai":
      return aiPackage;
    case "pi-tui":
      return tuiPackage;
    case "pi-agent-core":
      return openEnded("pi-agent-core", {});
    case "hookmux":
      return ownPackage;
    case "typebox":
    case "@sinclair/typebox":
      return typebox;
    case "@sinclair/typebox/value":
    case "typebox/value":
      return { Value, ...Value };
    case "typebox/compile":
    case "@sinclair/typebox/compiler":
      return { TypeCompiler: { Compile: (s) => ({ Check: (v) => Value.Check(s, v), Errors: (v) => check(s, v) }) }, Compile: (s) => ({ Check: (v) => Value.Check(s, v), Errors: (v) => check(s, v) }) };
  }
  return undefined;
}

return { packages, convertToLlm, askModel };
};
