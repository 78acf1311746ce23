// Demo shows hookmux doing its job: it starts a daemon in a throw-away home,
// replays a recorded session of two agents through the real hook client, and
// shows the events live. Nothing of the user's is touched, no agent is needed.
package main

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/selection/sources"
)

//go:embed session.jsonl
var recorded embed.FS

// step is one hook call of the recording.
type step struct {
	Agent   string          `json:"agent"`
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
}

func main() {
	bin := flag.String("bin", "bin", "where hookmux and hookmux-hook are")
	asAgent := flag.Bool("agent", false, "play the agent AGENT at its event EVENT: pass stdin to the hook client")
	flag.Parse()
	if *asAgent {
		os.Exit(callHook(*bin, flag.Arg(0), flag.Arg(1)))
	}
	err := playDemo(*bin, os.Stdout)
	if err == nil && term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) {
		err = showView(*bin)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// showView ends the demo in the live view, if there is a terminal.
func showView(bin string) error {
	fmt.Print("\nPress Enter for the live view with recorded agents (q leaves it), or Ctrl-C to stop here. ")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		fmt.Println()
		return nil // no one is there to see it
	}
	cmd := exec.Command(filepath.Join(bin, "hookmux"), "up", "--demo")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

func playDemo(bin string, out io.Writer) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	home, err := sandbox.New(sandbox.Options{InHome: true, Env: []string{
		"PATH=" + os.Getenv("PATH"), "TERM=" + os.Getenv("TERM"), "NO_COLOR=" + os.Getenv("NO_COLOR"),
	}})
	if err != nil {
		return err
	}
	defer os.RemoveAll(home.Base)
	d := &demo{Home: home, bin: bin, out: out}
	if err := d.prepare(); err != nil {
		return err
	}
	return d.play()
}

// demo is a throw-away home: its programs see nothing of the caller's, and none of an
// agent's marks if one happens to run this.
type demo struct {
	*sandbox.Home
	bin string
	out io.Writer
}

// prepare writes what a user would have, and accepts it as they would: a
// project, one guard switched on and one hook of their own.
func (d *demo) prepare() error {
	files := map[string]string{
		filepath.Join(d.Dirs.Config, "config.json"): `{
  // stop what destroys data, on every agent
  "guard.destructive": "block"
}
`,
		filepath.Join(d.Dirs.Config, "hooks.json"): `{
  "version": 1,
  "hooks": [
    {
      "id": "no-prod", "agent": "*", "hookType": "tool.before",
      "match": {"command": "\\bdeploy prod\\b"},
      "handler": "command", "target": "echo 'no prod deploys on a Friday' >&2; exit 2"
    }
  ]
}
`,
	}
	if err := d.WriteFiles(files); err != nil {
		return err
	}
	return sources.New(sources.Options{
		Dirs: d.Dirs, Catalogue: agent.Builtin(), Accepted: sources.OpenAccepted(d.Dirs, false),
	}).Accepted.AcceptInitial(true)
}

// callHook returns an agent's process, which the hook client runs below. What runs
// below an agent reads its own sessions only, so this is not the process that
// shows the log.
func callHook(bin, name, event string) int {
	cmd := exec.Command(filepath.Join(bin, "hookmux-hook"), name, event, "30")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	}
	return 0
}

// command runs hookmux in the demo's project.
func (d *demo) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(d.bin, "hookmux"), args...)
	cmd.Env, cmd.Dir = d.Env, d.Project
	cmd.WaitDelay = time.Second
	return cmd
}

func (d *demo) play() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Fprintf(d.out, "A daemon in a temporary home, with one guard on and your own hook:\n")
	fmt.Fprintf(d.out, "  guard.destructive block · no-prod: blocks `deploy prod` in every agent\n\n")

	daemon, err := daemontest.StartDaemon(ctx, d.Home, filepath.Join(d.bin, "hookmux"), "daemon")
	if err != nil {
		return err
	}
	defer func() { _ = daemon.Stop() }()

	steps, err := readSteps(d.Dirs.Home)
	if err != nil {
		return err
	}
	watch := d.command(ctx, "log", "--follow", "--count", fmt.Sprint(len(steps)))
	lines, err := watch.StdoutPipe()
	if err != nil {
		return err
	}
	notes, err := watch.StderrPipe()
	if err != nil {
		return err
	}
	if err := watch.Start(); err != nil {
		return err
	}
	if _, err := bufio.NewReader(notes).ReadString('\n'); err != nil { // it is watching now
		return fmt.Errorf("watch did not begin: %w", err)
	}
	shown := make(chan error, 1)
	go func() {
		_, err := io.Copy(d.out, lines)
		shown <- err
	}()
	fmt.Fprintf(d.out, "$ hookmux log -f\n")
	answers, err := d.replay(ctx, steps)
	if err != nil {
		return err
	}
	<-shown
	_ = watch.Wait()

	fmt.Fprintf(d.out, "\nWhat each agent got, in its own format:\n")
	for _, a := range answers {
		fmt.Fprintln(d.out, "  "+a)
	}
	fmt.Fprintf(d.out, "\n$ hookmux log --decision deny\n")
	log := d.command(ctx, "log", "--decision", "deny")
	log.Stdout, log.Stderr = d.out, d.out
	if err := log.Run(); err != nil {
		return err
	}
	if len(answers) != 3 {
		return fmt.Errorf("%d calls were stopped instead of 3", len(answers))
	}
	fmt.Fprintf(d.out, "\nAll of it went through the real hook client. Next: put %s on your PATH and run `hookmux "+
		"setup`.\n", d.bin)
	return nil
}

func readSteps(home string) ([]step, error) {
	text, err := recorded.ReadFile("session.jsonl")
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte("/home/user"), []byte(home))
	var steps []step
	dec := json.NewDecoder(bytes.NewReader(text))
	for dec.More() {
		var s step
		if err := dec.Decode(&s); err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// replay calls the hook client as the agents did, and returns the answers that stopped something.
func (d *demo) replay(ctx context.Context, steps []step) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var answers []string
	for _, s := range steps {
		cmd := d.command(ctx)
		cmd.Path, cmd.Args = self, []string{self, "-bin", d.bin, "-agent", s.Agent, s.Event}
		cmd.Stdin = bytes.NewReader(s.Payload)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			return nil, err
		}
		if strings.Contains(string(out), "deny") {
			answers = append(answers, fmt.Sprintf("%-6s %s", s.Agent, strings.TrimSpace(string(out))))
		}
		time.Sleep(60 * time.Millisecond) // as fast as you can follow
	}
	return answers, nil
}
