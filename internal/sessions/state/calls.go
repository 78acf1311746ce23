package state

import (
	"hash/fnv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
)

// turnClosed reports whether a turn with this id is known to be over.
func (m *MachineState) turnClosed(id string) bool {
	for _, closed := range m.ClosedTurns {
		if closed == id {
			return true
		}
	}
	return false
}

// rememberClosedTurn keeps the id of a turn that is over.
func (m *MachineState) rememberClosedTurn(id string) {
	if id != "" && !m.turnClosed(id) {
		m.ClosedTurns = appendBounded(m.ClosedTurns, id, maxClosedTurns)
	}
}

// fromOtherProcess reports whether the event comes from another process than
// the one that began the turn. The session's place is already the event's, so
// the turn keeps its own.
func (m *MachineState) fromOtherProcess(n *input) bool {
	was := m.TurnProcess
	return was != 0 && n.ev.Where.PID != 0 && (was != n.ev.Where.PID || m.TurnStart != n.ev.Where.Start)
}

// hasOpenCall reports whether a call of the session's own goes on.
func (m *MachineState) hasOpenCall() bool {
	for i := range m.Calls {
		if m.Calls[i].Actor == "" {
			return true
		}
	}
	return false
}

// endCameFirst reports whether the end of a call was reported before its
// start. It answers yes once for each call.
func (m *MachineState) endCameFirst(id string) bool {
	for i := range m.Finished {
		if d := m.Finished[i]; d.Early && d.ID == id {
			m.Finished = replaceAt(m.Finished, i, FinishedCall{ID: id})
			return true
		}
	}
	return false
}

// rememberFinished remembers that a call is over.
func (m *MachineState) rememberFinished(id string, early bool) {
	if id != "" {
		others := removeWhere(m.Finished, func(d *FinishedCall) bool { return d.ID == id })
		m.Finished = appendBounded(others, FinishedCall{id, early}, maxFinished)
	}
}

// callReported reports whether the start of this very call is known already: some agents
// report it again after you allowed it.
func (m *MachineState) callReported(call *Call) bool {
	for i := range m.Calls {
		c := &m.Calls[i]
		if call.ID != "" && c.ID == call.ID && c.Tool == call.Tool && c.Digest == call.Digest {
			return true
		}
	}
	return false
}

// callOpen reports whether a call with this id started and has not ended.
func (m *MachineState) callOpen(id string) bool {
	for i := range m.Calls {
		if m.Calls[i].ID == id {
			return true
		}
	}
	return false
}

// callFinished reports whether a call with this id ended in this turn.
func (m *MachineState) callFinished(id string) bool {
	for i := range m.Finished {
		if m.Finished[i].ID == id {
			return id != ""
		}
	}
	return false
}

// denyCall remembers a denied call of a turn, and counts it once.
func (m *MachineState) denyCall(turn *Turn, call Call) {
	if m.wasDenied(&call) {
		return
	}
	m.Denied = appendBounded(m.Denied, call, maxFinished)
	turn.Denied++
}

// wasDenied reports whether a call of this turn was refused.
func (m *MachineState) wasDenied(call *Call) bool {
	for i := range m.Denied {
		old := &m.Denied[i]
		if old.Actor != call.Actor {
			continue
		}
		if old.ID != "" && call.ID != "" {
			if old.ID == call.ID {
				return true
			}
			continue
		}
		if old.Tool != "" && old.Tool == call.Tool && old.Digest == call.Digest {
			return true
		}
	}
	return false
}

// takeCall takes a call that ended off the list; false when it was not on it.
// Without ids, and with an input that a hook changed, the tool's name must do.
func (m *MachineState) takeCall(call *Call) bool {
	found := -1
	for i := range m.Calls {
		old := &m.Calls[i]
		if old.sameCall(call) {
			found = i
			break
		}
		if old.ID == "" && call.ID == "" && old.Actor == call.Actor && old.Tool == call.Tool {
			found = i
		}
	}
	if found < 0 {
		return false
	}
	i := -1
	m.Calls = removeWhere(m.Calls, func(*Call) bool { i++; return i == found })
	return true
}

// sameCall reports whether two reports are about one call.
func (c *Call) sameCall(other *Call) bool {
	if c.Actor != other.Actor {
		return false
	}
	if c.ID != "" && other.ID != "" {
		return c.ID == other.ID
	}
	return c.Tool == other.Tool && c.Digest == other.Digest
}

// inputDigest distinguishes calls without an id by their input. It is stored on disk, so it
// must be the same in every run.
func inputDigest(tool *event.Tool) uint64 {
	if len(tool.Input) == 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write(tool.Input[:min(len(tool.Input), 64<<10)])
	return h.Sum64()>>11 | 1 // fits a JSON number exactly
}

// linkToCall finds the call a question is about when the question does not
// name it: some agents leave the id out, change the input in between, or use
// another tool name.
func (m *MachineState) linkToCall(ask *Ask) {
	if ask.Call != "" {
		return
	}
	calls := m.Calls
	best, rank, open := -1, 0, 0
	for i := range calls {
		c := &calls[i]
		if c.Actor != ask.Actor {
			continue
		}
		open++
		r := 1
		if c.Tool == ask.Tool {
			// Some leave a description out of one of the two: the command is the same.
			if r = 2; c.Digest == ask.Digest || c.Command != "" && c.Command == ask.Command {
				r = 3
			}
		}
		if r >= rank {
			best, rank = i, r
		}
	}
	if best < 0 || ask.Tool == "" && open > 1 {
		return
	}
	c := &calls[best]
	if ask.Tool != c.Tool || ask.Digest != c.Digest {
		ask.PutTool, ask.PutDigest = ask.Tool, ask.Digest
	}
	ask.Call, ask.Tool, ask.Digest = c.ID, c.Tool, c.Digest
	if ask.What == "" {
		ask.What = c.Label
	}
}

// setBase sets the status that applies while nothing is asked.
func (m *MachineState) setBase(status Status, at time.Time) {
	if m.Base != status {
		m.Base, m.BaseSince = status, at
	}
}

// maxKeptCommand bounds what is kept of a command, to find its process by.
const maxKeptCommand = 160

// maxWholeCommand bounds a command that is kept whole.
const maxWholeCommand = 4 << 10

// wholeCommand returns the one command a call runs; "" where there are several, or it is long.
func wholeCommand(tool *event.Tool) string {
	if len(tool.Commands) != 1 || len(tool.Commands[0]) > maxWholeCommand {
		return ""
	}
	return strings.Clone(tool.Commands[0])
}

// commandOf returns the beginning of the command a call runs, as it was written.
func commandOf(tool *event.Tool) string {
	if len(tool.Commands) == 0 {
		return ""
	}
	command := strings.TrimSpace(tool.Commands[0])
	if len(command) > maxKeptCommand {
		command = strings.ToValidUTF8(command[:maxKeptCommand], "")
	}
	return strings.Clone(command)
}

// onlyCall returns the one call of an actor that goes on; nil when there are none or
// several.
func (m *MachineState) onlyCall(actor string) *Call {
	var found *Call
	for i := range m.Calls {
		if m.Calls[i].Actor != actor {
			continue
		}
		if found != nil {
			return nil
		}
		found = &m.Calls[i]
	}
	return found
}
