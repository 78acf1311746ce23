// Package config holds hookmux's settings: a table of typed keys, the layers
// they come from, and the one value that is in force.
//
// Layers, from weak to strong: built-in default, system file, user file,
// environment. The policy of this machine's fleet and a project's file come last and may
// only tighten what they find; anything looser is ignored and reported. Files are JSON with comments, one
// flat object of dotted keys. A file that does not parse keeps its last good
// version in force, also across restarts; a single bad value keeps that key's
// last good value. What is wrong is always returned as a [Problem].
package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/similar"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
)

// The keys, for those who ask.
const (
	JournalKeep       = "journal.keep"
	JournalMaxSize    = "journal.maxSize"
	GuardDestructive  = hook.GuardPrefix + names.Destructive
	GuardSecrets      = hook.GuardPrefix + names.Secrets
	GuardOwnFiles     = hook.GuardPrefix + names.OwnFiles
	GuardHosts        = hook.GuardPrefix + "network.hosts"
	GuardAllow        = hook.GuardPrefix + "allow"
	RulesModes        = "rules.modes"
	UsageBudgets      = "usage.budgets"
	HooksTimeout      = "hooks.timeout"
	Status            = "status"
	Resume            = "resume"
	TerminalStatus    = "terminal.status"
	TmuxFollow        = "tmux.follow"
	TmuxNames         = "tmux.names"
	ApprovalsPolicy   = "approvals.policy"
	InboxWait         = "inbox.wait"
	NotifyCommand     = "notify.command"
	Notify            = "notify"
	NotifyChannels    = "notify.channels"
	NotifyKinds       = "notify.kinds"
	NotifyTurn        = "notify.turn"
	NotifyQuiet       = "notify.quiet"
	NotifySubagents   = "notify.subagents"
	NotifyText        = "notify.text"
	NotifySound       = "notify.sound"
	NotifyBus         = "notify.bus"
	NotifyWebhook     = "notify.webhook"
	NotifyFormat      = "notify.webhookFormat"
	NotifySecret      = "notify.webhookSecret"
	NotifyChat        = "notify.webhookChat"
	TelemetryEndpoint = "telemetry.endpoint"
	TelemetryHeaders  = "telemetry.headers"
	TelemetryContent  = "telemetry.content"
	FleetContent      = "fleet.content"
	MCPProjects       = "mcp.projects"
	Containers        = "containers"
	ApprovalsPIN      = "approvals.pin"
	ApprovalsKinds    = "approvals.kinds"
	ApprovalsProof    = "approvals.proof"
	Modules           = "modules"
	ModulesLog        = "modules.log"
	HookTimeout       = "hookTimeout"
)

// Type is the type of a key's value.
type Type string

// The types.
const (
	Span   Type = "duration" // "30d", "12h", "90s"
	Size   Type = "size"     // "1GiB", "500MB", 1048576
	Choice Type = "choice"
	List   Type = "list" // of texts
	Millis Type = "milliseconds"
	Text   Type = "text"
)

// Milliseconds is a time span written as a plain number, as pi writes it.
type Milliseconds int64

// Tighten says what a project's file may do with a key.
type Tighten string

// The rules.
const (
	Never     Tighten = "never"     // a project has no say
	Rise      Tighten = "rise"      // a choice may move up: off, log, ask, block
	Shrink    Tighten = "shrink"    // a span or size may get smaller, in a trusted project
	Intersect Tighten = "intersect" // entries of a list may be left out
)

// Key describes one setting.
type Key struct {
	// State says that commands keep something in it (guard exception, rules mode, …), so it
	// isn't set by hand.
	State   bool
	Name    string
	Type    Type
	Default any
	Doc     string
	Project Tighten
	Choices []string // of a choice, from loose to tight
	Min     any      // smallest span or size
	PerName bool     // also as name.<something>, falling back to name
	NameDoc string   // what that something is
	Items   []string // of a list, what its entries may be; nil: anything
	Example string   // a value, or of a list without Items an entry
	// Secret says that the value is never shown: it lets its holder speak as the user
	// somewhere.
	Secret bool
	// Weakens reports whether a value may take protection away, so that the user is
	// asked for it; "" puts the setting back to its default. Nil: none does. What was
	// in force before is not known.
	Weakens func(value string) bool
	// Check says what is wrong with a text, or with a word that is none of the
	// choices; nil takes any text.
	Check func(text string) error
	// Unread is in force where the value cannot be read: the tightest one. Nil: the last
	// good value, or else the default.
	Unread any
	// Odd says what is wrong with a value that is in force all the same.
	Odd func(value any) error
}

