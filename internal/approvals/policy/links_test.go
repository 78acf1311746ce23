package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// A permission to write a file is about that file, not about whatever its name leads to
// later.
func TestPermissionsFollowLinks(t *testing.T) {
	dir := t.TempDir()
	file, victim := filepath.Join(dir, "a.txt"), filepath.Join(dir, "victim")
	write := &event.Event{Agent: "claude", Cwd: dir, Tool: &event.Tool{Name: "Write", Kind: event.FileWrite,
		Writes: []string{"a.txt"}}}
	rule, err := RuleFor(write)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(victim, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, step := range map[string]struct {
		link func(to, at string) error
		want bool
	}{
		"a file":          {func(_, at string) error { return os.WriteFile(at, nil, 0o600) }, true},
		"a symbolic link": {os.Symlink, false},
		"a hard link":     {os.Link, false},
	} {
		if err := step.link(victim, file); err != nil {
			t.Fatal(err)
		}
		if got := rule.Matches(write); got != step.want {
			t.Errorf("%s: the permission matches: %v, want %v", name, got, step.want)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	// The folder that the call names is the one that counts.
	elsewhere := *write
	elsewhere.Tool = &event.Tool{Name: "Write", Kind: event.FileWrite, Writes: []string{"a.txt"}, Folder: "/tmp/other"}
	if rule.Matches(&elsewhere) {
		t.Error("the permission matches the same name in another folder")
	}
}
