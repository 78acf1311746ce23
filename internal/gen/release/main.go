// Command release builds what people download: for each system one archive
// with both programs, manual pages, completions and service files, and the sums
// of all. The same commit gives the same bytes, on any machine with the same Go:
// nothing of the machine, the user or the hour is in them.
package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

var defaultTargets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"

func main() {
	out := flag.String("out", "dist", "folder for the archives")
	targets := flag.String("targets", defaultTargets, "systems to build for")
	flag.Parse()
	if err := release(*out, strings.Split(*targets, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(out string, targets []string) error {
	text, err := os.ReadFile("VERSION")
	if err != nil {
		return fmt.Errorf("%w; run it at the top of the tree", err)
	}
	version := strings.TrimSpace(string(text))
	when, err := commitTime()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	common, err := commonFiles(work, version)
	if err != nil {
		return err
	}
	var sums []string
	for _, target := range targets {
		system, arch, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("%s: write it as linux/amd64", target)
		}
		dir := filepath.Join(work, system+"-"+arch)
		if err := build(dir, system, arch, version); err != nil {
			return err
		}
		files := append([]file(nil), common...)
		for _, name := range []string{"hookmux", "hookmux-hook"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			files = append(files, file{"bin/" + name, 0o755, data})
		}
		name := fmt.Sprintf("hookmux-%s-%s-%s", version, system, arch)
		data, err := archive(name, files, when)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name+".tar.gz"), data, 0o644); err != nil {
			return err
		}
		sums = append(sums, fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(data), name))
		fmt.Print(sums[len(sums)-1])
	}
	sort.Slice(sums, func(i, j int) bool { return sums[i][66:] < sums[j][66:] })
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(strings.Join(sums, "")), 0o644)
}

// commitTime is the time every file in the archives bears.
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

// build makes both programs for one system. Paths, the state of the repository
// and build ids stay out.
func build(dir, system, arch, version string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X github.com/hookmux/hookmux/internal/version.String="+version,
		"-o", dir+string(filepath.Separator), "./cmd/hookmux", "./cmd/hookmux-hook")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOFLAGS=", "GOAMD64=v1",
		"GOARM64=v8.0")
	return told(cmd)
}

// commonFiles are those that are the same everywhere. The program itself, built
// for this machine, writes the manual pages and the completions.
func commonFiles(work, version string) ([]file, error) {
	here := filepath.Join(work, "here")
	if err := build(here, goEnv("GOHOSTOS"), goEnv("GOHOSTARCH"), version); err != nil {
		return nil, err
	}
	program := filepath.Join(here, "hookmux")
	pages := filepath.Join(work, "man1")
	if err := told(alone(work, program, "man-pages", pages)); err != nil {
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
		cmd := alone(work, program, "completion", shell)
		cmd.Stdout = &text
		if err := told(cmd); err != nil {
			return nil, err
		}
		files = append(files, file{path, 0o644, text.Bytes()})
	}
	for from, to := range map[string]string{
		"README.md": "README.md", "LICENSE": "LICENSE", "CHANGELOG.md": "CHANGELOG.md",
		"packaging/systemd/hookmux.service":             "share/systemd/user/hookmux.service",
		"packaging/launchd/io.github.hookmux.hub.plist": "share/launchd/io.github.hookmux.hub.plist",
		"packaging/polkit/org.hookmux.approve.policy":   "share/polkit-1/actions/org.hookmux.approve.policy",
	} {
		data, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		files = append(files, file{to, 0o644, data})
	}
	return files, nil
}

// alone runs the new program away from the home of whoever builds.
func alone(work, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"HOME=" + work, "HOOKMUX_RUNTIME_DIR=" + filepath.Join(work, "run"), "PATH=" + os.Getenv("PATH"),
		"LC_ALL=C"}
	return cmd
}

func goEnv(name string) string {
	out, _ := exec.Command("go", "env", name).Output() // an empty value makes the build say what is wrong
	return strings.TrimSpace(string(out))
}

func told(cmd *exec.Cmd) error {
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return nil
}
