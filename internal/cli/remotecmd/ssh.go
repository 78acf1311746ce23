package remotecmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/fleet/remote"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// sshFailed is ssh's exit code for what it could not do itself.
const sshFailed = 255

// batch runs a script there that asks nothing, and returns what it prints.
func batch(ctx context.Context, app *cmdutil.App, target, script string, in io.Reader) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	program, err := remote.Program()
	if err != nil {
		return "", err
	}
	args := append(append([]string{}, remote.LinkOptions...), "-C", "--", target, "sh -c "+shellquote.Argument(script))
	cmd := exec.CommandContext(ctx, program, args...)
	var out, said bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = app.Environ, in, &out, &said
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		why := termsafe.Line(strings.TrimSpace(lines[len(lines)-1]), 200)
		return out.String(), &sshError{target: target, code: cmd.ProcessState.ExitCode(), why: cmp.Or(why, err.Error())}
	}
	return out.String(), nil
}

// sshError says that something failed on the other machine, or on the way there.
type sshError struct {
	target string
	code   int
	why    string
}

func (e *sshError) Error() string {
	if e.code == sshFailed {
		return fmt.Sprintf("ssh %s: %s", e.target, e.why)
	}
	return fmt.Sprintf("on %s: %s", e.target, e.why)
}

// needsYou reports whether ssh failed because it needs you at the keyboard: to check the
// host's key, or to log in.
func (e *sshError) needsYou() bool {
	return e.code == sshFailed && (strings.Contains(e.why, "verification failed") || strings.Contains(e.why, "ermission denied") ||
		strings.Contains(e.why, "uthenticat"))
}

// interactive runs a script there in your terminal.
func interactive(ctx context.Context, app *cmdutil.App, target, script string) error {
	program, err := remote.Program()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "-t", "-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes",
		"-o", "ForwardAgent=no", "-o", "LogLevel=ERROR", "--", target, "sh -c "+shellquote.Argument(script))
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = app.Environ, app.Stdin, app.Stdout, app.Stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return fmt.Errorf("on %s it ended with exit code %d", target, exit.ExitCode())
		}
		return err
	}
	return nil
}

// machine describes the other machine.
type machine struct {
	os, arch string
	data     string // the folder of hookmux's programs and data
	program  string // hookmux there; "" if there is none
	version  string
}

// probeScript looks at the other machine. Its lines begin with a word that no banner has.
const probeScript = `data="${XDG_DATA_HOME:-$HOME/.local/share}/hookmux"
echo "hookmux-probe os $(uname -s)"
echo "hookmux-probe arch $(uname -m)"
echo "hookmux-probe data $data"
for p in "$data/bin/hookmux" "$(command -v hookmux 2>/dev/null)" "$HOME/.local/bin/hookmux" /usr/local/bin/hookmux /opt/homebrew/bin/hookmux; do
  if [ -n "$p" ] && [ -x "$p" ]; then
    echo "hookmux-probe program $p"
    echo "hookmux-probe version $("$p" --version 2>/dev/null)"
    break
  fi
done
exit 0`

// probe looks at the other machine.
func probe(ctx context.Context, app *cmdutil.App, target string) (*machine, error) {
	out, err := batch(ctx, app, target, probeScript, nil)
	if err != nil {
		return nil, err
	}
	m := &machine{}
	for line := range strings.Lines(out) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "hookmux-probe ")
		if !ok {
			continue
		}
		key, value, _ := strings.Cut(rest, " ")
		value = termsafe.Line(value, 0)
		switch key {
		case "os":
			m.os = map[string]string{"Linux": "linux", "Darwin": "darwin"}[value]
			m.os = cmp.Or(m.os, strings.ToLower(value))
		case "arch":
			m.arch = map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}[value]
			m.arch = cmp.Or(m.arch, value)
		case "data":
			m.data = value
		case "program":
			m.program = value
		case "version":
			m.version = value
		}
	}
	if m.os == "" || m.data == "" {
		return nil, fmt.Errorf("%s isn't a machine that hookmux knows: its shell didn't answer as a POSIX shell does; for an "+
			"account that may only run one command, see docs/remote.md", target)
	}
	return m, nil
}

// programsFor returns this machine's programs if they run there as well.
func programsFor(app *cmdutil.App, target string, m *machine) (folder string, err error) {
	if m.os != runtime.GOOS || m.arch != runtime.GOARCH {
		return "", cmdutil.FailWith(cmdutil.ExitFailed, fmt.Sprintf("there's no hookmux on %s, and this one doesn't run there: "+
			"install the release for %s/%s there (hookmux_*_%s_%s.tar.gz), then run this again", target, m.os, m.arch, m.os,
			m.arch))
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	folder = filepath.Dir(self)
	for _, name := range install.Names {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			dirs, derr := app.Dirs()
			if derr != nil {
				return "", derr
			}
			folder = install.ProgramFolder(dirs)
			break
		}
	}
	for _, name := range install.Names {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return "", fmt.Errorf("%s isn't beside hookmux, so it can't be copied to %s: %w", name, target, err)
		}
	}
	return folder, nil
}

// copyPrograms puts this machine's programs there.
func copyPrograms(ctx context.Context, app *cmdutil.App, target, folder string, m *machine) error {
	bin := m.data + "/bin"
	for _, name := range install.Names {
		file, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		to := bin + "/" + name
		_, err = batch(ctx, app, target, fmt.Sprintf("umask 077 && mkdir -p %s && cat >%s && chmod 755 %s && mv -f %s %s",
			shellquote.Argument(bin), shellquote.Argument(to+".new"), shellquote.Argument(to+".new"),
			shellquote.Argument(to+".new"), shellquote.Argument(to)), file)
		_ = file.Close()
		if err != nil {
			return fmt.Errorf("%s can't be copied: %w", name, err)
		}
	}
	m.program = bin + "/" + install.Names[0]
	return nil
}
