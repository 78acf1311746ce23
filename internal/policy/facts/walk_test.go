package facts

import (
	"fmt"
	"slices"
	"testing"
)

// visited returns what a walk hands out, and whether it could read to the end.
func visited(walk func([]byte, func(key, value string) bool) error, data string) []string {
	var all []string
	err := walk([]byte(data), func(key, value string) bool {
		all = append(all, fmt.Sprintf("%s=%q", key, value))
		return true
	})
	return append(all, fmt.Sprint(err == nil))
}

// A flat object is read by a quicker way, which must hand out the same.
func FuzzWalkJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"command":"ls"}`, `{ "Command" : "rm -rf \u002f" , "n": 1.5e3, "b": true, "z": null }`,
		`{"command":"a","command":"b"}`, `{"a":"\ud800"}`, `{"a":"\ud83d\ude00\n\"\\"}`, `{"\u0043omMand":"x"}`,
		`{"a":"{"}`, `{"a":"["}`, `{"a":["x",{"b":"c"}]}`, `{"a":"x"`, `{"a":"x"} `, `{"a":"x"}}`, `{"a":"x",}`, `{"a" "x"}`,
		"{\"a\":\"\xff\"}", "{\"a\":\"line\nbreak\"}", `{"a":01}`, `{"a":tru}`, `{"É":"x"}`, `{"a":"x"} "y"`, ` {"a":"x"}`, `"text"`, ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if !isFlatObject([]byte(data)) {
			return
		}
		quick, slow := visited(walkMembers, data), visited(walkTokens, data)
		if readable := slow[len(slow)-1] == "true"; readable && quick[len(quick)-1] == "false" {
			return // stricter: what follows the object is no input of a tool
		}
		if quick[len(quick)-1] == "false" && slow[len(slow)-1] == "false" {
			return // neither could read it: the call counts as unreadable
		}
		if !slices.Equal(quick, slow) {
			t.Errorf("%q\nmembers: %v\n tokens: %v; want quick equal to slow", data, quick, slow)
		}
	})
}
