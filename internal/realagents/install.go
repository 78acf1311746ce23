package realagents

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// Installed is an agent that can be started.
type Installed struct {
	Name    string
	Version string
	Dir     string   // its folder in the cache
	Argv    []string // program plus leading arguments
	Env     []string // to be added to the environment WriteHome returns
}

// CacheDir returns where agents are kept: HOOKMUX_AGENTS_DIR, else below the user's
// cache folder. Never below the source tree: they are hundreds of megabytes.
func CacheDir() (string, error) {
	if d := os.Getenv("HOOKMUX_AGENTS_DIR"); d != "" {
		return filepath.Abs(d)
	}
	d, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("agents: no cache folder: %w; set HOOKMUX_AGENTS_DIR", err)
	}
	return filepath.Join(d, "hookmux", "agents"), nil
}

// Install makes sure that the pinned version of an agent is in the cache (the default one if cacheDir
// is empty) and returns how to start it. What is there already is used as it is, without network.
// Progress gets one line at a time and may be nil. Several processes may install at once.
func Install(ctx context.Context, name, cacheDir string, progress func(string)) (Installed, error) {
	a, err := mustKnow(name)
	if err != nil {
		return Installed{}, err
	}
	return InstallAgent(ctx, a, cacheDir, progress)
}

// InstallAgent is Install for an entry that differs from the table, such as
// one with another Version.
func InstallAgent(ctx context.Context, a Agent, cacheDir string, progress func(string)) (Installed, error) {
	if progress == nil {
		progress = func(string) {}
	}
	if cacheDir == "" {
		var err error
		if cacheDir, err = CacheDir(); err != nil {
			return Installed{}, err
		}
	}
	in := Installed{Name: a.Name, Version: a.Version}
	var err error
	if in.Dir, err = ensureInstalled(ctx, a, cacheDir, progress); err != nil {
		return Installed{}, err
	}
	program := filepath.Join(in.Dir, filepath.FromSlash(a.expand(a.Program, here())))
	in.Argv = []string{program}
	if a.Runtime != "" {
		in.Argv = []string{filepath.Join(in.Dir, filepath.FromSlash(a.expand(a.Runtime, here()))), program}
	}
	if a.Node {
		dir, err := ensureInstalled(ctx, a.nodeRuntime(), cacheDir, progress)
		if err != nil {
			return Installed{}, err
		}
		node := nodeProgram(dir)
		if a.Host != "" {
			if program, err = writeHost(in.Dir, a.Host); err != nil {
				return Installed{}, fmt.Errorf("%s: cannot write the program around it: %w", a.Name, err)
			}
		}
		in.Argv = []string{node, program}
		in.Env = []string{"PATH=" + filepath.Dir(node) + string(os.PathListSeparator) + basePath()}
	}
	return in, nil
}

//go:embed hosts
var hosts embed.FS

// writeHost puts a host next to the library that it loads. Several processes may do so at once, and
// each starts what it wrote.
func writeHost(dir, name string) (string, error) {
	source, err := hosts.ReadFile("hosts/" + name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(source)
	file := filepath.Join(dir, fmt.Sprintf("hookmux-%x-%s", sum[:6], name))
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	return file, files.WriteVia(".host-*", file, source)
}

// nodeRuntime returns the Node that an agent runs on.
func (a Agent) nodeRuntime() Agent {
	if a.NewNode {
		return newNodeRuntime
	}
	return nodeRuntime
}

// nodeProgram finds node in its folder; the package is named differently on
// darwin/arm64.
func nodeProgram(dir string) string {
	p := filepath.Join(dir, filepath.FromSlash(nodeRuntime.expand(nodeRuntime.Program, here())))
	if _, err := os.Stat(p); err != nil {
		if m, _ := filepath.Glob(filepath.Join(dir, "node_modules", "node-*", "bin", "node")); len(m) > 0 {
			return m[0]
		}
	}
	return p
}

// isInstalled reports whether a folder holds a finished install. The folder appears by rename, so
// that it exists is enough; the stamp guards against a folder that was emptied by hand.
func isInstalled(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, stampName))
	return err == nil
}

const stampName = "hookmux-installed.json"

// ensureInstalled returns the folder of an agent, installing it when it isn't there.
func ensureInstalled(ctx context.Context, a Agent, cacheDir string, progress func(string)) (string, error) {
	if !a.supportsPlatform(here()) {
		return "", fmt.Errorf("%s: not published for %s; run it on one of %s", a.Name, here(),
			strings.Join(a.Platforms, " "))
	}
	dir := filepath.Join(cacheDir, a.cacheFolder())
	if isInstalled(dir) {
		return dir, nil
	}
	specs := a.npmPackages(here())
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("%s: npm not found on PATH; install Node.js with npm, it is needed to fetch %s", a.Name,
			strings.Join(specs, " "))
	}
	if err := os.MkdirAll(cacheDir, 0o755); err != nil {
		return "", fmt.Errorf("%s: cannot make the cache: %w; set HOOKMUX_AGENTS_DIR to a writable folder", a.Name, err)
	}
	unlock, err := lockPath(ctx, filepath.Join(cacheDir, "."+a.cacheFolder()+".lock"), func() {
		progress(a.Name + ": waiting for another install of it to finish")
	})
	if err != nil {
		return "", fmt.Errorf("%s: cannot lock the cache: %w", a.Name, err)
	}
	defer unlock()
	if isInstalled(dir) {
		return dir, nil
	}
	if why := a.failedBefore(); why != "" {
		return "", errors.New(why)
	}
	if err := fetchPackages(ctx, npm, a, specs, dir, progress); err != nil {
		a.noteFailure(err)
		return "", err
	}
	return dir, nil
}