// Keys returns the table of everything that can be set.
func Keys() []Key { return slices.Clone(table) }

// The modes of a built-in guard, from loose to tight.
const (
	GuardOff   = "off"
	GuardLog   = "log" // records what it would have stopped
	GuardAsk   = "ask"
	GuardBlock = "block"
)

// AllProjects is the entry of [MCPProjects] for every folder.
const AllProjects = "all"

// ApprovalLevels are the values of [ApprovalsPolicy], from loose to tight.
var ApprovalLevels = []string{"off", "permission", "side-effects", "all"}

var guardChoices = []string{GuardOff, GuardLog, GuardAsk, GuardBlock}

// GuardStops reports whether a guard in a mode stops or asks about anything.
func GuardStops(mode string) bool { return mode == GuardAsk || mode == GuardBlock }

// TighterGuard returns the tighter one of two modes of a guard.
func TighterGuard(a, b string) string {
	if slices.Index(guardChoices, b) > slices.Index(guardChoices, a) {
		return b
	}
	return a
}

// guardSettings returns the settings by which guards are switched.
func guardSettings() []Key {
	var list []Key
	for _, g := range names.All() {
		mode := GuardOff
		if g.DefaultOn {
			mode = GuardBlock
		}
		list = append(list, Key{
			Name: hook.GuardPrefix + g.Name, Type: Choice, Choices: guardChoices, Default: mode, Project: Rise,
			Weakens: isNotBlock, Unread: GuardBlock,
			Doc: "stop " + g.What,
		})
	}
	return list
}

var table = slices.Concat(firstKeys, guardSettings(), otherKeys)

var firstKeys = []Key{
	{
		Name:    JournalKeep,
		Type:    Span,
		Default: 30 * 24 * time.Hour,
		Min:     time.Minute,
		Project: Shrink,
		PerName: true,
		NameDoc: "agent",
		Doc:     "how long events stay in the journal; journal.keep.<agent> for one agent",
	},
	{Name: JournalMaxSize, Type: Size, Default: int64(1 << 30), Min: int64(1 << 20), Project: Never,
		Doc: "how large the journal may grow before the oldest events are deleted"},
}

