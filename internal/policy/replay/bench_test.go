package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/wire"
)

// manyRules are n rules of the kinds that people write.
func manyRules(b *testing.B, n int) []*rules.Rule {
	b.Helper()
	var text strings.Builder
	text.WriteString("version: 1\nrules:\n")
	for i := range n {
		match, hit := fmt.Sprintf("program: tool%d", i), fmt.Sprintf("tool%d x", i)
		switch i % 5 {
		case 1:
			match, hit = fmt.Sprintf("{path: secret%d/, access: read}", i), fmt.Sprintf("cat secret%d/a", i)
		case 2:
			match, hit = fmt.Sprintf("{host: host%d.test}", i), fmt.Sprintf("curl https://host%d.test/", i)
		case 3:
			match, hit = fmt.Sprintf("{program: git, subcommand: push, args: branch%d}", i),
				fmt.Sprintf("git push origin branch%d", i)
		}
		if !strings.HasPrefix(match, "{") {
			match = "{" + match + "}"
		}
		fmt.Fprintf(&text, "  - {id: r%d, why: w, match: %s, decide: deny, examples: {hit: ['%s']}}\n", i, match, hit)
	}
	list, problems := rules.Parse(rules.Source{Name: "r.yaml", Data: []byte(text.String()), Layer: rules.User})
	if len(problems) > 0 {
		b.Fatalf("rules: want none wrong, got %v", problems[0])
	}
	return list
}

var ordinary = []string{
	"go test ./...", "git status --short && git diff --stat", "ls -la src | head -20", "npm run build 2>&1 | tail -40",
	"grep -rn 'func main' --include=*.go . | wc -l", "sed -n 1,80p internal/app/server.go",
	"curl -s https://registry.npmjs.org/left-pad | jq .version", "cat package.json", "make test && git commit -am 'fix'",
	"python3 -c 'import json,sys; print(json.load(sys.stdin)[\"a\"])' < data.json",
}

// BenchmarkReplay is the cost of one stored call under 100 rules.
func BenchmarkReplay(b *testing.B) {
	list := make([]wire.Entry, 1000)
	for i := range list {
		list[i] = command(b, i, ordinary[i%len(ordinary)], "")
	}
	var texts [][]byte
	for text := range each(list) {
		texts = append(texts, text)
	}
	o := Options{Rules: manyRules(b, 100), Home: home, FindProject: func(string) string { return project },
		Catalogue: catalogue}
	b.ReportAllocs()
	for n := 0; n < b.N; n += len(list) {
		entries := func(yield func([]byte, error) bool) {
			for _, text := range texts {
				if !yield(text, nil) {
					return
				}
			}
		}
		if _, err := Run(entries, o); err != nil {
			b.Fatalf("replay: want a report, got %v", err)
		}
	}
}
