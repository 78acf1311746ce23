package config

import (
	"path/filepath"

	"errors"
	"fmt"
	"github.com/hookmux/hookmux/internal/platform/files"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Channels are the ways to notify you.
var Channels = []string{"desktop", "terminal", "tmux", "bell", "sound", "webhook", PushChannel}

// PushChannel is the channel that runs the command of [NotifyCommand].
const PushChannel = "push"

// NoticeKinds lists what you can be notified of: three kinds of requests, a budget that is
// nearly or wholly used up, and the two ends of a turn.
var NoticeKinds = []string{"permission", "question", "plan", "budget", "finished", "failed"}

// PushesByNotices reports whether the command of [NotifyCommand] is a channel of notices and
// follows their rules. Otherwise it gets every request at once.
func (s *Settings) PushesByNotices() bool {
	if s.Choice(Notify) != "on" {
		return false
	}
	for _, kind := range append([]string{""}, NoticeKinds...) {
		if slices.Contains(s.Strings(strings.TrimSuffix(NotifyChannels+"."+kind, ".")), PushChannel) {
			return true
		}
	}
	return false
}

// FilePrefix begins the value of a secret that is kept in a file.
const FilePrefix = "file:"

// ReadSecret returns a secret as it was set, or what is in its file.
func ReadSecret(value, home string) (string, error) {
	name, isFile := strings.CutPrefix(value, FilePrefix)
	if !isFile {
		return value, nil
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(home, rest)
	}
	b, err := files.ReadLinked(name, 4<<10)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}

// Shown returns a setting's value as anybody may see it: of a secret only that there
// is one.
func (e Entry) Shown() any {
	if text, ok := e.Value.(string); ok && e.Key.Secret && text != "" && !strings.HasPrefix(text, FilePrefix) {
		return "(set)"
	}
	return e.Value
}

// QuietTime is a part of the day, from one minute to before another; it goes over
// midnight when it ends before it begins.
type QuietTime struct{ From, To int }

// Covers reports whether a moment is in it.
func (q QuietTime) Covers(at time.Time) bool {
	minute := at.Hour()*60 + at.Minute()
	if q.From <= q.To {
		return q.From <= minute && minute < q.To
	}
	return minute >= q.From || minute < q.To
}

// ParseQuiet reads parts of the day: 22:00-07:00, several with commas.
func ParseQuiet(text string) ([]QuietTime, error) {
	var list []QuietTime
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		from, to, ok := strings.Cut(part, "-")
		start, err := time.Parse("15:04", strings.TrimSpace(from))
		end, errEnd := time.Parse("15:04", strings.TrimSpace(to))
		if !ok || err != nil || errEnd != nil {
			return nil, fmt.Errorf("%q isn't a time range; write \"22:00-07:00\"", part)
		}
		if start.Equal(end) {
			return nil, fmt.Errorf("%q has no length; `hookmux notify off` is for the whole day", part)
		}
		list = append(list, QuietTime{start.Hour()*60 + start.Minute(), end.Hour()*60 + end.Minute()})
	}
	return list, nil
}

func checkQuiet(text string) error {
	_, err := ParseQuiet(text)
	return err
}

// errWebhook does not repeat the address: it is a secret.
var errWebhook = errors.New("the address must begin with https:// or http:// and name a host, or be file:PATH")

// CheckWebhook says what is wrong with the address of a webhook.
func CheckWebhook(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return errWebhook
	}
	return nil
}

func checkWebhook(text string) error {
	if strings.HasPrefix(text, FilePrefix) {
		return nil
	}
	return CheckWebhook(text)
}

// checkEndpoint says what is wrong with the address of a collector. Credentials belong in
// the headers, which are never shown.
func checkEndpoint(text string) error {
	if text == "" {
		return nil
	}
	if u, err := url.Parse(text); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return errors.New("the endpoint must be like http://localhost:4318; keys go into telemetry.headers")
	}
	return nil
}

var errBus = errors.New("the address of the session bus must be like unix:path=/run/user/1000/bus")

// BusSocket returns the socket of an address of a bus. Other ways to a bus go over the
// network or run a program.
func BusSocket(address string) (string, error) {
	for one := range strings.SplitSeq(address, ";") {
		rest, isUnix := strings.CutPrefix(one, "unix:")
		if !isUnix {
			continue
		}
		for pair := range strings.SplitSeq(rest, ",") {
			name, value, _ := strings.Cut(pair, "=")
			value, err := url.PathUnescape(value)
			if err != nil || value == "" {
				continue
			}
			switch name {
			case "path":
				return value, nil
			case "abstract":
				return "@" + value, nil
			}
		}
	}
	return "", errBus
}

func checkBus(text string) error {
	_, err := BusSocket(text)
	return err
}
