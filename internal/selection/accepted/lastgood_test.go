package accepted

import (
	"os"
	"path/filepath"
	"testing"
)

const limit = 1 << 10

func TestAVersionIsKept(t *testing.T) {
	state := t.TempDir()
	v := LastGood{Path: LastGoodPath(state, "config", "/home/you/config.json")}
	if v.Read(limit); v.Text != nil {
		t.Errorf("nothing was kept: want none, got %q", v.Text)
	}
	if err := v.Keep([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	other := LastGood{Path: v.Path}
	if other.Read(limit); string(other.Text) != "{}" {
		t.Errorf("want what was kept, got %q", other.Text)
	}
	v.Drop()
	if _, err := os.Stat(v.Path); !os.IsNotExist(err) || v.Text != nil {
		t.Errorf("a file that was taken away: want nothing kept, got %q, %v", v.Text, err)
	}
}

func TestWhatCannotBeWrittenCountsInMemory(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	v := LastGood{Path: LastGoodPath(state, "hooks", "/x")}
	if err := v.Keep([]byte("old")); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(v.Path)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder, nil, 0o600); err != nil { // no folder can be made there
		t.Fatal(err)
	}
	if err := v.Keep([]byte("new")); err == nil {
		t.Error("want an error where nothing can be written, got none")
	}
	if v.Read(limit); string(v.Text) != "new" {
		t.Errorf("want the text in memory, got %q", v.Text)
	}
}

func TestWithoutAStateFolder(t *testing.T) {
	v := LastGood{Path: LastGoodPath("", "rules", "/x")}
	if err := v.Keep([]byte("a")); err != nil || v.Path != "" || string(v.Text) != "a" {
		t.Errorf("want it in memory alone, got %+v, %v", v, err)
	}
	v.Drop()
}
