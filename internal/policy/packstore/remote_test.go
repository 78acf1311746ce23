package packstore

import (
	"context"
	"encoding/pem"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// below returns a pack in a folder of a repository, beside things that no pack may have.
func below(t *testing.T) *repository {
	t.Helper()
	files := map[string]string{"README.md": "all of us", "a/Rules": "a file", "a/b/.gitkeep": ""}
	for name, text := range goodPack() {
		files["team/rules pack/"+name] = text
	}
	r := newRepository(t, files)
	if err := os.Symlink("/etc/passwd", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("team", filepath.Join(r.dir, "other")); err != nil {
		t.Fatal(err)
	}
	r.git("add", "-A")
	r.commit("v1.1.0")
	return r
}

func TestAPackInAFolderOfARepository(t *testing.T) {
	r := below(t)
	want, err := ReadFolder(filepath.Join(r.dir, "team", "rules pack"))
	if err != nil {
		t.Fatal(err)
	}
	o := r.origin("v1.1.0")
	o.Sub = "team/rules pack"
	pack, got, err := fetcher().Fetch(context.Background(), o)
	if err != nil || pack.Hash() != want.Hash() || got.Sub != o.Sub {
		t.Errorf("a folder of a repository: %+v, %v; want the pack in it", got, err)
	}
	for sub, because := range map[string]string{"": "symbolic link", "nothing": "no folder", "a/Rules": "no folder",
		"other/rules pack": "no folder", "team": "no pack.yaml"} {
		o.Sub = sub
		if _, _, err := fetcher().Fetch(context.Background(), o); err == nil || !strings.Contains(err.Error(), because) {
			t.Errorf("folder %q: %v, want a refusal that says %q", sub, err, because)
		}
	}
}

func TestAddressesWithFolders(t *testing.T) {
	for text, want := range map[string]Origin{
		"git+https://git.example.com/team/all@v1":             {URL: "https://git.example.com/team/all", Ref: "v1"},
		"git+https://git.example.com/team/all@v1//rules/a":    {URL: "https://git.example.com/team/all", Ref: "v1", Sub: "rules/a"},
		"git+ssh://git@git.example.com/all@main//a b/":        {URL: "ssh://git@git.example.com/all", Ref: "main", Sub: "a b"},
		"git+file:///srv/all@1.2//sub":                        {URL: "file:///srv/all", Ref: "1.2", Sub: "sub"},
		"git+ssh://git@git.example.com:2222/~u/all@v2//x/y/z": {URL: "ssh://git@git.example.com:2222/~u/all", Ref: "v2", Sub: "x/y/z"},
	} {
		got, err := ParseOrigin(text, "/")
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
		if again, err := ParseOrigin(got.String(), "/"); err != nil || again != got {
			t.Errorf("%s written as %s is read as %+v, %v; want the same", text, got, again, err)
		}
	}
	for _, text := range []string{"git+https://a.test/r@v1//", "git+https://a.test/r@v1//../x", "git+https://a.test/r@v1///etc",
		"git+https://a.test/r@v1//a/../b", "git+https://a.test/r@v1//.git/x", "git+https://a.test/r@v1//a//b",
		"git+https://a.test/r//sub", "git+https://a.test/r//sub@v1", "git+https://a.test/r@v1//-x", "git+https://a.test/r@v1//a:b"} {
		if got, err := ParseOrigin(text, "/"); err == nil {
			t.Errorf("%s: %+v, want it refused", text, got)
		}
	}
}

// A repository behind https, served by git's own program: fetched with a certificate
// that is known, refused with one that is not.
func TestFetchByHTTPS(t *testing.T) {
	r := below(t)
	core, err := exec.Command("git", "--exec-path").Output()
	backend := filepath.Join(strings.TrimSpace(string(core)), "git-http-backend")
	if _, statErr := os.Stat(backend); err != nil || statErr != nil {
		t.Skip("git's http-backend is not there")
	}
	if _, err := os.Stat(filepath.Join(strings.TrimSpace(string(core)), "git-remote-https")); err != nil {
		t.Skip("this git speaks no https")
	}
	server := httptest.NewTLSServer(&cgi.Handler{Path: backend, Dir: r.dir, Env: []string{"GIT_HTTP_EXPORT_ALL=1",
		"GIT_PROJECT_ROOT=" + filepath.Dir(r.dir), "PATH=" + os.Getenv("PATH")}, InheritEnv: []string{"GIT_EXEC_PATH"}})
	defer server.Close()
	o := Origin{URL: server.URL + "/" + filepath.Base(r.dir) + "/.git", Ref: "v1.1.0", Sub: "team/rules pack"}
	otherServer := &Git{Environ: []string{"PATH=" + os.Getenv("PATH")}}
	if _, _, err := otherServer.Fetch(context.Background(), o); err == nil {
		t.Error("a certificate that nobody knows: want a refusal")
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	known := &Git{Environ: append(otherServer.Environ, "SSL_CERT_FILE="+file)}
	pack, got, err := known.Fetch(context.Background(), o)
	if err != nil || pack.Name != "team" || got.Is != Tag || got.Commit != r.git("rev-parse", "HEAD") {
		t.Errorf("by https: %+v, %v; want the pack at its commit", got, err)
	}
	if newest, err := known.Newest(context.Background(), Origin{URL: o.URL, Ref: "v1.0.0", Is: Tag, Sub: o.Sub}); err != nil ||
		newest.Ref != "v1.1.0" || newest.Sub != o.Sub {
		t.Errorf("the newest version: %+v, %v; want v1.1.0 of the same folder", newest, err)
	}
}
