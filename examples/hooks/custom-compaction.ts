// Keeps what matters through a compaction: which files were changed and what
// you asked for, in your own words.
//
// In pi this replaces the summary. Other agents write their own; there the same
// words are given to the model afterwards, with the session's next event.
import type { HookAPI } from "hookmux";

export default function (hooks: HookAPI) {
  const files = new Set<string>();
  const wishes: string[] = [];

  hooks.on("input", (event) => {
    if (event.text) wishes.push(event.text.trim().slice(0, 300));
    if (wishes.length > 50) wishes.shift();
  });

  hooks.on("tool_call", (event) => {
    if ((event.toolName === "write" || event.toolName === "edit") && event.input.path) files.add(event.input.path);
  });

  const summary = () =>
    [
      "What the user asked for, oldest first:",
      ...wishes.map((w) => "- " + w.replaceAll("\n", " ")),
      "Files changed so far:",
      ...(files.size ? [...files].map((f) => "- " + f) : ["- none"]),
    ].join("\n");

  hooks.on("session_before_compact", (event, ctx) => {
    if (ctx.agent !== "pi" || wishes.length === 0) return;
    let preparation;
    try {
      preparation = event.preparation;
    } catch {
      return; // a conversation too large to be sent along: pi writes its own
    }
    const { firstKeptEntryId, tokensBefore } = preparation;
    return { compaction: { summary: summary(), firstKeptEntryId, tokensBefore } };
  });

  hooks.on("session_compact", (_event, ctx) => {
    if (ctx.agent !== "pi" && wishes.length) hooks.sendMessage({ customType: "kept", content: summary(), display: false });
  });
}
