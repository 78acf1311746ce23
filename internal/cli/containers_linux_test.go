package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// composeService is what this test does of a service of a compose file. Anything else in it
// fails the test, so that the file can't say what wasn't tried.
type composeService struct {
	Image       string            `yaml:"image"`
	User        string            `yaml:"user"`
	Command     []string          `yaml:"command"`
	Init        bool              `yaml:"init"`
	CapDrop     []string          `yaml:"cap_drop"`
	SecurityOpt []string          `yaml:"security_opt"`
	WorkingDir  string            `yaml:"working_dir"`
	Environment map[string]string `yaml:"environment"`
	Tmpfs       []string          `yaml:"tmpfs"`
	Volumes     []composeVolume   `yaml:"volumes"`
}

type composeVolume struct {
	Type     string `yaml:"type"`
	Source   string `yaml:"source"`
	Target   string `yaml:"target"`
	ReadOnly bool   `yaml:"read_only"`
	Bind     struct {
		CreateHostPath bool `yaml:"create_host_path"`
	} `yaml:"bind"`
}

// readCompose reads the service of our example, with variables as Compose puts them in.
func readCompose(t *testing.T, variables map[string]string) composeService {
	t.Helper()
	text, err := os.ReadFile("../../examples/devcontainer/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	expanded := os.Expand(string(text), func(name string) string {
		name, fallback, _ := strings.Cut(name, ":-")
		if value, ok := variables[name]; ok {
			return value
		}
		return fallback
	})
	var file struct {
		Services map[string]composeService `yaml:"services"`
	}
	if err := yaml.UnmarshalWithOptions([]byte(expanded), &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return file.Services["agent"]
}

// devContainer is what this test does of a devcontainer.json; every field is one of
// containers.dev/implementors/json_reference. Anything else in it fails the test.
type devContainer struct {
	Name                string   `json:"name"`
	Image               string   `json:"image"`
	RemoteUser          string   `json:"remoteUser"`
	UpdateRemoteUserUID bool     `json:"updateRemoteUserUID"`
	WorkspaceFolder     string   `json:"workspaceFolder"`
	WorkspaceMount      string   `json:"workspaceMount"`
	SecurityOpt         []string `json:"securityOpt"`
	Mounts              []string `json:"mounts"`
}

// readDevContainer reads our example, with variables as a tool for dev containers puts them in,
// as a service that does the same.
func readDevContainer(t *testing.T, home, project string) composeService {
	t.Helper()
	text, err := os.ReadFile("../../examples/devcontainer/.devcontainer/devcontainer.json")
	if err != nil {
		t.Fatal(err)
	}
	plain := regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAllString(string(text), "")
	plain = strings.NewReplacer("${localWorkspaceFolder}", project, "${localEnv:HOME}", home).Replace(plain)
	if strings.Contains(plain, "${") {
		t.Fatalf("a variable is left: %s", plain)
	}
	var c devContainer
	decoder := json.NewDecoder(strings.NewReader(plain))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		t.Fatal(err)
	}
	if c.Image == "" || c.RemoteUser == "" || !c.UpdateRemoteUserUID || c.WorkspaceFolder != project ||
		!slices.Equal(c.SecurityOpt, []string{"no-new-privileges"}) {
		t.Errorf("the example says %+v, want your own number for its user, the project where it is outside, and no new privileges", c)
	}
	s := composeService{User: fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()), Command: []string{"sleep", "infinity"},
		WorkingDir: c.WorkspaceFolder, Environment: map[string]string{"HOME": "/home/" + c.RemoteUser},
		Tmpfs: []string{"/home/" + c.RemoteUser, "/tmp"}}
	for _, mount := range append([]string{c.WorkspaceMount}, c.Mounts...) { // as docker --mount takes them
		var v composeVolume
		for part := range strings.SplitSeq(mount, ",") {
			switch key, value, _ := strings.Cut(part, "="); key {
			case "type":
				v.Type = value
			case "source":
				v.Source = value
			case "target":
				v.Target = value
			case "readonly":
				v.ReadOnly = true
			default:
				t.Fatalf("a mount says %q", part)
			}
		}
		s.Volumes = append(s.Volumes, v)
	}
	return s
}

// container is a container made of namespaces, as a compose file describes it. Only its
// image isn't that: programs are this machine's.
type container struct {
	t   *testing.T
	cmd *exec.Cmd
	pid int // of its first process, as this machine numbers it
	env []string
}

