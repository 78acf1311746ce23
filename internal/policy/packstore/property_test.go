package packstore

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever files a pack is made of, it is refused or holds nothing but its own two
// kinds of files, within its limits, and comes back from the store as it was.
func TestAnyFilesAreRefusedOrKept(t *testing.T) {
	names := []string{"pack.yaml", "rules/a.yaml", "rules/b.yaml", "../pack.yaml", "/etc/passwd", "rules/../a.yaml",
		"rules//a.yaml", "rules/.yaml", "./pack.yaml", "rules/a.yaml/", "Rules/a.yaml", "rules/a\x00.yaml", "rules\\a.yaml",
		"rules/-.yaml", "rules/a.yml", "", ".", "..", "rules/" + strings.Repeat("x", 300) + ".yaml"}
	state := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var files []File
		for range rapid.IntRange(0, 6).Draw(t, "files") {
			name := rapid.OneOf(rapid.SampledFrom(names), rapid.String()).Draw(t, "name")
			text := rapid.SampledFrom([]string{goodManifest, goodRules, "", "version: 1\nrules: []\n", "\x00"}).Draw(t, "text")
			files = append(files, File{name, []byte(text)})
		}
		pack, err := NewPack(files)
		if err != nil {
			return
		}
		for _, f := range pack.Files {
			if f.Path != manifestFile && !ruleFile.MatchString(f.Path) || !isPlainPath(f.Path) {
				t.Fatalf("want only files of a pack, got %q", f.Path)
			}
		}
		s := New(state)
		k := Kept{Manifest: pack.Manifest, Hash: pack.Hash()}
		if err := s.writeCopy(s.copyDir(k), pack); err != nil {
			t.Fatalf("want the copy written, got %v", err)
		}
		if back, err := s.Read(k); err != nil || back.Hash() != pack.Hash() {
			t.Fatalf("want the copy as it was, got %v, %v", back, err)
		}
	})
}
