// Package actions describes what a method of the daemon would do, and says whether that takes
// protection away: then the user at the terminal is always asked.
package actions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/wire"
)

// Describe reads a call. Parameters that cannot be read are described by the
// method alone; the method refuses them later.
func Describe(method string, class authority.Class, params json.RawMessage) authority.Action {
	a := authority.Action{Class: class, Text: method}
	if class != authority.Decide {
		return a
	}
	if describe, ok := describers[method]; ok {
		a.Text, a.Weakens = describe(params)
	}
	if a.Weakens {
		a.Why = whyWeaker(method, params)
	}
	a.Tightens = tightens(method, params)
	return a
}

// tightens reports whether a call switches something on that refuses.
func tightens(method string, params json.RawMessage) bool {
	if method != wire.MethodConfigSet {
		return method == wire.MethodOn
	}
	p := readInto[wire.ConfigSetParams](params)
	_, known := config.Find(p.Key)
	return known && strings.HasPrefix(p.Key, hook.GuardPrefix) && string(p.Value) == `"`+config.GuardBlock+`"`
}

// whyWeaker says in what way a call may take protection away where that is not plain;
// "": it does.
func whyWeaker(method string, params json.RawMessage) string {
	switch {
	case mayAllow(method, params):
		return mayAlsoAllow
	case method == wire.MethodConfigSet && readInto[wire.ConfigSetParams](params).Key == config.RulesModes:
		return "it changes which rules apply"
	case method == wire.MethodAccept:
		return "some of the changes may take protection away"
	case method == wire.MethodFleetInit || method == wire.MethodFleetInvite:
		return "the fleet's operators can answer agents on this machine"
	case method == wire.MethodRemoteAdd && readInto[wire.RemoteAddParams](params).Scope == wire.ScopeRead:
		return "what agents do there shows up on this machine"
	case method == wire.MethodRemoteAdd:
		return "the key to answer agents there will be on this machine"
	case method == wire.MethodRemoteAccept && readInto[wire.RemoteAcceptParams](params).Scope == wire.ScopeRead:
		return "that machine will see what your agents do here"
	case method == wire.MethodRemoteAccept:
		return "that machine can then answer agents here for you"
	case method == wire.MethodFleetJoin:
		return "they decide for you, and their rules apply here"
	case method == wire.MethodFleetLeave, method == wire.MethodFleetPush:
		return "rules that block calls may no longer apply"
	case method == wire.MethodWebDeviceScope || method == wire.MethodWebPairConfirm || method == wire.MethodTerminalAdd:
		return "it can then decide for you"
	case method == wire.MethodInboxReply || method == wire.MethodCmuxPermit:
		return "it allows more than this one call"
	}
	return ""
}

// mostNamed is how many changes a prompt for a code has room for.
const mostNamed = 4

// WhyAccepted says what becomes weaker when changes of settings are accepted.
func WhyAccepted(weaker []string) string {
	if len(weaker) == 0 {
		return "as far as hookmux can tell, nothing becomes weaker"
	}
	named := make([]string, 0, mostNamed)
	for _, one := range weaker[:min(len(weaker), mostNamed)] {
		named = append(named, termsafe.Line(one, 80))
	}
	text := "this becomes weaker: " + strings.Join(named, "; ")
	if more := len(weaker) - len(named); more > 0 {
		text += fmt.Sprintf("; and %d more, which `hookmux config accept --dry-run` shows on top", more)
	}
	return text
}

// mayAllow reports whether a call weakens only because what it adds may also allow calls.
func mayAllow(method string, params json.RawMessage) bool {
	switch method {
	case wire.MethodHooksAdd:
		return !readInto[wire.HooksEditParams](params).Replace
	case wire.MethodConfigSet:
		p := readInto[wire.ConfigSetParams](params)
		return p.Key == config.Modules || p.Key == config.ModulesLog && string(p.Value) == "[]"
	}
	return false
}

// RequestOf names the request that a call answers, "" for none.
func RequestOf(method string, params json.RawMessage) string {
	var p struct {
		ID      string `json:"id"`
		Request string `json:"request_id"`
	}
	switch method {
	case wire.MethodInboxReply, wire.MethodInboxSkip:
		_ = json.Unmarshal(params, &p) // the method says what is wrong with it
		return p.ID
	case wire.MethodCmuxPermit, wire.MethodCmuxQuestion, wire.MethodCmuxPlan:
		_ = json.Unmarshal(params, &p) // the method says what is wrong with it
		return p.Request
	}
	return ""
}

