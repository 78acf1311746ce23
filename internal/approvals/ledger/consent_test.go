package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/sealed"
)

func permission(command string) policy.SavedPermission {
	return policy.SavedPermission{Agent: "claude", Scope: policy.Everywhere, Rule: policy.Rule{Command: []string{command}},
		Created: time.Now()}
}

func call(command string) *event.Event {
	return &event.Event{Agent: "claude", Session: "s",
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{command}}}
}

func TestPermissionsLast(t *testing.T) {
	dir := t.TempDir()
	g, err := OpenPermissions(dir)
	if err != nil {
		t.Fatal(err)
	}
	one, err := g.Add(permission("one"))
	if err != nil || one.ID == "" {
		t.Fatalf("one = %+v, error %v; want no error and one.ID not empty", one, err)
	}
	if same, _ := g.Add(permission("one")); same.ID != one.ID {
		t.Errorf("saved twice: same.ID is %v, want %v", same.ID, one.ID)
	}
	short := permission("short")
	short.Expires = time.Now().Add(time.Hour)
	inSession := permission("here")
	inSession.Scope, inSession.Session = policy.InSession, "s"
	for _, more := range []policy.SavedPermission{short, inSession} {
		if _, err := g.Add(more); err != nil {
			t.Fatal(err)
		}
	}
	again, err := OpenPermissions(dir)
	if err != nil {
		t.Fatal(err)
	}
	if list, _ := again.List(time.Now()); len(list) != 3 {
		t.Fatalf("again.List(time.Now()) = %+v, want 3 of them", list)
	}
	if list, _ := again.List(time.Now().Add(2 * time.Hour)); len(list) != 2 {
		t.Errorf("again.List(time.Now().Add(2 * time.Hour)) = %+v, want 2 of them", list)
	}
	need := policy.Need{Kind: policy.Permission}
	if hit, ok := again.Match(call("one"), "", need, time.Now()); !ok || hit.ID != one.ID || again.Hits() != 1 {
		t.Errorf("hit = %+v, ok = %v; want ok, hit.ID = %q and again.Hits() = 1", hit, ok, one.ID)
	}
	if _, ok := again.Match(call("two"), "", need, time.Now()); ok {
		t.Error("another command; want !ok")
	}
	if err := again.EndSession("claude", "s"); err != nil {
		t.Fatal(err)
	}
	if _, ok := again.Match(call("here"), "", need, time.Now()); ok {
		t.Error("its session ended")
	}
	if _, ok, err := again.Revoke(one.ID); !ok || err != nil {
		t.Errorf("ok = %v, error %v; want ok and no error", ok, err)
	}
	if _, ok, _ := again.Revoke(one.ID); ok {
		t.Error("revoked twice; want !ok")
	}
	third, _ := OpenPermissions(dir)
	if list, _ := third.List(time.Now()); len(list) != 1 {
		t.Errorf("third.List(time.Now()) = %+v, want 1 of them", list)
	}
}

