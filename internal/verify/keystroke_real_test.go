package verify

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/verify/looks"
	"github.com/hookmux/hookmux/internal/verify/model"
	"github.com/hookmux/hookmux/internal/verify/testbed"
)

func TestRealProbe(t *testing.T) {
	for _, name := range []string{"codex", "gemini", "opencode"} {
		for _, columns := range []int{80, 200} {
			t.Run(fmt.Sprintf("%s/%d", name, columns), func(t *testing.T) {
				st := realTestBed(t, name)
				st.InPane, st.Columns, st.Lines = true, columns, 40
				st.Patience = 300 * time.Second
				steps := []model.Step{}
				for _, c := range []string{"touch ran-1", "touch ran-2; echo 'a rather long line of words that has to be wrapped somewhere because eighty columns are not enough' | cat | sort | uniq > /dev/null", "touch ran-3\necho two\nif true; then\n  echo three\nfi"} {
					call := st.Table.Shell.Call(c)
					if st.Driver.Escalate != nil {
						call = st.Driver.Escalate(call)
					}
					steps = append(steps, model.Step{Calls: []model.ToolCall{call}})
				}
				st.SetScript(append(steps, model.Step{Say: testbed.LastWords}))
				if err := st.StartDaemonWithHooks(nil); err != nil {
					t.Fatal(err)
				}
				st.Env = append(st.Env, st.Driver.StrictEnv...)
				err := st.AtTerminal(context.Background(), st.Driver.TUI(testbed.MarkedPrompt("Run it"), true),
					func(ctx context.Context, term *testbed.Terminal) error {
						for i := range 3 {
							for !looks.Of(name).ShowsDialog(term.CaptureScreen(ctx)) {
								if !testbed.PauseFor(ctx, 100*time.Millisecond) {
									t.Fatalf("no dialog %d\n%s", i, term.KeepScreen())
								}
							}
							term.AwaitStillness(ctx)
							out, _ := term.RunTmux(ctx, "capture-pane", "-p")
							title, _ := term.RunTmux(ctx, "display-message", "-p", "#{pane_title} cursor #{cursor_x},#{cursor_y} alt #{alternate_on} flag #{cursor_flag}")
							os.WriteFile(fmt.Sprintf("/tmp/answer/screen-%s-%d-%d.txt", name, columns, i), []byte(title+out), 0o644)
							for _, k := range looks.Of(name).Yes {
								term.PressKeys(ctx, k)
							}
							for range 100 {
								if _, err := os.Stat(fmt.Sprintf("%s/ran-%d", st.Project, i+1)); err == nil || !testbed.PauseFor(ctx, 100*time.Millisecond) {
									break
								}
							}
							term.AwaitStillness(ctx)
						}
						return nil
					})
				if err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}
