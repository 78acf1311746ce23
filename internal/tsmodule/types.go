package tsmodule

import (
	_ "embed"
	"strings"
)

//go:embed hookmux.d.ts
var types string

// Types are the types for editors: the text of hookmux.d.ts.
func Types() string { return types }

const starter = `/// <reference path="./hookmux.d.ts" />
import type { HookAPI } from "hookmux";

// NAME: asks before a command deletes anything.
export default function (hooks: HookAPI) {
  hooks.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash" || !/\brm\b/.test(event.input.command)) return;
    if (!ctx.hasUI) return { block: true, reason: "nobody is there to ask" };
    if (!(await ctx.ui.confirm("Delete?", event.input.command))) return { block: true, reason: "you said no" };
  });
}
`

// Starter is a hook to start from.
func Starter(name string) string { return strings.ReplaceAll(starter, "NAME", name) }
