package packstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/version"
)

// Git fetches packs with the git program.
type Git struct {
	// Environ is the caller's environment, of which little is passed on.
	Environ []string
	// Timeout limits one call of git; 0 is two minutes.
	Timeout time.Duration
}

const (
	gitTimeout = 2 * time.Minute
	maxFetch   = 64 << 20 // bytes on disk, while it is fetched
	maxListed  = 4 << 20  // bytes of a list of files or refs
)

// passedOn are the variables that git gets: where programs are, how the network is reached, and
// who signs for ssh.
var passedOn = []string{"PATH", "SSH_AUTH_SOCK", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "SystemRoot", "TMPDIR"}

// workspace is a temporary folder in which git works.
type workspace struct {
	*Git
	dir string
}

func (g *Git) open() (*workspace, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("the program git is not there; install it, or take a folder")
	}
	dir, err := os.MkdirTemp("", "hookmux-pack-")
	if err != nil {
		return nil, err
	}
	return &workspace{g, dir}, nil
}

func (w *workspace) close() { _ = os.RemoveAll(w.dir) }

// environ returns git's environment: nothing that a user or a repository configured.
func (w *workspace) environ() []string {
	env := []string{"HOME=" + w.dir, "XDG_CONFIG_HOME=" + w.dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=never",
		"GIT_SSH_COMMAND=ssh -oBatchMode=yes -oClearAllForwardings=yes",
		"GIT_ALLOW_PROTOCOL=" + strings.Join(protocols, ":"), "GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0",
		"LC_ALL=C"}
	for _, variable := range w.Environ {
		if name, _, ok := strings.Cut(variable, "="); ok && slices.Contains(passedOn, name) {
			env = append(env, variable)
			if name == "SSL_CERT_FILE" { // which git itself calls so
				env = append(env, "GIT_SSL_CAINFO="+strings.TrimPrefix(variable, name+"="))
			}
		}
	}
	return env
}

// run calls git and returns what it printed.
func (w *workspace) run(ctx context.Context, args ...string) ([]byte, error) {
	timeout := w.Timeout
	if timeout == 0 {
		timeout = gitTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	safe := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.symlinks=false",
		"-c", "core.attributesFile=" + os.DevNull, "-c", "credential.helper=", "-c", "submodule.recurse=false",
		"-c", "transfer.fsckObjects=true", "-c", "gc.auto=0", "-c", "maintenance.auto=false"}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.dir, w.environ(), 5*time.Second
	out, failure := bounded.NewBuffer(maxListed), bounded.NewBuffer(4<<10)
	cmd.Stdout, cmd.Stderr = out, failure
	stop := w.watchSize(ctx, cancel)
	err := cmd.Run()
	tooLarge := stop()
	switch {
	case tooLarge:
		return nil, fmt.Errorf("the repository is larger than %d MiB; a pack is a small repository of its own",
			maxFetch>>20)
	case out.Overflowed():
		return nil, errors.New("the repository has too many files or versions; a pack is a small one of its own")
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("git did not end within %s", timeout)
	case err != nil:
		return nil, fmt.Errorf("git %s: %s", args[0], lastLine(string(failure.Bytes()), err))
	}
	return out.Bytes(), nil
}

// watchSize ends a call that fills the disk. The function it returns ends the watch and
// reports whether that happened.
func (w *workspace) watchSize(ctx context.Context, end func()) (stop func() bool) {
	done, ended := make(chan struct{}), make(chan bool, 1)
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				ended <- folderSize(w.dir) > maxFetch
				return
			case <-ctx.Done():
				<-done
				ended <- folderSize(w.dir) > maxFetch
				return
			case <-tick.C:
				if folderSize(w.dir) > maxFetch {
					end()
				}
			}
		}
	}()
	return func() bool { close(done); return <-ended }
}

func folderSize(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil // what goes away meanwhile has no size
	})
	return size
}

func lastLine(text string, err error) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" {
			return strings.TrimPrefix(line, "fatal: ")
		}
	}
	return err.Error()
}

// Fetch reads the pack of a repository. The origin it returns says which commit it was.
func (g *Git) Fetch(ctx context.Context, o Origin) (*Pack, Origin, error) {
	w, err := g.open()
	if err != nil {
		return nil, o, err
	}
	defer w.close()
	if _, err := w.run(ctx, "init", "-q", "--bare", "--template=", "."); err != nil {
		return nil, o, err
	}
	var full string
	if o.Is, full, err = w.findRef(ctx, o); err != nil {
		return nil, o, err
	}
	if _, err := w.run(ctx, "fetch", "-q", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance",
		"--", o.URL, "+"+full+":refs/hookmux/pack"); err != nil {
		return nil, o, err
	}
	commit, err := w.run(ctx, "rev-parse", "--verify", "--end-of-options", "refs/hookmux/pack^{commit}")
	if err != nil {
		return nil, o, err
	}
	o.Commit = strings.TrimSpace(string(commit))
	if o.Is == Commit && o.Commit != o.Ref {
		return nil, o, fmt.Errorf("%s is no commit", o.Ref)
	}
	files, err := w.readTree(ctx, o)
	if err != nil {
		return nil, o, err
	}
	pack, err := NewPack(files)
	return pack, o, err
}

