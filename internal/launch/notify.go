package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Hooks that aren't trusted don't run. What Codex still does then is run the program of its
// notify setting at the end of each turn, with the event as the last argument. There can only
// be one such program, so ours runs the user's own with the arguments it would have got.

const (
	notifyKey   = "notify"
	notifyEvent = "agent-turn-complete"
	notifyName  = "hookmux-notify" // $0 of the script: by it we know our own
)

// notifyScript passes the last argument to the hook and then becomes the user's program, if there
// is one before it.
const notifyScript = `hook=$1; agent=$2; limit=$3; shift 3; for last; do :; done; ` +
	`[ ! -x "$hook" ] || printf %s "$last" | "$hook" "$agent" ` + notifyEvent + ` "$limit" >/dev/null 2>&1; ` +
	`[ $# -gt 1 ] || exit 0; exec "$@"`

// injectNotify adds what remains possible for a launch without trusted hooks.
func injectNotify(r *Request, s *scanned) ([]string, bool, []string, error) {
	own, behind, err := usersNotify(r, s)
	if err != nil {
		return nil, false, nil, err
	}
	note := fmt.Sprintf("%s runs no hooks that are not trusted, so only the ends of turns are seen in this session, "+
		"and nothing can be refused", r.Agent.Title)
	if len(own) > 3 && own[3] == notifyName {
		return r.Args, true, []string{note}, nil // a shim came back to us
	}
	limit := max(1, int(r.Agent.Timeout(notifyEvent).Seconds()))
	words := append([]string{"/bin/sh", "-c", notifyScript, notifyName, r.Hook, r.Agent.Name, strconv.Itoa(limit)},
		own...)
	list := make([]any, len(words))
	for i, w := range words {
		list[i] = w
	}
	text, err := inlineTOML(list)
	if err != nil {
		return nil, false, nil, fmt.Errorf("-c %s: %w; leave it out", notifyKey, err)
	}
	return slices.Insert(slices.Clone(r.Args), behind, "-c", notifyKey+"="+text), true, []string{note}, nil
}

// usersNotify returns the program that would be run without us: from the last such flag, or else
// from the config file; and the index after that flag.
func usersNotify(r *Request, s *scanned) (own []string, behind int, err error) {
	var value any
	found := false
	for _, o := range s.options {
		key, text, ok := strings.Cut(o.value, "=")
		if o.name != "-c" && o.name != "--config" || !o.has || !ok || strings.TrimSpace(key) != notifyKey {
			continue
		}
		if value, err = overrideValue(text); err != nil {
			return nil, 0, fmt.Errorf("-c %s: is not TOML (%s); correct it, or leave the flag out", notifyKey,
				oneLine(err.Error()))
		}
		found, behind = true, max(o.at, o.valueAt)+1
	}
	if !found && r.Config != "" {
		var doc map[string]any
		text, err := r.ReadFile(r.Config)
		if err == nil && toml.Unmarshal(text, &doc) == nil { // else the agent says what is wrong with it
			value = doc[notifyKey]
		}
	}
	list, _ := value.([]any)
	for _, v := range list {
		word, ok := v.(string)
		if !ok {
			return nil, 0, fmt.Errorf("%s: is not a list of words; correct it", notifyKey)
		}
		own = append(own, word)
	}
	return own, behind, nil
}
