//go:build linux

package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
)

// recorded are calls as the agents make them, one per line. HOME, SESSION, CALL
// and COMMAND are replaced by what differs between two calls.
//
//go:embed calls.jsonl
var recorded []byte

// dangerousCommands must be denied by the guards. They are only ever passed
// on as text; nothing runs them.
var dangerousCommands = []string{
	"rm -rf ~/", "sudo rm -rf /", "git push --force origin main", "cd ~ && rm -rf .", "mkfs.ext4 /dev/sda1",
	"hookmux off", "hookmux guard off destructive", "r=rm; $r -rf ~", "pkill hookmux",
	"echo '{}' > ~/.config/hookmux/config.json",
}

// recordedCall is one line of the recording.
type recordedCall struct {
	Agent     string          `json:"agent"`
	Event     string          `json:"event"`
	Dangerous bool            `json:"dangerous"`
	Payload   json.RawMessage `json:"payload"`
}

// recording is the calls by what they are for.
type recording struct {
	harmless, dangerous, reports []recordedCall
}

func readRecording() (recording, error) {
	var r recording
	lines := json.NewDecoder(bytes.NewReader(recorded))
	for lines.More() {
		var call recordedCall
		if err := lines.Decode(&call); err != nil {
			return r, fmt.Errorf("calls.jsonl: %w", err)
		}
		switch {
		case call.Dangerous:
			r.dangerous = append(r.dangerous, call)
		case call.Event == "PreToolUse":
			r.harmless = append(r.harmless, call)
		default:
			r.reports = append(r.reports, call)
		}
	}
	return r, nil
}

// hookCall is one call that is made.
type hookCall struct {
	id        string
	agent     string
	event     string
	dangerous bool
	command   string // of a dangerous call
	payload   []byte
}

// instantiate creates a call from a recorded one.
func (c *recordedCall) instantiate(id, home, session string, random *rand.Rand) hookCall {
	call := hookCall{id: id, agent: c.Agent, event: c.Event, dangerous: c.Dangerous}
	command := ""
	if c.Dangerous {
		call.command = dangerousCommands[random.IntN(len(dangerousCommands))]
		quoted, _ := json.Marshal(call.command) // a string always has a JSON form
		command = strings.Trim(string(quoted), `"`)
	}
	call.payload = []byte(strings.NewReplacer("HOME", home, "SESSION", session, "CALL", id, "COMMAND", command).
		Replace(string(c.Payload)))
	return call
}

// decisionOf returns what an agent makes of an answer: deny, ask, allow, or neutral
// when nothing was said.
func decisionOf(a sandbox.Answer) string {
	if a.Exit == 2 {
		return "deny"
	}
	var said struct {
		Decision string `json:"decision"`
		Specific struct {
			Permission string `json:"permissionDecision"`
			Reason     string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if a.Exit != 0 || json.Unmarshal([]byte(a.Stdout), &said) != nil {
		return "neutral" // agents go on after an answer that they cannot read
	}
	switch {
	case said.Specific.Permission == "deny" && said.Specific.Reason == "":
		return "neutral" // a denial without a reason isn't accepted everywhere
	case said.Specific.Permission != "":
		return said.Specific.Permission
	case said.Decision == "block":
		return "deny"
	}
	return "neutral"
}

// isStopped reports whether the agent doesn't simply make the call: it is denied, or the user is
// asked if the agent can ask.
func isStopped(agent, decision string) bool {
	return decision == "deny" || decision == "ask" && agent == "claude"
}
