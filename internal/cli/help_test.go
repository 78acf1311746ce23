//go:build unix

package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/syntax"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/hookcmd"
)

// everyCommand calls do for every command a person can run.
func everyCommand(t *testing.T, do func(t *testing.T, cmd *cobra.Command)) {
	t.Helper()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		t.Run(strings.ReplaceAll(cmd.CommandPath(), " ", "_"), func(t *testing.T) { do(t, cmd) })
		for _, c := range cmd.Commands() {
			if c.Name() != "completion" { // cobra's own
				walk(c)
			}
		}
	}
	walk(newRoot(&cmdutil.App{}))
}

// call runs the program in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = runCommandLine(&cmdutil.App{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err})
	return code, out.String(), err.String()
}

func TestHelp(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		args := strings.Fields(cmd.CommandPath())[1:]
		code, out, errs := call(append(args, "--help")...)
		if code != 0 || errs != "" {
			t.Fatalf("exit code %d, stderr %q", code, errs)
		}
		for _, want := range []string{"Usage:\n  " + cmd.CommandPath(), "\nExamples:\n  hookmux"} {
			if !strings.Contains(out, want) {
				t.Errorf("--help does not have %q:\n%s", want, out)
			}
		}
		for line := range strings.Lines(out) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > helpWidth {
				t.Errorf("a line of %d characters, want at most %d: %s", n, helpWidth, line)
			}
		}
		if again, other, _ := call(append([]string{"help"}, args...)...); again != 0 || other != out {
			t.Errorf("`hookmux help %s` says something else", strings.Join(args, " "))
		}
	})
}

// isHooksVerb reports whether the words behind `hookmux hooks` begin with one of its own
// verbs, or with an agent and one.
func isHooksVerb(cmd *cobra.Command, words []string) bool {
	if cmd.CommandPath() != "hookmux hooks" {
		return false
	}
	if _, ok := agent.Builtin().Agent(words[0]); ok && len(words) > 1 {
		words = words[1:]
	}
	return slices.Contains(hookcmd.HookVerbs(), words[0])
}

// TestExamples reads every example as a shell would and looks whether its
// command and flags exist.
func TestExamples(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		file, err := syntax.NewParser().Parse(strings.NewReader(cmd.Example), "")
		if err != nil {
			t.Fatalf("%v in\n%s", err, cmd.Example)
		}
		root := newRoot(&cmdutil.App{})
		seen := 0
		syntax.Walk(file, func(node syntax.Node) bool {
			c, ok := node.(*syntax.CallExpr)
			if !ok || len(c.Args) == 0 || c.Args[0].Lit() != "hookmux" {
				return true
			}
			seen++
			var words []string
			for _, w := range c.Args[1:] {
				words = append(words, w.Lit())
			}
			target, rest, err := root.Find(words)
			if err != nil {
				t.Errorf("%v: error %v, want no error", words, err)
				return true
			}
			if target.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !isHooksVerb(target, rest) {
				t.Errorf("%v: there is no such command", words)
			}
			if target.DisableFlagParsing {
				return true
			}
			for _, word := range rest {
				if target.Name() == "run" && !strings.HasPrefix(word, "-") || word == "--" {
					break // the agent's name, and behind it the agent's own flags
				}
				name, isFlag := strings.CutPrefix(word, "--")
				name, _, _ = strings.Cut(name, "=")
				if isFlag && name != "" && target.Flags().Lookup(name) == nil {
					t.Errorf("%v: there is no flag --%s", words, name)
				}
			}
			return true
		})
		if seen == 0 {
			t.Errorf("no example runs hookmux:\n%s", cmd.Example)
		}
	})
}

// Agents read exit code 2 as "block", so no mistake of a
// person may end in it.
func TestUnknownFlags(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		if cmd.DisableFlagParsing || cmd.Name() == "help" {
			return // hands its flags on
		}
		words := strings.Fields(cmd.CommandPath() + " --no-such-flag")
		code, out, errs := call(words[1:]...)
		if code != cmdutil.ExitUsage || out != "" {
			t.Errorf("exit code %d, stdout %q", code, out)
		}
		if !strings.HasPrefix(errs, "hookmux: there's no flag --no-such-flag; ") || strings.Count(errs, "\n") != 1 {
			t.Errorf("stderr %q; want one line that names the flag", errs)
		}
	})
}

func TestExitCodesAreNeverBlock(t *testing.T) {
	if slices.Contains([]int{cmdutil.ExitOK, cmdutil.ExitFailed, cmdutil.ExitUsage, cmdutil.ExitNoDaemon,
		cmdutil.ExitDenied}, 2) {
		t.Error("2 is what agents read as \"block\"")
	}
}

// pflag takes a word in backquotes for the name of a flag's value.
func TestFlagsHaveNoBackquotes(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.Contains(f.Usage, "`") {
				t.Errorf("--%s: %q, want it without backquotes", f.Name, f.Usage)
			}
		})
	})
}
