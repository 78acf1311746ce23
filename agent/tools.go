package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent/dialect"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

// place is where a tool's input keeps something.
type place struct {
	steps   []step
	into    target
	program string // of commands that no shell runs
}

type step struct {
	key  string
	each bool
}

type target uint8

const (
	intoCommands target = iota
	intoReads
	intoWrites
	intoPatches
	intoURL
	intoFolder
)

// toolTable is a tool made ready for the hot path.
type toolTable struct {
	spec   *ToolSpec
	places []place
	glob   *glob
	mcp    *mcpName
}

// glob matches names by what they start and end with.
type glob struct{ prefix, suffix string }

func (g *glob) match(name string) bool {
	return len(name) >= len(g.prefix)+len(g.suffix) && strings.HasPrefix(name, g.prefix) &&
		strings.HasSuffix(name, g.suffix)
}

// mcpName takes a tool name apart into server and tool.
type mcpName struct{ before, between string }

func (m *mcpName) split(name, server string) *event.MCPCall {
	rest, ok := strings.CutPrefix(name, m.before)
	if !ok {
		return &event.MCPCall{Server: server, Tool: name}
	}
	if server != "" { // said by the agent: a server's name may hold the separator itself
		if tool, ok := strings.CutPrefix(rest, server+m.between); ok {
			return &event.MCPCall{Server: server, Tool: tool}
		}
	}
	s, tool, ok := strings.Cut(rest, m.between)
	if !ok {
		return &event.MCPCall{Server: server, Tool: rest}
	}
	if server == "" {
		server = s
	}
	return &event.MCPCall{Server: server, Tool: tool}
}

func compileTool(spec *ToolSpec) *toolTable {
	t := &toolTable{spec: spec}
	for _, group := range []struct {
		paths []string
		into  target
	}{{spec.Commands, intoCommands}, {spec.Reads, intoReads}, {spec.Writes, intoWrites}, {spec.Patches, intoPatches},
		{spec.URL, intoURL}, {folderKeys(spec), intoFolder}} {
		for _, path := range group.paths {
			t.places = append(t.places, place{parsePath(path), group.into, spec.Program})
		}
	}
	if prefix, suffix, ok := strings.Cut(spec.Name, "*"); ok {
		t.glob = &glob{prefix, suffix}
	}
	if spec.MCP != "" {
		before, rest, _ := strings.Cut(spec.MCP, "{server}")
		between, _, _ := strings.Cut(rest, "{tool}")
		t.mcp = &mcpName{before, between}
	}
	return t
}

// commonFolders are members that say where a tool runs.
var commonFolders = []string{"cwd", "Cwd", "CWD", "workdir", "work_dir", "workDir", "working_dir", "workingDir",
	"working_directory", "workingDirectory", "dir_path", "dirPath", "directory", "folder"}

// folderKeys returns the members of a tool's input that say where it runs.
func folderKeys(spec *ToolSpec) []string {
	switch {
	case len(spec.Folder) > 0:
		return spec.Folder
	case len(spec.Commands) == 0 || spec.Ignored["cwd"] != "":
		return nil // what it names is a file or a folder that it works on, or the event's own
	}
	return slices.DeleteFunc(slices.Clone(commonFolders), func(key string) bool {
		return slices.Contains(slices.Concat(spec.Commands, spec.Reads, spec.Writes), key)
	})
}

func parsePath(path string) []step {
	var steps []step
	for part := range strings.SplitSeq(path, ".") {
		key, each := strings.CutSuffix(part, "[]")
		steps = append(steps, step{key, each})
	}
	return steps
}

// tool finds what is known about a tool.
func (c *compiled) tool(name string) *toolTable {
	if t, ok := c.tools[name]; ok {
		return t
	}
	for _, t := range c.globs {
		if t.glob.match(name) {
			return t
		}
	}
	return c.fallback
}

// tool finds what an entry says about a tool. A protocol knows kinds of tools; where it
// reports the agent's own name of one, that agent's entry says more.
func (c *Catalogue) tool(agent string, a *Agent, name string) *toolTable {
	if a.Protocol {
		if own, ok := c.byName[agent]; ok {
			if t, ok := own.compiled.tools[name]; ok {
				return t
			}
		}
	}
	return a.compiled.tool(name)
}

// readTool fills in what a call's input says, by what is known about the tool. A protocol's
// description of a call comes in addition to the members of the agent's own tool: both are
// read.
func (c *Catalogue) readTool(a *Agent, t *toolTable, input []byte, tool *event.Tool) (unreadable string) {
	unreadable = t.read(input, tool)
	more := a.compiled.tool(tool.Name)
	if !a.Protocol || more == t {
		return unreadable
	}
	also := event.Tool{Name: tool.Name, Kind: tool.Kind}
	if why := more.read(input, &also); unreadable == "" {
		unreadable = why
	}
	switch tool.Kind {
	case event.Shell: // where it runs is no file of it
		also.Reads, also.Writes = nil, nil
	case event.FileRead, event.Search:
		also.Reads, also.Writes = append(also.Reads, also.Writes...), nil
	}
	for _, pair := range []struct {
		into *[]string
		from []string
	}{{&tool.Commands, also.Commands}, {&tool.Reads, also.Reads}, {&tool.Writes, also.Writes}} {
		for _, text := range pair.from {
			if !slices.Contains(*pair.into, text) {
				*pair.into = append(*pair.into, text)
			}
		}
	}
	if tool.URL == "" {
		tool.URL = also.URL
	}
	if tool.Folder == "" {
		tool.Folder = also.Folder
	}
	return unreadable
}

