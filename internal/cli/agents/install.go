package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/authority/actions"
	"github.com/hookmux/hookmux/internal/authority/seat"
	"github.com/hookmux/hookmux/internal/install/appserver"
	"github.com/hookmux/hookmux/internal/install/shimlink"
	"github.com/hookmux/hookmux/internal/install/steps"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/install/probe"
	"github.com/hookmux/hookmux/internal/install/programcopy"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire"
)

// installFlags are those of install and uninstall.
type installFlags struct {
	dryRun, yes, project, asJSON, noTrust bool
	full                                  bool
	events                                []string
	onUnavailable                         string // empty: as before, or neutral
}

// InstallCommand is `hookmux install`.
func InstallCommand(app *cmdutil.App) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install [AGENT…]",
		Short: "Write hookmux's hooks into agents' own config",
		Long: `Finds the agents on this machine, says in a line each what would change in their
files (--full shows every line), asks once, writes, and tries each hook out.
Comments, order and everything else in the files stay as they are; hookmux uninstall
gives back the same bytes. With a file that cannot be read nothing is written
anywhere.

Events are those that are worth having for each agent; --events names others, by
their unified kind or the agent's own name. What was chosen with --events and
--on-unavailable stays when hookmux is installed again, until it is named anew:
--events default, --on-unavailable neutral.`,
		Example: `  hookmux install                          # every agent that is found
  hookmux install claude codex --dry-run   # only show the changes
  hookmux install --project claude         # for this project alone
  hookmux install --on-unavailable deny    # refuse calls while hookmux cannot be reached`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return installHooks(cmd.Context(), app, &f, args)
		},
	}
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&f.project, "project", false, "in this project's files in place of yours")
	cmd.Flags().StringSliceVar(&f.events, "events", nil,
		"only these events, e.g. tool.before,turn.end; default: the usual ones")
	cmd.Flags().StringVar(&f.onUnavailable, "on-unavailable", "",
		"what hooks answer while the hub cannot be reached: neutral (unless chosen before) or deny")
	cmd.Flags().BoolVar(&f.noTrust, "no-trust", false, "do not tell agents that ask for it to trust these hooks")
	cmd.Flags().BoolVar(&f.full, "full", false, "show every line of the changes")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "for programs")
	return cmd
}

// ownPrograms are this program and the hook client that belongs to it.
func ownPrograms() (self, hook string, err error) {
	if self, err = os.Executable(); err == nil {
		hook, err = launch.HookPath(self)
	}
	return self, hook, err
}

// installHost is this machine, as the installer sees it.
func installHost(app *cmdutil.App) (*install.Host, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	_, hook, err := ownPrograms()
	if err != nil {
		return nil, err
	}
	target := shimlink.NewTarget(dirs, shimlink.StableHook(hook, app.Getenv("PATH")))
	return &install.Host{
		Dirs: dirs, Project: projectFolder(app.Cwd()), Getenv: app.Getenv, Version: version.String,
		Hook: target.Hook, Copied: target.Copied,
		AgentVersion: askOncePerAgent(func(a *agent.Agent) string { return agentVersion(app, a) }),
		Open:         openSessions,
	}, nil
}

// askOncePerAgent asks each agent only once: a plan is made twice, and some take seconds.
func askOncePerAgent(ask func(*agent.Agent) string) func(*agent.Agent) string {
	said := map[string]string{}
	return func(a *agent.Agent) string {
		v, ok := said[a.Name]
		if !ok {
			v = ask(a)
			said[a.Name] = v
		}
		return v
	}
}

var versionNumber = lazyregexp.New(`\d+\.\d+(\.\d+)*`)

// agentVersion asks an agent for its version; empty when it does not say.
func agentVersion(app *cmdutil.App, a *agent.Agent) string {
	program := agentProgram(app, a)
	if program == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Env, cmd.WaitDelay = app.Environ, time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return versionNumber.FindString(string(out))
}

// agentProgram is an agent's program on PATH, or empty.
func agentProgram(app *cmdutil.App, a *agent.Agent) string {
	for _, name := range append([]string{a.Launch.Program}, a.Marks.Programs...) {
		if program := paths.OnPath(name, app.Getenv("PATH")); name != "" && program != "" {
			return program
		}
	}
	return ""
}

// projectFolder is the repository a folder is in, or the folder itself.
func projectFolder(dir string) string {
	for at := dir; at != ""; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return dir
}

