package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"github.com/hookmux/hookmux/internal/platform/redactmarks"
	"strings"
	"testing"
	"unicode/utf8"
)

func redactJSON(t testing.TB, in string, opt Limits) (string, Report) {
	t.Helper()
	out, rep := AppendJSON([]byte("x"), []byte(in), opt)
	if out[0] != 'x' || !json.Valid(out[1:]) || !utf8.Valid(out) {
		t.Fatalf("not valid JSON: %q -> %q", in, out)
	}
	return string(out[1:]), rep
}

func TestJSON(t *testing.T) {
	v := "hunt" + "er2"
	gh := join("gh", "p_", alnum36)
	for _, c := range []struct {
		in, want string
		n        int
	}{
		{`{}`, `{}`, 0},
		{" [ 1 , -2.5e+3 , true , null , \"a b\" ] \n", `[1,-2.5e+3,true,null,"a b"]`, 0},
		{"\ufeff{\r\n\t\"a\": {}\r\n}", `{"a":{}}`, 0},
		{`{"a":"é\u00e9\n\ud83d\ude00"}`, `{"a":"é\u00e9\n\ud83d\ude00"}`, 0},
		{`{"password":"` + v + `","n":1}`, `{"password":"[redacted:password]","n":1}`, 1},
		{`{"p\u0061ssword":"` + v + `"}`, `{"p\u0061ssword":"[redacted:password]"}`, 1},
		{`{"apiKey":"` + v + `","token":12,"secret":true,"cookie":null,"token":""}`, `{"apiKey":"[redacted:key]","token":12,"secret":true,"cookie":null,"token":""}`, 1},
		{`{"token_count":"` + v + `","max_tokens":"9"}`, `{"token_count":"` + v + `","max_tokens":"9"}`, 0},
		{`{"cookies":["` + v + `","b"],"x":["b"]}`, `{"cookies":["[redacted:cookie]","[redacted:cookie]"],"x":["b"]}`, 2},
		{`{"properties":{"password":{"type":"string"}}}`, `{"properties":{"password":{"type":"string"}}}`, 0},
		{`{"env":{"API_KEY":"${API_KEY}","B_TOKEN":"$B_TOKEN"}}`, `{"env":{"API_KEY":"${API_KEY}","B_TOKEN":"$B_TOKEN"}}`, 0},
		{`["mysql","--password","` + v + `","--verbose","db"]`, `["mysql","--password","[redacted:password]","--verbose","db"]`, 1},
		{`{"c":"a\n` + gh + `\tb"}`, `{"c":"a\n[redacted:github-token]\tb"}`, 1},
		{`{"` + gh + `":1}`, `{"[redacted:github-token]":1}`, 1},
		{`{"a":"gh\u0070\u005f` + alnum36 + `"}`, `{"a":"[redacted:github-token]"}`, 1},
		{`{"a":"https:\/\/u:` + v + `@h\/x"}`, `{"a":"https://u:[redacted:url-password]@h/x"}`, 1},
		{"{\"a\":\"b\xffc\"}", "{\"a\":\"b\ufffdc\"}", 0},
		{`"just text"`, `"just text"`, 0},
		{"", `""`, 0},
		{`{"a":`, `"{\"a\":"`, 0},
		{`not json ` + gh, `"not json [redacted:github-token]"`, 1},
		{`{"a":"b","password":"` + v + `","c":"cut o`, `"{\"a\":\"b\",\"password\":\"[redacted:password]\",\"c\":\"cut o"`, 1},
	} {
		got, rep := redactJSON(t, c.in, Limits{})
		if got != c.want || rep.Redacted != c.n || rep.Cut != 0 {
			t.Errorf("%s\n got %s %+v\nwant %s %d", c.in, got, rep, c.want, c.n)
		}
	}
}

