package terminaltest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/authority/attempts"
	"github.com/hookmux/hookmux/internal/authority/terminaltest"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/wire"
)

// buildPrograms puts the two programs, as they are shipped, where everybody
// inside can run them.
func buildPrograms(t *testing.T) string {
	t.Helper()
	bin := terminaltest.Base() + "/bin"
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := programs.Build(bin, programs.Options{Names: []string{"hookmux", "hookmux-hook", "hookmux-lab"}}); err != nil {
		t.Fatal(err)
	}
	return bin
}

// testBed is a user with hookmux, and a folder for what attempts say.
type testBed struct {
	t    *testing.T
	bin  string
	said string
}

func newTestBed(t *testing.T) *testBed {
	t.Helper()
	s := &testBed{t: t, bin: buildPrograms(t), said: terminaltest.Base() + "/said"}
	if err := os.MkdirAll(s.said, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.said, 0o777); err != nil {
		t.Fatal(err)
	}
	terminaltest.StartSSH(t)
	return s
}

// login gives a terminal with hookmux on its path.
func (s *testBed) login(open func(*testing.T) *terminaltest.Terminal) *terminaltest.Terminal {
	s.t.Helper()
	term := open(s.t)
	term.Run("export PATH=" + s.bin + ":$PATH")
	return term
}

func quick(t *testing.T) *terminaltest.Terminal {
	return terminaltest.LoginAs(t, terminaltest.VisitorID)
}

