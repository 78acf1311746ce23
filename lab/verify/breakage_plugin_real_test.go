package verify

import (
	"context"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// pluginFaults are plugins with a fault, by agent and by the check that must
// notice it.
var pluginFaults = map[string]map[string]testbed.Breakage{
	"opencode": {
		"inbox-approve": {Name: "no-reply", What: "a plugin that hands no answer to OpenCode", Plugin: []string{
			`if (answer.reply !== "once" && answer.reply !== "always" && answer.reply !== "reject") return;`, "return;"}},
		"inbox-deny": {Name: "yes-for-no", What: "a plugin that says yes for no", Plugin: []string{
			`{ reply: answer.reply, message`, `{ reply: "once", message`}},
		"inbox-nobody": {Name: "yes-for-nothing", What: "a plugin that takes no answer for a yes", Plugin: []string{
			`if (answer.reply !== "once" && answer.reply !== "always" && answer.reply !== "reject") return;`, `if (!answer.reply) answer = { reply: "once" };`}},
		"inbox-window": {Name: "deaf", What: "a plugin that does not hear of answers in OpenCode's window", Plugin: []string{
			`"permission.replied": (event) => settledHere(event.properties.requestID ?? event.properties.permissionID, event)`, `"permission.replied": () => {}`}},
		"inbox-question": {Name: "no-answers", What: "a plugin that loses the answers to questions", Plugin: []string{
			`await post(question + "/reply"`, `await post(question + "/nowhere"`}},
	},
	"pi": {
		"inbox-approve": {Name: "no-for-yes", What: "an extension that says no for yes", Plugin: []string{
			`if (answer.block === true) return refuse(answer.reason);`, `if (answer.block === true || answer.allow === true) return refuse(answer.reason);`}},
		"inbox-deny": {Name: "run-anyhow", What: "an extension that forgets a no", Plugin: []string{
			`if (answer.block === true) return refuse(answer.reason);`, ""}},
		"inbox-nobody": {Name: "yes-for-nothing", What: "an extension that takes no answer for a yes", Plugin: []string{
			`const last = await shown;`, `const last = true;`}},
		"inbox-window": {Name: "mute", What: "an extension that does not tell of answers at pi", Plugin: []string{
			`      tell(answered, ctx);`, ""}},
	},
}

// What the inbox's checks say about agents with a
// plugin would be a no if the plugin were broken.
func TestRealPluginBreakages(t *testing.T) {
	agentstest.Repeats(t, "TestRealSaboteurs on agents without a plugin")
	slots := make(chan struct{}, 2)
	for name, faults := range pluginFaults {
		for id, fault := range faults {
			t.Run(name+" "+id, func(t *testing.T) {
				t.Parallel()
				in := agentstest.Require(t, name)
				slots <- struct{}{}
				defer func() { <-slots }()
				r, err := Run(context.Background(), Options{
					Targets: []Target{{name, in}}, Bin: builtBin(t), Checks: []string{id}, Breakage: &fault,
					Parallel: 1, Patience: 45 * time.Second,
				})
				if err != nil || r.Agents[0].Problem != "" {
					t.Fatalf(`error %v, r.Agents[0].Problem = %q; want no error and r.Agents[0].Problem = ""`,
						err, r.Agents[0].Problem)
				}
				caught := false
				for _, row := range r.Agents[0].Rows {
					t.Logf("%s %s: %s", row.Mark, row.ID(), row.Why)
					caught = caught || row.Check == id && row.Mark == checks.Fails
				}
				if !caught {
					t.Errorf("%s did not notice %s", id, fault.What)
				}
			})
		}
	}
}
