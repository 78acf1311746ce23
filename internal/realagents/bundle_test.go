package realagents

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

func packOf(t *testing.T, name, content string) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	files := tar.NewWriter(zip)
	if err := files.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}

func TestUnpackPackage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "node_modules", "x")
	if err := unpackPackage(packOf(t, "package/dist/cli.js", "hello"), dir); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "dist", "cli.js")); string(b) != "hello" {
		t.Errorf("dist/cli.js = %q, %v; want hello", b, err)
	}
	for _, bad := range []string{"package/../../out", "package//etc/passwd", "package"} {
		if err := unpackPackage(packOf(t, bad, "x"), filepath.Join(t.TempDir(), "x")); err == nil {
			t.Errorf("%s was unpacked", bad)
		}
	}
}
