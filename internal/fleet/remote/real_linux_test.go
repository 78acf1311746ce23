package remote_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority/terminaltest"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/wire"
)

// The bare account on the other machine.
const (
	buildID   = 4244
	buildName = "build"
)

// firstAnswer is how long it may take from the command to the first request of the other
// machine that was answered.
const firstAnswer = 60 * time.Second

// bed is two accounts of one machine: one where you sit, and a bare one that is reached by
// ssh alone, as on another machine.
type bed struct {
	t    *testing.T
	bin  string
	home string // of the bare account
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{t: t, bin: terminaltest.Base() + "/bin", home: terminaltest.Base() + "/" + buildName}
	terminaltest.Extend(t, "/etc/passwd", fmt.Sprintf("%s:x:%d:%d::%s:/bin/bash\n", buildName, buildID, buildID, b.home))
	terminaltest.Extend(t, "/etc/group", fmt.Sprintf("%s:x:%d:\n", buildName, buildID))
	terminaltest.Extend(t, "/etc/shadow", buildName+":*:19000:0:99999:7:::\n")
	b.folder(b.bin, 0)
	if err := programs.Build(b.bin, programs.Options{}); err != nil {
		t.Fatal(err)
	}
	terminaltest.StartSSH(t)
	b.folder(b.home, buildID)
	b.folder(b.home+"/.claude", buildID) // an agent is there
	b.folder(terminaltest.Home()+"/.ssh", terminaltest.UserID)
	config, err := os.ReadFile(terminaltest.Config())
	if err != nil {
		t.Fatal(err)
	}
	port := regexp.MustCompile(`(?m)^Port (\d+)$`).FindSubmatch(config)
	b.file(terminaltest.Home()+"/.ssh/config", fmt.Sprintf("Host build\n HostName 127.0.0.1\n Port %s\n User %s\n "+
		"IdentityFile %s\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n", port[1], buildName,
		terminaltest.OwnKey(t, terminaltest.UserID)), terminaltest.UserID)
	return b
}

func (b *bed) folder(path string, owner int) {
	b.t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Chown(path, owner, owner); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) file(path, text string, owner int) {
	b.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Chown(path, owner, owner); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) login() *terminaltest.Terminal {
	b.t.Helper()
	term := terminaltest.LoginAs(b.t, terminaltest.VisitorID)
	term.Run("export PATH=" + b.bin + ":$PATH")
	return term
}

var shownCode = regexp.MustCompile(`Type ([a-z2-9]{4}) to confirm`)

// confirm types a command, and every code that is asked for.
func (b *bed) confirm(at *terminaltest.Terminal, command string) string {
	b.t.Helper()
	begin, end := at.Start(command)
	typed := 0
	terminaltest.Eventually(b.t, command+" ends", func() bool {
		shown := at.Screen()[begin:]
		if codes := shownCode.FindAllStringSubmatch(shown, -1); len(codes) > typed {
			typed = len(codes)
			at.Type(codes[typed-1][1])
		}
		return strings.Contains(shown, end)
	})
	return at.Screen()[begin:]
}

// asks has an agent of the bare account ask for a permission, and returns where its answer
// goes.
func (b *bed) asks(session, command string) (answer string) {
	b.t.Helper()
	request, answer := b.home+"/"+session+".json", b.home+"/"+session+".answer"
	b.file(request, fmt.Sprintf(`{"session_id":%q,"hook_event_name":"PermissionRequest","cwd":"/","tool_name":"Bash",`+
		`"tool_input":{"command":%q}}`, session, command), buildID)
	hook := exec.Command("sh", "-c", fmt.Sprintf("exec %s/.local/share/hookmux/bin/hookmux-hook claude PermissionRequest 300 "+
		"<%s >%s 2>&1", b.home, request, answer))
	hook.Env = []string{"HOME=" + b.home, "PATH=/usr/bin:/bin", "USER=" + buildName}
	hook.Dir = "/"
	hook.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: buildID, Gid: buildID}}
	if err := hook.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() { _ = hook.Wait() }() // it ends with the answer
	b.t.Cleanup(func() { _ = hook.Process.Kill() })
	return answer
}