// findAgents are the agents that were asked for. One that is not known may be in a
// file of the person's that does not load: that is said as well.
func findAgents(app *cmdutil.App, c *agent.Catalogue, names []string) ([]*agent.Agent, error) {
	out, err := agentsByName(c, names)
	if err != nil {
		for _, p := range app.CatalogueProblems() {
			app.Tell([]string{p.String()})
		}
	}
	return out, err
}

func agentsByName(c *agent.Catalogue, names []string) ([]*agent.Agent, error) {
	var out []*agent.Agent
	for _, name := range names {
		a, ok := c.Agent(name)
		if ok && a.NotInstalled != "" {
			return nil, fmt.Errorf("%s: is not installed: %s", name, a.NotInstalled)
		}
		if !ok || a.Install == nil {
			var can []string
			for _, a := range c.Agents() {
				if a.Install != nil {
					can = append(can, a.Name)
				}
			}
			return nil, cmdutil.UsageError("%s: hookmux cannot write itself into such an agent; it can into %s", name,
				strings.Join(can, ", "))
		}
		out = append(out, a)
	}
	return out, nil
}

// personOnly refuses what an agent must not do. Taking guards out needs a
// person; putting hooks in may be a script that sets a machine up, as long as
// no agent is behind it. A running hub is asked, and asks the person; it notes a
// refusal in the journal.
func personOnly(ctx context.Context, app *cmdutil.App, c *agent.Catalogue, method string, strict bool) error {
	if app.Table == nil {
		return nil
	}
	judge, v, err := judgeCaller(ctx, app, c, method, strict)
	if err != nil || v.Agent == "" && !strict {
		return err
	}
	peer := thisProcess()
	if running, err := app.RunningHub(); err == nil {
		if err = running.Call(ctx, method, nil, nil); !errors.Is(err, client.ErrNoHub) {
			return err
		}
	}
	if v = askHere(ctx, app, judge, peer, method); !v.OK {
		return cmdutil.FailWith(cmdutil.ExitDenied, v.Reason())
	}
	return nil
}

func thisProcess() proc.Cred { return proc.Cred{PID: os.Getpid(), UID: os.Getuid()} }

// judgeCaller judges who runs this, and gives an error for those who may not.
func judgeCaller(ctx context.Context, app *cmdutil.App, c *agent.Catalogue, method string, strict bool,
) (*authority.Judge, authority.Verdict, error) {
	judge := seat.NewJudge(c, app.Table, app.Facts, 0)
	v := judge.May(authority.Decide, thisProcess(), func() []string { return app.Environ })
	if v.Outcome != authority.Refused || v.Agent == "" && !strict {
		return judge, v, nil
	}
	if running, err := app.RunningHub(); err == nil {
		ctx, cancel := context.WithTimeout(ctx, cmdutil.HubWait) // it may be stopped
		defer cancel()
		_ = running.Call(ctx, method, nil, nil) // for the journal
	}
	return judge, v, cmdutil.FailWith(cmdutil.ExitDenied, v.Reason())
}

// askHere asks for the code without a hub: what takes hookmux out of agents
// must work when none can be started.
func askHere(ctx context.Context, app *cmdutil.App, judge *authority.Judge, peer proc.Cred,
	method string) authority.Verdict {
	keeper := &seat.Keeper{Judge: judge, Asker: app.Asker}
	if source, ok := judge.Source.(*seat.Source); ok && keeper.Asker == nil {
		keeper.Asker = seat.NewAsker(source)
	}
	return keeper.Decide(ctx, peer, actions.Describe(method, authority.Decide, nil))
}

