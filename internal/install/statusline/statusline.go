// Package statusline makes hookmux an agent's status line in the agent's settings, followed by
// your own, and removes it again.
//
// Contract: Remove after Add restores the same bytes. If it wouldn't, Add fails.
package statusline

import (
	"bytes"
	"errors"
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

const (
	member  = "statusLine"
	command = "command"
	// verb is the command of the status line; program is who runs it.
	verb    = " usage statusline"
	program = "hookmux"
)

// ErrByHand says that a status line isn't a command, or is written so that its bytes
// couldn't be restored.
var ErrByHand = errors.New("the status line there can't be taken over; add `hookmux usage statusline -- YOUR COMMAND` by hand")

// Add makes hookmux the status line of settings. A command that's already there is run after it.
func Add(settings []byte, hookmux string) ([]byte, error) {
	own, found, err := commandIn(settings)
	if err != nil {
		return nil, err
	}
	if _, is := behind(own); found && is {
		return settings, nil
	}
	line := shellquote.Word(hookmux) + verb
	var changed []byte
	if found {
		changed, err = edit.Set(settings, []string{member, command}, line+" -- "+shellquote.Single(own))
	} else {
		changed, err = edit.Set(settings, []string{member}, map[string]string{"type": command, command: line})
	}
	if err != nil {
		return nil, err
	}
	if back, _, err := Remove(changed); err != nil || !bytes.Equal(bytes.TrimSpace(back), bytes.TrimSpace(settings)) &&
		!(len(bytes.TrimSpace(settings)) == 0 && string(bytes.TrimSpace(back)) == "{}") {
		return nil, errors.Join(ErrByHand, err)
	}
	return changed, nil
}

// Remove removes hookmux from settings and restores your own command. It reports whether
// hookmux was the status line.
func Remove(settings []byte) (back []byte, was bool, err error) {
	line, found, err := commandIn(settings)
	if err != nil || !found {
		return settings, false, nil // not ours, whatever it is
	}
	own, was := behind(line)
	switch {
	case !was:
		return settings, false, nil
	case own == "":
		back, err = edit.Remove(settings, []string{member})
	default:
		back, err = edit.Set(settings, []string{member, command}, own)
	}
	return back, true, err
}

// Has reports whether hookmux is the status line of settings.
func Has(settings []byte) bool {
	line, found, err := commandIn(settings)
	_, is := behind(line)
	return err == nil && found && is
}

// commandIn returns the command of the status line, and whether there is one.
func commandIn(settings []byte) (string, bool, error) {
	if len(bytes.TrimSpace(settings)) == 0 {
		return "", false, nil
	}
	doc, err := edit.Parse(settings)
	if err != nil {
		return "", false, err
	}
	v := doc.Raw(member)
	if v == nil {
		return "", false, nil
	}
	kind, _ := jsontext.String(jsontext.Get(v, "type"))
	line, ok := jsontext.String(jsontext.Get(v, command))
	if kind != command || !ok || strings.TrimSpace(line) == "" {
		return "", false, ErrByHand
	}
	return line, true, nil
}

// behind returns the command that hookmux's status line runs, and whether line is one.
func behind(line string) (own string, is bool) {
	head, rest, found := strings.Cut(line, verb)
	if !found || path.Base(strings.Trim(head, "'\"")) != program {
		return "", false
	}
	rest, more := strings.CutPrefix(rest, " -- ")
	if !more {
		return "", strings.TrimSpace(rest) == ""
	}
	if inner := strings.TrimSuffix(strings.TrimPrefix(rest, "'"), "'"); shellquote.Single(strings.ReplaceAll(inner, `'\''`, "'")) == rest {
		rest = strings.ReplaceAll(inner, `'\''`, "'")
	}
	return rest, true
}
