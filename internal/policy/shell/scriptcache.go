package shell

import (
	"sync"

	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/policy/programs"
)

// Limits of a Cache.
const (
	cachedScripts = 32
	cachedText    = 2 << 10 // the longest text that is kept
)

// Cache parses texts, and remembers the latest: several guards look at one command, and agents
// send the same command before a call, when they ask about it and after it. Scripts must not
// be changed. It is safe for concurrent use.
type Cache struct {
	// Programs describes the programs of commands; nil is the built-in table.
	Programs *programs.Table

	mu      sync.Mutex
	scripts bounded.Map[string, *Script]
}

// Parse is [shell.ParseWith].
func (c *Cache) Parse(text string) *Script {
	if len(text) > cachedText {
		s := ParseWith(c.Programs, text)
		return &s
	}
	c.mu.Lock()
	known, ok := c.scripts.Get(text)
	c.mu.Unlock()
	if ok {
		return known
	}
	s := ParseWith(c.Programs, text)
	c.mu.Lock()
	c.scripts.Put(text, &s, cachedScripts)
	c.mu.Unlock()
	return &s
}
