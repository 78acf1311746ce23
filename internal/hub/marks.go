package hub

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// handlerVariable tells everything below a handler which hooks it runs below.
const handlerVariable = "HOOKMUX_HANDLER"

// marks sign what handlers find in that variable. A name alone is easily set,
// so it can only keep a hook from being told about its own doings; a name with
// our signature was inherited from a handler, also by what cut itself loose
// from it, and makes an event nested: otherwise a hook that starts an agent in
// the background would call itself for ever.
type marks struct{ key []byte }

// newMarks uses a key that outlives the hub: so may what a handler started.
func newMarks(state string) *marks {
	file := filepath.Join(state, "handler.key")
	if key, err := os.ReadFile(file); err == nil && len(key) == 32 {
		return &marks{key}
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	_ = os.WriteFile(file, key, 0o600) // else it holds for this hub
	return &marks{key}
}

func (m *marks) sign(id string) string {
	mac := hmac.New(sha256.New, m.key)
	mac.Write([]byte(id))
	return hex.EncodeToString(mac.Sum(nil)[:12])
}

// mark is how a handler of a hook is marked.
func (m *marks) mark(id string) string { return id + "=" + m.sign(id) }

// below says which hooks an environment names, and whether one of them is
// signed.
func (m *marks) below(env []byte) (busy map[string]bool, signed bool) {
	if !bytes.Contains(env, []byte(handlerVariable)) {
		return nil, false
	}
	for _, word := range strings.Fields(lookupIn(env)(handlerVariable)) {
		id, signature, has := cutLast(word, "=")
		if busy == nil {
			busy = map[string]bool{}
		}
		if has && hmac.Equal([]byte(signature), []byte(m.sign(id))) {
			busy[id], signed = true, true
		} else if !has {
			busy[word] = true
		}
	}
	return busy, signed
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
