package shells

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// shellKind is one shell with the start files of an ordinary person.
type shellKind struct {
	name  string
	files map[string]string // below the home
	// login and plain start it at a terminal.
	login, plain []string
	// completes says why its completion cannot be tried here; nil: it can.
	completes func() string
}

// Claude's own installer makes an alias of the name in people's start files.
const claudeAlias = "alias claude=\"$HOME/.claude/local/claude\"\n"

// A login shell sets PATH anew; people put their own programs in front.
const ownPrograms = "export PATH=\"$HOME/.local/bin:$PATH\"\n"

var kinds = []shellKind{
	{
		name: "bash",
		files: map[string]string{
			".bash_profile": ownPrograms + "if [ -f ~/.bashrc ]; then . ~/.bashrc; fi\n",
			".bashrc": "case $- in *i*) ;; *) return;; esac\nHISTCONTROL=ignoreboth\nshopt -s checkwinsize\nPS1='\\w\\$ '\n" +
				"alias ll='ls -alF'\n" + claudeAlias +
				"if [ -f /usr/share/bash-completion/bash_completion ]; then . /usr/share/bash-completion/bash_completion; fi\n" +
				"eval \"$(hookmux shell-init bash)\"\neval \"$(hookmux shell-init --mux0 bash)\"\n" +
				"source <(hookmux completion bash)\n",
		},
		login: []string{"-l", "-i"}, plain: []string{"-i"},
		completes: func() string {
			if _, err := os.Stat("/usr/share/bash-completion/bash_completion"); err != nil {
				return "bash-completion is not installed"
			}
			return ""
		},
	},
	{
		name: "zsh",
		files: map[string]string{
			".zprofile": ownPrograms + "export EDITOR=vi\n",
			".zshrc": "HISTFILE=~/.zsh_history\nHISTSIZE=1000\nSAVEHIST=1000\nsetopt appendhistory autocd nomatch\nbindkey -e\n" +
				"autoload -Uz compinit && compinit -u\nPS1='%~%# '\n" + claudeAlias +
				"eval \"$(hookmux shell-init zsh)\"\neval \"$(hookmux shell-init --mux0 zsh)\"\n" +
				"source <(hookmux completion zsh)\n",
		},
		login: []string{"-l", "-i"}, plain: []string{"-i"},
	},
	{
		name: "fish",
		files: map[string]string{
			".config/fish/config.fish": "set -gx PATH $HOME/.local/bin $PATH\nif status is-interactive\n    set -g fish_greeting\n    alias ll 'ls -alF'\n" +
				"    hookmux shell-init fish | source\n    hookmux shell-init --mux0 fish | source\n" +
				"    hookmux completion fish | source\nend\n",
		},
		login: []string{"-l", "-i"}, plain: []string{"-i"},
	},
}

// In each shell the functions of `shell-init` start agents through
// hookmux, completion completes, and mux0's variables lead to the daemon.
func TestRealShells(t *testing.T) {
	if os.Getenv("HOOKMUX_VERIFY") == "" {
		t.Skip("make verify asks for it")
	}
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("shells at a terminal are left out: tmux is not installed")
	}
	bin := buildPrograms(t)
	for _, kind := range kinds {
		for _, mode := range []string{"login", "plain"} {
			t.Run(kind.name+" "+mode, func(t *testing.T) {
				program, err := exec.LookPath(kind.name)
				if err != nil {
					t.Skipf("the shell %s is left out: it is not installed here", kind.name)
				}
				args := kind.plain
				if mode == "login" {
					args = kind.login
				}
				r := newShellHome(t, tmux, bin, kind)
				r.open(append([]string{program}, args...))
				r.checkFunctions()
				r.checkMux0()
				if kind.completes != nil {
					if why := kind.completes(); why != "" {
						t.Logf("completion of the shell %s is left out: %s", kind.name, why)
						return
					}
				}
				r.checkCompletion()
			})
		}
	}
}

func buildPrograms(t *testing.T) string {
	t.Helper()
	dir := sandbox.TempDir(t)
	if err := programs.Build(dir, programs.Options{Released: true}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// shellHome is a home with a shell at a terminal in it.
type shellHome struct {
	t    *testing.T
	tmux string
	base string
	home string
	env  []string
}

// patience is generous: the machine may have a lot to do.
const patience = time.Minute

func newShellHome(t *testing.T, tmux, bin string, kind shellKind) *shellHome {
	t.Helper()
	base, err := testbed.ShortTemp()
	if err != nil {
		t.Fatal(err)
	}
	r := &shellHome{t: t, tmux: tmux, base: base, home: filepath.Join(base, "home")}
	programs := filepath.Join(r.home, ".local/bin")
	r.write(filepath.Join(programs, "claude"), "#!/bin/sh\nfor word in \"$@\"; do echo \"word: $word\"; done\n", 0o755)
	for _, name := range []string{"hookmux", "hookmux-hook"} {
		if err := os.Symlink(filepath.Join(bin, name), filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range kind.files {
		r.write(filepath.Join(r.home, name), text, 0o644)
	}
	r.env = []string{
		"PATH=" + programs + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + r.home, "TERM=xterm-256color",
		"LANG=C.UTF-8", "USER=hookmux", "SHELL=/bin/" + kind.name,
		"HOOKMUX_RUNTIME_DIR=" + filepath.Join(base, "run"), "XDG_CONFIG_HOME=" + filepath.Join(r.home, ".config"),
		"XDG_DATA_HOME=" + filepath.Join(r.home, ".local/share"), "XDG_STATE_HOME=" + filepath.Join(r.home, ".local/state"),
		"XDG_CACHE_HOME=" + filepath.Join(r.home, ".cache"),
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen:\n%s", strings.TrimSpace(r.screen()))
		}
		r.stopDaemon()
		_, _ = r.run("kill-server")
		testbed.RemoveAll(base)
	})
	return r
}

// stopDaemon ends the daemon that the shell's start files started.
func (r *shellHome) stopDaemon() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := &client.Client{Socket: filepath.Join(r.base, "run", "daemon.sock"), Timeout: patience}
	info, err := c.Info(ctx)
	if err != nil || info.PID <= 1 {
		return // none was started
	}
	if p, err := os.FindProcess(info.PID); err == nil {
		_ = p.Signal(os.Interrupt)
	}
}

func (r *shellHome) write(file, text string, mode os.FileMode) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		r.t.Fatal(err)
	}
}

