package launch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// paths makes directories with a program "claude" in each; an empty text makes
// none.
func shims(t *testing.T, texts ...string) (path string, programs []string) {
	t.Helper()
	root := t.TempDir()
	var dirs []string
	for i, text := range texts {
		dir := filepath.Join(root, "bin "+string(rune('a'+i)))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
		file := filepath.Join(dir, "claude")
		programs = append(programs, file)
		if text != "" {
			writeProgram(t, file, text)
		}
	}
	return strings.Join(dirs, string(os.PathListSeparator)), programs
}

func writeProgram(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

const (
	realAgent  = "#!/bin/sh\nexit 0\n"
	ownShim    = "#!/bin/sh\nexec \"$HOME/bin/hookmux\" run claude \"$@\"\n"
	otherShim  = "#!/bin/sh\nexec wrapped claude \"$@\"\n"
	hiddenShim = "#!/bin/sh\n. ~/.shims\n"
)

func TestFindTakesTheFirstThatIsNoShimOfOurs(t *testing.T) {
	path, programs := shims(t, "", ownShim, realAgent, realAgent)
	found, err := Find(Search{Agent: "claude", Program: "claude", Path: "relative:" + path, Self: "/none",
		Line: []int{100, 50}})
	if err != nil || found.Program != programs[2] {
		t.Fatalf("found = %+v, error %v; want no error and found.Program = %q", found, err, programs[2])
	}
	got := ParseActive(found.Next([]string{"x", "a", "b"}))
	if got.Agent != "claude" || got.PID != 100 || got.Depth != 0 || got.Sum != hashArgs([]string{"a", "b"}) ||
		!slices.Equal(got.Tried, []string{programs[2]}) {
		t.Errorf(`next = %+v; want got.Agent == "claude", got.PID == 100, got.Depth == 0, got.Sum == `+
			`hashArgs([]string{"a", "b"}) and got.Tried equal to []string{programs[2]}`, got)
	}
	if hashArgs([]string{"ab"}) == hashArgs([]string{"a", "b"}) || hashArgs(nil) == hashArgs([]string{""}) {
		t.Error("different arguments have one sum")
	}
}

func TestFindSkipsHookmuxItself(t *testing.T) {
	path, programs := shims(t, "", realAgent)
	self := filepath.Join(t.TempDir(), "hookmux")
	writeProgram(t, self, realAgent)
	if err := os.Symlink(self, programs[0]); err != nil {
		t.Fatal(err)
	}
	found, err := Find(Search{Agent: "claude", Program: "claude", Path: path, Self: self, Line: []int{1}})
	if err != nil || found.Program != programs[1] {
		t.Errorf("found.Program = %q, error %v; want no error and found.Program = %q", found.Program, err, programs[1])
	}
	if _, err := Find(Search{Agent: "claude", Program: programs[0], Path: path, Self: self,
		Line: []int{1}}); err == nil {
		t.Error("a path that is hookmux itself was taken")
	}
	found, err = Find(Search{Agent: "claude", Program: programs[1], Self: self, Line: []int{1}})
	if err != nil || found.Program != programs[1] {
		t.Errorf("found.Program = %q, error %v; want no error and found.Program = %q", found.Program, err, programs[1])
	}
}

func TestFindSaysWhatIsMissing(t *testing.T) {
	path, programs := shims(t, "", "")
	if err := os.Mkdir(programs[0], 0o755); err != nil { // a directory of that name
		t.Fatal(err)
	}
	if err := os.WriteFile(programs[1], []byte(realAgent), 0o644); err != nil { // not executable
		t.Fatal(err)
	}
	for _, p := range []string{path, "", ".", "relative"} {
		_, err := Find(Search{Agent: "claude", Program: "claude", Path: p, Line: []int{1}})
		if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "PATH") {
			t.Errorf(`%q: error %v, want error ErrNotFound and "PATH" in err.Error()`, p, err)
		}
	}
	if _, err := Find(Search{Agent: "claude", Program: "/none/claude", Line: []int{1}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("error %v, want error ErrNotFound", err)
	}
}

// A script that only mentions us is used when there is nothing else.
func TestFindUsesALookalikeBeforeNothing(t *testing.T) {
	path, programs := shims(t, ownShim)
	found, err := Find(Search{Agent: "claude", Program: "claude", Path: path, Line: []int{1}})
	if err != nil || found.Program != programs[0] {
		t.Errorf("found.Program = %q, error %v; want no error and found.Program = %q", found.Program, err, programs[0])
	}
}

func TestShimsThatCallBackGetTheNextProgram(t *testing.T) {
	path, programs := shims(t, hiddenShim, otherShim, realAgent)
	injected := []string{"--settings", `{"hooks":{"Stop":[{"hooks":[{"command":"` + testHook + `"}]}]}}`, "hi"}
	first, err := Find(Search{Agent: "claude", Program: "claude", Path: path, Hook: testHook, Args: []string{"hi"},
		Line: []int{100}})
	if err != nil || first.Program != programs[0] {
		t.Fatalf("first.Program = %q, error %v; want no error and first.Program = %q", first.Program, err, programs[0])
	}
	active := ParseActive(first.Next(append([]string{"claude"}, injected...)))

	cases := []struct {
		name string
		args []string
		line []int
		want string
	}{
		{"the shim became us", []string{"changed"}, []int{100, 50}, programs[1]},
		{"the shim waits for us, same arguments", injected, []int{101, 100, 50}, programs[1]},
		{"other arguments, hooks still in them", append([]string{"--verbose"}, injected...), []int{102, 101, 100}, programs[1]},
		{"an agent starts another agent", []string{"hi"}, []int{120, 110, 100, 50}, programs[0]},
		{"a variable left over from elsewhere", injected, []int{200, 150}, programs[0]},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := Search{Agent: "claude", Program: "claude", Path: path, Hook: testHook, Args: c.args, Active: active,
				Line: c.line}
			found, err := Find(s)
			if err != nil || found.Program != c.want {
				t.Errorf("found.Program = %s, error %v; want no error and found.Program = %q",
					found.Program, err, c.want)
			}
			s.Agent = "codex"
			if found, err := Find(s); err != nil || found.Program != programs[0] {
				t.Errorf("another agent's run counted: %s, %v", found.Program, err)
			}
		})
	}

	// The second shim calls back as well, then the third.
	s := Search{Agent: "claude", Program: "claude", Path: path, Hook: testHook, Args: injected, Active: active,
		Line: []int{101, 100}}
	for _, want := range programs[1:] {
		found, err := Find(s)
		if err != nil || found.Program != want {
			t.Fatalf("found.Program = %q, error %v; want no error and found.Program = %q", found.Program, err, want)
		}
		s.Active = ParseActive(found.Next(append([]string{"claude"}, injected...)))
	}
	if _, err := Find(s); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "leads back") {
		t.Errorf(`all tried: %v; want err to be ErrNotFound and "leads back" in err.Error()`, err)
	}
}

