package state

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/internal/daemontest/golden"
)

// What real agents reported, replayed, gives the timeline that is expected:
// one line per event with what it made of the session.
func TestRecordedSessions(t *testing.T) {
	catalogue := agent.Builtin()
	for _, name := range recordings.Agents() {
		a, known := catalogue.Agent(name)
		if !known {
			continue
		}
		lines, err := recordings.Events(name)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		now, run, all := t0, "", NewSessions()
		for i, l := range lines {
			if l.Run != run {
				// Ids were scrubbed, so each act is a world of its own.
				run, all = l.Run, NewSessions()
				fmt.Fprintf(&b, "== %s\n", run)
			}
			now = now.Add(3 * time.Second)
			ev := catalogue.Decode(agent.Input{
				ID: fmt.Sprint(i), Time: now, Agent: name, Event: l.Event, Payload: bare(name, l),
			})
			if ev.AgentVersion == "" {
				ev.AgentVersion = l.Version
			}
			c := all.Apply(&ev, Rules{Spec: &a.Status})
			fmt.Fprintf(&b, "%-22s %s\n", l.Event, describe(&c))
		}
		golden.Match(t, filepath.Join("testdata", "timeline", name+".txt"), b.String())
	}
}

// bare returns a payload as the decoder takes it. Two recordings were made before
// the plugins wrapped their events.
func bare(name string, l recordings.Line) []byte {
	payload := string(l.Payload)
	if name == "pi" && !strings.Contains(payload, `"ctx"`) {
		payload = `{"event":` + payload + `,"ctx":{"sessionId":"s1","cwd":"/stage/project"}}`
	}
	return []byte(payload)
}

// describe returns a change on one line.
func describe(c *Change) string {
	if c.Session == nil {
		return "· " + c.Stale.String()
	}
	s := c.Session
	out := []string{string(c.To)}
	if c.From != c.To {
		out = []string{string(c.From) + " → " + string(c.To)}
	}
	if c.Subagent {
		out = append(out, "(subagent)")
	}
	if c.Tool && s.Tool != "" {
		out = append(out, "["+s.Tool+"]")
	}
	if c.Title {
		out = append(out, "title "+s.Title.Source+" "+fmt.Sprintf("%q", s.Title.Name()))
	}
	if c.Waiting {
		out = append(out, "waits: "+s.Asks[0].What)
	}
	if c.TurnStarted {
		out = append(out, fmt.Sprintf("turn %d", s.Turn.N))
	}
	if c.TurnEnded {
		out = append(out, fmt.Sprintf("turn %d %s exit %d after %s, %d tools, %d errors", c.Turn.N, c.Turn.Result,
			c.Turn.ExitCode, c.Turn.Duration(t0), c.Turn.Tools, c.Turn.Errors))
		if c.Turn.Summary != "" {
			out = append(out, fmt.Sprintf("%q", c.Turn.Summary))
		}
	}
	if c.Ended {
		out = append(out, "ended: "+s.EndReason)
	}
	if c.Stale != No {
		out = append(out, "stale: "+c.Stale.String())
	}
	return strings.Join(out, "  ")
}
