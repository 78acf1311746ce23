package ledger

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func openPIN(t *testing.T, dir string) *PIN {
	t.Helper()
	p, err := OpenPIN(dir)
	if err != nil {
		t.Fatal(err)
	}
	p.rounds = 100
	return p
}

func chosen(kinds ...string) func(*Proof) {
	return func(p *Proof) { p.Way, p.Kinds = ByPolkit, append([]string{}, kinds...) }
}

func TestProofLasts(t *testing.T) {
	dir := t.TempDir()
	p := openPIN(t, dir)
	if got := p.Proof(); got.Way != "" || !got.Covers("shell") || !got.Covers("whatever comes") {
		t.Errorf("at first: %+v, want the PIN for everything", got)
	}
	if err := p.ChangeProof("", chosen("shell")); err != nil {
		t.Fatal(err)
	}
	if p.Set() {
		t.Error("there is a PIN, want none")
	}
	must := func(when string, pin string) *PIN {
		t.Helper()
		p := openPIN(t, dir)
		if got := p.Proof(); got.Way != ByPolkit || !slices.Equal(got.Kinds, []string{"shell"}) || got.Covers("fetch") {
			t.Errorf("%s: %+v, want polkit for shell", when, got)
		}
		if p.Set() != (pin != "") || p.Check(pin) != nil {
			t.Errorf("%s: the PIN is not %q", when, pin)
		}
		return p
	}
	p = must("after a restart", "")
	if err := p.Change("", "2468"); err != nil {
		t.Fatal(err)
	}
	p = must("with a PIN", "2468")
	for _, pin := range []string{"", "1111"} {
		if err := p.ChangeProof(pin, func(p *Proof) { *p = Proof{} }); err == nil {
			t.Errorf("changed with the PIN %q", pin)
		}
	}
	p = must("after wrong PINs", "2468")
	if err := p.Change("2468", ""); err != nil {
		t.Fatal(err)
	}
	p = must("without the PIN", "")
	if err := p.ChangeProof("", func(p *Proof) { *p = Proof{Way: ByPIN} }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, pinFile)); !os.IsNotExist(err) {
		t.Errorf("the file of the defaults: %v, want none", err)
	}
}

// An empty list is one.
func TestNoKindsIsNotAll(t *testing.T) {
	dir := t.TempDir()
	if err := openPIN(t, dir).ChangeProof("", func(p *Proof) { p.Kinds = []string{} }); err != nil {
		t.Fatal(err)
	}
	if got := openPIN(t, dir).Proof(); got.Kinds == nil || got.Covers("shell") {
		t.Errorf("after a restart: %+v, want no kinds", got)
	}
}

// What somebody else wrote shuts approvals, for all kinds.
func TestForgedProof(t *testing.T) {
	dir := t.TempDir()
	if err := openPIN(t, dir).ChangeProof("", chosen("shell")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, pinFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"changed": strings.Replace(string(good), `["shell"]`, `[]`, 1),
		"no seal": `{"proof":{"kinds":[]}}`,
	} {
		if content == string(good) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := OpenPIN(dir)
		if err == nil || !p.Proof().Covers("fetch") || p.Proof().Way != "" || p.Check("") == nil ||
			p.ChangeProof("", chosen()) == nil {
			t.Errorf("%s: error %v, proof %+v; want an error, and a PIN for everything that nobody can give", name, err,
				p.Proof())
		}
	}
}
