package hook_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// A Go program brings its own built-ins and runs people's registrations.
func ExampleBuiltins() {
	var builtins hook.Builtins
	_ = builtins.Register("no-friday", "refuses deploys on Fridays", hook.HandlerFunc(
		func(context.Context, *hook.Call) (event.Decision, error) {
			return event.Decision{Verdict: event.Deny, Reason: "not on a Friday"}, nil
		}))
	entries, err := builtins.Entries([]hook.Registration{
		{ID: "friday", Agent: "*", HookType: "tool.before", Handler: "builtin", Target: "no-friday", Role: hook.Guard},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ev := event.Event{Agent: "codex", Kind: event.ToolBefore, Tool: &event.Tool{Name: "Bash"}}
	var d hook.Dispatcher
	fmt.Println(d.Decide(context.Background(), hook.Call{Event: &ev}, entries).Decision.Reason)
	// Output: not on a Friday
}

func TestBuiltinsAreTakenOnceAndNeverGuessed(t *testing.T) {
	var b hook.Builtins
	run := hook.HandlerFunc(func(context.Context, *hook.Call) (event.Decision, error) { return event.Decision{}, nil })
	if err := b.Register("x", "", run); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"twice": b.Register("x", "", run), "no name": b.Register("", "", run), "blank": b.Register("a b", "", run),
		"nothing": b.Register("y", "", nil), "alias of nothing": b.Alias("z", "nosuch"),
	} {
		if err == nil {
			t.Errorf("name = %q: got no error, want one", name)
		}
	}
	if err := b.Alias("xx", "x"); err != nil || strings.Join(b.Names(), " ") != "x" {
		t.Errorf(`error %v, b.Names() = %q; want no error and strings.Join(b.Names(), " ") = "x"`, err, b.Names())
	}
	if _, err := b.Entries([]hook.Registration{{ID: "h", Agent: "*", HookType: "*", Handler: "builtin",
		Target: "nosuch"}}); err == nil || !strings.Contains(err.Error(), "there are x") {
		t.Errorf(`error %v, want an error and "there are x" in err.Error()`, err)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good.json", "{\n // why\n \"version\": 1, \"hooks\": "+
		"[{\"id\":\"a\",\"agent\":\"*\",\"hookType\":\"tool.before\",\"handler\":\"builtin\",\"target\":\"log\"},]}")
	if regs, err := hook.ReadFile(good); err != nil || len(regs) != 1 || regs[0].ID != "a" {
		t.Errorf(`regs = %+v, error %v; want no error, len(regs) = 1 and regs[0].ID = "a"`, regs, err)
	}
	for _, bad := range []string{
		write("syntax.json", "{"), write("newer.json", `{"version":9}`), write("wrong.json", `{"hooks":[{"id":"a"}]}`), filepath.Join(dir, "nosuch.json"),
	} {
		if _, err := hook.ReadFile(bad); err == nil || !strings.Contains(err.Error(), filepath.Base(bad)) {
			t.Errorf("bad = %q, error %v; want an error and %q in err.Error()", bad, err, filepath.Base(bad))
		}
	}
	second := write("second.json", `{"hooks":[`+
		`{"id":"a","agent":"*","hookType":"tool.before","handler":"builtin","target":"log"},{"id":"b"}]}`)
	if _, err := hook.ReadFile(second); err == nil || !strings.Contains(err.Error(), "hook 2") {
		t.Errorf("the second hook is wrong: got error %v, want one that names hook 2", err)
	}
}
