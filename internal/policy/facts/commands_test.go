package facts

import (
	"slices"
	"testing"
)

// Commands in members that nobody described, as lists and with their arguments
// beside them, are found beside what a dialect named.
func TestCommandsNobodyDescribed(t *testing.T) {
	for _, tt := range []struct {
		kind, input string
		call        Call
	}{
		{"mcp", `{"command":["rm","-r","/x"]}`, Call{}},
		{"mcp", `{"command":"rm","args":["-r","/x"]}`, Call{}},
		{"other", `{"a":[{"cmd":"rm","arguments":["-r","/x"]}]}`, Call{}},
		{"other", `{"path":"/a","run":{"command":"rm -r /x"}}`, Call{Writes: []string{"/a"}}},
		{"shell", `{"script":"rm -r /x"}`, Call{}},
		{"shell", `{"command":"rm","args":["-r","/x"]}`, Call{Commands: []string{"rm"}}},
	} {
		call := tt.call
		call.ToolKind, call.Input = tt.kind, []byte(tt.input)
		ReadInput(&call)
		if !slices.Contains(call.Commands, "rm -r /x") {
			t.Errorf("%s %s: commands %q, want rm -r /x among them", tt.kind, tt.input, call.Commands)
		}
	}
}
