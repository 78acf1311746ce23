package protocolcmd

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/protocols/acp"
	"github.com/hookmux/hookmux/internal/protocols/ahp"
	"github.com/hookmux/hookmux/internal/protocols/ahp/provider"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// ahpFlags are the flags of `hookmux ahp`.
type ahpFlags struct {
	name, listen, tokenEnv string
	wait                   time.Duration
}

// AHPCommand is `hookmux ahp`.
func AHPCommand(app *cmdutil.App) *cobra.Command {
	var f ahpFlags
	cmd := &cobra.Command{
		Use:    "ahp",
		Hidden: true,
		Short:  "Answer an agent that speaks the Agent Hooks Protocol",
		Long: `Is a backend of the Agent Hooks Protocol (AHP): an agent that speaks it starts this
command and asks it about every tool call. The calls go through guards, hooks and
approvals, as those of every agent, and the answer is a list of effects. hookmux ps
shows the sessions. One process serves many messages, or one.

With --listen it serves HTTP instead, on an address of this machine, to whoever
brings the token that the variable holds.

The agent is known here as ahp-NAME: what it calls itself is a word, and neither
permissions nor hooks of another agent count for it.`,
		Example: `  hookmux ahp --name my-agent     # what the agent's registration starts
  TOKEN=… hookmux ahp --name my-agent --listen 127.0.0.1:8765 --token-env TOKEN`,
		Args:                  cmdutil.ExactArgs(),
		DisableFlagsInUseLine: true,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return serveAHP(cmd.Context(), app, f) },
	}
	cmd.Flags().StringVar(&f.name, "name", "", "what the agent is called here, behind ahp- (default: what it says)")
	cmd.Flags().StringVar(&f.listen, "listen", "", "serve HTTP on this address of this machine, such as 127.0.0.1:8765")
	cmd.Flags().StringVar(&f.tokenEnv, "token-env", "", "variable that holds the token which requests must bring")
	cmd.Flags().DurationVar(&f.wait, "wait", 30*time.Second,
		"how long the agent waits for an answer: the timeoutMs of its registration")
	return cmd
}

func serveAHP(ctx context.Context, app *cmdutil.App, f ahpFlags) error {
	token, err := f.check(app)
	if err != nil {
		return err
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	named := provider.NewName(f.name)
	daemon := frameDaemon(app, dirs, named.String)
	daemon.DecideTime = f.wait - frame.Margin(f.wait)
	// A daemon without a sign of life is given up while the agent still waits.
	daemon.PingEvery, daemon.PingTime = min(f.wait/4, 5*time.Second), min(f.wait/4, 10*time.Second)
	daemon.Begin()
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		daemon.End(ending)
	}()
	p := provider.New(daemon, named)
	if f.listen == "" {
		daemon.Report(acp.Report{Event: ahp.EventConnect, Payload: ahp.ConnectPayload(app.Cwd())}, nil)
		return p.ServeStdio(ctx, app.Stdin, app.Stdout)
	}
	listener, err := provider.Listen(f.listen)
	if err != nil {
		return cmdutil.UsageError("--listen %v", err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	fmt.Fprintf(app.Stderr, "hookmux: listening on http://%s/; requests bring the token of %s\n", listener.Addr(),
		f.tokenEnv)
	return p.ServeHTTP(ctx, listener, token, f.wait)
}

// Bounds of what an agent may wait.
const (
	leastWait = time.Second
	mostWait  = 24 * time.Hour
)

// check says what is wrong with the flags, and gives the token.
func (f *ahpFlags) check(app *cmdutil.App) (token string, err error) {
	catalogue, err := app.Catalogue()
	if err != nil {
		catalogue = agent.Builtin()
	}
	if known, ok := catalogue.Agent(f.name); ok && f.name != "" {
		return "", cmdutil.UsageError("--name %s is an agent that hookmux knows by its own hooks (%s); choose another "+
			"name, or run `hookmux install %s`", f.name, known.Title, known.Name)
	}
	switch {
	case f.wait < leastWait || f.wait > mostWait:
		return "", cmdutil.UsageError("--wait %s is out of range; write a time between %s and %s", f.wait, leastWait,
			mostWait)
	case f.listen == "" && f.tokenEnv != "":
		return "", cmdutil.UsageError("--token-env needs --listen; without it no token is used")
	case f.listen == "":
		return "", nil
	case f.tokenEnv == "":
		return "", cmdutil.UsageError("--listen needs --token-env VARIABLE: every program of this machine can reach " +
			"the address, and only those with the token are answered")
	}
	if token = app.Getenv(f.tokenEnv); len(token) < leastToken {
		return "", cmdutil.UsageError("the variable %s must hold a token of at least %d characters; make one with "+
			"`openssl rand -hex 32`", f.tokenEnv, leastToken)
	}
	return token, nil
}

// leastToken is fewer characters than can be guessed.
const leastToken = 16
