package hookentry

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
)

// A list with one element for each event: AT[] = {name: EVENT, commands: [handler]}. What the
// agent does with a second element of the same name isn't documented: if there already is one
// for the event, our command is added to its commands.
const (
	eventNameKey     = "name"
	eventCommandsKey = "commands"
)

// commandsIn returns the path of an element's commands.
func (t *Target) commandsIn(element int) []string {
	return Join(t.At, strconv.Itoa(element), eventCommandsKey)
}

// eventNamed returns the event that an element is for; empty: it says none.
func (t *Target) eventNamed(r edit.Reader, element int) string {
	var name string
	_ = r.Decode(&name, Join(t.At, strconv.Itoa(element), eventNameKey)...) // anything else is no name
	return name
}

// eventElement returns the first element for an event; -1 if there is none.
func (t *Target) eventElement(r edit.Reader, event string) int {
	if t.Spec.Shape != agent.ShapeEvents {
		return -1
	}
	for i := range max(0, r.Len(t.At...)) {
		if t.eventNamed(r, i) == event {
			return i
		}
	}
	return -1
}

// keptEvent returns the name under which Kept remembers that an event had an element before we came: its
// place in the list may change.
func (t *Target) keptEvent(event string) []string { return Join(t.At, event) }

func (t *Target) addToEvent(src []byte, r edit.Reader, c Command, kept []Kept) ([]byte, []Kept, error) {
	handler := writeObject(t.HandlerMembers(c))
	element := t.eventElement(r, c.Event)
	if element < 0 {
		group := writeObject([]member{{eventNameKey, AsJSON(c.Event)},
			{eventCommandsKey, json.RawMessage("[" + string(handler) + "]")}})
		return t.appendEntry(src, r, t.At, group, kept)
	}
	list, key := t.commandsIn(element), t.keptEvent(c.Event)
	if !hasKept(kept, key) {
		kept = append(slices.Clone(kept), Kept{key, r.Depth(list...)})
	}
	out, err := t.Format.Append(src, list, handler)
	return out, kept, err
}

// takeFromEvent removes a command, and the element and the list around it if they are ours.
func (t *Target) takeFromEvent(src []byte, r edit.Reader, s *Handler, kept []Kept) ([]byte, error) {
	element := s.Path[:len(t.At)+1]
	theirs := slices.ContainsFunc(KeysOf(r, element), func(key string) bool {
		return key != eventNameKey && key != eventCommandsKey
	})
	switch {
	case r.Len(s.list...) > 1:
		return t.Format.Prune(src, s.Path, len(s.list))
	case hasKept(kept, t.keptEvent(s.Event)):
		return t.Format.Prune(src, s.Path, keptAt(kept, t.keptEvent(s.Event)))
	case theirs:
		return t.Format.Prune(src, s.Path, len(element))
	}
	return t.Format.Prune(src, element, keptAt(kept, t.At))
}
