package actions

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/wire"
)

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		method, params string
		text           string
		weakens        bool
	}{
		{wire.MethodOff, `{}`, "turn hookmux off, with all guards, until `hookmux on`", true},
		{wire.MethodOff, `{"seconds":90}`, "turn hookmux off, with all guards, for 1m30s", true},
		{wire.MethodOff, `broken`, "turn hookmux off, with all guards, until `hookmux on`", true},
		{wire.MethodConfigSet, `{"key":"guard.destructive","value":"off"}`, "set guard.destructive to off", true},
		{wire.MethodConfigSet, `{"key":"guard.destructive","value":"ask"}`, "set guard.destructive to ask", true},
		{wire.MethodConfigSet, `{"key":"guard.destructive","value":"log"}`, "set guard.destructive to log", true},
		{wire.MethodConfigSet, `{"key":"modules.log","value":["a.ts"]}`, "let only log, and refuse nothing: a.ts; every other hook decides", true},
		{wire.MethodConfigSet, `{"key":"modules.log","value":[]}`, "let all TypeScript hooks decide, and none only log", true},
		{wire.MethodHooksAdd, `{"registration":{"id":"x","role":"guard","log":true}}`, "add hook x", false},
		{wire.MethodConfigSet, `{"key":"guard.destructive","value":"block"}`, "set guard.destructive to block", false},
		{wire.MethodConfigSet, `{"key":"guard.own-files"}`, "put guard.own-files back to its default", true},
		{wire.MethodConfigSet, `{"key":"approvals.policy.claude","value":"off"}`, "set approvals.policy.claude to off", true},
		{wire.MethodConfigSet, `{"key":"approvals.policy.claude","value":"everything","project":"/p"}`,
			"set approvals.policy.claude to everything for /p", false},
		{wire.MethodConfigSet, `{"key":"journal.keep","value":"30d"}`, "set journal.keep to 30d", false},
		{wire.MethodConfigSet, `{"key":"approvals.policy","value":"permission"}`, "set approvals.policy to permission", true},
		{wire.MethodConfigSet, `{"key":"approvals.policy.claude","value":"all"}`, "set approvals.policy.claude to all", false},
		{wire.MethodConfigSet, `{"key":"approvals.policy.claude"}`, "put approvals.policy.claude back to its default", true},
		{wire.MethodConfigSet, `{"key":"guard.allow","value":["secrets.env"]}`, `set guard.allow to ["secrets.env"]`, true},
		{wire.MethodConfigSet, `{"key":"guard.nobody","value":"off"}`, "set guard.nobody to off", false}, // refused later
		{wire.MethodConfigSet, `{"key":"modules","value":["/m.ts"]}`, `set modules to ["/m.ts"]`, true},
		{wire.MethodConfigSet, `{"key":"approvals.pin","value":"off"}`, "set approvals.pin to off", true},
		{wire.MethodConfigSet, `{"key":"approvals.kinds","value":["shell"]}`, `set approvals.kinds to ["shell"]`, true},
		{wire.MethodConfigSet, `{"key":"approvals.kinds","value":""}`, "set approvals.kinds to ", true},
		{wire.MethodConfigSet, `{"key":"approvals.kinds"}`, "put approvals.kinds back to its default", true},
		{wire.MethodConfigSet, `{"key":"approvals.proof","value":"polkit"}`, "set approvals.proof to polkit", true},
		{wire.MethodConfigSet, `{"key":"approvals.proof"}`, "put approvals.proof back to its default", true},
		{wire.MethodHooksAdd, `{"registration":{"id":"x","target":"./x.sh"}}`,
			"add hook x, which may allow or deny calls: ./x.sh", true},
		{wire.MethodHooksAdd, `{"registration":{"id":"x","role":"guard","target":"y"}}`,
			"add hook x, which may allow or deny calls: y", true},
		{wire.MethodHooksAdd, `{"registration":{"id":"x","role":"observe"}}`, "add hook x", false},
		{wire.MethodHooksAdd, `{"registration":{"id":"x","role":"advise"}}`, "add hook x", false},
		{wire.MethodHooksAdd, `{"registration":{"id":"x"},"replace":true}`, "replace hook x", true},
		{wire.MethodHooksDrop, `{"id":"x"}`, "remove hook x", true},
		{wire.MethodHooksSet, `{"id":"x"}`, "change hook x", true},
		{wire.MethodTrust, `{"cwd":"/p"}`, "trust and run the hooks in /p", true},
		{wire.MethodUntrust, `{"cwd":"/p"}`, "trust the hooks of /p no more", false},
		{wire.MethodAllow, `{"rule":"r"}`, "let every call pass that r stops", true},
		{wire.MethodAllow, `{"rule":"r","once":true}`, "let one call pass that r stops", true},
		{wire.MethodAllow, `{"rule":"r","drop":true}`, "remove the exception r", false},
		{wire.MethodInboxReply, `{"id":"3","choice":"once"}`, "answer 3 with once", false},
		{wire.MethodInboxReply, `{"id":"3","choice":"deny"}`, "answer 3 with deny", false},
		{wire.MethodInboxReply, `{"id":"3","choice":"always","rule":"run exactly: make"}`,
			"answer 3, and always allow: run exactly: make", true},
		{wire.MethodInboxReply, `{"id":"3","choice":"always","suggestion":1}`,
			"answer 3, and have the agent save a rule of its own", true},
		{wire.MethodInboxReply, `{"id":"3","choice":"bypass"}`,
			"answer 3, and approve everything else in its session", true},
		{wire.MethodCmuxPermit, `{"request_id":"3","mode":"all"}`, "answer 3 with all", true},
		{wire.MethodCmuxPermit, `{"request_id":"3","mode":"once"}`, "answer 3 with once", false},
		{wire.MethodConfigSet, `{"key":"mcp.projects","value":["/w"]}`, `set mcp.projects to ["/w"]`, true},
		{wire.MethodConfigSet, `{"key":"mcp.projects","value":"all"}`, "set mcp.projects to all", true},
		{wire.MethodConfigSet, `{"key":"mcp.projects","value":[]}`, "set mcp.projects to []", false},
		{wire.MethodConfigSet, `{"key":"mcp.projects"}`, "put mcp.projects back to its default", false},
		{wire.MethodPIN, `{"new":"1234"}`, "set the PIN", false},
		{wire.MethodPIN, `{"pin":"1234"}`, "remove the PIN", true},
		{wire.MethodUninstall, ``, "remove hookmux's hooks from your agents", true},
		{wire.MethodTerminalAdd, `{"pid":7}`, "trust the terminals of process 7 until it exits", true},
		{wire.MethodWebPairConfirm, `{"digits":"0417","name":"iPhone","scope":"answer"}`,
			`let the device "iPhone", which shows 0417, answer your agents`, true},
		{wire.MethodWebPairConfirm, `{"digits":"0417","name":"iPhone","scope":"read"}`,
			`let the device "iPhone", which shows 0417, see what your agents do`, true},
		{wire.MethodWebDeviceScope, `{"device":"4f2a","scope":"answer"}`, "let the device 4f2a answer your agents", true},
		{wire.MethodWebDeviceScope, `{"device":"4f2a","scope":"read"}`, "let the device 4f2a only read", false},
		{wire.MethodWebStart, `{"listen":"0.0.0.0:1","insecure":true}`,
			"serve the page for browsers without encryption on 0.0.0.0:1", true},
		{wire.MethodWebStart, `{}`, "serve the page for browsers", false},
		{wire.MethodSessionRename, `{}`, "give a session another name", false},
	} {
		a := Describe(c.method, authority.Decide, json.RawMessage(c.params))
		if a.Text != c.text || a.Weakens != c.weakens || a.Class != authority.Decide {
			t.Errorf("%s %s: %q, weakens %v; want %q, weakens %v", c.method, c.params, a.Text, a.Weakens, c.text,
				c.weakens)
		}
	}
	if a := Describe(wire.MethodOff, authority.Read, nil); a.Weakens || a.Class != authority.Read {
		t.Errorf("a method that is open weakens: %+v", a)
	}
}

