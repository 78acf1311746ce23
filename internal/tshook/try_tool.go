package tshook

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// sampleTool makes up a call of one of an agent's tools from a call in pi's format.
func sampleTool(tools []*agent.ToolSpec, in pi.Object) (*event.Tool, error) {
	var kind event.ToolKind
	var key string // of the input, that names what the call is about
	switch {
	case in["command"] != nil:
		kind, key = event.Shell, "command"
	case in["oldText"] != nil || in["edits"] != nil:
		kind, key = event.FileEdit, "path"
	case in["content"] != nil:
		kind, key = event.FileWrite, "path"
	case in["pattern"] != nil:
		kind, key = event.Search, "path"
	case in["path"] != nil:
		kind, key = event.FileRead, "path"
	case in["toolName"] != nil:
		name := asString(in["toolName"])
		delete(in, "toolName")
		return &event.Tool{Name: name, Kind: event.OtherTool, CallID: "trial", Input: pi.Encode(in)}, nil
	default:
		return nil, errors.New("which call? Pass one with --input '{\"command\":\"ls\"}', or one with \"path\" or " +
			"\"toolName\"")
	}
	for _, spec := range tools {
		if spec.Kind != kind || strings.Contains(spec.Name, "*") {
			continue
		}
		out := pi.Object{}
		for k, v := range in {
			out[k] = v
		}
		places := append(append(append([]string{}, spec.Commands...), spec.Writes...), spec.Reads...)
		if len(places) > 0 && !strings.ContainsAny(places[0], ".[") && in[key] != nil {
			delete(out, key)
			out[places[0]] = in[key]
		}
		return &event.Tool{Name: spec.Name, Kind: kind, CallID: "trial", Input: pi.Encode(out)}, nil
	}
	return nil, fmt.Errorf("the agent has no tool of this kind (%s)", kind)
}
