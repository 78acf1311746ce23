package pipeline

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/sealed"
)

// HandlerVariable names the hooks that run above a process, for everything a handler starts.
const HandlerVariable = "HOOKMUX_HANDLER"

// HandlerMarks signs the value of that variable. Anything can set a bare name, so it can
// only keep a hook from being called about its own actions. A signed name was inherited
// from a handler, even by a process that detached from it, and makes an event nested:
// otherwise a hook that starts an agent in the background would call itself for ever.
type HandlerMarks struct{ key []byte }

// NewHandlerMarks uses a key that outlives the daemon: so may what a handler started.
func NewHandlerMarks(state string) *HandlerMarks {
	file := filepath.Join(state, "handler.key")
	key, err := sealed.ReadKey(file)
	if err != nil { // where a new one cannot be written it holds for this daemon
		key, _ = sealed.MakeKey(file, files.Write)
	}
	return &HandlerMarks{key}
}

func (m *HandlerMarks) signID(id string) string {
	mac := hmac.New(sha256.New, m.key)
	mac.Write([]byte(id))
	return hex.EncodeToString(mac.Sum(nil)[:12])
}

// Mark returns how a handler of a hook is marked.
func (m *HandlerMarks) Mark(id string) string { return id + "=" + m.signID(id) }

// readMarks says which hooks an environment names, and whether one of them is
// signed.
func (m *HandlerMarks) readMarks(env []byte) (busy map[string]bool, signed bool) {
	if !proc.MentionsEnv(env, HandlerVariable) {
		return nil, false
	}
	for _, word := range strings.Fields(proc.LookupEnv(env)(HandlerVariable)) {
		id, signature, has := cutLast(word, "=")
		if busy == nil {
			busy = map[string]bool{}
		}
		if has && hmac.Equal([]byte(signature), []byte(m.signID(id))) {
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
