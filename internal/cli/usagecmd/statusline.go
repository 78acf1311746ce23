package usagecmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/wire"
)

// maxStatus is how much a status line is given at most.
const maxStatus = 1 << 20

// reportWithin is how long the daemon may take: a status line must be quick.
const reportWithin = 500 * time.Millisecond

func statuslineCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "statusline [-- COMMAND...]",
		Short: "Run as Claude Code's status line (Claude Code calls this)",
		Long: `Runs as Claude Code's status line, because that's the only place Claude reports your
plan's limits. ` + "`hookmux usage statusline install`" + ` makes it that, with your own command
after --. Your command gets the same input, and what it prints is shown. Without one, the line
shows cost, context and limits.`,
		Example: "  hookmux usage statusline -- ~/.claude/statusline.sh",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if app.IsTerminal() {
				return cmdutil.UsageError("Claude Code runs this; `hookmux usage statusline install` sets it up")
			}
			input, err := io.ReadAll(io.LimitReader(app.Stdin, maxStatus))
			if err != nil {
				return err
			}
			status := readStatus(input)
			if d, err := app.RunningDaemon(); err == nil && status.params.Agent != "" {
				ctx, cancel := context.WithTimeout(cmd.Context(), reportWithin)
				_ = d.Call(ctx, wire.MethodUsageWindows, status.params, nil) // the line is shown whatever comes of it
				cancel()
			}
			if len(args) == 0 {
				fmt.Fprintln(app.Stdout, status.line())
				return nil
			}
			own := exec.CommandContext(cmd.Context(), "/bin/sh", "-c", strings.Join(args, " "))
			own.Stdin, own.Stdout, own.Stderr, own.Env = bytes.NewReader(input), app.Stdout, app.Stderr, app.Environ
			return own.Run()
		},
	}
	cmd.AddCommand(statuslineInstallCommand(app), statuslineUninstallCommand(app))
	return cmd
}

// status is sent by Claude Code to its status line.
type status struct {
	params wire.UsageWindowsParams
	cost   *float64 // nil if it isn't known
	model  string
}

// readStatus reads what is there. A window that isn't is unknown.
func readStatus(input []byte) (s status) {
	if !jsontext.Valid(input) {
		return s
	}
	number := func(keys ...string) (f float64, ok bool) {
		v := jsontext.Get(input, keys...)
		return f, v != nil && json.Unmarshal(v, &f) == nil && string(v) != "null"
	}
	s.params.Agent = "claude"
	s.params.Session, _ = jsontext.String(jsontext.Get(input, "session_id"))
	s.model, _ = jsontext.String(jsontext.Get(input, "model", "display_name"))
	if cost, ok := number("cost", "total_cost_usd"); ok {
		s.cost = &cost
	}
	if size, ok := number("context_window", "context_window_size"); ok && size > 0 {
		if used, ok := number("context_window", "used_percentage"); ok {
			s.params.Size, s.params.Context = int64(size), int64(size*used/100)
		}
	}
	for _, w := range []struct{ key, name string }{{"five_hour", "5h"}, {"seven_day", "7d"}} {
		used, ok := number("rate_limits", w.key, "used_percentage")
		if !ok {
			continue
		}
		one := wire.UsageWindow{Agent: "claude", Window: w.name, Used: used}
		if at, ok := number("rate_limits", w.key, "resets_at"); ok && at > 0 {
			resets := time.Unix(int64(at), 0)
			one.Resets = &resets
		}
		s.params.Windows = append(s.params.Windows, one)
	}
	return s
}

// line returns a status line of hookmux's own.
func (s *status) line() string {
	var parts []string
	if s.model != "" {
		parts = append(parts, s.model)
	}
	if s.cost != nil {
		label := wire.Dollars(*s.cost)
		if len(s.params.Windows) > 0 {
			label += " list price"
		}
		parts = append(parts, label)
	}
	if s.params.Size > 0 {
		parts = append(parts, fmt.Sprintf("context %d%% left", 100-100*s.params.Context/s.params.Size))
	}
	for _, w := range s.params.Windows {
		parts = append(parts, fmt.Sprintf("%s %.0f%%", w.Window, w.Used))
	}
	return strings.Join(parts, " · ")
}

func cutWord(text string) (first, rest string, ok bool) { return strings.Cut(text, " ") }

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
