// Package verify asks real agents whether what the catalogue claims about them
// holds: it runs an agent's own program against a scripted model in a
// throw-away home, with hooks of its own in the corridor, and watches what
// really happens.
//
// How the parts fit:
//
//   - A Driver says how one agent is started and given its hooks.
//   - An Act is one launch of an agent: what the scripted model says, what the
//     corridor answers, how it is started. Several checks live on one act,
//     because launches are what costs time.
//   - A Check judges what an act brought to light. Checks are derived from the
//     capability table: every claim is a subject, and a claim that no check
//     takes up is shown as unproven. Every check names a saboteur, a way of
//     breaking hookmux that must make it fail.
//   - Run puts them together and gives a Report.
//
// The contract: no account, no tokens, nothing outside the stage's own folder
// is written, every process that is started is ended by its own id, and what
// could not be proven is never shown as proven.
//
// # Adding a check
//
// More checks come as a Part: acts and checks in files of their own, and one
// line in the list of parts (act.go). A check with an act at a terminal looks
// like this:
//
//	func answersPart() Part {
//		return Part{
//			Acts: []Act{{
//				Name: "answers", What: "a permission answered from elsewhere",
//				Cannot: func(_ *agent.Agent, d Driver) string {
//					if d.TUI == nil {
//						return "no interactive start that works offline is known"
//					}
//					return ""
//				},
//				AtTerminal: func(*agent.Agent, Driver) bool { return true },
//				Play:       playAnswers,
//			}},
//			Checks: []Check{{
//				ID: "answered", Proves: "…", Acts: []string{"answers"},
//				Applies: wholeAgent, Judge: judgeAnswered, Saboteur: silent,
//			}},
//		}
//	}
//
//	func playAnswers(ctx context.Context, st *Stage) error {
//		st.script(append(steps(st.call("answered")), model.Step{Say: lastWords}))
//		if err := st.ready(decide); err != nil { // hub and hooks
//			return err
//		}
//		return st.atTerminal(ctx, st.Driver.TUI(prompt("Run it"), true), func(ctx context.Context, t *terminal) error {
//			if !t.await(ctx, "a text on the screen") {
//				return nil // the check says what is missing
//			}
//			return t.press(ctx, st.Driver.Accept)
//		})
//	}
//
// The stage's hub listens at st.Dirs.Socket() for a client.Client; events that
// passed are waited for with st.watcher.wait; commands carry a tag
// (st.call("answered") runs `touch ran-answered; echo out-answered`) by which
// Evidence.Ran, Evidence.Saw and Evidence.ToolEvent find them again. Headless
// acts use st.headless in place of st.atTerminal and count against MaxHeadless;
// those at a terminal do not. An act that surely brings an event about says so
// with Brings.
//
// TestNothingSeenIsNothingProven holds every check to what it was given: with
// no evidence, and with commands that ran although no hook was ever called, it
// must not say ✓. TestRealSaboteurs runs each check against its saboteur on a
// real agent and expects ✗.
package verify
