package launch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/hookmux/hookmux/internal/platform/jsonx"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

// The settings-flag way: the agent takes a flag with settings, a file or JSON itself, hooks
// among them. It reads only one such flag, so the user's own is read and the hooks are put
// into it.

func injectSettings(r *Request, s *scanned) ([]string, bool, []string, error) {
	settingsFlag := r.Agent.Launch.Carrier
	for _, flag := range r.Agent.HooksOffBy() {
		if s.hasFlag(flag) {
			return r.Args, false, []string{fmt.Sprintf("%s runs no hooks with %s, so none are given to it and "+
				"nothing of this session is seen", r.Agent.Title, flag)}, nil
		}
	}
	var given []option
	for _, o := range s.options {
		if o.name == settingsFlag && o.has {
			given = append(given, o)
		}
	}
	if len(given) == 0 {
		folded, _, err := foldHooks(nil, r)
		if err != nil {
			return nil, false, nil, err
		}
		return append([]string{settingsFlag, folded}, r.Args...), true, nil, nil
	}

	var notes []string
	last := given[len(given)-1]
	text, err := readSettings(r, last.value)
	if err != nil {
		return nil, false, nil, err
	}
	folded, note, err := foldHooks(text, r)
	if err != nil {
		return nil, false, nil, fmt.Errorf("%s: %w", settingsName(settingsFlag, last.value), err)
	}
	if note != "" {
		notes = append(notes, settingsName(settingsFlag, last.value)+": "+note)
	}
	args := slices.Clone(r.Args)
	args[last.valueAt] = args[last.valueAt][:last.offset] + folded
	if earlier := given[:len(given)-1]; len(earlier) > 0 {
		// Which of several is used has changed between versions; with one there is no question.
		notes = append(notes, fmt.Sprintf("%s only uses the last of several %s, so the others are left out",
			r.Agent.Title, settingsFlag))
		args = withoutOptions(args, earlier)
	}
	return args, true, notes, nil
}

// withoutOptions removes flags and their values.
func withoutOptions(args []string, options []option) []string {
	out := make([]string, 0, len(args))
	for i, arg := range args {
		gone := slices.ContainsFunc(options, func(o option) bool { return i == o.at || i == o.valueAt })
		if !gone {
			out = append(out, arg)
		}
	}
	return out
}

func isInline(value string) bool {
	v := strings.TrimSpace(value)
	return strings.HasPrefix(v, "{") && strings.HasSuffix(v, "}")
}

// settingsName returns how a message names a settings value.
func settingsName(settingsFlag, value string) string {
	if isInline(value) {
		return settingsFlag + " (inline)"
	}
	return settingsFlag + " " + oneLine(value)
}

func readSettings(r *Request, value string) ([]byte, error) {
	if isInline(value) {
		return []byte(value), nil
	}
	if strings.TrimSpace(value) == "" {
		return nil, nil // the agent takes this for none
	}
	text, err := r.ReadFile(value)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read, and hooks have to be put into it: %w; correct the path or leave "+
			"the flag out", settingsName(r.Agent.Launch.Carrier, value), err)
	}
	return text, nil
}

// foldHooks adds one entry per event after the user's own. Empty text means no settings. The
// result is plain JSON on one line, with the user's keys in their order.
func foldHooks(text []byte, r *Request) (folded, note string, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	value, err := hujson.Parse(text)
	if err != nil {
		return "", "", fmt.Errorf("is not JSON (%s); correct it, or leave the flag out", oneLine(err.Error()))
	}
	value.Minimize() // comments and trailing commas go: the agent reads neither
	root, ok := value.Value.(*hujson.Object)
	if !ok {
		return "", "", fmt.Errorf("is not a JSON object; correct it, or leave the flag out")
	}
	if m := lastMember(root, "disableAllHooks"); m != nil && string(m.Value.Pack()) == "true" {
		note = "has disableAllHooks, so hooks will not run and nothing of this session is seen"
	}
	hooks, err := objectAt(root, "hooks")
	if err != nil {
		return "", "", err
	}
	for _, reg := range r.defaultRegistrations() {
		if err := addGroup(hooks, reg, r); err != nil {
			return "", "", err
		}
	}
	return string(value.Pack()), note, nil
}

type settingsGroup struct {
	Hooks []settingsHandler `json:"hooks"`
}

type settingsHandler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Timeout int      `json:"timeout"`
}

func addGroup(hooks *hujson.Object, reg registration, r *Request) error {
	// In the exec form there is no shell between agent and hook, and a path needs no quoting.
	command, args := r.Hook, []string{r.Agent.Name, reg.event, strconv.Itoa(reg.seconds)}
	if r.Agent.Launch.Line {
		command, args = shellquote.Line(append([]string{command}, args...)), nil
	}
	m := lastMember(hooks, reg.event)
	if m == nil {
		hooks.Members = append(hooks.Members, newMember(reg.event, &hujson.Array{}))
		m = &hooks.Members[len(hooks.Members)-1]
	}
	groups, ok := m.Value.Value.(*hujson.Array)
	if !ok {
		return fmt.Errorf("hooks.%s is not a list; correct it, or leave the flag out", reg.event)
	}
	for _, group := range groups.Elements {
		if hasHandler(group, command, args) {
			return nil
		}
	}
	group := settingsGroup{[]settingsHandler{{"command", command, args, reg.seconds}}}
	text, err := jsonx.Marshal(group)
	if err != nil {
		return err
	}
	ours, err := hujson.Parse(text)
	if err != nil {
		return err
	}
	ours.Minimize()
	groups.Elements = append(groups.Elements, ours)
	return nil
}

// hasHandler reports whether a group has this very handler already.
func hasHandler(group hujson.Value, command string, args []string) bool {
	var g settingsGroup
	if json.Unmarshal(group.Pack(), &g) != nil {
		return false // not ours in any case
	}
	for _, h := range g.Hooks {
		if h.Command == command && slices.Equal(h.Args, args) {
			return true
		}
	}
	return false
}

// lastMember finds a key; of several the last one wins, as in JSON.parse.
func lastMember(o *hujson.Object, key string) *hujson.ObjectMember {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if name, ok := o.Members[i].Name.Value.(hujson.Literal); ok && name.String() == key {
			return &o.Members[i]
		}
	}
	return nil
}

func objectAt(o *hujson.Object, key string) (*hujson.Object, error) {
	m := lastMember(o, key)
	if m == nil {
		inner := &hujson.Object{}
		o.Members = append(o.Members, newMember(key, inner))
		return inner, nil
	}
	inner, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%s is not an object; correct it, or leave the flag out", key)
	}
	return inner, nil
}

func newMember(key string, value hujson.ValueTrimmed) hujson.ObjectMember {
	return hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(key)}, Value: hujson.Value{Value: value}}
}
