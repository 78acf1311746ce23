package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Wrong PINs outlive the hub that counted them.
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
	for range 2 { // and a hub that starts once more has not forgotten
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
