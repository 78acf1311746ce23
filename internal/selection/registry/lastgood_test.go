package registry

import (
	"os"
	"strings"
	"testing"
)

// What was written through hookmux is good from the moment it is written: a
// file that is broken before the next event does not lose the new guard.
func TestAnEditIsTheLastGoodVersion(t *testing.T) {
	r, dir := newRegistry(t)
	locked := sample("guard")
	locked.Locked = true
	if _, err := r.Add(r.GlobalFile(), locked); err != nil {
		t.Fatal(err)
	}
	write(t, r.GlobalFile(), "{ broken")
	for name, reg := range map[string]*Registry{"the writer": r, "a restart": New(r.opt)} {
		s := reg.Load("", "")
		if ids(s) != "guard@global" || !strings.Contains(lines(s.Problems), "last good version") {
			t.Errorf(`%s: ids(s) = %s, lines(s.Problems) = %s; want ids(s) = "guard@global" and "last good version" `+
				`in lines(s.Problems)`, name, ids(s), lines(s.Problems))
		}
	}

	// A daemon that had read an older version, and another process that writes.
	r, _ = newRegistry(t)
	write(t, r.GlobalFile(), hooks(one("a", "")))
	r.Load("", "")
	if _, err := New(r.opt).Add(r.GlobalFile(), locked); err != nil {
		t.Fatal(err)
	}
	write(t, r.GlobalFile(), "{ broken")
	if s := r.Load("", ""); ids(s) != "a@global guard@global" {
		t.Errorf(`ids(s) = %q, want "a@global guard@global"`, ids(s))
	}

	// Without a state folder it is kept in memory.
	opt := r.opt
	opt.State, opt.GlobalFile = "", dir+"/memory.json"
	r = New(opt)
	r.Add(opt.GlobalFile, locked)
	write(t, opt.GlobalFile, "{ broken")
	if s := r.Load("", ""); ids(s) != "guard@global" {
		t.Errorf(`ids(s) = %q, want "guard@global"`, ids(s))
	}

	// Removing a hook is an edit like any other.
	r, _ = newRegistry(t)
	r.Add(r.GlobalFile(), locked)
	r.Add(r.GlobalFile(), sample("b"))
	if _, err := r.Remove(r.GlobalFile(), "guard"); err != nil {
		t.Fatal(err)
	}
	write(t, r.GlobalFile(), "{ broken")
	if s := r.Load("", ""); ids(s) != "b@global" {
		t.Errorf(`ids(s) = %q, want "b@global"`, ids(s))
	}
}

// An edit that could not be written is not good.
func TestAFailedEditIsNotKept(t *testing.T) {
	r, _ := newRegistry(t)
	if _, err := r.Add(r.GlobalFile(), sample("a")); err != nil {
		t.Fatal(err)
	}
	before := r.global.good.Text
	undo := r.keepWritten(r.GlobalFile(), []byte(hooks(one("a", ""), one("b", ""))))
	undo()
	kept, err := os.ReadFile(r.global.good.Path)
	if err != nil || string(kept) != string(before) || string(r.global.good.Text) != string(before) {
		t.Errorf("kept = %s, error %v; want no error, string(kept) = string(before) and string(r.global.good.Text) = "+
			"string(before)", kept, err)
	}
	fresh, _ := newRegistry(t)
	fresh.keepWritten(fresh.GlobalFile(), []byte(hooks(one("a", ""))))()
	if _, err := os.Stat(fresh.global.good.Path); !os.IsNotExist(err) || fresh.global.good.Text != nil {
		t.Error("a version that never was is kept")
	}
}

func TestSuggestedCommandsCanBeTyped(t *testing.T) {
	r, _ := newRegistry(t)
	reg := sample("it's")
	r.Add(r.GlobalFile(), reg)
	_, err := r.Add(r.GlobalFile(), reg)
	if err == nil || !strings.Contains(err.Error(), "`hookmux hooks '*' set 'it'\\''s'`") {
		t.Errorf("error %v, want an error and \"`hookmux hooks '*' set 'it'\\\\''s'`\" in err.Error()", err)
	}
}
