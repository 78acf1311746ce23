package ownfiles

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// agents are the programs that run hooks, as the catalogue describes them.
var agents = sync.OnceValue(func() []agent.Known {
	return slices.DeleteFunc(agent.Builtin().AllMarks(), func(k agent.Known) bool { return k.HooksOff == nil })
})

var agentByProgram = sync.OnceValue(func() map[string]*agent.Known {
	m := map[string]*agent.Known{}
	list := agents()
	for i := range list {
		for _, p := range slices.Concat(list[i].Programs, list[i].HooksOff.Programs) {
			m[p] = &list[i]
		}
	}
	return m
})

// startedAgent returns the agent that a run starts, and the words after it: the program
// itself, or npx with its package.
func startedAgent(r *shell.Run) (*agent.Known, []shell.Word) {
	name := strings.TrimSuffix(r.Name(), ".exe")
	if known := agentByProgram()[name]; known != nil {
		return known, r.Args()
	}
	if args := r.Args(); programs.IsInterpreter(name) && len(args) > 0 { // node …/claude-code/cli.js
		for i, a := range args {
			if known := packageIn(a.Text); known != nil {
				return known, args[i+1:]
			}
		}
		return nil, nil
	}
	if known := packageIn(r.Argv[0].Text); known != nil { // a program in the folder of its package
		return known, r.Args()
	}
	switch name {
	case "npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun":
	default:
		return nil, nil
	}
	list := agents()
	for i, a := range r.Args() {
		for k := range list {
			for _, name := range list[k].HooksOff.Packages {
				if a.Text == name || strings.HasPrefix(a.Text, name+"@") {
					return &list[k], r.Args()[i+1:]
				}
			}
		}
	}
	return nil, nil
}

// packageIn returns the agent in whose installed package a path is.
func packageIn(p string) *agent.Known {
	list := agents()
	for k := range list {
		for _, name := range list[k].HooksOff.Packages {
			if strings.Contains(p, "node_modules/"+name+"/") {
				return &list[k]
			}
		}
	}
	return nil
}

// movedByWrapper returns the variable that a program which starts others sets for the agent
// (systemd-run -E NAME=value); "" for none.
func movedByWrapper(x *scope, r *shell.Run, started *agent.Known) string {
	words := wrapperWords(x, r)
	for i, word := range words {
		if word == "--setenv" && i+2 < len(words) && !strings.Contains(words[i+1], "=") { // bwrap --setenv NAME value
			word = words[i+1] + "=" + words[i+2]
		}
		for _, option := range [...]string{"--setenv=", "-E", "--env="} {
			word = strings.TrimPrefix(word, option)
		}
		name, value, ok := strings.Cut(word, "=")
		if ok && value != "" && (slices.Contains(started.HooksOff.Moves, name) || slices.Contains(started.HooksOff.Variables, name)) {
			return name
		}
	}
	return ""
}

// wrapperWords returns the words of the programs that start r.
func wrapperWords(x *scope, r *shell.Run) (words []string) {
	for i := range x.Script.Runs {
		if other := &x.Script.Runs[i]; len(other.Argv) > 0 && slices.Contains(r.Via, other.Name()) {
			for _, a := range other.Args() {
				words = append(words, a.Text)
			}
		}
	}
	return words
}

// hiddenByWrapper returns the folder of settings that a sandbox replaces by another one for what
// it starts; "" for none.
func (t *Checker) hiddenByWrapper(x *scope, r *shell.Run) string {
	sandbox := func(name string) bool { return name == "bwrap" || name == "firejail" || name == "proot" }
	if !slices.ContainsFunc(r.Via, sandbox) {
		return ""
	}
	words := wrapperWords(x, r)
	for i, word := range words {
		option, value, joined := strings.Cut(word, "=")
		from := ""
		switch option {
		case "--tmpfs", "--blacklist":
			if !joined && i+1 < len(words) {
				value = words[i+1]
			}
		case "--bind", "--ro-bind", "--dev-bind", "--bind-try", "--ro-bind-try", "--dev-bind-try", "--bind-data",
			"--ro-bind-data", "--file", "--symlink":
			if joined { // firejail --bind=from,to
				from, value, _ = strings.Cut(value, ",")
			} else if i+2 < len(words) {
				from, value = words[i+1], words[i+2]
			}
		case "--private":
			return "the home folder"
		}
		if value == "" || value == from {
			continue
		}
		to := shell.Word{Text: value, Bare: value, Tilde: strings.HasPrefix(value, "~"), Dynamic: strings.Contains(value, "$")}
		if isHome(x, to) || t.wordIsOwned(x, to, r, true) {
			return value
		}
	}
	return ""
}

// checkAgentStart denies starting an agent in a way that it doesn't find, or doesn't run, its
// hooks.
func (t *Checker) checkAgentStart(x *scope, r *shell.Run) {
	started, args := startedAgent(r)
	if started == nil || r.Contained {
		return
	}
	t.checkAgentSwitches(x, r, started, args)
	checkUnasked(x, r, started, args)
	if len(r.Via) > 0 {
		if name := movedByWrapper(x, r, started); name != "" {
			x.Report.Add("hooks-off", r.Head(), fmt.Sprintf("%s has %s read its settings and hooks from elsewhere, or run none",
				name, started.Programs[0]))
		}
		if folder := t.hiddenByWrapper(x, r); folder != "" {
			x.Report.Add("hooks-off", r.Head(), fmt.Sprintf("%s is another one for %s, which then does not find its hooks",
				folder, started.Programs[0]))
		}
	}
	for i := range x.Script.Runs {
		other := &x.Script.Runs[i]
		if other == r || len(other.Argv) == 0 || other.Name() == "export" || other.Name() == "declare" ||
			other.Name() == "typeset" {
			for _, a := range other.Assigns {
				if slices.Contains(started.HooksOff.Variables, a.Name) && a.Value.Text != "" && a.Value.Text != "0" {
					x.Report.Add("hooks-off", r.Head(), fmt.Sprintf("%s keeps %s from running its hooks", a.Name,
						started.Programs[0]))
					return
				}
				if a.Name == "HOME" && !isHome(x, a.Value) ||
					slices.Contains(started.HooksOff.Moves, a.Name) && a.Value.Text != "" {
					x.Report.Add(
						"hooks-off",
						r.Head(),
						fmt.Sprintf("%s=%s makes %s read its settings and hooks from elsewhere", a.Name,
							a.Value.Text, r.Name()),
					)
					return
				}
			}
		}
		if other == r {
			return
		}
	}
}