// Tool returns what is known about one of the agent's tools. For an unknown tool it is the
// agent's catch-all.
func (a *Agent) Tool(name string) *ToolSpec { return a.compiled.tool(name).spec }

// noFolder and twoFolders are why it can't be known where a call runs.
const (
	noFolder   = "the folder that the call names is no text"
	twoFolders = "the call names two folders to run in"
)

// noText is why a call whose command is neither a text nor a list of texts can't be read: it
// isn't known what the agent would make of it.
const noText = "the command is neither a text nor a list of texts"

// read fills what the input says about commands, paths and addresses. It gives
// the reason when a command cannot be read.
func (t *toolTable) read(input []byte, tool *event.Tool) (unreadable string) {
	if len(t.places) == 0 || len(input) == 0 {
		return ""
	}
	if !jsontext.IsObject(input) {
		// It has no places and stays in Input. What a shell would make of it can't be known.
		if t.spec.Kind == event.Shell && !blank(input) {
			return noText
		}
		return ""
	}
	_ = jsontext.Object(input, func(key, value []byte) bool {
		for i := range t.places {
			p := &t.places[i]
			if p.steps[0].key != string(key) {
				continue
			}
			folder := tool.Folder
			switch whole := p.collect(value, 0, tool); {
			case whole && p.into == intoFolder && folder != "" && folder != tool.Folder:
				unreadable = twoFolders
			case !whole && p.into == intoFolder:
				unreadable = noFolder
			case !whole:
				unreadable = noText
			}
		}
		return true
	})
	if unreadable != noText && len(tool.Commands) == 0 {
		return "" // nothing runs in that folder
	}
	return unreadable
}

// lacksCommand reports whether a shell tool's call has none of the members that may hold
// its command.
func (t *toolTable) lacksCommand(tool *event.Tool) bool {
	if tool.Kind != event.Shell || len(tool.Commands) > 0 {
		return false
	}
	places := false
	for i := range t.places {
		if p := &t.places[i]; p.into == intoCommands {
			places = true
			if jsontext.IsObject(tool.Input) && jsontext.Get(tool.Input, p.steps[0].key) != nil {
				return false // an empty command runs nothing
			}
		}
	}
	return places
}

// collect takes the value at a place. It returns false if a command there can't be read.
func (p *place) collect(value []byte, at int, tool *event.Tool) bool {
	if p.steps[at].each {
		good := true
		_ = jsontext.Array(value, func(element []byte) bool {
			good = p.descend(element, at, tool) && good
			return true
		})
		return good
	}
	return p.descend(value, at, tool)
}

func (p *place) descend(value []byte, at int, tool *event.Tool) bool {
	if at+1 == len(p.steps) {
		return p.put(value, tool)
	}
	if jsontext.IsObject(value) {
		if next := jsontext.Get(value, p.steps[at+1].key); next != nil {
			return p.collect(next, at+1, tool)
		}
	}
	return true
}

func (p *place) put(value []byte, tool *event.Tool) bool {
	if text, ok := jsontext.String(value); ok {
		p.add(text, tool)
		return true
	}
	if !jsontext.IsArray(value) {
		return p.into != intoCommands && p.into != intoFolder || blank(value)
	}
	if p.into == intoFolder {
		return false
	}
	list, whole := onlyWords(value)
	if p.into == intoCommands {
		// A command as a list of words is one command. If the agent's tool takes a text, it isn't
		// known what it makes of words that a shell would divide.
		line := dialect.CommandLine(list)
		p.add(line, tool)
		return whole && (tool.Kind != event.Shell || line == strings.Join(list, " ") || runsText(list))
	}
	for _, word := range list {
		p.add(word, tool)
	}
	return true
}

// runsText reports whether a list of words is sh -c text.
func runsText(list []string) bool {
	return len(list) == 3 && list[2] == dialect.CommandLine(list)
}

func (p *place) add(text string, tool *event.Tool) {
	if text == "" {
		return
	}
	switch p.into {
	case intoCommands:
		if p.program != "" {
			text = shellquote.Line([]string{p.program, "-c", text})
		}
		tool.Commands = append(tool.Commands, text)
		tool.Writes = append(tool.Writes, dialect.PatchedBy(text)...)
	case intoReads:
		tool.Reads = append(tool.Reads, text)
	case intoWrites:
		tool.Writes = append(tool.Writes, text)
	case intoPatches:
		tool.Writes = append(tool.Writes, dialect.PatchPaths(text)...)
	case intoFolder:
		tool.Folder = text
	case intoURL:
		if tool.URL == "" {
			tool.URL = text
		}
	}
}

// words returns the texts in a list.
func words(list []byte) []string {
	out, _ := onlyWords(list)
	return out
}

// onlyWords is words; whole says that there is nothing else in the list.
func onlyWords(list []byte) (out []string, whole bool) {
	whole = true
	_ = jsontext.Array(list, func(element []byte) bool {
		s, ok := jsontext.String(element)
		if ok {
			out = append(out, s)
		}
		whole = whole && ok
		return true
	})
	return out, whole
}

// WithInput notes that a handler changed the call's input, and reads commands,
// paths and addresses again, so that the next handler sees what will really
// run. The event must not be shared; its Tool is replaced, not changed.
func (c *Catalogue) WithInput(ev *event.Event, input json.RawMessage) {
	if ev.Tool == nil {
		return
	}
	tool := *ev.Tool
	tool.Changed = input
	tool.Commands, tool.Reads, tool.Writes, tool.URL, tool.Folder = nil, nil, nil, "", ""
	a := c.entry(ev.Agent, ev.Native)
	if why := c.readTool(a, c.tool(ev.Agent, a, tool.Name), input, &tool); why != "" {
		ev.Malformed = why
	}
	ev.Tool = &tool
}
