package config

import (
	"os"
	"strings"
	"testing"
)

// Every setting is in docs/config.md; guards share one row.
func TestDocsListEverySetting(t *testing.T) {
	text, err := os.ReadFile("../../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range Keys() {
		if !key.IsGuard() && !strings.Contains(string(text), "`"+key.Name+"`") {
			t.Errorf("docs/config.md doesn't name %s", key.Name)
		}
	}
}
