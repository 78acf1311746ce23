package agents

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/wire"
)

// daemonCaller is the part of a daemon that the offer needs.
type daemonCaller interface {
	Call(ctx context.Context, method string, params, result any) error
}

// offerGuards offers to let guards log what they'd block, at a terminal and without --yes.
func offerGuards(ctx context.Context, app *cmdutil.App, daemon daemonCaller, yes bool) {
	if !app.IsTerminal() || yes {
		return
	}
	left := guardsOff(ctx, daemon)
	if len(left) == 0 {
		return
	}
	command := "hookmux guard mode " + strings.Join(left, " ") + " log"
	fmt.Fprintf(app.Stdout, "Let the guards %s log what they would block, without blocking it? [Y/n] ",
		strings.Join(left, ", "))
	if !acceptsOffer(app.Stdin) {
		app.Say("later: %s", command)
		return
	}
	for _, name := range left {
		value, _ := json.Marshal("log")
		change := wire.ConfigSetParams{Key: hook.GuardID(name), Value: value}
		if err := daemon.Call(ctx, wire.MethodConfigSet, change, nil); err != nil {
			app.Say("guard %s couldn't be switched: %v; try later: %s", name, err, command)
			return
		}
	}
	app.Say("they're logging; `hookmux status` shows what they would have blocked, and how to turn one on")
}

// guardsOff returns the offered guards that were never switched.
func guardsOff(ctx context.Context, daemon daemonCaller) []string {
	var settings []wire.Setting
	if err := daemon.Call(ctx, wire.MethodConfigGet, wire.ConfigListParams{}, &settings); err != nil {
		return nil
	}
	var left []string
	for _, name := range names.Recommended() {
		key := hook.GuardID(name)
		if slices.ContainsFunc(settings, func(s wire.Setting) bool { return s.Key == key && s.Default }) {
			left = append(left, name)
		}
	}
	return left
}

// acceptsOffer reads the answer: an empty line is a yes, the end of input is not.
func acceptsOffer(in io.Reader) bool {
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		return false
	}
	word := strings.ToLower(strings.TrimSpace(answer))
	return word == "" || word == "y" || word == "yes"
}
