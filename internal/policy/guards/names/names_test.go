package names

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The docs describe each guard as the program does.
func TestDocsDescribeGuards(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range All() {
		if row := fmt.Sprintf("| `%s` | %s |", g.Name, g.What); !strings.Contains(string(text), row) {
			t.Errorf("docs/hooks.md has no row %s", row)
		}
	}
}