// isHome reports whether a value is the home directory there is.
func isHome(x *scope, w shell.Word) bool {
	p := x.ResolveWord(w, nil)
	return p.Known && p.Path == x.Home
}

// checkAgentCopy denies giving an agent's program another name: it isn't known then how it is
// started.
func checkAgentCopy(x *scope, r *shell.Run) {
	switch plainName(r.Name()) {
	case "cp", "ln", "install", "mv", "link":
	default:
		return
	}
	if r.Contained || r.Remote {
		return
	}
	_, rest := facts.SplitFlags(r.Args())
	to, sources, ok := facts.SplitTarget(r.Args(), rest)
	if !ok {
		return
	}
	for _, from := range sources {
		known, name := agentProgram(x, from)
		if known != nil && path.Base(to.Text) != name && !strings.HasSuffix(to.Text, "/") {
			x.Report.Add("hooks-off", r.Head(), fmt.Sprintf("gives %s another name, which hides how it's started",
				known.Programs[0]))
			return
		}
	}
}

// agentProgram returns the agent whose program a word names: ~/.local/bin/claude, or what
// `which claude` prints.
func agentProgram(x *scope, w shell.Word) (*agent.Known, string) {
	if known, name := listedAgent(x, w); known != nil {
		return known, name
	}
	if path.Base(path.Dir(w.Text)) != "bin" {
		return nil, ""
	}
	name := path.Base(w.Text)
	return agentByProgram()[name], name
}

// listedAgent returns the agent that is named by the commands whose output a word is.
func listedAgent(x *scope, w shell.Word) (*agent.Known, string) {
	for _, from := range x.Sources(w.From) {
		for _, a := range from.Args() {
			name := path.Base(a.Text)
			if known := agentByProgram()[name]; known != nil {
				return known, name
			}
		}
	}
	return nil, ""
}

// checkAgentSwitches denies options that disable hookmux for one launch: claude --settings
// '{"disableAllHooks":true}', codex --disable hooks and the like.
func (t *Checker) checkAgentSwitches(x *scope, r *shell.Run, started *agent.Known, args []shell.Word) {
	say := func(what string) {
		x.Report.Add("hooks-off", r.Head(), fmt.Sprintf("%s keeps %s from running its hooks", what,
			started.Programs[0]))
	}
	_, rest := facts.SplitFlags(args)
	changes := len(rest) > 1 && rest[0].Text == "config" &&
		slices.Contains([]string{"set", "add", "remove", "rm", "unset"}, rest[1].Text)
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
		case strings.Contains(text, "disableallhooks:true"), strings.Contains(text, "disableallhooks=true"),
			strings.Contains(text, "disableallhooks:1"), strings.Contains(text, "hooksdisabled:true"):
			say("disableAllHooks")
		case changes && text == "disableallhooks" && next != "false",
			changes && (text == "hooks" || strings.HasPrefix(text,
				"hooks.")):
			say("config " + rest[1].Text + " " + text)
		case slices.Contains(started.HooksOff.Overrides, flag) && overrideStopsHooks(text):
			say(text)
		case flag == "--disable" && strings.Contains(text, "hooks"):
			say("--disable " + text)
		case text == "features" && next == "disable" && i+2 < len(args) && strings.Contains(args[i+2].Text, "hooks"):
			say("features disable " + args[i+2].Text)
		case flag == "--setting-sources" && !slices.Contains(strings.Split(text, ","), "user"):
			say("--setting-sources without user")
		case slices.Contains(started.HooksOff.Settings, flag) && !strings.HasPrefix(strings.TrimSpace(text), "{"):
			say(flag + " with a file")
		case slices.Contains(started.HooksOff.Options, flag):
			say(flag)
		default:
			continue
		}
		return
	}
}

// checkUnasked denies starting another agent in a way that asks no one: it would do what this
// one would have been asked about.
func checkUnasked(x *scope, r *shell.Run, started *agent.Known, args []shell.Word) {
	for i, a := range args {
		if !strings.HasPrefix(a.Text, "-") {
			continue
		}
		flag, value, joined := strings.Cut(a.Text, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1].Text
		}
		for _, option := range started.HooksOff.Unasked {
			name, wanted, valued := strings.Cut(option, "=")
			if flag != name || valued && !strings.EqualFold(value, wanted) || !valued && joined && value == "false" {
				continue
			}
			x.Report.Add("unasked", r.Head(), fmt.Sprintf("%s makes %s skip all approvals", option,
				started.Programs[0]))
			return
		}
	}
}

// overrideStopsHooks reports whether a setting on the command line, as codex -c takes
// one, changes or stops hooks.
func overrideStopsHooks(text string) bool {
	return strings.HasPrefix(text, "hooks=") || strings.HasPrefix(text, "hooks.") ||
		(strings.HasPrefix(text, "features.") || strings.HasPrefix(text, "features={")) &&
			strings.Contains(text, "hooks") &&
			strings.HasSuffix(strings.TrimSuffix(text, "}"), "=false")
}
