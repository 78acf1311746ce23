package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/selection/accepted"
)

// layer is one file of settings, or the environment.
type layer struct {
	kind   Layer
	path   string
	source *userfile.Source // nil: never changes
	good   accepted.LastGood
	// accepted says what of the file is in force, in place of source and good.
	accepted     *accepted.File
	acceptedText []byte

	values   map[string]set
	problems []Problem
	seen     bool
}

func (l *layer) names() []string { return slices.Sorted(maps.Keys(l.values)) }

// reload reads the file when it changed and reports whether it did.
func (l *layer) reload() bool {
	if l.accepted != nil {
		return l.reloadAccepted()
	}
	if l.source == nil {
		return false
	}
	data, changed, err := l.source.Read()
	if !changed {
		return false
	}
	if !l.seen {
		l.seen = true
		l.good.Read(maxFile)
	}
	l.problems = nil
	switch {
	case err != nil:
		l.problems = []Problem{{File: l.path, Text: fmt.Sprintf("cannot be read (%v); %s", err, l.fallbackText())}}
		l.values = l.lastGood()
	case data == nil: // taken away on purpose
		l.values = nil
		l.good.Drop()
	default:
		l.takeText(data)
	}
	return true
}

// reloadAccepted takes the active version of the file. Errors in the file itself are
// reported all the same.
func (l *layer) reloadAccepted() bool {
	view, changed := l.accepted.Read()
	if !changed {
		return false
	}
	l.problems, l.values, l.acceptedText = nil, nil, view.Accepted
	var at *edit.SyntaxError
	_, live, err := l.read(view.Live)
	switch {
	case view.LiveErr != nil:
		l.problems = []Problem{{File: l.path, Text: fmt.Sprintf("cannot be read (%v); %s", view.LiveErr,
			insteadAccepted)}}
	case errors.As(err, &at):
		l.problems = []Problem{{File: l.path, Line: at.Line, Col: at.Col, Text: at.Msg + "; " + insteadAccepted}}
	case err != nil:
		l.problems = []Problem{{File: l.path, Line: 1, Col: 1, Text: err.Error() + "; " + insteadAccepted}}
	default:
		for _, p := range live {
			l.problems = append(l.problems, p.Problem)
		}
	}
	if values, _, err := l.read(view.InForce); err == nil {
		l.values = values
	}
	return true
}

const insteadAccepted = "the last accepted settings stay active until you fix it"

func (l *layer) takeText(data []byte) {
	values, problems, err := l.read(data)
	var at *edit.SyntaxError
	switch {
	case errors.As(err, &at):
		l.problems = []Problem{{File: l.path, Line: at.Line, Col: at.Col, Text: at.Msg + "; " + l.fallbackText()}}
		l.values = l.lastGood()
	case err != nil:
		l.problems = []Problem{{File: l.path, Line: 1, Col: 1, Text: err.Error() + "; " + l.fallbackText()}}
		l.values = l.lastGood()
	case len(problems) > 0:
		// The rest of the file is sound; only what is wrong stays as it was.
		good := l.lastGood()
		for _, p := range problems {
			if was, ok := good[p.key]; ok && p.key != "" {
				values[p.key] = was
				p.Text += "; its last good value, " + Format(was.value) + ", stays active"
			}
			l.problems = append(l.problems, p.Problem)
		}
		l.values = values
	default:
		l.values = values
		if len(data) == 0 && l.good.Text == nil {
			return // an empty file says nothing that could stay in force
		}
		if err := l.good.Keep(data); err != nil {
			l.problems = append(l.problems, Problem{File: l.good.Path,
				Text: fmt.Sprintf("cannot keep the last good settings (%v); make room or permit writing", err)})
		}
	}
}

func (l *layer) fallbackText() string {
	if l.good.Text == nil {
		return "nothing of it is in force; correct it"
	}
	return "its last good version stays in force; correct it"
}

func (l *layer) lastGood() map[string]set {
	if l.good.Text == nil {
		return nil
	}
	values, _, err := l.read(l.good.Text)
	if err != nil {
		return nil
	}
	for name, v := range values {
		v.origin.LastGood, v.origin.Line = true, 0
		values[name] = v
	}
	return values
}

type keyProblem struct {
	Problem
	key string
}

// read takes a file apart. An error means that nothing of it can be used.
func (l *layer) read(data []byte) (map[string]set, []keyProblem, error) {
	values := map[string]set{}
	if len(data) == 0 {
		return values, nil, nil
	}
	doc, err := edit.Parse(data)
	if err != nil {
		return nil, nil, err
	}
	if raw := doc.Raw(); raw[0] != '{' {
		return nil, nil, errors.New("settings must be an object such as {\"guard.destructive\": \"block\"}")
	}
	var problems []keyProblem
	done := map[string]bool{}
	for _, name := range doc.Keys() {
		if name == "$schema" || done[name] {
			continue
		}
		done[name] = true
		pos, _ := doc.Where(name)
		bad := func(key string, err error) {
			problems = append(problems, keyProblem{Problem{File: l.path, Line: pos.Line, Col: pos.Col,
				Text: err.Error()}, key})
		}
		key, ok := Find(name)
		if !ok {
			bad("", Unknown(name))
			continue
		}
		value, err := key.parse(doc.Raw(name))
		if err == nil && Sealed(name) {
			err = errSealed(name)
		}
		if err != nil && key.Unread != nil {
			bad("", key.notRead(err))
			value, err = key.Unread, nil
		}
		if err != nil {
			bad(name, err)
			continue
		}
		if key.Odd != nil {
			if err := key.Odd(value); err != nil {
				bad("", err)
			}
		}
		values[name] = set{value, Origin{Layer: l.kind, File: l.path, Line: pos.Line}}
	}
	return values, problems, nil
}
