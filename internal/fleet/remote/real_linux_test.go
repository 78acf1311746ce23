package remote_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	work string // where its agents work
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{t: t, bin: terminaltest.Base() + "/bin", home: terminaltest.Base() + "/" + buildName, work: terminaltest.Base() + "/work"}
	terminaltest.Extend(t, "/etc/passwd", fmt.Sprintf("%s:x:%d:%d::%s:/bin/bash\n", buildName, buildID, buildID, b.home))
	terminaltest.Extend(t, "/etc/group", fmt.Sprintf("%s:x:%d:\n", buildName, buildID))
	terminaltest.Extend(t, "/etc/shadow", buildName+":*:19000:0:99999:7:::\n")
	b.folder(b.bin, 0)
	if err := programs.Build(b.bin, programs.Options{}); err != nil {
		t.Fatal(err)
	}
	terminaltest.StartSSH(t)
	b.folder(b.home, buildID)
	b.folder(b.work, buildID)
	for _, folder := range []string{"", "/projects", "/projects/-work"} { // an agent is there, and worked
		b.folder(b.home+"/.claude"+folder, buildID)
	}
	b.file(b.home+"/.claude/projects/-work/s-0.jsonl", fmt.Sprintf(`{"type":"assistant","sessionId":"s-0","cwd":"/work","timestamp":%q,`+
		`"requestId":"r1","message":{"id":"m1","model":"claude-opus-4-5","usage":{"input_tokens":1234,"output_tokens":50}}}`+"\n",
		time.Now().UTC().Format(time.RFC3339)), buildID)
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

// installed returns the program that `hookmux remote add` put into the bare account.
func (b *bed) installed() string { return b.home + "/.local/share/hookmux/bin/hookmux" }

// there returns a command that the bare account runs.
func (b *bed) there(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = []string{"HOME=" + b.home, "PATH=/usr/bin:/bin", "USER=" + buildName, "TERM=xterm", "SHELL=/bin/bash", "HISTFILE="}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: buildID, Gid: buildID}}
	return cmd
}

// asks has an agent of the bare account ask for a permission, and returns where its answer
// goes.
func (b *bed) asks(session, command string) (answer string) {
	b.t.Helper()
	request, answer := b.work+"/"+session+".json", b.work+"/"+session+".answer"
	b.file(request, fmt.Sprintf(`{"session_id":%q,"hook_event_name":"PermissionRequest","cwd":"/","tool_name":"Bash",`+
		`"tool_input":{"command":%q}}`, session, command), buildID)
	hook := b.there("sh", "-c", fmt.Sprintf("exec %s-hook claude PermissionRequest 300 <%s >%s 2>&1", b.installed(), request,
		answer))
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
// the daemon there is killed and started again; the log here misses nothing of it. Then you
// remove it.
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
	bare := b.belongings()

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
	if said := person.Run("hookmux approve " + b.waiting(person, "touch third") + " --session"); !strings.Contains(said, "only at a terminal there") {
		t.Errorf("approve --session: %q, want it refused at once", said)
	}
	if said := b.confirm(person, "hookmux deny "+b.waiting(person, "touch third")+" not now"); !strings.Contains(said, "denied") {
		t.Errorf("deny: %q", said)
	}
	b.awaitAnswer(answer, `"deny"`)

	b.missesNothing(person)

	// It is taken away again.
	if said := b.confirm(person, "hookmux remote remove build"); !strings.Contains(said, "hookmux is gone from build") {
		t.Errorf("remote remove: %q", said)
	}
	b.wantGone(person, bare)

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

	b.throwsOut(person)
	if said := b.confirm(person, "hookmux remote remove build"); !strings.Contains(said, "hookmux is gone from build") {
		t.Errorf("remote remove: %q", said)
	}
	b.wantGone(person, bare)

	b.goesAway(person, bare)
}

