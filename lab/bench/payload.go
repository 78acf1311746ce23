//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// recorded reads what Claude Code really sent at one of its hooks.
func (b *bench) recorded(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(b.root, "agent/testdata/fixtures/claude", name+".json"))
}

// clientPayload is how large a payload the client is measured with.
const clientPayload = 2048

// stretched returns a recorded payload with one text in it lengthened until the
// whole has the size of clientPayload.
func (b *bench) stretched(name string, path ...string) ([]byte, error) {
	text, err := b.recorded(name)
	if err != nil {
		return nil, err
	}
	var payload map[string]any
	if err := json.Unmarshal(text, &payload); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	at := payload
	for _, key := range path[:len(path)-1] {
		at, _ = at[key].(map[string]any)
	}
	last := path[len(path)-1]
	old, ok := at[last].(string)
	if !ok {
		return nil, fmt.Errorf("%s: has no text %s", name, strings.Join(path, "."))
	}
	const filler = "and then some more words of the kind people write here, "
	short, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	missing := clientPayload - len(short) - 1
	if missing < 0 {
		return nil, fmt.Errorf("%s: is longer than %d bytes already", name, clientPayload)
	}
	at[last] = old + " " + strings.Repeat(filler, missing/len(filler)+1)[:missing]
	return json.Marshal(payload)
}

// session is the recorded Claude session that the daemon is loaded with.
var session = []string{
	"SessionStart.startup", "UserPromptSubmit",
	"PreToolUse.Read", "PreToolUse.Bash", "PostToolUse.Bash", "PreToolUse.Edit", "PostToolUse.Edit",
	"PreToolUse.Bash", "PostToolUse.Bash", "PreToolUse.mcp", "PostToolUse.mcp", "Notification.idle_prompt",
	"PreToolUse.Bash", "PostToolUse.Bash", "PreToolUse.Write", "Stop",
}

// mix makes one request after the other out of the session.
type mix struct {
	steps   []mixStep
	version string
	env     []byte
	cwd     string
}

type mixStep struct {
	event   string
	payload []byte
	session []byte // the id in it, to be replaced
}

func (b *bench) newMix(version string, home *sandbox.Home) (*mix, error) {
	m := &mix{version: version, cwd: home.Project,
		env: []byte(strings.Join(home.Env, "\x00") + "\x00")}
	for _, name := range session {
		payload, err := b.recorded(name)
		if err != nil {
			return nil, err
		}
		// Agents send it in one line; the recordings are indented for reading.
		var line bytes.Buffer
		if err := json.Compact(&line, payload); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var has struct {
			Session string `json:"session_id"`
		}
		if err := json.Unmarshal(payload, &has); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(has.Session) != len(sessionName(0)) {
			return nil, fmt.Errorf("%s: session id %q has %d bytes, expected %d", name, has.Session, len(has.Session),
				len(sessionName(0)))
		}
		event, _, _ := strings.Cut(name, ".")
		m.steps = append(m.steps, mixStep{event, line.Bytes(), []byte(has.Session)})
	}
	return m, nil
}

// sessionName returns an id like Claude's; the session goes round twice
// before the next one begins.
func sessionName(n uint64) string { return fmt.Sprintf("%08x-bf4e-4707-a65f-440490eeb506", n) }

// request returns the n-th of all, with a new payload.
func (m *mix) request(n uint64) frame.Request {
	step := &m.steps[n%uint64(len(m.steps))]
	name := sessionName(n / uint64(2*len(m.steps)))
	return frame.Request{
		ID: frame.NewID(), Agent: "claude", Event: step.event, Deadline: 570 * time.Second, Cwd: m.cwd,
		Version: m.version,
		Payload: bytes.ReplaceAll(step.payload, step.session, []byte(name)), Env: m.env,
	}
}
