package seattest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/authority/seattest"
	"github.com/hookmux/hookmux/internal/hubtest/programs"
)

// buildPrograms puts the two programs, as they are shipped, where everybody
// inside can run them.
func buildPrograms(t *testing.T) string {
	t.Helper()
	bin := seattest.Base() + "/bin"
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := programs.Build(bin, programs.Options{}); err != nil {
		t.Fatal(err)
	}
	return bin
}

// stage is a user with hookmux, and a folder for what attempts say.
type stage struct {
	t    *testing.T
	bin  string
	said string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, bin: buildPrograms(t), said: seattest.Base() + "/said"}
	if err := os.MkdirAll(s.said, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.said, 0o777); err != nil {
		t.Fatal(err)
	}
	seattest.StartSSH(t)
	return s
}

// login gives a terminal with hookmux on its path.
func (s *stage) login(open func(*testing.T) *seattest.Terminal) *seattest.Terminal {
	s.t.Helper()
	term := open(s.t)
	term.Run("export PATH=" + s.bin + ":$PATH")
	return term
}

func quick(t *testing.T) *seattest.Terminal { return seattest.LoginAs(t, seattest.VisitorID) }

// write puts a script for the user.
func (s *stage) write(name, text string) string {
	s.t.Helper()
	file := filepath.Join(seattest.Base(), name)
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// read waits for what an attempt said, with its exit code at the end.
func (s *stage) read(name string) string {
	s.t.Helper()
	text := ""
	seattest.Eventually(s.t, "attempt "+name+" ends", func() bool {
		b, _ := os.ReadFile(filepath.Join(s.said, name))
		text = string(b)
		return strings.Contains(text, "exit ")
	})
	return text
}

var requestID = regexp.MustCompile(`"id": ?"([a-z0-9]+)"`)

// TestRealPromise: an agent that nobody knows calls a hook from a person's
// terminal and waits for an answer. It tries to give it itself, and to switch
// its guards off, in all the ways there are; then the person answers.
func TestRealPromise(t *testing.T) {
	if !seattest.Inside(t) {
		return
	}
	s := newStage(t)
	person, beside := s.login(seattest.Login), s.login(quick)
	if out := person.Run("hookmux hub start"); !strings.Contains(out, "running") {
		t.Fatalf("the hub does not start: %q", out)
	}
	watch := s.login(quick)
	mark := watch.Mark()
	watch.Type("hookmux feed --watch\n")
	watch.Await(mark, "agents wait for you now")

	// The agent: a copy of a shell under an unknown name.
	shell, err := os.ReadFile("/bin/bash")
	if err != nil {
		t.Skip(err)
	}
	agent := s.write("frobnicate", string(shell))
	request := `{"session_id":"s","hook_event_name":"PermissionRequest","cwd":"/","tool_name":"Bash","tool_input":{"command":"touch x"}}`
	s.write("request.json", request)
	attempts := map[string]string{
		"plain":       "DO",
		"setsid":      "setsid -w DO </dev/null",
		"nohup":       "nohup DO </dev/null",
		"env":         "env -i HOME=$HOME PATH=$PATH DO",
		"double-fork": "(setsid sh -c 'sleep 1; DO' </dev/null >/dev/null 2>&1 &) &",
		"script":      "script -qc 'DO' /dev/null </dev/null",
		"script-fork": "(setsid script -qc 'sleep 1; DO' /dev/null </dev/null >/dev/null 2>&1 &) &",
		"ssh": "ssh -tt -q -F none -p 2222 -i " + seattest.Base() + "/own-key -o StrictHostKeyChecking=no -o " +
			"UserKnownHostsFile=/dev/null " +
			"-o IdentitiesOnly=yes seated@127.0.0.1 'DO' </dev/null",
	}
	if _, err := exec.LookPath("tmux"); err == nil {
		clean := "env -i PATH=$PATH HOME=$HOME TERM=xterm tmux -f /dev/null -L "
		attempts["run-shell"] = clean + "r new-session -d 'sleep 300'; " + clean + "r run-shell 'DO'"
		attempts["tmux"] = clean + "q new-session -d DO"
	}
	key, err := os.ReadFile(seattest.Base() + "/keys/visitor")
	if err != nil {
		t.Fatal(err)
	}
	own := s.write("own-key", string(key))
	if err := os.Chmod(own, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(own, seattest.UserID, seattest.UserID); err != nil {
		t.Fatal(err)
	}
	lines := "export PATH=" + s.bin + ":$PATH\n" +
		"hookmux-hook claude PermissionRequest 300 <" + seattest.Base() + "/request.json >" + s.said + "/answer " +
		"2>&1 &\n" +
		"while ! [ -e " + s.said + "/go ]; do sleep 0.2; done\n"
	for name, way := range attempts {
		for what, command := range map[string]string{"approve": "hookmux approve $ID", "off": "hookmux off 1s"} {
			file := s.said + "/" + name + "-" + what
			do := s.write("do-"+name+"-"+what, "ID=`cat "+s.said+"/go`\nPATH="+s.bin+":$PATH\n"+command+" >"+file+" "+
				"2>&1\necho \"exit $?\" >>"+file+"\n")
			lines += strings.ReplaceAll(way, "DO", "sh "+do) + "\n"
		}
	}
	lines += "wait\n"
	beside.Type(agent + " " + s.write("agent.sh", lines) + "\n")

	var id string
	seattest.Eventually(t, "the request waits", func() bool {
		if found := requestID.FindStringSubmatch(person.Run("hookmux feed --json")); found != nil {
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
	for name := range attempts {
		for _, what := range []string{"approve", "off"} {
			said := s.read(name + "-" + what)
			if !strings.Contains(said, "refused: ") || !strings.Contains(said, "exit 77") {
				t.Errorf("%s by %s: %s", what, name, said)
			}
			t.Logf("%s by %s: %s", what, name, said)
		}
	}
	if out := person.Run("hookmux feed --json"); !strings.Contains(out, id) {
		t.Errorf("the request waits no more: %s", out)
	}

	// The person answers, and is not asked for anything. On a busy machine the
	// code may be asked for: then they type it.
	s.confirm(person, "hookmux approve "+id+" --once", "delivered")
	seattest.Eventually(t, "the agent hears it", func() bool {
		b, _ := os.ReadFile(s.said + "/answer")
		return strings.Contains(string(b), `"allow"`)
	})
	// What takes protection away asks for the code.
	from := person.Mark()
	s.confirm(person, "hookmux off 1s", "off")
	if shown := person.Screen()[from:]; !strings.Contains(shown, "switch hookmux off, with all guards, for 1s") ||
		!strings.Contains(shown, "to confirm") {
		t.Errorf("the person saw %q", shown)
	}
}

var shownCode = regexp.MustCompile(`Type ([a-z2-9]{4}) to confirm`)

// confirm types a command, and the code if one is asked for.
func (s *stage) confirm(at *seattest.Terminal, command, want string) {
	s.t.Helper()
	begin, end := at.Start(command)
	typed := false
	seattest.Eventually(s.t, fmt.Sprintf("%s ends", command), func() bool {
		shown := at.Screen()[begin:]
		if code := shownCode.FindStringSubmatch(shown); code != nil && !typed {
			typed = true
			at.Type(code[1])
		}
		return strings.Contains(shown, end)
	})
	if shown := at.Screen()[begin:]; !strings.Contains(shown, want) {
		s.t.Errorf("%s: %q", command, shown)
	}
}
