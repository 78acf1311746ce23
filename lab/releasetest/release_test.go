package releasetest

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
)

// must runs a program of the machine.
func must(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q ended with %v, want success:\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// In a Debian of its own (HOOKMUX_CHROOT, made by debootstrap) where there is one, else in a folder that
// dpkg takes for the root of a machine.
func TestDeb(t *testing.T) {
	before, now := releases(t)
	needs(t, "dpkg")
	if os.Getuid() != 0 {
		t.Skip("dpkg installs as root only")
	}
	root := os.Getenv("HOOKMUX_CHROOT")
	if root == "" {
		t.Log("HOOKMUX_CHROOT is not set: dpkg uses an empty folder, and the package's scripts run outside of it")
		tryDebInFolder(t, before, now)
		return
	}
	for _, m := range []made{before, now} {
		text, err := os.ReadFile(m.file(t, "*.deb"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "tmp", m.version+".deb"), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	proc := filepath.Join(root, "proc")
	must(t, exec.Command("mount", "-t", "proc", "proc", proc))
	t.Cleanup(func() { must(t, exec.Command("umount", proc)) })
	p := newPlace(t, root, "/usr/bin")
	p.tryUpgrade(before, now,
		func() { p.run("/usr/bin/dpkg", "-i", "/tmp/"+before.version+".deb") },
		func() {
			p.run("/usr/bin/dpkg", "-i", "/tmp/"+now.version+".deb")
			for _, file := range []string{"lib/systemd/user/hookmux.service", "share/man/man1/hookmux.1.gz",
				"share/bash-completion/completions/hookmux"} {
				if _, err := os.Stat(filepath.Join(root, "usr", file)); err != nil &&
					!strings.HasPrefix(file, "share/man") { // a small Debian leaves manual pages out
					t.Errorf("the package lacks a file: %v", err)
				}
			}
		},
		func() {
			if out := p.run("/usr/bin/dpkg", "-r", "hookmux"); !strings.Contains(out, "hookmux uninstall") {
				t.Errorf("removing says, want a word about hooks that stay:\n%s", out)
			}
			if out := p.callHook(); out != "" {
				t.Errorf("without the program the hook says %q, want nothing", out)
			}
		})
	p.run("/usr/bin/dpkg", "--purge", "hookmux")
	wantNoFiles(t, filepath.Join(root, "usr"))
}

// systemFolder returns a folder that hookmux takes for a place of packages: agents run the programs
// there, and a copy of those in any other.
func systemFolder(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can write to a folder of the system")
	}
	root, err := os.MkdirTemp("/opt", "hookmux-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	return root
}

func tryDebInFolder(t *testing.T, before, now made) {
	t.Helper()
	root := systemFolder(t)
	for _, dir := range []string{"var/lib/dpkg/updates", "var/lib/dpkg/info"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"var/lib/dpkg/status", "var/lib/dpkg/available"} {
		if err := os.WriteFile(filepath.Join(root, file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dpkg := func(args ...string) {
		must(t, exec.Command("dpkg", append([]string{"--root=" + root, "--force-script-chrootless"}, args...)...))
	}
	p := newPlace(t, "", filepath.Join(root, "usr/bin"))
	p.tryUpgrade(before, now, func() { dpkg("-i", before.file(t, "*.deb")) }, func() { dpkg("-i", now.file(t, "*.deb")) },
		func() { dpkg("-r", "hookmux") })
	wantNoFiles(t, filepath.Join(root, "usr"))
}

// TestRPM uses a folder that rpm takes for the root of a machine. There is no shell in it, so the package's script
// is only looked at.
func TestRPM(t *testing.T) {
	before, now := releases(t)
	needs(t, "rpm")
	root := systemFolder(t)
	rpm := func(args ...string) {
		must(t, exec.Command("rpm", append([]string{"--root", root, "--nodeps", "--noscripts"}, args...)...))
	}
	must(t, exec.Command("rpm", "--root", root, "--initdb"))
	if script := must(t, exec.Command("rpm", "-qp", "--scripts", now.file(t, "*.rpm"))); !strings.Contains(script,
		"hookmux uninstall") {
		t.Errorf("the script at removal is, want a word about hooks that stay:\n%s", script)
	}
	p := newPlace(t, "", filepath.Join(root, "usr/bin"))
	p.tryUpgrade(before, now, func() { rpm("-i", before.file(t, "*.rpm")) }, func() { rpm("-U", now.file(t, "*.rpm")) },
		func() { rpm("-e", "hookmux") })
	wantNoFiles(t, filepath.Join(root, "usr"))
}

// serveReleases has the files of releases by version, as a server for downloads has them.
func serveReleases(t *testing.T, all ...made) string {
	mux := http.NewServeMux()
	for _, m := range all {
		mux.Handle("/v"+m.version+"/", http.StripPrefix("/v"+m.version, http.FileServer(http.Dir(m.dir))))
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// TestInstallScript fetches from a server on loopback. Signatures are checked where the releases have them.
func TestInstallScript(t *testing.T) {
	before, now := releases(t)
	needs(t, "sh", "curl")
	server := serveReleases(t, before, now)
	p := newPlace(t, "", "")
	p.bin = filepath.Join(p.home, ".local/bin")
	for i, entry := range p.env {
		if strings.HasPrefix(entry, "PATH=") {
			p.env[i] = "PATH=" + p.bin + ":/usr/local/bin:/usr/bin:/bin"
		}
	}
	script := func(m made, args ...string) string {
		p.env = append(p.env, "HOOKMUX_DOWNLOAD_URL="+server+"/v"+m.version)
		return p.run("/bin/sh", append([]string{m.file(t, "install.sh")}, args...)...)
	}
	install := func(m made) func() {
		return func() {
			out := script(m)
			_, err := os.Stat(filepath.Join(m.dir, "SHA256SUMS.minisig"))
			_, tool := exec.LookPath("minisign")
			if want := "the signature is right"; err == nil && tool == nil && !strings.Contains(out, want) {
				t.Errorf("the script says, want %q:\n%s", want, out)
			}
		}
	}
	p.tryUpgrade(before, now, install(before), func() {
		install(now)()
		p.runHooked("install", "--yes", "claude") // agents run a copy
	}, func() { script(now, "--uninstall", "--keep-hooks") })
	wantNoFiles(t, filepath.Join(p.home, ".local/bin"))
	wantNoFiles(t, filepath.Join(p.home, ".local/share/man"))
}

// TestOneLine installs from a server on loopback, upgrades and removes, each in one line, on an account that has
// nothing but a home.
func TestOneLine(t *testing.T) {
	before, now := releases(t)
	needs(t, "sh", "curl")
	server := serveReleases(t, before, now)
	home := sandbox.TempDir(t)
	line := func(text string) string {
		t.Helper()
		cmd := exec.Command("/bin/sh", "-c", text)
		cmd.Env, cmd.Dir = []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin"}, home
		if os.Getuid() == 0 { // nobody's account
			const uid = 65111
			for at := home; at != "/" && at != os.TempDir(); at = filepath.Dir(at) {
				_ = os.Chmod(at, 0o755)
			}
			if err := os.Chown(home, uid, uid); err != nil {
				t.Fatal(err)
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		}
		return must(t, cmd)
	}
	from := func(m made) string { return server + "/v" + m.version }
	for _, m := range []made{before, now} {
		out := line("curl -fsSL " + from(m) + "/install.sh | sh -s -- --from " + from(m))
		if _, err := os.Stat(filepath.Join(m.dir, "SHA256SUMS.minisig")); err == nil && !strings.Contains(out, "signature is right") {
			t.Errorf("installing %s says, want a word about the signature:\n%s", m.version, out)
		}
		if got := strings.TrimSpace(line("~/.local/bin/hookmux --version")); got != "hookmux "+m.version {
			t.Errorf("after installing %s the program says it is %q", m.version, got)
		}
	}
	line("curl -fsSL " + from(now) + "/install.sh | sh -s -- --uninstall")
	if left, _ := os.ReadDir(filepath.Join(home, ".local")); len(left) > 0 {
		t.Errorf("after the removal %v is left in ~/.local, want nothing", left)
	}
}

// TestArchive unpacks over a prefix, as docs/install.md says.
func TestArchive(t *testing.T) {
	before, now := releases(t)
	prefix := sandbox.TempDir(t)
	unpack := func(m made) func() {
		return func() {
			must(t, exec.Command("tar", "-xzf", m.file(t, "hookmux-*-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz"),
				"--strip-components=1", "-C", prefix))
		}
	}
	p := newPlace(t, "", filepath.Join(prefix, "bin"))
	p.tryUpgrade(before, now, unpack(before), func() {
		unpack(now)()
		p.runHooked("install", "--yes", "claude") // agents run a copy
	}, func() { _ = os.RemoveAll(filepath.Join(prefix, "bin")) })
}

// registry answers npm as far as installing goes.
func registry(t *testing.T, all ...made) string {
	var address string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if file, ok := strings.CutPrefix(name, "-/"); ok {
			for _, m := range all {
				if text, err := os.ReadFile(filepath.Join(m.dir, "npm", file)); err == nil {
					_, _ = w.Write(text)
					return
				}
			}
		}
		versions := map[string]any{}
		newest := ""
		for _, m := range all {
			file := fmt.Sprintf("%s-%s.tgz", name, m.version)
			text, err := os.ReadFile(filepath.Join(m.dir, "npm", file))
			if err != nil {
				continue
			}
			sum := sha512.Sum512(text)
			description := describePackage(t, text)
			description["dist"] = map[string]string{"tarball": address + "/-/" + file,
				"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
			versions[m.version], newest = description, m.version
		}
		if len(versions) == 0 {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"name": name, "versions": versions,
			"dist-tags": map[string]string{"latest": newest}})
	}))
	t.Cleanup(server.Close)
	address = server.URL
	return address
}

// describePackage reads package.json out of a package.
func describePackage(t *testing.T, text []byte) map[string]any {
	cmd := exec.Command("tar", "-xzOf", "-", "package/package.json")
	cmd.Stdin = bytes.NewReader(text)
	out, err := cmd.Output()
	description := map[string]any{}
	if err == nil {
		err = json.Unmarshal(out, &description)
	}
	if err != nil {
		t.Errorf("package.json cannot be read: %v", err)
	}
	return description
}

// npmPlace returns one where npm installs from a registry on loopback.
func npmPlace(t *testing.T, all ...made) *place {
	t.Helper()
	needs(t, "npm", "npx", "node")
	prefix := sandbox.TempDir(t)
	p := newPlace(t, "", filepath.Join(prefix, "bin"))
	p.env = append(p.env, "npm_config_registry="+registry(t, all...)+"/", "npm_config_prefix="+prefix,
		"npm_config_cache="+filepath.Join(p.home, ".npm"), "npm_config_audit=false", "npm_config_fund=false",
		"npm_config_update_notifier=false", "npm_config_yes=true")
	return p
}

// The upgrade that npm makes is one for agents as well after `hookmux install`, and what npm removes
// leaves them with the programs they had.
func TestNPM(t *testing.T) {
	before, now := releases(t)
	p := npmPlace(t, before, now)
	p.tryUpgrade(before, now,
		func() { p.run("npm", "install", "--global", "hookmux@"+before.version) },
		func() {
			p.run("npm", "install", "--global", "hookmux@"+now.version)
			p.runHooked("install", "--yes", "claude")
		},
		func() { p.run("npm", "uninstall", "--global", "hookmux") })
	p.awaitDaemon(now.version) // by the copy
}

// Agents run the same programs when the cache of npx is gone.
func TestNPX(t *testing.T) {
	_, now := releases(t)
	p := npmPlace(t, now)
	if out := p.run("npx", "hookmux", "--version"); !strings.Contains(out, "hookmux "+now.version) {
		t.Errorf("npx hookmux --version says %q, want version %s", out, now.version)
	}
	p.npx = true
	if out := p.runHooked("install", "--yes", "claude"); !strings.Contains(out, "share/hookmux/bin") {
		t.Errorf("install from npx says, want where the programs were copied to:\n%s", out)
	}
	if strings.Contains(p.settings(), "_npx") {
		t.Errorf("Claude's settings lead into the cache of npx:\n%s", p.settings())
	}
	p.endDaemon()
	if err := os.RemoveAll(filepath.Join(p.home, ".npm")); err != nil {
		t.Fatal(err)
	}
	p.awaitDaemon(now.version) // by the copy
	if out := p.runHooked("doctor", "claude"); !strings.Contains(out, "share/hookmux/bin") {
		t.Errorf("doctor says, want the copy named:\n%s", out)
	}
}

// TestAUR builds the package with makepkg; installing it would need pacman.
func TestAUR(t *testing.T) {
	_, now := releases(t)
	needs(t, "makepkg", "bsdtar", "fakeroot")
	dir := sandbox.TempDir(t)
	for _, file := range []string{now.file(t, "aur/PKGBUILD"), now.file(t, "hookmux-*-linux-amd64.tar.gz")} {
		must(t, exec.Command("cp", file, dir))
	}
	cmd := exec.Command("makepkg", "--nodeps", "--force", "--noconfirm")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PKGDEST="+dir, "PKGEXT=.pkg.tar.gz", "HOME="+dir,
		"PACMAN=true") // it wants some pacman, and asks it nothing
	if os.Getuid() == 0 { // makepkg refuses root
		const nobody = 65534
		must(t, exec.Command("chown", "-R", fmt.Sprint(nobody), dir))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	must(t, cmd)
	made := made{dir, now.version}.file(t, "hookmux-bin-*.pkg.tar.gz")
	list := must(t, exec.Command("tar", "-tzf", made))
	for _, want := range []string{"usr/bin/hookmux\n", "usr/bin/hookmux-hook\n", "usr/bin/hookmux-fleet\n", "usr/bin/hookmux-keeper\n", "usr/bin/hookmux-start\n", "usr/bin/hookmux-lab\n", "usr/lib/systemd/user/hookmux.service\n",
		"usr/share/licenses/hookmux-bin/LICENSE\n"} {
		if !strings.Contains(list, want) {
			t.Errorf("the package lacks %q:\n%s", want, list)
		}
	}
}

// Only whether Ruby can read it.
func TestFormula(t *testing.T) {
	_, now := releases(t)
	needs(t, "ruby")
	must(t, exec.Command("ruby", "-c", now.file(t, "homebrew/hookmux.rb")))
}

// Only whether Nix can read it.
func TestFlake(t *testing.T) {
	_, now := releases(t)
	needs(t, "nix-instantiate")
	must(t, exec.Command("nix-instantiate", "--parse", now.file(t, "nix/flake.nix")))
}
