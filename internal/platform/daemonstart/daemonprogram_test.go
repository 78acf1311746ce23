package daemonstart

import (
	"os"
	"path/filepath"
	"testing"
)

func TestProgramOfThePeer(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"hookmux", "other"} {
		if err := os.WriteFile(at(name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("hookmux"), at("stable")); err != nil {
		t.Fatal(err)
	}
	for process, target := range map[string]string{
		"daemon": at("hookmux"), "fake": at("other"), "old": at("hookmux") + " (deleted)", "unreadable": "",
	} {
		if err := os.Mkdir(at(process), 0o700); err != nil {
			t.Fatal(err)
		}
		sameNamespace(t, at(process))
		if target == "" {
			continue
		}
		if err := os.Symlink(target, at(process+"/exe")); err != nil {
			t.Fatal(err)
		}
	}
	for process, good := range map[string]bool{"daemon": true, "fake": false, "old": true, "unreadable": true} {
		if err := Check(at(process), at("stable")); (err == nil) != good {
			t.Errorf("%s: %v, want it to be believed: %v", process, err, good)
		}
	}
}

// sameNamespace makes a played process one of this process's own namespaces.
func sameNamespace(t *testing.T, process string) {
	t.Helper()
	own, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return // a system without namespaces
	}
	if err := os.WriteFile(filepath.Join(process, "uid_map"), own, 0o600); err != nil {
		t.Fatal(err)
	}
}
