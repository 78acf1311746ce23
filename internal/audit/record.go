// Package audit keeps the audit trail: every decision and the event behind it, in files
// of one day each whose records are chained by hashes, with the end of each file and of
// the whole trail signed.
//
//   - record.go   a record and its bytes
//   - trail.go    the writer, which the daemon has
//   - signing.go  the key and signed lines
//   - verify.go   the check, which needs no daemon
//   - end.go      an end that was kept elsewhere
//
// Contract: nothing here is on the way of an answer. A trail that can't be written marks
// the gap as soon as it can; one that was changed is put aside whole and begun again.
// Every byte of every file is covered by a hash or a signature.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"
)

// Record is one record of the trail. Its texts are redacted.
type Record struct {
	Seq  int64     `json:"seq"`
	Prev string    `json:"prev"` // the hash of the record before
	Type string    `json:"type"`
	Time time.Time `json:"time"`
	Host string    `json:"host,omitempty"` // in exports of a fleet's journal, where Seq and Prev say nothing

	Event *Event `json:"event,omitempty"`

	// Of a decision.
	Verdict  string          `json:"verdict,omitempty"`
	By       string          `json:"by,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Asked    string          `json:"asked,omitempty"` // how a request in the inbox ended
	Neutral  string          `json:"neutral,omitempty"`
	TookUS   int64           `json:"tookUs,omitempty"`
	Decision json.RawMessage `json:"decision,omitempty"`
	// Replaces is the record that this one takes the place of: the same call was decided
	// again, differently, or hooks were heard after the answer.
	Replaces int64 `json:"replaces,omitempty"`

	Note json.RawMessage `json:"note,omitempty"` // of a note: what hookmux itself recorded

	Gap *Gap `json:"gap,omitempty"`
}

// What a record is.
const (
	TypeDecision = "decision" // about a call of an agent
	TypeNote     = "note"     // of hookmux itself: the user's answer, an attempt that was denied, missing hooks
	TypeGap      = "gap"      // decisions before it are not in the trail
)

// Event is the event that was decided. SHA256 is that of the payload as the journal has it, redacted.
type Event struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time,omitzero"`
	Agent   string    `json:"agent,omitempty"`
	Kind    string    `json:"kind,omitempty"`
	Native  string    `json:"native,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	Session string    `json:"session,omitempty"`
	Cwd     string    `json:"cwd,omitempty"`
	SHA256  string    `json:"sha256,omitempty"`
}

// Gap is what isn't in the trail.
type Gap struct {
	Reason string    `json:"reason"`
	Missed int64     `json:"missed,omitempty"` // decisions
	From   time.Time `json:"from,omitzero"`
}

// hashField begins the end of a line, before its 64 digits.
const hashField = `,"hash":"`

// appendLine chains a record to prev and adds its line. It returns the line's hash.
func appendLine(dst []byte, r *Record) (line []byte, hash string, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return dst, "", err
	}
	body = asciiOnly(body[:len(body)-1])
	hash = sum(body)
	dst = append(dst, body...)
	dst = append(dst, hashField+hash+"\"}\n"...)
	return dst, hash, nil
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// readLine reads a line back: what it says, its hash, and whether the hash is right.
func readLine(line string) (r Record, hash string, err error) {
	body, hash, ok := cutField(line, hashField, 64)
	if !ok {
		return r, "", fmt.Errorf("it isn't a record")
	}
	if sum([]byte(body)) != hash {
		return r, "", fmt.Errorf("its hash is wrong: it was changed")
	}
	if err := json.Unmarshal([]byte(body+"}"), &r); err != nil {
		return r, "", fmt.Errorf("it can't be read: %v", err)
	}
	return r, hash, nil
}

// cutField cuts the last field, of so many hexadecimal digits, off a line.
func cutField(line, field string, digits int) (body, value string, ok bool) {
	rest, ok := strings.CutSuffix(line, "\"}\n")
	if !ok || len(rest) < digits+len(field) {
		return "", "", false
	}
	body, value = rest[:len(rest)-digits], rest[len(rest)-digits:]
	body, ok = strings.CutSuffix(body, field)
	return body, value, ok
}

// asciiOnly escapes what is not ASCII in JSON: a line is safe wherever it is shown.
func asciiOnly(b []byte) []byte {
	var out []byte
	for i, r := range string(b) {
		switch {
		case r < 0x7f:
			if out != nil {
				out = append(out, byte(r))
			}
			continue
		case out == nil:
			out = append(make([]byte, 0, len(b)+64), b[:i]...)
		}
		if hi, lo := utf16.EncodeRune(r); hi != 0xfffd {
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	if out == nil {
		return b
	}
	return out
}
