package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

const (
	folder     = "audit"       // in the state folder
	keyFile    = "audit.key"   // in the state folder: the seed
	markerFile = "audit.once"  // in the data folder: the public key, so that a deleted trail is noticed
	headFile   = "head.json"   // in the trail's folder: where the trail ends
	headsFile  = "heads.jsonl" // in the trail's folder: where each file ended
	aside      = "audit.broken-"
)

// sigField begins the end of a signed line, before its 128 digits.
const sigField = `,"sig":"`

// purpose keeps a signature from being taken for one of something else.
const purpose = "hookmux audit trail 1\n"

// sign returns a value as a signed line.
func sign(key ed25519.PrivateKey, value any) ([]byte, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	body = asciiOnly(body[:len(body)-1])
	sig := ed25519.Sign(key, append([]byte(purpose), body...))
	return append(body, sigField+hex.EncodeToString(sig)+"\"}\n"...), nil
}

// readSigned reads such a line back.
func readSigned(key ed25519.PublicKey, line string, into any) error {
	body, digits, ok := cutField(line, sigField, 2*ed25519.SignatureSize)
	if !ok {
		return errors.New("it isn't a signed line")
	}
	sig, err := hex.DecodeString(digits)
	if err != nil || hex.EncodeToString(sig) != digits || !ed25519.Verify(key, []byte(purpose+body), sig) {
		return errors.New("its signature is wrong: it was changed, or signed with another key")
	}
	return json.Unmarshal([]byte(body+"}"), into)
}

// loadKey reads the key and creates it if there is none.
func loadKey(dirs paths.Dirs) (ed25519.PrivateKey, error) {
	path := filepath.Join(dirs.State, keyFile)
	seed, err := files.Read(path, ed25519.SeedSize+1)
	if err == nil && len(seed) == ed25519.SeedSize {
		return ed25519.NewKeyFromSeed(seed), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	seed = make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // never fails
	if err := files.WriteSynced(path, seed); err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

func publicKey(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// readPublic returns the key that the trail was begun with; nil if there never was one.
func readPublic(dirs paths.Dirs) (ed25519.PublicKey, error) {
	path := filepath.Join(dirs.Data, markerFile)
	b, err := files.Read(path, 256)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSuffix(string(b), "\n"))
	if err != nil || len(key) != ed25519.PublicKeySize || string(b) != hex.EncodeToString(key)+"\n" {
		return nil, fmt.Errorf("%s isn't the key that the trail is checked with: it was changed", path)
	}
	return key, nil
}

func writePublic(dirs paths.Dirs, key ed25519.PublicKey) error {
	if err := os.MkdirAll(dirs.Data, 0o700); err != nil {
		return err
	}
	return files.WriteSynced(filepath.Join(dirs.Data, markerFile), []byte(hex.EncodeToString(key)+"\n"))
}

// state is head.json: where the trail ends. It also holds what its last change adds to the files,
// so that a change that was cut off is finished by the next reader.
type state struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"` // of the last record
	File string `json:"file"` // that it is in
	// First is the first record of that file, and Before the hash of the one before it.
	First  int64  `json:"first"`
	Before string `json:"before"`
	// At is the length of the file without Lines.
	At    int64  `json:"at"`
	Lines string `json:"lines,omitempty"`

	Heads     int64  `json:"heads"` // lines of heads.jsonl
	HeadsHash string `json:"headsHash"`
	HeadsAt   int64  `json:"headsAt"`
	HeadLines string `json:"headLines,omitempty"`
}

// head is a line of heads.jsonl: where a file ended, or that it was removed.
type head struct {
	N     int64  `json:"n"`
	Prev  string `json:"prev"` // the hash of the line before
	File  string `json:"file"`
	First int64  `json:"first"`
	Last  int64  `json:"last"`
	// Before is the hash of the record before the first, Hash that of the last.
	Before string `json:"before"`
	Hash   string `json:"hash"`
	// Removed says that the file, which an earlier line is about, was deleted because
	// the journal isn't kept that long.
	Removed bool `json:"removed,omitempty"`
}
