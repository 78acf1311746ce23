package ledger

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/sealed"
)

const (
	pinFile = "pin.json"
	// triesFile counts wrong PINs, so that killing the daemon does not reset the count.
	triesFile = "pin-tries.json"
)

const (
	minPIN     = 4
	pinRounds  = 200_000
	pinTries   = 5 // wrong PINs before a pause
	pinPause   = 5 * time.Minute
	pinForgets = 15 * time.Minute // the count of wrong PINs is reset after this
)

// PIN is the number that approvals ask for, when the user set one.
type PIN struct {
	dir    string
	now    func() time.Time
	rounds int // of the hash of the next PIN

	mu     sync.Mutex
	kept   *pinHash
	proof  Proof
	broken error // the file is there and its seal is wrong
	tries  pinTried
}

// pinTried keeps count of wrong PINs.
type pinTried struct {
	Wrong int       `json:"wrong"`
	Last  time.Time `json:"last"`
	Until time.Time `json:"until"`
}

type pinHash struct {
	Salt   []byte `json:"salt"`
	Hash   []byte `json:"hash"`
	Rounds int    `json:"rounds"`
}

// sealedPIN is the content of the file.
type sealedPIN struct {
	pinHash
	Proof Proof `json:"proof,omitzero"`
}

// PINError says that an approval needs the PIN, or that it was wrong.
type PINError struct{ Text string }

func (e *PINError) Error() string { return e.Text }

// OpenPIN finds out whether there is a PIN. If the file can't be read as hookmux wrote it,
// nothing can be approved: a PIN had been set.
func OpenPIN(dir string) (*PIN, error) {
	p := &PIN{dir: dir, now: time.Now, rounds: pinRounds}
	var content sealedPIN
	err := sealed.Load(dir, pinFile, &content)
	p.broken = err
	if err == nil {
		p.proof = content.Proof
	}
	if err == nil && len(content.Hash) > 0 {
		p.kept = &content.pinHash
	}
	triesErr := sealed.Load(dir, triesFile, &p.tries)
	if _, missing := os.Lstat(filepath.Join(dir, triesFile)); triesErr != nil || missing != nil && p.kept != nil {
		// The file is written together with the PIN: if it was removed or damaged,
		// someone wanted to reset the count.
		p.tries = pinTried{Until: p.now().Add(pinPause)}
		p.keepTries()
	}
	return p, err
}

// Set reports whether approvals ask for a PIN.
func (p *PIN) Set() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept != nil || p.broken != nil
}

// Check compares a PIN. After several wrong ones none is right for a while.
func (p *PIN) Check(pin string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.checkPIN(pin)
}

func (p *PIN) checkPIN(pin string) error {
	if p.broken != nil {
		return &PINError{"the PIN cannot be checked: " + p.broken.Error() + "; remove the file to begin without one"}
	}
	if p.kept == nil {
		return nil
	}
	now := p.now()
	if now.Before(p.tries.Until) {
		return &PINError{fmt.Sprintf("too many wrong PINs; try again in %s", p.tries.Until.Sub(now).Round(time.Second))}
	}
	if pin == "" {
		return &PINError{"approvals ask for your PIN"}
	}
	// It counts as wrong before it is compared: a daemon that is killed meanwhile
	// has counted it.
	before := p.tries
	p.countTry(now)
	hash, err := pbkdf2.Key(sha256.New, pin, p.kept.Salt, p.kept.Rounds, sha256.Size)
	if err == nil && subtle.ConstantTimeCompare(hash, p.kept.Hash) == 1 {
		p.tries = pinTried{}
		p.keepTries()
		return nil
	}
	if now.Before(p.tries.Until) && !now.Before(before.Until) {
		return &PINError{fmt.Sprintf("the PIN is wrong; no more tries for %s", pinPause)}
	}
	return &PINError{"the PIN is wrong"}
}

// countTry notes a try that is not known to be right.
func (p *PIN) countTry(now time.Time) {
	if now.Sub(p.tries.Last) > pinForgets {
		p.tries.Wrong = 0
	}
	p.tries.Wrong++
	p.tries.Last = now
	if p.tries.Wrong >= pinTries {
		p.tries.Wrong, p.tries.Until = 0, now.Add(pinPause)
	}
	p.keepTries()
}

// keepTries writes them down. Where that fails they count in memory: a PIN that
// cannot be tried any more would lock its owner out of a full disk.
func (p *PIN) keepTries() { _ = sealed.Store(p.dir, triesFile, p.tries) }

// Change sets another PIN, or with "" none. The one in force must be given.
func (p *PIN) Change(old, fresh string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.checkPIN(old); err != nil {
		return err
	}
	if fresh == "" {
		return p.store(nil, p.proof)
	}
	if utf8.RuneCountInString(fresh) < minPIN {
		return fmt.Errorf("a PIN needs at least %d characters", minPIN)
	}
	h := &pinHash{Salt: make([]byte, 16), Rounds: p.rounds}
	if _, err := rand.Read(h.Salt); err != nil {
		return err
	}
	var err error
	if h.Hash, err = pbkdf2.Key(sha256.New, fresh, h.Salt, h.Rounds, sha256.Size); err != nil {
		return err
	}
	// First the tries: without them a PIN counts as one that was tried too often.
	if err := sealed.Store(p.dir, triesFile, p.tries); err != nil {
		return err
	}
	return p.store(h, p.proof)
}

// store writes down what is to be in force; where that is nothing, the file goes.
func (p *PIN) store(h *pinHash, proof Proof) error {
	content := sealedPIN{Proof: proof}
	if h != nil {
		content.pinHash = *h
	}
	if h == nil && proof.isDefault() {
		err := os.Remove(filepath.Join(p.dir, pinFile))
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		p.kept, p.proof = nil, proof
		return files.SyncDir(p.dir)
	}
	if err := sealed.Store(p.dir, pinFile, content); err != nil {
		return err
	}
	p.kept, p.proof = h, proof
	return nil
}

// Proof returns what is in force. Where the file cannot be believed every approval asks
// for a PIN, which then cannot be checked.
func (p *PIN) Proof() Proof {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Proof{Way: p.proof.Way, Kinds: slices.Clone(p.proof.Kinds)}
}

// ChangeProof has another one count. The PIN in force must be given.
func (p *PIN) ChangeProof(pin string, change func(*Proof)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.checkPIN(pin); err != nil {
		return err
	}
	fresh := p.proof
	change(&fresh)
	if fresh.Way == ByPIN {
		fresh.Way = ""
	}
	return p.store(p.kept, fresh)
}
