package event

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func merged(opinions ...Decision) Decision {
	var d Decision
	for _, o := range opinions {
		d.Merge(o)
	}
	return d
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func TestMerge(t *testing.T) {
	input := raw(`{"command":"ls"}`)
	for _, c := range []struct {
		name     string
		opinions []Decision
		want     Decision
	}{
		{"nobody", nil, Decision{}},
		{"none is not allow", []Decision{{}, {By: "a"}}, Decision{}},
		{"allow is explicit", []Decision{{Verdict: Allow, By: "a"}, {}}, Decision{Verdict: Allow, By: "a"}},
		{"deny beats what came before",
			[]Decision{{Verdict: Allow, Reason: "fine", By: "a"}, {Verdict: Deny, Reason: "no", By: "b"}},
			Decision{Verdict: Deny, Reason: "no", By: "b"}},
		{"deny beats what comes after",
			[]Decision{{Verdict: Deny, Reason: "no", By: "b"}, {Verdict: Ask, Reason: "well", By: "c"}, {Verdict: Allow, By: "a"}},
			Decision{Verdict: Deny, Reason: "no", By: "b"}},
		{"an approval's reason is no refusal's",
			[]Decision{{Verdict: Allow, Reason: "fine", By: "a"}, {Verdict: Deny, By: "b"}},
			Decision{Verdict: Deny, By: "b"}},
		{"an approval's reason is no change's",
			[]Decision{{Verdict: Allow, Reason: "fine", By: "a"}, {Verdict: Modify, Input: input, By: "b"}},
			Decision{Verdict: Modify, Input: input, By: "b"}},
		{"the first to deny is named",
			[]Decision{{Verdict: Deny, By: "a"}, {Verdict: Deny, Reason: "second", By: "b"}},
			Decision{Verdict: Deny, Reason: "second", By: "a"}},
		{"ask beats modify, the change stays",
			[]Decision{{Verdict: Modify, Input: input, Allowed: true, By: "a"}, {Verdict: Ask, Reason: "sure?", By: "b"}},
			Decision{Verdict: Ask, Reason: "sure?", Input: input, By: "b"}},
		{"inputs merge key by key",
			[]Decision{{Verdict: Modify, Input: raw(`{"a":1,"b":2}`), By: "a"}, {Verdict: Modify, Input: raw(`{"b":3,"c":4}`), By: "b"}},
			Decision{Verdict: Modify, Input: raw(`{"a":1,"b":3,"c":4}`), By: "a"}},
		{"contexts, notices and texts join",
			[]Decision{{Context: "a", Notice: "n", Stdout: "x"}, {}, {Context: "b", Notice: "m", Stdout: "y"}},
			Decision{Context: "a\nb", Notice: "n\nm", Stdout: "x\ny"}},
		{"the last result stays", []Decision{{Output: raw(`1`)}, {Output: raw(`2`)}, {}}, Decision{Output: raw(`2`)}},
		{"the first exit code stays", []Decision{{ExitCode: 0}, {ExitCode: 3}, {ExitCode: 4}}, Decision{ExitCode: 3}},
		{"keep-going says everything",
			[]Decision{{KeepGoing: true, Reason: "run the tests"}, {KeepGoing: true, Reason: "fix the lint"}},
			Decision{KeepGoing: true, Reason: "run the tests\nfix the lint"}},
		{"keep-going keeps its reason", []Decision{{KeepGoing: true, Reason: "go"}, {Verdict: Allow, By: "a"}},
			Decision{KeepGoing: true, Reason: "go", Verdict: Allow, By: "a"}},
		{"degraded adds up", []Decision{{Degraded: []Degradation{{What: "a"}}}, {Degraded: []Degradation{{What: "b"}}}},
			Decision{Degraded: []Degradation{{What: "a"}, {What: "b"}}}},
		{"null is no input", []Decision{{Verdict: Allow, Input: raw("null"), By: "a"}}, Decision{Verdict: Allow, By: "a"}},
		{"modify with nothing changed", []Decision{{Verdict: Allow, By: "a"}, {Verdict: Modify, By: "b"}}, Decision{Verdict: Allow, By: "a"}},
	} {
		if got := merged(c.opinions...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// A changed call is approved only if somebody approved it as changed.
func TestApprovalOfAChangedCall(t *testing.T) {
	change := func(allowed bool) Decision {
		return Decision{Verdict: Modify, Allowed: allowed, Input: raw(`{"a":1}`)}
	}
	allow := Decision{Verdict: Allow}
	for _, c := range []struct {
		name     string
		opinions []Decision
		verdict  Verdict
		allowed  bool
	}{
		{"changed only", []Decision{change(false)}, Modify, false},
		{"changed and approved", []Decision{change(true)}, Modify, true},
		{"approved before the change", []Decision{allow, change(false)}, Modify, false},
		{"approved after the change", []Decision{change(false), allow}, Modify, true},
		{"changed again", []Decision{change(true), change(false)}, Modify, false},
		{"approved, then changed again", []Decision{change(false), allow, change(false)}, Modify, false},
		{"an input without a word is a change", []Decision{allow, {Input: raw(`{"a":1}`)}}, Modify, false},
		{"allow with an input approves it", []Decision{{Verdict: Allow, Input: raw(`{"a":1}`)}}, Modify, true},
		{"silence takes nothing back", []Decision{change(true), {}}, Modify, true},
		{"ask", []Decision{change(true), {Verdict: Ask}}, Ask, false},
		{"ask, then an approval", []Decision{{Verdict: Ask}, change(true), allow}, Ask, false},
		{"deny", []Decision{change(true), {Verdict: Deny}, allow}, Deny, false},
		{"allowed without a change", []Decision{{Allowed: true}}, None, false},
	} {
		if got := merged(c.opinions...); got.Verdict != c.verdict || got.Allowed != c.allowed {
			t.Errorf("%s: %s, allowed %v; want got.Verdict == c.verdict and got.Allowed == c.allowed",
				c.name, got.Verdict.Word(), got.Allowed)
		}
	}
}

func drawDecision(t *rapid.T) Decision {
	text := rapid.SampledFrom([]string{"", "", "a", "two\nlines"})
	inputs := rapid.SampledFrom([]json.RawMessage{nil, nil, raw(`{"a":1}`), raw(`{"b":[2], "a":"x"}`), raw(`"text"`),
		raw(`null`)})
	return Decision{
		Verdict: rapid.SampledFrom([]Verdict{None, Allow, Modify, Ask, Deny}).Draw(t, "verdict"),
		Reason:  text.Draw(t, "reason"), Allowed: rapid.Bool().Draw(t, "allowed"),
		Input: inputs.Draw(t, "input"), Output: inputs.Draw(t, "output"),
		Context: text.Draw(t, "context"), Notice: text.Draw(t, "notice"), Stdout: text.Draw(t, "stdout"),
		KeepGoing: rapid.Bool().Draw(t, "keep"), ExitCode: rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "exit"),
		By:     rapid.SampledFrom([]string{"a", "b"}).Draw(t, "by"),
		Answer: drawAnswer(t),
	}
}

func TestMergeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opinions := rapid.SliceOfN(rapid.Custom(drawDecision), 0, 6).Draw(t, "opinions")
		got := merged(opinions...)
		strongest, exit, approvals := None, 0, false
		var contexts []string
		for _, o := range opinions {
			if o = o.Normalized(); o.Verdict.rank() > strongest.rank() {
				strongest = o.Verdict
			}
			if exit == 0 {
				exit = o.ExitCode
			}
			if o.Context != "" {
				contexts = append(contexts, o.Context)
			}
			switch o.Verdict {
			case Modify:
				approvals = o.Allowed
			case Allow:
				approvals = true
			}
		}
		if got.Verdict != strongest {
			t.Fatalf("%s, the strongest is %s", got.Verdict.Word(), strongest.Word())
		}
		if got.Allowed != (got.Verdict == Modify && approvals) {
			t.Fatalf("allowed %v of %+v; want got.Allowed == (got.Verdict == Modify && approvals)",
				got.Allowed, opinions)
		}
		if got.ExitCode != exit || got.Context != strings.Join(contexts, "\n") {
			t.Fatalf("exit %d, context %q; want got.ExitCode == exit and got.Context == "+
				"strings.Join(contexts, \"\\n\")", got.ExitCode, got.Context)
		}
		if got.Verdict == Modify && got.Input == nil {
			t.Fatal("a change of nothing")
		}
		// The verdict's owner is one of those who gave it.
		if got.Verdict != None {
			owner := false
			for _, o := range opinions {
				owner = owner || o.By == got.By && o.Normalized().Verdict == got.Verdict
			}
			if !owner {
				t.Fatalf("by %s of %+v; want owner", got.By, opinions)
			}
		}
		if a := got.Answer; a != nil && !a.fits(got.Verdict, got.Allowed) {
			t.Fatalf("the answer %+v stands beside %s", a, got.Verdict.Word())
		}
		if again := got.Normalized(); !reflect.DeepEqual(again, got) {
			t.Fatalf("not settled: %+v; want again equal to got", got)
		}
	})
}