func TestCirclesEnd(t *testing.T) {
	path, _ := shims(t, hiddenShim)
	var active Active
	for i := 0; ; i++ {
		if i > maxDepth {
			t.Fatal("no end; want i <= maxDepth")
		}
		pid := 1000 + i // every round a new process with new arguments
		found, err := Find(Search{Agent: "claude", Program: "claude", Path: path,
			Args: []string{strings.Repeat("x", i)}, Active: active, Line: []int{pid, pid - 1}})
		if err != nil {
			if !strings.Contains(err.Error(), "shim") {
				t.Errorf(`error %v, want "shim" in err.Error()`, err)
			}
			return
		}
		active = ParseActive(found.Next([]string{"claude", "other"}))
	}
}

func TestActiveIsReadBack(t *testing.T) {
	a := Active{Agent: "claude", PID: 12, Depth: 3, Sum: "ab", Tried: []string{"/a b/c", "/d"}}
	if got := ParseActive(a.String()); got.String() != a.String() {
		t.Errorf("got %+v, want a.String()", got)
	}
	for _, text := range []string{"", "claude", "claude:x", "claude:-1", ":::::"} {
		if got := ParseActive(text); got.PID != 0 {
			t.Errorf("%q: got %+v, want got.PID = 0", text, got)
		}
	}
	if got := ParseActive("claude:7"); got.Agent != "claude" || got.PID != 7 {
		t.Errorf(`got %+v, want got.Agent = "claude" and got.PID = 7`, got)
	}
	env := Environ([]string{"A=1", ActiveVariable + "=old", "B=2"}, "new")
	if !slices.Equal(env, []string{"A=1", "B=2", ActiveVariable + "=new"}) {
		t.Errorf(`env = %q, want []string{"A=1", "B=2", ActiveVariable + "=new"}`, env)
	}
}

func TestHookPathIsBesideTheRealProgram(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self := filepath.Join(dir, "hookmux")
	writeProgram(t, self, realAgent)
	if _, err := HookPath(self); err == nil || !strings.Contains(err.Error(), "hookmux-hook") {
		t.Errorf(`missing: %v; want an error and "hookmux-hook" in err.Error()`, err)
	}
	writeProgram(t, filepath.Join(dir, "hookmux-hook"), realAgent)
	link := filepath.Join(t.TempDir(), "hookmux")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	got, err := HookPath(link)
	if err != nil || got != filepath.Join(dir, "hookmux-hook") {
		t.Errorf("got %q, error %v; want no error and %q", got, err, filepath.Join(dir, "hookmux-hook"))
	}
}