var describers = map[string]func(json.RawMessage) (text string, weakens bool){
	wire.MethodOff:       describeOff,
	wire.MethodConfigSet: describeSetting,
	wire.MethodHooksAdd:  describeAdd,
	wire.MethodHooksSet:  func(p json.RawMessage) (string, bool) { return "change hook " + hookID(p), true },
	wire.MethodHooksDrop: func(p json.RawMessage) (string, bool) { return "remove hook " + hookID(p), true },
	wire.MethodTrust:     describeTrust,
	wire.MethodUntrust: func(p json.RawMessage) (string,
		bool) {
		return "trust the hooks of " + trustedFolder(p) + " no more", false
	},
	wire.MethodAllow:            describeAllow,
	wire.MethodPause:            describePause,
	wire.MethodInboxReply:       describeReply,
	wire.MethodCmuxPermit:       describePermit,
	wire.MethodCmuxQuestion:     fixedText("answer a question", false),
	wire.MethodCmuxPlan:         fixedText("answer a plan", false),
	wire.MethodInboxSkip:        fixedText("hand a request back to the agent", false),
	wire.MethodPermissionRemove: fixedText("remove a saved permission", false),
	wire.MethodAway:             fixedText("have requests wait while you're away", false),
	wire.MethodBack:             fixedText("come back: requests wait no longer than usual", false),
	wire.MethodDoctor:           fixedText("repair what doctor found", false),
	wire.MethodTmux:             fixedText("change your tmux settings", false),
	wire.MethodExplainRun:       fixedText("run your hooks on a made-up call", false),
	wire.MethodTSHookRun:        fixedText("run a TypeScript hook's own command", false),
	wire.MethodNotifyTest:       fixedText("send a test notification", false),
	wire.MethodSessionRename:    fixedText("give a session another name", false),
	wire.MethodSessionForget:    fixedText("remove a session from the list", false),
	wire.MethodSessionSend:      fixedText("type a text into an agent's session", false),
	wire.MethodTerminalRemove:   fixedText("stop trusting a terminal", false),
	wire.MethodPIN:              describePIN,
	wire.MethodStop:             fixedText("stop the daemon", false),
	wire.MethodOn:               fixedText("turn hookmux on again", false),
	wire.MethodInstall:          fixedText("write hooks into agents' settings", false),
	wire.MethodUninstall:        fixedText("remove hookmux's hooks from your agents", true),
	wire.MethodTerminalAdd:      describeTerminal,
	wire.MethodWebStart:         describeWebStart,
	wire.MethodWebStop:          fixedText("stop serving the page for browsers", false),
	wire.MethodWebPair:          fixedText("show a code with which a device can ask to be paired", false),
	wire.MethodWebPairConfirm:   describePairing,
	wire.MethodRemoteAdd:        describeRemoteAdd,
	wire.MethodRemoteAccept:     describeRemoteAccept,
	wire.MethodRemoteRemove:     fixedText("forget a machine, and the key that signs your answers to it", false),
	wire.MethodFleetInit:        fixedText("serve a fleet of machines from here", true),
	wire.MethodFleetInvite:      describeFleetInvite,
	wire.MethodFleetJoin:        fixedText("join a fleet: its operators see your agents here and answer them", true),
	wire.MethodFleetRemove:      describeFleetRemove,
	wire.MethodFleetLeave:       describeFleetLeave,
	wire.MethodFleetPush:        describeFleetPush,
	wire.MethodWebDeviceRename:  fixedText("give a paired device another name", false),
	wire.MethodWebDeviceRemove:  fixedText("remove a paired device", false),
	wire.MethodWebDeviceScope:   describeDeviceScope,
	wire.MethodAccept:           fixedText("accept every change to your settings that hookmux's commands didn't make", true),
	wire.MethodAcceptRestore:    fixedText("restore the settings you accepted", false),
	wire.MethodAcceptFollow:     describeFollow,
	wire.MethodAcceptFirst:      fixedText("accept the settings that are there", false),
	wire.MethodAcceptFile:       describeFile,
	wire.MethodPackAdd:          describePack,
	wire.MethodBudgetAdd: func(p json.RawMessage) (string, bool) {
		return "add the budget " + readInto[wire.BudgetParams](p).Budget, false
	},
	wire.MethodBudgetRemove: func(p json.RawMessage) (string, bool) {
		return "remove the budget " + readInto[wire.BudgetParams](p).Budget, true
	},
	wire.MethodBudgetLift: func(p json.RawMessage) (string, bool) {
		return "lift the budget " + readInto[wire.BudgetParams](p).Budget + " once", true
	},
	wire.MethodPackDrop: func(p json.RawMessage) (string, bool) {
		return "remove the pack of rules " + readInto[wire.PackDropParams](p).Name, true
	},
}