func TestMergeLeavesItsArgumentsAlone(t *testing.T) {
	shared := make([]Degradation, 1, 4)
	shared[0].What = "first"
	a, b := Decision{Degraded: shared}, Decision{Degraded: shared}
	a.Merge(Decision{Degraded: []Degradation{{What: "a"}}})
	b.Merge(Decision{Degraded: []Degradation{{What: "b"}}})
	if a.Degraded[1].What != "a" || b.Degraded[1].What != "b" {
		t.Errorf(`a.Degraded = %+v, b.Degraded = %+v; want a.Degraded[1].What = "a" and b.Degraded[1].What = "b"`,
			a.Degraded, b.Degraded)
	}
}

func TestMergeObjects(t *testing.T) {
	for _, c := range []struct{ name, base, patch, want string }{
		{"over", `{"a":1,"b":2}`, `{"b":3}`, `{"a":1,"b":3}`},
		{"base's order, new keys behind", `{"z":1,"a":2}`, `{"y":3,"a":4,"b":5}`, `{"z":1,"a":4,"y":3,"b":5}`},
		{"bytes kept", `{"n":1.50, "s":"<é&\u00e9>", "o":{ "x" : [1, 2] }}`, `{"m":1E3}`, `{"n":1.50,"s":"<é&\u00e9>","o":{ "x" : [1, 2] },"m":1E3}`},
		{"big numbers", `{"n":12345678901234567890123}`, `{"m":0}`, `{"n":12345678901234567890123,"m":0}`},
		{"of a repeated key the last counts", `{"a":1,"a":2}`, `{"b":1,"b":2}`, `{"a":2,"b":2}`},
		{"same key, other spelling", `{"a":1}`, `{"\u0061":2}`, `{"a":2}`},
		{"key with a quote", `{"a\"b":1}`, `{"c":2}`, `{"a\"b":1,"c":2}`},
		{"null replaces", `{"a":1}`, `{"a":null}`, `{"a":null}`},
		{"objects are not merged deeper", `{"a":{"x":1}}`, `{"a":{"y":2}}`, `{"a":{"y":2}}`},
		{"empty patch object", `{"a":1}`, `{}`, `{"a":1}`},
		{"empty base object", `{}`, `{"a":1}`, `{"a":1}`},
		{"no base", ``, `{"a":1}`, `{"a":1}`},
		{"no patch", `{"a":1}`, ``, `{"a":1}`},
		{"base is a text", `"x"`, `{"a":1}`, `{"a":1}`},
		{"patch is a list", `{"a":1}`, `[1]`, `[1]`},
		{"patch is cut off", `{"a":1}`, `{"b":`, `{"b":`},
		{"something follows the patch", `{"a":1}`, `{"b":2} x`, `{"b":2} x`},
		{"base is broken", `{"a" 1}`, `{"b":2}`, `{"b":2}`},
	} {
		if got := MergeObjects(raw(c.base), raw(c.patch)); string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestMergeObjectsLikeAMap(t *testing.T) {
	object := rapid.MapOfN(rapid.StringMatching(`[a-c"\\<é]{0,2}`), rapid.IntRange(0, 9), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		base, patch := object.Draw(t, "base"), object.Draw(t, "patch")
		b, _ := json.Marshal(base)
		p, _ := json.Marshal(patch)
		var got map[string]int
		if err := json.Unmarshal(MergeObjects(b, p), &got); err != nil {
			t.Fatal(err)
		}
		for k, v := range patch {
			base[k] = v
		}
		if !reflect.DeepEqual(got, base) {
			t.Fatalf("%v, want %v", got, base)
		}
	})
}

func TestMergeObjectsOfManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"k":0`)
	for i := range 100_000 {
		b.WriteString(`,"` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i%11) + `":1`)
	}
	b.WriteString("}")
	if got := MergeObjects(raw(b.String()), raw(`{"k":1}`)); !json.Valid(got) ||
		!strings.HasPrefix(string(got), `{"k":1,`) {
		t.Error("not merged; want json.Valid(got) and string(got) to begin with `{\"k\":1,`")
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   DefaultReason,
		" \n\t\r\n":                          DefaultReason,
		"\u2028\u0085":                       DefaultReason,
		"no":                                 "no",
		" two\r\n\r\nlines ":                 "two lines",
		"a\u2028b\vc\fd\u0085e":              "a b c d e",
		"tabs\tand  blanks":                  "tabs and blanks",
		"keeps \x1b[31m for others to judge": "keeps \x1b[31m for others to judge",
	} {
		if got := OneLine(in); got != want {
			t.Errorf("%q: OneLine(in) = %q, want %q", in, got, want)
		}
	}
}

