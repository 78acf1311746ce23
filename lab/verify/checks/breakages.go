package checks

import (
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

const strayWord = "hookmux-verify-stray"

var (
	silent = testbed.Breakage{Name: "silent", What: "an encoder that says nothing", Out: "cat >/dev/null"}

	forgetful = testbed.Breakage{Name: "forgetful", What: "a daemon that forgets what hooks said", Forget: true}

	dropReason = testbed.Breakage{Name: "drop-reason", What: "an encoder that drops the reason",
		Out: `sed 's/` + testbed.WordReason + `[a-z-]*/x/g'`}

	allowForDeny = testbed.Breakage{Name: "allow-for-deny", What: "an encoder that says allow for deny",
		Out: `sed -E 's/"behavior":"deny","message":"[^"]*"/"behavior":"allow"/; s/"permissionDecision":"deny"/"permissionDecision":"allow"/'`}

	wrongKey = testbed.Breakage{Name: "wrong-key", What: "an encoder that misspells updatedInput",
		Out: `sed 's/"updatedInput"/"updated_input"/'`}

	strayLine = testbed.Breakage{Name: "stray-line", What: "a client that prints a line of its own",
		First: "echo " + strayWord}

	cutPayload = testbed.Breakage{Name: "cut-payload", What: "a client that cuts long payloads", In: "head -c 65536"}

	newField = testbed.Breakage{Name: "new-field", What: "an agent that sends a field nobody knows",
		In: `sed '1s/^{/{"hookmux_verify_new_field":1,/'`}

	lateHook = testbed.Breakage{Name: "lost-event", What: "a client that loses what comes after a tool",
		First: `case "$2" in PostToolUse) exit 0 ;; esac`}

	denyAll = testbed.Breakage{Name: "deny-all", What: "an encoder that gives every call the same answer",
		Out: `{ cat >/dev/null; case "$2" in PreToolUse) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"all"}}' ;; esac; }`}

	noCap = testbed.Breakage{Name: "no-cap", What: "a daemon that keeps an agent going too often",
		First: `case "$2" in Stop) cat >/dev/null; n=$(($(cat "$HOME/rounds" 2>/dev/null || echo 0) + 1)); echo $n > "$HOME/rounds"
if [ $n -le 6 ]; then echo '{"decision":"block","reason":"` + testbed.WordKeep + `Stop-'$n'` + testbed.WordEnd + `"}'; fi; exit 0 ;; esac`}

	noEnd = testbed.Breakage{Name: "no-end", What: "an installer that leaves an event out",
		Catalogue: "name: {agent}\nevents:\n  - {name: SessionEnd, kind: session.end, install: never, why: " +
			"sabotage, timeout: 5s}\n"}

	denyUnavailable = testbed.Breakage{Name: "deny-unavailable", What: "a client that refuses while no daemon answers",
		Env: []string{"HOOKMUX_ON_UNAVAILABLE=deny"}}

	straggler = testbed.Breakage{Name: "straggler", What: "a client that leaves a process behind",
		First: `case "$2" in SessionEnd) setsid sleep 60 >/dev/null 2>&1 </dev/null & ;; esac`}

	exitTwo = testbed.Breakage{Name: "exit-two", What: "a client whose crash looks like a refusal",
		Broken: "#!/bin/sh\ncat >/dev/null\necho broken >&2\nexit 2\n"}
)