// What only adds something that decides is not said to take protection away.
func TestWhyItIsAsked(t *testing.T) {
	const may = "what it runs may also approve calls for you"
	for _, c := range []struct{ method, params, want string }{
		{wire.MethodHooksAdd, `{"registration":{"id":"x","target":"y"}}`, may},
		{wire.MethodHooksAdd, `{"registration":{"id":"x","target":"y"},"replace":true}`, ""},
		{wire.MethodConfigSet, `{"key":"modules.log","value":[]}`, may},
		{wire.MethodConfigSet, `{"key":"modules.log","value":["a.ts"]}`, ""},
		{wire.MethodConfigSet, `{"key":"guard.secrets","value":"off"}`, ""},
		{wire.MethodHooksDrop, `{"id":"x"}`, ""},
		{wire.MethodConfigSet, `{"key":"rules.modes","value":["x=block"]}`, "it changes which rules apply"},
		{wire.MethodAccept, `{}`, "some of the changes may take protection away"},
		{wire.MethodRemoteAdd, `{"target":"ci","scope":"answer"}`, "the key to answer agents there will be on this machine"},
		{wire.MethodRemoteAdd, `{"target":"ci","scope":"read"}`, "what agents do there shows up on this machine"},
		{wire.MethodRemoteAccept, `{"name":"me","scope":"answer"}`, "that machine can then answer agents here for you"},
		{wire.MethodRemoteAccept, `{"name":"me","scope":"read"}`, "that machine will see what your agents do here"},
		{wire.MethodFleetInit, `{}`, "the fleet's operators can answer agents on this machine"},
	} {
		if a := Describe(c.method, authority.Decide, json.RawMessage(c.params)); a.Why != c.want || !a.Weakens {
			t.Errorf("%s %s: weakens %v because %q, want true because %q", c.method, c.params, a.Weakens, a.Why, c.want)
		}
	}
}

