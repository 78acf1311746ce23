package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/hookmux/hookmux/internal/daemontest"
)

// An agent calls one tool several times at once. The steps beside a request leave out the call
// it asks for, which its card shows, and none of the others.
func TestLastStepsOfParallelCallsInChromium(t *testing.T) {
	for name, c := range map[string]struct {
		asked string // the command, whose call the request names
		id    string
		shown []string
	}{
		"by its id":               {"npm test", "call-1", []string{"npm run lint", "npm test", "npm run build"}},
		"by its text":             {"npm run lint", "", []string{"npm test", "npm test", "npm run build"}},
		"by its text, made twice": {"npm test", "", []string{"npm test", "npm run lint", "npm run build"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.resize(1440, 900, "light")
			w.pair()
			for i, command := range []string{"npm test", "npm run lint", "npm test", "npm run build"} {
				if _, err := w.TrySend(daemontest.SessionEvent("claude", "PreToolUse", map[string]any{"cwd": "/home/you/shop", "tool_name": "Bash",
					"tool_use_id": "call-" + string(rune('1'+i)), "tool_input": map[string]any{"command": command}})); err != nil {
					t.Fatal(err)
				}
			}
			input := map[string]any{"cwd": "/home/you/shop", "tool_name": "Bash", "tool_input": map[string]any{"command": c.asked}}
			if c.id != "" {
				input["tool_use_id"] = c.id
			}
			said := w.ask(daemontest.SessionEvent("claude", "PermissionRequest", input))
			var steps []string
			w.run("the steps", chromedp.WaitVisible(".steps .ev", chromedp.ByQuery),
				chromedp.Evaluate(`[...document.querySelectorAll('.steps .ev-text')].map((one) => one.textContent.replace(/^Run /, ''))`, &steps))
			if len(steps) != len(c.shown) {
				t.Fatalf("steps %q, want %q", steps, c.shown)
			}
			for i := range steps {
				if steps[i] != c.shown[i] {
					t.Errorf("steps %q, want %q", steps, c.shown)
					break
				}
			}
			w.run("approve", chromedp.Click(button("Approve")))
			w.hears(said, `"allow"`)
		})
	}
}
