package rulescmd

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// ParseMode reads a mode as it is typed.
func ParseMode(word string) (rules.Mode, error) {
	var known []string
	for _, mode := range rules.Modes() {
		if string(mode) == word {
			return mode, nil
		}
		known = append(known, string(mode))
	}
	return "", cmdutil.UnknownMode(word, known)
}

// Paused names what a pause command is about.
type Paused string

// The things that can be paused.
const (
	PauseGuard Paused = "guard"
	PauseRules Paused = "rules"
)

// one returns what a single one is called.
func (p Paused) one() string {
	if p == PauseRules {
		return "rule or pack"
	}
	return "guard"
}

// PauseCommand is `hookmux guard pause` and `hookmux rules pause`.
func PauseCommand(app *cmdutil.App, of Paused) *cobra.Command {
	what, example := "a guard", "destructive"
	if of == PauseRules {
		what, example = "a rule or a pack", "no-push-to-main"
	}
	var end bool
	command := "hookmux " + string(of) + " pause " + example
	cmd := &cobra.Command{
		Use:   "pause NAME [DURATION]",
		Short: "Let " + what + " only log for a while",
		Long: "Lets " + what + ` stop nothing for a while: 10 minutes unless you say otherwise, a day
at most. What it would have stopped is recorded, and it comes back by itself.
` + "`hookmux status`" + ` shows the time left; --end ends the pause now.`,
		Example: "  " + command + " 30m\n  " + command + " --end",
		Args:    pauseArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := config.ParseSpan(args[0]); err == nil {
				return cmdutil.UsageError("which %s? As in `%s %s`", of.one(), command, args[0])
			}
			p := wire.PauseParams{Name: args[0], Cwd: app.Cwd()}
			span, err := PauseSpan(args[1:], end, string(of)+" mode "+args[0])
			if err != nil {
				return err
			}
			p.Seconds = span.Seconds()
			if err := checkPaused(app, of, args[0]); err != nil {
				return err
			}
			return Pause(cmd, app, p)
		},
	}
	cmd.Flags().BoolVar(&end, "end", false, "end the pause now")
	return cmd
}

func pauseArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 1 && slices.Contains([]string{"until", "till", "--until", "for"}, args[1]) {
		return cmdutil.UsageError("a pause takes a duration, as in `%s %s 2h`", cmd.CommandPath(), cmdutil.QuoteWords(args[:1]))
	}
	if len(args) > 2 {
		return cmdutil.TooManyArgs(cmd, args, 2)
	}
	return cmdutil.SomeArgs("NAME")(cmd, args)
}

// PauseSpan returns how long a pause lasts; 0 ends one.
// longer is the command that has it only log until you change that.
func PauseSpan(given []string, end bool, longer string) (time.Duration, error) {
	switch {
	case end && len(given) > 0:
		return 0, cmdutil.UsageError("--end takes no duration")
	case end:
		return 0, nil
	case len(given) == 0:
		return 10 * time.Minute, nil
	}
	if span, err := config.ParseSpan(given[0]); err == nil && span == 0 {
		return 0, cmdutil.UsageError("a pause of 0 is none; --end ends one")
	}
	tooLong := cmdutil.UsageError("a pause lasts at most a day; log mode lasts until you change it: `hookmux %s log`", longer)
	if slices.Contains(endless, given[0]) {
		return 0, tooLong
	}
	span, err := cmdutil.Span("", given[0], "10m or 1h")
	if err != nil {
		return 0, err
	}
	if span > sources.LongestPause {
		return 0, tooLong
	}
	return span, nil
}

// checkPaused rejects a name that isn't a guard's, or isn't a rule's or a pack's.
func checkPaused(app *cmdutil.App, of Paused, name string) error {
	if of == PauseGuard {
		short, _ := hook.GuardName(name)
		var known []string
		for _, g := range names.All() {
			if g.Name == short {
				return nil
			}
			known = append(known, g.Name)
		}
		return cmdutil.UnknownName("guard", name, known, "hookmux guard list")
	}
	list, _, err := listed(app)
	if err != nil {
		return err
	}
	_, err = findRuleHere(app, list, name)
	return err
}

// Pause starts or ends a pause.
func Pause(cmd *cobra.Command, app *cmdutil.App, p wire.PauseParams) error {
	var pause wire.Pause
	if err := app.CallDaemon(cmd.Context(), wire.MethodPause, p, &pause); err != nil {
		return err
	}
	if p.Seconds == 0 {
		app.Say("%s is active again", pause.Name)
		return nil
	}
	app.Say("%s only logs until %s", pause.Name, text.Moment(pause.Until, time.Now()))
	return nil
}

// modeNow returns the mode in which a guard or rule works now: while it's paused, it only logs.
func modeNow(app *cmdutil.App, name, mode string) string {
	dirs, err := app.Dirs()
	if err != nil || mode == config.GuardOff {
		return mode
	}
	pauses, _ := sources.ReadPauses(dirs.State, time.Now()) // what can't be read pauses nothing
	if slices.ContainsFunc(pauses, func(p sources.Pause) bool { return p.Name == name }) {
		return config.GuardLog
	}
	return mode
}

// SayPauses says first that hookmux is off, and which of the guards, rules or hooks that a list
// is about only log for now.
func SayPauses(app *cmdutil.App, about func(name string) bool) {
	dirs, err := app.Dirs()
	if err != nil {
		return
	}
	now := time.Now()
	if off, err := sources.ReadOff(dirs.State); err == nil && off.At(now) {
		until := ""
		if !off.Until.IsZero() {
			until = " until " + text.Moment(off.Until, now)
		}
		app.Say("%s", app.Style().Warning("hookmux is off"+until+": nothing is stopped; `hookmux on` turns it on again"))
	}
	pauses, _ := sources.ReadPauses(dirs.State, now) // what can't be read pauses nothing
	for _, p := range pauses {
		if about(p.Name) {
			name := strings.TrimPrefix(strings.TrimPrefix(p.Name, hook.GuardPrefix), hook.PauseName(""))
			app.Say("%s", app.Style().Warning(termsafe.Line(name, 60)+" is paused until "+text.Moment(p.Until, now)+
				": it only logs"))
		}
	}
}
