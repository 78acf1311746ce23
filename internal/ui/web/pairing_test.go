package web

import (
	"testing"
	"time"
)

// A code has 128 bits, is good for one device and two minutes, and is void once another
// one was begun or somebody guessed.
func TestPairingCodes(t *testing.T) {
	now := time.Now()
	browser := claim{key: []byte("key")}
	var p pairings
	takes := func(code string, after time.Duration) bool {
		_, _, ok := p.use(code, browser, now.Add(after))
		return ok
	}
	if one := p.begin("answer", "", now); len(one.code) != 26 || takes(one.code, pairTime+time.Second) {
		t.Errorf("the code %s is taken after two minutes, or too short", one.code)
	}
	one := p.begin("answer", "", now)
	if !takes(one.code, pairTime-time.Second) {
		t.Error("the code isn't taken within two minutes")
	}
	if takes(one.code, pairTime-time.Second) {
		t.Error("the code is taken twice")
	}
	before, again := p.begin("answer", "", now), p.begin("answer", "", now)
	if takes(before.code, 0) || before.code == again.code {
		t.Error("a code is taken after another pairing was begun")
	}
	if takes("", 0) || takes(again.code[1:], 0) || takes(again.code+"A", 0) || !takes(again.code, 0) {
		t.Error("four wrong codes make the right one void, or a part of it is taken")
	}
	guessed := p.begin("answer", "", now)
	for range pairTries {
		takes("AAAAAAAAAAAAAAAAAAAAAAAAAA", 0)
	}
	if takes(guessed.code, 0) {
		t.Error("a code that was guessed at is taken")
	}
}
