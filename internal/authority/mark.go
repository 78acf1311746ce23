package authority

import (
	"hash/fnv"
	"time"
)

// The mark is a limit on file locks, which Linux has not used since 2.4.25: a
// process that has it passes it on to all it starts, and only root can raise it
// again. Its value says which agent it was set for and when that began, so that
// nothing has to be remembered: 24 bits of the agent's name, 33 of the time.
const (
	markTimeBits = 33
	markNameBits = 24
)

// MarkFor returns the limit that says "started by this agent, which runs since".
func MarkFor(agent string, began time.Time) uint64 {
	seconds := uint64(max(began.Unix(), 0)) & (1<<markTimeBits - 1)
	return nameBits(agent)<<markTimeBits | seconds
}

// nameBits is never 0, so that small limits that another program set aren't taken for a
// mark.
func nameBits(agent string) uint64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(agent)) // a hash takes everything
	return max(uint64(h.Sum32())&(1<<markNameBits-1), 1)
}

// readMark decodes a limit. ours is false for a limit that another program set; agent is ""
// for one that isn't in the catalogue.
func (marks AgentMarks) readMark(limit uint64) (agent string, began time.Time, ours bool) {
	name := limit >> markTimeBits
	if name == 0 || name >= 1<<markNameBits {
		return "", time.Time{}, false
	}
	began = time.Unix(int64(limit&(1<<markTimeBits-1)), 0)
	for _, m := range marks {
		if nameBits(m.Agent) == name {
			return m.Agent, began, true
		}
	}
	return "", began, true
}

// IsMark reports whether a limit on file locks is a mark.
func IsMark(limit uint64) bool {
	_, _, ours := AgentMarks(nil).readMark(limit)
	return ours
}
