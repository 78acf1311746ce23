package launch

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// TerminalsFile is the file in the state folder that ids of terminals are kept in.
const TerminalsFile = "terminals.json"

// keepTerminals bounds how many terminals are remembered.
const keepTerminals = 512

// terminal holds what is remembered about a tty.
type terminal struct {
	ID   string    `json:"id"`
	Used time.Time `json:"used"`
}

// TerminalID returns the id of a terminal, the same for every shell on it: created when it is
// first asked for, and kept in a file. Without a terminal it is new each time. A file that
// can't be read is written again from scratch.
func TerminalID(file, tty string) (string, error) {
	if tty == "" {
		return newUUID()
	}
	id := ""
	err := userfile.WriteFile(file, func(old []byte) ([]byte, error) {
		known := map[string]terminal{}
		if json.Unmarshal(old, &known) != nil || known == nil {
			known = map[string]terminal{}
		}
		now := time.Now().UTC().Truncate(time.Second)
		t, ok := known[tty]
		if ok && validUUID(t.ID) {
			id = t.ID
			if now.Sub(t.Used) < time.Hour {
				return old, nil // nothing worth writing
			}
		} else {
			fresh, err := newUUID()
			if err != nil {
				return nil, err
			}
			id = fresh
		}
		known[tty] = terminal{ID: id, Used: now}
		forgetOldest(known)
		return json.MarshalIndent(known, "", "  ")
	})
	if err != nil {
		return "", fmt.Errorf("the id of this terminal cannot be kept: %w; make %s writable", err, file)
	}
	return id, nil
}

func forgetOldest(known map[string]terminal) {
	if len(known) <= keepTerminals {
		return
	}
	var ttys []string
	for tty := range known {
		ttys = append(ttys, tty)
	}
	slices.SortFunc(ttys, func(a, b string) int { return known[a].Used.Compare(known[b].Used) })
	for _, tty := range ttys[:len(known)-keepTerminals] {
		delete(known, tty)
	}
}

// newUUID returns a random one, in the capitals mux0 itself writes.
func newUUID() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return strings.ToUpper(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])), nil
}

func validUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range s {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", c) {
			return false
		}
	}
	return true
}
