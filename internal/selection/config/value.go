package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/similar"
)

// parse reads a key's value from JSON: time.Duration, int64, string, bool or
// []string.
func (k Key) parse(raw json.RawMessage) (any, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	switch k.Type {
	case Choice:
		if s, ok := v.(string); ok && slices.Contains(k.Choices, s) {
			return s, nil
		}
		if s, ok := v.(string); ok && k.Check != nil {
			if err := k.Check(s); err != nil {
				return nil, fmt.Errorf("%s: %w", k.Name, err)
			}
		}
		if s, ok := v.(string); ok {
			return nil, noValue(k.Name, s, k.Choices)
		}
		return nil, fmt.Errorf("%s must be one of %s", k.Name, strings.Join(k.Choices, ", "))
	case Text:
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%s must be a text", k.Name)
		}
		if k.Check != nil && s != "" {
			if err := k.Check(s); err != nil {
				return nil, fmt.Errorf("%s: %w", k.Name, err)
			}
		}
		return s, nil
	case List:
		items, ok := v.([]any)
		list := make([]string, 0, len(items))
		for _, item := range items {
			s, isText := item.(string)
			if ok = ok && isText && s != ""; ok && !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
		if !ok {
			return nil, fmt.Errorf("%s must be a list, as in %s", k.Name, k.listExample())
		}
		for _, item := range list {
			if k.Items != nil && !slices.Contains(k.Items, item) {
				return nil, noValue(k.Name, item, k.Items)
			}
		}
		return list, nil
	case Size:
		var n int64
		switch t := v.(type) {
		case float64:
			if t < 0 || t >= math.MaxInt64 || t != math.Trunc(t) {
				return nil, fmt.Errorf("%s must be a size such as \"1GiB\"", k.Name)
			}
			n = int64(t)
		case string:
			var err error
			if n, err = parseSize(t); err != nil {
				return nil, fmt.Errorf("%s: %w", k.Name, err)
			}
		default:
			return nil, fmt.Errorf("%s must be a size such as \"1GiB\"", k.Name)
		}
		if least, ok := k.Min.(int64); ok && n < least {
			return nil, fmt.Errorf("%s must be at least %s", k.Name, formatSize(least))
		}
		return n, nil
	case Span:
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%s must be a duration such as \"30d\" or \"90s\"", k.Name)
		}
		d, err := parseSpan(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Name, err)
		}
		if least, ok := k.Min.(time.Duration); ok && d < least {
			return nil, fmt.Errorf("%s must be at least %s", k.Name, formatSpan(least))
		}
		return d, nil
	}
	if k.Type == Millis {
		n, ok := v.(float64)
		if !ok || n != math.Trunc(n) || n > float64((24*time.Hour).Milliseconds()) {
			return nil, fmt.Errorf("%s can't be %s; write a whole number of milliseconds, such as 5000 (at most a day: 86400000)", k.Name, raw)
		}
		if least, ok := k.Min.(Milliseconds); ok && Milliseconds(n) < least {
			return nil, fmt.Errorf("%s must be at least %d", k.Name, least)
		}
		return Milliseconds(n), nil
	}
	return nil, fmt.Errorf("%s has no type", k.Name)
}

// listExample returns a list as a file of settings has it.
func (k *Key) listExample() string {
	item := "…"
	switch {
	case k.Example != "":
		item = k.Example
	case len(k.Items) > 0:
		item = k.Items[0]
	}
	return fmt.Sprintf("[%q]", item)
}

// ExampleValue returns a value as it is typed, for a message that asks for one.
func (k *Key) ExampleValue() string {
	switch {
	case len(k.Choices) > 0: // the last one is the tightest
		return k.Choices[len(k.Choices)-1]
	case len(k.Items) > 0:
		return k.Items[0]
	case k.Example != "":
		return k.Example
	}
	switch v := k.Default.(type) {
	case time.Duration:
		return formatSpan(cmp.Or(v, 10*time.Minute))
	case int64:
		return formatSize(cmp.Or(v, 1<<30))
	case Milliseconds:
		return strconv.FormatInt(int64(cmp.Or(v, 5000)), 10)
	case bool:
		return map[bool]string{true: "off", false: "on"}[v]
	case string:
		return cmp.Or(v, "…")
	}
	return "…"
}