func fixedText(text string, weakens bool) func(json.RawMessage) (string, bool) {
	return func(json.RawMessage) (string, bool) { return text, weakens }
}

// readInto leaves what cannot be read at its zero value.
func readInto[T any](params json.RawMessage) (p T) {
	_ = json.Unmarshal(params, &p) // the method says what is wrong with it
	return p
}

func describeOff(params json.RawMessage) (string, bool) {
	p := readInto[wire.OffParams](params)
	if p.Seconds <= 0 {
		return "turn hookmux off, with all guards, until `hookmux on`", true
	}
	return "turn hookmux off, with all guards, for " +
		"" + config.Format(time.Duration(p.Seconds*float64(time.Second)).Round(time.Second)), true
}

// describeSetting describes a change of settings, and says whether it is asked about:
// a guard that does not refuse any more, an agent that does not ask any more, or
// anything that is removed.
func describeSetting(params json.RawMessage) (string, bool) {
	p := readInto[wire.ConfigSetParams](params)
	value := strings.Trim(string(p.Value), `"`)
	text := "set " + p.Key + " to " + value
	setting, known := config.Find(p.Key)
	if setting.Secret {
		text = "set " + p.Key
	}
	if words := describeLogOnly(&p); words != "" {
		text = words
	}
	if p.Value == nil {
		value, text = "", "put "+p.Key+" back to its default"
	}
	if p.Project != "" {
		text += " for " + p.Project
	}
	// The method refuses an unknown one.
	return text, known && setting.Weakens != nil && setting.Weakens(value)
}

// describeLogOnly says which TypeScript hooks decide and which only logs; "" for another
// setting.
func describeLogOnly(p *wire.ConfigSetParams) string {
	var names []string
	if p.Key != config.ModulesLog || json.Unmarshal(p.Value, &names) != nil {
		return ""
	}
	if len(names) == 0 {
		return "let all TypeScript hooks decide, and none only log"
	}
	return "let only log, and refuse nothing: " + strings.Join(names, ", ") + "; every other hook decides"
}

// DescribeSwitchedTSHooks returns a call that sets which TypeScript hooks only logs, as what it
// changes for each of them; now is which only logs today. It is false for other calls
// and where nothing changes.
func DescribeSwitchedTSHooks(a authority.Action, params json.RawMessage, now []string) (authority.Action, bool) {
	p := readInto[wire.ConfigSetParams](params)
	var then []string
	if p.Key != config.ModulesLog || p.Project != "" || p.Value != nil && json.Unmarshal(p.Value, &then) != nil {
		return a, false
	}
	without := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(one string) bool { return slices.Contains(other, one) })
	}
	var texts []string
	if rest := without(then, now); len(rest) > 0 {
		texts = append(texts, "let "+strings.Join(rest, ", ")+" only log, and refuse nothing")
	}
	if decide := without(now, then); len(decide) > 0 {
		if texts == nil {
			a.Why = mayAlsoAllow
		}
		texts = append(texts, "let "+strings.Join(decide, ", ")+" decide, not only log")
	}
	if texts == nil {
		return a, false
	}
	a.Text = strings.Join(texts, "; ")
	return a, true
}

// mayAlsoAllow is why what decides from now on may take protection away.
const mayAlsoAllow = "what it runs may also approve calls for you"

// OnlyLogs reports whether a call lets a guard only log that stopped nothing
// before, by how it is switched.
func OnlyLogs(params json.RawMessage, stateOf func(key string) string) bool {
	p := readInto[wire.ConfigSetParams](params)
	setting, _ := config.Find(p.Key)
	if !setting.IsGuard() || string(p.Value) != `"log"` || p.Project != "" {
		return false
	}
	state := stateOf(p.Key)
	return state == "off" || state == "log"
}