var otherKeys = []Key{
	{Name: GuardHosts, Type: List, Default: []string{}, Example: "*.example.com", Project: Intersect, Weakens: always,
		Unread: []string{"unreadable.invalid"}, // no host; an empty list would stop less
		Doc: "hosts that guard.network leaves alone, such as *.example.com; " +
			"all others are stopped. Without any, it stops only known paste and tunnel services"},
	{Name: GuardAllow, State: true, Type: List, Default: []string{}, Project: Intersect, Weakens: always,
		Doc: "guard rules with an exception: they never stop anything"},
	{Name: RulesModes, State: true, Type: List, Default: []string{}, Project: Never, Weakens: always, Odd: checkRuleModes,
		Doc: "the modes of rules and packs, whatever their files say: ID=off, ID=log, ID=ask, ID=block"},
	{Name: UsageBudgets, Type: List, Default: []string{}, Example: "day=30usd block=100%", Project: Never, Weakens: always,
		Odd: checkBudgets,
		Doc: "how much agents may use, such as \"day=30usd ask=80% block=100%\"; `hookmux usage budget` changes it"},
	{Name: HooksTimeout, Type: Span, Default: time.Minute, Min: 100 * time.Millisecond, Project: Shrink,
		Doc: "how long a hook may take that sets no timeout of its own"},
	{Name: Status, Type: Choice, Choices: switchChoices, Default: "on", Project: Never, PerName: true, NameDoc: "agent",
		Doc: "show what sessions do; status.<agent> for one agent: on, off"},
	{
		Name:    Resume,
		Type:    Choice,
		Choices: switchChoices,
		Default: "off",
		Project: Never,
		PerName: true,
		NameDoc: "agent",
		Doc:     "record how to resume sessions; resume.<agent> for one agent: on, off (turning it off deletes the records)",
	},
	{Name: TmuxFollow, State: true, Type: Choice, Choices: switchChoices, Default: "off", Project: Never,
		Doc: "keep tmux window names and icons up to date: on, off"},
	{Name: TerminalStatus, Type: Choice, Choices: []string{"off", "auto", "on"}, Default: "auto", Project: Never,
		Doc: "tell terminals what sessions do (OSC 7501): auto (those that are known to show it: iTerm2, cmux, Rex, " +
			"TUIOS), on (all), off"},
	{Name: TmuxNames, Type: Choice, Choices: []string{"off", "short", "long"}, Default: "short", Project: Never,
		Doc: "window names that tmux.follow gives: short (16 columns, so that several fit beside their icons), " +
			"long (30), off (yours stay)"},
	{
		Name:    ApprovalsPolicy,
		Type:    Choice,
		Choices: ApprovalLevels,
		Default: "permission",
		Project: Rise,
		Weakens: isLoosePolicy,
		Unread:  "all",
		PerName: true,
		NameDoc: "agent",
		Doc: "what needs your approval: off, permission (what the agent itself asks), side-effects, " +
			"all; approvals.policy.<agent> for one agent",
	},
	{
		Name:    InboxWait,
		Type:    Span,
		Default: 2 * time.Minute,
		Min:     time.Second,
		Project: Never,
		PerName: true,
		NameDoc: "agent",
		Doc: "how long an agent waits for you when its own prompt is blocked meanwhile; " +
			"inbox.wait.<agent> for one agent",
	},
	{Name: NotifyCommand, Type: Text, Default: "", Example: "~/bin/notify", Project: Never,
		Doc: "command to run for each request, which it reads as JSON on stdin; agents wait for " +
			"you while it is set"},
	{Name: Notify, Type: Choice, Choices: switchChoices, Default: "off", Project: Never,
		Doc: "notify you when an agent is waiting for you: on, off"},
	{
		Name:    NotifyChannels,
		Type:    List,
		Items:   Channels,
		Default: []string{"desktop", "tmux"},
		Project: Never,
		PerName: true,
		NameDoc: "kind",
		Doc: "channels to use: desktop, terminal, tmux, bell, sound, webhook, push (the command of " +
			"notify.command); notify.channels.<kind> for one kind",
	},
	{
		Name:    NotifyKinds,
		Type:    List,
		Items:   NoticeKinds,
		Default: NoticeKinds[:4],
		Project: Never,
		PerName: true,
		NameDoc: "agent",
		Doc: "what to notify about: permission, question, plan, budget, finished, failed; notify.kinds.<agent> for " +
			"one agent",
	},
	{Name: NotifyTurn, Type: Span, Default: 30 * time.Second, Project: Never,
		Doc: "how long a turn must have taken for a notification that it finished or failed"},
	{Name: NotifyQuiet, Type: Text, Default: "", Example: "22:00-07:00", Project: Never, Check: checkQuiet,
		Doc: "quiet hours, local time: 22:00-07:00, several with commas"},
	{Name: NotifySubagents, Type: Choice, Choices: switchChoices, Default: "off", Project: Never,
		Doc: "also notify for subagents: on, off"},
	{Name: NotifyText, Type: Choice, Choices: []string{"full", "brief"}, Default: "brief", Project: Never,
		Doc: "what a notification says: brief (who asks, for which tool, where), full (also the request itself, with " +
			"secrets redacted)"},
	{
		Name:    NotifySound,
		Type:    Text,
		Default: "",
		Example: "~/sounds/ding.oga",
		Project: Never,
		PerName: true,
		NameDoc: "kind",
		Doc: "the sound of a notification: a desktop sound name, or a file that the channel sound plays " +
			"(absolute or from ~/); notify.sound.<kind> for one kind",
	},
	{Name: NotifyBus, Type: Text, Default: "", Example: "unix:path=/run/user/1000/bus", Project: Never, Check: checkBus,
		Doc: "session bus for desktop notifications, if it isn't your usual one"},
	{Name: NotifyWebhook, Type: Text, Default: "", Example: "https://example.com/hook", Project: Never, Secret: true, Check: checkWebhook,
		Doc: "the address that the channel webhook posts to; file:PATH reads it from a file"},
	{Name: NotifyFormat, Type: Choice, Choices: []string{"json", "ntfy", "slack", "discord", "telegram"},
		Default: "json",
		Project: Never, Doc: "what is posted: json, ntfy, slack, discord, telegram"},
	{Name: NotifySecret, Type: Text, Default: "", Example: "file:~/.config/webhook-key", Project: Never, Secret: true,
		Doc: "the key that signs what is posted (HMAC-SHA256); file:PATH reads it from a file"},
	{Name: NotifyChat, Type: Text, Default: "", Example: "-1001234567890", Project: Never,
		Doc: "the chat that the format telegram posts to"},
	{Name: TelemetryEndpoint, Type: Text, Default: "", Example: "http://localhost:4318", Project: Never, Check: checkEndpoint,
		Doc: "OpenTelemetry collector to send spans, decisions and metrics to, by OTLP over HTTP: http://localhost:4318"},
	{Name: TelemetryHeaders, Type: Text, Default: "", Example: "file:~/.config/otlp-headers", Project: Never, Secret: true,
		Doc: "headers for the collector, such as api-key=…, divided by commas; file:PATH reads them from a file"},
	{Name: TelemetryContent, Type: Choice, Choices: switchChoices, Default: "off", Project: Never,
		Doc: "also send prompts, calls and results, with secrets redacted: on, off"},
	{Name: FleetContent, Type: Choice, Choices: []string{"redacted", "none"}, Default: "redacted", Project: Never,
		Doc: "how much of prompts, calls and results your fleet gets: redacted (without secrets), none (your requests can then " +
			"only be answered here)"},
	{Name: MCPProjects, Type: List, Default: []string{}, Example: "~/work", Project: Never, Weakens: isSomething,
		Unread: []string{}, Odd: checkProjects,
		Doc: "folders whose sessions every agent may see with the tools of hookmux mcp, besides its own project's: absolute or from " +
			"~/; all for every folder"},
	{Name: Containers, Type: Choice, Choices: switchChoices, Default: "off", Project: Never, Weakens: isOn,
		Doc: "let agents in containers report, through the folder ~/.local/share/hookmux/container: on, off"},
	{Name: ApprovalsPIN, Type: Choice, Choices: []string{"off", "on"}, Default: "off", Project: Never, Weakens: isNotOn,
		Doc: "whether approvals ask for a PIN; setting it asks for the PIN"},
	{
		Name:    ApprovalsKinds,
		Type:    List,
		Items:   approvalKinds,
		Default: approvalKinds,
		Project: Never,
		Weakens: always, // a kind may be missing that was there
		Doc: "which approvals ask for the PIN or polkit: " + strings.Join(approvalKinds, ", ") +
			"; saved permissions always ask",
	},
	{
		Name:    ApprovalsProof,
		Type:    Choice,
		Choices: []string{"pin", "polkit"},
		Default: "pin",
		Project: Never,
		Weakens: always, // there may be no PIN
		Check:   checkProof,
		Doc:     "what approvals ask for: pin (where there is one), polkit (your password, by polkit; Linux)",
	},
	// A TypeScript hook may answer for the user, and one that only logs refuses nothing.
	{Name: Modules, Type: List, Default: []string{}, Example: "~/shared/gate.ts", Project: Never, Weakens: always,
		Doc: "TypeScript or JavaScript files to load as hooks, in addition to those in ~/.config/hookmux/hooks; absolute " +
			"or from ~/"},
	{Name: ModulesLog, State: true, Type: List, Default: []string{}, Project: Never, Weakens: always,
		Doc: "hooks in log mode: " +
			"file names in ~/.config/hookmux/hooks, else absolute or from ~/"},
	{Name: HookTimeout, Type: Millis, Default: Milliseconds(30_000), Min: Milliseconds(1), Project: Never,
		Doc: "milliseconds a handler of a TypeScript hook may take, where pi limits it; never at tool_call"},
}

