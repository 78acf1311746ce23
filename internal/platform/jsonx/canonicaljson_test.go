package jsonx

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1, "a":[1.50,{"z":null,"y":"<"}]}`: `{"a":[1.50,{"y":"<","z":null}],"b":1}`,
		`12345678901234567890`:                   `12345678901234567890`,
		`no json`:                                `no json`,
		`{} {}`:                                  `{} {}`,
		``:                                       ``,
	} {
		if got := string(Canonical([]byte(in))); got != want {
			t.Errorf("Of(%s):\n got %s\nwant %s", in, got, want)
		}
	}
}

// A value has one spelling: the same again when it is spelled out twice, however
// it was indented.
func TestOneSpelling(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.Int64())).Draw(rt, "value")
		narrow, err := json.Marshal(value)
		if err != nil {
			rt.Fatal(err)
		}
		wide, err := json.MarshalIndent(value, " ", "   ")
		if err != nil {
			rt.Fatal(err)
		}
		want := string(Canonical(narrow))
		if got := string(Canonical(wide)); got != want {
			rt.Errorf("indented:\n got %s\nwant %s", got, want)
		}
		if got := string(Canonical([]byte(want))); got != want {
			rt.Errorf("a second time:\n got %s\nwant %s", got, want)
		}
	})
}
