package jsonx

import (
	"encoding/json"
	"testing"
)

func TestStrict(t *testing.T) {
	type inner struct {
		Label string `json:"label"`
	}
	type outer struct {
		ID    string           `json:"id"`
		List  []inner          `json:"list,omitempty"`
		By    map[string]inner `json:"by,omitempty"`
		Any   json.RawMessage  `json:"any,omitempty"`
		Plain int
	}
	for doc, good := range map[string]bool{
		`{"id":"a","list":[{"label":"b"}],"by":{"X":{"label":"c"}},"any":{"A":1,"a":2},"Plain":3}`: true,
		` {"id":"a"} `: true, `{}`: true,
		`{"id":"a","id":"b"}`: false, `{"id":"a","ID":"b"}`: false, `{"ID":"a"}`: false, `{"plain":1}`: false,
		`{"other":1}`: false, `{"list":[{"Label":"b"}]}`: false, `{"list":[{"label":"b","label":"c"}]}`: false,
		`{"by":{"x":{"other":1}}}`: false, `{"any":{"a":1,"a":2}}`: false,
		`{"id":"a"}{}`: false, `{"id":"a"} x`: false, `{"id":"a"`: false, ``: false, `[]`: false, `{"id":1}`: false,
	} {
		var got outer
		if err := Strict([]byte(doc), &got); (err == nil) != good {
			t.Errorf("%s: %v, want it to be read: %v", doc, err, good)
		}
	}
}
