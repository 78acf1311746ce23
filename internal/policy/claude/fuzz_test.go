package claude

import "testing"

// FuzzDecide holds that no rule and no command makes the package fail, that a decision
// has a rule exactly if it says something, and that strict is never weaker.
func FuzzDecide(f *testing.F) {
	for _, seed := range [][3]string{
		{"Bash(npm run test:*)", "Read(./.env)", "npm run test && cat .env"},
		{"Bash(git * main)", "Bash(rm:*)", "x=rm; $x zz"},
		{"Edit(src/**)", "Edit(br[x]/**)", "echo a > src/x <<'EOF'\nb\nEOF"},
		{"mcp__lab__get_*", "*", "time { rm; }"},
		{"WebFetch(domain:*.x.y)", "Read(!README.md)", "bash -c 'rm $(ls)' &"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, allow, deny, text string) {
		set := settingsOf([]string{allow}, []string{deny}, []string{deny})
		for _, call := range []Call{
			bashCall(text),
			{"Read", map[string]any{"file_path": text}},
			{"Write", map[string]any{"file_path": text}},
			{"WebFetch", map[string]any{"url": text}},
			{text, map[string]any{}},
		} {
			plain := set.Decide(call, labPlace)
			if (plain.Rule == nil) != (plain.Verdict == None) {
				t.Fatalf("%q: want a rule exactly with a verdict, got %q by %s", call, plain.Verdict, ruleText(plain.Rule))
			}
			if strict := set.DecideStrict(call, labPlace); strict.Verdict.rank() < plain.Verdict.rank() {
				t.Fatalf("%q: want strict at least %q, got %q", call, plain.Verdict, strict.Verdict)
			}
		}
	})
}
