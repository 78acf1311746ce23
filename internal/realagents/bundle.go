package realagents

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fetchBundle unpacks one npm package into the node_modules of dir, without what it depends on.
func fetchBundle(ctx context.Context, npm, spec, dir string) error {
	packed, err := os.MkdirTemp(dir, "pack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(packed)
	cmd := exec.CommandContext(ctx, npm, "pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", packed, spec)
	cmd.Dir = packed
	ownGroup(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm could not fetch %s (%w): %s", spec, err, lastError(string(out)))
	}
	files, _ := filepath.Glob(filepath.Join(packed, "*.tgz"))
	if len(files) != 1 {
		return fmt.Errorf("npm fetched %d packages for %s, want 1", len(files), spec)
	}
	f, err := os.Open(files[0])
	if err != nil {
		return err
	}
	defer f.Close()
	name := spec[:strings.LastIndexByte(spec, '@')]
	return unpackPackage(f, filepath.Join(dir, "node_modules", filepath.FromSlash(name)))
}

// unpackPackage unpacks an npm package: everything is in one folder, which becomes dir.
func unpackPackage(packed io.Reader, dir string) error {
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	for files := tar.NewReader(unzipped); ; {
		h, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case h.Typeflag != tar.TypeReg:
			continue // npm packs nothing but files
		}
		_, rel, _ := strings.Cut(h.Name, "/")
		if !filepath.IsLocal(rel) {
			return fmt.Errorf("the package has a file %q outside of its folder", h.Name)
		}
		path := filepath.Join(dir, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, files)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}