// findRef returns what a ref is, and its full name.
func (w *workspace) findRef(ctx context.Context, o Origin) (RefKind, string, error) {
	if commitName.MatchString(o.Ref) {
		return Commit, o.Ref, nil
	}
	list, err := w.run(ctx, "ls-remote", "-q", "--", o.URL, "refs/tags/"+o.Ref, "refs/heads/"+o.Ref)
	if err != nil {
		return "", "", err
	}
	for _, kind := range []struct {
		is     RefKind
		prefix string
	}{{Tag, "refs/tags/"}, {Branch, "refs/heads/"}} {
		if bytes.Contains(append(list, '\n'), []byte("\t"+kind.prefix+o.Ref+"\n")) {
			return kind.is, kind.prefix + o.Ref, nil
		}
	}
	return "", "", fmt.Errorf("%s has neither a tag nor a branch %s", o.URL, o.Ref)
}

// readTree reads the files of a commit, or of a folder in it, without checking anything out.
// Files outside the folder are ignored.
func (w *workspace) readTree(ctx context.Context, o Origin) ([]File, error) {
	tree := o.Commit
	if o.Sub != "" {
		tree += ":" + o.Sub
		kind, err := w.run(ctx, "cat-file", "-t", tree)
		if err != nil || strings.TrimSpace(string(kind)) != "tree" {
			return nil, fmt.Errorf("%s has no folder %s at %s", o.URL, o.Sub, o.Ref)
		}
	}
	listed, err := w.run(ctx, "ls-tree", "-r", "-z", "-l", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(listed)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, e := range entries {
		if !isContent(e.name) {
			continue
		}
		data, err := w.run(ctx, "cat-file", "blob", e.object)
		if err != nil {
			return nil, err
		}
		if len(data) != e.size {
			return nil, fmt.Errorf("%s cannot be read whole", e.name)
		}
		files = append(files, File{e.name, data})
	}
	return files, nil
}

// treeEntry is one file of a commit.
type treeEntry struct {
	name, object string
	size         int
}

// parseTree reads what git ls-tree -r -z -l prints, and rejects what doesn't belong in a pack.
func parseTree(listed []byte) ([]treeEntry, error) {
	var entries []treeEntry
	seen := map[string]bool{}
	files, size := 0, 0
	for line := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		head, name, ok := strings.Cut(line, "\t")
		words := strings.Fields(head)
		if !ok || len(words) != 4 {
			return nil, errors.New("git's list of files cannot be read")
		}
		mode := treeMode(words[0])
		if mode&fs.ModeIrregular != 0 {
			return nil, fmt.Errorf("%s is a submodule; a pack has none", name)
		}
		for part := name; strings.Contains(part, "/"); {
			part = part[:strings.LastIndexByte(part, '/')]
			if err := checkEntry(part, fs.ModeDir); err != nil {
				return nil, err
			}
		}
		if err := checkEntry(name, mode); err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(words[3])
		switch {
		case err != nil || n < 0 || !commitName.MatchString(words[2]):
			return nil, errors.New("git's list of files cannot be read")
		case seen[strings.ToLower(name)]:
			return nil, fmt.Errorf("%s is there twice", name)
		case len(entries) >= maxEntries:
			return nil, fmt.Errorf("the repository has more than %d files; a pack is one of its own", maxEntries)
		}
		seen[strings.ToLower(name)] = true
		if isContent(name) {
			files++
			size += n
			if n > maxFile || size > maxContent || files > maxFiles {
				return nil, fmt.Errorf("%s: the pack is too large; it may have %d files of %d KiB", name, maxFiles,
					maxFile>>10)
			}
		}
		entries = append(entries, treeEntry{name, words[2], n})
	}
	return entries, nil
}

// treeMode returns the type that git's mode means; a submodule is irregular.
func treeMode(mode string) fs.FileMode {
	switch mode {
	case "100644", "100755", "100664":
		return 0
	case "120000":
		return fs.ModeSymlink
	case "040000":
		return fs.ModeDir
	}
	return fs.ModeIrregular
}

// Newest returns the origin with the newest tag that is a version, the same one if there is none
// newer. Refs other than tags stay.
func (g *Git) Newest(ctx context.Context, o Origin) (Origin, error) {
	if o.Is != Tag {
		return o, nil
	}
	w, err := g.open()
	if err != nil {
		return o, err
	}
	defer w.close()
	list, err := w.run(ctx, "ls-remote", "-q", "--tags", "--refs", "--", o.URL)
	if err != nil {
		return o, err
	}
	for line := range strings.Lines(string(list)) {
		_, ref, _ := strings.Cut(strings.TrimSpace(line), "\trefs/tags/")
		if isVersion(ref) && checkRef(ref) == nil && isVersion(o.Ref) &&
			version.Compare(strings.TrimPrefix(ref, "v"), strings.TrimPrefix(o.Ref, "v")) > 0 {
			o.Ref, o.Commit = ref, ""
		}
	}
	return o, nil
}

// isVersion reports whether a tag is a released version: v1.2.3.
func isVersion(ref string) bool {
	digits := strings.TrimPrefix(ref, "v")
	return digits != "" && strings.Trim(digits, "0123456789.") == "" && digits[0] != '.'
}