// write puts a script for the user.
func (s *testBed) write(name, text string) string {
	s.t.Helper()
	file := filepath.Join(terminaltest.Base(), name)
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// read waits for what an attempt said, with its exit code at the end.
func (s *testBed) read(name string) string {
	s.t.Helper()
	text := ""
	terminaltest.Eventually(s.t, "attempt "+name+" ends", func() bool {
		b, _ := os.ReadFile(filepath.Join(s.said, name))
		text = string(b)
		return strings.Contains(text, "exit ")
	})
	return text
}

var requestID = regexp.MustCompile(`"id": ?"([a-z0-9]+)"`)

// An agent that nobody knows calls a hook from a person's
// terminal and waits for an answer. It tries to give it itself, and to switch
// its guards off, in all the ways there are; then the user answers.
func TestRealPromise(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s := newTestBed(t)
	person, beside := s.login(terminaltest.Login), s.login(quick)
	if out := person.Run("hookmux daemon start"); !strings.Contains(out, "running") {
		t.Fatalf("the daemon does not start: %q", out)
	}
	watch := s.login(quick)
	mark := watch.Mark()
	watch.Type("hookmux inbox -f\n")
	watch.Await(mark, "agents wait for you now")

	// The agent: a copy of a shell under an unknown name.
	shell, err := os.ReadFile("/bin/bash")
	if err != nil {
		t.Fatal(err)
	}
	agent := s.write("frobnicate", string(shell))
	request := `{"session_id":"s","hook_event_name":"PermissionRequest","cwd":"/","tool_name":"Bash","tool_input":{"command":"touch x"}}`
	s.write("request.json", request)
	key, err := os.ReadFile(terminaltest.Base() + "/keys/visitor")
	if err != nil {
		t.Fatal(err)
	}
	own := s.write("own-key", string(key))
	if err := os.Chmod(own, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(own, terminaltest.UserID, terminaltest.UserID); err != nil {
		t.Fatal(err)
	}
	lines := "export PATH=" + s.bin + ":$PATH OWN_KEY=" + own + "\n" +
		"hookmux-hook claude PermissionRequest 300 <" + terminaltest.Base() + "/request.json >" + s.said + "/answer " +
		"2>&1 &\n" +
		"while ! [ -e " + s.said + "/go ]; do sleep 0.2; done\n"
	var tried []string
	for _, row := range attempts.Of(attempts.Person, attempts.Process) {
		if row.Test != "" {
			continue // another test runs it
		}
		if _, err := exec.LookPath(row.Needs); row.Needs != "" && err != nil {
			t.Logf("%s is not tried: there is no %s here", row.Name, row.Needs)
			continue
		}
		for what, decision := range decisions {
			tried = append(tried, row.Name+"-"+what)
			lines += s.tryLine(row, what, decision)
		}
	}
	lines += "wait\n"
	beside.Type(agent + " " + s.write("agent.sh", lines) + "\n")

	var id string
	terminaltest.Eventually(t, "the request waits", func() bool {
		if found := requestID.FindStringSubmatch(person.Run("hookmux inbox --json")); found != nil {
			id = found[1]
		}
		return id != ""
	})
	if err := os.WriteFile(s.said+"/go.new", []byte(id), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.said+"/go.new", s.said+"/go"); err != nil {
		t.Fatal(err)
	}
	for _, name := range tried {
		said := s.read(name)
		if !strings.Contains(said, "refused: ") || !strings.Contains(said, "exit 77") {
			t.Errorf(`%s: said = %s, want "refused: " in it and "exit 77" in it`, name, said)
		}
		t.Logf("%s: %s", name, said)
	}
	if out := person.Run("hookmux inbox --json"); !strings.Contains(out, id) {
		t.Errorf("the request waits no more: %s", out)
	}

	// The user answers, and is not asked for anything. On a busy machine the
	// code may be asked for: then they type it.
	s.confirm(person, "hookmux approve "+id, "approved")
	terminaltest.Eventually(t, "the agent hears it", func() bool {
		b, _ := os.ReadFile(s.said + "/answer")
		return strings.Contains(string(b), `"allow"`)
	})
	// What takes protection away asks for the code.
	from := person.Mark()
	s.confirm(person, "hookmux off 1s", "off")
	if shown := person.Screen()[from:]; !strings.Contains(shown, "turn hookmux off, with all guards, for 1s") ||
		!strings.Contains(shown, "to confirm") {
		t.Errorf("the user saw %q", shown)
	}
}

// decision is the goal of an attempt: a command, and the same as a request to
// the daemon.
type decision struct{ command, method, params string }

var decisions = map[string]decision{
	"approve": {"hookmux approve $ID", wire.MethodInboxReply, `{\"id\":\"$ID\",\"choice\":\"once\"}`},
	"off":     {"hookmux off 1s", wire.MethodOff, `{\"seconds\":1}`},
}

// tryLine returns what the agent's script runs for one row of the table. What comes of
// it is said in a file of its own, with the exit code of the attempt at the end.
func (s *testBed) tryLine(row attempts.Attempt, what string, d decision) string {
	s.t.Helper()
	name := row.Name + "-" + what
	file := s.said + "/" + name
	if !row.Raw {
		do := s.write("do-"+name, "ID=`cat "+s.said+"/go`\nPATH="+s.bin+":$PATH\n"+d.command+" >"+file+".new 2>&1\n"+
			"echo \"exit $?\" >>"+file+".new\nmv "+file+".new "+file+"\n")
		return strings.ReplaceAll(row.Command, "DO", "sh "+do) + "\n"
	}
	// The daemon's answer is all there is: a refusal has the code that makes
	// hookmux end with 77.
	request := `{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"` + d.method + `\",\"params\":` + d.params + `}`
	raw := s.write("do-"+name, "ID=`cat "+s.said+"/go`\nexport REQUEST=\""+request+"\"\n{\n"+row.Command+"\n} >"+file+
		".new 2>&1\ncase `cat "+file+".new` in *'"+strconv.Itoa(wire.CodeRefused)+
		"'*) echo exit 77;; *) echo exit 1;; "+
		"esac >>"+file+".new\nmv "+file+".new "+file+"\n")
	return "sh " + raw + "\n"
}

var shownCode = regexp.MustCompile(`Type ([a-z2-9]{4}) to confirm`)

// confirm types a command, and the code if one is asked for.
func (s *testBed) confirm(at *terminaltest.Terminal, command, want string) {
	s.t.Helper()
	begin, end := at.Start(command)
	typed := false
	terminaltest.Eventually(s.t, fmt.Sprintf("%s ends", command), func() bool {
		shown := at.Screen()[begin:]
		if code := shownCode.FindStringSubmatch(shown); code != nil && !typed {
			typed = true
			at.Type(code[1])
		}
		return strings.Contains(shown, end)
	})
	if shown := at.Screen()[begin:]; !strings.Contains(shown, want) {
		s.t.Errorf("%s: shown = %q, want %q in it", command, shown, want)
	}
}
