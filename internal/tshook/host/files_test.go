package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/internal/services"
)

// A file that was deleted from the user's folder, or that nobody
// wants any more, is no fault; one that something else names is.
func TestDeletedFiles(t *testing.T) {
	dir := t.TempDir()
	kept, gone := filepath.Join(dir, "kept.ts"), filepath.Join(dir, "gone.ts")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		owners     []string
		want       bool
	}{
		{"in the folder and there", kept, []string{folderOwner}, false},
		{"deleted from the folder", gone, []string{folderOwner}, true},
		{"named in settings and missing", gone, []string{"settings"}, false},
		{"deleted from the folder, named in settings", gone, []string{folderOwner, "settings"}, false},
		{"of a launch and missing", gone, []string{"run:1"}, false},
		{"wanted by nobody", kept, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := newFileTable(t.Context(), services.Deps{}, nil, nil)
			for _, owner := range c.owners {
				table.addWanted(owner, []wantedFile{{path: c.path}})
			}
			if got := table.isDeleted(c.path); got != c.want {
				t.Errorf("isDeleted is %v, want %v", got, c.want)
			}
		})
	}
}
