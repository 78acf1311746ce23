package ownfiles

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/shell"
)

// harmlessSettings are variables of hookmux that change nothing about what runs.
var harmlessSettings = []string{"HOOKMUX_DEBUG", "HOOKMUX_VERIFY", "HOOKMUX_UPDATE", "HOOKMUX_MODEL_KEY"}

// isSetting reports whether a variable of this name changes what hookmux does.
func isSetting(name string) bool {
	if !strings.HasPrefix(name, "HOOKMUX_") {
		return false
	}
	for _, h := range harmlessSettings {
		if name == h || strings.HasPrefix(name, h+"_") {
			return false
		}
	}
	return true
}

func (t *Checker) checkAssignment(x *scope, r *shell.Run, name string) {
	if isSetting(name) {
		x.Report.Add("environment", r.String(), fmt.Sprintf("sets %s, which switches hookmux off or over to other settings", name))
	}
}

// checkEnvironment: the same through programs that set variables for others, and
// through lines written to a start file.
func (t *Checker) checkEnvironment(x *scope, r *shell.Run) {
	name := r.Name()
	switch name {
	case "systemctl", "launchctl", "tmux", "setx", "setenv", "dbus-update-activation-environment":
	case "echo", "printf", "tee", "cat", "sed":
		writes := name == "tee" || name == "sed" && inspect.HasShort(r.Args(), 'i')
		for _, rd := range r.Redirects {
			writes = writes || rd.Writes()
		}
		for j := r.To.Lo; j < r.To.Hi && j < len(x.Script.Runs); j++ {
			writes = writes || x.Script.Runs[j].Name() == "tee"
		}
		line := inspect.JoinArgs(r.Args())
		if r.HasInput {
			line += " " + r.Input.Text
		}
		if !writes || !strings.Contains(line, "HOOKMUX_DISABLED=") && !strings.Contains(line, "HOOKMUX_RUNTIME_DIR=") {
			return
		}
		for _, rd := range r.Redirects {
			if strings.HasSuffix(rd.Target.Text, ".md") {
				return // documentation
			}
		}
		x.Report.Add("environment", r.String(), "writes a setting that switches hookmux off into a file")
		return
	default:
		return
	}
	for _, a := range r.Args() {
		if n, _, _ := strings.Cut(a.Text, "="); isSetting(n) {
			t.checkAssignment(x, r, n)
		}
	}
}

// ownVerbs are hookmux's verbs that belong to a person. A nil list means every
// use of the verb; otherwise only these second words.
var ownVerbs = map[string][]string{
	"off": nil, "on": nil, "trust": nil, "untrust": nil, "install": nil, "uninstall": nil, "reply": nil, "approve": nil, "answer": nil, "grant": nil, "grants": {"add", "remove", "clear"}, "reset": nil, "purge": nil,
	"hub":    {"stop", "kill", "restart"},
	"guard":  {"off", "on", "allow", "deny", "set"},
	"config": {"set", "unset", "edit", "reset"},
	"feed":   {"reply", "approve", "allow", "answer"},
}

func (t *Checker) checkControl(x *scope, r *shell.Run) {
	if r.Name() != "hookmux" {
		return
	}
	_, rest := inspect.SplitFlags(r.Args())
	if len(rest) == 0 || inspect.HasWord(r.Args(), "--help", "-h") {
		return
	}
	verb := rest[0].Text
	say := func(rule, what string) {
		x.Report.Add(rule, r.String(), fmt.Sprintf("hookmux %s belongs to a person, not to an agent", what))
	}
	if verb == "hooks" {
		for _, w := range rest[1:] {
			switch w.Text {
			case "add", "remove", "set", "import":
				say("control", "hooks "+w.Text)
				return
			}
		}
		return
	}
	seconds, known := ownVerbs[verb]
	if !known {
		return
	}
	if seconds == nil {
		say("control", verb)
		return
	}
	if len(rest) > 1 && slices.Contains(seconds, rest[1].Text) {
		rule := "control"
		if verb == "hub" {
			rule = "hub"
		}
		say(rule, verb+" "+rest[1].Text)
	}
}

