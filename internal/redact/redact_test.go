package redact

import (
	"strings"
	"testing"
)

func allSecrets() []secret { return append(shapeSamples(), namedSamples()...) }

func TestSecretsAreReplaced(t *testing.T) {
	for _, c := range allSecrets() {
		for _, frame := range [][2]string{{"", ""}, {"see ", " there"}, {"a\n", "\nb"}, {"(", ")"}, {"é", "é"}} {
			in := frame[0] + c.text + frame[1]
			got := Text(in)
			if strings.Contains(got, c.gone) {
				t.Errorf("left over: %q -> %q; want no c.gone in got", in, got)
			}
			if !strings.Contains(got, "[redacted:"+c.kind+"]") {
				t.Errorf(`kind %s missing: %q -> %q; want "[redacted:"+c.kind+"]" in got`, c.kind, in, got)
			}
			if again := Text(got); again != got {
				t.Errorf("not stable: %q -> %q; want again == got", got, again)
			}
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	for _, s := range cleanSamples() {
		if got := Text(s); got != s {
			t.Errorf("s = %q, Text(s) = %q; want %q", s, got, s)
		}
	}
}

func TestTextKeepsWhatStandsAround(t *testing.T) {
	v := "hunt" + "er2horse"
	for in, want := range map[string]string{
		"https://user:" + v + "@example.com/p": "https://user:[redacted:url-password]@example.com/p",
		"export A_TOKEN=" + v + " && make":     "export A_TOKEN=[redacted:token] && make",
		"Authorization: Bearer " + v + "\r\nB": "Authorization: Bearer [redacted:bearer]\r\nB",
		"a " + join("gh", "p_", alnum36) + ".": "a [redacted:github-token].",
		`x --password "` + v + `" -v`:          `x --password "[redacted:password]" -v`,
		"k: " + pemText("\n") + "\nend":        "k: [redacted:private-key]\nend",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

// A mark of ours in front of a secret must not protect it.
func TestMarkIsNoHidingPlace(t *testing.T) {
	for _, in := range []string{
		"A_KEY=[redacted:key]hunt" + "er2", "A_KEY=[redacted:hunter2" + "horse]",
		`{"password":"[redacted:x] hunt` + `er2"}`,
	} {
		got, _ := AppendJSON(nil, []byte(in), Limits{})
		if strings.Contains(string(got), "er2") {
			t.Errorf(`in = %q, got %s; want no "er2" in string(got)`, in, got)
		}
	}
}

func TestCleanTextDoesNotAllocate(t *testing.T) {
	s := strings.Repeat("clean text with-dashes and_underscores: a=b, see https://example.com/x\n", 20)
	buf := make([]byte, 0, 4096)
	json := []byte(`{"tool_name":"Bash","tool_input":{"command":"go test ./...","n":[1,2.5e3,true,null]},"cwd":"/home/u/x"}`)
	opt := DefaultLimits()
	if n := testing.AllocsPerRun(20, func() {
		Text(s)
		buf, _ = AppendJSON(buf[:0], json, opt)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// Hostile input must not make the scanners look at the same bytes again and
// again. This takes milliseconds when the work is linear, minutes when not.
func TestHostileInputStaysLinear(*testing.T) {
	for _, unit := range []string{
		"token=", "TOKEN=$", "A_KEY=${", "token:'", `token:"x y`, "http://a", "http://a:b", "sk-a-", "eyJ", "eyJa.", "-", "--token ",
		"-----BEGIN " + "PRIVATE KEY-----\"", "-----END " + "PRIVATE KEY-----", "AKIA", "Bearer ", "password: ", "\\", "\\\"", "A_KEY=\\",
		"Authorization: ", "Authorization:", "Cookie: ", "Cookie:", "--token=", "[redacted:", "xoxb-", "ghp_", ":AA", "1", "SG.", "token: a", "password=\"",
		"curl -u ", "mysql -p", " -p", "password ", "password is a1 ", "x</password>", "| chpasswd ", "setenv A_TOKEN ", "A_TOKEN\", \"",
		"name: A_TOKEN value: ", "value=", "cGFzc3dvcmQ9aHVudGVyMmhvcnNl ", "token a1B2c3D4e5F6g7H8 ", "atlasv1.", "BasicAuth(", "?sig=",
		"password: |\n ", "token: str = ", "-token ", "PASSW", "login password ", "Authorization: Digest a=\"",
	} {
		s := strings.Repeat(unit, (128<<10)/len(unit))
		Text(s)
		AppendJSON(nil, []byte(s), Limits{String: -1})
	}
}

func TestNames(t *testing.T) {
	for _, n := range strings.Fields(`api_key apiKey API_KEY x-api-key token access_token accessToken refreshToken id_token secret
		client_secret clientSecret password passwd db_password authorization Authorization cookie Set-Cookie private_key privateKey
		aws_secret_access_key AWS_SECRET_ACCESS_KEY OPENAI_KEY GH_TOKEN SMTP_PASS passphrase AccountKey csrf_token cookies db_pwd`) {
		if nameKind(n) == "" {
			t.Errorf("%s should be a secret's name", n)
		}
	}
	for _, n := range strings.Fields(`token_count max_tokens tokens tokenizer tokenType maxToken nextPageToken page_token eos_token key
		monkey primaryKey PRIMARY_KEY PUBLIC_KEY keyboard password_file secretName pwd OLDPWD cookieJar compass bypass BYPASS
		description session_id tool_name command keys version prompt_tokens total_tokens word record`) {
		if k := nameKind(n); k != "" {
			t.Errorf("%s is taken for a %s", n, k)
		}
	}
}
