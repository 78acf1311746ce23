package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// An apt repository is the folder of the release itself: `deb ADDRESS ./`. Its index is
// signed with an OpenPGP key, since apt takes no other; the key comes from the
// environment alone.
const (
	aptKeyVariable      = "HOOKMUX_APT_KEY" // an armored private key
	aptPasswordVariable = "HOOKMUX_APT_PASSWORD"
	aptPublicKey        = "hookmux.gpg"
)

// writeAptIndex describes the .deb files as apt wants it.
func (r *release) writeAptIndex() error {
	var index bytes.Buffer
	for _, a := range r.Linux() {
		name := fmt.Sprintf("hookmux_%s_%s.deb", r.Version, a.Arch)
		data, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		control, err := debControl(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(&index, "%s\nFilename: ./%s\nSize: %d\nSHA256: %x\n\n", strings.TrimSpace(control), name, len(data),
			sha256.Sum256(data))
	}
	packed, err := compress(index.Bytes())
	if err != nil {
		return err
	}
	about := fmt.Sprintf("Origin: hookmux\nLabel: hookmux\nSuite: stable\nArchitectures: %s\nDate: %s\nSHA256:\n",
		strings.Join(r.debArchitectures(), " "), r.when.Format("Mon, 02 Jan 2006 15:04:05 UTC"))
	for _, f := range []file{{"Packages", 0o644, index.Bytes()}, {"Packages.gz", 0o644, packed}} {
		if err := r.keepFile(f.name, f.data); err != nil {
			return err
		}
		about += fmt.Sprintf(" %x %d %s\n", sha256.Sum256(f.data), len(f.data), f.name)
	}
	return r.keepFile("Release", []byte(about))
}

func (r *release) debArchitectures() []string {
	var names []string
	for _, a := range r.Linux() {
		names = append(names, a.Arch)
	}
	return names
}

// signAptIndex writes InRelease, the signed index, with the public key next to it. Without a key
// there is neither, and apt rejects the repository unless configured to trust it.
func signAptIndex(r *release, getenv func(string) string) error {
	signed, public := filepath.Join(r.out, "InRelease"), filepath.Join(r.out, aptPublicKey)
	for _, old := range []string{signed, public} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	text := getenv(aptKeyVariable)
	if text == "" {
		fmt.Printf("the apt repository is not signed: %s is not set\n", aptKeyVariable)
		return nil
	}
	keys, err := openpgp.ReadArmoredKeyRing(strings.NewReader(text))
	if err != nil || len(keys) != 1 || keys[0].PrivateKey == nil {
		return fmt.Errorf("%s is not one armored private key: %w", aptKeyVariable, err)
	}
	key := keys[0]
	if key.PrivateKey.Encrypted {
		if err := key.PrivateKey.Decrypt([]byte(getenv(aptPasswordVariable))); err != nil {
			return fmt.Errorf("%s doesn't open %s: %w", aptPasswordVariable, aptKeyVariable, err)
		}
	}
	index, err := os.ReadFile(filepath.Join(r.out, "Release"))
	if err != nil {
		return err
	}
	var out, exported bytes.Buffer
	w, err := clearsign.Encode(&out, key.PrivateKey, &packet.Config{DefaultHash: 0})
	if err != nil {
		return err
	}
	if _, err := w.Write(index); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := key.Serialize(&exported); err != nil {
		return err
	}
	if err := os.WriteFile(public, exported.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(signed, append(out.Bytes(), '\n'), 0o644)
}

// debControl returns the description in a .deb: an ar archive with control.tar.gz in it.
func debControl(deb []byte) (string, error) {
	const head = 60
	rest, ok := bytes.CutPrefix(deb, []byte("!<arch>\n"))
	for ok && len(rest) >= head {
		name := strings.TrimRight(strings.TrimSpace(string(rest[:16])), "/")
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || size < 0 || head+size > len(rest) {
			break
		}
		if name == "control.tar.gz" {
			return controlIn(rest[head : head+size])
		}
		rest = rest[min(head+size+size%2, len(rest)):]
	}
	return "", errors.New("it has no control.tar.gz")
}

func controlIn(packed []byte) (string, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if err != nil {
			return "", fmt.Errorf("it has no file control: %w", err)
		}
		if strings.TrimPrefix(h.Name, "./") == "control" {
			text, err := io.ReadAll(r)
			return string(text), err
		}
	}
}
