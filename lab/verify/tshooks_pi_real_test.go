package verify

import (
	"context"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// piTSHook says what only pi can take: it keeps the session, writes the
// summary with one of pi's models, rewrites a prompt and adds to the system prompt.
const piTSHook = `import type { HookAPI } from "hookmux";
export default function (hooks: HookAPI) {
  hooks.on("session_before_switch", () => ({ cancel: true }));
  hooks.on("session_before_compact", async (event, ctx) => {
    const { firstKeptEntryId, tokensBefore, messagesToSummarize } = event.preparation;
    const question = { role: "user", content: [{ type: "text", text: "asked-by-hook" }], timestamp: Date.now() };
    const answer = await ctx.modelRegistry.complete(ctx.model, { messages: [question] }, { maxTokens: 100 });
    const said = answer.role === "assistant" && answer.stopReason !== "error" ? "model-answered" : JSON.stringify(answer);
    return { compaction: { summary: "summary-by-hook of " + messagesToSummarize.length + " messages, " + said, firstKeptEntryId, tokensBefore } };
  });
  hooks.on("input", (event) => (event.text.includes("rewrite-me") ? { action: "transform", text: event.text.replace("rewrite-me", "rewritten-by-hook") } : undefined));
  hooks.on("before_agent_start", () => ({ systemPrompt: "system-words-by-hook" }));
}
`

// Through our extension hooks do in pi what its own
// extensions can.
func TestRealTSHooksInPi(t *testing.T) {
	st := realTestBed(t, "pi")
	writePersonFile(t, st.Dirs.Config, "hooks/inpi.ts", piTSHook)
	writePersonFile(t, st.Home, ".pi/agent/settings.json", `{"compaction":{"keepRecentTokens":1}}`)
	st.SetScript([]model.Step{{Say: testbed.LastWords}})
	if err := st.StartDaemonWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	ended := func(ev *event.Event) bool { return ev.Kind == event.TurnEnd }
	native := func(name string) func(*event.Event) bool {
		return func(ev *event.Event) bool { return ev.Native == name }
	}
	session := ""
	err := st.AtTerminal(context.Background(), st.Driver.TUI(testbed.MarkedPrompt("Say it, rewrite-me"), false),
		func(ctx context.Context, term *testbed.Terminal) error {
			if !st.Watcher.WaitForOne(ctx, ended) {
				t.Fatalf("the first turn did not end\n%s", term.CaptureScreen(ctx))
			}
			session = st.Watcher.AllSeen()[0].Event.Session
			for i, line := range []string{"/new", "/compact"} {
				if err := term.TypeLine(ctx, line); err != nil {
					return err
				}
				if !st.Watcher.WaitForOne(ctx, native([]string{"session_before_switch", "session_compact"}[i])) {
					t.Fatalf("%s was not heard\n%s", line, term.CaptureScreen(ctx))
				}
				term.AwaitStillness(ctx)
			}
			if err := term.TypeLine(ctx, testbed.MarkedPrompt("Say it again")); err != nil {
				return err
			}
			if !st.Watcher.WaitFor(ctx, 2, ended) {
				t.Fatalf("the second turn did not end\n%s", term.CaptureScreen(ctx))
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range st.Watcher.AllSeen() {
		if x.Event.Session != session {
			t.Errorf("%s came from another session: the new one was not stopped", x.Event.Native)
		}
	}
	for _, words := range []string{"rewritten-by-hook", "summary-by-hook of ", "model-answered",
		"system-words-by-hook"} {
		if !st.Model.Saw(st.Run, words) {
			t.Errorf("the model did not see %q", words)
		}
	}
	if st.Model.Saw(st.Run, "rewrite-me") {
		t.Error("the model saw the prompt as it was typed")
	}
}
