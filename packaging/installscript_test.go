package packaging

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// scriptTestBed is a home and a server with archives, for the install script.
type scriptTestBed struct {
	t     *testing.T
	shell string
	home  string
	files map[string][]byte // what the server has
	url   string
}

func newScriptTestBed(t *testing.T, shell string) *scriptTestBed {
	s := &scriptTestBed{t: t, shell: shell, home: t.TempDir(), files: map[string][]byte{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := s.files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// offer makes an archive whose programs say their version.
func (s *scriptTestBed) offer(version string, more ...string) {
	s.t.Helper()
	name := fmt.Sprintf("hookmux-%s-%s-%s", version, runtime.GOOS, runtime.GOARCH)
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	program := "#!/bin/sh\necho hookmux " + version + "\n"
	for _, file := range append([]string{"bin/hookmux", "bin/hookmux-hook", "bin/hookmux-fleet", "bin/hookmux-keeper", "bin/hookmux-start", "bin/hookmux-lab", "share/doc/hookmux/README.md",
		"share/doc/hookmux/LICENSE", "share/doc/hookmux/CHANGELOG.md", "share/man/man1/hookmux.1"}, more...) {
		h := &tar.Header{Name: name + "/" + file, Mode: 0o755, Size: int64(len(program)), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(h); err != nil {
			s.t.Fatal(err)
		}
		if _, err := w.Write([]byte(program)); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		s.t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.files[name+".tar.gz"] = out.Bytes()
	s.files["SHA256SUMS"] = fmt.Appendf(nil, "%x  %s.tar.gz\n", sha256.Sum256(out.Bytes()), name)
}

// run runs the script as a person does, and gives what it said.
func (s *scriptTestBed) run(version string, env []string, args ...string) (string, error) {
	s.t.Helper()
	cmd := exec.Command(s.shell, append([]string{"install.sh"}, args...)...)
	cmd.Env = append([]string{"HOME=" + s.home, "PATH=/usr/local/bin:/usr/bin:/bin", "HOOKMUX_VERSION=" + version,
		"HOOKMUX_DOWNLOAD_URL=" + s.url}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// runBesideFiles runs the script in a folder with the files of a release, in which somebody had a folder share.
func (s *scriptTestBed) runBesideFiles() {
	s.t.Helper()
	folder, home := s.t.TempDir(), s.t.TempDir()
	text, err := os.ReadFile("install.sh")
	if err != nil {
		s.t.Fatal(err)
	}
	files := map[string][]byte{"install.sh": text}
	maps.Copy(files, s.files)
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	theirs := filepath.Join(home, ".local/share/man")
	if err := os.MkdirAll(theirs, 0o700); err != nil {
		s.t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"--uninstall"}} {
		cmd := exec.Command(s.shell, append([]string{filepath.Join(folder, "install.sh")}, args...)...)
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "HOOKMUX_VERSION=2.0.0"}
		if out, err := cmd.CombinedOutput(); err != nil {
			s.t.Errorf("beside the files of a release, %v ended with %v:\n%s", args, err, out)
		}
	}
	if _, err := os.Stat(theirs); err != nil {
		s.t.Errorf("a folder of somebody else is gone: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Join(home, ".local")); err != nil || len(entries) != 1 {
		s.t.Errorf("%v is left (error %v), want share alone, which was there before", entries, err)
	}
}

func (s *scriptTestBed) tree(dir string) string {
	s.t.Helper()
	var names []string
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error { // a folder that is not there is empty
		if err == nil && !e.IsDir() {
			names = append(names, path[len(dir)+1:])
		}
		return nil
	})
	return strings.Join(names, " ")
}

// Installs, upgrades and removes, and leaves nothing behind; what does not have the right
// checksum or signature is not installed.
func TestInstallScript(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		if _, err := exec.LookPath("wget"); err != nil {
			t.Skip("neither curl nor wget is installed")
		}
	}
	for _, shell := range []string{"sh", "dash", "bash"} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			s := newScriptTestBed(t, shell)
			s.offer("1.0.0", "share/old-page")
			out, err := s.run("1.0.0", nil)
			if err != nil || !strings.Contains(out, "hookmux 1.0.0 is installed") ||
				!strings.Contains(out, "isn't signed") || !strings.Contains(out, "add it to your PATH") {
				t.Fatalf("it ended with %v and said, want version, PATH and no signature:\n%s", err, out)
			}
			local := filepath.Join(s.home, ".local")
			want := "bin/hookmux bin/hookmux-fleet bin/hookmux-hook bin/hookmux-keeper bin/hookmux-lab bin/hookmux-start share/doc/hookmux/CHANGELOG.md share/doc/hookmux/LICENSE " +
				"share/doc/hookmux/README.md share/doc/hookmux/installed-files share/man/man1/hookmux.1"
			if got := s.tree(local); got != want+" share/old-page" {
				t.Errorf("it installed %s, want %s and share/old-page", got, want)
			}

			// A download that was changed on its way leaves everything as it was.
			s.offer("2.0.0")
			for name := range s.files {
				if strings.Contains(name, "2.0.0") {
					s.files[name] = append(s.files[name], 'x')
				}
			}
			if out, err = s.run("2.0.0", nil); err == nil || !strings.Contains(out, "checksum") {
				t.Errorf("a wrong checksum: ended with %v and said %s, want a refusal", err, out)
			}
			if out, err = s.run("2.0.0", []string{"HOOKMUX_PUBLIC_KEY=RWx"}); err == nil ||
				!strings.Contains(out, "SHA256SUMS.minisig, the signature, can't be fetched") {
				t.Errorf("a missing signature: ended with %v and said %s, want a refusal", err, out)
			}
			if got := s.tree(local); got != want+" share/old-page" {
				t.Errorf("after a refusal there is %s, want what was there", got)
			}

			s.offer("2.0.0")
			if out, err = s.run("2.0.0", []string{"PATH=/usr/local/bin:/usr/bin:/bin:" + local + "/bin"}); err != nil ||
				!strings.Contains(out, "hookmux 2.0.0 is installed") || strings.Contains(out, "PATH") {
				t.Errorf("the upgrade ended with %v and said:\n%s", err, out)
			}
			if got := s.tree(local); got != want {
				t.Errorf("after the upgrade there is %s, want %s", got, want)
			}

			// Hooks that would be left without a program are named first.
			state := filepath.Join(s.home, ".local/state/hookmux")
			if err := os.MkdirAll(state, 0o700); err != nil {
				t.Fatal(err)
			}
			record := filepath.Join(state, "install.json")
			if err := os.WriteFile(record, []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err = s.run("2.0.0", nil, "--uninstall"); err == nil || !strings.Contains(out, "hookmux uninstall") {
				t.Errorf("with hooks in agents' files it ended with %v and said %s, want a refusal", err, out)
			}
			if err := os.Remove(record); err != nil {
				t.Fatal(err)
			}
			if out, err = s.run("2.0.0", nil, "--uninstall"); err != nil || !strings.Contains(out, "removed") {
				t.Errorf("--uninstall ended with %v and said:\n%s", err, out)
			}
			if got := s.tree(local); got != "" {
				t.Errorf("--uninstall left %s, want nothing", got)
			}
			for _, folder := range []string{"bin", "share"} {
				if _, err := os.Stat(filepath.Join(local, folder)); err == nil {
					t.Errorf("--uninstall left the folder %s, want it gone: it was not there before", folder)
				}
			}

			s.runBesideFiles()

			// Elsewhere, and not to a folder that depends on where one is.
			elsewhere := filepath.Join(s.home, "with a space")
			if out, err = s.run("2.0.0", []string{"HOOKMUX_INSTALL_DIR=" + elsewhere}); err != nil ||
				!strings.HasPrefix(s.tree(elsewhere), "bin/hookmux ") {
				t.Errorf("HOOKMUX_INSTALL_DIR: ended with %v, there is %q:\n%s", err, s.tree(elsewhere), out)
			}
			if out, err = s.run("2.0.0", []string{"HOOKMUX_INSTALL_DIR=here"}); err == nil {
				t.Errorf("a relative folder was taken, want a refusal: %s", out)
			}
		})
	}
}
