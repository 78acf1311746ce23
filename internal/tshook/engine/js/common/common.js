// What many hooks use and many do not: console, timers, and values as text.

globalThis.__part = (shared) => {
const { call, start, stop, tend, callable, now } = shared;

// --- showing values -------------------------------------------------------------

function inspect(value, depth = 3, seen = []) {
  switch (typeof value) {
    case "string":
      return seen.length ? JSON.stringify(value) : value;
    case "function":
      return `[Function${value.name ? ": " + value.name : " (anonymous)"}]`;
    case "bigint":
      return value + "n";
    case "symbol":
      return value.toString();
    case "undefined":
      return "undefined";
    case "object":
      break;
    default:
      return String(value);
  }
  if (value === null) return "null";
  if (value instanceof Error) return value.stack ? `${value.name}: ${value.message}\n${value.stack.trimEnd()}` : String(value);
  if (value instanceof Date) return isNaN(value) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (seen.includes(value)) return "[Circular]";
  if (seen.length > depth) return Array.isArray(value) ? "[Array]" : "[Object]";
  const inner = [...seen, value];
  const show = (v) => inspect(v, depth, inner);
  const around = (open, parts, close) => {
    if (!parts.length) return open + close;
    const line = `${open} ${parts.join(", ")} ${close}`;
    if (line.length <= 76 && !line.includes("\n")) return line;
    const pad = "  ".repeat(inner.length);
    return `${open}\n${pad}${parts.join(",\n" + pad)}\n${"  ".repeat(inner.length - 1)}${close}`;
  };
  if (Array.isArray(value)) {
    const parts = value.slice(0, 100).map(show);
    if (value.length > 100) parts.push(`... ${value.length - 100} more items`);
    return around("[", parts, "]");
  }
  if (value instanceof Map) return `Map(${value.size}) ` + around("{", [...value].map(([k, v]) => `${show(k)} => ${show(v)}`), "}");
  if (value instanceof Set) return `Set(${value.size}) ` + around("{", [...value].map(show), "}");
  if (value instanceof Promise) return "Promise { ? }";
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${value.length}) ` + around("[", [...value.subarray(0, 50)].map(String), "]");
  const name = value.constructor && value.constructor !== Object ? value.constructor.name + " " : "";
  const keys = Object.keys(value);
  const parts = keys.slice(0, 100).map((key) => `${/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)}: ${show(value[key])}`);
  return name + around("{", parts, "}");
}

function format(first, ...rest) {
  if (typeof first !== "string") return [first, ...rest].map((v) => inspect(v)).join(" ");
  const text = first.replace(/%[sdifjoOc%]/g, (mark) => {
    if (mark === "%%") return "%";
    if (!rest.length) return mark;
    const value = rest.shift();
    switch (mark) {
      case "%s":
        return typeof value === "object" ? inspect(value, 0) : String(value);
      case "%d":
        return String(Number(value));
      case "%i":
        return String(parseInt(value, 10));
      case "%f":
        return String(parseFloat(value));
      case "%j":
        return JSON.stringify(value);
      case "%c":
        return "";
    }
    return inspect(value);
  });
  return [text, ...rest.map((v) => inspect(v))].join(" ");
}

// --- console, timers ------------------------------------------------------------

const say = (level) => (...args) => void call("said", { level, text: format(...args) });
const counts = new Map();
const clocks = new Map();
const console = {
  log: say("log"), info: say("log"), debug: say("debug"), warn: say("warn"), error: say("error"), trace: say("debug"), dir: (v) => say("log")(inspect(v)),
  table: say("log"), group: say("log"), groupEnd() {},
  assert: (ok, ...args) => ok || say("error")("Assertion failed:", ...args),
  count(label = "default") {
    counts.set(label, (counts.get(label) || 0) + 1);
    say("log")(`${label}: ${counts.get(label)}`);
  },
  time: (label = "default") => void clocks.set(label, now()),
  timeEnd: (label = "default") => say("log")(`${label}: ${(now() - (clocks.get(label) || now())).toFixed(3)}ms`),
};

class Timer {
  constructor(run, ms, args, again) {
    this.run = run;
    this.args = args;
    this.again = again;
    this.ms = Math.min(Math.max(Number(ms) || 0, again ? 1 : 0), 2147483647);
    this.arm();
  }
  arm() {
    this.id = start("timer", this.ms, {
      done: () => {
        this.id = 0;
        if (this.again) this.arm();
        tend(this.run(...this.args), "timer");
      },
    });
  }
  close() {
    this.again = false;
    if (this.id) stop(this.id);
    this.id = 0;
    return this;
  }
  refresh() {
    if (this.id) stop(this.id);
    this.arm();
    return this;
  }
  ref() { return this; }
  unref() { return this; }
  hasRef() { return true; }
  [Symbol.toPrimitive]() { return this.id; }
}

const dropTimer = (timer) => void (timer instanceof Timer ? timer.close() : timer && stop(Number(timer)));
const setTimeout = (run, ms, ...args) => new Timer(callable(run), ms, args, false);
const setInterval = (run, ms, ...args) => new Timer(callable(run), ms, args, true);
const setImmediate = (run, ...args) => new Timer(callable(run), 0, args, false);

return { inspect, format, console, setTimeout, setInterval, setImmediate, clearTimeout: dropTimer, clearInterval: dropTimer, clearImmediate: dropTimer };
};