// A file that hookmux did not write permissions nothing: changed, made up, or moved
// here from another machine.
func TestForgery(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	g, _ := OpenPermissions(dir)
	if _, err := g.Add(permission("one")); err != nil {
		t.Fatal(err)
	}
	theirs, _ := OpenPermissions(other)
	if _, err := theirs.Add(permission("evil")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, permissionsFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	foreign, _ := os.ReadFile(filepath.Join(other, permissionsFile))
	for name, content := range map[string]string{
		"changed":      strings.Replace(string(good), "one", "two", 1),
		"no seal":      `[{"id":"g","agent":"claude","scope":"everywhere","rule":{"all":true}}]`,
		"empty seal":   `{"content":[{"id":"g","agent":"claude","scope":"everywhere","rule":{"all":true}}],"mac":""}`,
		"another's":    string(foreign),
		"no json":      "x",
		"the PIN file": "",
	} {
		if name == "the PIN file" {
			// The seal covers the name: one sealed file cannot stand for another.
			if err := sealed.Store(dir, pinFile, []policy.SavedPermission{permission("evil")}); err != nil {
				t.Fatal(err)
			}
			b, _ := os.ReadFile(filepath.Join(dir, pinFile))
			content = string(b)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := OpenPermissions(dir)
		list, _ := got.List(time.Now())
		if !errors.Is(err, sealed.ErrForged) || len(list) != 0 {
			t.Errorf("%s: error %v, list = %+v; want error ErrForged and len(list) = 0", name, err, list)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, sealed.KeyFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenPermissions(dir); !errors.Is(err, sealed.ErrForged) {
		t.Error("believed without a key:", err)
	}
	info, _ := os.Stat(path)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("info.Mode() = %v, want info.Mode().Perm() = 0o600", info.Mode())
	}
}

func TestPIN(t *testing.T) {
	dir := t.TempDir()
	p, err := OpenPIN(dir)
	if err != nil || p.Set() || p.Check("") != nil {
		t.Fatalf("error %v, want no error, not p.Set() and no error", err)
	}
	p.rounds = 100
	now := time.Now()
	p.now = func() time.Time { return now }
	if err := p.Change("", "12"); err == nil {
		t.Error("too short; want an error")
	}
	if err := p.Change("", "2468"); err != nil || !p.Set() {
		t.Fatalf("error %v, want no error and p.Set()", err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, pinFile)); strings.Contains(string(b), "2468") {
		t.Error("written as it is")
	}
	again, err := OpenPIN(dir)
	if err != nil || again.Check("2468") != nil || again.Check("") == nil {
		t.Errorf(`forgotten: %v; want no error, again.Check("2468") == nil and again.Check("") != nil`, err)
	}
	if p.Change("1111", "9999") == nil || p.Change("", "") == nil {
		t.Error("changed without it")
	}
	if err := p.Check("2468"); err != nil { // and the wrong ones are forgotten
		t.Fatal(err)
	}
	for range pinTries {
		if p.Check("0000") == nil {
			t.Fatal(`wrong; want p.Check("0000") != nil`)
		}
	}
	if err := p.Check("2468"); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf(`no pause:: %v; want an error and "too many" in err.Error()`, err)
	}
	now = now.Add(pinPause + time.Second)
	if err := p.Check("2468"); err != nil {
		t.Error(err)
	}
	if err := p.Change("2468", ""); err != nil || p.Set() {
		t.Errorf("error %v, want no error and not p.Set()", err)
	}
	// A file that cannot be believed keeps approvals shut.
	if err := os.WriteFile(filepath.Join(dir, pinFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken, err := OpenPIN(dir)
	if err == nil || broken.Check("2468") == nil || !broken.Set() {
		t.Error(`open; want an error, broken.Check("2468") != nil and broken.Set()`)
	}
}

func TestDecisions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	b := NewDecisions(dir)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := b.Commit(&Record{ID: fmt.Sprint("id", i), At: time.Now(), Request: "abcd",
				SHA256: "x"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := b.Last(100); err != nil || len(list) != 20 {
		t.Errorf("len(list) = %v, error %v; want no error and len(list) = 20", len(list), err)
	}
	if list, _ := b.Last(3); len(list) != 3 {
		t.Errorf("len(list) = %v, want 3", len(list))
	}
	// Half a line, after a power cut, is none; and a file that was deleted is
	// begun anew.
	path := filepath.Join(dir, decisionsFile)
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	_, _ = f.WriteString(`{"id":"half`)
	f.Close()
	if list, err := b.Last(100); err != nil || len(list) != 20 {
		t.Errorf("len(list) = %v, error %v; want no error and len(list) = 20", len(list), err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(&Record{ID: "after"}); err != nil {
		t.Fatal(err)
	}
	if list, _ := b.Last(10); len(list) != 1 || list[0].ID != "after" {
		t.Errorf(`list = %+v, want 1 of them and list[0].ID = "after"`, list)
	}
	b.Close()
	if err := b.Commit(&Record{ID: "again"}); err != nil {
		t.Error(err)
	}
	b.Close()
	// Where nothing can be written, nothing is said to be.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := NewDecisions(file).Commit(&Record{ID: "x"}); err == nil {
		t.Error("written into a file that is not a folder")
	}
	if list, err := NewDecisions(file).Last(1); err != nil || list != nil {
		t.Errorf("list = %+v, error %v; want no error and list = nil", list, err)
	}
}