// noValue says that a setting can't have a value, and which one was probably meant.
func noValue(key, value string, choices []string) error {
	near := similar.Nearest(value, choices)
	if near == "" {
		for _, word := range meantValues[strings.ToLower(value)] {
			if near == "" && slices.Contains(choices, word) {
				near = word
			}
		}
	}
	if near != "" {
		return fmt.Errorf("%s can't be %q; did you mean %q?", key, value, near)
	}
	return fmt.Errorf("%s can't be %q; choose from %s", key, value, strings.Join(choices, ", "))
}

// meantValues are other words for on and off. None means less protection than it says.
var meantValues = map[string][]string{
	"on": {"block", "on"}, "yes": {"block", "on"}, "true": {"block", "on"}, "1": {"block", "on"}, "enabled": {"block", "on"},
	"deny": {"block"}, "stop": {"block"}, "no": {"off"}, "false": {"off"}, "0": {"off"}, "none": {"off"}, "disabled": {"off"},
	"monitor": {"log"}, "audit": {"log"}, "warn": {"log"},
}

// Parse reads a value from JSON, as a file holds it.
func (k Key) Parse(raw json.RawMessage) (any, error) {
	value, err := k.parse(raw)
	if err == nil && k.Odd != nil {
		err = k.Odd(value)
	}
	return value, err
}

// notRead says what is in force in place of a value that cannot be read.
func (k Key) notRead(err error) error {
	if k.Type == List {
		return fmt.Errorf("%w%s treated as the strictest list until you fix it", err, after(err))
	}
	return fmt.Errorf("%w%s treated as %s until you fix it", err, after(err), Format(k.Unread))
}

// after begins what follows an error's text: behind a question, a sentence of its own.
func after(err error) string {
	if strings.HasSuffix(err.Error(), "?") {
		return " It's"
	}
	return "; it's"
}

// FromText returns a value typed on a command line or in a variable as the JSON that
// belongs in a file; checked.
func (k Key) FromText(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	var raw json.RawMessage
	switch k.Type {
	case List:
		if strings.HasPrefix(text, "[") {
			raw = json.RawMessage(text)
			break
		}
		list := []string{}
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		raw, _ = json.Marshal(list)
	case Millis:
		if raw = json.RawMessage(text); !json.Valid(raw) {
			return nil, fmt.Errorf("%s can't be %q; write a whole number of milliseconds, such as 5000", k.Name, text)
		}
	default:
		raw, _ = json.Marshal(text)
	}
	if _, err := k.Parse(raw); err != nil {
		return nil, err
	}
	return raw, nil
}

// Format returns a value as it is written in a file.
func Format(v any) string {
	switch t := v.(type) {
	case time.Duration:
		return formatSpan(t)
	case int64:
		return formatSize(t)
	case []string:
		return strings.Join(t, ",")
	case Milliseconds:
		return strconv.FormatInt(int64(t), 10)
	}
	return fmt.Sprint(v)
}

// ParseSpan parses a duration as it's written in settings: Go's own form, and days and
// weeks.
func ParseSpan(s string) (time.Duration, error) { return parseSpan(s) }