func TestInvalidJSONBecomesAString(t *testing.T) {
	for _, in := range []string{
		"{", "}", "[1,]", "{\"a\":1,}", "{a:1}", "01", "1.", "-", "+1", "1e", ".5", "tru", "nulll", "\"a", "\"\\x\"", "\"\\u12g4\"", "\"\\",
		"\"a\nb\"", "[1 2]", "{\"a\" 1}", "1 2", "\x00", "[\"a\",", "{\"a\"", "\xef\xbb", "[}", "\"\\u123",
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
	} {
		if json.Valid([]byte(in)) {
			t.Fatalf("the table is wrong: %q", in)
		}
		got, _ := redactJSON(t, in, Limits{String: -1})
		var s string
		if err := json.Unmarshal([]byte(got), &s); err != nil || s != strings.ToValidUTF8(in, "\ufffd") {
			t.Errorf(`in = %q, got %s; want no error and s = strings.ToValidUTF8(in, "\ufffd")`, in, got)
		}
	}
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	if got, _ := redactJSON(t, deep, Limits{}); got != deep {
		t.Error("deep JSON that is still allowed was changed")
	}
}

func TestNoSecretSurvivesAnyEscaping(t *testing.T) {
	for _, c := range allSecrets() {
		plain, _ := json.Marshal(c.text)
		var every, some strings.Builder
		for i := 0; i < len(c.text); i++ {
			u := fmt.Sprintf(`\u%04x`, c.text[i])
			every.WriteString(u)
			if i%5 == 0 {
				some.WriteString(strings.ToUpper(u[:2]) + u[2:])
			} else {
				b, _ := json.Marshal(string(c.text[i]))
				some.Write(b[1 : len(b)-1])
			}
		}
		for _, str := range []string{string(plain), `"` + every.String() + `"`,
			`"` + strings.ReplaceAll(some.String(), `\U`, `\u`) + `"`} {
			for _, in := range []string{str, `{"a":{"b":[` + str + `]}}`, `{` + str + `:0}`, ` [ 1, ` + str + ` ] `} {
				got, rep := redactJSON(t, in, DefaultLimits())
				if flat := flatten(t, got); strings.Contains(flat, c.gone) || rep.Redacted == 0 {
					t.Errorf("left over: %s -> %s; want no c.gone in flat and rep.Redacted != 0", in, got)
				}
				if again, rep := redactJSON(t, got, DefaultLimits()); again != got || rep != (Report{}) {
					t.Errorf("not stable: %s -> %s; want again == got and rep == (Report{})", got, again)
				}
			}
		}
	}
}

// flatten writes every key and string of a JSON value, decoded.
func flatten(t testing.TB, s string) string {
	t.Helper()
	var out strings.Builder
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	for {
		tok, err := d.Token()
		if err != nil {
			return out.String()
		}
		fmt.Fprintln(&out, tok)
	}
}

func TestCutting(t *testing.T) {
	opt := Limits{String: 1000, Output: 200, OutputKeys: Keys("tool_response")}
	long := strings.Repeat("wörds and ", 300)
	in, _ := json.Marshal(map[string]any{"prompt": long,
		"tool_response": map[string]any{"stdout": []string{long, "short"}}, "z": long[:1000-4]})
	got, rep := redactJSON(t, string(in), opt)
	if rep.Cut != 2 {
		t.Fatalf("rep = %+v, want rep.Cut = 2", rep)
	}
	var v struct {
		Prompt string
		Resp   struct{ Stdout []string } `json:"tool_response"`
		Z      string
	}
	if err := json.Unmarshal([]byte(got), &v); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(long))
	note := fmt.Sprintf("…[cut: %d bytes, sha256 %s]", len(long), hex.EncodeToString(sum[:redactmarks.CutHash]))
	for s, limit := range map[string]int{v.Prompt: 1000, v.Resp.Stdout[0]: 200} {
		head, ok := strings.CutSuffix(s, note)
		if !ok || len(s) > limit || len(head) < limit-redactmarks.CutLength-4 || !strings.HasPrefix(long, head) {
			t.Errorf("%d: s = %q, want ok, len(s) at most %v, len(head) at least limit - marks.CutRoom - 4 and long that "+
				"begins with %q", limit, s, limit, head)
		}
	}
	if v.Resp.Stdout[1] != "short" || v.Z != long[:1000-4] {
		t.Error("a string within its limit was changed")
	}
	if again, rep := redactJSON(t, got, opt); again != got || rep.Cut != 0 {
		t.Errorf("cut twice: %s; want again == got and rep.Cut == 0", again)
	}
}