// throwsOut has the bare account remove this machine from its paired devices: the link ends at
// once, and doesn't come back.
func (b *bed) throwsOut(person *terminaltest.Terminal) {
	b.t.Helper()
	list, err := b.there(b.installed(), "web", "devices", "list", "--json").Output()
	var devices []wire.WebDevice
	if err != nil || json.Unmarshal(list, &devices) != nil || len(devices) != 1 || devices[0].Pages == 0 {
		b.t.Fatalf("web devices there: %s, %v; want one, which is connected", list, err)
	}
	said := b.confirm(person, "ssh -t build "+b.installed()+" web devices remove "+devices[0].ID)
	terminaltest.Eventually(b.t, "the link is refused", func() bool {
		return strings.Contains(person.Run("hookmux remote list"), "isn't paired with yours any more")
	})
	if devices, err := b.there(b.installed(), "web", "devices", "list", "--json").Output(); err != nil || strings.Contains(string(devices), `"id"`) {
		b.t.Errorf("web devices there after %q: %s, %v; want none", said, devices, err)
	}
}

// goesAway removes the bare account while it can't be reached, and what is left there once it's
// back.
func (b *bed) goesAway(person *terminaltest.Terminal, bare map[string]string) {
	b.t.Helper()
	if said := b.confirm(person, "hookmux remote add build"); !strings.Contains(said, "build is connected") {
		b.t.Fatalf("remote add: %q", said)
	}
	back := b.cut(person)
	said := b.confirm(person, "hookmux remote remove build")
	later := "hookmux remote remove --there build"
	if !strings.Contains(said, "build couldn't be reached") || !strings.Contains(said, later) {
		b.t.Errorf("remote remove while the account can't be reached: %q, want what to do when it's back", said)
	}
	b.wantGoneHere(person)
	back()
	if said := b.confirm(person, later); !strings.Contains(said, "hookmux is gone from build") {
		b.t.Errorf("%s: %q", later, said)
	}
	b.wantGone(person, bare)
}

// cut cuts the link for good; back makes it possible again.
func (b *bed) cut(person *terminaltest.Terminal) (back func()) {
	b.t.Helper()
	config := terminaltest.Home() + "/.ssh/config"
	proper, err := os.ReadFile(config)
	if err != nil {
		b.t.Fatal(err)
	}
	b.file(config, regexp.MustCompile(` Port \d+\n`).ReplaceAllString(string(proper), " Port 1\n"), terminaltest.UserID)
	if b.kill(terminaltest.UserID, "remote-serve") == 0 {
		b.t.Error("there's no ssh to be killed")
	}
	terminaltest.Eventually(b.t, "the link is lost", func() bool {
		return !strings.Contains(person.Run("hookmux remote list"), "connected")
	})
	return func() { b.file(config, string(proper), terminaltest.UserID) }
}

// belongings returns what the bare account has: its files anywhere, with their content, and
// hookmux's processes.
func (b *bed) belongings() map[string]string {
	b.t.Helper()
	list := map[string]string{}
	note := func(path string) {
		info, err := os.Lstat(path)
		if err == nil && info.Sys().(*syscall.Stat_t).Uid == buildID {
			var text []byte
			if info.Mode().IsRegular() {
				text, _ = os.ReadFile(path)
			}
			list[path] = fmt.Sprintf("%s %x", info.Mode(), sha256.Sum256(text))
		}
	}
	_ = filepath.WalkDir(b.home, func(path string, _ os.DirEntry, _ error) error {
		note(path) // what ended meanwhile isn't there
		return nil
	})
	for _, shared := range []string{"/tmp/*", "/var/tmp/*", "/run/*", "/run/user/*", "/dev/shm/*"} {
		found, _ := filepath.Glob(shared)
		for _, path := range found {
			note(path)
		}
	}
	for _, pid := range b.processes(buildID, "hookmux") {
		list[fmt.Sprintf("process %d", pid)] = "runs"
	}
	return list
}

// wantGone checks that the bare account has what it had before, and that nothing of it is here.
func (b *bed) wantGone(person *terminaltest.Terminal, bare map[string]string) {
	b.t.Helper()
	b.wantGoneHere(person)
	var left map[string]string
	b.t.Cleanup(func() {
		if b.t.Failed() && !maps.Equal(left, bare) {
			b.t.Logf("the account has\n%v\nand had\n%v", left, bare)
		}
	})
	terminaltest.Eventually(b.t, "the account has what it had before", func() bool {
		left = b.belongings()
		return maps.Equal(left, bare)
	})
}