// checkKill: pkill hookmux, kill $(pgrep hookmux), systemctl stop hookmux.
func (t *Checker) checkKill(x *scope, r *shell.Run) {
	name := r.Name()
	line := strings.ToLower(inspect.JoinArgs(r.Args()))
	say := func() { x.Report.Add("hub", r.String(), "stops the hub") }
	switch name {
	case "pkill", "killall", "fuser":
		if strings.Contains(line, "hookmux") {
			say()
		}
	case "systemctl", "service", "launchctl", "sv", "rc-service":
		if strings.Contains(line, "hookmux") {
			for _, v := range [...]string{"stop", "disable", "mask", "kill", "unload", "bootout", "remove", "restart"} {
				if inspect.HasPhrase(line, v) {
					say()
					return
				}
			}
		}
	case "kill", "skill", "tgkill":
		if strings.Contains(line, "hookmux") || t.namesHub(r.Args()) {
			say()
			return
		}
		for _, a := range r.Args() {
			if t.fromOwned(x, a.From) {
				say()
				return
			}
		}
	case "gdb", "lldb":
		if t.namesHub(r.Args()) {
			say()
		}
	}
}

// namesHub looks for the hub's process, or its group, among the operands.
func (t *Checker) namesHub(args []shell.Word) bool {
	if t.hub == "" {
		return false
	}
	for i, a := range args {
		n := a.Text
		if i > 0 {
			n = strings.TrimPrefix(n, "-") // a process group
		}
		if n == t.hub || n == "-p"+t.hub || strings.HasSuffix(n, "="+t.hub) {
			return true
		}
	}
	return false
}

// fromOwned: the word is the output of something that reads one of our files,
// such as the hub's number.
func (t *Checker) fromOwned(x *scope, s shell.Span) bool {
	for i := s.Lo; i < s.Hi && i < len(x.Script.Runs); i++ {
		from := &x.Script.Runs[i]
		if strings.Contains(strings.ToLower(inspect.JoinArgs(from.Args())), "hookmux") {
			return true
		}
		for _, a := range from.Args() {
			if t.wordIsOwned(x, a, from, false) {
				return true
			}
		}
		for _, rd := range from.Redirects {
			if rd.Reads() && (strings.Contains(strings.ToLower(rd.Target.Text), "hookmux") || t.wordIsOwned(x, rd.Target, from, false)) {
				return true
			}
		}
	}
	return false
}

// agentPrograms are agents that can be told not to run their hooks.
var agentPrograms = map[string]bool{
	"claude": true, "codex": true, "gemini": true, "qwen": true, "copilot": true, "qodercli": true, "qoder": true, "droid": true, "opencode": true, "cn": true,
	"grok": true, "cursor-agent": true, "auggie": true, "iflow": true, "codebuddy": true, "kilo": true, "goose": true, "kimi": true,
}

// checkAgentSwitches: claude --settings '{"disableAllHooks":true}', codex --disable
// hooks and their like. They take hookmux out of the way for one launch.
func (t *Checker) checkAgentSwitches(x *scope, r *shell.Run) {
	if !agentPrograms[r.Name()] {
		return
	}
	args := r.Args()
	say := func(what string) {
		x.Report.Add("hooks-off", r.String(), fmt.Sprintf("%s keeps %s from running its hooks", what, r.Name()))
	}
	_, rest := inspect.SplitFlags(args)
	changes := len(rest) > 1 && rest[0].Text == "config" && slices.Contains([]string{"set", "add", "remove", "rm", "unset"}, rest[1].Text)
	for i, a := range args {
		text := strings.ToLower(strings.NewReplacer(" ", "", "\n", "", "\t", "", `"`, "", "'", "").Replace(a.Text))
		next := ""
		if i+1 < len(args) {
			next = strings.ToLower(args[i+1].Text)
		}
		flag := ""
		if strings.HasPrefix(a.Text, "-") {
			flag, text, _ = strings.Cut(text, "=")
			if text == "" {
				text = strings.ReplaceAll(next, " ", "")
			}
		}
		switch {
		case strings.Contains(text, "disableallhooks:true"), strings.Contains(text, "disableallhooks=true"), strings.Contains(text, "hooksdisabled:true"):
			say("disableAllHooks")
		case changes && text == "disableallhooks" && next != "false", changes && (text == "hooks" || strings.HasPrefix(text, "hooks.")):
			say("config " + rest[1].Text + " " + text)
		case r.Name() == "codex" && (flag == "-c" || flag == "--config") && (strings.HasPrefix(text, "hooks=") || strings.HasPrefix(text, "hooks.") ||
			strings.HasPrefix(text, "features.") && strings.Contains(text, "hooks") && strings.HasSuffix(text, "=false")):
			say(text)
		case flag == "--disable" && strings.Contains(text, "hooks"):
			say("--disable " + text)
		case text == "features" && next == "disable" && i+2 < len(args) && strings.Contains(args[i+2].Text, "hooks"):
			say("features disable " + args[i+2].Text)
		case (flag == "--bare" || flag == "--safe-mode") && (r.Name() == "claude" || r.Name() == "qwen"), flag == "--pure" && r.Name() == "opencode":
			say(flag)
		default:
			continue
		}
		return
	}
}