// A secret that straddles the cut, wherever that falls, is gone whole, and a
// replacement is never cut in two.
func TestCutNeverSplitsASecret(t *testing.T) {
	key := join("gh", "p_", alnum36)
	for pad := 0; pad < 300; pad++ {
		in := `"` + strings.Repeat("a ", pad)[:pad] + " " + key + " " + strings.Repeat("b ", 400) + `"`
		opt := Limits{String: 256}
		got, rep := redactJSON(t, in, opt)
		if strings.Contains(got, alnum36[:6]) || rep.Cut != 1 {
			t.Fatalf("pad %d: %s; want no alnum36[:6] in got and rep.Cut == 1", pad, got)
		}
		if i := strings.Index(got, "[red"); i >= 0 && !strings.Contains(got, "[redacted:github-token]") {
			t.Fatalf(`pad %d: %s; want i < 0 or "[redacted:github-token]" in got`, pad, got)
		}
		if again, _ := redactJSON(t, got, opt); again != got {
			t.Fatalf("pad %d: not stable", pad)
		}
	}
}

func TestCutOfEscapedAndBrokenStrings(t *testing.T) {
	for _, unit := range []string{`\n`, `\u00e9`, `\ud83d\ude00`, `\ud800`, "\xff", "é", "😀", `\"`, `\\`} {
		for n := 60; n < 160; n++ {
			in := `["` + strings.Repeat(unit, n) + `"]`
			got, _ := redactJSON(t, in, Limits{String: 128})
			var v []string
			if json.Unmarshal([]byte(got), &v) != nil || len(v) != 1 || len(v[0]) > 128 {
				t.Fatalf("%d × %s: got %s, want no error, len(v) = 1 and len(v[0]) at most 128", n, unit, got)
			}
			if again, _ := redactJSON(t, got, Limits{String: 128}); again != got {
				t.Fatalf("%d × %s: not stable; want again == got", n, unit)
			}
		}
	}
}

func TestInvalidJSONIsCutToo(t *testing.T) {
	in := "{" + strings.Repeat("x", 40<<10)
	got, rep := redactJSON(t, in, Limits{})
	if rep.Cut != 1 || len(got) > DefaultString+8 || !bytes.Contains([]byte(got), []byte("[cut: ")) {
		t.Errorf(`%+v, %d bytes; want rep.Cut == 1, len(got) <= DefaultString+8 and []byte("[cut: ") in `+
			`[]byte(got)`, rep, len(got))
	}
}

// A private key longer than what is searched at once must be gone to its end.
func TestGiantSecretInGiantString(t *testing.T) {
	giant := join("-----BEGIN ", "PRIVATE", " KEY-----\n", strings.Repeat(pemLine+"\n", 4000), "-----END ", "PRIVATE",
		" KEY-----")
	in, _ := json.Marshal(giant + strings.Repeat(" and more words", 20000))
	got, rep := redactJSON(t, string(in), Limits{})
	if strings.Contains(got, pemLine[:12]) || rep != (Report{Redacted: 1, Cut: 1}) ||
		!strings.HasPrefix(got, `"[redacted:private-key] and more`) {
		t.Errorf(`rep = %+v, got %.200s; want no pemLine[:12] in it, rep = (Report{Redacted: 1, Cut: 1}) and one `+
			`that begins with "[redacted:private-key] and more`, rep, got)
	}
}
