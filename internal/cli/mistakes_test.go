package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// TestMistakes types what people get wrong. No daemon runs and none is started: a mistake in the arguments is found
// before anything else is asked.
func TestMistakes(t *testing.T) {
	home := t.TempDir()
	t.Chdir(t.TempDir())
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/.config", "XDG_STATE_HOME=" + home + "/.local/state",
		"XDG_RUNTIME_DIR=" + home, "PATH=/nowhere"}
	for _, test := range []struct{ line, want string }{
		{"sttus", "there's no command \"hookmux sttus\"; did you mean `hookmux status`?"},
		{"Status", "did you mean `hookmux status`?"},
		{"logs -f", "there's no command \"hookmux logs\"; did you mean `hookmux log -f`?"},
		{"ls", "did you mean `hookmux ps`?"},
		{"stauts --help", "did you mean `hookmux status`?"},
		{"xyzzy --help", "there's no command \"hookmux xyzzy\"; `hookmux --help` lists the commands"},
		{"guard xyzzy --help", "there's no command \"hookmux guard xyzzy\"; `hookmux guard --help` lists the commands"},
		{"hooks xyzzy --help", "there's no command \"hookmux hooks xyzzy\""},
		{"help guard exceptoin", "did you mean `hookmux guard exception`?"},
		{"completion bahs", `there's no shell "bahs"; did you mean "bash"?`},
		{"disable destructive", "did you mean `hookmux guard off destructive`?"},
		{"enable destructve", "did you mean `hookmux guard on destructive`?"},
		{"disable claude", "did you mean `hookmux uninstall claude`?"},
		{"disable", "write `hookmux guard off NAME`, or `hookmux off` for everything"},
		{"guard enable destructive", "did you mean `hookmux guard on destructive`?"},
		{"guard destructive on", "did you mean `hookmux guard on destructive`?"},
		{"guard destructive", "did you mean `hookmux guard show destructive`?"},
		{"guard rm secrets", "did you mean `hookmux guard off secrets`?"},
		{"agents claude", "did you mean `hookmux agents show claude`?"},
		{"agents enable claude", "did you mean `hookmux install claude`?"},
		{"ps claude", "did you mean `hookmux ps -a claude`?"},
		{"log claude", "did you mean `hookmux log -a claude`?"},
		{"daemon status", "did you mean `hookmux status`?"},
		{"daemon logs", "did you mean `hookmux log`?"},
		{"config delete journal.keep", "did you mean `hookmux config unset journal.keep`?"},
		{"config edit", "edit ~/.config/hookmux/config.json, then run `hookmux config accept`"},
		{"tmux on", "did you mean `hookmux tmux install`?"},
		{"rules test x", "did you mean `hookmux why x`?"},
		{"whoami trust 12", "did you mean `hookmux whoami add 12`?"},
		{"trust /tmp", "did you mean `cd /tmp && hookmux trust`?"},
		{"attach %3", "did you mean `hookmux jump %3`?"},
		{"exec claude", "did you mean `hookmux run claude`?"},
		{"upgrade", "install the new version, then run `hookmux install`"},
		{"monitor", "did you mean `hookmux up`?"},
		{"ps -w", "there's no flag -w; did you mean -f (--follow)?"},
		{"ps --watchh", "did you mean -f (--follow)?"},
		{"ps -a", "-a needs a value, such as -a claude; to show everything, use --all"},
		{"log -q", "there's no flag -q; `hookmux log --help` lists the flags"},
		{"log -n abc", `-n "abc" isn't a whole number`},
		{"guard pause destructive -5m", `"-5m" can't be negative`},
		{"off -1h", `"-1h" can't be negative`},
		{"trust --dry-run", "`hookmux trust show` shows what the project would run"},
		{"install --all", "without names it hooks every agent on this machine"},
		{"guard on destructive --mode ask", "use `hookmux guard mode NAME MODE`"},
		{"install claude,codex", "separate agents with spaces: claude codex"},
		{"install cluade", `there's no agent "cluade"; did you mean "claude"?`},
		{"run cluade", `there's no agent "cluade"; did you mean "claude"?`},
		{"verify cluade", `there's no agent "cluade"; did you mean "claude"?`},
		{"log --agent cluade", `there's no agent "cluade"; did you mean "claude"?`},
		{"log --kind tool.befor", `there's no kind of event "tool.befor"; did you mean "tool.before"?`},
		{"install claude --events tool.befor", `there's no kind of event "tool.befor"; did you mean "tool.before"?`},
		{"log --session nosuch", `there's no session "nosuch"; ` + "`hookmux ps --all` lists them"},
		{"log --tool nosuch", `there's no tool "nosuch"`},
		{"log --since 2d --until 3d", "--until is before --since"},
		{"log --since yesterday", `--since "yesterday" isn't a time; write 1h, 2d`},
		{"guard on destructve", `there's no guard "destructve"; did you mean "destructive"?`},
		{"guard on", "which guard? Choose from destructive,"},
		{"guard pause", "which guard? `hookmux guard list` lists them"},
		{"guard show", "which guard? `hookmux guard list` lists them"},
		{"agents show", "which agent? `hookmux agents` lists them"},
		{"config get", "which setting? `hookmux config list --all` lists them"},
		{"permissions remove", "which permission? `hookmux permissions` lists them"},
		{"show", "which session? `hookmux ps` lists them"},
		{"guard pause destructve 5m", `there's no guard "destructve"; did you mean "destructive"?`},
		{"guard pause destructive banana", `"banana" isn't a duration; write 10m or 1h`},
		{"guard pause destructive 3d", "a pause lasts a day at most"},
		{"guard mode destructive blck", `there's no mode "blck"; did you mean "block"?`},
		{"guard exception add destructive.rm-brod", `did you mean "destructive.rm-broad"?`},
		{"config set guard.destructive blck", `there's no value "blck" for guard.destructive; did you mean "block"?`},
		{"config set guard.destructive yes", `did you mean "block"?`},
		{"config set notify.channels desktp", `did you mean "desktop"?`},
		{"config set inbox.wait 5", "isn't a duration"},
		{"config set inbox.wait.cluade 5m", `there's no agent "cluade"; did you mean "claude"?`},
		{"config set gaurd.destructive on", "guard.destructive"},
		{"config accept -f nofile", "there's no file nofile"},
		{"hooks add tool.befor --target x --handler command", `there's no event "tool.befor"; did you mean "tool.before"?`},
		{"hooks add tool.before --handler commnad --target x", `there's no handler "commnad"; did you mean "command"?`},
		{"hooks test gate.ts", "there's no file gate.ts"},
		{"hooks import nofile.json", "there's no file nofile.json"},
		{"rules check nofile.yaml", "there's no file nofile.yaml"},
		{"rules add ./nowhere", "there's no folder ./nowhere"},
		{"rules on nosuch", `there's no rule "nosuch"`},
		{"rules pause nosuch 10m", `there's no rule "nosuch"`},
		{"rules replay --fail-on foo", `there's no `},
		{"agents check nofile.yaml", "there's no file nofile.yaml"},
		{"why --event nofile.json", "there's no file nofile.json"},
		{"why claude PreTolUse", `did you mean "PreToolUse"?`},
		{"why --decision maybe claude PreToolUse", `there's no decision "maybe"`},
		{"run --hook nofile.ts claude", "there's no file nofile.ts"},
		{"trust remove /nowhere", "you don't trust /nowhere"},
		{"whoami add 999999999", "there's no process 999999999"},
		{"whoami add abc", "isn't a process ID"},
		{"verify --check nosuch", `there's no check "nosuch"`},
		{"schema nosuch", `there's no schema "nosuch"`},
		{"install --on-unavailable maybe", `there's no `},
		{"setup --skip foo", `there's no step "foo"; choose from install, guards, tmux, verify`},
		{"approve zz --scope galaxy", `there's no scope "galaxy"`},
		{"approve zz --for banana", `isn't a duration`},
		{"resume --in nowhere x", `there's no `},
		{"jump", "--next"},
		{"why ''", "the command is empty"},
	} {
		t.Run(test.line, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(test.line, "''", "\x00"))
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "\x00", "")
			}
			var out, errs bytes.Buffer
			code := runCommandLine(&cmdutil.App{Args: args, Environ: env, Stdin: strings.NewReader(""), Stdout: &out,
				Stderr: &errs, Table: proc.System()})
			if code != cmdutil.ExitUsage || out.Len() > 0 || !strings.Contains(errs.String(), test.want) {
				t.Errorf("exit code %d, stderr %q, stdout %q; want %d and %q", code, errs.String(), out.String(),
					cmdutil.ExitUsage, test.want)
			}
			if strings.Count(errs.String(), "\n") != 1 {
				t.Errorf("stderr %q, want one line", errs.String())
			}
		})
	}
}