func installHooks(ctx context.Context, app *cmdutil.App, f *installFlags, args []string) error {
	if f.onUnavailable != "" && f.onUnavailable != "neutral" && f.onUnavailable != "deny" {
		return cmdutil.UsageError("--on-unavailable takes neutral or deny, not %q", f.onUnavailable)
	}
	c, err := app.Catalogue()
	if err != nil {
		return err
	}
	agents, err := findAgents(app, c, args)
	if err != nil {
		return err
	}
	if !f.dryRun {
		if err := personOnly(ctx, app, c, wire.MethodInstall, false); err != nil {
			return err
		}
	}
	h, err := installHost(app)
	if err != nil {
		return err
	}
	h.Known = c.Agents()
	if note := install.ForeignHomeWarning(h.Dirs.Home); note != "" {
		app.Tell([]string{note})
	}
	if len(args) == 0 {
		for _, found := range h.Find(c.Agents()) {
			agents = append(agents, found.Agent)
		}
		if len(agents) == 0 {
			return errors.New("no agent was found on PATH or by its config; name one, e.g. `hookmux install claude`")
		}
	}
	o := install.Options{Agents: agents, Found: len(args) == 0, Scope: install.User, Events: f.events,
		Trust: !f.noTrust, Known: c.Agents(),
		Deny: f.onUnavailable == "deny", Neutral: f.onUnavailable == "neutral"}
	if slices.Equal(f.events, []string{"default"}) {
		o.Events, o.Usual = nil, true
	}
	if f.project {
		o.Scope = install.Project
	}
	if err := install.CheckEvents(agents, o.Events); err != nil {
		return cmdutil.UsageError("%v", err)
	}
	plan, done, err := carryOut(app, h, func() (*install.Plan, error) { return h.Install(o) }, f, "Write this?", nil)
	if err != nil || !done {
		return err
	}
	confirmFirst(ctx, app, c, h.Dirs)
	if err := noteInstallation(app, h); err != nil {
		return err
	}
	return afterInstall(ctx, app, h, plan, agents, f)
}

// carryOut shows a plan, asks and does it. permit, where it is given, asks in place of
// the question.
func carryOut(app *cmdutil.App, h *install.Host, plans func() (*install.Plan, error), f *installFlags,
	question string, permit func() error) (plan *install.Plan, done bool, err error) {
	if plan, err = plans(); err != nil {
		return nil, false, err
	}
	if !f.asJSON {
		if !f.full && !f.dryRun {
			sayPlan(app, h.Dirs.Home, plan)
		} else if err := plan.Apply(&steps.Diff{Out: app.Stdout, Color: app.Style().Color, Home: h.Dirs.Home,
			Full: f.full}); err != nil {
			return nil, false, err
		}
		for _, n := range plan.Notes {
			app.Say("note: %s", termsafe.Text(n))
		}
	}
	if f.dryRun {
		if f.asJSON {
			return plan, false, app.PrintJSON(plan)
		}
		app.Say("nothing was written (--dry-run); %s", countFiles(plan.Files()))
		return plan, false, nil
	}
	shown := plan
	if plan.Files() > 0 {
		if err := confirmPlan(app, plan, f, question, permit != nil); err != nil {
			return nil, false, err
		}
	}
	if permit != nil {
		if err := permit(); err != nil {
			return nil, false, err
		}
	}
	if f.yes { // to whatever there is to do
		shown = nil
	}
	disk := &steps.Disk{Trust: func(g *appserver.Grant) error { return appServer(app, g.Agent, g.Cwd).Trust(g) }}
	plan, err = h.ApplyPlan(plans, shown, disk)
	return plan, err == nil, err
}

func countFiles(n int) string {
	if n == 1 {
		return "1 file would change"
	}
	return fmt.Sprintf("%d files would change", n)
}

// appServer is an agent's own server.
func appServer(app *cmdutil.App, a *agent.Agent, cwd string) appserver.AppServer {
	program := agentProgram(app, a)
	if program == "" {
		program = a.Launch.Program
	}
	return appserver.AppServer{Program: program, Args: []string{"app-server"}, Env: app.Environ, Dir: cwd}
}

func confirmPlan(app *cmdutil.App, plan *install.Plan, f *installFlags, question string, askedLater bool) error {
	for _, a := range plan.Agents {
		if a.Trusted && a.Changed && !f.asJSON {
			app.Say("%s is told to trust exactly these hooks.", a.Title)
		}
	}
	if f.yes {
		return nil
	}
	in, ok := app.Stdin.(*os.File)
	if f.asJSON || !ok || !term.IsTerminal(int(in.Fd())) {
		return cmdutil.UsageError("this needs a person's yes: run it in a terminal, or add --yes")
	}
	if askedLater {
		return nil
	}
	ask := app.Stdout
	if out, ok := app.Stdout.(*os.File); !ok || !term.IsTerminal(int(out.Fd())) {
		ask = app.Stderr // the changes are read by a program, the question by a person
	}
	fmt.Fprintf(ask, "%s [y/N] ", question)
	said, err := app.ReadYes()
	if err == nil && !said {
		err = errors.New("nothing was written")
	}
	return err
}