func describeAdd(params json.RawMessage) (string, bool) {
	p := readInto[wire.HooksEditParams](params)
	var r struct {
		ID      string    `json:"id"`
		Role    hook.Role `json:"role"`
		Target  string    `json:"target"`
		LogOnly bool      `json:"log"`
	}
	_ = json.Unmarshal(p.Registration, &r) // the method says what is wrong with it
	if p.Replace {
		return "replace hook " + r.ID, true
	}
	text := strings.TrimSpace("add hook " + r.ID)
	if r.Role == hook.Observe || r.Role == hook.Advise || r.LogOnly {
		return text, false
	}
	// A hook that guards may say yes in the user's place.
	return text + ", which may allow or deny calls: " + r.Target, true
}

func hookID(params json.RawMessage) string { return readInto[wire.HooksEditParams](params).ID }

func trustedFolder(params json.RawMessage) string { return readInto[wire.TrustParams](params).Cwd }

func describeTrust(params json.RawMessage) (string, bool) {
	return "trust and run the hooks in " + trustedFolder(params), true
}

func describeAllow(params json.RawMessage) (string, bool) {
	p := readInto[wire.AllowParams](params)
	switch {
	case p.Drop:
		return "remove the exception " + p.Rule, false
	case p.Once:
		return "let one call pass that " + p.Rule + " stops", true
	}
	return "let every call pass that " + p.Rule + " stops", true
}

// describeReply describes a reply, and reports whether it is asked about. You say a single
// yes or no all day; only what reaches further is asked about.
func describeReply(params json.RawMessage) (string, bool) {
	p := readInto[wire.InboxReplyParams](params)
	switch event.Choice(p.Choice) {
	case event.ChooseAlways:
		if p.Suggestion != 0 {
			return "answer " + p.ID + ", and have the agent save a rule of its own", true
		}
		if p.Rule != "" {
			return fmt.Sprintf("answer %s, and always allow: %s", p.ID, p.Rule), true
		}
		return "answer " + p.ID + ", and save a permission for calls exactly like it", true
	case event.ChooseAll, event.ChooseBypass:
		return "answer " + p.ID + ", and approve everything else in its session", true
	}
	return "answer " + p.ID + " with " + p.Choice, false
}

// DescribeAnswer says what an answer to a request would do: which answer, for
// which agent, and to what.
func DescribeAnswer(method string, params json.RawMessage, item *wire.InboxRequest) string {
	p := readInto[struct {
		Choice     string `json:"choice"`
		Mode       string `json:"mode"`
		Rule       string `json:"rule"`
		Suggestion int    `json:"suggestion"`
	}](params)
	choice := p.Choice
	if choice == "" {
		choice = p.Mode
	}
	to := " for " + item.Agent + ": " + aboutRequest(item)
	switch {
	case method == wire.MethodInboxSkip:
		return "hand back to " + strings.TrimPrefix(to, " for ")
	case item.Kind == "plan":
		return "answer the plan with " + choice + "," + to
	case method == wire.MethodCmuxQuestion || choice == string(event.ChooseAnswer):
		return "answer the question" + to
	case choice == string(event.ChooseDeny):
		return "deny" + to
	case choice == string(event.ChooseAlways) && p.Suggestion > 0 && p.Suggestion <= len(item.Suggestions):
		return "approve" + to + " (and " + item.Agent + " saves its own rule: " + agent.OfferInWords(item.Suggestions[p.Suggestion-1]) + ")"
	case choice == string(event.ChooseAlways) && p.Rule != "":
		return "approve" + to + " (and always allow: " + p.Rule + ")"
	case choice == string(event.ChooseAlways):
		return "approve" + to + " (and save a permission for calls exactly like it)"
	case choice == string(event.ChooseAll) || choice == string(event.ChooseBypass):
		return "approve" + to + " (and approve everything else in its session)"
	}
	return "approve" + to
}

// aboutRequest returns what a request is about: its commands, its question, or what its
// card says first.
func aboutRequest(item *wire.InboxRequest) string {
	if len(item.Questions) > 0 {
		return item.Questions[0].Text
	}
	var commands, others []string
	for line := range wire.CardLines(item.Shown) {
		switch line.Kind {
		case wire.CommandLine:
			commands = append(commands, line.Command())
		case wire.AddedLine, wire.RemovedLine:
		case wire.OwnLine:
			if _, file, ok := strings.Cut(line.Text, "file: "); ok {
				others = append(others, file)
			}
		default:
			others = append(others, strings.TrimSpace(line.Text))
		}
	}
	switch {
	case len(commands) > 0:
		return wire.CardCommand + strings.Join(commands, " ⏎ ")
	case item.Tool == "":
		return strings.Join(others, " ⏎ ")
	}
	return strings.TrimSpace(item.Tool + " " + strings.Join(others, " ⏎ "))
}

