package usage

import (
	"strconv"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// noModel is written by Claude Code if it asked no model.
const noModel = "<synthetic>"

// claudeRow reads a line of Claude Code's: type assistant, with message.usage. Every
// piece of a streamed message is a line, and all have the message's id.
func claudeRow(s *fileState, line []byte, offset int64, out *sink) bool {
	var c Call
	var uuid, usage []byte
	whole := false // message is an object
	err := jsontext.Nested(line, "message", func(within bool, key, value []byte) bool {
		if within {
			switch string(key) {
			case "id":
				c.ID = text(value)
			case "model":
				c.Model = again(s.Model, value)
			case "usage":
				usage = value
			}
			return true
		}
		switch string(key) {
		case "message":
			whole = value == nil
			c.ID, c.Model, usage = "", "", nil // of one before
		case "timestamp":
			c.At = moment(value)
		case "sessionId":
			c.Session = again(s.Session, value)
		case "requestId":
			c.Request = text(value)
		case "cwd":
			c.Project = again(s.Project, value)
		case "uuid":
			uuid = value
		case "costUSD":
			c.Cost = dollars(value)
		case "isSidechain":
			c.Replay = c.Replay || string(value) == "true"
		case "sessionKind":
			c.Replay = c.Replay || says(value, "bg")
		}
		return true
	})
	if err != nil || !whole || usage == nil || usage[0] != '{' || c.Model == noModel {
		return err == nil
	}
	var split []byte
	var written int64
	if jsontext.Object(usage, func(key, value []byte) bool {
		switch string(key) {
		case "input_tokens":
			c.Tokens.Input = out.count(value)
		case "output_tokens":
			c.Tokens.Output = out.count(value)
		case "cache_read_input_tokens":
			c.Tokens.CacheRead = out.count(value)
		case "cache_creation_input_tokens":
			written = out.count(value)
		case "cache_creation":
			split = value
		case "speed":
			c.Fast = says(value, "fast")
		}
		return true
	}) != nil {
		return false
	}
	if len(split) > 0 && split[0] == '{' {
		c.Tokens.CacheWrite1h = min(written, out.count(jsontext.Get(split, "ephemeral_1h_input_tokens")))
	}
	c.Tokens.CacheWrite = written - c.Tokens.CacheWrite1h
	if c.ID == "" {
		// It isn't known which lines are the same call, so each is one of its own.
		if c.ID = text(uuid); c.ID == "" {
			c.ID = c.Session + "@" + strconv.FormatInt(offset, 10)
		}
	}
	s.Session, s.Project, s.Model = c.Session, c.Project, c.Model
	out.add(c)
	return true
}
