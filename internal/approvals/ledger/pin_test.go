package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Wrong PINs outlive the daemon that counted them.
func TestWrongPINsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	p, err := OpenPIN(dir)
	if err != nil {
		t.Fatal(err)
	}
	p.rounds = 100
	if err := p.Change("", "2468"); err != nil {
		t.Fatal(err)
	}
	for try := range pinTries {
		again, err := OpenPIN(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Check("0000"); err == nil {
			t.Fatalf("try %d: a wrong PIN is right", try)
		}
	}
	again, err := OpenPIN(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Check("2468"); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("after %d wrong ones over restarts: %v", pinTries, err)
	}
	now := time.Now().Add(pinPause + time.Second)
	again.now = func() time.Time { return now }
	if err := again.Check("2468"); err != nil {
		t.Error(err)
	}
	// The right one forgets the wrong ones, also after a restart.
	if again, err = OpenPIN(dir); err != nil || again.Check("2468") != nil {
		t.Error("the right PIN is refused after it was given", err)
	}
	// What somebody else wrote there is no way to forget them.
	if err := os.WriteFile(filepath.Join(dir, triesFile), []byte(`{"wrong":0}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err = OpenPIN(dir); err != nil || again.Check("2468") == nil {
		t.Error("forged tries are believed", err)
	}
	// Neither is removing the file.
	if err := os.Remove(filepath.Join(dir, triesFile)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // and a daemon that starts once more has not forgotten
		if again, err = OpenPIN(dir); err != nil {
			t.Fatal(err)
		}
		if err := again.Check("2468"); err == nil || !strings.Contains(err.Error(), "too many") {
			t.Errorf("after the tries were removed: %v", err)
		}
	}
}

func TestNewPINCanBeUsedAtOnce(t *testing.T) {
	dir := t.TempDir()
	p, err := OpenPIN(dir)
	if err != nil {
		t.Fatal(err)
	}
	p.rounds = 100
	if err := p.Change("", "2468"); err != nil {
		t.Fatal(err)
	}
	again, err := OpenPIN(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Check("2468"); err != nil {
		t.Errorf("a PIN that was never tried: %v", err)
	}
}

// A clock that is set back makes no wrong PIN forgotten and no pause shorter; a
// clock that runs on ends the pause, not earlier than it should.
func TestClockSetBack(t *testing.T) {
	p, err := OpenPIN(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p.rounds = 100
	if err := p.Change("", "2468"); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p.now = func() time.Time { return now }
	wrong := func() string {
		err := p.Check("0000")
		if err == nil {
			t.Fatal("a wrong PIN is right")
		}
		return err.Error()
	}
	for range pinTries - 1 {
		wrong()
		now = now.Add(-24 * time.Hour)
	}
	if got := wrong(); !strings.Contains(got, "no more tries") {
		t.Errorf("wrong PINs while the clock is set back: %q, want a pause", got)
	}
	for _, at := range []time.Duration{-time.Hour, 0, pinPause - time.Second} {
		begin := now
		now = now.Add(at)
		if err := p.Check("2468"); err == nil || !strings.Contains(err.Error(), "too many") {
			t.Errorf("%s after the last try: %v, want the pause", at, err)
		}
		now = begin
	}
	now = now.Add(pinPause)
	if err := p.Check("2468"); err != nil {
		t.Errorf("when the pause is over: %v", err)
	}
}

// A day without a try forgets the wrong ones, and not less.
func TestWrongPINsAreForgotten(t *testing.T) {
	for _, c := range []struct {
		later time.Duration
		pause bool
	}{{pinForgets, true}, {pinForgets + time.Second, false}} {
		p, err := OpenPIN(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		p.rounds = 100
		if err := p.Change("", "2468"); err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		p.now = func() time.Time { return now }
		for range pinTries - 1 {
			_ = p.Check("0000")
		}
		now = now.Add(c.later)
		err = p.Check("0000")
		if err == nil || strings.Contains(err.Error(), "no more tries") != c.pause {
			t.Errorf("one more after %s: %v, want a pause: %v", c.later, err, c.pause)
		}
	}
}

// The seal says who wrote the tries, not when: an older file that is put back is believed, as docs/security.md says. It
// takes a new daemon: one that runs goes by its own memory.
func TestOlderTriesPutBack(t *testing.T) {
	dir := t.TempDir()
	p, err := OpenPIN(dir)
	if err != nil {
		t.Fatal(err)
	}
	p.rounds = 100
	if err := p.Change("", "2468"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, triesFile)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for range pinTries {
		if err := p.Check("0000"); err == nil {
			t.Fatal("a wrong PIN is right")
		}
	}
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Check("2468"); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("the daemon that counted: got %v, want too many wrong PINs", err)
	}
	again, err := OpenPIN(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Check("2468"); err != nil {
		t.Errorf("a new daemon: got %v, want the right PIN taken; if it is refused now, say so in docs/security.md", err)
	}
}