// The code for an acceptance names what becomes weaker, and how much more there is.
func TestWhyAccepted(t *testing.T) {
	for want, weaker := range map[string][]string{
		"as far as hookmux can tell, nothing becomes weaker":                                                nil,
		"this becomes weaker: guard.own-files: on → off":                                                    {"guard.own-files: on → off"},
		"this becomes weaker: a; b; c; d; and 2 more, which `hookmux config accept --dry-run` shows on top": {"a", "b", "c", "d", "e", "f"},
	} {
		if got := WhyAccepted(weaker); got != want {
			t.Errorf("%q: %q, want %q", weaker, got, want)
		}
	}
}

// What only refuses more is said to: nobody has to type for it.
func TestTightens(t *testing.T) {
	for _, c := range []struct {
		method, params string
		want           bool
	}{
		{wire.MethodConfigSet, `{"key":"guard.secrets","value":"block"}`, true},
		{wire.MethodOn, `{}`, true},
		{wire.MethodConfigSet, `{"key":"guard.secrets","value":"ask"}`, false},
		{wire.MethodConfigSet, `{"key":"guard.secrets"}`, false},
		{wire.MethodConfigSet, `{"key":"guard.allow","value":["on"]}`, false},
		{wire.MethodConfigSet, `{"key":"guard.nobody","value":"on"}`, false},
		{wire.MethodConfigSet, `{"key":"approvals.pin","value":"on"}`, false},
		{wire.MethodPIN, `{"new":"1234"}`, false},
		{wire.MethodInboxReply, `{"id":"3","choice":"deny"}`, false},
	} {
		if a := Describe(c.method, authority.Decide, json.RawMessage(c.params)); a.Tightens != c.want {
			t.Errorf("%s %s: tightens %v, want %v", c.method, c.params, a.Tightens, c.want)
		}
	}
}

func TestOnlyMonitors(t *testing.T) {
	for _, c := range []struct {
		params, state string
		want          bool
	}{
		{`{"key":"guard.secrets","value":"log"}`, "off", true},
		{`{"key":"guard.secrets","value":"log"}`, "log", true},
		{`{"key":"guard.secrets","value":"log"}`, "ask", false},
		{`{"key":"guard.secrets","value":"log"}`, "on", false},
		{`{"key":"guard.secrets","value":"log"}`, "", false},
		{`{"key":"guard.secrets","value":"log","project":"/p"}`, "off", false},
		{`{"key":"guard.secrets","value":"off"}`, "off", false},
		{`{"key":"guard.secrets"}`, "off", false},
		{`{"key":"modules.log","value":"log"}`, "off", false},
		{`broken`, "off", false},
	} {
		if got := OnlyLogs(json.RawMessage(c.params), func(string) string { return c.state }); got != c.want {
			t.Errorf("%s from %q: %v, want %v", c.params, c.state, got, c.want)
		}
	}
}

func TestRequestOf(t *testing.T) {
	for _, c := range []struct{ method, params, want string }{
		{wire.MethodInboxReply, `{"id":"a"}`, "a"}, {wire.MethodInboxSkip, `{"id":"b"}`, "b"},
		{wire.MethodCmuxPlan, `{"request_id":"c"}`, "c"},
		{wire.MethodCmuxPermit, `{"request_id":"d"}`, "d"}, {wire.MethodOff, `{"id":"e"}`, ""},
		{wire.MethodInboxReply, `broken`, ""},
	} {
		if got := RequestOf(c.method, json.RawMessage(c.params)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.method, c.params, got, c.want)
		}
	}
}

// Nobody is asked to accept the name of a method.
func TestEveryDecisionHasWords(t *testing.T) {
	for method, class := range wire.Methods {
		if a := Describe(method, class, nil); class == wire.Decide && (a.Text == method || a.Text == "") {
			t.Errorf("%s: a person is asked to accept %q, want words", method, a.Text)
		}
	}
}

