package hook_test

import (
	"os"
	"strings"
	"testing"
)

// The page for Go programs shows code that is compiled and run.
func TestThePageShowsTheExamples(t *testing.T) {
	page := read(t, "../docs/contributing/sdk.md")
	examples := flush(read(t, "example_test.go") + read(t, "../client/example_test.go"))
	blocks := strings.Split(page, "```go\n")[1:]
	if len(blocks) < 5 {
		t.Fatalf("the page has %d pieces of code", len(blocks))
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(examples, flush(code)) {
			t.Errorf("this is in no example:\n%s", code)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// flush takes the indentation away: the page shows some code outside of its
// function.
func flush(code string) string {
	lines := strings.Split(strings.TrimSpace(code), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