// runContainer starts a service. extra are further options of bwrap.
func runContainer(t *testing.T, s composeService, extra ...string) *container {
	t.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("needs bwrap")
	}
	if user := fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()); s.User != user {
		t.Fatalf("the service runs as %s, want %s, the user of this test", s.User, user)
	}
	args := []string{
		"--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session", "--proc", "/proc", "--dev", "/dev",
		"--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
		"--symlink", "usr/lib64", "/lib64", "--dir", "/etc", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin",
	}
	env := []string{"PATH=/usr/bin:/bin"}
	for name, value := range s.Environment {
		args = append(args, "--setenv", name, value)
		env = append(env, name+"="+value)
	}
	for _, one := range s.Tmpfs {
		path, _, _ := strings.Cut(one, ":")
		args = append(args, "--tmpfs", path)
	}
	for _, v := range s.Volumes {
		if v.Type != "bind" || !filepath.IsAbs(v.Source) || !filepath.IsAbs(v.Target) {
			t.Fatalf("volume %+v, want a bind of absolute paths", v)
		}
		how := "--bind"
		if v.ReadOnly {
			how = "--ro-bind"
		}
		args = append(args, how, v.Source, v.Target)
	}
	for _, one := range s.CapDrop {
		args = append(args, "--cap-drop", one)
	}
	args = append(args, extra...)
	args = append(args, "--chdir", s.WorkingDir, "--info-fd", "3", "--")
	args = append(args, s.Command...)
	c := &container{t: t, cmd: exec.Command("bwrap", args...), env: env}
	told, tell, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	c.cmd.ExtraFiles = []*os.File{tell}
	c.cmd.Stderr = os.Stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tell.Close()
	t.Cleanup(func() { _ = c.cmd.Process.Kill(); _ = c.cmd.Wait() })
	var info struct {
		PID int `json:"child-pid"`
	}
	if err := json.NewDecoder(told).Decode(&info); err != nil {
		t.Skipf("no container can be made here: %v", err)
	}
	c.pid = info.PID
	eventuallyFleet(t, "the container runs its command", func() bool {
		list, _ := os.ReadFile("/proc/" + strconv.Itoa(c.pid) + "/task/" + strconv.Itoa(c.pid) + "/children")
		for _, child := range strings.Fields(string(list)) {
			line, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if strings.TrimSuffix(string(line), "\x00") == strings.Join(s.Command, "\x00") {
				return true
			}
		}
		return false
	})
	return c
}

// exec makes a command that runs in the container, as `docker exec` does.
func (c *container) exec(dir string, line ...string) *exec.Cmd {
	in := []string{"--target", strconv.Itoa(c.pid), "--mount", "--pid", "--ipc", "--uts", "--root", "--wdns=" + dir}
	if os.Getuid() != 0 {
		in = append(in, "--user", "--preserve-credentials")
	}
	cmd := exec.Command("nsenter", slices.Concat(in, []string{"--"}, line)...)
	cmd.Env = c.env
	return cmd
}

// hooksOf reads the hooks of the settings that the container has for Claude Code.
func hooksOf(t *testing.T, m *machine) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.home.Dirs.Containers(), "claude-code.json"))
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	hooks := map[string]string{}
	for event, groups := range settings.Hooks {
		hooks[event] = groups[0].Hooks[0].Command
	}
	return hooks
}

// said is what the agent in a container hears of a hook.
type said struct {
	stdout, stderr string
	exit           int
}

func (c *container) hook(dir, command, payload string) (s said) {
	c.t.Helper()
	cmd := c.exec(dir, "sh", "-c", command)
	cmd.Stdin = strings.NewReader(payload)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			c.t.Fatalf("%s: %v", command, err)
		}
		s.exit = failed.ExitCode()
	}
	s.stdout, s.stderr = out.String(), errs.String()
	return s
}

const containerRules = `version: 1
rules:
  - {id: no-deploys, why: deploys are yours, match: {program: deploy}, decide: deny, examples: {hit: [deploy it]}}
  - {id: ask-ships, why: somebody should look, match: {program: ship}, decide: ask, examples: {hit: [ship it]}}
  - {id: free-lists, why: lists are free, match: {program: ls}, decide: allow, examples: {hit: [ls]}}
`