// A registry that can't be reached costs npm a minute of waiting, and dozens of tests ask for the
// same agent: those of one run, which share the folder HOOKMUX_AGENTS_TRIED, ask for it once.

// failedBefore returns why the agent couldn't be installed earlier in this run; "" if it wasn't tried.
func (a Agent) failedBefore() string {
	why, _ := os.ReadFile(a.failureNote())
	return string(why)
}

func (a Agent) noteFailure(err error) {
	if note := a.failureNote(); note != "" {
		_ = os.WriteFile(note, []byte(err.Error()), 0o600) // without it, the next test tries again
	}
}

func (a Agent) failureNote() string {
	dir := os.Getenv("HOOKMUX_AGENTS_TRIED")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, a.cacheFolder())
}

// fetchPackages installs into a temporary folder next to the final one and renames it. The caller
// holds the lock, so leftovers of the same name aren't in use.
func fetchPackages(ctx context.Context, npm string, a Agent, specs []string, dir string, progress func(string)) error {
	prefix := ".tmp-" + a.cacheFolder() + "-"
	if old, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), prefix+"*")); len(old) > 0 {
		for _, o := range old {
			_ = os.RemoveAll(o) // a leftover that stays only costs space
		}
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), prefix)
	if err != nil {
		return fmt.Errorf("%s: cannot make a folder to install into: %w; set HOOKMUX_AGENTS_DIR to a writable folder",
			a.Name, err)
	}
	defer os.RemoveAll(tmp)

	began := time.Now()
	progress(fmt.Sprintf("%s: installing %s", a.Name, strings.Join(specs, " ")))
	if err := os.WriteFile(filepath.Join(tmp, "package.json"), []byte("{\"private\":true}\n"), 0o644); err != nil {
		return fmt.Errorf("%s: %w", a.Name, err)
	}
	if err := runNPM(ctx, npm, a.Name, tmp, specs, progress); err != nil {
		return err
	}
	if a.Bundle != "" {
		if err := fetchBundle(ctx, npm, a.expand(a.Bundle, here()), tmp); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	program := filepath.Join(tmp, filepath.FromSlash(a.expand(a.Program, here())))
	if a.Brotli != "" {
		progress(a.Name + ": unpacking the program")
		packed := filepath.Join(tmp, filepath.FromSlash(a.expand(a.Brotli, here())))
		if err := unpackBrotli(packed, program); err != nil {
			return fmt.Errorf("%s: cannot unpack the program: %w; the package may have changed its layout", a.Name, err)
		}
	}
	if a.Name == nodeRuntime.Name {
		program = nodeProgram(tmp)
	}
	if st, err := os.Stat(program); err != nil || st.IsDir() {
		rel, _ := filepath.Rel(tmp, program)
		return fmt.Errorf("%s: %s installed, but %s is not in it; the package may have changed its layout", a.Name,
			strings.Join(specs, " "), rel)
	}
	if !a.Node {
		if err := os.Chmod(program, 0o755); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	stamp, _ := json.Marshal(map[string]any{"name": a.Name, "version": a.Version, "packages": specs,
		"at": began.UTC().Format(time.RFC3339)})
	if err := os.WriteFile(filepath.Join(tmp, stampName), append(stamp, '\n'), 0o644); err != nil {
		return fmt.Errorf("%s: %w", a.Name, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("%s: cannot replace the broken install: %w; remove %s by hand", a.Name, err, dir)
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("%s: %w", a.Name, err)
	}
	progress(fmt.Sprintf("%s: installed %s in %s", a.Name, a.Version, time.Since(began).Round(time.Second)))
	return nil
}

// runNPM installs without scripts: packages get no chance to run code or to
// fetch from elsewhere while installing.
func runNPM(ctx context.Context, npm, name, dir string, specs []string, progress func(string)) error {
	args := append([]string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock",
		"--no-update-notifier", "--loglevel=error", "--prefix", dir}, specs...)
	cmd := exec.CommandContext(ctx, npm, args...)
	cmd.Dir = dir
	ownGroup(cmd)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: cannot start npm: %w", name, err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	began, tick := time.Now(), time.NewTicker(5*time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			switch {
			case err == nil:
				return nil
			case ctx.Err() != nil:
				return fmt.Errorf("%s: install stopped: %w", name, ctx.Err())
			}
			return fmt.Errorf("%s: npm could not install %s (%w): %s; check the registry with `npm ping`", name,
				strings.Join(specs, " "), err, lastError(out.String()))
		case <-tick.C:
			progress(fmt.Sprintf("%s: still installing, %d s", name, int(time.Since(began).Seconds())))
		}
	}
}

// lastError picks the line of npm's output that says most.
func lastError(out string) string {
	best := ""
	for _, l := range strings.Split(out, "\n") {
		l = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(l, "npm error"), "npm ERR!"))
		if l == "" || strings.HasPrefix(l, "A complete log") {
			continue
		}
		if best == "" || strings.HasPrefix(best, "code ") {
			best = strings.TrimSpace(best + " " + l)
		}
	}
	if best == "" {
		best = "no message"
	}
	return best
}

// unpackBrotli writes the unpacked program and removes the packed file.
func unpackBrotli(packed, program string) error {
	src, err := os.Open(packed)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(program, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, brotli.NewReader(src))
	if err = errors.Join(err, dst.Close()); err != nil {
		return err
	}
	return os.Remove(packed)
}
