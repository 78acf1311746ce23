package embedjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

type kind string

type upper string

func (u *upper) UnmarshalText(b []byte) error { *u = upper(strings.ToUpper(string(b))); return nil }

type document struct {
	Base
	Name   string
	Kind   kind
	Loud   upper
	Listed []*document
	ByName map[kind][]string `json:"byName"`
	Parts  map[string]struct{ On bool }
	Size   int64
	Count  uint8
	Ratio  float64
	On     bool
	Any    any
	Absent *document
	Deep   struct{ Deeper []Base }
}

type Base struct{ Title string }

func TestReadsAsEncodingJSONDoes(t *testing.T) {
	for _, text := range []string{
		`{}`, ` { "Name" : "a" } `, `{"Title":"t","Name":"é \"quoted\" \\ \u003cb\u003e 👍","Kind":"k","Loud":"hey"}`,
		`{"Listed":[{"Name":"1"},null,{"Listed":[]},{"Name":"4","Size":-7,"Count":255,"Ratio":1.5e3}],"On":true}`,
		"{\"byName\":{\"a\":[\"x\",\"\"],\"b\":[],\"c\":null},\n\t\"Parts\":{\"p\":{\"On\":true},\"q\":{},\"r\":{\"On\":false}}}",
		`{"Any":{"a":[1,"]}",{"b":null}]},"Absent":null,"Deep":{"Deeper":[{"Title":"x"},{},{"Title":"y"}]}}`,
		`{"Listed":null,"ByName2":1}`, `{"Name":"a"}}`, `{"Name":"a"`, `{"Name":a}`, `{"Name" "a"}`, `{"Listed":[{},]}`, `{"Size":"x"}`, ``,
	} {
		var got, want document
		err, wantErr := Unmarshal(text, &got), strictly(text, &want)
		if (err != nil) != (wantErr != nil) {
			t.Errorf("%s: got error %v, want %v", text, err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func strictly(text string, into any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if !json.Valid([]byte(text)) {
		return json.Unmarshal([]byte(text), into)
	}
	return nil
}