func (m *machine) file(path, text string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// newContainerHost is a machine that lets containers report, and a project to work in.
func newContainerHost(t *testing.T) (m *machine, project string, service composeService) {
	t.Helper()
	m = newMachine(t)
	m.file(filepath.Join(m.home.Dirs.Config, "rules", "own.yaml"), containerRules)
	m.file(filepath.Join(m.home.Dirs.Config, "config.json"), `{"containers": "on"}`)
	project = filepath.Join(m.home.Dirs.Home, "project")
	m.file(filepath.Join(project, "README"), "a project\n")
	m.run("daemon", "start")
	eventuallyFleet(t, "the daemon listens for containers", func() bool {
		info, err := os.Stat(filepath.Join(m.home.Dirs.Containers(), "daemon.sock"))
		return err == nil && info.Mode().Perm() == 0o600
	})
	return m, project, readCompose(t, map[string]string{
		"HOME": m.home.Dirs.Home, "PWD": project, "UID": strconv.Itoa(os.Getuid()), "GID": strconv.Itoa(os.Getgid()),
	})
}

func shellCall(event, session, cwd, command string) string {
	b, _ := json.Marshal(map[string]any{"session_id": session, "hook_event_name": event, "cwd": cwd, "tool_name": "Bash",
		"tool_use_id": "t-" + command, "tool_input": map[string]string{"command": command}})
	return string(b)
}

// The compose file of our example, done with real namespaces: what agents in there report is
// seen outside, a denial or a question reaches them, and a yes or a rewriting doesn't.
func TestContainerReports(t *testing.T) {
	m, project, service := newContainerHost(t)
	wantReports(t, m, project, service)
}

// The devcontainer.json of our example does the same.
func TestDevContainerReports(t *testing.T) {
	m, project, _ := newContainerHost(t)
	wantReports(t, m, project, readDevContainer(t, m.home.Dirs.Home, project))
}

// wantReports runs a container and calls its hooks.
func wantReports(t *testing.T, m *machine, project string, service composeService) {
	t.Helper()
	marker := filepath.Join(m.home.Dirs.Home, "ran-here")
	m.file(filepath.Join(m.home.Dirs.Config, "hooks.json"), `{"version": 1, "hooks": [{"id": "says-yes", "agent": "*", `+
		`"hookType": "tool.before", "handler": "command", "target": "touch `+marker+`; echo '{\"decision\": \"allow\"}'"}]}`)
	m.run("hooks", "list")
	c := runContainer(t, service)
	hooks := hooksOf(t, m)
	call := func(command string) said {
		return c.hook(project, hooks["PreToolUse"], shellCall("PreToolUse", "c-1", project, command))
	}

	c.hook(project, hooks["SessionStart"], `{"session_id":"c-1","hook_event_name":"SessionStart","cwd":"`+project+`","source":"startup"}`)
	if got := call("deploy it"); !strings.Contains(got.stdout, `"deny"`) || !strings.Contains(got.stdout, "deploys are yours") {
		t.Errorf("a call that a rule denies: %+v", got)
	}
	if got := call("ship it"); !strings.Contains(got.stdout, `"ask"`) || !strings.Contains(got.stdout, "somebody should look") {
		t.Errorf("a call that a rule asks about: %+v", got)
	}
	for _, free := range []string{"ls", "true"} {
		if got := call(free); got != (said{}) {
			t.Errorf("%s, which a rule or nobody has a word on: %+v, want silence", free, got)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a hook ran on this machine for a call in the container")
	}
	if got := c.hook(project, hooks["PermissionRequest"], shellCall("PermissionRequest", "c-1", project, "make it")); got != (said{}) {
		t.Errorf("a permission that nobody has a word on: %+v, want silence: the agent asks there", got)
	}

	var sessions []wire.Session
	eventuallyFleet(t, "the container's session is listed", func() bool {
		m.json(&sessions, "ps")
		return len(sessions) == 1
	})
	if one := sessions[0]; !strings.HasPrefix(one.ID, "c-1@container") || one.Cwd != project {
		t.Errorf("listed: %+v, want the container's session, marked as one", one)
	}
	if shown := m.run("log", "--decision", "deny"); !strings.Contains(shown, "deploy it") {
		t.Errorf("the log of denials has %q, want the container's call", shown)
	}

	// The agent in there changes its settings: they are mounted where it can't.
	if out, err := c.exec(project, "sh", "-c", "echo {} > /etc/claude-code/managed-settings.json").CombinedOutput(); err == nil {
		t.Errorf("the hooks can be taken out from in there: %s", out)
	}
	if out, err := c.exec(project, "sh", "-c", "echo x > /etc/hookmux/container/hookmux-hook").CombinedOutput(); err == nil {
		t.Errorf("the hook client can be replaced from in there: %s", out)
	}

	// Without a daemon, what guards cover isn't let pass; nothing starts a daemon in there.
	m.killDaemon()
	for event := range hooks {
		hooks[event] = strings.Replace(hooks[event], " 60", " 4", 1) // how long the agent waits
	}
	if got := call("true"); !strings.Contains(got.stdout, `"ask"`) || !strings.Contains(got.stdout, "outside this container") {
		t.Errorf("a call while no daemon runs: %+v, want the agent to ask", got)
	}
	if got := c.hook(project, hooks["Stop"], `{"session_id":"c-1","hook_event_name":"Stop","cwd":"/"}`); got != (said{}) {
		t.Errorf("an end while no daemon runs: %+v, want silence", got)
	}
	if out, err := c.exec(project, "sh", "-c", "ls -A $HOME").Output(); err != nil || len(out) > 0 {
		t.Errorf("the client left %q (%v) in the container", out, err)
	}
}

// The hooks that containers mount are those that an installation has, for each agent.
func TestContainerHooksAreThoseOfAnInstallation(t *testing.T) {
	m, _, _ := newContainerHost(t)
	for agent, file := range map[string]string{"claude": "claude-code.json", "codex": "codex.toml"} {
		text, err := os.ReadFile(filepath.Join(m.home.Dirs.Containers(), file))
		if err != nil {
			t.Fatal(err)
		}
		event := func(line string) string {
			_, after, _ := strings.Cut(line, "hookmux-hook "+agent+" ")
			name, _, _ := strings.Cut(after, " ")
			return name
		}
		wanted, got := map[string]bool{}, map[string]bool{}
		for line := range strings.Lines(m.run("install", agent, "--dry-run", "--full")) {
			if strings.HasPrefix(line, "+") && strings.Contains(line, `"command":`) {
				wanted[event(line)] = true
			}
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "hookmux-hook") {
				got[event(line)] = true
			}
		}
		if len(wanted) == 0 || !maps.Equal(wanted, got) {
			t.Errorf("%s: hooks for %v, want %v", file, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(wanted)))
		}
	}
}

