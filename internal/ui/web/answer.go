package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/wire"
)

// signedAnswer is an answer as a device sends it. Answer is the exact text that was
// signed; the PIN isn't part of it, as the signed text is kept.
type signedAnswer struct {
	Answer    string `json:"answer"` // wire.InboxReplyParams
	Time      int64  `json:"time"`
	Nonce     string `json:"nonce"`
	Signature string `json:"signature"`
	PIN       string `json:"pin,omitempty"`
}

// answerMessage is what a device signs when it answers: which request, what was shown,
// the choice, and a hash of everything else it says. It holds no text of yours or the
// agent's, so that it can be kept with the decision as it is.
func answerMessage(instance, device string, in *signedAnswer, p *wire.InboxReplyParams) string {
	sum := sha256.Sum256([]byte(in.Answer))
	choice := p.Choice
	if p.Plan != "" {
		choice += " " + p.Plan
	}
	return strings.Join([]string{"hookmux-answer-1", "instance " + instance, "device " + device, "request " + p.ID,
		"shown " + p.SHA256, "choice " + choice, "answer " + hex.EncodeToString(sum[:]), "nonce " + in.Nonce,
		"time " + strconv.FormatInt(in.Time, 10)}, "\n")
}

// answerHandler takes an answer to a request.
func (v *server) answerHandler(w http.ResponseWriter, r *http.Request) {
	var in signedAnswer
	if !readJSON(w, r, &in) {
		return
	}
	var p wire.InboxReplyParams
	dec := json.NewDecoder(bytes.NewReader([]byte(in.Answer)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		fail(w, http.StatusBadRequest, "answer", "the answer can't be read: "+err.Error())
		return
	}
	if p.PIN != "" {
		fail(w, http.StatusBadRequest, "answer", "the PIN doesn't belong into the signed answer")
		return
	}
	d := deviceOf(r)
	message := answerMessage(v.instance, d.ID, &in, &p)
	signature, err := base64.RawURLEncoding.DecodeString(in.Signature)
	now := time.Now()
	switch {
	case err != nil || !verify(&d, message, signature):
		fail(w, http.StatusForbidden, "signature", "the answer's signature is wrong")
		return
	case time.UnixMilli(in.Time).Sub(now).Abs() > clockSkew, len(in.Nonce) < 16, len(in.Nonce) > 64,
		!v.nonces.take(d.ID+" answer "+in.Nonce, now):
		fail(w, http.StatusForbidden, "replay", "this answer was sent before, or too long ago")
		return
	}
	p.PIN = in.PIN
	result, bad := v.service.Requests.ReplySigned(p, d.by(),
		ledger.Signature{Device: d.ID, Key: d.Key, Message: message, Signature: signature})
	if bad != nil {
		failWith(w, bad)
		return
	}
	answer(w, result)
}