func always(string) bool { return true }

func isNotOn(value string) bool { return value != "on" }

func isOn(value string) bool { return value == "on" }

func isSomething(value string) bool { return value != "" && value != "[]" }

func isNotBlock(value string) bool { return value != GuardBlock }

// isLoosePolicy reports whether an approval policy asks for little. Moving it up to
// the agent's own prompts is asked for, too.
func isLoosePolicy(level string) bool { return level == "off" || level == "permission" || level == "" }

// IsGuard reports whether a setting is the mode of a built-in guard.
func (k *Key) IsGuard() bool { return slices.Contains(k.Choices, GuardLog) }

// Sealed reports whether the daemon itself keeps a setting, under a seal: files and
// variables can't set it.
func Sealed(name string) bool {
	return name == ApprovalsPIN || name == ApprovalsKinds || name == ApprovalsProof
}

func errSealed(name string) error {
	return fmt.Errorf("%s has no effect here, because the daemon keeps it: change it with `hookmux config set %s`",
		name, name)
}

var approvalKinds = toolKinds()

func toolKinds() (words []string) {
	for _, kind := range event.ToolKinds() {
		words = append(words, string(kind))
	}
	return words
}

// checkProof says why a way to prove oneself cannot be had.
func checkProof(way string) error {
	if way == "touchid" {
		return errors.New("Touch ID cannot be asked for by hookmux: macOS offers it to programs that link its " +
			"LocalAuthentication framework, which hookmux does not, and to sudo; choose pin")
	}
	return nil
}

