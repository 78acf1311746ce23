// Package remote links two machines over ssh: the [Connector] shows the sessions and requests
// of other machines here, the [Server] shows this one's to a machine that was paired.
//
// The near daemon runs one ssh process per host, and `hookmux remote-serve` at its other end,
// which passes lines on to the daemon there. It uses standard input and output rather than a
// forwarded socket: that works for accounts that may not forward anything, needs no socket
// file that outlives a crash, can be a forced command in authorized_keys, and starts the
// daemon there if none runs.
//
// A login proves nothing to the daemon there: an agent can log in as well as you can. It
// answers only what is signed by a key that you paired, with times and nonces so that a
// signature can't be used twice. The near daemon signs an answer only after its own check that
// you gave it. Anyone who can read the key file can sign as well: docs/remote.md says so.
package remote

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/wire"
)

// What is signed in addition to answers.
const (
	purposeFollow = "follow"
	purposeCall   = "call"
)

// message returns the text under a signature.
func message(purpose, instance, text string, by *wire.RemoteSigned) string {
	sum := sha256.Sum256([]byte(text))
	return strings.Join([]string{"hookmux-remote-1", purpose, "instance " + instance, "device " + by.Device,
		"protocol " + strconv.Itoa(by.Protocol), "text " + hex.EncodeToString(sum[:]), "nonce " + by.Nonce,
		"time " + strconv.FormatInt(by.Time, 10)}, "\n")
}

// identity is this machine's key for one host.
type identity struct {
	key    *ecdsa.PrivateKey
	device string
}

func readIdentity(private []byte) (*identity, error) {
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), private)
	if err != nil {
		return nil, fmt.Errorf("the key can't be read: %w", err)
	}
	public, err := key.PublicKey.Bytes()
	if err != nil {
		return nil, err
	}
	return &identity{key, devices.HostID(public)}, nil
}

// sign signs a text for a purpose, in a version of the link that both machines speak. at is the
// time on the other machine.
func (i *identity) sign(purpose, instance, text string, protocol int, at time.Time) (wire.RemoteSigned, error) {
	by := wire.RemoteSigned{Device: i.device, Protocol: protocol, Time: at.UnixMilli(), Nonce: devices.RandomID(16)}
	signature, err := devices.Sign(i.key, message(purpose, instance, text, &by))
	by.Signature = base64.RawURLEncoding.EncodeToString(signature)
	return by, err
}