func describePermit(params json.RawMessage) (string, bool) {
	p := readInto[struct {
		ID   string `json:"request_id"`
		Mode string `json:"mode"`
	}](params)
	mode := event.Choice(p.Mode)
	return "answer " + p.ID + " with " + p.Mode, mode == event.ChooseAlways || mode == event.ChooseAll ||
		mode == event.ChooseBypass
}

func describePause(params json.RawMessage) (string, bool) {
	p := readInto[wire.PauseParams](params)
	if p.Seconds <= 0 {
		return "end the pause of " + p.Name, false
	}
	return "pause " + p.Name + ", which then only logs, for " +
		config.Format(time.Duration(p.Seconds*float64(time.Second)).Round(time.Second)), true
}

func describePIN(params json.RawMessage) (string, bool) {
	if readInto[wire.PINParams](params).New == "" {
		return "remove the PIN", true
	}
	return "set the PIN", false
}

func describeFollow(params json.RawMessage) (string, bool) {
	p := readInto[wire.AcceptFilesParams](params)
	return "accept changes as they come to " + strings.Join(p.Files, ", "), true
}

func describeFile(params json.RawMessage) (string, bool) {
	return "activate " + readInto[wire.AcceptFileParams](params).File, false
}

func describeTerminal(params json.RawMessage) (string, bool) {
	p := readInto[wire.TerminalParams](params)
	return fmt.Sprintf("trust the terminals of process %d until it exits", p.PID), true
}

func describeWebStart(params json.RawMessage) (string, bool) {
	p := readInto[wire.WebStartParams](params)
	if p.Insecure {
		return "serve the page for browsers without encryption on " + p.Listen, true
	}
	return "serve the page for browsers", false
}

func describePairing(params json.RawMessage) (string, bool) {
	p := readInto[wire.WebConfirmParams](params)
	what := "see what your agents do"
	if p.Scope != wire.ScopeRead {
		what = "answer your agents"
	}
	return fmt.Sprintf("let the device %q, which shows %s, %s", p.Name, p.Digits, what), true
}

func describeDeviceScope(params json.RawMessage) (string, bool) {
	p := readInto[wire.WebDeviceParams](params)
	if p.Scope == wire.ScopeRead {
		return "let the device " + p.Device + " only read", false
	}
	return "let the device " + p.Device + " answer your agents", true
}

func describeRemoteAdd(params json.RawMessage) (string, bool) {
	p := readInto[wire.RemoteAddParams](params)
	what := "show you its agents"
	if p.Scope != wire.ScopeRead {
		what += " and send them your answers"
	}
	return "keep an ssh connection to " + p.Target + ", " + what, true
}

func describeFleetInvite(params json.RawMessage) (string, bool) {
	p := readInto[wire.FleetInviteParams](params)
	return "invite a machine to the fleet as " + cmp.Or(p.Role, "member"), true
}

func describeFleetPush(params json.RawMessage) (string, bool) {
	if n := len(readInto[wire.FleetPushParams](params).Files); n > 0 {
		return fmt.Sprintf("replace the rules of every machine of the fleet with %d files", n), true
	}
	return "remove the fleet's rules from every machine", true
}

func describeFleetLeave(params json.RawMessage) (string, bool) {
	if readInto[wire.FleetLeaveParams](params).End {
		return "end the fleet for every machine, and delete its journal", true
	}
	return "leave the fleet; its rules no longer apply here", true
}

func describeFleetRemove(params json.RawMessage) (string, bool) {
	return "remove " + readInto[wire.FleetMemberParams](params).Member + " from the fleet", false
}

func describeRemoteAccept(params json.RawMessage) (string, bool) {
	p := readInto[wire.RemoteAcceptParams](params)
	what := "see what your agents here do"
	if p.Scope != wire.ScopeRead {
		what = "answer your agents here"
	}
	return fmt.Sprintf("let the machine %q %s", p.Name, what), true
}
