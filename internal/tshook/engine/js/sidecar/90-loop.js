// Lines from Go: {kind, id, json}.
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (piece) => {
  rest += piece;
  const lines = rest.split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const job = JSON.parse(line);
    if (job.kind === "ping") put({ op: "pong", args: job.id });
    else globalThis.__enter(job.kind, job.id, job.json);
  }
});
process.stdin.on("end", () => {
  closing = true;
  process.exit(0);
});
