// Package plugins holds the plugins for agents that take no hook commands but
// run JavaScript in their own process. Each is one file that speaks to the daemon
// as hookmux-hook does and imports nothing but node's own modules.
//
// Contract: Render gives the file to be put into the agent's plugin folder,
// the same bytes for the same options. Recognise tells such a file from
// everybody else's, so that an installer overwrites and removes only its own.
// An agent with a plugin of ours in it starts, runs and ends as without it
// when there is no daemon, no hookmux and no home.
package plugins

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

//go:embed line/line.js amp/hookmux.js openclaw/hookmux.js opencode/hookmux.js pi/hookmux.js pi/inner.js
var sources embed.FS

// files names the sources. An agent that was made from another takes the same
// one.
var files = map[string]string{
	"amp":      "amp/hookmux.js",
	"openclaw": "openclaw/hookmux.js",
	"opencode": "opencode/hookmux.js",
	"pi":       "pi/hookmux.js",
}

// DefaultLimit is how long a tool call waits for a decision where the
// installer says nothing.
const DefaultLimit = time.Hour

// Options are baked into a plugin by an installer.
type Options struct {
	// Agent is whom it is for, by the name in the catalogue; empty: the agent
	// that the source is named after.
	Agent   string
	Version string // hookmux's own
	// Hook is the absolute path of hookmux-hook. The plugin runs it while no
	// daemon answers; without it, events are lost meanwhile.
	Hook string
	// Deny refuses, where the agent can be refused, while no daemon answers.
	Deny bool
	// Events are the native names of the events to report; none means those
	// the catalogue installs by default.
	Events []string
	// Limit is how long a tool call waits for a decision; zero is
	// DefaultLimit.
	Limit time.Duration
}

// Sources lists the sources there are.
func Sources() []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Render gives the plugin of a source as it is written to disk.
func Render(source string, o Options) ([]byte, error) {
	file, ok := files[source]
	if !ok {
		return nil, fmt.Errorf("%s: no plugin is made from it; there are %s", source, strings.Join(Sources(), " and "))
	}
	if o.Agent == "" {
		o.Agent = source
	}
	if !plainAgent.MatchString(o.Agent) {
		return nil, fmt.Errorf("%s: %q is not a name of an agent", source, o.Agent)
	}
	if !plainVersion.MatchString(o.Version) {
		return nil, fmt.Errorf("%s: %q is not a version to mark a plugin with", o.Agent, o.Version)
	}
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	onUnavailable := "neutral"
	if o.Deny {
		onUnavailable = "deny"
	}
	text, err := sources.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for _, part := range [][2]string{{"/*__HOOKMUX_LINE__*/\n", "line/line.js"},
		{"/*__HOOKMUX_INNER__*/\n", "pi/inner.js"}} {
		content, err := sources.ReadFile(part[1])
		if err != nil {
			return nil, err
		}
		text = bytes.Replace(text, []byte(part[0]), content, 1)
	}
	for _, slot := range [][2]string{
		{"__VERSION_PLAIN__", o.Version},
		{"__AGENT_PLAIN__", o.Agent},
		{`"__HOOKMUX_AGENT__"`, quote(o.Agent)},
		{`"__HOOKMUX_HOOK__"`, quote(o.Hook)},
		{`"__HOOKMUX_ON_UNAVAILABLE__"`, quote(onUnavailable)},
		{`"__HOOKMUX_EVENTS__"`, quote(strings.Join(o.Events, ","))},
		{`"__HOOKMUX_LIMIT_MS__"`, quote(strconv.FormatInt(o.Limit.Milliseconds(), 10))},
	} {
		text = bytes.Replace(text, []byte(slot[0]), []byte(slot[1]), 1)
	}
	return text, nil
}

// quote writes a JavaScript string: JSON's, whose escapes of U+2028 and of
// markup JavaScript reads as well.
func quote(s string) string {
	b, _ := json.Marshal(s) // a string always can be
	return string(b)
}

var (
	plainAgent   = lazyregexp.New(`^[a-z][a-z0-9-]*$`)
	plainVersion = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+-]*$`)
	marker       = lazyregexp.New(`^// hookmux plugin ([0-9A-Za-z][0-9A-Za-z.+-]*) for ([a-z0-9-]+)\r?\n`)
)

var (
	eventsIn = lazyregexp.New(`(?m)^const EVENTS = "([^"]*)"`)
	deniesIn = lazyregexp.New(`(?m)^const UNAVAILABLE = "deny"`)
)

// ChosenIn reads back what a person chose when a plugin was written.
func ChosenIn(src []byte, o Options) Options {
	o.Deny = deniesIn.Match(src)
	if m := eventsIn.Compiled().FindSubmatch(src); m != nil && len(m[1]) > 0 {
		o.Events = strings.Split(string(m[1]), ",")
	}
	return o
}

// Recognise reads the first line of a file: which agent's plugin of ours it
// is, and of which version. It is false for everybody else's file.
func Recognise(content []byte) (agent, version string, ours bool) {
	m := marker.Compiled().FindSubmatch(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")))
	if m == nil {
		return "", "", false
	}
	return string(m[2]), string(m[1]), true
}