// waiting returns the id of the request of the bare account that is about a command.
func (b *bed) waiting(at *terminaltest.Terminal, command string) string {
	b.t.Helper()
	said := at.Run("hookmux inbox --host build --json")
	var list []wire.InboxRequest
	if from, to := strings.Index(said, "["), strings.LastIndex(said, "]"); from < 0 || to < from ||
		json.Unmarshal([]byte(said[from:to+1]), &list) != nil {
		b.t.Fatalf("the inbox can't be read: %q", said)
	}
	for _, one := range list {
		if strings.Contains(one.Shown, command) {
			return one.ID
		}
	}
	b.t.Fatalf("no request about %q is in the inbox", command)
	return ""
}

func (b *bed) awaitAnswer(file, want string) {
	b.t.Helper()
	terminaltest.Eventually(b.t, "the agent hears "+want, func() bool {
		said, _ := os.ReadFile(file)
		return strings.Contains(string(said), want)
	})
}

// processes returns those of a user whose command line has a word.
func (b *bed) processes(uid int, word string) (list []int) {
	b.t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		info, err := os.Stat("/proc/" + e.Name())
		line, errLine := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && errLine == nil && info.Sys().(*syscall.Stat_t).Uid == uint32(uid) &&
			strings.Contains(strings.ReplaceAll(string(line), "\x00", " "), word) {
			list = append(list, pid)
		}
	}
	return list
}