const attackVariable = "CONTAINER_TEST_ATTACK"

// TestHelperAttack plays an agent in a container that writes to the daemon itself: it sends
// every line of stdin on a connection of its own, and prints what comes back.
func TestHelperAttack(t *testing.T) {
	socket := os.Getenv(attackVariable)
	if socket == "" {
		t.Skip("runs only as the child of another test")
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			fmt.Println("dial: " + err.Error())
			continue
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.WriteString(conn, strings.ReplaceAll(lines.Text(), lineBreak, "\n")+"\n")
		answer, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil && answer == "" {
			answer = "nothing: " + err.Error()
		}
		fmt.Println(strings.TrimSpace(answer))
		_ = conn.Close()
	}
	os.Exit(0)
}

// attack sends lines to a socket from within the container, and gives an answer for each.
func (c *container) attack(program, socket string, lines []string) []string {
	c.t.Helper()
	cmd := c.exec("/", program, "-test.run=^TestHelperAttack$")
	cmd.Env = append(slices.Clone(c.env), attackVariable+"="+socket)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(answers) != len(lines) {
		c.t.Fatalf("%d answers for %d lines: %v\n%s", len(answers), len(lines), err, out)
	}
	return answers
}

// lineBreak stands for a line break within what is sent.
const lineBreak = "\x1f"

// frameLine is a hook call on one line.
func frameLine(agent, event, payload string) string {
	request := frame.Request{ID: frame.NewID(), Agent: agent, Event: event, Cwd: "/", Payload: []byte(payload + "\n")}
	return strings.ReplaceAll(strings.TrimSuffix(string(frame.AppendRequest(nil, &request)), "\n"), "\n", lineBreak)
}

