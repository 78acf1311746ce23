// Package programcopy keeps copies of hookmux's programs where nobody else cleans
// up. Package managers for JavaScript and Nix run programs from folders that they
// delete when they like, and agents pin their trust to a path: such a hookmux is
// copied at `hookmux install`, and agents run the copy.
package programcopy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Names are the programs, in the order in which they are replaced: the hook client
// finds the new hookmux beside it.
var Names = []string{"hookmux", "hookmux-hook"}

// Folder is where the copies are.
func Folder(d paths.Dirs) string { return filepath.Join(d.Data, "programs") }

// MayVanish reports whether a program is in a folder that its package manager
// deletes without asking: node_modules (the caches of npx, pnpm dlx and bunx among
// them, and projects), and the store of Nix where no profile leads to it.
func MayVanish(file string) bool {
	return strings.Contains(file, "/node_modules/") || strings.HasPrefix(file, "/nix/store/")
}

// Stable is the program that may be written down for later: the copy, where there is
// one and the program itself may vanish.
func Stable(d paths.Dirs, program string) string {
	kept := filepath.Join(Folder(d), filepath.Base(program))
	if MayVanish(program) && paths.Runnable(kept) {
		return kept
	}
	return program
}

// Same reports whether two files have the same content.
func Same(a, b string) bool {
	one, err := os.Open(a)
	if err != nil {
		return false
	}
	defer one.Close()
	two, err := os.Open(b)
	if err != nil {
		return false
	}
	defer two.Close()
	infoOne, err := one.Stat()
	infoTwo, errTwo := two.Stat()
	if err != nil || errTwo != nil || infoOne.Size() != infoTwo.Size() {
		return false
	}
	left, right := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(one, left)
		m, errTwo := io.ReadFull(two, right)
		if !bytes.Equal(left[:n], right[:m]) {
			return false
		}
		if err != nil || errTwo != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

// Copy makes a file a copy of a program, in one step: whoever runs it meanwhile gets
// the old one or the new one.
func Copy(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	temp := fmt.Sprintf("%s.%016x.new", to, rand.Uint64())
	target, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	err = errors.Join(err, target.Sync(), target.Close())
	if err == nil {
		err = os.Rename(temp, to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
