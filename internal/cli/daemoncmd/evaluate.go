package daemoncmd

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/pipeline/evaluate"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/recorder/spoolrecord"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// EvaluateCommand decides about one call without the daemon.
func EvaluateCommand(app *cmdutil.App) *cobra.Command {
	var f evaluateFlags
	cmd := &cobra.Command{
		Use:   "evaluate AGENT EVENT [DEADLINE] < payload.json",
		Short: "Evaluate one call without the daemon, as hooks do when it doesn't answer",
		Long: `Reads a native payload on stdin, asks hookmux's own guards with the settings in
force, and prints the agent's own answer with its exit code. Nothing is run and
nobody is asked: a call in which one of your hooks guards, or a person should be
asked, is put to the agent's own prompt where the agent has one, and else refused.
hookmux-hook runs this when no daemon answers it.`,
		Example: "  hookmux evaluate claude PreToolUse < payload.json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cmdutil.ExactArgs("AGENT", "EVENT")(cmd, args)
			}
			return nil
		},
		Hidden: true,
		RunE:   func(cmd *cobra.Command, args []string) error { return evaluateCall(cmd.Context(), app, &f, args) },
	}
	cmd.Flags().StringVar(&f.frame, "frame", "", "print the answer as a frame with this id, for hookmux-hook")
	cmd.Flags().BoolVar(&f.truncated, "truncated", false, "the payload is only the beginning of what the agent sent")
	return cmd
}

type evaluateFlags struct {
	frame     string
	truncated bool
}

// maxPayload is the longest payload that a hook client sends.
const maxPayload = 16 << 20

func evaluateCall(ctx context.Context, app *cmdutil.App, f *evaluateFlags, args []string) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	if dirs.IsSystem() && app.Given == nil {
		return errors.New("hookmux's system service decides: hookmux-start evaluate")
	}
	payload, err := io.ReadAll(io.LimitReader(app.Stdin, maxPayload+1))
	if err != nil {
		return err
	}
	if len(payload) > maxPayload {
		payload, f.truncated = payload[:maxPayload], true
	}
	call := evaluate.Call{
		ID: f.frame, Time: time.Now(), Agent: args[0], Event: args[1], Cwd: app.Cwd(), Payload: payload,
		Truncated: f.truncated, Env: app.Getenv,
	}
	if call.ID == "" {
		call.ID = frame.NewID()
	}
	verdict := evaluate.New(dirs, app.LiveSettings).Decide(ctx, call)
	if f.frame != "" {
		// The decision goes to the journal; the client left the event. A call whose
		// decision can't be written down is still answered.
		_ = spoolrecord.Leave(dirs.Spool(), evaluatedRecord(call, verdict))
		_, err := app.Stdout.Write(frame.AppendReply(nil, &frame.Reply{
			ID: f.frame, Exit: verdict.Answer.Exit, Stdout: []byte(verdict.Answer.Stdout),
			Stderr: []byte(verdict.Answer.Stderr),
		}))
		return err
	}
	_, err = io.WriteString(app.Stdout, verdict.Answer.Stdout)
	_, errNotice := io.WriteString(app.Stderr, verdict.Answer.Stderr)
	if err := errors.Join(err, errNotice); err != nil {
		return err
	}
	if verdict.Answer.Exit != 0 {
		return &cmdutil.CodeError{Code: verdict.Answer.Exit}
	}
	return nil
}

// evaluatedRecord returns the result of a call, as the daemon records it.
func evaluatedRecord(call evaluate.Call, v evaluate.Verdict) *spool.Record {
	o := wire.Outcome{
		ID: call.ID, Agent: v.Event.Agent, Native: v.Event.Native, Time: call.Time,
		TookUS: time.Since(call.Time).Microseconds(),
	}
	if v.Event.Tool != nil {
		o.Tool = v.Event.Tool.Name
	}
	if v.Off {
		o.Neutral = wire.SkipOff
	}
	o.Decision, _ = json.Marshal(v.Decision)
	for _, s := range v.Steps {
		step := wire.Step{Hook: s.Hook, Role: string(s.Role), TookUS: s.Took.Microseconds(), Verdict: string(s.Verdict)}
		if s.Err != nil {
			step.Error = s.Err.Error()
		}
		o.Steps = append(o.Steps, step)
	}
	body, _ := json.Marshal(o)
	return &spool.Record{Type: spool.TypeDecision, ID: call.ID, Time: call.Time, Agent: o.Agent, Event: o.Native,
		Payload: body}
}
