// Package plugins holds the plugins for agents that take no hook commands but
// run JavaScript in their own process. Each is one file that speaks to the hub
// as hookmux-hook does and imports nothing but node's own modules.
//
// Contract: Render gives the file to be put into the agent's plugin folder,
// the same bytes for the same options. Recognise tells such a file from
// everybody else's, so that an installer overwrites and removes only its own.
// An agent with a plugin of ours in it starts, runs and ends as without it
// when there is no hub, no hookmux and no home.
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

//go:embed line/line.js opencode/hookmux.js pi/hookmux.js pi/inner.js
var sources embed.FS

// files names each agent's source; its base name is the name to install it
// under.
var files = map[string]string{
	"opencode": "opencode/hookmux.js",
	"pi":       "pi/hookmux.js",
}

// DefaultLimit is how long a tool call waits for a decision where the
// installer says nothing.
const DefaultLimit = time.Hour

// Options is what an installer bakes into a plugin.
type Options struct {
	Version string // hookmux's own
	// Hook is the absolute path of hookmux-hook. The plugin runs it while no
	// hub answers; without it, events are lost meanwhile.
	Hook string
	// Deny refuses, where the agent can be refused, while no hub answers.
	Deny bool
	// Events are the native names of the events to report; none means those
	// the catalogue installs by default.
	Events []string
	// Limit is how long a tool call waits for a decision; zero is
	// DefaultLimit.
	Limit time.Duration
}

// Agents lists the agents there are plugins for.
func Agents() []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Render gives an agent's plugin as it is written to disk.
func Render(agent string, o Options) ([]byte, error) {
	file, ok := files[agent]
	if !ok {
		return nil, fmt.Errorf("%s: no plugin is made for it; there are %s", agent, strings.Join(Agents(), " and "))
	}
	if !plainVersion.MatchString(o.Version) {
		return nil, fmt.Errorf("%s: %q is no version to mark a plugin with", agent, o.Version)
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
	plainVersion = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+-]*$`)
	marker       = lazyregexp.New(`^// hookmux plugin ([0-9A-Za-z][0-9A-Za-z.+-]*) for ([a-z0-9-]+)\r?\n`)
)

// Recognise reads the first line of a file: which agent's plugin of ours it
// is, and of which version. It is false for everybody else's file.
func Recognise(content []byte) (agent, version string, ours bool) {
	m := marker.Compiled().FindSubmatch(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")))
	if m == nil {
		return "", "", false
	}
	if _, known := files[string(m[2])]; !known {
		return "", "", false
	}
	return string(m[2]), string(m[1]), true
}
