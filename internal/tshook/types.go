package tshook

import (
	_ "embed"
	"strings"
)

//go:embed hookmux.d.ts
var types string

// Types returns the types for editors: the text of hookmux.d.ts.
func Types() string { return types }

// editorConfig makes an editor know the types without any npm package. Some exports of pi's
// packages have no types here, so a value without a type is allowed.
const editorConfig = `{
  // For editors only: hookmux needs no build.
  "compilerOptions": {
    "target": "ES2023",
    "module": "ESNext",
    "moduleResolution": "Bundler",
    "allowImportingTsExtensions": true,
    "lib": ["ES2023", "DOM"],
    "allowJs": true,
    "strict": true,
    "noImplicitAny": false,
    "noEmit": true,
    "skipLibCheck": true
  },
  "include": ["**/*.ts", "**/*.js"],
  "exclude": ["node_modules"]
}
`

// EditorConfig returns the tsconfig.json next to a hook.
func EditorConfig() string { return editorConfig }

const starter = `/// <reference path="./hookmux.d.ts" />
import type { HookAPI } from "hookmux";

// NAME: asks before a command deletes anything.
export default function (hooks: HookAPI) {
  hooks.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash" || !/\brm\b/.test(event.input.command)) return;
    if (!ctx.hasUI) return { block: true, reason: "no one is available to approve this" };
    if (!(await ctx.ui.confirm("Delete?", event.input.command))) return { block: true, reason: "you said no" };
  });
}
`

// Starter returns a hook to start from.
func Starter(name string) string { return strings.ReplaceAll(starter, "NAME", name) }
