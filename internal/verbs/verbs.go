// Package verbs is the one table of hookmux's verbs and of what each of them
// does. The guards read from it which verbs belong to a person; a test of
// internal/cli holds it against the tree of commands.
package verbs

import "sync"

// Effect says what running a verb does.
type Effect string

// Effects, from harmless to not.
const (
	Read   Effect = "read"   // shows something
	Use    Effect = "use"    // does something that is no one's decision: start an agent, report an event
	Decide Effect = "decide" // decides in a person's place, or speaks for one
	Weaken Effect = "weaken" // changes what is protected, or how
)

// Verb is one verb of the command line.
type Verb struct {
	Path    string // the words behind "hookmux"
	Effect  Effect
	Summary string // what it does, behind the word "it"
}

var table = []Verb{
	{"acp", Use, "starts an agent for an editor"},
	{"agents", Read, "lists agents"},
	{"agents check", Read, "looks at a description of an agent"},
	{"agents schema", Read, "prints a JSON Schema"},
	{"agents show", Read, "shows what is known about an agent"},
	{"ahp", Use, "answers an agent that asks by the Agent Hooks Protocol"},
	{"approve", Decide, "approves an agent's request"},
	{"away", Decide, "decides whether agents wait for you"},
	{"config", Read, "shows settings"},
	{"config get", Read, "shows a setting"},
	{"config list", Read, "shows settings"},
	{"config schema", Read, "prints a JSON Schema"},
	{"config set", Weaken, "changes a setting"},
	{"config unset", Weaken, "takes a setting out"},
	{"confirm", Weaken, "lets changed settings count"},
	{"daemon", Weaken, "runs a daemon of its own"},
	{"daemon restart", Weaken, "stops the daemon and starts another"},
	{"daemon start", Use, "starts the daemon"},
	{"daemon stop", Weaken, "stops the daemon"},
	{"deny", Decide, "denies an agent's request"},
	{"doctor", Read, "finds out what is wrong"},
	{"explain", Read, "shows what an event becomes"},
	{"feed", Read, "shows help"},
	{"feed push", Use, "reports an event"},
	{"forget", Decide, "removes a session from the list"},
	{"guard", Read, "shows guards"},
	{"guard allow", Weaken, "lets a rule of a guard pass"},
	{"guard explain", Read, "shows what a command runs"},
	{"guard list", Read, "shows guards"},
	{"guard log", Weaken, "changes how a guard is switched"},
	{"guard off", Weaken, "switches a guard off"},
	{"guard on", Weaken, "changes how a guard is switched"},
	{"hooks", Read, "shows hooks"},
	{"hooks add", Weaken, "registers a hook"},
	{"hooks discover", Read, "shows which events there are"},
	{"hooks handle", Use, "runs the hooks on a payload"},
	{"hooks import", Weaken, "registers hooks"},
	{"hooks list", Read, "shows hooks"},
	{"hooks log", Weaken, "lets a hook only log"},
	{"hooks off", Weaken, "switches a hook off"},
	{"hooks on", Weaken, "switches a hook on"},
	{"hooks remove", Weaken, "takes a hook out"},
	{"hooks set", Weaken, "changes a hook"},
	{"inbox", Read, "shows requests"},
	{"install", Weaken, "changes agents' hook configuration"},
	{"judge", Use, "judges one call without a daemon"},
	{"jump", Use, "goes to a session's pane"},
	{"log", Read, "shows events"},
	{"man-pages", Use, "writes manual pages"},
	{"module", Read, "shows hooks in TypeScript"},
	{"module list", Read, "shows hooks in TypeScript"},
	{"module new", Weaken, "registers a hook in TypeScript"},
	{"module test", Use, "tries a hook on one event"},
	{"module types", Read, "prints types for editors"},
	{"notify", Read, "shows how you're notified"},
	{"notify off", Weaken, "turns notifications off"},
	{"notify on", Weaken, "turns notifications on"},
	{"notify status", Read, "shows how you're notified"},
	{"notify test", Decide, "sends you a test notification"},
	{"off", Weaken, "switches every hook and guard off"},
	{"on", Weaken, "switches hooks and guards on again"},
	{"pack", Read, "shows packs of rules"},
	{"pack add", Weaken, "takes in a pack of rules"},
	{"pack list", Read, "lists packs of rules"},
	{"pack remove", Weaken, "takes a pack of rules away"},
	{"pack show", Read, "shows a pack of rules"},
	{"pack test", Read, "tries the examples of a pack of rules"},
	{"pack update", Weaken, "renews a pack of rules"},
	{"pause", Weaken, "lets a guard or a rule only log for a while"},
	{"permissions", Read, "lists saved permissions"},
	{"permissions list", Read, "lists saved permissions"},
	{"permissions remove", Decide, "removes a saved permission"},
	{"ps", Read, "shows sessions"},
	{"rename", Use, "gives a session a title"},
	{"resume", Use, "resumes a session"},
	{"rules", Read, "shows rules"},
	{"rules ask", Weaken, "changes how a rule is switched"},
	{"rules check", Read, "looks for what is wrong with rules"},
	{"rules import", Weaken, "adds rules from an agent's settings"},
	{"rules list", Read, "shows rules"},
	{"rules log", Weaken, "lets a rule only log"},
	{"rules new", Weaken, "adds rules"},
	{"rules off", Weaken, "switches a rule off"},
	{"rules on", Weaken, "switches a rule on"},
	{"rules replay", Read, "shows what rules would have done"},
	{"rules test", Read, "shows what rules say to a call"},
	{"run", Use, "starts an agent with hooks"},
	{"send", Decide, "sends a session a prompt"},
	{"setup", Weaken, "hooks agents and switches guards"},
	{"shell-init", Read, "prints shell functions"},
	{"show", Read, "shows a session"},
	{"skip", Decide, "hands a request back to the agent"},
	{"status", Read, "shows what's wrong"},
	{"terminal", Read, "shows terminals"},
	{"terminal add", Weaken, "lets a terminal decide"},
	{"terminal list", Read, "shows terminals"},
	{"terminal remove", Decide, "takes a terminal's right to decide"},
	{"tmux", Read, "shows how tmux is set up"},
	{"tmux install", Weaken, "changes tmux.conf"},
	{"tmux status", Read, "shows how tmux is set up"},
	{"tmux uninstall", Weaken, "changes tmux.conf"},
	{"trust", Weaken, "lets a project's own hooks run"},
	{"uninstall", Weaken, "takes hookmux's hooks out of agents' configuration"},
	{"untrust", Weaken, "stops a project's own hooks"},
	{"up", Decide, "shows requests and answers them with a key"},
	{"verify", Use, "starts agents to see whether hooks work"},
	{"version", Read, "shows the version"},
	{"why", Read, "shows who decided about a call"},
}

var byPath = sync.OnceValue(func() map[string]Verb {
	m := make(map[string]Verb, len(table))
	for _, v := range table {
		m[v.Path] = v
	}
	return m
})

// All lists every verb, in alphabetical order.
func All() []Verb { return append([]Verb(nil), table...) }

// ForPerson reports whether a verb is for a person, and not for an agent.
func (v Verb) ForPerson() bool { return v.Effect == Decide || v.Effect == Weaken }

// Find finds the verb among the operands of a command line: the longest path
// that starts at the first operand that is a verb. Operands before it are values
// of options.
func Find(operands []string) (Verb, bool) {
	for i, first := range operands {
		v, ok := byPath()[first]
		if !ok {
			continue
		}
		rest := operands[i+1:]
		if first == "hooks" { // hooks AGENT add, and hooks import
			rest = rest[:min(len(rest), 2)]
		} else {
			rest = rest[:min(len(rest), 1)]
		}
		for _, second := range rest {
			if inner, ok := byPath()[first+" "+second]; ok {
				return inner, true
			}
		}
		return v, true
	}
	return Verb{}, false
}