// checkBudgets says which budgets can't be read; those ask about every call.
func checkBudgets(value any) error {
	list, _ := value.([]string)
	for _, one := range budget.ParseAll(list) {
		if one.Broken != "" {
			return fmt.Errorf("%q: %s", one.Text(), one.Broken)
		}
	}
	return nil
}

// checkProjects says which entry is no folder; it allows nothing.
func checkProjects(value any) error {
	list, _ := value.([]string)
	for _, one := range list {
		if one != AllProjects && !filepath.IsAbs(one) && !strings.HasPrefix(one, "~/") {
			return fmt.Errorf("%s: %q is neither an absolute folder nor one from ~/, so nothing is shown of it", MCPProjects, one)
		}
	}
	return nil
}

// checkRuleModes says which rule has a mode that does not exist.
func checkRuleModes(value any) error {
	list, _ := value.([]string)
	for _, one := range list {
		if id, mode, _ := strings.Cut(one, "="); !slices.Contains(guardChoices, mode) {
			return fmt.Errorf("%s: %q is not a mode; rule %s blocks until you write %s=MODE with one of %s",
				RulesModes, mode, id, id, strings.Join(guardChoices, ", "))
		}
	}
	return nil
}

var switchChoices = []string{"off", "on"}

// Find returns the description of a key, also of one like journal.keep.claude.
func Find(name string) (Key, bool) {
	if i, ok := keyIndex()[name]; ok {
		return table[i], true
	}
	parent, rest := splitKey(name)
	if i, ok := keyIndex()[parent]; ok && table[i].PerName && perNameOK(rest) {
		k := table[i]
		k.Name, k.PerName = name, false
		return k, true
	}
	return Key{}, false
}

// keyIndex is the position of each key in the table: settings are looked up at every event.
var keyIndex = sync.OnceValue(func() map[string]int {
	index := make(map[string]int, len(table))
	for i, k := range table {
		index[k.Name] = i
	}
	return index
})

// splitKey splits journal.keep.claude into journal.keep and claude.
func splitKey(name string) (parent, last string) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], name[i+1:]
}

func perNameOK(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_'
	})
}

// Unknown says that a name is no key, with what may have been meant.
func Unknown(name string) error {
	if hint := nearest(name); hint != "" {
		return fmt.Errorf("there's no setting %q; did you mean %q?", name, hint)
	}
	if group := nearestGroup(name); group != "" {
		return fmt.Errorf("there's no setting %q; `hookmux config list %s` lists similar ones", name, group)
	}
	return fmt.Errorf("there's no setting %q; `hookmux config list --all` lists them", name)
}

// nearestGroup returns the group that a name with several parts most likely meant.
func nearestGroup(name string) string {
	wanted, _, parts := strings.Cut(name, ".")
	if !parts {
		return ""
	}
	var groups []string
	for _, k := range table {
		if group, _, ok := strings.Cut(k.Name, "."); ok {
			groups = append(groups, group)
		}
	}
	return similar.Nearest(wanted, groups)
}

// nearest returns the key a typing error most likely meant.
func nearest(name string) string {
	group, wanted, _ := strings.Cut(name, ".")
	var all, lasts []string
	for _, k := range table {
		if strings.HasPrefix(k.Name, name+".") {
			return k.Name
		}
		first, last, _ := strings.Cut(k.Name, ".")
		if strings.EqualFold(last, name) {
			return k.Name
		}
		if first == group && last != "" {
			lasts = append(lasts, last)
		}
		all = append(all, k.Name)
	}
	if len(lasts) > 0 { // in a group, what is similar is the rest of the name
		if near := similar.Nearest(wanted, lasts); near != "" {
			return group + "." + near
		}
		return ""
	}
	if near := similar.Nearest(name, all); near != "" {
		return near
	}
	if right := nearestGroup(name); right != "" && right != group {
		return nearest(right + "." + wanted)
	}
	return ""
}
