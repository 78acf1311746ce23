package hookentry

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestTrustHashesEqualTheRealOnes(t *testing.T) {
	var own []struct {
		Event   string
		Matcher *string
		Handler struct {
			Command       string
			Timeout       int
			StatusMessage string
		}
		Canonical string `json:"canonical_json"`
		Hash      string `json:"trusted_hash"`
	}
	readVectors(t, "testdata/trust-hash-vectors.json", &own)
	defaults := map[string]int{"Stop": 600, "SessionEnd": 1}
	for _, v := range own {
		h := CodexHook{Event: v.Event, Matcher: v.Matcher, Command: v.Handler.Command, Timeout: v.Handler.Timeout,
			StatusMessage: v.Handler.StatusMessage}
		if h.Timeout == 0 {
			h.Timeout = defaults[v.Event]
		}
		if h.canonical() != v.Canonical || h.Hash() != v.Hash {
			t.Errorf("%s: h.canonical() = %s, h.Hash() = %s; want h.canonical() = %q and h.Hash() = %q",
				v.Event, h.canonical(), h.Hash(), v.Canonical, v.Hash)
		}
	}

	var binary []struct {
		Key           string
		EventName     string
		HandlerType   string
		Command       string
		Async         bool
		Matcher       *string
		TimeoutSec    int
		StatusMessage string
		Hash          string `json:"currentHash"`
	}
	readVectors(t, "testdata/trust-hash-vectors.from-binary.json", &binary)
	checked := 0
	for _, v := range binary {
		if v.HandlerType != "command" {
			continue // hookmux registers commands only
		}
		native := strings.ToUpper(v.EventName[:1]) + v.EventName[1:]
		h := CodexHook{Event: native, Matcher: v.Matcher, Command: v.Command, Timeout: v.TimeoutSec, Async: v.Async,
			StatusMessage: v.StatusMessage}
		if h.Hash() != v.Hash {
			t.Errorf("%s: h.canonical() = %s, want h.Hash() = %q", v.Key, h.canonical(), v.Hash)
		}
		if !strings.Contains(v.Key, ":"+snake(native)+":") {
			t.Errorf(`%s: snake(%s) = %s; want ":"+snake(native)+":" in v.Key`, v.Key, native, snake(native))
		}
		checked++
	}
	if checked < 10 || len(own) < 3 {
		t.Errorf("only %d and %d vectors", checked, len(own))
	}
}

func readVectors(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}
