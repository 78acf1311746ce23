package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
)

// The install script checks signatures with OpenSSL where minisign is missing. Where both
// are, only a release's own page is believed.
func TestInstallScriptChecksSignatures(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl isn't installed")
	}
	if err := exec.Command("sh", "-c", "openssl pkeyutl -help 2>&1 | grep -q -e -rawin").Run(); err != nil {
		t.Skip("OpenSSL 3 isn't installed")
	}
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	otherPublic, _, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("hookmux-1.0.0-%s-%s", runtime.GOOS, runtime.GOARCH)
	program := []byte("#!/bin/sh\necho hookmux 1.0.0\n")
	packed, err := archive(name, []file{{"bin/hookmux", 0o755, program}, {"bin/hookmux-hook", 0o755, program},
		{docFolder + "LICENSE", 0o644, program}},
		time.Unix(1_700_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	sums := fmt.Appendf(nil, "%x  %s.tar.gz\n", sha256.Sum256(packed), name)
	script, err := os.ReadFile("../../../packaging/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	with, without := toolFolder(t, "openssl"), toolFolder(t)
	for _, c := range []struct {
		name, path, args, want string
		key                    minisign.PublicKey
		change                 func(files map[string][]byte)
		installed              bool
	}{
		{name: "right", path: with, want: "the signature is right", key: public, installed: true},
		{name: "right, over the hash", path: with, want: "the signature is right", key: public, installed: true,
			change: func(files map[string][]byte) { files["SHA256SUMS.minisig"] = signHash(t, private, sums) }},
		{name: "other sums", path: with, want: "the signature of http", key: public, change: func(files map[string][]byte) {
			files["SHA256SUMS"] = append([]byte("# "), sums...)
		}},
		{name: "another key", path: with, want: "is wrong; nothing was installed", key: otherPublic},
		{name: "an empty signature", path: with, want: "is wrong; nothing was installed", key: public,
			change: func(files map[string][]byte) { files["SHA256SUMS.minisig"] = nil }},
		{name: "no signature", path: with, want: "SHA256SUMS.minisig, the signature, can't be fetched", key: public,
			change: func(files map[string][]byte) { delete(files, "SHA256SUMS.minisig") }},
		{name: "a damaged archive", path: with, want: name + ".tar.gz is damaged", key: public,
			change: func(files map[string][]byte) { files[name+".tar.gz"] = packed[:len(packed)-1] }},
		{name: "a missing archive", path: with, want: name + ".tar.gz can't be fetched", key: public,
			change: func(files map[string][]byte) { delete(files, name+".tar.gz") }},
		{name: "nothing to check with", path: without, want: "neither minisign nor OpenSSL 3 is installed; nothing", key: public},
		{name: "nothing to check with, and allowed", path: without, args: "--no-signature", want: "wasn't checked", key: public,
			installed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := map[string][]byte{"install.sh": script, "SHA256SUMS": sums, name + ".tar.gz": packed,
				"SHA256SUMS.minisig": minisign.Sign(private, sums)}
			if c.change != nil {
				c.change(files)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text, ok := files[strings.TrimPrefix(r.URL.Path, "/")]
				if !ok {
					http.NotFound(w, r)
					return
				}
				_, _ = w.Write(text)
			}))
			defer server.Close()
			home := t.TempDir()
			cmd := exec.Command("/bin/sh", "-c", "curl -fsSL --retry 0 "+server.URL+"/install.sh | sh -s -- --from "+server.URL+" "+c.args)
			cmd.Env = []string{"HOME=" + home, "PATH=" + c.path, "HOOKMUX_VERSION=1.0.0", "HOOKMUX_PUBLIC_KEY=" + c.key.String()}
			out, err := cmd.CombinedOutput()
			if (err == nil) != c.installed || !strings.Contains(string(out), c.want) {
				t.Errorf("it ended with %v, want installed: %v and %q said:\n%s", err, c.installed, c.want, out)
			}
			if _, err := os.Stat(filepath.Join(home, ".local/bin/hookmux")); (err == nil) != c.installed {
				t.Errorf("the program is there: %v, want %v", err == nil, c.installed)
			}
		})
	}
}

// signHash signs as the minisign program does: the hash of the text.
func signHash(t *testing.T, key minisign.PrivateKey, text []byte) []byte {
	t.Helper()
	r := minisign.NewReader(bytes.NewReader(text))
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	return r.Sign(key)
}

// toolFolder returns a folder with the programs of a bare machine and some more.
func toolFolder(t *testing.T, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append(more, "sh", "curl", "uname", "mktemp", "mkdir", "mv", "rm", "rmdir", "cp", "cat", "cut", "sed", "sort",
		"tar", "gzip", "grep", "find", "head", "tail", "wc", "sha256sum", "dirname") {
		if at, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(at, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}