// wantGoneHere checks that nothing of the other machine is here any more.
func (b *bed) wantGoneHere(person *terminaltest.Terminal) {
	b.t.Helper()
	if copies := b.copies(); len(copies) > 0 {
		b.t.Errorf("removing the machine leaves %v here", copies)
	}
	key, err := os.ReadFile(terminaltest.Home() + "/.local/state/hookmux/remotes.json")
	if err != nil || bytes.Contains(key, []byte("build")) {
		b.t.Errorf("remotes.json: error %v, %s; want nothing of the machine in it", err, key)
	}
	if list := b.processes(terminaltest.UserID, "remote-serve"); len(list) > 0 {
		b.t.Errorf("the processes %v of the link still run", list)
	}
	for command, none := range map[string]string{"remote list": "no other machines", "ps": "", "inbox": "", "status": ""} {
		if said := person.Run("hookmux " + command); strings.Contains(said, "build") || !strings.Contains(said, none) {
			b.t.Errorf("hookmux %s: %q, want nothing of the machine", command, said)
		}
	}
}

// copies returns the files that have copies of other machines' logs.
func (b *bed) copies() []string {
	list, _ := filepath.Glob(terminaltest.Home() + "/.local/state/hookmux/remote-log*")
	return list
}

// How many hooks are called while the link is cut, and how many at once.
const (
	callsWhileCut = 200
	callsAtOnce   = 4
)

// missesNothing cuts the link for good, has agents of the bare account work meanwhile, kills
// their daemon in the middle of it and restarts the one here. When the way is free again, the
// log here is the one there, event for event.
func (b *bed) missesNothing(person *terminaltest.Terminal) {
	b.t.Helper()
	back := b.cut(person)
	numbers := make(chan int)
	var calls sync.WaitGroup
	for range callsAtOnce {
		calls.Go(func() {
			for n := range numbers {
				b.works(n)
			}
		})
	}
	for n := range callsWhileCut {
		if n == callsWhileCut/2 && b.kill(buildID, "hookmux daemon") == 0 {
			b.t.Error("there's no daemon to be killed")
		}
		numbers <- n
		if n == callsWhileCut*3/4 {
			b.restarts(person)
		}
	}
	close(numbers)
	calls.Wait()

	before := b.logHere(person)
	back()
	var here, there []map[string]any
	b.t.Cleanup(func() {
		if b.t.Failed() {
			b.t.Logf("there are %d events there and %d here; %s", len(there), len(here), firstDifference(there, here))
		}
	})
	terminaltest.Eventually(b.t, "the log here is the one there", func() bool {
		here, there = b.logHere(person), b.logThere()
		return firstDifference(there, here) == ""
	})
	if len(here) < len(before)+callsWhileCut {
		b.t.Errorf("%d events came with the link, want those of %d calls", len(here)-len(before), callsWhileCut)
	}
	seen := map[string]int{}
	for _, one := range here {
		e, _ := one["event"].(map[string]any)
		if text, _ := json.Marshal(e); e["session"] == "s-cut" {
			seen[string(numberedCall.Find(text))]++
		}
	}
	for n := range callsWhileCut {
		if times := seen[fmt.Sprintf("call-%03d", n)]; times != 1 {
			b.t.Errorf("call %d is %d times in the log, want once", n, times)
		}
	}
	if len(b.copies()) == 0 {
		b.t.Error("there are no files with copies: where are they?")
	}
	// The link still works: what happens now comes by itself.
	b.works(callsWhileCut)
	terminaltest.Eventually(b.t, "the next event is here", func() bool {
		return strings.Contains(person.Run("hookmux log --host build -n 5"), fmt.Sprintf("call-%03d", callsWhileCut))
	})
	for _, host := range []string{buildName, "all"} {
		if said := person.Run("hookmux usage --json --host " + host); !strings.Contains(said, `"inputTokens": 1234`) {
			b.t.Errorf("usage --host %s: %q, want what the agent there recorded", host, said)
		}
	}
}