// kill ends the processes of a user whose command line has a word, and returns how many.
func (b *bed) kill(uid int, word string) (n int) {
	b.t.Helper()
	for _, pid := range b.processes(uid, word) {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}

// You add a bare account by ssh, and answer an agent there. The link is cut and comes back;
// the daemon there is killed and started again; then you remove it.
func TestRealRemote(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	b := newBed(t)
	person := terminaltest.Login(t)
	person.Run("export PATH=" + b.bin + ":$PATH")
	watch := b.login()
	if out := person.Run("hookmux daemon start"); !strings.Contains(out, "running") {
		t.Fatalf("the daemon doesn't start: %q", out)
	}
	mark := watch.Mark()
	watch.Type("hookmux inbox -f\n")
	watch.Await(mark, "agents wait for you now")

	began := time.Now()
	if said := b.confirm(person, "hookmux remote add build"); !strings.Contains(said, "build is connected") {
		t.Fatalf("remote add: %q", said)
	}
	terminaltest.Eventually(t, "the account there is told that somebody looks", func() bool {
		return strings.Contains(person.Run("hookmux remote list"), "connected")
	})
	time.Sleep(time.Second) // who looks is told twice a second
	answer := b.asks("s-1", "touch first-of-all")
	watch.Await(mark, "first-of-all")
	if said := b.confirm(person, "hookmux approve "+b.waiting(person, "first-of-all")); !strings.Contains(said, "approved") {
		t.Errorf("approve: %q", said)
	}
	b.awaitAnswer(answer, `"allow"`)
	took := time.Since(began)
	t.Logf("from `hookmux remote add` to the first answer: %s", took.Round(time.Millisecond))
	if took > firstAnswer {
		t.Errorf("the first answer took %s, want at most %s", took, firstAnswer)
	}
	if hooks, _ := os.ReadFile(b.home + "/.claude/settings.json"); !strings.Contains(string(hooks), "hookmux-hook") {
		t.Errorf("the agent there isn't hooked: %q", hooks)
	}
	if list := person.Run("hookmux ps"); !strings.Contains(list, "HOST") || !strings.Contains(list, buildName) {
		t.Errorf("hookmux ps: %q, want a column HOST with build in it", list)
	}

	b.jumps()

	// The link is cut while an agent asks: the agent goes on by itself, and the link comes
	// back.
	b.asks("s-2", "touch second")
	watch.Await(mark, "touch second")
	if b.kill(terminaltest.UserID, "remote-serve") == 0 {
		t.Error("there's no ssh to be killed")
	}
	watch.Await(mark, "the link to its machine is lost")
	terminaltest.Eventually(t, "the link is back", func() bool {
		return strings.Contains(person.Run("hookmux remote list"), "connected")
	})

	// The daemon there is killed: the next link starts it.
	if b.kill(buildID, "hookmux daemon") == 0 {
		t.Error("there's no daemon to be killed")
	}
	answer = b.asks("s-3", "touch third")
	terminaltest.Eventually(t, "the request of the next daemon is shown", func() bool {
		return strings.Contains(person.Run("hookmux inbox"), "touch third")
	})
	if said := b.confirm(person, "hookmux deny "+b.waiting(person, "touch third")+" not now"); !strings.Contains(said, "denied") {
		t.Errorf("deny: %q", said)
	}
	b.awaitAnswer(answer, `"deny"`)

	// It is taken away again.
	if said := b.confirm(person, "hookmux remote remove build"); !strings.Contains(said, "hookmux is gone from build") {
		t.Errorf("remote remove: %q", said)
	}
	left, _ := filepath.Glob(b.home + "/.local/*/hookmux/*")
	if hooks, _ := os.ReadFile(b.home + "/.claude/settings.json"); strings.Contains(string(hooks), "hookmux") || len(left) > 0 {
		t.Errorf("left behind: %q in settings, and %v", hooks, left)
	}
	if list := person.Run("hookmux remote list"); !strings.Contains(list, "no other machines") {
		t.Errorf("remote list: %q, want none", list)
	}

	// Added to be looked at only: no agent is hooked, and what shows up can't be answered.
	if said := b.confirm(person, "hookmux remote add --read-only build"); !strings.Contains(said, "build is connected") {
		t.Fatalf("remote add --read-only: %q", said)
	}
	if hooks, _ := os.ReadFile(b.home + "/.claude/settings.json"); strings.Contains(string(hooks), "hookmux") {
		t.Errorf("an agent there is hooked: %q", hooks)
	}
	if list := person.Run("hookmux remote list"); !strings.Contains(list, "only read") {
		t.Errorf("remote list: %q, want that build is only read", list)
	}
	b.asks("s-5", "touch fifth")
	terminaltest.Eventually(t, "its session is listed as read-only", func() bool {
		list := person.Run("hookmux ps")
		return strings.Contains(list, "build (read-only)") && strings.Contains(list, "answer it there")
	})
	if said := b.confirm(person, "hookmux remote remove build"); !strings.Contains(said, "hookmux is gone from build") {
		t.Errorf("remote remove: %q", said)
	}
}

// jumps has an agent work in a pane of the bare account's tmux, and goes there from a tmux
// where you sit.
func (b *bed) jumps() {
	b.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		b.t.Log("tmux isn't installed: nobody jumps")
		return
	}
	there := func(args ...string) {
		b.t.Helper()
		cmd := exec.Command("tmux", append([]string{"-f", "/dev/null", "-S", b.home + "/tmux"}, args...)...)
		cmd.Env = []string{"HOME=" + b.home, "PATH=/usr/bin:/bin", "USER=" + buildName, "TERM=xterm", "SHELL=/bin/bash"}
		cmd.Dir = b.home
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: buildID, Gid: buildID}}
		if out, err := cmd.CombinedOutput(); err != nil {
			b.t.Fatalf("tmux %s: %v: %s", args[0], err, out)
		}
	}
	there("new-session", "-d", "-s", "work", "-x", "80", "-y", "20")
	b.t.Cleanup(func() { there("kill-server") })
	b.file(b.home+"/s-4.json", `{"session_id":"s-4","hook_event_name":"UserPromptSubmit","cwd":"/","prompt":"in a pane"}`, buildID)
	there("send-keys", "-t", "work", b.home+"/.local/share/hookmux/bin/hookmux-hook claude UserPromptSubmit 60 <"+b.home+
		"/s-4.json; echo you-are''-there", "Enter")
	near := b.login()
	mark := near.Mark()
	near.Type("tmux -f /dev/null -S ~/near new-session -s near\n") // the usual socket is every test's
	near.Await(mark, "[near]")
	near.Type("export PATH=" + b.bin + ":$PATH\n")
	terminaltest.Eventually(b.t, "the session in the pane is listed", func() bool {
		mark = near.Mark()
		near.Type("clear; hookmux ps; echo lis''ted\n")
		near.Await(mark, "listed")
		return strings.Contains(near.Screen()[mark:], "in a pane")
	})
	mark = near.Mark()
	near.Type("clear; hookmux jump build/s-4\n")
	near.Await(mark, "you-are-there")

	// Leaving ends the ssh: while it's there, a login of this machine could come from it.
	there("detach-client", "-s", "work")
	terminaltest.Eventually(b.t, "the jump's ssh ends", func() bool {
		return len(b.processes(terminaltest.UserID, "attach-session")) == 0
	})
}