// A process in the container that tries every method, other protocols, and the sessions and
// requests of the machine: on the socket that it was given, and on the daemon's own, which
// somebody mounted although nobody should.
func TestContainerCanOnlyReport(t *testing.T) {
	m, project, service := newContainerHost(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const program, own = "/tmp/attack", "/tmp/daemon.sock"
	c := runContainer(t, service, "--ro-bind", self, program, "--ro-bind", m.home.Dirs.Socket(), own)
	m.followInbox()
	m.waitForOperator()

	// A session outside, with a request that waits.
	answered := make(chan string, 1)
	m.hook("claude", "SessionStart", `{"session_id":"mine","hook_event_name":"SessionStart","cwd":"`+project+`","source":"startup"}`)
	go func() {
		answered <- m.hook("claude", "PermissionRequest", shellCall("PermissionRequest", "mine", project, "make it"))
	}()
	var items []wire.InboxRequest
	eventuallyFleet(t, "a request waits", func() bool {
		m.json(&items, "inbox")
		return len(items) == 1
	})

	for _, socket := range []string{"/etc/hookmux/container/daemon.sock", own} {
		var lines []string
		for _, method := range slices.Sorted(maps.Keys(wire.Methods)) {
			b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": map[string]any{
				"id": items[0].ID, "session": "mine", "agent": "claude", "choice": "allow", "name": "containers", "value": "off",
				"text": "x", "cwd": project}})
			lines = append(lines, string(b))
		}
		if len(lines) < 50 {
			t.Fatalf("there are only %d methods", len(lines))
		}
		lines = append(lines,
			`{"agent":"claude","session":"mine","status":"finished"}`,                        // mux0's words
			`{"id":"1","method":"feed.list","params":{}}`,                                    // cmux's
			`{"v":1,"id":"x","agent":"claude","event":"e","inner":true,"payload":0,"env":0}`, // for files in TypeScript
			`nonsense`)
		for i, answer := range c.attack(program, socket, lines) {
			var response wire.Response
			if strings.HasPrefix(answer, "nothing: ") {
				continue
			}
			if json.Unmarshal([]byte(answer), &response) != nil || response.Error == nil || response.Result != nil {
				t.Errorf("%s: %s was answered: %s", socket, lines[i], answer)
			}
		}

		// Reports about the session outside are about one in the container.
		reports := []string{
			frameLine("claude", "SessionEnd", `{"session_id":"mine","hook_event_name":"SessionEnd","cwd":"/","reason":"logout"}`),
			frameLine("claude", "Stop", `{"session_id":"mine","hook_event_name":"Stop","cwd":"/"}`),
			frameLine("claude", "PostToolUse", shellCall("PostToolUse", "mine", project, "make it")),
			frameLine("claude", "PermissionRequest", shellCall("PermissionRequest", "mine", project, "make it")),
		}
		for i, answer := range c.attack(program, socket, reports) {
			if reply, _, _, err := frame.ParseReply([]byte(answer)); err != nil || reply.Verdict != frame.VerdictNone {
				t.Errorf("%s: report %d was answered with %q (%v), want no verdict on it", socket, i, answer, err)
			}
		}
		var now []wire.InboxRequest
		m.json(&now, "inbox")
		now = slices.DeleteFunc(now, func(one wire.InboxRequest) bool { return one.Status != wire.InboxPending })
		if len(now) != 1 || now[0].ID != items[0].ID {
			t.Errorf("%s: the inbox has %+v, want the one request of outside", socket, now)
		}
		var sessions []wire.Session
		m.json(&sessions, "ps", "--all")
		for _, one := range sessions {
			if one.ID == "mine" && one.Status != wire.StatusWaiting {
				t.Errorf("%s: the session outside became %s by a report of the container", socket, one.Status)
			}
		}
	}
	select {
	case answer := <-answered:
		t.Fatalf("the container had the request outside answered: %s", answer)
	default:
	}
	m.run("deny", items[0].ID)
	if answer := <-answered; !strings.Contains(answer, `"deny"`) {
		t.Errorf("the agent outside heard %q, want your denial", answer)
	}
	if shown := m.run("log", "--agent", "hookmux"); !strings.Contains(shown, "container") {
		t.Errorf("the log doesn't say what the container tried: %q", shown)
	}

	// A flood from in there takes no room of callers outside.
	flood := c.exec("/", program, "-test.run=^TestHelperFlood$")
	flood.Env = append(slices.Clone(c.env), floodVariable+"=/etc/hookmux/container/daemon.sock")
	in, err := flood.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := flood.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := flood.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = flood.Wait() }()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	m.hook("claude", "PostToolUse", shellCall("PostToolUse", "mine", project, "make it"))
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a hook outside took %s while the container floods", took)
	}
}

const floodVariable = "CONTAINER_TEST_FLOOD"

// TestHelperFlood holds as many connections open as it gets, each with half a message.
func TestHelperFlood(t *testing.T) {
	socket := os.Getenv(floodVariable)
	if socket == "" {
		t.Skip("runs only as the child of another test")
	}
	var open []net.Conn
	for range 600 {
		conn, err := net.DialTimeout("unix", socket, time.Second)
		if err != nil {
			break
		}
		_, _ = io.WriteString(conn, `{"v":1,"id":"x","agent":"claude","event":"Stop","payload":16000000,"env":0}`+"\nhalf")
		open = append(open, conn)
	}
	fmt.Println(len(open))
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}
