package devices

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/platform/jsonx"
	"github.com/hookmux/hookmux/internal/wire"
)

// What a device signs contains the instance it's meant for, random for each run, so that
// nothing signed for another one is accepted. A time and a nonce keep it from being used
// twice.

// ClockSkew is how far a device's clock may be off.
const ClockSkew = time.Minute

// Verify checks a signature as browsers make it: r and s, 32 bytes each.
func (d *Device) Verify(message string, signature []byte) bool {
	key, err := d.PublicKey()
	if err != nil || len(signature) != 64 {
		return false
	}
	sum := sha256.Sum256([]byte(message))
	return ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
}

// Sign makes a signature that [Device.Verify] accepts.
func Sign(key *ecdsa.PrivateKey, message string) ([]byte, error) {
	sum := sha256.Sum256([]byte(message))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return nil, err
	}
	out := make([]byte, 64)
	r.FillBytes(out[:32])
	s.FillBytes(out[32:])
	return out, nil
}

// Nonces remembers what was used while it could be used again.
type Nonces struct {
	mu    sync.Mutex
	seen  map[string]time.Time // until when
	swept time.Time
}

// Take reports whether a nonce is new.
func (n *Nonces) Take(nonce string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = map[string]time.Time{}
	}
	if now.Sub(n.swept) > ClockSkew {
		n.swept = now
		for one, until := range n.seen {
			if now.After(until) {
				delete(n.seen, one)
			}
		}
	}
	if _, used := n.seen[nonce]; used {
		return false
	}
	n.seen[nonce] = now.Add(3 * ClockSkew)
	return true
}

// SignedAnswer is an answer to a request as a device sends it. Answer is the exact text
// that was signed; the PIN isn't part of it, as the signed text is kept.
type SignedAnswer struct {
	Answer    string `json:"answer"` // wire.InboxReplyParams
	Time      int64  `json:"time"`   // in milliseconds
	Nonce     string `json:"nonce"`
	Signature string `json:"signature"`
	PIN       string `json:"pin,omitempty"`
}

// AnswerMessage returns what a device signs when it answers: which request, what was shown,
// the choice, and a hash of everything else it says. It contains none of your texts or the
// agent's, so that it can be kept with the decision.
func AnswerMessage(instance, device string, in *SignedAnswer, p *wire.InboxReplyParams) string {
	sum := sha256.Sum256([]byte(in.Answer))
	choice := p.Choice
	if p.Plan != "" {
		choice += " " + p.Plan
	}
	return strings.Join([]string{"hookmux-answer-1", "instance " + instance, "device " + device, "request " + p.ID,
		"shown " + p.SHA256, "choice " + choice, "answer " + hex.EncodeToString(sum[:]), "nonce " + in.Nonce,
		"time " + strconv.FormatInt(in.Time, 10)}, "\n")
}

// Refusal is why something that was signed doesn't count.
type Refusal struct {
	Code string // answer, signature or replay
	Why  string
}

// ReadAnswer checks an answer and reads it. The signature is kept with the decision.
func ReadAnswer(d *Device, instance string, in *SignedAnswer, used *Nonces, now time.Time) (wire.InboxReplyParams,
	ledger.Signature, *Refusal) {
	var p wire.InboxReplyParams
	none := ledger.Signature{}
	if err := jsonx.Strict([]byte(in.Answer), &p); err != nil {
		return p, none, &Refusal{"answer", "the answer can't be read: " + err.Error()}
	}
	if p.PIN != "" {
		return p, none, &Refusal{"answer", "the PIN doesn't belong into the signed answer"}
	}
	message := AnswerMessage(instance, d.ID, in, &p)
	signature, err := base64.RawURLEncoding.DecodeString(in.Signature)
	switch {
	case err != nil || !d.Verify(message, signature):
		return p, none, &Refusal{"signature", "the answer's signature is wrong"}
	case !Fresh(d, "answer", in.Time, in.Nonce, used, now):
		return p, none, &Refusal{"replay", "this answer was sent before, or too long ago"}
	}
	p.PIN = in.PIN
	return p, ledger.Signature{Device: d.ID, Key: d.Key, Message: message, Signature: signature}, nil
}

// Fresh reports whether something that was signed for a purpose is of now, and comes for
// the first time.
func Fresh(d *Device, purpose string, ms int64, nonce string, used *Nonces, now time.Time) bool {
	return time.UnixMilli(ms).Sub(now).Abs() <= ClockSkew && len(nonce) >= 16 && len(nonce) <= 64 &&
		used.Take(d.ID+" "+purpose+" "+nonce, now)
}
