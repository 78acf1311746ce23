package agents

import (
	"fmt"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/launch"
)

// ShellInitCommand is `hookmux shell-init`.
func ShellInitCommand(app *cmdutil.App) *cobra.Command {
	var mux0 bool
	cmd := &cobra.Command{
		Use:    "shell-init SHELL",
		Hidden: true,
		Short:  "Have agents of this shell go through `hookmux run`",
		Long: `Prints functions for bash, zsh or fish: claude, codex and the others that take
hooks at launch then start through hookmux run, with the same arguments. Without
hookmux on PATH they start as ever.

With --mux0 it prints, instead, what mux0's own scripts and plugin look for: the
socket to report to, which is the daemon's, and an id for this terminal, which stays
the same for every shell on it. The shell may be left out then.`,
		Example: `  hookmux shell-init fish | source      # in ~/.config/fish/config.fish
  eval "$(hookmux shell-init zsh)"      # in ~/.zshrc; bash alike
  eval "$(hookmux shell-init --mux0)"   # before mux0's agent-functions`,
		Args: func(cmd *cobra.Command, args []string) error {
			if mux0 && len(args) == 0 {
				return nil
			}
			return cmdutil.ExactArgs("SHELL")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if mux0 {
				return shellInitMux0(cmd.Context(), app, args)
			}
			c, err := app.Catalogue()
			if err != nil {
				return err
			}
			text, err := shellInit(args[0], c.Agents())
			if err == nil {
				fmt.Fprint(app.Stdout, text)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&mux0, "mux0", false, "export what mux0's scripts need, in place of the functions")
	return cmd
}

// shellInit writes one function for each agent that takes hooks at launch. It is a function
// and not an alias: aliases aren't seen by what a shell runs for others, and "command"
// reaches the program itself from inside. The word "function" is there because zsh reads all
// of an eval before it runs the first line: an alias of the name, such as Claude's own
// installer makes, would replace a bare name and the whole text wouldn't parse.
func shellInit(shell string, agents []*agent.Agent) (string, error) {
	one := map[string]string{
		"sh":   "%[1]s() { if command -v hookmux >/dev/null 2>&1; then command hookmux run %[2]s \"$@\"; else command %[1]s \"$@\"; fi; }\n",
		"fish": "function %[1]s --wraps %[1]s --description 'through hookmux run'; if command -q hookmux; command hookmux run %[2]s $argv; else; command %[1]s $argv; end; end\n",
	}
	one["bash"] = "function " + strings.Replace(one["sh"], "()", "", 1)
	one["zsh"] = one["bash"]
	form, ok := one[shell]
	if !ok {
		return "", cmdutil.UsageError("%s: no such shell here; there are bash, zsh and fish", shell)
	}
	can := launch.Can(agents)
	sort.Strings(can)
	var b strings.Builder
	b.WriteString("# from `hookmux shell-init " + shell + "`\n")
	for _, a := range agents {
		if i := sort.SearchStrings(can, a.Name); i < len(can) && can[i] == a.Name &&
			cmdutil.PlainName(a.Launch.Program) {
			if shell != "fish" {
				// An alias of the name would be put in place of the function's.
				fmt.Fprintf(&b, "unalias %s 2>/dev/null || true\n", a.Launch.Program)
			}
			fmt.Fprintf(&b, form, a.Launch.Program, a.Name)
		}
	}
	return b.String(), nil
}
