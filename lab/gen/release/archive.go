package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"path"
	"sort"
	"time"
)

// file is one in an archive.
type file struct {
	name string
	mode int64
	data []byte
}

// archive packs files below one folder, in the order of their names, with no particular owner and
// all with the same time.
func archive(top string, files []file, when time.Time) ([]byte, error) {
	sorted := append([]file(nil), files...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].name < sorted[j].name })
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(zip)
	seen := map[string]bool{}
	var folder func(name string) error
	folder = func(name string) error {
		if name == "." || seen[name] {
			return nil
		}
		seen[name] = true
		if err := folder(path.Dir(name)); err != nil {
			return err
		}
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: when,
			Format: tar.FormatUSTAR})
	}
	for _, f := range sorted {
		name := path.Join(top, f.name)
		if err := folder(path.Dir(name)); err != nil {
			return nil, err
		}
		head := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: f.mode, Size: int64(len(f.data)), ModTime: when,
			Format: tar.FormatUSTAR}
		if err := w.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
