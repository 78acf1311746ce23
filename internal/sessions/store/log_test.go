package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func open(t *testing.T, path string) (*Log, map[string]string, int) {
	t.Helper()
	found := map[string]string{}
	l, skipped, err := OpenLog(path, func(e Entry) { found[e.Key] = string(e.Value) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, found, skipped
}

func put(t *testing.T, l *Log, key, value string) {
	t.Helper()
	if err := l.Append([]Entry{{key, json.RawMessage(value)}}); err != nil {
		t.Fatal(err)
	}
}

func TestTheLastOneCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "sessions.log")
	l, found, _ := open(t, path)
	if len(found) != 0 {
		t.Errorf("a new file holds %v", found)
	}
	put(t, l, "a", `{"n":1}`)
	put(t, l, "b", `{"n":2}`)
	put(t, l, "a", `{"n":3}`)
	put(t, l, "b", ``)
	_, found, skipped := open(t, path)
	if fmt.Sprint(found) != `map[a:{"n":3}]` || skipped != 0 {
		t.Errorf("found %v, skipped %d; want fmt.Sprint(found) == `map[a:{\"n\":3}]` and skipped == 0",
			found, skipped)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v; want info.Mode().Perm() == 0o600", info.Mode())
	}
}

func TestCutOffAndGarbage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.log")
	text := `{"k":"a","v":{"n":1}}` + "\nnonsense\n" + `{"k":"b","v":{"n":2}}` + "\n" + `{"k":"a","v":{"n":`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, found, skipped := open(t, path)
	if fmt.Sprint(found) != `map[a:{"n":1} b:{"n":2}]` || skipped != 2 {
		t.Errorf("found %v, skipped %d; want fmt.Sprint(found) == `map[a:{\"n\":1} b:{\"n\":2}]` and skipped "+
			"== 2", found, skipped)
	}
	put(t, l, "a", `{"n":9}`)
	if _, found, _ = open(t, path); found["a"] != `{"n":9}` {
		t.Errorf("what came after the cut line is lost: %v", found)
	}
}

func TestItDoesNotGrowForEver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.log")
	l, _, _ := open(t, path)
	l.minimum = 1000
	put(t, l, "keep", `"me"`)
	for i := range 1000 {
		put(t, l, "a", fmt.Sprintf(`"%s%d"`, strings.Repeat("x", 50), i))
		if l.Full() {
			if err := l.Rewrite([]Entry{{"keep", json.RawMessage(`"me"`)},
				{"a", json.RawMessage(fmt.Sprint(i))}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if info, _ := os.Stat(path); info.Size() > 3000 {
		t.Errorf("%d bytes; want info.Size() <= 3000", info.Size())
	}
	if _, found, _ := open(t, path); found["keep"] != `"me"` || found["a"] == "" {
		t.Errorf(`found = %+v, want found["keep"] = "me" and found["a"] not empty`, found)
	}
}

func TestAFileThatWasTakenAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.log")
	l, _, _ := open(t, path)
	put(t, l, "a", "1")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Append([]Entry{{"b", json.RawMessage("2")}}); err == nil {
		t.Error("a deleted file takes more")
	}
	if err := l.Rewrite([]Entry{{"b", json.RawMessage("2")}}); err != nil {
		t.Fatal(err)
	}
	if _, found, _ := open(t, path); found["b"] != "2" {
		t.Errorf(`found = %+v, want found["b"] = "2"`, found)
	}
}
