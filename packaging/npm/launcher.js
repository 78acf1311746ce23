#!/usr/bin/env node
// Starts the hookmux of this system, which is in a package of its own. Agents never
// run this file: `hookmux install` gives them the program itself.
"use strict";
const { spawn } = require("node:child_process");
const path = require("node:path");

const name = `hookmux-${process.platform}-${process.arch}`;
let program;
try {
  program = path.join(path.dirname(require.resolve(`${name}/package.json`)), "bin", "hookmux");
} catch {
  console.error(`hookmux: the package ${name} is not there. hookmux runs on Linux and macOS, x64 and arm64.`);
  console.error("hookmux: on one of these, install it again without --omit=optional or --no-optional.");
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// Ctrl-C reaches both; hookmux decides what it means, and this waits for it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => {
    if (signal === "SIGTERM" || signal === "SIGHUP") child.kill(signal);
  });
}
child.on("error", (err) => {
  console.error(`hookmux: ${program} cannot be started: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    return;
  }
  process.exit(code);
});