// emptyNotNil is never null in JSON.
func emptyNotNil[T any](of []T) []T {
	if of == nil {
		return []T{}
	}
	return of
}

// afterInstall tries the hooks and says how it went.
func afterInstall(ctx context.Context, app *cmdutil.App, h *install.Host, plan *install.Plan, agents []*agent.Agent,
	f *installFlags) error {
	agents = slices.DeleteFunc(slices.Clone(agents), func(a *agent.Agent) bool {
		return !slices.ContainsFunc(plan.Agents, func(p install.AgentPlan) bool {
			return p.Name == a.Name &&
				len(p.Events) > 0
		})
	})
	probes := []probe.Result{}
	c, err := app.ConnectHub(ctx)
	if err == nil {
		probes = h.TryHooks(ctx, c, agents, app.Environ)
	} else {
		for _, a := range agents {
			probes = append(probes, probe.Result{Agent: a.Name, Error: err.Error()})
		}
	}
	var slowest time.Duration
	answered := 0
	for _, p := range probes {
		if p.Error == "" {
			answered++
			slowest = max(slowest, p.Took)
		}
	}
	if f.asJSON {
		if err := app.PrintJSON(map[string]any{"agents": emptyNotNil(plan.Agents), "notes": emptyNotNil(plan.Notes),
			"probes": probes, "files": plan.Files()}); err != nil {
			return err
		}
	} else {
		sayInstalled(app, plan, probes, answered, slowest)
		if c != nil && plan.Hooked() > 0 {
			offerGuards(ctx, app, c, f.yes)
		}
	}
	if answered < len(probes) {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return nil
}

func sayInstalled(app *cmdutil.App, plan *install.Plan, probes []probe.Result, answered int, slowest time.Duration) {
	unchanged, off := 0, 0
	for _, a := range plan.Agents {
		if !a.Changed && len(a.Events) > 0 {
			unchanged++
		}
		if a.Off && len(a.Events) > 0 {
			off++
		}
		for _, n := range append([]string{a.Pickup}, a.Notes...) {
			if n != "" {
				app.Say("%s: %s", a.Name, termsafe.Text(n))
			}
		}
	}
	for _, p := range probes {
		if p.Error != "" {
			app.Say("%s: no answer to a probe: %s", p.Agent, termsafe.Line(p.Error, 300))
		}
	}
	hooked := plan.Hooked()
	line := fmt.Sprintf("%d agents hooked", hooked)
	switch hooked {
	case 0:
		app.Say("no agent hooked")
		return
	case 1:
		line = "1 agent hooked"
	}
	if unchanged == hooked {
		line += " already"
	}
	switch {
	case off > 0 && off == hooked:
		line += ", but its settings keep all hooks from running (see above)"
		if hooked > 1 {
			line = strings.Replace(line, "its settings", "their settings", 1)
		}
	case off > 0:
		line += fmt.Sprintf(", %d of them with all hooks switched off (see above)", off)
	}
	app.Say("%s, %d answered a probe in %s; undo: hookmux uninstall", line, answered, slowest.Round(time.Millisecond))
	if off < hooked {
		app.Say("next: start an agent as usual; `hookmux up` shows what it does and asks, and answers it by key")
	}
}

// RefreshShim keeps the path in agents' configs leading to this hookmux after
// an upgrade moved it. What goes wrong here is the doctor's business.
func RefreshShim(app *cmdutil.App) {
	dirs, err := app.Dirs()
	if err != nil {
		return
	}
	if _, err := os.Readlink(install.Shim(dirs)); err != nil {
		return
	}
	noted := dirs.Installation()
	if noted != nil && paths.Runnable(install.Shim(dirs)) && paths.Runnable(noted.Program) {
		return // PATH, which anybody may choose, has no say then
	}
	self, hook, err := ownPrograms()
	if err != nil || programcopy.MayVanish(hook) { // only `hookmux install` copies programs
		return
	}
	path := app.Getenv("PATH")
	if noted != nil {
		_, _ = dirs.WriteInstallation(app.Getenv, install.Shim(dirs),
			stableProgram(self, shimlink.StableHook(hook, path)))
	}
	_ = shimlink.Refresh(dirs, shimlink.StableHook(hook, path), shimlink.StableHook(hook, path) != hook ||
		onPath(filepath.Dir(hook), path))
}

func onPath(dir, path string) bool {
	return slices.Contains(filepath.SplitList(path), dir)
}
