package tshook

import "testing"

// TestParts touches everything an engine has on offer once.
func TestParts(t *testing.T) {
	s := newHarness(t, nil)
	s.load("all.ts", `
import assert from "node:assert";
import fs, { readFileSync } from "node:fs";
import * as fsp from "fs/promises";
import path from "path";
import os from "node:os";
import http from "node:http";
import https from "node:https";
import cp from "child_process";
import util from "node:util";
import * as url from "node:url";
import EventEmitter, { once } from "node:events";
import readline from "node:readline";
import timers from "node:timers/promises";
import crypto from "node:crypto";
import zlib from "node:zlib";
import { StringDecoder } from "node:string_decoder";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isBashToolResult, convertToLlm, DynamicBorder } from "@mariozechner/pi-coding-agent";
import { complete, StringEnum } from "@mariozechner/pi-ai";
import { visibleWidth, Key, Container } from "@mariozechner/pi-tui";
import { fileURLToPath } from "url";
const { promisify } = require("util");

export default async function (hooks: any) {
  assert.equal(path.join("/a/", "../b", "c.txt"), "/b/c.txt");
  assert.equal(path.resolve("/a", "b", "..", "c"), "/a/c");
  assert.equal(path.relative("/a/b/c", "/a/d"), "../../d");
  assert.equal(path.extname("x.tar.gz"), ".gz");
  assert.equal(path.dirname("/a/b"), "/a");
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "hm-"));
  const file = path.join(dir, "ä.txt");
  fs.writeFileSync(file, "grüße\n");
  fs.appendFileSync(file, "mehr");
  assert.equal(readFileSync(file, "utf-8"), "grüße\nmehr");
  assert.equal(readFileSync(file).length, 12);
  assert.equal((await fsp.readFile(file)).toString("hex").slice(0, 4), "6772");
  assert.ok(fs.existsSync(file) && !fs.existsSync(file + "x"));
  assert.equal(fs.readdirSync(dir, { withFileTypes: true })[0].isFile(), true);
  assert.equal((await fsp.stat(file)).size, 12);
  try { fs.readFileSync(file + "x"); assert.fail("no"); } catch (e: any) { assert.equal(e.code, "ENOENT"); }
  await assert2(fsp.readFile(file + "x"), "ENOENT");
  const lines: string[] = [];
  for await (const line of readline.createInterface({ input: fs.createReadStream(file) })) lines.push(line);
  assert.deepEqual(lines, ["grüße", "mehr"]);
  fs.rmSync(dir, { recursive: true });
  for (const [pack, unpack] of [["gzipSync", "gunzipSync"], ["deflateSync", "inflateSync"], ["deflateRawSync", "inflateRawSync"]]) {
    const small = zlib[pack]("grüße ".repeat(100));
    assert.ok(small.length < 100);
    assert.equal(zlib[unpack](small).toString(), "grüße ".repeat(100));
  }
  assert.equal((await promisify(zlib.gunzip)(zlib.gzipSync("a"))).toString(), "a");
  await assert2(promisify(zlib.inflate)(Buffer.from("nonsense")), "Z_DATA_ERROR");
  const { stdout } = await promisify(cp.exec)("printf 'a b'; exit 0");
  assert.equal(stdout, "a b");
  assert.equal(cp.execSync("echo hi").toString(), "hi\n");
  assert.equal(cp.spawnSync("sh", ["-c", "exit 3"]).status, 3);
  const child = cp.spawn("cat");
  let got = "";
  child.stdout.on("data", (d: any) => (got += d));
  child.stdin.write("through ");
  child.stdin.end("cat");
  const [code] = await once(child, "close");
  assert.equal(code, 0);
  assert.equal(got, "through cat");
  await assert2(new Promise((_, no) => cp.spawn("no-such-program").on("error", no)), "ENOENT");
  const server = http.createServer((req, res) => {
    let body = "";
    req.on("data", (c: any) => (body += c));
    req.on("end", () => { res.writeHead(201, { "X-A": "b" }); res.end(req.method + req.url + body); });
  });
  await new Promise<void>((done) => server.listen(0, done));
  const port = server.address().port;
  const answer = await fetch("http://127.0.0.1:" + port + "/p?q=1", { method: "POST", body: "data" });
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get("x-a"), "b");
  assert.equal(await answer.text(), "POST/p?q=1data");
  const text = await new Promise((done) => http.get("http://127.0.0.1:" + port + "/g", (res: any) => { let t = ""; res.on("data", (c: any) => (t += c)); res.on("end", () => done(t)); }));
  assert.equal(text, "GET/g");
  server.close();
  await assert2(fetch("http://127.0.0.1:1/"), undefined);
  assert.equal(new URL("../x?y=z#h", "http://user:pw@Example.com:8080/a/b/").href, "http://user:pw@example.com:8080/a/x?y=z#h");
  assert.equal(new URL("http://a/?b=c&b=d").searchParams.getAll("b").join(), "c,d");
  assert.equal(new URLSearchParams({ a: "b c" }).toString(), "a=b+c");
  assert.equal(fileURLToPath("file:///a%20b"), "/a b");
  assert.equal(url.pathToFileURL("/a b").href, "file:///a%20b");
  assert.ok(import.meta.url.startsWith("file:///"));
  assert.equal(Buffer.from("aGk=", "base64").toString(), "hi");
  assert.equal(Buffer.concat([Buffer.from("a"), Buffer.from("b")]).toString("base64url"), "YWI");
  assert.equal(btoa("x"), "eA==");
  assert.equal(new TextDecoder().decode(new TextEncoder().encode("😀")), "😀");
  assert.equal(new StringDecoder("utf8").write(Buffer.from("é")), "é");
  assert.equal(crypto.createHash("sha256").update("x").digest("hex").slice(0, 8), "2d711642");
  assert.equal(crypto.createHmac("sha256", "k").update("x").digest("hex").length, 64);
  assert.ok(/^[0-9a-f-]{36}$/.test(globalThis.crypto.randomUUID()));
  assert.equal(util.format("%s %d %j", "a", 1, { b: 2 }), 'a 1 {"b":2}');
  assert.ok(util.inspect({ a: [1, { b: 2 }] }).includes("b: 2"));
  assert.deepEqual(structuredClone({ a: new Map([[1, new Date(5)]]) }).a.get(1).getTime(), 5);
  const c = new AbortController();
  const asleep = timers.setTimeout(60000, 1, { signal: c.signal });
  setTimeout(() => c.abort(), 5);
  await assert2(asleep, 20);
  const e = new EventEmitter();
  let heard = 0;
  e.on("x", (n: number) => (heard += n));
  e.emit("x", 2);
  assert.equal(heard, 2);
  const schema = Type.Object({ a: Type.String(), b: Type.Optional(Type.Number()) });
  assert.deepEqual(schema.required, ["a"]);
  assert.ok(Value.Check(schema, { a: "x" }) && !Value.Check(schema, { a: 1 }) && !Value.Check(schema, {}));
  assert.deepEqual(StringEnum(["x", "y"]).enum, ["x", "y"]);
  assert.ok(isBashToolResult({ toolName: "bash" } as any));
  assert.equal(convertToLlm([{ role: "custom", content: "x" }])[0].role, "user");
  assert.equal(visibleWidth("\x1b[1mä😀"), 3);
  assert.equal(Key.ctrl("p"), "ctrl+p");
  class Mine extends DynamicBorder {}
  new Mine();
  try { new DynamicBorder(); assert.fail("no"); } catch (err: any) { assert.ok(/inside pi only/.test(err.message), err.message); }
  await assert2(complete({} as any, {} as any), undefined);
  assert.equal(process.env.PATH !== undefined, true);
  assert.equal(process.cwd().startsWith("/"), true);
  assert.ok(performance.now() >= 0);
  try { require("worker_threads"); assert.fail("no"); } catch (err: any) { assert.ok(/runtime: node/.test(err.message)); }
  hooks.on("tool_call", () => {});
}
async function assert2(p: Promise<any>, code: any) {
  try { await p; } catch (e: any) { assert.equal(e.code, code, e.stack); return; }
  assert.fail("should have failed");
}
`)
	t.Log(s.said(), s.troubles())
}
