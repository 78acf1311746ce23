// typebox, and pi's own packages.

globalThis.__part = (shared) => {
const { native, HostError, call, start, stop, ask, within, later, describe, loose, tend, inspect, format, callable, now, born, part, textOf, onlyPi, bareModel } = shared;
const { structuredClone, randomBytes, decodeText, onAbort } = part("web");
const { path, util, about } = part("node");
// The part of typebox that tools of hooks use: schemas are plain JSON Schema
// with a mark for what is optional.

const optional = Symbol.for("TypeBox.Optional");
const kind = Symbol.for("TypeBox.Kind");
const schema = (name, fields, options) => {
  const out = { ...fields, ...options };
  Object.defineProperty(out, kind, { value: name });
  return out;
};
const marked = (s) => {
  const out = { ...s };
  Object.defineProperty(out, kind, { value: s[kind] });
  Object.defineProperty(out, optional, { value: "Optional" });
  return out;
};
const unmarked = (s) => schema(s[kind], s);

function objectOf(properties, options) {
  const required = Object.keys(properties).filter((k) => !(optional in properties[k]));
  return schema("Object", { type: "object", ...(required.length ? { required } : {}), properties }, options);
}
const pick = (o, keep) => objectOf(Object.fromEntries(Object.entries(o.properties).filter(([k]) => keep(k))));
const keyList = (keys) => (Array.isArray(keys) ? keys : keys.anyOf ? keys.anyOf.map((k) => k.const) : [keys.const]);

const Type = {
  String: (o) => schema("String", { type: "string" }, o),
  Number: (o) => schema("Number", { type: "number" }, o),
  Integer: (o) => schema("Integer", { type: "integer" }, o),
  Boolean: (o) => schema("Boolean", { type: "boolean" }, o),
  Null: (o) => schema("Null", { type: "null" }, o),
  Any: (o) => schema("Any", {}, o),
  Unknown: (o) => schema("Unknown", {}, o),
  Never: (o) => schema("Never", { not: {} }, o),
  Literal: (value, o) => schema("Literal", { const: value, type: value === null ? "null" : typeof value }, o),
  Array: (items, o) => schema("Array", { type: "array", items }, o),
  Tuple: (items, o) => schema("Tuple", { type: "array", items, additionalItems: false, minItems: items.length, maxItems: items.length }, o),
  Object: objectOf,
  Record: (key, value, o) => schema("Record", { type: "object", patternProperties: { [key.pattern || "^(.*)$"]: value } }, o),
  Union: (anyOf, o) => schema("Union", { anyOf }, o),
  Intersect: (allOf, o) => schema("Intersect", { type: "object", allOf }, o),
  Enum: (values, o) => schema("Union", { anyOf: [...new Set(Object.values(values))].filter((v) => typeof v !== "string" || typeof values[v] !== "number").map((v) => Type.Literal(v)) }, o),
  Optional: (s) => marked(s),
  Required: (o) => objectOf(Object.fromEntries(Object.entries(o.properties).map(([k, s]) => [k, unmarked(s)]))),
  Partial: (o) => objectOf(Object.fromEntries(Object.entries(o.properties).map(([k, s]) => [k, marked(s)]))),
  Pick: (o, keys) => pick(o, (k) => keyList(keys).includes(k)),
  Omit: (o, keys) => pick(o, (k) => !keyList(keys).includes(k)),
  Composite: (list, o) => objectOf(Object.assign({}, ...list.map((s) => s.properties)), o),
  KeyOf: (o) => Type.Union(Object.keys(o.properties).map((k) => Type.Literal(k))),
  Readonly: (s) => s,
  Unsafe: (o = {}) => schema("Unsafe", { ...o }),
  Ref: (s, o) => schema("Ref", { $ref: typeof s === "string" ? s : s.$id }, o),
  RegExp: (r, o) => schema("String", { type: "string", pattern: typeof r === "string" ? r : r.source }, o),
};

// check says where a value differs from its schema; nothing when it fits.
function check(s, value, at = "") {
  const wrong = (message) => [{ path: at || "/", message, value }];
  if (s.anyOf) return s.anyOf.some((one) => !check(one, value, at).length) ? [] : wrong("Expected union value");
  if (s.allOf) return s.allOf.flatMap((one) => check(one, value, at));
  if (s.not) return check(s.not, value, at).length ? [] : wrong("Never");
  if (s.const !== undefined) return value === s.const ? [] : wrong(`Expected ${JSON.stringify(s.const)}`);
  if (s.enum) return s.enum.includes(value) ? [] : wrong(`Expected one of ${s.enum.join(", ")}`);
  switch (s.type) {
    case "string":
      if (typeof value !== "string") return wrong("Expected string");
      if (s.pattern && !new RegExp(s.pattern).test(value)) return wrong(`Expected string to match '${s.pattern}'`);
      if (s.minLength > value.length || s.maxLength < value.length) return wrong("Expected string of another length");
      return [];
    case "number":
    case "integer":
      if (typeof value !== "number" || !Number.isFinite(value) || (s.type === "integer" && !Number.isInteger(value))) return wrong(`Expected ${s.type}`);
      if (s.minimum > value || s.maximum < value || s.exclusiveMinimum >= value || s.exclusiveMaximum <= value) return wrong("Expected number within its bounds");
      return [];
    case "boolean":
      return typeof value === "boolean" ? [] : wrong("Expected boolean");
    case "null":
      return value === null ? [] : wrong("Expected null");
    case "array":
      if (!Array.isArray(value)) return wrong("Expected array");
      if (s.minItems > value.length || s.maxItems < value.length) return wrong("Expected array of another length");
      return value.flatMap((v, i) => (Array.isArray(s.items) ? (s.items[i] ? check(s.items[i], v, `${at}/${i}`) : []) : s.items ? check(s.items, v, `${at}/${i}`) : []));
    case "object": {
      if (value === null || typeof value !== "object" || Array.isArray(value)) return wrong("Expected object");
      const out = [];
      for (const key of s.required || []) if (!(key in value)) out.push({ path: `${at}/${key}`, message: "Expected required property", value: undefined });
      for (const [key, one] of Object.entries(s.properties || {})) if (value[key] !== undefined) out.push(...check(one, value[key], `${at}/${key}`));
      for (const [pattern, one] of Object.entries(s.patternProperties || {})) {
        for (const key of Object.keys(value)) if (new RegExp(pattern).test(key)) out.push(...check(one, value[key], `${at}/${key}`));
      }
      if (s.additionalProperties === false) for (const key of Object.keys(value)) if (!(s.properties && key in s.properties)) out.push({ path: `${at}/${key}`, message: "Unexpected property", value: value[key] });
      return out;
    }
  }
  return [];
}

function defaults(s, value) {
  if (value === undefined && s.default !== undefined) return structuredClone(s.default);
  if (s.type === "object" && value && typeof value === "object") for (const [key, one] of Object.entries(s.properties || {})) {
    const filled = defaults(one, value[key]);
    if (filled !== undefined) value[key] = filled;
  }
  return value;
}

const Value = {
  Check: (s, value) => check(s, value).length === 0,
  Errors: (s, value) => check(s, value),
  Default: defaults,
  Clone: (v) => structuredClone(v),
  Parse(s, value) {
    const [first] = check(s, value);
    if (first) throw new Error(`${first.path}: ${first.message}`);
    return value;
  },
};
const typebox = { Type, Kind: kind, Optional: optional, Value };