func TestParseVerdict(t *testing.T) {
	for in, want := range map[string]Verdict{
		"": None, "none": None, "allow": Allow, "deny": Deny, "ask": Ask, "modify": Modify, "NONE": None,
		"\tDeny \n": Deny,
	} {
		if got, err := ParseVerdict(in); err != nil || got != want {
			t.Errorf("%q: ParseVerdict(in) = %q, error %v; want no error and %q", in, got, err, want)
		}
	}
	for _, in := range []string{"block", "approve", "denied", "rewrite", "allow deny", "ALLOW!"} {
		if v, err := ParseVerdict(in); err == nil || v != None || !strings.Contains(err.Error(), in) {
			t.Errorf("%q: v = %q, error %v; want an error, v = None and %q in err.Error()", in, v, err, in)
		}
	}
	for _, v := range []Verdict{None, Allow, Modify, Ask, Deny} {
		if back, err := ParseVerdict(v.Word()); err != nil || back != v {
			t.Errorf("%q does not come back: %q", v.Word(), back)
		}
	}
}

func TestEmpty(t *testing.T) {
	if d := (Decision{}); !d.Empty() {
		t.Error("the zero decision says something")
	}
	if d := (Decision{By: "x", Reason: "y"}); !d.Empty() {
		t.Error("a reason for nothing is nothing")
	}
	for _, d := range []Decision{
		{Verdict: Allow}, {Input: raw(`{}`)}, {Output: raw(`1`)}, {Context: "x"}, {Notice: "x"}, {KeepGoing: true}, {ExitCode: 1}, {Stdout: "x"},
	} {
		if d.Empty() {
			t.Errorf("%+v is called empty", d)
		}
	}
}
