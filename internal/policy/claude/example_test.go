package claude_test

import (
	"fmt"

	"github.com/hookmux/hookmux/internal/policy/claude"
)

func Example() {
	settings := `{"permissions":{"allow":["Bash(npm run test:*)"],"deny":["Read(./.env)","Write(secrets/**)"]}}`
	file := claude.ReadSettings(claude.ProjectSource("/home/ann/app", "/home/ann"), []byte(settings))
	for _, rule := range file.Rules {
		if !rule.IsUsed() {
			fmt.Printf("Claude Code ignores %s %s (%s); this works: %s\n", rule.List, rule.Text, rule.Reason, rule.Instead)
		}
	}
	set := claude.NewSet(file)
	place := claude.Place{Home: "/home/ann", Project: "/home/ann/app", Trusted: true}
	for _, command := range []string{"npm run test -- a | head", "cat src/.env", "npm publish"} {
		said := set.Decide(claude.Call{Tool: "Bash", Input: map[string]any{"command": command}}, place)
		if said.Rule == nil {
			fmt.Printf("%s: no rule says anything\n", command)
			continue
		}
		fmt.Printf("%s: %s by %s\n", command, said.Verdict, said.Rule.Text)
	}
	// Output:
	// Claude Code ignores deny Write(secrets/**) (path-on-other-tool); this works: Edit(secrets/**)
	// npm run test -- a | head: allow by Bash(npm run test:*)
	// cat src/.env: deny by Read(./.env)
	// npm publish: no rule says anything
}
