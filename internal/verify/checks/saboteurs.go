package checks

import (
	"github.com/hookmux/hookmux/internal/verify/stage"
)

const strayWord = "hookmux-verify-stray"

var (
	silent = stage.Saboteur{Name: "silent", What: "an encoder that says nothing", Out: "cat >/dev/null"}

	forgetful = stage.Saboteur{Name: "forgetful", What: "a hub that forgets what hooks said", Forget: true}

	dropReason = stage.Saboteur{Name: "drop-reason", What: "an encoder that drops the reason",
		Out: `sed 's/` + stage.WordReason + `[a-z-]*/x/g'`}

	allowForDeny = stage.Saboteur{Name: "allow-for-deny", What: "an encoder that says allow for deny",
		Out: `sed -E 's/"behavior":"deny","message":"[^"]*"/"behavior":"allow"/; s/"permissionDecision":"deny"/"permissionDecision":"allow"/'`}

	wrongKey = stage.Saboteur{Name: "wrong-key", What: "an encoder that misspells updatedInput",
		Out: `sed 's/"updatedInput"/"updated_input"/'`}

	strayLine = stage.Saboteur{Name: "stray-line", What: "a client that prints a line of its own",
		First: "echo " + strayWord}

	cutPayload = stage.Saboteur{Name: "cut-payload", What: "a client that cuts long payloads", In: "head -c 65536"}

	newField = stage.Saboteur{Name: "new-field", What: "an agent that sends a field nobody knows",
		In: `sed '1s/^{/{"hookmux_verify_new_field":1,/'`}

	lateHook = stage.Saboteur{Name: "lost-event", What: "a client that loses what comes after a tool",
		First: `case "$2" in PostToolUse) exit 0 ;; esac`}

	denyAll = stage.Saboteur{Name: "deny-all", What: "an encoder that gives every call the same answer",
		Out: `{ cat >/dev/null; case "$2" in PreToolUse) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"all"}}' ;; esac; }`}

	noCap = stage.Saboteur{Name: "no-cap", What: "a hub that keeps an agent going too often",
		First: `case "$2" in Stop) cat >/dev/null; n=$(($(cat "$HOME/rounds" 2>/dev/null || echo 0) + 1)); echo $n > "$HOME/rounds"
if [ $n -le 6 ]; then echo '{"decision":"block","reason":"` + stage.WordKeep + `Stop-'$n'` + stage.WordEnd + `"}'; fi; exit 0 ;; esac`}

	noEnd = stage.Saboteur{Name: "no-end", What: "an installer that leaves an event out",
		Catalogue: "name: {agent}\nevents:\n  - {name: SessionEnd, kind: session.end, install: never, why: " +
			"sabotage, timeout: 5s}\n"}

	denyUnavailable = stage.Saboteur{Name: "deny-unavailable", What: "a client that refuses while no hub answers",
		Env: []string{"HOOKMUX_ON_UNAVAILABLE=deny"}}

	straggler = stage.Saboteur{Name: "straggler", What: "a client that leaves a process behind",
		First: `case "$2" in SessionEnd) setsid sleep 60 >/dev/null 2>&1 </dev/null & ;; esac`}

	exitTwo = stage.Saboteur{Name: "exit-two", What: "a client whose crash looks like a refusal",
		Broken: "#!/bin/sh\ncat >/dev/null\necho broken >&2\nexit 2\n"}
)
