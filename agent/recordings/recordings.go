// Package recordings holds what real agents said and did in the last recorded
// run of `hookmux verify --record`: one summary of checks and one list of
// events per agent. Tests replay the events; docs/agents.md shows the
// summaries.
package recordings

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"
)

//go:embed *.json
var files embed.FS

// The events are apart: hookmux itself needs only the summaries.
//
//go:embed *.jsonl
var eventFiles embed.FS

// Summary summarizes what a recorded run proved about one agent.
type Summary struct {
	Agent     string `json:"agent"`
	Title     string `json:"title"`
	Version   string `json:"version"`
	Day       string `json:"day"`
	Platform  string `json:"platform"`
	Isolation string `json:"isolation"`
	Rows      []Row  `json:"rows"`
}

// Row is one check's outcome.
type Row struct {
	Check string `json:"check"`
	Event string `json:"event,omitempty"`
	Claim string `json:"claim,omitempty"`
	Mark  string `json:"mark"`
	Why   string `json:"why,omitempty"`
}

// Line is one recorded event.
type Line struct {
	Agent   string          `json:"agent"`
	Version string          `json:"version"`
	Run     string          `json:"act"`
	Event   string          `json:"event"`
	Kind    string          `json:"kind,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	Payload json.RawMessage `json:"payload"`
}

// Has reports whether a run of the agent was recorded: `hookmux verify` can test it.
func Has(agent string) bool {
	_, err := fs.Stat(files, agent+".json")
	return err == nil
}

// Summaries returns all recorded summaries by agent name.
func Summaries() (map[string]Summary, error) {
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		return nil, err
	}
	out := map[string]Summary{}
	for _, name := range names {
		b, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var s Summary
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[s.Agent] = s
	}
	return out, nil
}

// SummaryOf returns the recorded summary of one agent; empty when there is none.
func SummaryOf(agent string) (s Summary, err error) {
	b, err := files.ReadFile(agent + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("recording of %s: %w", agent, err)
	}
	return s, nil
}

// Agents returns those with recorded events.
func Agents() []string {
	names, _ := fs.Glob(eventFiles, "*.jsonl") // the pattern is sound
	for i, n := range names {
		names[i] = strings.TrimSuffix(n, ".jsonl")
	}
	sort.Strings(names)
	return names
}

// Events returns an agent's recorded events in order.
func Events(agent string) ([]Line, error) {
	b, err := eventFiles.ReadFile(agent + ".jsonl")
	if err != nil {
		return nil, err
	}
	return Read(b)
}

// Read takes a recording apart.
func Read(b []byte) ([]Line, error) {
	var out []Line
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, 4<<20)
	for n := 1; sc.Scan(); n++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		var l Line
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, l)
	}
	return out, sc.Err()
}
