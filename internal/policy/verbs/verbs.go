// Package verbs holds the one table of hookmux's commands and of what each of them does. The
// guards read from it which verbs are only for the user; a test of internal/cli compares it
// with the tree of commands.
package verbs

import "sync"

// Effect is what running a verb does.
type Effect string

// Effects, from harmless to not.
const (
	Read   Effect = "read"   // shows something
	Use    Effect = "use"    // does something that is no one's decision: start an agent, report an event
	Decide Effect = "decide" // decides in the user's place, or speaks for the user
	Weaken Effect = "weaken" // changes what is protected, or how
)

// Verb is one verb of the command line.
type Verb struct {
	Path    string // the words after "hookmux"
	Effect  Effect
	Summary string // what it does, after the word "it"
}

var table = []Verb{
	{"acp", Use, "starts an agent for an editor"},
	{"agents", Read, "lists agents"},
	{"agents check", Read, "looks at a description of an agent"},
	{"agents list", Read, "lists agents"},
	{"agents show", Read, "shows what is known about an agent"},
	{"approve", Decide, "approves an agent's request"},
	{"audit", Read, "checks the audit trail"},
	{"audit export", Decide, "shows what was decided in every project"},
	{"audit verify", Read, "checks the audit trail"},
	{"away", Decide, "decides whether agents wait for you"},
	{"config", Read, "shows settings"},
	{"config accept", Weaken, "accepts changed settings"},
	{"config get", Read, "shows a setting"},
	{"config list", Read, "shows settings"},
	{"config set", Weaken, "changes a setting"},
	{"config unset", Weaken, "puts a setting back to its default"},
	{"daemon", Weaken, "runs a daemon of its own"},
	{"daemon restart", Weaken, "stops the daemon and starts another"},
	{"daemon run", Weaken, "runs a daemon of its own"},
	{"daemon start", Use, "starts the daemon"},
	{"daemon status", Read, "shows whether the daemon is running"},
	{"daemon stop", Weaken, "stops the daemon"},
	{"deny", Decide, "denies an agent's request"},
	{"doctor", Read, "finds out what is wrong"},
	{"evaluate", Use, "evaluates one call without a daemon"},
	{"feed", Read, "shows help"},
	{"feed push", Use, "reports an event"},
	{"fleet", Read, "shows whether this machine is connected to its fleet"},
	{"fleet init", Weaken, "serves a fleet, whose operators answer this machine's agents"},
	{"fleet invite", Weaken, "lets another machine into the fleet"},
	{"fleet join", Weaken, "joins a fleet, whose operators then answer this machine's agents"},
	{"fleet leave", Weaken, "takes this machine out of its fleet, with the fleet's rules"},
	{"fleet list", Read, "lists the machines of the fleet"},
	{"fleet policy", Read, "shows which rules of the fleet apply where"},
	{"fleet policy clear", Weaken, "takes the fleet's rules away from every machine"},
	{"fleet policy push", Weaken, "changes the rules of every machine"},
	{"fleet policy status", Read, "shows which rules of the fleet apply where"},
	{"fleet remove", Decide, "takes a machine out of the fleet"},
	{"fleet status", Read, "shows whether this machine is connected to its fleet"},
	{"forget", Decide, "removes a session from the list"},
	{"guard", Read, "shows guards"},
	{"guard exception", Read, "lists exceptions of guards"},
	{"guard exception add", Weaken, "lets what a guard stops pass"},
	{"guard exception list", Read, "lists exceptions of guards"},
	{"guard exception remove", Weaken, "changes the exceptions of guards"},
	{"guard list", Read, "shows guards"},
	{"guard mode", Weaken, "changes the mode of a guard"},
	{"guard off", Weaken, "turns a guard off"},
	{"guard on", Weaken, "changes the mode of a guard"},
	{"guard pause", Weaken, "lets a guard only log for a while"},
	{"guard show", Read, "shows a guard"},
	{"hooks", Read, "shows hooks"},
	{"hooks add", Weaken, "adds a hook"},
	{"hooks discover", Read, "shows which events there are"},
	{"hooks handle", Use, "runs the hooks on a payload"},
	{"hooks import", Weaken, "adds hooks"},
	{"hooks list", Read, "shows hooks"},
	{"hooks mode", Weaken, "changes the mode of a hook"},
	{"hooks new", Weaken, "adds a hook in TypeScript"},
	{"hooks off", Weaken, "turns a hook off"},
	{"hooks on", Weaken, "turns a hook on"},
	{"hooks pause", Weaken, "lets a hook only log for a while"},
	{"hooks remove", Weaken, "removes a hook"},
	{"hooks set", Weaken, "changes a hook"},
	{"hooks test", Use, "tries a hook on one event"},
	{"hooks types", Read, "prints types for editors"},
	{"inbox", Read, "shows requests"},
	{"install", Weaken, "changes agents' hook configuration"},
	{"jump", Use, "goes to a session's pane"},
	{"log", Read, "shows events"},
	{"man-pages", Use, "writes manual pages"},
	{"mcp", Use, "answers an agent about its own project"},
	{"notify", Read, "shows how you're notified"},
	{"notify off", Weaken, "turns notifications off"},
	{"notify on", Weaken, "turns notifications on"},
	{"notify status", Read, "shows how you're notified"},
	{"notify test", Decide, "sends you a test notification"},
	{"off", Weaken, "turns every hook and guard off"},
	{"on", Weaken, "turns hooks and guards on again"},
	{"permissions", Read, "lists saved permissions"},
	{"permissions list", Read, "lists saved permissions"},
	{"permissions remove", Decide, "removes a saved permission"},
	{"ps", Read, "shows sessions"},
	{"remote", Read, "lists other machines"},
	{"remote accept", Weaken, "lets another machine answer agents"},
	{"remote add", Weaken, "installs hookmux on another machine and pairs it"},
	{"remote doctor", Use, "tries the way to another machine"},
	{"remote list", Read, "lists other machines"},
	{"remote remove", Decide, "removes another machine"},
	{"remote-serve", Use, "passes a paired machine's messages on"},
	{"rename", Use, "gives a session a title"},
	{"resume", Use, "resumes a session"},
	{"rules", Read, "shows rules"},
	{"rules add", Weaken, "adds a pack of rules"},
	{"rules check", Read, "checks rules"},
	{"rules import", Weaken, "adds rules from an agent's settings"},
	{"rules list", Read, "shows rules"},
	{"rules mode", Weaken, "changes the mode of a rule"},
	{"rules new", Weaken, "adds rules"},
	{"rules off", Weaken, "turns a rule off"},
	{"rules on", Weaken, "turns a rule on"},
	{"rules pause", Weaken, "lets a rule only log for a while"},
	{"rules remove", Weaken, "removes a pack of rules"},
	{"rules replay", Read, "shows what rules would have done"},
	{"rules show", Read, "shows a rule or a pack"},
	{"rules update", Weaken, "updates a pack of rules"},
	{"run", Use, "starts an agent with hooks"},
	{"schema", Read, "prints a JSON Schema"},
	{"send", Decide, "sends a session a prompt"},
	{"setup", Weaken, "hooks agents and switches guards"},
	{"shell-init", Read, "prints shell functions"},
	{"show", Read, "shows a session"},
	{"skip", Decide, "hands a request back to the agent"},
	{"status", Read, "shows what's wrong"},
	{"system", Read, "shows whether the system service is installed"},
	{"system install", Weaken, "moves what you accepted to the system service"},
	{"system move", Weaken, "moves what you accepted"},
	{"system status", Read, "shows whether the system service is installed"},
	{"system uninstall", Weaken, "removes the system service"},
	{"tmux", Read, "shows how tmux is set up"},
	{"tmux install", Weaken, "changes tmux.conf"},
	{"tmux status", Read, "shows how tmux is set up"},
	{"tmux uninstall", Weaken, "changes tmux.conf"},
	{"trust", Weaken, "lets a project's own hooks run"},
	{"trust add", Weaken, "lets a project's own hooks run"},
	{"trust list", Read, "lists trusted projects"},
	{"trust remove", Weaken, "stops a project's own hooks"},
	{"trust show", Read, "shows what a project would run"},
	{"uninstall", Weaken, "takes hookmux's hooks out of agents' configuration"},
	{"up", Decide, "shows requests and answers them with a key"},
	{"usage", Read, "shows what agents used"},
	{"usage budget", Read, "lists budgets"},
	{"usage budget add", Decide, "adds a budget"},
	{"usage budget lift", Weaken, "lets a budget stop nothing once"},
	{"usage budget list", Read, "lists budgets"},
	{"usage budget remove", Weaken, "removes a budget"},
	{"usage limits", Read, "shows how much of plans is used"},
	{"usage statusline", Use, "is an agent's status line"},
	{"usage statusline install", Weaken, "changes Claude Code's settings"},
	{"usage statusline uninstall", Weaken, "changes Claude Code's settings"},
	{"verify", Use, "starts agents to see whether hooks work"},
	{"version", Read, "shows the version"},
	{"web", Read, "shows whether the page is served"},
	{"web devices", Read, "lists paired devices"},
	{"web devices list", Read, "lists paired devices"},
	{"web devices remove", Decide, "removes a paired device"},
	{"web devices rename", Decide, "renames a paired device"},
	{"web devices scope", Weaken, "says what a paired device may do"},
	{"web off", Weaken, "stops serving the page"},
	{"web on", Weaken, "serves your sessions and requests to browsers"},
	{"web pair", Weaken, "lets a device answer agents"},
	{"web status", Read, "shows whether the page is served"},
	{"whoami", Read, "says whether this terminal is trusted"},
	{"whoami add", Weaken, "trusts a terminal"},
	{"whoami list", Read, "lists trusted terminals"},
	{"whoami remove", Decide, "stops trusting a terminal"},
	{"why", Read, "shows who decided about a call, or would"},
}