func parseSpan(s string) (time.Duration, error) {
	bad := BadSpan(s, "30d, 12h or 90s")
	text := strings.TrimSpace(s)
	var sum time.Duration
	for _, unit := range []struct {
		letter string
		span   time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		if number, rest, ok := strings.Cut(text, unit.letter); ok {
			n, err := strconv.ParseFloat(number, 64)
			if err != nil || n < 0 || n*float64(unit.span) > float64(math.MaxInt64/4) {
				return 0, bad
			}
			sum += time.Duration(n * float64(unit.span))
			text = rest
			if text == "" {
				return sum, nil
			}
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > math.MaxInt64/4 {
		return 0, bad
	}
	return sum + d, nil
}

// BadSpan says what's wrong with a duration. examples are some that fit.
func BadSpan(value, examples string) error {
	text := strings.TrimSpace(value)
	if meant := SpanMeant(text); meant != "" {
		return fmt.Errorf("%q isn't a duration; did you mean %s?", value, meant)
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > 0 && len(text) < 10 {
		return fmt.Errorf("%q has no unit; write %[2]ss, %[2]sm, %[2]sh or %[2]sd", value, text)
	}
	return fmt.Errorf("%q isn't a duration; write %s", value, examples)
}

// spanWords matches a duration in everyday words.
var spanWords = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$`)

// SpanMeant returns how to write a duration typed as "30 days" or "5min", or "".
func SpanMeant(text string) string {
	found := spanWords.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if found == nil || text == found[1]+found[2] && len(found[2]) == 1 {
		return ""
	}
	return found[1] + found[2][:1]
}

func formatSpan(d time.Duration) string {
	if day := 24 * time.Hour; d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

var sizeUnits = []struct {
	name string
	size int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3},
	{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"B", 1},
}

func parseSize(s string) (int64, error) {
	text, unit := strings.TrimSpace(s), int64(1)
	for _, u := range sizeUnits {
		if len(text) > len(u.name) && strings.EqualFold(text[len(text)-len(u.name):], u.name) {
			text, unit = strings.TrimSpace(text[:len(text)-len(u.name)]), u.size
			break
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n*float64(unit) > float64(math.MaxInt64/2) || math.IsNaN(n) {
		return 0, fmt.Errorf("%q isn't a size; write \"1GiB\" or \"500MB\"", s)
	}
	return int64(n * float64(unit)), nil
}

func formatSize(n int64) string {
	for _, u := range sizeUnits[:4] {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d%s", n/u.size, u.name)
		}
	}
	return strconv.FormatInt(n, 10)
}

// errLooser says that a project's value is no tighter than what it finds.
var errLooser = errors.New("a project may only tighten this")

// tighten returns what is left of a project's wish: the tighter value, or why it is
// ignored.
func (k Key) tighten(have, wish any, trusted bool) (any, error) {
	switch k.Project {
	case Rise:
		is, want := slices.Index(k.Choices, have.(string)), slices.Index(k.Choices, wish.(string))
		if want < is {
			return have, fmt.Errorf("%w: %s is %q already and stays so", errLooser, k.Name, have)
		}
		return wish, nil
	case Shrink:
		larger := false
		switch h := have.(type) {
		case time.Duration:
			larger = wish.(time.Duration) > h
		case int64:
			larger = wish.(int64) > h
		}
		if larger {
			return have, fmt.Errorf("%w: %s is %s and stays so", errLooser, k.Name, Format(have))
		}
		// Less time or less history can help an attacker as well, so this one needs your
		// acceptance.
		if !trusted && Format(wish) != Format(have) {
			return have, fmt.Errorf("%s only applies in a trusted project; run `hookmux trust`", k.Name)
		}
		return wish, nil
	case Intersect:
		kept := []string{}
		var more []string
		for _, item := range wish.([]string) {
			if slices.Contains(have.([]string), item) {
				kept = append(kept, item)
			} else {
				more = append(more, item)
			}
		}
		if more != nil {
			return have, fmt.Errorf("%w: %s cannot add %s", errLooser, k.Name, strings.Join(more, ", "))
		}
		return kept, nil
	}
	return have, fmt.Errorf("%s cannot be set by a project; set it with `hookmux config set %s`", k.Name, k.Name)
}
