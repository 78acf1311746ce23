package tshook

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// The first generation's session event names the entry that is branched from by its
// place, where the header is the first, before and behind the branch, and the model that would write a summary.
func TestFirstGenerationSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.ts")
	text := `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
export default function (pi: HookAPI) {
  pi.on("session", async (event) => {
    if (event.reason === "before_branch" || event.reason === "branch") console.log(event.reason, event.targetTurnIndex);
    if (event.reason === "before_compact") console.log(event.reason, event.model.provider, event.model.id);
  });
}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inEffectTest(t, path, func(c *effectTest) {
		c.says("session_before_fork", pi.Object{"entryId": "e2"})
		c.says("session_start", pi.Object{"reason": "fork", "previousSessionFile": c.record})
		c.says("session_before_compact", pi.Object{})
		want := "log: before_branch 2\nlog: branch 2\nlog: before_compact lab small"
		if got := c.said(); got != want {
			t.Errorf("the hook saw\n%s\nwant\n%s (troubles: %s)", got, want, c.troubles())
		}
	})
}

// What the first generation's events carry, under the names it gave them.
func TestFirstGenerationFields(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fields.ts")
	text := `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
export default function (pi: HookAPI) {
  pi.on("session", async (event) => {
    if (event.reason === "before_branch") return { skipConversationRestore: true };
    if (event.reason !== "before_compact") return;
    console.log(event.previousSummary, event.customInstructions, event.tokensBefore, event.cutPoint.firstKeptEntryIndex, event.cutPoint.isSplitTurn,
      event.messagesToSummarize.length, event.messagesToKeep.map((m: any) => m.content).join(), event.entries.length, typeof (await event.resolveApiKey(event.model)));
  });
  pi.on("turn_end", async (event) => console.log(event.turnIndex, event.message.role, event.toolResults.map((r: any) => r.toolCallId).join()));
  pi.on("agent_end", async (event) => console.log(event.messages.map((m: any) => m.role).join()));
  pi.on("tool_result", async (event) => console.log((event.details as any)?.truncation?.truncatedBy, (event.details as any)?.truncation?.totalLines));
}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inEffectTest(t, path, func(c *effectTest) {
		c.want("skipped", c.says("session_before_fork", pi.Object{"entryId": "e2"}), `"skipConversationRestore":true`)
		user := pi.Object{"role": "user", "content": "kept"}
		c.says("session_before_compact", pi.Object{
			"customInstructions": "briefly",
			"preparation": pi.Object{"firstKeptEntryId": "e2", "isSplitTurn": true, "tokensBefore": 9,
				"previousSummary": "earlier", "messagesToSummarize": []any{user, user}},
			"branchEntries": []any{pi.Object{"id": "e1", "type": "message"},
				pi.Object{"id": "e2", "type": "message", "message": user}},
		})
		c.says("turn_end", pi.Object{"turnIndex": 3, "message": pi.Object{"role": "assistant", "content": []any{}},
			"toolResults": []any{pi.Object{"role": "toolResult", "toolCallId": "c1"}}})
		c.says("agent_end", pi.Object{"messages": []any{user, pi.Object{"role": "assistant", "content": []any{}}}})
		c.says("tool_result", pi.Object{"toolName": "read", "toolCallId": "c", "input": pi.Object{}, "content": []any{},
			"details": pi.Object{"truncation": pi.Object{"truncated": true, "truncatedBy": "lines", "totalLines": 900}}})
		want := "log: earlier briefly 9 1 true 2 kept 2 string\nlog: 3 assistant c1\nlog: user,assistant\nlog: lines 900"
		if got := c.said(); got != want {
			t.Errorf("the hook saw\n%s\nwant\n%s (troubles: %s)", got, want, c.troubles())
		}
	})
}