// Table finds verbs by the words of a command.
type Table struct{ byPath map[string]Verb }

// NewTable returns a table of a list of verbs.
func NewTable(list []Verb) *Table {
	t := &Table{byPath: make(map[string]Verb, len(list))}
	for _, v := range list {
		t.byPath[v.Path] = v
	}
	return t
}

// Own returns the table of hookmux's verbs.
var Own = sync.OnceValue(func() *Table { return NewTable(table) })

// All lists every verb, in alphabetical order.
func All() []Verb { return append([]Verb(nil), table...) }

// ForUser reports whether a verb is for the user, and not for an agent.
func (v Verb) ForUser() bool { return v.Effect == Decide || v.Effect == Weaken }

// Find finds the verb among the operands of a command line: the longest path
// that starts at the first operand that is a verb. Operands before it are values
// of options.
func (t *Table) Find(operands []string) (Verb, bool) {
	for i, first := range operands {
		v, ok := t.byPath[first]
		if !ok {
			continue
		}
		rest := operands[i+1:]
		if first == "hooks" && len(rest) > 1 && t.byPath["hooks "+rest[0]].Path == "" { // hooks AGENT add
			rest = rest[1:]
		}
		for _, word := range rest {
			inner, ok := t.byPath[v.Path+" "+word]
			if !ok {
				break
			}
			v = inner
		}
		return v, true
	}
	return Verb{}, false
}
