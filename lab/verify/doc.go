// Package verify asks real agents whether what the catalogue claims about them
// holds: it runs an agent's own program against a scripted model in a
// throw-away home, with hooks of its own, and watches what really happens.
//
// How the packages fit:
//
//   - realagents installs agents and writes their throw-away homes; its package model
//     is the scripted model, mcp a scripted MCP server.
//   - drivers: a Driver defines how one agent is started and given its hooks.
//   - testbed: a TestBed is where one launch takes place, and its Evidence what was
//     seen there. ownconfig copies the user's own config to it, isolate keeps
//     everything from the network.
//   - checks: an AgentRun is one launch of an agent: what the scripted model says,
//     what hooks answer, how it is started. Several checks share one run, because
//     launches are what takes time. A Check evaluates the evidence of runs. Every
//     check names a Breakage, a way of breaking hookmux that must make it fail.
//   - verify: Run plans the rows of an agent from the capability table (every
//     claim is a subject, and a claim without a check is shown as
//     unproven), executes the runs they need and returns a Report. recordings keeps
//     what earlier runs saw.
//   - scenarios: sessions with what a user at the screen would say about them,
//     written down before anything runs; real agents run them, and the recordings
//     are replayed by the tests of package sessions. soak lets several agents run side
//     by side and compares their screens with what hookmux says; looks knows the
//     agents' dialogs. shells runs hookmux in common shells.
//
// The contract: no account, no tokens, nothing outside the test bed's own folder
// is written, every process that is started is ended by its own id, and what
// could not be proven is never shown as proven.
//
// # Adding a check
//
// More checks come as a CheckGroup: runs and checks in files of their own, and one
// line in the list of groups (checks/agentrun.go). A check with a run at a terminal
// looks like this:
//
//	func answersGroup() CheckGroup {
//		return CheckGroup{
//			Runs: []AgentRun{{
//				Name: "answers", What: "a permission answered from elsewhere",
//				Cannot: func(_ *agent.Agent, d drivers.Driver) string {
//					if d.TUI == nil {
//						return "no interactive start that works offline is known"
//					}
//					return ""
//				},
//				AtTerminal: func(*agent.Agent, drivers.Driver) bool { return true },
//				Execute:    runAnswers,
//			}},
//			Checks: []Check{{
//				ID: "answered", Proves: "…", Runs: []string{"answers"},
//				Applies: wholeAgent, Evaluate: evaluateAnswered, Breakage: silent,
//			}},
//		}
//	}
//
//	func runAnswers(ctx context.Context, st *testbed.TestBed) error {
//		st.SetScript(append(testbed.CallSteps(st.TaggedCall("answered")), model.Step{Say: testbed.LastWords}))
//		if err := st.StartDaemonWithHooks(decide); err != nil {
//			return err
//		}
//		args := st.Driver.TUI(testbed.MarkedPrompt("Run it"), true)
//		return st.AtTerminal(ctx, args, func(ctx context.Context, t *testbed.Terminal) error {
//			if !t.AwaitText(ctx, "a text on the screen") {
//				return nil // the check says what is missing
//			}
//			return t.PressKeys(ctx, st.Driver.Accept)
//		})
//	}
//
// The test bed's daemon listens at st.Dirs.Socket() for a client.Client; events that
// passed are waited for with st.Watcher.WaitFor; commands carry a tag
// (st.TaggedCall("answered") runs `touch ran-answered; echo out-answered`) by which
// Evidence.Ran, Evidence.Saw and Evidence.ToolEvent find them again. Headless
// runs use st.RunHeadless instead of st.AtTerminal and are limited by MaxHeadless;
// those at a terminal aren't. A run that always causes an event declares so with
// Brings.
//
// TestNothingSeenIsNothingProven holds every check to its evidence: with none, and
// with commands that ran although no hook was ever called, it must not say ✓.
// TestRealBreakages runs each check against its breakage on a real agent and
// expects ✗.
package verify
