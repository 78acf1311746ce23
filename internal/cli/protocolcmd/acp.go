package protocolcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/pipeline/evaluate"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/protocols/acp"
	"github.com/hookmux/hookmux/internal/recorder/spoolrecord"
)

// ACPCommand is `hookmux acp`.
func ACPCommand(app *cmdutil.App) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "acp [-a AGENT] -- PROGRAM [ARGUMENTS…]",
		Short: "Guard an agent that your editor runs (Agent Client Protocol)",
		Long: `Starts an agent that speaks the Agent Client Protocol (ACP) and sits between it
and your editor. Permission requests go through guards, hooks and the inbox
first; what they don't decide is asked in the editor as before. Commands and file
operations that the agent hands to the editor are checked too. A request that's
waiting in hookmux's inbox also shows in the editor: the first answer wins.

Put it in front of the agent's command in your editor's settings. The exit code is
the agent's; its stderr and signals pass through.`,
		Example: `  hookmux acp -- claude-agent-acp           # Claude Code, in Zed
  hookmux acp -- gemini --experimental-acp
  hookmux acp --agent codex -- npx @agentclientprotocol/codex-acp`,
		Args:                  cobra.ArbitraryArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmdutil.UsageError("which agent? Put its ACP program after --, as in `hookmux acp -- claude-agent-acp`")
			}
			return serveACP(cmd.Context(), app, name, args)
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVarP(&name, "agent", "a", "", "hookmux's name for the agent, if the agent calls itself something else")
	return cmd
}

// closeTime is how long the daemon may take for the last events.
const closeTime = 3 * time.Second

func serveACP(ctx context.Context, app *cmdutil.App, name string, argv []string) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	catalogue, err := app.Catalogue()
	if err != nil {
		catalogue = agent.Builtin()
	}
	if name != "" {
		known, ok := catalogue.Agent(name)
		if !ok {
			return cmdutil.UnknownAgent(catalogue, name)
		}
		name = known.Name
	}
	talk := &acp.Conversation{Naming: acp.NameAgent(catalogue, name, argv)}
	daemon := frameDaemon(app, dirs, talk.AgentName)
	if _, err := exec.LookPath(argv[0]); err != nil {
		return acpProgramMissing(argv[0])
	}
	daemon.SendNow(talk.Connect(app.Cwd())) // before the agent runs, so that the daemon knows whose processes these are
	process, err := acp.Start(argv, app.Environ, app.Stderr)
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		return acpProgramMissing(argv[0])
	case err != nil:
		return cmdutil.FailWith(cmdutil.ExitNotRunnable, fmt.Sprintf("can't start %s: %v", argv[0], err))
	}
	daemon.Begin()
	code, err := acp.Serve(context.WithoutCancel(ctx), // a signal is the agent's to end by
		&acp.Proxy{Conversation: talk, Daemon: daemon, FromEditor: app.Stdin, ToEditor: app.Stdout,
			OnDropped: reportDropped(app.Stderr)}, process)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	daemon.End(ending)
	if n := daemon.LeftOut(); n > 0 {
		fmt.Fprintf(app.Stderr, "hookmux: %d events found no room and were left for the next daemon; "+
			"see `hookmux status`\n", n)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", filepath.Base(argv[0]), err)
	case code != 0:
		return cmdutil.Exit(code)
	}
	return nil
}

// reportDropped says once for each side that a line of it was not passed on.
func reportDropped(to io.Writer) func(from string, why error) {
	var mu sync.Mutex // both sides are read at once
	said := map[string]bool{}
	return func(from string, why error) {
		mu.Lock()
		defer mu.Unlock()
		if !said[from] {
			said[from] = true
			fmt.Fprintf(to, "hookmux: a line of %s was not passed on, it is not one message: %v\n", from, why)
		}
	}
}

// frameDaemon reaches the daemon as hooks do. agent is the name that events carry.
func frameDaemon(app *cmdutil.App, dirs paths.Dirs, agent func() string) *acp.FrameDaemon {
	return &acp.FrameDaemon{
		Socket: dirs.Socket(), Agent: agent, Cwd: app.Cwd(), Env: app.Environ,
		Start: func(ctx context.Context) error {
			return app.StartDaemon(ctx, dirs, &client.Client{Socket: dirs.Socket()})
		},
		Check: func(conn net.Conn) error { return checkDaemon(dirs, conn) },
		Alive: func(ctx context.Context) error {
			_, err := (&client.Client{Socket: dirs.Socket()}).Info(ctx)
			return err
		},
		Evaluate: func(ctx context.Context, id, agent string, r acp.Report) acp.Answer {
			v := evaluate.New(dirs, app.LiveSettings).Decide(ctx, evaluate.Call{ID: id, Time: time.Now(), Agent: agent,
				Event: r.Event, Cwd: app.Cwd(), Payload: r.Payload, Env: app.Getenv})
			return acp.Answer{Result: json.RawMessage(v.Answer.Stdout), Reason: v.Answer.Stderr}
		},
		Leave: func(id, agent string, r acp.Report) { leaveReport(dirs, app.Cwd(), id, agent, r) },
		OnOverload: func() {
			fmt.Fprintln(app.Stderr, "hookmux: the daemon does not keep up; further events are left for the next one")
		},
	}
}

// checkDaemon rejects a socket that another user may have put there.
func checkDaemon(dirs paths.Dirs, conn net.Conn) error {
	if err := dirs.CheckSocket(); err != nil {
		return err
	}
	program := ""
	if i := dirs.Installation(); i != nil {
		program = i.Program
	}
	return checkListener(conn, program)
}

// checkListener rejects another user at the other end, and any program other than the
// installed one; "" if none is installed. What the system doesn't report is no reason to
// reject.
func checkListener(conn net.Conn, program string) error {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return nil
	}
	who, err := proc.Peer(socket)
	if err != nil {
		return nil
	}
	if who.UID != paths.UserID() {
		return errors.New("the process that listens on the daemon's socket belongs to another user")
	}
	if program == "" {
		return nil
	}
	return daemonstart.CheckPeer(who.PID, program)
}

// leaveReport keeps an event that no daemon took for the next one.
func leaveReport(dirs paths.Dirs, cwd, id, agent string, r acp.Report) {
	if r.Event == acp.EventConnect {
		return // it only reaches the daemon that runs
	}
	// What cannot be kept is lost: the conversation goes on.
	_ = spoolrecord.Leave(dirs.Spool(), &spoolrecord.Record{
		Type: spoolrecord.TypeEvent, ID: id, Time: time.Now(), Agent: agent, Event: r.Event, Cwd: cwd,
		PID: os.Getpid(), Payload: r.Payload,
	})
}

func acpProgramMissing(program string) error {
	if strings.ContainsRune(program, os.PathSeparator) {
		return cmdutil.FailWith(cmdutil.ExitNotFound, "there's no program at "+program)
	}
	return cmdutil.FailWith(cmdutil.ExitNotFound, fmt.Sprintf("can't find %q on PATH; put the agent's ACP program after --, "+
		"as in `hookmux acp -- claude-agent-acp`", program))
}
