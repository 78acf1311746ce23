package pi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// CurrentEvent is an event of an older generation under pi's current name.
type CurrentEvent struct{ Name, Reason string }

// sessionReasons are the reasons of the first generation's session event.
var sessionReasons = map[string]CurrentEvent{
	"start": {"session_start", "startup"}, "switch": {"session_start", "resume"},
	"clear": {"session_start", "new"}, "new": {"session_start", "new"}, "branch": {"session_start", "fork"},
	"shutdown": {"session_shutdown", "quit"}, "before_switch": {"session_before_switch", "resume"},
	"before_clear": {"session_before_switch", "new"}, "before_new": {"session_before_switch", "new"},
	"before_branch": {"session_before_fork", ""}, "before_compact": {"session_before_compact", ""},
	"compact": {"session_compact", ""},
}

// olderNames are the second generation's names that pi has changed since.
var olderNames = map[string]CurrentEvent{
	"session_switch": {"session_start", "resume"}, "session_branch": {"session_start", "fork"},
	"session_before_branch": {"session_before_fork", ""},
}

// CurrentName returns pi's current name of an event as the user writes it: any generation's
// name, and for the first generation's session event its reason, as session:before_branch or
// in the input.
func CurrentName(written string, input json.RawMessage) (string, error) {
	reason, _ := ParseObject(input)["reason"].(string)
	one, err := FindCurrentEvent(written, reason)
	return one.Name, err
}

// FindCurrentEvent returns pi's current event for a name that the user wrote.
func FindCurrentEvent(written, reason string) (CurrentEvent, error) {
	name, after, _ := strings.Cut(written, ":")
	if older, ok := olderNames[name]; ok {
		return older, nil
	}
	if name != "session" {
		return CurrentEvent{name, cmp.Or(reason, after)}, nil
	}
	reason = cmp.Or(after, reason, "start")
	one, ok := sessionReasons[reason]
	if !ok {
		return one, fmt.Errorf("the session event has no reason %q; it has %s",
			reason, strings.Join(slices.Sorted(maps.Keys(sessionReasons)), ", "))
	}
	return one, nil
}
