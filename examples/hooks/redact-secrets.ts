// Takes secrets out of what tools print before the model reads it.
//
// It holds where an agent lets a hook change a result (`hookmux hooks list`
// says where not). It knows common shapes, no more: it is a net, not a wall.
import type { HookAPI } from "hookmux";

const SHAPES: [string, RegExp][] = [
  ["private key", /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g],
  ["AWS key", /\b(AKIA|ASIA)[0-9A-Z]{16}\b/g],
  ["GitHub token", /\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})\b/g],
  ["API key", /\bsk-[A-Za-z0-9_-]{20,}\b/g],
  ["Slack token", /\bxox[abprs]-[A-Za-z0-9-]{10,}/g],
  ["web token", /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g],
  ["password", /(?<=\b(password|passwd|secret|token|api_?key)\s*[=:]\s*["']?)[^\s"']{8,}/gi],
];

export default function (hooks: HookAPI) {
  hooks.on("tool_result", (event) => {
    let found = 0;
    const content = event.content.map((part) => {
      if (part.type !== "text") return part;
      let text = part.text;
      for (const [what, shape] of SHAPES) {
        text = text.replace(shape, () => {
          found++;
          return `[${what} taken out]`;
        });
      }
      return { ...part, text };
    });
    if (!found) return;
    console.log(`${found} secrets taken out of a result of ${event.native.toolName}`);
    return { content };
  });
}