// An answer names the agent and what it asks for.
func TestDescribeAnswer(t *testing.T) {
	shell := &wire.InboxRequest{Agent: "claude", Kind: "permission", Tool: "Bash",
		Shown: "Claude Code wants to run a command with Bash\nin /p\n  $ touch three.txt\nalways would allow: x\n"}
	offers := &wire.InboxRequest{Agent: "claude", Tool: "Bash", Shown: shell.Shown, Suggestions: []json.RawMessage{
		json.RawMessage(`["npm run *"]`), json.RawMessage(`["touch *"]`)}}
	two := &wire.InboxRequest{Agent: "claude", Tool: "Bash", Shown: "x\n  $ touch a\n  $ rm b\n"}
	write := &wire.InboxRequest{Agent: "codex", Tool: "Write", Shown: "Codex wants to write with Write\nfile: /p/a.txt\n  + hello\n"}
	question := &wire.InboxRequest{Agent: "claude", Kind: "question", Questions: []event.Inquiry{{Text: "Redis?"}}}
	plan := &wire.InboxRequest{Agent: "claude", Kind: "plan", Shown: "Claude Code has a plan\n  do it\n"}
	for _, c := range []struct {
		method, params string
		item           *wire.InboxRequest
		want           string
	}{
		{wire.MethodInboxReply, `{"choice":"once"}`, shell, "approve for claude: $ touch three.txt"},
		{wire.MethodInboxReply, `{"choice":"deny"}`, shell, "deny for claude: $ touch three.txt"},
		{wire.MethodInboxReply, `{"choice":"always","rule":"run exactly: make"}`, shell,
			"approve for claude: $ touch three.txt (and always allow: run exactly: make)"},
		{wire.MethodInboxReply, `{"choice":"always"}`, shell,
			"approve for claude: $ touch three.txt (and save a permission for calls exactly like it)"},
		{wire.MethodInboxReply, `{"choice":"always","suggestion":2,"rule":"run exactly: touch three.txt"}`, offers,
			`approve for claude: $ touch three.txt (and claude saves its own rule: "touch *")`},
		{wire.MethodCmuxPermit, `{"mode":"all"}`, shell,
			"approve for claude: $ touch three.txt (and approve everything else in its session)"},
		{wire.MethodInboxReply, `{"choice":"once"}`, two, "approve for claude: $ touch a ⏎ rm b"},
		{wire.MethodInboxReply, `{"choice":"once"}`, write, "approve for codex: Write /p/a.txt"},
		{wire.MethodInboxReply, `{"choice":"answer"}`, question, "answer the question for claude: Redis?"},
		{wire.MethodInboxReply, `{"choice":"accept"}`, plan, "answer the plan with accept, for claude: do it"},
		{wire.MethodInboxSkip, `{}`, shell, "hand back to claude: $ touch three.txt"},
	} {
		if got := DescribeAnswer(c.method, json.RawMessage(c.params), c.item); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.method, c.params, got, c.want)
		}
	}
}

// What a person is asked about are methods for people.
func TestOnlyDecisionsAreDescribed(t *testing.T) {
	for method := range describers {
		if class, ok := wire.Methods[method]; !ok || class != wire.Decide {
			t.Errorf("%s: want the class decide, got %v (known: %v)", method, class, ok)
		}
	}
}

// Switching one TypeScript hook names that hook, not those that stay as they are.
func TestSwitchedTSHooks(t *testing.T) {
	for _, c := range []struct{ value, now, want, why string }{
		{`["gate.ts"]`, "gate.ts mine.ts", "let mine.ts decide, not only log", mayAlsoAllow},
		{`["gate.ts","mine.ts"]`, "gate.ts", "let mine.ts only log, and refuse nothing", ""},
		{`["b.ts"]`, "a.ts", "let b.ts only log, and refuse nothing; let a.ts decide, not only log", ""},
		{`null`, "a.ts", "let a.ts decide, not only log", mayAlsoAllow},
		{`["a.ts"]`, "a.ts", "as before", ""},
	} {
		params := json.RawMessage(`{"key":"modules.log","value":` + c.value + `}`)
		a, _ := DescribeSwitchedTSHooks(authority.Action{Text: "as before", Weakens: true}, params, strings.Fields(c.now))
		if a.Text != c.want || a.Why != c.why || !a.Weakens {
			t.Errorf("%s after %s: %q (%q, weakens %v), want %q (%q)", c.value, c.now, a.Text, a.Why, a.Weakens, c.want, c.why)
		}
	}
}
