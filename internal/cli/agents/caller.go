package agents

import (
	"context"
	"errors"
	"os"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/actions"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// UserOnly rejects what an agent must not do. Removing guards needs the user; installing
// hooks may be done by a script that sets a machine up, as long as no agent is behind it. A
// running daemon is asked, and asks the user; it notes a rejection in the journal.
func UserOnly(ctx context.Context, app *cmdutil.App, c *agent.Catalogue, method string, strict bool) error {
	if app.Table == nil {
		return nil
	}
	evaluator, v, err := evaluateCaller(ctx, app, c, method, strict)
	if err != nil || v.Agent == "" && !strict {
		return err
	}
	peer := thisProcess()
	if running, err := app.RunningDaemon(); err == nil {
		if err = running.Call(ctx, method, nil, nil); !errors.Is(err, client.ErrNoDaemon) {
			return err
		}
	}
	if v = askHere(ctx, app, evaluator, peer, method); !v.OK {
		return cmdutil.FailWith(cmdutil.ExitDenied, v.Reason())
	}
	return nil
}

func thisProcess() proc.Cred { return proc.Cred{PID: os.Getpid(), UID: os.Getuid()} }

// evaluateCaller evaluates who runs this, and returns an error for those who may not.
func evaluateCaller(ctx context.Context, app *cmdutil.App, c *agent.Catalogue, method string, strict bool,
) (*authority.Evaluator, authority.Verdict, error) {
	evaluator := terminal.NewEvaluator(c, app.Table, app.Facts, 0)
	v := evaluator.May(authority.Decide, thisProcess(), func() []string { return app.Environ })
	if v.Outcome != authority.Refused || v.Agent == "" && !strict {
		return evaluator, v, nil
	}
	if running, err := app.RunningDaemon(); err == nil {
		ctx, cancel := context.WithTimeout(ctx, cmdutil.DaemonWait) // it may be stopped
		defer cancel()
		_ = running.Call(ctx, method, nil, nil) // for the journal
	}
	return evaluator, v, cmdutil.FailWith(cmdutil.ExitDenied, v.Reason())
}

// askHere asks for the code without a daemon: removing hookmux from agents must work even if
// no daemon can be started.
func askHere(ctx context.Context, app *cmdutil.App, evaluator *authority.Evaluator, peer proc.Cred,
	method string) authority.Verdict {
	keeper := &terminal.Keeper{Evaluator: evaluator, Asker: app.Asker}
	if source, ok := evaluator.Source.(*terminal.Source); ok && keeper.Asker == nil {
		keeper.Asker = terminal.NewAsker(source)
	}
	return keeper.Decide(ctx, peer, actions.Describe(method, authority.Decide, nil))
}
