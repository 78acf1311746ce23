package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
)

// newRelease returns one of two systems with next to nothing in it, written to a
// temporary folder. The test runs at the top of the tree then.
func newRelease(t *testing.T) *release {
	t.Helper()
	t.Chdir("../../..")
	r := &release{Version: "1.2.3", Home: homePage, out: t.TempDir(), work: t.TempDir(), when: time.Unix(1_700_000_000, 0),
		sums: map[string]string{}}
	for _, target := range [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}} {
		name := "hookmux-1.2.3-" + target[0] + "-" + target[1]
		digest := sha256.Sum256([]byte(name))
		r.Archives = append(r.Archives, archived{System: target[0], Arch: target[1], Name: name, digest: digest,
			Sum: fmt.Sprintf("%x", digest), files: []file{{"bin/hookmux", 0o755, []byte("h")},
				{"bin/hookmux-hook", 0o755, []byte("hh")}, {"README.md", 0o644, []byte("r")},
				{"share/man/man1/hookmux.1", 0o644, []byte("m")}}})
	}
	return r
}

func readMade(t *testing.T, r *release, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.out, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each archive's address and sum stand in the recipes for its system.
func TestRecipesNameEveryArchive(t *testing.T) {
	r := newRelease(t)
	r.PublicKey = "RWpublic"
	if err := r.writeRecipes(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"homebrew/hookmux.rb", "aur/PKGBUILD", "aur/.SRCINFO", "nix/flake.nix"} {
		text := readMade(t, r, name)
		for _, a := range r.Archives {
			want := []string{a.Address(), a.Sum}
			switch {
			case strings.HasPrefix(name, "aur/") && a.System != "linux":
				continue
			case strings.HasPrefix(name, "nix/"):
				want[1] = a.SRI()
			}
			for _, one := range want {
				if strings.Count(text, one) != 1 {
					t.Errorf("%s has %q %d times, want it once:\n%s", name, one, strings.Count(text, one), text)
				}
			}
		}
		if strings.Contains(text, "{{") || strings.Contains(text, "<no value>") || !strings.Contains(text, "1.2.3") {
			t.Errorf("%s is not filled in, want version and addresses:\n%s", name, text)
		}
	}
	script := readMade(t, r, "install.sh")
	for _, want := range []string{`version="${HOOKMUX_VERSION:-1.2.3}"`, `:-RWpublic}"`,
		homePage + "/releases/download/v$version"} {
		if !strings.Contains(script, want) {
			t.Errorf("install.sh lacks %q, want it filled in", want)
		}
	}
}

// The main package names one package for each system, and these have the programs.
func TestNPMPackages(t *testing.T) {
	r := newRelease(t)
	if err := r.writeNPMPackages(); err != nil {
		t.Fatal(err)
	}
	type description struct {
		Name, Version        string
		Bin                  map[string]string
		OS, CPU              []string
		OptionalDependencies map[string]string
	}
	read := func(name string) (d description, files map[string]int64) {
		files = map[string]int64{}
		zip, err := gzip.NewReader(strings.NewReader(readMade(t, r, "npm/"+name+"-1.2.3.tgz")))
		if err != nil {
			t.Fatal(err)
		}
		for tr := tar.NewReader(zip); ; {
			h, err := tr.Next()
			if errors.Is(err, io.EOF) {
				return d, files
			}
			if err != nil {
				t.Fatal(err)
			}
			files[h.Name] = h.Mode
			if h.Name == "package/package.json" {
				if err := json.NewDecoder(tr).Decode(&d); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	main, files := read("hookmux")
	if main.Bin["hookmux"] != "launcher.sh" || files["package/launcher.sh"] != 0o755 {
		t.Errorf("bin is %v and the files are %v, want launcher.sh, which can be run", main.Bin, files)
	}
	want := map[string][2]string{"hookmux-linux-x64": {"linux", "x64"}, "hookmux-linux-arm64": {"linux", "arm64"},
		"hookmux-darwin-x64": {"darwin", "x64"}, "hookmux-darwin-arm64": {"darwin", "arm64"}}
	if len(main.OptionalDependencies) != len(want) {
		t.Errorf("the main package names %v, want %d packages", main.OptionalDependencies, len(want))
	}
	for name, system := range want {
		d, files := read(name)
		if main.OptionalDependencies[name] != "1.2.3" || d.Name != name || d.Version != "1.2.3" ||
			strings.Join(d.OS, " ") != system[0] || strings.Join(d.CPU, " ") != system[1] {
			t.Errorf("%s is %+v, want version 1.2.3 for %v", name, d, system)
		}
		if files["package/bin/hookmux"] != 0o755 || files["package/bin/hookmux-hook"] != 0o755 {
			t.Errorf("%s has %v, want both programs", name, files)
		}
	}
}

func TestLinuxPlaces(t *testing.T) {
	for name, want := range map[string]string{
		"bin/hookmux-hook":                   "/usr/bin/hookmux-hook",
		"share/man/man1/hookmux.1":           "/usr/share/man/man1/hookmux.1",
		"share/systemd/user/hookmux.service": "/usr/lib/systemd/user/hookmux.service",
		"share/doc/hookmux/LICENSE":          "/usr/share/doc/hookmux/copyright",
		"share/doc/hookmux/README.md":        "/usr/share/doc/hookmux/README.md",
	} {
		if got := linuxPlace(name); got != want {
			t.Errorf("%s goes to %q, want %q", name, got, want)
		}
	}
}

// An archive has only what something on its system reads.
func TestIsRead(t *testing.T) {
	for name, want := range map[string]string{
		"share/launchd/x.plist": "darwin", "share/systemd/user/x.service": "linux", "share/polkit-1/actions/x": "linux",
		"share/man/man1/hookmux.1": "darwin linux", "share/doc/hookmux/README.md": "darwin linux",
	} {
		var got []string
		for _, system := range []string{"darwin", "linux"} {
			if isRead(name, system) {
				got = append(got, system)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is read on %v, want %s", name, got, want)
		}
	}
}

// With a key, encrypted or not, the sums are signed; without one the release says so.
func TestSignature(t *testing.T) {
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := private.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	r := newRelease(t)
	r.sums["a"] = strings.Repeat("0", 64)
	if err := r.writeSums(); err != nil {
		t.Fatal(err)
	}
	sign := func(env map[string]string) {
		t.Helper()
		s, err := signerFrom(func(name string) string { return env[name] })
		if err != nil {
			t.Fatal(err)
		}
		if r.PublicKey, err = s.publicKey(); err != nil {
			t.Fatal(err)
		}
		if err := s.signSums(r); err != nil {
			t.Fatal(err)
		}
	}
	sign(nil)
	if text := readMade(t, r, unsignedFile); !strings.Contains(text, "not signed") {
		t.Errorf("%s says %q, want that it is not signed", unsignedFile, text)
	}
	sign(map[string]string{keyVariable: string(plain)})
	if _, err := os.Stat(filepath.Join(r.out, unsignedFile)); err == nil {
		t.Error("a signed release is marked as not signed")
	}
	sums, signature := readMade(t, r, sumsFile), readMade(t, r, sumsFile+".minisig")
	if !minisign.Verify(public, []byte(sums), []byte(signature)) {
		t.Errorf("the signature does not fit:\n%s", signature)
	}
	if minisign.Verify(public, bytes.ToUpper([]byte(sums)), []byte(signature)) {
		t.Error("the signature fits other sums as well")
	}
	if !strings.HasPrefix(r.PublicKey, "RW") || strings.Contains(r.PublicKey, "\n") {
		t.Errorf("the public key is %q, want one line", r.PublicKey)
	}
	if _, err := signerFrom(func(string) string { return "no key" }); err == nil {
		t.Error("what is no key was taken for one")
	}
}
