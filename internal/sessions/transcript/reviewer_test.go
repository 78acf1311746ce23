package transcript

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// contextRow and settingsRow are rows of Codex that name a reviewer; outputRow
// is one of many that do not.
func contextRow(reviewer string) string {
	return fmt.Sprintf(`{"type":"turn_context","payload":{"turn_id":"t1","approvals_reviewer":%q}}`+"\n", reviewer)
}

func settingsRow(reviewer string) string {
	return fmt.Sprintf(`{"type":"event_msg","payload":{"type":"thread_settings_applied",`+
		`"thread_settings":{"approvals_reviewer":%q}}}`+"\n", reviewer)
}

func outputRow(text string) string {
	return fmt.Sprintf(`{"type":"response_item","payload":{"type":"function_call_output","output":%q}}`+"\n", text)
}

func TestNewestReviewer(t *testing.T) {
	captured, err := os.ReadFile("testdata/codex/transcript-auto-review.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.SplitAfter(string(captured), "\n")
	first := ""
	for _, row := range rows {
		if first += row; strings.Contains(row, `"turn_context"`) {
			break
		}
	}
	filler := strings.Repeat(outputRow(strings.Repeat("x", 1000)), 1000) // a megabyte
	for _, c := range []struct {
		name, record string
		want         event.Reviewer
	}{
		{"nothing yet", "", event.ReviewerUnknown},
		{"the first turn of a real record", first, event.ReviewerAgent},
		{"the end of a real record", string(captured), event.ReviewerUser},
		{"a person", contextRow("user"), event.ReviewerUser},
		{"the reviewer", contextRow("auto_review"), event.ReviewerAgent},
		{"its old name", contextRow("guardian_subagent"), event.ReviewerAgent},
		{"a name of later versions", contextRow("council"), event.ReviewerAgent},
		{"a version that names nobody", `{"type":"turn_context","payload":{"turn_id":"t1"}}` + "\n", event.ReviewerUnknown},
		{"changed in the menu", contextRow("user") + settingsRow("auto_review"), event.ReviewerAgent},
		{"changed back", contextRow("auto_review") + settingsRow("user") + outputRow("x"), event.ReviewerUser},
		{"the next turn", settingsRow("user") + contextRow("auto_review"), event.ReviewerAgent},
		{"half a row", contextRow("user") + strings.TrimSuffix(contextRow("auto_review"), "\n"), event.ReviewerUser},
		{"words of the model", contextRow("user") + outputRow(contextRow("auto_review")), event.ReviewerUser},
		{"the key in another row", contextRow("user") + `{"type":"x","approvals_reviewer":"auto_review"}` + "\n",
			event.ReviewerUser},
		{"rubbish", contextRow("auto_review") + "{\"approvals_reviewer\"\n\n\x00\n", event.ReviewerAgent},
		{"a long turn", contextRow("auto_review") + filler, event.ReviewerAgent},
		{"a turn too long to search", contextRow("auto_review") + strings.Repeat(filler, 9), event.ReviewerUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t, "codex")
			path := s.write("rollout-s1.jsonl", c.record)
			got, err := NewestReviewer(s.spec, "s1", path, Env{Home: s.home})
			if err != nil || got != c.want {
				t.Errorf("it is %q (%v), expected %q", got, err, c.want)
			}
		})
	}
}

// What is not the agent's record is not read.
func TestNewestReviewerElsewhere(t *testing.T) {
	s := newStore(t, "codex")
	outside := filepath.Join(s.home, "rollout-s1.jsonl")
	if err := os.WriteFile(outside, []byte(contextRow("auto_review")), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := NewestReviewer(s.spec, "s1", outside, Env{Home: s.home}); !errors.Is(err, ErrOutside) || got != "" {
		t.Errorf("outside of the store it is %q (%v), expected an error", got, err)
	}
	missing := filepath.Join(s.dir, "rollout-s2.jsonl")
	if got, err := NewestReviewer(s.spec, "s2", missing, Env{Home: s.home}); !errors.Is(err, os.ErrNotExist) ||
		got != "" {
		t.Errorf("without a file it is %q (%v), expected an error", got, err)
	}
	other := newStore(t, "claude")
	path := other.write("s1.jsonl", contextRow("auto_review"))
	if got, err := NewestReviewer(other.spec, "s1", path, Env{Home: other.home}); !errors.Is(err, ErrUnknown) ||
		got != "" {
		t.Errorf("of an agent whose records do not say it, it is %q (%v), expected an error", got, err)
	}
}