// run asks this room's own tmux server.
func (r *shellHome) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.tmux, append([]string{"-S", filepath.Join(r.base, "tmux")}, args...)...)
	cmd.Env = r.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r *shellHome) screen() string {
	out, _ := r.run("capture-pane", "-p", "-J")
	return out
}

// open starts the shell at a terminal and waits for its prompt.
func (r *shellHome) open(argv []string) {
	r.t.Helper()
	r.write(filepath.Join(r.base, "tmux.conf"), "set -g status off\nset -s escape-time 0\nset -g remain-on-exit "+
		"on\n", 0o600)
	line := "cd " + shellquote.Word(r.home) + ` && exec env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" ` +
		shellquote.Line(append(append([]string(nil), r.env...), argv...))
	out, err := r.run("-f", filepath.Join(r.base, "tmux.conf"), "new-session", "-d", "-x", "120", "-y", "40", line)
	if err != nil {
		r.t.Fatalf("tmux: %v %s", err, out)
	}
	r.enter("echo begun > begun")
	r.awaitFile("begun")
}

// enter types a line, as a person does.
func (r *shellHome) enter(line string) {
	r.t.Helper()
	if out, err := r.run("send-keys", "-l", line); err != nil {
		r.t.Fatalf("tmux: %v %s", err, out)
	}
	if out, err := r.run("send-keys", "Enter"); err != nil {
		r.t.Fatalf("tmux: %v %s", err, out)
	}
}

// awaitFile waits for a file of the home that ends with a whole line.
func (r *shellHome) awaitFile(name string) string {
	r.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if b, err := os.ReadFile(filepath.Join(r.home, name)); err == nil && strings.HasSuffix(string(b), "\n") {
			return string(b)
		}
	}
	r.t.Fatalf("the shell did not write %s", name)
	return ""
}

// checkFunctions wants `claude` to go through hookmux, which adds its hooks and keeps
// the arguments.
func (r *shellHome) checkFunctions() {
	r.t.Helper()
	r.enter(`claude 'two words' --flag > part; echo over >> part; mv part said`)
	said := r.awaitFile("said")
	for _, want := range []string{"word: two words\n", "word: --flag\n", "word: --settings\n"} {
		if !strings.Contains(said, want) {
			r.t.Errorf("claude was started without %q:\n%s", strings.TrimSpace(want), said)
		}
	}
}

// checkMux0 wants a program of the shell to find the daemon by mux0's variables.
func (r *shellHome) checkMux0() {
	r.t.Helper()
	r.enter(`sh -c 'echo "$MUX0_HOOK_SOCK|$MUX0_TERMINAL_ID" > variables'`)
	socket, id, _ := strings.Cut(strings.TrimSpace(r.awaitFile("variables")), "|")
	if socket == "" || id == "" {
		r.t.Fatalf("MUX0_HOOK_SOCK is %q, MUX0_TERMINAL_ID %q", socket, id)
	}
	conn, err := net.DialTimeout("unix", socket, patience)
	if err != nil {
		r.t.Fatalf("no daemon listens at MUX0_HOOK_SOCK: %v", err)
	}
	fmt.Fprintf(conn, `{"terminalId":%q,"event":"running","agent":"claude","at":%d}`+"\n", id, time.Now().Unix())
	conn.Close()
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		os.Remove(filepath.Join(r.home, "list"))
		r.enter(`hookmux ps --json > part; echo >> part; mv part list`)
		list := r.awaitFile("list")
		if sessionRuns(list) {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("`hookmux ps` does not show what a mux0 client reported: %s", list)
		}
	}
}

// sessionRuns reports whether a list of sessions has one of Claude that runs.
func sessionRuns(list string) bool {
	lines := bufio.NewScanner(strings.NewReader(list))
	lines.Buffer(nil, 1<<20)
	type session struct{ Agent, Status string }
	for lines.Scan() {
		var one session
		var many []session
		if json.Unmarshal(lines.Bytes(), &one) != nil && json.Unmarshal(lines.Bytes(), &many) != nil {
			continue
		}
		for _, s := range append(many, one) {
			if s.Agent == "claude" && s.Status == "running" {
				return true
			}
		}
	}
	return strings.Contains(list, `"status": "running"`)
}

// checkCompletion wants Tab to complete a verb.
func (r *shellHome) checkCompletion() {
	r.t.Helper()
	if _, err := r.run("send-keys", "C-l"); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.run("send-keys", "-l", "hookmux unins"); err != nil {
		r.t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(300 * time.Millisecond) {
		if strings.Contains(r.screen(), "hookmux unins") {
			break
		}
		if time.Now().After(end) {
			r.t.Fatal("the shell does not show what is typed")
		}
	}
	if _, err := r.run("send-keys", "Tab"); err != nil {
		r.t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if strings.Contains(r.screen(), "hookmux uninstall") {
			break
		}
		if time.Now().After(end) {
			r.t.Fatal("Tab does not complete `hookmux unins`")
		}
	}
	_, _ = r.run("send-keys", "C-c")
}
