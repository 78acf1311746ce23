package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// Limits of what one machine may have on the lists here.
const (
	MaxSessions = 1000
	MaxRequests = 512
	MaxBytes    = 16 << 20
)

// maxID is how long an id, and the name of an agent, may be.
const maxID = 256

// errTime says that a time can't be shown: JSON has none for it, here or in another time zone.
var errTime = errors.New("a time that can't be")

// errUnsafe says that a text could do something to a terminal, or hide something in it. An honest
// machine escapes such characters ([Clean]) before it sends them.
var errUnsafe = errors.New("a text with characters that control a terminal")

// CheckSession returns what is wrong with a session as another machine sent it; nil: nothing.
func CheckSession(one *wire.Session) error {
	if err := checkID("session", one.ID); err != nil {
		return err
	}
	if err := checkID("agent", one.Agent); err != nil {
		return err
	}
	statuses := []string{wire.StatusWaiting, wire.StatusRunning, wire.StatusDone, wire.StatusFailed, wire.StatusIdle,
		wire.StatusUnknown}
	if !slices.Contains(statuses, one.Status) {
		return fmt.Errorf("a session with the status %.40q", one.Status)
	}
	if one.Host != "" {
		return fmt.Errorf("a session of another host, %.40q", one.Host)
	}
	return CheckTexts(one)
}

// CheckRequest returns what is wrong with a request as another machine sent it; nil: nothing.
func CheckRequest(one *wire.InboxRequest) error {
	if err := checkID("request", one.ID); err != nil {
		return err
	}
	if err := checkID("agent", one.Agent); err != nil {
		return err
	}
	switch {
	case len(one.Session) > maxID:
		return errors.New("a request with a session id of more than 256 characters")
	case one.Status != wire.InboxPending && one.Status != wire.InboxPrompt:
		return fmt.Errorf("a request with the status %.40q", one.Status)
	case !slices.Contains([]string{"permission", "question", "plan"}, one.Kind):
		return fmt.Errorf("a request of the kind %.40q", one.Kind)
	case one.Host != "":
		return fmt.Errorf("a request of another host, %.40q", one.Host)
	}
	return CheckTexts(one)
}

func checkID(of, id string) error {
	switch {
	case id == "":
		return fmt.Errorf("a %s without an id", of)
	case len(id) > maxID:
		return fmt.Errorf("a %s with an id of more than %d characters", of, maxID)
	case termsafe.Line(id, 0) != id:
		return fmt.Errorf("a %s whose id isn't plain text", of)
	}
	return nil
}

// CheckTexts returns what is wrong with a text or a time in what v points to: one that isn't safe
// to show, or that can't be shown. Nil: nothing.
func CheckTexts(v any) error {
	safe, possible := true, true
	eachText(reflect.ValueOf(v), func(text string) string {
		safe = safe && termsafe.Text(text) == text
		return text
	}, func(raw json.RawMessage) json.RawMessage {
		safe = safe && string(termsafe.EscapeJSON(raw)) == string(raw)
		return raw
	}, func(at time.Time) time.Time {
		year := at.UTC().Year()
		possible = possible && (at.IsZero() || year >= 1000 && year < 9000) // a clock may be centuries off
		return at
	})
	switch {
	case !safe:
		return errUnsafe
	case !possible:
		return errTime
	}
	return nil
}

// Clean escapes what no text may carry to another machine, in everything that v points to.
// Redacting comes first.
func Clean(v any) {
	eachText(reflect.ValueOf(v), termsafe.Text, func(raw json.RawMessage) json.RawMessage { return termsafe.EscapeJSON(raw) },
		nil)
}

// ShiftTimes moves every time in what v points to: the other machine's clock differs.
func ShiftTimes(v any, by time.Duration) {
	if by == 0 {
		return
	}
	keep := func(text string) string { return text }
	eachText(reflect.ValueOf(v), keep, func(raw json.RawMessage) json.RawMessage { return raw },
		func(at time.Time) time.Time {
			if at.IsZero() {
				return at
			}
			return at.Add(by)
		})
}

var (
	rawType  = reflect.TypeFor[json.RawMessage]()
	timeType = reflect.TypeFor[time.Time]()
)

// eachText visits every text, JSON text and, with moment, every time in a value.
func eachText(v reflect.Value, text func(string) string, raw func(json.RawMessage) json.RawMessage,
	moment func(time.Time) time.Time) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachText(v.Elem(), text, raw, moment)
		}
	case reflect.Struct:
		if v.Type() == timeType {
			if moment != nil && v.CanSet() {
				v.Set(reflect.ValueOf(moment(v.Interface().(time.Time))))
			}
			return
		}
		for i := range v.NumField() {
			eachText(v.Field(i), text, raw, moment)
		}
	case reflect.Slice, reflect.Array:
		if v.Type() == rawType {
			if changed := raw(v.Bytes()); v.CanSet() && len(v.Bytes()) > 0 {
				v.SetBytes(changed)
			}
			return
		}
		for i := range v.Len() {
			eachText(v.Index(i), text, raw, moment)
		}
	case reflect.String:
		if changed := text(v.String()); v.CanSet() && changed != v.String() {
			v.SetString(changed)
		}
	}
}
