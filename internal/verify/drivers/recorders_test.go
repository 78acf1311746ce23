package drivers

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/internal/verify/agents"
)

func TestRecordersInstall(t *testing.T) {
	for _, name := range Names() {
		d, _ := Find(name)
		if d.Record == nil {
			continue
		}
		base := t.TempDir()
		home := filepath.Join(base, "home")
		if _, err := agents.WriteHome(name, home, "http://127.0.0.1:9", base); err != nil {
			t.Fatal(err)
		}
		folder, err := d.Record.PrepareFolder(base, home)
		if err != nil {
			t.Errorf("%s: error %v, want no error", name, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, "1-2-PreToolUse.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Record.ReadPayloads(folder); err != nil || len(got) != 1 || got[0].Event != "PreToolUse" {
			t.Errorf(`%s: got %+v, error %v; want no error, len(got) = 1 and got[0].Event = "PreToolUse"`,
				name, got, err)
		}
	}
}
