// Command release builds the downloads: for each system one archive with the programs, manual
// pages, completions and service files; packages for Debian (with an apt index), Fedora and its
// derivatives, and for npm; recipes for Homebrew, the AUR and Nix; an install script; the sums of
// all, and their signature. The same commit produces the same bytes, on any machine with the same
// Go: nothing of the machine, the user or the time is in them.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

const (
	defaultTargets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"
	homePage       = "https://github.com/hookmux/hookmux"
)

func main() {
	out := flag.String("out", "dist", "folder for everything")
	targets := flag.String("targets", defaultTargets, "systems to build for")
	version := flag.String("version", "", "version to give the programs; what VERSION says if empty")
	source := flag.String("source", ".", "tree to build the programs from; packages are made as this tree says")
	flag.Parse()
	if err := buildRelease(*out, *source, *version, strings.Split(*targets, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release holds everything that one run makes.
type release struct {
	Version  string
	Home     string
	Archives []archived
	// PublicKey is the one that signatures are checked with; empty: there are none.
	PublicKey string

	out    string
	work   string
	source string
	when   time.Time
	sums   map[string]string // by file name
}

// archived is an archive for one system.
type archived struct {
	System, Arch string // as Go calls them
	Name         string // without .tar.gz
	Sum          string // SHA-256
	digest       [sha256.Size]byte
	files        []file
}

// Address returns the address it will be downloaded from.
func (a archived) Address() string {
	version := strings.Split(a.Name, "-")[1]
	return homePage + "/releases/download/v" + version + "/" + a.Name + ".tar.gz"
}

// SRI returns the sum as Nix writes it.
func (a archived) SRI() string { return "sha256-" + base64.StdEncoding.EncodeToString(a.digest[:]) }

// Nix returns what Nix calls the system.
func (a archived) Nix() string { return a.Pacman() + "-" + a.System }

// Pacman returns what pacman, rpm and Nix call the processor.
func (a archived) Pacman() string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[a.Arch]
}

// Linux returns the archives for Linux.
func (r *release) Linux() []archived {
	var list []archived
	for _, a := range r.Archives {
		if a.System == "linux" {
			list = append(list, a)
		}
	}
	return list
}

func buildRelease(out, source, version string, targets []string) error {
	r := &release{Home: homePage, source: source, Version: version, sums: map[string]string{}}
	if version == "" {
		text, err := os.ReadFile("VERSION")
		if err != nil {
			return fmt.Errorf("%w; run it at the top of the tree", err)
		}
		r.Version = strings.TrimSpace(string(text))
	}
	var err error
	if r.when, err = commitTime(); err != nil {
		return err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "release"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	signer, err := signerFrom(os.Getenv)
	if err != nil {
		return err
	}
	if r.PublicKey, err = signer.publicKey(); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return r.writeArchives(targets) },
		r.writeLinuxPackages, r.writeAptIndex, r.writeNPMPackages, r.writeRecipes, r.writeSums,
		func() error { return signer.signSums(r) },
		func() error { return signAptIndex(r, os.Getenv) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// writeArchives builds the programs and packs them.
func (r *release) writeArchives(targets []string) error {
	common, err := r.commonFiles()
	if err != nil {
		return err
	}
	for _, target := range targets {
		system, arch, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("%s: write it as linux/amd64", target)
		}
		dir := filepath.Join(r.work, system+"-"+arch)
		if err := r.buildPrograms(dir, system, arch); err != nil {
			return err
		}
		files := slices.DeleteFunc(slices.Clone(common), func(f file) bool { return !isRead(f.name, system) })
		for _, pkg := range r.programs() {
			name := path.Base(pkg)
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			files = append(files, file{"bin/" + name, 0o755, data})
		}
		name := fmt.Sprintf("hookmux-%s-%s-%s", r.Version, system, arch)
		data, err := archive(name, files, r.when)
		if err != nil {
			return err
		}
		if err := r.keepFile(name+".tar.gz", data); err != nil {
			return err
		}
		digest := sha256.Sum256(data)
		r.Archives = append(r.Archives, archived{System: system, Arch: arch, Name: name, files: files, digest: digest,
			Sum: fmt.Sprintf("%x", digest)})
	}
	return nil
}

// keepFile writes a file of the release and remembers its sum.
func (r *release) keepFile(name string, data []byte) error {
	at := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if strings.HasSuffix(name, ".sh") {
		mode = 0o755
	}
	if err := os.WriteFile(at, data, mode); err != nil {
		return err
	}
	return r.noteFile(name)
}

// noteFile remembers the sum of a file that is there.
func (r *release) noteFile(name string) error {
	data, err := os.ReadFile(filepath.Join(r.out, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	r.sums[name] = fmt.Sprintf("%x", sha256.Sum256(data))
	fmt.Printf("%s  %s\n", r.sums[name], name)
	return nil
}

const sumsFile = "SHA256SUMS"

func (r *release) writeSums() error {
	var names []string
	for name := range r.sums {
		names = append(names, name)
	}
	sort.Strings(names)
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "%s  %s\n", r.sums[name], name)
	}
	return os.WriteFile(filepath.Join(r.out, sumsFile), []byte(text.String()), 0o644)
}

// commitTime returns the time every file in the archives bears.
func commitTime() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the commit is not known: %w; set SOURCE_DATE_EPOCH", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %q is no number of seconds", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// programs returns the packages of the programs in every download, the Makefile's PROGRAMS. An
// older source tree may lack some of them.
func (r *release) programs() []string {
	all := []string{"./cmd/hookmux", "./cmd/hookmux-hook", "./cmd/hookmux-fleet", "./cmd/hookmux-keeper", "./cmd/hookmux-start", "./lab/cmd/hookmux-lab"}
	return slices.DeleteFunc(all, func(pkg string) bool {
		_, err := os.Stat(filepath.Join(r.source, pkg))
		return err != nil
	})
}

// buildPrograms builds the programs for one system. Paths, the state of the repository
// and build ids stay out.
func (r *release) buildPrograms(dir, system, arch string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("go", append([]string{"build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X github.com/hookmux/hookmux/internal/version.String=" + r.Version,
		"-o", dir + string(filepath.Separator)}, r.programs()...)...)
	cmd.Dir = r.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOFLAGS=", "GOAMD64=v1",
		"GOARM64=v8.0")
	return runLogged(cmd)
}

// commonFiles returns those that are the same everywhere. The program itself, built
// for this machine, writes the manual pages and the completions.
func (r *release) commonFiles() ([]file, error) {
	work := r.work
	here := filepath.Join(work, "here")
	if err := r.buildPrograms(here, goEnv("GOHOSTOS"), goEnv("GOHOSTARCH")); err != nil {
		return nil, err
	}
	program := filepath.Join(here, "hookmux")
	pages := filepath.Join(work, "man1")
	if err := runLogged(isolatedCommand(work, program, "man-pages", pages)); err != nil {
		return nil, err
	}
	var files []file
	entries, err := os.ReadDir(pages)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(pages, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{"share/man/man1/" + e.Name(), 0o644, data})
	}
	for shell, path := range map[string]string{
		"bash": "share/bash-completion/completions/hookmux",
		"zsh":  "share/zsh/site-functions/_hookmux",
		"fish": "share/fish/vendor_completions.d/hookmux.fish",
	} {
		var text bytes.Buffer
		cmd := isolatedCommand(work, program, "completion", shell)
		cmd.Stdout = &text
		if err := runLogged(cmd); err != nil {
			return nil, err
		}
		files = append(files, file{path, 0o644, text.Bytes()})
	}
	for from, to := range map[string]string{
		"README.md": docFolder + "README.md", "LICENSE": docFolder + "LICENSE",
		"CHANGELOG.md":                                     docFolder + "CHANGELOG.md",
		"packaging/systemd/hookmux.service":                "share/systemd/user/hookmux.service",
		"packaging/launchd/io.github.hookmux.daemon.plist": "share/launchd/io.github.hookmux.daemon.plist",
		"packaging/polkit/org.hookmux.approve.policy":      "share/polkit-1/actions/org.hookmux.approve.policy",
	} {
		data, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		files = append(files, file{to, 0o644, data})
	}
	return files, nil
}

// docFolder is where an archive has its documents: it unpacks over a folder such as ~/.local, and
// shouldn't leave stray files there.
const docFolder = "share/doc/hookmux/"

// isRead reports whether something on a system reads a file.
func isRead(name, system string) bool {
	switch {
	case strings.HasPrefix(name, "share/launchd/"):
		return system == "darwin"
	case strings.HasPrefix(name, "share/systemd/"), strings.HasPrefix(name, "share/polkit-1/"):
		return system == "linux"
	}
	return true
}

// isolatedCommand runs the new program away from the home of the user who builds.
func isolatedCommand(work, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"HOME=" + work, "HOOKMUX_RUNTIME_DIR=" + filepath.Join(work, "run"), "PATH=" + os.Getenv("PATH"),
		"LC_ALL=C"}
	return cmd
}

func goEnv(name string) string {
	out, _ := exec.Command("go", "env", name).Output() // an empty value makes the build say what is wrong
	return strings.TrimSpace(string(out))
}

func runLogged(cmd *exec.Cmd) error {
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return nil
}
