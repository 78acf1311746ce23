package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// debOf returns a .deb with nothing but a description in it.
func debOf(t *testing.T, control string) []byte {
	t.Helper()
	packed, err := archive(".", []file{{"control", 0o644, []byte(control)}}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, part := range []file{{"debian-binary", 0, []byte("2.0\n")}, {"control.tar.gz", 0, packed}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", part.name, 0, 0, 0, "100644", len(part.data), part.data)
		if len(part.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// apt reads the release's folder as a repository: with the key it downloads the package,
// and with an index that was changed it doesn't.
func TestAptRepository(t *testing.T) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		t.Skip("apt-get isn't installed")
	}
	r := newRelease(t)
	for _, a := range r.Linux() {
		deb := debOf(t, fmt.Sprintf("Package: hookmux\nVersion: 1.2.3-1\nArchitecture: %s\nDescription: guards\n", a.Arch))
		if err := os.WriteFile(filepath.Join(r.out, "hookmux_1.2.3_"+a.Arch+".deb"), deb, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.writeAptIndex(); err != nil {
		t.Fatal(err)
	}
	key, err := openpgp.NewEntity("hookmux", "", "hookmux@example.com", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
	if err != nil {
		t.Fatal(err)
	}
	var armored bytes.Buffer
	w, err := armor.Encode(&armored, openpgp.PrivateKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := key.SerializePrivate(w, nil); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if err := signAptIndex(r, func(name string) string { return map[string]string{aptKeyVariable: armored.String()}[name] }); err != nil {
		t.Fatal(err)
	}
	if out, err := aptDownload(t, r.out); err != nil {
		t.Errorf("apt ended with %v, want the package downloaded:\n%s", err, out)
	}
	for name, change := range map[string]func(string) string{
		"InRelease":               func(s string) string { return strings.Replace(s, "Suite: stable", "Suite: sta8le", 1) },
		"hookmux_1.2.3_amd64.deb": func(s string) string { return s + "x" },
	} {
		at := filepath.Join(r.out, name)
		text := readMade(t, r, name)
		if err := os.WriteFile(at, []byte(change(text)), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := aptDownload(t, r.out); err == nil {
			t.Errorf("%s was changed, and apt takes it:\n%s", name, out)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// aptDownload has apt fetch the package from the folder, served on loopback.
func aptDownload(t *testing.T, folder string) (string, error) {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	dir := t.TempDir()
	for _, name := range []string{"state/lists/partial", "cache/archives/partial", "etc/apt/preferences.d", "etc/trusted.gpg.d"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	public := filepath.Join(dir, "hookmux.gpg")
	text, err := os.ReadFile(filepath.Join(folder, aptPublicKey))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{public: string(text), filepath.Join(dir, "sources.list"): "deb [arch=amd64 signed-by=" + public + "] " + server.URL + " ./\n",
		filepath.Join(dir, "state/status"): ""} {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-o", "Dir::State=" + dir + "/state", "-o", "Dir::State::status=" + dir + "/state/status", "-o", "Dir::Cache=" + dir + "/cache",
		"-o", "Dir::Etc::SourceList=" + dir + "/sources.list", "-o", "Dir::Etc::SourceParts=-", "-o", "APT::Architecture=amd64",
		"-o", "APT::Architectures::=amd64", "-o", "APT::Sandbox::User=", "-o", "Acquire::http::Proxy=DIRECT", "-o", "Acquire::Retries=0"}
	var said string
	for _, command := range [][]string{{"update", "-o", "APT::Update::Error-Mode=any"}, {"download", "hookmux"}} {
		cmd := exec.Command("apt-get", append(append([]string{}, args...), command...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		said += string(out)
		if err != nil {
			return said, err
		}
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "*.deb")); len(found) != 1 {
		return said, fmt.Errorf("%v was downloaded, want one package", found)
	}
	return said, nil
}
