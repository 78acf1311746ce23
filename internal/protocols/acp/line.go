package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// A line is passed on only if everything that reads it reads the same message as hookmux
// does. Readers differ in where they end a line, in which of two members of one name they
// take and in what they make of a byte order mark or of bytes that aren't UTF-8; such lines
// aren't passed on.

// maxDepth is how deep a message may nest.
const maxDepth = 128

// checkLine returns why a line isn't exactly one message, or one list of messages; nil if it
// is. A blank line is neither and does no harm.
func checkLine(line []byte) error {
	text := trimEnd(line)
	switch {
	case len(bytes.TrimSpace(text)) == 0 && !bytes.Contains(text, []byte("\r")):
		return nil
	case bytes.IndexByte(text, '\r') >= 0:
		return errors.New("there is a carriage return inside the line")
	case bytes.HasPrefix(text, byteOrderMark):
		return errors.New("the line begins with a byte order mark")
	case !utf8.Valid(text):
		return errors.New("the line is not UTF-8")
	}
	if bytes.TrimSpace(text)[0] != '[' {
		return checkMessage(text)
	}
	var bad error
	count := 0
	err := jsontext.Array(text, func(one []byte) bool {
		count++
		bad = checkMessage(one)
		return bad == nil
	})
	switch {
	case err != nil:
		return err
	case count == 0:
		return errors.New("the list is empty")
	}
	return bad
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// trimEnd takes off the end of a line.
func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// checkMessage says why a text is not one request, notification or response.
func checkMessage(text []byte) error {
	seen := map[string]bool{}
	var bad error
	err := jsontext.Object(text, func(key, value []byte) bool {
		// Some readers distinguish names by their case and some don't.
		name := strings.ToLower(string(key))
		switch {
		case seen[name]:
			bad = errors.New(`it has "` + name + `" twice`)
		case string(key) == "method" && (len(value) < 3 || value[0] != '"'):
			bad = errors.New("its method is not a text")
		default:
			seen[name] = true
			bad = checkNames(value, 1)
		}
		return bad == nil
	})
	switch {
	case err != nil:
		return err
	case bad != nil:
		return bad
	case !seen["method"] && !seen["id"] && !seen["error"] && !seen["result"]:
		return errors.New("it is neither a request nor an answer")
	}
	return nil
}

// checkNames rejects a value in which one object has a name twice.
func checkNames(value []byte, depth int) (bad error) {
	if depth > maxDepth {
		return errors.New("it nests too deep")
	}
	switch {
	case jsontext.IsObject(value):
		seen := map[string]bool{}
		// Its syntax was checked with the whole line.
		_ = jsontext.Object(value, func(key, value []byte) bool {
			if seen[string(key)] {
				bad = errors.New(`it has "` + string(key) + `" twice`)
				return false
			}
			seen[string(key)] = true
			bad = checkNames(value, depth+1)
			return bad == nil
		})
	case jsontext.IsArray(value):
		_ = jsontext.Array(value, func(value []byte) bool {
			bad = checkNames(value, depth+1)
			return bad == nil
		})
	}
	return bad
}

// addressed returns the numbers of the requests in a line that isn't passed on, as far as each
// has exactly one: their sender waits for an answer.
func addressed(line []byte) (ids []json.RawMessage) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(line, byteOrderMark)))
	for len(ids) < maxAddressed {
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return ids
		}
		texts := []json.RawMessage{value}
		if jsontext.IsArray(value) {
			texts = nil
			_ = json.Unmarshal(value, &texts) // it was just read as JSON
		}
		for _, text := range texts {
			if id := onlyID(text); id != nil {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// maxAddressed limits how many answers one line gets.
const maxAddressed = 100

// onlyID returns the number of a request; nil if it has none or several.
func onlyID(text []byte) json.RawMessage {
	var ids []json.RawMessage
	asks := false
	_ = jsontext.Object(text, func(key, value []byte) bool { // what is no object has none
		switch string(key) {
		case "id":
			ids = append(ids, bytes.Clone(value))
		case "method":
			asks = true
		}
		return true
	})
	if !asks || len(ids) != 1 || string(ids[0]) == "null" {
		return nil
	}
	return ids[0]
}

// separators are characters that some readers take for the end of a line, with their JSON
// escapes. JSON only has them in strings.
var separators = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`)

// onOneLine spells what some readers would take for the end of a line.
func onOneLine(line []byte) []byte {
	if bytes.Contains(line, []byte("\u0085")) || bytes.Contains(line, []byte("\u2028")) ||
		bytes.Contains(line, []byte("\u2029")) {
		return []byte(separators.Replace(string(line)))
	}
	return line
}