var numberedCall = regexp.MustCompile(`call-\d{3}`)

// works has an agent of the bare account call a tool, the number's with it.
func (b *bed) works(number int) {
	hook := b.there(b.installed()+"-hook", "claude", "PreToolUse", "60")
	hook.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s-cut","hook_event_name":"PreToolUse","cwd":"/","tool_name":"Bash",`+
		`"tool_input":{"command":"echo 'call-%03d' \"größer\" \u001b[31m"}}`, number))
	if out, err := hook.CombinedOutput(); err != nil {
		b.t.Errorf("call %d: %v: %s", number, err, out)
	}
}

// restarts restarts the daemon here.
func (b *bed) restarts(person *terminaltest.Terminal) {
	b.t.Helper()
	before := b.processes(terminaltest.UserID, "hookmux daemon")
	said := b.confirm(person, "hookmux daemon restart")
	if after := b.processes(terminaltest.UserID, "hookmux daemon"); len(after) == 0 || slices.Equal(before, after) {
		b.t.Errorf("the daemon isn't restarted (%v, then %v): %q", before, after, said)
	}
}

// logHere returns the copy of the bare account's log.
func (b *bed) logHere(person *terminaltest.Terminal) []map[string]any {
	b.t.Helper()
	said := person.Run("hookmux log --host build --json --after 0 >~/near.log")
	text, err := os.ReadFile(terminaltest.Home() + "/near.log")
	if err != nil {
		b.t.Fatal(err)
	}
	list := b.entries(text)
	for _, one := range list {
		e, _ := one["event"].(map[string]any)
		if where, _ := e["where"].(map[string]any); where["host"] != buildName {
			b.t.Fatalf("an event here isn't of build: %v %s", e, said)
		}
		delete(e, "where")
	}
	return list
}

// logThere returns the log that the bare account has itself.
func (b *bed) logThere() []map[string]any {
	b.t.Helper()
	text, err := b.there(b.installed(), "log", "--json", "--after", "0").Output()
	if err != nil {
		b.t.Fatal(err)
	}
	list := b.entries(text)
	for _, one := range list {
		e, _ := one["event"].(map[string]any)
		delete(e, "where") // processes and terminals of that machine mean something else here
	}
	return list
}

// entries reads lines of `hookmux log --json`, without cursors: each journal has its own.
func (b *bed) entries(text []byte) (list []map[string]any) {
	b.t.Helper()
	for line := range bytes.Lines(text) {
		var one map[string]any
		if err := json.Unmarshal(line, &one); err != nil {
			b.t.Fatalf("a line of the log can't be read: %v: %s", err, line)
		}
		delete(one, "cursor")
		if outcome, ok := one["outcome"].(map[string]any); ok {
			delete(outcome, "cursor")
		}
		list = append(list, one)
	}
	return list
}

// firstDifference says where two logs begin to be different; "" where they don't.
func firstDifference(there, here []map[string]any) string {
	for i := range max(len(there), len(here)) {
		var a, b []byte
		if i < len(there) {
			a, _ = json.Marshal(there[i])
		}
		if i < len(here) {
			b, _ = json.Marshal(here[i])
		}
		if !bytes.Equal(a, b) {
			return fmt.Sprintf("number %d is there\n%s\nand here\n%s", i, a, b)
		}
	}
	return ""
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
		cmd := b.there("tmux", append([]string{"-f", "/dev/null", "-S", b.work + "/tmux"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.t.Fatalf("tmux %s: %v: %s", args[0], err, out)
		}
	}
	there("new-session", "-d", "-s", "work", "-x", "80", "-y", "20")
	b.t.Cleanup(func() { there("kill-server") })
	b.file(b.work+"/s-4.json", `{"session_id":"s-4","hook_event_name":"UserPromptSubmit","cwd":"/","prompt":"in a pane"}`, buildID)
	there("send-keys", "-t", "work", b.installed()+"-hook claude UserPromptSubmit 60 <"+b.work+
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
