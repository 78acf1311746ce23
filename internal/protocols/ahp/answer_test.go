package ahp

import (
	"errors"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

func answer(effects string) string {
	return `{"jsonrpc":"2.0","id":"e1","result":{"protocolVersion":"draft","effects":` + effects + `}}`
}

func TestAnswers(t *testing.T) {
	all := Offer{Deny: true, Allow: true, Ask: true, Input: true, Context: true, Message: true, Keep: true}
	for name, c := range map[string]struct {
		message string
		offer   Offer
		version string
		want    event.Decision
		failure string // "" for none
	}{
		"silence":      {answer(`[]`), all, "draft", event.Decision{}, ""},
		"extra":        {answer(`[],"extensions":{"com.example":1}`), all, "draft", event.Decision{}, ""},
		"deny":         {answer(`[{"type":"deny","reason":"not here"}]`), all, "draft", event.Decision{Verdict: event.Deny, Reason: "not here"}, ""},
		"deny code":    {answer(`[{"type":"deny","reason":"no","code":"com.example.x"}]`), all, "draft", event.Decision{Verdict: event.Deny, Reason: "no [com.example.x]"}, ""},
		"allow":        {answer(`[{"type":"allow"}]`), all, "draft", event.Decision{Verdict: event.Allow}, ""},
		"ask":          {answer(`[{"type":"ask"}]`), all, "draft", event.Decision{Verdict: event.Ask, Reason: "the policy backend wants the user to decide"}, ""},
		"message":      {answer(`[{"type":"message","text":"a"},{"type":"message","text":"b"}]`), all, "draft", event.Decision{Notice: "a\nb"}, ""},
		"context":      {answer(`[{"type":"inject","target":"context","operation":"append","deliverAt":"now","value":"x"}]`), all, "draft", event.Decision{Context: "x"}, ""},
		"context list": {answer(`[{"type":"inject","target":"context","operation":"append","deliverAt":"now","value":[{"id":"i","role":"system","parts":[{"id":"p","kind":"text","text":"x"},{"id":"q","kind":"text","text":"y"}]}]}]`), all, "draft", event.Decision{Context: "x\ny"}, ""},
		"go on":        {answer(`[{"type":"flow","operation":"continue","instruction":"test it"}]`), all, "draft", event.Decision{KeepGoing: true, Reason: "test it"}, ""},

		"no JSON":         {`hello`, all, "draft", event.Decision{}, "no message"},
		"empty":           {``, all, "draft", event.Decision{}, "no message"},
		"behind it":       {answer(`[]`) + `{}`, all, "draft", event.Decision{}, "no message"},
		"batch":           {`[` + answer(`[]`) + `]`, all, "draft", event.Decision{}, "no message"},
		"other id":        {strings.Replace(answer(`[]`), `"e1"`, `"e2"`, 1), all, "draft", event.Decision{}, "nobody asked"},
		"number for id":   {strings.Replace(answer(`[]`), `"e1"`, `1`, 1), all, "draft", event.Decision{}, "nobody asked"},
		"no id":           {strings.Replace(answer(`[]`), `"id":"e1",`, ``, 1), all, "draft", event.Decision{}, "nobody asked"},
		"not 2.0":         {strings.Replace(answer(`[]`), `"2.0"`, `"1.0"`, 1), all, "draft", event.Decision{}, "jsonrpc"},
		"other version":   {answer(`[]`), all, "0.1", event.Decision{}, "asked in \"0.1\""},
		"no effects":      {strings.Replace(answer(`[]`), `"effects":[]`, `"x":1`, 1), all, "draft", event.Decision{}, "list of effects"},
		"null effects":    {answer(`null`), all, "draft", event.Decision{}, "list of effects"},
		"no result":       {`{"jsonrpc":"2.0","id":"e1"}`, all, "draft", event.Decision{}, "without a result"},
		"result and more": {`{"jsonrpc":"2.0","id":"e1","result":{"protocolVersion":"draft","effects":[]},"error":{"code":1}}`, all, "draft", event.Decision{}, "at once"},
		"twice effects":   {answer(`[{"type":"deny","reason":"no"}],"effects":[]`), all, "draft", event.Decision{}, "twice"},
		"twice type":      {answer(`[{"type":"deny","reason":"no","type":"allow"}]`), all, "draft", event.Decision{}, "twice"},
		"twice result":    {`{"jsonrpc":"2.0","id":"e1","result":{},"result":{}}`, all, "draft", event.Decision{}, "twice"},
		"unknown effect":  {answer(`[{"type":"approve"}]`), all, "draft", event.Decision{}, "not offered"},
		"no type":         {answer(`[{}]`), all, "draft", event.Decision{}, "not offered"},
		"text for effect": {answer(`["deny"]`), all, "draft", event.Decision{}, "no object"},
		"not offered":     {answer(`[{"type":"allow"}]`), Offer{Deny: true}, "draft", event.Decision{}, "not offered"},
		"one of two":      {answer(`[{"type":"message","text":"x"},{"type":"allow"}]`), Offer{Message: true}, "draft", event.Decision{}, "not offered"},
		"yes and no":      {answer(`[{"type":"allow"},{"type":"deny","reason":"no"}]`), all, "draft", event.Decision{}, "deny beside allow"},
		"two denies": {answer(`[{"type":"deny","reason":"a"},{"type":"deny","reason":"b"}]`), all, "draft",
			event.Decision{Verdict: event.Deny, Reason: "a"}, ""},
		"no reason":       {answer(`[{"type":"deny","reason":" "}]`), all, "draft", event.Decision{}, "without a reason"},
		"number reason":   {answer(`[{"type":"deny","reason":1}]`), all, "draft", event.Decision{}, "no text"},
		"replace":         {answer(`[{"type":"modify","target":"input","operation":"replace","value":{}}]`), all, "draft", event.Decision{}, "not offered"},
		"output":          {answer(`[{"type":"modify","target":"output","operation":"merge","value":{}}]`), all, "draft", event.Decision{}, "not offered"},
		"input text":      {answer(`[{"type":"modify","target":"input","operation":"merge","value":"x"}]`), all, "draft", event.Decision{}, "no object"},
		"later context":   {answer(`[{"type":"inject","target":"context","operation":"append","deliverAt":"next_turn","value":"x"}]`), all, "draft", event.Decision{}, "\"now\" only"},
		"deep context":    {answer(`[{"type":"inject","target":"context","operation":"append","deliverAt":"now","value":[[[[[["x"]]]]]]}]`), all, "draft", event.Decision{}, "no text"},
		"stop":            {answer(`[{"type":"flow","operation":"stop","reason":"x"}]`), all, "draft", event.Decision{}, "continue"},
		"failed":          {`{"jsonrpc":"2.0","id":"e1","error":{"code":-32003,"message":"later\nplease"}}`, all, "draft", event.Decision{}, "-32003: later please"},
		"no code":         {`{"jsonrpc":"2.0","id":"e1","error":"x"}`, all, "draft", event.Decision{}, "cannot be read"},
		"0.1 two effects": {strings.Replace(answer(`[{"type":"message","text":"a"},{"type":"message","text":"b"}]`), `"draft"`, `"0.1"`, 1), all, "0.1", event.Decision{}, "more than one"},
	} {
		got, err := ReadAnswer([]byte(c.message), Expected{ID: "e1", Version: c.version, Offer: c.offer})
		if c.failure == "" && (err != nil || !same(got, c.want)) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
		if c.failure != "" && (err == nil || !strings.Contains(err.Error(), c.failure) || !got.Empty()) {
			t.Errorf("%s: %+v, %v; want no decision and a failure with %q", name, got, err, c.failure)
		}
	}
}

func same(a, b event.Decision) bool {
	return a.Verdict == b.Verdict && a.Reason == b.Reason && a.Notice == b.Notice && a.Context == b.Context &&
		a.KeepGoing == b.KeepGoing && string(a.Input) == string(b.Input) && a.Allowed == b.Allowed
}

func TestChangesMerge(t *testing.T) {
	got, err := ReadAnswer([]byte(answer(`[{"type":"modify","target":"input","operation":"merge","value":{"a":1,"b":2}},`+
		`{"type":"modify","target":"input","operation":"merge","value":{"b":3}},{"type":"allow"}]`)),
		Expected{ID: "e1", Version: "draft", Offer: Offer{Input: true, Allow: true}})
	want := event.Decision{Verdict: event.Modify, Allowed: true, Input: []byte(`{"a":1,"b":3}`)}
	if err != nil || !same(got, want) {
		t.Errorf("got %+v with input %s, %v; want the changes merged and approved", got, got.Input, err)
	}
}

func TestVersionIsRefused(t *testing.T) {
	_, err := ReadAnswer([]byte(`{"jsonrpc":"2.0","id":"e1","error":{"code":-32001,"message":"no","data":{"supported":["0.1"]}}}`),
		Expected{ID: "e1", Version: "draft"})
	var version *VersionError
	if !errors.As(err, &version) || version.Version != "draft" || !SpeaksProtocol(err) {
		t.Errorf("got %v, want the version draft refused", err)
	}
}

// Nothing that a backend writes becomes a yes that was not offered, or makes the
// reader stumble.
func FuzzReadAnswer(f *testing.F) {
	for _, seed := range []string{answer(`[]`), answer(`[{"type":"deny","reason":"x"}]`), answer(`[{"type":"allow"}]`),
		answer(`[{"type":"modify","target":"input","operation":"merge","value":{"a":1}}]`), `[[[`, `{"id":"e1"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		got, err := ReadAnswer(message, Expected{ID: "e1", Version: hook.AHPVersion01, Offer: Offer{Deny: true}})
		if err != nil && !got.Empty() {
			t.Errorf("%q failed with %v and decided %+v, want no decision", message, err, got)
		}
		if got.Verdict != event.None && got.Verdict != event.Deny || got.Input != nil || got.Context != "" || got.KeepGoing {
			t.Errorf("%q became %+v, want a deny or nothing", message, got)
		}
	})
}
