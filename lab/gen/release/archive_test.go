package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestArchiveIsTheSameAgain(t *testing.T) {
	files := []file{{"bin/b", 0o755, []byte("bee")}, {"README.md", 0o644, []byte("read")},
		{"bin/a", 0o755, []byte("ay")}}
	other := []file{files[2], files[0], files[1]}
	when := time.Unix(1_700_000_000, 0)
	one, err := archive("top-1", files, when)
	if err != nil {
		t.Fatal(err)
	}
	two, err := archive("top-1", other, when)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one, two) {
		t.Error("the order of files makes a difference")
	}
	if later, _ := archive("top-1", files, when.Add(time.Hour)); bytes.Equal(one, later) {
		t.Error("the time is not in it: this test would see nothing")
	}
	zip, err := gzip.NewReader(bytes.NewReader(one))
	if err != nil {
		t.Fatal(err)
	}
	if !zip.ModTime.IsZero() || zip.Name != "" {
		t.Errorf("the outer layer tells %v %q", zip.ModTime, zip.Name)
	}
	var names []string
	r := tar.NewReader(zip)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(when) {
			t.Errorf("%s tells who or when: %+v", h.Name, h)
		}
		if strings.HasPrefix(h.Name, "top-1/bin/") && h.Mode != 0o755 {
			t.Errorf(`%s has mode %o; want !strings.HasPrefix(h.Name, "top-1/bin/") or h.Mode == 0o755`,
				h.Name, h.Mode)
		}
		names = append(names, h.Name)
	}
	if got := strings.Join(names, " "); got != "top-1/ top-1/README.md top-1/bin/ top-1/bin/a top-1/bin/b" {
		t.Errorf(`it holds %s, want "top-1/ top-1/README.md top-1/bin/ top-1/bin/a top-1/bin/b"`, got)
	}
}
